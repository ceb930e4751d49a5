"""Losses: how targets are coded, what an output means, and what it costs.

=================  ==============================  =====================  ================================
loss               targets                         decision value         probability
=================  ==============================  =====================  ================================
``squared``        0/1 (one output a class when    O - 0.5; O a class     O limited to [0, 1] (classes:
                   there are more than two)                               then divided by their sum)
``cross_entropy``  the same                        O, a logit             sigmoid or softmax of O
``hinge``          -1/+1                           O, a margin            sigmoid a class, fitted on
                                                                          training outputs
=================  ==============================  =====================  ================================

The class with the greatest decision value is predicted; with two classes, the second where it is
greater than 0. With ``hinge`` the probabilities are an estimate beside that decision and may favor
another class near the border.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.special import softmax as scipy_softmax

__all__ = ["LOSSES", "Loss"]

Array = npt.NDArray[np.float64]


def _squared(output: jax.Array, target: jax.Array) -> jax.Array:
    return jnp.square(target - output).sum(axis=-1)


def _cross_entropy(output: jax.Array, target: jax.Array) -> jax.Array:
    if output.shape[-1] == 1:
        return jnp.sum(jax.nn.softplus(output) - target * output, axis=-1)
    return -jnp.sum(target * jax.nn.log_softmax(output), axis=-1)


def _hinge(output: jax.Array, target: jax.Array) -> jax.Array:
    if output.shape[-1] == 1:
        return jnp.maximum(0.0, 1.0 - target * output).sum(axis=-1)
    own = jnp.sum(jnp.where(target > 0, output, 0.0), axis=-1)
    rival = jnp.max(jnp.where(target > 0, -jnp.inf, output), axis=-1)
    return jnp.maximum(0.0, 1.0 + rival - own)


def _clipped(output: Array) -> Array:
    if output.shape[1] == 1:
        return np.clip(output, 0.0, 1.0)
    limited = np.clip(output, 0.0, 1.0)
    total = limited.sum(axis=1, keepdims=True)
    return np.where(total > 0, limited / np.where(total > 0, total, 1.0), 1.0 / output.shape[1])


def _likelihood(output: Array) -> Array:
    return np.asarray(expit(output) if output.shape[1] == 1 else scipy_softmax(output, axis=1))


@dataclasses.dataclass(frozen=True)
class Loss:
    """One row of the table above."""

    name: str
    per_bag: Callable[[jax.Array, jax.Array], jax.Array]  # (b, k), (b, k) -> (b,)
    low: float  # target of a bag that is not of the class
    high: float  # target of a bag that is
    threshold: float  # subtracted from the single output of two classes
    start: Callable[[Array], Array]  # mean target of a rule -> its first output
    probability: Callable[[Array], Array] | None  # None: calibrated on training outputs
    expected: Callable[[jax.Array], jax.Array]  # output on the scale of the targets, for the RMSE


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("squared_error", _squared, 0.0, 1.0, 0.5, lambda mean: mean, _clipped, lambda output: output),
        Loss(
            "cross_entropy",
            _cross_entropy,
            0.0,
            1.0,
            0.0,
            lambda mean: np.asarray(logit(np.clip(mean, 0.02, 0.98))),
            _likelihood,
            lambda output: jax.nn.sigmoid(output) if output.shape[-1] == 1 else jax.nn.softmax(output),
        ),
        Loss("hinge", _hinge, -1.0, 1.0, 0.0, lambda mean: mean, None, lambda output: output),
    )
}
