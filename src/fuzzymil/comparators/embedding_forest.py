"""A random forest on statistics of bags, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import FIVE, THREE, bag_statistics
from fuzzymil.comparators._base import StatisticsClassifier, checks, comparator
from fuzzymil.estimators.parameters import integer

__all__ = ["EmbeddingForest"]


@comparator("Embedding forest", search_grid={"statistics": [THREE, FIVE]}, fit_seconds=0.37)
class EmbeddingForest(StatisticsClassifier):
    """A random forest on statistics of bags: by default the mean, minimum and maximum of each feature.

    Not a method of multiple-instance learning, but a baseline that is hard to beat.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    statistics : tuple of str
        What to tell about a bag: "mean", "min", "max" and "std" of each feature, and "size", the number of instances.
    random_state : int, RandomState or None
        Random seed of the forest.

    Attributes
    ----------
    classifier_ : sklearn.ensemble.RandomForestClassifier
        Fitted on the statistics.
    classes_ : array of shape (2,)

    Notes
    -----
    The decision value is the forest's probability minus 1/2.

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

    _checks = StatisticsClassifier._checks | checks(n_estimators=integer(1))

    def __init__(self, n_estimators: int = 300, *, statistics: Sequence[str] = THREE, random_state: Any = None) -> None:
        self.n_estimators = n_estimators
        self.statistics = statistics
        self.random_state = random_state

    def _unfitted(self) -> Any:
        return RandomForestClassifier(self.n_estimators, random_state=self.random_state)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.classifier_.predict_proba(bag_statistics(bags, self.statistics))[:, 1] - 0.5)
