"""Processes that share the fits of a command."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from fuzzymil._utils.runtime import granted_cores

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

_LARGE = 1 << 26  # bytes, which every process would get a copy of; joblib's share them, but take longer to start


def helped_fits(n_fits: int, bags: Bags, jobs: int | None = None) -> AbstractContextManager[None]:
    """Return a context in which other processes share the fits of a cross-validation.

    ``bags``: of large ones, cross-validation itself decides when processes are worth their start. ``jobs``: number of
    processes. Default: one per core.
    """
    if (bags.instances if bags.sparse is None else bags.sparse.data).nbytes > _LARGE:
        return nullcontext()
    import joblib

    import fuzzymil.learn.choose  # noqa: F401  forks need not import what this process has
    from fuzzymil._utils.processes import helped

    cores = min(granted_cores(), joblib.cpu_count())  # a container may have fewer than it sees
    return helped(min(n_fits, jobs or cores) - 1)
