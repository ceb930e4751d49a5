"""MI-NN: a network that scores instances, with a soft maximum over each bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fuzzymil.comparators._base import checks, comparator
from fuzzymil.comparators._networks import Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.estimators.parameters import real
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.segments import Grouping

if TYPE_CHECKING:
    import jax

__all__ = ["MINN"]


def soft_maximum(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Return the outputs ``o`` in (0, 1) of instances, and ``log(mean(exp(alpha * o))) / alpha`` of bags."""
    import jax
    import jax.numpy as jnp

    log_o = jax.nn.log_sigmoid(linear(weights["output"], hidden(weights["hidden"], x, jax.nn.sigmoid)))
    log_pooled = AGGREGATIONS["lse"](log_o, grouping, weights["alpha"])
    return Outputs(jnp.exp(log_pooled[:, 0]), jnp.exp(log_o[:, 0]))


@comparator("MI-NN", search_grid={"alpha": [3.0, 10.0]}, fit_seconds=0.11)
class MINN(InstanceNetwork):
    """MI-NN: a sigmoid network on instances with a soft maximum over the bag.

    The network computes an output o between 0 and 1 for every instance; the output of a bag is ``log(mean(exp(alpha *
    o))) / alpha``, between the mean (small alpha) and the maximum (large alpha). The squared error of the bags'
    outputs, with targets 0 and 1, is propagated back through the soft maximum.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of sigmoid units in each hidden layer.
    alpha : float
        Sharpness of the soft maximum; 0 is the mean.
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
        ``"hidden"``: weights (n_in, n_out) and biases (n_out,) of each layer; ``"output"``: one such pair;
        and ``"alpha"``.
    loss_curve_ : array of shape (n_epochs,)
        Mean squared error before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are outputs minus 0.5, for bags and for instances (`instance_scores`).

    If one of n instances has output 1 and the others 0, the output of the bag is ``log((exp(alpha) + n - 1) / n) /
    alpha``. With alpha 3 this is below 0.5 from six instances on, with alpha 10 from 150 on. Small alphas suit bags in
    which many instances are positive.

    Differences from the original: Adam with weight decay on full batches, for a fixed number of steps, instead of plain
    back-propagation. The original's layers, sharpness and stopping depend on the data; the defaults here are the same
    for all data.

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

    _checks = InstanceNetwork._checks | checks(alpha=real(low=0.0))
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

    def _constants(self) -> Weights:
        return {"alpha": np.float64(self.alpha)}

    def _forward(self) -> Forward:
        return soft_maximum
