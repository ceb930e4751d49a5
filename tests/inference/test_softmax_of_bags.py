"""The softmax T-conorm over packed bags, short or many: the same value and gradient as the general formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.aggregation import softmax
from fuzzymil.inference.engines import jax as kernel
from fuzzymil.inference.engines.jax import Packed

OFFSETS = np.array([0, 3, 3, 4, 9, 10, 10])  # two bags are empty, one of them of padding rows
ROWS, RULES = 12, 3
INDEX = np.r_[np.repeat(np.arange(6), np.diff(OFFSETS)), [5, 5]]


def bags_of(kind):
    index, offsets = jnp.asarray(INDEX, jnp.int32), jnp.asarray(OFFSETS, jnp.int32)
    return Packed(index, 6, offsets, 5) if kind == "short" else Packed(index, 6)


@pytest.fixture(params=["short", "many"])
def bags(request, monkeypatch):
    """Bags that the kernel is used for: short ones, and others where there are many values."""
    if request.param == "many":
        monkeypatch.setattr(kernel, "_LARGE", 0)
    found = bags_of(request.param)
    assert kernel.pays(truths(1.0), found)
    return found


def truths(scale):
    log_r = -scale * np.random.default_rng(0).random((ROWS, RULES))
    log_r[1, 0] = log_r[3, 1] = -np.inf  # truly zero: one among others, and a bag of its own
    return jnp.asarray(log_r)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 30.0, 2000.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 300.0, -1.0, -300.0, (2.0, 0.0, -5.0)], ids=str)
def test_value_and_gradient_are_those_of_the_general_formula(bags, alpha, scale, monkeypatch):
    with jax.enable_x64():
        weights = jnp.asarray(np.random.default_rng(1).normal(size=(6, RULES))).at[5].set(0.0)

        def loss(log_r, alpha, grouping):
            found = softmax(log_r, grouping, alpha)
            return jnp.sum(weights * jnp.where(jnp.isneginf(found), 0.0, found)), found

        arguments = (truths(scale), jnp.asarray(alpha))
        (_, found), moves = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(*arguments, bags)
        monkeypatch.setattr(kernel, "_LARGE", np.inf)
        general = bags_of("many")
        assert not kernel.pays(arguments[0], general)
        (_, expected), right = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(*arguments, general)
        np.testing.assert_allclose(found[:5], expected[:5], rtol=1e-12)  # the last is padding
        for one, other in zip(moves, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_fits_computed_together_get_what_each_gets_alone(bags):
    alphas = jnp.array([2.0, -1.0])  # together they take the general branch

    def loss(log_r, alpha):
        found = softmax(log_r, bags, alpha)
        return jnp.where(jnp.isneginf(found), 0.0, found)[:5].sum()

    log_r = jnp.stack([truths(1.0), truths(3.0)])
    together = jax.vmap(jax.value_and_grad(loss, argnums=(0, 1)))(log_r, alphas)
    for place, alpha in enumerate(alphas):
        alone = jax.value_and_grad(loss, argnums=(0, 1))(log_r[place], alpha)
        for one, other in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(one[place], other, rtol=2e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1.0, -1.0])
def test_a_truth_that_is_no_number_comes_through(bags, alpha):
    found = softmax(truths(1.0).at[5, 0].set(jnp.nan), bags, jnp.asarray(alpha))
    assert np.isnan(found[3, 0])
    assert np.isnan(found).sum() == 1


@pytest.mark.slow
def test_long_bags_take_the_general_formula():
    index = jnp.zeros(40, jnp.int32)
    bags = Packed(index, 1, jnp.array([0, 40]), 40)
    assert not kernel.pays(jnp.zeros((40, 1)), bags)
    np.testing.assert_allclose(softmax(jnp.full((40, 1), -2.0), bags, jnp.ones(())), [[-2.0]], rtol=1e-6)
