"""Fits and their epochs: compiled, for many fits at once.

Fits of one shape train in a single compiled call. Restarts and ensemble members share their instances and differ in
their start, random numbers and bag weights; the folds of a cross-validation have instances of their own. `run` compiles
a whole stretch of epochs into one program; `fuzzymil.learn.train.trainer` calls it and looks at the results in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.engines.jax_gaussians import squares_of
from fuzzymil.inference.layers import Masks, Params
from fuzzymil.inference.membership import family
from fuzzymil.inference.segments import PackedBags
from fuzzymil.learn.train._projection import as_type
from fuzzymil.learn.train._step import (
    Data,
    Free,
    Plan,
    clean_costs,
    from_free,
    gradient_of_all,
    step,
    steps_through,
    to_free,
)
from fuzzymil.learn.train.limits import Limits

CHUNK = 256  # most epochs in one compiled call; the length of its history


class Group(NamedTuple):
    """Fits on the same bags that differ in their start, the terms in use, random seed and bag weights.

    Groups that are trained together have equal numbers of fits, rules, features and outputs.
    """

    starts: list[Params]  # one per fit
    masks: list[dict[str, Array]]  # one per fit, (n_rules, n_features) each
    bags: PackedBags  # their dtype chooses single or double precision
    targets: Array  # (n_bags, n_outputs)
    weights: Array  # (n_fits, n_bags); 0 leaves a bag out of that fit's training
    seeds: list[int]  # one per fit
    held_out: Array | None = None  # (n_fits, n_bags), weights of the validation bags
    first_epoch: int = 0  # number of epochs trained before
    optimizer_state: Any = None  # after those epochs
    limits: Limits | None = None


class State(NamedTuple):
    """One fit between two epochs."""

    free: Free
    optimizer: Any
    key: jax.Array
    epoch: jax.Array
    done: jax.Array
    best: Free  # parameters with the lowest validation loss
    best_loss: jax.Array
    stale: jax.Array  # epochs since then
    diverged: jax.Array  # an epoch produced non-finite numbers and was undone

    def trained(self, plan: Plan) -> Free:
        """Return the parameters that training ends with."""
        return self.best if plan.validate else self.free


class Position(NamedTuple):
    """How far training has come."""

    states: State  # all fits after their last complete epoch, with axes (g, m)
    underway: Any = ()  # what an epoch in progress has accumulated


class Trace(NamedTuple):
    """Numbers of consecutive epochs; the last axis counts epochs."""

    loss: Any
    rmse: Any
    change: Any  # the largest move of a free parameter; NaN where no epoch ran or it was undone
    validation: Any


# ---------------------------------------------------------------------- groups as arrays


def stacked(trees: list[Any], dtype: Any) -> Any:
    """Stack equal trees along a new leading axis."""
    return jax.tree.map(lambda *values: np.stack([np.asarray(value, dtype) for value in values]), *trees)


def stacked_limits(groups: list[Group], dtype: Any) -> Limits | None:
    """Return the limits of all groups with a leading axis, or None if there are none."""
    found = [group.limits for group in groups if group.limits is not None]
    if not found:
        return None
    together: Limits = jax.tree.map(
        lambda *values: jnp.asarray(np.stack([as_type(value, dtype) for value in values])), *found
    )
    return together


def first_states(groups: list[Group], plan: Plan, fixed: Params, dtype: Any) -> State:
    """Return all fits, with axes (g, m), before their first epoch."""
    shape = (len(groups), len(groups[0].starts))
    free, optimizer, key = _started(fixed, jnp.asarray([group.seeds for group in groups], jnp.uint32), plan)
    if groups[0].optimizer_state is not None:
        optimizer = jax.tree.map(lambda *values: jnp.stack(values), *[group.optimizer_state for group in groups])
    return State(
        free=free,
        optimizer=optimizer,
        key=key,
        epoch=jnp.asarray(np.array([[group.first_epoch] * shape[1] for group in groups]), jnp.int32),
        done=jnp.zeros(shape, bool),
        best=free,
        best_loss=jnp.full(shape, jnp.inf, dtype),
        stale=jnp.zeros(shape, jnp.int32),
        diverged=jnp.zeros(shape, bool),
    )


@functools.partial(jax.jit, static_argnames=("plan",))
def _started(fixed: Params, seeds: jax.Array, plan: Plan) -> tuple[Free, Any, jax.Array]:
    """Return the free parameters, the optimizer's memory and the random keys of all fits, axes (g, m)."""

    def fit(params: Params, seed: jax.Array) -> tuple[Free, Any, jax.Array]:
        free = to_free(params, plan)
        return free, plan.transformation().init(free), jax.random.key(seed)

    found: tuple[Free, Any, jax.Array] = jax.vmap(jax.vmap(fit))(fixed, seeds)
    return found


def natural(free: Free, fixed: Params, plan: Plan) -> Params:
    """Return the parameters, axes (g, m), that belong to free ones, as float64 NumPy arrays."""
    params = _natural(free, fixed, plan)
    return Params(*jax.tree.map(lambda values: np.asarray(values, np.float64), jax.device_get(tuple(params))))


@functools.partial(jax.jit, static_argnames=("plan",))
def _natural(free: Free, fixed: Params, plan: Plan) -> Params:
    found: Params = jax.vmap(jax.vmap(lambda free, fixed: from_free(free, fixed, plan)))(free, fixed)
    return found


def mean_one(weights: Array) -> Array:
    """Scale weights (m, b) to a mean of 1 over the bags with a positive weight."""
    active = np.maximum((weights > 0).sum(axis=1, keepdims=True), 1)
    total = np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(weights * active / total)


# ---------------------------------------------------------------------- one fit


def _describes_sets(params: Params) -> jax.Array:
    """Return whether every set has a finite, positive width (a log-width can be finite and its width not)."""
    good: list[jax.Array] = [family(name).describes_set(*values).all() for name, values in params.sets.items()]
    # What missing values stand for is not trained, and NaN where nothing is known.
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(params._replace(missing_values=None))]
    return functools.reduce(jnp.logical_and, good + finite)


def _epoch(
    state: State,
    fixed: Params,
    masks: Masks,
    limits: Limits | None,
    plan: Plan,
    buckets: tuple[int, ...],
    data: Data,
    rate: jax.Array,
) -> tuple[Free, Any, jax.Array, jax.Array]:
    """Pass over the bags once; return parameters, optimizer state, mean loss and mean squared error."""
    # The key of an epoch depends on its number alone, so it does not matter where stretches are cut.
    key = jax.random.fold_in(state.key, state.epoch)
    if plan.batch_size is None:
        gradient, loss, error = gradient_of_all(state.free, key, fixed, masks, plan, data, *buckets)
        free, optimizer = step(state.free, state.optimizer, gradient, plan, limits, rate)
        return free, optimizer, loss, error
    free, optimizer, (total, error), count = steps_through(
        state.free, state.optimizer, key, fixed, masks, limits, plan, buckets, data, rate
    )
    return free, optimizer, total / count, error / count


def concluded(
    state: State,
    free: Free,
    optimizer: Any,
    loss: jax.Array,
    held_out: jax.Array | None,
    fixed: Params,
    plan: Plan,
    tol: jax.Array,
    n_iter_no_change: jax.Array,
) -> tuple[State, jax.Array]:
    """Return the state after an epoch that arrived at ``free``, and the largest move (NaN if the epoch was undone).

    ``held_out`` is the loss on the validation bags, if there are any.
    """
    moves = jax.tree.map(lambda new, old: jnp.max(jnp.abs(new - old)), free, state.free)
    change = functools.reduce(jnp.maximum, jax.tree.leaves(moves))
    sound = jnp.isfinite(change) & jnp.isfinite(loss) & _describes_sets(from_free(free, fixed, plan))
    free, optimizer = jax.tree.map(
        lambda new, old: jnp.where(sound, new, old), (free, optimizer), (state.free, state.optimizer)
    )
    done = (change < tol) | ~sound
    best, best_loss, stale = state.best, state.best_loss, state.stale
    if held_out is not None:
        better = held_out < best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), free, best)
        best_loss = jnp.where(better, held_out, best_loss)
        stale = jnp.where(better, 0, stale + 1)
        done = done | (stale >= n_iter_no_change)
    epoch = state.epoch + sound.astype(state.epoch.dtype)
    after = State(
        free=free,
        optimizer=optimizer,
        key=state.key,
        epoch=epoch,
        done=done,
        best=best,
        best_loss=best_loss,
        stale=stale,
        diverged=~sound,
    )
    return after, jnp.where(sound, change, jnp.nan)


def _epochs(
    plan: Plan,
    buckets: tuple[int, ...],
    state: State,
    fixed: Params,
    masks: Masks,
    limits: Limits | None,
    data: Data,
    rate: jax.Array,
    tol: jax.Array,
    n_iter_no_change: jax.Array,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Run up to ``n_epochs`` epochs of one fit."""
    first = state.epoch

    def unfinished(carry: tuple[State, Trace]) -> jax.Array:
        state, _ = carry
        return (state.epoch - first < n_epochs) & ~state.done

    def body(carry: tuple[State, Trace]) -> tuple[State, Trace]:
        state, trace = carry
        free, optimizer, loss, error = _epoch(state, fixed, masks, limits, plan, buckets, data, rate)
        held_out = None
        if plan.validate:
            # If the epoch turns out to have diverged it is undone, and so is this.
            costs, _ = clean_costs(free, fixed, masks, plan, data)
            held_out = jnp.sum(jnp.where(data.held_out > 0, data.held_out * costs, 0.0)) / jnp.sum(data.held_out)
        after, change = concluded(state, free, optimizer, loss, held_out, fixed, plan, tol, n_iter_no_change)
        place = state.epoch - first
        trace = Trace(
            trace.loss.at[place].set(loss),
            trace.rmse.at[place].set(jnp.sqrt(error)),
            trace.change.at[place].set(change),
            trace.validation.at[place].set(loss if held_out is None else held_out),
        )
        return after, trace

    blank = jnp.full(CHUNK, jnp.nan, data.x.dtype)
    return jax.lax.while_loop(unfinished, body, (state, Trace(blank, blank, blank, blank)))


# ---------------------------------------------------------------------- many fits, compiled


def _each(function: Callable[..., Any], arguments: tuple[Any, ...], *, in_turn: bool) -> Any:
    """Call ``function`` for each entry of the leading axis of its arguments, all at once or one after another."""
    if len(jax.tree.leaves(arguments)[0]) == 1:  # a program without the axis is smaller and faster
        alone = function(*jax.tree.map(lambda values: values[0], arguments))
        return jax.tree.map(lambda values: values[None], alone)
    if in_turn:
        return jax.lax.map(lambda entry: function(*entry), arguments)
    return jax.vmap(function)(*arguments)


@functools.partial(jax.jit, static_argnames=("plan", "buckets"))
def run(
    plan: Plan,
    buckets: tuple[int, ...],
    states: State,
    fixed: Params,
    masks: Masks,
    limits: Limits | None,
    data: Data,
    rate: jax.Array,
    tol: jax.Array,
    n_iter_no_change: jax.Array,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Run up to ``n_epochs`` (at most `CHUNK`) epochs of every fit that is not done.

    The leading axes are g groups with their own data (the folds of a cross-validation) and m fits in each (restarts,
    ensemble members). ``states``, ``fixed``, ``masks`` and the weights in ``data`` have both axes, the rest the first
    only. ``buckets`` holds the bucket sizes that mini-batches are padded to; for full batches, the size from
    `fuzzymil.inference.segments.even_size`, or nothing.
    """
    # Mini-batches choose a bucket size; under vmap that would compute all of them, so fits run one at a time.
    in_turn = plan.batch_size is not None
    # On a CPU one group that fits the cache is faster than many that do not; a GPU wants all of them at once.
    groups_in_turn = in_turn or jax.default_backend() == "cpu"

    def group(states: State, fixed: Params, masks: Masks, limits: Limits | None, data: Data) -> Any:
        if plan.batch_size is None:
            data = data._replace(squares=squares_of(data.x, data.known))

        def fit(
            state: State, fixed: Params, masks: Masks, weights: jax.Array, held_out: jax.Array
        ) -> tuple[State, Trace]:
            own = data._replace(weights=weights, held_out=held_out)
            return _epochs(plan, buckets, state, fixed, masks, limits, own, rate, tol, n_iter_no_change, n_epochs)

        return _each(fit, (states, fixed, masks, data.weights, data.held_out), in_turn=in_turn)

    result: tuple[State, Trace] = _each(group, (states, fixed, masks, limits, data), in_turn=groups_in_turn)
    return result


@functools.partial(jax.jit, static_argnames=("plan",))
def evaluate(plan: Plan, free: Free, fixed: Params, masks: Masks, data: Data) -> tuple[jax.Array, jax.Array]:
    """Return the mean loss (g, m) on each fit's training and validation bags, computed as at test time."""

    def group(free: Free, fixed: Params, masks: Masks, data: Data) -> Any:
        def fit(
            free: Free, fixed: Params, masks: Masks, weights: jax.Array, held_out: jax.Array
        ) -> tuple[jax.Array, jax.Array]:
            costs, _ = clean_costs(free, fixed, masks, plan, data)
            training, validation = (
                jnp.sum(jnp.where(w > 0, w * costs, 0.0)) / jnp.where(jnp.sum(w) == 0, 1.0, jnp.sum(w))
                for w in (weights, held_out)
            )
            return training, validation

        return _each(fit, (free, fixed, masks, data.weights, data.held_out), in_turn=False)

    result: tuple[jax.Array, jax.Array] = _each(group, (free, fixed, masks, data), in_turn=False)
    return result
