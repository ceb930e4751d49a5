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

__all__ = ["REPORTED_SEED", "Experiment", "Options", "Results", "Unit", "described", "rounded", "seeds_of"]

Results = dict[str, Any]  # numbers as JSON holds them

REPORTED_SEED = 7321
"""Seed of the reported numbers; the defaults were chosen with seeds 100 to 102."""


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
    """

    seed: int = REPORTED_SEED
    quick: bool = False
    repeats: int | None = None
    data: Path | None = None
    jobs: int | None = None


@dataclasses.dataclass(frozen=True)
class Unit:
    """A piece of work whose result is saved as soon as it is finished.

    Attributes
    ----------
    label : str
        Shown in the progress bar.
    settings : mapping
        Everything the result depends on, apart from the library version. It determines the file name of the result.
    cost : float
        Approximate duration in seconds, for the estimate of the remaining time.
    work : callable
        Returns the result in a form that JSON can hold.
    needs : tuple of int
        Positions of earlier units of the experiment. Their results are the arguments of ``work``.
    """

    label: str
    settings: Mapping[str, Any]
    cost: float
    work: Callable[..., Results]
    needs: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name : str
        The name on the command line.
    units : callable
        Takes the options; returns the units of work.
    collect : callable
        Takes the options and the results of all units in order; returns the numbers of the experiment.
    draw : callable
        Takes the numbers and a folder; writes the figures.
    section : callable
        Takes the numbers; returns the section of the page. Every sentence about results is generated from the numbers.
    check : callable, optional
        Takes the options; raises errors, such as missing data, before any work.
    """

    name: str
    units: Callable[[Options], list[Unit]]
    collect: Callable[[Options, list[Results]], Results]
    draw: Callable[[Results, Path], None]
    section: Callable[[Results], Section]
    check: Callable[[Options], None] | None = None


def seeds_of(n: int, *key: int | str) -> list[int]:
    """Return ``n`` seeds derived from ``key``, unrelated to those of any other key.

    Examples
    --------
    >>> seeds_of(2, 2026, "dropout") == seeds_of(3, 2026, "dropout")[:2]
    True
    """
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    drawn = np.random.RandomState(np.frombuffer(digest, np.uint32).tolist()).randint(2**31 - 1, size=n)
    return [int(seed) for seed in drawn]


def rounded(values: Array, digits: int = 6) -> list[Any]:
    """Return an array as nested lists for a file, with None for NaN and infinity.

    Examples
    --------
    >>> rounded(np.array([0.12345678, np.nan]))
    [0.123457, None]
    """
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [round(float(value), digits) if np.isfinite(value) else None for value in values]


def described(value: Any) -> Any:
    """Return the class and parameters of an estimator, and of those inside it, in a form that JSON can hold.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from fuzzymil.estimators import NaiveMIL
    >>> described(NaiveMIL(Ridge(2.0)))["estimator"]["alpha"]
    2.0
    """
    if hasattr(value, "get_params"):
        parameters = {name: described(own) for name, own in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, **parameters}
    if isinstance(value, RuleBase):
        return value.to_source()
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
