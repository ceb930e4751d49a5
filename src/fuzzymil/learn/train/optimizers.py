"""Optimizers by name; optax is loaded when one is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import optax

__all__ = ["OPTIMIZERS"]


def _sgd() -> optax.GradientTransformation:
    import optax

    return optax.identity()


def _adam() -> optax.GradientTransformation:
    import optax

    return optax.scale_by_adam()


# Each scales a gradient; a step is the learning rate times the result.
OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {"sgd": _sgd, "adam": _adam}
