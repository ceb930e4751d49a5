"""Variables with their named fuzzy sets, and single rules, as immutable values."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.text import check_characters
from fuzzymil.bags.columns import DATE, HOUR, value_text
from fuzzymil.inference.membership import FAMILIES, Formula, MembershipFunction, Missing, Rectangle
from fuzzymil.rules.premise import Expression, Is, check_premise, conditions, conjunction, plain_conditions, simplified

MISSING = "missing"
"""The term that every variable has, unless it has another of that name: whether a value is missing."""


def tidy(comment: str) -> str:
    r"""Return a comment without blanks at the ends of its lines, as text keeps it."""
    return "\n".join(line.strip() for line in comment.splitlines()).strip()


class Names(dict[str, Any]):
    """An immutable, and therefore hashable, mapping."""

    def __setitem__(self, *_: Any) -> None:
        raise TypeError("Rules are immutable: create changed copies with dataclasses.replace or RuleBase.edit.")

    __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = __setitem__  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Names, (dict(self),))


@dataclasses.dataclass(frozen=True)
class Variable:
    """A feature with its named fuzzy sets.

    Parameters
    ----------
    name : str
    terms : mapping of str to MembershipFunction
    low, high : float, optional
        Range of the data. Learned terms such as *low* refer to it.
    unit : str
    comment : str
        What the author noted about the variable.
    categories : sequence of str
        Names of the values 0, 1, 2, ..., if these are the codes of categories. Each is a term: the crisp set of its
        code.
    missing_values : sequence of float
        Values that a missing one stands for: it satisfies a condition to the degree that these do on average. Without
        any, a missing value counts in favor of every rule.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian
    >>> depth = Variable("depth", {"low": Gaussian(0, 1)}, low=0, high=5, unit="m")
    >>> depth.terms["low"]([0.0]).tolist()
    [1.0]
    >>> channel = Variable("channel", categories=["email", "phone", "support"])
    >>> channel.terms["support"]([0, 1, 2]).tolist()
    [0.0, 0.0, 1.0]
    """

    name: str
    terms: Mapping[str, MembershipFunction] = dataclasses.field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    unit: str = ""
    comment: str = dataclasses.field(default="", compare=False)  # for readers only
    categories: tuple[str, ...] = ()
    missing_values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        words = (self.name, self.unit, self.comment, *self.terms, *self.categories)
        check_characters(f"The variable {self.name!a:.60}", *words, error=ParameterError)
        object.__setattr__(self, "categories", tuple(self.categories))
        object.__setattr__(self, "missing_values", tuple(map(float, self.missing_values)))
        for place, name in enumerate(self.categories):
            if not isinstance(name, str) or not name or name in self.categories[:place]:
                raise ParameterError(f"The categories of {self.name!r:.60} must be different names, got {name!r:.60}.")
            if self.terms.get(name, crisp_set(place)) != crisp_set(place):
                raise ParameterError(f"The term {name!r:.60} of {self.name!r:.60} is a category: its set is fixed.")
        if not all(map(math.isfinite, self.missing_values)):
            raise ParameterError(f"missing_values of {self.name!r:.60} must be finite, got {self.missing_values}.")
        codes = {name: crisp_set(code) for code, name in enumerate(self.categories)}
        object.__setattr__(self, "terms", Names({**codes, **self.terms}))
        object.__setattr__(self, "comment", tidy(self.comment))
        for term, chosen in self.terms.items():
            if not isinstance(chosen, MembershipFunction):
                raise ParameterError(f"The term {term!r} of {self.name!r} must be a fuzzy set, got {chosen!r}.")
            if FAMILIES.get(getattr(chosen, "name", "")) is not type(chosen):
                family = type(chosen).__name__
                advice = f"define it as class {family}(MembershipFunction, name=...)"
                which = f"The term {term!r} of {self.name!r} belongs to the family {family}"
                raise ParameterError(f"{which}, which is not registered: {advice}.")
        ends = {end: float(value) for end in ("low", "high") if (value := getattr(self, end)) is not None}
        for end, number in ends.items():
            object.__setattr__(self, end, number)
        if not all(map(math.isfinite, ends.values())) or [*ends.values()] != sorted(ends.values()):
            expected = "must be finite with low <= high (None means unknown)"
            raise ParameterError(f"The range of {self.name!r:.60} {expected}, got {self.low} to {self.high}.")

    def check_sets(self) -> None:
        """Raise `ParameterError` if a term is not a set of this variable: a formula of others."""
        for term, chosen in self.terms.items():
            if isinstance(chosen, Formula):
                try:
                    chosen.check_set()
                except ParameterError as problem:
                    raise ParameterError(f"The term {term!r:.60} of {self.name!r:.60} is no set. {problem}") from None

    def asked_if_missing(self, asked: bool) -> Variable:
        """Return the variable with the term *missing* if rules ask for it, otherwise without; another stays."""
        own = self.terms.get(MISSING)
        if asked == (own is not None) or (own is not None and own != Missing()):
            return self
        terms = {term: chosen for term, chosen in self.declared_terms.items() if term != MISSING}
        return dataclasses.replace(self, terms={**terms, **({MISSING: Missing()} if asked else {})})

    @property
    def title(self) -> str:
        """The name with its unit, ``depth [m]``; units that only say how numbers are to be read are left out."""
        return f"{self.name} [{self.unit}]" if self.unit and self.unit not in (DATE, HOUR) else self.name

    @property
    def declared_terms(self) -> dict[str, MembershipFunction]:
        """The terms that are no categories."""
        return {term: chosen for term, chosen in self.terms.items() if term not in self.categories}

    def shown(self, value: float) -> str | None:
        """Return a category, a date or a time of day as a person writes it; None for other numbers.

        Examples
        --------
        >>> Variable("channel", categories=["email", "support"]).shown(1.0), Variable("depth").shown(1.0)
        ('support', None)
        """
        return value_text(value, self.unit, self.categories)


def crisp_set(code: int) -> MembershipFunction:
    """Return the set of a single code; its edges lie between codes, so that rounding cannot matter."""
    return Rectangle(code - 0.5, code + 0.5)


@dataclasses.dataclass(frozen=True, init=False)
class Rule:
    """IF premise THEN conclusions; variables that the premise does not mention are don't-care.

    Parameters
    ----------
    premise : Expression, or mapping of variable to term
        A mapping means the conjunction ``variable is term AND ...``.
    conclusions : sequence of sequences of float, or mapping of output to term
        Numbers: one row per output, the constant, optionally followed by one coefficient per variable. Sets: a term of
        each output that the rule is about, ``{"risk": "great"}``; ``Is("risk", "great", ("very",))`` instead of a term
        modifies the strength with which the rule concludes it by hedges (``risk is very great``).
    weight : float
        Factor for the rule's firing strength (``WITH 0.5``); 0 disables the rule.
    label : str
        Name of the rule, printed instead of its number (``Shock: IF ...``).
    comment : str
        What the author noted about the rule.

    Examples
    --------
    >>> Rule({"hue": "blue"}, [[1.0]]).antecedent
    {'hue': 'blue'}
    >>> Rule({"depth": "shallow"}, {"risk": "great"}).terms
    {'risk': Is(variable='risk', term='great', hedges=())}
    """

    premise: Expression
    conclusions: tuple[tuple[float, ...], ...] | Mapping[str, Is]
    weight: float = 1.0
    label: str = dataclasses.field(default="", compare=False)  # for readers only, as is the comment
    comment: str = dataclasses.field(default="", compare=False)

    def __init__(
        self,
        premise: Expression | Mapping[str, str],
        conclusions: Sequence[Sequence[float]] | Mapping[str, str | Is],
        weight: float = 1.0,
        label: str = "",
        comment: str = "",
    ) -> None:
        put = functools.partial(object.__setattr__, self)
        found = conjunction(premise) if isinstance(premise, Mapping) else premise
        if isinstance(conclusions, Mapping):
            put("conclusions", Names({str(name): _conclusion(str(name), said) for name, said in conclusions.items()}))
        else:
            put("conclusions", tuple(tuple(map(float, row)) for row in conclusions))
        put("weight", float(weight))
        put("label", str(label))
        put("comment", tidy(comment))
        check_characters("The label or comment of a rule", self.label, self.comment, error=ParameterError)
        check_premise(found)
        put("premise", simplified(found))  # the form that text has, so that printed rules parse back as equal
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ParameterError(f"The weight of a rule must be finite and at least 0, got {weight!r}.")

    def concluding(self, conclusions: Sequence[Sequence[float]] | Mapping[str, str | Is]) -> Rule:
        """Return the rule with other conclusions.

        Examples
        --------
        >>> Rule({"hue": "blue"}, [[1.0]], label="Sky").concluding([[0.5]]).coefs
        ((0.5,),)
        """
        return Rule(self.premise, conclusions, self.weight, self.label, self.comment)

    @property
    def coefs(self) -> tuple[tuple[float, ...], ...]:
        """The conclusions if they are numbers, one row per output; otherwise empty."""
        return () if isinstance(self.conclusions, Mapping) else self.conclusions

    @property
    def terms(self) -> Mapping[str, Is]:
        """The conclusions if they are sets, one term for each output that the rule is about; otherwise empty."""
        return self.conclusions if isinstance(self.conclusions, Mapping) else Names()

    @property
    def conditions(self) -> tuple[Is, ...]:
        """The conditions of the premise, from left to right."""
        return tuple(conditions(self.premise))

    @property
    def antecedent(self) -> Mapping[str, str]:
        """Maps each variable of the premise to its term; of several conditions on one variable, the first."""
        found: dict[str, str] = {}
        for condition in conditions(self.premise):
            found.setdefault(condition.variable, condition.term)
        return Names(found)

    @property
    def is_plain(self) -> bool:
        """Whether the premise is a plain conjunction, fully described by ``antecedent``."""
        return plain_conditions(self.premise) is not None


def _conclusion(output: str, said: str | Is) -> Is:
    return Is(output, said.term, said.hedges) if isinstance(said, Is) else Is(output, str(said))
