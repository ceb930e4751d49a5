"""The engine for training, large data and GPUs: JAX, inside compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil.inference._numerics import folded
from fuzzymil.inference.kernels.gaussian import log_truth_of_gaussians
from fuzzymil.inference.kernels.packed import Packed, grouping_of
from fuzzymil.inference.kernels.softmax import pays, softmax_of_bags
from fuzzymil.inference.segments import Grouping

__all__ = [
    "Packed",
    "einsum",
    "fast_softmax",
    "grouping_of",
    "held",
    "in_chunks",
    "least",
    "log_softmax",
    "log_truth_of_conjunctions",
    "log_truth_of_gaussians",
    "numbers",
    "shares",
    "sigmoid",
    "softmax",
    "sorted_within",
]


def held(values: jax.Array) -> jax.Array:
    """Return values without a gradient."""
    return jax.lax.stop_gradient(values)


def numbers(values: Sequence[float], like: jax.Array) -> jax.Array:
    """Return numbers as an array of the same precision as another."""
    return jnp.asarray(np.asarray(values), like.dtype)


@jax.custom_jvp
def least(values: jax.Array) -> jax.Array:
    """Return the minimum over the last axis; the values that reach it share the gradient evenly."""
    few = folded(values, jnp.minimum)
    return values.min(axis=-1) if few is None else few


@least.defjvp
def _least_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(lambda values: values.min(axis=-1), primals, tangents)


def softmax(values: jax.Array) -> jax.Array:
    """Return exponentials that sum to one over the last axis."""
    return jax.nn.softmax(values, axis=-1)


@jax.custom_jvp
def shares(log_values: jax.Array) -> jax.Array:
    """Return `softmax`; all zero where every value is ``-inf``."""
    top = log_values.max(axis=-1, keepdims=True)
    found = jnp.exp(log_values - jnp.where(jnp.isneginf(top), 0.0, top))
    total = found.sum(axis=-1, keepdims=True)
    return found / jnp.where(total == 0, 1.0, total)


@shares.defjvp
def _shares_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    found = shares(*primals)
    rise = found * tangents[0]
    return found, rise - found * rise.sum(axis=-1, keepdims=True)


def log_softmax(values: jax.Array) -> jax.Array:
    """Return the logarithm of `softmax`."""
    return jax.nn.log_softmax(values, axis=-1)


def sigmoid(values: jax.Array) -> jax.Array:
    """Return ``1 / (1 + exp(-values))``."""
    return jax.nn.sigmoid(values)


def fast_softmax(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array | None:
    """Return `aggregation.softmax` with a gradient of its own; None where the general formula is faster."""
    if isinstance(grouping, Packed) and pays(log_r, grouping):
        return softmax_of_bags(log_r, grouping, alpha)
    return None


def log_truth_of_conjunctions(sets: object, masks: object, t_norm: str, x: jax.Array, known: jax.Array | None) -> None:
    """Return None: layer by layer is the fastest."""
    del sets, masks, t_norm, x, known


def einsum(subscripts: str, a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the sum of products, in full precision on every device."""
    return jnp.einsum(subscripts, a, b, precision="highest")


def sorted_within(owners: jax.Array, values: jax.Array) -> jax.Array:
    """Return values (i, n) in ascending order within each owner (i, n); the owners are in ascending order."""
    _, ordered = jax.lax.sort((owners, values), dimension=0, num_keys=2)
    return ordered


# Largest array (instances, sets of a rule, features) in one piece: 64 MB in 32 bit, and several are in use at once.
_GREATEST_ARRAY = 1 << 24


def in_chunks(
    function: Callable[[jax.Array, jax.Array | None], jax.Array], n_values: int, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    """Call ``function``, which computes ``n_values`` numbers for each row, on so many rows at once as memory allows.

    For the gradient, each chunk is computed again.
    """
    limit = _GREATEST_ARRAY // max(n_values, 1)
    n_rows = 1 << max(limit.bit_length() - 1, 0)  # a power of 2 divides the sizes that data are padded to
    whole = len(x) // n_rows * n_rows
    if whole <= n_rows:
        return function(x, known)
    forgetful = jax.checkpoint(function)
    parts = jax.tree.map(lambda values: values[:whole].reshape(-1, n_rows, values.shape[1]), (x, known))
    found: jax.Array = jax.lax.map(lambda part: forgetful(*part), parts).reshape(whole, -1)
    if whole == len(x):
        return found
    return jnp.concatenate([found, forgetful(*jax.tree.map(lambda values: values[whole:], (x, known)))])
