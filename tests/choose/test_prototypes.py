"""Prototypes over all features: values, derivatives, and conversion to rules."""

import numpy as np
import pytest
from premises_to_try import NAMES, converted, numerical_gradient, random_bags

from fuzzymil import Bags
from fuzzymil.learn.choose.candidates import MovablePrototypes, Prototype, typical_instances
from fuzzymil.learn.train.scaling import Measures, Scaling


def scaled(bags, clip=3.0):
    scaling = Scaling.fit(Measures.of(bags.instances), standardize=True, clip=clip)
    return scaling, bags.map_instances(lambda x: scaling.apply(x)[:, scaling.varies])


def some_prototypes(bags, n=4, seed=0):
    rng = np.random.RandomState(seed)
    d = bags.n_features
    quantifiers = ["some", "on average", "some", "on average"][:n]
    centers, widths = rng.normal(size=(n, d)), rng.uniform(0.7, 2, size=(n, d))
    return [Prototype(*each) for each in zip(quantifiers, centers, widths, strict=True)]


def truths(prototypes, bags):
    movable = MovablePrototypes(prototypes, bags)
    return movable.evaluate(np.zeros(movable.n_moves))[0]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_truths_are_those_of_the_converted_rules(missing):
    bags = random_bags(missing=missing)
    scaling, standardized = scaled(bags)
    prototypes = some_prototypes(standardized)
    rules = converted(prototypes, bags, scaling)
    assert {len(rule.conditions) for rule in rules.rules} == {3}
    np.testing.assert_allclose(truths(prototypes, standardized), rules.infer(bags).firing, atol=1e-9)
    far = Bags(bags.instances * 3, bags.offsets)  # beyond the range, to which rules limit the values as training did
    outside = truths(prototypes, Bags(scaling.apply(far.instances), far.offsets))
    np.testing.assert_allclose(outside, rules.infer(far).firing, atol=1e-9)


def test_features_that_do_not_vary_are_left_out():
    bags = random_bags(1).map_instances(lambda x: np.column_stack([x[:, :1], np.full(len(x), 0.3), x[:, 2:]]), NAMES)
    scaling, standardized = scaled(bags)
    assert standardized.n_features == 2
    prototypes = some_prototypes(standardized)
    rules = converted(prototypes, bags, scaling)
    assert {tuple(condition.variable for condition in rule.conditions) for rule in rules.rules} == {("a", "c")}
    np.testing.assert_allclose(truths(prototypes, standardized), rules.infer(bags).firing, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_derivatives(missing):
    _, bags = scaled(random_bags(2, n_bags=10, missing=missing))
    prototypes, rng = MovablePrototypes(some_prototypes(bags), bags), np.random.RandomState(3)
    moves = rng.normal(scale=0.3, size=prototypes.n_moves)
    slopes = rng.normal(size=(bags.n_bags, 4))
    found = prototypes.evaluate(moves)[1](slopes)
    expected = numerical_gradient(lambda point: float((slopes * prototypes.evaluate(point)[0]).sum()), moves)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_moved_prototypes_have_the_truths_of_the_move():
    _, bags = scaled(random_bags(3))
    prototypes = MovablePrototypes(some_prototypes(bags), bags)
    moves = np.random.RandomState(4).normal(scale=0.3, size=prototypes.n_moves)
    moved = prototypes.moved(moves)
    assert all(isinstance(each, Prototype) for each in moved)
    np.testing.assert_allclose(prototypes.evaluate(moves)[0], truths(moved, bags), atol=1e-12)


def test_typical_instances_are_instances():
    instances = np.random.RandomState(0).normal(size=(50, 2))
    drawn = typical_instances(instances, 10, np.random.RandomState(0))
    assert len(np.unique(drawn, axis=0)) == 10
    assert {tuple(row) for row in drawn} <= {tuple(row) for row in instances}
    assert np.array_equal(typical_instances(instances, 50, np.random.RandomState(0)), instances)
    instances[3, 1] = np.nan
    assert typical_instances(instances, 50, np.random.RandomState(0))[3, 1] == 0
