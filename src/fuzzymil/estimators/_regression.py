"""What regressors of bags share: numbers in and out."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.estimators._initialize import Coding
from fuzzymil.estimators._network import Network, checked_weights
from fuzzymil.estimators.features import bag_labels
from fuzzymil.explain import NUMBERS, Reading
from fuzzymil.training.scaling import Measures, Scaling

__all__ = ["NetworkRegressor"]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkRegressor(RegressorMixin, Network):
    """Base of `MIANFISRegressor` and `ANFISRegressor`."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rules from bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
        y : array of shape (n_bags,) or (n_bags, n_outputs), optional
            Default: the labels the bags carry.
        sample_weight : array of shape (n_bags,), optional
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train one epoch on these bags, going on from the present rules.

        The first call measures features and targets and starts the rules, so give it typical bags.
        """
        return self._fit_part(X, y, sample_weight)

    def _encode(self, bags: Bags, y: Any, sample_weight: Any, *, going_on: bool, classes: Any) -> Coding:
        labels = bag_labels(bags, y, type(self).__name__)
        targets = check_array(labels, ensure_2d=False, dtype=np.float64, input_name="y").reshape(bags.n_bags, -1)
        n_outputs = targets.shape[1]
        names = tuple(f"y{k + 1}" for k in range(n_outputs)) if n_outputs > 1 else ("y",)
        return Coding(targets, np.zeros(bags.n_bags, int), names, checked_weights(sample_weight, bags))

    def _scaling(self, measures: Measures, targets: Array) -> Scaling:
        deviation = targets.std(axis=0)
        return (
            super()
            ._scaling(measures, targets)
            .with_targets(
                # Strengths that do not sum to one cannot carry a constant: then only the scale is taken out.
                targets.mean(axis=0) if self.normalize else np.zeros(targets.shape[1]),
                np.where(deviation > 0, deviation, 1.0),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on these bags, by their own labels unless ``y`` is given."""
        labels, found = self._labels_and_answers(X, y)
        return float(r2_score(labels, found, sample_weight=sample_weight))

    def _reading(self) -> Reading:
        return NUMBERS

    def predict(self, X: Any) -> Array:
        """Return the predicted number (or numbers) of each bag."""
        return NUMBERS.predict(self._output(X))

    def instance_scores(self, X: Any) -> Array:
        """Return the prediction for each instance as if it were a bag of its own.

        Shape (n_instances,), or (n_instances, n_outputs); instances in the order of ``as_bags(X).instances``. A bag of
        one instance has the prediction of its instance; what else holds is told in
        `MIANFISClassifier.instance_scores`.
        """
        return NUMBERS.predict(self._output(X, by_instance=True))
