"""Rule bases as text and back: builds rules from what the parser found, and prints rules with their declarations."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.rules._rule_set import R, RuleSet
from fuzzymil.rules.language import parser, printer
from fuzzymil.rules.language.parser import Linear, Parsed, ParsedRule
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["build", "declaration", "describe_terms", "parse", "premise_text", "to_source", "to_text", "using"]

_SETTINGS = tuple(
    field.name for field in dataclasses.fields(RuleSet) if field.name not in ("variables", "rules", "outputs")
)

_MAX_COEFS = 10_000_000

T = TypeVar("T")

# ---------------------------------------------------------------------- text to rules


def parse(
    make: Callable[..., R], text: str | Iterable[str], variables: Iterable[Variable] | None = None, **operators: Any
) -> R:
    """Parse a rule base; see `RuleBase.parse`."""
    parsed = parser.read(text, variables or ())
    check_settings(parsed, _SETTINGS, operators)
    check_content(parsed, "y = 1")
    outputs, said = _conclusions(parsed.rules)
    first_order = any(any(linear.slopes.values()) for row in said for linear in row)
    order = tuple(parsed.variables) if first_order else ()
    if len(said) * len(outputs) * len(order) > _MAX_COEFS:
        raise RuleSyntaxError(
            f"{len(said):,} rules with {len(outputs):,} linear output(s) of {len(order):,} variables have more than "
            f"{_MAX_COEFS:,} coefficients: use fewer rules or variables."
        )
    rules = []
    for rule, row in zip(parsed.rules, said, strict=True):
        coefs = [(linear.constant, *(linear.slopes.get(name, 0.0) for name in order)) for linear in row]
        rules.append(Rule(rule.premise, coefs, rule.weight))
    fields = {"variables": tuple(parsed.variables.values()), "rules": tuple(rules), "outputs": outputs}
    return build(functools.partial(make, **fields), parsed, operators)


def check_settings(parsed: Parsed, known: Iterable[str], operators: Iterable[str]) -> None:
    """Raise `RuleSyntaxError` if a setting of the text is unknown, or also given as an argument."""
    known = list(known)
    for name, place in parsed.places.items():
        if name not in known:
            raise place.error(f"Unknown setting {name!r:.60}; choose from {listed(known)}.{did_you_mean(name, known)}")
        if name in operators:
            raise place.error(f"{name} is set both in the text and as an argument: remove one of them.")


def check_content(parsed: Parsed, example: str) -> None:
    """Raise `RuleSyntaxError` if a text has no variable or no rule."""
    if not parsed.variables:
        raise RuleSyntaxError("The text declares no variable. Add one: 'VARIABLE depth: low = Gaussian(0, 1)'.")
    if not parsed.rules:
        raise RuleSyntaxError(f"The text has no rule. Add one: 'IF variable is term THEN {example}'.")


def build(make: Callable[..., T], parsed: Parsed, operators: Mapping[str, Any]) -> T:
    """Call ``make`` with the settings; an error that a single setting causes points at it."""
    try:
        return make(**parsed.settings, **operators)
    except ParameterError:
        for name, value in parsed.settings.items():
            try:
                make(**{name: value})
            except ParameterError as cause:
                raise parsed.places[name].error(str(cause)) from None
        raise


def _conclusions(rules: list[ParsedRule]) -> tuple[tuple[str, ...], list[list[Linear]]]:
    """Return the outputs, and each rule's conclusion on each of them."""
    first = rules[0].conclusions
    found = []
    for rule in rules:
        for name in rule.conclusions:
            if name not in first:
                raise rule.place.error(
                    f"The rule concludes {name!r:.60}, but the first rule does not. Every rule must conclude the same "
                    f"outputs ({listed(map(printer.quoted, first))}).{did_you_mean(name, first)}"
                )
        row = []
        for name in first:
            said = rule.conclusions.get(name)
            if said is None:
                raise rule.place.error(f"The rule has no conclusion for {name!r:.60}; every rule needs one per output.")
            if isinstance(said, str):
                raise rule.place.error(
                    f"{name!r:.60} is set to a term ({said!r:.60}), which makes this a Mamdani rule (use MIMamdani). "
                    "A Sugeno rule concludes a number, for example 'y = 1'."
                )
            row.append(said)
        found.append(row)
    return tuple(first), found


# ---------------------------------------------------------------------- rules to text


def to_text(base: RuleSet, max_terms: int | None = None, digits: int | None = 4) -> str:
    """Return the rules as if-then text.

    Parameters
    ----------
    max_terms : int, optional
        Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
    digits : int or None
        Significant digits of numbers; None writes them exactly.

    Notes
    -----
    In learned rules, *low*, *medium* and *high* name the third of the variable's range in which the set is
    centered. If several sets of a variable share a word, they are numbered from low to high.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 2 / 3]).to_text(digits=2))
    Rule 1: IF x1 is low THEN y = 0
    Rule 2: IF x1 is high THEN y = 0.67
    """
    return "\n".join(
        f"Rule {r + 1}: IF {premise_text(base, rule, max_terms)} THEN "
        + ", ".join(
            printer.conclusion(output, row, base.feature_names, digits, max_terms)
            for output, row in zip(base.outputs, rule.coefs, strict=True)
        )
        + printer.with_weight(rule.weight, digits)
        for r, rule in enumerate(base.rules)
    )


def premise_text(base: RuleSet, rule: Rule, max_terms: int | None) -> str:
    """Return the premise of a rule as text, with at most ``max_terms`` conditions if it is a plain conjunction."""
    if not rule.is_plain or max_terms is None:
        return printer.premise_text(rule.premise)
    return printer.conditions(rule.antecedent, base.selectivity(rule), max_terms)


def describe_terms(base: RuleSet, digits: int = 4) -> str:
    """Return the definition of every term, one line per variable.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).describe_terms())
    x1: low = Gaussian(0, 0.3), high = Gaussian(1, 0.3)
    """
    return "\n".join(
        f"{variable.title}: "
        + ", ".join(f"{term} = {printer.format_set(chosen, digits)}" for term, chosen in variable.terms.items())
        for variable in base.variables
        if variable.terms
    )


def to_source(base: RuleSet) -> str:
    """Return the whole rule base as text that `parse` reads back exactly: terms, operators and rules.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> RuleBase.parse(rules.to_source()) == rules
    True
    """
    declared = [declaration("VARIABLE", variable) for variable in base.variables]
    settings = using({name: getattr(base, name) for name in _SETTINGS})
    return "\n".join([*declared, settings, to_text(base, digits=None)]) + "\n"


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
    if isinstance(value, str):
        return printer.quoted(value)
    return printer.format_number(value, None) if isinstance(value, float) else str(value)
