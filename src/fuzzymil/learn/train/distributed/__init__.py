"""Training over several processes, and on streams that do not fit in memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzymil.learn.train.distributed.launcher import launch
    from fuzzymil.learn.train.distributed.processes import ProcessGroup, current, join

__all__ = ["ProcessGroup", "current", "join", "launch"]


# Loaded on first use: processes that `launcher` starts must not load JAX before the user's script runs.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'launcher' if name == 'launch' else 'processes'}"), name)
