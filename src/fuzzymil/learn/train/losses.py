"""Losses: how targets are coded, what an output means, and what an error costs.

=================  ================================  ======================  ==================================
loss               targets                           decision value          probability
=================  ================================  ======================  ==================================
``squared_error``  0/1 (one output per class if      O - 0.5; O for several  O clipped to [0, 1] (several
                   there are more than two classes)  classes                 classes: divided by their sum)
``cross_entropy``  the same                          O, a logit              sigmoid or softmax of O
``hinge``          -1/+1                             O, a margin             one sigmoid per class, fitted on
                                                                             the training outputs
=================  ================================  ======================  ==================================

The class with the largest decision value is predicted; with two classes, the second one if its value is positive. With
``hinge`` the probabilities are estimated separately and may favor another class near the decision boundary.

To add a loss, call `register`; estimators then accept its name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import registry
from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.engines import engine_of

if TYPE_CHECKING:
    import jax

Array = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss:
    """One row of the table above.

    Attributes
    ----------
    per_bag : callable
        Cost of each bag, (b,), from outputs and targets, (b, k) both.
    low, high : float
        Target of a bag that does not belong to a class, and of one that does.
    threshold : float
        Subtracted from the single output for two classes to give the decision value.
    start : callable
        Initial output of a rule from the mean target of its bags.
    probability : callable or None
        Probabilities (b, k) from outputs (b, k); None: calibrated on the training outputs.
    expected : callable
        Outputs on the scale of the targets, for the RMSE.
    """

    per_bag: Callable[[jax.Array, jax.Array], jax.Array]
    low: float = 0.0
    high: float = 1.0
    threshold: float = 0.0
    start: Callable[[Array], Array] = lambda mean: mean
    probability: Callable[[Array], Array] | None = None
    expected: Callable[[jax.Array], jax.Array] = lambda output: output


LOSSES: dict[str, Loss] = {}
"""All losses by name."""


def register(name: str, loss: Loss) -> None:
    """Make a loss available to all estimators under a name.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> register("absolute_error", Loss(per_bag=lambda output, target: jnp.abs(target - output).sum(axis=-1)))
    >>> "absolute_error" in LOSSES
    True
    >>> del LOSSES["absolute_error"]
    """
    costs = {known: entry.per_bag for known, entry in LOSSES.items()}
    registry.register(costs, "loss", name, loss.per_bag)  # raises if the name is taken
    LOSSES[name] = loss


def _cross_entropy(output: jax.Array, target: jax.Array) -> jax.Array:
    xp = namespace(output)
    if output.shape[-1] == 1:
        return xp.sum(xp.logaddexp(output, 0.0) - target * output, axis=-1)
    return -xp.sum(target * engine_of(output).log_softmax(output), axis=-1)


def _likelihood_of(output: Any) -> Any:
    engine = engine_of(output)
    return engine.sigmoid(output) if output.shape[-1] == 1 else engine.softmax(output)


def _logit_of(mean: Array) -> Array:
    likely = np.clip(mean, 0.02, 0.98)
    return np.log(likely) - np.log1p(-likely)


def _hinge(output: jax.Array, target: jax.Array) -> jax.Array:
    xp = namespace(output)
    if output.shape[-1] == 1:
        return xp.maximum(0.0, 1.0 - target * output).sum(axis=-1)
    own = xp.sum(xp.where(target > 0, output, 0.0), axis=-1)
    rival = xp.max(xp.where(target > 0, -xp.inf, output), axis=-1)
    return xp.maximum(0.0, 1.0 + rival - own)


def _clipped(output: Array) -> Array:
    limited = np.clip(output, 0.0, 1.0)
    if output.shape[1] == 1:
        return limited
    total = limited.sum(axis=1, keepdims=True)
    return np.where(total > 0, limited / np.where(total > 0, total, 1.0), 1.0 / output.shape[1])


LOSSES["squared_error"] = Loss(
    per_bag=lambda output, target: namespace(output).square(target - output).sum(axis=-1),
    threshold=0.5,
    probability=_clipped,
)
LOSSES["cross_entropy"] = Loss(
    per_bag=_cross_entropy, start=_logit_of, probability=_likelihood_of, expected=_likelihood_of
)
LOSSES["hinge"] = Loss(per_bag=_hinge, low=-1.0)
