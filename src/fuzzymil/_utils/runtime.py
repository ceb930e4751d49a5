"""What computations need of their process: threads, memory maps, that it is no fork; and a thread that loads ahead."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from fuzzymil._utils import memory
from fuzzymil._utils.errors import MissingExtraError

Item = TypeVar("Item")
Result = TypeVar("Result")

_MAPS, _MOST_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
_JAX, _COMPUTING = 1_800_000_000, 200_000_000  # bytes of address space: to begin, and at each computation
_LOOK_EVERY = 8  # counting many maps takes milliseconds
_calls = itertools.count()
_user: int | None = None  # the process that computed first


def has_jax() -> bool:
    """Return whether JAX and its optimizers, an extra of this package, are installed."""
    return all(find_spec(name) is not None for name in ("jax", "optax"))


def require_jax(what: str) -> None:
    """Raise `MissingExtraError` if JAX is not installed; called at the doors to all that it computes."""
    if not has_jax():
        raise MissingExtraError(f'{what} needs JAX, which is not installed: pip install "fuzzymil[train]".')
    if "jax" not in sys.modules:
        memory.require_address_space(_JAX, what)


def heed_thread_limit() -> None:
    """Limit the threads of compiled programs to ``OMP_NUM_THREADS``, if it is set.

    joblib sets it in its workers so that they do not compete for cores. XLA only reads ``NPROC``, and only before its
    first computation, so this is called on import.
    """
    if granted := _count("OMP_NUM_THREADS"):
        os.environ.setdefault("NPROC", str(granted))


def granted_cores() -> int:
    """Return how many cores compiled programs may use: ``NPROC``, or those available to the process."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _count("NPROC") or here


def _count(variable: str) -> int:
    """Return the number in an environment variable; 0 if there is none."""
    said = os.environ.get(variable, "")
    return int(said) if said.isdigit() else 0


def in_64_bit() -> contextlib.AbstractContextManager[Any]:
    """Return a context in which JAX computes in 64 bit, if it has been imported at all.

    The library's own functions on NumPy arrays do not need it, but operators that users add may be written for JAX.
    """
    jax = sys.modules.get("jax")
    return contextlib.nullcontext() if jax is None else jax.enable_x64()


def check_process() -> None:
    """Raise RuntimeError in a process that was forked from one that has computed with several threads.

    It would wait forever for threads that only its parent has. Called before computations with JAX or OpenMP.
    """
    global _user
    if _user is None:
        _user = os.getpid()
    if _user != os.getpid():
        raise RuntimeError(
            "This process was forked from one that has already used fuzzymil, whose threads it does not have: it would "
            "wait for them forever. Start processes with the 'spawn' method, multiprocessing.get_context('spawn'), or "
            "with joblib, or fork before the first fit or prediction."
        )


def may_be_forked() -> bool:
    """Return whether a fork of this process can compute: no library that needs its own threads there is in use."""
    return _user is None and not {"jax", "torch"} & sys.modules.keys()


def make_room() -> None:
    """Drop compiled programs before the process runs out of memory maps on Linux.

    Each new data shape takes a few hundred maps, and the compiler crashes beyond the limit (65,530 by default).
    Dropped programs are compiled again when needed. Called before each computation with JAX, whose programs are kept on
    disk (`programs.keep`).
    """
    check_process()
    from fuzzymil._utils import programs  # deferred: only training needs it, and every command would wait for it

    programs.keep()
    memory.require_address_space(_COMPUTING, "Computing with JAX")
    if next(_calls) % _LOOK_EVERY or not _MAPS.exists():
        return
    with _MAPS.open("rb") as maps:
        held = sum(1 for _ in maps)
    if held > int(_MOST_MAPS.read_text()) // 2:
        import jax

        jax.clear_caches()  # type: ignore[no-untyped-call]


def prefetch(load: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``load(item)`` for each item, loading the next one in a background thread."""
    waiting = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="fuzzymil-prefetch") as worker:
        pending = [worker.submit(load, item) for item in itertools.islice(waiting, 1)]
        while pending:
            ready = pending.pop().result()
            pending = [worker.submit(load, item) for item in itertools.islice(waiting, 1)]
            yield ready
            del ready  # at most two results are in memory at a time
