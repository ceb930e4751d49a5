"""The membership figure: what it shows, looked up in the drawing itself."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil._utils.colors import class_color
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.plots import (
    FAINT,
    HIGH,
    LOW,
    CurvesDisplay,
    MembershipDisplay,
    SpaceDisplay,
    save_figure,
)
from fuzzymil.rules import Rule, Variable
from paper.figures import DistributionDisplay, RanksDisplay, ScoresDisplay, add_marks

CENTERS = np.array([[0.0, 10.0], [1.0, 30.0], [0.5, 20.0]])
RULES = RuleBase.from_arrays(CENTERS, [[0.2, 5.0]] * 3, [0.0, 1.0, 0.9], feature_names=["width", "depth"])
START = RuleBase.from_arrays(CENTERS + 0.1, [[0.3, 4.0]] * 3, [0.5, 0.5, 0.5], feature_names=["width", "depth"])


def panels(figure, n_columns):
    return np.array(figure.axes).reshape(-1, n_columns)


def test_a_panel_for_each_rule_and_feature():
    display = MembershipDisplay.from_rules(RULES, START)
    assert display.titles == ["Rule 1: y = 0.00", "Rule 2: y = 1.00", "Rule 3: y = 0.90"]
    assert display.features == ["width", "depth"]
    assert display.high == [False, True, True]
    figure = display.plot("a title")
    axes = panels(figure, 2)
    assert axes.shape == (3, 2)
    for r in range(3):
        for d in range(2):
            before, after = axes[r, d].get_lines()
            assert before.get_linestyle() == "--"
            assert to_hex(before.get_color()) == FAINT.lower()
            assert after.get_linestyle() == "-"
            assert to_hex(after.get_color()) == (HIGH if display.high[r] else LOW).lower()
            x = after.get_xdata()
            np.testing.assert_allclose(
                after.get_ydata(), Gaussian(RULES.centers[r, d], RULES.widths[r, d])(x), atol=1e-12
            )
            np.testing.assert_allclose(
                before.get_ydata(), Gaussian(START.centers[r, d], START.widths[r, d])(x), atol=1e-12
            )
    assert [axis.get_xlabel() for axis in axes[-1]] == ["width", "depth"]
    assert figure.get_suptitle() == "a title"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "high conclusion", "low conclusion", "before training",
    ]  # fmt: skip


def test_without_the_start_there_is_one_line():
    figure = MembershipDisplay.from_rules(RULES).plot()
    assert all(len(axis.get_lines()) == 1 for axis in figure.axes)
    assert len(figure.legends[0].get_texts()) == 2


def test_the_legend_names_only_what_is_drawn():
    x = Variable("x", {"high": Gaussian(1, 1)}, 0, 2)
    rules = RuleBase((x,), (Rule({"x": "high"}, ((1.0,),)), Rule({}, ((0.0,),))))
    figure = MembershipDisplay.from_rules(rules).plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["high conclusion"]


def test_figures_of_a_classifier_agree_on_what_is_high():
    """By the threshold, 0.2, not by the mean of the conclusions, 0.5."""
    x, y = (Variable(name, {"low": Gaussian(0, 1), "high": Gaussian(1, 1)}, 0, 2) for name in "xy")
    said = ((0.1, "low"), (0.4, "high"), (1.0, "high"))
    rules = tuple(Rule({"x": term, "y": term}, ((value,),)) for value, term in said)
    bags = Bags.from_list([[[0.0, 0.0]], [[1.0, 1.0]]], feature_names=["x", "y"], labels=["no", "yes"])
    judge = MISugeno(rules=RuleBase((x, y), rules), threshold=0.2).fit(bags)
    expected = [False, True, True]
    assert MembershipDisplay.from_rules(judge).high == expected
    assert [bool(rule.kind) for rule in SpaceDisplay.from_model(judge, bags).rules] == expected


def test_conditions_left_out_are_shown_as_any():
    x = Variable("x", {"low": Gaussian(0, 1), "high": Triangular(0, 1, 2)}, 0, 2)
    y = Variable("y", {"wide": Gaussian(0, 3)}, -5, 5)
    rules = RuleBase(
        (x, y), (Rule({"x": "low"}, ((0.0,),)), Rule({"x": "high", "y": "wide"}, ((1.0,),)), Rule({}, ((0.5,),)))
    )
    display = MembershipDisplay.from_rules(rules, rules)
    assert [[curve is None for curve in row] for row in display.curves] == [[False, True], [False, False], [True, True]]
    axes = panels(display.plot(), 2)
    for axis in (axes[0, 1], axes[2, 0], axes[2, 1]):
        assert not axis.get_lines()
        assert [text.get_text() for text in axis.texts] == ["any"]
    assert axes[1, 1].get_xlim() == (-5, 5)


def test_a_variable_that_no_rule_uses():
    x = Variable("x", {"low": Gaussian(0, 1), "high": Gaussian(1, 1)}, 0, 1)
    rules = RuleBase((x, Variable("y")), (Rule({"x": "low"}, ((0.0,),)), Rule({"x": "high"}, ((1.0,),))))
    display = MembershipDisplay.from_rules(rules)
    assert display.features == ["x"]
    assert [len(axis.get_lines()) for axis in panels(display.plot(), 1).ravel()] == [1, 1]
    only_anything = MembershipDisplay.from_rules(RuleBase((x, Variable("y")), (Rule({}, ((0.5,),)),)))
    assert [axis.texts[0].get_text() for axis in panels(only_anything.plot(), 1).ravel()] == ["any"]


def test_of_many_features_the_most_restricted_are_shown_first():
    centers = np.column_stack([[0.0] * 9, [1.0] * 9]).T
    widths = np.full((2, 9), 0.5)
    widths[:, [1, 4, 8]] = 0.1
    widths[0, 6] = 0.2  # one narrow set is enough
    names = [f"f{d}" for d in range(9)]
    ranges = np.tile([0.0, 1.0], (9, 1))
    ranges[2] = [0.0, 100.0]  # narrow for its range, though not in numbers
    rules = RuleBase.from_arrays(centers, widths, [0, 1], feature_names=names, ranges=ranges)
    display = MembershipDisplay.from_rules(rules, max_features=5)
    assert display.features == ["f2", "f1", "f4", "f8", "f6"]
    assert "4 features" in display.note
    assert display.note in display.plot().legends[0].get_title().get_text()
    assert all("4 conditions not shown" in title for title in display.titles)
    assert len(MembershipDisplay.from_rules(rules).features) == 6
    assert len(MembershipDisplay.from_rules(rules).plot().axes) == 12
    every = MembershipDisplay.from_rules(rules, max_features=99)
    assert every.features == names
    assert not every.note
    assert not any("not shown" in title for title in every.titles)


def test_marks_are_drawn_where_they_belong():
    display = MembershipDisplay.from_rules(RULES)
    figure = add_marks(display.plot(), display.features, {"width": [0.5, 0.7]})
    axes = panels(figure, 2)
    dotted = [[line.get_xdata()[0] for line in axis.get_lines() if line.get_linestyle() == ":"] for axis in axes[0]]
    assert dotted == [[0.5, 0.7], []]
    assert "true concepts" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_units_are_shown_and_do_not_get_in_the_way_of_marks():
    variables = [dataclasses.replace(variable, unit="m") for variable in RULES.variables]
    rules = dataclasses.replace(RULES, variables=tuple(variables))
    figure = add_marks(MembershipDisplay.from_rules(rules).plot(), ["width", "depth"], {"width": [0.5]})
    axes = panels(figure, 2)
    assert axes[-1, 0].get_xlabel() == "width [m]"
    assert any(line.get_linestyle() == ":" for line in axes[0, 0].get_lines())


def test_another_output_names_and_colors_the_rules():
    rules = RuleBase.from_arrays(CENTERS, [[0.2, 5.0]] * 3, np.array([[[0.0], [3.0]], [[1.0], [1.0]], [[2.0], [2.0]]]))
    display = MembershipDisplay.from_rules(rules, output=1)
    assert display.titles[0] == "Rule 1: y2 = 3.00"
    assert display.high == [True, False, False]


def test_rules_for_several_outputs_are_named_and_colored_for_what_they_change():
    rules = RuleBase.parse("""
        VARIABLE x FROM 0 TO 2: high = Sigmoid(1, 5)
        Default: cat = 0, dog = 0, fox = 0
        IF SOME x is high THEN cat += 0.5, fox -= 2
        IF SOME x is high THEN dog -= 1
        IF ALL x is high THEN cat += 0, dog += 0, fox += 0
    """)
    display = MembershipDisplay.from_rules(rules)
    assert display.titles[:2] == ["Rule 1: cat += 0.50, fox -= 2.00", "Rule 2: dog -= 1.00"]
    colors = [color for color, _ in display.looks]
    assert colors == [class_color(2, 3), class_color(1, 3), FAINT]
    figure = display.plot()
    assert [to_hex(axis.get_lines()[0].get_color()) for axis in figure.axes] == [each.lower() for each in colors]
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(entries) == 3
    assert "dog" in entries[0]
    assert "fox" in entries[1]
    one = MembershipDisplay.from_rules(rules, output=0)
    assert [color for color, _ in one.looks] == [HIGH, FAINT, FAINT]  # the second does not lower it
    assert one.titles[1] == "Rule 2: cat += 0.00"


def test_quantifiers_are_above_the_curves():
    rules = RuleBase.parse("""
        VARIABLE x FROM 0 TO 2: high = Sigmoid(1, 5)
        VARIABLE y FROM 0 TO 2: high = Sigmoid(1, 5)
        IF SOME x is high THEN z += 1
        IF SOME y is high THEN z += 1
    """)
    for axis in MembershipDisplay.from_rules(rules).plot().axes:
        assert axis.get_ylim()[1] > 1.3


def test_a_single_rule_and_feature():
    rules = RuleBase.from_arrays([[3.0]], [[0.5]], [1.0])
    figure = MembershipDisplay.from_rules(rules).plot()
    line = figure.axes[0].get_lines()[0]
    assert line.get_xdata()[0] < 3 < line.get_xdata()[-1]
    assert line.get_ydata().max() > 0.9


def test_a_figure_is_written_twice_and_closed(tmp_path):
    figure = MembershipDisplay.from_rules(RULES, START).plot()
    save_figure(figure, tmp_path / "sets.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sets.png", "sets.svg"]
    assert not plt.get_fignums()


def test_a_figure_is_written_whole_or_not_at_all(tmp_path, full_disks):
    save_figure(MembershipDisplay.from_rules(RULES).plot(), tmp_path / "sets.png")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    full_disks[tmp_path] = 1000
    with pytest.raises(OSError, match=r"No space left.*sets\.png"):
        save_figure(MembershipDisplay.from_rules(START).plot(), tmp_path / "sets.png")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


NO_FORMULA = r"$\frac$ in $"
DISPLAYS = {
    "membership": MembershipDisplay.from_rules(RULES),
    "curves": CurvesDisplay.from_history({"loss": [1.0, 0.5]}),
    "ranks": RanksDisplay({NO_FORMULA: 1.2, "b": 1.8}),
    "scores": ScoresDisplay({NO_FORMULA: {NO_FORMULA: (0.9, 0.1)}}, "x"),
    "distribution": DistributionDisplay({NO_FORMULA: {NO_FORMULA: [1.0, 2.0]}}, "x"),
}


@pytest.mark.parametrize("name", DISPLAYS)
def test_dollar_signs_are_text(name):
    figure = DISPLAYS[name].plot(NO_FORMULA)
    figure.canvas.draw()  # a formula that cannot be parsed is an error here
    assert figure.get_suptitle() == NO_FORMULA.replace("$", r"\$")
