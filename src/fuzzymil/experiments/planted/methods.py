"""The methods that are compared on planted problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import expit
from sklearn.base import clone

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators import MILES, EmbeddingBoosting, EmbeddingForest, EmbeddingLogistic, standardized
from fuzzymil.estimators import MIANFISClassifier
from fuzzymil.experiments._experiment import Options

__all__ = ["BOOSTING", "METHODS", "OWN", "Method", "methods_at", "model_of"]

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
    scaled: bool = False  # whether it needs features standardized and clipped by the training bags
    probability: Callable[[Array], Array] | None = None  # from decision values, where there is no predict_proba
    rules: bool = False  # whether there are rules to read
    sizes: tuple[int, ...] | None = None  # numbers of training bags at which it is run; None: all
    quick: bool = True  # whether a quick run includes it
    cost: float = 1.0  # processor seconds to fit and measure on 200 bags, for the estimate of the remaining time


_ALL = ("mean", "min", "max", "std", "size")  # the statistics of bags that tell most

METHODS: Mapping[str, Method] = {
    OWN: Method(MIANFISClassifier(), rules=True),
    "MI-ANFIS, normalized rules": Method(MIANFISClassifier(init="kmeans"), rules=True),
    "MI-ANFIS, short normalized rules": Method(
        MIANFISClassifier(init="search", max_conditions=2), rules=True, sizes=(200,), quick=False, cost=14.0
    ),
    "forest on bag statistics": Method(EmbeddingForest(), probability=lambda decision: decision + 0.5, cost=0.6),
    "logistic regression on bag statistics": Method(EmbeddingLogistic(statistics=_ALL), probability=expit, cost=0.05),
    BOOSTING: Method(EmbeddingBoosting(subsample=1.0, max_features=None, statistics=_ALL), probability=expit, cost=0.4),
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
    return standardized(model) if method.scaled else model
