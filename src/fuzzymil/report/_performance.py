"""How good the rules are: measured on folds, by models that did not see them, or by the model as it is."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.estimators import Network, fit_together
from fuzzymil.report._predictions import Answers
from fuzzymil.rules import RuleBase

__all__ = ["Basis", "Fold", "Performance", "measured", "refitted"]


class Basis(enum.Enum):
    """Which models were measured, and what they had seen."""

    REFITTED = "models learned anew without the fold"
    UNSEEN = "this model, on bags it was not trained on"
    SEEN = "this model, on bags it may have been trained on"


@dataclasses.dataclass(frozen=True)
class Fold:
    """Some bags and what was said about them.

    Attributes
    ----------
    truth, predicted : arrays of shape (n_bags,), or (n_bags, n_outputs) of numbers
    scores : array of shape (n_bags,) or (n_bags, n_classes), or None
        Decision values of a classifier.
    """

    truth: Array
    predicted: Array
    scores: Array | None


@dataclasses.dataclass(frozen=True)
class Performance:
    """Predictions beside the truth, in folds.

    Attributes
    ----------
    basis : Basis
    folds : tuple of Fold
        One that holds all bags, where there are too few for more.
    classes : tuple or None
        Of a classifier.
    outputs : tuple of str
        Names of what is predicted.

    Examples
    --------
    >>> fold = Fold(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), np.array([-1.0, 2.0, -0.5, -0.1]))
    >>> found = Performance(Basis.UNSEEN, (fold,), (0, 1), ("y",))
    >>> {name: values.tolist() for name, values in found.measures.items()}
    {'Accuracy': [0.75], 'Balanced accuracy': [0.75], 'Area under the ROC curve': [0.75]}
    >>> found.confusion.tolist()
    [[2, 0], [1, 1]]
    """

    basis: Basis
    folds: tuple[Fold, ...]
    classes: tuple[Any, ...] | None
    outputs: tuple[str, ...]

    @property
    def n_bags(self) -> int:
        """Number of bags in all folds."""
        return sum(len(fold.truth) for fold in self.folds)

    @property
    def measures(self) -> dict[str, Array]:
        """Of each measure its value on each fold, shape (n_folds,); the one to quote first."""
        by_fold = [
            self._classes_of(fold) if self.classes is not None else self._numbers_of(fold) for fold in self.folds
        ]
        return {name: np.array([each[name] for each in by_fold]) for name in by_fold[0]}

    @property
    def confusion(self) -> Array:
        """Bags of each class (rows) that were taken for each class (columns), all folds together."""
        assert self.classes is not None
        truth, predicted = (np.concatenate([getattr(f, name) for f in self.folds]) for name in ("truth", "predicted"))
        return np.asarray(confusion_matrix(truth, predicted, labels=list(self.classes)))

    def curves(self) -> dict[str, list[tuple[Array, Array]]]:
        """Return what ROC curves are drawn from: of two classes for the second, of more for each against the rest."""
        assert self.classes is not None
        if len(self.classes) == 2:
            return {str(self.classes[1]): [(f.truth == self.classes[1], self._scores(f)) for f in self.folds]}
        return {
            str(label): [(f.truth == label, self._scores(f)[:, k]) for f in self.folds]
            for k, label in enumerate(self.classes)
        }

    def _classes_of(self, fold: Fold) -> dict[str, float]:
        assert self.classes is not None
        found = {"Accuracy": float(accuracy_score(fold.truth, fold.predicted))}
        if len(set(fold.truth.tolist())) < len(self.classes):
            return found  # the others need bags of every class
        found["Balanced accuracy"] = float(recall_score(fold.truth, fold.predicted, average="macro"))
        scores = self._scores(fold)
        if scores.ndim == 1:
            area = roc_auc_score(fold.truth == self.classes[1], scores)
        else:
            area = np.mean([roc_auc_score(fold.truth == label, scores[:, k]) for k, label in enumerate(self.classes)])
        name = "Area under the ROC curve" + ("" if len(self.classes) == 2 else ", mean of each class against the rest")
        return found | {name: float(area)}

    def _numbers_of(self, fold: Fold) -> dict[str, float]:
        truth, said = (values.reshape(len(values), -1) for values in (fold.truth, fold.predicted))
        several = truth.shape[1] > 1
        return {
            name + (f" of {self.outputs[k]}" if several else ""): float(measure(truth[:, k], said[:, k]))
            for k in range(truth.shape[1])
            for name, measure in _OF_NUMBERS.items()
            if len(truth) > 1 or measure is not r2_score
        }

    @staticmethod
    def _scores(fold: Fold) -> Array:
        assert fold.scores is not None
        return fold.scores


_OF_NUMBERS: Mapping[str, Any] = {
    "Coefficient of determination (R²)": r2_score,
    "Mean absolute error": mean_absolute_error,
    "Root mean squared error": root_mean_squared_error,
}


def measured(answers: Answers, n_folds: int, random_state: Any, *, seen: bool) -> Performance:
    """Measure a model as it is; folds only tell how much the numbers vary.

    Parameters
    ----------
    answers : Answers
        With a truth.
    n_folds : int
        At most; fewer where a class has fewer bags.
    random_state : int, RandomState or None
    seen : bool
        Whether the model may have been trained on these bags.
    """
    assert answers.truth is not None
    rng = check_random_state(random_state)
    scores = None if answers.classes is None else answers.model._decision(answers.output)
    parts = [outside for _, outside in _splits(answers, n_folds, rng)] or [np.arange(answers.bags.n_bags)]
    folds = tuple(
        Fold(answers.truth[part], answers.predictions[part], None if scores is None else scores[part]) for part in parts
    )
    return Performance(Basis.SEEN if seen else Basis.UNSEEN, folds, answers.classes, answers.rules.outputs)


def refitted(answers: Answers, n_folds: int, random_state: Any) -> Performance | None:
    """Cross-validate: measure models of the same settings, each learned without the bags of its fold.

    Parameters
    ----------
    answers : Answers
        With a truth.
    n_folds : int
        At most; fewer where a class has fewer bags. They are stratified by class.
    random_state : int, RandomState or None
        Makes the folds and the seeds of their models.

    Returns
    -------
    Performance or None
        None where models cannot be learned anew: rules that nobody trained, rules that were changed by hand after
        training, or too few bags.
    """
    model, truth = answers.model, answers.truth
    assert truth is not None
    if not isinstance(model, Network) or _changed_by_hand(model):
        return None
    rng = check_random_state(random_state)
    splits = _splits(answers, n_folds, rng)
    if not splits:
        return None
    seeds = rng.randint(2**31 - 1, size=len(splits)).tolist()
    models = fit_together(
        [clone(model).set_params(random_state=seed) for seed in seeds],
        [answers.bags[inside] for inside, _ in splits],
        [truth[inside] for inside, _ in splits],
    )
    folds = []
    for learned, (_, outside) in zip(models, splits, strict=True):
        left_out = answers.bags[outside]
        scores = None if answers.classes is None else learned.decision_function(left_out)
        folds.append(Fold(truth[outside], learned.predict(left_out), scores))
    return Performance(Basis.REFITTED, tuple(folds), answers.classes, answers.rules.outputs)


def _changed_by_hand(model: Network) -> bool:
    """Tell whether the model starts from its own rules, as `with_rules` leaves it: learning them anew would cheat."""
    start = getattr(model, "init", None)
    return isinstance(start, RuleBase) and start == model.members_[0]


def _splits(answers: Answers, n_folds: int, rng: Any) -> Sequence[tuple[Array, Array]]:
    """Return training and test bags of each fold; nothing where there are too few bags for two."""
    assert answers.truth is not None
    n_bags = answers.bags.n_bags
    if answers.classes is None:
        possible = min(n_folds, n_bags // 2)  # of one bag alone R² is not defined
        kind = KFold
        groups = np.zeros(n_bags, int)
    else:
        _, groups, counts = np.unique(answers.truth, return_inverse=True, return_counts=True)
        possible = min(n_folds, int(counts.min())) if len(counts) > 1 else 0
        kind = StratifiedKFold
    if possible < 2:
        return []
    return list(kind(possible, shuffle=True, random_state=rng).split(np.zeros(n_bags), groups))
