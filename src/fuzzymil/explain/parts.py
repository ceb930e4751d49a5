"""The parts of an explanation: conditions, rules and counterfactuals."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Rule

__all__ = ["ConditionExplanation", "Counterfactual", "RuleExplanation", "Unusual", "finite", "plain"]


@dataclasses.dataclass(frozen=True)
class ConditionExplanation:
    """One condition of a rule at the rule's witness.

    Attributes
    ----------
    variable, term : str
    hedges : tuple of str
        The words before the term, as in ``variable is [hedges] term``.
    unit : str
    value : float or None
        The value of the witness; None if it is missing.
    counted_as : float or None
        The value after clipping to the variable's range, if the rules limit values.
    log_membership : float
        Logarithm of the degree to which the condition holds, hedges included. For a missing value it holds fully, or
        inside a NOT not at all: always in favor of the rule.
    negated : bool
        Whether the condition is inside a NOT (or an odd number of them).
    log_support : float
        Logarithm of the degree to which the condition supports the rule: the membership, or 1 minus it if negated.
    limiting : bool
        Whether this condition limits the truth of the rule: among conditions joined by AND the one with the least
        support, among those joined by OR the one with the most.

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
        """Whether the value of the witness is missing."""
        return self.value is None

    @property
    def text(self) -> str:
        """The condition as it is written in a rule."""
        return printer.premise_text(Is(self.variable, self.term, self.hedges))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return {
            "variable": self.variable,
            "term": self.term,
            "hedges": list(self.hedges),
            "unit": self.unit,
            "value": self.value,
            "counted_as": self.counted_as,
            "missing": self.missing,
            "membership": self.membership,
            "log_membership": finite(self.log_membership),
            "negated": self.negated,
            "limiting": self.limiting,
        }


@dataclasses.dataclass(frozen=True)
class RuleExplanation:
    """What one rule concluded about the bag, and the instance that made it fire.

    Attributes
    ----------
    member, index : int
        Position of the ensemble member in ``members_``, and of the rule in it.
    name : str
        ``"Rule 3"``, or ``"Rule 3 of member 2"``.
    rule : Rule
        The rule itself.
    text : str
        The rule as text.
    log_firing : float
        Logarithm of the firing strength.
    strength : float
        Normalized strength.
    outputs : tuple of float
        Conclusion for each output.
    contributions : tuple of float
        Contribution to the score of each output.
    contribution : float
        Contribution to the explained score.
    witness : int or None
        Position in the bag of the instance with the greatest share in the firing strength; among equals, the one that
        satisfies the rule best, then the first. None if no instance satisfies the rule to any degree, or if the rule
        has no conditions.
    shares : tuple of float
        Share of each instance in the firing strength; they sum to one.
    log_truth : tuple of float
        Logarithm of the degree to which each instance satisfies the rule.
    conditions : tuple of ConditionExplanation
        The conditions at the witness, in the order of the rule.

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
        """Return a dictionary that can be written as JSON."""
        return {
            "member": self.member,
            "index": self.index,
            "name": self.name,
            "text": self.text,
            "firing": self.firing,
            "log_firing": finite(self.log_firing),
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
    """The prediction without one of the instances.

    Attributes
    ----------
    instance : int
        Position in the bag.
    score : float
        Score of the bag without the instance.
    change : float
        That score minus the score of the whole bag.
    prediction : object
        Prediction for the bag without the instance.
    log_firing : float
        Logarithm of the greatest firing strength without the instance; ``-inf`` if no rule would fire. Normalized
        rules can predict confidently even where they hardly fire; this shows whether any still applies.

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
    log_firing: float

    @property
    def firing(self) -> float:
        """Greatest firing strength without the instance."""
        return math.exp(self.log_firing)

    @property
    def uncovered(self) -> bool:
        """Whether no rule would fire at all."""
        return self.log_firing == -math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return {
            "instance": self.instance,
            "score": self.score,
            "change": self.change,
            "prediction": plain(self.prediction),
            "firing": self.firing,
            "log_firing": finite(self.log_firing),
            "uncovered": self.uncovered,
        }


@dataclasses.dataclass(frozen=True)
class Unusual:
    """What is most unusual about a bag, compared with the training bags: one of its values, or its size.

    Attributes
    ----------
    instance : int or None
        Position in the bag of the instance with the value; None for the number of instances.
    feature : str or None
        Name of the feature; None for the number of instances.
    value : float
    high : bool
        Whether the value is unusually high rather than low.
    share : float
        Share of the training values that are at least as high (or low); 0 outside their range.
    limits : (float, float)
        The least and the greatest training value.

    Examples
    --------
    >>> print(Unusual(instance=3, feature="pages", value=140.0, high=True, share=0.0, limits=(0.0, 40.0)))
    pages = 140 of instance 3 is above all training values (0 to 40)
    >>> print(Unusual(instance=None, feature=None, value=9.0, high=True, share=0.02, limits=(1.0, 12.0)))
    9 instances: 2% of the training bags have at least as many
    """

    instance: int | None
    feature: str | None
    value: float
    high: bool
    share: float
    limits: tuple[float, float]

    def __str__(self) -> str:
        value, low, high = (printer.format_number(number, 3) for number in (self.value, *self.limits))
        beyond = not self.limits[0] <= self.value <= self.limits[1]
        share = f"{printer.format_number(100 * self.share, 2)}% of the training"
        if self.feature is None:
            count = f"{int(self.value):,} instance{'' if self.value == 1 else 's'}"
            if beyond:
                return f"{count}: {'more' if self.high else 'fewer'} than any training bag ({low} to {high})"
            return f"{count}: {share} bags have at {'least' if self.high else 'most'} as many"
        what = f"{printer.quoted(self.feature)} = {value} of instance {self.instance}"
        if beyond:
            return f"{what} is {'above' if self.high else 'below'} all training values ({low} to {high})"
        return f"{what}: {share} values are at least as {'high' if self.high else 'low'}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return dataclasses.asdict(self) | {"limits": list(self.limits), "text": str(self)}


def finite(log_value: float) -> float | None:
    """Return a logarithm, or None for the logarithm of zero."""
    return log_value if math.isfinite(log_value) else None


def plain(value: Any) -> Any:
    """Return a value that can be written as JSON: tuples as lists, other objects as text."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
