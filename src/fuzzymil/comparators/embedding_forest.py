"""A random forest on simple statistics of bags, as a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, checks, comparator
from fuzzymil.comparators.svm import bag_means
from fuzzymil.estimators.parameters import integer

__all__ = ["EmbeddingForest", "bag_statistics"]


def bag_statistics(bags: Bags) -> Array:
    """Return the mean, minimum and maximum of each feature in each bag, shape (n_bags, 3 * n_features).

    Examples
    --------
    >>> bag_statistics(Bags.from_list([[[1.0, 5.0], [3.0, 5.0]]])).tolist()
    [[2.0, 5.0, 1.0, 5.0, 3.0, 5.0]]
    """
    starts = bags.offsets[:-1]
    ends = [over.reduceat(bags.instances, starts) for over in (np.minimum, np.maximum)]
    return np.hstack([bag_means(bags), *ends])


@comparator("Embedding forest", fit_seconds=0.37)
class EmbeddingForest(BagClassifier):
    """A random forest on the mean, minimum and maximum of each feature in a bag.

    Not a method of multiple-instance learning, but a baseline that is hard to beat.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    random_state : int, RandomState or None
        Random seed of the forest.

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

    _checks = checks(n_estimators=integer(1))

    def __init__(self, n_estimators: int = 300, *, random_state: Any = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        forest = RandomForestClassifier(self.n_estimators, random_state=self.random_state)
        self.forest_ = forest.fit(bag_statistics(bags), positive)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.forest_.predict_proba(bag_statistics(bags))[:, 1] - 0.5)
