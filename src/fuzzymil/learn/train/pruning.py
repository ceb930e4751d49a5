"""Pruning: the least important terms of each rule are removed, and training continues with the rest.

The importance of a term is measured: it is the increase of the training loss when its rule ignores the feature. The
remaining terms are trained again after each cut, because they take over the role of the others.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.engines.jax import grouping_of
from fuzzymil.inference.layers import Masks, Params, layer4, layer5, layer6, layers_1_and_2, strengths_of
from fuzzymil.learn.train._loop import Group, Plan
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.trainer import Result
from fuzzymil.rules import RuleBase


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


def shortened(group: Group, result: Result, plan: Plan, max_conditions: int) -> Group:
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
