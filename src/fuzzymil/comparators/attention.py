"""Gated attention: the bag is the mean of its instances' features, by weights that are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators._base import check_integer
from fuzzymil.comparators._neural import BagNetwork, Forward, Outputs, Weights, glorot, hidden, linear
from fuzzymil.network.segments import Grouping, log_sum_exp

__all__ = ["GatedAttention"]


def attended(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Logits of bags, and the weights of their instances, which sum to one in each bag."""
    features = hidden(weights["hidden"], x, jax.nn.relu)
    content = jnp.tanh(linear(weights["content"], features))
    gate = jax.nn.sigmoid(linear(weights["gate"], features))
    scores = linear(weights["score"], content * gate)
    attention = jnp.exp(scores - grouping.spread(log_sum_exp(scores, grouping)))
    bag = grouping.sum(attention * features)
    return Outputs(linear(weights["output"], bag)[:, 0], attention[:, 0])


class GatedAttention(BagNetwork):
    """Attention-based multiple-instance network with a gate.

    A deep network describes every instance. A second, small one (a tanh layer, gated by a sigmoid layer)
    tells how much each counts; these weights sum to one in a bag, and the weighted mean of the descriptions is
    classified. `predict_attention` returns the weights.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Rectified linear units in each hidden layer; the last gives the features that are averaged.
    n_attention : int
        Units of the attention's tanh layer, and of its gate.
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
        ``"hidden"``: a pair of weights (n_in, n_out) and biases (n_out,) a layer; ``"content"``, ``"gate"``,
        ``"score"`` (the attention) and ``"output"``: such a pair each.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are log-odds.

    Departures: Adam with decoupled weight decay on all bags at once, in place of stochastic gradient descent
    with momentum bag by bag and a stop on validation bags; no drop-out.

    References
    ----------
    M. Ilse, J. M. Tomczak and M. Welling (2018), Attention-based deep multiple instance learning,
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

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (256, 128, 64),
        *,
        n_attention: int = 64,
        learning_rate: float = 0.003,
        weight_decay: float = 1.0,
        n_epochs: int = 80,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_attention = n_attention
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_epochs = n_epochs
        self.random_state = random_state

    def predict_attention(self, X: Any) -> Array:
        """Return the weight of every instance in its bag, shape (n_instances,); those of a bag sum to one."""
        return np.asarray(self._outputs(self._bags(X))[1])

    def _check_settings(self) -> None:
        super()._check_settings()
        check_integer("n_attention", self.n_attention, 1)

    def _start(self, rng: np.random.RandomState, n_features: int) -> Weights:
        described = [n_features, *self.hidden_layer_sizes][-1]
        return super()._start(rng, n_features) | {
            "content": glorot(rng, described, self.n_attention),
            "gate": glorot(rng, described, self.n_attention),
            "score": glorot(rng, self.n_attention, 1),
        }

    def _forward(self) -> Forward:
        return attended
