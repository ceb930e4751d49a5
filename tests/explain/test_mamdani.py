"""Explanations of Mamdani rules: shares add up to the answer, and the sets are those of the inference."""

import dataclasses
import itertools
import json

import numpy as np
import pytest

from fuzzymil import Bags, MIMamdani
from fuzzymil.explain import explain, explain_many
from fuzzymil.rules import RuleBase

TEXT = """
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0.1, 0.3), deep = Gaussian(0.8, 0.3)
VARIABLE metal FROM 0 TO 10: little = Ramp(6, 0), much = Ramp(3, 10)
OUTPUT risk FROM 0 TO 100: small = Triangular(-40, 0, 45), medium = Gaussian(48, 15), great = Triangular(52, 100, 140)
OUTPUT haste FROM 0 TO 10: some = Triangular(0, 4, 9)
Surface: IF depth is shallow AND metal is much THEN risk is great, haste is very some
IF depth is deep OR metal is little THEN risk is small WITH 0.8
IF depth is deep AND metal is much THEN risk is medium
"""
RULES = RuleBase.parse(TEXT)
BAGS = Bags.from_list(
    [[[0.1, 8.0], [0.9, 2.0], [0.5, 5.0]], [[0.8, 9.0]], [[0.3, 4.0], [0.4, 9.5]]], ["depth", "metal"], ids=list("abc")
)


@pytest.mark.parametrize("defuzzify", ["centroid", "bisector", "mom", "som", "lom"])
@pytest.mark.parametrize(
    ("implication", "accumulation"), list(itertools.product(("min", "product"), ("max", "sum", "algebraic", "bounded")))
)
def test_contributions_add_up_to_the_answer(implication, accumulation, defuzzify):
    how = {"implication": implication, "accumulation": accumulation, "defuzzify": defuzzify}
    rules = RULES.with_settings(resolution=300, **how)
    output = rules.infer(BAGS).output
    for output_name, k in (("risk", 0), ("haste", 1)):
        for b, found in enumerate(explain_many(rules, BAGS, output=output_name)):
            assert found.score == found.joined.point == pytest.approx(output[b, k])
            total = sum(rule.contribution for rule in found.rules)
            assert found.baseline + total == pytest.approx(found.score)
            assert sum(rule.strength for rule in found.rules) == pytest.approx(1)
            if defuzzify != "bisector":
                assert found.baseline == 0


def test_shares_are_those_of_the_area():
    """Two boxes that do not overlap: what each covers is its share, and its middle its conclusion."""
    rules = RuleBase.parse("""
    VARIABLE x FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)
    OUTPUT y FROM 0 TO 10: left = Rectangle(0, 2), right = Rectangle(6, 10)
    IF x is low THEN y is left
    IF x is high THEN y is right
    """)
    found = rules.infer([[[0.25]]])
    np.testing.assert_allclose(found.shares(), [[0.75 * 2 / 2.5, 0.25 * 4 / 2.5]])
    np.testing.assert_allclose(found.conclusions(), [[1.0, 8.0]])
    np.testing.assert_allclose(found.cut_sets()[0].max(axis=1), [0.75, 0.25])
    np.testing.assert_allclose(found.joined_sets()[1][0], found.cut_sets()[0].max(axis=0))
    covered = rules.edit(conclusions={2: "left"}).infer([[[0.25]]])
    np.testing.assert_allclose(covered.shares(), [[1.0, 0.0]])
    np.testing.assert_allclose(covered.conclusions(), [[1.0, 1.0]])


def test_tiny_strengths_have_shares():
    rules = RuleBase.parse("""
    VARIABLE x: low = Gaussian(0, 0.005), high = Gaussian(1, 0.005)
    OUTPUT y FROM 0 TO 1: small = Triangular(-1, 0, 1), great = Triangular(0, 1, 2)
    IF x is low THEN y is small
    IF x is high THEN y is great
    """)
    found = rules.infer([[[0.7]]])
    assert found.firing.max() == 0  # underflows: the strength is exp(-1800)
    assert found.shares().sum() == pytest.approx(1)
    assert (found.shares() * found.conclusions()).sum() == pytest.approx(found.output[0, 0])


def test_weighted_averages_are_explained_by_their_numbers():
    text = """
    VARIABLE x FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)
    OUTPUT y FROM 0 TO 10: few = Singleton(2), many = Singleton(8)
    IF x is low THEN y is few
    IF x is high THEN y is many
    """
    for method, total in (("average", 1.0), ("sum", 1.0)):
        found = explain(RuleBase.parse(text, defuzzify=method), [[[0.25]]])
        assert found.joined is None
        assert {rule.name: round(rule.contribution, 6) for rule in found.rules} == {"Rule 1": 1.5, "Rule 2": 2.0}
        assert sum(rule.strength for rule in found.rules) == pytest.approx(total)


def test_the_explanation_names_rule_witness_and_features():
    found = explain(RULES, BAGS, "a", output="risk")
    first = found.rules[0]
    assert (first.name, first.witness, first.concluded) == ("Surface", 0, "risk is great, haste is very some")
    assert {condition.variable for condition in first.conditions} == {"depth", "metal"}
    text = str(found)
    for fact in ("Instance 0", "share of the joined set", "metal = 8", "risk is great", "Without instance 0"):
        assert fact.lower() in text.lower()
    quiet = next(rule for rule in explain(RULES, BAGS, "a", output="haste").rules if rule.name == "Rule 2")
    assert np.isnan(quiet.outputs[1])
    assert quiet.contribution == 0
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(plain["joined"]["values"]) <= 120
    assert plain["joined"]["point"] == found.output[0]
    assert set(found.joined.cuts) == set(found.joined.sets) == {0, 1, 2}
    np.testing.assert_array_equal(found.joined.membership, RULES.infer(BAGS).joined_sets("risk")[1][0])


def test_a_bag_about_which_nothing_is_concluded():
    rules = RuleBase.parse("""
    VARIABLE x FROM 0 TO 9: low = Triangular(0, 1, 2)
    OUTPUT y FROM 0 TO 1: small = Triangular(-1, 0, 1)
    IF x is low THEN y is small
    """)
    found = explain(rules, [[[8.0]]])
    assert found.is_uncovered
    assert found.score == found.default[0] == 0.5
    assert "default" in str(found)


def test_a_model_explains_its_decision_and_takes_other_rules():
    labels = [1, 0, 1]
    one = dataclasses.replace(
        RULES.edit(conclusions={1: {"haste": None}}), outputs=RULES.outputs[:1], default=RULES.default[:1]
    )
    model = MIMamdani(rules=one, threshold=40.0).fit(BAGS, labels)
    found = model.explain(BAGS, "a")
    assert found.prediction == model.predict(BAGS)[0]
    assert found.score == pytest.approx(model.decision_function(BAGS)[0])
    assert found.baseline + sum(rule.contribution for rule in found.rules) == pytest.approx(found.score)
    assert [each.bag for each in model.explain_many(BAGS)] == ["a", "b", "c"]
    other = model.with_rules(model.rules_.edit(conclusions={1: "small"}))
    assert other.explain(BAGS, "a").score < found.score
    assert model.explain(BAGS, "a").score == found.score
    with pytest.raises(ValueError, match="conclude numbers"):
        model.with_rules(model.rules_.to_sugeno())
    with pytest.raises(ValueError, match="output"):
        model.with_rules(RULES)
