"""What the pictures say is what the library computes."""

import pytest

from fuzzymil.bags import Bags
from fuzzymil.estimators import RuleClassifier, model_to_dict
from fuzzymil.rules.activations import bags_of_equal
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.start import demo_bags, demo_document

pytestmark = pytest.mark.slow

COUNTING = """
VARIABLE hr FROM 40 TO 200: fast = Gaussian(150, 20)
VARIABLE age FROM 0 TO 99: old = Gaussian(80, 20)
Default: ill = -2
IF AT LEAST 3 hr is fast THEN ill += 4
IF SOME age is old THEN ill += 1
"""
ROOM = """
VARIABLE heat FROM 0 TO 40: cold = Ramp(20, 5), warm = Triangular(10, 20, 30), hot = Ramp(25, 38)
OUTPUT fan FROM 0 TO 100: slow = Triangular(-40, 0, 40), fast = Triangular(60, 100, 140)
OUTPUT valve FROM -1 TO 1: shut = Triangular(-2, -1, 0), open = Triangular(0, 1, 2)
IF heat is hot THEN fan is fast, valve is open
IF heat is NOT hot THEN fan is slow
IF NOT (heat is warm) THEN valve is shut
"""


def room():
    bags = Bags.from_list([[[10.0]], [[22.0]], [[36.0]]], labels=[-1.0, 0.5, 0.9], feature_names=["heat"])
    return Session(Document(ROOM), Data(bags, "rows.csv", {"label": "valve"}), name="room")


def test_the_surface_says_which_bag_it_is_about(opened):
    window = opened(Session(Document(COUNTING), name="heart"))
    window.open("surface")
    rules, point = window.session.document.rules, window.page.locator(".slice-point").first
    assert window.key("n-equal").input_value() == "3"
    for n in (3, 1):
        window.key("n-equal").fill(str(n))
        window.key("n-equal").press("Enter")
        window.settle()
        at = [[float(window.key(f"held-{name}").input_value()) for name in ("hr", "age")]]
        expected = rules.infer(bags_of_equal(rules, at, n)).output[0, 0]
        assert float(point.get_attribute("data-value")) == pytest.approx(expected, abs=1e-6)


def test_the_viewer_leads_to_the_output_that_is_chosen(opened):
    window = opened(room())
    window.open("viewer")
    window.key("bag").select_option("2")
    window.settle()
    expected = window.session.document.rules.infer(window.session.bags[[2]]).output[0]
    for k, name in enumerate(("fan", "valve")):
        window.key("viewer-output").select_option(name)
        window.settle()
        joined = window.page.locator(f".joined[data-output={name}]")
        assert float(joined.get_attribute("data-point")) == pytest.approx(expected[k], abs=1e-6)
    assert window.page.locator(".walk-table", has_text="nothing about valve").count() == 1
    assert window.page.locator(".cut-set").count() == 2


def test_feet_beyond_the_axis_are_arrows(opened):
    window = opened(room())
    window.key("variable-fan").click()
    beyond = window.page.locator(".handle.beyond").evaluate_all("all => all.map((each) => each.dataset.beyond)")
    assert sorted(beyond) == sorted(["140", "\N{MINUS SIGN}40"])


def test_the_line_that_is_typed_stays_in_sight(opened):
    text = demo_document().text + "".join(f"# line {n}\n" for n in range(30))
    window = opened(Session(Document(text), demo_bags(), name="long"))
    window.open("rules")
    area = window.page.locator("textarea")
    area.focus()
    window.page.keyboard.press("Control+End")
    window.page.keyboard.insert_text("IF x1 is lefft THEN positive += 1\n" * 10)
    window.page.locator(".mistakes li").nth(9).wait_for()
    window.settle()
    assert area.evaluate("node => node.value.split('\\n').length") >= 40
    hidden = area.evaluate(
        """node => 10 + (node.value.slice(0, node.selectionEnd).split("\\n").length) * 22
          - node.scrollTop - node.clientHeight"""
    )
    assert hidden <= 0


def test_accuracy_is_called_held_out_only_if_it_was(opened):
    window = opened()
    window.open("validation")
    page = window.page
    window.key("folds-refit").select_option("")
    window.key("folds-go").click()
    page.locator(".figures", has_text="nothing held out").wait_for()
    assert page.locator("[aria-label='Held-out folds'] .figures", has_text=", held out").count() == 0
    window.key("folds-refit").select_option("train")
    window.key("folds-go").click()
    page.locator(".figures", has_text="accuracy, held out").wait_for(timeout=90_000)
    page.locator("table[aria-label='Held-out folds'] tbody tr").nth(4).wait_for(timeout=90_000)


def test_training_stops_before_anything_has_moved(opened):
    window = opened()
    window.open("training")
    window.key("train").click()
    window.key("stop").click()
    window.page.locator(".toast", has_text="nothing has changed").wait_for()
    assert window.key("train").is_enabled()


def test_data_that_the_rules_cannot_read_can_be_closed(opened):
    other = Bags.from_list([[[1.0]]], labels=["a"], feature_names=["else"])
    window = opened(Session(demo_document(), other, name="demo"))
    window.open("viewer")
    window.edited(window.key("close-data").click)
    window.page.locator(".walk-cell").first.wait_for()


def test_a_class_has_one_color_in_all_views(opened):
    window = opened()
    color = "node => getComputedStyle(node).getPropertyValue('--own')"
    bars = window.page.locator(".bars").evaluate_all(f"all => all.map({color})")
    terms = window.page.locator(".curve.c0, .curve.c1").evaluate_all(f"all => all.map({color})")
    window.open("surface")
    marks = window.page.locator(".surface-legend .mark").evaluate_all(f"all => all.map({color})")
    assert sorted(set(marks)) == sorted(set(bars))
    assert len(set(marks)) == 2
    assert not set(bars) & set(terms)


def test_every_view_follows_the_number_of_rules(opened):
    bags = demo_bags()
    model = RuleClassifier(max_rules=3, random_state=0).fit(bags)
    session = Session(
        Document.of(model.rules_),
        bags,
        name="sized",
        model=model._class_reading(),
        frontier=model_to_dict(model)["frontier"],
    )
    window = opened(session)
    window.open("bags")
    curve = window.key("frontier")
    curve.wait_for()
    curve.focus()
    window.edited(lambda: window.page.keyboard.press("ArrowLeft"))
    place = model.frontier_.chosen - 1
    decided = model.at(model.frontier_[place].n_rules).predict(bags)
    shown = window.page.locator("#view-bags tbody tr[data-place] td:nth-child(5)").all_text_contents()
    assert [each[2:] for each in shown] == decided[: len(shown)].tolist()
    box = curve.bounding_box()
    window.edited(lambda: window.page.mouse.click(box["x"] + box["width"] - 8, box["y"] + 20))
    window.settle()
    assert window.session.document.rules.n_rules == model.frontier_[-1].rules.n_rules
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    assert window.session.document.rules == model.rules_
