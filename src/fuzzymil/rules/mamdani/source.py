"""Mamdani rules as text and back, in the language of `source`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.rules._rule_base import Rule, RuleBase
from fuzzymil.rules.language import parser, printer, source
from fuzzymil.rules.language.parser import ParsedRule
from fuzzymil.rules.mamdani.rule_base import PREMISE_SETTINGS, MamdaniRules
from fuzzymil.rules.rule import Variable

__all__ = ["SETTINGS", "made", "parse", "to_source"]

SETTINGS = (*PREMISE_SETTINGS, "implication", "accumulation", "defuzzify", "resolution", "default")
_CUSTOMARY = {"t_norm": "min", "aggregation": "max"}


def parse(
    text: str | Iterable[str],
    inputs: Iterable[Variable] | None = None,
    outputs: Iterable[Variable] | None = None,
    **operators: Any,
) -> MamdaniRules:
    """Read Mamdani rules; see `MamdaniRules.parse`."""
    parsed = parser.read(text, inputs or (), outputs or ())
    settings = source.known_settings(parsed, SETTINGS)
    for name in operators:
        if name in settings:
            raise parsed.places[name].error(f"{name} is given in the text and as an argument: leave one out.")
    if not parsed.variables:
        raise RuleSyntaxError("The text declares no variable: write 'VARIABLE depth: low = Gaussian(0, 1)'.")
    if not parsed.rules:
        raise RuleSyntaxError("The text holds no rule: write 'IF variable is term THEN output is term'.")
    conclusions = [_terms(rule) for rule in parsed.rules]
    rules = [Rule(rule.premise, [[0.0]], rule.weight) for rule in parsed.rules]
    make = functools.partial(made, tuple(parsed.variables.values()), rules, tuple(parsed.outputs.values()), conclusions)
    try:
        return make(**settings, **operators)
    except ParameterError as problem:
        raise source.pointed(problem, parsed, make) from None


def made(
    inputs: Iterable[Variable],
    rules: Iterable[Rule],
    outputs: Iterable[Variable],
    conclusions: Iterable[Mapping[str, str]],
    **settings: Any,
) -> MamdaniRules:
    """Return rules with these settings (those of premises and conclusions), the customary ones where none is given."""
    settings = _CUSTOMARY | settings
    of_premises = {name: settings.pop(name) for name in PREMISE_SETTINGS if name in settings}
    premises = RuleBase(tuple(inputs), tuple(rules), **of_premises)
    return MamdaniRules(premises, tuple(outputs), tuple(conclusions), **settings)


def _terms(rule: ParsedRule) -> dict[str, str]:
    """Return the term that a rule concludes of each output."""
    found = {}
    for name, said in rule.conclusions.items():
        if not isinstance(said, str):
            raise rule.place.error(
                f"{name!r:.60} is concluded by a number: that is a Sugeno rule (MISugeno); here rules conclude "
                f"terms, '{printer.quoted(name)} is likely' say."
            )
        found[name] = said
    return found


def to_source(rules: MamdaniRules) -> str:
    """Return text that `parse` reads back as the same rules."""
    declared = [source.declaration("VARIABLE", variable) for variable in rules.premises.variables]
    declared += [source.declaration("OUTPUT", output) for output in rules.outputs]
    settings = {name: getattr(rules.premises if name in PREMISE_SETTINGS else rules, name) for name in SETTINGS}
    return "\n".join([*declared, source.using(settings), rules.to_text(digits=None)]) + "\n"
