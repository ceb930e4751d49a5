"""Base of the estimators with hand-written rules."""

from __future__ import annotations

import dataclasses
import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described, listed, warn_user
from fuzzymil.bags import Bags
from fuzzymil.estimators.base import RuleEstimator
from fuzzymil.estimators.inputs import (
    bag_labels,
    class_labels,
    classes_of_outputs,
    compare_features,
    complete_bags,
    one_positive,
    positive_class,
    record_features,
    warn_if_worse_than_chance,
)
from fuzzymil.estimators.parameters import Check, check_parameters, choice, either, label, real
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import matched
from fuzzymil.rules.rule import Variable


def variables_of(what: str, given: Any) -> tuple[Variable, ...]:
    """Return variables from ``{name: {term: set}}``, ``{name: Variable}``, or a sequence of Variables.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian
    >>> variables_of("inputs", {"hue": {"blue": Gaussian(0.6, 0.1)}})[0].name
    'hue'
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        variables = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
        for variable in variables:
            if not isinstance(variable, Variable):
                raise ParameterError(
                    f"{what} must map names to terms, or be a sequence of Variables; got {described(variable)}."
                )
        return variables
    found = []
    for name, terms in given.items():
        if not isinstance(terms, Variable | Mapping):
            raise ParameterError(
                f"{what}[{name!r}] must be terms, {{'low': Gaussian(0, 1)}}, or a Variable; got {described(terms)}."
            )
        variable = terms if isinstance(terms, Variable) else Variable(str(name), terms)
        if variable.name != name:
            raise ParameterError(f"{what}[{name!r}] is a Variable named {variable.name!r}: use the same name.")
        found.append(variable)
    return tuple(found)


_CONTAINERS = (list, tuple, np.ndarray, Mapping)


def _frozen(value: Any) -> Any:
    """Return a parameter as it is now: a list or mapping might be changed later."""
    if isinstance(value, Mapping):
        return tuple(value), _frozen(tuple(value.values()))
    if not isinstance(value, _CONTAINERS):
        return value
    # One look at each type and not at each value, for this happens at every inference.
    nested = any(issubclass(kind, _CONTAINERS) for kind in set(map(type, value)))
    return tuple(map(_frozen, value)) if nested else tuple(value)


@functools.lru_cache
def _parameters(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the parameters of an estimator."""
    return operator.attrgetter(*(field.name for field in dataclasses.fields(kind)))


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ExpertSystem(RuleEstimator):
    """Base of `MISugeno` and `MIMamdani`."""

    concludes_sets: ClassVar[bool]  # whether its rules do

    threshold: float | None = 0.5
    pos_label: Any = None
    missing: str = "error"

    checks: ClassVar[Mapping[str, Check]] = {
        "missing": choice(("error", "ignore")),
        "threshold": either(None, otherwise=real()),
        "pos_label": label,
    }

    # ------------------------------------------------------------------ rules

    @abstractmethod
    def _described_rules(self) -> Any:
        """Return the rules that the parameters describe."""

    def _of_this_kind(self, rules: RuleBase) -> RuleBase:
        """Return rules, or raise `ParameterError` if they conclude something else than those of this estimator."""
        if rules.concludes_sets != self.concludes_sets:
            said, instead = ("terms of outputs", "MIMamdani") if rules.concludes_sets else ("numbers", "MISugeno")
            raise ParameterError(f"These rules conclude {said}: use {instead} instead of {type(self).__name__}.")
        return rules

    def _rules_read_once(self) -> Any:
        """Return the rules that the parameters describe, parsed again only if a parameter has changed."""
        parameters = _frozen(_parameters(type(self))(self))
        known = self.__dict__.get("_read")
        if known is None or known[0] != parameters:
            known = self._read = parameters, self._described_rules()
        return known[1]

    @abstractmethod
    def _with_outputs(self, rules: Any, order: list[int]) -> Any:
        """Return rules with their outputs in another order."""

    def _check_settings(self) -> None:
        check_parameters(self, self.checks)

    def _bags(self, X: Any) -> Bags:
        self._check_settings()
        return complete_bags(self, X, allow_missing=self.missing == "ignore", instead="ignore")

    # ------------------------------------------------------------------ fitting

    def _improved(
        self, rules: Any, classes: Array | None, positive: int, bags: Bags, y: Any, sample_weight: Any
    ) -> Any:
        """Return the rules after training, if there is any."""
        del classes, positive, bags, y, sample_weight
        return rules

    def _settle(self, rules: Any, bags: Bags, y: Any, sample_weight: Any = None) -> Self:
        """Check that features and labels suit the rules, improve them, and record everything."""
        matched(rules, bags)
        classes, positive = None, 1
        if self._classifies():
            rules, classes = self._with_classes(rules, bags, y)
            one_positive(classes, self.pos_label)
            if len(rules.output_names) == 1:
                positive = positive_class(classes, rules.output_names[0], self.pos_label)
                self._warn_if_worse_than_chance(rules, classes, positive, bags, y)
        elif y is not None or bags.labels is not None:
            check_array(bag_labels(bags, y, type(self).__name__), ensure_2d=False, dtype=np.float64, input_name="y")
        rules = self._improved(rules, classes, positive, bags, y, sample_weight)
        record_features(self, bags)
        self._set_fitted(rules, classes, positive)
        return self

    def _warn_if_worse_than_chance(self, rules: Any, classes: Array, positive: int, bags: Bags, y: Any) -> None:
        if self.rules is None or (y is None and bags.labels is None):
            return
        is_positive = class_labels(bags, y, type(self).__name__) == classes[positive]
        output = np.asarray(rules.infer(bags).output)[:, 0]
        warn_if_worse_than_chance(output, is_positive, classes[positive], classes[1 - positive])

    def _set_fitted(self, rules: Any, classes: Array | None, positive: int) -> None:
        """Set the fitted attributes; ``positive`` is the position of the class that a single output is about."""
        self.rules_ = rules
        self._members = [rules]
        for name in ("classes_", "pos_label_"):  # from an earlier fit as a classifier
            self.__dict__.pop(name, None)
        if classes is not None:
            self.classes_ = classes
            self.pos_label_ = classes.tolist()[positive] if len(rules.output_names) == 1 else None

    @property
    def _positive_place(self) -> int:
        """Which of two classes a single output is about."""
        known = getattr(self, "pos_label_", None)
        return 0 if known is not None and known == self.classes_[0] else 1

    def _with_classes(self, rules: Any, bags: Bags, y: Any) -> tuple[Any, Array]:
        """Return the rules, with their outputs in the order of the classes, and the classes."""
        outputs = rules.output_names
        unlabeled = y is None and bags.labels is None
        if len(outputs) > 1:
            labels = np.array(outputs) if unlabeled else class_labels(bags, y, type(self).__name__)
            classes, order = classes_of_outputs(outputs, labels)
            return self._with_outputs(rules, order), classes
        classes = np.arange(2) if unlabeled else np.unique(class_labels(bags, y, type(self).__name__))
        if len(classes) != 2:
            raise InputError(
                f"One output distinguishes two classes, but these bags have {len(classes)} ({listed(classes)}): "
                + ("pass bags of both." if len(classes) == 1 else "write rules with one output per class.")
            )
        return rules, classes

    # ------------------------------------------------------------------ answers

    def _bags_to_read(self, X: Any) -> Bags:
        check_is_fitted(self)
        bags = self._bags(X)
        bags = compare_features(self, bags)
        # Rules refer to features by name; columns are matched by position only if they have no names.
        names = bags.feature_names
        if names is None or not set(self.rules_.feature_names) <= set(names):
            names = getattr(self, "feature_names_in_", None)
        known = None if bags.columns is None or bags.feature_names != names else bags.columns
        plain = Bags(bags.instances, bags.offsets, ids=bags.ids, feature_names=names, columns=known, source=bags.source)
        return matched(self.rules_, plain)

    def _infer(self, X: Any, *, by_instance: bool = False, covered: bool = False) -> tuple[Array, None]:
        bags = self._bags_to_read(X)
        if by_instance:
            single = np.arange(bags.n_instances + 1)
            found = self.rules_.infer(Bags(bags.instances, single, feature_names=bags.feature_names))
        else:
            found = self._reported(self.rules_.infer(bags), bags)
        return np.asarray(found.output), None

    def _reported(self, found: Any, bags: Bags) -> Any:
        """Warn about bags on which no rule fires, and return the activations."""
        silent = np.asarray(found.uncovered).reshape(bags.n_bags, -1).any(axis=1)
        if silent.any():
            warn_user(
                f"No rule fires on {silent.sum()} of {bags.n_bags} bag(s); their output is the default. "
                f"Bags: {listed(bags.ids[silent])} (infer(bags).uncovered marks them)."
            )
        return found

    def _inferred(self, rules: Any, X: Any) -> Any:
        bags = self._bags(X)
        return self._reported(rules.infer(bags), bags)

    def _classifies(self) -> bool:
        return self.threshold is not None

    def _class_reading(self) -> ClassReading | None:
        if self.threshold is None:
            return None
        return ClassReading(
            classes=self.classes_,
            likely=self._likely,
            threshold=self.threshold if self._n_outputs() == 1 else 0.0,
            positive=self._positive_place,
        )

    def _likely(self, output: Array) -> Array:
        """Return the probability of each output's class, of the same shape as the outputs."""
        limited = LOSSES["squared_error"].probability
        assert limited is not None
        assert self.threshold is not None
        # Around the threshold, so that the predicted class is the more probable one.
        return limited(output + (0.5 - self.threshold if self._n_outputs() == 1 else 0.0))

    @available_if(lambda self: self._classifies())  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_bags,) or (n_bags, n_classes)
            With two classes one value per bag, above 0 for the second class; otherwise one value per class.
        """
        return self._decision(self._infer(X)[0])

    @available_if(lambda self: self._classifies())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the outputs, clipped to [0, 1], as class probabilities.

        A single output is shifted so that the threshold is at one half.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_bags, n_classes)
            Rows sum to one.
        """
        return self._probability(self._infer(X)[0])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rules_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._classifies():
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.input_tags.sparse = True
        return tags
