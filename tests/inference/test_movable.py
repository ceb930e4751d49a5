"""Premises whose sets move: the values of the network, and the right derivatives."""

import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import FAMILIES, MembershipFunction
from fuzzymil.inference.movable import MovablePremises
from fuzzymil.rules.activations import seen_bags

TEXT = """
VARIABLE a: high = Sigmoid(5, 1.3), near = Gaussian(4, 2)
VARIABLE b: low = Sigmoid(4, -2), middle = Bell(5, 2, 3)
VARIABLE c: some = Rectangle(2, 7), peak = Triangular(1, 5, 9)
USING normalize = no, aggregation = max
IF SOME (a is high) THEN y = 1
IF AT LEAST 2 (b is low) THEN y = 2
IF ON AVERAGE (a is near AND b is middle) THEN y = 3
IF ALL (b is middle AND c is not peak) THEN y = 4
IF SOME (a is high AND (b is low OR c is some)) AND ON AVERAGE (c is peak) AND AT LEAST 3 (b is middle) THEN y = 5
"""
LEARNABLE = sorted(
    name for name, kind in FAMILIES.items() if kind.log_mu_slopes is not MembershipFunction.log_mu_slopes
)


def rules_and_bags(missing=0.0, seed=0, values=""):
    rng = np.random.RandomState(seed)
    bags = [rng.uniform(0, 10, size=(rng.randint(1, 7), 3)) for _ in range(25)]
    for bag in bags:
        bag[rng.uniform(size=bag.shape) < missing] = np.nan
    text = TEXT
    for name in "abc" if values else "":
        text = text.replace(f"VARIABLE {name}:", f"VARIABLE {name} MISSING {values}:")
    return RuleBase.parse(text), Bags.from_list(bags, ["a", "b", "c"])


def movable(rules, bags):
    params, masks, operators = rules.compile()
    seen = seen_bags(rules, bags)
    unit = np.array([1.0, 2.0, 0.5])
    arrays = seen.instances, seen.offsets, unit, params.missing_values
    return MovablePremises(operators.parts, params.sets, masks, *arrays)


def numerical(function, point, step=1e-6):
    found = np.empty(len(point))
    for n in range(len(point)):
        away = np.zeros(len(point))
        away[n] = step
        found[n] = (function(point + away) - function(point - away)) / (2 * step)
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_values_are_those_of_the_rules(missing):
    rules, bags = rules_and_bags(missing)
    found = movable(rules, bags)
    np.testing.assert_allclose(found.evaluate(np.zeros(found.n_moves))[0], rules.infer(bags).firing, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_after_a_move_they_are_those_of_the_moved_rules(missing):
    rules, bags = rules_and_bags(missing, seed=1)
    found = movable(rules, bags)
    moves = np.random.RandomState(0).normal(scale=0.4, size=found.n_moves)
    params, _, _ = rules.compile()
    sets = {name: tuple(values.copy() for values in own) for name, own in params.sets.items()}
    for place, chosen in found.moved(moves).items():
        for values, value in zip(sets[chosen.kind], chosen.parameters, strict=True):
            values[place] = value
    # Every condition moves for itself, so terms that rules share come apart: compare the arrays.
    from fuzzymil.inference.activations import infer

    _, masks, operators = rules.compile()
    expected = infer(params._replace(sets=sets), masks, operators, seen_bags(rules, bags)).firing
    np.testing.assert_allclose(found.evaluate(moves)[0], expected, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_derivatives(missing):
    rules, bags = rules_and_bags(missing, seed=2)
    found, rng = movable(rules, bags), np.random.RandomState(1)
    moves = rng.normal(scale=0.3, size=found.n_moves)
    weights = rng.normal(size=(bags.n_bags, len(rules.rules)))
    expected = numerical(lambda point: float((weights * found.evaluate(point)[0]).sum()), moves)
    np.testing.assert_allclose(found.evaluate(moves)[1](weights), expected, atol=1e-6)
    assert np.count_nonzero(expected) > found.n_moves / 2


def test_other_quantifiers_are_refused():
    _, bags = rules_and_bags()
    with pytest.raises(ParameterError, match="most"):
        movable(RuleBase.parse(TEXT.replace("ON AVERAGE (c is peak)", "MOST (c is peak)")), bags)


@pytest.mark.parametrize("name", LEARNABLE)
def test_slopes_of_every_family_that_has_them(name):
    kind, rng = FAMILIES[name], np.random.RandomState(0)
    x = rng.uniform(-3, 3, 40)
    parameters = [np.array(value, float) for value in kind.around(0.7, 1.1)]
    for place, found in enumerate(kind.log_mu_slopes(x, *parameters)):
        up, down = ([v + s * 1e-6 * (n == place) for n, v in enumerate(parameters)] for s in (1, -1))
        expected = (kind.log_mu(x, *up) - kind.log_mu(x, *down)) / 2e-6
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_search_finds_the_families_it_needs():
    assert {"bell", "gaussian", "sigmoid"} <= set(LEARNABLE)
