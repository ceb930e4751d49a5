"""Statistics of bags, and the base of ordinary classifiers that learn from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, checks
from fuzzymil.comparators.svm import bag_means


def bag_deviations(bags: Bags) -> Array:
    """Return the standard deviation of each feature in each bag, shape (n_bags, n_features); 0 for one instance.

    Examples
    --------
    >>> bag_deviations(Bags.from_list([[[1.0], [3.0]], [[9.0]]])).tolist()
    [[1.0], [0.0]]
    """
    squares = np.square(bags.instances - np.repeat(bag_means(bags), bags.sizes, axis=0))
    return np.asarray(np.sqrt(np.add.reduceat(squares, bags.offsets[:-1]) / bags.sizes[:, None]))


STATISTICS: dict[str, Callable[[Bags], Array]] = {
    "mean": bag_means,
    "min": lambda bags: np.asarray(np.minimum.reduceat(bags.instances, bags.offsets[:-1])),
    "max": lambda bags: np.asarray(np.maximum.reduceat(bags.instances, bags.offsets[:-1])),
    "std": bag_deviations,
    "size": lambda bags: bags.sizes[:, None].astype(float),
}
"""Functions from bags to tables with one row per bag."""

THREE = ("mean", "min", "max")
FIVE = (*THREE, "std", "size")


def bag_statistics(bags: Bags, statistics: Sequence[str] = THREE) -> Array:
    """Return statistics of the bags side by side, shape (n_bags, n_columns).

    Each of "mean", "min", "max" and "std" has one column per feature; "size", the number of instances, has one column.

    Examples
    --------
    >>> bag_statistics(Bags.from_list([[[1.0, 5.0], [3.0, 5.0]]])).tolist()
    [[2.0, 5.0, 1.0, 5.0, 3.0, 5.0]]
    >>> bag_statistics(Bags.from_list([[[1.0, 5.0], [3.0, 5.0]]]), ["std", "size"]).tolist()
    [[1.0, 0.0, 2.0]]
    """
    return np.hstack([STATISTICS[name](bags) for name in statistics])


def _known(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not value:
        raise ParameterError(f"{name} must be a tuple of names, such as {THREE!r}, got {value!r}.")
    for each in value:
        known_name("statistic", each, STATISTICS, f"in {name}")


class StatisticsClassifier(BagClassifier):
    """Base class of ordinary classifiers that are fitted on statistics of bags, one row per bag.

    A subclass returns the unfitted classifier from ``_unfitted``.
    """

    _checks = checks(statistics=_known)
    statistics: Sequence[str]

    @abstractmethod
    def _unfitted(self) -> Any:
        """Return the classifier to fit, which scikit-learn or a pipeline provides."""

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self.classifier_ = self._unfitted().fit(bag_statistics(bags, self.statistics), positive)

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.classifier_.decision_function(bag_statistics(bags, self.statistics)))
