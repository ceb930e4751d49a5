"""What scikit-learn and users expect of the estimators with fuzzy rules: labels, scores, probabilities, streams."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, check_scoring, r2_score
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InterruptedTrainingWarning, ParameterError, described, warn_user
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.bags.statistics import typical_values
from fuzzymil.estimators.inputs import (
    MOST,
    bag_labels,
    class_labels,
    compare_features,
    complete_bags,
    numbers_to_predict,
    one_positive,
    output_names,
    positive_class,
    require_labels,
    target_names,
)
from fuzzymil.estimators.parameters import Check, either, instance, label
from fuzzymil.estimators.persistence import save_model
from fuzzymil.estimators.rule_model import ClassReading, Committee, RuleModel
from fuzzymil.explain import Importance, importance
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.partition import StreamSummary, summarize
from fuzzymil.learn.train.progress import counting_bar
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase

_TYPICAL_VALUES = 10  # over which a condition on a missing value is averaged


# ---------------------------------------------------------------------- every estimator with rules


class RuleEstimator(RuleModel, BaseEstimator):
    """Base of the estimators that predict with fuzzy rules."""

    def save(self, path: Any) -> None:
        """Write the fitted model to a JSON file; read it with `load_model`."""
        save_model(self, path)

    def _truth_and_predictions(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return the labels, ``y`` or those of the bags, and the predictions."""
        if isinstance(X, BagStream) and y is None:  # one pass for both
            parts = [self._truth_and_predictions(part, None) for part in X]
            return np.concatenate([truth for truth, _ in parts]), np.concatenate([found for _, found in parts])
        if isinstance(X, BagStream):
            return np.asarray(y), self.predict(X)
        bags = as_bags(X)
        found = self.predict(bags)
        require_labels(bags, y, "score")
        return bag_labels(bags, y, type(self).__name__), found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy (of a regressor, R²) on these bags; ``y`` defaults to their labels."""
        labels, found = self._truth_and_predictions(X, y)
        measure = r2_score if self._class_reading() is None else accuracy_score
        return float(measure(labels, found, sample_weight=sample_weight))

    def importance(
        self, X: Any, y: Any = None, *, scoring: Any = None, n_repeats: int = 20, random_state: int = 0
    ) -> Importance:
        """Measure how much each feature and each rule matters for the score on some bags.

        A feature matters as much as the score drops if its values are shuffled over the instances of all bags (over the
        bags, if all instances of a bag have the same value); a rule, as the score drops without it. Measure on bags
        that were held out: on training bags, a feature that was learned by heart looks important. Print the result,
        call ``to_frame()`` or ``to_dict()``, or plot it with `fuzzymil.plots.ImportanceDisplay`.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Default: the labels of the bags.
        scoring : str or scorer, optional
            A scorer of scikit-learn, such as ``"roc_auc"``. Default: accuracy, or R².
        n_repeats : int
            Number of shuffles, and of samples of the bags for the standard deviations.
        random_state : int

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> from fuzzymil.datasets import make_planted
        >>> bags = make_planted("some", n_bags=80, n_noise=2, random_state=0)
        >>> model = RuleClassifier(random_state=0).fit(bags[::2])
        >>> found = model.importance(bags[1::2], scoring="roc_auc")
        >>> found.features[0].drop > 0.2, found.n_training
        (True, 0)
        """
        check_is_fitted(self)
        if isinstance(X, BagStream):
            raise InputError("importance takes bags in memory: pass one part of the stream, or some joined.")
        given, kind = as_bags(X), type(self).__name__
        require_labels(given, y, "importance")
        reading = self._class_reading()
        labels = (numbers_to_predict if reading is None else class_labels)(given, y, kind)
        if reading is None:
            n_labels, n_outputs = labels[0].size, self._n_outputs()
            if n_labels != n_outputs:
                raise InputError(
                    f"The model predicts {n_outputs} numbers per bag, but importance got {n_labels}: pass y of shape "
                    f"({given.n_bags}, {n_outputs})."
                )
        bags = self._bags_to_read(given)
        scorer = check_scoring(self, scoring or ("r2" if reading is None else "accuracy"))

        def score(output: Array, rows: Array) -> float:
            if scoring is None and reading is not None:  # many features take thousands of scores: no checks
                return float(np.mean(reading.labels(output[rows]) == labels[rows]))
            return float(scorer(_Answered(self, output), rows, labels[rows]))

        known = getattr(self, "coverage_", None)
        name = ("R²" if reading is None else "accuracy") if scoring is None else scoring
        return importance(
            self.members_,
            bags,
            score,
            score_name=name.replace("_", " ") if isinstance(name, str) else "score",
            groups=None if reading is None else np.unique(labels, return_inverse=True)[1],
            n_repeats=n_repeats,
            n_training=None if known is None else known.n_recognized(bags),
            rng=np.random.default_rng(random_state),
        )

    def _html_repr(self) -> str:
        """Return what a notebook shows: the rules of a fitted model, otherwise scikit-learn's diagram."""
        if not self.__sklearn_is_fitted__():
            return str(super()._html_repr())
        return str(self._rules_html(repr(self)))

    def _get_params_html(self, *arguments: Any, **settings: Any) -> Any:
        """Return what scikit-learn's diagram shows of the parameters: those that differ from their defaults."""
        found = super()._get_params_html(*arguments, **settings)
        for name in {*found} - {*found.non_default}:
            del found[name]
        return found

    def _suitable(self, rules: Any) -> Any:
        """Return rules over the model's features, or raise if they cannot replace its own.

        Features are matched by name where the model was fitted with names, otherwise by position; outputs are
        matched by position.
        """
        check_is_fitted(self)
        if not isinstance(rules, RuleBase):
            raise ParameterError(f"rules must be a RuleBase, such as model.rules_.edit(...); got {described(rules)}.")
        if rules.concludes_sets != self.rules_.concludes_sets:
            kinds = "conclude numbers", "conclude sets"
            raise ParameterError(
                f"These rules {kinds[rules.concludes_sets]}, but those of the model {kinds[not rules.concludes_sets]}."
            )
        kind, n_outputs = type(self).__name__, len(self.rules_.outputs)
        if len(rules.outputs) != n_outputs:
            raise InputError(f"These rules have {len(rules.outputs)} output(s), but this {kind} has {n_outputs}.")
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            names = tuple(map(str, names))
            return rules if rules.feature_names == names else rules.over(names)
        n_features = self.n_features_in_
        if rules.n_features != n_features:
            raise InputError(
                f"These rules have {rules.n_features} variables, but this {kind} was fitted on {n_features} features."
            )
        return rules


class _Answered(BaseEstimator):
    """A model whose output on some bags is known, as scorers ask it: about the bags at some positions."""

    def __init__(self, model: RuleEstimator, output: Array) -> None:
        self.model = model
        self.output = output
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, rows: Array) -> Array:
        return self.model._labels_of(self.output[rows])

    def decision_function(self, rows: Array) -> Array:
        return self.model._decision(self.output[rows])

    def predict_proba(self, rows: Array) -> Array:
        return self.model._probability(self.output[rows])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()


# ---------------------------------------------------------------------- labels


@dataclasses.dataclass(frozen=True)
class EncodedLabels:
    """Labels as rules learn them."""

    targets: Array  # (b, k)
    groups: Array  # (b,), number of each bag's class; all 0 in a regression
    outputs: tuple[str, ...]
    weights: Array  # (b,)
    classes: Array | None = None
    positive: int = 1  # of two classes, the one that the output is about

    def only(self, places: Array) -> EncodedLabels:
        """Return the labels of some of the bags."""
        taken = {name: getattr(self, name)[places] for name in ("targets", "groups", "weights")}
        return dataclasses.replace(self, **taken)

    def standing_for(self, whole: EncodedLabels) -> EncodedLabels:
        """Return the labels of a sample of bags, in which every class weighs as much as among all bags."""
        counts = np.bincount(whole.groups)
        share = np.bincount(self.groups, minlength=len(counts)) / np.maximum(counts, 1) * len(whole.groups)
        return dataclasses.replace(self, weights=self.weights * len(self.groups) / share[self.groups])


@dataclasses.dataclass(frozen=True)
class Overview:
    """Facts about all bags that learning needs, including those that are not in memory."""

    measures: Measures
    targets: Array  # (b, k)
    weights: Array  # (b,)


def check_weights(sample_weight: Any, bags: Bags) -> Array:
    """Return one weight per bag, none negative and not all zero."""
    if sample_weight is None:
        return np.ones(bags.n_bags)
    shape = np.asarray(sample_weight).shape
    if len(shape) == 1 and shape[0] != bags.n_bags:
        raise InputError(f"There are {bags.n_bags} bags, but sample_weight has {shape[0]}: pass one per bag.")
    try:
        weights = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)), ensure_non_negative=True)
    except (TypeError, ValueError) as problem:
        raise InputError(f"sample_weight must be one number per bag, and none negative: {problem}") from None
    weights = np.asarray(weights, float)
    if weights.max() > MOST:
        raise InputError(f"sample_weight goes up to {weights.max():g}, but weights must be at most {MOST:g}.")
    if not weights.any():
        raise InputError("All sample weights are zero: at least one bag must count.")
    return weights


def one_hot(groups: Array, n_classes: int, positive: int) -> Array:
    """Return one column per class, or a single column for the positive one of two."""
    return np.eye(n_classes)[groups][:, [positive] if n_classes == 2 else slice(None)]


def require_bags(n_bags: int) -> None:
    """Raise if there is nothing to compare."""
    if n_bags < 2:
        raise InputError("There is one sample, which means one bag: training needs at least two.")


def warn_stopped(n_epochs: int) -> None:
    """Warn that Ctrl-C ended training after so many epochs."""
    warn_user(
        f"Training was interrupted (Ctrl-C) after {n_epochs} epoch(s): the model keeps what it has learned so far. "
        "Press Ctrl-C twice to stop the program.",
        InterruptedTrainingWarning,
    )


# ---------------------------------------------------------------------- estimators that learn


class Learner(Committee, RuleEstimator):
    """Base of the estimators that learn rules from bags and labels."""

    missing: str
    random_state: Any
    verbose: bool

    @property
    def _given_rules(self) -> RuleBase | None:
        """The rules that learning starts from."""
        return None

    def _bags_to_learn_from(self, X: Any, *, resumes: bool = False) -> Bags:
        bags = complete_bags(self, X, allow_missing=self.missing != "error")
        return compare_features(self, bags) if resumes else bags

    def _missing_values(self, bags: Bags) -> Array | None:
        """Return what missing values stand for, (t, d); None: nothing."""
        count = {"average": _TYPICAL_VALUES, "condition": 1, "median": 1}.get(self.missing)
        return None if count is None else typical_values(bags, count)

    def _scaling(
        self, measures: Measures, targets: Array, *, standardize: bool = True, clip: float | None = 3.0
    ) -> Scaling:
        """Return how features, and the targets of a regression, are standardized."""
        return Scaling.fit(measures, standardize=standardize, clip=clip)

    def _bags_to_read(self, X: Any) -> Bags:
        check_is_fitted(self)
        return super()._bags_to_read(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        return tags


class BagClassifier(ClassifierMixin, Learner):
    """What classifiers of bags share: encoding of classes, decision values, probabilities."""

    class_weight: Any
    pos_label: Any

    class_checks: ClassVar[Mapping[str, Check]] = {
        "class_weight": either(None, "balanced", otherwise=instance(Mapping, "a dict, 'balanced' or None")),
        "pos_label": label,
    }

    _loss: str  # that the fitted rules were trained with, which tells what their output means
    _intended_loss: str  # of the next fit

    def _encode(
        self, bags: Bags, y: Any, sample_weight: Any, *, resumes: bool = False, classes: Any = None
    ) -> EncodedLabels:
        labels = class_labels(bags, y, type(self).__name__)
        found = np.unique(labels)
        known: Array = self.classes_ if resumes else found if classes is None else np.unique(classes)
        unknown = np.setdiff1d(found, known)
        if len(unknown):
            raise InputError(f"The label {unknown[0]!s} is not one of the classes {', '.join(map(str, known))}.")
        if len(known) < 2:
            raise InputError(
                f"All {bags.n_bags} bags belong to one class ({known[0]!s}): a classifier needs at least two "
                "classes. Check the labels, or add bags of another class."
            )
        groups = np.searchsorted(known, labels)
        loss = LOSSES[self._loss if resumes else self._intended_loss]
        positive = self._positive_place if resumes else self._intended_positive(known)
        targets = loss.low + (loss.high - loss.low) * one_hot(groups, len(known), positive)
        weights = check_weights(sample_weight, bags) * self._class_weights(groups, known)
        return EncodedLabels(targets, groups, output_names(known, positive), weights, known, positive)

    def _intended_positive(self, classes: Array) -> int:
        """Return which of two classes the output of the next fit is about."""
        one_positive(classes, self.pos_label)
        if len(classes) != 2:
            return 1
        rules = self._given_rules
        given = () if rules is None else rules.output_names
        return positive_class(classes, given[0] if len(given) == 1 else "", self.pos_label)

    @property
    def _positive_place(self) -> int:
        """Which of two classes the output is about."""
        return 0 if len(self.classes_) == 2 and self.pos_label_ == self.classes_[0] else 1

    def _record_labels(self, labels: EncodedLabels) -> None:
        self.classes_: Array = np.asarray(labels.classes)
        self.pos_label_: Any = self.classes_.tolist()[labels.positive] if len(self.classes_) == 2 else None

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

    score = RuleEstimator.score

    def decision_function(self, X: Any) -> Array:
        """Return decision values, (n_bags,), above 0 for the second of two classes, otherwise (n_bags, n_classes)."""
        if isinstance(X, BagStream):
            found: Array = X.each(self.decision_function)
            return found
        return self._decision(self._infer(X)[0])

    def _class_reading(self) -> ClassReading:
        calibration = getattr(self, "calibration_", None)
        return ClassReading.of_network(self.classes_, self._loss, calibration, self._positive_place)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (n_bags, n_classes); `fuzzymil.learn.train.losses` defines them for each loss."""
        if isinstance(X, BagStream):
            found: Array = X.each(self.predict_proba)
            return found
        return self._probability(self._infer(X)[0])


class BagRegressor(RegressorMixin, Learner):
    """What regressors of bags share: targets, scaling, scores."""

    def _encode(
        self, bags: Bags, y: Any, sample_weight: Any, *, resumes: bool = False, classes: Any = None
    ) -> EncodedLabels:
        targets = numbers_to_predict(bags, y, type(self).__name__).reshape(bags.n_bags, -1)
        names = target_names(bags, y, targets.shape[1])
        return EncodedLabels(targets, np.zeros(bags.n_bags, int), names, check_weights(sample_weight, bags))

    def _record_labels(self, labels: EncodedLabels) -> None:
        """Numbers leave nothing to record."""

    def _scaling(self, measures: Measures, targets: Array, **settings: Any) -> Scaling:
        deviation = targets.std(axis=0)
        found: Scaling = super()._scaling(measures, targets, **settings)
        return found.with_targets(targets.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    score = RuleEstimator.score

    def _class_reading(self) -> None:
        return None


# ---------------------------------------------------------------------- streams


class LabeledStream(NamedTuple):
    """What one pass over a stream of bags tells: their labels, and a sample of them."""

    summary: StreamSummary
    labels: EncodedLabels  # of all bags
    overview: Overview

    @property
    def sample(self) -> tuple[Bags, EncodedLabels]:
        """Some of the bags, and their labels."""
        return self.summary.sample, self.labels.only(self.summary.places)


def summarize_stream(
    estimator: Learner, stream: BagStream, y: Any, sample_weight: Any, *, resumes: bool = False, **settings: Any
) -> LabeledStream:
    """Read a stream once; ``settings`` are those of `summarize`."""
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise InputError(f"The bags of a stream carry their labels and have equal weights: leave {name} out.")
    check = functools.partial(estimator._bags_to_learn_from, resumes=resumes)
    with counting_bar("Reading", enabled=bool(estimator.verbose)) as report:
        summary = summarize(stream, check, report, **settings)
    n_bags = len(summary.labels)
    require_bags(n_bags)
    # Encoding looks at labels only, so bags with a single zero stand in for those that are not in memory.
    blank = Bags(np.zeros((n_bags, 1)), np.arange(n_bags + 1))
    labels = estimator._encode(blank, summary.labels, None, resumes=resumes)
    summary.measures.require_moderate(summary.sample.names)
    return LabeledStream(summary, labels, Overview(summary.measures, labels.targets, labels.weights))
