"""Logistic regression on statistics of bags, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil.bags.statistics import FIVE, THREE
from fuzzymil.comparators._base import StatisticsClassifier, above_zero, checks, comparator

__all__ = ["EmbeddingLogistic"]


@comparator(
    "Embedding logistic regression",
    search_grid={"C": [0.01, 1.0], "statistics": [THREE, FIVE]},
    fit_seconds=0.02,
)
class EmbeddingLogistic(StatisticsClassifier):
    """Logistic regression on standardized statistics of bags: by default mean, minimum and maximum of each feature.

    Not a method of multiple-instance learning, but a baseline that takes milliseconds.

    Parameters
    ----------
    C : float
        Inverse of the penalty on the squared coefficients.
    statistics : tuple of str
        What to tell about a bag: "mean", "min", "max" and "std" of each feature, and "size", the number of instances.

    Attributes
    ----------
    classifier_ : sklearn.pipeline.Pipeline
        Scaler and logistic regression, fitted on the statistics.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are log-odds.

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

    _checks = StatisticsClassifier._checks | checks(C=above_zero)

    def __init__(self, C: float = 1.0, *, statistics: Sequence[str] = THREE) -> None:
        self.C = C
        self.statistics = statistics

    def _unfitted(self) -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression(C=self.C, max_iter=1000))
