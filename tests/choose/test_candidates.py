"""Candidates: their values are those of the rule base, and their derivatives are right."""

import numpy as np
import pytest
from premises_to_try import HIGH, LOW, PREMISES, converted, numerical_gradient, random_bags

from fuzzymil import Bags
from fuzzymil.inference.engines.numpy import order_statistics
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose.candidates import (
    Condition,
    MovableConditions,
    Part,
    averages,
    bag_sizes,
    concatenate,
    premise_truths,
    thresholds,
)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_truths_are_those_of_the_converted_rules(missing):
    bags = random_bags(missing=missing)
    found = converted(PREMISES, bags).infer(bags)
    columns = premise_truths(PREMISES, bags)
    np.testing.assert_allclose(columns, found.firing, atol=1e-9)
    assert columns[bags.sizes < 3, 2] == pytest.approx(0, abs=0)  # fewer instances than are asked for
    conclusions = np.arange(len(PREMISES), 0, -1.0)
    np.testing.assert_allclose(columns @ conclusions - 1.5, found.output[:, 0], atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_truths_after_a_move_are_those_of_the_moved_premises(missing):
    bags = random_bags(1, missing=missing)
    movable = MovableConditions(PREMISES, bags)
    moves = np.random.RandomState(0).normal(scale=0.5, size=movable.n_moves)
    truth, _ = movable.evaluate(moves)
    moved = movable.moved(moves)
    np.testing.assert_allclose(truth, premise_truths(moved, bags), atol=1e-12)
    np.testing.assert_allclose(truth, converted(moved, bags).infer(bags).firing, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_derivatives_of_every_premise(missing):
    bags = random_bags(2, n_bags=12, missing=missing)
    rng = np.random.RandomState(0)
    for premise in PREMISES:
        movable = MovableConditions([premise], bags)
        moves = rng.normal(scale=0.3, size=movable.n_moves)
        slopes = rng.normal(size=(bags.n_bags, 1))
        found = movable.evaluate(moves)[1](slopes)
        expected = numerical_gradient(lambda point, s=movable, w=slopes: float((w * s.evaluate(point)[0]).sum()), moves)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=str(premise))


def test_a_value_on_the_center_of_a_bell_has_no_slope_there():
    bags = Bags.from_list([[[5.0, 5.0, 5.0]], [[7.0, 0.0, 5.0]]])
    movable = MovableConditions([PREMISES[4]], bags)
    truth, pullback = movable.evaluate(np.zeros(3))
    assert truth[:, 0] == pytest.approx(1, abs=1e-12)
    assert np.array_equal(pullback(np.ones((2, 1))), np.zeros(3))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("at_once", [1, 20, 1 << 18])
def test_order_statistics_against_a_loop(count, known, at_once, monkeypatch):
    monkeypatch.setattr("fuzzymil.inference.engines.numpy._SORTED", at_once)
    bags = random_bags(4, missing=0.2)
    greatest, least = order_statistics(bags.instances, bags.offsets, count, known=known)
    assert greatest.shape == least.shape == (count, bags.n_bags, 3)
    gap = -np.inf if known else np.inf
    for b, bag in enumerate(bags):
        for d in range(3):
            high = sorted((gap if np.isnan(v) else v for v in bag[:, d]), reverse=True)
            low = sorted(-gap if np.isnan(v) else v for v in bag[:, d])
            for n in range(count):
                assert greatest[n, b, d] == (high[n] if n < len(bag) else -np.inf)
                assert least[n, b, d] == (low[n] if n < len(bag) else np.inf)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_columns_of_a_candidates_are_the_truths_of_its_premises(missing):
    bags = random_bags(5, missing=missing)
    candidates = concatenate([thresholds(bags, (1, 2, 3)), averages(bags), bag_sizes(bags)])
    n = candidates.columns.shape[1]
    premises = [candidates.premise(number) for number in range(n)]
    assert candidates.columns.shape == (bags.n_bags, n)
    assert {part.quantifier for (part,) in premises} == {"some", "at least", "on average"}
    np.testing.assert_allclose(candidates.columns, premise_truths(premises, bags), atol=1e-12)
    assert candidates.columns.min() >= 0
    assert candidates.columns.max() <= 1


def test_thresholds_lie_between_values_that_differ():
    bags = Bags.from_list([[[x, 3.0, 0.1 + 0.2]] for x in (0.0, 0.0, 1.0, 1.0, 5.0)] + [[[0.0, 3.0, 0.3]]])
    candidates = thresholds(bags)
    conditions = [candidates.premise(n)[0].conditions[0] for n in range(candidates.columns.shape[1])]
    assert {condition.feature for condition in conditions} == {0}  # a constant has no thresholds; rounding is no change
    assert {condition.sets[0].center for condition in conditions} == {0.5, 3.0}
    assert np.all(np.minimum(candidates.columns, 1 - candidates.columns) < 0.02)  # all values are on one side or other


def test_bag_sizes_divide_the_bags():
    bags = random_bags(6)
    candidates = bag_sizes(bags)
    for n, column in enumerate(candidates.columns.T):
        (part,) = candidates.premise(n)
        assert 0 < column.mean() < 1
        assert np.array_equal(column, bags.sizes >= part.number)
    equal = Bags.from_list([np.zeros((3, 1))] * 4)
    assert bag_sizes(equal).columns.shape == (4, 0)


def test_features_without_values_are_no_problem():
    bags = random_bags(7).map_instances(lambda x: np.column_stack([x[:, :2], np.full(len(x), np.nan)]))
    premise = (Part("some", None, (HIGH, LOW, Condition(2, (Sigmoid(0.0, 1.0),)))),)
    shorter = (Part("some", None, (HIGH, LOW)),)
    np.testing.assert_allclose(premise_truths([premise], bags), premise_truths([shorter], bags), atol=1e-12)
