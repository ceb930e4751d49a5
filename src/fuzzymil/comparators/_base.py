"""Base classes of the comparators, and the registry that names them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.registry import register
from fuzzymil.bags import Bags, as_bags
from fuzzymil.bags.statistics import fill_missing, typical_values
from fuzzymil.estimators.inputs import bag_labels, class_labels, compare_features, record_features
from fuzzymil.estimators.parameters import Check, check_parameters, check_real, real

BoolArray = npt.NDArray[np.bool_]

# ---------------------------------------------------------------------- parameters

above_zero: Check = real(low=0.0, open_low=True)


def checks(**table: Check) -> dict[str, Check]:
    """Return checks by parameter name, for the attribute ``_checks`` of a class."""
    return table


def word_or_positive(word: str) -> Check:
    """Return a check for a parameter that is a certain word or a number above 0."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str):
            check_real(name, value, low=0.0, open_low=True)
        elif value != word:
            raise ParameterError(f"{name} must be {word!r} or a number above 0, got {value!r}.")

    return check


# ---------------------------------------------------------------------- base classes


class BagClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base class of classifiers of bags into two classes.

    A subclass declares checks of its parameters in ``_checks`` and defines ``_learn`` and ``_decide``. ``_learn``
    receives bags in double precision, with the instances of each bag in a fixed order, so that no method depends on
    the order in which they were given. These methods compute with numbers, so the median over the training instances
    takes the place of a missing value. The decorator `comparator` registers it.
    """

    title: ClassVar[str]  # the method's name in the literature
    search_grid: ClassVar[Mapping[str, list[Any]]]  # parameters worth tuning, as in GridSearchCV
    fit_seconds: ClassVar[float]  # processor time of a fit on MUSK1
    _checks: ClassVar[dict[str, Check]] = {}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the classifier to labeled bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Labels of two classes. Default: the labels of the bags. The label that sorts last (1 of 0 and 1, "yes" of
            "no" and "yes") is the positive class, whose bags have at least one positive instance. Of "MUSK" and
            "NON-MUSK", it is the second: `PositiveClass` says it otherwise.
        """
        check_parameters(self, self._checks)
        bags = as_bags(X)
        classes, positive = _two_classes(bags, y, type(self).__name__)
        medians = typical_values(bags, 1)[0]
        self._learn(in_fixed_order(fill_missing(bags, medians).with_indicators()), positive)
        self.medians_ = medians
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
        check_is_fitted(self, "classes_")  # set last: a fit that failed leaves none
        return fill_missing(compare_features(self, as_bags(X)), self.medians_).with_indicators()

    def decision_function(self, X: Any) -> Array:
        """Return decision values, shape (n_bags,), greater than 0 for the second class."""
        return self._decide(self._bags(X))

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each bag, shape (n_bags,)."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(int)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on bags, whose own labels are used unless ``y`` is given."""
        labels = bag_labels(as_bags(X), y, type(self).__name__)
        return float(accuracy_score(labels, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


class InstanceScores(BagClassifier):
    """Base class of classifiers that also score instances.

    A subclass defines ``_decide_instances``. The decision value of a bag is its maximum score, unless the subclass
    overrides ``_decide``.
    """

    @abstractmethod
    def _decide_instances(self, bags: Bags) -> Array:
        """Return the score (n_instances,) of each instance."""

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(np.maximum.reduceat(self._decide_instances(bags), bags.offsets[:-1]))

    def instance_scores(self, X: Any) -> Array:
        """Return the score of each instance, shape (n_instances,), in the order of ``as_bags(X).instances``."""
        return self._decide_instances(self._bags(X))


def in_fixed_order(bags: Bags) -> Bags:
    """Return bags in double precision, with the instances of each bag sorted by their features."""
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
    """Return the two classes (2,), and whether each bag (b,) is of the second."""
    labels = class_labels(bags, y, kind)
    classes = np.unique(labels)
    if len(classes) == 1:
        raise InputError(
            f"All {bags.n_bags} bags are of one class ({classes[0]!s}): a classifier needs bags of two classes."
        )
    if len(classes) > 2:  # the first sentence is the one that scikit-learn's checks look for
        raise InputError(
            f"Only binary classification is supported. The type of the target is multiclass: {len(classes)} classes "
            f"({', '.join(map(str, classes[:5]))}{', ...' if len(classes) > 5 else ''}). "
            f"For more classes, use sklearn.multiclass.OneVsRestClassifier({kind}(...))."
        )
    return classes, np.asarray(labels == classes[1])


# ---------------------------------------------------------------------- registry

COMPARATORS: dict[str, type[BagClassifier]] = {}
"""The comparators by class name, the name that ``fuzzymil evaluate --compare`` takes."""

_Kind = TypeVar("_Kind", bound=type[BagClassifier])


def comparator(
    title: str, *, search_grid: Mapping[str, list[Any]] | None = None, fit_seconds: float = 0.2
) -> Callable[[_Kind], _Kind]:
    """Register a class in `COMPARATORS`, and so in the command line and in ``fuzzymil reproduce table``.

    Parameters
    ----------
    title : str
        The method's name in the literature, used in tables.
    search_grid : dict, optional
        Parameters worth tuning, as in ``GridSearchCV``.
    fit_seconds : float
        Approximate processor time of a fit on MUSK1, for estimates of the remaining time.

    Returns
    -------
    callable
        A class decorator.

    Examples
    --------
    >>> COMPARATORS["MISVM"].title
    'MI-SVM'
    """

    def decorate(kind: _Kind) -> _Kind:
        register(COMPARATORS, "Comparator", kind.__name__, kind)
        kind.title, kind.search_grid, kind.fit_seconds = title, search_grid or {}, fit_seconds
        return kind

    return decorate
