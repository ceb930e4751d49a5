"""How degrees of truth are combined, in logarithms.

`T_NORMS` join the memberships of one instance in a rule (AND, Layer 2), `S_NORMS` alternatives within a
rule (OR), and `complement` negates. `AGGREGATIONS` join the truth degrees of a bag's instances (OR over
instances, Layer 3). `COMBINERS` join the signed responses of a bag's instances (Layer 5). The last two
work on packed bags through a `Grouping`.

Every formula keeps its precision when the degrees underflow: log-degrees of -1e6 are ordinary
numbers here. ``-inf`` means truly zero.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil.network.kernels.short_bags import is_short, softmax_of_short_bags
from fuzzymil.network.reductions import least, total
from fuzzymil.network.segments import Grouping, OneBag, log_sum_exp

__all__ = ["COMBINERS", "DUAL", "SOFT_AGGREGATIONS", "S_NORMS", "AGGREGATIONS", "T_NORMS", "complement"]

_Log = Callable[[jax.Array], jax.Array]  # a function of logarithms

# ---------------------------------------------------------------------- helpers


def _log_ratio(f: Callable[[jax.Array], jax.Array], t: jax.Array) -> jax.Array:
    """Return ``log(f(t) / t)`` for ``f(t) ~ t`` near 0, continued smoothly to t = 0."""
    tiny = jnp.abs(t) < float(np.finfo(t.dtype).eps)
    safe = jnp.where(tiny, 1.0, t)
    # Below eps the ratio is 1 + O(t); f's own second derivative is all that t = 0 leaves out.
    return jnp.where(tiny, 0.0, jnp.log(f(safe) / safe))


def _finite(top: jax.Array) -> jax.Array:
    return jnp.where(jnp.isfinite(top), top, 0.0)


def _one_if_zero(total: jax.Array) -> jax.Array:
    """Guard a divisor or the argument of a logarithm; NaN is no zero and must come through."""
    return jnp.where(total == 0, 1.0, total)


def _zero_where(truly_zero: jax.Array, log_value: jax.Array) -> jax.Array:
    """Return -inf where the value is truly zero; a NaN still comes through."""
    return jnp.where(truly_zero & ~jnp.isnan(log_value), -jnp.inf, log_value)


def _log1mexp(log_p: jax.Array) -> jax.Array:
    """Return ``log(1 - exp(log_p))`` for log_p < 0, accurate at both ends."""
    near_zero = log_p > -0.6931
    one_minus = -jnp.expm1(jnp.where(near_zero, log_p, -1.0))
    return jnp.where(near_zero, jnp.log(one_minus), jnp.log1p(-jnp.exp(jnp.where(near_zero, -1.0, log_p))))


def _is_one(log_mu: jax.Array) -> jax.Array:
    """Whether a degree is 1, or so near that its doubt is below the smallest number."""
    return log_mu > -float(np.finfo(log_mu.dtype).tiny)


def complement(log_mu: jax.Array) -> jax.Array:
    """``1 - mu``, of log-memberships."""
    full, zero = _is_one(log_mu), jnp.isneginf(log_mu)
    return jnp.where(full, -jnp.inf, jnp.where(zero, 0.0, _log1mexp(jnp.where(full | zero, -1.0, log_mu))))


# ---------------------------------------------------------------------- T-norms over features
# Each takes log-memberships (..., d) and returns log-truths (...). A membership of 1 (log 0) is
# neutral in all of them, so don't-care features simply pass through.


def product(log_mu: jax.Array) -> jax.Array:
    """``prod(mu)``, the paper's Layer 2."""
    return total(log_mu)


def minimum(log_mu: jax.Array) -> jax.Array:
    """``min(mu)``, the paper's walk-through of MI-Sugeno."""
    return least(log_mu)


def lukasiewicz(log_mu: jax.Array) -> jax.Array:
    """``max(0, sum(mu) - (d - 1))``; truly zero as soon as the doubts add up to 1."""
    # The least membership less the doubts of all others: exact where the others are sure.
    least = jnp.argmin(log_mu, axis=-1, keepdims=True)
    log_least = jnp.take_along_axis(log_mu, least, axis=-1)[..., 0]
    others = jnp.arange(log_mu.shape[-1]) != least
    doubt = jnp.sum(jnp.where(others, -jnp.expm1(log_mu), 0.0), axis=-1)
    sure = doubt == 0
    log_share = jnp.log(jnp.where(sure, 1.0, doubt)) - jnp.where(jnp.isneginf(log_least), 0.0, log_least)
    dead = (~sure & (log_share >= 0)) | jnp.isneginf(log_least)
    share = jnp.where(sure | dead, 0.0, jnp.exp(jnp.where(sure | dead, -1.0, log_share)))
    return jnp.where(dead, -jnp.inf, jnp.where(dead, 0.0, log_least) + jnp.log1p(-share))


def hamacher(log_mu: jax.Array) -> jax.Array:
    """Hamacher product ``ab / (a + b - ab)``: the odds against, ``1/mu - 1``, add up."""
    full, zero = log_mu == 0, jnp.isneginf(log_mu)  # odds of 0, and without bound
    safe = jnp.where(full | zero, -1.0, log_mu)
    log_odds = jnp.where(full | zero, -jnp.inf, -safe + _log1mexp(safe))
    top = _finite(jax.lax.stop_gradient(log_odds.max(axis=-1, keepdims=True)))
    total = jnp.exp(log_odds - top).sum(axis=-1)
    against = top[..., 0] + jnp.log(_one_if_zero(total))
    return _zero_where(zero.any(axis=-1), jnp.where(total == 0, 0.0, -jax.nn.softplus(against)))


def einstein(log_mu: jax.Array) -> jax.Array:
    """Einstein product ``ab / (2 - (a + b - ab))``: ``log(2/mu - 1)`` adds up."""
    against = (jnp.log1p(-jnp.expm1(log_mu)) - log_mu).sum(axis=-1)
    near = against < 1  # 0 if all are sure; the difference of two logarithms would round there
    return jnp.where(
        near,
        -jnp.log1p(0.5 * jnp.expm1(jnp.where(near, against, 0.0))),
        jnp.log(2.0).astype(log_mu.dtype) - jax.nn.softplus(against),
    )


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


def _scores(values: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``alpha * values`` less its greatest in the bag: 0 at most, and exactly 0 there.

    The reference is taken from the values, not from the products: after rounding, the difference of
    two products of a million would leave a rest that the exponential blows up.
    """
    sign = jnp.where(alpha >= 0, 1.0, -1.0).astype(values.dtype)
    return alpha * (values - grouping.spread(_finite(sign * grouping.max(sign * values))))


def _weighted_mean(log_r: jax.Array, score: jax.Array, grouping: Grouping) -> jax.Array:
    """Log of the mean of r, an instance weighted by ``exp(score)``."""
    return log_sum_exp(log_r + score, grouping) - jnp.log(_one_if_zero(grouping.sum(jnp.exp(score))))


def softmax(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha of the paper (eq. smax): mean of r weighted by ``exp(alpha * r)``; the mean at alpha 0."""
    if is_short(grouping):
        return softmax_of_short_bags(log_r, grouping, alpha)
    return _weighted_mean(log_r, _scores(jnp.exp(log_r), grouping, alpha), grouping)


def softmax_relative(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha with weights ``exp(alpha * r / max r)``: alive however small all degrees are."""
    top = maximum(log_r, grouping, alpha)  # with its gradient: here it is part of the function
    relative = jnp.exp(log_r - grouping.spread(jnp.where(jnp.isneginf(top), 0.0, top)))
    return _weighted_mean(log_r, _scores(relative, grouping, alpha), grouping)


def softmax_log(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha with weights ``r ** alpha``: the mean at alpha 0, and moving at any scale of r."""
    zero = jnp.isneginf(log_r)
    # A zero has no weight at alpha > 0 and all of it at alpha < 0; its logarithm is not to be used.
    stand_in = grouping.spread(_finite(grouping.max(log_r)))
    score = _scores(jnp.where(zero, stand_in, log_r), grouping, alpha)
    joined = _weighted_mean(log_r, jnp.where(zero & (alpha > 0), -jnp.inf, score), grouping)
    return _zero_where(_count(zero, grouping) * (alpha < 0) > 0, joined)


def _count(marked: jax.Array, grouping: Grouping) -> jax.Array:
    """How many instances of each bag are marked."""
    return grouping.sum(marked.astype(float))


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
    zero = jnp.isneginf(log_r)
    lowest = -maximum(-jnp.where(zero, 0.0, log_r), grouping, alpha)
    empty = jnp.isposinf(lowest)
    return _zero_where((_count(zero, grouping) > 0) | empty, lowest)


def _added_up(log_r: jax.Array, grouping: Grouping, measure: _Log, inverse: _Log) -> jax.Array:
    """``inverse(sum(measure(r)))``, all in logarithms; the measure is 0 of 0 and without bound of 1."""
    certain, zero = _is_one(log_r), jnp.isneginf(log_r)  # one certain instance decides the bag
    safe = jnp.where(certain | zero, -1.0, log_r)
    log_t = log_sum_exp(jnp.where(certain | zero, -jnp.inf, measure(safe)), grouping)
    nothing = jnp.isneginf(log_t)
    joined = _zero_where(nothing, inverse(jnp.where(nothing, 0.0, log_t)))
    return jnp.where((_count(certain, grouping) > 0) & ~jnp.isnan(joined), 0.0, joined)


def _or_itself(f: _Log, log_v: jax.Array) -> jax.Array:
    """Return ``log f(v)`` for f(v) ~ v near 0: below the precision v itself, however small."""
    tiny = log_v < float(np.log(np.finfo(log_v.dtype).eps))
    return jnp.where(tiny, log_v, f(jnp.where(tiny, -1.0, log_v)))


def algebraic_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``1 - prod(1 - r)``: ``-log(1 - r)`` adds up."""
    del alpha
    return _added_up(
        log_r,
        grouping,
        lambda log_r: _or_itself(lambda v: jnp.log(-_log1mexp(v)), log_r),
        lambda log_t: _or_itself(lambda v: _log1mexp(-jnp.exp(v)), log_t),
    )


def bounded_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``min(1, sum(r))``."""
    del alpha
    return jnp.minimum(log_sum_exp(log_r, grouping), 0.0)


def log_mean_exp(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``log(mean(exp(alpha * r))) / alpha``, the log-sum-exp pooling; the mean at alpha 0."""
    # mean(exp(a r)) = 1 + m with m = mean(expm1(a r)). Three factors near 1 stay in logs:
    # expm1(a r) = a r * q1 and log(1 + m) = m * q2, so the result is mean(r q1) * q2.
    r = jnp.exp(log_r)
    log_n = jnp.log(_sizes(log_r, grouping))
    top = _finite(grouping.max(jnp.abs(alpha) * r))
    # Below 0 the sum 1 + m nears 0, and its logarithm loses digits, much sooner than it overflows above.
    small = top < jnp.where(alpha < 0, 1.0, 20.0)
    calm = jnp.where(grouping.spread(small), alpha * r, 0.0)
    log_m = log_sum_exp(log_r + _log_ratio(jnp.expm1, calm), grouping) - log_n  # of m / alpha
    m = jnp.where(small, alpha * jnp.exp(log_m), 0.0)
    by_series = log_m + _log_ratio(jnp.log1p, m)
    a = jnp.where(alpha == 0, 1.0, alpha)
    # For greater alpha * r the plain formula is exact enough, measured from the greatest term.
    stirred = jnp.where(grouping.spread(small), 0.0, a * r)
    top_of_all = jnp.where(small, 0.0, log_sum_exp(stirred, grouping))  # -inf of an empty bag has no place here
    by_shift = jnp.where(small, 1.0, (top_of_all - log_n) / a)
    return jnp.where(small, by_series, jnp.log(_one_if_zero(by_shift)))


def power_mean(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """``mean(r ** alpha) ** (1 / alpha)``, the generalized mean; the geometric mean at alpha 0."""
    n = _sizes(log_r, grouping)
    zero = jnp.isneginf(log_r)
    n_zero = _count(zero, grouping)
    gone = (n_zero >= n) | ((n_zero > 0) & (alpha <= 0)) | (grouping.sizes() == 0)[:, None]
    # In logs, relative to the instance that decides at great alpha: exponents are 0 at most, and near
    # alpha = 0 nothing cancels: log(mean(exp(a d))) = log1p(mean(expm1(a d))).
    highest, lowest = grouping.max(log_r), -grouping.max(jnp.where(zero, -jnp.inf, -log_r))
    reference = _finite(jnp.where(alpha >= 0, highest, lowest))
    d = jnp.where(zero, 0.0, log_r - grouping.spread(reference))
    m = grouping.sum(jnp.where(zero, -1.0, jnp.expm1(alpha * d))) / n
    whole = grouping.sum(jnp.where(zero, 0.0, jnp.exp(alpha * d))) / n
    near = m > -0.5
    log_mean = jnp.where(near, jnp.log1p(jnp.where(near, m, 0.0)), jnp.log(_one_if_zero(jnp.where(near, 1.0, whole))))
    flat = alpha == 0
    rise = jnp.where(flat, grouping.sum(d) / n, log_mean / jnp.where(flat, 1.0, alpha))
    return _zero_where(gone, reference + rise)


def _sizes(like: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the bag sizes (b, 1, ...) to divide sums by; 1 for an empty bag."""
    sizes = jnp.maximum(grouping.sizes(), 1.0).astype(like.dtype)
    return sizes.reshape(sizes.shape + (1,) * (like.ndim - 1))


Aggregation = Callable[[jax.Array, Grouping, jax.Array], jax.Array]

AGGREGATIONS: dict[str, Aggregation] = {
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

SOFT_AGGREGATIONS = frozenset({"softmax", "softmax_relative", "softmax_log", "lse", "power"})
"""The operators that read alpha; at +inf and -inf each of them is ``max`` and ``min``."""

# ---------------------------------------------------------------------- S-norms within a premise
# Each takes log-truths (..., p) of alternatives and returns their log-truth (...) together.


def _over_parts(join: Aggregation) -> Callable[[jax.Array], jax.Array]:
    """Make an operator over the instances of a bag one over the last axis."""

    def joined(log_mu: jax.Array) -> jax.Array:
        parts = jnp.moveaxis(log_mu, -1, 0)
        return join(parts, OneBag(jnp.ones(len(parts), bool)), jnp.zeros((), log_mu.dtype))[0]

    return joined


def hamacher_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Hamacher sum ``(a + b - 2ab) / (1 - ab)``: the odds, ``r / (1 - r)``, add up."""
    del alpha
    return _added_up(log_r, grouping, lambda v: v - _log1mexp(v), lambda log_t: -jax.nn.softplus(-log_t))


def einstein_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Einstein sum ``(a + b) / (1 + ab)``: ``atanh(r)`` adds up."""
    del alpha
    return _added_up(
        log_r,
        grouping,
        lambda log_r: _or_itself(lambda v: jnp.log(0.5 * (jnp.log1p(jnp.exp(v)) - _log1mexp(v))), log_r),
        lambda log_t: _or_itself(lambda v: _log_tanh(jnp.exp(v)), log_t),
    )


def _log_tanh(t: jax.Array) -> jax.Array:
    return _log1mexp(-2.0 * t) - jnp.log1p(jnp.exp(-2.0 * t))


S_NORMS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "algebraic": _over_parts(algebraic_sum),
    "max": _over_parts(maximum),
    "bounded": _over_parts(bounded_sum),
    "hamacher": _over_parts(hamacher_sum),
    "einstein": _over_parts(einstein_sum),
}

DUAL = {
    "product": "algebraic",
    "min": "max",
    "lukasiewicz": "bounded",
    "hamacher": "hamacher",
    "einstein": "einstein",
}
"""The S-norm that belongs to each T-norm by De Morgan's law."""

# ---------------------------------------------------------------------- Layer 5: signed responses
# Each takes responses (i, r, k), the grouping and alpha, and returns rule outputs (b, r, k).


def combine_softmax(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """S_alpha of signed values."""
    weight = jnp.exp(_scores(z, grouping, alpha))
    return grouping.sum(weight * z) / _one_if_zero(grouping.sum(weight))


def combine_mean(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Mean response of the bag."""
    return combine_softmax(z, grouping, jnp.zeros_like(alpha))


def combine_max(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Greatest response of the bag."""
    return _zero_if_empty(maximum(z, grouping, alpha), grouping)


def combine_min(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Smallest response of the bag, the limit of S_alpha at minus infinity."""
    return _zero_if_empty(-maximum(-z, grouping, alpha), grouping)


def _zero_if_empty(values: jax.Array, grouping: Grouping) -> jax.Array:
    return jnp.where((grouping.sizes() == 0)[:, None, None], 0.0, values)


COMBINERS: dict[str, Aggregation] = {
    "softmax": combine_softmax,
    "mean": combine_mean,
    "max": combine_max,
    "min": combine_min,
}
