"""Layer 3 of on-line learning: the softmax of equation (8) over a single bag, with an explicit gradient.

A bag has few truths, so starting an operation takes longer than the operation. The gradient of the general formula in
`fuzzymil.network.aggregation` takes a dozen of them; here it is one, from the truths and three numbers per rule.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

__all__ = ["softmax_of_one_bag"]


class _Joined(NamedTuple):
    """Results of the softmax, (1, r) each. Weights are ``exp(alpha * (r - reference))``."""

    log_mean: jax.Array  # of r under the weights; -inf where every r is 0 or the bag is empty
    reference: jax.Array  # the r with the greatest weight; 0 in an empty bag
    log_sum: jax.Array  # of r times its weight


@jax.custom_vjp
def softmax_of_one_bag(log_r: jax.Array, real: jax.Array, alpha: jax.Array) -> jax.Array:
    """Return the logarithm (1, r) of the mean of r weighted by ``exp(alpha * r)``, like `aggregation.softmax`.

    Parameters
    ----------
    log_r : array of shape (i, r)
    real : array of shape (i,)
        False for rows that only pad the bag.
    alpha : array of shape () or (r,)

    Examples
    --------
    >>> log_r, real = jnp.log(jnp.array([[0.2], [0.6], [0.9]])), jnp.array([True, True, False])
    >>> jnp.exp(softmax_of_one_bag(log_r, real, jnp.zeros(()))).round(3).tolist()
    [[0.4000000059604645]]
    """
    return _joined(log_r, real, alpha).log_mean


def _joined(log_r: jax.Array, real: jax.Array, alpha: jax.Array) -> _Joined:
    own, sign = real[:, None], jnp.where(alpha >= 0, 1.0, -1.0).astype(log_r.dtype)

    def greatest(values: jax.Array) -> jax.Array:
        return jnp.where(own, values, -jnp.inf).max(axis=0, keepdims=True)

    def total(values: jax.Array) -> jax.Array:
        return jnp.where(own, jnp.exp(values), 0.0).sum(axis=0, keepdims=True)

    leading = greatest(sign * log_r)
    reference = jnp.where(jnp.isneginf(leading), 0.0, jnp.exp(sign * leading))
    score = alpha * (jnp.exp(log_r) - reference)
    top = greatest(log_r + score)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    weights, share = total(score), total(log_r + score - top)
    nothing = share == 0  # lets NaN through
    log_sum = jnp.where(nothing, -jnp.inf, top + jnp.log(jnp.where(nothing, 1.0, share)))
    return _Joined(log_sum - jnp.log(jnp.where(weights == 0, 1.0, weights)), reference, log_sum)


_Saved = tuple[jax.Array, jax.Array, jax.Array, _Joined]


def _forward(log_r: jax.Array, real: jax.Array, alpha: jax.Array) -> tuple[jax.Array, _Saved]:
    joined = _joined(log_r, real, alpha)
    return joined.log_mean, (log_r, real, alpha, joined)


def _backward(saved: _Saved, g: jax.Array) -> tuple[jax.Array, None, jax.Array]:
    log_r, real, alpha, joined = saved
    # With weights w that sum to 1 and mean m: dm/dr = w (1 + alpha (r - m)); in logarithms, r w / m times the same
    # bracket. A bag that is empty or whose truths are all 0 has no gradient.
    r, mean, nothing = jnp.exp(log_r), jnp.exp(joined.log_mean), jnp.isneginf(joined.log_sum)
    log_sum = jnp.where(nothing, jnp.inf, joined.log_sum)
    share = jnp.where(real[:, None], jnp.exp(log_r + alpha * (r - joined.reference) - log_sum), 0.0)
    d_alpha = jnp.where(nothing, 0.0, g * ((share * r).sum(axis=0, keepdims=True) - mean)).sum(axis=0)
    return g * (1 + alpha * (r - mean)) * share, None, d_alpha if jnp.ndim(alpha) else d_alpha.sum()


softmax_of_one_bag.defvjp(_forward, _backward)
