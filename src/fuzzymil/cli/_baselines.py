"""Methods that ``fuzzymil evaluate --compare`` can compare with."""

from __future__ import annotations

from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.errors import known_name
from fuzzymil.comparators import COMPARATORS
from fuzzymil.estimators import NaiveMIL, PerInstance


def baseline_names(*, classes: bool) -> dict[str, str]:
    """Return the name of each method and its title; comparators are listed by class name."""
    if not classes:
        return {"mean": "mean of the labels", "naive": "NaiveMIL(Ridge)"}
    simple = {"majority": "majority class", "naive": "NaiveMIL(LogisticRegression)"}
    return simple | {name: name for name in COMPARATORS}


def baseline(name: str, seed: int, *, classes: bool) -> Any:
    """Return a method by its name; all but the trivial ones standardize the features.

    Examples
    --------
    >>> baseline("MISVM", 0, classes=True)[-1]
    MISVM()
    """
    known_name("method", name, baseline_names(classes=classes), "to compare with")
    if name in ("majority", "mean"):
        return DummyClassifier(strategy="most_frequent") if classes else DummyRegressor()
    method: Any
    if name == "naive":
        method = NaiveMIL(LogisticRegression(max_iter=1000), pool="max") if classes else NaiveMIL(Ridge(), pool="mean")
    else:
        method = COMPARATORS[name]()
    if "random_state" in method.get_params():
        method.set_params(random_state=seed)
    return make_pipeline(PerInstance(StandardScaler()), method)
