"""Rule bases as text and back: what `language` read becomes a rule base, and a rule base the text of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from fuzzymil import language, wording
from fuzzymil.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.language import Linear, Parsed, ParsedRule
from fuzzymil.rules import Rule, RuleBase
from fuzzymil.vocabulary import Variable

__all__ = ["declaration", "known_settings", "parse", "to_source"]

_SETTINGS = tuple(
    field.name for field in dataclasses.fields(RuleBase) if field.name not in ("variables", "rules", "outputs")
)


def parse(text: str | Iterable[str], variables: Iterable[Variable] | None = None, **operators: Any) -> RuleBase:
    """Read a rule base; see `RuleBase.parse`."""
    parsed = language.read(text, variables or ())
    settings = known_settings(parsed, _SETTINGS)
    for name in settings.keys() & operators.keys():
        raise ParameterError(f"{name} is given both in the text and as an argument: leave one out.")
    settings |= operators
    if "default" in settings:
        default = settings["default"]
        settings["default"] = default if isinstance(default, tuple | list) else (default,)
    outputs, said = _conclusions(parsed.rules)
    first_order = any(linear.slopes for row in said for linear in row)
    order = tuple(parsed.variables) if first_order else ()
    rules = []
    for rule, row in zip(parsed.rules, said, strict=True):
        coefs = [(linear.constant, *(linear.slopes.get(name, 0.0) for name in order)) for linear in row]
        rules.append(Rule(rule.premise, coefs, rule.weight))
    return RuleBase(tuple(parsed.variables.values()), tuple(rules), outputs, **settings)


def known_settings(parsed: Parsed, known: Iterable[str]) -> dict[str, Any]:
    """Return the settings of a text (``USING ...``), all of them known."""
    known = list(known)
    for name in parsed.settings:
        if name not in known:
            raise RuleSyntaxError(
                f"Unknown setting: {name!r:.60}; known are {listed(known)}.{did_you_mean(name, known)}"
            )
    return dict(parsed.settings)


def _conclusions(rules: list[ParsedRule]) -> tuple[tuple[str, ...], list[list[Linear]]]:
    """Return the outputs, and what each rule concludes on each of them."""
    if not rules:
        raise RuleSyntaxError("The text holds no rule: write 'IF variable is term THEN y = 1'.")
    names = tuple(rules[0].conclusions)
    found = []
    for rule in rules:
        where = rule.where[0].upper() + rule.where[1:]
        for name in rule.conclusions:
            if name not in names:
                raise RuleSyntaxError(
                    f"{where}: the rule concludes {name!r}, which the first rule does not; every rule concludes "
                    f"the same outputs ({listed(names)}).{did_you_mean(name, names)}"
                )
        row = []
        for name in names:
            said = rule.conclusions.get(name)
            if said is None:
                raise RuleSyntaxError(
                    f"{where}: the rule says nothing about {name!r}; every rule concludes all outputs."
                )
            if isinstance(said, str):
                raise RuleSyntaxError(
                    f"{where}: {name!r} is concluded by a term ({said!r}): that is a Mamdani rule (MIMamdani); here "
                    f"rules conclude numbers, '{wording.quoted(name)} = 1' say."
                )
            row.append(said)
        found.append(row)
    return names, found


# ---------------------------------------------------------------------- from a rule base to text


def to_source(rules: RuleBase) -> str:
    """Return text that `parse` reads back as the same rule base."""
    declared = [declaration("VARIABLE", variable) for variable in rules.variables]
    return "\n".join([*declared, _using(rules), rules.to_text(digits=None)]) + "\n"


def declaration(kind: str, variable: Variable) -> str:
    """Return ``VARIABLE depth [m] FROM 0 TO 1: low = Gaussian(0, 1), ...``.

    Examples
    --------
    >>> from fuzzymil.membership import Gaussian
    >>> declaration("VARIABLE", Variable("depth", {"low": Gaussian(0, 1)}, 0, 1, "m"))
    'VARIABLE depth [m] FROM 0 TO 1: low = Gaussian(0, 1)'
    """
    text = f"{kind} {wording.quoted(variable.name)}"
    if variable.unit:
        text += f" [{wording.escaped(variable.unit, ']')}]"
    for word, end in (("FROM", variable.low), ("TO", variable.high)):
        text += "" if end is None else f" {word} {wording.format_number(end, None)}"
    terms = [f"{wording.quoted(term)} = {wording.format_set(chosen, None)}" for term, chosen in variable.terms.items()]
    return text + (": " + ", ".join(terms) if terms else "")


def _using(rules: RuleBase) -> str:
    return "USING " + ", ".join(f"{name} = {_setting(getattr(rules, name))}" for name in _SETTINGS)


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(wording.format_number(number, None) for number in value) + ")"
    return wording.format_number(value, None) if isinstance(value, float) else str(value)
