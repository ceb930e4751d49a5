"""How compiled programs are run: kept between processes, and modest inside parallel workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["enable_compilation_cache", "heed_thread_limit"]


def heed_thread_limit() -> None:
    """Let compiled programs use as many threads as ``OMP_NUM_THREADS`` grants, where it is set.

    joblib sets it in its workers, so that they do not fight over the cores; XLA itself listens to
    ``NPROC`` alone, and only before its first computation. Called on import.
    """
    granted = os.environ.get("OMP_NUM_THREADS", "")
    if granted.isdigit() and int(granted) > 0:
        os.environ.setdefault("NPROC", granted)


def enable_compilation_cache(folder: str | os.PathLike[str] | None = None) -> Path:
    """Keep compiled programs on disk, so that the next process need not compile them again.

    The command line calls this; in a script or notebook call it before the first fit.

    Parameters
    ----------
    folder : path, optional
        Default: ``JAX_COMPILATION_CACHE_DIR``, or ``fuzzymil`` in the user's cache folder.

    Returns
    -------
    Path
        The folder in use.
    """
    import jax  # here: a command that computes nothing should not wait for it

    chosen = Path(folder or os.environ.get("JAX_COMPILATION_CACHE_DIR") or _user_cache() / "fuzzymil" / "compiled")
    for name, value in (
        ("jax_compilation_cache_dir", str(chosen)),
        ("jax_persistent_cache_min_compile_time_secs", 0.0),
        ("jax_persistent_cache_min_entry_size_bytes", -1),
    ):
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    return chosen


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
