"""Compiled programs kept on disk, so that the next process need not compile them again.

JAX writes and reads them; here is decided where, and that they do not become too many. Several processes can share the
folder: an entry that cannot be read, because another process is just writing or removing it, is compiled again. JAX
never replaces an entry: those that a full disk left empty are removed here, others that are damaged stay until the
folder is cleared.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import stat
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

VARIABLE = "FUZZYMIL_CACHE"
"""The environment variable with the folder to keep programs in; ``off``: they are not kept."""

MOST_BYTES = 256_000_000
"""Size of the folder above which a new process removes the programs that were not used for the longest time."""

_OFF = ("off", "no", "none", "false", "0")
_ROOM = 0.75  # of the size, after removing


class Usage(NamedTuple):
    """How many compiled programs are kept, and their size."""

    n_programs: int
    n_bytes: int


def folder() -> Path | None:
    """Return the folder in which compiled programs are kept, which may not exist yet; None if they are not."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen.lower() in _OFF:
        return None
    try:
        base = Path(chosen).expanduser() if chosen else _user_cache() / "fuzzymil"
    except RuntimeError:  # a user without a home
        return None
    return base / "compiled"


def obstacle() -> str | None:
    """Return why no program is kept in `folder`, in words; None if nothing is in the way."""
    place, chosen = folder(), os.environ.get(VARIABLE, "").strip()
    if place is None:
        return f"{VARIABLE}={chosen}" if chosen else f"there is no home folder; {VARIABLE} can name another"
    if told := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return f"JAX keeps programs in {told} (JAX_COMPILATION_CACHE_DIR)"
    own = place / _machine()
    existing = next(path for path in (own, *own.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return f"{existing} is not a folder that can be written to"
    if own.is_symlink():
        return f"{own} is a link"
    if existing == own and not _is_private(own):
        return f"others can write to {own}; to use it: chmod go-w '{own}'"
    return None


def keep() -> None:
    """Have JAX keep compiled programs from now on, unless it was told where to keep them, or not to.

    Called before every computation with JAX; only the first call does something.
    """
    _keep_in(folder())


@functools.lru_cache(maxsize=1)
def _keep_in(chosen: Path | None) -> None:
    import jax

    if chosen is None or jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    own = chosen / _machine()
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return  # a home that cannot be written: compiling is only slower
    if not _is_private(own):
        return
    _trim(chosen, MOST_BYTES)
    for _, size, path in _entries(chosen):
        if not size:
            path.unlink(missing_ok=True)
    # An entry that cannot be read is compiled again, which is no news for anybody.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache", UserWarning)
    for name, value in (
        ("jax_compilation_cache_dir", str(own)),
        ("jax_persistent_cache_min_compile_time_secs", 0.0),
        ("jax_persistent_cache_min_entry_size_bytes", -1),
    ):
        jax.config.update(name, value)  # type: ignore[no-untyped-call]


def usage() -> Usage:
    """Return how much is kept."""
    sizes = [size for _, size, _ in _entries(folder())]
    return Usage(len(sizes), sum(sizes))


def clear() -> Usage:
    """Remove all programs and return how many there were; running processes go on, and keep what they compile then."""
    before, known = usage(), folder()
    if known is not None:
        _trim(known, 0)
        for place in known.glob("*/xla_*"):  # what XLA keeps itself, on a GPU
            if not place.parent.is_symlink():
                shutil.rmtree(place, ignore_errors=True)
    return before


def _trim(within: Path, most: float) -> None:
    """Remove the entries that were not used for the longest time, if all are larger than ``most`` bytes."""
    entries = _entries(within)
    left = sum(size for _, size, _ in entries)
    if left <= most:
        return
    for _, size, path in sorted(entries):
        if left <= _ROOM * most:
            break
        with contextlib.suppress(OSError):  # another process has removed it
            path.unlink()
        left -= size


def _entries(within: Path | None) -> list[tuple[float, int, Path]]:
    """Return the time of the last use, the size and the path of each entry."""
    found = []
    for path in () if within is None else within.glob("*/*-cache"):
        with contextlib.suppress(OSError):
            if path.parent.is_symlink():
                continue
            about = path.lstat()
            found.append((max(about.st_atime, about.st_mtime), about.st_size, path))
    return found


@functools.cache
def _machine() -> str:
    """Return a name for the kind of processor: machines with the same home may not run each other's programs."""
    features = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), features)
    return f"{platform.machine()}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"


def _is_private(place: Path) -> bool:
    """Return whether nobody else can write here: JAX runs what it finds."""
    if os.name != "posix":
        return True
    about = place.lstat()  # a link could lead anywhere
    open_to_others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not open_to_others


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
