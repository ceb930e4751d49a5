"""Optimizers by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import optax

__all__ = ["OPTIMIZERS"]

# Each scales a gradient; a step is the learning rate times the result. Optax is loaded when one is used.
OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": lambda: import_module("optax").identity(),
    "adam": lambda: import_module("optax").scale_by_adam(),
}
