"""Reductions over bags: gathered bags reduce as scattered instances do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.engines.jax import Packed, grouping_of
from fuzzymil.inference.segments import even_size, pack

SIZES = (3, 1, 2, 3, 3)
OFFSETS = np.cumsum([0, *SIZES])


def groupings():
    bags = pack(np.zeros((OFFSETS[-1], 2)), OFFSETS, np.float64)
    n_bags, longest = len(bags.offsets) - 1, even_size([bags])
    plain = grouping_of(jnp.asarray(bags.bag_index), len(bags.x), n_bags)
    gathered = grouping_of(jnp.asarray(bags.bag_index), len(bags.x), n_bags, jnp.asarray(bags.offsets), longest)
    assert isinstance(gathered, Packed)
    assert gathered.longest == 3
    return plain, gathered, len(bags.x)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_gathered_bags_have_the_sums_maxima_and_gradients_of_scattered_instances(shape):
    with jax.enable_x64():
        plain, gathered, n_rows = groupings()
        rng = np.random.default_rng(0)
        values = jnp.asarray(rng.normal(size=(n_rows, *shape)))
        weights = jnp.asarray(rng.normal(size=(len(SIZES), *shape)))
        real = slice(len(SIZES))  # padding rows are a bag in one of them, and in none in the other
        np.testing.assert_array_equal(plain.max(values)[real], gathered.max(values)[real])
        np.testing.assert_allclose(plain.sum(values)[real], gathered.sum(values)[real], rtol=1e-15)
        np.testing.assert_array_equal(gathered.sizes()[real], SIZES)
        assert (gathered.sizes()[len(SIZES) :] == 0).all()
        gradients = [
            jax.grad(lambda values, by=by: jnp.sum(weights * by.sum(values)[real] ** 2))(values)
            for by in (plain, gathered)
        ]
        np.testing.assert_allclose(*gradients, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_truths_join_alike_in_gathered_bags(name):
    with jax.enable_x64():
        plain, gathered, n_rows = groupings()
        truths = jnp.asarray(np.random.default_rng(1).uniform(-5, 0, (n_rows, 3)))

        def joined(truths, by):
            return AGGREGATIONS[name](truths, by, jnp.asarray(2.0))[: len(SIZES)]

        np.testing.assert_allclose(joined(truths, plain), joined(truths, gathered), rtol=1e-13)
        gradients = [jax.grad(lambda t, by=by: joined(t, by).sum())(truths) for by in (plain, gathered)]
        np.testing.assert_allclose(*gradients, rtol=1e-12, atol=1e-14)
        assert np.isfinite(gradients[1]).all()


@pytest.mark.parametrize("name", COMBINERS)
def test_responses_join_alike_in_gathered_bags(name):
    with jax.enable_x64():
        plain, gathered, n_rows = groupings()
        responses = jnp.asarray(np.random.default_rng(2).normal(size=(n_rows, 3, 2)))
        found = [COMBINERS[name](responses, by, jnp.asarray(-1.5))[: len(SIZES)] for by in (plain, gathered)]
        np.testing.assert_allclose(*found, rtol=1e-13)


def test_bags_of_very_uneven_size_are_not_gathered():
    offsets = np.cumsum([0, 500, *[1] * 100])
    assert even_size([pack(np.zeros((600, 1)), offsets, np.float32)]) == 0
