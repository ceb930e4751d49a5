"""BP-MIP: back-propagation of the bag's error through its greatest instance alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from fuzzymil.comparators._neural import Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.network.aggregation import AGGREGATIONS
from fuzzymil.network.segments import Grouping

__all__ = ["BPMIP"]


def greatest(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Return outputs in (0, 1) of instances, and the greatest of each bag."""
    log_o = jax.nn.log_sigmoid(linear(weights["output"], hidden(weights["hidden"], x, jax.nn.sigmoid)))
    log_pooled = AGGREGATIONS["max"](log_o, grouping, jnp.zeros(()))
    return Outputs(jnp.exp(log_pooled[:, 0]), jnp.exp(log_o[:, 0]))


class BPMIP(InstanceNetwork):
    """BP-MIP: a sigmoid network on instances; a bag's error is that of its greatest instance.

    The network gives every instance an output between 0 and 1 and a bag the greatest of them. The
    squared error of that one instance, against the bag's target of 0 or 1, is propagated back; the other
    instances of the bag take no part in the step.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Sigmoid units in each hidden layer.
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
        Mean squared error before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are outputs less 0.5, of bags and of instances (`instance_scores`).

    Departures, as far as the original's text could be had: it takes one bag at a time with a fixed step and stops at a
    given error, and bags that are already right may not count in it; here all errors are squared, and
    Adam with weight decay takes all bags at once, for a fixed number of steps. Instances that share the
    greatest output share the gradient.

    References
    ----------
    Z.-H. Zhou and M.-L. Zhang (2002), Neural networks for multi-instance learning, International
    Conference on Intelligent Information Technology.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> model = BPMIP((4,), random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags).tolist()
    [1, 1, 0, 0]
    """

    _loss: ClassVar[str] = "squared_error"

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (80,),
        *,
        learning_rate: float = 0.01,
        weight_decay: float = 1.0,
        n_epochs: int = 150,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_epochs = n_epochs
        self.random_state = random_state

    def _forward(self) -> Forward:
        return greatest
