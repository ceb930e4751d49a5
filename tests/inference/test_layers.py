"""Layers 1 and 2: at once and one after the other, whole and in chunks."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.engines import jax as engine
from fuzzymil.inference.layers import Operators, Params, layers_1_and_2
from fuzzymil.inference.membership import FAMILIES
from fuzzymil.inference.norms import T_NORMS

ROWS, RULES, FEATURES = 1000, 3, 4


def value_and_gradients(operators, family, x, known, weights):
    """Sum of weighted log-truths, its gradients by the parameters and by x."""
    rng = np.random.default_rng(0)
    around = FAMILIES[family].around(rng.normal(size=(RULES, FEATURES)), np.full((RULES, FEATURES), 4.0))
    sets = {family: tuple(jnp.asarray(values, jnp.float64) for values in around)}
    masks = {family: jnp.asarray(rng.random((RULES, FEATURES)) < 0.8, jnp.float64)}

    def total(sets, x):
        params = Params(sets, jnp.zeros((RULES, 1, 1)), jnp.ones(()), jnp.ones(()))
        found = layers_1_and_2(params, masks, operators, x, known)
        return jnp.sum(weights * found), found

    gradients, values = jax.jit(jax.grad(total, argnums=(0, 1), has_aux=True))(sets, x)
    return values, gradients


@pytest.mark.parametrize("missing", [False, True])
def test_layers_1_and_2_at_once_agree_with_one_after_the_other(monkeypatch, missing):
    rng = np.random.default_rng(2)
    with jax.enable_x64():
        x, weights = jnp.asarray(rng.normal(size=(ROWS, FEATURES))), jnp.asarray(rng.normal(size=(ROWS, RULES)))
        known = jnp.asarray(rng.random((ROWS, FEATURES)) < 0.8, jnp.float64) if missing else None
        at_once = value_and_gradients(Operators(), "gaussian", x, known, weights)
        monkeypatch.setitem(T_NORMS, "plain product", T_NORMS["product"])  # by another name it takes the general path
        one_by_one = value_and_gradients(Operators(t_norm="plain product"), "gaussian", x, known, weights)
    np.testing.assert_allclose(at_once[0], one_by_one[0], rtol=1e-12)
    for one, other in zip(jax.tree.leaves(at_once[1]), jax.tree.leaves(one_by_one[1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("family", "t_norm"), [("bell", "product"), ("gaussian", "min"), ("gaussian", "einstein")])
@pytest.mark.parametrize("limit", [64, 200])
def test_rows_computed_in_parts_give_the_same_values_and_gradients(monkeypatch, family, t_norm, missing, limit):
    rng = np.random.default_rng(1)
    operators = Operators(t_norm=t_norm)
    with jax.enable_x64():
        x, weights = jnp.asarray(rng.normal(size=(ROWS, FEATURES))), jnp.asarray(rng.normal(size=(ROWS, RULES)))
        known = jnp.asarray(rng.random((ROWS, FEATURES)) < 0.8, jnp.float64) if missing else None
        run = functools.partial(value_and_gradients, operators, family, x, known, weights)
        expected = run()
        monkeypatch.setattr(engine, "_GREATEST_ARRAY", limit * RULES * FEATURES)
        found = run()
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    for one, other in zip(jax.tree.leaves(found[1]), jax.tree.leaves(expected[1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


def test_memory_of_the_general_path_does_not_grow_with_the_instances():
    def temporary(n_rows):
        x = jax.ShapeDtypeStruct((n_rows, FEATURES), np.float32)
        sets = {"bell": (jax.ShapeDtypeStruct((RULES, FEATURES), np.float32),) * 3}
        masks = {"bell": np.ones((RULES, FEATURES), np.float32)}

        def total(sets, x):
            params = Params(sets, jnp.zeros((RULES, 1, 1)), jnp.ones(()), jnp.ones(()))
            return layers_1_and_2(params, masks, Operators(), x, None).sum()

        return jax.jit(jax.grad(total)).lower(sets, x).compile().memory_analysis().temp_size_in_bytes

    n_rows = 4 * engine._GREATEST_ARRAY // (RULES * FEATURES)
    per_row = 4 * RULES * FEATURES
    assert temporary(n_rows) < 0.5 * n_rows * per_row + 8 * 4 * engine._GREATEST_ARRAY
    assert temporary(4 * n_rows) - temporary(n_rows) < n_rows * per_row
