"""The softmax T-conorm over a single bag: the same value and gradient as the general formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.network.aggregation import softmax
from fuzzymil.network.engines.jax import Packed
from fuzzymil.network.kernels.one_bag import softmax_of_one_bag
from fuzzymil.network.segments import OneBag

ROWS, RULES = 8, 3


def truths(scale, dtype=np.float64):
    log_r = -scale * np.random.default_rng(0).random((ROWS, RULES))
    log_r[1, 0] = -np.inf  # truly zero, among others
    log_r[:, 2] = -np.inf
    return jnp.asarray(log_r, dtype)


@pytest.mark.parametrize("size", [0, 1, 5, ROWS])
@pytest.mark.parametrize("scale", [1.0, 2000.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 300.0, -300.0, (2.0, 0.0, -5.0)], ids=str)
def test_value_and_gradient_are_those_of_the_general_formula(alpha, scale, size):
    with jax.enable_x64():
        real = jnp.arange(ROWS) < size
        one_bag, general = OneBag(real), Packed(jnp.where(real, 0, 1), 2)
        weights = jnp.asarray([1.0, -2.0, 0.5])

        def loss(log_r, alpha, grouping):
            found = softmax(log_r, grouping, alpha)[0]
            return jnp.sum(weights * jnp.where(jnp.isneginf(found), 0.0, found)), found

        arguments = (truths(scale), jnp.asarray(alpha))
        (_, found), moves = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(*arguments, one_bag)
        (_, expected), right = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(*arguments, general)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        for one, other in zip(moves, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_truth_that_is_no_number_comes_through_unless_it_only_pads():
    log_r = truths(1.0, np.float32).at[5, 0].set(jnp.nan)
    for size, n_missing in ((ROWS, 1), (5, 0)):
        found = softmax_of_one_bag(log_r, jnp.arange(ROWS) < size, jnp.ones(()))
        assert np.isnan(found).sum() == n_missing
