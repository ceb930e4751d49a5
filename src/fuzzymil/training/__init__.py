"""Learning: losses, where rules start, gradient steps, the training loop and its checkpoints."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzymil.training import losses
    from fuzzymil.training._loop import Group
    from fuzzymil.training._step import OPTIMIZERS, Limits, Plan
    from fuzzymil.training.checkpoints import Checkpoints
    from fuzzymil.training.progress import Progress
    from fuzzymil.training.trainer import Result, train_groups

__all__ = [
    "OPTIMIZERS",
    "Checkpoints",
    "Group",
    "Limits",
    "Plan",
    "Progress",
    "Result",
    "losses",
    "train_groups",
]

# Loaded on first use: processes that `distributed.launcher` starts must not load JAX before the user's script runs.
_HOMES = {
    "OPTIMIZERS": "_step",
    "Checkpoints": "checkpoints",
    "Group": "_loop",
    "Limits": "_step",
    "Plan": "_step",
    "Progress": "progress",
    "Result": "trainer",
    "train_groups": "trainer",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name == "losses":
        return import_module(f"{__name__}.losses")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
