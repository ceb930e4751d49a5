"""Rewrites premises, and renames variables, terms and outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.rules._rule_set import R, RuleSet
from fuzzymil.rules.premise import ANYTHING, Expression, Is, Not, Quantified
from fuzzymil.rules.rule import Rule

TermName = str | tuple[str, str]
"""``"variable.term"``, or ``("variable", "term")`` where dots in names would make that ambiguous."""


def rewritten(premise: Expression, change: Callable[[Is], Is | None]) -> Expression:
    """Return a premise with every condition changed; conditions that become None are removed."""
    found = _rewritten(premise, change)
    return ANYTHING if found is None else found


def _rewritten(premise: Expression, change: Callable[[Is], Is | None]) -> Expression | None:
    if isinstance(premise, Is):
        return change(premise)
    if isinstance(premise, Not | Quantified):
        part = _rewritten(premise.part, change)
        return None if part is None else dataclasses.replace(premise, part=part)
    parts = tuple(part for part in (_rewritten(part, change) for part in premise.parts) if part is not None)
    return type(premise)(parts) if parts or not premise.parts else None


def rewritten_rules(rules: Iterable[Rule], change: Callable[[Is], Is | None]) -> tuple[Rule, ...]:
    """Return rules with every condition changed, as in `rewritten`."""
    return tuple(dataclasses.replace(rule, premise=rewritten(rule.premise, change)) for rule in rules)


def without_unused_terms(base: R) -> R:
    """Return the rule base without terms that no rule uses; variables stay, since they are the data's columns."""
    used = set(base.arrangement.terms.values())
    variables = [
        dataclasses.replace(v, terms={term: chosen for term, chosen in v.terms.items() if (v.name, term) in used})
        for v in base.variables
    ]
    return dataclasses.replace(base, variables=tuple(variables))


def find_term(base: RuleSet, name: TermName, what: str) -> tuple[str, str]:
    """Return the variable and the term that a name refers to; ``what`` names the argument in error messages."""
    every = [(variable.name, term) for variable in base.variables for term in variable.terms]
    found = [place for place in every if name in (place, ".".join(place))]
    if len(found) > 1:
        raise ParameterError(f"{what}: {name!r} is ambiguous ({listed(found)}). Write it as a pair (variable, term).")
    if not found:
        known = [".".join(place) for place in every]
        asked = ".".join(name) if isinstance(name, tuple) and all(isinstance(part, str) for part in name) else name
        raise ParameterError(
            f"{what}: unknown term {asked!r:.100}; expected 'variable.term', one of {listed(known)}."
            f"{did_you_mean(asked, known)}"
        )
    return found[0]


# ---------------------------------------------------------------------- names


def renamed(base: R, names: Mapping[TermName, str]) -> R:
    """Return the rule base with other names; see `RuleBase.edit`."""
    for old, new in names.items():
        if not isinstance(new, str) or not new:
            raise ParameterError(f"rename: the new name of {old!r} must be a non-empty string, got {new!r:.100}.")
        if old in base.feature_names and old in base.outputs:
            raise ParameterError(
                f"rename: {old!r} is both a variable and an output. Use dataclasses.replace(rules, outputs=...)."
            )
    of_variables = {name: names.get(name, name) for name in base.feature_names}
    of_outputs = {name: names.get(name, name) for name in base.outputs}
    for what, of_these in (("variables", of_variables), ("outputs", of_outputs)):
        _refuse_duplicates(what, of_these.values())
    before, base = base, _with_names(base, of_variables, tuple(of_outputs.values()))
    of_terms = {
        _renamed_term(base, old, of_variables): new
        for old, new in names.items()
        if old not in of_variables and old not in before.outputs
    }
    return _with_term_names(base, of_terms) if of_terms else base


def _refuse_duplicates(what: str, names: Iterable[str]) -> None:
    every = list(names)
    repeated = next((name for name in every if every.count(name) > 1), None)
    if repeated is not None:
        raise ParameterError(f"rename: two {what} would be named {repeated!r}.")


def _with_names(base: R, of_variables: Mapping[str, str], outputs: tuple[str, ...]) -> R:
    variables = tuple(dataclasses.replace(v, name=of_variables[v.name]) for v in base.variables)
    rules = rewritten_rules(base.rules, lambda asked: dataclasses.replace(asked, variable=of_variables[asked.variable]))
    return dataclasses.replace(base, variables=variables, rules=rules, outputs=outputs)


def _renamed_term(base: RuleSet, name: TermName, of_variables: Mapping[str, str]) -> tuple[str, str]:
    """Find a term by the new name of its variable."""
    try:
        return find_term(base, name, "rename")
    except ParameterError as problem:
        variable = name[0] if isinstance(name, tuple) else str(name).rpartition(".")[0]
        new = of_variables.get(variable, variable)
        if new == variable:
            known = [*of_variables, *base.outputs]
            raise ParameterError(f"{problem}{did_you_mean(name, known)}") from None
        raise ParameterError(f"{problem} ({variable!r} is now {new!r}: use the new name.)") from None


def _with_term_names(base: R, of_terms: Mapping[tuple[str, str], str]) -> R:
    variables = []
    for variable in base.variables:
        names = [of_terms.get((variable.name, term), term) for term in variable.terms]
        _refuse_duplicates(f"terms of {variable.name!r}", names)
        variables.append(dataclasses.replace(variable, terms=dict(zip(names, variable.terms.values(), strict=True))))

    def change(asked: Is) -> Is:
        return dataclasses.replace(asked, term=of_terms.get((asked.variable, asked.term), asked.term))

    return dataclasses.replace(base, variables=tuple(variables), rules=rewritten_rules(base.rules, change))
