"""The share of each instance in a rule's strength, for every aggregation, against exact arithmetic."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil.explain import explain
from fuzzymil.explain._shares import SHARES, instance_shares
from fuzzymil.inference.aggregation import AGGREGATIONS, SOFT_AGGREGATIONS, register_aggregation
from fuzzymil.inference.segments import OneBag

INF = math.inf
ALPHAS = (-50.0, -2.5, -1.0, -0.5, 0.0, 0.3, 1.0, 50.0)

DEGREES = {
    "ordinary": [-0.1, -3.0, -0.7, -0.05],
    "one instance": [-0.4],
    "nearly certain": [-1e-18, -1e-3, -1e-9],
    "some of them tiny": [-0.2, -800.0, -900.0],
    "all below the smallest number": [-1e6, -1e6 - 0.5, -1e6 - 2.0],
}


def exact(log_r):
    return mpmath.exp(mpmath.mpf(log_r))


def parts(name, log_r, alpha):
    """What the aggregation adds up, one number per instance."""
    r = [exact(value) for value in log_r]
    a = mpmath.mpf(alpha)
    return {
        "softmax": lambda: [v * mpmath.exp(a * v) for v in r],
        "softmax_relative": lambda: [v * mpmath.exp(a * v / max(r)) for v in r],
        "softmax_log": lambda: [v * v**a for v in r],
        "max": lambda: [mpmath.mpf(v == max(r)) for v in r],
        "min": lambda: [mpmath.mpf(v == min(r)) for v in r],
        "algebraic": lambda: [-mpmath.log1p(-v) for v in r],
        "bounded": lambda: r,
        "lse": lambda: [mpmath.expm1(a * v) / a if a else v for v in r],
        "power": lambda: [v**a for v in r],
    }[name]()


def put_together(name, log_r, alpha):
    """Log of the aggregation, from the sum of the parts."""
    r = [exact(value) for value in log_r]
    a, n, total = mpmath.mpf(alpha), len(r), sum(parts(name, log_r, alpha))
    weights = {
        "softmax": lambda: sum(mpmath.exp(a * v) for v in r),
        "softmax_relative": lambda: sum(mpmath.exp(a * v / max(r)) for v in r),
        "softmax_log": lambda: sum(v**a for v in r),
    }
    if name in weights:
        return mpmath.log(total / weights[name]())
    return {
        "max": lambda: mpmath.log(max(r)),
        "min": lambda: mpmath.log(min(r)),
        "algebraic": lambda: mpmath.log(-mpmath.expm1(-total)),
        "bounded": lambda: mpmath.log(min(total, 1)),
        "lse": lambda: mpmath.log(mpmath.log1p(a * total / n) / a if a else total / n),
        "power": lambda: mpmath.log(total / n) / a if a else sum(map(mpmath.log, r)) / n,
    }[name]()


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


CASES = [
    pytest.param(name, alpha, id=f"{name}-{alpha}")
    for name in SHARES
    for alpha in (ALPHAS if name in SOFT_AGGREGATIONS else (1.0,))
]


def test_shares_are_those_of_aggregations():
    assert SHARES.keys() <= AGGREGATIONS.keys()


@pytest.mark.parametrize("kind", DEGREES)
@pytest.mark.parametrize(("name", "alpha"), CASES)
def test_shares_are_the_parts_of_the_sum(name, alpha, kind):
    log_r = DEGREES[kind]
    expected = parts(name, log_r, alpha)
    found = instance_shares(name, np.array(log_r)[:, None], alpha)[:, 0]
    np.testing.assert_allclose(found, [float(part / sum(expected)) for part in expected], rtol=1e-9, atol=1e-300)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEGREES)
@pytest.mark.parametrize(("name", "alpha"), CASES)
def test_the_sum_is_the_one_behind_the_aggregation(name, alpha, kind):
    log_r = DEGREES[kind]
    with jax.enable_x64():
        found = AGGREGATIONS[name](jnp.array(log_r)[:, None], OneBag(jnp.ones(len(log_r), bool)), jnp.float64(alpha))
    assert float(found[0, 0]) == pytest.approx(float(put_together(name, log_r, alpha)), rel=1e-9, abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "alpha"), CASES)
def test_a_truly_zero_rule_is_held_there_by_the_zeros(name, alpha):
    nothing = instance_shares(name, np.full((4, 1), -INF), alpha)
    np.testing.assert_array_equal(nothing, 0.25)
    log_r = np.array([[-0.5], [-INF], [-INF], [-1.0]])
    found = instance_shares(name, log_r, alpha)
    with jax.enable_x64():
        joined = float(AGGREGATIONS[name](jnp.asarray(log_r), OneBag(jnp.ones(4, bool)), jnp.float64(alpha))[0, 0])
    if joined == -INF:
        np.testing.assert_array_equal(found[:, 0], [0, 0.5, 0.5, 0])
    else:
        np.testing.assert_array_equal(found[1:3], 0)
        assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("name", "alpha"), CASES)
def test_equal_instances_have_equal_shares(name, alpha):
    np.testing.assert_allclose(instance_shares(name, np.full((3, 2), -0.3), alpha), 1 / 3, rtol=1e-12)


def test_certain_instances_decide_an_algebraic_sum():
    found = instance_shares("algebraic", np.array([[0.0], [-0.1], [0.0]]), 1.0)
    assert found[:, 0].tolist() == [0.5, 0, 0.5]


def test_the_greatest_is_shared_by_those_that_reach_it():
    log_r = np.array([[-1.0], [-2.0], [-1.0]])
    assert instance_shares("max", log_r, 0.0)[:, 0].tolist() == [0.5, 0, 0.5]
    assert instance_shares("min", log_r, 0.0)[:, 0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", sorted(SOFT_AGGREGATIONS))
def test_every_rule_may_have_an_alpha_of_its_own(name):
    log_r = np.array([[-0.3, -0.3, -0.3], [-1.0, -1.0, -1.0]])
    together = instance_shares(name, log_r, [-2.0, 0.0, 7.0])
    for r, alpha in enumerate((-2.0, 0.0, 7.0)):
        np.testing.assert_allclose(together[:, [r]], instance_shares(name, log_r[:, [r]], alpha), rtol=1e-14)


@pytest.mark.parametrize("name", sorted(SOFT_AGGREGATIONS))
def test_great_alphas_leave_one_instance(name):
    log_r = np.array([[-0.3], [-0.31], [-2.0]])
    np.testing.assert_allclose(instance_shares(name, log_r, 1e25)[:, 0], [1, 0, 0], atol=1e-12)
    least = instance_shares(name, log_r, -1e25)[:, 0]
    # What lse adds up is bounded for negative alpha: all instances take part in the doubt alike.
    np.testing.assert_allclose(least, [1 / 3] * 3 if name == "lse" else [0, 0, 1], atol=1e-12)


def largest_two(log_r, grouping, alpha):
    """Mean of the two greatest truths, of a single bag."""
    return jnp.log(jnp.sort(jnp.exp(log_r), axis=0)[-2:].mean(axis=0, keepdims=True))


@pytest.fixture
def registered():
    register_aggregation("largest_two", largest_two)
    yield
    del AGGREGATIONS["largest_two"]


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
def test_a_registered_aggregation_has_shares_by_its_gradient():
    log_r = np.log(
        [[0.6, 0.5], [0.1, 0.5], [0.2, 0.0]], out=np.full((3, 2), -INF), where=np.arange(6).reshape(3, 2) < 5
    )
    found = instance_shares("largest_two", log_r, 1.0)
    np.testing.assert_allclose(found, [[0.75, 0.5], [0, 0.5], [0.25, 0]], atol=1e-12)
    flat = instance_shares("largest_two", np.array([[-INF], [-INF], [-INF]]), 1.0)
    np.testing.assert_allclose(flat, 1 / 3)


@pytest.mark.usefixtures("registered")
def test_a_registered_aggregation_is_explained():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="largest_two")
    found = explain(rules, [[[0.1], [0.9], [3.0]]])
    assert {rule.index: rule.witness for rule in found.rules} == {0: 0, 1: 1}
    assert sum(rule.contribution for rule in found.rules) + found.baseline == pytest.approx(found.score)
    assert "Rule 2" in str(found)
