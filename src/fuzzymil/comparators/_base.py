"""What the comparators share: base classes, the registry, annealing, scaling, and the choice of the positive class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.registry import register
from fuzzymil.bags import Bags, as_bags
from fuzzymil.bags.statistics import fill_missing, typical_values
from fuzzymil.estimators.inputs import class_labels, compare_features, positive_class, record_features
from fuzzymil.estimators.parameters import Check, above_zero, check_parameters
from fuzzymil.estimators.wrappers import BagMetaEstimator, BagScoreMixin, PerInstance
from fuzzymil.learn.train.scaling import Measures, Scaling

BoolArray = npt.NDArray[np.bool_]


def word_or_positive(word: str) -> Check:
    """Return a check for a parameter that is a certain word or a number above 0."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) and value != word:
            raise ParameterError(f"{name} must be {word!r} or a number above 0, got {value!r}.")
        if value != word:
            above_zero(name, value)

    return check


# ---------------------------------------------------------------------- base classes


class BagClassifier(BagScoreMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base class of classifiers of bags into two classes.

    A subclass declares its parameters as `checked` fields of a dataclass, and defines ``_learn`` and ``_decide``.
    ``_learn`` receives bags in double precision with the instances of each bag in a fixed order, so that no method
    depends on the given one. Missing values are replaced by the median over the training instances.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The two labels, sorted; the second one is the positive class.
    """

    title: ClassVar[str]  # the method's name in the literature
    search_grid: ClassVar[Mapping[str, list[Any]]]  # parameters worth tuning, as in GridSearchCV
    fit_seconds: ClassVar[float]  # processor time of a fit on MUSK1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the classifier to bags of two classes, ``y`` (n_bags,) or the labels of the bags.

        The label that sorts last is the positive class, whose bags have at least one positive instance;
        `PositiveClass` says it otherwise.
        """
        check_parameters(self)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


class InstanceScores(BagClassifier):
    """Base class of classifiers that also score instances.

    The decision value of a bag is the maximum of ``_decide_instances``, unless a subclass overrides ``_decide``.
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
    """Register a class in `COMPARATORS`, and so in the command line and in ``python -m paper table``.

    ``title`` is the method's name in the literature, ``search_grid`` holds parameters worth tuning, as in
    ``GridSearchCV``, and ``fit_seconds`` is the approximate processor time of a fit on MUSK1.
    """

    def decorate(kind: _Kind) -> _Kind:
        register(COMPARATORS, "Comparator", kind.__name__, kind)
        kind.title, kind.search_grid, kind.fit_seconds = title, search_grid or {}, fit_seconds
        return kind

    return decorate


# ---------------------------------------------------------------------- scaling


class ClippedScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardize features, and clip values at some standard deviations from the mean and at the range seen.

    Missing values stay missing.

    ``clip``: number of standard deviations.
    """

    def __init__(self, clip: float = 3.0) -> None:
        self.clip = clip

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the features of rows (n_rows, n_features)."""
        check_parameters(self, {"clip": above_zero})
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.scaling_ = Scaling.fit(Measures.of(rows), standardize=True, clip=self.clip)
        return self

    def transform(self, X: Any) -> Array:
        """Return the scaled rows."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return self.scaling_.apply(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def standardized(estimator: Any) -> Pipeline:
    """Return a pipeline with the steps "scale", which scales features as MI-ANFIS does by default, and "method".

    Features are standardized by the training bags, and clipped at three standard deviations from the mean and at the
    smallest and largest value in the training bags.

    Examples
    --------
    >>> from fuzzymil.comparators import MISVM
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = standardized(MISVM()).fit(bags[::2], bags[::2].labels)
    >>> print(f"{model.score(bags[1::2], bags[1::2].labels):.2f}")
    0.89
    """
    return Pipeline([("scale", PerInstance(ClippedScaler())), ("method", estimator)])


# ---------------------------------------------------------------------- the positive class


class PositiveClass(BagScoreMixin, ClassifierMixin, BagMetaEstimator):
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
        """Fit the method to bags of two classes, ``y`` (n_bags,) or the labels of the bags."""
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

    def _ask(self, method: str, X: Any) -> Array:
        found = super()._ask(method, X)
        if method == "predict":
            return np.asarray(self.classes_[self._order][found])
        if method == "predict_proba":
            return np.asarray(found[:, self._order])
        return found if self._order[1] else -found
