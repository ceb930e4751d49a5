"""Numerics that the layers share: logarithms without loss of precision, and sums over a short last axis.

The layers are written for JAX and for NumPy: a function takes the module of its arrays from `namespace`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import namespace

__all__ = [
    "LogFunction",
    "finite",
    "held",
    "in_chunks",
    "is_one",
    "least",
    "log1mexp",
    "log_ratio",
    "namespace",
    "one_if_zero",
    "or_itself",
    "total",
    "zero_where",
]

LogFunction = Callable[[jax.Array], jax.Array]
"""A function that takes logarithms and returns logarithms."""


def held(values: jax.Array) -> jax.Array:
    """Return values without a gradient."""
    return values if isinstance(values, np.ndarray) else jax.lax.stop_gradient(values)


def log_ratio(f: Callable[[jax.Array], jax.Array], t: jax.Array) -> jax.Array:
    """Return ``log(f(t) / t)`` for a function with f(t) ~ t near 0, continued to t = 0."""
    xp = namespace(t)
    tiny = abs(t) < float(np.finfo(t.dtype).eps)
    safe = xp.where(tiny, 1.0, t)
    # Below eps the ratio is 1 + O(t): only the second derivative of f is lost.
    return xp.where(tiny, 0.0, xp.log(f(safe) / safe))


def finite(top: jax.Array) -> jax.Array:
    xp = namespace(top)
    return xp.where(xp.isfinite(top), top, 0.0)


def one_if_zero(total: jax.Array) -> jax.Array:
    """Replace 0 by 1 in a divisor or the argument of a logarithm; lets NaN through."""
    return namespace(total).where(total == 0, 1.0, total)


def zero_where(truly_zero: jax.Array, log_value: jax.Array) -> jax.Array:
    """Return -inf where the value is exactly zero; lets NaN through."""
    xp = namespace(log_value)
    return xp.where(truly_zero & ~xp.isnan(log_value), -xp.inf, log_value)


def log1mexp(log_p: jax.Array) -> jax.Array:
    """Return ``log(1 - exp(log_p))`` for log_p < 0, accurate at both ends."""
    xp = namespace(log_p)
    near_zero = log_p > -0.6931
    one_minus = -xp.expm1(xp.where(near_zero, log_p, -1.0))
    return xp.where(near_zero, xp.log(one_minus), xp.log1p(-xp.exp(xp.where(near_zero, -1.0, log_p))))


def is_one(log_mu: jax.Array) -> jax.Array:
    """Return whether a degree is 1, or so near 1 that the difference is below the smallest number."""
    return log_mu > -float(np.finfo(log_mu.dtype).tiny)


def or_itself(f: LogFunction, log_v: jax.Array) -> jax.Array:
    """Return ``log f(v)`` for a function with f(v) ~ v near 0; below the precision, v itself."""
    xp = namespace(log_v)
    tiny = log_v < float(np.log(np.finfo(log_v.dtype).eps))
    return xp.where(tiny, log_v, f(xp.where(tiny, -1.0, log_v)))


# ---------------------------------------------------------------------- over a short last axis
# On a CPU, XLA reduces a short last axis several times slower than it adds up the slices. Inference, in 64 bit, takes
# the slices one by one; training, in 32 bit, keeps the plain reduction and with it every last bit of its sums.

_FEW = 16  # with more slices, compiling takes longer than they save


def _folded(values: jax.Array, join: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array | None:
    if values.dtype != jnp.float64 or not 0 < values.shape[-1] <= _FEW:
        return None
    return functools.reduce(join, [values[..., place] for place in range(values.shape[-1])])


def total(values: jax.Array) -> jax.Array:
    """Return the sum over the last axis."""
    folded = _folded(values, operator.add)
    return values.sum(axis=-1) if folded is None else folded


def least(values: jax.Array) -> jax.Array:
    """Return the minimum over the last axis; the values that reach it share the gradient evenly."""
    return values.min(axis=-1) if isinstance(values, np.ndarray) else _least(values)


@jax.custom_jvp
def _least(values: jax.Array) -> jax.Array:
    folded = _folded(values, jnp.minimum)
    return values.min(axis=-1) if folded is None else folded


@_least.defjvp
def _least_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(lambda values: values.min(axis=-1), primals, tangents)


# ---------------------------------------------------------------------- a chunk of rows at a time

# Largest array (instances, sets of a rule, features) in one piece: 64 MB in 32 bit, and several are in use at once.
_GREATEST_ARRAY = 1 << 24


def in_chunks(
    function: Callable[[jax.Array, jax.Array | None], jax.Array], n_values: int, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    """Call ``function``, which computes ``n_values`` numbers for each row, on so many rows at once as memory allows.

    For the gradient, each chunk is computed again.
    """
    if isinstance(x, np.ndarray):  # inference in NumPy takes few bags at a time
        return function(x, known)
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
