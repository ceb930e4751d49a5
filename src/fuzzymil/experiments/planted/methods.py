"""The methods that are compared on planted problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators import MILES, EmbeddingForest
from fuzzymil.estimators import MIANFISClassifier, PerInstance
from fuzzymil.experiments._experiment import Options

__all__ = ["BOOSTING", "METHODS", "OWN", "Method", "OnStatistics", "methods_at", "model_of", "statistics_of"]

OWN = "MI-ANFIS, default"
"""The method that is compared with the best of all others."""

BOOSTING = "gradient boosting on bag statistics"
"""The strongest of the others where few bags must tell which of many columns count.

Every split chooses among all columns. Among a random part of them, as in a forest, the true one is often missing: in a
trial with 60 bags, accuracy on "unless" was then 86% instead of 99%.
"""


@dataclass(frozen=True)
class Method:
    """A method in the comparison."""

    estimator: Any
    scaled: bool = False  # whether it needs features standardized by the training bags
    probability: Callable[[Array], Array] | None = None  # from decision values, where there is no predict_proba
    rules: bool = False  # whether there are rules to read
    sizes: tuple[int, ...] | None = None  # numbers of training bags at which it is run; None: all
    quick: bool = True  # whether a quick run includes it
    cost: float = 1.0  # processor seconds to fit and measure on 200 bags, for the estimate of the remaining time


def statistics_of(bags: Bags) -> Array:
    """Return the mean, minimum, maximum and standard deviation of each feature in each bag, and the bag's size.

    Examples
    --------
    >>> statistics_of(Bags.from_list([[[1.0], [3.0]], [[5.0]]])).tolist()
    [[2.0, 1.0, 3.0, 1.0, 2.0], [5.0, 5.0, 5.0, 0.0, 1.0]]
    """
    starts, sizes = bags.offsets[:-1], bags.sizes[:, None]
    means = np.add.reduceat(bags.instances, starts) / sizes
    apart = np.square(bags.instances - np.repeat(means, bags.sizes, axis=0))
    deviations = np.sqrt(np.add.reduceat(apart, starts) / sizes)
    ends = [over.reduceat(bags.instances, starts) for over in (np.minimum, np.maximum)]
    return np.hstack([means, *ends, deviations, sizes])


class OnStatistics(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of rows, trained on the standardized `statistics_of` bags.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> bags = Bags.from_list([[[0.0], [9.0]], [[1.0], [8.0]], [[4.0]], [[5.0]]])
    >>> OnStatistics(LogisticRegression()).fit(bags, [1, 1, 0, 0]).decision_function(bags) > 0
    array([ True,  True, False, False])
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Bags, y: Any) -> Self:
        """Fit the classifier to bags and their labels."""
        self.classifier_ = make_pipeline(StandardScaler(), clone(self.classifier)).fit(statistics_of(X), y)
        self.classes_ = self.classifier_.classes_
        return self

    def decision_function(self, X: Bags) -> Array:
        """Return decision values, shape (n_bags,)."""
        return np.asarray(self.classifier_.decision_function(statistics_of(X)))


METHODS: Mapping[str, Method] = {
    OWN: Method(MIANFISClassifier(), rules=True),
    "MI-ANFIS, normalized rules": Method(MIANFISClassifier(init="kmeans"), rules=True),
    "MI-ANFIS, short normalized rules": Method(
        MIANFISClassifier(init="search", max_terms=2), rules=True, sizes=(200,), quick=False, cost=14.0
    ),
    "forest on bag statistics": Method(EmbeddingForest(), probability=lambda decision: decision + 0.5, cost=0.6),
    "logistic regression on bag statistics": Method(
        OnStatistics(LogisticRegression(max_iter=1000)), probability=expit, cost=0.05
    ),
    BOOSTING: Method(OnStatistics(GradientBoostingClassifier()), probability=expit, cost=0.4),
    "MILES": Method(MILES(), scaled=True, cost=2.5),
}
"""The methods by name; `OWN` first, and its peers after it."""


def methods_at(size: int, options: Options) -> dict[str, Method]:
    """Return the methods that a run with these options trains on this number of bags."""
    return {
        name: method
        for name, method in METHODS.items()
        if (method.sizes is None or size in method.sizes) and (method.quick or not options.quick)
    }


def model_of(method: Method, seed: int) -> Any:
    """Return the unfitted model of a method, which uses this seed.

    Examples
    --------
    >>> model_of(Method(EmbeddingForest()), 3).random_state
    3
    """
    model = clone(method.estimator)
    model.set_params(**{name: seed for name in model.get_params() if name.split("__")[-1] == "random_state"})
    return make_pipeline(PerInstance(StandardScaler()), model) if method.scaled else model
