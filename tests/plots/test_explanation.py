"""The figure of an explanation: what it shows, looked up in the drawing itself."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_rules import assert_nothing_is_cut_off
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import Reading, explain
from fuzzymil.inference.membership import Triangular
from fuzzymil.plots import HIGH, LOW, ExplanationDisplay, save_figure
from fuzzymil.plots.style import WITNESS
from fuzzymil.rules.rule import Rule, Variable

RULES = RuleBase.from_arrays(
    [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], np.full((3, 2), 0.5), [0.0, 1.0, 0.8], feature_names=["hue", "size"], alpha=5
)
BAG = np.array([[0.1, 0.0], [0.9, 1.2], [0.2, 0.2], [1.9, 0.4]])
CLASSES = Reading(lambda output: np.where(output[:, 0] > 0.5, "yes", "no"), None, ("no", "yes"), 0.5)


def random_system(n_rules, n_instances, n_features=5, width=2.0):
    rng = np.random.default_rng(1)
    centers, coefs = rng.normal(size=(n_rules, n_features)), rng.normal(size=n_rules)
    rules = RuleBase.from_arrays(centers, np.full((n_rules, n_features), width), coefs)
    return explain(rules, Bags.from_list([rng.normal(size=(n_instances, n_features))], ids=["one"]))


def mesh(axis):
    (found,) = [child for child in axis.get_children() if isinstance(child, QuadMesh)]
    return np.asarray(found.get_array())


def frames(axis):
    """Row and column of the framed cells."""
    return sorted(
        (int(patch.get_y() + 0.5), int(patch.get_x() + 0.5))
        for patch in axis.patches
        if isinstance(patch, Rectangle) and to_hex(patch.get_edgecolor()) == WITNESS.lower()
    )


def labels(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


@pytest.mark.slow
def test_truth_witnesses_and_contributions_are_shown():
    found = explain(RULES, Bags.from_list([BAG], ids=["photo"]), reading=CLASSES)
    display = ExplanationDisplay.from_explanation(found)
    figure = display.plot()
    heat, _, bars = figure.axes[:3]
    np.testing.assert_allclose(mesh(heat), [rule.parts[0].truth for rule in found.rules], atol=1e-12)
    assert frames(heat) == [(row, rule.witness) for row, rule in enumerate(found.rules)]
    widths = [patch.get_width() for patch in bars.patches]
    np.testing.assert_allclose(widths, [*(rule.contribution for rule in found.rules), found.score], atol=1e-12)
    colors = [to_hex(patch.get_facecolor()) for patch in bars.patches]
    assert colors == [*((HIGH if width > 0 else LOW).lower() for width in widths[:-1]), "#333333"]
    assert labels(heat) == [*display.rows, "decision value"]
    assert display.rows[0].splitlines()[0] == f"{found.rules[0].name}: y = {found.rules[0].outputs[0]:.3g}"
    assert all(fact in figure.get_suptitle() for fact in ("photo", str(found.prediction), f"{found.score:.3g}"))
    assert bars.get_xlabel() == "contribution to the decision value"
    assert heat.get_ylim() == (3.5, -0.5)
    assert_nothing_is_cut_off(figure)


@pytest.mark.slow
def test_numbers_stand_in_the_cells_of_a_small_bag():
    figure = ExplanationDisplay.from_explanation(explain(RULES, [BAG])).plot("a title")
    assert figure.get_suptitle() == "a title"
    written = [text.get_text() for text in figure.axes[0].texts]
    assert len(written) == 12
    assert ".98" in written
    assert "" in written  # nothing is written where there is nothing
    many = ExplanationDisplay.from_explanation(random_system(3, 13)).plot()
    assert not many.axes[0].texts


def test_the_conditions_that_hold_a_rule_down_are_shown():
    found = random_system(3, 4, n_features=5)
    display = ExplanationDisplay.from_explanation(found, max_conditions=2)
    figure = display.plot()
    middle = figure.axes[1]
    for rule, met, further in zip(found.rules, display.conditions, display.further, strict=True):
        assert [each.support for each in met] == [each.membership for each in rule.decisive[:2]]
        assert [each.decisive for each in met] == [True, False]
        assert met[0].text.startswith(f"{rule.decisive[0].variable} = {rule.decisive[0].value:.3g}: ")
        least = np.exp(rule.decisive[2].log_support)
        assert further == f"3 more, {least:.2g} or more each"
    lengths = [patch.get_width() for patch in middle.patches][1::2]  # each lies on a bar of length 1
    np.testing.assert_allclose(lengths, [each.support for met in display.conditions for each in met])
    assert len(middle.texts) == 9
    assert_nothing_is_cut_off(figure)
    plain = ExplanationDisplay.from_explanation(found, max_conditions=0)
    assert len(plain.plot().axes) == 3  # truth, contributions, color bar
    with pytest.raises(ParameterError, match="max_conditions must not be negative, got -1"):
        ExplanationDisplay.from_explanation(found, max_conditions=-1)


def test_one_instance():
    figure = ExplanationDisplay.from_explanation(random_system(3, 1)).plot()
    assert mesh(figure.axes[0]).shape == (3, 1)
    assert frames(figure.axes[0]) == [(0, 0), (1, 0), (2, 0)]
    assert_nothing_is_cut_off(figure)


@pytest.mark.slow
def test_of_many_rules_the_rest_is_one_bar():
    found = random_system(60, 7)
    display = ExplanationDisplay.from_explanation(found)
    assert len(display.rows) == 12
    (rest, amount), total = display.bars
    assert "48" in rest
    assert amount == sum(rule.contribution for rule in found.rules[12:])
    assert total == ("y", found.score)
    assert sum(rule.contribution for rule in display.rules) + display.bars[0][1] == pytest.approx(found.score)
    assert_nothing_is_cut_off(display.plot())
    assert len(ExplanationDisplay.from_explanation(found, max_rules=60).rows) == 60


@pytest.mark.slow
def test_of_many_instances_the_witnesses_and_the_strongest_are_shown():
    found = random_system(6, 1044)
    display = ExplanationDisplay.from_explanation(found, max_instances=20)
    assert len(display.instances) == 20
    assert display.instances == sorted(display.instances)
    for row, rule in enumerate(found.rules):
        assert [display.instances[place] for place in display.witnesses[row]] == [rule.witness]
    hidden = np.delete(np.array([rule.parts[0].truth for rule in found.rules]), display.instances, axis=1).max()
    assert display.note.startswith("20 of 1,044 instances")
    assert display.note.endswith(f"{hidden:.3g}")
    figure = display.plot()
    assert display.note in figure.axes[-1].get_xlabel().replace("\n", " ")
    assert_nothing_is_cut_off(figure)
    assert_nothing_is_cut_off(ExplanationDisplay.from_explanation(found, max_instances=1).plot())


def test_witnesses_are_shown_however_few_instances_may_be():
    found = random_system(6, 50)
    display = ExplanationDisplay.from_explanation(found, max_instances=1)
    assert display.instances == sorted({rule.witness for rule in found.rules})


def test_tiny_degrees_are_drawn_relative_to_the_greatest():
    found = random_system(3, 4, n_features=60, width=0.3)
    assert found.firing < 1e-100
    display = ExplanationDisplay.from_explanation(found)
    assert display.truth.max() == 1
    assert "relative to the greatest" in display.plot().axes[-1].get_xlabel()


def test_an_uncovered_bag_shows_the_default():
    x = Variable("x", {"low": Triangular(0, 1, 2)})
    rules = RuleBase((x,), (Rule({"x": "low"}, [[1.0]]),), default=(0.3,))
    display = ExplanationDisplay.from_explanation(explain(rules, [[[5.0], [6.0]]]))
    assert display.bars == [("default: no rule fires", 0.3), ("y", 0.3)]
    assert display.witnesses == [[]]
    figure = display.plot()
    assert not mesh(figure.axes[0]).any()
    assert not frames(figure.axes[0])
    assert_nothing_is_cut_off(figure)


def test_long_names_are_shortened():
    names = [f"a rather long name of feature number {d}" for d in range(4)]
    rules = RuleBase.from_arrays(
        np.zeros((2, 4)), np.ones((2, 4)), [0, 1], feature_names=names, output_names=["z" * 80]
    )
    figure = ExplanationDisplay.from_explanation(explain(rules, [np.ones((2, 4))])).plot()
    assert all(len(line) <= 46 for label in labels(figure.axes[0]) for line in label.splitlines())
    assert_nothing_is_cut_off(figure)


def test_names_are_no_formulas():
    rules = RuleBase.from_arrays([[0.0]], [[1.0]], [1], feature_names=["$a_{$"], output_names=["$\\frac$"])
    bags = Bags.from_list([[[0.0], [1.0]]], ids=["$^$"])
    ExplanationDisplay.from_explanation(explain(rules, bags)).plot().canvas.draw()


@pytest.mark.parametrize("setting", ["max_rules", "max_instances"])
def test_something_must_be_shown(setting):
    with pytest.raises(ParameterError, match=f"{setting} must be at least 1, got 0"):
        ExplanationDisplay.from_explanation(random_system(2, 3), **{setting: 0})


def test_a_figure_is_written(tmp_path):
    save_figure(ExplanationDisplay.from_explanation(random_system(3, 4)).plot(), tmp_path / "why.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["why.png", "why.svg"]
    assert not plt.get_fignums()


def test_an_additive_rule_that_does_not_fire_is_not_drawn_dark():
    rules = RuleBase.parse("""
        VARIABLE "a long name that goes on, 1" FROM 0 TO 2: high = Sigmoid(1, 30)
        IF SOME "a long name that goes on, 1" is high THEN y += 1
    """)
    display = ExplanationDisplay.from_explanation(explain(rules, [[[0.2], [0.1]]]))
    assert display.log_scale == 0
    assert display.truth.max() < 1e-6
    assert "relative" not in display.plot().axes[-1].get_xlabel()
    assert "a long name that goes on, 1 = 0.2" in display.conditions[0][0].text  # in full: there is room
