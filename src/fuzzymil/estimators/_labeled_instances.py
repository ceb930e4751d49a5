"""Learning from bags of which some instances are labeled, too."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil._utils.arrays import Array, missing
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators.inputs import bag_labels, record_features
from fuzzymil.estimators.parameters import check_parameters, real


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), name))


class LabeledInstances(MetaEstimatorMixin, BaseEstimator):
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
        """Fit the estimator on bags and labeled instances.

        Parameters
        ----------
        X : Bags
            With ``instance_labels``.
        y : array of shape (n_bags,), optional
            Label of each bag. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag.
        """
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

    def predict(self, X: Any) -> Array:
        """Return the prediction for each bag."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, shape (n_bags, n_classes)."""
        return np.asarray(self.estimator_.predict_proba(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return decision values, shape (n_bags,) or (n_bags, n_classes)."""
        return np.asarray(self.estimator_.decision_function(X))

    @_has("instance_scores")  # type: ignore[untyped-decorator]
    def instance_scores(self, X: Any) -> Array:
        """Return the score of each instance."""
        return np.asarray(self.estimator_.instance_scores(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the estimator on these bags; ``y`` defaults to their labels."""
        check_is_fitted(self)
        return float(self.estimator_.score(X, y, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
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
