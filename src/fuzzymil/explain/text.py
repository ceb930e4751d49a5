"""Text for explanations: numbers in columns, rules and their conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fuzzymil.explain.parts import ConditionExplanation, RuleExplanation
from fuzzymil.rules.language import printer

__all__ = [
    "chance",
    "condition_table",
    "degree",
    "evenly",
    "folded",
    "named",
    "number",
    "percent",
    "rest_in_words",
    "signed",
    "value_of",
]

_NEGLIGIBLE = 1e-3  # relative to the strongest rule and the greatest contribution; invisible in three digits


def folded(rules: Sequence[RuleExplanation], max_rules: int) -> tuple[list[RuleExplanation], list[RuleExplanation]]:
    """Split rules into those to show, at most ``max_rules`` that matter, and the rest."""
    strongest = max((rule.strength for rule in rules), default=0.0)
    most = max((abs(rule.contribution) for rule in rules), default=0.0)
    shown: list[RuleExplanation] = []
    rest: list[RuleExplanation] = []
    for rule in rules:
        matters = rule.strength >= _NEGLIGIBLE * strongest or abs(rule.contribution) >= _NEGLIGIBLE * most
        fires = math.isfinite(rule.log_firing)
        (shown if fires and matters and len(shown) < max_rules else rest).append(rule)
    return shown, rest


def rest_in_words(rest: Sequence[RuleExplanation]) -> str:
    """Describe the rules that are not shown."""
    count = f"{len(rest)} other rule{'s' if len(rest) > 1 else ''}"
    if any(math.isfinite(rule.log_firing) for rule in rest):
        return count
    return f"{count} that do{'' if len(rest) > 1 else 'es'} not fire"


def degree(log_value: float, digits: int = 3) -> str:
    """Return a degree of truth given its logarithm, even if it is below the smallest floating-point number.

    Examples
    --------
    >>> degree(math.log(0.25)), degree(-1e4), degree(-math.inf)
    ('0.25', '1.14e-4343', '0')
    """
    value = math.exp(log_value)
    if value > 1e-300 or log_value == -math.inf:
        return printer.format_number(value, digits)
    exponent, rest = divmod(log_value / math.log(10), 1)
    mantissa = printer.format_number(10**rest, digits)
    return f"1e{int(exponent) + 1}" if mantissa == "10" else f"{mantissa}e{int(exponent)}"


def evenly(values: Sequence[float], *, signed: bool = True) -> list[str]:
    """Return numbers as a right-aligned column with the same number of decimals, three digits of the greatest.

    Examples
    --------
    >>> evenly([0.4021, -0.0213, 0.0])
    ['+0.402', '-0.021', ' 0.000']
    """
    size = max(map(abs, values), default=0.0)
    exponent = math.floor(math.log10(size)) if size > 0 else 0
    style = f"{'+' if signed else ''}.{max(2 - exponent, 0)}f" if -4 <= exponent <= 6 else f"{'+' if signed else ''}.2e"
    texts = [f"{value:{style}}" for value in values]
    if signed:  # no sign on what is shown as zero
        texts = [f" {text[1:]}" if not any(digit in text for digit in "123456789") else text for text in texts]
    return [text.rjust(max(map(len, texts))) for text in texts]


def number(value: float) -> str:
    """Return a number with three digits.

    Examples
    --------
    >>> number(0.12345), number(1234567.0)
    ('0.123', '1.23e+06')
    """
    return printer.format_number(value, 3)


def signed(value: float) -> str:
    """Return a number with three digits and its sign.

    Examples
    --------
    >>> signed(1912.4), signed(-0.25)
    ('+1910', '-0.25')
    """
    return f"{'' if value < 0 else '+'}{number(value)}"


def chance(probability: float) -> str:
    """Return a probability with three digits; nothing that is merely rounded is called certain or impossible.

    Examples
    --------
    >>> chance(0.12345), chance(0.99999), chance(1e-99), chance(1.0)
    ('0.123', 'above 0.999', 'below 0.001', '1')
    """
    if probability in (0.0, 1.0):
        return number(probability)
    return "below 0.001" if probability < 0.001 else "above 0.999" if probability > 0.999 else number(probability)


def named(names: Sequence[str], values: Sequence[float]) -> str:
    """Return names with their values.

    Examples
    --------
    >>> named(["sky", "sea"], [0.5, 1.0])
    'sky = 0.5, sea = 1'
    """
    return ", ".join(f"{printer.quoted(name)} = {number(value)}" for name, value in zip(names, values, strict=True))


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.873), percent(0.0512)
    ('87%', '5.1%')
    """
    return f"{100 * share:.{0 if share >= 0.1 else 1}f}%"


def condition_table(conditions: Sequence[ConditionExplanation]) -> list[str]:
    """Return one line per condition: value, condition, degree and remarks, in columns."""
    columns = [
        (value_of(c), c.text.removeprefix(printer.quoted(c.variable)).strip(), degree(c.log_membership))
        for c in conditions
    ]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    lines = []
    for condition, row in zip(conditions, columns, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"{cells}  {_remarks(condition)}".rstrip())
    return lines


def value_of(condition: ConditionExplanation) -> str:
    """Return the value of a condition's variable at the witness: ``pages = 14``."""
    name = printer.quoted(condition.variable)
    if condition.value is None:
        return f"{name} missing"
    if condition.shown is not None:
        return f"{name} = {condition.shown}"
    unit = f" {condition.unit}" if condition.unit else ""
    moved = condition.counted_as is not None and condition.counted_as != condition.value
    counted = f" (clipped to {number(condition.counted_as)})" if moved and condition.counted_as is not None else ""
    return f"{name} = {number(condition.value)}{unit}{counted}"


def _remarks(condition: ConditionExplanation) -> str:
    return ", ".join(
        word for word, holds in (("negated", condition.negated), ("decisive", condition.limiting)) if holds
    )
