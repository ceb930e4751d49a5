"""Numerics that the layers share: logarithms without loss of precision, and sums over a short last axis.

The layers are written for every engine: a function takes the module of its arrays from `namespace`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fuzzymil._utils.arrays import is_of_torch, namespace
from fuzzymil.inference.engines import engine_of

if TYPE_CHECKING:
    import jax

LogFunction = Callable[["jax.Array"], "jax.Array"]
"""A function that takes logarithms and returns logarithms."""


def stop_gradient(values: jax.Array) -> jax.Array:
    """Return values without a gradient."""
    found: jax.Array = engine_of(values).stop_gradient(values)
    return found


def log_ratio(f: Callable[[jax.Array], jax.Array], t: jax.Array) -> jax.Array:
    """Return ``log(f(t) / t)`` for a function with f(t) ~ t near 0, continued to t = 0."""
    xp = namespace(t)
    tiny = abs(t) < float(xp.finfo(t.dtype).eps)
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
    return log_mu > -float(namespace(log_mu).finfo(log_mu.dtype).tiny)


def or_itself(f: LogFunction, log_v: jax.Array) -> jax.Array:
    """Return ``log f(v)`` for a function with f(v) ~ v near 0; below the precision, v itself."""
    xp = namespace(log_v)
    tiny = log_v < math.log(xp.finfo(log_v.dtype).eps)
    return xp.where(tiny, log_v, f(xp.where(tiny, -1.0, log_v)))


# ---------------------------------------------------------------------- over a short last axis
# On a CPU, XLA reduces a short last axis several times slower than it adds up the slices. Inference, in 64 bit, takes
# the slices one by one; training, in 32 bit, keeps the plain reduction and with it every last bit of its sums.

_FEW = 16  # with more slices, compiling takes longer than they save


def folded(values: jax.Array, join: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array | None:
    """Return the slices of the last axis, joined one by one; None where a plain reduction is better."""
    if is_of_torch(values) or values.dtype != np.float64 or not 0 < values.shape[-1] <= _FEW:
        return None
    return functools.reduce(join, [values[..., place] for place in range(values.shape[-1])])


def total(values: jax.Array) -> jax.Array:
    """Return the sum over the last axis."""
    few = folded(values, operator.add)
    return values.sum(axis=-1) if few is None else few


def least(values: jax.Array) -> jax.Array:
    """Return the minimum over the last axis; the values that reach it share the gradient evenly."""
    found: jax.Array = engine_of(values).least(values)
    return found
