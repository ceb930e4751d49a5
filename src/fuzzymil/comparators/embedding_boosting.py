"""Boosted trees on statistics of bags, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.ensemble import GradientBoostingClassifier

from fuzzymil.bags.statistics import FIVE, THREE
from fuzzymil.comparators._base import StatisticsClassifier, above_zero, checks, comparator
from fuzzymil.estimators.parameters import either, integer, real

__all__ = ["EmbeddingBoosting"]


@comparator(
    "Embedding boosting",
    search_grid={"statistics": [THREE, FIVE], "max_features": ["sqrt", None]},
    fit_seconds=0.3,
)
class EmbeddingBoosting(StatisticsClassifier):
    """Gradient boosting on statistics of bags: mean, minimum, maximum and deviation of each feature, and the size.

    Not a method of multiple-instance learning, but a baseline. Each tree is grown on a random part of the bags and
    chooses each split among a random part of the columns, because bags are few and their statistics many. Where only
    few of many columns count, choose among all of them instead: ``max_features=None``.

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
        Number of columns that a split chooses among: the square root of their number, a fraction of them, or all.
    statistics : tuple of str
        What to tell about a bag: "mean", "min", "max" and "std" of each feature, and "size", the number of instances.
    random_state : int, RandomState or None
        Random seed of the samples of bags and columns.

    Attributes
    ----------
    classifier_ : sklearn.ensemble.GradientBoostingClassifier
        Fitted on the statistics.
    classes_ : array of shape (2,)

    Notes
    -----
    Decision values are log-odds.

    scikit-learn's faster ``HistGradientBoostingClassifier`` needs 20 bags in every leaf by default and then hardly
    learns from 80 bags; with fewer it is no better than this one, and slower.

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

    _checks = StatisticsClassifier._checks | checks(
        n_estimators=integer(1),
        max_depth=integer(1),
        learning_rate=above_zero,
        subsample=real(low=0.0, high=1.0, open_low=True),
        max_features=either("sqrt", None, otherwise=real(low=0.0, high=1.0, open_low=True)),
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int = 3,
        learning_rate: float = 0.1,
        subsample: float = 0.5,
        max_features: float | str | None = "sqrt",
        statistics: Sequence[str] = FIVE,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_features = max_features
        self.statistics = statistics
        self.random_state = random_state

    def _unfitted(self) -> Any:
        return GradientBoostingClassifier(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            subsample=self.subsample,
            max_features=self.max_features,
            random_state=self.random_state,
        )
