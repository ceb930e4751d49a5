"""The compiled part of learning: epochs of gradient descent on the network's parameters.

Fits of one shape train in one compiled call. Restarts and members share their instances and differ
in their start, their random numbers and the weights of the bags; the folds of a cross-validation
have instances of their own. A whole run of epochs is one program; `training` calls it and looks in
between.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax

from fuzzymil.gaussian import squares_of
from fuzzymil.grouping import Grouping, OneBag, Packed, grouping_of
from fuzzymil.losses import LOSSES
from fuzzymil.membership import FAMILIES
from fuzzymil.network import Masks, Operators, Params, forward

__all__ = [
    "CHUNK",
    "OPTIMIZERS",
    "Data",
    "Free",
    "Limits",
    "Plan",
    "State",
    "Trace",
    "evaluate",
    "from_free",
    "ladder",
    "run",
    "to_free",
]

Array = npt.NDArray[Any]
Free = dict[str, Any]  # unconstrained parameters, a pytree that the optimiser moves

# Each scales a gradient; the step is the learning rate times that.
OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": optax.identity,
    "adam": optax.scale_by_adam,
}

CHUNK = 256  # most epochs in one compiled call; the size of its history


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is compiled into the training program; hashable."""

    operators: Operators
    loss: str = "squared"
    optimizer: str | optax.GradientTransformation = "adam"
    batch_size: int | None = None  # None: all bags at once; 1: on-line
    keep_prob: float | None = None  # Rule Dropout
    renormalise: bool = False  # Rule Dropout before Layer 4, shared among the kept rules
    width_scale: str = "log"  # or "direct": the optimiser moves the widths themselves
    learn_alpha: bool = False
    validate: bool = False

    def transformation(self) -> optax.GradientTransformation:
        """Return the optimiser without its learning rate."""
        return OPTIMIZERS[self.optimizer]() if isinstance(self.optimizer, str) else self.optimizer


class Data(NamedTuple):
    """Bags and targets on the device, shared by the fits of a group but for the weights."""

    x: jax.Array  # (i, d)
    known: jax.Array | None  # (i, d)
    bag_index: jax.Array | None  # (i,)
    offsets: jax.Array  # (b + 1,)
    targets: jax.Array  # (b, k)
    weights: jax.Array  # (b,) of one fit; mean 1 over its training bags, 0 for the others
    held_out: jax.Array  # (b,) likewise for validation
    squares: jax.Array | None = None  # (i, d) of x, where they are used


class Limits(NamedTuple):
    """What training has to respect in rules that somebody wrote."""

    owner: Any  # (rows, d), flat place of the first condition that uses the same set: its users move it together
    sets: Any  # (rows, d), 0 for sets that stay as they are
    coefs: Any  # (r, 1, 1), 0 for conclusions that do


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


# ---------------------------------------------------------------------- free parameters


def to_free(params: Params, plan: Plan) -> Free:
    """Translate a rule base's numbers to what the optimiser moves."""
    free: Free = {"sets": {}, "coefs": params.coefs}
    for name, values in params.sets.items():
        direct = plan.width_scale == "direct" and name == "gaussian"
        free["sets"][name] = tuple(values) if direct else FAMILIES[name].to_free(*values)
    if plan.learn_alpha:
        free["alpha"], free["consequent_alpha"] = params.alpha, params.consequent_alpha
    return free


def from_free(free: Free, fixed: Params, plan: Plan) -> Params:
    """Inverse of `to_free`; ``fixed`` supplies what is not trained."""
    sets: dict[str, tuple[jax.Array, ...]] = {}
    for name, values in free["sets"].items():
        if plan.width_scale == "direct" and name == "gaussian":
            sets[name] = (values[0], jnp.abs(values[1]))  # s and -s are the same set
        else:
            sets[name] = FAMILIES[name].from_free(*values)
    return Params(
        sets,
        free["coefs"],
        free.get("alpha", fixed.alpha),
        free.get("consequent_alpha", fixed.consequent_alpha),
    )


def _shared(gradient: Free, limits: Limits) -> Free:
    """Give every user of a set the sum of all users' gradients: equal steps keep equal sets equal."""

    def together(values: jax.Array) -> jax.Array:
        total = jax.ops.segment_sum(values.ravel(), limits.owner.ravel(), limits.owner.size)
        return total[limits.owner]

    return gradient | {"sets": jax.tree.map(together, gradient["sets"])}


def _held(updates: Free, limits: Limits) -> Free:
    """Leave out the steps of what is to stay."""
    sets = jax.tree.map(lambda values: limits.sets * values, updates["sets"])
    return updates | {"sets": sets, "coefs": limits.coefs * updates["coefs"]}


def _describes_sets(params: Params) -> jax.Array:
    """Tell whether every set has a finite width above 0 (a log-width can be finite and its width not)."""
    good = [jnp.isfinite(1.0 / FAMILIES[name].spread(*values)).all() for name, values in params.sets.items()]
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(params)]
    return functools.reduce(jnp.logical_and, good + finite)


# ---------------------------------------------------------------------- one fit


def _costs(
    free: Free,
    fixed: Params,
    masks: Masks,
    plan: Plan,
    x: jax.Array,
    known: jax.Array | None,
    grouping: Grouping,
    targets: jax.Array,
    keep: jax.Array | None,
    squares: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Loss and squared error of each bag, (b,) both."""
    loss = LOSSES[plan.loss]
    layers = forward(
        from_free(free, fixed, plan),
        masks,
        plan.operators,
        x,
        grouping,
        known=known,
        keep=keep,
        renormalise=plan.renormalise,
        squares=squares,
    )
    error = jnp.square(loss.expected(layers.output) - targets).sum(axis=-1)
    return loss.per_bag(layers.output, targets), error


def _clean_costs(free: Free, fixed: Params, masks: Masks, plan: Plan, data: Data) -> tuple[jax.Array, jax.Array]:
    """Costs of all bags as they are at test time: every rule takes part, scaled as the paper says."""
    n_bags, n_rules = len(data.targets), _n_rules(fixed)
    keep = None
    if plan.keep_prob is not None and not plan.renormalise:
        keep = jnp.full((n_bags, n_rules), plan.keep_prob, data.x.dtype)
    clean = dataclasses.replace(plan, renormalise=False)
    grouping = grouping_of(data.bag_index, len(data.x), n_bags)
    return _costs(free, fixed, masks, clean, data.x, data.known, grouping, data.targets, keep, data.squares)


def _n_rules(params: Params) -> int:
    """Return the number of rules."""
    return int(params.coefs.shape[0])


def _draw_keep(key: jax.Array, shape: tuple[int, int], plan: Plan, dtype: Any) -> jax.Array | None:
    if plan.keep_prob is None:
        return None
    draws = jax.random.uniform(key, shape)
    keep = draws < plan.keep_prob
    if plan.renormalise:  # never drop every rule: there would be nothing to share the strength
        keep = keep | (~keep.any(axis=1, keepdims=True) & (draws == draws.min(axis=1, keepdims=True)))
    return keep.astype(dtype)


def ladder(sizes: Array, batch_size: int) -> tuple[int, ...]:
    """Rows that a batch of bags is padded to: a few sizes four times apart, up to the greatest batch."""
    greatest = int(np.sort(sizes)[-batch_size:].sum())
    rungs = [8 if greatest > 1 else 1]
    while rungs[-1] < greatest:
        rungs.append(rungs[-1] * 4)
    return tuple(rungs)


def _batch(data: Data, bags: jax.Array, taken: jax.Array, rows: int) -> tuple[jax.Array, jax.Array | None, Grouping]:
    """Instances of some bags, ``rows`` of them at most: (rows, d), known (rows, d), grouping.

    ``taken`` (batch,) is False for places that a last, smaller batch leaves empty.
    """
    place = jnp.arange(rows)
    starts = data.offsets[bags]
    sizes = jnp.where(taken, data.offsets[bags + 1] - starts, 0)
    if len(bags) == 1:
        # Padding rows repeat the bag's last instance: a stranger's row could overflow where it is masked, and
        # send NaN back through the gradient.
        row = starts[0] + jnp.minimum(place, sizes[0] - 1)
        return data.x[row], None if data.known is None else data.known[row], OneBag(place < sizes[0])
    ends = jnp.cumsum(sizes)
    owner = jnp.searchsorted(ends, place, side="right")  # len(bags) for padding rows: a bag of its own
    within = jnp.minimum(owner, len(bags) - 1)
    row = jnp.clip(starts[within] + place - (ends[within] - sizes[within]), 0, len(data.x) - 1)
    return data.x[row], None if data.known is None else data.known[row], Packed(owner, len(bags) + 1)


def _epoch(
    free: Free,
    optimizer: Any,
    key: jax.Array,
    fixed: Params,
    masks: Masks,
    limits: Limits | None,
    plan: Plan,
    rungs: tuple[int, ...],
    data: Data,
    rate: jax.Array,
) -> tuple[Free, Any, jax.Array, jax.Array]:
    """One pass over the bags: parameters, optimiser state, mean loss and mean squared error."""
    transformation = plan.transformation()
    active = data.weights > 0
    n_active = active.sum()

    def step(
        free: Free, optimizer: Any, mean_cost: Callable[[Free], tuple[jax.Array, tuple[jax.Array, jax.Array]]]
    ) -> tuple[Free, Any, tuple[jax.Array, jax.Array]]:
        gradient, sums = jax.grad(mean_cost, has_aux=True)(free)
        if limits is not None:
            gradient = _shared(gradient, limits)
        updates, optimizer = transformation.update(gradient, optimizer, free)
        if limits is not None:
            updates = _held(updates, limits)
        factor = -rate if isinstance(plan.optimizer, str) else 1.0
        free = jax.tree.map(lambda value, update: value + (factor * update).astype(value.dtype), free, updates)
        return free, optimizer, sums

    def weighted(
        costs: tuple[jax.Array, jax.Array], weights: jax.Array, count: jax.Array
    ) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        total, error = (jnp.sum(jnp.where(weights > 0, weights * cost, 0.0)) for cost in costs)
        return total / count, (total, error)

    if plan.batch_size is None:
        keep = _draw_keep(key, (len(data.targets), _n_rules(fixed)), plan, data.x.dtype)
        grouping = grouping_of(data.bag_index, len(data.x), len(data.targets), data.offsets, *rungs)

        def all_bags(free: Free) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
            costs = _costs(free, fixed, masks, plan, data.x, data.known, grouping, data.targets, keep, data.squares)
            return weighted(costs, data.weights, n_active)

        free, optimizer, (total, error) = step(free, optimizer, all_bags)
        return free, optimizer, total / n_active, error / n_active

    batch_size = plan.batch_size
    order_key, keep_key = jax.random.split(key)
    # Padding, validation and weightless bags are sorted behind the training bags and never visited.
    order = jnp.argsort(jnp.where(active, jax.random.uniform(order_key, active.shape), 2.0))
    order = jnp.concatenate([order, jnp.zeros(batch_size, order.dtype)])

    def visit(number: jax.Array, carry: tuple[Free, Any, jax.Array, jax.Array]) -> tuple[Free, Any, Any, Any]:
        free, optimizer, total, error = carry
        bags = jax.lax.dynamic_slice_in_dim(order, number * batch_size, batch_size)
        taken = number * batch_size + jnp.arange(batch_size) < n_active
        weights = jnp.where(taken, data.weights[bags], 0.0)
        keep = _draw_keep(jax.random.fold_in(keep_key, number), (batch_size, _n_rules(fixed)), plan, data.x.dtype)

        def on_rung(rows: int) -> Callable[[Free, Any], tuple[Free, Any, tuple[jax.Array, jax.Array]]]:
            def some_bags(free: Free) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
                x, known, grouping = _batch(data, bags, taken, min(rows, len(data.x)))
                padded = grouping.sizes().shape[0] - batch_size  # a padding bag, where there is one
                kept = None if keep is None else jnp.pad(keep, ((0, padded), (0, 0)), constant_values=1)
                targets = jnp.pad(data.targets[bags], ((0, padded), (0, 0)))
                costs = _costs(free, fixed, masks, plan, x, known, grouping, targets, kept)
                return weighted(costs, jnp.pad(weights, (0, padded)), taken.sum())

            return lambda free, optimizer: step(free, optimizer, some_bags)

        size = jnp.sum(jnp.where(taken, data.offsets[bags + 1] - data.offsets[bags], 0))
        rung = jnp.searchsorted(jnp.asarray(rungs), size)
        free, optimizer, (cost, deviation) = jax.lax.switch(rung, [on_rung(rows) for rows in rungs], free, optimizer)
        return free, optimizer, total + cost, error + deviation

    zero = jnp.zeros((), data.x.dtype)
    n_steps = (n_active + batch_size - 1) // batch_size
    free, optimizer, total, error = jax.lax.fori_loop(0, n_steps, visit, (free, optimizer, zero, zero))
    return free, optimizer, total / n_active, error / n_active


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
    patience: jax.Array,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Up to ``n_epochs`` epochs of one fit."""
    first = state.epoch

    def go_on(carry: tuple[State, Trace]) -> jax.Array:
        state, _ = carry
        return (state.epoch - first < n_epochs) & ~state.done

    def body(carry: tuple[State, Trace]) -> tuple[State, Trace]:
        state, trace = carry
        # The key of an epoch depends on its number alone, so that it does not matter where runs are cut.
        key = jax.random.fold_in(state.key, state.epoch)
        free, optimizer, loss, error = _epoch(
            state.free, state.optimizer, key, fixed, masks, limits, plan, rungs, data, rate
        )
        moves = jax.tree.map(lambda new, old: jnp.max(jnp.abs(new - old)), free, state.free)
        change = functools.reduce(jnp.maximum, jax.tree.leaves(moves))
        sound = jnp.isfinite(change) & jnp.isfinite(loss) & _describes_sets(from_free(free, fixed, plan))
        free, optimizer = jax.tree.map(
            lambda new, old: jnp.where(sound, new, old), (free, optimizer), (state.free, state.optimizer)
        )
        done = (change < tol) | ~sound
        best, best_loss, stale = state.best, state.best_loss, state.stale
        if plan.validate:
            costs, _ = _clean_costs(free, fixed, masks, plan, data)
            held_out = jnp.sum(jnp.where(data.held_out > 0, data.held_out * costs, 0.0)) / jnp.sum(data.held_out)
            better = held_out < best_loss
            best = jax.tree.map(lambda new, old: jnp.where(better, new, old), free, best)
            best_loss = jnp.where(better, held_out, best_loss)
            stale = jnp.where(better, 0, stale + 1)
            done = done | (stale >= patience)
        else:
            held_out = loss
        place = state.epoch - first
        trace = Trace(
            trace.loss.at[place].set(loss),
            trace.rmse.at[place].set(jnp.sqrt(error)),
            trace.change.at[place].set(jnp.where(sound, change, jnp.nan)),
            trace.validation.at[place].set(held_out),
        )
        epoch = state.epoch + sound.astype(state.epoch.dtype)
        return State(free, optimizer, state.key, epoch, done, best, best_loss, stale, ~sound), trace

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
    patience: jax.Array,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Run up to ``n_epochs`` (at most `CHUNK`) epochs of every fit that is not done.

    Leading axes: g groups that have their own data (the folds of a cross-validation), m fits in each
    (restarts, members). ``rungs`` are the sizes that steps of few bags are padded to; with all bags at once, the one
    of `even_size`, or none. ``states``, ``fixed``, ``masks`` and the weights in ``data`` have both, the rest the first.
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
            return _epochs(plan, rungs, state, fixed, masks, limits, own, rate, tol, patience, n_epochs)

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
            costs, _ = _clean_costs(free, fixed, masks, plan, data)
            training, validation = (
                jnp.sum(jnp.where(w > 0, w * costs, 0.0)) / jnp.where(jnp.sum(w) == 0, 1.0, jnp.sum(w))
                for w in (weights, held_out)
            )
            return training, validation

        return _each(fit, (free, fixed, masks, data.weights, data.held_out), in_turn=False)

    result: tuple[jax.Array, jax.Array] = _each(group, (free, fixed, masks, data), in_turn=False)
    return result
