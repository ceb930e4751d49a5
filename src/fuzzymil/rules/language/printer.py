"""The words of rules: conditions, conclusions and numbers, as the parser reads them."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from fuzzymil._utils.text import visible
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or, Quantified
from fuzzymil.rules.rule import Variable

_KEYWORDS = frozenset({"if", "then", "and", "or", "is", "with", "anything", "instances"})
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def keywords() -> frozenset[str]:
    """Return the words, in lower case, that have a meaning of their own in rules, and are quoted as names."""
    return _KEYWORDS | _words(*HEDGES) | _words(*QUANTIFIERS)


@functools.cache
def _words(*names: str) -> frozenset[str]:
    return frozenset(word for name in names for word in name.split())


def is_quantifier_word(word: str) -> bool:
    """Return whether a word, in lower case, is part of a quantifier, such as *at least*."""
    return word in _words(*QUANTIFIERS)


def quoted(name: str) -> str:
    """Return a name as written in rules: in quotes unless it is a plain word."""
    if _NAME.fullmatch(name) and name.lower() not in keywords():
        return name
    return f'"{escaped(name, chr(34))}"'


def quoted_term(name: str) -> str:
    """Return the name of a term as written in rules, where no quantifier can stand."""
    return name if _NAME.fullmatch(name) and is_quantifier_word(name.lower()) else quoted(name)


def escaped(text: str, end: str) -> str:
    r"""Return text escaped so that it fits on one line before the delimiter ``end``.

    Characters that some programs take for the end of a line, or that a terminal would obey, become their codes.
    """
    for character, written in (("\\", "\\\\"), (end, "\\" + end), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, written)
    return visible(text)


def conditions(
    antecedent: Mapping[str, str],
    selectivity: Mapping[str, float],
    max_conditions: int | None,
    say: Callable[[Is], str] | None = None,
) -> str:
    """Return ``x1 is low AND x2 is high``, or the most selective conditions and the number of those left out."""
    names = list(antecedent)
    left_out = 0 if max_conditions is None else max(len(names) - max_conditions, 0)
    if left_out:
        names = sorted(names, key=lambda name: -selectivity[name])[:max_conditions]
    text = premise_text(And(tuple(Is(name, antecedent[name]) for name in names)), say=say)
    return f"{text} AND ... ({left_out} less selective)" if left_out else text


def premise_text(
    premise: Expression,
    conjunction: Callable[[Expression], str | None] = lambda part: None,
    say: Callable[[Is], str] | None = None,
) -> str:
    """Return a premise as text; AND binds more tightly than OR.

    ``conjunction``: returns the text of a quantified part, or None where it is to be written in full. ``say``: returns
    the text of a condition; default: as rules are written.
    """
    if isinstance(premise, Is):
        if say is not None:
            return say(premise)
        return " ".join((quoted(premise.variable), "is", *premise.hedges, quoted_term(premise.term)))
    if isinstance(premise, Not):
        inner = premise_text(premise.part, conjunction, say)
        return f"NOT {inner}" if isinstance(premise.part, Not) else f"NOT ({inner})"
    if isinstance(premise, Quantified):
        if premise.part == ANYTHING:
            inner = "instances"
        else:
            inner = conjunction(premise.part) or premise_text(premise.part, say=say)
            inner = inner if isinstance(premise.part, Is) else f"({inner})"
        return f"{quantifier(premise)} {inner}"
    if not premise.parts:
        return "anything"
    join = " AND " if isinstance(premise, And) else " OR "
    return join.join(
        f"({premise_text(part, conjunction, say)})"
        if isinstance(part, And | Or) and part.parts
        else premise_text(part, conjunction, say)
        for part in premise.parts
    )


def quantifier(part: Quantified) -> str:
    """Return the words of a quantifier, ``SOME`` or ``AT LEAST 3``."""
    return part.quantifier.upper() + ("" if part.count is None else f" {part.count}")


def conclusions(
    outputs: Sequence[str],
    coefs: Sequence[Sequence[float]],
    variables: Sequence[str],
    digits: int | None,
    max_conditions: int | None = None,
    *,
    adds: bool = False,
) -> str:
    """Return ``y = 0.3 + 2*x1``, the conclusions of a rule with coefficients for each output, constant first.

    An additive rule ``adds``: ``y += 0.3 + 2*x1``, ``y -= 1.4``. Conclusions that add nothing are left out, but never
    all of them.
    """
    rows = list(zip(outputs, coefs, strict=True))
    if adds:
        rows = [(output, row) for output, row in rows if any(row)] or rows[:1]
    said = ((output, *concluded(row, variables, digits, max_conditions, adds=adds)) for output, row in rows)
    return ", ".join(f"{quoted(output)} {sign} {text}" for output, sign, text in said)


def concluded(
    coefs: Sequence[float], variables: Sequence[str], digits: int | None, max_conditions: int | None, *, adds: bool
) -> tuple[str, str]:
    """Return the sign and the sum of a conclusion, ``("=", "0.3 + 2*x1")``."""
    slopes = {name: value for name, value in zip(variables, coefs[1:], strict=False) if value}
    shown = list(slopes)
    if max_conditions is not None and len(shown) > max_conditions:
        shown = sorted(slopes, key=lambda name: -abs(slopes[name]))[:max_conditions]
    sign = "=" if not adds else "-=" if coefs[0] < 0 and not slopes else "+="
    text = format_number(-coefs[0] if sign == "-=" else coefs[0], digits)
    for name in shown:
        text += f" {'-' if slopes[name] < 0 else '+'} {format_number(abs(slopes[name]), digits)}*{quoted(name)}"
    left_out = len(slopes) - len(shown)
    return sign, f"{text} + ... ({left_out} smaller)" if left_out else text


def with_weight(weight: float, digits: int | None) -> str:
    """Return `` WITH 0.5``, or nothing for a weight of 1."""
    return "" if weight == 1 else f" WITH {format_number(weight, digits)}"


def format_set(chosen: MembershipFunction, digits: int | None) -> str:
    """Return ``Gaussian(0.6, 0.1)``, with as many digits for positions as the set's width requires."""
    spread, kinds = float(chosen.spread(*chosen.parameters)), chosen._kinds()
    values = []
    for n, value in enumerate(chosen.arguments):
        if isinstance(value, str):
            values.append(f'"{escaped(value, chr(34))}"')
        elif digits is None or not spread:
            values.append(format_number(value, None))
        elif kinds[n : n + 1] in (("steepness",), ("shape",)):  # no value of the variable
            values.append(format_number(value, digits))
        else:
            apart = math.log10(abs(value) / spread) if value and math.isfinite(abs(value) / spread) else 0.0
            values.append(format_number(value, max(digits, math.floor(max(apart, 0.0)) + 2)))
    return f"{type(chosen).__name__}({', '.join(values)})"


def format_number(value: float, digits: int | None) -> str:
    """Return a number with this many significant digits; None writes it exactly.

    Rounded numbers have an exponent only from 100,000 on, where zeros would have to be counted.
    """
    text = f"{value:.{digits}g}" if digits is not None else repr(float(value)).removesuffix(".0")
    if digits is not None and "e+" in text and abs(float(text)) < 1e5:
        text = f"{float(text):.0f}"
    return "0" if text == "-0" else text


def described(variables: Iterable[Variable], digits: int = 4) -> str:
    """Return the definition of every term of these variables, one line per variable."""
    lines = []
    for variable in variables:
        said = ["one of " + ", ".join(map(visible, variable.categories))] if variable.categories else []
        for term, chosen in own_terms(variable):
            # A set of a date or a time of day has its center in words.
            place = variable.shown(float(chosen.parameters[0])) if chosen.parameters else None
            said.append(f"{visible(term)} = {format_set(chosen, digits)}" + (f" ({place})" if place else ""))
        if said:
            lines.append(f"{visible(variable.title)}: {', '.join(said)}")
    return "\n".join(lines)


def own_terms(variable: Variable) -> list[tuple[str, MembershipFunction]]:
    """Return the terms that are declared: not categories, and not *missing*, which every variable has."""
    return list(variable.asked_if_missing(False).declared_terms.items())
