"""Who made a rule fire: the share of each instance in the strength of a rule for its bag.

Every T-conorm of `norms` adds something up over the instances: the weighted degrees of a mean, the
``-log(1 - r)`` of the algebraic sum, the powers of the power mean. An instance's share is its part of that
sum. The greatest degree of ``max`` and the least of ``min`` are shared evenly by the instances that reach it.

Shares are taken in logarithms: they sum to one also where all degrees underflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array

__all__ = ["SHARES", "instance_shares"]

# Each takes log-truths (i, r) of one bag and alpha (finite, a number or one a rule), and returns the logarithm of
# what is added up, less any constant of the bag. +inf: the instance decides the bag, whatever the others are.


def _from_decisive(values: Array, alpha: Array) -> Array:
    """``alpha * values`` less its greatest in the bag; the difference comes first, or great products lose it."""
    return np.asarray(alpha * (values - np.where(alpha >= 0, values.max(axis=0), values.min(axis=0))))


def _softmax(log_r: Array, alpha: Array) -> Array:
    return np.asarray(log_r + _from_decisive(np.exp(log_r), alpha))


def _softmax_relative(log_r: Array, alpha: Array) -> Array:
    top = log_r.max(axis=0)
    return np.asarray(log_r + _from_decisive(np.exp(log_r - np.where(np.isneginf(top), 0.0, top)), alpha))


def _softmax_log(log_r: Array, alpha: Array) -> Array:
    # The weight r ** alpha of a zero is 0 for alpha > 0, and for alpha < 0 all there is.
    return _of_power(log_r, 1.0 + alpha, np.where(alpha < 0, np.inf, -np.inf))


def _greatest(log_r: Array, alpha: Array) -> Array:
    del alpha
    return np.where(log_r == log_r.max(axis=0), 0.0, -np.inf)


def _least(log_r: Array, alpha: Array) -> Array:
    del alpha
    return np.where(log_r == log_r.min(axis=0), 0.0, -np.inf)


def _algebraic(log_r: Array, alpha: Array) -> Array:
    del alpha
    # -log(1 - r), from the doubt 1 - r where r is near 1, and r itself where it is below the precision.
    certain, tiny = log_r > -np.finfo(float).tiny, log_r < np.log(np.finfo(float).eps)
    near = (log_r > -0.5) & ~certain
    log_doubt = np.where(
        near, np.log(-np.expm1(np.where(near, log_r, -1.0))), np.log1p(-np.exp(np.where(near | certain, -1.0, log_r)))
    )
    return np.where(certain, np.inf, np.where(tiny, log_r, np.log(-np.where(tiny, -1.0, log_doubt))))


def _bounded(log_r: Array, alpha: Array) -> Array:
    del alpha
    return log_r


def _log_mean_exp(log_r: Array, alpha: Array) -> Array:
    # expm1(a r) / a = exp(a r) * (1 - exp(-a r)) / a, measured from the greatest exp(a r) where a > 0.
    r = np.exp(log_r)
    rise = np.maximum(alpha, 0.0)
    t = np.abs(alpha) * r
    tiny = t < np.finfo(float).eps
    log_fall = np.where(tiny, log_r, log_r + np.log(-np.expm1(-np.where(tiny, 1.0, t)) / np.where(tiny, 1.0, t)))
    return np.asarray(_from_decisive(r, rise) + log_fall)


def _power(log_r: Array, alpha: Array) -> Array:
    return _of_power(log_r, alpha, np.where(alpha <= 0, np.inf, -np.inf))


def _of_power(log_r: Array, exponent: Array, of_zero: Array) -> Array:
    """Log of ``r ** exponent``, with ``of_zero`` for truly zero degrees."""
    zero = np.isneginf(log_r)
    top = log_r.max(axis=0)
    score = _from_decisive(np.where(zero, np.where(np.isneginf(top), 0.0, top), log_r), exponent)
    return np.where(zero, of_zero, score)


SHARES: dict[str, Callable[[Array, Array], Array]] = {
    "softmax": _softmax,
    "softmax_relative": _softmax_relative,
    "softmax_log": _softmax_log,
    "max": _greatest,
    "min": _least,
    "algebraic": _algebraic,
    "bounded": _bounded,
    "lse": _log_mean_exp,
    "power": _power,
}
"""For each T-conorm of `norms.AGGREGATIONS`, what it adds up."""


def instance_shares(aggregation: str, log_truth: Array, alpha: npt.ArrayLike) -> Array:
    """Return each instance's share in the strength of each rule for one bag.

    Parameters
    ----------
    aggregation : str
        One of `SHARES`.
    log_truth : array of shape (n_instances, n_rules)
        Of one bag; ``-inf`` is truly zero.
    alpha : float, or array of shape (n_rules,)
        Sharpness of a soft T-conorm, finite.

    Returns
    -------
    array of shape (n_instances, n_rules)
        Not negative; each column sums to one. Where a rule is truly zero, the instances that are truly zero,
        and so hold it there, share evenly.

    Examples
    --------
    >>> instance_shares("bounded", np.log([[0.6], [0.2]]), 1.0).round(2).tolist()
    [[0.75], [0.25]]
    >>> instance_shares("max", np.array([[-2e6], [-1e6]]), 1.0).tolist()
    [[0.0], [1.0]]
    """
    log_part = SHARES[aggregation](log_truth, np.asarray(alpha, float))
    top = log_part.max(axis=0)
    decided = np.isinf(top)  # by certain instances, or by nothing but zeros
    part = np.where(decided, log_part == top, np.exp(log_part - np.where(decided, 0.0, top)))
    return np.asarray(part / part.sum(axis=0))
