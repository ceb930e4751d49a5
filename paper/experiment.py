"""What an experiment consists of: units of work that can be saved, and functions that turn results into a report."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import json
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._utils.own_files import make_own_folder
from fuzzymil._version import __version__
from fuzzymil.rules import RuleBase
from paper.page import Section

Results = dict[str, Any]  # numbers as JSON holds them

REPORTED_SEED = 4953
"""Seed of the reported numbers; the defaults were chosen with other seeds."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a run.

    Attributes
    ----------
    seed : int
        Random seed; all random numbers follow from it.
    quick : bool
        Whether to run a smaller version that takes minutes instead of hours.
    repeats : int or None
        Number of repeats of each cross-validation. None: the experiment's default.
    data : Path or None
        Folder with the benchmark datasets.
    jobs : int or None
        Number of processes, in experiments that use several. None: one per core.
    sizes : tuple of int or None
        Numbers of training bags, in experiments with several. None: the experiment's default.
    """

    seed: int = REPORTED_SEED
    quick: bool = False
    repeats: int | None = None
    data: Path | None = None
    jobs: int | None = None
    sizes: tuple[int, ...] | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds of a cross-validation."""
        return 2 if self.quick else 10


@dataclasses.dataclass(frozen=True)
class Unit:
    """A piece of work whose result is saved as soon as it is finished."""

    label: str  # shown in the progress bar
    settings: Mapping[str, Any]  # all that the result depends on, except the library version; determines its file name
    cost: float  # approximate duration in seconds, for the estimate of the remaining time
    work: Callable[..., Results]
    needs: tuple[int, ...] = ()  # positions of earlier units, whose results are the arguments of ``work``
    parallel: bool = False  # whether it may run in another process, at the same time as others


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Every sentence about results in the section is generated from the numbers.
    """

    name: str  # on the command line
    units: Callable[[Options], list[Unit]]
    collect: Callable[[Options, list[Results]], Results]  # from the results of all units, in order, to the numbers
    draw: Callable[[Results, Path], None]  # writes the figures to a folder
    section: Callable[[Results], Section]  # of the page
    check: Callable[[Options], None] | None = None  # raises errors, such as missing data, before any work


def seeds_of(n: int, *key: int | str) -> list[int]:
    """Return ``n`` seeds derived from ``key``, unrelated to those of any other key."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    drawn = np.random.RandomState(np.frombuffer(digest, np.uint32).tolist()).randint(2**31 - 1, size=n)
    return [int(seed) for seed in drawn]


def rounded(values: Array, digits: int = 6) -> list[Any]:
    """Return an array as nested lists for a file, with None for NaN and infinity."""
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [round(float(value), digits) if np.isfinite(value) else None for value in values]


def described(value: Any) -> Any:
    """Return the class and parameters of an estimator, and of those inside it, in a form that JSON can hold."""
    if hasattr(value, "get_params"):
        parameters = {name: described(own) for name, own in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, **parameters}
    if isinstance(value, RuleBase):
        return value.to_source()
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


# Finished units of work on disk, so that an interrupted run can resume.


KIND, VERSION = "fuzzymil-part", 1


class Parts:
    """Results of units, one file each in ``folder``, named after the unit's settings and the library version."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, unit: Unit) -> Path:
        """Return the path of the file that holds the result of a unit once it is saved."""
        return self.folder / f"{_digest(unit.settings)}.json"

    def find(self, unit: Unit) -> Results | None:
        """Return the saved result, or None if there is no valid one."""
        try:
            document = storage.read_document(self.path(unit), {KIND: VERSION})
        except (FileNotFoundError, ModelFileError):
            return None  # never saved, or damaged: compute it (again)
        result = document.get("result")
        return result if isinstance(result, dict) else None

    def keep(self, unit: Unit, result: Results) -> Results:
        """Save a result, and return it as it will be read: a resumed run must not differ in the last digit.

        A result that is to be tried ``again``, for want of a package for example, is not saved.
        """
        if result.get("again"):
            return result
        self.folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.folder.parent, self.folder):
            make_own_folder(folder)
        content = {"library": __version__, "unit": unit.label, "settings": dict(unit.settings), "result": result}
        with storage.own_names():
            storage.write_document(self.path(unit), KIND, VERSION, content, precious=False)
        kept: Results = json.loads(json.dumps(result))
        return kept


def _digest(settings: Mapping[str, Any]) -> str:
    text = json.dumps({"library": __version__, "settings": dict(settings)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


# Run units of work, one after another or several at a time, and save each result as soon as it is there.


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
    if "JAX_PLATFORMS" not in os.environ and importlib.util.find_spec("jax"):
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
