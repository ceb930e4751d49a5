"""MI-NN and BP-MIP: sigmoid networks that score instances, with a soft or a hard maximum over each bag."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fuzzymil.comparators._base import comparator
from fuzzymil.comparators.networks import Forward, InstanceNetwork, Outputs, Weights, hidden, layer_sizes, linear
from fuzzymil.estimators.parameters import above_zero, checked, integer, real
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.segments import Grouping

if TYPE_CHECKING:
    import jax


def pooled_outputs(weights: Weights, x: jax.Array, grouping: Grouping, *, aggregation: str) -> Outputs:
    """Return the outputs in (0, 1) of instances, and of bags by aggregating them."""
    import jax
    import jax.numpy as jnp

    log_o = jax.nn.log_sigmoid(linear(weights["output"], hidden(weights["hidden"], x, jax.nn.sigmoid)))
    log_pooled = AGGREGATIONS[aggregation](log_o, grouping, weights.get("alpha", jnp.zeros(())))
    return Outputs(jnp.exp(log_pooled[:, 0]), jnp.exp(log_o[:, 0]))


SOFT_MAXIMUM: Forward = functools.partial(pooled_outputs, aggregation="lse")
MAXIMUM: Forward = functools.partial(pooled_outputs, aggregation="max")


@comparator("MI-NN", search_grid={"alpha": [3.0, 10.0]}, fit_seconds=0.11)
@dataclass(eq=False, repr=False)
class MINN(InstanceNetwork):
    """MI-NN: a sigmoid network on instances with a soft maximum over the bag.

    The network computes an output o between 0 and 1 for every instance; the output of a bag is ``log(mean(exp(alpha *
    o))) / alpha``, between the mean (small alpha) and the maximum (large alpha). The squared error of the bags'
    outputs, with targets 0 and 1, is propagated back through the soft maximum. Decision values are outputs minus 0.5.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of sigmoid units in each hidden layer.
    alpha : float
        Sharpness of the soft maximum; 0 is the mean.
    learning_rate, weight_decay, n_epochs, random_state
        As in `GatedAttention`.

    Notes
    -----
    If one of n instances has output 1 and the others 0, the output of the bag is ``log((exp(alpha) + n - 1) / n) /
    alpha``. With alpha 3 this is below 0.5 from six instances on, with alpha 10 from 150 on. Small alphas suit bags in
    which many instances are positive.

    Differences from the original: Adam with weight decay on full batches, for a fixed number of steps, instead of plain
    back-propagation. The original's layers, sharpness and stopping depend on the data; here they are the same for all.

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

    hidden_layer_sizes: Sequence[int] = checked(layer_sizes, (80,))
    _: KW_ONLY
    alpha: float = checked(real(low=0.0), 3.0)
    learning_rate: float = checked(above_zero, 0.01)
    n_epochs: int = checked(integer(1), 150)

    def _constants(self) -> Weights:
        return {"alpha": np.float64(self.alpha)}

    def _forward(self) -> Forward:
        return SOFT_MAXIMUM


@comparator("BP-MIP", search_grid={"weight_decay": [0.1, 1.0]}, fit_seconds=0.11)
@dataclass(eq=False, repr=False)
class BPMIP(InstanceNetwork):
    """BP-MIP: a sigmoid network on instances, trained on the highest-scoring instance of each bag.

    As in `MINN`, but the output of a bag is the maximum of those of its instances, and its squared error is propagated
    back through that instance only. Instances with the same maximum share the gradient.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Number of sigmoid units in each hidden layer.
    learning_rate, weight_decay, n_epochs, random_state
        As in `GatedAttention`.

    Notes
    -----
    Differences from the original, as far as its text was available: the original trains bag by bag with a fixed step
    size, stops at a given error, and may ignore bags that are already correct.

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

    hidden_layer_sizes: Sequence[int] = checked(layer_sizes, (80,))
    _: KW_ONLY
    learning_rate: float = checked(above_zero, 0.01)
    n_epochs: int = checked(integer(1), 150)

    def _forward(self) -> Forward:
        return MAXIMUM
