"""The facts of an explanation, without their words."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from fuzzymil.explain.coverage import Unusual
from fuzzymil.explain.joined import JoinedSet
from fuzzymil.explain.parts import Counterfactual, RuleExplanation


@dataclasses.dataclass(frozen=True, repr=False)
class Facts:
    """What `fuzzymil.explain.Explanation` holds; see there."""

    bag: Any
    n_instances: int
    feature_names: tuple[str, ...]
    outputs: tuple[str, ...]
    output: tuple[float, ...]
    prediction: Any
    classes: tuple[Any, ...] | None
    probability: tuple[float, ...] | None
    target: int
    threshold: float
    score: float
    scale: str
    baseline: float
    log_firing: float
    coverage: float | None
    unusual: Unusual | None
    additive: bool
    uncovered: tuple[int, ...]
    default: tuple[float, ...] | None
    n_estimators: int
    centered: bool
    rules: tuple[RuleExplanation, ...]
    counterfactuals: tuple[Counterfactual, ...]
    joined: JoinedSet | None = None

    @property
    def firing(self) -> float:
        """Greatest firing strength of any rule."""
        return math.exp(self.log_firing)

    @property
    def is_uncovered(self) -> bool:
        """Whether no rule fires, so that the output is the default."""
        return len(self.uncovered) == self.n_estimators

    def without(self, instance: int) -> Counterfactual | None:
        """Return the counterfactual without an instance, or None if it is not the witness of a rule."""
        return next((found for found in self.counterfactuals if found.instance == instance), None)
