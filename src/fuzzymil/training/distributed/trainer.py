"""Learning from bags that are not all in this process's memory: spread over processes, or streamed in parts.

An epoch goes through the windows of a `Feed`. With all bags at once, the gradients of the windows and of the processes
are summed before the one step of the epoch, and any number of processes gives the same rules, up to rounding. With
fewer bags a step, the steps go through one window after another, and each takes its bags from the windows that all
processes are at; the rules are the same where each process has one window.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import make_room
from fuzzymil.network.layers import Masks, Params
from fuzzymil.training.checkpoints import Checkpoint, Checkpoints, Saved
from fuzzymil.training.distributed.feed import Feed
from fuzzymil.training.distributed.processes import SHARES, told_of_loss
from fuzzymil.training.loop import State, concluded
from fuzzymil.training.step import Data, Free, Limits, Plan, clean_costs, gradient_of_all, step, steps_through
from fuzzymil.training.trainer import Group, Progress, Result, entries, first_states, limits_on_device, natural, stacked

__all__ = ["train_widely"]

_KEEP_SECONDS = 10.0  # between checkpoints


class _Underway(NamedTuple):
    """An epoch after some of its windows; arrays have an entry a fit."""

    n_windows: Array  # () gone through
    free: Free  # as it is now, where steps are taken in each window
    optimizer: Any
    gradient: Free  # summed so far, where the epoch ends in one step
    loss: Array  # likewise; else a sum over bags
    error: Array
    n_bags: Array


def train_widely(
    group: Group,
    plan: Plan,
    feed: Feed,
    *,
    learning_rate: float,
    max_epochs: int,
    tol: float,
    n_iter_no_change: int,
    callbacks: tuple[Callable[[Progress], Any], ...] = (),
    report: Callable[[Progress], Any] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Result:
    """Train the fits of a group on the bags of a feed; those of the group itself are not looked at.

    For the settings see `fuzzymil.training.trainer.train_groups`.
    """
    make_room()
    began = time.perf_counter()
    plan = dataclasses.replace(plan, shares=SHARES)
    with jax.enable_x64(feed.dtype == np.float64):
        training = _Training(group, plan, feed, learning_rate, tol, n_iter_no_change)
        checkpoint = None
        if checkpoints is not None and feed.crew.rank == 0:
            words = f"{plan}\n{learning_rate!r} {tol!r} {n_iter_no_change!r} {feed.crew.size}"
            checkpoint = checkpoints.of(f"{words} {feed.digest}", (group, feed.targets, feed.weights, feed.held_out))
        interrupted = training.drive(max_epochs, callbacks, report, checkpoint)
        states = training.states
        final = states.best if plan.validate else states.free
        loss, validation = training.final_losses(final)
        params = natural(_expanded(final), _expanded(training.fixed), plan)
    return Result(
        entries(jax.tree.map(lambda values: values[0], params)),
        loss,
        validation if plan.validate else None,
        training.histories(),
        np.asarray(states.epoch) - group.first_epoch,
        interrupted,
        np.asarray(states.diverged),
        states.optimizer,
        time.perf_counter() - began,
    )


class _Training:
    """Fits and what they are trained with. Between compiled calls all of it is NumPy, equal in every process."""

    def __init__(
        self, group: Group, plan: Plan, feed: Feed, learning_rate: float, tol: float, n_iter_no_change: int
    ) -> None:
        dtype = feed.dtype
        fixed = stacked([stacked(group.starts, dtype)], dtype)
        first = first_states([group], plan, fixed, dtype)
        self.plan, self.feed = plan, feed
        self.fixed: Params = _first(fixed)
        self.masks: Masks = jax.tree.map(np.asarray, stacked(group.masks, dtype))
        limits = limits_on_device([group], dtype)
        self.limits: Limits | None = None if limits is None else _first(limits)
        self.keys = np.asarray(jax.random.key_data(first.key))[0]
        self.states: State = _first(first._replace(key=self.keys[None]))
        self.rate, self.tol = np.asarray(learning_rate, dtype), np.asarray(tol, dtype)
        self.n_iter_no_change = np.asarray(n_iter_no_change)
        self.seed = group.seeds[0]
        self.history: list[tuple[Array, ...]] = []  # loss, rmse, change and validation loss of an epoch, (m,) each

    # ------------------------------------------------------------------ one epoch

    def fresh(self) -> _Underway:
        """Return an epoch that is to begin."""
        zero = np.zeros(len(self.keys), self.feed.dtype)
        states = self.states
        blank = jax.tree.map(np.zeros_like, states.free)
        return _Underway(np.array(0), states.free, states.optimizer, blank, zero, zero, zero)

    def windows(self, underway: _Underway) -> Iterator[_Underway]:
        """Go through the windows that are left, and give the epoch after each."""
        epoch = int(self.states.epoch.max())
        shuffled = None if self.plan.batch_size is None else [self.seed, epoch]
        for data in self.feed.windows(shuffled, int(underway.n_windows)):
            # The key of a window depends on its number alone, so that it does not matter where training is cut.
            numbers = np.asarray(self.states.epoch)
            if self.plan.batch_size is not None:  # else bags draw by their own numbers, whatever window they are in
                numbers = numbers * self.feed.n_windows + underway.n_windows
            keys = np.asarray(_keys(self.keys, numbers))
            underway = self._after(underway, keys, data)
            yield underway

    def _after(self, underway: _Underway, keys: Array, data: Data) -> _Underway:
        plan, mesh = self.plan, self.feed.crew.mesh
        done = underway.n_windows + 1
        if plan.batch_size is None:
            gradient, loss, error = _numpy(
                _gradient(plan, mesh, (self.states.free, keys, self.fixed, self.masks), data)
            )
            gradient = jax.tree.map(np.add, underway.gradient, gradient)
            return underway._replace(
                n_windows=done, gradient=gradient, loss=underway.loss + loss, error=underway.error + error
            )
        arguments = (underway.free, underway.optimizer, keys, self.fixed, self.masks)
        rungs = self.feed.rungs(plan.batch_size)
        free, optimizer, (total, error), count = _numpy(
            _steps(plan, rungs, mesh, arguments, self.limits, self.rate, data)
        )
        sums = underway.loss + total, underway.error + error, underway.n_bags + count
        return _Underway(done, free, optimizer, underway.gradient, *sums)

    def conclude(self, underway: _Underway) -> None:
        """End an epoch: the step, if it is still to come, the history, and whether fits are done."""
        free, optimizer, loss, error = underway.free, underway.optimizer, underway.loss, underway.error
        if self.plan.batch_size is None:
            free, optimizer = _numpy(_advance(self.plan, free, optimizer, underway.gradient, self.limits, self.rate))
        else:
            loss, error = loss / underway.n_bags, error / underway.n_bags
        held_out = self.losses(free)[1] if self.plan.validate else None
        before = self.states._replace(key=None)  # type: ignore[arg-type]
        ended = _concluded(
            self.plan, before, free, optimizer, loss, held_out, self.fixed, self.tol, self.n_iter_no_change
        )
        after, change = _numpy(ended)
        # A fit that was done stays as it was.
        after = jax.tree.map(
            lambda new, old: np.where(before.done.reshape((-1,) + (1,) * (new.ndim - 1)), old, new), after, before
        )
        blank = np.where(before.done, np.nan, change)
        self.history.append((loss, np.sqrt(error), blank, loss if held_out is None else held_out))
        self.states = after._replace(key=self.keys)

    def losses(self, free: Free) -> tuple[Array, Array]:
        """Mean loss (m,) on the training and on the held-out bags, as at test time."""
        sums = np.zeros((4, len(self.keys)))
        for data in self.feed.windows(None):
            found = _costs(self.plan, self.feed.crew.mesh, (free, self.fixed, self.masks), data)
            sums += np.stack([np.asarray(values, np.float64) for values in found])
        trained, weights, validated, held = sums
        return trained / np.where(weights > 0, weights, 1.0), validated / np.where(held > 0, held, 1.0)

    def final_losses(self, free: Free) -> tuple[Array, Array]:
        """Return the losses by which fits are compared; a single one needs no further pass over all bags."""
        if len(self.keys) == 1 and not self.plan.validate and self.history:
            return self.history[-1][0], np.full(1, np.nan)
        return self.losses(free)

    # ------------------------------------------------------------------ many epochs

    def drive(
        self,
        max_epochs: int,
        callbacks: tuple[Callable[[Progress], Any], ...],
        report: Callable[[Progress], Any] | None,
        checkpoint: Checkpoint | None,
    ) -> bool:
        """Train until all fits are done, somebody says stop, or Ctrl-C (then return True)."""
        crew = self.feed.crew
        underway = self._resumed(checkpoint)
        last_kept = time.monotonic()

        def keep() -> None:
            if checkpoint is not None:
                joined = tuple(np.stack(values, axis=-1) for values in zip(*self.history, strict=True))
                checkpoint.keep(Saved((self.states, underway), joined, len(self.history)))

        with _ctrl_c() as pressed:
            while len(self.history) < max_epochs and not self.states.done.all():
                for underway in self.windows(underway):  # noqa: B020
                    # All processes stop after the same window, whoever was asked to.
                    if crew.greatest(int(pressed()))[0]:
                        keep()
                        if self.plan.batch_size is not None:  # its steps were good
                            self.states = self.states._replace(free=underway.free, optimizer=underway.optimizer)
                        return True
                    if checkpoint is not None and time.monotonic() - last_kept > _KEEP_SECONDS:
                        keep()
                        last_kept = time.monotonic()
                    if report is not None and self.history:
                        report(self._progress(max_epochs, float(underway.n_windows) / self.feed.n_windows))
                self.conclude(underway)
                underway = self.fresh()
                progress = self._progress(max_epochs)
                if report is not None:
                    report(progress)
                wishes = [bool(callback(progress)) for callback in callbacks]
                if crew.greatest(int(any(wishes)))[0]:
                    break
        keep()
        return False

    def _resumed(self, checkpoint: Checkpoint | None) -> _Underway:
        """Return where training goes on: what the first process finds is what all go on from."""
        like = (self.states, self.fresh())
        kept = None if checkpoint is None else checkpoint.find(like)
        found: dict[str, Array] = {}
        if kept is not None:
            found = {f"leaf{place}": np.asarray(leaf) for place, leaf in enumerate(jax.tree.leaves(kept.state))}
            found |= {f"history{place}": values for place, values in enumerate(kept.history)}
        found = self.feed.crew.gather(found)[0]
        if not found:
            return self.fresh()
        leaves, structure = jax.tree.flatten(like)
        kept_leaves = [found[f"leaf{place}"] for place in range(len(leaves))]
        underway: _Underway
        self.states, underway = jax.tree.unflatten(structure, kept_leaves)
        columns = [found[f"history{place}"] for place in range(4)] if "history0" in found else []
        self.history = list(zip(*(list(values.T) for values in columns), strict=True))
        return underway

    def _progress(self, max_epochs: int, fraction: float = 0.0) -> Progress:
        def params() -> list[Params]:
            found = natural(_expanded(self.states.free), _expanded(self.fixed), self.plan)
            return entries(jax.tree.map(lambda values: values[0], found))

        loss, rmse, change, validation = self.history[-1]
        held_out = validation if self.plan.validate else None
        return Progress(len(self.history), max_epochs, loss, rmse, change, held_out, params, fraction)

    def histories(self) -> list[dict[str, Array]]:
        """Return what each fit went through."""
        names = ("loss", "rmse", "change", *(("validation_loss",) if self.plan.validate else ()))
        found = []
        for fit in range(len(self.keys)):
            columns = np.array([[values[fit] for values in epoch] for epoch in self.history], np.float64).reshape(-1, 4)
            ran = ~np.isnan(columns[:, 2])
            found.append({name: columns[ran, place] for place, name in enumerate(names)})
        return found


@contextlib.contextmanager
def _ctrl_c() -> Iterator[Callable[[], bool]]:
    """Take note of Ctrl-C instead of stopping at once; the second time it stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed: list[bool] = []
    before = signal.getsignal(signal.SIGINT)

    def note(*_: Any) -> None:
        pressed.append(True)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------------- compiled, over all shares


def _numpy(tree: Any) -> Any:
    with told_of_loss():
        return jax.tree.map(np.asarray, tree)


def _first(tree: Any) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[0], tree)


def _expanded(tree: Any) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[None], tree)


@jax.jit
def _keys(keys: Any, numbers: Any) -> jax.Array:
    """Keys (m, 2) for fits that are at these numbers."""
    fold = jax.vmap(lambda key, number: jax.random.fold_in(jax.random.wrap_key_data(key), number))
    return jax.random.key_data(fold(keys, numbers))  # type: ignore[no-untyped-call]


def _on_shares(function: Callable[..., Any], mesh: Any, plan: Plan, arguments: tuple[Any, ...], data: Data) -> Any:
    """Call ``function(*arguments of a fit, data)`` for each fit, on every device with its share of the data."""
    everywhere, own = PartitionSpec(), PartitionSpec(SHARES)  # type: ignore[no-untyped-call]
    specs: Any = jax.tree.map(lambda _: own, data)._replace(n_training=everywhere)

    def share(arguments: tuple[Any, ...], data: Data) -> Any:
        mine = jax.tree.map(lambda values: values[0], data._replace(n_training=None))

        def fit(arguments: tuple[Any, ...], weights: Any, held_out: Any, n_training: Any) -> Any:
            return function(*arguments, mine._replace(weights=weights, held_out=held_out, n_training=n_training))

        each = (arguments, mine.weights, mine.held_out, data.n_training)
        if plan.batch_size is None:
            return jax.vmap(fit)(*each)
        return jax.lax.map(lambda entry: fit(*entry), each)  # steps choose among sizes: one fit at a time

    shared = jax.shard_map(share, mesh=mesh, in_specs=(everywhere, specs), out_specs=everywhere, check_vma=False)
    return shared(arguments, data)


@functools.partial(jax.jit, static_argnames=("plan", "mesh"))
def _gradient(plan: Plan, mesh: Any, arguments: tuple[Any, ...], data: Data) -> Any:
    def fit(free: Free, key: Any, fixed: Params, masks: Masks, data: Data) -> Any:
        return gradient_of_all(free, jax.random.wrap_key_data(key), fixed, masks, plan, data)

    return _on_shares(fit, mesh, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan", "rungs", "mesh"))
def _steps(
    plan: Plan,
    rungs: tuple[int, ...],
    mesh: Any,
    arguments: tuple[Any, ...],
    limits: Limits | None,
    rate: Any,
    data: Data,
) -> Any:
    def fit(free: Free, optimizer: Any, key: Any, fixed: Params, masks: Masks, data: Data) -> Any:
        key = jax.random.wrap_key_data(key)
        return steps_through(free, optimizer, key, fixed, masks, limits, plan, rungs, data, rate)

    return _on_shares(fit, mesh, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan", "mesh"))
def _costs(plan: Plan, mesh: Any, arguments: tuple[Any, ...], data: Data) -> Any:
    plan = dataclasses.replace(plan, batch_size=None)

    def fit(free: Free, fixed: Params, masks: Masks, data: Data) -> Any:
        costs, _ = clean_costs(free, fixed, masks, plan, data)
        sums = [
            found
            for weights in (data.weights, data.held_out)
            for found in (jnp.sum(jnp.where(weights > 0, weights * costs, 0.0)), jnp.sum(weights))
        ]
        return jax.lax.psum(sums, SHARES)  # type: ignore[no-untyped-call]

    return _on_shares(fit, mesh, plan, arguments, data)


@functools.partial(jax.jit, static_argnames=("plan",))
def _advance(plan: Plan, free: Free, optimizer: Any, gradient: Free, limits: Limits | None, rate: Any) -> Any:
    return jax.vmap(lambda free, optimizer, gradient: step(free, optimizer, gradient, plan, limits, rate))(
        free, optimizer, gradient
    )


@functools.partial(jax.jit, static_argnames=("plan",))
def _concluded(
    plan: Plan,
    states: State,
    free: Free,
    optimizer: Any,
    loss: Any,
    held_out: Any,
    fixed: Params,
    tol: Any,
    n_iter_no_change: Any,
) -> Any:
    def fit(state: State, free: Free, optimizer: Any, loss: Any, held_out: Any, fixed: Params) -> Any:
        return concluded(state, free, optimizer, loss, held_out, fixed, plan, tol, n_iter_no_change)

    return jax.vmap(fit)(states, free, optimizer, loss, held_out, fixed)
