"""What an experiment consists of: units of work that can be saved, and functions that turn results into a report."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.experiments._document import Section
from fuzzymil.rules import RuleBase

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
        return 5 if self.quick else 10


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
