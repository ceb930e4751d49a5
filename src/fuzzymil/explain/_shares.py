"""The share of each instance in the firing strength of a rule, or in the degree of a quantified part.

Every aggregation of the library adds something up over the instances: a mean its weighted truths, the algebraic sum
``-log(1 - r)``, the power mean powers. The share of an instance is its part of that sum (`SHARES`). For ``max`` and
``min``, the instances that reach the extreme share it evenly. Any other registered aggregation or quantifier is
attributed by its gradient.

Shares are computed in logarithms, so they sum to one even where all truths underflow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.inference.segments import OneBag

if TYPE_CHECKING:
    import jax

# Each takes the log-truths (i, r) of one bag and alpha (finite; one number, or one per rule), and returns the logarithm
# of what is added up, up to a constant of the bag. +inf means that the instance decides the bag alone.


def _from_decisive(values: Array, alpha: Array) -> Array:
    """Return ``alpha * values`` minus its greatest value in the bag, subtracting before large products lose digits."""
    return np.asarray(alpha * (values - np.where(alpha >= 0, values.max(axis=0), values.min(axis=0))))


def _softmax_relative(log_r: Array, alpha: Array) -> Array:
    top = log_r.max(axis=0)
    return np.asarray(log_r + _from_decisive(np.exp(log_r - np.where(np.isneginf(top), 0.0, top)), alpha))


def _greatest(log_r: Array) -> Array:
    return np.where(log_r == log_r.max(axis=0), 0.0, -np.inf)


def _least(log_r: Array) -> Array:
    return np.where(log_r == log_r.min(axis=0), 0.0, -np.inf)


def _algebraic(log_r: Array) -> Array:
    # -log(1 - r): from 1 - r where r is near 1, and r itself where r is below the precision.
    certain, tiny = log_r > -np.finfo(float).tiny, log_r < np.log(np.finfo(float).eps)
    near = (log_r > -0.5) & ~certain
    log_doubt = np.where(
        near, np.log(-np.expm1(np.where(near, log_r, -1.0))), np.log1p(-np.exp(np.where(near | certain, -1.0, log_r)))
    )
    return np.where(certain, np.inf, np.where(tiny, log_r, np.log(-np.where(tiny, -1.0, log_doubt))))


def _log_mean_exp(log_r: Array, alpha: Array) -> Array:
    # expm1(a r) / a = exp(a r) * (1 - exp(-a r)) / a, relative to the greatest exp(a r) if a > 0.
    r = np.exp(log_r)
    rise = np.maximum(alpha, 0.0)
    t = np.abs(alpha) * r
    tiny = t < np.finfo(float).eps
    log_fall = np.where(tiny, log_r, log_r + np.log(-np.expm1(-np.where(tiny, 1.0, t)) / np.where(tiny, 1.0, t)))
    return np.asarray(_from_decisive(r, rise) + log_fall)


def _of_power(log_r: Array, exponent: Array, of_zero: Array) -> Array:
    """Return the logarithm of ``r ** exponent``, or ``of_zero`` where r is exactly zero."""
    zero = np.isneginf(log_r)
    top = log_r.max(axis=0)
    score = _from_decisive(np.where(zero, np.where(np.isneginf(top), 0.0, top), log_r), exponent)
    return np.where(zero, of_zero, score)


SHARES: dict[str, Callable[[Array, Array], Array]] = {
    "softmax": lambda log_r, alpha: log_r + _from_decisive(np.exp(log_r), alpha),
    "softmax_relative": _softmax_relative,
    # A zero has weight r ** alpha = 0 if alpha > 0, and all the weight if alpha < 0.
    "softmax_log": lambda log_r, alpha: _of_power(log_r, 1.0 + alpha, np.where(alpha < 0, np.inf, -np.inf)),
    "max": lambda log_r, _: _greatest(log_r),
    "min": lambda log_r, _: _least(log_r),
    "algebraic": lambda log_r, _: _algebraic(log_r),
    "bounded": lambda log_r, _: log_r,
    "lse": _log_mean_exp,
    "power": lambda log_r, alpha: _of_power(log_r, alpha, np.where(alpha <= 0, np.inf, -np.inf)),
}
"""For each aggregation of the library, the logarithm of what it adds up."""


def _by_gradient(joined: Callable[[jax.Array, Any], jax.Array], log_r: Array) -> Array:
    """Return the logarithm of ``r_i * dw/dr_i``, what instance i contributes to the strength w to first order.

    Where that is flat (exactly zero, or saturated), the instances with the greatest truth share it evenly.
    """
    import jax  # only operators that users add are attributed by their gradient
    import jax.numpy as jnp

    bag = OneBag(jnp.ones(len(log_r), bool))
    with jax.enable_x64():
        slope = np.asarray(jax.grad(lambda log_r: joined(log_r, bag).sum())(jnp.asarray(log_r)))
    rises = np.isfinite(log_r) & np.isfinite(slope) & (slope > 0)
    parts = np.where(rises, np.log(np.where(rises, slope, 1.0)), -np.inf)
    return np.where(rises.any(axis=0), parts, _greatest(log_r))


def instance_shares(aggregation: str, log_truth: Array, alpha: npt.ArrayLike) -> Array:
    """Return the share of each instance of a bag in the firing strength of each rule, (n_instances, n_rules).

    Each column sums to one. Where a rule is exactly zero, the instances that keep it at zero share evenly.
    """
    alpha = np.asarray(alpha, float)
    if aggregation in SHARES:
        log_part = SHARES[aggregation](log_truth, alpha)
    else:
        sharpness: Any = alpha
        log_part = _by_gradient(lambda log_r, bag: AGGREGATIONS[aggregation](log_r, bag, sharpness), log_truth)
    return _normalized(log_part)


def _normalized(log_part: Array) -> Array:
    top = log_part.max(axis=0)
    decided = np.isinf(top)  # by certain instances, or by nothing but zeros
    part = np.where(decided, log_part == top, np.exp(log_part - np.where(decided, 0.0, top)))
    return np.asarray(part / part.sum(axis=0))


def _at_least(log_r: Array, count: int) -> Array:
    """Return the shares of the ``count`` truest instances; those that tie for the last place divide it."""
    if count > len(log_r):
        return np.full(len(log_r), 1.0 / len(log_r))
    last = np.sort(log_r)[-count]
    above, level = log_r > last, log_r == last
    return np.where(above, 1.0, np.where(level, (count - above.sum()) / level.sum(), 0.0)) / count


# Each takes the log-truths (i,) of one bag and a count, and returns the shares (i,).
QUANTIFIER_SHARES: dict[str, Callable[[Array, int], Array]] = {
    "some": lambda log_r, count: _normalized(_greatest(log_r)),
    "all": lambda log_r, count: _normalized(_least(log_r)),
    "on average": lambda log_r, count: _normalized(log_r),
    "most": lambda log_r, count: _normalized(log_r),
    "at least": _at_least,
}
"""For each quantifier of the library, the shares of the instances."""


def quantifier_shares(quantifier: str, count: int | None, log_truth: Array) -> Array:
    """Return the share (n_instances,) of each instance of a bag in the degree to which a quantified part holds."""
    if quantifier in QUANTIFIER_SHARES:
        return QUANTIFIER_SHARES[quantifier](log_truth, count or 1)
    joined = QUANTIFIERS[quantifier]
    return _normalized(_by_gradient(lambda log_r, bag: joined(log_r, bag, count or 1), log_truth[:, None]))[:, 0]
