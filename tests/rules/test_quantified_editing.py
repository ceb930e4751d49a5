"""Rules with quantifiers and rules that are added up: edited, diagnosed, simplified."""

import numpy as np
import pytest
from scorecards import DECLARED, scorecard, some_bags

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import Gaussian, Sigmoid
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.premise import Is, Quantified

# ---------------------------------------------------------------------- editing


def test_edits_reach_into_quantifiers():
    rules = scorecard().edit(
        rename={"hue": "color", "color.red": "scarlet", "sky": "yes"},
        sets={"color.blue": {"center": 0.7}},
        without={1: "texture"},
        conclusions={1: 3.0, 2: "-0.5"},
        weights={3: 1.0},
        add="IF ALL color is scarlet THEN yes -= 2",
        default=-1,
    )
    assert str(rules).splitlines() == [
        "Default: yes = -1",
        "Rule 1: IF SOME color is blue THEN yes += 3",
        "Rule 2: IF NOT (AT LEAST 3 color is scarlet) THEN yes -= 0.5",
        "Rule 3: IF AT LEAST 8 instances OR ON AVERAGE color is blue THEN yes += 0.5",
        "Rule 4: IF ALL color is scarlet THEN yes -= 2",
    ]
    assert rules.variables[0].terms["blue"] == Gaussian(0.7, 0.1)


def test_an_added_rule_adds_as_the_others_do():
    with pytest.raises(RuleSyntaxError, match=r"'\+='"):
        scorecard().edit(add="IF SOME hue is red THEN sky = 1")
    with pytest.raises(RuleSyntaxError, match="normalize"):
        RuleBase.parse(DECLARED + "IF hue is red THEN y = 1").edit(add="IF hue is blue THEN y += 1")


def test_the_default_of_several_outputs_is_edited_by_name():
    rules = RuleBase.parse(DECLARED + "Default: a = 1, b = 2  IF SOME hue is red THEN a += 1, b += 1")
    assert rules.edit(default={"b": -3}).default == (1.0, -3.0)
    with pytest.raises(ParameterError, match=r"several outputs.*'a'"):
        rules.edit(default=1)
    with pytest.raises(ParameterError, match="'c'"):
        rules.edit(default={"c": 1})
    with pytest.raises(ParameterError, match="number"):
        scorecard().edit(default="low")


def test_rules_over_more_features_stay_the_same():
    rules = scorecard()
    wider = rules.over(["size", "texture", "hue"])
    bags = some_bags()
    again = bags.map_instances(lambda x: np.column_stack([x[:, 0] * 0, x[:, 1], x[:, 0]]))
    np.testing.assert_allclose(wider.infer(again).output, rules.infer(bags).output, rtol=1e-12)


def test_merged_additive_rules_add_what_they_added_together():
    rules = RuleBase.parse(
        DECLARED + "Default: y = 0  IF SOME (hue is red AND texture is rough) THEN y += 1.5 WITH 2"
        " IF SOME (texture is rough AND hue is red) THEN y -= 1"
    )
    merged = rules.edit(merge=[(1, 2)])
    assert str(merged).splitlines()[1:] == ["Rule 1: IF SOME (hue is red AND texture is rough) THEN y += 2"]
    bags = some_bags()
    np.testing.assert_allclose(merged.infer(bags).output, rules.infer(bags).output, rtol=1e-12)


def test_rules_with_the_same_quantifier_are_merged_and_others_refused():
    rules = RuleBase.parse(
        DECLARED + "IF SOME hue is red THEN y += 1 IF SOME hue is blue THEN y += 2 IF ALL hue is blue THEN y += 3"
    )
    (merged, _) = rules.edit(merge=[(1, 2)]).rules
    assert merged.premise == Quantified("some", Is("hue", "red_or_blue"))
    assert merged.coefs == ((3.0,),)
    with pytest.raises(ParameterError, match=r"Rule 2.*quantifier"):
        rules.edit(merge=[(2, 3)])


# ---------------------------------------------------------------------- diagnosis and simplification


def kinds(found):
    return [(finding.kind, finding.rules) for finding in found]


def additive(text, **settings):
    return RuleBase.parse(DECLARED + "Default: y = 0 " + text, **settings)


def test_opposite_signs_of_overlapping_additive_rules_are_no_contradiction():
    rules = additive("IF SOME hue is red THEN y += 2  IF ALL hue is red THEN y -= 2  IF MOST hue is blue THEN y -= 1")
    assert kinds(rules.diagnose(some_bags()).of("contradiction")) == []
    assert kinds(rules.diagnose(some_bags()).of("duplicate")) == []


def test_additive_rules_with_one_premise_are_duplicates_to_add_up():
    rules = additive(
        "IF SOME (hue is red AND texture is rough) THEN y += 2  IF ALL hue is blue THEN y += 1"
        "  IF SOME (texture is rough AND hue is red) THEN y -= 1"
    )
    found = rules.diagnose(some_bags()).of("duplicate")
    assert kinds(found) == [("duplicate", (1, 3))]
    assert "edit(merge=[(1, 3)])" in found[0].advice
    assert kinds(rules.diagnose(some_bags()).of("contradiction")) == []


def test_an_additive_rule_that_never_matters():
    rules = additive("IF SOME hue is red THEN y += 2  IF SOME texture is rough THEN y += 0.001")
    found = rules.diagnose(some_bags())
    assert kinds(found.of("never matters")) == [("never matters", (2,))]
    added = (rules.infer(some_bags()).firing[:, 1] * 0.001).max() / np.ptp(rules.infer(some_bags()).output)
    assert f"{100 * added:.3g}%" in found.of("never matters")[0].message
    assert rules.simplify(some_bags()).dropped == (2,)


def test_an_additive_rule_that_adds_the_same_to_every_bag_belongs_to_the_default():
    rules = additive("IF SOME hue is red THEN y += 2  IF NOT (AT LEAST 100 hue is red) THEN y += 1.5")
    found = rules.diagnose(some_bags()).of("always fires")
    assert kinds(found) == [("always fires", (2,))]
    assert "1.5 to y" in found[0].message
    assert "default" in found[0].advice


def test_bags_where_no_additive_rule_fires_are_covered_by_the_default():
    rules = additive("IF AT LEAST 5 hue is red THEN y += 2")
    assert kinds(rules.diagnose(some_bags()).of("uncovered bags")) == []
    assert rules.infer(some_bags()).uncovered.any()


def test_simplifying_needs_bags_and_keeps_the_outputs():
    rules = additive(
        "IF SOME (hue is red AND texture is rough) THEN y += 2  IF SOME (texture is rough AND hue is red) THEN y += 1"
        "  IF AT LEAST 2 (hue is blue AND texture is smooth) THEN y -= 1"
    )
    with pytest.raises(ParameterError, match="bags"):
        rules.simplify()
    found = rules.simplify(some_bags())
    assert found.merged == ((1, 2),)
    assert found.rules.n_rules == 2
    assert found.change.greatest < 1e-12


def test_conditions_that_always_hold_are_found_under_quantifiers():
    variables = [Variable("a", {"any": Sigmoid(-100, 10), "high": Sigmoid(0.5, 10)}, 0, 1)]
    variables.append(Variable("b", {"high": Sigmoid(0.5, 10)}, 0, 1))
    rules = RuleBase.parse(
        "Default: y = 0 IF SOME (a is any AND b is high) THEN y += 1 IF ALL a is high THEN y += 1", variables
    )
    bags = [np.random.default_rng(n).random((3, 2)) for n in range(9)]
    assert kinds(rules.diagnose(bags).of("always true")) == [("always true", (1,))]
    found = rules.simplify(bags)
    assert found.conditions == ((1, "a is any"),)
    assert found.rules.rules[0].premise == Quantified("some", Is("b", "high"))
