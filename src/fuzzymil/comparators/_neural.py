"""What the neural comparators share: layers as plain arrays, and one compiled training loop over packed bags.

A network is a function ``forward(weights, x, grouping) -> Outputs``; everything else (padding, the
loss, the optimizer, the door of the estimator) is here. A whole training is one compiled program that
folds of similar size share. Training is in 32 bit, prediction in 64.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.runtime import make_room
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, InstanceScores, check_integer, check_real
from fuzzymil.network.segments import Grouping, grouping_of, pack
from fuzzymil.training.losses import LOSSES

__all__ = [
    "BagNetwork",
    "Forward",
    "InstanceNetwork",
    "Outputs",
    "Weights",
    "glorot",
    "hidden",
    "linear",
    "mean_loss",
    "train",
]

Weights = dict[str, Any]  # a pytree of arrays


class Outputs(NamedTuple):
    """What a network says of bags (b,) and, where it has an answer, of instances (i,)."""

    bags: jax.Array
    instances: jax.Array | None = None


Forward = Callable[[Weights, jax.Array, Grouping], Outputs]

# ---------------------------------------------------------------------- layers


def glorot(rng: np.random.RandomState, n_in: int, n_out: int) -> tuple[Array, Array]:
    """Draw a layer: weights (n_in, n_out), uniform with a variance of ``2 / (n_in + n_out)``, and zero biases (n_out,).

    Examples
    --------
    >>> weights, biases = glorot(np.random.RandomState(0), 3, 2)
    >>> weights.shape, biases.tolist()
    ((3, 2), [0.0, 0.0])
    """
    reach = np.sqrt(6.0 / (n_in + n_out))
    return rng.uniform(-reach, reach, (n_in, n_out)), np.zeros(n_out)


def linear(layer: tuple[jax.Array, jax.Array], x: jax.Array) -> jax.Array:
    """Apply one layer to rows ``x`` (n, n_in).

    Examples
    --------
    >>> linear((np.array([[2.0], [1.0]]), np.array([5.0])), np.array([[1.0, 3.0]])).tolist()
    [[10.0]]
    """
    weights, biases = layer
    return x @ weights + biases


def hidden(
    layers: Sequence[tuple[jax.Array, jax.Array]], x: jax.Array, activation: Callable[[jax.Array], jax.Array]
) -> jax.Array:
    """Apply layers one after another, each followed by ``activation``.

    Examples
    --------
    >>> halve, negate = (np.array([[0.5]]), np.zeros(1)), (np.array([[-1.0]]), np.zeros(1))
    >>> hidden([halve, negate], np.array([[8.0]]), np.abs).tolist()
    [[4.0]]
    """
    for layer in layers:
        x = activation(linear(layer, x))
    return x


# ---------------------------------------------------------------------- training, compiled


def mean_loss(loss: str, output: jax.Array, targets: jax.Array, real: jax.Array) -> jax.Array:
    """Return the mean loss of the bags (b,) that are no padding."""
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
    """Minimize the mean loss of the bags by Adam, all bags in every step.

    Parameters
    ----------
    forward : callable
        The network; it reads ``weights`` and ``constants`` as one dict.
    loss : str
        A name in `fuzzymil.training.losses.LOSSES`.
    n_epochs : int
    weights, constants : dict of arrays
        What is learned, and what the network needs besides.
    x, bag_index : arrays of shape (i, d) and (i,)
        Packed and padded instances, as `fuzzymil.network.segments.pack` gives them.
    targets, real : arrays of shape (b,)
        Targets of the bags, and which bags are no padding.
    learning_rate, weight_decay : float
        Each step also shrinks the weights (not the biases) by the product of the two.

    Returns
    -------
    weights : dict of arrays
    losses : array of shape (n_epochs,)
        Mean loss before each step.
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
def _apply(forward: Forward, weights: Weights, x: jax.Array, bag_index: jax.Array | None, n_bags: int) -> Outputs:
    return forward(weights, x, grouping_of(bag_index, len(x), n_bags))


# ---------------------------------------------------------------------- estimators


class BagNetwork(BagClassifier):
    """A network that is trained end to end on the labels of bags.

    A method is a subclass that gives its forward pass and, where they differ, its first weights and loss.
    """

    _loss: ClassVar[str] = "cross_entropy"

    hidden_layer_sizes: Sequence[int]
    learning_rate: float
    weight_decay: float
    n_epochs: int
    random_state: Any

    @abstractmethod
    def _forward(self) -> Forward:
        """Return the network; equal settings must give the same object, or every fit would compile anew."""

    def _start(self, rng: np.random.RandomState, n_features: int) -> Weights:
        """Draw the first weights: hidden layers, and one output."""
        sizes = [n_features, *self.hidden_layer_sizes]
        return {"hidden": [glorot(rng, *shape) for shape in pairwise(sizes)], "output": glorot(rng, sizes[-1], 1)}

    def _constants(self) -> Weights:
        """Return what the network needs besides its weights."""
        return {}

    def _check_settings(self) -> None:
        if not isinstance(self.hidden_layer_sizes, list | tuple):
            raise ParameterError(
                f"hidden_layer_sizes must be a tuple of whole numbers, (64, 32) say, got {self.hidden_layer_sizes!r}."
            )
        for n_units in self.hidden_layer_sizes:
            check_integer("Every entry of hidden_layer_sizes", n_units, 1)
        check_real("learning_rate", self.learning_rate, low=0.0, open_low=True)
        check_real("weight_decay", self.weight_decay, low=0.0)
        check_integer("n_epochs", self.n_epochs, 1)

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self._check_settings()
        make_room()
        loss = LOSSES[self._loss]
        with np.errstate(over="ignore"):  # what 32 bit cannot hold ends in the error below
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
                f"{type(self).__name__} diverged with learning_rate={self.learning_rate!r}: "
                "lower it, or bring the features to a common scale first, by PerInstance(StandardScaler()) say."
            )
        self.weights_ = _converted(weights, np.float64) | self._constants()
        self.loss_curve_ = np.asarray(losses, np.float64)

    def _outputs(self, bags: Bags) -> tuple[Array, Array | None]:
        """Return what the trained network says of bags (b,) and of instances (i,)."""
        data = pack(bags.instances, bags.offsets, np.float64)
        with jax.enable_x64():
            said = _apply(self._forward(), self.weights_, data.x, data.bag_index, n_bags=len(data.offsets) - 1)
            of_bags = np.asarray(said.bags)[: data.n_bags]
            of_instances = None if said.instances is None else np.asarray(said.instances)[: data.n_instances]
        return of_bags, of_instances

    def _decide(self, bags: Bags) -> Array:
        return self._outputs(bags)[0] - LOSSES[self._loss].threshold


class InstanceNetwork(BagNetwork, InstanceScores):
    """A network that scores instances and pools the scores of a bag."""

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self._outputs(bags)[1]) - LOSSES[self._loss].threshold


def _converted(weights: Weights, dtype: Any) -> Weights:
    converted: Weights = jax.tree.map(lambda values: np.asarray(values, dtype), weights)
    return converted
