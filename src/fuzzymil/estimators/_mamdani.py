"""MI-Mamdani: rules that conclude fuzzy sets, written by an expert or learned, and trained."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, known_name, warn_user
from fuzzymil.bags import Bags
from fuzzymil.estimators._expert import ExpertSystem, variables_of
from fuzzymil.estimators.base import check_weights, warn_stopped
from fuzzymil.estimators.inputs import (
    bag_labels,
    class_labels,
    names_of_class,
    one_positive,
    output_names,
    positive_class,
)
from fuzzymil.estimators.parameters import Check, choice, either, integer, names, real
from fuzzymil.estimators.persistence import loadable
from fuzzymil.estimators.rules import RuleClassifier
from fuzzymil.inference.membership import Gaussian
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.constraints import Constraints
from fuzzymil.learn.train.mamdani import train
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase, SetActivations
from fuzzymil.rules.activations import matched
from fuzzymil.rules.conclusion import TERMS, Defuzzification
from fuzzymil.rules.rule import Variable

_PREMISES = ("t_norm", "s_norm", "aggregation", "alpha")
_DEFUZZIFICATION = ("implication", "accumulation", "defuzzify", "resolution")
_OPERATORS = (*_PREMISES, *_DEFUZZIFICATION, "default")
_CUSTOMARY = {"t_norm": "min", "aggregation": "max"}
_OF_TRAINING = ("initial_rules_", "history_", "active_bounds_")


def _check_constraints(name: str, value: Any) -> None:
    Constraints.of(value)


def _check_operators(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name} must map names to settings, such as {{'t_norm': 'product'}}, got {value!r:.100}.")
    for key in value:
        known_name("operator", key, _OPERATORS)


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
    members_ : list of RuleBase
        ``[rules_]``, as in other models.
    initial_rules_ : RuleBase
        The rules before training; only after training, as the next two.
    history_ : dict of str to array of shape (n_epochs,)
        Loss, error and greatest change of each epoch.
    active_bounds_ : list of Touched
        What training left at a bound.
    classes_ : array of shape (n_classes,)
        For a classifier. One output distinguishes two classes. Several outputs are named after their classes, and the
        greatest decides; if no output is named after one of two classes, the first output distinguishes them.
    pos_label_ : label or None
        Of two classes, the positive one, which a single output is about.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.

    Notes
    -----
    Clusters are found in the instances of each class by k-means on standardized features. A rule requires every
    feature that varies to be near the mean of its cluster: a Gaussian with the standard deviation of the cluster, where
    the mean variance within clusters counts as one additional instance, so that every width is positive. The output
    ranges from 0 to 1, with the terms *negative* and *positive*; more than two classes have one output each.

    Rules from clusters suit labels of instances. In a bag of several instances, each rule fires on its best one, so
    that a positive bag fires the rules of both classes and its output is near the middle.

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

    inputs: Any = dataclasses.field(default=None, kw_only=False)
    outputs: Any = dataclasses.field(default=None, kw_only=False)
    rules: Any = dataclasses.field(default=None, kw_only=False)
    n_rules: int = 10
    operators: Any = None
    init: str = "auto"
    max_epochs: int = 0
    learning_rate: float = 0.05
    frozen: Any = ()
    constraints: Any = None
    random_state: Any = None

    checks: ClassVar[Mapping[str, Check]] = {
        **ExpertSystem.checks,
        "n_rules": integer(1),
        "operators": either(None, otherwise=_check_operators),
        "init": choice(("auto", "clusters", "select")),
        "max_epochs": integer(0),
        "learning_rate": real(low=0.0, open_low=True),
        "frozen": either(None, otherwise=names("a list of names such as 'rule 1' or 'variable.term'")),
        "constraints": _check_constraints,
    }

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.rules is None and (self.inputs is not None or self.outputs is not None):
            raise ParameterError("inputs and outputs describe the variables of rules: pass rules too, or omit them.")

    @property
    def rule_base(self) -> RuleBase:
        """The rules that the parameters describe; if there are none, the learned rules."""
        self._check_settings()
        if self.rules is None:
            check_is_fitted(self)
            return self._with_settings(self.rules_)
        found: RuleBase = self._rules_read_once()
        return found

    def _described_rules(self) -> RuleBase:
        if isinstance(self.rules, RuleBase):
            if self.inputs is not None or self.outputs is not None:
                raise ParameterError("A RuleBase already has inputs and outputs: omit inputs and outputs.")
            found = self.rules
        else:
            variables = variables_of("inputs", self.inputs), variables_of("outputs", self.outputs)
            found = RuleBase.parse(self.rules, *variables)
        return self._with_settings(self._of_this_kind(found))

    def _with_settings(self, rules: RuleBase) -> RuleBase:
        return rules.with_settings(**(self.operators or {}))

    def infer(self, X: Any) -> SetActivations:
        """Apply the rules that the parameters describe to bags; given rules do not need `fit`.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            Features are matched by name if the bags have names; other features are ignored.

        Returns
        -------
        SetActivations
            Truth of each rule for each instance, firing strength for each bag, the accumulated sets, and the output.
        """
        found: SetActivations = self._inferred(self.rule_base, X)
        return found

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rules, or train given ones if ``max_epochs`` says so; otherwise given rules do not change.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Class of each bag, or its number if ``threshold=None``. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag in clusters and in training.
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

    def _improved(
        self, rules: RuleBase, classes: Array | None, positive: int, bags: Bags, y: Any, sample_weight: Any
    ) -> RuleBase:
        """Train the rules, if that is asked for."""
        for name in _OF_TRAINING:  # from an earlier fit
            self.__dict__.pop(name, None)
        if not self.max_epochs:
            return rules
        seen = matched(rules, bags)
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
        self.initial_rules_, self.history_, self.active_bounds_ = rules, found.history, found.touched
        return found.rules

    def _targets(self, rules: RuleBase, classes: Array | None, positive: int, bags: Bags, y: Any) -> Array:
        """Return what the outputs should be, (b, k): of classes, the ends of their ranges."""
        if y is None and bags.labels is None:
            raise InputError("Training needs a label for each bag: pass y, or set max_epochs=0.")
        ends = np.array([[output.low, output.high] for output in rules.outputs], float)
        if classes is None:
            numbers = np.asarray(bag_labels(bags, y, type(self).__name__), float).reshape(bags.n_bags, -1)
            if numbers.shape[1] != len(ends):
                raise InputError(f"These rules have {len(ends)} output(s), but y has {numbers.shape[1]} column(s).")
            return numbers
        labels = class_labels(bags, y, type(self).__name__)
        own = classes[[positive]] if len(ends) == 1 else classes
        return np.where(labels[:, None] == own, ends[:, 1], ends[:, 0])

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy with other rules, for example edited ones, and their operators.

        Parameters
        ----------
        rules : RuleBase
            Rules over the model's features, with as many outputs as its own.

        Examples
        --------
        >>> rows = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
        >>> model = MIMamdani(n_rules=2, random_state=0).fit(rows, list("aaabbb"))
        >>> swapped = model.rules_.edit(conclusions={1: "positive", 2: "negative"})
        >>> model.with_rules(swapped).predict([[0.15], [0.9]]).tolist()
        ['b', 'a']
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        unset = dict.fromkeys(("inputs", "outputs", "operators", "constraints"))
        model.set_params(rules=rules, frozen=(), max_epochs=0, **unset)
        for name in _OF_TRAINING:
            model.__dict__.pop(name, None)
        model._set_fitted(rules, getattr(self, "classes_", None), self._positive_place)
        return model

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
        found = clustered(
            scaling.apply(bags.instances[used]),
            np.repeat(groups, bags.sizes)[used],
            weights[used],
            self.n_rules,
            check_random_state(self.random_state),
        )
        given = self.operators or {}
        premises = RuleBase.from_sets(
            {"gaussian": Gaussian.moved(scaling.shift, scaling.scale, found.centers, found.widths)},
            {"gaussian": np.broadcast_to(scaling.varies, found.centers.shape).astype(float)},
            np.zeros((len(found.centers), 1, 1)),
            feature_names=bags.feature_names,
            ranges=scaling.ranges,
            **(_CUSTOMARY | {name: value for name, value in given.items() if name in _PREMISES}),
        )
        one_positive(classes, self.pos_label)
        place = positive_class(classes, "", self.pos_label) if len(classes) == 2 else 1
        names = output_names(classes, place)
        positive = {name: k for k, name in enumerate(names, start=place if len(classes) == 2 else 0)}
        conclusions = [
            {name: "positive" if group == k else "negative" for name, k in positive.items()} for group in found.groups
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
        return self._with_settings(rules)

    def _with_classes(self, rules: RuleBase, bags: Bags, y: Any) -> tuple[RuleBase, Array]:
        if len(rules.outputs) > 1 and not (y is None and bags.labels is None):
            classes = np.unique(class_labels(bags, y, type(self).__name__))
            outputs = rules.output_names
            named = any(name in outputs for label in classes for name in names_of_class(label))
            if len(classes) == 2 and not named:
                rules = concluding(rules, outputs[0])
        return super()._with_classes(rules, bags, y)

    def _with_outputs(self, rules: RuleBase, order: list[int]) -> RuleBase:
        return dataclasses.replace(
            rules,
            outputs=tuple(rules.outputs[k] for k in order),
            default=tuple(rules.default[k] for k in order),
            defuzzification=None if rules.defuzzification is None else rules.defuzzification.reordered(order),
        )

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
        likely = np.clip(
            np.where(even, (output - low) / (high - low), np.where(output < middle, below, above)), 0.0, 1.0
        )
        if likely.shape[1] > 1:
            total = likely.sum(axis=1, keepdims=True)
            return np.asarray(np.where(total > 0, likely / np.where(total > 0, total, 1.0), 1.0 / likely.shape[1]))
        return np.asarray(likely)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.rules is None
        tags.input_tags.allow_nan = self.missing == "ignore" and self.rules is not None
        return tags


def concluding(rules: RuleBase, output: str) -> RuleBase:
    """Return the rules about a single output.

    Examples
    --------
    >>> risk, haste = (Variable(name, TERMS, 0, 1) for name in ("risk", "haste"))
    >>> texts = ["IF anything THEN risk is negative, haste is positive", "IF anything THEN haste is negative"]
    >>> print(concluding(RuleBase.parse(texts, [Variable("x")], [risk, haste]), "risk"))
    Rule 1: IF anything THEN risk is negative
    """
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


class Clusters(NamedTuple):
    """Clusters of instances, each of one class."""

    centers: Array  # (r, d)
    widths: Array  # (r, d)
    groups: Array  # (r,), the class of each


def clustered(x: Array, groups: Array, weights: Array, n_rules: int, rng: np.random.RandomState) -> Clusters:
    """Cluster the instances of each class by k-means.

    Parameters
    ----------
    x : array of shape (i, d)
        Instances, standardized and complete.
    groups : array of shape (i,)
        Whole numbers from 0.
    weights : array of shape (i,)
        Greater than 0.
    n_rules : int
        Number of clusters in all; fewer if a group has fewer distinct instances than its share.
    rng : RandomState

    Examples
    --------
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]])
    >>> found = clustered(x, np.array([0, 0, 1, 1]), np.ones(4), 2, np.random.RandomState(0))
    >>> found.centers.round(3).tolist(), found.widths.round(3).tolist(), found.groups.tolist()
    ([[-0.9], [0.9]], [[0.1], [0.1]], [0, 1])
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
    return Clusters(means, np.sqrt((squares + within) / (total + 1.0)), np.array(labels))
