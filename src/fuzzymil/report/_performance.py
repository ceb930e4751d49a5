"""Performance of the model, cross-validated or as it is; ``templates/performance.html`` shows it."""

from __future__ import annotations

import dataclasses
import enum
import functools
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    r2_score,
    recall_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil._utils.statistics import area_under_roc, brier_score, ranking_scores
from fuzzymil.estimators import Fold as TrainedFold
from fuzzymil.estimators import cross_validate, splitter
from fuzzymil.plots import FAINT, ReliabilityDisplay, RocDisplay
from fuzzymil.plots.style import as_written, bare, figure_bytes
from fuzzymil.report._answers import Answers
from fuzzymil.rules import RuleBase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Basis(enum.Enum):
    """Which models were measured, and on what."""

    REFITTED = "models trained on the other folds"
    UNSEEN = "this model, on bags that it was not trained on"
    SEEN = "this model, on bags that it may have been trained on"


_COLUMNS = {Basis.REFITTED: "cross-validated", Basis.UNSEEN: "this model", Basis.SEEN: "this model, on these bags"}


@dataclasses.dataclass(frozen=True)
class Groups:
    """What bags (n_bags,) belong to, such as a person, and its column: bags of one group stay in one fold."""

    of_bags: Array
    name: str = ""

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(np.unique(self.of_bags))


@dataclasses.dataclass(frozen=True)
class Fold:
    """Predictions for some bags.

    The ``scores`` (n_bags,) or (n_bags, n_classes) are what ROC curves of a classifier rank bags by, see
    `ranking_scores`; of two classes, for the second. The ``probabilities`` are of shape (n_bags, n_classes).
    """

    truth: Array
    predicted: Array
    scores: Array | None
    probabilities: Array | None = None


@dataclasses.dataclass(frozen=True)
class Performance:
    """Predictions and true labels, by fold: a single one with all bags if there are too few for more.

    Curves are about ``positive``; None means the positive class.
    """

    basis: Basis
    folds: tuple[Fold, ...]
    classes: tuple[Any, ...] | None
    outputs: tuple[str, ...]
    positive: Any = None
    groups: Groups | None = None

    @property
    def column(self) -> str:
        """Heading of the measures in a table."""
        return _COLUMNS[self.basis]

    @property
    def n_bags(self) -> int:
        """Number of bags in all folds."""
        return sum(len(fold.truth) for fold in self.folds)

    @functools.cached_property
    def measures(self) -> dict[str, Array]:
        """Each measure's value on the folds that it is defined on; the one to quote comes first."""
        by_fold = [
            self._of_classes(fold) if self.classes is not None else self._of_numbers(fold) for fold in self.folds
        ]
        names = dict.fromkeys(name for each in by_fold for name in each)
        return {name: np.array([each[name] for each in by_fold if name in each]) for name in names}

    @property
    def confusion(self) -> Array:
        """Confusion matrix over all folds, shape (n_classes, n_classes): true classes by predicted classes."""
        assert self.classes is not None
        truth, predicted = self._joined()
        return np.asarray(confusion_matrix(truth, predicted, labels=list(self.classes)))

    @property
    def _has_area(self) -> bool:
        return any(name.startswith("Area") for name in self.measures)

    def roc_curve(self) -> bytes | None:
        """Draw ROC curves: for the positive one of two classes, or for each of several classes against the rest."""
        if self.classes is None or not self._has_area:
            return None
        known = [fold for fold in self.folds if self._has_all_classes(fold)]
        pairs = [(fold.truth, fold.scores) for fold in known if fold.scores is not None]
        return figure_svg(RocDisplay.from_classes(pairs, self.classes, pos_label=self.positive).plot)

    def reliability(self) -> bytes | None:
        """Draw the reliability of the probabilities: of the positive one of two classes, or of each of several."""
        pairs = [(fold.truth, fold.probabilities) for fold in self.folds if fold.probabilities is not None]
        if self.classes is None or not (pairs and self._has_area):
            return None
        return figure_svg(ReliabilityDisplay.from_classes(pairs, self.classes, pos_label=self.positive).plot)

    @property
    def about(self) -> Any:
        """The class that the curves are about."""
        return self.positive if self.positive is not None or self.classes is None else self.classes[-1]

    def agreement(self) -> list[tuple[str, bytes]]:
        """Draw predicted against true values of each output, of numbers."""
        if self.classes is not None:
            return []
        truth, predicted = (values.reshape(len(values), -1).T for values in self._joined())
        return [
            (name, figure_svg(functools.partial(_agreement, own, said, name)))
            for name, own, said in zip(self.outputs, truth, predicted, strict=True)
        ]

    def _joined(self) -> tuple[Array, Array]:
        folds = self.folds
        return np.concatenate([fold.truth for fold in folds]), np.concatenate([fold.predicted for fold in folds])

    def _has_all_classes(self, fold: Fold) -> bool:
        return self.classes is not None and len(set(fold.truth.tolist())) == len(self.classes)

    def _of_classes(self, fold: Fold) -> dict[str, float]:
        assert self.classes is not None
        found = {"Accuracy": float(accuracy_score(fold.truth, fold.predicted))}
        if self._has_all_classes(fold):  # others need bags of every class
            found["Balanced accuracy"] = float(recall_score(fold.truth, fold.predicted, average="macro"))
            of_each = "" if len(self.classes) == 2 else ", mean over classes (one against the rest)"
            assert fold.scores is not None
            found[f"Area under the ROC curve{of_each}"] = area_under_roc(fold.truth, fold.scores, self.classes)
        if fold.probabilities is not None:
            extent = "0 is best, 1 worst" if len(self.classes) == 2 else "summed over classes; 0 is best, 2 worst"
            name = f"Brier score of the probabilities ({extent})"
            found[name] = brier_score(fold.truth, fold.probabilities, self.classes)
        return found

    def _of_numbers(self, fold: Fold) -> dict[str, float]:
        truth, predicted = (values.reshape(len(values), -1) for values in (fold.truth, fold.predicted))
        several = truth.shape[1] > 1
        return {
            name + (f" of {self.outputs[k]}" if several else ""): float(measure(truth[:, k], predicted[:, k]))
            for k in range(truth.shape[1])
            for name, measure in _OF_NUMBERS.items()
            if len(truth) > 1 or measure is not r2_score
        }


_OF_NUMBERS: Mapping[str, Any] = {
    "Coefficient of determination (R²)": r2_score,
    "Mean absolute error": mean_absolute_error,
    "Root mean squared error": root_mean_squared_error,
}


def _agreement(truth: Array, predicted: Array, name: str) -> Figure:
    """Draw predicted against true values, shape (n_bags,), with the line on which they agree."""
    both = np.concatenate([truth, predicted])
    margin = 0.04 * (float(np.ptp(both)) or 1.0)
    ends = (float(both.min()) - margin, float(both.max()) + margin)
    figure, axis = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    axis.plot(ends, ends, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    axis.scatter(truth, predicted, s=16, color="#4A5560", alpha=0.75, linewidths=0)
    axis.set(xlim=ends, ylim=ends)
    axis.set_box_aspect(1)
    axis.set_xlabel(as_written(f"{name}, true"), fontsize=9)
    axis.set_ylabel(as_written(f"{name}, predicted"), fontsize=9)
    bare(axis)
    return figure


def figure_svg(plot: Callable[[], Figure]) -> bytes:
    """Draw a figure as SVG, and close it."""
    figure = plot()
    content = figure_bytes(figure, ".svg")
    plt.close(figure)
    return content


# ---------------------------------------------------------------------- measuring


def measure_model(
    answers: Answers, n_folds: int, random_state: Any, *, seen: bool, groups: Groups | None = None
) -> Performance:
    """Measure the model as it is, which may have ``seen`` the bags; the folds only show how much the numbers vary."""
    assert answers.truth is not None
    classifies, likely = answers.classes is not None, answers.reading.probability
    decisions = _about_second(answers, answers.model._decision(answers.output)) if classifies else None
    probabilities = likely(answers.output) if classifies and likely is not None else None
    scores = ranking_scores(decisions, probabilities)
    splits = _splits(answers, n_folds, check_random_state(random_state), groups)
    parts = [test for _, test in splits] or [np.arange(answers.bags.n_bags)]
    folds = tuple(
        Fold(
            answers.truth[part],
            answers.predictions[part],
            None if scores is None else scores[part],
            None if probabilities is None else probabilities[part],
        )
        for part in parts
    )
    basis = Basis.SEEN if seen else Basis.UNSEEN
    return Performance(basis, folds, answers.classes, answers.rules.output_names, groups=groups)


def cross_validate_model(
    answers: Answers, n_folds: int, random_state: Any, groups: Groups | None = None
) -> tuple[Performance, list[TrainedFold]] | None:
    """Train models with the same parameters on all folds but one, and measure each on the fold left out.

    Folds are stratified by class. Return the predictions and the models, or None if the rules were edited after
    training, or if there are too few bags.
    """
    start = getattr(answers.model, "init", None)
    edited = getattr(answers.model, "_edited", False) or (isinstance(start, RuleBase) and start == answers.rules)
    if edited:  # as `with_rules` leaves it: models of the folds would have other rules, or would have seen their bags
        return None
    rng = check_random_state(random_state)
    splits = _splits(answers, n_folds, rng, groups)
    if not splits:
        return None
    own = isinstance(getattr(answers.model, "random_state", None), numbers.Integral)  # then as in `fuzzymil evaluate`
    seeds = None if own else rng.randint(2**31 - 1, size=len(splits)).tolist()
    (found,) = cross_validate([answers.model], answers.bags, answers.truth, cv=splits, seeds=seeds, n_jobs="auto")
    folds = tuple(_read(answers, fold) for fold in found)
    return Performance(Basis.REFITTED, folds, answers.classes, answers.rules.output_names, groups=groups), found


def _read(answers: Answers, fold: TrainedFold) -> Fold:
    """Return the predictions of a model that was trained on the other folds."""
    if answers.classes is None:
        return Fold(fold.truth, fold.predictions, None, None)
    decisions = None if fold.decisions is None else _about_second(answers, fold.decisions)
    probabilities = None if fold.probabilities is None else fold.probabilities[:, _order(answers)]
    return Fold(fold.truth, fold.predictions, ranking_scores(decisions, probabilities), probabilities)


def _order(answers: Answers) -> list[int]:
    """Return the places in the model's own list of the classes, in which the positive one comes last."""
    own = np.asarray(answers.model.classes_).tolist()
    return [own.index(name) for name in answers.classes or ()]


def _about_second(answers: Answers, decisions: Array) -> Array:
    """Return decision values of a model, of two classes for the second in the report's order."""
    return -decisions if _order(answers) == [1, 0] else decisions


def _splits(answers: Answers, n_folds: int, rng: Any, groups: Groups | None = None) -> Sequence[tuple[Array, Array]]:
    """Return training and test bags of each fold; none if there are too few bags, or groups, for two folds."""
    assert answers.truth is not None
    n_bags, classifies = answers.bags.n_bags, answers.classes is not None
    units = np.arange(n_bags) if groups is None else groups.of_bags
    if classifies:
        _, strata = np.unique(answers.truth, return_inverse=True)
        counts = [len(np.unique(units[strata == k])) for k in range(strata.max() + 1)]
        possible = min(n_folds, *counts) if len(counts) > 1 else 0
    else:
        strata = np.zeros(n_bags, int)
        possible = min(n_folds, n_bags // 2 if groups is None else groups.count)  # R² needs two bags in a fold
    if possible < 2:
        return []
    if groups is None:
        kind = StratifiedKFold if classifies else KFold
        return list(kind(possible, shuffle=True, random_state=rng).split(np.zeros(n_bags), strata))
    cv = splitter(possible, strata, units, classifies=classifies, random_state=rng)  # as `fuzzymil evaluate` does
    found = list(cv.split(np.zeros(n_bags), strata, units))
    if any(len(np.unique(strata[train])) < strata.max() + 1 for train, _ in found):
        raise InputError(
            f"With {possible} folds that keep the {groups.count} groups together, a class would have no training bags: "
            "use fewer folds, or leave out the groups."
        )
    return found
