"""What the network regressors share: encoding of targets, scaling, scores."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.estimators._initialization import Coding
from fuzzymil.estimators._jobs import checked_weights
from fuzzymil.estimators._network import Network
from fuzzymil.estimators.inputs import bag_labels, target_names
from fuzzymil.learn.train.scaling import Measures, Scaling


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkRegressor(RegressorMixin, Network):
    """Base of `MIANFISRegressor` and `ANFISRegressor`."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rules from bags.

        Parameters
        ----------
        X : Bags, BagStream, or anything `as_bags` accepts
        y : array of shape (n_bags,) or (n_bags, n_outputs), optional
            Target of each bag. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag. Default: equal weights.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these bags, starting from the current rules.

        The first call determines the scale of features and targets and initializes the rules: pass it typical bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,) or (n_bags, n_outputs), optional
            Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
        """
        return self._fit_part(X, y, sample_weight)

    def _encode(self, bags: Bags, y: Any, sample_weight: Any, *, resumes: bool, classes: Any) -> Coding:
        labels = bag_labels(bags, y, type(self).__name__)
        targets = check_array(labels, ensure_2d=False, dtype=np.float64, input_name="y").reshape(bags.n_bags, -1)
        names = target_names(bags, y, targets.shape[1])
        return Coding(targets, np.zeros(bags.n_bags, int), names, checked_weights(sample_weight, bags))

    def _scaling(self, measures: Measures, targets: Array) -> Scaling:
        deviation = targets.std(axis=0)
        return (
            super()
            ._scaling(measures, targets)
            .with_targets(
                targets.mean(axis=0),
                np.where(deviation > 0, deviation, 1.0),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R² on these bags; ``y`` defaults to their labels."""
        labels, found = self._truth_and_predictions(X, y)
        return float(r2_score(labels, found, sample_weight=sample_weight))

    def _classifies(self) -> bool:
        return False

    def _class_reading(self) -> None:
        return None

    def instance_scores(self, X: Any) -> Array:
        """Return the prediction for each instance, treated as a bag of its own.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_instances,) or (n_instances, n_outputs)
            Instances are in the order of ``as_bags(X).instances``. How they relate to the predictions for bags is
            described in `MIANFISClassifier.instance_scores`.
        """
        return self._labels_of(self._infer(X, by_instance=True)[0])
