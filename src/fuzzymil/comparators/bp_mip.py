"""BP-MIP: back-propagation of a bag's error through its highest-scoring instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from fuzzymil.comparators._base import comparator
from fuzzymil.comparators._networks import Forward, InstanceNetwork, Outputs, Weights, hidden, linear
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.segments import Grouping

if TYPE_CHECKING:
    import jax

__all__ = ["BPMIP"]


def maximum(weights: Weights, x: jax.Array, grouping: Grouping) -> Outputs:
    """Return the outputs in (0, 1) of instances, and the maximum of each bag."""
    import jax
    import jax.numpy as jnp

    log_o = jax.nn.log_sigmoid(linear(weights["output"], hidden(weights["hidden"], x, jax.nn.sigmoid)))
    log_pooled = AGGREGATIONS["max"](log_o, grouping, jnp.zeros(()))
    return Outputs(jnp.exp(log_pooled[:, 0]), jnp.exp(log_o[:, 0]))


@comparator("BP-MIP", search_grid={"weight_decay": [0.1, 1.0]}, fit_seconds=0.11)
class BPMIP(InstanceNetwork):
    """BP-MIP: a sigmoid network on instances, trained on the highest-scoring instance of each bag.

    The network computes an output between 0 and 1 for every instance; the output of a bag is their maximum. Its squared
    error against the target 0 or 1 is propagated back through that instance only.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of sigmoid units in each hidden layer.
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
        Mean squared error before each step.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are outputs minus 0.5, for bags and for instances (`instance_scores`).

    Differences from the original, as far as its text was available: the original trains bag by bag with a fixed step
    size, stops at a given error, and may ignore bags that are already correct. Here all errors are squared, and Adam
    with weight decay takes a fixed number of steps on full batches. Instances with the same maximum output share the
    gradient.

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
        return maximum
