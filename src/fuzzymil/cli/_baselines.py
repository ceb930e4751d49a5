"""Methods that ``fuzzymil evaluate --compare`` can compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fuzzymil._utils.errors import known_name
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import bag_statistics
from fuzzymil.comparators import COMPARATORS, EmbeddingForest, PositiveClass, standardized
from fuzzymil.estimators import NaiveMIL, PerInstance

FOREST = EmbeddingForest.__name__
"""The method to compare with by default: quick, and hard to beat. For regression, a forest of regression trees."""

TREES = 100  # a third of the comparator's default: quick, and hardly less accurate

NONE = "none"
"""The name for no method at all."""


def baseline_names(*, classes: bool) -> dict[str, str]:
    """Return the name of each method and its title; comparators are listed by class name."""
    if not classes:
        return {"mean": "mean of the labels", "naive": "NaiveMIL(Ridge)", FOREST: FOREST}
    simple = {"majority": "majority class", "naive": "NaiveMIL(LogisticRegression)"}
    return simple | {name: name for name in COMPARATORS}


def baseline(name: str, bags: Bags, seed: int, *, classes: bool, pos_label: Any = None) -> Any:
    """Return a method by its name, ready for these bags.

    All but the trivial ones standardize the features. Missing values are replaced by the median of the feature, since
    most methods cannot handle them. Methods for two classes decide about more by one model per class; they look for
    the class ``pos_label``, by default the one that sorts last.
    """
    known_name("method", name, [*baseline_names(classes=classes), NONE], "to compare with")
    if name in ("majority", "mean"):
        return DummyClassifier(strategy="most_frequent") if classes else DummyRegressor()
    method: Any
    if name == "naive":
        method = NaiveMIL(LogisticRegression(max_iter=1000), pool="max") if classes else NaiveMIL(Ridge(), pool="mean")
    elif not classes:
        method = RandomForestRegressor(TREES)
    else:
        method = EmbeddingForest(TREES) if name == FOREST else COMPARATORS[name]()
    if "random_state" in method.get_params():
        method.set_params(random_state=seed)
    if name in COMPARATORS and classes:
        if len(np.unique(np.asarray(bags.labels))) > 2:
            method = OneVsRestClassifier(method)
        elif pos_label is not None:
            method = PositiveClass(method, pos_label)
    if name == FOREST and not classes:
        method = make_pipeline(FunctionTransformer(bag_statistics), method)
    model = standardized(method)
    if np.isnan(bags.instances).any():
        medians = SimpleImputer(strategy="median", keep_empty_features=True)
        model = Pipeline([("impute", PerInstance(medians)), *model.steps])
    return model
