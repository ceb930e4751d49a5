"""The methods of the comparison, and the parameters each may tune inside a training fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzzymil.comparators import COMPARATORS
from fuzzymil.estimators import ANFISClassifier, NaiveMIL, RuleClassifier
from fuzzymil.experiments._published import QUOTED
from fuzzymil.experiments._recipe import normalized_rules

__all__ = ["MEMBERS", "NORMALIZED", "OWN", "Contestant", "Grid", "contestants"]

Grid = Mapping[str, list[Any]]

OWN = "MI-ANFIS"
"""The method that all others are compared with: the library's default, one rule base."""

MEMBERS = f"{OWN}, 10 members"
NORMALIZED = f"{OWN}, normalized rules"

_RULES: Grid = {"n_rules": [4, 10]}
_NAIVE_RULES: Grid = {f"estimator__{name}": values for name, values in _RULES.items()}


@dataclass(frozen=True)
class Contestant:
    """A method in the comparison."""

    estimator: Any
    grid: Grid = field(default_factory=dict)  # parameters to choose from by cross-validation on the training bags
    cost: float = 0.2  # processor seconds per fit on MUSK 1: the longest start first
    scales: bool = False  # whether the estimator standardizes and clips features by itself


_NAIVE = ANFISClassifier()
_NETWORKS: dict[str, Contestant] = {
    # No grid: by default, penalty, widths and kinds of rules are already chosen inside the training bags.
    OWN: Contestant(RuleClassifier(), cost=1.0, scales=True),
    MEMBERS: Contestant(RuleClassifier(n_estimators=10), cost=10.0, scales=True),
    NORMALIZED: Contestant(normalized_rules(), _RULES, cost=0.2, scales=True),
    "Naive-ANFIS, maximum": Contestant(NaiveMIL(_NAIVE, pool="max"), _NAIVE_RULES, cost=0.2, scales=True),
    "Naive-ANFIS, mean": Contestant(NaiveMIL(_NAIVE, pool="mean"), _NAIVE_RULES, cost=0.2, scales=True),
}


def contestants() -> dict[str, Contestant]:
    """Return all methods by name: those of the paper's table in its order, then the others.

    Every class in `fuzzymil.comparators.COMPARATORS` takes part.
    """
    others = {kind.title: Contestant(kind(), kind.search_grid, cost=kind.fit_seconds) for kind in COMPARATORS.values()}
    every = _NETWORKS | others
    return {name: every[name] for name in QUOTED if name in every} | every
