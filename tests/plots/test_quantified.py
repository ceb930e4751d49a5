"""Figures of quantified and additive rules: what they show, looked up in the drawings."""

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.special import expit

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import Reading, explain
from fuzzymil.plots import (
    HIGH,
    LOW,
    ExplanationDisplay,
    MembershipDisplay,
    ShapesDisplay,
    SpaceDisplay,
    SurfaceDisplay,
)

CARD = RuleBase.parse("""
VARIABLE pages FROM 0 TO 30: low = Sigmoid(4, -1.5), high = Sigmoid(11, 1)
VARIABLE stay [s] FROM 0 TO 120: long = Sigmoid(60, 0.15), medium = Gaussian(50, 15)
VARIABLE hour FROM 0 TO 24: late = Sigmoid(20, 2)
VARIABLE noise FROM 0 TO 1: low = Gaussian(0, 1)
Default: yes = -2.9
IF SOME pages is high THEN yes += 2.2
IF AT LEAST 3 stay is long THEN yes += 1.4
IF SOME (pages is high AND stay is medium) AND MOST pages is low THEN yes += 1.9
IF ALL hour is late THEN yes -= 0.8
IF AT LEAST 8 instances THEN yes -= 1
IF NOT (SOME hour is late) THEN yes += 0.3 WITH 0.5
""")
VISITS = np.array([[14.0, 40.0, 21.0, 0.5], [3.0, 70.0, 12.0, 0.1], [2.0, 88.5, 9.0, 0.2], [6.0, 66.0, 10.0, 0.7]])
RNG = np.random.default_rng(0)
BAGS = Bags.from_list(
    [RNG.uniform(0, [30, 120, 24, 1], (n, 4)) for n in RNG.integers(1, 10, 30)], feature_names=CARD.feature_names
)
YES = Reading(
    lambda output: np.where(output[:, 0] > 0, "yes", "no"),
    lambda output: np.column_stack([expit(-output[:, 0]), expit(output[:, 0])]),
    ("no", "yes"),
    scale="logit",
)


def found():
    return explain(CARD, Bags.from_list([VISITS], ids=["u16"]), reading=YES)


# ---------------------------------------------------------------------- explanations


def test_the_waterfall_leads_from_the_default_to_the_score():
    why = found()
    display = ExplanationDisplay.from_explanation(why)
    assert display.start == ("default", -2.9)
    figure = display.plot()
    bars = figure.axes[2]
    rectangles = bars.patches
    starts, widths = [patch.get_x() for patch in rectangles], [patch.get_width() for patch in rectangles]
    np.testing.assert_allclose(widths, [-2.9, *(rule.contribution for rule in why.rules), why.score], atol=1e-12)
    level = 0.0
    for start, width in list(zip(starts, widths, strict=True))[:-1]:
        assert start == pytest.approx(level, abs=1e-12)
        level += width
    assert level == pytest.approx(why.score, abs=1e-12)
    assert starts[-1] == 0
    colors = [to_hex(patch.get_facecolor()) for patch in rectangles[:-1]]
    assert colors == [(HIGH if width > 0 else LOW).lower() for width in widths[:-1]]
    texts = [text.get_text() for text in bars.texts]
    assert texts[0] == "-2.90"
    assert texts[-1] == f"{why.score:+.2f}"


def test_probabilities_stand_above_a_logit():
    figure = ExplanationDisplay.from_explanation(found()).plot()
    figure.canvas.draw()
    (top,) = figure.axes[2].child_axes
    assert top.get_xlabel() == "probability"
    shown = {text.get_text(): place for text, place in zip(top.get_xticklabels(), top.get_xticks(), strict=True)}
    assert shown["50%"] == 0
    assert expit(shown["20%"]) == pytest.approx(0.2)
    numbers = ExplanationDisplay.from_explanation(explain(CARD, [VISITS])).plot()
    assert not numbers.axes[2].child_axes


def test_every_part_has_a_row_with_its_witnesses():
    why = found()
    display = ExplanationDisplay.from_explanation(why)
    parts = [part for rule in why.rules for part in rule.parts]
    assert len(display.rows) == len(parts) == 7
    assert display.truth.shape == (7, 4)
    np.testing.assert_allclose(display.truth, [part.truth for part in parts])
    assert display.witnesses == [[witness.instance for witness in part.witnesses] for part in parts]
    rows = [row for row, (rule, _) in enumerate(display.parts) if rule.index == 2]
    assert len(rows) == 2
    assert display.rows[rows[0]].splitlines()[0] == "Rule 3: +1.9"
    assert display.rows[rows[1]] == "AND MOST pages is low"
    at_least = next(row for row, part in enumerate(parts) if part.count == 3)
    assert [met.text.split(":")[0] for met in display.conditions[at_least]] == [
        "instance 2",
        "instance 1",
        "instance 3",
    ]
    count = next(row for row, part in enumerate(parts) if part.count == 8)
    assert (display.conditions[count], display.further[count]) == ([], "the bag has only 4 instances")
    figure = display.plot()
    figure.canvas.draw()
    drawn = figure.get_tightbbox(figure.canvas.get_renderer())
    assert drawn.x0 > -0.02
    assert drawn.x1 < figure.get_size_inches()[0] + 0.02


def test_committees_and_rules_left_out():
    why = explain([CARD, CARD], [VISITS], reading=YES)
    display = ExplanationDisplay.from_explanation(why, max_rules=3)
    assert display.start[0] == "default (mean of 2 members)"
    assert [name for name, _ in display.bars] == ["9 other rules", "logit → probability of yes: 0.658"]
    total = display.start[1] + sum(rule.contribution for rule in display.rules) + display.bars[0][1]
    assert total == pytest.approx(why.score, abs=1e-12)
    display.plot().canvas.draw()


# ---------------------------------------------------------------------- rules


def test_rules_before_training_must_be_the_same_rules():
    with pytest.raises(ParameterError, match="expected 6, got 2"):
        MembershipDisplay.from_rules(CARD, dataclasses.replace(CARD, rules=CARD.rules[:2]))
    with pytest.raises(ParameterError, match="Rule 1 asks about other features"):
        MembershipDisplay.from_rules(CARD, dataclasses.replace(CARD, rules=(*CARD.rules[1:], CARD.rules[0])))
    MembershipDisplay.from_rules(CARD, CARD)


def test_sets_are_named_by_what_their_rules_do():
    figure = MembershipDisplay.from_rules(CARD).plot()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["raises the output", "lowers the output"]
    display = MembershipDisplay.from_rules(CARD)
    assert display.titles[0] == "Rule 1: yes += 2.20"
    assert display.titles[3] == "Rule 4: yes -= 0.80"
    assert display.titles[4] == "Rule 5: yes -= 1.00 (≥ 8 instances)"
    words = {text.get_text() for axis in figure.axes for text in axis.texts}
    assert words == {"any", "some", "≥ 3", "all", "some, most", "not some"}


def test_a_panel_has_all_conditions_and_a_not_once():
    """NOT (SOME hour is late) is "not some" and the set itself; NOT (x is big) is the complement."""
    rows = MembershipDisplay.from_rules(CARD).curves
    hour, pages = (CARD.feature_names.index(name) for name in ("hour", "pages"))
    names = MembershipDisplay.from_rules(CARD).features
    late = rows[5][names.index("hour")]
    np.testing.assert_allclose(late.after, [CARD.variables[hour].terms["late"](late.x)])
    both = rows[2][names.index("pages")]
    terms = CARD.variables[pages].terms
    np.testing.assert_allclose(both.after, [terms["high"](both.x), terms["low"](both.x)])
    negated = RuleBase.parse("VARIABLE x FROM 0 TO 1: big = Sigmoid(0.5, 9)  IF NOT (x is big) THEN y = 1")
    curve = MembershipDisplay.from_rules(negated).curves[0][0]
    np.testing.assert_allclose(curve.after, [1 - negated.variables[0].terms["big"](curve.x)])


def test_a_surface_has_as_many_equal_instances_as_a_rule_asks_for():
    display = SurfaceDisplay.from_rules(CARD, "pages", "stay", n_points=5, at={"hour": 12.0})
    assert display.n_instances == 3
    assert display.strongest is None
    for (j, i), z in np.ndenumerate(display.z):
        bag = [[display.x[i], display.y[j], 12.0, 0.5]] * 3
        assert z == pytest.approx(CARD.infer([bag]).output[0, 0], abs=1e-9)
    figure = display.plot()
    assert "3 equal instances" in figure.get_suptitle()
    assert not figure.legends  # nothing is hatched: no firing rule means the default


# ---------------------------------------------------------------------- space


def test_parts_are_outlined_where_an_instance_satisfies_them():
    display = SpaceDisplay.from_model(CARD, BAGS, position=0)
    assert display.axes == ("pages", "stay [s]")  # of the most influential rules
    assert [(outline.number, outline.word) for outline in display.rules] == [
        (1, "some"), (2, "≥ 3"), (3, "some"), (3, "most"),
    ]  # fmt: skip
    high = CARD.variables[0].terms["high"]
    first = display.rules[0]
    np.testing.assert_allclose(first.truth, np.tile(high(first.x), (len(first.y), 1)), rtol=1e-9)
    for outline in display.rules:
        x, y = outline.middle
        place = np.abs(outline.y - y).argmin(), np.abs(outline.x - x).argmin()
        assert outline.truth[place] >= 0.95 * outline.truth.max()
    assert "rules 4, 5, 6" in display.note.replace(" and ", ", ")
    figure = display.plot()
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels.count("rule that raises yes") == 1
    assert "rule that lowers yes" not in labels  # none of them is about these features
    numbers = [text.get_text() for text in figure.axes[0].texts]
    assert numbers == ["1 some", "2 ≥ 3", "3 some", "3 most"]


def test_normalized_quantified_rules_and_several_outputs_are_outlined():
    normalized = dataclasses.replace(CARD, normalize=True)
    labels = {outline.label for outline in SpaceDisplay.from_model(normalized, BAGS).rules}
    assert labels == {"rule with conclusion > 0.667"}
    rules = tuple(dataclasses.replace(rule) for rule in CARD.rules)
    two = RuleBase(
        CARD.variables,
        [type(rule)(rule.premise, [[value], [1.0]]) for rule, value in zip(rules, (2, 0, 0, 0, 0, 0), strict=True)],
        ("a", "b"),
        normalize=False,
    )
    display = SpaceDisplay.from_model(two, BAGS, features=("pages", "hour"))
    assert {(outline.number, outline.label) for outline in display.rules} == {
        (1, "rule for a"), (3, "rule for b"), (4, "rule for b"), (6, "rule for b"),
    }  # fmt: skip
    display.plot().canvas.draw()


# ---------------------------------------------------------------------- shapes


def test_shapes_are_what_rules_add():
    display = ShapesDisplay.from_rules(CARD, bags=BAGS)
    panels = {panel.feature: panel for panel in display.panels}
    assert list(panels) == ["pages", "stay [s]", "hour"]  # by what their rules add
    pages, stay, hour = panels.values()
    assert [(shape.rule, shape.text, shape.alone) for shape in pages.shapes] == [
        (1, "SOME pages is high", True),
        (3, "SOME (pages is high AND stay is medium)", False),
        (3, "MOST pages is low", False),
    ]
    high, low = CARD.variables[0].terms["high"], CARD.variables[0].terms["low"]
    np.testing.assert_allclose(pages.shapes[0].y, 2.2 * high(pages.x), atol=1e-9)
    np.testing.assert_allclose(pages.shapes[2].y, 1.9 * np.clip((low(pages.x) - 0.3) / 0.5, 0, 1), atol=1e-9)
    np.testing.assert_allclose(stay.shapes[0].y, 1.4 * CARD.variables[1].terms["long"](stay.x), atol=1e-9)
    late = CARD.variables[2].terms["late"](hour.x)
    np.testing.assert_allclose(hour.shapes[0].y, -0.8 * late, atol=1e-9)
    np.testing.assert_allclose(hour.shapes[1].y, 0.5 * 0.3 * (1 - late), atol=1e-9)
    assert hour.shapes[1].text == "NOT (SOME hour is late)"
    assert pages.counts.sum() == BAGS.n_instances


def test_shapes_leave_out_rules_that_add_nothing():
    rules = RuleBase.parse("""
        VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
        VARIABLE hour FROM 0 TO 24: late = Sigmoid(18, 1)
        Default: yes = 0, no = 0
        IF SOME pages is high THEN yes += 1
        IF ALL pages is high THEN no += 1
        IF SOME hour is late THEN no += 1
    """)
    display = ShapesDisplay.from_rules(rules, output="yes")
    assert [[shape.rule for shape in panel.shapes] for panel in display.panels] == [[1]]
    assert "2 rules" in display.note


def test_shapes_are_drawn():
    display = ShapesDisplay.from_rules(CARD, bags=BAGS, max_features=2)
    assert display.note.startswith("1 feature")
    figure = display.plot("What adds up")
    curves = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 2]
    assert [line.get_linestyle() for line in curves] == ["-", "--", "--"]
    np.testing.assert_array_equal(curves[0].get_ydata(), display.panels[0].shapes[0].y)
    assert "yes = -2.9" in figure.get_supxlabel()
    assert figure.get_suptitle() == "What adds up"
    with pytest.raises(ParameterError, match="normalize=False"):
        ShapesDisplay.from_rules(dataclasses.replace(CARD, normalize=True))
    with pytest.raises(ParameterError, match=r"max_features.*0"):
        ShapesDisplay.from_rules(CARD, max_features=0)


def test_a_surface_shows_the_features_that_rules_use():
    rules = RuleBase.parse(
        """
        VARIABLE idle: high = Sigmoid(1, 1)
        VARIABLE weak: high = Sigmoid(1, 1)
        VARIABLE pages: high = Sigmoid(1, 1)
        VARIABLE hour: high = Sigmoid(1, 1)
        Default: y = 0
        IF SOME weak is high THEN y += 0.1
        IF SOME (pages is high AND hour is high) THEN y += 2
        """
    )

    def axes(*given, **also):
        shown = SurfaceDisplay.from_rules(rules, *given, **also, n_points=3)
        return tuple(feature.title for feature in shown.features)

    assert axes() == ("pages", "hour")
    assert axes("idle") == ("idle", "pages")
    assert axes(y="pages") == ("hour", "pages")
    assert axes("hour", "weak") == ("hour", "weak")
    with pytest.raises(ParameterError, match="two features"):
        SurfaceDisplay.from_rules(RuleBase.from_arrays([[0.0]], [[1.0]], [1.0]))
