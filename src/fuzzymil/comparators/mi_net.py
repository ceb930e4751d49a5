"""mi-Net and MI-Net: deep networks that pool the probabilities, or the features, of a bag's instances."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from fuzzymil._utils.errors import known_name
from fuzzymil.comparators._neural import BagNetwork, Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.network.aggregation import COMBINERS
from fuzzymil.network.segments import Grouping, log_sum_exp

__all__ = ["MINet", "MiNet"]

Pool = Callable[[jax.Array, Grouping], jax.Array]

# ---------------------------------------------------------------------- pools
# Each takes values (i, k) and returns (b, k); a bag without instances, which only padding has, gets 0.


def _zero_if_empty(pooled: jax.Array, grouping: Grouping) -> jax.Array:
    return jnp.where(grouping.sizes()[:, None] == 0, 0.0, pooled)


def greatest(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Greatest value of the bag."""
    return COMBINERS["max"](values[:, :, None], grouping, jnp.zeros(()))[:, :, 0]


def mean(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Mean of the bag."""
    return COMBINERS["mean"](values[:, :, None], grouping, jnp.zeros(()))[:, :, 0]


def log_mean_exp(values: jax.Array, grouping: Grouping) -> jax.Array:
    """``log(mean(exp(values)))`` of the bag, between the mean and the maximum."""
    log_n = jnp.log(jnp.maximum(grouping.sizes(), 1.0).astype(values.dtype))
    return _zero_if_empty(log_sum_exp(values, grouping) - log_n[:, None], grouping)


def mean_probability(logits: jax.Array, grouping: Grouping) -> jax.Array:
    """Logit of the bag's mean probability: the log of the mean ``p`` less that of the mean ``1 - p``."""
    for_it, against = (log_sum_exp(jax.nn.log_sigmoid(sign * logits), grouping) for sign in (1.0, -1.0))
    return _zero_if_empty(for_it - against, grouping)


# ---------------------------------------------------------------------- networks


def pooled_logits(weights: Weights, x: jax.Array, grouping: Grouping, *, pool: Pool) -> Outputs:
    """Logits of instances, and of bags by pooling them."""
    logits = linear(weights["output"], hidden(weights["hidden"], x, jax.nn.relu))
    return Outputs(pool(logits, grouping)[:, 0], logits[:, 0])


def pooled_features(weights: Weights, x: jax.Array, grouping: Grouping, *, pool: Pool) -> Outputs:
    """Logits of bags from the pooled features of their instances."""
    features = pool(hidden(weights["hidden"], x, jax.nn.relu), grouping)
    return Outputs(linear(weights["output"], features)[:, 0])


# The greatest probability has the greatest logit, so that for "max" the pool of logits is exact.
POOLED_LOGITS: dict[str, Forward] = {
    name: functools.partial(pooled_logits, pool=pool) for name, pool in (("max", greatest), ("mean", mean_probability))
}
POOLED_FEATURES: dict[str, Forward] = {
    name: functools.partial(pooled_features, pool=pool)
    for name, pool in (("max", greatest), ("mean", mean), ("lse", log_mean_exp))
}


class PooledNetwork(BagNetwork):
    """What mi-Net and MI-Net share: their settings, and a pool by its name."""

    pool: str

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (256, 128, 64),
        *,
        pool: str = "max",
        learning_rate: float = 0.003,
        weight_decay: float = 1.0,
        n_epochs: int = 80,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.pool = pool
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_epochs = n_epochs
        self.random_state = random_state

    @abstractmethod
    def _pools(self) -> dict[str, Forward]:
        """Return the networks by the names of their pools."""

    def _check_settings(self) -> None:
        super()._check_settings()
        known_name("pool", self.pool, self._pools())

    def _forward(self) -> Forward:
        return self._pools()[self.pool]


class MiNet(PooledNetwork, InstanceNetwork):
    """mi-Net: a deep network gives every instance a probability, and the bag the pooled one.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Rectified linear units in each hidden layer.
    pool : {"max", "mean"}
        How the probabilities of the instances make the bag's.
    learning_rate : float
        Step size of Adam.
    weight_decay : float
        Each step shrinks the weights by ``learning_rate * weight_decay``.
    n_epochs : int
        Steps, each on all bags.
    random_state : int, RandomState or None
        Decides the first weights.

    Attributes
    ----------
    weights_ : dict of arrays
        ``"hidden"``: a pair of weights (n_in, n_out) and biases (n_out,) a layer; ``"output"``: such a pair.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    See Also
    --------
    MINet : pools the features instead.

    Notes
    -----
    Decision values are log-odds, of bags and of instances (`instance_scores`).

    Departures: Adam with decoupled weight decay on all bags at once, in place of stochastic gradient descent
    with momentum bag by bag; no drop-out; of the original's three pools the log-sum-exp is left out, whose
    result is no probability.

    References
    ----------
    X. Wang, Y. Yan, P. Tang, X. Bai and W. Liu (2018), Revisiting multiple instance neural networks,
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

    def _pools(self) -> dict[str, Forward]:
        return POOLED_LOGITS


class MINet(PooledNetwork):
    """MI-Net: a deep network describes every instance; the pooled description of the bag is classified.

    Single instances have no score: only the bag does.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Rectified linear units in each hidden layer; the last gives the features that are pooled.
    pool : {"max", "mean", "lse"}
        How each feature of the instances makes the bag's; "lse" is ``log(mean(exp(...)))``.
    learning_rate : float
        Step size of Adam.
    weight_decay : float
        Each step shrinks the weights by ``learning_rate * weight_decay``.
    n_epochs : int
        Steps, each on all bags.
    random_state : int, RandomState or None
        Decides the first weights.

    Attributes
    ----------
    weights_ : dict of arrays
        ``"hidden"``: a pair of weights (n_in, n_out) and biases (n_out,) a layer; ``"output"``: such a pair.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    See Also
    --------
    MiNet : pools probabilities instead.
    GatedAttention : pools features by learned weights.

    Notes
    -----
    Decision values are log-odds.

    Departures: Adam with decoupled weight decay on all bags at once, in place of stochastic gradient descent
    with momentum bag by bag; no drop-out; the plain network, without the original's deep supervision
    and residual connections.

    References
    ----------
    X. Wang, Y. Yan, P. Tang, X. Bai and W. Liu (2018), Revisiting multiple instance neural networks,
    Pattern Recognition 74.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> MINet((16, 8), random_state=0).fit(bags, [1, 1, 0, 0]).predict(bags).tolist()
    [1, 1, 0, 0]
    """

    def _pools(self) -> dict[str, Forward]:
        return POOLED_FEATURES
