"""Algorithm 1: learning the premise and consequent parameters by gradient descent.

One driver trains whether the bags are in memory or come from a stream. It decides how long to train, reports
progress, calls callbacks, writes checkpoints, handles Ctrl-C and collects the history. The epochs themselves are run
by a runner: `InMemory` runs compiled stretches of epochs on bags in memory, `fuzzymil.learn.train.windows.Windows`
goes through the windows of a `Feed`. Both have the state before the first epoch, ``start``, and the methods `epochs`
and `finish`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import warn_user
from fuzzymil._utils.runtime import granted_cores, make_room
from fuzzymil.inference.engines.jax import grouping_of
from fuzzymil.inference.layers import Masks, Params, layer4, layer5, layer6, layers_1_and_2, strengths_of
from fuzzymil.inference.segments import even_size
from fuzzymil.learn.train._loop import (
    CHUNK,
    Data,
    Group,
    Numbers,
    Plan,
    Position,
    State,
    Trace,
    bucket_sizes,
    evaluate,
    first_states,
    mean_one,
    natural,
    run,
    stack,
    stack_limits,
)
from fuzzymil.learn.train.checkpoints import Checkpoint, Checkpoints
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.progress import Progress, Update, progress_bar
from fuzzymil.learn.train.windows import Feed, Windows
from fuzzymil.rules import RuleBase

_CHECKPOINT_SECONDS = 10.0  # between checkpoints
_TWICE_SECONDS = 2.0  # between two Ctrl-C that stop everything
_last_interrupt = -math.inf  # time of the last Ctrl-C


class Result(NamedTuple):
    """The trained fits of a group."""

    params: list[Params]  # NumPy, on standardized axes, without the factor of Rule Dropout
    loss: Array  # (f,) on the training bags at the end, without dropout
    validation_loss: Array | None  # (f,)
    history: list[dict[str, Array]]
    n_epochs: Array  # (f,)
    interrupted: bool
    diverged: Array  # (f,) stopped because numbers became non-finite; the parameters are from before that
    optimizer_state: Any
    seconds: float

    def followed_by(self, later: Result) -> Result:
        """Return the later result with the history of both."""
        joined = [
            {name: np.concatenate([before[name], after[name]]) for name in before}
            for before, after in zip(self.history, later.history, strict=True)
        ]
        return later._replace(
            history=joined, n_epochs=self.n_epochs + later.n_epochs, seconds=self.seconds + later.seconds
        )


def train_groups(
    groups: list[Group],
    plan: Plan,
    *,
    learning_rate: float,
    max_epochs: int,
    tol: float = 0.0,
    n_iter_no_change: int = 10,
    callbacks: tuple[Callable[[Progress], Any], ...] = (),
    progress: str | None = None,
    checkpoints: Checkpoints | None = None,
    feed: Feed | None = None,
) -> list[Result]:
    """Train all fits of all groups together.

    A fit stops when no free parameter changes by more than ``tol`` in an epoch (0 disables it), after
    ``n_iter_no_change`` epochs without a better validation loss, or when one of the ``callbacks``, called with a
    `Progress` after each epoch, returns True. ``progress`` is the title of a progress bar on standard error. Training
    is saved in the folder ``checkpoints`` regularly; if it was saved there before, it resumes. With a ``feed``, the
    only group is trained on the bags of a stream instead of on its own.

    Examples
    --------
    >>> from fuzzymil.inference.layers import Operators
    >>> from fuzzymil.inference.segments import pack
    >>> start = Params({"gaussian": (np.array([[0.0], [1.0]]), np.ones((2, 1)))}, np.zeros((2, 1, 1)), 1.0, 1.0)
    >>> group = Group(
    ...     starts=[start],
    ...     masks=[{"gaussian": np.ones((2, 1))}],
    ...     bags=pack(np.array([[0.1], [0.0], [0.9]]), np.array([0, 2, 3]), np.float32),
    ...     targets=np.array([[0.0], [1.0]]),
    ...     weights=np.ones((1, 2)),
    ...     seeds=[0],
    ... )
    >>> (result,) = train_groups([group], Plan(Operators()), learning_rate=0.1, max_epochs=20)
    >>> bool(result.history[0]["loss"][-1] < result.history[0]["loss"][0])
    True
    """
    make_room()
    began = time.perf_counter()
    with jax.enable_x64((groups[0].bags.x if feed is None else feed).dtype == np.float64):
        numbers = Numbers(learning_rate, tol, n_iter_no_change)
        runner = InMemory(groups, plan, numbers) if feed is None else Windows(groups[0], plan, feed, numbers)
        text, arrays = ("", ()) if feed is None else feed.identity
        checkpoint = None if checkpoints is None else checkpoints.of(f"{plan}\n{numbers}\n{text}", (groups, arrays))
        with contextlib.nullcontext() if progress is None else progress_bar(progress, stage="compiling") as update:
            driver = _Driver(runner, plan, max_epochs, callbacks, update, checkpoint)
            interrupted = driver.drive()
        history = driver.trace()
        states, loss, validation = runner.finish(driver.position, history)
        params = natural(states.trained(plan), runner.fixed, plan)
        optimizer = jax.device_get(states.optimizer)
    seconds = time.perf_counter() - began
    return [
        Result(
            params=_entries(_entry(params, g)),
            loss=loss[g],
            validation_loss=validation[g] if plan.validate else None,
            history=[_history_of(history, g, f, plan.validate) for f in range(len(group.starts))],
            n_epochs=np.asarray(states.epoch)[g] - group.first_epoch,
            interrupted=interrupted,
            diverged=np.asarray(states.diverged)[g],
            optimizer_state=_entry(optimizer, g),
            seconds=seconds,
        )
        for g, group in enumerate(groups)
    ]


# ---------------------------------------------------------------------- the driver


class _Driver:
    """A training in progress: its position and history, and where to report them."""

    def __init__(
        self,
        runner: InMemory | Windows,
        plan: Plan,
        max_epochs: int,
        callbacks: tuple[Callable[[Progress], Any], ...],
        report: Update | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.runner, self.plan, self.max_epochs = runner, plan, max_epochs
        self.callbacks, self.report, self.checkpoint = callbacks, report, checkpoint
        blank = np.zeros((*runner.start.states.done.shape, 0))
        start = (runner.start, Trace(blank, blank, blank, blank))
        saved = None if self.checkpoint is None else self.checkpoint.find(start)
        self.position: Position
        self.position, trace = start if saved is None else saved
        self.history: list[Trace] = [trace]
        self.latest: Trace | None = _latest(trace, None) if _n_epochs(trace) else None

    def drive(self) -> bool:
        """Train until all fits are done, a callback stops it, or Ctrl-C is pressed (then return True)."""
        n_left = self.max_epochs - _n_epochs(self.history[0])
        written = time.monotonic()
        stop = 0  # 1: a callback asked for it; 2: Ctrl-C
        with _Interrupts() as interrupts:
            try:
                for position, trace, fraction in self.runner.epochs(self.position, n_left, singly=bool(self.callbacks)):
                    self.position = position
                    if _n_epochs(trace):
                        self.history.append(trace)
                    if self.checkpoint is not None and time.monotonic() - written > _CHECKPOINT_SECONDS:
                        self.write()
                        written = time.monotonic()
                    stop = max(int(self.announce(trace, fraction)), 2 * interrupts.pressed)
                    if stop:
                        break
            except KeyboardInterrupt:  # from a callback, or from a signal handler of the user's
                interrupts.note()
                stop = 2
        self.write()
        return stop == 2

    def write(self) -> None:
        """Save the training in its checkpoint, if it has one."""
        if self.checkpoint is not None:
            self.history = [self.trace()]
            try:
                self.checkpoint.keep((self.position, self.history[0]))
            except OSError as problem:  # a full disk must not cost the fit
                warn_user(
                    f"Cannot write the checkpoint {problem.filename}: {problem.strerror}. Training continues; if it is "
                    "interrupted, it resumes from an earlier checkpoint or from the start."
                )

    def trace(self) -> Trace:
        """Return the whole history, axes (g, m, epochs)."""
        return Trace(*(np.concatenate(values, axis=-1) for values in zip(*self.history, strict=True)))

    def announce(self, trace: Trace, fraction: float) -> bool:
        """Report progress and, after an epoch, call the callbacks; return whether one of them asks to stop."""
        if self.report is None and not self.callbacks:
            return False
        if _n_epochs(trace):
            self.latest = _latest(trace, self.latest)
        if self.latest is None:  # the first epoch is not over
            return False
        progress = self._progress(self.position.states, self.latest, fraction)
        if self.report is not None:
            self.report(progress.epoch + fraction, self.max_epochs, f"loss {np.nanmin(progress.loss):.4g}")
        if not _n_epochs(trace):
            return False
        answers = [callback(progress) for callback in self.callbacks]  # all of them, even if the first says stop
        return any(answers)

    def _progress(self, states: State, latest: Trace, fraction: float) -> Progress:
        def params() -> list[Params]:
            groups = _entries(natural(states.free, self.runner.fixed, self.plan))
            return [fit for group in groups for fit in _entries(group)]

        epochs = np.asarray(states.epoch) - np.asarray(self.runner.start.states.epoch)
        return Progress(
            epoch=int(epochs.max()),
            max_epochs=self.max_epochs,
            loss=latest.loss,
            rmse=latest.rmse,
            change=latest.change,
            validation_loss=latest.validation if self.plan.validate else None,
            params=params,
            fraction=fraction,
        )


class _Interrupts:
    """Makes Ctrl-C stop training at the next occasion, with the model kept; a second one stops everything at once."""

    def __init__(self) -> None:
        self.pressed = False
        self._installed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._installed = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._installed:
            signal.signal(signal.SIGINT, self.note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def note(self, *_: Any) -> None:
        """Take note of Ctrl-C; raise if it is the second one."""
        global _last_interrupt
        again, _last_interrupt = time.monotonic() - _last_interrupt < _TWICE_SECONDS, time.monotonic()
        if again or self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


# ---------------------------------------------------------------------- arrays and fits


def _entry(tree: Any, place: int) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[place], tree)


def _entries(tree: Any) -> list[Any]:
    """Split a tree along its leading axis."""
    return [_entry(tree, place) for place in range(len(jax.tree.leaves(tree)[0]))]


def _n_epochs(trace: Trace) -> int:
    return int(trace.loss.shape[-1])


def _latest(trace: Trace, before: Trace | None) -> Trace:
    """Return the newest value of every fit (n_fits,), group after group; for a fit that has stopped, its last one."""

    def newest(values: Array, old: Array | None) -> Array:
        rows = values.reshape(-1, values.shape[-1])
        known = ~np.isnan(rows)
        last = np.where(known.any(axis=1), rows.shape[1] - 1 - known[:, ::-1].argmax(axis=1), 0)
        found = rows[np.arange(len(rows)), last]
        return found if old is None else np.where(np.isnan(found), old, found)

    olds = [None] * len(trace) if before is None else list(before)
    return Trace(*(newest(np.asarray(values), old) for values, old in zip(trace, olds, strict=True)))


def _history_of(history: Trace, group: int, fit: int, validated: bool) -> dict[str, Array]:
    """Return the history of one fit; one that stopped early has NaN for the remaining epochs, which are left out."""
    own = Trace(*(np.asarray(values[group, fit], np.float64) for values in history))
    ran = ~np.isnan(own.change)
    columns = {"loss": own.loss, "rmse": own.rmse, "change": own.change}
    if validated:
        columns["validation_loss"] = own.validation
    return {name: values[ran] for name, values in columns.items()}


_LARGE = 1 << 26  # bytes of instances that need attention to memory
_STRETCH_SECONDS = 0.3  # how long Ctrl-C, callbacks and progress may have to wait


class InMemory:
    """Runs the epochs of groups of fits, whose bags are all in memory."""

    def __init__(self, groups: list[Group], plan: Plan, numbers: Numbers) -> None:
        dtype = groups[0].bags.x.dtype
        starts = [(stack(group.starts, dtype), stack(group.masks, dtype)) for group in groups]
        fixed, masks = jax.tree.map(jnp.asarray, stack(starts, dtype))
        data = _on_device(groups, dtype)
        if plan.batch_size is not None:
            sizes = [np.diff(group.bags.offsets[: group.bags.n_bags + 1]) for group in groups]
            buckets = max(bucket_sizes(each, plan.batch_size) for each in sizes)
        else:
            buckets = () if jax.default_backend() == "cpu" else (even_size([group.bags for group in groups]),)
        compiled = dataclasses.replace(plan, buckets=buckets)
        rate, tol = (jnp.asarray(each, dtype) for each in numbers[:2])
        numbers = Numbers(rate, tol, jnp.asarray(numbers.patience))
        described = {"fixed": fixed, "masks": masks, "limits": stack_limits(groups, dtype), "data": data}
        self.fixed: Params = fixed
        self.start = Position(first_states(groups, plan, fixed, dtype))
        self._plan, self._masks, self._data = plan, masks, data
        self._large = data.x.nbytes > _LARGE
        self._shares = shares(len(groups))
        self._programs = [
            functools.partial(run, compiled, **part(described, share), numbers=numbers) for share in self._shares
        ]

    def epochs(self, position: Position, n_epochs: int, *, singly: bool) -> Iterator[tuple[Position, Trace, float]]:
        """Run up to ``n_epochs`` epochs in stretches that take a fraction of a second, or one by one.

        Yields the new position, the trace of the epochs completed since the last one, axes (g, m, epochs), and the
        fraction of the next epoch that is done.
        """
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
        return join_shares(in_threads(calls), self._shares)

    def finish(self, position: Position, history: Trace) -> tuple[State, Array, Array]:
        """Return the final states and their losses on training and validation bags, (g, m) each."""
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

    def alike(values: list[Array], length: int, fill: list[int] | int = 0, axis: int = 0, dtype: Any = dtype) -> Any:
        """Return padded arrays, stacked."""
        if len(values) == 1 and values[0].shape[axis] == length:  # nothing to copy
            return jnp.asarray(values[0][None], dtype)
        shape = list(values[0].shape)
        shape[axis] = length
        found = np.empty((len(values), *shape), values[0].dtype)
        found[...] = np.reshape(fill, (-1, *[1] * len(shape)))
        for place, array in enumerate(values):
            found[place][(slice(None),) * axis + (slice(array.shape[axis]),)] = array
        return jnp.asarray(found, dtype)

    bags = [group.bags for group in groups]
    held_out = [np.zeros_like(group.weights) if group.held_out is None else group.held_out for group in groups]
    known = None
    if any(each.known is not None for each in bags):
        known = [np.ones_like(each.x) if each.known is None else each.known for each in bags]
    index = [each.bag_index for each in bags if each.bag_index is not None]
    # The bag after the last real one is padding in every group, so further padding rows may join it.
    spare = [each.n_bags for each in bags]
    return Data(
        x=alike([each.x for each in bags], n_rows),
        known=None if known is None else alike(known, n_rows),
        bag_index=alike(index, n_rows, spare, dtype=None) if index else None,
        offsets=alike([each.offsets for each in bags], n_bags + 1, [each.n_instances for each in bags], dtype=None),
        targets=alike([group.targets for group in groups], n_bags),
        weights=alike([mean_one(group.weights) for group in groups], n_bags, axis=1),
        held_out=alike(held_out, n_bags, axis=1),
    )


# ---------------------------------------------------------------------- shares of the groups, one per thread


def shares(n_groups: int) -> list[slice]:
    """Return the groups that each thread trains; the last share may repeat some groups of the one before.

    On a GPU there is one share, because it computes all fits at once.
    """
    n_threads = granted_cores() if jax.default_backend() == "cpu" else 1
    size = -(-n_groups // n_threads)
    return [slice(first, first + size) for first in (min(k, n_groups - size) for k in range(0, n_groups, size))]


def part(tree: Any, share: slice) -> Any:
    """Take a share of the leading axis of all arrays."""
    if jax.tree.leaves(tree)[0].shape[0] == share.stop - share.start:
        return tree
    return _between(tree, share.start, share.stop)


def join_shares(found: Sequence[Any], places: Sequence[slice]) -> Any:
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


# ---------------------------------------------------------------------- shorter rules
# The least important conditions of each rule are removed, and training continues with the rest, because they take over
# the role of the others. The importance of a condition is measured: the increase of the training loss without it.


def longest(group: Group) -> int:
    """Return the number of terms of the longest rule."""
    return max(int(_used(masks).sum(axis=1).max()) for masks in group.masks)


def _used(masks: Masks) -> Array:
    return np.asarray(functools.reduce(np.maximum, masks.values()) > 0)


def schedule(n_terms: int, max_conditions: int | None) -> list[int]:
    """Return the numbers of terms per rule after each cut, every one half of the one before."""
    stops: list[int] = []
    while max_conditions is not None and n_terms > max_conditions:
        n_terms = max(n_terms // 2, max_conditions)
        stops.append(n_terms)
    return stops


def shorten(group: Group, result: Result, plan: Plan, max_conditions: int) -> Group:
    """Return the group after a cut, starting from the trained parameters."""
    cuts = [cut(group.masks[fit], worth(group, fit, p, plan), max_conditions) for fit, p in enumerate(result.params)]
    epochs = group.first_epoch + int(result.n_epochs.max(initial=0))
    return group._replace(starts=result.params, masks=cuts, first_epoch=epochs, optimizer_state=None)


def with_conditions(rules: RuleBase, masks: Masks) -> RuleBase:
    """Return the rules without the conditions that were pruned."""
    names = np.array(rules.feature_names, object)
    gone = {
        r + 1: names[~row & asks]
        for r, (row, asks) in enumerate(zip(_used(masks), _used(rules.compile()[1]), strict=True))
    }
    without = {number: list(cuts) for number, cuts in gone.items() if len(cuts)}
    return rules.edit(without=without) if without else rules


def cut(masks: Masks, worths: Array, max_conditions: int) -> Masks:
    """Keep the ``max_conditions`` terms of each rule with the greatest worths (r, d); one mask (r, d) per family."""
    used = _used(masks)
    order = np.argsort(np.where(used, -worths, np.inf), axis=1, kind="stable")
    kept = np.zeros(used.shape, bool)
    np.put_along_axis(kept, order[:, :max_conditions], True, axis=1)
    return {kind: mask * kept for kind, mask in masks.items()}


def worth(group: Group, fit: int, params: Params, plan: Plan) -> Array:
    """Return the increase of the training loss (r, d) when a rule ignores a feature."""
    data = group.bags
    dtype = data.x.dtype
    n_bags = len(data.offsets) - 1
    pad = (0, n_bags - data.n_bags)
    with jax.enable_x64(dtype == np.float64):
        as_type = functools.partial(jax.tree.map, lambda values: jnp.asarray(values, dtype))
        rises = _rises(
            plan,
            as_type(params),
            as_type(group.masks[fit]),
            data.x,
            data.known,
            data.bag_index,
            jnp.asarray(np.pad(group.targets, (pad, (0, 0))), dtype),
            jnp.asarray(np.pad(group.weights[fit], pad), dtype),
            n_bags,
        )
        return np.asarray(rises, np.float64)


@functools.partial(jax.jit, static_argnames=("plan", "n_bags"))
def _rises(
    plan: Plan,
    params: Params,
    masks: Masks,
    x: jax.Array,
    known: jax.Array | None,
    bag_index: jax.Array | None,
    targets: jax.Array,
    weights: jax.Array,
    n_bags: int,
) -> jax.Array:
    operators = plan.operators
    grouping = grouping_of(bag_index, len(x), n_bags)
    n_rules, n_features = next(iter(masks.values())).shape
    outputs = layer5(params.coefs, x, grouping, operators.conclusion_aggregation, params.conclusion_alpha)

    def firing(masks: Masks) -> jax.Array:
        truths = layers_1_and_2(params, masks, operators, x, known)
        return strengths_of(params, operators, truths, grouping)[1]

    def loss(log_firing: jax.Array) -> jax.Array:
        output = layer6(layer4(log_firing, operators), outputs, None if operators.normalize else params.default)
        costs = LOSSES[plan.loss].per_bag(output, targets)
        return jnp.sum(jnp.where(weights > 0, weights * costs, 0.0)) / jnp.sum(weights)

    whole = firing(masks)

    def without(feature: jax.Array) -> jax.Array:
        """Return the losses (r,), each with one rule that ignores this feature."""
        others = jnp.arange(n_features) != feature
        shorter = firing({kind: mask * others for kind, mask in masks.items()})
        one_rule = jnp.eye(n_rules, dtype=bool)
        return jax.vmap(lambda own: loss(jnp.where(own, shorter, whole)))(one_rule)

    rises: jax.Array = jax.lax.map(without, jnp.arange(n_features)).T - loss(whole)
    return rises
