"""Wrappers that bring estimators and transformers of rows to bags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil._utils.arrays import Array, missing
from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags, as_bags
from fuzzymil.bags.statistics import fill_missing, typical_values
from fuzzymil.estimators.inputs import bag_labels, compare_features, complete_bags, record_features
from fuzzymil.estimators.parameters import check_parameters, real

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


class BagScoreMixin:
    """Score of estimators of bags."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy (for a regressor, R²) on these bags; ``y`` defaults to their labels."""
        model: Any = self
        measure = accuracy_score if is_classifier(model) else r2_score
        labels = bag_labels(as_bags(X), y, type(model).__name__)
        return float(measure(labels, model.predict(X), sample_weight=sample_weight))


class NaiveMIL(BagScoreMixin, MetaEstimatorMixin, BaseEstimator):
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
        """Fit the estimator on the instances of all bags, which get the label and the weight of their bag.

        ``y`` (n_bags,) defaults to the labels of the bags.
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
            _copy_tags(self.estimator, tags)
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _copy_tags(estimator: Any, tags: Any) -> Any:
    """Copy what an estimator is and predicts to the tags of one around it; return its own."""
    inner = get_tags(estimator)
    for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
        setattr(tags, name, getattr(inner, name))
    return inner


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))


class BagMetaEstimator(MetaEstimatorMixin, BaseEstimator):
    """Base of estimators that ask another one, ``estimator_``, about bags."""

    estimator: Any
    estimator_: Any

    def _ask(self, method: str, X: Any) -> Array:
        check_is_fitted(self)
        return np.asarray(getattr(self.estimator_, method)(X))

    def predict(self, X: Any) -> Array:
        """Return the prediction for each bag."""
        return self._ask("predict", X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, shape (n_bags, n_classes)."""
        return self._ask("predict_proba", X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return decision values, shape (n_bags,) or (n_bags, n_classes)."""
        return self._ask("decision_function", X)

    @_has("instance_scores")  # type: ignore[untyped-decorator]
    def instance_scores(self, X: Any) -> Array:
        """Return the score of each instance, in the order of ``as_bags(X).instances``."""
        return self._ask("instance_scores", X)


class LabeledInstances(BagMetaEstimator):
    """Fit any estimator of bags with the instances whose labels are known as bags of their own.

    The labels come with the bags, ``bags.instance_labels``: the label of an instance, or None or NaN where it is not
    known. They stay with their bags in a cross-validation.

    Parameters
    ----------
    estimator : estimator
        Of bags; its ``fit`` must take ``sample_weight``, unless ``weight`` is 1.
    weight : float, default 1.0
        Weight of a labeled instance; a bag has weight 1.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on the bags and the labeled instances.

    Examples
    --------
    >>> from fuzzymil import Bags, RuleClassifier
    >>> rows = np.array([[0.0], [0.2], [2.0], [0.1], [0.3], [2.1], [0.0], [2.2]])
    >>> known = [None, 0, 1, None, None, 1, None, None]
    >>> bags = Bags(rows, [0, 2, 4, 6, 8], labels=[0, 1, 1, 1], instance_labels=np.array(known, dtype=object))
    >>> LabeledInstances(RuleClassifier(random_state=0)).fit(bags).predict(bags).shape
    (4,)
    """

    def __init__(self, estimator: Any, *, weight: float = 1.0) -> None:
        self.estimator = estimator
        self.weight = weight

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the estimator on bags and their labeled instances; ``y`` (n_bags,) defaults to the labels of the bags."""
        check_parameters(self, {"weight": real(low=0.0, open_low=True)})
        bags = as_bags(X)
        labels = bag_labels(bags, y, type(self).__name__)
        if bags.instance_labels is None:
            raise InputError(
                "The bags have no instance labels: pass Bags with instance_labels, None where one is not known."
            )
        places = np.flatnonzero(~missing(bags.instance_labels))
        weights = {}
        if sample_weight is not None or self.weight != 1:
            own = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)))
            weights["sample_weight"] = np.append(own, np.full(len(places), float(self.weight)))
        together, said = _with_instances(bags, labels, places)
        self.estimator_ = clone(self.estimator).fit(together, said, **weights)
        record_features(self, bags)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the estimator on these bags; ``y`` defaults to their labels."""
        check_is_fitted(self)
        return float(self.estimator_.score(X, y, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = _copy_tags(self.estimator, tags).input_tags
        return tags


def _with_instances(bags: Bags, labels: Array, places: Array) -> tuple[Bags, Array]:
    """Return bags followed by some of their instances as bags of their own, and the labels of both."""
    if not len(places):
        return bags, labels
    rows = bags.instances if bags.sparse is None else bags.sparse
    single = Bags(rows[places], np.arange(len(places) + 1), feature_names=bags.feature_names, columns=bags.columns)
    known = bags.instance_labels[places] if bags.instance_labels is not None else places
    said = np.asarray([*labels.tolist(), *known.tolist()], dtype=object if labels.dtype == object else None)
    plain = Bags(rows, bags.offsets, feature_names=bags.feature_names, columns=bags.columns)
    return plain + single, said


class PerInstance(MetaEstimatorMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply any scikit-learn transformer to the instances of bags, as a step of a pipeline.

    Parameters
    ----------
    transformer : transformer, default None
        ``StandardScaler()``, ``PCA(25)``, ``SimpleImputer()``, ...; required. If it uses labels, each instance gets
        the label of its bag. A ``ColumnTransformer``, also as the first step of a pipeline, gets a data frame with the
        names of the features, in which categories are text; this needs pandas.

    Attributes
    ----------
    transformer_ : transformer
        Fitted on instances.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> bags = [[[0.0], [2.0]], [[4.0]]]
    >>> PerInstance(StandardScaler()).fit_transform(bags)[1].round(3)
    array([[1.225]])
    """

    def __init__(self, transformer: Any = None) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer on the instances of all bags."""
        if not hasattr(self.transformer, "fit") or not hasattr(self.transformer, "transform"):
            raise ParameterError(
                f"PerInstance needs a transformer, such as PerInstance(StandardScaler()); got {self.transformer!r}."
            )
        bags = complete_bags(self, X, allow_missing=self._takes_missing())
        y = bags.labels if y is None else np.asarray(y)
        labels = None if y is None else np.repeat(y, bags.sizes, axis=0)
        self.transformer_ = clone(self.transformer).fit(self._rows(bags), labels)
        self._names_in = None if _by_name(self.transformer) else bags.with_indicators().feature_names
        record_features(self, bags)
        return self

    def transform(self, X: Any) -> Any:
        """Return the transformed bags; a 2-D array is returned as a 2-D array."""
        check_is_fitted(self)
        bags = complete_bags(self, X, allow_missing=self._takes_missing())
        bags = compare_features(self, bags)
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return self.transformer_.transform(X)
        found = self.transformer_.transform(self._rows(bags))
        named = bags.feature_names is not None and hasattr(self.transformer_, "get_feature_names_out")
        return bags.with_rows(found, [str(name) for name in self.get_feature_names_out()] if named else None)

    def _rows(self, bags: Bags) -> Any:
        """Return the instances as the transformer takes them."""
        if _by_name(self.transformer):
            return bags.instance_frame()
        return bags.with_indicators().instances if bags.sparse is None else bags.sparse

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the transformed features."""
        check_is_fitted(self)
        input_features = self._names_in if input_features is None else input_features
        return np.asarray(self.transformer_.get_feature_names_out(input_features))

    def set_output(self, *, transform: Any = None) -> Self:
        """Choose what the transformer returns, such as ``"pandas"``; this returns bags all the same.

        The features of the bags get the names that the transformer gives them.
        """
        each: Any
        for each in (self.transformer, getattr(self, "transformer_", None)):
            if hasattr(each, "set_output"):
                each.set_output(transform=transform)
        return self

    def _takes_missing(self) -> bool:
        return bool(self.__sklearn_tags__().input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.transformer is not None:
            inner = get_tags(self.transformer).input_tags
            tags.input_tags.allow_nan = inner.allow_nan or _by_name(self.transformer)  # its parts decide
            tags.input_tags.sparse = inner.sparse
        return tags


def _by_name(transformer: Any) -> bool:
    """Return whether a transformer chooses columns by their names."""
    first = transformer.steps[0][1] if isinstance(transformer, Pipeline) else transformer
    return isinstance(first, ColumnTransformer)
