"""What 32 bit cost: values and gradients of Layers 1 and 2 against 64 bit, as the documentation states them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil import MIANFISClassifier, Training
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.engines.jax_gaussians import log_truth_of_gaussians

N_RULES, N_INSTANCES = 6, 2000


def layers(dtype, x, centers, width, g):
    with jax.enable_x64(dtype == np.float64):
        x, centers, g = (jnp.asarray(values, dtype) for values in (x, centers, g))
        inverse = jnp.full(centers.shape, 1 / width, dtype)
        value, back = jax.vjp(lambda c, i: log_truth_of_gaussians(x, None, c, i), centers, inverse)
        return [np.asarray(values, np.float64) for values in (value, *back(g))]


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [2, 25, 166])
@pytest.mark.parametrize(
    ("share", "of_values", "of_gradients"), [(1.0, 2e-6, 2e-5), (0.1, 2e-5, 1e-3), (0.01, 2e-4, 2e-2)]
)
def test_errors_grow_as_widths_shrink(n_features, share, of_values, of_gradients):
    """``share``: the width in spreads of the instances; the gradient is that of the instances near a rule."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_RULES, n_features))
    near = rng.integers(0, N_RULES, N_INSTANCES)
    x = centers[near] + share * rng.normal(size=(N_INSTANCES, n_features))
    g = np.eye(N_RULES)[near] * rng.normal(size=(N_INSTANCES, 1))
    found, expected = (layers(dtype, x, centers, share, g) for dtype in (np.float32, np.float64))
    value = np.abs(found[0] - expected[0]) / np.maximum(np.abs(expected[0]), 1.0)
    assert value.max() < of_values
    for mine, exact in zip(found[1:], expected[1:], strict=True):
        assert np.abs(mine - exact).max() < of_gradients * np.abs(exact).max()


def test_a_value_too_far_for_32_bit_is_truly_false_and_nothing_worse():
    far, near = layers(np.float32, np.array([[1e20], [0.5]]), np.zeros((1, 1)), 1.0, np.array([[0.0], [1.0]]))[0]
    assert np.isneginf(far)
    assert near == pytest.approx(-0.125)


@pytest.mark.slow
def test_both_precisions_learn_the_same():
    bags, other = make_two_concepts(random_state=0), make_two_concepts(random_state=1000)
    single, double = (
        MIANFISClassifier(6, training=Training(precision=precision), random_state=0).fit(bags)
        for precision in ("single", "double")
    )
    assert np.abs(single.decision_function(other) - double.decision_function(other)).max() < 0.01
