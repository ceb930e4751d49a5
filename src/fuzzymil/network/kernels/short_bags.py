"""Layer 3 on GPUs: the softmax of equation (8) over bags of similar size, in one pass over the truths each way.

The general formula in `fuzzymil.network.aggregation` reduces each bag four times, and its automatic gradient keeps
several arrays (instances, rules). Here the reductions are unrolled, so that the compiler fuses them into one loop, and
the gradient is explicit: it needs only the truths and three numbers per bag and rule.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from fuzzymil.network.kernels.packed import Packed

__all__ = ["is_short", "softmax_of_short_bags"]

_MOST_INSTANCES = 32  # per bag; each is compiled separately


def is_short(grouping: object) -> bool:
    """Return whether `softmax_of_short_bags` can be used for these bags.

    Examples
    --------
    >>> is_short(Packed(jnp.array([0, 0, 1]), 2, jnp.array([0, 2, 3]), longest=2))
    True
    """
    return isinstance(grouping, Packed) and grouping.offsets is not None and grouping.longest <= _MOST_INSTANCES


class _Pooled(NamedTuple):
    """Results of the softmax over bags, (b, r) each. Weights are ``exp(alpha * (r - reference))``."""

    log_mean: jax.Array  # of r under the weights; -inf where every r is 0 or the bag is empty
    reference: jax.Array
    log_sum: jax.Array  # of r times its weight
    slope: jax.Array  # of log_mean by alpha


@jax.custom_vjp
def softmax_of_short_bags(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> jax.Array:
    """Return the logarithm (b, r) of the mean of r weighted by ``exp(alpha * r)``, like `aggregation.softmax`.

    Parameters
    ----------
    log_r : array of shape (i, r)
    bags : Packed
        Short bags with ``offsets``; see `is_short`.
    alpha : array of shape () or (r,)

    Examples
    --------
    >>> bags = Packed(jnp.array([0, 0, 1]), 2, jnp.array([0, 2, 3]), longest=2)
    >>> log_r = jnp.log(jnp.array([[0.2], [0.6], [0.5]]))
    >>> jnp.exp(softmax_of_short_bags(log_r, bags, jnp.zeros(()))).round(3).tolist()
    [[0.4000000059604645], [0.5]]
    """
    return _pooled(log_r, bags, alpha).log_mean


def _pooled(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    assert bags.offsets is not None
    starts, ends = bags.offsets[:-1], bags.offsets[1:]
    real = [(starts + number < ends)[:, None] for number in range(bags.longest)]
    truths = [log_r[jnp.minimum(starts + number, len(log_r) - 1)] for number in range(bags.longest)]
    greatest, smallest = (
        functools.reduce(join, [jnp.where(own, v, none) for own, v in zip(real, truths, strict=True)])
        for join, none in ((jnp.maximum, -jnp.inf), (jnp.minimum, jnp.inf))
    )
    # The truth of the instance with the greatest weight; 0 for an empty bag.
    reference = jnp.exp(jnp.where(starts[:, None] < ends[:, None], jnp.where(alpha >= 0, greatest, smallest), -jnp.inf))
    scores = [jnp.where(own, alpha * (jnp.exp(v) - reference), -jnp.inf) for own, v in zip(real, truths, strict=True)]
    terms = [jnp.where(own, v + score, -jnp.inf) for own, v, score in zip(real, truths, scores, strict=True)]
    top = functools.reduce(jnp.maximum, terms)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    all_weights = functools.reduce(jnp.add, map(jnp.exp, scores))
    shares = [jnp.exp(term - top) for term in terms]
    share = functools.reduce(jnp.add, shares)
    nothing = share == 0  # lets NaN through
    share = jnp.where(nothing, 1.0, share)
    log_sum = jnp.where(nothing, -jnp.inf, top + jnp.log(share))
    log_mean = log_sum - jnp.log(jnp.where(all_weights == 0, 1.0, all_weights))
    of_squares = functools.reduce(
        jnp.add, [jnp.where(own, each * jnp.exp(v), 0.0) for own, each, v in zip(real, shares, truths, strict=True)]
    )
    pooled = _Pooled(log_mean, reference, log_sum, of_squares / share - jnp.exp(log_mean))
    # Otherwise the compiler would fuse this into the sums over rules that follow, which is several times slower.
    found: _Pooled = jax.lax.optimization_barrier(pooled)  # type: ignore[no-untyped-call]
    return found


def _forward(
    log_r: jax.Array, bags: Packed, alpha: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, Packed, jax.Array, _Pooled]]:
    pooled = _pooled(log_r, bags, alpha)
    return pooled.log_mean, (log_r, bags, alpha, pooled)


def _backward(saved: tuple[jax.Array, Packed, jax.Array, _Pooled], g: jax.Array) -> tuple[jax.Array, None, jax.Array]:
    log_r, bags, alpha, pooled = saved
    # With weights w that sum to 1 and mean m: dm/dr = w (1 + alpha (r - m)); in logarithms, r w / m times the same
    # bracket. A bag that is empty or whose truths are all 0 has no gradient.
    log_sum = jnp.where(jnp.isneginf(pooled.log_sum), jnp.inf, pooled.log_sum)
    g_own, reference, log_sum, log_mean = map(bags.spread, (g, pooled.reference, log_sum, pooled.log_mean))
    r = jnp.exp(log_r)
    share = jnp.exp(log_r + alpha * (r - reference) - log_sum)
    d_alpha = jnp.where(jnp.isneginf(pooled.log_sum), 0.0, g * pooled.slope).sum(axis=0)
    return (
        g_own * share * (1 + alpha * (r - jnp.exp(log_mean))),
        None,
        d_alpha if jnp.ndim(alpha) else d_alpha.sum(),
    )


softmax_of_short_bags.defvjp(_forward, _backward)
