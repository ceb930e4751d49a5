"""How degrees of truth are combined, in logarithms.

`T_NORMS` join the memberships of one instance in a rule (AND, Layer 2). `T_CONORMS` join the truth
degrees of a bag's instances (OR over instances, Layer 3). `COMBINERS` join the signed responses of
a bag's instances (Layer 5). All work on packed bags through a `Grouping`.

Every formula keeps its precision when the degrees underflow: log-degrees of -1e6 are ordinary
numbers here. ``-inf`` means truly zero.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil.grouping import Grouping, log_sum_exp

__all__ = ["COMBINERS", "SOFT_T_CONORMS", "T_CONORMS", "T_NORMS"]

# ---------------------------------------------------------------------- helpers


def _log_ratio(f: Callable[[jax.Array], jax.Array], t: jax.Array) -> jax.Array:
    """Return ``log(f(t) / t)`` for ``f(t) ~ t`` near 0, continued smoothly to t = 0."""
    tiny = jnp.abs(t) < float(np.finfo(t.dtype).eps)
    safe = jnp.where(tiny, 1.0, t)
    # Below eps the ratio is 1 + O(t); f's own second derivative is all that t = 0 leaves out.
    return jnp.where(tiny, 0.0, jnp.log(f(safe) / safe))


def _log1mexp(log_p: jax.Array) -> jax.Array:
    """Return ``log(1 - exp(log_p))`` for log_p < 0, accurate at both ends."""
    near_zero = log_p > -0.6931
    one_minus = -jnp.expm1(jnp.where(near_zero, log_p, -1.0))
    return jnp.where(near_zero, jnp.log(one_minus), jnp.log1p(-jnp.exp(jnp.where(near_zero, -1.0, log_p))))


# ---------------------------------------------------------------------- T-norms over features
# Each takes log-memberships (..., d) and returns log-truths (...). A membership of 1 (log 0) is
# neutral in all of them, so don't-care features simply pass through.


def product(log_mu: jax.Array) -> jax.Array:
    """``prod(mu)``, the paper's Layer 2."""
    return log_mu.sum(axis=-1)


def minimum(log_mu: jax.Array) -> jax.Array:
    """``min(mu)``, the paper's walk-through of MI-Sugeno."""
    return log_mu.min(axis=-1)


def lukasiewicz(log_mu: jax.Array) -> jax.Array:
    """``max(0, sum(mu) - (d - 1))``; truly zero as soon as the doubts add up to 1."""
    doubt = -jnp.expm1(log_mu).sum(axis=-1)
    dead = doubt >= 1
    return jnp.where(dead, -jnp.inf, jnp.log1p(-jnp.where(dead, 0.0, doubt)))


def hamacher(log_mu: jax.Array) -> jax.Array:
    """Hamacher product ``ab / (a + b - ab)``: the odds against, ``1/mu - 1``, add up."""
    full = log_mu == 0  # odds of 0
    zero = jnp.isneginf(log_mu)
    safe = jnp.where(full | zero, -1.0, log_mu)
    log_odds = jnp.where(full, -jnp.inf, jnp.where(zero, jnp.inf, -safe + _log1mexp(safe)))
    top = jax.lax.stop_gradient(log_odds.max(axis=-1, keepdims=True))
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    total = jnp.exp(log_odds - top).sum(axis=-1)
    against = top[..., 0] + jnp.log(_one_if_zero(total))
    return jnp.where(total == 0, 0.0, -jax.nn.softplus(against))


def einstein(log_mu: jax.Array) -> jax.Array:
    """Einstein product ``ab / (2 - (a + b - ab))``: ``log(2/mu - 1)`` adds up."""
    against = (jnp.log(2.0 - jnp.exp(log_mu)) - log_mu).sum(axis=-1)
    return jnp.log(2.0).astype(log_mu.dtype) - jax.nn.softplus(against)


T_NORMS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "product": product,
    "min": minimum,
    "lukasiewicz": lukasiewicz,
    "hamacher": hamacher,
    "einstein": einstein,
}

# ---------------------------------------------------------------------- over the instances of a bag
# Each takes log-truths (i, r), the grouping and alpha (a number or one a rule, finite), and returns
# log-strengths (b, r), -inf for an empty bag.


def _weighted_mean(log_r: jax.Array, score: jax.Array, grouping: Grouping) -> jax.Array:
    """Log of the mean of r, an instance weighted by ``exp(score)``."""
    # Subtract the greatest score before anything is summed: the difference of two log-sum-exps of
    # the scores themselves loses about eps * |alpha|.
    u = score - grouping.spread(_finite(grouping.max(score)))
    total = grouping.sum(jnp.exp(u))
    return log_sum_exp(log_r + u, grouping) - jnp.log(_one_if_zero(total))


def _finite(top: jax.Array) -> jax.Array:
    return jnp.where(jnp.isfinite(top), top, 0.0)


def _one_if_zero(total: jax.Array) -> jax.Array:
    """Guard a divisor or the argument of a logarithm; NaN is no zero and must come through."""
    return jnp.where(total == 0, 1.0, total)


def softmax(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha of the paper (eq. smax): mean of r weighted by ``exp(alpha * r)``; the mean at alpha 0."""
    return _weighted_mean(log_r, alpha * jnp.exp(log_r), grouping)


def softmax_relative(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha with weights ``exp(alpha * r / max r)``: alive however small all degrees are."""
    top = _finite(grouping.max(log_r))
    return _weighted_mean(log_r, alpha * jnp.exp(log_r - grouping.spread(top)), grouping)


def softmax_log(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha with weights ``r ** alpha``: the mean at alpha 0, and moving at any scale of r."""
    zero = jnp.isneginf(log_r)
    score = jnp.where(zero & (alpha > 0), -jnp.inf, alpha * jnp.where(zero, 0.0, log_r))
    joined = _weighted_mean(log_r, score, grouping)
    any_zero = grouping.sum(zero.astype(log_r.dtype)) > 0
    return jnp.where(any_zero & (alpha < 0), -jnp.inf, joined)


def maximum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``max(r)``; the gradient is shared evenly by the instances that reach it."""
    del alpha
    top = grouping.max(log_r)
    reaches = (log_r == grouping.spread(top)) & jnp.isfinite(log_r)
    ties = grouping.sum(reaches.astype(log_r.dtype))
    share = grouping.sum(jnp.where(reaches, log_r, 0.0)) / _one_if_zero(ties)
    return top + share - jax.lax.stop_gradient(share)


def minimum_over_instances(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``min(r)``, the limit of S_alpha at minus infinity."""
    zeros = grouping.sum(jnp.isneginf(log_r).astype(log_r.dtype))
    lowest = maximum(-jnp.where(jnp.isneginf(log_r), 0.0, log_r), grouping, alpha)
    return jnp.where(zeros > 0, -jnp.inf, -jnp.where(jnp.isneginf(lowest), jnp.inf, lowest))


def algebraic_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``1 - prod(1 - r)``."""
    del alpha
    # With t = -sum log(1 - r) the result is 1 - exp(-t). Factors r and t are kept in logs, so that
    # degrees far below the smallest number still add up: -log(1 - r) = r * (1 + r/2 + ...).
    r = jnp.exp(log_r)
    certain = r >= 1  # one certain instance decides the bag; its log(1 - r) has no value
    r = jnp.where(certain, 0.5, r)
    log_t = log_sum_exp(jnp.where(certain, -jnp.inf, log_r) + _log_ratio(lambda v: -jnp.log1p(-v), r), grouping)
    t = jnp.exp(log_t)
    joined = log_t + _log_ratio(lambda v: -jnp.expm1(-v), t)
    decided = grouping.sum(certain.astype(log_r.dtype)) > 0
    return jnp.where(decided, 0.0, joined)


def bounded_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``min(1, sum(r))``."""
    del alpha
    return jnp.minimum(log_sum_exp(log_r, grouping), 0.0)


def log_mean_exp(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``log(mean(exp(alpha * r))) / alpha``, the log-sum-exp pooling; the mean at alpha 0."""
    # mean(exp(a r)) = 1 + m with m = mean(expm1(a r)). Three factors near 1 stay in logs:
    # expm1(a r) = a r * q1 and log(1 + m) = m * q2, so the result is mean(r q1) * q2.
    r = jnp.exp(log_r)
    log_n = jnp.log(jnp.maximum(grouping.sizes(), 1.0)).astype(log_r.dtype)
    log_n = log_n.reshape(log_n.shape + (1,) * (log_r.ndim - 1))
    top = _finite(grouping.max(jnp.abs(alpha) * r))
    small = top < 1.0
    calm = jnp.where(grouping.spread(small), alpha * r, 0.0)
    log_m = log_sum_exp(log_r + _log_ratio(jnp.expm1, calm), grouping) - log_n  # of m / alpha
    m = jnp.where(small, alpha * jnp.exp(log_m), 0.0)
    by_series = log_m + _log_ratio(jnp.log1p, m)
    a = jnp.where(alpha == 0, 1.0, alpha)
    # For greater alpha * r the plain formula is exact enough, measured from the greatest term.
    stirred = jnp.where(grouping.spread(small), 0.0, a * r)
    by_shift = (log_sum_exp(stirred, grouping) - log_n) / a
    by_shift = jnp.where(small, 1.0, by_shift)
    return jnp.where(small, by_series, jnp.log(_one_if_zero(by_shift)))


def power_mean(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``mean(r ** alpha) ** (1 / alpha)``, the generalised mean; the geometric mean at alpha 0."""
    n = jnp.maximum(grouping.sizes(), 1.0).astype(log_r.dtype)
    n = n.reshape(n.shape + (1,) * (log_r.ndim - 1))
    geometric = alpha == 0
    a = jnp.where(geometric, 1.0, alpha)
    by_power = (log_sum_exp(a * log_r, grouping) - jnp.log(n)) / a
    zero = jnp.isneginf(log_r)
    any_zero = grouping.sum(zero.astype(log_r.dtype)) > 0
    by_logs = jnp.where(any_zero, -jnp.inf, grouping.sum(jnp.where(zero, 0.0, log_r)) / n)
    return jnp.where(geometric, by_logs, by_power)


TConorm = Callable[[jax.Array, Grouping, jax.Array], jax.Array]

T_CONORMS: dict[str, TConorm] = {
    "softmax": softmax,
    "softmax_relative": softmax_relative,
    "softmax_log": softmax_log,
    "max": maximum,
    "min": minimum_over_instances,
    "algebraic": algebraic_sum,
    "bounded": bounded_sum,
    "lse": log_mean_exp,
    "power": power_mean,
}

SOFT_T_CONORMS = frozenset({"softmax", "softmax_relative", "softmax_log", "lse", "power"})
"""The operators that read alpha; at +inf and -inf each of them is ``max`` and ``min``."""

# ---------------------------------------------------------------------- Layer 5: signed responses
# Each takes responses (i, r, k), the grouping and alpha, and returns rule outputs (b, r, k).


def combine_softmax(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha of signed values."""
    score = alpha * z
    weight = jnp.exp(score - grouping.spread(_finite(grouping.max(score))))
    total = grouping.sum(weight)
    return grouping.sum(weight * z) / _one_if_zero(total)


def combine_mean(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Mean response of the bag."""
    return combine_softmax(z, grouping, jnp.zeros_like(alpha))


def combine_max(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Greatest response of the bag."""
    return _zero_if_empty(maximum(z, grouping, alpha))


def combine_min(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Smallest response of the bag, the limit of S_alpha at minus infinity."""
    return _zero_if_empty(-maximum(-z, grouping, alpha))


def _zero_if_empty(values: jax.Array) -> jax.Array:
    return jnp.where(jnp.isinf(values), 0.0, values)


COMBINERS: dict[str, TConorm] = {
    "softmax": combine_softmax,
    "mean": combine_mean,
    "max": combine_max,
    "min": combine_min,
}
