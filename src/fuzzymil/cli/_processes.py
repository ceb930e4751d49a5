"""Processes that share the fits of a command."""

from __future__ import annotations

from contextlib import AbstractContextManager

from fuzzymil._utils.runtime import granted_cores


def helped_fits(n_fits: int, jobs: int | None = None) -> AbstractContextManager[None]:
    """Return a context in which other processes share the fits of a cross-validation.

    Parameters
    ----------
    n_fits : int
    jobs : int, optional
        Number of processes. Default: one per core.
    """
    import joblib

    import fuzzymil.selection  # noqa: F401  forks need not import what this process has
    from fuzzymil._utils.processes import helped

    cores = min(granted_cores(), joblib.cpu_count())  # a container may have fewer than it sees
    return helped(min(n_fits, jobs or cores) - 1)
