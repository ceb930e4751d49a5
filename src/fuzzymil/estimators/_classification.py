"""Base of the network classifiers: encoding of classes, decision values, probabilities."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_class_weight

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators._initialization import Coding
from fuzzymil.estimators._jobs import Job, checked_weights
from fuzzymil.estimators._network import Network
from fuzzymil.estimators.inputs import class_labels, one_positive, output_names, positive_class
from fuzzymil.estimators.parameters import Check, either, instance, label
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.learn.train.losses import LOSSES

if TYPE_CHECKING:
    from fuzzymil.learn.train import Result


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkClassifier(ClassifierMixin, Network):
    """Base of `MIANFISClassifier` and `ANFISClassifier`."""

    loss: str = "squared_error"
    class_weight: Any = None
    positive: Any = None

    checks: ClassVar[Mapping[str, Check]] = {
        **Network.checks,
        "class_weight": either(None, "balanced", otherwise=instance(Mapping, "a dict, 'balanced' or None")),
        "positive": label,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rules from bags.

        Parameters
        ----------
        X : Bags, BagStream, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Class of each bag. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag. Default: equal weights.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these bags, starting from the current rules.

        The first call determines the scale of the features and initializes the rules: pass it typical bags, and
        ``classes`` if some of them do not occur in it.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Default: the labels of the bags.
        classes : array of shape (n_classes,), optional
            All classes; only needed in the first call.
        sample_weight : array of shape (n_bags,), optional
        """
        return self._fit_part(X, y, sample_weight, classes)

    def _encode(self, bags: Bags, y: Any, sample_weight: Any, *, resumes: bool, classes: Any) -> Coding:
        labels = class_labels(bags, y, type(self).__name__)
        found = np.unique(labels)
        known: Array = self.classes_ if resumes else found if classes is None else np.unique(classes)
        unknown = np.setdiff1d(found, known)
        if len(unknown):
            raise InputError(f"The label {unknown[0]!s} is not one of the classes {', '.join(map(str, known))}.")
        if len(known) < 2:
            raise InputError(
                f"All {bags.n_bags} bags belong to one class ({known[0]!s}): a classifier needs at least two classes."
            )
        groups = np.searchsorted(known, labels)
        loss = LOSSES[self._loss if resumes else self._intended_loss]
        positive = self._positive_place if resumes else self._intended_positive(known)
        targets = loss.low + (loss.high - loss.low) * _one_hot(groups, len(known), positive)
        weights = checked_weights(sample_weight, bags) * self._class_weights(groups, known)
        return Coding(targets, groups, output_names(known, positive), weights, known, positive)

    def _intended_positive(self, classes: Array) -> int:
        """Return which of two classes the output of the next fit is about."""
        one_positive(classes, self.positive)
        if len(classes) != 2:
            return 1
        rules = self._given_rules
        given = () if rules is None else rules.output_names
        return positive_class(classes, given[0] if len(given) == 1 else "", self.positive)

    @property
    def _positive_place(self) -> int:
        """Which of two classes the output is about."""
        return 0 if len(self.classes_) == 2 and self.positive_ == self.classes_[0] else 1

    def _finish(self, job: Job, result: Result) -> Self:
        super()._finish(job, result)
        self._record_classes(job.coding)
        before = getattr(self, "calibration_", None) if job.resumes else None
        self.calibration_: Any = None
        if LOSSES[self._loss].probability is None:
            one_hot = _one_hot(job.coding.groups, len(self.classes_), job.coding.positive)
            # Part of the data may be small or of one class: keep the calibration on more data.
            keep = job.partial and before is not None
            self.calibration_ = before if keep else _calibrated(self._output(job.bags), one_hot, job.coding.weights)
        return self

    def _set_classes(self, coding: Coding) -> None:
        self._record_classes(coding)
        self.calibration_ = None

    def _record_classes(self, coding: Coding) -> None:
        self.classes_: Array = np.asarray(coding.classes)
        self.positive_: Any = self.classes_.tolist()[coding.positive] if len(self.classes_) == 2 else None

    def _class_weights(self, groups: Array, known: Array) -> Array:
        """Return the weight (b,) of each bag by its class."""
        given = self.class_weight
        if given is None:
            return np.ones(len(groups))
        present = np.unique(groups)
        if isinstance(given, dict):
            place = {label: group for group, label in enumerate(known.tolist())}
            unknown = [label for label in given if label not in place]
            if unknown:
                raise ParameterError(f"class_weight names {unknown[0]!r}, which is not a class of these bags.")
            given = {place[label]: weight for label, weight in given.items() if place[label] in present}
        by_class = dict(zip(present, compute_class_weight(given, classes=present, y=groups), strict=True))
        values = np.array([by_class[group] for group in groups], float)
        if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
            raise ParameterError(f"class_weight must be finite, non-negative and not all 0, got {self.class_weight!r}.")
        return values

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on these bags; ``y`` defaults to their labels."""
        labels, found = self._truth_and_predictions(X, y)
        return float(accuracy_score(labels, found, sample_weight=sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_bags,) or (n_bags, n_classes)
            With two classes one value per bag, above 0 for the second class; otherwise one value per class, of which
            the greatest decides.
        """
        return self._decision(self._infer(X)[0])

    def _classifies(self) -> bool:
        return True

    def _class_reading(self) -> ClassReading:
        calibration = getattr(self, "calibration_", None)
        return ClassReading.of_network(self.classes_, self._loss, calibration, self._positive_place)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities; `fuzzymil.learn.train.losses` defines them for each loss.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_bags, n_classes)
        """
        return self._probability(self._infer(X)[0])

    def instance_scores(self, X: Any) -> Array:
        """Return the decision value of each instance, treated as a bag of its own.

        A rule that counts, such as ``AT LEAST 3 A is high``, asks an instance whether it is one of those.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_instances,) or (n_instances, n_classes)
            As in `decision_function`; instances are in the order of ``as_bags(X).instances``.

        Notes
        -----
        A bag of one instance has the value of its instance. The value of a larger bag is not the maximum of its
        instances' values and need not even lie between them: instances are aggregated rule by rule (Layer 3) before
        rules are weighed against each other (Layer 4), so a bag may fire a combination of rules that none of its
        instances fires. Where a rule fires, the following holds:

        - A rule's firing strength for a bag lies between the least and the greatest truth of the bag's instances. It
          equals the greatest for ``aggregation="max"`` or an infinite ``alpha``, and is at least the greatest for
          ``"algebraic"`` and ``"bounded"``.
        - With ``order=0`` and normalized strengths, the values of bags and instances lie between the least and the
          greatest conclusion of any rule.
        - If, in addition, ``alpha=0`` averages the instances (``aggregation="softmax"``), a bag's value is the mean
          of its instances' values, each weighted by the sum of its truths over the rules; without normalization, the
          plain mean. (For a single member.)
        - With two rules, ``order=0``, normalized strengths and ``aggregation="max"``, a bag's value lies between the
          least and the greatest value of its instances.

        Examples
        --------
        Positive instances stand out although only bags were labeled; a greater ``alpha`` helps:

        >>> from sklearn.metrics import roc_auc_score
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> train, test = make_two_concepts(random_state=0), make_two_concepts(random_state=1000)
        >>> model = MIANFISClassifier(alpha=5, random_state=0).fit(train)
        >>> roc_auc_score(test.instance_labels > 0, model.instance_scores(test)) > 0.99
        True
        """
        return self._decision(self._infer(X, by_instance=True)[0])


def _one_hot(groups: Array, n_classes: int, positive: int) -> Array:
    """Return one column per class, or a single column for the positive one of two."""
    return np.eye(n_classes)[groups][:, [positive] if n_classes == 2 else slice(None)]


def _calibrated(output: Array, one_hot: Array, weights: Array) -> Array:
    """Return slope and intercept (k, 2) of a sigmoid that maps training outputs to probabilities."""
    found = np.tile([2.0, 0.0], (one_hot.shape[1], 1))  # for a class that none or all of these bags have
    counts = weights > 0
    for k, member in enumerate(one_hot.T > 0.5):
        if len(np.unique(member[counts])) == 2:
            sigmoid = LogisticRegression(C=1e6, max_iter=1000)
            sigmoid.fit(output[counts][:, [k]], member[counts], sample_weight=weights[counts])
            if sigmoid.coef_[0, 0] > 0:  # a greater margin must not lower the probability
                found[k] = sigmoid.coef_[0, 0], sigmoid.intercept_[0]
    return found
