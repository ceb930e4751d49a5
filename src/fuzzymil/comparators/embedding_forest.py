"""A random forest on plain statistics of bags: the sober baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, check_integer
from fuzzymil.comparators.svm import bag_means

__all__ = ["EmbeddingForest", "bag_statistics"]


def bag_statistics(bags: Bags) -> Array:
    """Return the mean, least and greatest value of each feature in each bag, shape (n_bags, 3 * n_features).

    Examples
    --------
    >>> bag_statistics(Bags.from_list([[[1.0, 5.0], [3.0, 5.0]]])).tolist()
    [[2.0, 5.0, 1.0, 5.0, 3.0, 5.0]]
    """
    starts = bags.offsets[:-1]
    least = np.minimum.reduceat(bags.instances, starts)
    greatest = np.maximum.reduceat(bags.instances, starts)
    return np.hstack([bag_means(bags), least, greatest])


class EmbeddingForest(BagClassifier):
    """A random forest on the mean, least and greatest value of each feature in a bag.

    No method of multiple-instance learning at all, and hard to beat: what a method has to show for its
    cost is what it adds to this.

    Parameters
    ----------
    n_estimators : int
        Trees.
    random_state : int, RandomState or None

    Attributes
    ----------
    forest_ : sklearn.ensemble.RandomForestClassifier
        Fitted on `bag_statistics`.
    classes_ : array of shape (2,)

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

    def __init__(self, n_estimators: int = 300, *, random_state: Any = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        forest = RandomForestClassifier(self.n_estimators, random_state=self.random_state)
        self.forest_ = forest.fit(bag_statistics(bags), positive)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.forest_.predict_proba(bag_statistics(bags))[:, 1] - 0.5)
