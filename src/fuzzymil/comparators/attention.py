"""Gated attention: a bag is the mean of its instances' features, with learned weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators._base import checks, comparator
from fuzzymil.comparators._networks import BagNetwork, Forward, Outputs, Weights, glorot, hidden, linear
from fuzzymil.estimators.parameters import integer
from fuzzymil.inference.segments import Grouping, log_sum_exp

if TYPE_CHECKING:
    import jax

__all__ = ["GatedAttention"]


def attended(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
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


@comparator("Gated attention", search_grid={"weight_decay": [0.1, 1.0]}, fit_seconds=0.27)
class GatedAttention(BagNetwork):
    """Gated attention: an attention-based multiple-instance network.

    A deep network computes features of each instance. A second, small network (a tanh layer gated by a sigmoid layer)
    computes the attention weights, which sum to 1 in each bag. The weighted mean of the features is classified.
    `predict_attention` returns the weights.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of ReLU units in each hidden layer; the last layer computes the features.
    n_attention : int
        Number of units in the tanh layer of the attention, and in its gate.
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
        ``"hidden"``: weights (n_in, n_out) and biases (n_out,) of each layer; ``"content"``, ``"gate"`` and
        ``"score"`` (the attention) and ``"output"``: one such pair each.
    loss_curve_ : array of shape (n_epochs,)
        Mean cross-entropy before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are log-odds.

    Differences from the original: Adam with decoupled weight decay on full batches instead of stochastic gradient
    descent with momentum, bag by bag, and early stopping on validation bags; no dropout.

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

    _checks = BagNetwork._checks | checks(n_attention=integer(1))

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
        """Return the attention weight of each instance, shape (n_instances,); the weights of a bag sum to 1."""
        return np.asarray(self._outputs(self._bags(X))[1])

    def _start(self, rng: np.random.RandomState, n_features: int) -> Weights:
        described = [n_features, *self.hidden_layer_sizes][-1]
        return super()._start(rng, n_features) | {
            "content": glorot(rng, described, self.n_attention),
            "gate": glorot(rng, described, self.n_attention),
            "score": glorot(rng, self.n_attention, 1),
        }

    def _forward(self) -> Forward:
        return attended
