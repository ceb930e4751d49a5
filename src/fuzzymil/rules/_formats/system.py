"""Fuzzy systems as stored in other programs' files, for single instances: the form between their text and our rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.membership import MembershipFunction
from fuzzymil.rules._formats.syntax import Piece
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or, Quantified
from fuzzymil.rules.rule import Rule, Variable

_MAX_COEFS = 10_000_000  # a short text can describe more than memory holds: rules x outputs x inputs

Term = MembershipFunction | tuple[float, ...]
"""The meaning of an output's term: a fuzzy set, or coefficients with the constant first."""


class Output(NamedTuple):
    """An output and its terms; ``default`` is NaN if the file has none."""

    name: str
    terms: Mapping[str, Term]
    low: float | None = None
    high: float | None = None
    default: float = math.nan


class Statement(NamedTuple):
    """A rule, and where it was read."""

    premise: Expression
    conclusions: Mapping[str, str]  # output to term
    weight: float = 1.0
    place: Piece | None = None

    def error(self, message: str) -> RuleSyntaxError:
        """Return an error that points at the rule."""
        return RuleSyntaxError(message) if self.place is None else self.place.error(message)


class Method(NamedTuple):
    """How strengths and conclusions become a number."""

    sugeno: bool
    normalize: bool = True
    implication: str = "min"
    accumulation: str = "max"
    defuzzify: str = "centroid"
    resolution: int | None = None  # None if the file does not say


class System(NamedTuple):
    """The content of a file."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    rules: tuple[Statement, ...]
    t_norm: str
    s_norm: str
    limited: bool
    method: Method


# ---------------------------------------------------------------------- from rules


def from_sugeno(base: RuleSet) -> System:
    """Return the system of Sugeno rules.

    Each rule concludes its own terms, named after it, since programs differ in how they treat shared terms.
    """
    rules, default = list(base.rules), base.default
    if not base.normalize and any(default):  # elsewhere a default stands in for rules, and is not added to them
        coefs = [(value, *[0.0] * (len(row) - 1)) for value, row in zip(default, base.rules[0].coefs, strict=True)]
        rules, default = [*rules, Rule(ANYTHING, coefs)], (0.0,) * len(default)
    names = [f"rule{r + 1}" for r in range(len(rules))]
    outputs = [
        Output(output, {name: rule.coefs[k] for name, rule in zip(names, rules, strict=True)}, default=default[k])
        for k, output in enumerate(base.outputs)
    ]
    said = [dict.fromkeys(base.outputs, name) for name in names]
    method = Method(sugeno=True, normalize=base.normalize)
    return from_rules(base, outputs, said, method, rules)


def from_rules(
    base: RuleSet,
    outputs: Iterable[Output],
    conclusions: Iterable[Mapping[str, str]],
    method: Method,
    rules: Iterable[Rule] | None = None,
) -> System:
    """Return the system with the premises of these rules, by default those of ``base``, and these conclusions."""
    return System(
        inputs=base.variables,
        outputs=tuple(outputs),
        rules=tuple(
            Statement(rule.premise, said, rule.weight)
            for rule, said in zip(base.rules if rules is None else rules, conclusions, strict=True)
        ),
        t_norm=base.t_norm,
        s_norm=base.s_norm,
        limited=base.limited,
        method=method,
    )


# ---------------------------------------------------------------------- to rules
# Each returns fields; the instances of a bag are joined by their maximum.


def to_sugeno(system: System) -> dict[str, Any]:
    """Return the fields of the rule base that a Sugeno system describes."""
    rows = {
        output.name: {name: row for name, row in output.terms.items() if isinstance(row, tuple)}
        for output in system.outputs
    }
    n_coefs = max((len(row) for terms in rows.values() for row in terms.values()), default=1)
    n_values = len(system.rules) * len(system.outputs) * n_coefs
    if n_values > _MAX_COEFS:
        raise RuleSyntaxError(f"The rules have {n_values:,} coefficients; the limit is {_MAX_COEFS:,}.")
    coefs = []
    for rule in system.rules:
        for name in rows:
            if name not in rule.conclusions:
                raise rule.error(f"The rule has no conclusion for {name!r:.60}; every rule needs one per output.")
        chosen = [terms[rule.conclusions[name]] for name, terms in rows.items()]
        coefs.append([row + (0.0,) * (n_coefs - len(row)) for row in chosen])
    return {
        **_premises(system, coefs),
        "outputs": tuple(rows),
        "normalize": system.method.normalize,
        "default": tuple(0.0 if math.isnan(output.default) else output.default for output in system.outputs),
    }


def to_mamdani(system: System) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of the premises and of the Mamdani rules that a system describes."""
    outputs = [
        Variable(
            output.name,
            {name: chosen for name, chosen in output.terms.items() if isinstance(chosen, MembershipFunction)},
            output.low,
            output.high,
        )
        for output in system.outputs
    ]
    method = system.method
    fields: dict[str, Any] = {
        "outputs": tuple(outputs),
        "conclusions": tuple(rule.conclusions for rule in system.rules),
        "implication": method.implication,
        "accumulation": method.accumulation,
        "defuzzify": method.defuzzify,
        # Without a default in the file, use ours: the middle of the range.
        "default": tuple(
            ((output.low or 0.0) + (output.high or 0.0)) / 2 if math.isnan(output.default) else output.default
            for output in system.outputs
        ),
    }
    if method.resolution is not None:
        fields["resolution"] = method.resolution
    return _premises(system, [[[0.0]]] * len(system.rules)), fields


def _premises(system: System, coefs: Iterable[Any]) -> dict[str, Any]:
    return {
        "variables": system.inputs,
        "rules": tuple(Rule(rule.premise, rows, rule.weight) for rule, rows in zip(system.rules, coefs, strict=True)),
        "t_norm": system.t_norm,
        "s_norm": system.s_norm,
        "aggregation": "max",
        "limited": system.limited,
    }


# ---------------------------------------------------------------------- premises


def negations_inside(premise: Expression, *, dual: bool, negated: bool = False) -> Expression | None:
    """Return the same premise with its negations moved to the conditions, or None if that is impossible.

    This applies De Morgan's laws, which hold for ``dual`` norms. NOT of a premise that is always true stays.

    Examples
    --------
    >>> negations_inside(Not(Or((Is("x", "low"), Is("y", "low", ("very",))))), dual=True)
    And(parts=(Is(variable='x', term='low', hedges=('not',)), Is(variable='y', term='low', hedges=('not', 'very'))))
    """
    if isinstance(premise, Is):
        return Is(premise.variable, premise.term, ("not", *premise.hedges)) if negated else premise
    if isinstance(premise, Not):
        return negations_inside(premise.part, dual=dual, negated=not negated)
    if isinstance(premise, Quantified):
        return None
    if not premise.parts:
        return Not(ANYTHING) if negated else ANYTHING
    if negated and len(premise.parts) > 1 and not dual:
        return None
    found = []
    for part in premise.parts:
        inner = negations_inside(part, dual=dual, negated=negated)
        if inner is None:
            return None
        found.append(inner)
    return And(tuple(found)) if isinstance(premise, And) != negated else Or(tuple(found))
