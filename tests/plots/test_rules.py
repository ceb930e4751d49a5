"""The grid of rules: what they restrict and conclude, looked up in the drawing itself."""

import dataclasses

import numpy as np
import pytest
from drawn_rules import BAGS, CENTERS, OPEN, RULES, assert_nothing_is_cut_off, many, texts
from matplotlib.colors import to_hex

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.plots import HIGH, LOW, RuleGridDisplay, SpaceDisplay
from fuzzymil.plots._rules import border, conclusions, influences, restrictions, rules_of
from fuzzymil.rules import Rule, Variable

# ---------------------------------------------------------------------- what rules restrict and conclude


@pytest.mark.slow
def test_a_set_restricts_by_what_it_leaves_out():
    x = Variable("x", {"low": Triangular(0, 0, 1), "all": Gaussian(0, 1e6)}, 0, 1)
    rules = RuleBase((x, Variable("y")), (Rule({"x": "low"}, [[1.0]]), Rule({"x": "all"}, [[0.0]])))
    np.testing.assert_allclose(restrictions(rules), [[0.5, 0.0], [0.0, 0.0]], atol=1e-9)
    data = Bags.from_list([[[0.0, 1.0], [0.25, 1.0]], [[np.nan, 1.0]]])
    np.testing.assert_allclose(restrictions(rules, data)[0], [1 - (1 + 0.75) / 2, 0.0])
    missing = Bags.from_list([[[np.nan, 1.0]]])
    assert restrictions(rules, missing).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_most_restricting_of_several_conditions_counts():
    found = restrictions(OPEN)
    very_red = 1 - np.mean(Gaussian(0.1, 0.1)(np.linspace(0, 1, 201)) ** 2)
    assert found[1, 0] == pytest.approx(very_red)
    assert found[2].tolist() == [0.0, 0.0]


def test_influence_is_the_distance_from_the_mean_conclusion():
    np.testing.assert_allclose(influences(OPEN), [(1 - 0.7 / 3) / 1.3, 0.5 * (0.3 + 0.7 / 3) / 1.3, 0.7 / 3 / 1.3])
    same = RuleBase.from_arrays(CENTERS, [[0.2, 5.0]] * 3, [1.0, 1.0, 1.0])
    assert influences(same).tolist() == [1.0, 1.0, 1.0]


def test_linear_conclusions_are_taken_at_the_center():
    x, y = Variable("x", {"low": Gaussian(2, 1)}, 0, 5), Variable("y", {}, 0, 10)
    rules = RuleBase((x, y), (Rule({"x": "low"}, [[1.0, 10.0, 100.0]]),))
    assert conclusions(rules).tolist() == [[1 + 20 + 500]]


def test_the_rules_of_a_model():
    assert rules_of(type("Model", (), {"rules_": RULES})()) is RULES
    with pytest.raises(ParameterError, match=r"RuleBase or a fitted model .*got"):
        rules_of("model.json")


def test_high_is_above_the_mean_or_where_a_classifier_parts_its_classes():
    assert border(RULES, np.array([0.0, 0.5, 2.5])) == 1.0
    judge = MISugeno(rules=RULES, threshold=0.95).fit(BAGS)
    assert border(judge, np.array([0.0, 0.5, 2.5])) == 0.95
    assert RuleGridDisplay.from_rules(judge).high.tolist() == [False, True, False]
    assert "conclusion > 0.95" in RuleGridDisplay.from_rules(judge).note
    assert [rule.kind for rule in SpaceDisplay.from_model(judge, BAGS).rules] == [0, 1, 0]
    assert [rule.kind for rule in SpaceDisplay.from_model(RULES, BAGS, threshold=-1).rules] == [1, 1, 1]


# ---------------------------------------------------------------------- grid


def test_a_grid_shows_every_set_and_conclusion():
    start = RuleBase.from_arrays(CENTERS + 0.1, [[0.3, 4.0]] * 3, [0.5, 0.5, 0.5], feature_names=["width [$]", "depth"])
    display = RuleGridDisplay.from_rules(RULES, start, bags=BAGS)
    assert display.features == ["width [$]", "depth"]
    assert display.rows == ["Rule 1", "Rule 2", "Rule 3"]
    for r, row in enumerate(display.cells):
        for d, cell in enumerate(row):
            x = display.points[d]
            np.testing.assert_allclose(cell.after, [Gaussian(CENTERS[r, d], RULES.widths[r, d])(x)], atol=1e-12)
            np.testing.assert_allclose(cell.before, [Gaussian(CENTERS[r, d] + 0.1, start.widths[r, d])(x)], atol=1e-12)
            mean = Gaussian(CENTERS[r, d], RULES.widths[r, d])(BAGS.instances[:, d]).mean()
            assert cell.restriction == pytest.approx(1 - mean)
    assert display.conclusions.tolist() == [[0.0], [1.0], [0.9]]
    assert display.high.tolist() == [False, True, True]
    assert [count.sum() for count in display.counts] == [15, 15]
    figure = display.plot("a title")
    assert_nothing_is_cut_off(figure)
    grid, right = figure.axes
    assert [text.get_text() for text in grid.get_yticklabels()] == display.rows
    assert [text.get_text() for text in grid.get_xticklabels()] == [r"width [\$]", "depth"]
    assert texts(right) == ["0.00", "1.00", "0.90"]
    bars = [(patch.get_width() > 0, to_hex(patch.get_facecolor())) for patch in right.patches]
    assert bars == [(False, LOW.lower()), (True, HIGH.lower()), (True, HIGH.lower())]
    assert "dashed: before training" in figure.get_supxlabel()


def test_of_many_features_the_most_relevant_come_first():
    ranges = np.tile([0.0, 1.0], (4, 1))
    widths = np.array([[9.0, 0.05, 9.0, 0.2], [0.01, 9.0, 9.0, 9.0], [9.0, 0.05, 9.0, 0.2]])
    # The second rule concludes the mean: that it restricts the first feature most does not count.
    rules = RuleBase.from_arrays(np.full((3, 4), 0.5), widths, [0.0, 0.5, 1.0], ranges=ranges)
    display = RuleGridDisplay.from_rules(rules, max_features=2)
    assert display.features == ["x2", "x4"]
    expected = -np.sort(-restrictions(rules)[:, [0, 2]], axis=1)
    np.testing.assert_array_equal(display.folded, expected)
    assert expected[1, 0] > 0.9
    assert RuleGridDisplay.from_rules(rules).features == ["x1", "x2", "x3", "x4"]
    assert RuleGridDisplay.from_rules(rules).folded.size == 0


def test_of_many_rules_those_that_move_the_answer_are_shown():
    rules = RuleBase.from_arrays(np.arange(5.0)[:, None], np.ones((5, 1)), [0.0, 0.5, 1.0, 0.4, 0.6])
    display = RuleGridDisplay.from_rules(rules, max_rules=2)
    assert display.rows == ["Rule 1", "Rule 3"]
    assert "3 rules with less influence are not shown" in display.note


def test_premises_of_all_kinds_are_shown_condition_by_condition():
    display = RuleGridDisplay.from_rules(OPEN)
    assert display.rows == ["Rule 1", "Rule 2* (x 0.5)", "Rule 3"]
    assert [[0 if cell is None else len(cell.after) for cell in row] for row in display.cells] == [
        [1, 0],
        [2, 1],
        [0, 0],
    ]
    x = display.points[0]
    np.testing.assert_allclose(display.cells[1][0].after[0], Gaussian(0.1, 0.1)(x) ** 2)
    figure = display.plot()
    assert texts(figure.axes[0]).count("any") == 3
    assert_nothing_is_cut_off(figure)


def test_outputs_of_a_grid():
    rules = many(3, 2, n_outputs=8)
    display = RuleGridDisplay.from_rules(rules)
    assert display.outputs == ["y1", "y2", "y3", "y4", "y5", "y6"]
    assert "6 of 8 outputs" in display.note
    assert not display.high.any()
    chosen = RuleGridDisplay.from_rules(rules, outputs=["y8", 0])
    np.testing.assert_array_equal(chosen.conclusions, rules.coefs[:, [7, 0], 0])
    assert_nothing_is_cut_off(display.plot())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rules", "n_features", "name"),
    [(2, 1, "x{}"), (30, 2, "x{}"), (3, 25, "a rather long name of feature number {}"), (2, 166, "f{}")],
    ids=["smallest", "30 rules", "long names", "166 features"],
)
def test_no_grid_is_cut_off(n_rules, n_features, name):
    display = RuleGridDisplay.from_rules(many(n_rules, n_features, name=name), max_rules=30)
    assert display.folded.shape[1] == max(n_features - 12, 0)
    figure = display.plot("of some size")
    assert_nothing_is_cut_off(figure)
    if n_features > 12:
        assert figure.axes[0].get_xticklabels()[-1].get_text() == f"+{n_features - 12} more"


def test_what_a_grid_refuses():
    with pytest.raises(ParameterError, match="max_features must be at least 1, got 0"):
        RuleGridDisplay.from_rules(RULES, max_features=0)
    with pytest.raises(ParameterError, match=r"initial .*expected 2, got 3"):
        RuleGridDisplay.from_rules(dataclasses.replace(RULES, rules=RULES.rules[:2]), RULES)
    with pytest.raises(ParameterError, match="initial must be a rule base with the same variables"):
        RuleGridDisplay.from_rules(RULES, OPEN)
    with pytest.raises(ParameterError, match=r"Unknown output 'z'.*y"):
        RuleGridDisplay.from_rules(RULES, outputs=["z"])
