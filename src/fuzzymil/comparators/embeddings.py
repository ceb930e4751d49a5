"""Ordinary classifiers on statistics of bags: baselines, not methods of multiple-instance learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import FIVE, STATISTICS, THREE, bag_statistics
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator
from fuzzymil.estimators.parameters import above_zero, checked, either, integer, share

STATISTICS_GRID: list[Any] = [THREE, FIVE]


def _known(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not value:
        raise ParameterError(f"{name} must be a tuple of names, such as {THREE!r}, got {value!r}.")
    for each in value:
        known_name("statistic", each, STATISTICS, f"in {name}")


class StatisticsClassifier(BagClassifier):
    """Base class of classifiers on statistics of bags, one row per bag; a subclass returns the unfitted one."""

    statistics: Sequence[str]

    @abstractmethod
    def _unfitted(self) -> Any:
        """Return the classifier to fit, which scikit-learn or a pipeline provides."""

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self.classifier_ = self._unfitted().fit(bag_statistics(bags, self.statistics), positive)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.classifier_.decision_function(bag_statistics(bags, self.statistics)))


@comparator("Embedding forest", search_grid={"statistics": STATISTICS_GRID}, fit_seconds=0.37)
@dataclass(eq=False, repr=False)
class EmbeddingForest(StatisticsClassifier):
    """A random forest on statistics of bags: a baseline that is hard to beat.

    The decision value is the forest's probability minus 1/2.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    statistics : tuple of str
        "mean", "min", "max" and "std" of each feature, and "size", the number of instances.
    random_state : int, RandomState or None
        Random seed of the forest.

    References
    ----------
    L. Breiman (2001), Random forests, Machine Learning 45.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[2.5], [7.0]]]
    >>> model = EmbeddingForest(random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [7.0]]]).tolist()
    [1, 0]
    """

    n_estimators: int = checked(integer(1), 300)
    _: KW_ONLY
    statistics: Sequence[str] = checked(_known, THREE)
    random_state: Any = None

    def _unfitted(self) -> Any:
        return RandomForestClassifier(self.n_estimators, random_state=self.random_state)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.classifier_.predict_proba(bag_statistics(bags, self.statistics))[:, 1] - 0.5)


@comparator(
    "Embedding boosting", search_grid={"statistics": STATISTICS_GRID, "max_features": ["sqrt", None]}, fit_seconds=0.3
)
@dataclass(eq=False, repr=False)
class EmbeddingBoosting(StatisticsClassifier):
    """Gradient boosting on statistics of bags.

    Each tree is grown on a random part of the bags and chooses each split among a random part of the columns, because
    bags are few and their statistics many. Decision values are log-odds.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_depth : int
        Maximum depth of a tree; 1 makes the decision value a sum of functions of one column each.
    learning_rate : float
        Shrinks the contribution of each tree.
    subsample : float
        Fraction of the bags that each tree is grown on.
    max_features : "sqrt", float or None
        Number of columns that a split chooses among: the square root of their number, a fraction, or all. All is
        better if only few of many columns count.
    statistics : tuple of str
        "mean", "min", "max" and "std" of each feature, and "size", the number of instances.
    random_state : int, RandomState or None
        Random seed of the samples of bags and columns.

    References
    ----------
    J. H. Friedman (2002), Stochastic gradient boosting, Computational Statistics and Data Analysis 38.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[2.5], [7.0]]]
    >>> model = EmbeddingBoosting(subsample=1.0, random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.4], [6.9]]]).tolist()
    [1, 0]
    """

    n_estimators: int = checked(integer(1), 100)
    _: KW_ONLY
    max_depth: int = checked(integer(1), 3)
    learning_rate: float = checked(above_zero, 0.1)
    subsample: float = checked(share, 0.5)
    max_features: float | str | None = checked(either("sqrt", None, otherwise=share), "sqrt")
    statistics: Sequence[str] = checked(_known, FIVE)
    random_state: Any = None

    def _unfitted(self) -> Any:
        settings = self.get_params()
        del settings["statistics"]
        return GradientBoostingClassifier(**settings)


@comparator(
    "Embedding logistic regression", search_grid={"C": [0.01, 1.0], "statistics": STATISTICS_GRID}, fit_seconds=0.02
)
@dataclass(eq=False, repr=False)
class EmbeddingLogistic(StatisticsClassifier):
    """Logistic regression on standardized statistics of bags, a baseline that takes milliseconds.

    Decision values are log-odds.

    Parameters
    ----------
    C : float
        Inverse of the penalty on the squared coefficients.
    statistics : tuple of str
        "mean", "min", "max" and "std" of each feature, and "size", the number of instances.

    References
    ----------
    D. R. Cox (1958), The regression analysis of binary sequences, Journal of the Royal Statistical Society B 20.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[2.5], [7.0]]]
    >>> model = EmbeddingLogistic().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [7.0]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 1.0)
    _: KW_ONLY
    statistics: Sequence[str] = checked(_known, THREE)

    def _unfitted(self) -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression(C=self.C, max_iter=1000))
