"""Networks as functions of plain arrays: ``forward(weights, x, grouping) -> Outputs``, and their layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.segments import Grouping

if TYPE_CHECKING:
    import jax

__all__ = ["Forward", "Outputs", "Weights", "glorot", "hidden", "linear"]

Weights = dict[str, Any]  # a pytree of arrays


class Outputs(NamedTuple):
    """Outputs of a network for bags (b,) and, if it has them, for instances (i,)."""

    bags: jax.Array
    instances: jax.Array | None = None


Forward = Callable[[Weights, Any, Grouping], Outputs]


def glorot(rng: np.random.RandomState, n_in: int, n_out: int) -> tuple[Array, Array]:
    """Draw a layer: weights (n_in, n_out), uniform with variance ``2 / (n_in + n_out)``, and zero biases (n_out,)."""
    reach = np.sqrt(6.0 / (n_in + n_out))
    return rng.uniform(-reach, reach, (n_in, n_out)), np.zeros(n_out)


def linear(layer: tuple[jax.Array, jax.Array], x: jax.Array) -> jax.Array:
    """Apply one layer to rows ``x`` (n, n_in)."""
    weights, biases = layer
    return x @ weights + biases


def hidden(
    layers: Sequence[tuple[jax.Array, jax.Array]], x: jax.Array, activation: Callable[[jax.Array], jax.Array]
) -> jax.Array:
    """Apply layers one after another, each followed by ``activation``."""
    for layer in layers:
        x = activation(linear(layer, x))
    return x
