"""Explanations: numbers that add up to the answer, witnesses found by brute force, and bags that no rule knows."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from explained_models import BAGS, HUE, MODELS, PATCHES, SHARP, SKY, TEXTURE, bags_for, model, small
from sklearn.metrics import roc_auc_score

from fuzzymil import Bags, MIANFISClassifier, RuleBase
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.explain import Reading, explain
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.membership import Triangular
from fuzzymil.rules.premise import And, Is, Not, Or
from fuzzymil.rules.rule import Rule, Variable

NAN = math.nan


def scores(name, bags):
    """The explained scores by the model's own public methods."""
    fitted = model(name)
    if hasattr(fitted, "classes_"):
        decision = fitted.decision_function(bags)
        return decision if decision.ndim == 1 else decision.max(axis=1)
    predicted = fitted.predict(bags)
    return predicted if predicted.ndim == 1 else predicted[:, 0]


# ---------------------------------------------------------------------- the numbers


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_score(name):
    bags = bags_for(name)
    found = model(name).explain_many(bags)
    np.testing.assert_allclose([each.score for each in found], scores(name, bags), rtol=0, atol=1e-12)
    for each in found:
        total = each.baseline + sum(rule.contribution for rule in each.rules)
        assert total == pytest.approx(each.score, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "two numbers", "committee"])
def test_contributions_add_up_for_every_output(name):
    fitted, bags = model(name), bags_for(name)
    for each in fitted.explain_many(bags):
        total = np.sum([rule.contributions for rule in each.rules], axis=0)
        np.testing.assert_allclose(total, np.array(each.output) - each.threshold, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_answer_is_the_models_own(name):
    fitted, bags = model(name), bags_for(name)
    found = fitted.explain_many(bags)
    predictions = [each.prediction for each in found]
    if hasattr(fitted, "classes_"):
        assert predictions == fitted.predict(bags).tolist()
    else:
        np.testing.assert_allclose(predictions, fitted.predict(bags), rtol=1e-12)
    assert [each.bag for each in found] == bags.ids.tolist()
    if hasattr(fitted, "classes_"):
        np.testing.assert_allclose([each.probability for each in found], fitted.predict_proba(bags), atol=1e-12)
        assert found[0].classes == tuple(fitted.classes_.tolist())


@pytest.mark.parametrize("name", MODELS)
def test_rules_come_by_the_size_of_their_contribution(name):
    fitted = model(name)
    for each in fitted.explain_many(bags_for(name)):
        sizes = [abs(rule.contribution) for rule in each.rules]
        assert sizes == sorted(sizes, reverse=True)
        places = {(rule.member, rule.index) for rule in each.rules}
        assert places == {(m, r) for m, base in enumerate(fitted.members_) for r in range(base.n_rules)}


@pytest.mark.parametrize("name", MODELS)
def test_everything_is_read_from_the_activations(name):
    fitted, bags = model(name), bags_for(name)
    activations = [base.infer(Bags(bags.instances, bags.offsets)) for base in fitted.members_]
    for b, each in enumerate(fitted.explain_many(bags)):
        rows = slice(bags.offsets[b], bags.offsets[b + 1])
        for rule in each.rules:
            a, r = activations[rule.member], rule.index
            np.testing.assert_allclose(rule.parts[0].log_truth, a.log_truth[rows, r], rtol=1e-12)
            assert rule.log_firing == pytest.approx(a.log_firing[b, r], rel=1e-10)
            assert rule.strength == pytest.approx(a.normalized[b, r], rel=1e-9)
            np.testing.assert_allclose(rule.outputs, a.rule_outputs[b, r], rtol=1e-9)
            assert sum(rule.parts[0].shares) == pytest.approx(1, abs=1e-12)
        assert each.firing == pytest.approx(max(a.strongest[b] for a in activations))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classifier", "classes", "committee", "two numbers"])
def test_the_counterfactual_is_the_bag_without_the_instance(name):
    fitted, bags = model(name), bags_for(name)
    for b, each in enumerate(fitted.explain_many(bags)):
        witnesses = {rule.witness for rule in each.rules}
        assert {found.instance for found in each.counterfactuals} == witnesses
        for found in each.counterfactuals:
            shorter = [np.delete(bags[b], found.instance, axis=0)]
            expected = fitted.explain(shorter, output=each.outputs[each.target])
            assert found.score == pytest.approx(expected.score, abs=1e-10)
            assert found.change == pytest.approx(expected.score - each.score, abs=1e-10)
            assert found.firing == pytest.approx(expected.firing, rel=1e-9)
            assert found.prediction == expected.prediction or found.prediction == pytest.approx(expected.prediction)
            assert each.without(found.instance) is found
        assert each.without(-1) is None


def test_a_single_instance_cannot_be_left_out():
    found = model("plain").explain([[[0.5, 0.5]]])
    assert found.counterfactuals == ()
    assert all(rule.witness == 0 and rule.parts[0].shares == (1.0,) for rule in found.rules)
    assert "Without" not in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("alpha", [-3.0, 0.0, 4.0])
def test_the_witness_has_the_greatest_share(aggregation, alpha):
    rng = np.random.default_rng(5)
    bag = rng.normal(size=(6, 2))
    rules = RuleBase.from_arrays(
        rng.normal(size=(3, 2)), np.ones((3, 2)), [0, 1, 2], aggregation=aggregation, alpha=alpha
    )
    for rule in explain(rules, [bag]).rules:
        best = max(range(6), key=lambda i: (round(rule.parts[0].shares[i], 12), rule.parts[0].log_truth[i]))
        assert rule.witness == best
        if aggregation != "min" and alpha >= 0:
            assert rule.witness == int(np.argmax(rule.parts[0].truth))
        if aggregation == "min":
            assert rule.witness == int(np.argmin(rule.parts[0].truth))


def test_infinite_alphas_are_the_greatest_instance():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.5], [0.5]], [0, 1], alpha=math.inf)
    shares = [rule.parts[0].shares for rule in explain(rules, [[[0.1], [0.6], [0.6]]]).rules]
    assert shares == [(0, 0.5, 0.5), (1, 0, 0)]


def test_the_order_of_the_instances_does_not_matter():
    bag, order = BAGS[0], np.random.default_rng(0).permutation(len(BAGS[0]))
    first, second = model("classifier").explain([bag]), model("classifier").explain([bag[order]])
    for one, other in zip(first.rules, second.rules, strict=True):
        assert one.witness == order[other.witness]
        assert one.conditions == other.conditions
        np.testing.assert_allclose(np.array(one.parts[0].shares)[order], other.parts[0].shares, rtol=1e-10)


# ---------------------------------------------------------------------- conditions


@pytest.mark.slow
def test_memberships_are_those_of_the_witness():
    found = explain(SKY, [PATCHES])
    blue, red, smooth, rough = (
        lambda x, of=variable.terms[term]: float(of(x))
        for variable, term in ((HUE, "blue"), (HUE, "red"), (TEXTURE, "smooth"), (TEXTURE, "rough"))
    )
    by_index = {rule.index: rule for rule in found.rules}
    assert [by_index[r].witness for r in range(3)] == [0, 1, 1]
    assert [c.membership for c in by_index[0].conditions] == pytest.approx([blue(0.65), smooth(0.1)])
    assert [c.membership for c in by_index[1].conditions] == pytest.approx([red(0.2), smooth(0.75) ** 2, blue(0.2)])
    assert [c.membership for c in by_index[2].conditions] == pytest.approx([1 - blue(0.2), rough(0.75)])
    assert [c.negated for c in by_index[1].conditions] == [False, True, True]
    assert [c.value for c in by_index[0].conditions] == [0.65, 0.1]
    assert [c.unit for c in by_index[0].conditions] == ["", "mm"]
    assert by_index[1].conditions[1].text == "texture is very smooth"
    assert by_index[2].conditions[0].hedges == ("not",)


@pytest.mark.parametrize("name", ["classifier", "triangles", "committee"])
def test_memberships_of_learned_rules(name):
    fitted, bag = model(name), BAGS[5]
    for rule in fitted.explain([bag]).rules:
        base = fitted.members_[rule.member]
        for condition in rule.conditions:
            variable = next(v for v in base.variables if v.name == condition.variable)
            assert condition.value == bag[rule.witness, base.feature_names.index(condition.variable)]
            inside = min(max(condition.value, variable.low), variable.high)
            assert condition.counted_as == inside
            assert condition.membership == pytest.approx(float(variable.terms[condition.term](inside)), rel=1e-9)
        if rule.conditions:
            product = sum(condition.log_membership for condition in rule.conditions)
            assert product == pytest.approx(rule.parts[0].log_truth[rule.witness], rel=1e-9)


A, B, C = Is("hue", "red"), Is("hue", "blue"), Is("texture", "smooth")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("premise", "limiting"),
    [  # at hue 0.1 and texture 0.6: A is 1, B is 3.7e-6, C is 0.4
        (And((A, C)), C),
        (And((A, B, C)), B),
        (Or((B, C)), C),
        (And((Or((B, C)), A)), C),
        (Not(Or((B, C))), C),
        (Not(And((A, C))), C),
        (And((Not(And((A, A))), C)), A),
        (And((Not(B), A)), B),
        (And((A, And())), None),
        (A, None),
        (Or((A, C)), None),
    ],
    ids=[
        "and", "and of three", "or", "or in and", "not or", "not and", "full in a not", "nearly full", "anything",
        "satisfied", "satisfied by one",
    ],
)  # fmt: skip
@pytest.mark.parametrize("t_norm", ["product", "min", "lukasiewicz"])
def test_the_limiting_condition_decides(premise, limiting, t_norm):
    rules = RuleBase((HUE, TEXTURE), (Rule(premise, [[1.0]]), Rule({}, [[0.0]])), t_norm=t_norm)
    told = {rule.index: rule for rule in explain(rules, [[[0.1, 0.6]]]).rules}
    found = [Is(c.variable, c.term, c.hedges) for c in told[0].conditions if c.limiting]
    if told[0].witness is None:  # the premise is truly false
        assert not told[0].conditions
    else:
        assert found == ([] if limiting is None else [limiting])
        assert [c.limiting for c in told[0].decisive][: len(found)] == [True] * len(found)
    assert told[1].conditions == ()


@pytest.mark.slow
def test_missing_values_are_marked_and_suit_the_rule():
    found = explain(SKY, [[[0.65, NAN], [NAN, 0.9]]])
    by_index = {rule.index: rule for rule in found.rules}
    hue, texture = by_index[0].conditions
    assert (texture.missing, texture.value, texture.counted_as, texture.membership) == (True, None, None, 1.0)
    assert not hue.missing
    assert hue.limiting
    red, smooth, blue = by_index[1].conditions
    assert by_index[1].witness == 1
    assert (red.missing, red.membership) == (True, 1.0)
    assert (blue.missing, blue.membership, blue.log_support) == (True, 0.0, 0.0)
    assert smooth.limiting
    text = str(found)
    assert "texture missing  is smooth  1" in text
    (witness,) = json.loads(json.dumps(found.to_dict(), allow_nan=False))["rules"][0]["parts"][0]["witnesses"]
    assert witness["conditions"][1]["value"] is None


@pytest.mark.slow
def test_missing_values_of_learned_models_follow_their_setting():
    fitted = small(MIANFISClassifier, BAGS.labels, missing="ignore")
    bag = BAGS[0].copy()
    bag[0, 1] = NAN
    assert fitted.explain([bag]).score == pytest.approx(fitted.decision_function([bag])[0], abs=1e-12)
    with pytest.raises(InputError, match="missing"):
        small(MIANFISClassifier, BAGS.labels, missing="error").explain([bag])


def test_values_beyond_the_limits_say_what_they_count_as():
    rules = dataclasses.replace(SKY, limited=True)
    rule = explain(rules, [[[7.0, 0.1], [0.6, 0.1]]]).rules
    condition = next(each for each in rule if each.index == 2).conditions[0]
    assert (condition.value, condition.counted_as) == (7.0, 1.0)
    assert "hue = 7 (clipped to 1)" in str(explain(rules, [[[7.0, 0.1], [0.6, 0.1]]]))


# ---------------------------------------------------------------------- bags that no rule knows


def test_an_uncovered_bag_says_so():
    found = explain(dataclasses.replace(SHARP, default=(0.3,)), [[[5.0, 0.0], [6.0, 0.0]]])
    assert found.is_uncovered
    assert (found.firing, found.score, found.baseline) == (0, 0.3, 0.3)
    (rule,) = found.rules
    assert (rule.witness, rule.share, rule.conditions, rule.contribution) == (None, None, (), 0)
    assert rule.parts[0].shares == (0.5, 0.5)
    assert found.counterfactuals == ()
    assert re.fullmatch(r"Bag 0 \(2 instances.*\).* sky = 0\.3\.\nNo rule fires .*default.* sky = 0\.3\.", str(found))
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["is_uncovered"]
    assert content["log_firing"] is None


def test_an_uncovered_member_gives_its_default():
    wide = dataclasses.replace(SHARP, variables=(Variable("hue", {"blue": Triangular(0, 5, 9)}), TEXTURE))
    members = [dataclasses.replace(SHARP, default=(0.5,)), wide]
    found = explain(members, [[[5.0, 0.0], [6.0, 0.0]]], reading=Reading(threshold=0.25))
    assert found.uncovered == (0,)
    assert not found.is_uncovered
    assert found.baseline == pytest.approx((0.5 - 0.25) / 2)
    assert found.score == pytest.approx((0.5 + 1) / 2 - 0.25)
    assert sum(rule.contribution for rule in found.rules) + found.baseline == pytest.approx(found.score)
    assert re.search(r"member 1 .*default, sky = 0\.5", str(found))
    assert "from members in which no rule fires" in str(found)


def test_a_counterfactual_may_be_uncovered():
    found = explain(dataclasses.replace(SHARP, default=(0.3,)), [[[1.0, 0.0], [6.0, 0.0]]])
    (left,) = found.counterfactuals
    assert (left.instance, left.score, left.uncovered, left.firing) == (0, 0.3, True, 0)
    assert re.search(r"Without instance 0,? sky would be 0\.3 \(-0\.7\).*default", str(found))


def test_strengths_below_the_smallest_number_are_explained():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[1e-3], [1e-3]], [0, 1])
    found = explain(rules, [[[5.0], [4.0]]])
    assert found.firing == 0
    assert not found.is_uncovered
    assert found.score == 1
    assert [rule.witness for rule in found.rules] == [1, 1]
    assert [rule.share for rule in found.rules] == [1, 1]
    assert "3.39e-1954326" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_rule_without_conditions_has_no_witness():
    rules = dataclasses.replace(SKY, rules=(*SKY.rules[:1], Rule({}, [[-0.5]])))
    found = explain(rules, [PATCHES])
    always = next(rule for rule in found.rules if not rule.rule.conditions)
    assert (always.witness, always.share, always.conditions) == (None, None, ())
    assert always.contribution < 0
    assert [left.instance for left in found.counterfactuals] == [0]
    (line,) = (line for line in str(found).splitlines() if "Rule 2, fires at 1" in line)
    assert "witness" not in line


def test_a_counterfactual_says_when_hardly_any_rule_would_fire():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.1], [0.1]], [0, 1])
    found = explain(rules, [[[0.0], [1.0], [3.0]]])
    assert "no rule would fire at more" not in str(found)
    alone = explain(rules, [[[0.0], [3.0]]])
    (line,) = (line for line in str(alone).splitlines() if line.startswith("Without instance 0"))
    assert re.search(r"no rule would fire at more than \S+e-\d+\.$", line)


# ---------------------------------------------------------------------- instances


@pytest.mark.slow
def test_the_witness_is_the_instance_in_the_concept():
    train, test = make_two_concepts(random_state=0), make_two_concepts(random_state=1000)
    fitted = MIANFISClassifier(alpha=5, random_state=0).fit(train)
    right = [
        bool(test.instance_labels[test.offsets[b] + found.rules[0].witness])
        for b, found in zip(range(0, 100, 5), fitted.explain_many(test[:100:5]), strict=True)  # of the positive bags
        if found.prediction == 1
    ]
    assert len(right) > 15
    assert np.mean(right) > 0.9
    truth = test.instance_labels > 0
    assert roc_auc_score(truth, fitted.instance_scores(test)) > 0.98
