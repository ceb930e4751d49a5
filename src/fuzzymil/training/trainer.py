"""Algorithm 1: learning the premise and consequent parameters by gradient descent.

`epochs` compiles whole runs of epochs, for many fits at once; the host only looks in between, to
show progress, to call back, and to hear Ctrl-C.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import make_room
from fuzzymil.network.layers import Params
from fuzzymil.network.segments import PackedBags, even_size
from fuzzymil.training.checkpoints import Checkpoint, Checkpoints, Saved
from fuzzymil.training.loop import CHUNK, State, Trace, evaluate, run
from fuzzymil.training.step import Data, Free, Limits, Plan, from_free, ladder, to_free
from fuzzymil.training.threads import in_threads, joined, part, shares

__all__ = [
    "Group",
    "Progress",
    "Result",
    "entries",
    "first_states",
    "limits_on_device",
    "mean_one",
    "natural",
    "stacked",
    "train",
    "train_groups",
]

_CHUNK_SECONDS = 0.3  # how long Ctrl-C, callbacks and progress may have to wait
_KEEP_SECONDS = 10.0  # between checkpoints
_last_interrupt = -math.inf  # when Ctrl-C was last pressed


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a callback sees after an epoch; arrays hold one value a fit. Return True to stop."""

    epoch: int
    max_epochs: int
    loss: Array
    rmse: Array
    change: Array
    validation_loss: Array | None
    params: Callable[[], list[Params]]  # the parameters as they are now, on demand
    fraction: float = 0.0  # of the next epoch that is done, where epochs take long


class Result(NamedTuple):
    """Trained fits."""

    params: list[Params]  # NumPy, natural units, as trained (dropout factor not folded in)
    loss: Array  # (f,) at the end, without dropout: on the training bags
    validation_loss: Array | None  # (f,)
    history: list[dict[str, Array]]
    n_epochs: Array  # (f,)
    interrupted: bool
    diverged: Array  # (f,) stopped before numbers that are not finite; the parameters are sound
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


class Group(NamedTuple):
    """Fits on the same bags, which differ in their start, the terms in use, seed and bag weights.

    Groups that are trained together have equal numbers of fits, rules, features and outputs.
    """

    starts: list[Params]  # one a fit
    masks: list[dict[str, Array]]  # one a fit, (n_rules, n_features) each
    bags: PackedBags  # its type decides between 32 and 64 bit
    targets: Array  # (n_bags, n_outputs)
    weights: Array  # (n_fits, n_bags); 0 leaves a bag out of that fit's training
    seeds: list[int]  # one a fit
    held_out: Array | None = None  # (n_fits, n_bags), weights of validation bags
    first_epoch: int = 0  # epochs trained before, and what the optimizer remembers of them
    optimizer_state: Any = None
    limits: Limits | None = None


def train(
    starts: list[Params],
    masks: dict[str, Array],
    plan: Plan,
    bags: PackedBags,
    targets: Array,
    weights: Array,
    held_out: Array | None = None,
    *,
    seeds: list[int],
    first_epoch: int = 0,
    optimizer_state: Any = None,
    **settings: Any,
) -> Result:
    """Train one group; see `Group` for what describes it and `train_groups` for the settings."""
    group = Group(starts, [masks] * len(starts), bags, targets, weights, seeds, held_out, first_epoch, optimizer_state)
    return train_groups([group], plan, **settings)[0]


def train_groups(
    groups: list[Group],
    plan: Plan,
    *,
    learning_rate: float,
    max_epochs: int,
    tol: float = 0.0,
    n_iter_no_change: int = 10,
    callbacks: tuple[Callable[[Progress], Any], ...] = (),
    report: Callable[[Progress], Any] | None = None,
    checkpoints: Checkpoints | None = None,
) -> list[Result]:
    """Train all fits of all groups in one compiled call.

    Parameters
    ----------
    groups : list of Group
    plan : Plan
    learning_rate : float
    max_epochs : int
    tol : float
        A fit stops when no free parameter moved by more over an epoch; 0 never stops.
    n_iter_no_change : int
        Epochs without a better validation loss before a fit stops.
    callbacks : tuple of callables
        Called with a `Progress` after each epoch; True stops training.
    report : callable, optional
        Called with a `Progress` a few times a second.
    checkpoints : Checkpoints, optional
        Where training is kept as it goes. If it was kept before, it goes on from there.

    Returns
    -------
    list of Result
        One a group.
    """
    make_room()
    began = time.perf_counter()
    dtype = groups[0].bags.x.dtype
    with jax.enable_x64(dtype == np.float64):
        fixed, masks = jax.tree.map(
            jnp.asarray,
            stacked([(stacked(group.starts, dtype), stacked(group.masks, dtype)) for group in groups], dtype),
        )
        data = _on_device(groups, dtype)
        states = first_states(groups, plan, fixed, dtype)
        sizes = [np.diff(group.bags.offsets[: group.bags.n_bags + 1]) for group in groups]
        if plan.batch_size is not None:
            rungs = max(ladder(each, plan.batch_size) for each in sizes)
        else:
            rungs = () if jax.default_backend() == "cpu" else (even_size([group.bags for group in groups]),)
        numbers = {
            "rate": jnp.asarray(learning_rate, dtype),
            "tol": jnp.asarray(tol, dtype),
            "n_iter_no_change": jnp.asarray(n_iter_no_change),
        }
        places = shares(len(groups))
        described = {"fixed": fixed, "masks": masks, "limits": limits_on_device(groups, dtype), "data": data}
        programs = [functools.partial(run, plan, rungs, **part(described, share), **numbers) for share in places]

        def call(states: State, n_epochs: jax.Array) -> Any:
            calls = [
                functools.partial(program, states=part(states, share), n_epochs=n_epochs)
                for program, share in zip(programs, places, strict=True)
            ]
            return joined(in_threads(calls), places)

        if len(places) > 1:  # compile before all threads ask for it at once
            programs[0](states=part(states, places[0]), n_epochs=jnp.asarray(0))
        checkpoint = None
        if checkpoints is not None:
            checkpoint = checkpoints.of(f"{plan}\n{learning_rate!r} {tol!r} {n_iter_no_change!r}", groups)
        states, history, interrupted = _drive(call, states, plan, fixed, max_epochs, callbacks, report, checkpoint)
        final = states.best if plan.validate else states.free
        loss, validation = (np.asarray(values, np.float64) for values in evaluate(plan, final, fixed, masks, data))
        params = natural(final, fixed, plan)
        memory = jax.device_get(states.optimizer)
    seconds = time.perf_counter() - began
    return [
        Result(
            entries(_entry(params, g)),
            loss[g],
            validation[g] if plan.validate else None,
            [_history_of(history, g, f, plan.validate) for f in range(len(group.starts))],
            np.asarray(states.epoch)[g] - group.first_epoch,
            interrupted,
            np.asarray(states.diverged)[g],
            _entry(memory, g),
            seconds,
        )
        for g, group in enumerate(groups)
    ]


def stacked(trees: list[Any], dtype: Any) -> Any:
    """Give equal trees a common leading axis."""
    return jax.tree.map(lambda *values: np.stack([np.asarray(value, dtype) for value in values]), *trees)


def limits_on_device(groups: list[Group], dtype: Any) -> Limits | None:
    """Return the limits of all groups with a common leading axis, if there are any."""
    found = [group.limits for group in groups if group.limits is not None]
    if not found:
        return None
    owner = np.stack([np.asarray(limits.owner, np.int32) for limits in found])
    others = stacked([(limits.sets, limits.coefs) for limits in found], dtype)
    return Limits(*map(jnp.asarray, (owner, *others)))


def _entry(tree: Any, place: int) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[place], tree)


def entries(tree: Any) -> list[Any]:
    """Take the leading axis of a tree apart."""
    return [_entry(tree, place) for place in range(len(jax.tree.leaves(tree)[0]))]


def natural(free: Free, fixed: Params, plan: Plan) -> Params:
    """Parameters with axes (g, m) out of free ones, in 64 bit NumPy."""
    params = jax.vmap(jax.vmap(lambda free, fixed: from_free(free, fixed, plan)))(free, fixed)
    return Params(*jax.tree.map(lambda values: np.asarray(values, np.float64), jax.device_get(tuple(params))))


def first_states(groups: list[Group], plan: Plan, fixed: Params, dtype: Any) -> State:
    """Return all fits, with axes (g, m), before their first epoch here."""
    shape = (len(groups), len(groups[0].starts))
    free = jax.vmap(jax.vmap(lambda params: to_free(params, plan)))(fixed)
    if groups[0].optimizer_state is None:
        memory = jax.vmap(jax.vmap(plan.transformation().init))(free)
    else:
        memory = jax.tree.map(lambda *values: jnp.stack(values), *[group.optimizer_state for group in groups])
    keys = jax.vmap(jax.vmap(jax.random.key))(np.array([group.seeds for group in groups], np.uint32))
    epochs = np.array([[group.first_epoch] * shape[1] for group in groups])
    return State(
        free,
        memory,
        keys,
        jnp.asarray(epochs, jnp.int32),
        jnp.zeros(shape, bool),
        free,
        jnp.full(shape, jnp.inf, dtype),
        jnp.zeros(shape, jnp.int32),
        jnp.zeros(shape, bool),
    )


def _on_device(groups: list[Group], dtype: Any) -> Data:
    """Stack the groups' data, padded to the size of the greatest."""
    n_rows = max(len(group.bags.x) for group in groups)
    n_bags = max(len(group.bags.offsets) - 1 for group in groups)

    def padded_alike(values: list[Array], length: int, fill: list[int] | int = 0, axis: int = 0) -> Array:
        fills = fill if isinstance(fill, list) else [fill] * len(values)
        if len(values) == 1 and values[0].shape[axis] == length:  # nothing to copy
            return values[0][None]
        widths = [[(0, 0)] * axis + [(0, length - array.shape[axis])] for array in values]
        found = [
            np.pad(array, width + [(0, 0)] * (array.ndim - axis - 1), constant_values=constant)
            for array, width, constant in zip(values, widths, fills, strict=True)
        ]
        return np.stack(found)

    weights = [mean_one(group.weights) for group in groups]
    held_out = [np.zeros_like(group.weights) if group.held_out is None else group.held_out for group in groups]
    known = None
    if any(group.bags.known is not None for group in groups):
        known = [np.ones_like(group.bags.x) if group.bags.known is None else group.bags.known for group in groups]
    index = [group.bags.bag_index for group in groups if group.bags.bag_index is not None]
    # The bag after the last real one is padding in every group, so further padding rows may join it.
    spare = [group.bags.n_bags for group in groups]
    return Data(
        jnp.asarray(padded_alike([group.bags.x for group in groups], n_rows), dtype),
        None if known is None else jnp.asarray(padded_alike(known, n_rows), dtype),
        jnp.asarray(padded_alike(index, n_rows, spare)) if index else None,
        jnp.asarray(padded_alike([g.bags.offsets for g in groups], n_bags + 1, [g.bags.n_instances for g in groups])),
        jnp.asarray(padded_alike([group.targets for group in groups], n_bags), dtype),
        jnp.asarray(padded_alike(weights, n_bags, axis=1), dtype),
        jnp.asarray(padded_alike(held_out, n_bags, axis=1), dtype),
    )


def mean_one(weights: Array) -> Array:
    """Return weights (m, b) scaled to a mean of 1 over the bags that count."""
    active = np.maximum((weights > 0).sum(axis=1, keepdims=True), 1)
    total = np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(weights * active / total)


def _drive(
    call: Callable[..., tuple[State, Trace]],
    states: State,
    plan: Plan,
    fixed: Params,
    max_epochs: int,
    callbacks: tuple[Callable[[Progress], Any], ...],
    report: Callable[[Progress], Any] | None,
    checkpoint: Checkpoint | None,
) -> tuple[State, list[Trace], bool]:
    """Run compiled stretches of epochs until all fits are done, someone says stop, or Ctrl-C."""
    global _last_interrupt
    history: list[Trace] = []
    latest: Trace | None = None
    epoch, stretch = 0, 1 if callbacks else 8
    first_epoch = np.asarray(states.epoch)
    kept = None if checkpoint is None else checkpoint.find(states)
    if kept is not None:
        states, history, epoch = kept.state, [Trace(*kept.history)], kept.n_epochs
    last_kept = time.monotonic()

    def keep() -> None:
        if checkpoint is not None and history:
            joined = tuple(np.concatenate(values, axis=-1) for values in zip(*history, strict=True))
            checkpoint.keep(Saved(states, joined, epoch))

    try:
        while epoch < max_epochs and not bool(states.done.all()):
            n = min(stretch, max_epochs - epoch, CHUNK)
            began = time.perf_counter()
            moved, trace = call(states=states, n_epochs=jnp.asarray(n))
            trace = jax.device_get(trace)
            states, epoch = moved, epoch + n
            history.append(Trace(*(values[..., :n] for values in trace)))
            if time.monotonic() - last_kept > _KEEP_SECONDS:
                keep()
                last_kept = time.monotonic()
            if report is not None or callbacks:
                latest = _latest(trace, n, latest)
                now = int((np.asarray(states.epoch) - first_epoch).max())
                progress = _progress(states, latest, now, max_epochs, plan, fixed)
                if report is not None:
                    report(progress)
                wishes = [callback(progress) for callback in callbacks]
                if any(wishes):
                    break
            if not callbacks:  # with callbacks, every epoch is looked at
                seconds = max(time.perf_counter() - began, 1e-4)
                stretch = int(np.clip(n * _CHUNK_SECONDS / seconds, n / 2 + 1, 4 * n + 1))
    except KeyboardInterrupt:
        # Once: keep the model so far. Twice in short order: the user wants out of everything.
        again, _last_interrupt = time.monotonic() - _last_interrupt < 2.0, time.monotonic()
        keep()
        if again:
            raise
        return states, history, True
    keep()
    return states, history, False


def _latest(trace: Trace, n: int, before: Trace | None) -> Trace:
    """Take the newest value of every fit, group after group; of a fit that has stopped, its last."""

    def newest(values: Array, old: Array | None) -> Array:
        rows = values.reshape(-1, values.shape[-1])[:, :n]
        known = ~np.isnan(rows)
        last = np.where(known.any(axis=1), n - 1 - known[:, ::-1].argmax(axis=1), 0)
        found = rows[np.arange(len(rows)), last]
        return found if old is None else np.where(np.isnan(found), old, found)

    olds = [None] * len(trace) if before is None else list(before)
    return Trace(*(newest(np.asarray(values), old) for values, old in zip(trace, olds, strict=True)))  # type: ignore[arg-type]


def _progress(states: State, latest: Trace, epoch: int, max_epochs: int, plan: Plan, fixed: Params) -> Progress:
    def params() -> list[Params]:
        return [each for group in entries(natural(states.free, fixed, plan)) for each in entries(group)]

    loss, rmse, change, validation = (np.asarray(values) for values in latest)
    return Progress(epoch, max_epochs, loss, rmse, change, validation if plan.validate else None, params)


def _history_of(history: list[Trace], group: int, fit: int, validated: bool) -> dict[str, Array]:
    if not history:
        empty = np.zeros(0)
        return {"loss": empty, "rmse": empty, "change": empty}
    joined = Trace(*(np.concatenate([getattr(t, field)[group, fit] for t in history]) for field in Trace._fields))  # type: ignore[arg-type]
    ran = ~np.isnan(joined.change)  # a fit that stopped early leaves the rest of its history blank
    out = {name: np.asarray(getattr(joined, name), np.float64)[ran] for name in ("loss", "rmse", "change")}
    if validated:
        out["validation_loss"] = np.asarray(joined.validation, np.float64)[ran]
    return out
