"""What all comparators share: bags and two classes in, checked; decisions out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators.inputs import bag_labels, class_labels, compare_features, complete_bags, record_features
from fuzzymil.estimators.parameters import check_integer, check_real

__all__ = ["BagClassifier", "BoolArray", "InstanceScores", "check_integer", "check_real", "in_fixed_order"]

BoolArray = npt.NDArray[np.bool_]


class BagClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of bags into two classes.

    A method is a subclass with two functions: `_learn`, which checks the settings and learns from
    bags, and `_decide`, which tells how much speaks for the second class. Bags reach `_learn` in
    double precision and with the instances of each bag in a fixed order, so that no method, random or
    not, can depend on the order they were given in.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from bags of two classes.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
        y : array of shape (n_bags,), optional
            Default: the labels the bags carry. The label that sorts last (1 of 0 and 1, "yes" of "no" and
            "yes") is the positive class, of bags with at least one positive instance. Mind names: of "MUSK"
            and "NON-MUSK" it would be the second.
        """
        bags = complete_bags(self, X, allow_missing=False)
        classes, positive = _two_classes(bags, y, type(self).__name__)
        self._learn(in_fixed_order(bags), positive)
        self.classes_ = classes
        record_features(self, bags)
        return self

    @abstractmethod
    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        """Set the fitted attributes; ``positive`` (n_bags,) is True for bags of the second class."""

    @abstractmethod
    def _decide(self, bags: Bags) -> Array:
        """Return the decision values (n_bags,), greater than 0 for the second class."""

    def _bags(self, X: Any) -> Bags:
        check_is_fitted(self, "classes_")  # the last to be set: a fit that failed leaves none
        bags = complete_bags(self, X, allow_missing=False)
        compare_features(self, bags)
        return bags

    def decision_function(self, X: Any) -> Array:
        """Return how much speaks for the second class, shape (n_bags,); greater than 0 if it is predicted."""
        return self._decide(self._bags(X))

    def predict(self, X: Any) -> Array:
        """Return the class of each bag, as the labels given to `fit`."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(int)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on these bags, by their own labels unless ``y`` is given."""
        labels = bag_labels(as_bags(X), y, type(self).__name__)
        return float(accuracy_score(labels, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class InstanceScores(BagClassifier):
    """A classifier of bags that scores single instances too; a bag's decision is its greatest score.

    A method whose bags are decided otherwise overrides `_decide`.
    """

    @abstractmethod
    def _decide_instances(self, bags: Bags) -> Array:
        """Return the score (n_instances,) of each instance."""

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(np.maximum.reduceat(self._decide_instances(bags), bags.offsets[:-1]))

    def instance_scores(self, X: Any) -> Array:
        """Return the score of every instance, shape (n_instances,), in the order of ``as_bags(X).instances``."""
        return self._decide_instances(self._bags(X))


def in_fixed_order(bags: Bags) -> Bags:
    """Return bags in double precision with the instances of each sorted, first feature first.

    Examples
    --------
    >>> in_fixed_order(as_bags([[[2.0, 1.0], [0.0, 5.0], [2.0, 0.0]]])).instances.tolist()
    [[0.0, 5.0], [2.0, 0.0], [2.0, 1.0]]
    """
    instances = np.asarray(bags.instances, dtype=np.float64)
    order = np.lexsort((*instances.T[::-1], bags.bag_index))
    return Bags(
        instances[order],
        bags.offsets,
        ids=bags.ids,
        feature_names=bags.feature_names,
        labels=bags.labels,
        instance_labels=None if bags.instance_labels is None else bags.instance_labels[order],
    )


def _two_classes(bags: Bags, y: Any, kind: str) -> tuple[Array, BoolArray]:
    """Return the two classes (2,) and for each bag (b,) whether it is of the second."""
    labels = class_labels(bags, y, kind)
    classes = np.unique(labels)
    if len(classes) == 1:
        raise InputError(
            f"All {bags.n_bags} bags are of one class ({classes[0]!s}): a classifier needs bags of at least two."
        )
    if len(classes) > 2:  # begins in the words that scikit-learn's own checks look for
        raise InputError(
            f"Only binary classification is supported. The type of the target is multiclass: {len(classes)} classes "
            f"({', '.join(map(str, classes[:5]))}{', ...' if len(classes) > 5 else ''}). "
            f"For more than two wrap it: sklearn.multiclass.OneVsRestClassifier({kind}(...))."
        )
    return classes, np.asarray(labels == classes[1])
