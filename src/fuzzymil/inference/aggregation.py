"""Joining the instances of a bag: their truths in Layer 3, their responses in Layer 5.

`AGGREGATIONS` join the truths of a bag's instances to the firing strength of a rule; the paper's is `softmax`, equation
(8). `COMBINERS` join the signed responses of a bag's instances to the output of a rule. Both work on packed bags
through a `Grouping`. `register_aggregation` and `register_combiner` add to them.

Truths are given as logarithms. Every formula keeps its precision where truths underflow: a logarithm of -1e6 is an
ordinary number here, and ``-inf`` means exactly zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.registry import register
from fuzzymil.inference._numerics import (
    LogFunction,
    finite,
    is_one,
    log1mexp,
    log_ratio,
    one_if_zero,
    or_itself,
    stop_gradient,
    zero_where,
)
from fuzzymil.inference.engines import engine_of
from fuzzymil.inference.segments import Grouping, log_sum_exp

if TYPE_CHECKING:
    import jax

Aggregation = Callable[["jax.Array", Grouping, "jax.Array"], "jax.Array"]
"""A function of values (i, ...), their grouping and alpha (finite; one number, or one per rule) to values (b, ...)."""

AGGREGATIONS: dict[str, Aggregation] = {}
"""The operators of Layer 3 by name: log-truths (i, r) to log firing strengths (b, r), ``-inf`` for an empty bag."""

SOFT_AGGREGATIONS: set[str] = set()
"""The aggregations that read alpha; at +inf and -inf each of them is ``max`` and ``min``."""

COMBINERS: dict[str, Aggregation] = {}
"""The operators of Layer 5 by name: responses (i, r, k) to rule outputs (b, r, k), 0 for an empty bag."""


def register_aggregation(name: str, function: Aggregation, *, reads_alpha: bool = False) -> None:
    """Add an operator that joins the truths of a bag's instances; ``aggregation=`` selects it by its name.

    It takes log-truths (i, r), a `Grouping` and alpha, and returns log firing strengths (b, r). If it ``reads_alpha``,
    an infinite alpha means ``max`` (or ``min``, if negative) and never reaches the function.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> def mean(log_r, grouping, alpha):
    ...     return log_sum_exp(log_r, grouping) - jnp.log(grouping.sizes())[:, None]
    >>> register_aggregation("mean", mean)
    >>> from fuzzymil.inference.segments import OneBag
    >>> bag = OneBag(jnp.ones(2, bool))
    >>> jnp.exp(AGGREGATIONS["mean"](jnp.log(jnp.array([[0.2], [0.6]])), bag, jnp.ones(()))).round(3).item()
    0.4000000059604645
    >>> del AGGREGATIONS["mean"]
    """
    register(AGGREGATIONS, "Aggregation", name, function)
    if reads_alpha:
        SOFT_AGGREGATIONS.add(name)


def register_combiner(name: str, function: Aggregation) -> None:
    """Add an operator that joins the responses of a bag's instances; ``conclusion_aggregation=`` selects it.

    It takes responses (i, r, k), a `Grouping` and alpha, and returns rule outputs (b, r, k).
    """
    register(COMBINERS, "Combiner", name, function)


# ---------------------------------------------------------------------- Layer 3: truths, in logarithms


def _scores(values: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``alpha * values`` minus its greatest value in the bag: at most 0, and exactly 0 there.

    The reference is subtracted from the values, not from the products: the rounding error in the difference of two
    products of a million would be blown up by the exponential.
    """
    xp = namespace(values)
    sign = xp.asarray(xp.where(alpha >= 0, 1.0, -1.0), dtype=values.dtype)
    return alpha * (values - grouping.spread(finite(sign * grouping.max(sign * values))))


def _weighted_mean(log_r: jax.Array, score: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the logarithm of the mean of r, with weights ``exp(score)``."""
    xp = namespace(log_r)
    return log_sum_exp(log_r + score, grouping) - xp.log(one_if_zero(grouping.sum(xp.exp(score))))


def softmax(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return S_alpha, equation (8) of the paper: the mean of r weighted by ``exp(alpha * r)``.

    At alpha = 0 this is the mean; as alpha grows, it approaches the maximum.
    """
    xp = namespace(log_r)
    fast = getattr(engine_of(log_r), "fast_softmax", None)
    found: jax.Array | None = None if fast is None else fast(log_r, grouping, alpha)
    return _weighted_mean(log_r, _scores(xp.exp(log_r), grouping, alpha), grouping) if found is None else found


def softmax_relative(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return S_alpha with weights ``exp(alpha * r / max(r))``, which stay sharp however small all truths are."""
    xp = namespace(log_r)
    top = maximum(log_r, grouping, alpha)  # not held constant: its gradient is part of the function's
    relative = xp.exp(log_r - grouping.spread(xp.where(xp.isneginf(top), 0.0, top)))
    return _weighted_mean(log_r, _scores(relative, grouping, alpha), grouping)


def softmax_log(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return S_alpha with weights ``r ** alpha``, which do not depend on the scale of r; the mean at alpha = 0."""
    xp = namespace(log_r)
    zero = xp.isneginf(log_r)
    # A zero has no weight if alpha > 0 and all the weight if alpha < 0; its logarithm must not be used.
    stand_in = grouping.spread(finite(grouping.max(log_r)))
    score = _scores(xp.where(zero, stand_in, log_r), grouping, alpha)
    joined = _weighted_mean(log_r, xp.where(zero & (alpha > 0), -xp.inf, score), grouping)
    return zero_where(_count(zero, grouping) * (alpha < 0) > 0, joined)


def _count(marked: jax.Array, grouping: Grouping) -> jax.Array:
    """Return how many instances of each bag are marked."""
    return grouping.sum(namespace(marked).where(marked, 1.0, 0.0))


def maximum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``max(r)``; the instances that reach it share the gradient evenly."""
    xp = namespace(log_r)
    top = grouping.max(log_r)
    reaches = (log_r == grouping.spread(top)) & xp.isfinite(log_r)
    ties = grouping.sum(xp.asarray(reaches, dtype=log_r.dtype))
    share = grouping.sum(xp.where(reaches, log_r, 0.0)) / one_if_zero(ties)
    return top + share - stop_gradient(share)


def minimum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``min(r)``, the limit of S_alpha at minus infinity."""
    xp = namespace(log_r)
    zero = xp.isneginf(log_r)
    lowest = -maximum(-xp.where(zero, 0.0, log_r), grouping, alpha)
    empty = xp.isposinf(lowest)
    return zero_where((_count(zero, grouping) > 0) | empty, lowest)


def add_up(log_r: jax.Array, grouping: Grouping, measure: LogFunction, inverse: LogFunction) -> jax.Array:
    """Return ``inverse(sum(measure(r)))``, all in logarithms.

    The measure grows from 0 at r = 0 to infinity at r = 1, so one instance with r = 1 decides the bag.
    """
    xp = namespace(log_r)
    certain, zero = is_one(log_r), xp.isneginf(log_r)
    safe = xp.where(certain | zero, -1.0, log_r)
    log_t = log_sum_exp(xp.where(certain | zero, -xp.inf, measure(safe)), grouping)
    nothing = xp.isneginf(log_t)
    joined = zero_where(nothing, inverse(xp.where(nothing, 0.0, log_t)))
    return xp.where((_count(certain, grouping) > 0) & ~xp.isnan(joined), 0.0, joined)


def algebraic_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``1 - prod(1 - r)``: ``-log(1 - r)`` adds up."""
    xp = namespace(log_r)
    return add_up(
        log_r,
        grouping,
        lambda log_r: or_itself(lambda v: xp.log(-log1mexp(v)), log_r),
        lambda log_t: or_itself(lambda v: log1mexp(-xp.exp(v)), log_t),
    )


def bounded_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``min(1, sum(r))``."""
    xp = namespace(log_r)
    return xp.minimum(log_sum_exp(log_r, grouping), 0.0)


def log_mean_exp(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``log(mean(exp(alpha * r))) / alpha``, log-sum-exp pooling; the mean at alpha = 0."""
    xp = namespace(log_r)
    # mean(exp(a r)) = 1 + m with m = mean(expm1(a r)). Three factors near 1 stay in logs:
    # expm1(a r) = a r * q1 and log(1 + m) = m * q2, so the result is mean(r q1) * q2.
    r = xp.exp(log_r)
    log_n = xp.log(_sizes(log_r, grouping))
    top = finite(grouping.max(xp.abs(alpha) * r))
    # If alpha < 0, 1 + m approaches 0 and its logarithm loses digits long before it would overflow for alpha > 0.
    small = top < xp.where(alpha < 0, 1.0, 20.0)
    calm = xp.where(grouping.spread(small), alpha * r, 0.0)
    log_m = log_sum_exp(log_r + log_ratio(xp.expm1, calm), grouping) - log_n  # of m / alpha
    m = xp.where(small, alpha * xp.exp(log_m), 0.0)
    by_series = log_m + log_ratio(xp.log1p, m)
    a = xp.where(alpha == 0, 1.0, alpha)
    # For larger alpha * r the plain formula, relative to its greatest term, is exact enough.
    stirred = xp.where(grouping.spread(small), 0.0, a * r)
    top_of_all = xp.where(small, 0.0, log_sum_exp(stirred, grouping))  # keeps the -inf of an empty bag out
    by_shift = xp.where(small, 1.0, (top_of_all - log_n) / a)
    return xp.where(small, by_series, xp.log(one_if_zero(by_shift)))


def power_mean(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return ``mean(r ** alpha) ** (1 / alpha)``, the generalized mean; the geometric mean at alpha = 0."""
    xp = namespace(log_r)
    n = _sizes(log_r, grouping)
    zero = xp.isneginf(log_r)
    n_zero = _count(zero, grouping)
    gone = (n_zero >= n) | ((n_zero > 0) & (alpha <= 0)) | (grouping.sizes() == 0)[:, None]
    # In logs, relative to the instance that dominates at large alpha: exponents are at most 0, and near
    # alpha = 0 nothing cancels: log(mean(exp(a d))) = log1p(mean(expm1(a d))).
    highest, lowest = grouping.max(log_r), -grouping.max(xp.where(zero, -xp.inf, -log_r))
    reference = finite(xp.where(alpha >= 0, highest, lowest))
    d = xp.where(zero, 0.0, log_r - grouping.spread(reference))
    m = grouping.sum(xp.where(zero, -1.0, xp.expm1(alpha * d))) / n
    whole = grouping.sum(xp.where(zero, 0.0, xp.exp(alpha * d))) / n
    near = m > -0.5
    log_mean = xp.where(near, xp.log1p(xp.where(near, m, 0.0)), xp.log(one_if_zero(xp.where(near, 1.0, whole))))
    flat = alpha == 0
    rise = xp.where(flat, grouping.sum(d) / n, log_mean / xp.where(flat, 1.0, alpha))
    return zero_where(gone, reference + rise)


def _sizes(like: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the bag sizes (b, 1, ...) to divide sums by; 1 for an empty bag."""
    xp = namespace(like)
    sizes = xp.asarray(xp.maximum(grouping.sizes(), 1.0), dtype=like.dtype)
    return sizes.reshape(sizes.shape + (1,) * (like.ndim - 1))


AGGREGATIONS |= {"softmax": softmax, "softmax_relative": softmax_relative, "softmax_log": softmax_log}
AGGREGATIONS |= {"max": maximum, "min": minimum, "algebraic": algebraic_sum, "bounded": bounded_sum}
AGGREGATIONS |= {"lse": log_mean_exp, "power": power_mean}
SOFT_AGGREGATIONS |= {"softmax", "softmax_relative", "softmax_log", "lse", "power"}

# ---------------------------------------------------------------------- Layer 5: signed responses


def combine_softmax(z: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return S_alpha of the responses, equation (8) for signed values."""
    xp = namespace(z)
    weight = xp.exp(_scores(z, grouping, alpha))
    return grouping.sum(weight * z) / one_if_zero(grouping.sum(weight))


def _zero_if_empty(values: jax.Array, grouping: Grouping) -> jax.Array:
    xp = namespace(values)
    return xp.where((grouping.sizes() == 0)[:, None, None], 0.0, values)


COMBINERS |= {
    "softmax": combine_softmax,
    "mean": lambda z, grouping, alpha: combine_softmax(z, grouping, namespace(z).zeros_like(alpha)),
    "max": lambda z, grouping, alpha: _zero_if_empty(maximum(z, grouping, alpha), grouping),
    "min": lambda z, grouping, alpha: _zero_if_empty(-maximum(-z, grouping, alpha), grouping),
}
