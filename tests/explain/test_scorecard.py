"""Explanations of quantified and additive rules: sums that are exact, witnesses by brute force, and the scorecard."""

import dataclasses
import itertools
import json
import math
import re

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import Reading, explain, explain_many
from fuzzymil.explain._shares import QUANTIFIER_SHARES, quantifier_shares
from fuzzymil.inference.membership import Gaussian, Sigmoid, Triangular
from fuzzymil.inference.quantifiers import QUANTIFIERS, on_average, register_quantifier
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or, Quantified
from fuzzymil.rules.rule import Rule, Variable

PAGES = Variable("pages", {"low": Sigmoid(4, -1.5), "high": Sigmoid(11, 1.0)}, 0, 30)
STAY = Variable(
    "stay", {"long": Sigmoid(60, 0.15), "medium": Gaussian(50, 15), "near 20": Triangular(10, 20, 30)}, unit="s"
)
HIGH, LOW = Is("pages", "high"), Is("pages", "low")
LONG, MEDIUM, NEAR = Is("stay", "long"), Is("stay", "medium"), Is("stay", "near 20")


def additive(*rules, default=(-2.9,), **settings):
    return RuleBase((PAGES, STAY), tuple(rules), ("yes",), default=default, normalize=False, **settings)


CARD = additive(
    Rule(Quantified("some", HIGH), [[2.2]]),
    Rule(Quantified("at least", LONG, 3), [[1.4]]),
    Rule(And((Quantified("some", And((HIGH, MEDIUM))), Quantified("most", LOW))), [[1.9]], weight=0.5),
    Rule(Quantified("all", Is("stay", "long", ("very",))), [[-0.8]]),
    Rule(Quantified("on average", MEDIUM), [[0.7]]),
    Rule(Quantified("at least", ANYTHING, 8), [[-1.0]]),
    Rule(Or((Not(Quantified("some", NEAR)), Quantified("all", HIGH))), [[0.3]]),
)
VISITS = np.array([[14.0, 40.0], [3.0, 70.0], [2.0, 88.5], [6.0, 66.0], [4.0, 20.0]])
YES = Reading(
    lambda output: np.where(output[:, 0] > 0, "yes", "no"),
    lambda output: np.column_stack([expit(-output[:, 0]), expit(output[:, 0])]),
    ("no", "yes"),
    scale="logit",
)


def card(bag=VISITS, rules=CARD, **settings):
    return explain(rules, Bags.from_list([bag], ids=["u16"]), reading=YES, **settings)


def by_index(found):
    return {rule.index: rule for rule in found.rules}


def random_bags(n, seed=0):
    rng = np.random.default_rng(seed)
    return Bags.from_list([rng.uniform([0, 0], [20, 100], (rng.integers(1, 12), 2)) for _ in range(n)])


# ---------------------------------------------------------------------- sums


def test_the_default_and_the_contributions_are_the_output():
    bags = random_bags(40)
    outputs = CARD.infer(bags).output[:, 0]
    for found, output in zip(explain_many(CARD, bags, reading=YES), outputs, strict=True):
        assert found.additive
        assert found.baseline == found.default[0] == -2.9
        assert abs(found.baseline + sum(rule.contribution for rule in found.rules) - output) < 1e-12
        assert found.score == pytest.approx(output, abs=1e-12)
        for rule in found.rules:
            assert rule.contribution == pytest.approx(rule.firing * rule.outputs[0], abs=1e-12)


def test_the_threshold_is_subtracted_once():
    found = explain(CARD, [VISITS], reading=Reading(threshold=0.5))
    assert found.baseline == pytest.approx(-3.4)
    assert found.baseline + sum(rule.contribution for rule in found.rules) == pytest.approx(found.score, abs=1e-12)
    assert "default - 0.5" in str(found)


def test_members_are_averaged():
    other = dataclasses.replace(CARD, rules=CARD.rules[:2], default=(0.5,))
    found = explain([CARD, other], [VISITS], reading=YES)
    both = [rules.infer([VISITS]).output[0, 0] for rules in (CARD, other)]
    assert found.score == pytest.approx(np.mean(both), abs=1e-12)
    assert found.baseline == pytest.approx(-1.2, abs=1e-15)
    assert abs(found.baseline + sum(rule.contribution for rule in found.rules) - found.score) < 1e-12
    text = str(found)
    assert "default (mean of 2 members)" in text
    assert re.search(r"= 0\.953 x 2\.2 / 2 +Rule 1 of member 2: SOME pages is high", text)


def test_linear_conclusions_and_several_outputs_add_up():
    rules = tuple(Rule(rule.premise, np.random.default_rng(n).normal(size=(3, 3))) for n, rule in enumerate(CARD.rules))
    base = dataclasses.replace(CARD, rules=rules, outputs=("a", "b", "c"), default=(0.1, 0.2, 0.3))
    reading = Reading(lambda output: np.array(["a", "b", "c"])[output.argmax(axis=1)], None, ("a", "b", "c"))
    for found in explain_many(base, random_bags(5), reading=reading):
        totals = np.array(found.default) + np.sum([rule.contributions for rule in found.rules], axis=0)
        np.testing.assert_allclose(totals, found.output, atol=1e-12)
        assert found.score == pytest.approx(max(found.output))


def test_normalized_and_additive_rules_are_not_mixed():
    with pytest.raises(ParameterError, match=r"normalized.*additive"):
        explain([CARD, dataclasses.replace(CARD, normalize=True)], [VISITS])


# ---------------------------------------------------------------------- parts and witnesses, by loops


def loop_truth(asked, row):
    values = {"pages": row[0], "stay": row[1]}
    if isinstance(asked, Is):
        variable = {"pages": PAGES, "stay": STAY}[asked.variable]
        mu = float(variable.terms[asked.term](values[asked.variable]))
        return mu**2 if asked.hedges == ("very",) else mu
    return math.prod(loop_truth(part, row) for part in asked.parts)


def loop_degree(part, truths):
    ordered = sorted(truths, reverse=True)
    mean = sum(truths) / len(truths)
    return {
        "some": ordered[0],
        "all": ordered[-1],
        "on average": mean,
        "most": min(max((mean - 0.3) / 0.5, 0.0), 1.0),
        "at least": ordered[part.count - 1] if part.count and part.count <= len(truths) else 0.0,
    }[part.quantifier]


def loop_witnesses(part, truths):
    instances = range(len(truths))
    if part.premise == ANYTHING:
        return []
    if part.quantifier == "all":
        return [min(instances, key=truths.__getitem__)]
    if part.quantifier == "at least":
        best = sorted(instances, key=lambda i: -truths[i])[: part.count]
        return best if len(best) == part.count and truths[best[-1]] > 0 else []
    best = max(instances, key=truths.__getitem__)
    return [best] if truths[best] > 0 else []


def test_parts_are_what_loops_compute():
    for b, found in enumerate(explain_many(CARD, random_bags(30, seed=1), reading=YES)):
        bag = random_bags(30, seed=1)[b]
        for rule in found.rules:
            for part in rule.parts:
                truths = [loop_truth(part.premise, row) for row in bag.tolist()]
                np.testing.assert_allclose(part.truth, truths, rtol=1e-9, atol=1e-15)
                assert part.degree == pytest.approx(loop_degree(part, truths), abs=1e-12)
                assert [witness.instance for witness in part.witnesses] == loop_witnesses(part, truths)
                assert sum(part.shares) == pytest.approx(1)
                for witness in part.witnesses:
                    product = math.prod(condition.membership for condition in witness.conditions)
                    assert product == pytest.approx(truths[witness.instance], rel=1e-9, abs=1e-300)
                    assert witness.share == part.shares[witness.instance]


def test_the_deciding_part_of_and_is_the_least_and_of_or_the_truest():
    for found in explain_many(CARD, random_bags(20, seed=2), reading=YES):
        both, either = by_index(found)[2].parts, by_index(found)[6].parts
        some, most = both
        assert some.deciding == (some.degree <= most.degree)
        assert most.deciding == (some.degree > most.degree)
        no_near, all_high = either
        assert no_near.negated
        assert no_near.deciding == (1 - no_near.degree >= all_high.degree)


def test_the_witness_of_a_rule_is_that_of_its_deciding_part():
    rule = by_index(card())[2]
    most = rule.parts[1]
    assert most.deciding
    assert rule.witness == most.witnesses[0].instance == 2
    assert rule.witnesses == (0, 2)
    assert [condition.variable for condition in rule.conditions] == ["pages"]
    counting = additive(Rule(And((Quantified("at least", ANYTHING, 3), Quantified("some", HIGH))), [[1.0]]))
    assert explain(counting, [VISITS]).rules[0].witness == 0  # counting instances has no witness


def test_a_negated_part_and_missing_values():
    rules = additive(Rule(Not(Quantified("some", And((HIGH, LONG)))), [[1.0]]))
    (rule,) = explain(rules, [[[14.0, 70.0], [np.nan, 90.0]]]).rules
    (part,) = rule.parts
    (witness,) = part.witnesses
    assert part.negated
    assert rule.firing == pytest.approx(1 - part.degree)
    assert witness.instance == 0
    assert all(condition.negated for condition in witness.conditions)
    unknown = explain(rules, [[[np.nan, 90.0]]]).rules[0]
    assert unknown.firing == 1  # a missing value counts in favor of the rule
    assert (unknown.witness, unknown.conditions) == (None, ())


@pytest.mark.parametrize("quantifier", sorted(QUANTIFIERS))
def test_every_quantifier_is_explained(quantifier):
    assert quantifier in QUANTIFIER_SHARES
    count = 2 if quantifier == "at least" else None
    rules = additive(Rule(Quantified(quantifier, HIGH, count), [[1.0]]))
    found = explain(rules, [VISITS])
    (rule,) = found.rules
    assert 0 < sum(rule.parts[0].shares) == pytest.approx(1)
    assert rule.parts[0].text in str(found)
    assert found.score == pytest.approx(-2.9 + rule.firing)


def test_shares_by_hand():
    truths = np.log([0.5, 0.5, 0.25, 1.0])
    expected = {
        ("some", None): [0, 0, 0, 1],
        ("all", None): [0, 0, 1, 0],
        ("on average", None): [2 / 9, 2 / 9, 1 / 9, 4 / 9],
        ("most", None): [2 / 9, 2 / 9, 1 / 9, 4 / 9],
        ("at least", 1): [0, 0, 0, 1],
        ("at least", 2): [0.25, 0.25, 0, 0.5],  # two instances tie for the second place
        ("at least", 3): [1 / 3, 1 / 3, 0, 1 / 3],
        ("at least", 5): [0.25] * 4,
    }
    for (quantifier, count), shares in expected.items():
        np.testing.assert_allclose(quantifier_shares(quantifier, count, truths), shares, atol=1e-12)
    for quantifier in QUANTIFIER_SHARES:
        assert quantifier_shares(quantifier, 2, np.full(3, -np.inf)).sum() == pytest.approx(1)
        assert quantifier_shares(quantifier, 1, np.array([-2e6, -1e6])).sum() == pytest.approx(1)


def test_a_quantifier_of_ones_own_is_attributed_by_its_gradient():
    register_quantifier("twice", lambda log_r, grouping, count: 2 * on_average(log_r, grouping, count))
    try:
        rules = additive(Rule(Quantified("twice", HIGH), [[1.0]]))
        (rule,) = explain(rules, [VISITS]).rules
        truth = np.array(rule.parts[0].truth)
        np.testing.assert_allclose(rule.parts[0].shares, truth / truth.sum(), rtol=1e-6)
        assert rule.witness == 0
        assert float(jnp.exp(rule.log_firing)) == pytest.approx(truth.mean() ** 2)
    finally:
        del QUANTIFIERS["twice"]


# ---------------------------------------------------------------------- without an instance


def test_every_witness_is_left_out_once():
    found = card()
    left = {each.instance: each for each in found.counterfactuals}
    assert set(left) == {instance for rule in found.rules for instance in rule.witnesses}
    for instance, each in left.items():
        expected = CARD.infer([np.delete(VISITS, instance, axis=0)]).output[0, 0]
        assert each.score == pytest.approx(expected, abs=1e-12)
        assert each.change == pytest.approx(expected - found.score, abs=1e-12)
        assert each.prediction == ("yes" if expected > 0 else "no")
        assert found.without(instance) is each
    assert found.without(99) is None


def test_an_instance_without_which_others_do_is_said_to_change_hardly_anything():
    text = str(card([VISITS[0], VISITS[0], VISITS[1]], additive(Rule(Quantified("some", HIGH), [[2.2]]))))
    assert "Without instance 0, the logit would hardly change." in text


# ---------------------------------------------------------------------- text


def test_the_scorecard():
    found = card()
    head, table, without = str(found).split("\n\n")
    assert head == "Bag u16 (5 instances, numbered from 0): predicted yes, probability 0.668."
    lines = table.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.strip() for line in lines] == [
        "-2.90                 default",
        "+2.10 = 0.953 x 2.2   Rule 1: SOME pages is high",
        "instance 0: pages = 14",
        "+1.00 = 0.711 x 1.4   Rule 2: AT LEAST 3 stay is long",
        "instances 2, 1 and 3: stay = 88.5, 70 and 66 s",
        "+0.27 = 0.390 x 0.7   Rule 5: ON AVERAGE stay is medium",
        "most in instance 0 (41%): stay = 40 s",
        "+0.24 = 0.125 x 1.9   Rule 3: SOME (pages is high AND stay is medium) WITH 0.5",
        "0.763: instance 0: stay = 40 s (0.8), pages = 14",
        "(0.95)",
        "AND MOST pages is low",
        "0.327: 0.464 on average, most in instance 2 (41%):",
        "pages = 2",
        '0.00 = 0.000 x 0.3   Rule 7: NOT (SOME stay is "near 20") OR ALL pages is',
        "high",
        'SOME stay is "near 20" 1: instance 4: stay = 20 s',
        "ALL pages is high 0.000123: least in instance 2:",
        "pages = 2",
        "0.00 = 0.000 x -0.8  Rule 4: ALL stay is very long",
        "least in instance 4: stay = 20 s",
        "0.00 = 0.000 x -1    Rule 6: AT LEAST 8 instances",
        "the bag has only 5 instances",
        "-----",
        "+0.70                 logit -> probability of yes: 0.668",
    ]
    assert without.splitlines()[0].startswith("Without instance 0, the logit would be ")
    assert "predicting no." in without.splitlines()[0]


def test_amounts_of_the_scorecard_add_up_and_the_rest_is_summed_up():
    found = card()
    for most in range(8):
        lines = found.to_text(max_rules=most).split("\n\n")[1].splitlines()
        amounts = [float(line.split()[0]) for line in lines if re.match(r"  [ +-]\d", line)]
        *parts, total = amounts
        assert sum(parts) == pytest.approx(total, abs=0.05)
        assert total == pytest.approx(found.score, abs=0.005)
        assert len(parts) == 1 + most + (most < 7)
    assert "7 other rules" in found.to_text(max_rules=0)


def test_a_bag_on_which_nothing_fires_has_the_default():
    rules = additive(Rule(Quantified("some", NEAR), [[2.0]]), Rule(Quantified("at least", NEAR, 2), [[1.0]]))
    found = explain(rules, [[[3.0, 70.0]]], reading=YES)
    assert (found.uncovered, found.is_uncovered, found.score) == ((), False, -2.9)
    text = str(found)
    assert "no instance satisfies it at all" in text
    assert "the bag has only 1 instance\n" in text
    assert re.search(r"\n  -2\.90 +logit -> probability of yes: 0\.0522\n", text)
    assert "Without" not in text
    json.dumps(found.to_dict(), allow_nan=False)


def long_rule(terms):
    names = [f"x{d}" for d in range(40)]
    variables = tuple(Variable(name, {term: Gaussian(0, 3) for term in terms}) for name in names)
    asked = And(tuple(Is(name, terms[d % len(terms)]) for d, name in enumerate(names)))
    rules = RuleBase(variables, (Rule(Quantified("some", asked), [[2.0]]),), ("y",), normalize=False)
    text = explain(rules, [np.random.default_rng(0).normal(size=(3, 40))]).to_text(max_conditions=3)
    assert max(map(len, text.splitlines())) <= 80
    return re.sub(r"\s+", " ", text)


def test_long_conjunctions_inside_a_quantifier_are_shortened():
    text = long_rule(["near", "close"])
    condition = r"x\d+ is (near|close)"
    assert re.search(rf"Rule 1: SOME \({condition} AND {condition} AND {condition} AND \.\.\. \(37 more\)\)", text)
    assert "and 37 more" in text


def test_conditions_with_the_same_term_are_counted():
    assert "Rule 1: SOME (40 features are prototype1)" in long_rule(["prototype1"])


def test_numbers_and_several_classes():
    found = explain(CARD, [VISITS])
    assert str(found).startswith("Bag 0 (5 instances, numbered from 0): yes = 0.")
    assert re.search(r"\n  \+0\.70 +yes\n", str(found))
    three = tuple(Rule(rule.premise, [[1.0], [0.0], [-1.0]]) for rule in CARD.rules)
    base = dataclasses.replace(CARD, rules=three, outputs=("fox", "tiger", "cat"), default=(0.0, 0.1, 0.2))
    classes = ("fox", "tiger", "cat")
    reading = Reading(lambda output: np.array(classes)[output.argmax(axis=1)], None, classes, scale="logit")
    found = explain(base, [VISITS], reading=reading)
    assert "Logit of fox: " in str(found)
    assert re.search(r"\n  \+\d\.\d+ +logit of fox\n", str(found))
    assert explain(base, [VISITS], output="cat", reading=reading).score == pytest.approx(found.output[2])


def test_json_has_every_part():
    content = json.loads(json.dumps(card().to_dict(), allow_nan=False))
    assert content["additive"] is True
    rule = next(rule for rule in content["rules"] if rule["index"] == 1)
    (part,) = rule["parts"]
    assert (part["quantifier"], part["count"]) == ("at least", 3)
    assert [witness["instance"] for witness in part["witnesses"]] == rule["witnesses"] == [2, 1, 3]
    assert part["witnesses"][0]["conditions"][0]["value"] == 88.5


def test_normalized_quantified_rules_are_explained_too():
    rules = dataclasses.replace(CARD, normalize=True)
    found = explain(rules, [VISITS], reading=dataclasses.replace(YES, scale="decision value"))
    assert sum(rule.contribution for rule in found.rules) == pytest.approx(found.score, abs=1e-12)
    text = str(found)
    assert "Contributions to the decision value (strength x conclusion):" in text
    assert "AT LEAST 3 stay is long instances 2, 1 and 3: stay = 88.5, 70 and 66 s" in text


def test_the_order_of_instances_does_not_matter():
    order = [3, 0, 4, 2, 1]
    one, other = card(), card(VISITS[order])
    for rule, same in itertools.product(one.rules, other.rules):
        if rule.index == same.index:
            assert same.contribution == pytest.approx(rule.contribution, abs=1e-12)
            assert {order[i] for i in same.witnesses} == set(rule.witnesses)
