"""Branches of compiled code that many fits take together."""

from __future__ import annotations

import jax
from jax.custom_batching import custom_vmap

__all__ = ["for_all"]


@custom_vmap
def for_all(good: jax.Array) -> jax.Array:
    """Return whether this holds for all fits that are computed together, so that they take one branch and not both.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> jax.vmap(for_all)(jnp.array([True, False])).tolist()
    [False, False]
    """
    return good


@for_all.def_vmap
def _for_all_of_them(n_fits: int, batched: list[bool], good: jax.Array) -> tuple[jax.Array, bool]:
    del n_fits, batched
    return for_all(good.all()), False
