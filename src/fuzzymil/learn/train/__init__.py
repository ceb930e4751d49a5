"""Learning: losses, partitions for initial rules, gradient steps, the driver, checkpoints."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.runtime import require_jax

if TYPE_CHECKING:
    from fuzzymil.learn.train import checkpoints, losses, partition
    from fuzzymil.learn.train._loop import Group, Plan
    from fuzzymil.learn.train.checkpoints import Checkpoints
    from fuzzymil.learn.train.constraints import ActiveBound, Constraints, Limits
    from fuzzymil.learn.train.progress import Progress
    from fuzzymil.learn.train.trainer import Result, train_groups

__all__ = [
    "Checkpoints",
    "Constraints",
    "Group",
    "Limits",
    "Plan",
    "Progress",
    "Result",
    "ActiveBound",
    "checkpoints",
    "losses",
    "partition",
    "train_groups",
]

# Loaded on first use: JAX takes a second, and few need it.
_HOMES = {"Checkpoints": "checkpoints", "Constraints": "constraints", "ActiveBound": "constraints"}
_HOMES |= {"Group": "_loop", "Limits": "constraints"}
_HOMES |= {"Plan": "_loop", "Progress": "progress", "Result": "trainer", "train_groups": "trainer"}

_OF_JAX = ("_loop", "checkpoints", "trainer")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, name)
    if home in _OF_JAX:
        require_jax(f"{__name__}.{name}")
    module = import_module(f"{__name__}.{home}")
    return getattr(module, name) if name in _HOMES else module
