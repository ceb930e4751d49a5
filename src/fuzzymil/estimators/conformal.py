"""Sets of answers that are right as often as was asked for, by split conformal prediction.

Bags that the model was not fitted on say how wrong it is: the nonconformity of a bag and an answer is one minus the
probability of a class, or the distance from a number. An answer belongs to the set of a new bag unless it is less
conforming than nearly all of those bags with their true answers.

V. Vovk, A. Gammerman and G. Shafer, *Algorithmic Learning in a Random World* (2005), chapters 2 and 4.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, data_frame
from fuzzymil._utils.errors import InputError, ParameterError, described, listed, warn_user
from fuzzymil._utils.text import quantity


@dataclasses.dataclass(frozen=True, eq=False)
class Conformity:
    """How well a model's answers conform with the true ones of bags that it was not fitted on.

    Attributes
    ----------
    scores : array of shape (n_bags,)
        One minus the probability of the true class; of numbers, the distance of the prediction.
    classes : array of int, shape (n_bags,)
        Positions of the true classes; zeros for numbers.
    """

    scores: Array
    classes: Array

    @classmethod
    def of(cls, answers: Array, truth: Array, labels: Array | None) -> Conformity:
        """Compare probabilities (n_bags, n_classes) or numbers (n_bags,) with true labels; ``labels``: all classes."""
        if labels is None:
            return cls(np.abs(answers - truth.astype(float)), np.zeros(len(truth), int))
        unknown = ~np.isin(truth, labels)
        if unknown.any():
            raise InputError(f"The label {truth[np.argmax(unknown)]!s} is no class of the model: {listed(labels)}.")
        places = np.searchsorted(labels, truth)
        return cls(1.0 - answers[np.arange(len(truth)), places], places)

    def of_class(self, place: int, *, by_class: bool) -> Array:
        """Return the scores that an answer is compared with: those of its class, or all."""
        return self.scores[self.classes == place] if by_class else self.scores

    def p_values(self, answers: Array, *, by_class: bool) -> Array:
        """Return for each class the share of bags that conform no better, the new one included, (n_bags, n_classes)."""
        columns = []
        for place, likely in enumerate(answers.T):
            known = np.sort(self.of_class(place, by_class=by_class))
            n_worse = len(known) - np.searchsorted(known, 1.0 - likely, side="left")
            columns.append((1 + n_worse) / (1 + len(known)))
        return np.column_stack(columns)

    def radius(self, confidence: float) -> float:
        """Return how far from a prediction the true number is at most, as often as was asked for."""
        n = len(self.scores)
        place = math.ceil((n + 1) * confidence - 1e-9)  # 0.9 * 10 is 9, not the 10 of rounding errors
        return float(np.sort(self.scores)[place - 1]) if place <= n else math.inf


@dataclasses.dataclass(frozen=True, kw_only=True)
class PredictionSets:
    """For each bag, the answers that cannot be excluded.

    Attributes
    ----------
    ids : array of shape (n_bags,)
        Ids of the bags.
    confidence : float
        How often the true answer is in the set, at least.
    by_class : bool
        Whether this holds for the bags of every class.
    n_calibration : int
        Number of bags by which the model was calibrated.
    classes : array of shape (n_classes,), or None
        All classes; None for numbers.
    included : array of bool, shape (n_bags, n_classes), or None
        Which classes are in the sets.
    p_values : array of shape (n_bags, n_classes), or None
        The greatest doubt, 1 - confidence, with which a class would still be included.
    low, high : arrays of shape (n_bags,), or None
        The ends of the intervals of numbers.
    """

    ids: Array
    confidence: float
    by_class: bool
    n_calibration: int
    classes: Array | None = None
    included: Array | None = None
    p_values: Array | None = None
    low: Array | None = None
    high: Array | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sets(self) -> list[list[Any]] | list[tuple[float, float]]:
        """The classes in the set of each bag, or the ends of its interval."""
        if self.included is None or self.classes is None:
            assert self.low is not None
            assert self.high is not None
            return list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        return [self.classes[row].tolist() for row in self.included]

    @property
    def labels(self) -> list[Any]:
        """The class of each bag whose set has a single one; None where the model abstains."""
        if self.included is None:
            raise InputError("Numbers have intervals, not labels: use low and high.")
        return [found[0] if len(found) == 1 else None for found in self.sets]

    @property
    def guarantee(self) -> str:
        """What is guaranteed, and on which condition."""
        whose = "new bags of every class" if self.by_class else "new bags"
        return (
            f"At least {self.confidence:.4g} of {whose} have their true answer in the set, on average over draws of "
            f"the {quantity(self.n_calibration, 'calibration bag')}. This holds for any model, if new bags come about "
            "as those did: not for other places and times, and not for the bags of the fit."
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per bag: its id, set and p-values, or the ends of its interval."""
        if self.classes is None or self.p_values is None:
            return data_frame("pandas", {"bag": self.ids, "low": self.low, "high": self.high})
        columns: dict[str, Any] = {"bag": self.ids, "set": [" or ".join(map(str, found)) for found in self.sets]}
        of_classes = zip(self.classes.tolist(), self.p_values.T, strict=True)
        return data_frame("pandas", columns | {f"p_value_{name}": values for name, values in of_classes})

    def __str__(self) -> str:
        if self.included is None:
            return f"{quantity(len(self), 'interval')}. {self.guarantee}"
        sizes = self.included.sum(axis=1)
        counts = f"{int((sizes == 1).sum())} with one class, {int((sizes > 1).sum())} with several, "
        return f"Sets of {quantity(len(self), 'bag')}: {counts}{int((sizes == 0).sum())} empty. {self.guarantee}"


def prediction_sets(
    conformity: Conformity, answers: Array, ids: Array, classes: Array | None, confidence: Any, *, by_class: bool
) -> PredictionSets:
    """Return the sets of bags with probabilities (n_bags, n_classes) or numbers (n_bags,)."""
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ParameterError(f"confidence must be between 0 and 1, such as 0.9, got {described(confidence)}.")
    doubt = round(1.0 - confidence, 9)  # 1 - 0.9 is a little less than 0.1
    known: dict[str, Any] = {"ids": ids, "confidence": confidence, "by_class": by_class}
    known["n_calibration"] = len(conformity.scores)
    if classes is None:
        if by_class:
            raise ParameterError("by_class is for classes, but this model predicts numbers.")
        radius = conformity.radius(confidence)
        if math.isinf(radius):
            _warn_of_few("Intervals are infinite", conformity.scores, confidence)
        return PredictionSets(**known, low=answers - radius, high=answers + radius)
    scores = [conformity.of_class(place, by_class=by_class) for place in range(len(classes))]
    always = [place for place, each in enumerate(scores) if 1 / (1 + len(each)) > doubt]
    if always:
        few = scores[always[0]]
        named = "All classes are" if len(always) == len(classes) else f"{listed(classes[always])} is"
        _warn_of_few(f"{named} in every set", few, confidence)
    p_values = conformity.p_values(answers, by_class=by_class)
    return PredictionSets(**known, classes=classes, included=p_values > doubt, p_values=p_values)


def _warn_of_few(what: str, scores: Array, confidence: float) -> None:
    needed = math.ceil(1 / (1 - confidence) - 1e-9) - 1
    bags = quantity(needed, "calibration bag")
    warn_user(f"{what}: a confidence of {confidence:.4g} needs at least {bags}, but there are {len(scores)}.")
