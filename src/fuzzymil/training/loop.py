"""Whole runs of epochs, compiled, for many fits at once.

Fits of one shape train in one compiled call. Restarts and members share their instances and differ
in their start, their random numbers and the weights of the bags; the folds of a cross-validation
have instances of their own. A whole run of epochs is one program; `training` calls it and looks in
between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from fuzzymil.membership import FAMILIES
from fuzzymil.network.kernels.gaussian import squares_of
from fuzzymil.network.layers import Masks, Params
from fuzzymil.training.step import (
    Data,
    Free,
    Limits,
    Plan,
    clean_costs,
    from_free,
    gradient_of_all,
    step,
    steps_through,
)

__all__ = ["CHUNK", "State", "Trace", "evaluate", "run"]

CHUNK = 256  # most epochs in one compiled call; the size of its history


class State(NamedTuple):
    """One fit between two epochs."""

    free: Free
    optimizer: Any
    key: jax.Array
    epoch: jax.Array
    done: jax.Array
    best: Free  # parameters of the least validation loss
    best_loss: jax.Array
    stale: jax.Array  # epochs since then
    diverged: jax.Array  # an epoch gave numbers that are not finite, and was taken back


class Trace(NamedTuple):
    """History of one call, (CHUNK,) each."""

    loss: jax.Array
    rmse: jax.Array
    change: jax.Array
    validation: jax.Array


# ---------------------------------------------------------------------- one fit


def _describes_sets(params: Params) -> jax.Array:
    """Tell whether every set has a finite width above 0 (a log-width can be finite and its width not)."""
    good = [jnp.isfinite(1.0 / FAMILIES[name].spread(*values)).all() for name, values in params.sets.items()]
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(params)]
    return functools.reduce(jnp.logical_and, good + finite)


def _epoch(
    state: State,
    fixed: Params,
    masks: Masks,
    limits: Limits | None,
    plan: Plan,
    rungs: tuple[int, ...],
    data: Data,
    rate: jax.Array,
) -> tuple[Free, Any, jax.Array, jax.Array]:
    """One pass over the bags: parameters, optimizer state, mean loss and mean squared error."""
    # The key of an epoch depends on its number alone, so that it does not matter where runs are cut.
    key = jax.random.fold_in(state.key, state.epoch)
    if plan.batch_size is None:
        gradient, loss, error = gradient_of_all(state.free, key, fixed, masks, plan, data, *rungs)
        free, optimizer = step(state.free, state.optimizer, gradient, plan, limits, rate)
        return free, optimizer, loss, error
    free, optimizer, (total, error), count = steps_through(
        state.free, state.optimizer, key, fixed, masks, limits, plan, rungs, data, rate
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
    """Return the state after an epoch that gave ``free``, and the greatest move; NaN if the epoch was taken back.

    ``held_out`` is the loss on the validation bags, where there are any.
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
    after = State(free, optimizer, state.key, epoch, done, best, best_loss, stale, ~sound)
    return after, jnp.where(sound, change, jnp.nan)


def _epochs(
    plan: Plan,
    rungs: tuple[int, ...],
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
    """Up to ``n_epochs`` epochs of one fit."""
    first = state.epoch

    def go_on(carry: tuple[State, Trace]) -> jax.Array:
        state, _ = carry
        return (state.epoch - first < n_epochs) & ~state.done

    def body(carry: tuple[State, Trace]) -> tuple[State, Trace]:
        state, trace = carry
        free, optimizer, loss, error = _epoch(state, fixed, masks, limits, plan, rungs, data, rate)
        held_out = None
        if plan.validate:
            # Of what the epoch gave; if that is unsound it is taken back, and so is this.
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
    return jax.lax.while_loop(go_on, body, (state, Trace(blank, blank, blank, blank)))


# ---------------------------------------------------------------------- many fits, compiled


def _each(function: Callable[..., Any], arguments: tuple[Any, ...], *, in_turn: bool) -> Any:
    """Call ``function`` for every entry of the leading axis of its arguments, together or one after another."""
    if len(jax.tree.leaves(arguments)[0]) == 1:  # a program without the axis is smaller and faster
        alone = function(*jax.tree.map(lambda values: values[0], arguments))
        return jax.tree.map(lambda values: values[None], alone)
    if in_turn:
        return jax.lax.map(lambda entry: function(*entry), arguments)
    return jax.vmap(function)(*arguments)


@functools.partial(jax.jit, static_argnames=("plan", "rungs"))
def run(
    plan: Plan,
    rungs: tuple[int, ...],
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

    Leading axes: g groups that have their own data (the folds of a cross-validation), m fits in each
    (restarts, members). ``rungs`` are the sizes that steps of few bags are padded to; with all bags at once, the one
    of `fuzzymil.network.segments.even_size`, or none. ``states``, ``fixed``, ``masks`` and the weights in ``data`` have both
    axes, the rest the first.
    """
    # Steps of few bags choose among sizes, which under vmap would compute every size: one fit at a time.
    in_turn = plan.batch_size is not None
    # On a CPU a group that stays in the cache is faster than many that do not; a GPU wants all of them at once.
    groups_in_turn = in_turn or jax.default_backend() == "cpu"

    def group(states: State, fixed: Params, masks: Masks, limits: Limits | None, data: Data) -> Any:
        if plan.batch_size is None:
            data = data._replace(squares=squares_of(data.x, data.known))

        def fit(
            state: State, fixed: Params, masks: Masks, weights: jax.Array, held_out: jax.Array
        ) -> tuple[State, Trace]:
            own = data._replace(weights=weights, held_out=held_out)
            return _epochs(plan, rungs, state, fixed, masks, limits, own, rate, tol, n_iter_no_change, n_epochs)

        return _each(fit, (states, fixed, masks, data.weights, data.held_out), in_turn=in_turn)

    result: tuple[State, Trace] = _each(group, (states, fixed, masks, limits, data), in_turn=groups_in_turn)
    return result


@functools.partial(jax.jit, static_argnames=("plan",))
def evaluate(plan: Plan, free: Free, fixed: Params, masks: Masks, data: Data) -> tuple[jax.Array, jax.Array]:
    """Mean loss (g, m) on each fit's training and held-out bags, as at test time."""

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
