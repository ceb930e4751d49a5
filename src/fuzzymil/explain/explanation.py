"""Why a bag was decided as it was, as immutable values; `explain` makes them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Rule

__all__ = ["ConditionExplanation", "Counterfactual", "Explanation", "RuleExplanation"]


@dataclasses.dataclass(frozen=True)
class ConditionExplanation:
    """One condition of a rule at the rule's witness.

    Attributes
    ----------
    variable, term : str
    hedges : tuple of str
        As in ``variable is [hedges] term``.
    unit : str
    value : float or None
        Of the witness; None where it is missing.
    counted_as : float or None
        What the rules took in its place: another number where they limit values to the variable's range.
    log_membership : float
        Logarithm of the degree to which the condition holds, hedges included. A missing value holds fully;
        inside a NOT it does not hold, which suits the rule just as well.
    negated : bool
        Whether the condition stands inside a NOT (or an odd number of them).
    log_support : float
        Logarithm of the degree to which the condition speaks for the rule: the membership, or 1 less it if negated.
    limiting : bool
        Whether it is the condition that keeps the rule's truth down: the one of least support among those joined by
        AND; of those joined by OR, the one that carries them.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> found = explain(rules, [[[0.1], [0.9]]])
    >>> condition = found.rules[0].conditions[0]
    >>> condition.text, condition.value, round(condition.membership, 3), condition.limiting
    ('hue is high', 0.9, 0.946, True)
    """

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

    @property
    def membership(self) -> float:
        """Degree to which the condition holds."""
        return math.exp(self.log_membership)

    @property
    def missing(self) -> bool:
        """Whether the witness has no value here."""
        return self.value is None

    @property
    def text(self) -> str:
        """The condition as rules write it."""
        return printer.premise_text(Is(self.variable, self.term, self.hedges))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "variable": self.variable,
            "term": self.term,
            "hedges": list(self.hedges),
            "unit": self.unit,
            "value": self.value,
            "counted_as": self.counted_as,
            "missing": self.missing,
            "membership": self.membership,
            "log_membership": _finite(self.log_membership),
            "negated": self.negated,
            "limiting": self.limiting,
        }


@dataclasses.dataclass(frozen=True)
class RuleExplanation:
    """What one rule said about the bag, and the instance that made it speak.

    Attributes
    ----------
    member, index : int
        Position of the rule's member in ``members_``, and of the rule in that member.
    name : str
        As printed: ``Rule 3``, or ``Rule 3 of member 2``.
    rule : Rule
        The rule itself.
    text : str
        The rule in words.
    log_firing : float
        Logarithm of its firing strength.
    strength : float
        Its normalized strength.
    outputs : tuple of float
        What it concluded for each output.
    contributions : tuple of float
        What it added to each output's score.
    contribution : float
        What it added to the score that is explained.
    witness : int or None
        The instance (position in the bag) with the greatest share in the firing strength; of several the one that
        satisfies the rule best, then the first. None where no instance satisfies the rule to any degree.
    shares : tuple of float
        Of every instance in the firing strength; they sum to one (see `fuzzymil.explain._shares`).
    log_truth : tuple of float
        Logarithm of the degree to which each instance satisfies the rule.
    conditions : tuple of ConditionExplanation
        At the witness, in the order of the rule.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> found = explain(rules, [[[0.1], [0.9]]])
    >>> rule = found.rules[0]
    >>> rule.name, rule.text, rule.witness, round(rule.share, 2), round(rule.contribution, 2)
    ('Rule 2', 'IF hue is high THEN y = 1', 1, 1.0, 0.5)
    """

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
    witness: int | None
    shares: tuple[float, ...]
    log_truth: tuple[float, ...]
    conditions: tuple[ConditionExplanation, ...]

    @property
    def firing(self) -> float:
        """Firing strength of the rule for the bag."""
        return math.exp(self.log_firing)

    @property
    def truth(self) -> tuple[float, ...]:
        """Degree to which each instance satisfies the rule."""
        return tuple(map(math.exp, self.log_truth))

    @property
    def share(self) -> float | None:
        """Share of the witness."""
        return None if self.witness is None else self.shares[self.witness]

    @property
    def decisive(self) -> tuple[ConditionExplanation, ...]:
        """The limiting condition first, then those with the least support."""
        return tuple(sorted(self.conditions, key=lambda condition: (not condition.limiting, condition.log_support)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "member": self.member,
            "index": self.index,
            "name": self.name,
            "text": self.text,
            "firing": self.firing,
            "log_firing": _finite(self.log_firing),
            "strength": self.strength,
            "outputs": list(self.outputs),
            "contributions": list(self.contributions),
            "contribution": self.contribution,
            "witness": self.witness,
            "share": self.share,
            "shares": list(self.shares),
            "truth": list(self.truth),
            "conditions": [condition.to_dict() for condition in self.conditions],
        }


@dataclasses.dataclass(frozen=True)
class Counterfactual:
    """What the rules would have said without one instance.

    Attributes
    ----------
    instance : int
        Position in the bag.
    score : float
        The explained score of the bag without the instance.
    change : float
        That score less the bag's.
    prediction : object
        What would be predicted.
    log_coverage : float
        Logarithm of the greatest firing strength; ``-inf`` where no rule would fire at all. Normalized rules answer
        surely also where they hardly fire: this tells whether they would still know the bag.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> found = explain(rules, [[[0.1], [0.9]]])
    >>> found.counterfactuals[0].instance, round(found.counterfactuals[0].score, 2)
    (1, 0.01)
    """

    instance: int
    score: float
    change: float
    prediction: Any
    log_coverage: float

    @property
    def coverage(self) -> float:
        """Greatest firing strength without the instance."""
        return math.exp(self.log_coverage)

    @property
    def uncovered(self) -> bool:
        """Whether no rule would fire at all."""
        return self.log_coverage == -math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "instance": self.instance,
            "score": self.score,
            "change": self.change,
            "prediction": _plain(self.prediction),
            "coverage": self.coverage,
            "log_coverage": _finite(self.log_coverage),
            "uncovered": self.uncovered,
        }


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """Why a bag was decided as it was; print it, draw it with `plots.ExplanationDisplay`, or take `to_dict`.

    Attributes
    ----------
    bag : object
        Id of the bag.
    n_instances : int
    feature_names, outputs : tuples of str
        Names of the variables and of the outputs.
    output : tuple of float
        The rules' answer, one number an output.
    prediction : object
        The class, or the number (or numbers).
    classes : tuple or None
        Of a classifier.
    probability : tuple of float or None
        Of each class, where there are classes.
    target : int
        The output that is explained.
    threshold : float
        What is taken off an output to make its score.
    score : float
        The explained output less the threshold: of a classifier the decision value (of several outputs, that of the
        explained class), of a regressor the answer. ``baseline`` and the contributions of all rules add up to it.
    baseline : float
        What came from no rule: the default of members none of whose rules fires; and the threshold, where strengths
        are not normalized.
    log_coverage : float
        Logarithm of the greatest firing strength.
    uncovered : tuple of int
        Members none of whose rules fires; they gave their ``default``.
    default : tuple of float or None
        What they gave, where there are any.
    n_estimators : int
    centered : bool
        Whether contributions are ``strength * (conclusion - threshold)``, or ``strength * conclusion``.
    rules : tuple of RuleExplanation
        The rules of all members, greatest contribution (in size) first.
    counterfactuals : tuple of Counterfactual
        For each witness, in the order of the rules; none for a bag of one instance.

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
    baseline: float
    log_coverage: float
    uncovered: tuple[int, ...]
    default: tuple[float, ...] | None
    n_estimators: int
    centered: bool
    rules: tuple[RuleExplanation, ...]
    counterfactuals: tuple[Counterfactual, ...]

    @property
    def coverage(self) -> float:
        """Greatest firing strength of any rule: near 0, no rule knows the bag."""
        return math.exp(self.log_coverage)

    @property
    def is_uncovered(self) -> bool:
        """Whether no rule fires, and the answer is the default."""
        return len(self.uncovered) == self.n_estimators

    def without(self, instance: int) -> Counterfactual | None:
        """Return the counterfactual of an instance, or None where it is no rule's witness."""
        return next((found for found in self.counterfactuals if found.instance == instance), None)

    def __repr__(self) -> str:
        predicted = "" if self.classes is None else f"prediction={self.prediction!r}, "
        return (
            f"Explanation(bag={self.bag!r}, {predicted}score={self.score:.4g}, "
            f"{len(self.rules)} rules, {self.n_instances} instances)"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, max_rules: int = 5, max_terms: int = 6) -> str:
        """Return the explanation in words.

        Parameters
        ----------
        max_rules : int
            Tell so many rules, those that contribute most; the others in one line.
        max_terms : int
            Tell so many conditions of a rule, those with the least support; the others as a number.
        """
        from fuzzymil.explain import text  # which builds on this module

        return text.told(self, max_rules=max_rules, max_terms=max_terms)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values that JSON can hold; the logarithm of zero is None."""
        plain = {
            field.name: _plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in ("rules", "counterfactuals")
        }
        return plain | {
            "log_coverage": _finite(self.log_coverage),
            "coverage": self.coverage,
            "is_uncovered": self.is_uncovered,
            "rules": [rule.to_dict() for rule in self.rules],
            "counterfactuals": [found.to_dict() for found in self.counterfactuals],
        }


def _finite(log_value: float) -> float | None:
    return log_value if math.isfinite(log_value) else None


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: lists for tuples, text for what is no number, text or truth."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
