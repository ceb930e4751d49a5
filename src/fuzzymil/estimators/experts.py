"""MI-Sugeno and MI-Mamdani: rules that an expert has written, applied to bags; Mamdani rules may also be learned."""

from __future__ import annotations

import copy
import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, RegressorTags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described, known_name, listed, warn_user
from fuzzymil.bags import Bags
from fuzzymil.estimators.base import RuleEstimator, check_weights, warn_stopped
from fuzzymil.estimators.inputs import (
    class_labels,
    classes_of_outputs,
    compare_features,
    complete_bags,
    names_of_class,
    numbers_to_predict,
    one_positive,
    output_names,
    positive_class,
    record_features,
    warn_if_worse_than_chance,
)
from fuzzymil.estimators.parameters import (
    above_zero,
    check_parameters,
    checked,
    choice,
    either,
    frozen_names,
    integer,
    label,
    real,
    seed,
)
from fuzzymil.estimators.persistence import loadable
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.estimators.rules import RuleClassifier
from fuzzymil.inference.membership import Gaussian
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.constraints import Constraints
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.mamdani import train
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import matched
from fuzzymil.rules.conclusion import TERMS, Defuzzification
from fuzzymil.rules.language import parser
from fuzzymil.rules.rule import Variable

_PREMISES = ("t_norm", "s_norm", "aggregation", "alpha")
_DEFUZZIFICATION = ("implication", "accumulation", "defuzzify", "resolution")
OPERATORS = (*_PREMISES, *_DEFUZZIFICATION, "default")
_CUSTOMARY = {"t_norm": "min", "aggregation": "max"}
_OF_TRAINING = ("initial_rules_", "history_", "active_bounds_")
_KEPT = ("threshold", "pos_label", "missing", "random_state")  # with other rules


def variables_of(what: str, given: Any) -> tuple[Variable, ...]:
    """Return variables from ``{name: {term: set}}``, ``{name: Variable}``, or a sequence of Variables."""
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


@functools.lru_cache(maxsize=16)
def _parse(text: Any, inputs: tuple[Variable, ...], outputs: tuple[Variable, ...], **operators: Any) -> RuleBase:
    """Return the rules of a text, with operators that complete it or overrule what it states."""
    stated = {"default", *parser.read(text, inputs, outputs).settings}
    further = {name: value for name, value in operators.items() if name not in stated}
    changed = {name: value for name, value in operators.items() if name in stated}
    return RuleBase.parse(text, inputs, outputs, **further).with_settings(**changed)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ExpertSystem(RuleEstimator):
    """Base of `MISugeno` and `MIMamdani`."""

    concludes_sets: ClassVar[bool]  # whether its rules do
    outputs = None  # a parameter of rules that conclude sets

    inputs: Any = dataclasses.field(default=None, kw_only=False)
    threshold: float | None = checked(either(None, otherwise=real()), 0.5)
    pos_label: Any = checked(label, None)
    missing: str = checked(choice(("error", "ignore")), "error")

    # ------------------------------------------------------------------ rules

    @property
    def rule_base(self) -> RuleBase:
        """The rules that the parameters describe."""
        given = self._given_operators()
        if isinstance(self.rules, RuleBase):
            if self.inputs is not None or self.outputs is not None:
                raise ParameterError("A RuleBase already has its variables: omit inputs and outputs.")
            return self._of_this_kind(self.rules).with_settings(**given)
        if self.rules is None:
            raise ParameterError(f"{type(self).__name__} needs rules, such as rules=['IF hue is blue THEN sky = 1'].")
        variables = variables_of("inputs", self.inputs), variables_of("outputs", self.outputs)
        text = tuple(self.rules) if isinstance(self.rules, list) else self.rules
        plain = {name: tuple(value) if isinstance(value, list | np.ndarray) else value for name, value in given.items()}
        return self._of_this_kind(_parse(text, *variables, **plain))

    @abstractmethod
    def _given_operators(self) -> dict[str, Any]:
        """Return the operators that overrule those of the rules."""

    def _of_this_kind(self, rules: RuleBase) -> RuleBase:
        """Return rules, or raise `ParameterError` if they conclude something else than those of this estimator."""
        if rules.concludes_sets != self.concludes_sets:
            said, instead = ("terms of outputs", "MIMamdani") if rules.concludes_sets else ("numbers", "MISugeno")
            raise ParameterError(f"These rules conclude {said}: use {instead} instead of {type(self).__name__}.")
        return rules

    def _check_settings(self) -> None:
        check_parameters(self)

    def _bags(self, X: Any) -> Bags:
        self._check_settings()
        return complete_bags(self, X, allow_missing=self.missing == "ignore", instead="ignore")

    # ------------------------------------------------------------------ fitting

    def _improve(self, rules: Any, classes: Array | None, positive: int, bags: Bags, y: Any, sample_weight: Any) -> Any:
        """Return the rules after training, if there is any."""
        return rules

    def _settle(self, rules: Any, bags: Bags, y: Any, sample_weight: Any = None) -> Self:
        """Check that features and labels suit the rules, improve them, and record everything."""
        matched(rules, bags)
        classes, positive = None, 1
        if len(rules.output_names) > 1 and self.threshold not in (None, ExpertSystem.threshold):
            raise ParameterError(
                f"threshold={self.threshold!r} is for a single output; of several, the greatest decides: leave it out."
            )
        if self._classifies():
            rules, classes = self._with_classes(rules.with_answers(), bags, y)
            one_positive(classes, self.pos_label)
            if len(rules.output_names) == 1:
                positive = positive_class(classes, rules.output_names[0], self.pos_label)
                if self.rules is not None and not (y is None and bags.labels is None):
                    is_positive = class_labels(bags, y, type(self).__name__) == classes[positive]
                    output = np.asarray(rules.infer(bags).output)[:, 0]
                    warn_if_worse_than_chance(output, is_positive, classes[positive], classes[1 - positive])
        elif y is not None or bags.labels is not None:
            numbers_to_predict(bags, y, type(self).__name__)
        rules = self._improve(rules, classes, positive, bags, y, sample_weight)
        record_features(self, bags)
        self._set_fitted(rules, classes, positive)
        return self

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
            return _reorder(rules, order), classes
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

    def infer(self, X: Any) -> Any:
        """Apply the rules that the parameters describe to bags; given rules do not need `fit`.

        Features are matched by name if the bags have names; other features are ignored. The `Activations` hold the
        truth of each rule for each instance, its firing strength for each bag, what it concludes, and the output.
        """
        rules, bags = self.rule_base, self._bags(X)
        return self._reported(rules.infer(bags), bags)

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy with other rules over its features, for example edited ones, and their operators.

        Examples
        --------
        >>> model = MISugeno(rules="VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1")
        >>> model = model.fit([[[0.6]], [[0.1]]], ["no", "yes"])
        >>> model.with_rules(model.rules_.edit(conclusions={1: 0})).predict([[[0.6]]]).tolist()
        ['no']
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        defaults = {field.name: field.default for field in dataclasses.fields(self) if field.name not in _KEPT}
        model.set_params(**defaults | {"rules": rules})
        for name in _OF_TRAINING:
            model.__dict__.pop(name, None)
        model._set_fitted(rules, getattr(self, "classes_", None), self._positive_place)
        return model

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
        """Return decision values: above 0 for the second of two classes, otherwise one value per class."""
        return self._decision(self._infer(X)[0])

    @available_if(lambda self: self._classifies())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the outputs, clipped to [0, 1], as class probabilities, shape (n_bags, n_classes).

        A single output is shifted so that the threshold is at one half.
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


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MISugeno(ExpertSystem):
    """If-then rules written by an expert, applied to bags; rules conclude numbers (MI-Sugeno).

    For each rule, the memberships of an instance are combined over its features, the truth of the instances over the
    bag, and the instances' linear responses into the conclusion of the rule. The output is the mean of the rules'
    conclusions, weighted by their firing strengths. `infer` does not need `fit`. `fit` learns nothing: it checks the
    features and records the classes, so that rules can be scored, cross-validated, saved, plotted and explained like a
    learned model.

    Parameters
    ----------
    inputs : mapping, sequence of Variable or None, default None
        The input variables: a mapping from names to terms, ``{"hue": {"blue": Gaussian(0.6, 0.1)}}``, or to a
        `Variable` with a range and a unit. Not needed if the rules declare their variables themselves.
    rules : str, sequence of str, or RuleBase, default None
        The rules, such as ``"IF hue is blue AND texture is not rough THEN sky = 1"``; `RuleBase.parse` describes the
        language.
    t_norm, s_norm, aggregation, alpha, conclusion_aggregation, conclusion_alpha, normalize : default None
        The operators, as in `RuleBase`. None: what the rules state (``USING t_norm = min, aggregation = max``, or those
        of a rule base), otherwise the defaults of `RuleBase.parse`: the product, and the maximum over instances. The
        same text gives the same numbers wherever it is read. The paper's figure of MI-Sugeno has ``t_norm="min"``.
    default : float or sequence of float, default None
        Output for a bag on which no rule fires at all; one value, or one per output. None: what the rules state,
        otherwise 0.
    threshold : float or None, default 0.5
        An output above it means the positive class. None makes a regressor: `predict` returns the output itself.
    pos_label : label or None, default None
        Of two classes, the positive one, which a single output is about. None: the class after which the output is
        named, otherwise the one that sorts last.
    missing : {"error", "ignore"}, default "error"
        How to handle NaN: raise an error, or let a missing value match every fuzzy set, unless the rules say what it
        stands for (``MISSING AS``).

    Attributes
    ----------
    rule_base : RuleBase
        The rules that the parameters describe; available without a fit.
    rules_ : RuleBase
        The same after a fit, with several outputs in the order of ``classes_``.
    members_ : list of RuleBase
        ``[rules_]``, as in a learned model.
    classes_ : array of shape (n_classes,)
        For a classifier: the labels passed to `fit` (0 and 1 if there were none). Each of several outputs is named
        after its class, and the greatest output decides.
    pos_label_ : label or None
        Of two classes, the positive one, which a single output is about.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian
    >>> hue, texture = {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)}, {"smooth": Gaussian(0, 0.3)}
    >>> model = MISugeno(
    ...     inputs={"hue": hue, "texture": texture},
    ...     rules=["IF hue is blue AND texture is smooth THEN sky = 1", "IF hue is red THEN sky = 0"],
    ...     t_norm="min")
    >>> found = model.infer([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]])
    >>> found.firing.round(3).tolist()
    [[0.882, 0.607], [0.0, 1.0]]
    >>> found.output.round(3).tolist()
    [[0.593], [0.0]]
    >>> model.fit([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]], ["sky", "no sky"]).predict([[[0.6, 0.0]]]).tolist()
    ['sky']
    """

    concludes_sets: ClassVar[bool] = False

    rules: Any = dataclasses.field(default=None, kw_only=False)
    t_norm: str | None = None
    s_norm: str | None = None
    aggregation: str | None = None
    alpha: Any = None
    conclusion_aggregation: str | None = None
    conclusion_alpha: Any = None
    normalize: bool | None = None
    default: Any = None

    def _given_operators(self) -> dict[str, Any]:
        own = {field.name for field in dataclasses.fields(MISugeno)} - {*_KEPT, "inputs", "rules"}
        return {name: value for name in own if (value := getattr(self, name)) is not None}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the features and record the classes, ``y`` (n_bags,) or the bags' own; the rules do not change."""
        return self._settle(self.rule_base, self._bags(X), y)


def _check_constraints(name: str, value: Any) -> None:
    Constraints.of(value)


def _check_operators(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name} must map names to settings, such as {{'t_norm': 'product'}}, got {value!r:.100}.")
    for key in value:
        known_name("operator", key, OPERATORS)


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIMamdani(ExpertSystem):
    """If-then rules applied to bags; rules conclude fuzzy sets (Mamdani inference).

    With ``rules`` this is an expert system: `infer` does not need `fit`, and `fit` checks the features, records the
    classes and, if ``max_epochs`` is above 0, trains the sets of inputs and outputs. Without, `fit` learns rules first:
    from bags, those that explain their labels best; from plain rows (bags of one instance), one from each cluster of
    rows of a class, as in traditional Mamdani systems.

    Parameters
    ----------
    inputs : mapping, sequence of Variable or None, default None
        The input variables: a mapping from names to terms, ``{"hue": {"blue": Gaussian(0.6, 0.1)}}``, or to a
        `Variable` with a range and a unit. Not needed if the rules declare their variables themselves.
    outputs : mapping, sequence of Variable or None, default None
        The output variables: a mapping from names to a `Variable` with terms and a range. Not needed if the rules
        declare them.
    rules : str, sequence of str, or RuleBase, default None
        The rules, such as ``"IF hue is blue AND texture is not rough THEN sky is likely"``. None: learned.
    n_rules : int, default 10
        Number of rules to learn: at most as many are chosen; clusters are divided evenly among the classes.
    operators : mapping or None, default None
        Settings of `RuleBase` and `Defuzzification`: t_norm, s_norm, aggregation, alpha, implication, accumulation,
        defuzzify, resolution and default, such as ``{"t_norm": "product", "defuzzify": "bisector"}``. For others, what
        the rules state counts (``USING implication = product``); otherwise t_norm is "min", aggregation "max",
        implication "min", accumulation "max", defuzzify "centroid", and default the middle of the output's range.
    threshold : float or None, default 0.5
        An output above it means the positive class. None makes a regressor: `predict` returns the output itself.
    pos_label : label or None, default None
        Of two classes, the positive one, which a single output is about. None: the class after which the output is
        named, otherwise the one that sorts last.
    missing : {"error", "ignore"}, default "error"
        How to handle NaN: raise an error, or let a missing value match every fuzzy set, unless the rules say what it
        stands for (``MISSING AS``). Learning needs complete data.
    init : {"auto", "select", "clusters"}, default "auto"
        How rules are learned. "select": chosen from many short candidates as by `RuleClassifier`, so that they
        explain the labels of the bags. "clusters": one rule for each cluster of instances, which get the label of their
        bag. "auto" selects, but clusters plain rows.
    max_epochs : int, default 0
        Epochs of training: gradient descent on the squared error of the defuzzified output, which moves the sets of
        inputs and outputs. The targets of classes are the ends of the output's range. Training also stops after 50
        epochs without a lower loss, and keeps the best sets (with ``stay``, the last ones). 0: sets stay as they are.
    learning_rate : float, default 0.05
        Step size of training (Adam), on standardized inputs and outputs from 0 to 1.
    frozen : sequence of str, default ()
        What training leaves as it is: ``"hue.dark"``, a term of an input or output; ``"hue"``, all its terms;
        ``"rule 2"``, the terms that a rule asks for and concludes. For given rules.
    constraints : Constraints, dict or None, default None
        What training must keep: the order of terms, their overlap, bounds on the peaks of the outputs' terms
        (``conclusions``), and a pull to the start (``stay``). For given rules. The peaks of the outputs' terms always
        stay within the range of the output.
    random_state : int, RandomState or None, default None
        Random seed of learning.

    Attributes
    ----------
    rule_base : RuleBase
        The rules that the parameters describe, available without a fit; if there are none, the learned rules.
    rules_ : RuleBase
        The rules in use after a fit, with several outputs in the order of ``classes_``.
    initial_rules_, history_, active_bounds_
        Only after training: the rules before it; loss, error and greatest change of each epoch; what ended at a bound.
    members_, classes_, pos_label_
        As in `MISugeno`. If no output is named after one of two classes, the first output distinguishes them.

    Notes
    -----
    Clusters are found in the instances of each class by k-means on standardized features. A rule requires every
    feature that varies to be near the mean of its cluster, within about its standard deviation. The output ranges from
    0 to 1, with the terms *negative* and *positive*; more than two classes have one output each. Such rules suit labels
    of instances: a positive bag of several instances fires the rules of both classes, with an output near the middle.

    Examples
    --------
    >>> expert = MIMamdani(rules='''
    ... VARIABLE depth [m]: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> expert.infer([[[0.9], [0.0]], [[0.8], [1.0]]]).output.round(3).tolist()
    [[0.503], [0.167]]
    >>> rows = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> model = MIMamdani(n_rules=2, random_state=0).fit(rows, list("aaabbb"))
    >>> print(model.rules_)
    Rule 1: IF x1 is low THEN b is negative
    Rule 2: IF x1 is high THEN b is positive
    >>> model.predict([[0.15], [0.9]]).tolist()
    ['a', 'b']
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("pair", n_bags=100, n_noise=2, random_state=0)
    >>> print(MIMamdani(n_rules=2, random_state=0).fit(bags).rules_)
    Rule 1: IF A is high AND B is medium THEN y is positive
    Rule 2: IF anything THEN y is negative WITH 0...
    """

    concludes_sets: ClassVar[bool] = True

    outputs: Any = dataclasses.field(default=None, kw_only=False)
    rules: Any = dataclasses.field(default=None, kw_only=False)
    n_rules: int = checked(integer(1), 10)
    operators: Any = checked(either(None, otherwise=_check_operators), None)
    init: str = checked(choice(("auto", "clusters", "select")), "auto")
    max_epochs: int = checked(integer(0), 0)
    learning_rate: float = checked(above_zero, 0.05)
    frozen: Any = checked(frozen_names, ())
    constraints: Any = checked(_check_constraints, None)
    random_state: Any = checked(seed, None)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.rules is None and (self.inputs is not None or self.outputs is not None):
            raise ParameterError("inputs and outputs describe the variables of rules: pass rules too, or omit them.")
        for name, applies, why in (
            ("n_rules", self.rules is None, "the rules are given"),
            ("init", self.rules is None, "the rules are given"),
            ("learning_rate", self.max_epochs > 0, "max_epochs=0 trains nothing"),
        ):
            if not applies and getattr(self, name) != getattr(MIMamdani, name):
                raise ParameterError(f"{name}={getattr(self, name)!r} cannot apply: {why}. Leave it out.")

    @property
    def rule_base(self) -> RuleBase:
        """The rules that the parameters describe; if there are none, the learned rules."""
        self._check_settings()
        if self.rules is not None:
            return super().rule_base
        check_is_fitted(self)
        found: RuleBase = self.rules_.with_settings(**self._given_operators())
        return found

    def _given_operators(self) -> dict[str, Any]:
        return dict(self.operators or {})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rules, or train given ones if ``max_epochs`` says so; otherwise given rules do not change.

        ``y`` (n_bags,) are classes, or numbers if ``threshold=None``; they default to the labels of the bags.
        ``sample_weight`` (n_bags,) counts in learning and in training.
        """
        bags = self._bags(X)
        if self.rules is not None:
            return self._settle(self.rule_base, bags, y, sample_weight)
        if self.threshold is None:
            raise ParameterError(
                "Rules can only be learned from classes: set threshold=0.5, or pass rules for a regression."
            )
        if self.frozen or self.constraints is not None:
            raise ParameterError("frozen and constraints refer to the terms of given rules: pass rules, or omit them.")
        selects = self.init == "select" or (self.init == "auto" and bags.n_instances > bags.n_bags)
        learned = self._chosen_rules if selects else self._clustered_rules
        return self._settle(learned(bags, y, sample_weight), bags, y, sample_weight)

    def _improve(
        self, rules: RuleBase, classes: Array | None, positive: int, bags: Bags, y: Any, sample_weight: Any
    ) -> RuleBase:
        """Train the rules, if that is asked for."""
        for name in _OF_TRAINING:  # from an earlier fit
            self.__dict__.pop(name, None)
        if not self.max_epochs:
            return rules
        rules, seen = rules.with_answers(), matched(rules, bags)
        found = train(
            rules,
            seen,
            self._targets(rules, classes, positive, bags, y),
            check_weights(sample_weight, bags),
            frozen=self.frozen or (),
            constraints=Constraints.of(self.constraints),
            learning_rate=float(self.learning_rate),
            max_epochs=int(self.max_epochs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        if found.diverged:
            warn_user(
                f"Training diverged and stopped after {len(found.history['loss'])} epoch(s) with the last valid sets. "
                f"Use a smaller learning_rate (it was {self.learning_rate:g}).",
                ConvergenceWarning,
            )
        if found.interrupted:
            warn_stopped(len(found.history["loss"]))
        self.initial_rules_, self.history_, self.active_bounds_ = rules, found.history, found.active_bounds
        return found.rules

    def _targets(self, rules: RuleBase, classes: Array | None, positive: int, bags: Bags, y: Any) -> Array:
        """Return what the outputs should be, (b, k): of classes, the ends of their ranges."""
        if y is None and bags.labels is None:
            raise InputError("Training needs a label for each bag: pass y, or set max_epochs=0.")
        ends = np.array([[output.low, output.high] for output in rules.outputs], float)
        if classes is None:
            numbers = numbers_to_predict(bags, y, type(self).__name__).reshape(bags.n_bags, -1)
            if numbers.shape[1] != len(ends):
                raise InputError(f"These rules have {len(ends)} output(s), but y has {numbers.shape[1]} column(s).")
            return numbers
        labels = class_labels(bags, y, type(self).__name__)
        own = classes[[positive]] if len(ends) == 1 else classes
        return np.where(labels[:, None] == own, ends[:, 1], ends[:, 0])

    def _clustered_rules(self, bags: Bags, y: Any, sample_weight: Any) -> RuleBase:
        bags.require_complete("Rules can only be learned from complete data: impute missing values first.")
        labels = class_labels(bags, y, type(self).__name__)
        classes, groups = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"All {bags.n_bags} bags belong to one class ({classes[0]!s}): learning needs at least two."
            )
        if self.n_rules < len(classes):
            raise ParameterError(
                f"n_rules={self.n_rules} is too small: {len(classes)} classes need at least one rule each."
            )
        weights = np.repeat(check_weights(sample_weight, bags), bags.sizes)
        used = weights > 0
        scaling = Scaling.fit(Measures.of(bags.instances[used]), standardize=True, clip=None)
        centers, widths, of_class = cluster(
            scaling.apply(bags.instances[used]),
            np.repeat(groups, bags.sizes)[used],
            weights[used],
            self.n_rules,
            check_random_state(self.random_state),
        )
        given = self._given_operators()
        premises = RuleBase.from_sets(
            {"gaussian": Gaussian.moved(scaling.shift, scaling.scale, centers, widths)},
            {"gaussian": np.broadcast_to(scaling.varies, centers.shape).astype(float)},
            np.zeros((len(centers), 1, 1)),
            feature_names=bags.feature_names,
            ranges=scaling.ranges,
            **(_CUSTOMARY | {name: value for name, value in given.items() if name in _PREMISES}),
        )
        one_positive(classes, self.pos_label)
        place = positive_class(classes, "", self.pos_label) if len(classes) == 2 else 1
        names = output_names(classes, place)
        positive = {name: k for k, name in enumerate(names, start=place if len(classes) == 2 else 0)}
        conclusions = [
            {name: "positive" if group == k else "negative" for name, k in positive.items()} for group in of_class
        ]
        return dataclasses.replace(
            premises,
            rules=tuple(rule.concluding(said) for rule, said in zip(premises.rules, conclusions, strict=True)),
            outputs=tuple(Variable(name, TERMS, 0.0, 1.0) for name in names),
            default=given.get("default", ()),
            defuzzification=Defuzzification(**{k: value for k, value in given.items() if k in _DEFUZZIFICATION}),
        )

    def _chosen_rules(self, bags: Bags, y: Any, sample_weight: Any) -> RuleBase:
        """Return the rules that explain the labels of bags best, concluding sets instead of numbers."""
        bags.require_complete("Rules can only be learned from complete data: impute missing values first.")
        model = RuleClassifier(self.n_rules, pos_label=self.pos_label, random_state=self.random_state)
        rules = model.fit(bags, y, sample_weight).rules_.to_mamdani()
        return rules.with_settings(**self._given_operators())

    def _with_classes(self, rules: RuleBase, bags: Bags, y: Any) -> tuple[RuleBase, Array]:
        if len(rules.outputs) > 1 and not (y is None and bags.labels is None):
            classes = np.unique(class_labels(bags, y, type(self).__name__))
            outputs = rules.output_names
            named = any(name in outputs for label in classes for name in names_of_class(label))
            if len(classes) == 2 and not named:
                rules = concluding(rules, outputs[0])
        return super()._with_classes(rules, bags, y)

    def _likely(self, output: Array) -> Array:
        """Return probabilities: 0 and 1 at the ends of an output's range, one half at the threshold."""
        ends = [(o.low, o.high) for o in self.rules_.outputs]
        if any(low is None or high is None for low, high in ends):  # of averages; others have a range
            return super()._likely(output)
        low, high = np.array(ends, float).T
        middle = (low + high) / 2 if self.threshold is None or len(ends) > 1 else np.array([self.threshold])
        inside = (low < middle) & (middle < high)
        if not inside.all():  # every output is on one side
            return super()._likely(output)
        below, above = (output - low) / (2 * (middle - low)), 1 - (high - output) / (2 * (high - middle))
        # Between 0 and 1, with the threshold in the middle, the output itself is the probability.
        even = middle - low == high - middle
        limited = LOSSES["squared_error"].probability
        assert limited is not None
        return limited(np.where(even, (output - low) / (high - low), np.where(output < middle, below, above)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.rules is None
        tags.input_tags.allow_nan = self.missing == "ignore" and self.rules is not None
        return tags


def _reorder(rules: RuleBase, order: list[int]) -> RuleBase:
    """Return rules with their outputs in another order."""

    def sorted_as(values: Any) -> Any:
        return tuple(values[k] for k in order) if isinstance(values, tuple | list) else values

    changes: dict[str, Any] = {"outputs": sorted_as(rules.outputs), "default": sorted_as(rules.default)}
    if rules.defuzzification is not None:
        changes["defuzzification"] = rules.defuzzification.reordered(order)
    if not rules.concludes_sets:
        changes["rules"] = tuple(rule.concluding(sorted_as(rule.coefs)) for rule in rules.rules)
        changes["conclusion_alpha"] = sorted_as(rules.conclusion_alpha)
    return dataclasses.replace(rules, **changes)


def concluding(rules: RuleBase, output: str) -> RuleBase:
    """Return the rules about a single output."""
    kept = [r for r, rule in enumerate(rules.rules) if output in rule.terms]
    if not kept:
        raise ParameterError(f"No rule concludes {output!r}.")
    k = rules.place_of(output)
    return dataclasses.replace(
        rules,
        rules=tuple(rules.rules[r].concluding({output: rules.rules[r].terms[output]}) for r in kept),
        alpha=tuple(rules.alpha[r] for r in kept) if isinstance(rules.alpha, tuple) else rules.alpha,
        outputs=(rules.outputs[k],),
        default=(rules.default[k],),
        defuzzification=None if rules.defuzzification is None else rules.defuzzification.reordered([k]),
    )


def cluster(
    x: Array, groups: Array, weights: Array, n_rules: int, rng: np.random.RandomState
) -> tuple[Array, Array, Array]:
    """Cluster the instances of each class by k-means; return centers and widths (r, d) and the class (r,) of each.

    ``x`` (i, d): instances, standardized and complete. ``groups`` (i,): whole numbers from 0. ``weights`` (i,): greater
    than 0. ``n_rules``: number of clusters in all; fewer if a group has fewer distinct instances than its share.
    """
    owner = np.zeros(len(x), int)  # the cluster of each instance
    labels: list[int] = []
    for group, share in enumerate(partition.even_split(n_rules, groups.max() + 1)):
        members = np.flatnonzero(groups == group)
        members = members[np.lexsort(x[members].T)]  # the order of instances must not matter
        if len(members):
            n_clusters = min(int(share), partition.n_distinct(x[members], int(share)))
            centers = partition.centers_by("kmeans", x[members], n_clusters, rng)
            distances = np.stack([np.square(x[members] - center).sum(axis=1) for center in centers], axis=1)
            _, nearest = np.unique(distances.argmin(axis=1), return_inverse=True)
            owner[members] = len(labels) + nearest
            labels += [group] * (int(nearest.max()) + 1)
    belongs = (owner == np.arange(len(labels))[:, None]) * weights  # (r, i)
    total = belongs.sum(axis=1, keepdims=True)
    means = belongs @ x / total
    squares = np.stack([belong @ np.square(x - mean) for belong, mean in zip(belongs, means, strict=True)])
    within = squares.sum(axis=0) / total.sum()
    within = np.where(within > 0, within, 1.0)  # clusters of one point each: the spread of all instances
    return means, np.sqrt((squares + within) / (total + 1.0)), np.array(labels)
