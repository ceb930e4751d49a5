"""Whole points for conclusions, against every card that there is."""

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score

from fuzzymil import RuleClassifier, datasets
from fuzzymil.learn.choose.points import round_to_points


def problem(seed, n_bags=60, n_rules=3):
    rng = np.random.default_rng(seed)
    truths = rng.beta(0.4, 0.4, size=(n_bags, n_rules))
    coefs = rng.normal(scale=2, size=n_rules)
    weights = rng.integers(1, 4, size=n_bags).astype(float)
    return truths, weights, coefs, float(-coefs.sum() / 2 + rng.normal())


def cost(truths, weights, coefs, default, likely):
    output = default + truths @ coefs
    return np.average(np.logaddexp(0, output) - likely * output, weights=weights)


def least_cost(truths, weights, points, likely):
    """Return the cost of a card with the best unit and default, found without derivatives."""

    def of(place):
        return cost(truths, weights, np.exp(place[1]) * points, place[0], likely)

    return minimize(of, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10}).fun


@pytest.mark.parametrize("seed", range(4))
def test_hardly_any_card_is_better_and_none_is_much(seed):
    truths, weights, coefs, default = problem(seed)
    likely = expit(default + truths @ coefs)
    found = round_to_points(truths, weights, coefs, default, most=3)
    own = cost(truths, weights, found.unit * found.points, found.default, likely)
    assert own == pytest.approx(least_cost(truths, weights, found.points, likely), abs=1e-6)
    every = [
        np.array(points) * np.sign(coefs)
        for points in itertools.product(range(4), repeat=3)
        if np.gcd.reduce(points) == 1  # others say the same with another unit
    ]
    costs = np.array([least_cost(truths, weights, points, likely) for points in every])
    nothing = least_cost(truths, weights, np.zeros(3), likely)
    assert own <= costs.min() + 0.0101 * (nothing - costs.min())
    largest = np.array([np.abs(points).max() for points in every])
    smaller = costs[largest < np.abs(found.points).max()]
    assert not len(smaller) or smaller.min() > costs.min() + 0.0099 * (nothing - costs.min())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 10))
def test_points_are_few_and_have_the_signs_of_the_conclusions(seed, n_rules, most):
    truths, weights, coefs, default = problem(seed, 40, n_rules)
    found = round_to_points(truths, weights, coefs, default, most=most)
    assert found.points.dtype.kind == "i"
    assert np.abs(found.points).max() <= most
    assert np.all(found.points * coefs >= 0)
    assert found.points.any()
    assert found.unit > 0
    assert np.isfinite(found.default)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([-2, -1, 1, 2]), min_size=1, max_size=6), st.floats(0.1, 3))
def test_what_is_a_card_stays_that_card(seed, points, unit):
    truths, weights, _, _ = problem(seed, 200, len(points))
    points = np.array(points) // np.gcd.reduce(points)
    default = float(-unit * points.sum() / 2)
    found = round_to_points(truths, weights, unit * points, default)
    if np.abs(found.points).max() == np.abs(points).max():  # smaller points may be as good
        np.testing.assert_array_equal(found.points, points)
        assert (found.unit, found.default) == pytest.approx((unit, default), abs=1e-3)


def test_rules_that_cannot_matter_get_no_points():
    truths, weights, coefs, default = problem(0, n_rules=5)
    truths[:, 1], coefs[2] = 0.7, 0.0
    coefs[3] = 1e-4
    found = round_to_points(truths, weights, coefs, default)
    assert not found.points[[1, 2, 3]].any()
    assert found.points[[0, 4]].all()
    without = round_to_points(truths[:, [0, 4]], weights, coefs[[0, 4]], default + 0.7 * coefs[1])
    np.testing.assert_array_equal(found.points[[0, 4]], without.points)


def test_without_a_rule_the_default_is_all():
    found = round_to_points(np.ones((4, 1)), np.ones(4), np.array([1.0]), -2.0)
    assert found.points.tolist() == [0]
    assert found.default == pytest.approx(-1.0)


def test_a_weight_is_a_bag_that_comes_again():
    truths, weights, coefs, default = problem(5)
    again = np.repeat(np.arange(len(truths)), weights.astype(int))
    one = round_to_points(truths, weights, coefs, default)
    two = round_to_points(truths[again], np.ones(len(again)), coefs, default)
    np.testing.assert_array_equal(one.points, two.points)
    assert (one.unit, one.default) == pytest.approx((two.unit, two.default))


def test_bags_may_be_explained_perfectly():
    truths = np.repeat(np.eye(2), 30, axis=0)
    found = round_to_points(truths, np.ones(60), np.array([50.0, -80.0]), -5.0)
    assert np.isfinite([found.unit, found.default]).all()
    output = found.default + found.unit * truths @ found.points
    assert np.all(output[:30] > 5)
    assert np.all(output[30:] < -5)


def rounded(bags, labels, **settings):
    """Return the logits of chosen rules, and of their points, for the bags that they were not chosen from."""
    seen = np.arange(bags.n_bags) % 3 > 0
    model = RuleClassifier(random_state=0, **settings).fit(bags[seen], labels[seen])
    rules = model.rules_
    coefs = rules.coefs[:, 0, 0]
    card = round_to_points(rules.infer(bags[seen]).firing, np.ones(seen.sum()), coefs, rules.default[0])
    strengths = rules.infer(bags[~seen]).firing
    outputs = rules.default[0] + strengths @ coefs, card.default + card.unit * strengths @ card.points
    return *outputs, labels[~seen] == model.classes_[1]


@pytest.mark.parametrize("kind", ["both", "count", "unless"])
def test_the_ranking_of_planted_bags_survives(kind):
    bags = datasets.make_planted(kind, 240, n_noise=4, random_state=1)
    before, after, positive = rounded(bags, np.asarray(bags.labels))
    assert roc_auc_score(positive, after) > roc_auc_score(positive, before) - 0.01
    assert log_loss(positive, expit(after)) < log_loss(positive, expit(before)) + 0.02


@pytest.mark.skipif(not os.environ.get("FUZZYMIL_DATA"), reason="needs the benchmark sets: set FUZZYMIL_DATA")
@pytest.mark.parametrize("load", [datasets.load_elephant, datasets.load_tiger])
def test_the_ranking_of_real_bags_survives(load):
    bags = load()
    order = np.random.RandomState(0).permutation(bags.n_bags)
    before, after, positive = rounded(bags[order], np.asarray(bags.labels)[order], max_rules=12, max_conditions=3)
    assert roc_auc_score(positive, after) > roc_auc_score(positive, before) - 0.02
    assert log_loss(positive, expit(after)) < log_loss(positive, expit(before)) + 0.03
