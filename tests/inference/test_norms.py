"""Every T-norm, T-conorm and combining operator: values, gradients, underflow, exact zeros, NaN."""

import functools
import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import oracle
import pytest

from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS, SOFT_AGGREGATIONS
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.inference.segments import Each, OneBag

INF = math.inf
NAN = math.nan
ALPHAS = (-50.0, -2.5, 0.0, 1.0, 50.0)

# Three bags of 4, 1 and 3 instances; two rules.
BAG_INDEX = np.array([0, 0, 0, 0, 1, 2, 2, 2], np.int32)
BAGS = [np.flatnonzero(b == BAG_INDEX) for b in range(3)]


@functools.cache
def t_norm(name):
    """Value (n,) and gradients (n, d) of each row's value, compiled."""
    return jax.jit(lambda rows: (T_NORMS[name](rows), jax.vmap(jax.grad(T_NORMS[name]))(rows)))


@functools.cache
def pooled(table, name):
    """Value (3, ...) for the three bags and its pull-back, compiled."""
    operator = {"aggregation": AGGREGATIONS, "conclusion_aggregation": COMBINERS}[table][name]

    @jax.jit
    def run(values, alpha, cotangent):
        out, pull = jax.vjp(lambda v, a: operator(v, Packed(jnp.asarray(BAG_INDEX), 3), a), values, alpha)
        return out, *pull(cotangent)

    return run


def value_of(table, name, values, alpha=1.0):
    with jax.enable_x64():
        values = jnp.asarray(values, float)
        out = pooled(table, name)(values, jnp.float64(alpha), jnp.zeros((3, *values.shape[1:])))[0]
        return np.asarray(out)


def pull_back(table, name, values, cotangent, alpha=1.0):
    with jax.enable_x64():
        _, by_values, by_alpha = pooled(table, name)(jnp.asarray(values, float), jnp.float64(alpha), cotangent)
        return np.asarray(by_values), float(by_alpha)


def t_norm_of(name, rows):
    with jax.enable_x64():
        value, gradient = t_norm(name)(jnp.asarray(rows, float))
        return np.asarray(value), np.asarray(gradient)


def expected_pool(name, degrees, alpha, exp=math.exp, log=math.log):
    """The oracle's pooling, and the two operators it does not have in terms of those it has."""
    if name == "softmax_relative":
        top = max(degrees)
        return top * oracle.softmax_alpha([r / top for r in degrees], alpha, exp=exp) if top > 0 else top
    if name == "softmax_log":
        if alpha == 0:
            return sum(degrees) / len(degrees)
        if alpha < 0 and min(degrees) == 0:
            return min(degrees)
        if max(degrees) == 0:
            return max(degrees)
        weights = [r**alpha for r in degrees]
        return sum(w * r for w, r in zip(weights, degrees, strict=True)) / sum(weights)
    return oracle.aggregation(degrees, name, alpha, exp=exp, log=log)


def expected_combination(name, values, alpha):
    return oracle.softmax_alpha(values, -INF) if name == "min" else oracle.combine(values, name, alpha)


def central_differences(function, x, step=1e-6):
    """Derivatives of a function's (scalar) value with respect to every entry of x."""
    out = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        out[place] = (function(up) - function(down)) / (2 * step)
    return out


# ---------------------------------------------------------------------- T-norms


@pytest.mark.parametrize("name", T_NORMS)
def test_t_norm_has_the_value_of_the_oracles_fold(name):
    degrees = np.random.default_rng(1).uniform(0.05, 1.0, (40, 3))
    degrees[:20] = 1 - degrees[:20] / 8  # close to one, where the Lukasiewicz norm is not zero
    degrees[20:24, 1] = 1.0
    with np.errstate(divide="ignore"):
        expected = np.log([oracle.t_norm(row.tolist(), name) for row in degrees])
    value, _ = t_norm_of(name, np.log(degrees))
    assert np.isfinite(value).sum() >= (0 if name == "drastic" else 20)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", T_NORMS)
def test_t_norm_gradient_equals_central_differences(name):
    rows = np.log(1 - np.random.default_rng(2).uniform(0.01, 0.3, (6, 3)))
    _, gradient = t_norm_of(name, rows)
    for row, found in zip(rows, gradient, strict=True):
        if name == "drastic":  # zero, and so without differences, unless all but one are 1
            assert (found == 0).all()
            continue
        by_differences = central_differences(lambda x: t_norm_of(name, np.tile(x, (6, 1)))[0][0], row)
        np.testing.assert_allclose(found, by_differences, atol=1e-7, rtol=1e-6)
    assert np.abs(gradient).max() > 0.5 or name == "drastic"


@pytest.mark.parametrize("name", T_NORMS)
def test_a_degree_of_one_is_neutral_in_a_t_norm(name):
    log_degrees = np.array([-1e-12, -0.1, -3.0, -20.0, -40.0, -800.0, -1e6, -INF])
    rows = np.zeros((8, 3))
    rows[:, 1] = log_degrees
    value, gradient = t_norm_of(name, rows)
    np.testing.assert_allclose(value, log_degrees, rtol=1e-9, atol=1e-15)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", sorted(set(T_NORMS) - {"lukasiewicz", "drastic", "nilpotent"}))
def test_t_norm_of_degrees_below_the_smallest_number_is_right(name):
    rows = np.array([[-1e6, -1e6 - 1, -1e6 + 0.5], [-4e6, -2.0, -0.5], [-3e6, -3e6, -0.1], [-800.0, -900.0, -2e6]])
    value, gradient = t_norm_of(name, rows)
    with mpmath.workdps(60):
        expected = [float(mpmath.log(oracle.t_norm([mpmath.exp(v) for v in row.tolist()], name))) for row in rows]
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-8)
    assert len(set(value)) == 4
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient).sum(axis=1) > 0.9).all()


def test_drastic_and_nilpotent_norms_are_truly_zero_below_their_limits():
    rows = [[-1e6, -1.0, 0.0], [-1.0, -1.0, -1.0], [math.log(0.5)] * 2 + [0.0]]
    for name in ("drastic", "nilpotent"):
        value, gradient = t_norm_of(name, rows)
        assert (value == -INF).all()
        assert np.isfinite(gradient).all()


def test_lukasiewicz_norm_is_truly_zero_once_the_doubts_add_up_to_one():
    value, gradient = t_norm_of("lukasiewicz", [[-1e6, -1.0, 0.0], [-1.0, -1.0, -1.0], [math.log(0.5)] * 2 + [0.0]])
    assert (value == -INF).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", T_NORMS)
def test_t_norm_with_an_exact_zero_is_zero_and_its_gradient_no_nan(name):
    rows = [[-INF, -1.0, -2.0], [-INF, -INF, -1.0], [-INF, -INF, -INF], [-INF, 0.0, 0.0], [-INF, -1000.0, -1e6]]
    value, gradient = t_norm_of(name, rows)
    assert (value == -INF).all()
    assert not np.isnan(gradient).any()


@pytest.mark.parametrize("name", T_NORMS)
def test_t_norm_of_nan_is_nan(name):
    rows = [[NAN, -1.0, -2.0], [-0.1, NAN, 0.0], [-INF, -1.0, NAN], [0.0, 0.0, NAN]]
    assert np.isnan(t_norm_of(name, rows)[0]).all()


# ---------------------------------------------------------------------- over the instances of a bag


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_has_the_value_of_the_oracles_pooling(name):
    degrees = np.random.default_rng(3).uniform(0.01, 1.0, (8, 2))
    degrees[:, 1] *= 0.01
    degrees[5, 0] = 1.0
    for alpha in ALPHAS:
        found = value_of("aggregation", name, np.log(degrees), alpha)
        for b, rows in enumerate(BAGS):
            for r in range(2):
                expected = expected_pool(name, degrees[rows, r].tolist(), alpha)
                assert math.exp(found[b, r]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_gradient_equals_central_differences(name):
    rng = np.random.default_rng(4)
    log_degrees = np.log(rng.uniform(0.05, 0.3, (8, 2)))  # the bounded sum stays below its bound in two bags
    cotangent = rng.normal(size=(3, 2))
    for alpha in ALPHAS:
        found, by_alpha = pull_back("aggregation", name, log_degrees, cotangent, alpha)
        expected = central_differences(
            lambda v, a=alpha: (cotangent * value_of("aggregation", name, v, a)).sum(), log_degrees
        )
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), err_msg=f"alpha {alpha}")
        if name in SOFT_AGGREGATIONS and alpha != 0:
            up, down = (value_of("aggregation", name, log_degrees, alpha + s) for s in (1e-5, -1e-5))
            assert by_alpha == pytest.approx((cotangent * (up - down)).sum() / 2e-5, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_of_degrees_below_the_smallest_number_is_right(name):
    log_degrees = -1e6 + np.random.default_rng(5).normal(size=(8, 2)) * [1.0, 3.0]
    for alpha in ALPHAS:
        found = value_of("aggregation", name, log_degrees, alpha)
        assert len(set(found.ravel())) == 6
        by_log_degrees, _ = pull_back("aggregation", name, log_degrees, np.ones((3, 2)), alpha)
        # All these operators are homogeneous where every degree is far below 1 / alpha.
        np.testing.assert_allclose([by_log_degrees[rows].sum(axis=0) for rows in BAGS], 1.0, rtol=1e-6)
        for b, rows in enumerate(BAGS):
            for r in range(2):
                with mpmath.workdps(60):
                    degrees = [mpmath.exp(v) for v in log_degrees[rows, r].tolist()]
                    # log mean e^(alpha r) cancels unless there are more digits than the exponent has: its
                    # limit for degrees far below 1 / alpha is the mean.
                    like = "softmax" if name == "lse" else name
                    pool = expected_pool(like, degrees, alpha, exp=mpmath.exp, log=mpmath.log)
                    assert found[b, r] == pytest.approx(float(mpmath.log(pool)), abs=1e-8, rel=0)


def test_log_mean_exp_of_tiny_degrees_is_right():
    log_degrees = np.random.default_rng(6).uniform(-200, -20, (8, 2))
    for alpha in (-50.0, 1e-8, 1.0, 1e6, 1e12):
        found = value_of("aggregation", "lse", log_degrees, alpha)
        with mpmath.workdps(300):
            for b, rows in enumerate(BAGS):
                degrees = [mpmath.exp(v) for v in log_degrees[rows, 0].tolist()]
                expected = mpmath.log(oracle.aggregation(degrees, "lse", alpha, exp=mpmath.exp, log=mpmath.log))
                assert found[b, 0] == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("name", sorted(SOFT_AGGREGATIONS))
def test_soft_aggregation_is_continuous_in_alpha_at_zero(name):
    log_degrees = np.log(np.random.default_rng(7).uniform(0.05, 1.0, (8, 2)))
    at_zero = value_of("aggregation", name, log_degrees, 0.0)
    for alpha in (1e-6, -1e-6, 1e-9, 1e-12, -1e-15, 1e-18, 1e-100):
        near = value_of("aggregation", name, log_degrees, alpha)
        np.testing.assert_allclose(near, at_zero, atol=1e-5, err_msg=f"alpha {alpha}")


@pytest.mark.parametrize("name", sorted(SOFT_AGGREGATIONS))
def test_soft_aggregation_of_great_alpha_approaches_max_and_min(name):
    log_degrees = np.log(np.random.default_rng(8).uniform(0.2, 1.0, (8, 2)))
    for alpha, limit in ((1e4, "max"), (-1e4, "min")):
        found = value_of("aggregation", name, log_degrees, alpha)
        np.testing.assert_allclose(found, value_of("aggregation", limit, log_degrees), atol=2e-3)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_of_exact_zeros_is_the_oracles_and_its_gradient_no_nan(name):
    degrees = np.random.default_rng(9).uniform(0.1, 0.9, (8, 2))
    degrees[[0, 2], 0] = 0.0  # some of the first bag, the whole second and third bag of the other rule
    degrees[4:, 1] = 0.0
    with np.errstate(divide="ignore"):
        log_degrees = np.log(degrees)
    for alpha in ALPHAS:
        found = value_of("aggregation", name, log_degrees, alpha)
        for b, rows in enumerate(BAGS):
            for r in range(2):
                expected = expected_pool(name, degrees[rows, r].tolist(), alpha)
                assert math.exp(found[b, r]) == pytest.approx(expected, rel=1e-9, abs=0)
        for cotangent in (np.ones((3, 2)), np.zeros((3, 2)), np.where(np.isinf(found), 0.0, 1.0)):
            by_values, by_alpha = pull_back("aggregation", name, log_degrees, cotangent, alpha)
            assert not np.isnan(by_values).any(), f"alpha {alpha}"
            assert not math.isnan(by_alpha), f"alpha {alpha}"


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_of_nan_is_nan_in_its_own_bag_only(name):
    for company in (-0.7, -INF, 0.0, -1e6):  # what stands beside the NaN
        values = np.full((8, 2), -0.5)
        values[:4, 0] = company
        values[2, 0] = NAN
        for alpha in (-2.5, 0.0, 1.0):
            out = value_of("aggregation", name, values, alpha)
            assert np.isnan(out[0, 0]), f"beside {company}, alpha {alpha}"
            assert np.isnan(out).sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_takes_one_alpha_a_rule(name):
    values = np.log(np.random.default_rng(10).uniform(0.1, 0.9, (8, 2)))
    with jax.enable_x64():
        together = AGGREGATIONS[name](jnp.asarray(values), Packed(jnp.asarray(BAG_INDEX), 3), jnp.array([-2.5, 50.0]))
    np.testing.assert_allclose(together[:, 0], value_of("aggregation", name, values, -2.5)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(together[:, 1], value_of("aggregation", name, values, 50.0)[:, 1], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_groupings_agree_and_an_empty_bag_has_no_strength(name):
    values = np.log(np.random.default_rng(11).uniform(0.1, 0.9, (8, 2)))
    expected = value_of("aggregation", name, values, 2.0)
    with jax.enable_x64():
        operator, x, alpha = AGGREGATIONS[name], jnp.asarray(values), jnp.float64(2.0)
        for b, rows in enumerate(BAGS):
            one = operator(x, OneBag(jnp.asarray(b == BAG_INDEX)), alpha)
            np.testing.assert_allclose(one, expected[b : b + 1], rtol=1e-12)
            assert len(rows) > 0
        np.testing.assert_allclose(operator(x, Each(8), alpha)[4], expected[1], rtol=1e-12)
        with_empty = operator(x, Packed(jnp.asarray(BAG_INDEX), 5), alpha)
    np.testing.assert_allclose(with_empty[:3], expected, rtol=1e-12)
    assert (np.asarray(with_empty[3:]) == -INF).all()


# ---------------------------------------------------------------------- signed responses


@pytest.mark.parametrize("name", COMBINERS)
def test_combination_has_the_oracles_value_and_the_gradient_of_central_differences(name):
    rng = np.random.default_rng(12)
    values = rng.normal(size=(8, 2, 2)) * 3
    cotangent = rng.normal(size=(3, 2, 2))
    for alpha in ALPHAS:
        found = value_of("conclusion_aggregation", name, values, alpha)
        for b, rows in enumerate(BAGS):
            for place in np.ndindex(2, 2):
                expected = expected_combination(name, values[(rows, *place)].tolist(), alpha)
                assert found[(b, *place)] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        gradient, by_alpha = pull_back("conclusion_aggregation", name, values, cotangent, alpha)
        differences = central_differences(
            lambda v, a=alpha: (cotangent * value_of("conclusion_aggregation", name, v, a)).sum(), values
        )
        np.testing.assert_allclose(gradient, differences, atol=1e-6 * np.abs(differences).max())
        up, down = (value_of("conclusion_aggregation", name, values, alpha + s) for s in (1e-5, -1e-5))
        assert by_alpha == pytest.approx((cotangent * (up - down)).sum() / 2e-5, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", COMBINERS)
def test_combination_of_nan_is_nan_in_its_own_bag_only(name):
    values = np.ones((8, 2, 2))
    values[2, 0, 1] = NAN
    out = value_of("conclusion_aggregation", name, values)
    assert np.isnan(out[0, 0, 1])
    assert np.isnan(out).sum() == 1


@pytest.mark.parametrize("name", COMBINERS)
def test_combination_stands_great_responses(name):
    # A product that is rounded in one place and fused with a subtraction in another leaves a rest of its
    # rounding error, which an exponential cannot bear.
    for scale in (1e10, 1e18, 1e200):
        values = np.random.default_rng(13).normal(size=(8, 2, 2)) * scale
        for alpha in ALPHAS:
            found = value_of("conclusion_aggregation", name, values, alpha)
            gradient, _ = pull_back("conclusion_aggregation", name, values, np.ones((3, 2, 2)), alpha)
            assert np.isfinite(found).all(), f"scale {scale}, alpha {alpha}"
            assert np.isfinite(gradient).all(), f"scale {scale}, alpha {alpha}"
            for b, rows in enumerate(BAGS):
                assert (found[b] <= values[rows].max(axis=0) + 1e-12 * scale).all()
                assert (found[b] >= values[rows].min(axis=0) - 1e-12 * scale).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregation_stands_log_degrees_beyond_the_precision_of_32_bit(name):
    values = (-1e15 * np.random.default_rng(14).uniform(0.5, 1.0, (8, 2))).astype(np.float32)
    for alpha in (-50.0, 1.0, 50.0):
        out, gradient, by_alpha = pooled("aggregation", name)(
            jnp.asarray(values), jnp.float32(alpha), jnp.ones((3, 2), np.float32)
        )
        assert np.isfinite(out).all(), f"alpha {alpha}"
        assert np.isfinite(gradient).all(), f"alpha {alpha}"
        assert np.isfinite(by_alpha)
        for b, rows in enumerate(BAGS):
            assert (np.asarray(out[b]) <= values[rows].max(axis=0) * 0.999999).all()
            assert (np.asarray(out[b]) >= values[rows].min(axis=0) * 1.000001).all()


@pytest.mark.parametrize("name", COMBINERS)
def test_an_infinite_response_is_not_turned_into_a_number(name):
    values = np.ones((8, 2, 2))
    values[5:] = INF if name != "min" else -INF
    assert not np.isfinite(value_of("conclusion_aggregation", name, values)[2]).any()


@pytest.mark.parametrize("name", COMBINERS)
def test_an_empty_bag_gives_zero_responses(name):
    with jax.enable_x64():
        out = COMBINERS[name](jnp.ones((8, 2, 2)), Packed(jnp.asarray(BAG_INDEX), 4), jnp.float64(1.0))
    assert np.asarray(out[3]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
