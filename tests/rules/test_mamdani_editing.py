"""Mamdani rules are edited, simplified, compared and diagnosed with the words of other rules."""

import json

import numpy as np
import pytest

from fuzzymil import ParameterError, RuleBase
from fuzzymil.inference.membership import Gaussian, Ramp, Triangular
from fuzzymil.rules import Is

TEXT = """
# About mines
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2), abyss = Gaussian(1.02, 0.2)
VARIABLE metal FROM 0 TO 10: much = Ramp(0, 10)
VARIABLE idle
OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5), odd = Triangular(0, 1, 2)
OUTPUT haste FROM 0 TO 10: some = Triangular(0, 5, 10)
Surface: IF depth is shallow AND metal is much THEN risk is great, haste is very some  # the worst
IF depth is deep THEN risk is small
IF depth is abyss THEN risk is small WITH 0.5
IF depth is deep THEN risk is great
"""
RULES = RuleBase.parse(TEXT)
BAGS = [[[0.9, 8, 0], [0.3, 5, 0]], [[0.1, 9, 0]], [[1, 1, 0]]]


def test_edit_changes_premises_and_conclusions_together():
    mine = RULES.edit(
        rename={"risk": "danger", "danger.great": "awful", "depth": "d"},
        sets={"danger.awful": Triangular(0.4, 1, 1.5), "d.deep": {"center": 0.8}},
        new_terms={"danger.mid": Triangular(0, 0.5, 1)},
        conclusions={"Surface": {"danger": "very awful", "haste": None}},
        weights={3: 0.25},
        without={1: "metal"},
        drop=2,
        add="Ground: IF metal is much THEN danger is mid",
        default={"danger": 0.3},
    )
    assert str(mine).splitlines() == [
        "Surface: IF d is shallow THEN danger is very awful",
        "Rule 2: IF d is abyss THEN danger is small WITH 0.25",
        "Rule 3: IF d is deep THEN danger is awful",
        "Ground: IF metal is much THEN danger is mid",
    ]
    assert mine.outputs[0].terms["awful"] == Triangular(0.4, 1, 1.5)
    assert mine.variables[0].terms["deep"] == Gaussian(0.8, 0.2)
    assert mine.rules[0].terms["danger"] == Is("danger", "awful", ("very",))
    assert mine.default == (0.3, 5.0)
    assert mine.variables[0].comment == "About mines"
    assert mine.rules[0].comment == "the worst"
    assert RuleBase.parse(mine.to_source()) == mine
    assert RuleBase.parse(TEXT) == RULES


def test_replace_merge_keep_and_unused_terms():
    other = RULES.edit(replace={2: "IF depth is shallow THEN risk is odd"})
    assert other.rules[1].terms == {"risk": Is("risk", "odd")}
    merged = RULES.edit(merge=[(2, 3)])
    assert [rule.weight for rule in merged.rules] == [1.0, 1.0, 1.0]
    assert "deep_or_abyss" in merged.variables[0].terms
    assert RULES.edit(keep=[4, 1]).rules == (RULES.rules[3], RULES.rules[0])
    used = RULES.edit(drop_unused_terms=True)
    assert (list(used.outputs[0].terms), list(used.variables[0].terms)) == (
        ["small", "great"],
        ["shallow", "deep", "abyss"],
    )
    wider = RULES.over(["new", "idle", "metal", "depth"])
    np.testing.assert_array_equal(wider.infer([[[7, 0, 8, 0.9], [7, 0, 5, 0.3]]]).output, RULES.infer(BAGS[:1]).output)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"merge": [(1, 2)]}, ["rules 1 and 2", "conclusions"]),
        ({"conclusions": {1: "great"}}, ["risk, haste", "{1: {'risk': 'great'}}"]),
        ({"conclusions": {1: {"risk": "grate"}}}, ["'grate'", "small, great, odd"]),
        ({"conclusions": {1: {"risk": 0.5}}}, ["'risk'", "0.5"]),
        ({"conclusions": {2: {"risk": None}}}, ["rule 2", "drop=2"]),
        ({"conclusions": {2: {"rsk": "great"}}}, ["'rsk'", "risk"]),
        ({"sets": {"risk.tiny": Gaussian(0, 1)}}, ["'risk.tiny'", "risk.small"]),
        ({"add": "IF depth is deep THEN rush is some"}, ["'rush'", "risk, haste"]),
        ({"add": "IF depth is deep THEN risk = 1"}, ["conclude terms of outputs"]),
        (
            {"replace": {1: "IF depth is deep THEN risk is odd IF metal is much THEN risk is odd"}},
            ["one rule", "2"],
        ),
        ({"default": 0.5}, ["risk, haste"]),
        ({"drop": [1, 2, 3, 4]}, ["every rule"]),
        ({"weights": {1: 2.0}}, ["at most 1", "2"]),
        ({"drop": 9}, ["no rule 9", "4"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_edits_that_cannot_be_made_say_why(changes, facts):
    with pytest.raises(ParameterError) as caught:
        RULES.edit(**changes)
    assert all(fact in str(caught.value) for fact in facts), str(caught.value)


def test_diff_tells_terms_sets_and_settings_apart():
    assert not RULES.diff(RULES)
    new = RULES.edit(
        sets={"risk.great": {"peak_at": 0.9}}, conclusions={2: {"risk": "odd"}}, weights={3: 1.0}, drop=4
    ).with_settings(defuzzify="bisector")
    found = RULES.diff(new)
    assert str(found).splitlines() == [
        "Rule 2: risk: small -> odd",
        "Rule 3: weight: 0.5 -> 1",
        "- Rule 4: IF depth is deep THEN risk is great",
        "risk.great: Triangular(0.5, 1, 1.5) -> Triangular(0.5, 0.9, 1.5)",
        "operators: defuzzify: centroid -> bisector",
    ]
    json.dumps(found.to_dict())
    one = RuleBase.parse(
        "VARIABLE x FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1) "
        "OUTPUT y FROM 0 TO 10: few = Triangular(-5, 0, 5), many = Triangular(5, 10, 15) "
        "IF x is low THEN y is few IF x is high THEN y is many"
    )
    flips = one.diff(one.edit(conclusions={1: "many", 2: "few"})).flips([[[0.0]], [[0.5]], [[0.9]]])
    assert [(flip.bag, flip.old, flip.new) for flip in flips] == [(0, "low", "high"), (2, "high", "low")]
    assert str(one.diff(one.to_sugeno())).splitlines()[:2] == [
        "Rule 1: y: few -> 1.667",
        "Rule 2: y: many -> 8.333",
    ]
    with pytest.raises(ParameterError, match="RuleBase"):
        one.diff("another")


def test_diagnose_finds_what_deserves_attention():
    found = RULES.diagnose(BAGS)
    assert [finding.rules for finding in found.of("duplicate")] == [(2, 3)]
    assert [finding.rules for finding in found.of("contradiction")] == [(2, 4), (3, 4)]
    assert "odd" in found.of("unused terms")[0].message
    assert "idle" in found.of("unused variable")[0].message
    assert not found.of("always fires")
    gone = RULES.edit(conclusions={1: {"haste": None}}).diagnose(BAGS)
    assert "haste" in gone.of("unused output")[0].message
    narrow = RULES.edit(sets={f"depth.{term}": Triangular(0.4, 0.5, 0.6) for term in ("shallow", "deep", "abyss")})
    assert narrow.diagnose(BAGS).of("uncovered bags")[0].bags == (0, 1, 2)
    idle = RuleBase.parse(TEXT + "IF depth is abyss AND metal is not much THEN risk is small WITH 0.001")
    assert (5,) in [finding.rules for finding in idle.diagnose(BAGS).of("never fires")]


def test_simplify_merges_drops_and_reports():
    found = RULES.simplify(BAGS)
    assert (found.rules.n_rules, found.merged) == (3, ((2, 3),))
    assert found.terms[0].terms == ("deep", "abyss")
    np.testing.assert_allclose(found.rules.infer(BAGS).output, RULES.infer(BAGS).output, atol=0.05)
    assert "3 rules" in str(found)
    json.dumps(found.to_dict())
    loose = RULES.edit(new_terms={"metal.ever": Ramp(-9, -5)})
    always = loose.edit(replace={2: "IF depth is deep AND metal is ever THEN risk is small"})
    assert (2, "metal is ever") in always.simplify(BAGS).conditions
    added = RuleBase.parse(TEXT, accumulation="sum").simplify(BAGS, tolerance=0.0)
    assert added.merged == ()  # sets that add up cannot be merged without a change
    assert RULES.simplify().change.sampled


def test_rules_as_numbers():
    numbers = RULES.to_sugeno()
    assert numbers.output_names == ("risk", "haste")
    np.testing.assert_allclose(numbers.coefs[:, 0, 0], [5 / 6, 1 / 6, 1 / 6, 5 / 6], atol=1e-3)
    np.testing.assert_allclose(numbers.coefs[:, 1, 0], 5.0)


def test_additive_rules_decide_the_same_as_sets():
    rng = np.random.default_rng(0)
    score = RuleBase.parse("""
    VARIABLE x: low = Gaussian(-1, 0.7), high = Gaussian(1, 0.7)
    VARIABLE z: low = Sigmoid(-1, -3), high = Sigmoid(1, 3)
    Default: y = -1.5
    IF SOME x is high AND SOME z is high THEN y += 4
    IF SOME (x is low AND z is high) THEN y -= 2 WITH 0.5
    IF AT LEAST 2 z is low THEN y += 1.2
    """)
    rules = score.to_mamdani()
    bags = [rng.normal(0, 1.5, size=(rng.integers(1, 6), 2)) for _ in range(200)]
    assert ((rules.infer(bags).output > 0.5) == (score.infer(bags).output > 0)).all()
    assert rules.rules[1].premise != score.rules[1].premise  # SOME about the whole is what max means
    with pytest.raises(ParameterError, match="averaged"):
        RuleBase.from_arrays([[0.0]], [[1.0]], [1]).to_mamdani()
