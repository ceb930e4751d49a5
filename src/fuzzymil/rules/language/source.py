"""Rule bases as text and back: what `language` read becomes a rule base, and a rule base the text of itself."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.rules._rule_base import Rule, RuleBase
from fuzzymil.rules.language import parser, printer
from fuzzymil.rules.language.parser import Linear, Parsed, ParsedRule
from fuzzymil.rules.rule import Variable

__all__ = ["declaration", "known_settings", "parse", "pointed", "to_source", "using"]

_SETTINGS = tuple(
    field.name for field in dataclasses.fields(RuleBase) if field.name not in ("variables", "rules", "outputs")
)

_MAX_COEFS = 10_000_000


def parse(text: str | Iterable[str], variables: Iterable[Variable] | None = None, **operators: Any) -> RuleBase:
    """Read a rule base; see `RuleBase.parse`."""
    parsed = parser.read(text, variables or ())
    settings = known_settings(parsed, _SETTINGS)
    for name in operators:
        if name in settings:
            raise parsed.places[name].error(f"{name} is given in the text and as an argument: leave one out.")
    if not parsed.variables:
        raise RuleSyntaxError("The text declares no variable: write 'VARIABLE depth: low = Gaussian(0, 1)'.")
    outputs, said = _conclusions(parsed.rules)
    first_order = any(any(linear.slopes.values()) for row in said for linear in row)
    order = tuple(parsed.variables) if first_order else ()
    if len(said) * len(outputs) * len(order) > _MAX_COEFS:
        raise RuleSyntaxError(
            f"{len(said):,} rules with {len(outputs):,} linear output(s) of {len(order):,} variables have more than "
            f"{_MAX_COEFS:,} coefficients: leave out rules or variables."
        )
    rules = []
    for rule, row in zip(parsed.rules, said, strict=True):
        coefs = [(linear.constant, *(linear.slopes.get(name, 0.0) for name in order)) for linear in row]
        rules.append(Rule(rule.premise, coefs, rule.weight))
    make = functools.partial(RuleBase, tuple(parsed.variables.values()), tuple(rules), outputs)
    try:
        return make(**settings, **operators)
    except ParameterError as problem:
        raise pointed(problem, parsed, make) from None


def known_settings(parsed: Parsed, known: Iterable[str]) -> dict[str, Any]:
    """Return the settings of a text (``USING ...``), all of them known."""
    known = list(known)
    for name, place in parsed.places.items():
        if name not in known:
            raise place.error(f"Unknown setting: {name!r:.60}; known are {listed(known)}.{did_you_mean(name, known)}")
    return dict(parsed.settings)


def pointed(problem: ValueError, parsed: Parsed, make: Callable[..., object]) -> ValueError:
    """Return a problem as one that points at the setting of the text which alone makes ``make`` fail, if any does."""
    for name, value in parsed.settings.items():
        try:
            make(**{name: value})
        except ValueError as cause:
            return parsed.places[name].error(str(cause))
    return problem


def _conclusions(rules: list[ParsedRule]) -> tuple[tuple[str, ...], list[list[Linear]]]:
    """Return the outputs, and what each rule concludes on each of them."""
    if not rules:
        raise RuleSyntaxError("The text holds no rule: write 'IF variable is term THEN y = 1'.")
    first = rules[0].conclusions
    found = []
    for rule in rules:
        for name in rule.conclusions:
            if name not in first:
                raise rule.place.error(
                    f"The rule concludes {name!r:.60}, which the first rule does not; every rule concludes "
                    f"the same outputs ({listed(map(printer.quoted, first))}).{did_you_mean(name, first)}"
                )
        row = []
        for name in first:
            said = rule.conclusions.get(name)
            if said is None:
                raise rule.place.error(f"The rule says nothing about {name!r:.60}; every rule concludes all outputs.")
            if isinstance(said, str):
                raise rule.place.error(
                    f"{name!r:.60} is concluded by a term ({said!r:.60}): that is a Mamdani rule (MIMamdani); here "
                    "rules conclude numbers, 'y = 1' say."
                )
            row.append(said)
        found.append(row)
    return tuple(first), found


# ---------------------------------------------------------------------- from a rule base to text


def to_source(rules: RuleBase) -> str:
    """Return text that `parse` reads back as the same rule base."""
    declared = [declaration("VARIABLE", variable) for variable in rules.variables]
    settings = using({name: getattr(rules, name) for name in _SETTINGS})
    return "\n".join([*declared, settings, rules.to_text(digits=None)]) + "\n"


def declaration(kind: str, variable: Variable) -> str:
    """Return ``VARIABLE depth [m] FROM 0 TO 1: low = Gaussian(0, 1), ...``.

    Examples
    --------
    >>> from fuzzymil.membership import Gaussian
    >>> declaration("VARIABLE", Variable("depth", {"low": Gaussian(0, 1)}, 0, 1, "m"))
    'VARIABLE depth [m] FROM 0 TO 1: low = Gaussian(0, 1)'
    """
    text = f"{kind} {printer.quoted(variable.name)}"
    if variable.unit:
        text += f" [{printer.escaped(variable.unit, ']')}]"
    for word, end in (("FROM", variable.low), ("TO", variable.high)):
        text += "" if end is None else f" {word} {printer.format_number(end, None)}"
    terms = [f"{printer.quoted(term)} = {printer.format_set(chosen, None)}" for term, chosen in variable.terms.items()]
    return text + (": " + ", ".join(terms) if terms else "")


def using(settings: Mapping[str, object]) -> str:
    """Return ``USING t_norm = min, ...``.

    Examples
    --------
    >>> using({"t_norm": "min", "default": (0.5, 0.0), "limited": False})
    'USING t_norm = min, default = (0.5, 0), limited = no'
    """
    return "USING " + ", ".join(f"{name} = {_setting(value)}" for name, value in settings.items())


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(printer.format_number(number, None) for number in value) + ")"
    return printer.format_number(value, None) if isinstance(value, float) else str(value)
