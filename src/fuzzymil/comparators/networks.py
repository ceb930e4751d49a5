"""mi-Net, MI-Net and gated attention: deep networks that pool the probabilities or the features of instances.

Training uses 32 bits, prediction 64. Networks import JAX when they are used: who compares with another method should
not wait for it.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array, namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.runtime import make_room, require_jax
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, InstanceScores, comparator
from fuzzymil.estimators.parameters import above_zero, check_integer, checked, choice, integer, real
from fuzzymil.inference.aggregation import COMBINERS
from fuzzymil.inference.segments import Grouping, log_sum_exp, pack
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


def layer_sizes(name: str, value: Any) -> None:
    """Raise unless the value is a tuple of whole numbers above 0."""
    if not isinstance(value, list | tuple):
        raise ParameterError(f"{name} must be a tuple of integers, such as (64, 32), got {value!r}.")
    for n_units in value:
        check_integer(f"Every entry of {name}", n_units, 1)


@dataclass(eq=False, repr=False)
class BagNetwork(BagClassifier):
    """Base class of networks trained end to end on the labels of bags.

    A subclass defines the forward pass and, if they differ, the initial weights and the loss.
    """

    _loss: ClassVar[str] = "cross_entropy"

    hidden_layer_sizes: Sequence[int] = checked(layer_sizes, (256, 128, 64))
    _: KW_ONLY
    learning_rate: float = checked(above_zero, 0.003)
    weight_decay: float = checked(real(low=0.0), 1.0)
    n_epochs: int = checked(integer(1), 80)
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


Pool = Callable[[Any, Grouping], Any]

# ---------------------------------------------------------------------- pools
# Each takes values (i, k) and returns (b, k), with 0 for bags without instances, which only occur as padding.


def _zero_if_empty(pooled: jax.Array, grouping: Grouping) -> jax.Array:
    return namespace(pooled).where(grouping.sizes()[:, None] == 0, 0.0, pooled)


def maximum(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the maximum over each bag."""
    return COMBINERS["max"](values[:, :, None], grouping, namespace(values).zeros(()))[:, :, 0]


def mean(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the mean over each bag."""
    return COMBINERS["mean"](values[:, :, None], grouping, namespace(values).zeros(()))[:, :, 0]


def log_mean_exp(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Return ``log(mean(exp(values)))`` over each bag, between the mean and the maximum."""
    xp = namespace(values)
    log_n = xp.log(xp.maximum(grouping.sizes(), 1.0).astype(values.dtype))
    return _zero_if_empty(log_sum_exp(values, grouping) - log_n[:, None], grouping)


def mean_probability(logits: jax.Array, grouping: Grouping) -> jax.Array:
    """Return the logit of the mean probability over each bag."""
    import jax

    for_it, against = (log_sum_exp(jax.nn.log_sigmoid(sign * logits), grouping) for sign in (1.0, -1.0))
    return _zero_if_empty(for_it - against, grouping)


# ---------------------------------------------------------------------- networks


def pooled_logits(weights: Weights, x: jax.Array, grouping: Grouping, *, pool: Pool) -> Outputs:
    """Return the logits of instances, and of bags by pooling them."""
    import jax

    logits = linear(weights["output"], hidden(weights["hidden"], x, jax.nn.relu))
    return Outputs(pool(logits, grouping)[:, 0], logits[:, 0])


def pooled_features(weights: Weights, x: jax.Array, grouping: Grouping, *, pool: Pool) -> Outputs:
    """Return the logits of bags from the pooled features of their instances."""
    import jax

    features = pool(hidden(weights["hidden"], x, jax.nn.relu), grouping)
    return Outputs(linear(weights["output"], features)[:, 0])


# The maximum probability has the maximum logit, so pooling logits is exact for "max".
POOLED_LOGITS: dict[str, Forward] = {
    name: functools.partial(pooled_logits, pool=pool) for name, pool in (("max", maximum), ("mean", mean_probability))
}
POOLED_FEATURES: dict[str, Forward] = {
    name: functools.partial(pooled_features, pool=pool)
    for name, pool in (("max", maximum), ("mean", mean), ("lse", log_mean_exp))
}


def attention_outputs(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Return the logits of bags, and the weights of their instances, which sum to 1 in each bag."""
    import jax
    import jax.numpy as jnp

    features = hidden(weights["hidden"], x, jax.nn.relu)
    content = jnp.tanh(linear(weights["content"], features))
    gate = jax.nn.sigmoid(linear(weights["gate"], features))
    scores = linear(weights["score"], content * gate)
    attention = jnp.exp(scores - grouping.spread(log_sum_exp(scores, grouping)))
    bag = grouping.sum(attention * features)
    return Outputs(linear(weights["output"], bag)[:, 0], attention[:, 0])


# ---------------------------------------------------------------------- estimators


@comparator("mi-Net", search_grid={"pool": ["max", "mean"]}, fit_seconds=0.24)
@dataclass(eq=False, repr=False)
class MiNet(InstanceNetwork):
    """mi-Net: a deep network that pools the probabilities of the instances of a bag.

    Decision values are log-odds, for bags and for instances (`instance_scores`).

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer.
    pool : {"max", "mean"}
        How the probabilities of the instances are pooled.
    learning_rate, weight_decay, n_epochs, random_state
        As in `GatedAttention`.

    Notes
    -----
    Differences from the original: Adam with decoupled weight decay on full batches instead of stochastic gradient
    descent with momentum, bag by bag; no dropout; of the original's three pools, log-sum-exp is omitted because its
    result is not a probability.

    Source: X. Wang, Y. Yan, P. Tang, X. Bai and W. Liu (2018), Revisiting multiple instance neural networks,
    Pattern Recognition 74.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> model = MiNet((16, 8), random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags).tolist()
    [1, 1, 0, 0]
    >>> model.instance_scores(bags[:1]) > 0
    array([False,  True])
    """

    _: KW_ONLY
    pool: str = checked(choice(POOLED_LOGITS), "max")

    def _forward(self) -> Forward:
        return POOLED_LOGITS[self.pool]


@comparator("MI-Net", search_grid={"pool": ["max", "mean"]}, fit_seconds=0.24)
@dataclass(eq=False, repr=False)
class MINet(BagNetwork):
    """MI-Net: a deep network that pools the features of the instances of a bag, which have no scores of their own.

    Decision values are log-odds.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer; the last layer computes the features.
    pool : {"max", "mean", "lse"}
        How the features of the instances are pooled; "lse" is ``log(mean(exp(...)))``.
    learning_rate, weight_decay, n_epochs, random_state
        As in `GatedAttention`.

    Notes
    -----
    Differences from the original: those of `MiNet`; the plain network, without deep supervision and residual
    connections.

    Source: X. Wang, Y. Yan, P. Tang, X. Bai and W. Liu (2018), Revisiting multiple instance neural networks,
    Pattern Recognition 74.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> MINet((16, 8), random_state=0).fit(bags, [1, 1, 0, 0]).predict(bags).tolist()
    [1, 1, 0, 0]
    """

    _: KW_ONLY
    pool: str = checked(choice(POOLED_FEATURES), "max")

    def _forward(self) -> Forward:
        return POOLED_FEATURES[self.pool]


@comparator("Gated attention", search_grid={"weight_decay": [0.1, 1.0]}, fit_seconds=0.27)
@dataclass(eq=False, repr=False)
class GatedAttention(BagNetwork):
    """Gated attention: an attention-based multiple-instance network.

    A deep network computes features of each instance. A second, small network (a tanh layer gated by a sigmoid layer)
    computes the attention weights, which sum to 1 in each bag. The weighted mean of the features is classified.
    Decision values are log-odds.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer; the last layer computes the features.
    learning_rate : float
        Learning rate of Adam.
    weight_decay : float
        Each step shrinks the weights by ``learning_rate * weight_decay``.
    n_epochs : int
        Number of steps, each on all bags.
    random_state : int, RandomState or None
        Random seed of the initial weights.
    n_attention : int
        Number of units in the tanh layer of the attention, and in its gate.

    Attributes
    ----------
    weights_ : dict of arrays
        ``"hidden"``: weights (n_in, n_out) and biases (n_out,) of each layer; ``"content"``, ``"gate"`` and
        ``"score"`` (the attention) and ``"output"``: one such pair each.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.

    Notes
    -----
    Differences from the original: Adam with decoupled weight decay on full batches instead of stochastic gradient
    descent with momentum, bag by bag, and early stopping on validation bags; no dropout.

    Source: M. Ilse, J. M. Tomczak and M. Welling (2018), Attention-based deep multiple instance learning,
    35th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> model = GatedAttention((16, 8), n_attention=8, random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags).tolist()
    [1, 1, 0, 0]
    >>> attention = model.predict_attention(bags)
    >>> bool(attention[1] > attention[0]), attention[2]  # the first bag's second instance; a bag of one
    (True, np.float64(1.0))
    """

    _: KW_ONLY
    n_attention: int = checked(integer(1), 64)

    def predict_attention(self, X: Any) -> Array:
        """Return the attention weight of each instance, shape (n_instances,); the weights of a bag sum to 1."""
        return np.asarray(self._outputs(self._bags(X))[1])

    def _start(self, rng: np.random.RandomState, n_features: int) -> Weights:
        n_last = [n_features, *self.hidden_layer_sizes][-1]
        return super()._start(rng, n_features) | {
            "content": glorot(rng, n_last, self.n_attention),
            "gate": glorot(rng, n_last, self.n_attention),
            "score": glorot(rng, self.n_attention, 1),
        }

    def _forward(self) -> Forward:
        return attention_outputs
