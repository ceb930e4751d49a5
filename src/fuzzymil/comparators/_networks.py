"""The basis of the neural comparators: the estimator interface of networks on packed bags.

Training uses 32 bits, prediction 64. Networks import JAX when they are used: who compares with another method should
not wait for it.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.runtime import make_room, require_jax
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, InstanceScores, above_zero, checks
from fuzzymil.estimators.parameters import check_integer, integer, real
from fuzzymil.inference.engines.jax import grouping_of
from fuzzymil.inference.segments import Grouping, pack
from fuzzymil.learn.train.losses import LOSSES

if TYPE_CHECKING:
    import jax

__all__ = [
    "apply",
    "mean_loss",
    "train",
]

# Networks are functions of plain arrays: ``forward(weights, x, grouping) -> Outputs``.

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


def _layer_sizes(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise ParameterError(f"{name} must be a tuple of integers, such as (64, 32), got {value!r}.")
    for n_units in value:
        check_integer(f"Every entry of {name}", n_units, 1)


class BagNetwork(BagClassifier):
    """Base class of networks trained end to end on the labels of bags.

    A subclass defines the forward pass and, if they differ, the initial weights and the loss.
    """

    _checks = checks(
        hidden_layer_sizes=_layer_sizes, learning_rate=above_zero, weight_decay=real(low=0.0), n_epochs=integer(1)
    )
    _loss: ClassVar[str] = "cross_entropy"

    hidden_layer_sizes: Sequence[int]
    learning_rate: float
    weight_decay: float
    n_epochs: int
    random_state: Any

    @abstractmethod
    def _forward(self) -> Forward:
        """Return the network; equal parameters must give the same object, or every fit would recompile."""

    def _start(self, rng: np.random.RandomState, n_features: int) -> Weights:
        """Draw the initial weights: hidden layers and one output."""
        sizes = [n_features, *self.hidden_layer_sizes]
        return {"hidden": [glorot(rng, *shape) for shape in pairwise(sizes)], "output": glorot(rng, sizes[-1], 1)}

    def _constants(self) -> Weights:
        """Return fixed arrays that the network needs."""
        return {}

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        require_jax(type(self).__name__)
        import jax

        make_room()
        loss = LOSSES[self._loss]
        with np.errstate(over="ignore"):  # values beyond 32 bits end in the error below
            data = pack(bags.instances, bags.offsets, np.float32)
        targets = np.zeros(len(data.offsets) - 1, np.float32)
        targets[: data.n_bags] = np.where(positive, loss.high, loss.low)
        weights, losses = train(
            self._forward(),
            self._loss,
            int(self.n_epochs),
            _converted(self._start(check_random_state(self.random_state), bags.n_features), np.float32),
            _converted(self._constants(), np.float32),
            data.x,
            data.bag_index,
            targets,
            np.arange(len(targets)) < data.n_bags,
            np.float32(self.learning_rate),
            np.float32(self.weight_decay),
        )
        if not all(np.isfinite(values).all() for values in jax.tree.leaves((weights, losses))):
            raise ParameterError(
                f"{type(self).__name__} diverged with learning_rate={self.learning_rate!r}: lower it, or scale the "
                "features first, for example with PerInstance(StandardScaler())."
            )
        self.weights_ = _converted(weights, np.float64) | self._constants()
        self.loss_curve_ = np.asarray(losses, np.float64)

    def _outputs(self, bags: Bags) -> tuple[Array, Array | None]:
        """Return the outputs of the trained network for bags (b,) and for instances (i,)."""
        import jax

        data = pack(bags.instances, bags.offsets, np.float64)
        with jax.enable_x64():
            outputs = apply(self._forward(), self.weights_, data.x, data.bag_index, n_bags=len(data.offsets) - 1)
            of_bags = np.asarray(outputs.bags)[: data.n_bags]
            of_instances = None if outputs.instances is None else np.asarray(outputs.instances)[: data.n_instances]
        return of_bags, of_instances

    def _decide(self, bags: Bags) -> Array:
        return self._outputs(bags)[0] - LOSSES[self._loss].threshold


class InstanceNetwork(BagNetwork, InstanceScores):
    """Base class of networks that score instances and pool the scores of each bag."""

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self._outputs(bags)[1]) - LOSSES[self._loss].threshold


def _converted(weights: Weights, dtype: Any) -> Weights:
    import jax

    converted: Weights = jax.tree.map(lambda values: np.asarray(values, dtype), weights)
    return converted


# The compiled programs of the neural comparators; folds of similar size share them.


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
def apply(forward: Forward, weights: Weights, x: jax.Array, bag_index: jax.Array | None, n_bags: int) -> Outputs:
    """Return the outputs of a network for packed instances."""
    return forward(weights, x, grouping_of(bag_index, len(x), n_bags))
