"""Epochs on a stream of bags, which goes through memory in windows.

With full batches, the gradients of all windows are summed before the single step of the epoch, and the rules are those
that the same bags in memory give, up to rounding. With mini-batches, the steps go through one window after another.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import prefetch
from fuzzymil.bags import BagStream
from fuzzymil.inference.layers import Masks, Params
from fuzzymil.inference.segments import padded_size
from fuzzymil.learn.train._loop import (
    Data,
    Free,
    Group,
    Numbers,
    Plan,
    Position,
    State,
    Trace,
    bucket_sizes,
    clean_costs,
    end_epoch,
    first_states,
    gradient_of_all,
    mean_one,
    stack,
    stack_limits,
    step,
    steps_through,
)
from fuzzymil.learn.train.constraints import Limits
from fuzzymil.learn.train.partition import StreamSummary
from fuzzymil.learn.train.scaling import Scaling

WINDOW_VALUES = 1 << 22
"""Largest number of values in a window; parts of a stream are not divided, though."""


class Feed:
    """The bags of a stream, in windows.

    A window holds several parts, chosen at random, and mini-batches take their bags from all over it. All windows have
    the same shape.

    ``axes`` are those of the rules. Shapes: ``targets`` (n_bags, n_outputs), in the units of the data; ``weights``
    (n_fits, n_bags): 0 leaves a bag out of that fit's training; ``held_out`` (n_fits, n_bags): weights of the
    validation bags.
    """

    def __init__(
        self,
        stream: BagStream,
        summary: StreamSummary,
        axes: Scaling,
        targets: Array,
        weights: Array,
        held_out: Any,
        dtype: Any,
    ) -> None:
        self.dtype = dtype
        self._stream, self._summary, self._axes, self._fill = stream, summary, axes, -axes.shift / axes.scale
        self._n_training = (weights > 0).sum(axis=1)  # (m,)
        self._targets = axes.apply_to_targets(targets)
        self._weights = mean_one(weights)
        self._held_out = np.zeros_like(self._weights) if held_out is None else held_out
        largest = np.cumsum(np.sort(summary.part_rows)[::-1]) * len(self._fill)
        several = max(int(np.searchsorted(largest, WINDOW_VALUES, side="right")), 1)
        rows = int(np.sort(summary.part_rows)[-several:].sum())
        bags = int(np.sort(summary.part_bags)[-several:].sum())
        self.n_windows = -(-len(summary.part_rows) // several)
        self._parts_per_window, self._n_rows, self._n_bags = several, padded_size(rows), padded_size(bags + 1)
        self._resident: list[Data] = []  # the only window, if there is one

    @property
    def identity(self) -> tuple[str, tuple[Array, ...]]:
        """Text and arrays that identify these bags, their labels and weights."""
        return self._summary.digest, (self._targets, self._weights, self._held_out)

    def bucket_sizes(self, batch_size: int) -> tuple[int, ...]:
        """Return the sizes that mini-batches are padded to."""
        return bucket_sizes(np.array([min(self._summary.greatest_bag * batch_size, self._n_rows)]), 1)

    def windows(self, seed: Sequence[int] | None, begin: int = 0) -> Iterator[Data]:
        """Yield the windows of an epoch, starting with number ``begin``.

        ``seed``: seed of the random order of the parts; None keeps their order in the stream.
        """
        n_parts = len(self._summary.part_rows)
        if self.n_windows == 1:
            if not self._resident:
                self._resident.append(self._data(self._window(np.arange(n_parts))))
            if begin == 0:
                yield self._resident[0]
            return
        order = np.arange(n_parts)
        if seed is not None:
            order = np.random.default_rng(seed).permutation(order)
        edges = self._parts_per_window * np.arange(self.n_windows + 1)
        chosen = [order[start:end] for start, end in itertools.pairwise(edges)]
        for window in prefetch(self._window, chosen[begin:]):
            yield self._data(window)

    def _window(self, parts: Array) -> dict[str, Array | None]:
        """Join parts in padded arrays; padding rows belong to a padding bag."""
        ends = np.cumsum(self._summary.part_bags)
        x = np.zeros((self._n_rows, len(self._fill)), self.dtype)
        known = np.ones_like(x) if self._summary.any_missing else None
        index = np.zeros(self._n_rows, np.int32)
        offsets = np.zeros(self._n_bags + 1, np.int32)
        own = np.zeros(self._n_bags, np.int32)
        n_rows = n_bags = 0
        for part in parts:
            bags = self._stream.part(int(part))
            before = int(self._summary.part_bags[part]), int(self._summary.part_rows[part])
            if (bags.n_bags, bags.n_instances) != before:
                raise RuntimeError(
                    f"Part {part} of the stream changed: it had {before[0]} bags with {before[1]} rows, and now has "
                    f"{bags.n_bags} bags with {bags.n_instances} rows. load must return the same bags each time."
                )
            rows, places = slice(n_rows, n_rows + bags.n_instances), slice(n_bags, n_bags + bags.n_bags)
            values = self._axes.apply(bags.instances)
            if known is not None:
                missing = np.isnan(values)
                known[rows] = ~missing
                values = np.where(missing, self._fill, values)
            x[rows] = values
            index[rows] = n_bags + bags.bag_index
            offsets[places] = n_rows + bags.offsets[:-1]
            own[places] = ends[part] - bags.n_bags + np.arange(bags.n_bags)
            n_rows, n_bags = rows.stop, places.stop
        index[n_rows:] = n_bags
        offsets[n_bags:] = n_rows
        real = np.arange(self._n_bags) < n_bags
        return {
            "x": x,
            "known": known,
            "bag_index": index,
            "offsets": offsets,
            "targets": np.where(real[:, None], self._targets[own], 0.0).astype(self.dtype),
            "weights": np.where(real, self._weights[:, own], 0.0).astype(self.dtype),
            "held_out": np.where(real, self._held_out[:, own], 0.0).astype(self.dtype),
            "numbers": own,
        }

    def _data(self, window: dict[str, Array | None]) -> Data:
        arrays: Any = jax.tree.map(jnp.asarray, window)
        return Data(**arrays, n_training=jnp.asarray(self._n_training, self.dtype))


class _Underway(NamedTuple):
    """An epoch after some of its windows; arrays have one entry per fit."""

    n_windows: Array  # () done
    free: Free  # now, if steps are taken in each window
    optimizer: Any
    gradient: Free  # the sum so far, if the epoch ends in a single step
    loss: Array  # likewise; otherwise a sum over bags
    error: Array
    n_bags: Array


class Windows:
    """Runs the epochs of a group of fits on the bags of a feed; the group's own bags are ignored.

    Its methods are those of `fuzzymil.learn.train.trainer.InMemory`. Between compiled calls everything is NumPy.
    """

    def __init__(self, group: Group, plan: Plan, feed: Feed, numbers: Numbers) -> None:
        dtype = feed.dtype
        self.fixed: Params = stack([stack(group.starts, dtype)], dtype)
        first = first_states([group], plan, self.fixed, dtype)
        first = jax.tree.map(np.asarray, first._replace(key=jax.random.key_data(first.key)))
        limits = stack_limits([group], dtype)
        self._plan, self._feed = plan, feed
        self._fixed: Params = _first(self.fixed)
        self._masks: Masks = stack(group.masks, dtype)
        self._limits: Limits | None = None if limits is None else _first(limits)
        rate, tol = (np.asarray(each, dtype) for each in numbers[:2])
        self._numbers = Numbers(rate, tol, np.asarray(numbers.patience))
        self._seed = group.seeds[0]
        self.start = Position(first, _fresh(_first(first)))

    def epochs(self, position: Position, n_epochs: int, *, singly: bool) -> Iterator[tuple[Position, Trace, float]]:
        """Run epochs, stopping after each window."""
        states, underway = _first(position.states), position.underway
        blank = np.zeros((1, len(states.done), 0))
        while n_epochs > 0 and not states.done.all():
            for underway in self._windows(states, underway):  # noqa: B020
                fraction = float(underway.n_windows) / self._feed.n_windows
                yield Position(_expanded(states), underway), Trace(blank, blank, blank, blank), fraction
            states, trace = self._concluded(states, underway)
            underway = _fresh(states)
            n_epochs -= 1
            yield Position(_expanded(states), underway), trace, 0.0

    def finish(self, position: Position, history: Trace) -> tuple[State, Array, Array]:
        """Return the final states and their losses on training and validation bags, (1, m) each."""
        states, underway = position
        if self._plan.batch_size is not None:  # the steps of an epoch that was interrupted count
            states = states._replace(free=_expanded(underway.free), optimizer=_expanded(underway.optimizer))
        if states.done.size == 1 and not self._plan.validate and history.loss.shape[-1]:
            # Losses serve to compare fits; a single one needs no further pass over all bags.
            return states, history.loss[..., -1], np.full((1, 1), np.nan)
        loss, validation = self._losses(_first(states.trained(self._plan)))
        return states, loss[None], validation[None]

    def _windows(self, states: State, underway: _Underway) -> Iterator[_Underway]:
        """Go through the remaining windows of an epoch and yield its state after each."""
        feed, batch_size = self._feed, self._plan.batch_size
        shuffled = None if batch_size is None else [self._seed, int(states.epoch.max())]
        for data in feed.windows(shuffled, int(underway.n_windows)):
            # The key of a window depends on its number alone, so it does not matter where training is cut. With full
            # batches, bags draw by their own numbers, whichever window they are in.
            numbers = states.epoch if batch_size is None else states.epoch * feed.n_windows + underway.n_windows
            underway = self._after(states, underway, np.asarray(_keys(states.key, numbers)), data)
            yield underway

    def _after(self, states: State, underway: _Underway, keys: Array, data: Data) -> _Underway:
        plan = self._plan
        done = underway.n_windows + 1
        if plan.batch_size is None:
            arguments: tuple[Any, ...] = (states.free, keys, self._fixed, self._masks)
            gradient, loss, error = _numpy(_gradient(plan, arguments, data))
            gradient = jax.tree.map(np.add, underway.gradient, gradient)
            return underway._replace(
                n_windows=done, gradient=gradient, loss=underway.loss + loss, error=underway.error + error
            )
        arguments = (underway.free, underway.optimizer, keys, self._fixed, self._masks)
        plan = dataclasses.replace(plan, buckets=self._feed.bucket_sizes(plan.batch_size))
        found = _steps(plan, arguments, self._limits, self._numbers.rate, data)
        free, optimizer, (loss, error), count = _numpy(found)
        return underway._replace(
            n_windows=done,
            free=free,
            optimizer=optimizer,
            loss=underway.loss + loss,
            error=underway.error + error,
            n_bags=underway.n_bags + count,
        )

    def _concluded(self, states: State, underway: _Underway) -> tuple[State, Trace]:
        """End an epoch: take the step if it is still to come, and decide which fits are done."""
        plan = self._plan
        free, optimizer, loss, error = underway.free, underway.optimizer, underway.loss, underway.error
        if plan.batch_size is None:
            free, optimizer = _numpy(
                _advance(plan, free, optimizer, underway.gradient, self._limits, self._numbers.rate)
            )
        else:
            loss, error = loss / underway.n_bags, error / underway.n_bags
        held_out = self._losses(free)[1] if plan.validate else None
        after, change = _numpy(_conclude(plan, states, free, optimizer, loss, held_out, self._fixed, self._numbers))
        # A fit that was done stays as it was.
        after = jax.tree.map(
            lambda new, old: np.where(states.done.reshape((-1,) + (1,) * (new.ndim - 1)), old, new), after, states
        )
        change = np.where(states.done, np.nan, change)
        validation = loss if held_out is None else held_out
        return after, Trace(*(values[None, :, None] for values in (loss, np.sqrt(error), change, validation)))

    def _losses(self, free: Free) -> tuple[Array, Array]:
        """Return the mean loss (m,) on the training and the validation bags, computed as at test time."""
        sums = np.zeros((4, len(self._fixed.coefs)))
        for data in self._feed.windows(None):
            found = _costs(self._plan, (free, self._fixed, self._masks), data)
            sums += np.stack([np.asarray(values, np.float64) for values in found])
        trained, weights, validated, held = sums
        return trained / np.where(weights > 0, weights, 1.0), validated / np.where(held > 0, held, 1.0)


def _fresh(states: State) -> _Underway:
    """Return an epoch that is about to begin."""
    zero = np.zeros(states.done.shape, states.best_loss.dtype)
    return _Underway(
        n_windows=np.array(0),
        free=states.free,
        optimizer=states.optimizer,
        gradient=jax.tree.map(np.zeros_like, states.free),
        loss=zero,
        error=zero,
        n_bags=zero,
    )


# ---------------------------------------------------------------------- compiled


def _numpy(tree: Any) -> Any:
    return jax.tree.map(np.asarray, tree)


def _first(tree: Any) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[0], tree)


def _expanded(tree: Any) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[None], tree)


@jax.jit
def _keys(keys: Any, numbers: Any) -> jax.Array:
    """Return the keys (m, 2) of fits at these epoch or window numbers."""
    fold = jax.vmap(lambda key, number: jax.random.fold_in(jax.random.wrap_key_data(key), number))
    return jax.random.key_data(fold(keys, numbers))  # type: ignore[no-untyped-call]


def _for_each_fit(function: Callable[..., Any], plan: Plan, arguments: tuple[Any, ...], data: Data) -> Any:
    """Call ``function(*arguments, data)`` for each fit, with its own weights."""

    def fit(arguments: tuple[Any, ...], weights: Any, held_out: Any, n_training: Any) -> Any:
        return function(*arguments, data._replace(weights=weights, held_out=held_out, n_training=n_training))

    each = (arguments, data.weights, data.held_out, data.n_training)
    if plan.batch_size is None:
        return jax.vmap(fit)(*each)
    return jax.lax.map(lambda entry: fit(*entry), each)  # mini-batches choose a bucket size: one fit at a time


@functools.partial(jax.jit, static_argnames=("plan",))
def _gradient(plan: Plan, arguments: tuple[Any, ...], data: Data) -> Any:
    def fit(free: Free, key: Any, fixed: Params, masks: Masks, data: Data) -> Any:
        return gradient_of_all(free, jax.random.wrap_key_data(key), fixed, masks, plan, data)

    return _for_each_fit(fit, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan",))
def _steps(plan: Plan, arguments: tuple[Any, ...], limits: Limits | None, rate: Any, data: Data) -> Any:
    def fit(free: Free, optimizer: Any, key: Any, fixed: Params, masks: Masks, data: Data) -> Any:
        key = jax.random.wrap_key_data(key)
        return steps_through(free, optimizer, key, fixed, masks, limits, plan, data, rate)

    return _for_each_fit(fit, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan",))
def _costs(plan: Plan, arguments: tuple[Any, ...], data: Data) -> Any:
    plan = dataclasses.replace(plan, batch_size=None)

    def fit(free: Free, fixed: Params, masks: Masks, data: Data) -> Any:
        costs, _ = clean_costs(free, fixed, masks, plan, data)
        return [
            found
            for weights in (data.weights, data.held_out)
            for found in (jnp.sum(jnp.where(weights > 0, weights * costs, 0.0)), jnp.sum(weights))
        ]

    return _for_each_fit(fit, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan",))
def _advance(plan: Plan, free: Free, optimizer: Any, gradient: Free, limits: Limits | None, rate: Any) -> Any:
    return jax.vmap(functools.partial(step, plan=plan, limits=limits, rate=rate))(free, optimizer, gradient)


@functools.partial(jax.jit, static_argnames=("plan",))
def _conclude(
    plan: Plan, states: State, free: Free, optimizer: Any, loss: Any, held_out: Any, fixed: Params, numbers: Numbers
) -> Any:
    each = jax.vmap(functools.partial(end_epoch, plan=plan, numbers=numbers))
    return each(states, free, optimizer, loss, held_out, fixed)
