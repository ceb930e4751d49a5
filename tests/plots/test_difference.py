"""The figure of what distinguishes two rule bases."""

from __future__ import annotations

import pytest

from fuzzymil import RuleBase
from fuzzymil.inference.membership import Gaussian
from fuzzymil.plots import DifferenceDisplay

OLD = RuleBase.parse("""
VARIABLE depth [m] FROM 0 TO 10: low = Gaussian(1, 1.5), high = Gaussian(8, 2)
VARIABLE size: large = Sigmoid(1, 2)
Near: IF depth is low THEN mine = 0.8
IF depth is high AND size is large THEN mine = 0.2
""")
NEW = OLD.edit(sets={"depth.low": {"center": 2}}, new_terms={"depth.middle": Gaussian(5, 1)}, conclusions={1: 0.3})
BAGS = [[[1.0, 0.0]], [[8.0, 3.0]]]


def lines(axis):
    return [(line.get_linestyle(), line.get_color()) for line in axis.lines]


def test_old_sets_are_ghosts_behind_new_ones():
    display = DifferenceDisplay.from_rules(OLD, NEW)
    assert [panel.title for panel in display.panels] == ["depth [m]"]  # size is the same
    (axis, *_) = display.plot().axes
    drawn = lines(axis)
    # low and high, old and new, in one color each; middle is new only
    assert [style for style, _ in drawn] == ["--", "-", "--", "-", "-"]
    assert drawn[0][1] == drawn[1][1] != drawn[2][1] == drawn[3][1]
    ghost, solid = axis.lines[:2]
    assert ghost.get_xdata()[ghost.get_ydata().argmax()] == pytest.approx(1, abs=0.03)
    assert solid.get_xdata()[solid.get_ydata().argmax()] == pytest.approx(2, abs=0.03)


def test_old_and_new_numbers_are_written():
    display = DifferenceDisplay.from_rules(OLD, NEW)
    assert display.numbers == [("Near: mine", 0.8, 0.3)]
    axis = display.plot().axes[-1]
    assert [text.get_text() for text in axis.texts] == ["0.8 → 0.3"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["Near: mine"]


def test_bags_that_changed_sides_are_listed():
    display = DifferenceDisplay.from_rules(OLD, NEW, BAGS)
    assert [flip.bag for flip in display.flips] == [0]
    axis = display.plot("Title").axes[-1]
    assert "1 bag changed sides" in axis.get_title()
    none = DifferenceDisplay.from_rules(OLD, NEW, BAGS, threshold=5.0)
    assert "0 bags" in none.plot().axes[-1].get_title()


def test_several_outputs_show_the_lead():
    two = [RuleBase.parse(f"VARIABLE x: a = Gaussian(0, 1)  IF x is a THEN p = {p}, q = 0.5") for p in (0.9, 0.1)]
    display = DifferenceDisplay.from_rules(*two, [[[0.0]]])
    assert (display.flips[0].old, display.flips[0].new) == ("p", "q")
    axis = display.plot().axes[-1]
    assert axis.get_yticklabels()[0].get_text() == "bag 0: p to q"
    assert [text.get_text() for text in axis.texts] == ["-0.4 → 0.4"]


def test_equal_rules_say_so():
    figure = DifferenceDisplay.from_rules(OLD, OLD).plot()
    assert [text.get_text() for text in figure.texts] == ["The rules are the same."]


def test_many_changes_are_cut():
    many = RuleBase.from_arrays([[float(n)] for n in range(40)], [[1.0]] * 40, range(40))
    changed = many.edit(conclusions=dict.fromkeys(range(1, 41), -1.0))
    axis = DifferenceDisplay.from_rules(many, changed).plot().axes[-1]
    assert len(axis.get_yticklabels()) == 24
    assert "16 more" in axis.get_xlabel()
