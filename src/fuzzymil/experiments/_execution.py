"""Run units of work, one after another or several at a time, and save each result as soon as it is there."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from fuzzymil.experiments._experiment import Results, Unit
from fuzzymil.experiments._parts import Parts

Announce = Callable[[Unit, bool], None]
"""Called with a unit and False when it starts, and with True when its result is saved."""


def results_of(
    units: Sequence[Unit], parts: Parts, jobs: int | None, pressed: threading.Event, announce: Announce
) -> list[Results]:
    """Return the results of all units in their order; those saved before are not computed again.

    Parameters
    ----------
    units : sequence of Unit
        Parallel units that follow one another run at the same time.
    parts : Parts
        Where results are saved.
    jobs : int or None
        Number of processes for parallel units; 1 runs them in this process. None: one per core.
    pressed : threading.Event
        Set by Ctrl-C: whatever comes back after it may be cut short and is not saved.
    announce : callable

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C.
    """
    results: dict[int, Results] = {}
    for batch in _batches(units):
        missing = []
        for place in batch:
            saved = parts.find(units[place])
            if saved is None:
                missing.append(place)
            else:
                results[place] = saved
                announce(units[place], True)
        works = [(place, units[place], [results[need] for need in units[place].needs]) for place in missing]
        together = jobs != 1 and len(works) > 1
        with contextlib.closing(_at_once(works, jobs) if together else _one_by_one(works, announce)) as found:
            for place, result in found:
                if pressed.is_set():
                    raise KeyboardInterrupt
                results[place] = parts.keep(units[place], result)
                announce(units[place], True)
    return [results[place] for place in range(len(units))]


def _batches(units: Sequence[Unit]) -> Iterator[list[int]]:
    """Yield the positions of units that may run at the same time: none needs the result of another."""
    batch: list[int] = []
    for place, unit in enumerate(units):
        together = unit.parallel and batch and units[batch[-1]].parallel and not set(unit.needs) & set(batch)
        if batch and not together:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


_Work = tuple[int, Unit, list[Results]]  # the position of a unit, the unit, and the results that it needs


def _one_by_one(works: Iterable[_Work], announce: Announce) -> Generator[tuple[int, Results]]:
    for place, unit, given in works:
        announce(unit, False)
        # One BLAS thread: more gain nothing at these sizes and compete with the compiled code for the cores.
        with _quiet(), threadpool_limits(1, user_api="blas"):
            result = unit.work(*given)
        yield place, result


def _at_once(works: Iterable[_Work], jobs: int | None) -> Generator[tuple[int, Results]]:
    """Yield results as they come from processes with one thread each."""
    ordered = _in_rounds(works)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs or -1, batch_size=1, return_as="generator_unordered")
        found = pool(delayed(_elsewhere)(place, unit.work, given) for place, unit, given in ordered)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)  # joblib replaces those that have grown
        yield from found


def _in_rounds(works: Iterable[_Work]) -> list[_Work]:
    """Return units in rounds, each with one unit of every cost, the longest first.

    Units of equal cost are mostly folds of one method. If all processes began with the same method, each would compile
    the same programs; later rounds find them on disk. In each round the longest come first, because begun last, one of
    them would keep a single core busy at the end.
    """
    counts: Counter[float] = Counter()
    keyed = []
    for work in works:
        cost = work[1].cost
        keyed.append(((counts[cost], -cost), work))
        counts[cost] += 1
    return [work for _, work in sorted(keyed, key=lambda entry: entry[0])]


def _elsewhere(place: int, work: Callable[..., Results], given: Sequence[Results]) -> tuple[int, Results]:
    _settle()
    with _quiet():
        return place, work(*given)


@functools.cache
def _settle() -> None:
    """Set up this process, once, before it computes anything."""
    if "JAX_PLATFORMS" not in os.environ:
        import jax

        jax.config.update("jax_platforms", "cpu")  # type: ignore[no-untyped-call]  # one GPU cannot serve them all


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # divergence is counted in the results
        warnings.filterwarnings("ignore", "Training was interrupted", UserWarning)
        # Another process may be writing the entry; the program is then compiled here.
        warnings.filterwarnings("ignore", "Error reading persistent compilation cache", UserWarning)
        yield
