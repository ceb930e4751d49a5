"""The compiled programs of the neural comparators; folds of similar size share them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from fuzzymil.inference.engines.jax import grouping_of
from fuzzymil.learn.train.losses import LOSSES

Forward = Callable[..., Any]
Weights = dict[str, Any]  # a pytree of arrays


def mean_loss(loss: str, output: jax.Array, targets: jax.Array, real: jax.Array) -> jax.Array:
    """Return the mean loss of the bags (b,) that are not padding."""
    costs = LOSSES[loss].per_bag(output[:, None], targets[:, None])
    return jnp.sum(jnp.where(real, costs, 0.0)) / jnp.sum(real)


@functools.partial(jax.jit, static_argnames=("forward", "loss", "n_epochs"))
def train(
    forward: Forward,
    loss: str,
    n_epochs: int,
    weights: Weights,
    constants: Weights,
    x: jax.Array,
    bag_index: jax.Array | None,
    targets: jax.Array,
    real: jax.Array,
    learning_rate: jax.Array,
    weight_decay: jax.Array,
) -> tuple[Weights, jax.Array]:
    """Minimize the mean loss of the bags with Adam, in full batches.

    The network ``forward`` receives ``weights``, which are learned, and ``constants`` as one dict. ``x`` (i, d) and
    ``bag_index`` (i,) are packed and padded instances, as returned by `fuzzymil.inference.segments.pack`; ``targets``
    and ``real`` (b,) hold the targets of the bags and which bags are not padding. Each step also shrinks the weights
    (not the biases) by the product of ``learning_rate`` and ``weight_decay``. Returns the weights and the mean loss
    before each step (n_epochs,).
    """
    grouping = grouping_of(bag_index, len(x), len(targets))
    optimizer = optax.adamw(
        learning_rate, weight_decay=weight_decay, mask=lambda tree: jax.tree.map(lambda values: values.ndim > 1, tree)
    )

    def cost(weights: Weights) -> jax.Array:
        output = forward(weights | constants, x, grouping).bags
        return mean_loss(loss, output, targets, real)

    def step(state: tuple[Weights, Any], _: None) -> tuple[tuple[Weights, Any], jax.Array]:
        weights, memory = state
        value, gradient = jax.value_and_grad(cost)(weights)
        updates, memory = optimizer.update(gradient, memory, weights)
        return (optax.apply_updates(weights, updates), memory), value

    (weights, _), losses = jax.lax.scan(step, (weights, optimizer.init(weights)), length=n_epochs)
    return weights, losses


@functools.partial(jax.jit, static_argnames=("forward", "n_bags"))
def apply(forward: Forward, weights: Weights, x: jax.Array, bag_index: jax.Array | None, n_bags: int) -> Any:
    """Return the outputs of a network for packed instances."""
    return forward(weights, x, grouping_of(bag_index, len(x), n_bags))
