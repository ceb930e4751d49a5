"""What a file of another program holds: a fuzzy system of single instances, between its text and our rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.membership import MembershipFunction
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.formats.syntax import Piece
from fuzzymil.rules.mamdani import MamdaniRules
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["Method", "Output", "Statement", "System", "Term", "negations_inside", "of_rules", "to_rules"]

_MAX_COEFS = 10_000_000  # a short text can stand for more than memory holds: rules x outputs x inputs

Term = MembershipFunction | tuple[float, ...]
"""What a term of an output stands for: a fuzzy set, or coefficients with the constant first."""


class Output(NamedTuple):
    """An output and its terms; ``default`` is NaN where none is told."""

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
    resolution: int | None = None  # None: not told


class System(NamedTuple):
    """All that a file says."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    rules: tuple[Statement, ...]
    t_norm: str
    s_norm: str
    limited: bool
    method: Method


# ---------------------------------------------------------------------- from rules


def of_rules(rules: RuleBase | MamdaniRules) -> System:
    """Return the system of our rules."""
    return _of_mamdani(rules) if isinstance(rules, MamdaniRules) else _of_sugeno(rules)


def _of_sugeno(rules: RuleBase) -> System:
    """Every rule concludes terms of its own, named after it, whatever a program does with terms that rules share."""
    names = [f"rule{r + 1}" for r in range(rules.n_rules)]
    outputs = [
        Output(
            output,
            {name: rule.coefs[k] for name, rule in zip(names, rules.rules, strict=True)},
            default=rules.default[k],
        )
        for k, output in enumerate(rules.outputs)
    ]
    said = [dict.fromkeys(rules.outputs, name) for name in names]
    return _system(rules, outputs, said, Method(sugeno=True, normalize=rules.normalize))


def _of_mamdani(rules: MamdaniRules) -> System:
    default: Any = rules.default
    outputs = [
        Output(output.name, output.terms, output.low, output.high, value)
        for output, value in zip(rules.outputs, default, strict=True)
    ]
    method = Method(
        sugeno=False,
        implication=rules.implication,
        accumulation=rules.accumulation,
        defuzzify=rules.defuzzify,
        resolution=rules.resolution,
    )
    return _system(rules.premises, outputs, rules.conclusions, method)


def _system(rules: RuleBase, outputs: list[Output], conclusions: Any, method: Method) -> System:
    statements = [
        Statement(rule.premise, said, rule.weight) for rule, said in zip(rules.rules, conclusions, strict=True)
    ]
    return System(rules.variables, tuple(outputs), tuple(statements), rules.t_norm, rules.s_norm, rules.limited, method)


# ---------------------------------------------------------------------- to rules


def to_rules(system: System) -> RuleBase | MamdaniRules:
    """Return a system as rules that join the instances of a bag by their greatest."""
    try:
        return _to_sugeno(system) if system.method.sugeno else _to_mamdani(system)
    except RuleSyntaxError:
        raise
    except ParameterError as problem:
        raise RuleSyntaxError(str(problem)) from None


def _to_sugeno(system: System) -> RuleBase:
    rows = {
        output.name: {name: row for name, row in output.terms.items() if isinstance(row, tuple)}
        for output in system.outputs
    }
    n_coefs = max((len(row) for terms in rows.values() for row in terms.values()), default=1)
    n_values = len(system.rules) * len(system.outputs) * n_coefs
    if n_values > _MAX_COEFS:
        raise RuleSyntaxError(f"The rules have {n_values:,} coefficients; at most {_MAX_COEFS:,} are read.")
    said = []
    for rule in system.rules:
        for name in rows:
            if name not in rule.conclusions:
                raise rule.error(f"The rule says nothing about {name!r:.60}; here every rule concludes all outputs.")
        chosen = [terms[rule.conclusions[name]] for name, terms in rows.items()]
        said.append([row + (0.0,) * (n_coefs - len(row)) for row in chosen])
    default = tuple(0.0 if math.isnan(output.default) else output.default for output in system.outputs)
    return _rule_base(system, said, tuple(rows), normalize=system.method.normalize, default=default)


def _to_mamdani(system: System) -> MamdaniRules:
    outputs = [
        Variable(
            output.name,
            {name: chosen for name, chosen in output.terms.items() if isinstance(chosen, MembershipFunction)},
            output.low,
            output.high,
        )
        for output in system.outputs
    ]
    # Where a file tells no default, as where nobody does: the middle of the range.
    default = tuple(
        ((output.low or 0.0) + (output.high or 0.0)) / 2 if math.isnan(output.default) else output.default
        for output in system.outputs
    )
    method = system.method
    resolution = {} if method.resolution is None else {"resolution": method.resolution}
    return MamdaniRules(
        _rule_base(system, [[[0.0]]] * len(system.rules), ("y",)),
        tuple(outputs),
        tuple(rule.conclusions for rule in system.rules),
        method.implication,
        method.accumulation,
        method.defuzzify,
        default=default,
        **resolution,
    )


def _rule_base(system: System, coefs: list[Any], outputs: tuple[str, ...], **settings: Any) -> RuleBase:
    return RuleBase(
        system.inputs,
        tuple(Rule(rule.premise, rows, rule.weight) for rule, rows in zip(system.rules, coefs, strict=True)),
        outputs,
        t_norm=system.t_norm,
        s_norm=system.s_norm,
        aggregation="max",
        limited=system.limited,
        **settings,
    )


# ---------------------------------------------------------------------- premises


def negations_inside(premise: Expression, *, dual: bool, negated: bool = False) -> Expression | None:
    """Return the same premise with its negations next to the conditions, or None where that is impossible.

    By De Morgan's laws, which hold for norms that are ``dual``. NOT of what is always true stays.

    Examples
    --------
    >>> negations_inside(Not(Or((Is("x", "low"), Is("y", "low", ("very",))))), dual=True)
    And(parts=(Is(variable='x', term='low', hedges=('not',)), Is(variable='y', term='low', hedges=('not', 'very'))))
    """
    if isinstance(premise, Is):
        return Is(premise.variable, premise.term, ("not", *premise.hedges)) if negated else premise
    if isinstance(premise, Not):
        return negations_inside(premise.part, dual=dual, negated=not negated)
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
