"""Sums and minima over a short last axis: the conditions of a rule.

XLA reduces a short last axis several times slower on a CPU than it adds up its slices. Inference, which is
in 64 bit, takes the slices one by one; training, in 32 bit, keeps the plain reduction and so its sums, to
the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

__all__ = ["least", "total"]

_FEW = 16  # beyond, compiling the slices takes longer than they save


def _folded(values: jax.Array, join: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array | None:
    if values.dtype != jnp.float64 or not 0 < values.shape[-1] <= _FEW:
        return None
    return functools.reduce(join, [values[..., place] for place in range(values.shape[-1])])


def total(values: jax.Array) -> jax.Array:
    """Return the sum over the last axis.

    Examples
    --------
    >>> float(total(jnp.array([1.0, 2.0])))
    3.0
    """
    folded = _folded(values, jnp.add)
    return values.sum(axis=-1) if folded is None else folded


@jax.custom_jvp
def least(values: jax.Array) -> jax.Array:
    """Return the least value of the last axis; the gradient is shared evenly by those that reach it."""
    folded = _folded(values, jnp.minimum)
    return values.min(axis=-1) if folded is None else folded


@least.defjvp
def _least_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(lambda values: values.min(axis=-1), primals, tangents)
