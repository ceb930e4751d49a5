"""The methods of the comparison, and the parameters each may tune inside a training fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzzymil.comparators import COMPARATORS
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier, NaiveMIL, Variant
from fuzzymil.experiments._published import QUOTED

__all__ = ["OWN", "Contestant", "Grid", "contestants"]

Grid = Mapping[str, list[Any]]

OWN = "MI-ANFIS"
"""The method that all others are compared with."""

_RULES: Grid = {"n_rules": [4, 10]}
_NAIVE_RULES: Grid = {f"estimator__{name}": values for name, values in _RULES.items()}


@dataclass(frozen=True)
class Contestant:
    """A method in the comparison.

    Attributes
    ----------
    estimator : classifier of bags
        Trained on features standardized by the training fold.
    grid : mapping of str to list
        Parameters to choose from by cross-validation on the training bags; empty for none.
    grids : mapping of str to grid
        Smaller grids for single datasets, to save time.
    cost : float
        Processor seconds per fit on MUSK 1, for the estimate of the remaining time.
    """

    estimator: Any
    grid: Grid = field(default_factory=dict)
    grids: Mapping[str, Grid] = field(default_factory=dict)
    cost: float = 0.2

    def grid_for(self, name: str) -> Grid:
        """Return the parameters to choose from on a dataset."""
        return self.grids.get(name, self.grid)


_NETWORKS: dict[str, Contestant] = {
    OWN: Contestant(MIANFISClassifier(), _RULES, cost=0.18),
    # By default the library's estimators clip values at three standard deviations; this one sees what the others see.
    "MI-ANFIS, not clipped": Contestant(MIANFISClassifier(variant=Variant(clip=None)), _RULES, cost=0.18),
    "MI-ANFIS, 10 members": Contestant(MIANFISClassifier(n_estimators=10), cost=0.94),
    "Naive-ANFIS, maximum": Contestant(NaiveMIL(ANFISClassifier(), pool="max"), _NAIVE_RULES, cost=0.18),
    "Naive-ANFIS, mean": Contestant(NaiveMIL(ANFISClassifier(), pool="mean"), _NAIVE_RULES, cost=0.17),
}


# Annealing takes many fits: the whole grid on the thousands of instances of MUSK 2 would take half an hour.
_SMALLER: dict[str, dict[str, Grid]] = {"ALP-SVM": {"musk2": {"gamma": ["scale", 0.02]}}}


def contestants() -> dict[str, Contestant]:
    """Return all methods by name: those of the paper's table in its order, then the others.

    Every class in `fuzzymil.comparators.COMPARATORS` takes part.
    """
    others = {
        kind.title: Contestant(kind(), kind.search_grid, _SMALLER.get(kind.title, {}), kind.fit_seconds)
        for kind in COMPARATORS.values()
    }
    every = _NETWORKS | others
    return {name: every[name] for name in QUOTED if name in every} | every
