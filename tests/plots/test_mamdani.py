"""Figures of Mamdani rules: sets of inputs and outputs, joined sets, and what other rules have."""

import numpy as np
import pytest

from fuzzymil import Bags, MIMamdani, RuleBase, plots

TEXT = """
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0.1, 0.3), deep = Gaussian(0.8, 0.3)
VARIABLE metal FROM 0 TO 10: little = Ramp(6, 0), much = Ramp(3, 10)
OUTPUT risk [%] FROM 0 TO 100: small = Triangular(-40, 0, 45), great = Triangular(52, 100, 140)
Surface: IF depth is shallow AND metal is much THEN risk is great
IF depth is deep OR metal is little THEN risk is small
"""
RULES = RuleBase.parse(TEXT)
BAGS = Bags.from_list([[[0.1, 8.0], [0.9, 2.0]], [[0.8, 9.0]], [[0.9, 1.0]]], ["depth", "metal"], labels=[1, 1, 0])
MODEL = MIMamdani(rules=TEXT, threshold=50.0).fit(BAGS)
OTHER = RULES.edit(sets={"risk.great": {"left": 30}, "depth.deep": {"width": 0.1}}, conclusions={2: "great"})


def texts(figure):
    found = [text.get_text() for axis in figure.axes for text in (axis.title, axis.xaxis.label, *axis.texts)]
    found += [axis.get_title(loc="left") for axis in figure.axes]
    return found + [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_sets_of_inputs_and_outputs_before_and_after():
    display = plots.MembershipDisplay.from_rules(OTHER, RULES)
    assert display.features == ["depth", "metal", "risk"]
    assert display.n_outputs == 1
    assert display.titles == ["Surface: risk is great", "Rule 2: risk is great"]
    concluded = display.curves[0][2]
    np.testing.assert_array_equal(concluded.after[0], OTHER.outputs[0].terms["great"](concluded.x))
    np.testing.assert_array_equal(concluded.before[0], RULES.outputs[0].terms["great"](concluded.x))
    assert plots.MembershipDisplay.from_rules(MODEL).high == [True, False]
    assert "risk [%]" in texts(display.plot())


def test_the_joined_set_and_its_point():
    display = plots.JoinedSetDisplay.from_rules(MODEL, BAGS, 0)
    values, membership = RULES.infer(BAGS).joined_sets()
    np.testing.assert_array_equal(display.joined.values, values)
    np.testing.assert_array_equal(display.joined.membership, membership[0])
    assert display.joined.point == RULES.infer(BAGS).output[0, 0]
    assert [rule.log_firing for rule in display.rules] == sorted((r.log_firing for r in display.rules), reverse=True)
    for rule in display.rules:
        sets, cuts = (np.array(found[rule.index]) for found in (display.joined.sets, display.joined.cuts))
        assert (cuts <= np.minimum(sets, display.joined.membership) + 1e-12).all()
    found = texts(display.plot())
    assert any("Surface" in text for text in found)
    assert any("joined set" in text for text in found)
    assert "risk [%]" in found
    assert "threshold: 50" in found
    assert plots.JoinedSetDisplay.from_explanation(MODEL.explain(BAGS, position=0)).joined == display.joined
    with pytest.raises(ValueError, match="RuleBase"):
        plots.JoinedSetDisplay.from_rules(RuleBase.from_arrays([[0.0]], [[1.0]], [1]), [[[0.0]]])


def test_figures_of_other_rules_show_mamdani_rules():
    surface = plots.SurfaceDisplay.from_rules(MODEL, "depth", "metal", n_points=5)
    rows = [[x, y] for y in surface.y for x in surface.x]
    np.testing.assert_allclose(surface.z.ravel(), RULES.infer(np.array(rows)).output[:, 0])
    difference = plots.DifferenceDisplay.from_rules(RULES, OTHER, BAGS)
    assert [panel.title for panel in difference.panels] == ["depth [m]", "risk [%]"]
    assert difference.threshold == 50
    assert [flip.bag for flip in difference.flips] == [0, 1, 2]
    for display in (
        difference,
        surface,
        plots.SpaceDisplay.from_model(MODEL, BAGS, position=0),
        plots.ExplanationDisplay.from_explanation(MODEL.explain(BAGS, position=0)),
    ):
        assert display.plot().axes
