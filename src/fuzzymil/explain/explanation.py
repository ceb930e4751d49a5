"""Explanations as immutable values, with all their views.

`fuzzymil.explain.words` writes an explanation as text, `fuzzymil.explain.html` as HTML for notebooks and reports,
`fuzzymil.plots.ExplanationDisplay` draws it; the studio and ``--json`` use its `Explanation.to_dict`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from fuzzymil._utils import html as notebook
from fuzzymil.explain import html, words
from fuzzymil.explain.coverage import Unusual
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Expression, Is
from fuzzymil.rules.rule import Rule


class _Value:
    """A value with a dict form: its fields and some properties."""

    _properties: ClassVar[tuple[str, ...]] = ()
    _internal: ClassVar[tuple[str, ...]] = ()
    _optional: ClassVar[tuple[str, ...]] = ()  # left out if they are None

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON; the logarithm of zero is None."""
        names = [name for name in self.__dataclass_fields__ if name not in self._internal]  # type: ignore[attr-defined]
        found = {name: _json_value(getattr(self, name)) for name in (*names, *self._properties)}
        return {name: each for name, each in found.items() if each is not None or name not in self._optional}


def _json_value(value: Any) -> Any:
    """Return a value that JSON can hold: tuples as lists, infinite numbers as None, other objects as text."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@dataclasses.dataclass(frozen=True)
class ConditionExplanation(_Value):
    """One condition of a rule, ``variable is [hedges] term``, at a witness.

    The ``value`` of the witness is None if it is missing; ``shown`` is the same as a person writes it, if it is a
    category, a date or a time of day. If the rules limit values, it is ``counted_as`` another one. ``log_membership``
    is the logarithm of the degree to which the condition holds, hedges included. For a missing value it holds fully or,
    inside a NOT, not at all: always in favor of the rule. ``negated``: inside a NOT, or an odd number of them.
    ``log_support`` is the logarithm of the degree to which the condition supports the rule: the membership, or 1 minus
    it if negated. ``limiting``: whether it limits the truth of the rule; among conditions joined by AND, this is the
    one with the least support, among those joined by OR the one with the most. Of the witnesses of *at least k*, it is
    one of the k-th truest.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> condition = explain(rules, [[[0.1], [0.9]]]).rules[0].conditions[0]
    >>> condition.text, condition.value, round(condition.membership, 3), condition.limiting
    ('hue is high', 0.9, 0.946, True)
    """

    _properties = ("missing", "membership")
    _optional = ("shown",)

    variable: str
    term: str
    hedges: tuple[str, ...]
    unit: str
    value: float | None
    counted_as: float | None
    log_membership: float
    negated: bool
    log_support: float
    limiting: bool
    shown: str | None = None

    @property
    def membership(self) -> float:
        """Degree to which the condition holds."""
        return math.exp(self.log_membership)

    @property
    def missing(self) -> bool:
        """Whether the value of the witness is missing."""
        return self.value is None

    @property
    def text(self) -> str:
        """The condition as it is written in a rule."""
        return printer.premise_text(Is(self.variable, self.term, self.hedges))


@dataclasses.dataclass(frozen=True)
class Witness(_Value):
    """An instance that a part of a rule rests on.

    The ``instance`` is its position in the bag, ``share`` its share in the degree to which the part holds, and
    ``log_truth`` the logarithm of the degree to which it satisfies the part. The ``conditions`` are those of the part,
    in the order of the rule. The ``source`` says where the instance comes from, if that is known: its line or row, and
    the columns that are no features; ``where`` is the same in words.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> (witness,) = explain(rules, [[[0.1], [0.9]]]).rules[0].parts[0].witnesses
    >>> witness.instance, round(witness.truth, 3), witness.conditions[0].value
    (1, 0.946, 0.9)
    """

    _properties = ("truth",)
    _internal = ("log_truth", "where")
    _optional = ("source",)

    instance: int
    share: float
    log_truth: float
    conditions: tuple[ConditionExplanation, ...]
    source: dict[str, Any] | None = None
    where: str = ""

    @property
    def row(self) -> str:
        """The line or row of the instance, ``line 835``; empty if it is not known."""
        return next((f"{place} {row}" for place, row in (self.source or {}).items()), "")

    @property
    def truth(self) -> float:
        """Degree to which the instance satisfies the part."""
        return math.exp(self.log_truth)

    @property
    def decisive(self) -> tuple[ConditionExplanation, ...]:
        """The limiting condition first, then those with the least support."""
        return tuple(sorted(self.conditions, key=lambda condition: (not condition.limiting, condition.log_support)))


@dataclasses.dataclass(frozen=True)
class PartExplanation(_Value):
    """A part of a rule's premise: a quantified one, such as ``SOME hue is blue``, or all of it.

    The ``text`` is that of the part in the rule, the ``premise`` what it asks of an instance. Without a ``quantifier``
    (None), the rule base's aggregation joins the instances; *at least* has a ``count``. ``negated``: inside a NOT, or
    an odd number of them. ``deciding``: whether the part decides how strongly the rule fires; of parts joined by AND,
    this is the one that holds least, of parts joined by OR the one that holds most. ``log_degree`` is the logarithm of
    the degree to which the part holds for the bag, ``log_truth`` that to which each instance satisfies it.

    The ``shares`` of the instances in the degree sum to one. *Some* rests on the instances with the greatest truth,
    *all* on those with the least, *at least k* on the k truest, *on average* and *most* on all in proportion to their
    truth. The ``witnesses`` are the k truest instances for *at least k*, the truest first; otherwise the instance with
    the greatest share (among equals, the one that satisfies the part best, then the first). There are none if the part
    has no conditions or, except for *all*, if no instance satisfies it to any degree.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> text = "VARIABLE hue: high = Gaussian(1, 0.3)  Default: y = 0  IF AT LEAST 2 hue is high THEN y += 1"
    >>> (part,) = explain(RuleBase.parse(text), [[[0.9], [0.1], [1.0]]]).rules[0].parts
    >>> part.text, round(part.degree, 3), [witness.instance for witness in part.witnesses]
    ('AT LEAST 2 hue is high', 0.946, [2, 0])
    """

    _properties = ("degree", "truth")
    _internal = ("premise", "log_truth")

    text: str
    premise: Expression
    quantifier: str | None
    count: int | None
    negated: bool
    deciding: bool
    log_degree: float
    log_truth: tuple[float, ...]
    shares: tuple[float, ...]
    witnesses: tuple[Witness, ...]

    @property
    def degree(self) -> float:
        """Degree to which the part holds for the bag."""
        return math.exp(self.log_degree)

    @property
    def decider(self) -> Witness:
        """The witness whose truth the degree depends on: of *at least k*, the k-th truest."""
        return self.witnesses[-1]

    @property
    def truth(self) -> tuple[float, ...]:
        """Degree to which each instance satisfies the part."""
        return tuple(map(math.exp, self.log_truth))


@dataclasses.dataclass(frozen=True)
class RuleExplanation(_Value):
    """What one rule concluded about the bag, and the instances that made it fire.

    ``member`` and ``index`` are the positions of the ensemble member in ``members_``, and of the rule in it; the
    ``name`` is ``"Rule 3"``, or ``"Rule 3 of member 2"``. ``log_firing`` is the logarithm of the firing strength,
    ``strength`` the normalized one (for additive rules, the firing strength). The ``outputs`` are the conclusion for
    each output, the ``contributions`` what it adds to each score, and ``contribution`` to the explained one. There is
    one of ``parts`` for each quantifier, or a single one. A Mamdani rule has ``concluded`` words, ``risk is great``;
    its strength is its share of the joined set, and its outputs are the centers of these shares (NaN where it says
    nothing). ``points``: how many a rule concludes, if it does.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> rule = explain(rules, [[[0.1], [0.9]]]).rules[0]
    >>> rule.name, rule.text, rule.witness, round(rule.share, 2), round(rule.contribution, 2)
    ('Rule 2', 'IF hue is high THEN y = 1', 1, 1.0, 0.5)
    """

    _properties = ("firing", "witness", "witnesses")
    _internal = ("rule", "concluded")
    _optional = ("points",)

    member: int
    index: int
    name: str
    rule: Rule
    text: str
    log_firing: float
    strength: float
    outputs: tuple[float, ...]
    contributions: tuple[float, ...]
    contribution: float
    parts: tuple[PartExplanation, ...]
    concluded: str = ""
    points: int | None = None

    @property
    def firing(self) -> float:
        """Firing strength of the rule for the bag."""
        return math.exp(self.log_firing)

    @property
    def witnesses(self) -> tuple[int, ...]:
        """Positions in the bag of the witnesses of all parts."""
        return tuple(dict.fromkeys(witness.instance for part in self.parts for witness in part.witnesses))

    @property
    def first_witness(self) -> Witness | None:
        """The first witness of the deciding part or, if it has none, of another one."""
        found = (part.witnesses[0] for part in sorted(self.parts, key=lambda part: not part.deciding) if part.witnesses)
        return next(found, None)

    @property
    def witness(self) -> int | None:
        """Position in the bag of the first witness; None if no part has one."""
        return None if self.first_witness is None else self.first_witness.instance

    @property
    def share(self) -> float | None:
        """Share of this witness in its part."""
        return None if self.first_witness is None else self.first_witness.share

    @property
    def conditions(self) -> tuple[ConditionExplanation, ...]:
        """The conditions of its part at this witness, in the order of the rule."""
        return () if self.first_witness is None else self.first_witness.conditions

    @property
    def decisive(self) -> tuple[ConditionExplanation, ...]:
        """These conditions, the limiting one first, then those with the least support."""
        return () if self.first_witness is None else self.first_witness.decisive


@dataclasses.dataclass(frozen=True)
class Counterfactual(_Value):
    """The prediction without one of the instances, given by its position in the bag.

    The ``score`` is that of the bag without the instance, ``change`` that minus the score of the whole bag.
    ``log_firing`` is the logarithm of the greatest firing strength without it; ``-inf`` if no rule would fire.
    Normalized rules can predict confidently even where they hardly fire; this shows whether any still applies.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> (left,) = explain(rules, [[[0.1], [0.9]]]).counterfactuals[:1]
    >>> left.instance, round(left.score, 2)
    (1, 0.01)
    """

    _properties = ("firing", "uncovered")

    instance: int
    score: float
    change: float
    prediction: Any
    log_firing: float

    @property
    def firing(self) -> float:
        """Greatest firing strength without the instance."""
        return math.exp(self.log_firing)

    @property
    def uncovered(self) -> bool:
        """Whether no rule would fire at all."""
        return self.log_firing == -math.inf


@dataclasses.dataclass(frozen=True)
class JoinedSet:
    """What Mamdani rules concluded about a bag: their sets, joined into one, and the number that stands for it.

    Of an ``output`` with its ``unit``, the ``values`` at which sets are evaluated and their ``membership`` in the
    joined set. For each rule that says something about the output, by position from 0: the membership of these values
    in the set that it concludes (``sets``), and the same cut off or scaled by the strength of the rule (``cuts``). The
    ``point`` is the defuzzified value: the output.

    Examples
    --------
    >>> from fuzzymil.explain import explain
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.parse('''
    ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> found = explain(rules, [[[0.9], [0.3]]]).joined
    >>> round(found.point, 3), [round(max(cut), 3) for cut in found.cuts.values()]
    (0.389, [0.325, 0.882])
    """

    output: str
    unit: str
    values: tuple[float, ...]
    membership: tuple[float, ...]
    sets: dict[int, tuple[float, ...]]
    cuts: dict[int, tuple[float, ...]]
    point: float

    def to_dict(self, most: int = 101) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON, with about ``most`` of the values."""
        every = slice(None, None, max((len(self.values) - 1) // max(most - 1, 1), 1))
        return {
            "output": self.output,
            "unit": self.unit,
            "point": self.point,
            "values": list(self.values[every]),
            "membership": list(self.membership[every]),
            "cuts": {str(rule): list(cut[every]) for rule, cut in self.cuts.items()},
        }


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation(_Value):
    """Why a bag got its prediction: print it, plot it with `plots.ExplanationDisplay`, or convert it with `to_dict`.

    Attributes
    ----------
    bag : object
        Id of the bag, which has ``n_instances``.
    output : tuple of float
        Output of the rules, one number for each of the ``outputs`` (names).
    prediction : object
        The predicted class or number, or a tuple of numbers.
    classes, probability : tuple or None
        The classes of a classifier and, if it has probabilities, that of each class.
    target : int
        Position of the explained output.
    score : float
        The explained output minus the ``threshold``: for a classifier the decision value (with several outputs, that of
        the explained class), for a regressor the prediction. It is ``baseline`` plus the rules' contributions.
    scale : str
        What the score of a classifier is: ``"decision value"`` or ``"logit"``.
    baseline : float
        The part that does not come from a rule. For additive rules, their default minus the threshold; for normalized
        rules, the default of members in which no rule fires.
    log_firing : float
        Logarithm of the greatest firing strength of any rule.
    coverage : float or None
        How usual the bag is: the share of the training bags that are at least as unusual, so 0 if it is more unusual
        than all of them. See `fuzzymil.explain.coverage`. None if the training bags are not known.
    unusual : Unusual or None
        What is most unusual about the bag.
    additive : bool
        Whether the output is the default plus what the rules add, rather than a mean of the rules' conclusions.
    uncovered : tuple of int
        Those of the ``n_estimators`` members with normalized rules of which none fires; their output is ``default``.
    default : tuple of float or None
        Output of those members, if there are any; for additive rules, what the sum starts from.
    centered : bool
        Whether contributions are ``strength * (conclusion - threshold)`` rather than ``strength * conclusion``.
    rules : tuple of RuleExplanation
        The rules of all members, largest contribution (in absolute value) first.
    counterfactuals : tuple of Counterfactual
        One per witness, in the order of the rules; none for a bag with a single instance.
    joined : JoinedSet or None
        Of Mamdani rules: their cut sets, the joined set, and its defuzzified point.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> found = explain(rules, [[[0.1], [0.9]]])
    >>> found
    Explanation(bag=0, score=0.5, 2 rules, 2 instances)
    >>> round(found.baseline + sum(rule.contribution for rule in found.rules), 2)
    0.5
    """

    _properties = ("firing", "is_uncovered")
    _optional = ("joined",)

    bag: Any
    n_instances: int
    feature_names: tuple[str, ...]
    outputs: tuple[str, ...]
    output: tuple[float, ...]
    prediction: Any
    classes: tuple[Any, ...] | None
    probability: tuple[float, ...] | None
    target: int
    threshold: float
    score: float
    scale: str
    baseline: float
    log_firing: float
    coverage: float | None
    unusual: Unusual | None
    additive: bool
    uncovered: tuple[int, ...]
    default: tuple[float, ...] | None
    n_estimators: int
    centered: bool
    rules: tuple[RuleExplanation, ...]
    counterfactuals: tuple[Counterfactual, ...]
    joined: JoinedSet | None = None

    @property
    def firing(self) -> float:
        """Greatest firing strength of any rule."""
        return math.exp(self.log_firing)

    @property
    def is_uncovered(self) -> bool:
        """Whether no rule fires, so that the output is the default."""
        return len(self.uncovered) == self.n_estimators

    @property
    def witness(self) -> Witness | None:
        """The first witness of the most influential rule that has one."""
        parts = (part for rule in self.rules if rule.contribution for part in rule.parts)
        return next((part.witnesses[0] for part in parts if part.witnesses), None)

    def without(self, instance: int) -> Counterfactual | None:
        """Return the counterfactual without an instance, or None if it is not the witness of a rule."""
        return next((found for found in self.counterfactuals if found.instance == instance), None)

    def __repr__(self) -> str:
        predicted = "" if self.classes is None else f"prediction={self.prediction!r}, "
        return (
            f"Explanation(bag={self.bag!r}, {predicted}score={self.score:.4g}, "
            f"{len(self.rules)} rules, {self.n_instances} instances)"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, max_rules: int | None = None, max_conditions: int = 6) -> str:
        """Return the explanation as text.

        Parameters
        ----------
        max_rules : int, optional
            Number of rules to show, by contribution; the others are summed up in one line. Default: 5, or 12 lines of
            a scorecard.
        max_conditions : int
            Number of conditions to show per rule, by support, least first; the others are counted.
        """
        return words.explanation_text(self, max_rules, max_conditions)

    def _repr_html_(self) -> str:
        return notebook.fragment(
            notebook.element("p", notebook.element("b", words.headline(self)[0])),
            *map(notebook.line, words.headline(self)[1:]),
            html.reasons(self),
        )
