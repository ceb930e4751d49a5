"""The base of ordinary classifiers that learn from statistics of bags."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import STATISTICS, THREE, bag_statistics
from fuzzymil.comparators._base import BagClassifier, BoolArray, checks


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
