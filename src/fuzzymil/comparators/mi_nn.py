"""MI-NN: a network scores instances, and a soft maximum over the instances is the score of a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil.comparators._base import check_real
from fuzzymil.comparators._neural import Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.network.aggregation import AGGREGATIONS
from fuzzymil.network.segments import Grouping

__all__ = ["MINN"]


def soft_maximum(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Return outputs ``o`` in (0, 1) of instances, and ``log(mean(exp(alpha * o))) / alpha`` of bags."""
    log_o = jax.nn.log_sigmoid(linear(weights["output"], hidden(weights["hidden"], x, jax.nn.sigmoid)))
    log_pooled = AGGREGATIONS["lse"](log_o, grouping, weights["alpha"])
    return Outputs(jnp.exp(log_pooled[:, 0]), jnp.exp(log_o[:, 0]))


class MINN(InstanceNetwork):
    """MI-NN: a sigmoid network on instances under a soft maximum over the bag.

    Every instance gets an output o between 0 and 1; the bag's is ``log(mean(exp(alpha * o))) / alpha``,
    which lies between the mean (alpha near 0) and the maximum (alpha great). The squared error of the bags'
    outputs, with targets 0 and 1, is sent back through the soft maximum.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Sigmoid units in each hidden layer.
    alpha : float
        How near the soft maximum is to the maximum; 0 is the mean.
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
        ``"hidden"``: a pair of weights (n_in, n_out) and biases (n_out,) a layer; ``"output"``: such a pair;
        and ``"alpha"``.
    loss_curve_ : array of shape (n_epochs,)
        Mean squared error before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are outputs less 0.5, of bags and of instances (`instance_scores`).

    A bag of n instances of which one answers 1 and the others 0 has the output
    ``log((exp(alpha) + n - 1) / n) / alpha``: with an alpha of 3 that is below 0.5 from six instances on, with 10 from
    150 on. Small alphas are for bags in which many instances speak up.

    Departures: the weights are learned by Adam with weight decay on all bags at once, for a fixed number
    of steps, and not by plain back-propagation. The original's choice of layers, sharpness and stopping
    depends on the data; the defaults here are one setting for all.

    References
    ----------
    J. Ramon and L. De Raedt (2000), Multi instance neural networks, ICML Workshop on Attribute-Value and
    Relational Learning.

    Examples
    --------
    >>> bags = [[[0.0], [2.0]], [[2.2]], [[0.1], [-0.2]], [[0.2]]]
    >>> model = MINN((4,), random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags).tolist()
    [1, 1, 0, 0]
    >>> model.instance_scores(bags[:1]) > 0  # the second instance makes the bag positive
    array([False,  True])
    """

    _loss: ClassVar[str] = "squared_error"

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (80,),
        *,
        alpha: float = 3.0,
        learning_rate: float = 0.01,
        weight_decay: float = 1.0,
        n_epochs: int = 150,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_epochs = n_epochs
        self.random_state = random_state

    def _check_settings(self) -> None:
        super()._check_settings()
        check_real("alpha", self.alpha, low=0.0)

    def _constants(self) -> Weights:
        return {"alpha": np.float64(self.alpha)}

    def _forward(self) -> Forward:
        return soft_maximum
