"""Fits divided among the cores of a CPU.

One compiled program uses several cores only inside great operations, and those of most fits are small. So groups of
fits are divided into equal shares, each trained by a thread of its own; being equal, the shares have one program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp

from fuzzymil._utils.runtime import granted_cores

__all__ = ["in_threads", "joined", "part", "shares"]


def shares(n_groups: int) -> list[slice]:
    """Places of groups that are trained in one thread; the last share may begin with some of the one before.

    On a GPU there is one share: it computes all fits at once.

    Examples
    --------
    >>> sum(share.stop - share.start for share in shares(100)) >= 100
    True
    """
    n_threads = granted_cores() if jax.default_backend() == "cpu" else 1
    size = -(-n_groups // n_threads)
    return [slice(first, first + size) for first in (min(k, n_groups - size) for k in range(0, n_groups, size))]


def part(tree: Any, share: slice) -> Any:
    """Take a share of the leading axis of all arrays."""
    if jax.tree.leaves(tree)[0].shape[0] == share.stop - share.start:
        return tree
    return jax.tree.map(lambda values: values[share], tree)


def joined(found: Sequence[Any], places: Sequence[slice]) -> Any:
    """Put what the shares gave into one tree, the inverse of `part`."""
    if len(found) == 1:
        return found[0]
    ends = [0, *(share.stop for share in places)]
    own = [
        jax.tree.map(lambda values, skip=end - share.start: values[skip:], each)
        for each, share, end in zip(found, places, ends[:-1], strict=True)
    ]
    return jax.tree.map(lambda *values: jnp.concatenate(values), *own)


def in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call each in a thread of its own, in the precision of the calling one, and wait for all."""
    if len(calls) == 1:
        return [calls[0]()]
    double = jax.dtypes.canonicalize_dtype(float) == jnp.float64

    def finished(call: Callable[[], Any]) -> Any:
        with jax.enable_x64(double):  # threads do not inherit it
            return jax.block_until_ready(call())  # type: ignore[no-untyped-call]

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(finished, calls))
