"""Chooses which of two classes a method looks for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import as_bags
from fuzzymil.estimators.inputs import bag_labels, class_labels, positive_class, record_features


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))


class PositiveClass(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A method that looks for the instances of a chosen class.

    By itself, a method takes the class that sorts last for the positive one, whose bags have at least one positive
    instance: of "diseased" and "healthy", the second.

    Parameters
    ----------
    estimator : classifier of bags
    pos_label : label
        One of the two classes.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to 1 for the positive class and 0 for the other.
    classes_ : array of shape (2,)
        Class labels, sorted. A decision value above 0 means the second one, as everywhere in scikit-learn.

    Examples
    --------
    >>> from fuzzymil.comparators import MISVM
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> labels = np.where(bags.labels == 1, "diseased", "healthy")
    >>> model = PositiveClass(MISVM(), "diseased").fit(bags, labels)
    >>> model.classes_.tolist(), model.predict(bags[:1]).tolist()
    (['diseased', 'healthy'], ['diseased'])
    """

    def __init__(self, estimator: Any, pos_label: Any) -> None:
        self.estimator = estimator
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the method to labeled bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Labels of two classes. Default: the labels of the bags.
        """
        bags = as_bags(X)
        labels = class_labels(bags, y, type(self).__name__)
        classes = np.unique(labels)
        if len(classes) != 2:
            raise InputError(f"{type(self).__name__} needs bags of two classes, got {len(classes)}.")
        place = positive_class(classes, "", self.pos_label)
        self.estimator_ = clone(self.estimator).fit(bags, (labels == classes[place]).astype(int))
        self.classes_ = classes
        record_features(self, bags)
        self._order = [0, 1] if place else [1, 0]
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each bag, shape (n_bags,)."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._order][np.asarray(self.estimator_.predict(X))])

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return decision values, shape (n_bags,), greater than 0 for the second class."""
        return self._signed(self.estimator_.decision_function(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, shape (n_bags, 2)."""
        return np.asarray(self.estimator_.predict_proba(X))[:, self._order]

    @_has("instance_scores")  # type: ignore[untyped-decorator]
    def instance_scores(self, X: Any) -> Array:
        """Return the score of each instance, shape (n_instances,), greater for the second class."""
        return self._signed(self.estimator_.instance_scores(X))

    def _signed(self, scores: Any) -> Array:
        return np.asarray(scores) if self._order[1] else -np.asarray(scores)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on bags, whose own labels are used unless ``y`` is given."""
        labels = bag_labels(as_bags(X), y, type(self).__name__)
        return float(accuracy_score(labels, self.predict(X), sample_weight=sample_weight))
