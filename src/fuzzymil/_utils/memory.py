"""The memory budget: readers and fits ask it before they allocate, so that no file can exhaust the machine."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from pathlib import Path

from fuzzymil._utils.errors import InputError, ParameterError

VARIABLE = "FUZZYMIL_MEMORY"
"""Environment variable with the budget, such as ``4GB``, ``500MB`` or a number of bytes."""

_SHARE = 0.5  # of the machine's memory, by default
_ALWAYS = 16 * 10**6  # bytes that every machine has
_UNKNOWN = 8 * 10**9  # the machine's memory where the system does not tell
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def budget() -> int:
    """Return how many bytes one file or one fit may use: ``FUZZYMIL_MEMORY``, or half of the machine's memory.

    The limits of a container and of the process (``ulimit -v``) count as the machine's memory.
    """
    chosen = os.environ.get(VARIABLE, "").strip()
    if not chosen:
        return int(_SHARE * _machine())
    found = _SIZE.fullmatch(chosen)
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"{VARIABLE} must be a size such as 4GB, 500MB or a number of bytes, got {chosen!r:.100}.")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def shortage(n_bytes: float) -> str | None:
    """Return why this many bytes are too many and what to do about it, or None if they fit in the budget."""
    if n_bytes <= _ALWAYS and not os.environ.get(VARIABLE):  # asking the system takes longer than a small inference
        return None
    allowed = budget()
    if n_bytes <= allowed:
        return None
    return (
        f"this needs about {size_text(n_bytes)} of memory, but only {size_text(allowed)} may be used (set {VARIABLE} "
        "to change that)"
    )


def require_address_space(n_bytes: float, what: str) -> None:
    """Raise `InputError` if less address space is left to this process (``ulimit -v``), where a library would abort."""
    with contextlib.suppress(ImportError, OSError):  # no such limits on Windows, no such file but on Linux
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed == resource.RLIM_INFINITY:
            return
        left = allowed - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if left < n_bytes:
            raise InputError(
                f"{what} needs {size_text(n_bytes)} of address space, but {size_text(max(left, 0))} are left: raise "
                "the limit, for instance with ulimit -v unlimited."
            )


def give_back() -> None:
    """Return memory that was freed to the operating system, where the C library (glibc) keeps it for later.

    Compiling a program frees a hundred megabytes in small pieces, which large arrays cannot use.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library, or Windows
        ctypes.CDLL(None).malloc_trim(0)


def size_text(n_bytes: float) -> str:
    """Return a number of bytes in words."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{float(f'{n_bytes / size:.2g}'):,g} {unit}"
    return f"{n_bytes:.0f} bytes"


def _machine() -> float:
    """Return the bytes of memory that this process could use at most."""
    limits: list[float] = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not on Windows
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # none, or "max"
            limits.append(int(Path(path).read_text()))
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed != resource.RLIM_INFINITY:
            limits.append(allowed)
    return min((limit for limit in limits if limit > 0), default=_UNKNOWN)
