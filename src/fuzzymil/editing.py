"""Changes that make another rule base of a rule base."""

from __future__ import annotations

import dataclasses

from fuzzymil.errors import InputError, did_you_mean
from fuzzymil.rules import RuleBase
from fuzzymil.vocabulary import Rule, Variable

__all__ = ["over"]


def over(base: RuleBase, names: tuple[str, ...]) -> RuleBase:
    """Return the same rules over these features; see `RuleBase.over`."""
    for name in base.feature_names:
        if name not in names:
            raise InputError(f"There is no feature {name!r}, which the rules use.{did_you_mean(name, names)}")
    known = {variable.name: variable for variable in base.variables}
    place = {name: d for d, name in enumerate(base.feature_names)}
    rules = []
    for rule in base.rules:
        rows = [
            row if len(row) == 1 else (row[0], *(row[1 + place[n]] if n in place else 0.0 for n in names))
            for row in rule.coefs
        ]
        rules.append(Rule(rule.premise, tuple(rows), rule.weight))
    variables = tuple(known.get(name, Variable(name)) for name in names)
    return dataclasses.replace(base, variables=variables, rules=tuple(rules))
