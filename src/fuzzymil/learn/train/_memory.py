"""Epochs on bags in memory: compiled stretches, with groups of fits divided among the cores of a CPU.

A compiled program uses several cores only inside large operations, and those of most fits are small. So the groups are
divided into equal shares and each share is trained by its own thread; because shares are equal, they need one program.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import granted_cores
from fuzzymil.inference.layers import Params
from fuzzymil.inference.segments import even_size
from fuzzymil.learn.train._loop import (
    CHUNK,
    Group,
    Position,
    State,
    Trace,
    evaluate,
    first_states,
    mean_one,
    run,
    stacked,
    stacked_limits,
)
from fuzzymil.learn.train._step import Data, Plan, bucket_sizes

_LARGE = 1 << 26  # bytes of instances that need attention to memory
_STRETCH_SECONDS = 0.3  # how long Ctrl-C, callbacks and progress may have to wait


class InMemory:
    """Runs the epochs of groups of fits, whose bags are all in memory.

    See `fuzzymil.learn.train.trainer.Runner` for the attributes and methods.
    """

    def __init__(
        self, groups: list[Group], plan: Plan, *, learning_rate: float, tol: float, n_iter_no_change: int
    ) -> None:
        dtype = groups[0].bags.x.dtype
        starts = [(stacked(group.starts, dtype), stacked(group.masks, dtype)) for group in groups]
        fixed, masks = jax.tree.map(jnp.asarray, stacked(starts, dtype))
        data = _on_device(groups, dtype)
        if plan.batch_size is not None:
            sizes = [np.diff(group.bags.offsets[: group.bags.n_bags + 1]) for group in groups]
            buckets = max(bucket_sizes(each, plan.batch_size) for each in sizes)
        else:
            buckets = () if jax.default_backend() == "cpu" else (even_size([group.bags for group in groups]),)
        numbers = {
            "rate": jnp.asarray(learning_rate, dtype),
            "tol": jnp.asarray(tol, dtype),
            "n_iter_no_change": jnp.asarray(n_iter_no_change),
        }
        described = {"fixed": fixed, "masks": masks, "limits": stacked_limits(groups, dtype), "data": data}
        self.fixed: Params = fixed
        self.start = Position(first_states(groups, plan, fixed, dtype))
        self._plan, self._masks, self._data = plan, masks, data
        self._large = data.x.nbytes > _LARGE
        self._shares = shares(len(groups))
        self._programs = [
            functools.partial(run, plan, buckets, **part(described, share), **numbers) for share in self._shares
        ]

    def epochs(self, position: Position, n_epochs: int, *, singly: bool) -> Iterator[tuple[Position, Trace, float]]:
        """Run stretches of epochs that take a fraction of a second, or single epochs."""
        states = position.states
        if self._large:  # what starting has freed must not add to what compiling needs
            memory.give_back()
        if len(self._programs) > 1 or self._large:  # compile once, before all threads ask for the program
            self._programs[0](states=part(states, self._shares[0]), n_epochs=jnp.asarray(0))
        if self._large:  # nor what compiling has freed to what training needs
            memory.give_back()
        stretch = 1 if singly else 8
        while n_epochs > 0 and not bool(states.done.all()):
            n = min(stretch, n_epochs, CHUNK)
            began = time.perf_counter()
            states, trace = self._run(states, jnp.asarray(n))
            trace = jax.device_get(trace)
            seconds = max(time.perf_counter() - began, 1e-4)
            yield Position(states), Trace(*(values[..., :n] for values in trace)), 0.0
            n_epochs -= n
            if not singly:
                stretch = int(np.clip(n * _STRETCH_SECONDS / seconds, n / 2 + 1, 4 * n + 1))

    def _run(self, states: State, n_epochs: jax.Array) -> Any:
        calls = [
            functools.partial(program, states=part(states, share), n_epochs=n_epochs)
            for program, share in zip(self._programs, self._shares, strict=True)
        ]
        return joined(in_threads(calls), self._shares)

    def finish(self, position: Position, history: Trace) -> tuple[State, Array, Array]:
        """Return the final states and their losses on training and validation bags, (g, m) each."""
        del history
        program: Callable[..., Any] = functools.partial(evaluate, self._plan)
        arguments = (position.states.trained(self._plan), self.fixed, self._masks, self._data)
        if self._large:  # as before training
            program = evaluate.lower(self._plan, *arguments).compile()
            memory.give_back()
        found = program(*arguments)
        loss, validation = (np.asarray(values, np.float64) for values in found)
        return position.states, loss, validation


def _on_device(groups: list[Group], dtype: Any) -> Data:
    """Stack the groups' data, padded to the size of the largest."""
    n_rows = max(len(group.bags.x) for group in groups)
    n_bags = max(len(group.bags.offsets) - 1 for group in groups)

    def padded_alike(values: list[Array], length: int, fill: list[int] | int = 0, axis: int = 0) -> Array:
        if len(values) == 1 and values[0].shape[axis] == length:  # nothing to copy
            return values[0][None]
        shape = list(values[0].shape)
        shape[axis] = length
        fills = np.reshape(fill, (-1, *[1] * len(shape)))
        found = np.empty((len(values), *shape), values[0].dtype)
        found[...] = fills
        for place, array in enumerate(values):
            found[place][(slice(None),) * axis + (slice(array.shape[axis]),)] = array
        return found

    weights = [mean_one(group.weights) for group in groups]
    held_out = [np.zeros_like(group.weights) if group.held_out is None else group.held_out for group in groups]
    known = None
    if any(group.bags.known is not None for group in groups):
        known = [np.ones_like(group.bags.x) if group.bags.known is None else group.bags.known for group in groups]
    index = [group.bags.bag_index for group in groups if group.bags.bag_index is not None]
    # The bag after the last real one is padding in every group, so further padding rows may join it.
    spare = [group.bags.n_bags for group in groups]
    ends = [group.bags.n_instances for group in groups]
    return Data(
        x=jnp.asarray(padded_alike([group.bags.x for group in groups], n_rows), dtype),
        known=None if known is None else jnp.asarray(padded_alike(known, n_rows), dtype),
        bag_index=jnp.asarray(padded_alike(index, n_rows, spare)) if index else None,
        offsets=jnp.asarray(padded_alike([group.bags.offsets for group in groups], n_bags + 1, ends)),
        targets=jnp.asarray(padded_alike([group.targets for group in groups], n_bags), dtype),
        weights=jnp.asarray(padded_alike(weights, n_bags, axis=1), dtype),
        held_out=jnp.asarray(padded_alike(held_out, n_bags, axis=1), dtype),
    )


# ---------------------------------------------------------------------- shares of the groups, one per thread


def shares(n_groups: int) -> list[slice]:
    """Return the groups that each thread trains; the last share may repeat some groups of the one before.

    On a GPU there is one share, because it computes all fits at once.

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
    return _between(tree, share.start, share.stop)


def joined(found: Sequence[Any], places: Sequence[slice]) -> Any:
    """Join the results of all shares; the inverse of `part`."""
    if len(found) == 1:
        return found[0]
    ends = [0, *(share.stop for share in places)]
    return _without_repeats(list(found), tuple(end - share.start for share, end in zip(places, ends[:-1], strict=True)))


# Compiled, because a call for each array of the states takes longer than some epochs.


@functools.partial(jax.jit, static_argnames=("start", "stop"))
def _between(tree: Any, start: int, stop: int) -> Any:
    return jax.tree.map(lambda values: values[start:stop], tree)


@functools.partial(jax.jit, static_argnames=("repeats",))
def _without_repeats(found: list[Any], repeats: tuple[int, ...]) -> Any:
    """Concatenate trees along the leading axes of their arrays, each without its first entries, which are repeated."""
    own = [
        jax.tree.map(lambda values, first=first: values[first:], each)
        for each, first in zip(found, repeats, strict=True)
    ]
    return jax.tree.map(lambda *values: jnp.concatenate(values), *own)


def in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run each call in its own thread, with the caller's precision, and wait for all of them."""
    if len(calls) == 1:
        return [calls[0]()]
    double = jax.dtypes.canonicalize_dtype(float) == jnp.float64

    def finished(call: Callable[[], Any]) -> Any:
        with jax.enable_x64(double):  # threads do not inherit it
            return jax.block_until_ready(call())  # type: ignore[no-untyped-call]

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(finished, calls))
