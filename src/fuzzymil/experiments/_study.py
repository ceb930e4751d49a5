"""What an experiment is: units of work that can be kept, and how their results become numbers, figures and words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.estimators import Variant
from fuzzymil.experiments._document import Section

__all__ = ["REPORTED_SEED", "Experiment", "Options", "Results", "Unit", "parameters", "rounded", "seeds_of"]

Results = dict[str, Any]  # numbers as JSON holds them

REPORTED_SEED = 7321
"""Seed of the reported numbers; the defaults were chosen with seeds 100 to 102."""


@dataclass(frozen=True)
class Options:
    """What the user chooses.

    Attributes
    ----------
    seed : int
        All random numbers follow from it.
    quick : bool
        A few minutes instead of an hour.
    repeats : int or None
        Repeats of the cross-validations; None leaves it to the experiment.
    data : Path or None
        Folder of the benchmark sets.
    jobs : int or None
        Processes side by side where an experiment uses several; None for one a core.
    """

    seed: int = REPORTED_SEED
    quick: bool = False
    repeats: int | None = None
    data: Path | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class Unit:
    """A piece of work whose result is kept as soon as it is there.

    Attributes
    ----------
    label : str
        For people.
    settings : mapping
        All that the result depends on, apart from the library; it names the file that keeps the result.
    cost : float
        About how many seconds it takes, for the time left.
    work : callable
        Returns the result as JSON holds it.
    needs : tuple of int
        Places of earlier units of the experiment, whose results ``work`` takes in this order.
    """

    label: str
    settings: Mapping[str, Any]
    cost: float
    work: Callable[..., Results]
    needs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One section of the paper.

    Attributes
    ----------
    name, title : str
    check : callable
        Takes the options and raises what would otherwise be found hours later.
    units : callable
        Takes the options, returns the work.
    collect : callable
        Takes the options and the results of the units in their order, returns the numbers.
    draw : callable
        Takes the numbers and a folder, writes the figures.
    section : callable
        Takes the numbers, returns the section of the page. Every sentence about results is made from them.
    """

    name: str
    title: str
    check: Callable[[Options], None]
    units: Callable[[Options], list[Unit]]
    collect: Callable[[Options, list[Results]], Results]
    draw: Callable[[Results, Path], None]
    section: Callable[[Results], Section]


def seeds_of(n: int, *key: int | str) -> list[int]:
    """Return ``n`` seeds that belong to ``key``, unrelated to those of any other key.

    Examples
    --------
    >>> seeds_of(2, 2026, "dropout") == seeds_of(3, 2026, "dropout")[:2]
    True
    """
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    drawn = np.random.RandomState(np.frombuffer(digest, np.uint32).tolist()).randint(2**31 - 1, size=n)
    return [int(seed) for seed in drawn]


def parameters(estimator: Any) -> Results:
    """Return an estimator's parameters as a file can hold them.

    Examples
    --------
    >>> from fuzzymil.estimators import MIANFISClassifier
    >>> parameters(MIANFISClassifier(4))["n_rules"]
    4
    """
    found = estimator.get_params()
    return {name: asdict(value) if isinstance(value, Variant) else value for name, value in found.items()}


def rounded(values: Array, digits: int = 6) -> list[Any]:
    """Return an array as nested lists for a file, NaN as None.

    Examples
    --------
    >>> rounded(np.array([0.12345678, np.nan]))
    [0.123457, None]
    """
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [round(float(value), digits) if np.isfinite(value) else None for value in values]
