"""What the scores of instances have to do with the score of their bag: what the docs say, and no more."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, Training
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.membership import Triangular
from fuzzymil.rules import RuleBase
from fuzzymil.rules.rule import Rule, Variable

# Shapes are fixed, so that examples share compiled programs: hypothesis draws a seed and the settings.
FEATURES, RULES = 3, 4
SIZES = (1, 5, 2, 1, 4)
OFFSETS = np.cumsum((0, *SIZES))
STARTS = OFFSETS[:-1]
REACHING = ("algebraic", "bounded")  # at least the greatest, and not a mean
seeds = st.integers(0, 2**32 - 1)
alphas = st.sampled_from([-20.0, -1.0, 0.0, 0.4, 3.0, 50.0])
spreads = st.sampled_from([0.3, 1.0, 30.0])  # instances that no rule knows, too
few = settings(max_examples=12, derandomize=True, deadline=None, database=None)


def system(seed, spread=1.0, n_rules=RULES, order=0, **operators):
    """Random rules and bags; what the rules say of the bags and of their instances."""
    rng = np.random.default_rng(seed)
    rules = RuleBase.from_arrays(
        rng.normal(size=(n_rules, FEATURES)),
        np.exp(rng.normal(size=(n_rules, FEATURES))),
        rng.normal(size=(n_rules, 2, 1 + order * FEATURES)),
        **operators,
    )
    instances = spread * rng.normal(size=(OFFSETS[-1], FEATURES))
    alone = rules.infer(Bags(instances, np.arange(len(instances) + 1)))
    return rules, rules.infer(Bags(instances, OFFSETS)), alone


@pytest.mark.slow
@few
@given(seeds, alphas, st.sampled_from(list(AGGREGATIONS)), st.sampled_from([0, 1]), st.booleans())
def test_a_bag_of_one_instance_has_its_score(seed, alpha, aggregation, order, normalize):
    _, bags, alone = system(seed, order=order, alpha=alpha, aggregation=aggregation, normalize=normalize)
    single = np.flatnonzero(np.array(SIZES) == 1)
    np.testing.assert_allclose(bags.output[single], alone.output[STARTS[single]], rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@few
@given(seeds, spreads, alphas, st.sampled_from(sorted(set(AGGREGATIONS) - set(REACHING))))
def test_a_rule_fires_between_its_least_and_greatest_truth(seed, spread, alpha, aggregation):
    _, bags, alone = system(seed, spread, alpha=alpha, aggregation=aggregation)
    least, greatest = (f.reduceat(alone.log_truth, STARTS) for f in (np.minimum, np.maximum))
    slack = 1e-9 * (1 + np.abs(greatest))
    assert (least - slack <= bags.log_firing).all()
    assert (bags.log_firing <= greatest + slack).all()


@few
@given(seeds, spreads, st.sampled_from(REACHING))
def test_the_algebraic_and_the_bounded_sum_reach_the_greatest_truth(seed, spread, aggregation):
    _, bags, alone = system(seed, spread, aggregation=aggregation)
    greatest = np.maximum.reduceat(alone.log_truth, STARTS)
    assert (bags.log_firing >= greatest - 1e-9 * (1 + np.abs(greatest))).all()
    assert (bags.log_firing <= 0).all()


@few
@given(seeds, spreads, st.sampled_from(["max", "softmax", "softmax_relative", "softmax_log", "lse", "power"]))
def test_an_infinite_alpha_fires_at_the_greatest_truth(seed, spread, aggregation):
    _, bags, alone = system(seed, spread, aggregation=aggregation, alpha=math.inf)
    np.testing.assert_allclose(bags.log_firing, np.maximum.reduceat(alone.log_truth, STARTS), rtol=1e-12)


@few
@given(seeds, spreads, alphas, st.sampled_from(list(AGGREGATIONS)))
def test_scores_lie_between_the_conclusions(seed, spread, alpha, aggregation):
    rules, *found = system(seed, spread, alpha=alpha, aggregation=aggregation)
    said = rules.coefs[:, :, 0]
    for activations in found:
        assert (activations.output >= said.min(axis=0) - 1e-12).all()
        assert (activations.output <= said.max(axis=0) + 1e-12).all()


@few
@given(seeds, st.sampled_from([0.3, 1.0]), st.booleans())
def test_with_the_mean_a_bag_scores_the_weighted_mean_of_its_instances(seed, spread, normalize):
    _, bags, alone = system(seed, spread, alpha=0.0, normalize=normalize)
    weights = alone.truth.sum(axis=1) if normalize else np.ones(OFFSETS[-1])
    total = np.add.reduceat(weights[:, None] * alone.output, STARTS)
    expected = total / np.add.reduceat(weights, STARTS)[:, None]
    np.testing.assert_allclose(bags.output, expected, rtol=1e-9, atol=1e-12)


@few
@given(seeds, spreads)
def test_with_two_rules_and_the_maximum_a_bag_scores_between_its_instances(seed, spread):
    _, bags, alone = system(seed, spread, n_rules=2, aggregation="max")
    assert (bags.output >= np.minimum.reduceat(alone.output, STARTS) - 1e-9).all()
    assert (bags.output <= np.maximum.reduceat(alone.output, STARTS) + 1e-9).all()


@pytest.mark.parametrize("aggregation", ["max", "softmax"])
def test_a_bag_may_score_beyond_all_its_instances(aggregation):
    # Two rules speak for 1, each satisfied by an instance of its own; the one that speaks for 0 by both.
    x = Variable("x", {"a": Triangular(0, 1, 2), "b": Triangular(2, 3, 4), "either": Triangular(-2, 2, 6)})
    rules = RuleBase((x,), (Rule({"x": "a"}, [[1.0]]), Rule({"x": "b"}, [[1.0]]), Rule({"x": "either"}, [[0.0]])))
    rules = RuleBase(rules.variables, rules.rules, aggregation=aggregation, alpha=math.inf)
    alone = rules.infer([[[1.0]], [[3.0]]]).output[:, 0]
    both = rules.infer([[[1.0], [3.0]]]).output[0, 0]
    np.testing.assert_allclose(alone, 1 / 1.75)
    assert both == pytest.approx(2 / 2.75)


@pytest.mark.parametrize("kind", [MIANFISClassifier, MIANFISRegressor])
def test_instance_scores_scores_each_instance_as_a_bag(kind):
    bags = make_two_concepts(5, 5, random_state=0)
    fitted = kind(2, training=Training(max_epochs=3), random_state=0).fit(bags)
    score = fitted.decision_function if kind is MIANFISClassifier else fitted.predict
    alone = Bags(bags.instances, np.arange(bags.n_instances + 1))
    np.testing.assert_array_equal(fitted.instance_scores(bags), score(alone))
    np.testing.assert_array_equal(fitted.instance_scores(alone), score(alone))
