"""The basis of the neural comparators: the estimator interface of networks on packed bags.

Training uses 32 bits, prediction 64. Networks import JAX when they are used: who compares with another method should
not wait for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.runtime import make_room, require_jax
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, InstanceScores, above_zero, checks
from fuzzymil.estimators.parameters import check_integer, integer, real
from fuzzymil.inference.segments import Grouping, pack
from fuzzymil.learn.train.losses import LOSSES

if TYPE_CHECKING:
    import jax

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


@dataclass(eq=False, repr=False)
class BagNetwork(BagClassifier):
    """Base class of networks trained end to end on the labels of bags.

    A subclass defines the forward pass and, if they differ, the initial weights and the loss.
    """

    _checks = checks(
        hidden_layer_sizes=_layer_sizes, learning_rate=above_zero, weight_decay=real(low=0.0), n_epochs=integer(1)
    )
    _loss: ClassVar[str] = "cross_entropy"

    hidden_layer_sizes: Sequence[int] = (256, 128, 64)
    _: KW_ONLY
    learning_rate: float = 0.003
    weight_decay: float = 1.0
    n_epochs: int = 80
    random_state: Any = None

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

        from fuzzymil.comparators._programs import train

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

        from fuzzymil.comparators._programs import apply

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
