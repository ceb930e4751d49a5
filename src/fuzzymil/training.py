"""Algorithm 1: learning the premise and consequent parameters by gradient descent.

Several fits (restarts, members of a committee) of one shape train in one compiled call: a leading
axis ``f`` runs over them. They share the instances and differ in their start, their random numbers
and the weights of the bags. Whole runs of epochs are compiled; the host only looks in between, to
show progress, to call back, and to hear Ctrl-C.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil.arrays import Array
from fuzzymil.epochs import CHUNK, Data, Plan, State, Trace, evaluate, from_free, ladder, run, to_free
from fuzzymil.grouping import PackedBags
from fuzzymil.network import Params

__all__ = ["Progress", "Result", "train"]

_CHUNK_SECONDS = 0.3  # how long Ctrl-C, callbacks and progress may have to wait


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


def train(
    starts: list[Params],
    masks: dict[str, Array],
    plan: Plan,
    bags: PackedBags,
    targets: Array,
    weights: Array,
    held_out: Array | None = None,
    *,
    learning_rate: float,
    max_epochs: int,
    tol: float = 0.0,
    patience: int = 10,
    seeds: list[int],
    callbacks: tuple[Callable[[Progress], Any], ...] = (),
    report: Callable[[Progress], Any] | None = None,
    first_epoch: int = 0,
    optimizer_state: Any = None,
) -> Result:
    """Train fits that differ in their start, seed and bag weights.

    Parameters
    ----------
    starts : list of Params
        One a fit, of equal shapes.
    masks : dict of arrays of shape (n_rules, n_features)
    plan : Plan
    bags : PackedBags
        Its type decides between 32 and 64 bit.
    targets : array of shape (n_bags, n_outputs)
    weights : array of shape (n_fits, n_bags)
        0 leaves a bag out of that fit's training.
    held_out : array of shape (n_fits, n_bags), optional
        Weights of validation bags, when ``plan.validate``.
    tol : float
        A fit stops when no free parameter moved by more over an epoch; 0 never stops.
    patience : int
        Epochs without a better validation loss before a fit stops.
    seeds : list of int
        One a fit.
    callbacks : tuple of callables
        Called with a `Progress` after each epoch; True stops training.
    report : callable, optional
        Called with a `Progress` a few times a second.
    first_epoch : int
    optimizer_state : object, optional
        Epochs trained before and what the optimiser remembers of them (of an earlier `Result`), to go on
        where training stopped.
    """
    began = time.perf_counter()
    dtype = bags.x.dtype
    with jax.enable_x64(dtype == np.float64):
        fixed, data, train_weights, held = _on_device(starts, bags, targets, weights, held_out, dtype)
        masks_ = {name: jnp.asarray(mask, dtype) for name, mask in masks.items()}
        free = jax.vmap(lambda params: to_free(params, plan))(fixed)
        if optimizer_state is None:
            optimizer_state = jax.vmap(plan.transformation().init)(free)
        n_fits = len(starts)
        states = State(
            free,
            optimizer_state,
            jnp.stack([jax.random.key(seed) for seed in seeds]),
            jnp.full(n_fits, first_epoch, jnp.int32),
            jnp.zeros(n_fits, bool),
            free,
            jnp.full(n_fits, jnp.inf, dtype),
            jnp.zeros(n_fits, jnp.int32),
            jnp.zeros(n_fits, bool),
        )
        rungs = () if plan.batch_size is None else ladder(np.diff(bags.offsets[: bags.n_bags + 1]), plan.batch_size)
        call = functools.partial(
            run, plan, rungs, fixed=fixed, masks=masks_, data=data, weights=train_weights, held_out=held,
            rate=jnp.asarray(learning_rate, dtype), tol=jnp.asarray(tol, dtype), patience=jnp.asarray(patience),
        )  # fmt: skip
        states, history, interrupted = _drive(call, states, plan, fixed, max_epochs, callbacks, report)
        final = states.best if plan.validate else states.free
        loss, validation = evaluate(plan, final, fixed, masks_, data, train_weights, held)
        params = jax.device_get(jax.vmap(lambda free, fixed: from_free(free, fixed, plan))(final, fixed))
        return Result(
            _per_fit(params),
            np.asarray(loss, np.float64),
            np.asarray(validation, np.float64) if plan.validate else None,
            [_history_of(history, f, plan.validate) for f in range(n_fits)],
            np.asarray(states.epoch) - first_epoch,
            interrupted,
            np.asarray(states.diverged),
            jax.device_get(states.optimizer),
            time.perf_counter() - began,
        )


def _on_device(
    starts: list[Params], bags: PackedBags, targets: Array, weights: Array, held_out: Array | None, dtype: Any
) -> tuple[Params, Data, jax.Array, jax.Array]:
    n_bags = len(bags.offsets) - 1

    def padded(values: Array, axis: int) -> jax.Array:
        width = [(0, 0)] * values.ndim
        width[axis] = (0, n_bags - values.shape[axis])
        return jnp.asarray(np.pad(values, width), dtype)

    active = np.maximum((weights > 0).sum(axis=1, keepdims=True), 1)
    weights = weights * active / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    held = np.zeros_like(weights) if held_out is None else held_out
    fixed = jax.tree.map(lambda *values: jnp.stack([jnp.asarray(value, dtype) for value in values]), *starts)
    data = Data(
        jnp.asarray(bags.x),
        None if bags.known is None else jnp.asarray(bags.known),
        None if bags.bag_index is None else jnp.asarray(bags.bag_index),
        jnp.asarray(bags.offsets),
        padded(targets, 0),
        jnp.zeros(n_bags, dtype),
        jnp.zeros(n_bags, dtype),
    )
    return fixed, data, padded(weights, 1), padded(held, 1)


def _drive(
    call: Callable[..., tuple[State, Trace]],
    states: State,
    plan: Plan,
    fixed: Params,
    max_epochs: int,
    callbacks: tuple[Callable[[Progress], Any], ...],
    report: Callable[[Progress], Any] | None,
) -> tuple[State, list[Trace], bool]:
    """Run compiled stretches of epochs until all fits are done, someone says stop, or Ctrl-C."""
    history: list[Trace] = []
    epoch, stretch = 0, 1 if callbacks else 8
    try:
        while epoch < max_epochs and not bool(states.done.all()):
            n = min(stretch, max_epochs - epoch, CHUNK)
            began = time.perf_counter()
            moved, trace = call(states=states, n_epochs=jnp.asarray(n))
            trace = jax.device_get(trace)
            states, epoch = moved, epoch + n
            history.append(Trace(*(values[:, :n] for values in trace)))
            if report is not None or callbacks:
                progress = _progress(states, trace, n, epoch, max_epochs, plan, fixed)
                if report is not None:
                    report(progress)
                wishes = [callback(progress) for callback in callbacks]
                if any(wishes):
                    break
            if not callbacks:  # with callbacks, every epoch is looked at
                seconds = max(time.perf_counter() - began, 1e-4)
                stretch = int(np.clip(n * _CHUNK_SECONDS / seconds, n / 2 + 1, 4 * n + 1))
    except KeyboardInterrupt:
        return states, history, True
    return states, history, False


def _progress(states: State, trace: Trace, n: int, epoch: int, max_epochs: int, plan: Plan, fixed: Params) -> Progress:
    last = Trace(*(np.asarray([_last_known(row[:n]) for row in values]) for values in trace))  # type: ignore[arg-type]

    def params() -> list[Params]:
        now = jax.device_get(jax.vmap(lambda free, fixed: from_free(free, fixed, plan))(states.free, fixed))
        return _per_fit(now)

    validation = np.asarray(last.validation) if plan.validate else None
    return Progress(
        epoch, max_epochs, np.asarray(last.loss), np.asarray(last.rmse), np.asarray(last.change), validation, params
    )


def _per_fit(params: Params) -> list[Params]:
    """Take the leading axis apart, in 64 bit NumPy."""
    leaves, shape = jax.tree.flatten(params)
    return [
        jax.tree.unflatten(shape, [leaf[f].astype(np.float64) for leaf in leaves]) for f in range(len(params.coefs))
    ]


def _last_known(row: Array) -> float:
    known = row[~np.isnan(row)]
    return float(known[-1]) if len(known) else float("nan")


def _history_of(history: list[Trace], fit: int, validated: bool) -> dict[str, Array]:
    if not history:
        empty = np.zeros(0)
        return {"loss": empty, "rmse": empty, "change": empty}
    joined = Trace(*(np.concatenate([getattr(t, field)[fit] for t in history]) for field in Trace._fields))  # type: ignore[arg-type]
    ran = ~np.isnan(joined.change)  # a fit that stopped early leaves the rest of its history blank
    out = {name: np.asarray(getattr(joined, name), np.float64)[ran] for name in ("loss", "rmse", "change")}
    if validated:
        out["validation_loss"] = np.asarray(joined.validation, np.float64)[ran]
    return out
