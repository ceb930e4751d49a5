"""Fits and their epochs: compiled, for many fits at once.

Fits of one shape train in a single compiled call. Restarts and ensemble members share their instances and differ in
their start, random numbers and bag weights; the folds of a cross-validation have instances of their own. `run` compiles
a whole stretch of epochs into one program; `fuzzymil.learn.train.trainer` calls it and looks at the results in between.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.engines.jax import Packed, grouping_of
from fuzzymil.inference.engines.jax_gaussians import squares_of
from fuzzymil.inference.layers import Masks, Operators, Params, forward, forward_to_sets
from fuzzymil.inference.membership import family
from fuzzymil.inference.segments import Grouping, OneBag, PackedBags, padded_size
from fuzzymil.learn.train.constraints import Limits, as_type, project
from fuzzymil.learn.train.least_squares import best_conclusions
from fuzzymil.learn.train.losses import LOSSES

Free = dict[str, Any]  # unconstrained parameters: the pytree that the optimizer updates


@dataclasses.dataclass(frozen=True)
class Plan:
    """Everything that is compiled into the training program; hashable."""

    operators: Operators
    loss: str = "squared_error"
    optimizer: str | optax.GradientTransformation = "adam"
    batch_size: int | None = None  # None: full batch; 1: on-line
    keep_prob: float | None = None  # Rule Dropout
    renormalize: bool = False  # apply Rule Dropout before Layer 4, so that the kept rules share the strength
    width_scale: str = "log"  # or "direct": the optimizer updates the widths themselves
    learn_alpha: bool = False
    validate: bool = False
    hybrid: bool = False  # conclusions by least squares after every step of the sets
    buckets: tuple[int, ...] = ()  # that mini-batches are padded to; of full batches, the size from `even_size`, if any

    def transformation(self) -> optax.GradientTransformation:
        """Return the optimizer without its learning rate."""
        known = {"sgd": optax.identity, "adam": optax.scale_by_adam}
        return known[self.optimizer]() if isinstance(self.optimizer, str) else self.optimizer


class Data(NamedTuple):
    """Bags and targets on the device; the fits of a group share everything but the weights."""

    x: jax.Array  # (i, d)
    known: jax.Array | None  # (i, d)
    bag_index: jax.Array | None  # (i,)
    offsets: jax.Array  # (b + 1,)
    targets: jax.Array  # (b, k)
    weights: jax.Array  # (b,) of one fit, with mean 1 over its training bags and 0 for the others
    held_out: jax.Array  # (b,) likewise for validation
    numbers: jax.Array | None = None  # (b,) of the bags among all bags, if these are a part of a stream
    n_training: jax.Array | None = None  # () total number of training bags
    squares: jax.Array | None = None  # (i, d) of x, if they are used


class Numbers(NamedTuple):
    """What one compiled program can take any value of, () each."""

    rate: Any
    tol: Any
    patience: Any  # epochs without a better validation loss, after which a fit stops


# ---------------------------------------------------------------------- free parameters


def to_free(params: Params, plan: Plan) -> Free:
    """Convert the parameters of a rule base to the free parameters that the optimizer updates."""
    free: Free = {"sets": {}, "coefs": params.coefs}
    for name, values in params.sets.items():
        direct = plan.width_scale == "direct" and name == "gaussian"
        free["sets"][name] = tuple(values) if direct else family(name).to_free(*values)
    if not plan.operators.normalize:
        free["default"] = params.default
    if plan.learn_alpha:
        free["alpha"], free["conclusion_alpha"] = params.alpha, params.conclusion_alpha
    return free


def from_free(free: Free, fixed: Params, plan: Plan) -> Params:
    """Invert `to_free`; ``fixed`` supplies what is not trained."""
    sets: dict[str, tuple[jax.Array, ...]] = {}
    for name, values in free["sets"].items():
        if plan.width_scale == "direct" and name == "gaussian":
            sets[name] = (values[0], jnp.abs(values[1]))  # s and -s are the same set
        else:
            sets[name] = family(name).from_free(*values)
    others = {name: free[name] for name in ("coefs", "alpha", "conclusion_alpha", "default") if name in free}
    return fixed._replace(sets=sets, **others)


def _sum_shared(gradient: Free, limits: Limits) -> Free:
    """Give all conditions that share a set the sum of their gradients: equal steps keep the set shared."""

    def together(values: jax.Array) -> jax.Array:
        total = jax.ops.segment_sum(values.ravel(), limits.owner.ravel(), limits.owner.size)
        return total[limits.owner]

    return gradient | {"sets": jax.tree.map(together, gradient["sets"])}


def _without_frozen(updates: Free, limits: Limits) -> Free:
    """Zero the updates of frozen sets and conclusions."""
    factors = {"sets": limits.sets, "coefs": limits.coefs, "default": limits.default}
    parts = {
        name: jax.tree.map(lambda values, f=f: f * values, updates[name])
        for name, f in factors.items()
        if name in updates
    }
    return updates | parts


def _pull(gradient: Free, free: Free, limits: Limits, plan: Plan) -> Free:
    """Add the gradient of ``stay / 2`` times the squared distance from the start."""
    if limits.stay is None or limits.start is None:
        return gradient
    start = to_free(limits.start, plan)
    pulled: Free = jax.tree.map(lambda slope, now, then: slope + limits.stay * (now - then), gradient, free, start)
    return pulled


def _project(free: Free, limits: Limits, plan: Plan) -> Free:
    """Project the parameters onto their bounds; those within them keep every bit."""
    if limits.bounds is None or limits.start is None:
        return free
    before = from_free(free, limits.start, plan)
    after = project(before, limits.bounds)
    again = to_free(after, plan)
    sets = {}
    for name, values in free["sets"].items():
        changed = [new != old for new, old in zip(after.sets[name], before.sets[name], strict=True)]
        moved = functools.reduce(jnp.logical_or, changed)
        sets[name] = tuple(jnp.where(moved, new, old) for new, old in zip(again["sets"][name], values, strict=True))
    return free | {"sets": sets, "coefs": after.coefs}


# ---------------------------------------------------------------------- costs of bags


def _costs(
    free: Free, fixed: Params, masks: Masks, plan: Plan, data: Data, grouping: Grouping, keep: jax.Array | None
) -> tuple[jax.Array, jax.Array]:
    """Return the loss and squared error of each bag, (b,) both."""
    loss = LOSSES[plan.loss]
    params = from_free(free, fixed, plan)
    given: Any = {"known": data.known, "squares": data.squares}
    if plan.operators.conclusions is not None:
        output = forward_to_sets(params, masks, plan.operators, data.x, grouping, **given)
    else:
        dropout: Any = {"keep": keep, "renormalize": plan.renormalize}
        output = forward(params, masks, plan.operators, data.x, grouping, **given, **dropout).output
    error = jnp.square(loss.expected(output) - data.targets).sum(axis=-1)
    return loss.per_bag(output, data.targets), error


def clean_costs(free: Free, fixed: Params, masks: Masks, plan: Plan, data: Data) -> tuple[jax.Array, jax.Array]:
    """Return the costs of all bags as at test time: with every rule, scaled as in the paper."""
    n_bags, n_rules = len(data.targets), _n_rules(fixed)
    keep = None
    if plan.keep_prob is not None and not plan.renormalize:
        keep = jnp.full((n_bags, n_rules), plan.keep_prob, data.x.dtype)
    clean = dataclasses.replace(plan, renormalize=False)
    return _costs(free, fixed, masks, clean, data, grouping_of(data.bag_index, len(data.x), n_bags), keep)


def _n_rules(params: Params) -> int:
    return int(params.coefs.shape[0])


def _draws(key: jax.Array, shape: tuple[int, ...], numbers: jax.Array | None) -> jax.Array:
    """Draw from [0, 1) for bags, the first axis; if ``numbers`` are given, each bag draws by its own number."""
    if numbers is None:
        return jax.random.uniform(key, shape)
    return jax.vmap(lambda number: jax.random.uniform(jax.random.fold_in(key, number), shape[1:]))(numbers)


def _draw_keep(key: jax.Array, shape: tuple[int, int], plan: Plan, dtype: Any, numbers: Any = None) -> Any:
    if plan.keep_prob is None:
        return None
    draws = _draws(key, shape, numbers)
    keep = draws < plan.keep_prob
    if plan.renormalize:  # never drop all rules: no rule would be left to share the strength
        keep = keep | (~keep.any(axis=1, keepdims=True) & (draws == draws.min(axis=1, keepdims=True)))
    return keep.astype(dtype)


def bucket_sizes(sizes: Array, batch_size: int) -> tuple[int, ...]:
    """Return the numbers of rows that mini-batches are padded to: a few up to the largest batch.

    Most bags are small, so the small numbers are closer together; each of them is compiled separately.
    """
    largest = int(np.sort(sizes)[-batch_size:].sum())
    buckets = [4 if largest > 1 else 1]
    while buckets[-1] < largest:
        buckets.append(buckets[-1] * (2 if buckets[-1] < 16 else 4))
    if len(buckets) > 3:
        buckets[-1] = padded_size(largest)
    return tuple(buckets)


def _batch(data: Data, bags: jax.Array, taken: jax.Array, rows: int) -> tuple[jax.Array, jax.Array | None, Grouping]:
    """Return up to ``rows`` instances of some bags: (rows, d), known (rows, d), grouping.

    ``taken`` (batch,) is False for the empty places of a smaller last batch.
    """
    place = jnp.arange(rows)
    starts = data.offsets[bags]
    sizes = jnp.where(taken, data.offsets[bags + 1] - starts, 0)
    if len(bags) == 1:
        # Padding rows repeat the bag's last instance: a row of another bag could overflow where it is masked, and
        # the gradient would be NaN.
        row = starts[0] + jnp.minimum(place, sizes[0] - 1)
        return data.x[row], None if data.known is None else data.known[row], OneBag(place < sizes[0])
    ends = jnp.cumsum(sizes)
    owner = jnp.searchsorted(ends, place, side="right")  # len(bags) for padding rows, which form their own bag
    within = jnp.minimum(owner, len(bags) - 1)
    row = jnp.clip(starts[within] + place - (ends[within] - sizes[within]), 0, len(data.x) - 1)
    return data.x[row], None if data.known is None else data.known[row], Packed(owner, len(bags) + 1)


# ---------------------------------------------------------------------- steps


Sums = tuple[jax.Array, jax.Array]  # of the costs and squared errors of bags


def _weighted(costs: Sums, weights: jax.Array, count: jax.Array) -> tuple[jax.Array, Sums]:
    total, error = (jnp.sum(jnp.where(weights > 0, weights * cost, 0.0)) for cost in costs)
    return total / count, (total, error)


def step(
    free: Free, optimizer: Any, gradient: Free, plan: Plan, limits: Limits | None, rate: jax.Array
) -> tuple[Free, Any]:
    """Update the parameters by one step of the optimizer, within the limits."""
    if limits is not None:
        gradient = _pull(_sum_shared(gradient, limits), free, limits, plan)
    updates, optimizer = plan.transformation().update(gradient, optimizer, free)
    if limits is not None:
        updates = _without_frozen(updates, limits)
    factor = -rate if isinstance(plan.optimizer, str) else 1.0
    free = jax.tree.map(lambda value, update: value + (factor * update).astype(value.dtype), free, updates)
    return free if limits is None else _project(free, limits, plan), optimizer


def gradient_of_all(
    free: Free, key: jax.Array, fixed: Params, masks: Masks, plan: Plan, data: Data
) -> tuple[Free, jax.Array, jax.Array]:
    """Return the gradient of the mean cost of all bags, the mean cost and the mean squared error.

    If the data contains only some of all ``data.n_training`` bags, the results of all parts add up to the means.
    """
    count = (data.weights > 0).sum() if data.n_training is None else data.n_training
    keep = _draw_keep(key, (len(data.targets), _n_rules(fixed)), plan, data.x.dtype, data.numbers)
    grouping = grouping_of(data.bag_index, len(data.x), len(data.targets), data.offsets, *plan.buckets)

    def mean_cost(free: Free) -> tuple[jax.Array, Sums]:
        return _weighted(_costs(free, fixed, masks, plan, data, grouping, keep), data.weights, count)

    gradient, (total, error) = jax.grad(mean_cost, has_aux=True)(free)
    return gradient, total / count, error / count


class _Order(NamedTuple):
    """A random order of the bags."""

    bags: jax.Array  # (b + batch,) in that order
    n_bags: jax.Array  # () with weight

    def batch(self, number: jax.Array, size: int) -> tuple[jax.Array, jax.Array]:
        """Return the bags of a mini-batch, (size,), and which of these places are taken."""
        first = number * size
        # A single bag is always there; to know it saves operations in every step.
        within = jnp.ones(1, bool) if size == 1 else first + jnp.arange(size) < self.n_bags
        return jax.lax.dynamic_slice_in_dim(self.bags, first, size), within


def _order(key: jax.Array, data: Data, batch_size: int) -> _Order:
    """Draw the order of an epoch. Bags with weight 0 are sorted behind the others and never visited."""
    active = data.weights > 0
    drawn = jnp.where(active, _draws(key, active.shape, data.numbers), 2.0)
    order = jnp.argsort(drawn)
    return _Order(jnp.concatenate([order, jnp.zeros(batch_size, order.dtype)]), active.sum())


def steps_through(
    free: Free,
    optimizer: Any,
    key: jax.Array,
    fixed: Params,
    masks: Masks,
    limits: Any,
    plan: Plan,
    data: Data,
    rate: Any,
) -> tuple[Free, Any, Sums, jax.Array]:
    """Visit all bags once, in mini-batches and random order.

    Returns, after the steps, ``free`` and ``optimizer``, the sums of costs and of squared errors of the bags at the
    time of their visit, and the number of bags visited.
    """
    batch_size = plan.batch_size or 1
    order_key, keep_key = jax.random.split(key)
    order = _order(order_key, data, batch_size)

    def visit(number: jax.Array, carry: tuple[Free, Any, jax.Array, jax.Array]) -> tuple[Free, Any, Any, Any]:
        free, optimizer, total, error = carry
        bags, taken = order.batch(number, batch_size)
        weights = jnp.where(taken, data.weights[bags], 0.0)
        numbers = None if data.numbers is None else data.numbers[bags]
        step_key = jax.random.fold_in(keep_key, number)
        keep = _draw_keep(step_key, (batch_size, _n_rules(fixed)), plan, data.x.dtype, numbers)
        count = taken.sum()

        def in_bucket(rows: int) -> Callable[[Free], tuple[Free, Sums]]:
            def mean_cost(free: Free) -> tuple[jax.Array, Sums]:
                x, known, grouping = _batch(data, bags, taken, min(rows, len(data.x)))
                padded = grouping.sizes().shape[0] - batch_size  # one if there is a padding bag
                kept = None if keep is None else jnp.pad(keep, ((0, padded), (0, 0)), constant_values=1)
                targets = jnp.pad(data.targets[bags], ((0, padded), (0, 0)))
                own = data._replace(x=x, known=known, targets=targets, squares=None)
                costs = _costs(free, fixed, masks, plan, own, grouping, kept)
                return _weighted(costs, jnp.pad(weights, (0, padded)), count)

            return jax.grad(mean_cost, has_aux=True)

        size = jnp.sum(jnp.where(taken, data.offsets[bags + 1] - data.offsets[bags], 0))
        bucket = jnp.sum(size > jnp.asarray(plan.buckets[:-1], size.dtype))  # a search would be a loop
        gradient, (cost, deviation) = jax.lax.switch(bucket, [in_bucket(rows) for rows in plan.buckets], free)
        free, optimizer = step(free, optimizer, gradient, plan, limits, rate)
        return free, optimizer, total + cost, error + deviation

    zero = jnp.zeros((), data.x.dtype)
    n_steps = (order.n_bags + batch_size - 1) // batch_size
    free, optimizer, total, error = jax.lax.fori_loop(0, n_steps, visit, (free, optimizer, zero, zero))
    return free, optimizer, (total, error), order.n_bags


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


def stack(trees: list[Any], dtype: Any) -> Any:
    """Stack equal trees along a new leading axis."""
    return jax.tree.map(lambda *values: np.stack([np.asarray(value, dtype) for value in values]), *trees)


def stack_limits(groups: list[Group], dtype: Any) -> Limits | None:
    """Return the limits of all groups with a leading axis, or None if there are none."""
    found = [group.limits for group in groups if group.limits is not None]
    if not found:
        return None
    return jax.tree.map(  # type: ignore[no-any-return]
        lambda *values: jnp.asarray(np.stack([as_type(value, dtype) for value in values])), *found
    )


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


def _with_best_conclusions(
    free: Free, fixed: Params, masks: Masks, limits: Limits | None, plan: Plan, data: Data
) -> Free:
    """Return the parameters with the conclusions of least squared error."""
    grouping = grouping_of(data.bag_index, len(data.x), len(data.targets), data.offsets, *plan.buckets)
    start = jnp.zeros_like(fixed.coefs) if limits is None else fixed.coefs
    params = from_free(free | {"coefs": start}, fixed, plan)
    given: Any = {"known": data.known, "squares": data.squares}
    if limits is not None:
        given |= {"moves": limits.coefs, "stay": 0.0 if limits.stay is None else limits.stay / 2}
    about = data.x, grouping, data.targets, data.weights
    return free | {"coefs": best_conclusions(params, masks, plan.operators, *about, **given)}


def _describes_sets(params: Params) -> jax.Array:
    """Return whether every set has a finite, positive width (a log-width can be finite and its width not)."""
    good: list[jax.Array] = [family(name).describes_set(*values).all() for name, values in params.sets.items()]
    # What missing values stand for is not trained, and NaN where nothing is known.
    finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(params._replace(missing_values=None))]
    return functools.reduce(jnp.logical_and, good + finite)


def _epoch(
    state: State, fixed: Params, masks: Masks, limits: Limits | None, plan: Plan, data: Data, rate: jax.Array
) -> tuple[Free, Any, jax.Array, jax.Array]:
    """Pass over the bags once; return parameters, optimizer state, mean loss and mean squared error."""
    # The key of an epoch depends on its number alone, so it does not matter where stretches are cut.
    key = jax.random.fold_in(state.key, state.epoch)
    if plan.batch_size is None:
        gradient, loss, error = gradient_of_all(state.free, key, fixed, masks, plan, data)
        free, optimizer = step(state.free, state.optimizer, gradient, plan, limits, rate)
        if plan.hybrid:
            free = _with_best_conclusions(free, fixed, masks, limits, plan, data)
        return free, optimizer, loss, error
    free, optimizer, (total, error), count = steps_through(
        state.free, state.optimizer, key, fixed, masks, limits, plan, data, rate
    )
    return free, optimizer, total / count, error / count


def end_epoch(
    state: State, free: Free, optimizer: Any, loss: Any, held_out: Any, fixed: Params, plan: Plan, numbers: Numbers
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
    done = (change < numbers.tol) | ~sound
    best, best_loss, stale = state.best, state.best_loss, state.stale
    if held_out is not None:
        better = held_out < best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), free, best)
        best_loss = jnp.where(better, held_out, best_loss)
        stale = jnp.where(better, 0, stale + 1)
        done = done | (stale >= numbers.patience)
    epoch = state.epoch + sound.astype(state.epoch.dtype)
    after = State(free, optimizer, state.key, epoch, done, best, best_loss, stale, diverged=~sound)
    return after, jnp.where(sound, change, jnp.nan)


def _epochs(
    plan: Plan,
    state: State,
    fixed: Params,
    masks: Masks,
    limits: Any,
    data: Data,
    numbers: Numbers,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Run up to ``n_epochs`` epochs of one fit."""
    first = state.epoch

    def unfinished(carry: tuple[State, Trace]) -> jax.Array:
        state, _ = carry
        return (state.epoch - first < n_epochs) & ~state.done

    def body(carry: tuple[State, Trace]) -> tuple[State, Trace]:
        state, trace = carry
        free, optimizer, loss, error = _epoch(state, fixed, masks, limits, plan, data, numbers.rate)
        held_out = None
        if plan.validate:
            # If the epoch turns out to have diverged it is undone, and so is this.
            costs, _ = clean_costs(free, fixed, masks, plan, data)
            held_out = jnp.sum(jnp.where(data.held_out > 0, data.held_out * costs, 0.0)) / jnp.sum(data.held_out)
        after, change = end_epoch(state, free, optimizer, loss, held_out, fixed, plan, numbers)
        place = state.epoch - first
        now = (loss, jnp.sqrt(error), change, loss if held_out is None else held_out)
        return after, Trace(*(values.at[place].set(value) for values, value in zip(trace, now, strict=True)))

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


@functools.partial(jax.jit, static_argnames=("plan",))
def run(
    plan: Plan,
    states: State,
    fixed: Params,
    masks: Masks,
    limits: Any,
    data: Data,
    numbers: Numbers,
    n_epochs: jax.Array,
) -> tuple[State, Trace]:
    """Run up to ``n_epochs`` (at most `CHUNK`) epochs of every fit that is not done.

    The leading axes are g groups with their own data (the folds of a cross-validation) and m fits in each (restarts,
    ensemble members). ``states``, ``fixed``, ``masks`` and the weights in ``data`` have both axes, the rest the first
    only.
    """
    # Mini-batches choose a bucket size; under vmap that would compute all of them, so fits run one at a time.
    in_turn = plan.batch_size is not None
    # On a CPU one group that fits the cache is faster than many that do not; a GPU wants all of them at once.
    groups_in_turn = in_turn or jax.default_backend() == "cpu"

    def group(states: State, fixed: Params, masks: Masks, limits: Limits | None, data: Data) -> Any:
        if plan.batch_size is None:
            data = data._replace(squares=squares_of(data.x, data.known))

        def fit(state: State, fixed: Params, masks: Masks, weights: Any, held_out: Any) -> tuple[State, Trace]:
            own = data._replace(weights=weights, held_out=held_out)
            return _epochs(plan, state, fixed, masks, limits, own, numbers, n_epochs)

        return _each(fit, (states, fixed, masks, data.weights, data.held_out), in_turn=in_turn)

    result: tuple[State, Trace] = _each(group, (states, fixed, masks, limits, data), in_turn=groups_in_turn)
    return result


@functools.partial(jax.jit, static_argnames=("plan",))
def evaluate(plan: Plan, free: Free, fixed: Params, masks: Masks, data: Data) -> tuple[jax.Array, jax.Array]:
    """Return the mean loss (g, m) on each fit's training and validation bags, computed as at test time."""

    def group(free: Free, fixed: Params, masks: Masks, data: Data) -> Any:
        def fit(free: Free, fixed: Params, masks: Masks, *weights: jax.Array) -> tuple[jax.Array, ...]:
            costs, _ = clean_costs(free, fixed, masks, plan, data)
            total = [jnp.sum(jnp.where(w > 0, w * costs, 0.0)) for w in weights]
            return tuple(
                each / jnp.where(jnp.sum(w) == 0, 1.0, jnp.sum(w)) for each, w in zip(total, weights, strict=True)
            )

        return _each(fit, (free, fixed, masks, data.weights, data.held_out), in_turn=False)

    result: tuple[jax.Array, jax.Array] = _each(group, (free, fixed, masks, data), in_turn=False)
    return result
