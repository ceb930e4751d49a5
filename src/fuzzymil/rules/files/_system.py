"""Fuzzy systems as stored in other programs' files, for single instances: the form between their text and our rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, listed
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction, Singleton
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.conclusion import PER_OUTPUT, Defuzzification
from fuzzymil.rules.files._text import Piece
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or, Quantified
from fuzzymil.rules.rule import Rule, Variable

_MAX_COEFS = 10_000_000  # a short text can describe more than memory holds: rules x outputs x inputs

Term = MembershipFunction | tuple[float, ...]
"""The meaning of an output's term: a fuzzy set, or coefficients with the constant first."""


class Output(NamedTuple):
    """An output, its terms, and how its conclusions become a number; ``default`` is NaN if there is no answer."""

    name: str
    terms: Mapping[str, Term]
    low: float | None = None
    high: float | None = None
    default: float = math.nan
    implication: str = "min"
    accumulation: str = "max"
    defuzzify: str = "centroid"
    resolution: int | None = None  # None if the file does not say
    sampling: str = "cells"
    clip: bool = False
    hold: bool = False

    @property
    def weighted(self) -> bool:
        """Whether its value is an average or a sum of numbers."""
        return self.defuzzify in ("average", "sum")


class SystemRule(NamedTuple):
    """A rule, and where it was read."""

    premise: Expression
    conclusions: Mapping[str, str | Is]  # output to term
    weight: float = 1.0
    place: Piece | None = None

    def term(self, output: str) -> str | None:
        """Return the term that the rule concludes for an output, if any."""
        said = self.conclusions.get(output)
        return said.term if isinstance(said, Is) else said

    def hedges(self, output: str) -> tuple[str, ...]:
        """Return the hedges of the conclusion about an output."""
        said = self.conclusions.get(output)
        return said.hedges if isinstance(said, Is) else ()

    def error(self, message: str) -> RuleSyntaxError:
        """Return an error that points at the rule."""
        return RuleSyntaxError(message) if self.place is None else self.place.error(message)


class System(NamedTuple):
    """The content of a file."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    rules: tuple[SystemRule, ...]
    t_norm: str
    s_norm: str
    limited: bool
    activation: str = "general"
    name: str = ""

    @property
    def sugeno(self) -> bool:
        """Whether a rule base can hold the system: every rule concludes a number for every output."""
        names = [output.name for output in self.outputs]
        methods = {output.defuzzify for output in self.outputs}
        return (
            methods in ({"average"}, {"sum"})
            and self.activation == "general"
            and all(_is_plain(output, self.rules) for output in self.outputs)
            and all(isinstance(rule.conclusions.get(name), str) for rule in self.rules for name in names)
        )


def _is_plain(output: Output, rules: Iterable[SystemRule]) -> bool:
    """Return whether an output of a rule base can mean the same."""
    if output.hold or not all(isinstance(term, tuple) for term in output.terms.values()):
        return False
    if output.clip and (output.low, output.high) != (None, None):
        return False
    if output.defuzzify == "sum" and output.default and not math.isnan(output.default):
        return False  # here a default stands in for the sum, and is not added to it
    said = [rule.conclusions.get(output.name) for rule in rules]
    return output.accumulation == "sum" or len(set(said)) == len(said)


# ---------------------------------------------------------------------- from rules


def system_of(base: RuleBase) -> System:
    """Return the system that a rule base describes."""
    if not base.concludes_sets:
        return _of_numbers(base)
    assert base.defuzzification is not None
    outputs = [
        Output(o.name, o.terms, o.low, o.high, base.default[k], **{name: base.setting(name, k) for name in PER_OUTPUT})
        for k, o in enumerate(base.outputs)
    ]
    said = [{name: each if each.hedges else each.term for name, each in rule.terms.items()} for rule in base.rules]
    return _system(base, outputs, said, base.rules, base.defuzzification.activation)


def _of_numbers(base: RuleBase) -> System:
    """Return the system of rules that conclude numbers.

    Each rule concludes its own terms, named after it, since programs differ in how they treat shared terms.
    """
    rules, default = list(base.rules), base.default
    if not base.normalize and any(default):  # elsewhere a default stands in for rules, and is not added to them
        coefs = [(value, *[0.0] * (len(row) - 1)) for value, row in zip(default, base.rules[0].coefs, strict=True)]
        rules, default = [*rules, Rule(ANYTHING, coefs)], (0.0,) * len(default)
    names = [f"rule{r + 1}" for r in range(len(rules))]
    method = "average" if base.normalize else "sum"
    terms = [dict(zip(names, (rule.coefs[k] for rule in rules), strict=True)) for k in range(len(base.outputs))]
    outputs = [
        Output(output, terms[k], default=default[k], defuzzify=method, accumulation="sum")
        for k, output in enumerate(base.output_names)
    ]
    return _system(base, outputs, [dict.fromkeys(base.output_names, name) for name in names], rules, "general")


def _system(
    base: RuleBase,
    outputs: Iterable[Output],
    conclusions: Iterable[Mapping[str, str | Is]],
    rules: Iterable[Rule],
    activation: str,
) -> System:
    both = zip(rules, conclusions, strict=True)
    own = tuple(SystemRule(rule.premise, said, rule.weight) for rule, said in both)
    return System(base.variables, tuple(outputs), own, base.t_norm, base.s_norm, base.limited, activation, base.name)


# ---------------------------------------------------------------------- to rules


def rules_of(system: System) -> RuleBase:
    """Return the rules that a system describes; the instances of a bag are joined by their maximum."""
    try:
        return RuleBase(**(_with_numbers(system) if system.sugeno else _with_sets(system)))
    except RuleSyntaxError:
        raise
    except ParameterError as problem:
        raise RuleSyntaxError(str(problem)) from None


def _with_numbers(system: System) -> dict[str, Any]:
    rows = {
        output.name: {
            name: row if any(row[1:]) else row[:1] for name, row in output.terms.items() if isinstance(row, tuple)
        }
        for output in system.outputs
    }
    n_coefs = max((len(row) for terms in rows.values() for row in terms.values()), default=1)
    n_values = len(system.rules) * len(system.outputs) * n_coefs
    if n_values > _MAX_COEFS:
        raise RuleSyntaxError(f"The rules have {n_values:,} coefficients; the limit is {_MAX_COEFS:,}.")
    coefs = []
    for rule in system.rules:
        chosen = [terms[str(rule.conclusions[name])] for name, terms in rows.items()]
        coefs.append([row + (0.0,) * (n_coefs - len(row)) for row in chosen])
    return {
        **_common_fields(system, coefs),
        "outputs": tuple(map(Variable, rows)),
        "normalize": system.outputs[0].defuzzify == "average",
    }


def _with_sets(system: System) -> dict[str, Any]:
    names = [variable.name for variable in system.inputs]
    settings: dict[str, Any] = {name: tuple(getattr(each, name) for each in system.outputs) for name in PER_OUTPUT}
    settings["resolution"] = tuple(output.resolution or Defuzzification.resolution for output in system.outputs)
    return {
        **_common_fields(system, [rule.conclusions for rule in system.rules]),
        "outputs": tuple(Variable(o.name, _sets(o, names), o.low, o.high) for o in system.outputs),
        "defuzzification": Defuzzification(**settings, activation=system.activation),
    }


def _sets(output: Output, inputs: Sequence[str]) -> dict[str, MembershipFunction]:
    """Return the terms of an output as sets: a constant is a single number, a linear function a formula."""
    found: dict[str, MembershipFunction] = {}
    for name, term in output.terms.items():
        if isinstance(term, MembershipFunction):
            found[name] = term
        elif len(term) == 1:
            found[name] = Singleton(term[0])
        else:
            slopes = zip((format_number(slope, None) for slope in term[1:]), inputs, strict=True)
            parts = [format_number(term[0], None), *(f"{slope} * {Arithmetic.name(which)}" for slope, which in slopes)]
            try:
                found[name] = Formula(" + ".join(parts).replace("+ -", "- "))
            except ParameterError:
                raise RuleSyntaxError(
                    f"The term {name!r:.60} of {output.name!r:.60} is a linear function of inputs with names that a "
                    f"formula cannot have ({listed(inputs)}): use words without spaces or signs."
                ) from None
    return found


def _common_fields(system: System, conclusions: Iterable[Any]) -> dict[str, Any]:
    both = zip(system.rules, conclusions, strict=True)
    added = system.sugeno and system.outputs[0].defuzzify == "sum"  # a sum of nothing is 0
    return {
        "variables": system.inputs,
        "rules": tuple(Rule(rule.premise, said, rule.weight) for rule, said in both),
        "t_norm": system.t_norm,
        "s_norm": system.s_norm,
        "aggregation": "max",
        "limited": system.limited,
        "default": tuple(0.0 if math.isnan(o.default) and added else o.default for o in system.outputs),
        "name": system.name,
    }


def without_rules(outputs: Iterable[Output], end: Piece) -> SystemRule:
    """Return a disabled rule, for a file that has none yet."""
    said = {output.name: next(iter(output.terms)) for output in outputs if output.terms}
    if not said:
        raise end.error("The text has neither a rule nor a term of an output.")
    return SystemRule(ANYTHING, said, 0.0, end)


# ---------------------------------------------------------------------- premises


def negations_inside(premise: Expression, *, dual: bool, negated: bool = False) -> Expression | None:
    """Return the same premise with its negations moved to the conditions, or None if that is impossible.

    This applies De Morgan's laws, which hold for ``dual`` norms. NOT of a premise that is always true stays.
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
    parts = [negations_inside(part, dual=dual, negated=negated) for part in premise.parts]
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        return None
    return And(found) if isinstance(premise, And) != negated else Or(found)
