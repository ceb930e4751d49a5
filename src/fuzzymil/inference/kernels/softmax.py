"""Layer 3 in compiled code: the softmax of equation (8) over packed bags, with its own gradient.

The automatic gradient of the general formula in `fuzzymil.inference.aggregation` keeps several arrays (instances,
rules). The one here is explicit: it needs only the truths and three numbers per bag and rule. For
short bags of similar size on GPUs the reductions are unrolled, so that the compiler fuses them into one loop over the
truths.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from fuzzymil.inference.kernels.branches import for_all
from fuzzymil.inference.kernels.packed import Packed

__all__ = ["pays", "softmax_of_bags"]

_Values = TypeVar("_Values", bound=tuple[jax.Array, ...])
_MOST_INSTANCES = 32  # per bag that is unrolled; each is compiled separately
_LARGE = 1 << 21  # values that are faster to compute again than to fetch from memory


def pays(log_r: jax.Array, bags: Packed) -> bool:
    """Return whether `softmax_of_bags` is faster than the general formula, with its gradient.

    Examples
    --------
    >>> bags = Packed(jnp.array([0, 0, 1]), 2)
    >>> pays(jnp.zeros((3, 1)), bags), pays(jnp.zeros((3, 1 << 20)), bags)
    (False, True)
    """
    return _is_short(bags) or log_r.size > _LARGE


def _is_short(bags: Packed) -> bool:
    return bags.offsets is not None and bags.longest <= _MOST_INSTANCES


class _Pooled(NamedTuple):
    """Results of the softmax over bags, (b, r) each. Weights are ``exp(alpha * (r - reference))``."""

    log_mean: jax.Array  # of r under the weights; -inf where every r is 0 or the bag is empty
    reference: jax.Array
    log_sum: jax.Array  # of r times its weight
    slope: jax.Array  # of log_mean by alpha


@jax.custom_vjp
def softmax_of_bags(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> jax.Array:
    """Return the logarithm (b, r) of the mean of r weighted by ``exp(alpha * r)``, like `aggregation.softmax`.

    Parameters
    ----------
    log_r : array of shape (i, r)
    bags : Packed
    alpha : array of shape () or (r,)

    Examples
    --------
    >>> bags = Packed(jnp.array([0, 0, 1]), 2, jnp.array([0, 2, 3]), longest=2)
    >>> log_r = jnp.log(jnp.array([[0.2], [0.6], [0.5]]))
    >>> jnp.exp(softmax_of_bags(log_r, bags, jnp.zeros(()))).round(3).tolist()
    [[0.4000000059604645], [0.5]]
    """
    return _pooled(log_r, bags, alpha).log_mean


def _pooled(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    return (_unrolled if _is_short(bags) else _by_reductions)(log_r, bags, alpha)


def _by_reductions(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    """Reduce one array (instances, rules) after another, each computed anew from the truths.

    So only one of them is in memory besides the truths.
    """

    def score(log_r: jax.Array, reference: jax.Array) -> jax.Array:
        return alpha * (jnp.exp(log_r) - bags.spread(reference))

    def where_weights_increase() -> tuple[jax.Array, jax.Array]:
        # The instance with the greatest truth has the greatest weight and the greatest term.
        greatest = bags.max(log_r)
        return jnp.exp(greatest), greatest

    def anywhere() -> tuple[jax.Array, jax.Array]:
        sign = jnp.where(alpha >= 0, 1.0, -1.0).astype(log_r.dtype)
        extreme = sign * bags.max(sign * log_r)
        reference = jnp.exp(jnp.where(jnp.isposinf(extreme), -jnp.inf, extreme))  # of an empty bag, 0
        return reference, bags.max(log_r + score(log_r, reference))

    reference, top = jax.lax.cond(for_all(jnp.all(alpha >= 0)), where_weights_increase, anywhere)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    all_weights = bags.sum(jnp.exp(score(log_r, reference)))
    again, reference, all_weights = _anew((log_r, reference, all_weights))
    share = bags.sum(jnp.exp(again + score(again, reference) - bags.spread(top)))
    nothing = share == 0  # lets NaN through
    share = jnp.where(nothing, 1.0, share)
    log_sum = jnp.where(nothing, -jnp.inf, top + jnp.log(share))
    log_mean = log_sum - jnp.log(jnp.where(all_weights == 0, 1.0, all_weights))
    again, reference, top, share = _anew((log_r, reference, top, share))
    of_squares = bags.sum(jnp.exp(2 * again + score(again, reference) - bags.spread(top)))
    return _Pooled(log_mean, reference, log_sum, of_squares / share - jnp.exp(log_mean))


def _anew(values: _Values) -> _Values:
    """Make the compiler wait for all values, and compute what follows from them without reusing earlier results."""
    found: _Values = jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return found


def _unrolled(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
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
    if not _is_short(bags):
        log_r, g = _anew((log_r, g))
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


softmax_of_bags.defvjp(_forward, _backward)
