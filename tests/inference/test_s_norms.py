"""The S-norms that join alternatives, and the complement: against exact arithmetic and the laws they obey."""

import functools
import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS, complement, register_s_norm, register_t_norm

INF = math.inf


def fold(join):
    return lambda degrees: functools.reduce(join, degrees)


EXACT = {
    "algebraic": fold(lambda a, b: a + b - a * b),
    "max": max,
    "bounded": lambda degrees: min(sum(degrees), 1),
    "hamacher": fold(lambda a, b: (a + b - 2 * a * b) / (1 - a * b)),
    "einstein": fold(lambda a, b: (a + b) / (1 + a * b)),
    "dombi": fold(lambda a, b: 1 / (1 + 1 / mpmath.sqrt((a / (1 - a)) ** 2 + (b / (1 - b)) ** 2))),
    "drastic": fold(lambda a, b: max(a, b) if min(a, b) == 0 else 1),
    "nilpotent": fold(lambda a, b: max(a, b) if a + b < 1 else 1),
}

# Log-degrees of alternatives: ordinary, far below the smallest number, close to 1, and all of these together.
RANGES = {"ordinary": (-2.0, 1.0), "tiny": (2.5, 6.0), "near one": (-16.0, -6.0), "mixed": (-12.0, 3.0)}


def drawn(kind, shape, seed=0):
    return -(10.0 ** np.random.default_rng(seed).uniform(*RANGES[kind], shape))


@functools.cache
def compiled(function):
    return jax.jit(function)


@functools.cache
def slope_of(operator):
    return jax.vmap(jax.grad(operator))


def value(function, rows, dtype=float):
    """The function of each row, compiled once for as many rows as any test has."""
    rows = np.asarray(rows, dtype)
    padded = np.concatenate([rows, np.full((256 - len(rows), *rows.shape[1:]), -1.0, dtype)])
    with jax.enable_x64(dtype is float):
        return np.asarray(compiled(function)(jnp.asarray(padded)))[: len(rows)]


def gradients(name, rows):
    return value(slope_of(S_NORMS[name]), rows)


def test_there_is_an_exact_twin_of_every_s_norm():
    assert EXACT.keys() == S_NORMS.keys()
    assert DUAL.keys() == T_NORMS.keys()
    assert set(DUAL.values()) == S_NORMS.keys()


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("name", S_NORMS)
def test_a_union_is_exact_at_any_scale(name, kind):
    rows = drawn(kind, (40, 3))
    with mpmath.workdps(60 if kind != "tiny" else 30):
        # Digits enough to tell 1e-16 from 1; the smallest degrees are told apart by their exponent alone.
        expected = [float(mpmath.log(EXACT[name]([mpmath.exp(float(v)) for v in row]))) for row in rows]
    found = value(S_NORMS[name], rows)
    assert (found <= 0).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("name", S_NORMS)
def test_certain_and_impossible_alternatives(name):
    found = value(S_NORMS[name], [[0.0, -3.0], [0.0, -INF], [-INF, -3.0], [-INF, -INF], [0.0, 0.0], [-1e9, -INF]])
    np.testing.assert_allclose(found, [0.0, 0.0, -3.0, -INF, 0.0, -1e9], rtol=1e-13)
    assert np.isnan(value(S_NORMS[name], [[math.nan, -1.0], [-1.0, math.nan], [math.nan, -INF]])).all()


@pytest.mark.parametrize("name", S_NORMS)
def test_a_single_alternative_is_itself(name):
    rows = np.array([[0.0], [-1e-14], [-0.3], [-5.0], [-800.0], [-INF]])
    np.testing.assert_allclose(value(S_NORMS[name], rows), rows[:, 0], rtol=1e-12)


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("name", S_NORMS)
def test_the_order_of_alternatives_does_not_matter(name, kind):
    rows = drawn(kind, (40, 3))
    operator = S_NORMS[name]
    joined = value(operator, rows)
    np.testing.assert_allclose(value(operator, rows[:, [2, 0, 1]]), joined, rtol=1e-12)
    pairs = np.column_stack([value(operator, rows[:, :2]), rows[:, 2]])
    np.testing.assert_allclose(value(operator, pairs), joined, rtol=1e-12)


@pytest.mark.parametrize("name", S_NORMS)
def test_more_alternatives_are_no_less_true(name):
    rows = drawn("mixed", (40, 3))
    more = [value(S_NORMS[name], rows[:, :parts]) for parts in (1, 2, 3)]
    assert (np.diff(more, axis=0) >= 0).all()


@pytest.mark.parametrize("t_norm", T_NORMS)
def test_de_morgan(t_norm):
    """NOT (a AND b AND c) is as true as NOT a OR NOT b OR NOT c, and the other way round."""
    rows = np.concatenate([drawn(kind, (40, 3)) for kind in ("ordinary", "mixed", "near one")])
    for outer, inner in ((T_NORMS[t_norm], S_NORMS[DUAL[t_norm]]), (S_NORMS[DUAL[t_norm]], T_NORMS[t_norm])):
        left = value(complement, value(outer, rows))
        right = value(inner, value(complement, rows))
        np.testing.assert_allclose(np.exp(left), np.exp(right), rtol=0, atol=1e-12)
        assert not np.isnan(left).any()


@pytest.mark.parametrize("name", S_NORMS)
def test_what_a_union_leaves_over_is_never_nan(name):
    """A truth that rounding lifts above 1 would have no complement."""
    for dtype in (np.float32, float):
        for kind in RANGES:
            joined = value(S_NORMS[name], drawn(kind, (256, 3)), dtype)
            assert not np.isnan(value(complement, joined, dtype)).any()


def test_the_complement_is_exact_at_both_ends():
    logs = -(10.0 ** np.random.default_rng(0).uniform(-300, 2.8, 200))
    with mpmath.workdps(320):
        expected = [float(mpmath.log(-mpmath.expm1(float(v)))) for v in logs]
    np.testing.assert_allclose(value(complement, logs), expected, rtol=1e-13)
    np.testing.assert_array_equal(value(complement, [0.0, -INF, -1e9]), [-INF, 0.0, 0.0])
    assert np.isnan(value(complement, [math.nan])).all()


def test_the_complement_of_the_complement_is_the_degree():
    logs = drawn("ordinary", 100)
    np.testing.assert_allclose(value(complement, value(complement, logs)), logs, rtol=1e-9)


@pytest.mark.parametrize("name", S_NORMS)
def test_gradients_are_those_of_finite_differences(name):
    rows = drawn("ordinary", (30, 3))
    found = gradients(name, rows)
    step = 1e-6
    for part in range(3):
        shift = step * np.eye(3)[part]
        slope = (value(S_NORMS[name], rows + shift) - value(S_NORMS[name], rows - shift)) / (2 * step)
        np.testing.assert_allclose(found[:, part], slope, atol=1e-6)


@pytest.mark.parametrize("name", S_NORMS)
def test_gradients_are_finite_at_the_ends(name):
    ends = [0.0, -1e-300, -1e-14, -1.0, -1e9, -INF]
    rows = np.array([[a, b, c] for a in ends for b in ends for c in ends])
    assert np.isfinite(gradients(name, rows)).all()


@pytest.mark.parametrize("name", S_NORMS)
def test_equal_alternatives_share_the_gradient(name):
    found = gradients(name, [[-1.5, -1.5, -1.5], [-1.5, -1.5, -INF]])
    np.testing.assert_allclose(found[0], found[0, 0])
    np.testing.assert_allclose(found[1, :2], found[1, 0])
    assert found[1, 2] == 0


@pytest.fixture
def registries():
    """Undo registrations after a test."""
    before = [dict(registry) for registry in (T_NORMS, S_NORMS, DUAL)]
    yield
    for registry, entries in zip((T_NORMS, S_NORMS, DUAL), before, strict=True):
        registry.clear()
        registry.update(entries)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", T_NORMS)
def test_t_norm_without_a_dual_gets_one_by_de_morgan(name):
    register_t_norm("mine", T_NORMS[name])
    assert DUAL["mine"] == "mine"
    degrees = np.log(np.random.default_rng(4).uniform(0.01, 0.99, (200, 3)))
    np.testing.assert_allclose(value(S_NORMS["mine"], degrees), value(S_NORMS[DUAL[name]], degrees), atol=1e-12)


@pytest.mark.usefixtures("registries")
def test_registered_names_are_checked():
    register_t_norm("again", T_NORMS["min"], dual="max")
    assert DUAL["again"] == "max"
    assert "again" not in S_NORMS
    register_t_norm("again", T_NORMS["min"], dual="bounded")  # the same function once more
    assert DUAL["again"] == "bounded"
    with pytest.raises(ParameterError, match="'product'"):
        register_t_norm("product", T_NORMS["min"], dual="max")
    with pytest.raises(ParameterError, match="'max'"):
        register_t_norm("max", T_NORMS["min"])
    assert "max" not in T_NORMS
    with pytest.raises(ParameterError, match=r"'mine'.*'nothing'"):
        register_t_norm("mine", T_NORMS["min"], dual="nothing")
    with pytest.raises(ParameterError, match="'bounded'"):
        register_s_norm("bounded", T_NORMS["min"])
