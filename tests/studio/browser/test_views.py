"""What the other views show, and that windows, themes, keyboards and hostile names do no harm."""

import pytest

from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.start import demo_bags, demo_document

pytestmark = pytest.mark.slow

VIEWS = ("sets", "rules", "viewer", "bags", "surface", "validation", "training", "history", "files")
MAMDANI = """
VARIABLE depth FROM 0 TO 2: shallow = Gaussian(0, 0.4), deep = Gaussian(1.5, 0.4)
OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
IF depth is shallow THEN risk is great
IF depth is deep THEN risk is small
"""
HOSTILE = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>"
BACKWARD = "\u202e\u05e9\u05dc\u05d5\u05dd <b>bold</b>"


def number(text):
    """A number as the page shows it, with a typographic minus."""
    return float(text.replace("\N{MINUS SIGN}", "-"))


def test_the_viewer_answers_what_if(opened):
    window = opened()
    window.open("viewer")
    page = window.page
    output = page.locator("[data-output=positive] b")
    found = window.session.document.rules.infer(window.session.bags)
    assert number(output.text_content()) == pytest.approx(found.output[0, 0], rel=1e-4)
    assert page.locator("[data-firing='1']").text_content() == f"{found.firing[0, 0]:.2f}"
    witness = page.locator(".instances tr", has_text="witness").first
    witness.locator("button[title='Leave out']").click()
    page.locator(".verdict", has_text="what if").wait_for()
    assert number(output.text_content()) < found.output[0, 0]
    window.key("whatif-x1").focus()
    shown = output.text_content()
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    window.settle()
    assert output.text_content() != shown
    page.get_by_role("button", name="Back to the data").click()
    window.settle()
    assert number(output.text_content()) == pytest.approx(found.output[0, 0], rel=1e-4)
    assert window.session.revision == 0  # what if is not an edit


def test_mamdani_rules_are_cut_joined_and_defuzzified(opened):
    bags = Bags.from_list([[[0.1], [1.4]], [[1.5]]], labels=["no", "yes"], feature_names=["depth"])
    session = Session(Document(MAMDANI), bags, name="risk")
    window = opened(session)
    window.open("viewer")
    window.page.wait_for_selector(".cut-set")
    assert window.page.locator(".cut-set").count() == 2
    assert window.page.locator(".joined").count() == 1
    point = session.document.rules.infer(bags).output[0, 0]
    shown = window.page.locator("[data-output=risk] b").text_content()
    assert float(shown) == pytest.approx(point, rel=1e-4)


def test_bags_are_found_sorted_and_explained(opened):
    window = opened()
    window.open("bags")
    page = window.page
    page.get_by_role("button", name="Wrong").click()
    wrong = window.session.answer({"type": "score"})
    assert page.locator("[role=status]", has_text=f"{wrong['n'] - wrong['right']} of 150 bags").count() == 1
    window.key("sort-score").click()
    scores = page.locator(".grid-table tbody tr[data-place] td:nth-child(3)").evaluate_all(
        "cells => cells.map((cell) => Number(cell.title))"
    )
    assert scores == sorted(scores)
    page.locator(".grid-table tbody tr[data-place]").first.focus()
    page.keyboard.press("ArrowDown")
    window.settle()
    chosen = page.locator(".grid-table tr[aria-selected=true] td").first.text_content()
    assert page.get_by_role("heading", name=f"Why {chosen}?").count() == 1
    assert page.locator("table[aria-label='Answer without each instance'] tbody tr").count() > 0


def test_a_second_window_follows(opened):
    first = opened()
    context = first.page.context
    second = context.new_page()
    second.goto(first.home)
    second.wait_for_selector("[data-key='parameter-left-0']")
    field = first.key("parameter-left-0")
    field.fill("0.6")
    first.edited(lambda: field.press("Enter"))
    second.wait_for_function("() => document.querySelector(\"[data-key='parameter-left-0']\").value === '0.6'")
    second.locator("[data-key='parameter-left-1']").fill("0.25")
    first.edited(lambda: second.locator("[data-key='parameter-left-1']").press("Enter"))
    assert first.session.document.rules.variables[0].terms["left"] == Gaussian(0.6, 0.25)
    first.page.wait_for_function("() => document.querySelector(\"[data-key='parameter-left-1']\").value === '0.25'")


def test_the_keyboard_suffices(opened):
    window = opened(Session(demo_document(), demo_bags(), name="demo", demo=True))
    page = window.page
    assert page.locator(".guide").count() == 1
    page.locator(".guide .primary").focus()
    for view in ("rules", "viewer", "bags", "training", "files"):
        page.keyboard.press("Enter")
        assert page.locator(f"#view-{view}").is_visible()
    page.keyboard.press("Enter")
    assert page.locator(".guide").count() == 0
    page.locator("#tab-files").focus()
    page.keyboard.press("ArrowDown")
    for view in (*VIEWS[1:], VIEWS[0]):
        page.keyboard.press("ArrowDown")
        assert page.locator(f"#view-{view}").is_visible()
    page.keyboard.press("Tab")
    focused = "() => document.activeElement.closest('.view') !== null"
    for _ in range(4):
        if page.evaluate(focused):
            break
        page.keyboard.press("Tab")
    assert page.evaluate(focused)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_accessibility_violation(opened, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    members = [demo_document(), Document(demo_document().text.replace("0.7", "0.6"))]
    session = Session(members[0], demo_bags(), name="demo", members=members)
    session.answer({"type": "set_term", "variable": "x1", "term": "left", "handle": "center", "x": 0.5, "revision": 0})
    window = opened(session, color_scheme=theme)
    assert window.page.locator(".studio").get_attribute("data-theme") == theme
    # The themes differ in colors alone, so the second one is only asked about them.
    rules = {} if theme == "light" else {"runOnly": ["color-contrast"]}
    serious = []
    for view in VIEWS:
        window.open(view)
        if view == "history":
            window.key("compare-0").check()
            window.settle()
        assert window.page.locator(".toast.error").all_text_contents() == []
        found = axe.Axe().run(window.page, options={"resultTypes": ["violations"], **rules}).response
        assert found["passes"]
        for problem in found["violations"]:
            if problem["impact"] in ("moderate", "serious", "critical"):
                nodes = [node["html"][:160] for node in problem["nodes"][:3]]
                serious.append(f"{view}: {problem['id']}: {problem['help']}: {nodes}")
    assert serious == []


@pytest.mark.parametrize("width", [800, 1280])
def test_every_view_fits_into_the_window(opened, width):
    members = [demo_document(), Document(demo_document().text.replace("0.7", "0.6"))]
    session = Session(members[0], demo_bags(), name="demo", members=members)
    window = opened(session, viewport={"width": width, "height": 720})
    page = window.page
    for view in VIEWS:
        window.open(view)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        tab = page.locator(f"#tab-{view}")
        assert tab.get_attribute("title") == page.get_by_role("tab", selected=True).text_content()
    window.open("viewer")
    assert page.locator(".walk").evaluate("node => node.scrollWidth <= node.clientWidth")
    window.open("bags")
    name = page.locator("#view-bags tbody tr[data-place] td").first
    assert name.evaluate("node => node.clientWidth > 60 && node.scrollWidth <= node.clientWidth")
    assert page.locator(".scoreboard .figure").is_visible()
    window.open("sets")
    window.key("delete-left").click()
    box = page.locator(".toast.error").bounding_box()
    assert box["width"] > 140
    assert box["x"] >= 0


def test_numbers_of_rules_that_average_fit_beside_the_variables(opened):
    text = demo_document().text.replace("Default: positive = -3\n", "").replace("+= 5", "= 0.123456")
    window = opened(Session(Document(text), demo_bags(), name="demo"))
    window.open("viewer")
    assert window.page.locator(".walk").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_hostile_names_only_appear(opened):
    names = [HOSTILE, "n" * 10_000, BACKWARD]
    variables = [Variable(name, {HOSTILE: Gaussian(0, 1), "t" * 10_000: Gaussian(1, 1)}) for name in names]
    rules = RuleBase(
        tuple(variables),
        (
            Rule({HOSTILE: HOSTILE, BACKWARD: "t" * 10_000}, [[1.0]], label=HOSTILE),
            Rule({"n" * 10_000: HOSTILE}, [[0.0]], label="l" * 10_000),
        ),
        (HOSTILE,),
    )
    bags = Bags.from_list(
        [[[0.0, 0.1, 0.2]], [[1.0, 1.1, 1.2], [0.0, 0.0, 1.0]]],
        labels=[HOSTILE, BACKWARD],
        ids=[HOSTILE, "i" * 10_000],
        feature_names=names,
    )
    window = opened(Session(Document.of(rules), Data(bags, BACKWARD), name=HOSTILE))
    page = window.page
    for view in VIEWS:
        window.open(view)
        assert page.locator(".studio img, .studio script, .studio b b").count() == 0
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        if view not in ("training", "surface"):
            page.locator(f"#view-{view}", has_text="<img src=x").wait_for()


def test_labels_that_are_numbers_are_no_classes(opened):
    text = "VARIABLE x FROM 0 TO 2: low = Gaussian(0, 1)  IF x is low THEN y = 1  IF x is not low THEN y = 3"
    bags = Bags.from_list([[[0.0]], [[1.0], [2.0]], [[1.5]]], labels=[0.5, 2.25, 2.5], feature_names=["x"])
    window = opened(Session(Document(text), bags))
    page = window.page
    window.open("bags")
    window.key("sort-error").wait_for()
    assert window.key("sort-decision").count() == window.key("Which bags-wrong").count() == 0
    errors = window.session.document.rules.infer(bags).output[:, 0] - bags.labels
    shown = page.locator("#view-bags tbody tr[data-place] td:nth-child(4)").all_text_contents()
    assert [number(each) for each in shown] == pytest.approx(errors.tolist(), rel=5e-3)
    window.open("validation")
    page.locator("#view-validation h3", has_text="Predicted against label").wait_for()
    page.locator("#view-validation .figures", has_text="R²").wait_for()
    assert not page.get_by_text("Rules by class").is_visible()
