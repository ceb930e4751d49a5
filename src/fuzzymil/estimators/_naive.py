"""The naive approach to multiple instances: every instance gets the label of its bag."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.bags import Bags, as_bags
from fuzzymil.bags.statistics import fill_missing, typical_values
from fuzzymil.estimators.inputs import bag_labels, compare_features, record_features

POOLS = {
    "max": np.maximum.reduceat,
    "min": np.minimum.reduceat,
    "mean": lambda values, starts: np.add.reduceat(values, starts) / _sizes(values, starts),
}


def _sizes(values: Array, starts: Array) -> Array:
    sizes = np.diff(np.append(starts, len(values)))
    return np.asarray(sizes.reshape((-1,) + (1,) * (values.ndim - 1)))


def _classifies(self: NaiveMIL) -> bool:
    return bool(is_classifier(self.estimator))


class NaiveMIL(MetaEstimatorMixin, BaseEstimator):
    """Apply any scikit-learn classifier or regressor to bags: each instance gets the label of its bag.

    The paper's Naive-ANFIS is ``NaiveMIL(ANFISClassifier(...))``. If the estimator cannot handle missing values, the
    median over the training instances takes their place.

    Parameters
    ----------
    estimator : estimator, default None
        Classifier or regressor to fit on instances; required.
    pool : {"max", "mean", "min"}, default "max"
        How the scores of the instances are combined into that of the bag. With two classes, the probability of the
        second class is pooled (its decision value if there are no probabilities); with more, that of each class. A
        regressor's predictions are pooled.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on instances.
    medians_ : array of shape (n_features,)
        What takes the place of missing values, if the estimator cannot handle them.
    classes_ : array of shape (n_classes,)
        Class labels; only for a classifier.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> bags = [[[0.0], [0.1]], [[0.1], [2.0]], [[0.2]], [[2.2]]]
    >>> NaiveMIL(LogisticRegression()).fit(bags, [0, 1, 0, 1]).predict(bags).tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, estimator: Any = None, *, pool: str = "max") -> None:
        self.estimator = estimator
        self.pool = pool

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the estimator on the instances of all bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Label of each bag. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag, passed on as the weight of its instances.
        """
        estimator, instances, labels, weights = self._prepare(X, y, sample_weight)
        return self._finish(estimator.fit(instances, labels, **weights), as_bags(X))

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Array, Array, dict[str, Array]]:
        """Return the estimator to fit, the instances, the label of each, and its weight."""
        known_name("pool", self.pool, POOLS)
        if self.estimator is None or not (is_classifier(self.estimator) or is_regressor(self.estimator)):
            raise ParameterError(
                "NaiveMIL needs a classifier or a regressor, such as NaiveMIL(LogisticRegression()); "
                f"got {self.estimator!r}."
            )
        bags = as_bags(X)
        if not self._takes_missing():
            bags = fill_missing(bags, typical_values(bags, 1)[0])
        labels = np.repeat(bag_labels(bags, y, type(self).__name__), bags.sizes, axis=0)
        weights = {}
        if sample_weight is not None:
            checked = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)))
            weights["sample_weight"] = np.repeat(checked, bags.sizes)
        return clone(self.estimator), bags.with_indicators().instances, labels, weights

    def _finish(self, estimator: Any, bags: Bags) -> Self:
        self.estimator_ = estimator
        if not self._takes_missing():
            self.medians_ = typical_values(bags, 1)[0]
        record_features(self, bags)
        if is_classifier(estimator):
            self.classes_ = estimator.classes_
        return self

    def _takes_missing(self) -> bool:
        return self.estimator is not None and bool(get_tags(self.estimator).input_tags.allow_nan)

    def _bags(self, X: Any) -> Bags:
        check_is_fitted(self)
        bags = compare_features(self, as_bags(X))
        return (bags if self._takes_missing() else fill_missing(bags, self.medians_)).with_indicators()

    def _pooled(self, scores: Array, bags: Bags) -> Array:
        return np.asarray(POOLS[self.pool](scores, bags.offsets[:-1]))

    def predict(self, X: Any) -> Array:
        """Return the predicted class, or number, of each bag."""
        bags = self._bags(X)
        if not is_classifier(self.estimator):
            return self._pooled(self.estimator_.predict(bags.instances), bags)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, bags.n_bags)
        decision = self._pooled(self._scores(bags), bags)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return the pooled scores: above 0 for the second of two classes, otherwise one score per class."""
        bags = self._bags(X)
        return self._pooled(self._scores(bags), bags)

    @available_if(lambda self: _classifies(self) and hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return pooled probabilities, shape (n_bags, n_classes), that sum to one."""
        bags = self._bags(X)
        likely = self.estimator_.predict_proba(bags.instances)
        if len(self.classes_) == 2:
            second = self._pooled(likely[:, 1], bags)
            return np.column_stack([1 - second, second])
        pooled = self._pooled(likely, bags)
        return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy (for a regressor, R²) on these bags; ``y`` defaults to their labels."""
        measure = accuracy_score if is_classifier(self.estimator) else r2_score
        labels = bag_labels(as_bags(X), y, type(self).__name__)
        return float(measure(labels, self.predict(X), sample_weight=sample_weight))

    def instance_scores(self, X: Any) -> Array:
        """Return the score (for a regressor, the prediction) of each instance; pooling them gives that of the bag."""
        bags = self._bags(X)
        return self._scores(bags) if is_classifier(self.estimator) else self.estimator_.predict(bags.instances)

    def _scores(self, bags: Bags) -> Array:
        """Return the scores of instances: (i,), with threshold 0, for two classes, otherwise (i, n_classes)."""
        if hasattr(self.estimator_, "predict_proba"):
            likely = self.estimator_.predict_proba(bags.instances)
            return np.asarray(likely[:, 1] - 0.5 if likely.shape[1] == 2 else likely)
        return np.asarray(self.estimator_.decision_function(bags.instances))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags = inner.classifier_tags
            tags.regressor_tags = inner.regressor_tags
            tags.target_tags = inner.target_tags
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags
