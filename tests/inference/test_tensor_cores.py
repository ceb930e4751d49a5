"""Matrix products by halves, as kernels that the tests interpret."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.engines import jax_gaussians, tensor_cores
from fuzzymil.inference.engines.jax_gaussians import Gaussians


def problem(n_rules, n_features, width=3.0, rows=128, seed=0):
    rng = np.random.default_rng(seed)
    x, centers = rng.normal(size=(rows, n_features)), rng.normal(size=(n_rules, n_features))
    scale = 10.0 ** rng.uniform(-6, 6, n_features)  # features need not be standardized
    inverse = 1 / (width * rng.uniform(0.5, 2.0, (n_rules, n_features)))
    inverse[:, 0] = 0  # no rule uses it
    inverse[0, 1] = 0
    return [jnp.asarray(values, np.float32) for values in (x * scale, centers * scale, inverse / scale)]


def by_hand(x, centers, inverse):
    x, centers, inverse = (np.asarray(values, np.float64)[:, None] for values in (x, centers, inverse))
    z = (x - centers[:, 0]) * inverse[:, 0]
    sizes = ((x * inverse[:, 0]) ** 2).sum(axis=2) + ((centers * inverse)[:, 0] ** 2).sum(axis=1)
    return -0.5 * (z**2).sum(axis=2), sizes


SHAPES = [(1, 16), (5, 48), (32, 128), (70, 256)]


@pytest.mark.slow
@pytest.mark.parametrize(("n_rules", "n_features"), SHAPES)
@pytest.mark.parametrize("width", [1.0, 30.0])
def test_truths_are_as_accurate_as_in_32_bit(n_rules, n_features, width):
    arguments = problem(n_rules, n_features, width)
    found, size = tensor_cores.truths_and_size(*arguments, interpret=True)
    expected, sizes = by_hand(*arguments)
    assert found.shape == expected.shape
    assert (found <= 0).all()
    assert np.abs(found - expected).max() < 1e-6 * sizes.max()
    np.testing.assert_allclose(size, sizes.max(), rtol=1e-5)


@pytest.mark.parametrize("spoilt", [1e30, np.inf, np.nan])
def test_what_halves_cannot_hold_is_told(spoilt):
    x, centers, inverse = problem(3, 16)
    assert not tensor_cores.truths_and_size(x.at[2, 3].set(spoilt), centers, inverse, interpret=True)[1] < 500


@pytest.mark.slow
@pytest.mark.parametrize(("n_rules", "n_features"), SHAPES)
def test_moments_are_as_accurate_as_in_32_bit(n_rules, n_features):
    x, _, inverse = problem(n_rules, n_features)
    rng = np.random.default_rng(1)
    # Rules that differ by many orders of magnitude, one of them without any gradient.
    g = rng.normal(size=(len(x), n_rules)) * 10.0 ** rng.uniform(-25, 5, n_rules)
    g[:, 0] *= n_rules == 1
    zeroth, *found = tensor_cores.moments(x, jnp.asarray(g, np.float32), inverse, interpret=True)
    assert (np.abs(zeroth - g.sum(axis=0)) <= 1e-5 * np.abs(g).max(axis=0)).all()
    used = np.asarray(inverse).any(axis=0)
    for power, each in enumerate(found, start=1):
        values = np.asarray(x, np.float64) ** power
        tolerance = 2e-6 * np.abs(g).T @ np.abs(values)
        assert (np.abs(each - g.T @ values) <= tolerance)[:, used].all()
        assert (each[:, ~used] == 0).all()


def test_a_gradient_that_is_no_number_comes_through():
    x, _, inverse = problem(3, 16)
    for spoilt in (np.nan, np.inf):
        g = jnp.ones((len(x), 3)).at[7, 1].set(spoilt)
        for found in tensor_cores.moments(x, g, inverse, interpret=True)[1:]:
            assert np.isnan(found[1, 1:]).all()
            assert np.isfinite(found[0]).all()


@pytest.mark.slow
def test_training_by_halves_is_training_by_differences(monkeypatch):
    x, centers, inverse = problem(5, 32)
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(len(x), 5)), np.float32)

    def found(anywhere):
        def loss(centers, inverse):
            return jnp.sum(weights * jax_gaussians._log_truth(anywhere, Gaussians(x, None, centers, inverse)))

        return jax.value_and_grad(loss, argnums=(0, 1))(centers, inverse)

    expected = found(False)
    for name in ("truths_and_size", "moments"):
        plain = getattr(tensor_cores, name)
        monkeypatch.setattr(tensor_cores, name, lambda *given, plain=plain: plain(*given, interpret=True))
    monkeypatch.setattr(jax_gaussians, "_suits_tensor_cores", lambda x, known: True)
    for one, other in zip(*map(jax.tree.leaves, (found(True), expected)), strict=True):
        scale = np.abs(other).max(axis=0)  # of the features
        assert (np.abs(one - other) <= 1e-4 * scale).all()


def test_a_machine_without_tensor_cores_does_without():
    assert not jax_gaussians._suits_tensor_cores(
        jax.ShapeDtypeStruct((tensor_cores.LEAST_ROWS, 128), jnp.float32), None
    )


def test_instances_and_machine_decide_together(monkeypatch):
    class Device:
        compute_capability = "9.0"

    class OldDevice:
        compute_capability = "7.5"

    def suits(rows=tensor_cores.LEAST_ROWS, features=32, dtype=jnp.float32, known=None, device=Device):
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        monkeypatch.setattr(jax, "local_devices", lambda: [device()])
        return jax_gaussians._suits_tensor_cores(jax.ShapeDtypeStruct((rows, features), dtype), known)

    assert suits()
    assert not suits(rows=tensor_cores.LEAST_ROWS + 8)
    assert not suits(rows=tensor_cores.ROWS)
    assert not suits(features=33)
    assert not suits(dtype=jnp.float16)
    assert not suits(known=jnp.ones(()))
    assert not suits(device=OldDevice)
    assert not suits(device=object)
