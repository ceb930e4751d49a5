"""Fuzzy sets in the browser: dragged, moved by keys, typed, changed, locked."""

import numpy as np
import pytest

from fuzzymil.inference.membership import Gaussian

pytestmark = pytest.mark.slow


def number(text):
    """A number as the page shows it, with a typographic minus."""
    return float(text.replace("\N{MINUS SIGN}", "-"))


def left(session):
    return session.document.rules.variables[0].terms["left"]


def shown_scores(window):
    """The scores of the first bags as the table shows them, in full."""
    window.open("bags")
    cells = window.page.locator(".grid-table tbody tr[data-place] td:nth-child(3)")
    return np.array(cells.evaluate_all("cells => cells.map((cell) => Number(cell.title))"))


def test_a_dragged_set_gives_the_numbers_of_edit_and_infer(opened):
    window = opened()
    before = window.session.document.rules
    handle = window.key("handle-left-move")
    box = handle.locator(".handle-mark").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = window.page.mouse
    mouse.move(x, y)
    mouse.down()
    for step in range(1, 13):
        mouse.move(x - 6 * step, y + step)
    window.settle()
    assert window.session.document.rules == before  # nothing is kept before the button is released
    right = window.page.locator(".scoreboard .figure").text_content()
    window.edited(mouse.up)
    moved = left(window.session)
    assert moved == Gaussian(float(handle.get_attribute("aria-valuenow")), 0.3)
    assert 0.45 < moved.center < 0.6
    found = before.edit(sets={("x1", "left"): moved}).infer(window.session.bags)
    labels = np.array([label == "positive" for label in window.session.bags.labels])
    assert right == f"{100 * np.mean((found.output[:, 0] > 0) == labels):.1f}%"
    scores = shown_scores(window)
    assert len(scores) > 10
    np.testing.assert_allclose(scores, found.output[: len(scores), 0], rtol=0, atol=1e-6)
    shown = window.page.locator(".sums .total .amount").text_content()
    assert number(shown) == pytest.approx(found.output[0, 0], rel=1e-3)


def test_keys_move_a_set_and_undo_returns_it(opened):
    window = opened()
    start = window.text
    handle = window.key("handle-left-move")
    handle.focus()
    window.edited(lambda: window.page.keyboard.press("ArrowRight"))
    assert left(window.session).center == pytest.approx(0.72)
    assert handle.evaluate("node => node === document.activeElement")  # drawn anew, and still focused
    window.edited(lambda: window.page.keyboard.press("Shift+ArrowLeft"))
    assert left(window.session).center == pytest.approx(0.52)
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    assert window.text == start
    window.edited(lambda: window.page.keyboard.press("Control+Shift+z"))
    assert left(window.session).center == pytest.approx(0.72)


def test_fifty_changes_are_undone_to_the_same_text(opened):
    window = opened()
    start = window.text
    window.key("handle-right-move").focus()
    for _ in range(50):
        window.edited(lambda: window.page.keyboard.press("ArrowLeft"))
    assert window.session.document.rules.variables[0].terms["right"].center == pytest.approx(0.3)
    for _ in range(50):
        window.page.keyboard.press("Control+z")
    window.page.wait_for_function("() => document.querySelector('[aria-label=Undo]').disabled")
    assert window.text == start
    window.open("rules")
    assert window.page.locator("textarea").input_value() == start


def test_typed_numbers_families_locks_and_names(opened):
    window = opened()
    page = window.page
    center = window.key("parameter-left-0")
    center.fill("0,55")  # a decimal comma is understood
    window.edited(lambda: center.press("Enter"))
    assert left(window.session) == Gaussian(0.55, 0.3)
    center.fill("wide")
    center.press("Enter")
    assert center.get_attribute("aria-invalid") == "true"
    center.press("Escape")
    assert center.input_value() == "0.55"
    window.edited(lambda: window.key("family-left").select_option("triangular"))
    assert left(window.session).peak_at == pytest.approx(0.55)
    window.edited(window.key("lock-left").click)
    assert window.session.document.frozen == {("x1", "left")}
    assert window.key("handle-left-move").count() == 0
    window.key("rename-left").click()
    page.locator("dialog input").fill("west")
    window.edited(lambda: page.keyboard.press("Enter"))
    assert "x1 is west" in window.text
    window.key("delete-west").click()
    page.locator(".toast.error", has_text="used by rule 1").wait_for()
    window.edited(lambda: window.key("partition").select_option("5") and page.locator("dialog .primary").click())
    assert "highest" in window.session.document.rules.variables[0].terms
    window.key("add-term").click()
    page.locator("dialog input").fill("somewhere")
    window.edited(lambda: page.keyboard.press("Enter"))
    assert "somewhere" in window.session.document.rules.variables[0].terms


def test_a_click_right_after_typing_counts(opened):
    window = opened()
    window.key("parameter-left-0").fill("0.66")
    box = window.key("lock-left").bounding_box()
    window.page.mouse.move(box["x"] + 10, box["y"] + 10)
    window.page.mouse.down()  # leaves the field, which takes the number over
    window.page.wait_for_timeout(200)
    window.page.mouse.up()
    window.page.locator("[data-key='lock-left'][aria-pressed=true]").wait_for()
    assert left(window.session).center == 0.66
    assert window.session.document.frozen == {("x1", "left")}


def test_the_slope_of_a_bell_is_dragged_and_moved_by_keys(opened):
    window = opened()
    window.edited(lambda: window.key("family-left").select_option("bell"))
    before = left(window.session)
    assert before.center == 0.7  # without the rounding of the move
    handle = window.key("handle-left-slope")
    box = handle.locator(".handle-mark").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = window.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 15, y + 3, steps=4)  # away from the center: a flatter top and steeper flanks
    window.edited(mouse.up)
    steeper = left(window.session)
    assert steeper.slope > before.slope
    assert (steeper.center, steeper.width) == (before.center, before.width)
    handle.focus()
    window.edited(lambda: window.page.keyboard.press("ArrowRight"))
    assert before.slope < left(window.session).slope < steeper.slope
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    assert left(window.session) == steeper
