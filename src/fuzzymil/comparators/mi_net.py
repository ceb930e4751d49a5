"""mi-Net and MI-Net: deep networks that pool the probabilities or the features of the instances of a bag."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from fuzzymil._utils.arrays import namespace
from fuzzymil.comparators._base import checks, comparator
from fuzzymil.comparators._networks import BagNetwork, Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.estimators.parameters import choice
from fuzzymil.inference.aggregation import COMBINERS
from fuzzymil.inference.segments import Grouping, log_sum_exp

if TYPE_CHECKING:
    import jax

__all__ = ["MINet", "MiNet"]

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


class _PooledNetwork(BagNetwork):
    """Base class of mi-Net and MI-Net: their parameters, and the choice of the pool."""

    _pools: ClassVar[dict[str, Forward]]  # networks by name of their pool
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

    def _forward(self) -> Forward:
        return self._pools[self.pool]


@comparator("mi-Net", search_grid={"pool": ["max", "mean"]}, fit_seconds=0.24)
class MiNet(_PooledNetwork, InstanceNetwork):
    """mi-Net: a deep network that pools the probabilities of the instances of a bag.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer.
    pool : {"max", "mean"}
        How the probabilities of the instances are pooled.
    learning_rate : float
        Learning rate of Adam.
    weight_decay : float
        Each step shrinks the weights by ``learning_rate * weight_decay``.
    n_epochs : int
        Number of steps, each on all bags.
    random_state : int, RandomState or None
        Random seed of the initial weights.

    Attributes
    ----------
    weights_ : dict of arrays
        ``"hidden"``: weights (n_in, n_out) and biases (n_out,) of each layer; ``"output"``: one such pair.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    See Also
    --------
    MINet : Pools the features instead.

    Notes
    -----
    Decision values are log-odds, for bags and for instances (`instance_scores`).

    Differences from the original: Adam with decoupled weight decay on full batches instead of stochastic gradient
    descent with momentum, bag by bag; no dropout; of the original's three pools, log-sum-exp is omitted because its
    result is not a probability.

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

    _pools = POOLED_LOGITS
    _checks = BagNetwork._checks | checks(pool=choice(POOLED_LOGITS))


@comparator("MI-Net", search_grid={"pool": ["max", "mean"]}, fit_seconds=0.24)
class MINet(_PooledNetwork):
    """MI-Net: a deep network that pools the features of the instances of a bag.

    The pooled features are classified, so instances have no scores.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer; the last layer computes the features.
    pool : {"max", "mean", "lse"}
        How the features of the instances are pooled; "lse" is ``log(mean(exp(...)))``.
    learning_rate : float
        Learning rate of Adam.
    weight_decay : float
        Each step shrinks the weights by ``learning_rate * weight_decay``.
    n_epochs : int
        Number of steps, each on all bags.
    random_state : int, RandomState or None
        Random seed of the initial weights.

    Attributes
    ----------
    weights_ : dict of arrays
        ``"hidden"``: weights (n_in, n_out) and biases (n_out,) of each layer; ``"output"``: one such pair.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    See Also
    --------
    MiNet : Pools probabilities instead.
    GatedAttention : Pools features with learned weights.

    Notes
    -----
    Decision values are log-odds.

    Differences from the original: Adam with decoupled weight decay on full batches instead of stochastic gradient
    descent with momentum, bag by bag; no dropout; the plain network, without the original's deep supervision and
    residual connections.

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

    _pools = POOLED_FEATURES
    _checks = BagNetwork._checks | checks(pool=choice(POOLED_FEATURES))
