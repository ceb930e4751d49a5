"""Rules as text and as a table, kept in step."""

import pytest

from fuzzymil.studio import Document, Session
from fuzzymil.studio.start import demo_bags

pytestmark = pytest.mark.slow

PLAIN = """\
VARIABLE x1: left = Gaussian(0.7, 0.3), right = Gaussian(1.3, 0.3)
VARIABLE x2: low = Gaussian(0.7, 0.3), high = Gaussian(1.3, 0.3)
Near: IF x1 is left AND x2 is low THEN positive = 1  # the first disc
Far: IF x1 is right AND x2 is high THEN positive = 1
Far again: IF x1 is right AND x2 is high THEN positive = 1
IF anything THEN positive = 0 WITH 0.5
"""


def type_at_end(window, text):
    area = window.page.locator("textarea")
    area.focus()
    window.page.keyboard.press("Control+End")
    window.page.keyboard.insert_text(text)


def test_a_typo_is_marked_at_its_column_and_the_fix_is_offered(opened):
    window = opened()
    window.open("rules")
    rules = window.session.document.rules
    type_at_end(window, "IF x1 is lefft AND x3 is low THEN positive += 1")
    page = window.page
    page.locator(".mistakes li").nth(1).wait_for()
    assert page.locator(".editor-overlay .mistake").all_text_contents() == ["lefft", "x3"]
    assert page.locator(".mistakes .place").all_text_contents() == ["Line 9, 10", "Line 9, 20"]
    assert page.locator(".editor-lines .marked").all_text_contents() == ["9"]
    marked = page.locator(".editor-overlay .mistake").first.bounding_box()
    before = page.evaluate(
        "() => { const overlay = document.querySelector('.editor-overlay'); const range = document.createRange();"
        " const walker = document.createTreeWalker(overlay, NodeFilter.SHOW_TEXT); let node;"
        " while ((node = walker.nextNode())) if (node.textContent === 'lefft') break;"
        " range.selectNode(node); return range.getBoundingClientRect().left; }"
    )
    assert marked["x"] == pytest.approx(before, abs=1)
    assert window.session.document.rules == rules  # a text with mistakes is not taken over
    page.locator(".mistakes button", has_text="Change to left").click()
    page.wait_for_function("() => document.querySelectorAll('.mistakes li').length === 1")
    fix = page.locator(".mistakes button.small")
    if fix.count():
        window.edited(fix.click)
    else:
        page.locator(".mistakes .message").click()  # selects the word
        window.edited(lambda: page.keyboard.insert_text("x2"))
    assert window.session.document.rules.n_rules == 3
    assert page.locator(".rule-table tbody tr").count() == 3


def test_completion_by_keyboard(opened):
    window = opened()
    window.open("rules")
    type_at_end(window, "IF SOME x1 is")
    keyboard = window.page.keyboard
    keyboard.press("Space")
    option = window.page.locator(".completions [aria-selected=true]")
    option.wait_for()
    window.page.locator(".mistakes li").wait_for()  # the text is checked meanwhile, and the list stays
    assert option.text_content().startswith("left")
    keyboard.press("r")
    window.page.locator(".completions [aria-selected=true]", has_text="right").wait_for()
    keyboard.press("Enter")
    assert window.page.locator("textarea").input_value().endswith("IF SOME x1 is right")
    window.edited(lambda: keyboard.insert_text(" THEN positive += 2"))
    assert window.session.document.rules.n_rules == 3


def test_text_and_table_stay_in_step(opened):
    window = opened(Session(Document(PLAIN), demo_bags(), name="plain"))
    window.open("rules")
    page = window.page
    area = page.locator("textarea")
    assert area.input_value() == PLAIN
    window.edited(lambda: window.key("cell-1-x1").select_option("right"))
    assert "Near: IF x1 is right AND x2 is low THEN positive = 1" in area.input_value()
    assert "# the first disc" in area.input_value()
    weight = window.key("weight-2")
    weight.fill("0.25")
    window.edited(lambda: weight.press("Enter"))
    assert "WITH 0.25" in area.input_value()
    window.edited(lambda: window.key("then-4").fill("0.1") or window.key("then-4").press("Enter"))
    assert window.session.document.rules.rules[3].coefs[0][0] == 0.1
    window.edited(window.key("on-3").click)
    assert window.session.document.off == {3}
    window.edited(window.key("down-1").click)
    assert area.input_value().index("Far:") < area.input_value().index("Near:")
    replaced = area.input_value().replace("Far again", "Farther")
    window.edited(lambda: area.fill(replaced))
    assert "Farther" in page.locator(".rule-table tbody").text_content()
    assert window.session.document.off == {3}


def test_findings_are_applied(opened):
    window = opened(Session(Document(PLAIN), demo_bags(), name="plain"))
    window.open("rules")
    finding = window.page.locator(".findings li", has_text="duplicate").first
    finding.wait_for()
    window.edited(finding.locator("button").click)
    assert window.session.document.rules.n_rules == 3


def test_rules_are_made_in_the_table_alone(opened):
    sets = "VARIABLE x1: left = Gaussian(0.7, 0.3)  VARIABLE x2: low = Gaussian(0.7, 0.3)"
    window = opened(Session(Document(f"{sets}  IF anything THEN positive = 0"), demo_bags(), name="plain"))
    window.open("rules")
    window.edited(window.key("add-rule").click)
    window.edited(lambda: window.key("more-2").select_option("x1"))
    window.edited(lambda: window.key("more-2").select_option("x2"))
    window.edited(lambda: window.key("then-2").fill("1") or window.key("then-2").press("Enter"))
    assert "IF x1 is left AND x2 is low THEN positive = 1" in window.text


def test_a_text_with_mistakes_survives_a_reload(opened):
    window = opened()
    window.open("rules")
    type_at_end(window, "IF x1 is lefft THEN positive += 1")
    page = window.page
    page.locator(".mistakes li").wait_for()
    assert page.locator(".status", has_text="Text not applied: 1 mistake").count() == 1
    window.settle()
    page.reload()
    page.locator(".status", has_text="Text not applied: 1 mistake").wait_for()
    window.open("rules")
    assert page.locator("textarea").input_value().endswith("IF x1 is lefft THEN positive += 1")
    window.edited(page.locator(".mistakes button.small").click)
    page.locator(".status", has_text="All changes saved").wait_for()
    page.reload()
    page.wait_for_selector(".tab[aria-selected=true]")
    window.open("rules")
    assert page.locator("textarea").input_value() == window.text


def test_a_draft_is_joined_with_changes_elsewhere(opened):
    window = opened()
    page = window.page
    window.open("rules")
    type_at_end(window, "IF x1 is lef")
    page.locator(".mistakes li").first.wait_for()
    window.open("sets")
    field = window.key("parameter-left-0")
    field.fill("0.55")
    window.edited(lambda: field.press("Enter"))
    window.open("rules")
    area = page.locator("textarea")
    assert "Gaussian(0.55, 0.3)" in area.input_value()
    assert area.input_value().endswith("IF x1 is lef")
    window.edited(lambda: type_at_end(window, "t THEN positive += 1"))
    rules = window.session.document.rules
    assert (rules.n_rules, rules.variables[0].terms["left"].center) == (3, 0.55)

    area.fill(area.input_value().replace("Gaussian(0.55, 0.3)", "Gaussian(0.6,"))  # the same line, unfinished
    page.locator(".mistakes li").first.wait_for()
    window.open("sets")
    field.fill("0.5")
    window.edited(lambda: field.press("Enter"))
    window.open("rules")
    window.key("clash-theirs").click()
    window.settle()
    assert area.input_value() == window.text
    assert window.session.document.rules.variables[0].terms["left"].center == 0.5
