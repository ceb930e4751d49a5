"""Cross-validation of any estimator on bags: folds, measures, and their mean and spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import known_name
from fuzzymil.estimators import NaiveMIL, PerInstance

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

__all__ = ["baseline", "baseline_names", "folds", "measured", "most_folds", "summary"]


def most_folds(labels: Array, *, classes: bool) -> int:
    """Return into how many folds bags can be divided: each tests every class, or two numbers.

    Examples
    --------
    >>> most_folds(np.array([0, 0, 0, 1, 1]), classes=True)
    2
    """
    if not classes:
        return len(labels) // 2
    return int(np.unique(labels, return_counts=True)[1].min())


def folds(labels: Array, n_folds: int, n_repeats: int, seed: int, *, classes: bool) -> Iterator[tuple[Array, Array]]:
    """Give positions of training and test bags, ``n_folds * n_repeats`` times.

    Examples
    --------
    >>> [len(test) for _, test in folds(np.array([0, 1] * 4), 2, 1, 0, classes=True)]
    [4, 4]
    """
    kind = RepeatedStratifiedKFold if classes else RepeatedKFold
    divided = kind(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    yield from divided.split(np.zeros(len(labels)), labels)


def measured(model: Any, bags: Bags, *, classes: bool) -> dict[str, float]:
    """Return accuracy and AUC of a fitted model on labeled bags; of a regressor, R² and mean absolute error."""
    truth, found = bags.labels, model.predict(bags)
    if not classes:
        return {"R2": float(r2_score(truth, found)), "MAE": float(mean_absolute_error(truth, found))}
    return {"accuracy": float(accuracy_score(truth, found)), "AUC": _auc(model, bags)}


def _auc(model: Any, bags: Bags) -> float:
    """Return the area under the ROC curve; with several classes, the mean of each against the rest."""
    if len(model.classes_) > 2:
        likely = model.predict_proba(bags)
        return float(roc_auc_score(bags.labels, likely, multi_class="ovr", labels=model.classes_))
    scores = model.decision_function(bags) if hasattr(model, "decision_function") else model.predict_proba(bags)[:, 1]
    return float(roc_auc_score(bags.labels == model.classes_[1], scores))


def summary(results: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation and number of each measure.

    Examples
    --------
    >>> summary([{"accuracy": 0.5}, {"accuracy": 1.0}])
    {'accuracy': {'mean': 0.75, 'std': 0.3535533905932738, 'n': 2}}
    """
    return {
        name: {
            "mean": float(np.mean([result[name] for result in results])),
            "std": float(np.std([result[name] for result in results], ddof=1)) if len(results) > 1 else float("nan"),
            "n": len(results),
        }
        for name in (results[0] if results else ())
    }


# ---------------------------------------------------------------------- what to compare with


def baseline_names(*, classes: bool) -> dict[str, str]:
    """Return what can be compared with, and what it is; comparators go by their class names."""
    if not classes:
        return {"mean": "mean of the labels", "naive": "NaiveMIL(Ridge)"}
    from fuzzymil import comparators

    simple = {"majority": "majority class", "naive": "NaiveMIL(LogisticRegression)"}
    return simple | {name: name for name in comparators.__all__}


def baseline(name: str, seed: int, *, classes: bool) -> Any:
    """Return an estimator to compare with, by one of `baseline_names`; all but the trivial see standardized features.

    Examples
    --------
    >>> baseline("MISVM", 0, classes=True)[-1]
    MISVM()
    """
    known_name("method to compare with", name, baseline_names(classes=classes))
    if name in ("majority", "mean"):
        return DummyClassifier(strategy="most_frequent") if classes else DummyRegressor()
    if name == "naive":
        method: Any = NaiveMIL(
            LogisticRegression(max_iter=1000) if classes else Ridge(), pool="max" if classes else "mean"
        )
    else:
        from fuzzymil import comparators

        method = getattr(comparators, name)()
    if "random_state" in method.get_params():
        method.set_params(random_state=seed)
    return make_pipeline(PerInstance(StandardScaler()), clone(method))
