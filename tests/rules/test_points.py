"""Rules that conclude points, and the table from score to probability."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scorecards import DECLARED, POINTS, scorecard, some_bags

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.explain import Reading, explain
from fuzzymil.learn.choose.points import with_points
from fuzzymil.rules.cards import rule_cards
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost

YES = Reading(
    lambda output: np.where(output[:, 0] > 0, "yes", "no"),
    lambda output: np.column_stack([expit(-output[:, 0]), expit(output[:, 0])]),
    ("no", "yes"),
    scale="logit",
)


def card(text=POINTS):
    return RuleBase.parse(text)


def test_points_are_conclusions_in_logits():
    rules = card()
    assert rules.points == (3, -2, 1)
    plain = RuleBase.parse(
        POINTS.replace("USING unit = 0.835", "")
        .replace("3 points", repr(3 * 0.835))
        .replace("2 points", repr(2 * 0.835))
        .replace("1 point", "0.835")
    )
    assert plain.points is None
    np.testing.assert_array_equal(rules.infer(some_bags()).output, plain.infer(some_bags()).output)
    assert dataclasses.replace(plain, unit=0.835) == rules
    assert dataclasses.replace(plain, unit=0.8).unit is None


def test_text_and_json_come_back():
    rules = card()
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert "unit" not in scorecard().to_dict()
    lines = str(rules).splitlines()
    assert lines[1].endswith("THEN sky += 3 points")
    assert lines[3].endswith("THEN sky += 1 point")
    assert [line.split()[0] for line in lines[4:]] == ["Score", "Probability"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("USING unit = 0.835", "", r"line 7.*USING unit = 0\.5"),
        ("0.835", "-1", r"line 5.*above 0, .*-1\.0"),
        ("0.835", "big", r"line 5.*above 0, .*'big'"),
        ("3 points", "3.5 points", "line 5.*whole points"),
        ("3 points", "3", "line 5.*whole points"),
    ],
)
def test_mistakes_are_named(old, new, said):
    text = POINTS.replace(old, new) if old != "USING unit = 0.835" else POINTS.replace(old, "USING alpha = 1")
    with pytest.raises(RuleSyntaxError, match=rf"(?is){said}"):
        card(text)


def test_a_variable_and_a_label_may_be_called_points():
    rules = card(
        "VARIABLE points: few = Gaussian(0, 1) USING unit = 2 Default: y = 0 "
        "IF SOME points is few THEN y += 4 points: IF ALL points is few THEN y -= 2 points"
    )
    assert [rule.label for rule in rules.rules] == ["", "points"]
    assert rules.points == (2, -2)


def test_edits_keep_the_unit_while_it_holds():
    rules = card()
    assert rules.edit(conclusions={2: "-4 points"}).points == (3, -4, 1)
    assert rules.edit(conclusions={2: 2 * 0.835}).points == (3, 2, 1)
    assert rules.edit(drop=2, rename={"hue": "color"}, default=1).points == (3, 1)
    assert rules.edit(add="IF SOME hue is red THEN sky += 2 points").points == (3, -2, 1, 2)
    assert rules.edit(replace={1: "IF SOME hue is red THEN sky += 2 points"}).points == (2, -2, 1)
    assert rules.edit(add="IF AT LEAST 3 hue is red THEN sky += 3 points").simplify(some_bags()).rules.unit == 0.835
    for changed in (
        rules.edit(conclusions={2: 0.3}),
        rules.edit(conclusions={2: "1 + hue"}),
        rules.with_settings(normalize=True),
    ):
        assert changed.unit is None
        assert changed.points is None
    assert "unit" in str(rules.diff(rules.edit(conclusions={2: 0.3})))


def test_the_table_of_scores():
    table = card().score_table()
    assert [row.score for row in table.rows] == [-2, -1, 0, 1, 2, 3, 4]
    assert all(row.low == row.score == row.high for row in table.rows)
    for row in table.rows:
        assert row.probability == pytest.approx(expit(-1.9 + 0.835 * row.score))
    assert str(table).splitlines() == [
        "Score        -2  -1    0    1    2    3    4",
        "Probability  3%  6%  13%  26%  44%  65%  81%",
    ]
    assert json.loads(json.dumps(table.to_dict()))["rows"][2] == {
        "score": 0,
        "low": 0,
        "high": 0,
        "probability": pytest.approx(0.1301, abs=1e-4),
    }
    assert "13%" in table._repr_html_()
    with pytest.raises(ParameterError, match="no points"):
        scorecard().score_table()


@given(st.floats(1e-3, 50), st.floats(-60, 60), st.lists(st.integers(-10, 10), min_size=1, max_size=12))
def test_every_score_is_in_the_table(unit, default, points):
    said = " ".join(f"IF SOME hue is red THEN sky += {each} points" for each in points)
    rules = card(f"{DECLARED} USING unit = {unit!r} Default: sky = {default!r} {said}")
    assert rules.points == tuple(points)
    rows = rules.score_table().rows
    assert rows[0].low == sum(each for each in points if each < 0)
    assert rows[-1].high == sum(each for each in points if each > 0)
    assert len(rows) <= 14
    scores = [row.score for row in rows]
    assert scores == sorted(set(scores))
    for row in rows[1:-1]:
        assert row.low == row.score == row.high
        assert 0.01 <= row.probability <= 0.99
    if rows[0].low < rows[0].score:
        assert rows[0].text.endswith(" or less")
        assert rows[0].probability <= 0.01 + 1e-9
    if len(rows) > 1 and rows[-1].high > rows[-1].score:
        assert rows[-1].text.endswith(" or more")
        assert rows[-1].probability >= 0.99 - 1e-9
    assert "100%" not in str(rules.score_table())


def test_explanations_count_points():
    bag = [[0.6, -0.8], [0.55, -0.2], [0.1, 0.3]]
    found = explain(card(), Bags.from_list([bag]), reading=YES)
    rule = found.rules[0]
    assert rule.points == 3
    text = str(found)
    assert f"= {rule.strength:.3f} of +3 points" in text
    score = sum(each.strength * each.points for each in found.rules)
    assert f"logit (score {score:.2f}) -> probability of yes" in text
    assert found.score == pytest.approx(-1.9 + 0.835 * score)
    assert found.to_dict()["rules"][0]["points"] == 3
    assert "points" not in explain(scorecard(), [bag]).to_dict()["rules"][0]
    assert "of +3 points" in found._repr_html_()


def test_cards_and_tables_show_points():
    assert [each.to_dict()["points"] for each in rule_cards(card())] == [3, -2, 1]
    shown = card()._repr_html_()
    assert "sky += 3 points" in shown
    assert "Probability" in shown
    for format in ("markdown", "latex"):
        table = export_rules(card(), format).replace("$", "")
        assert "+3 points" in table
        assert "-1.9" in table
        assert "probability" in table


def test_other_formats_keep_what_points_add():
    rules = RuleBase.parse(POINTS.replace("SOME ", "").replace("AT LEAST 3 ", "").replace("ON AVERAGE ", ""))
    assert any("0.835" in lost for lost in what_is_lost(rules, "fll"))
    assert what_is_lost(rules, "json") == []
    back = parse_rules(export_rules(rules, "fll"), "fll")
    rows = some_bags().instances[:, None]
    np.testing.assert_allclose(back.infer(rows).output, rules.infer(rows).output, atol=1e-6)


def test_with_points_leaves_out_rules_that_get_none():
    rules = scorecard().edit(add="IF SOME hue is red THEN sky += 0.0001", weights={3: 1})
    found = with_points(rules, some_bags(), np.ones(6))
    assert found.n_rules < 4
    assert 0 not in found.points
    assert found.unit > 0
    before, after = (expit(each.infer(some_bags()).output) for each in (rules, found))
    np.testing.assert_allclose(before, after, atol=0.05)


def test_with_points_needs_two_classes():
    several = RuleBase.parse(DECLARED + "Default: a = 0, b = 0 IF SOME hue is red THEN a += 1, b -= 1")
    for rules in (several, scorecard().with_settings(normalize=True)):
        with pytest.raises(ParameterError, match="points need two classes"):
            with_points(rules, some_bags(), np.ones(6))


def test_rules_that_say_nothing_stay_a_rule_base():
    rules = RuleBase.parse(DECLARED + "Default: sky = 1 IF SOME hue is red THEN sky += 0")
    found = with_points(rules, some_bags(), np.ones(6))
    assert found.points == (0,)
    assert found.default[0] == pytest.approx(1)
    assert [row.text for row in found.score_table().rows] == ["0"]
