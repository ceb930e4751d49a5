"""The words of rules: names for fuzzy sets, conditions, conclusions and numbers, as the parser reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from fuzzymil.membership import MembershipFunction
from fuzzymil.network.premises import HEDGES
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or, Quantified

__all__ = [
    "KEYWORDS",
    "conclusion",
    "conditions",
    "escaped",
    "format_number",
    "format_set",
    "named_terms",
    "premise_text",
    "quoted",
    "span_of",
    "with_weight",
]

KEYWORDS = frozenset({"if", "then", "and", "or", "is", "with", "anything", *HEDGES})
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def quoted(name: str) -> str:
    """Return a name as written in rules: in quotes unless it is a plain word.

    Examples
    --------
    >>> quoted("hue"), quoted("hue (mean)"), quoted("and")
    ('hue', '"hue (mean)"', '"and"')
    """
    if _NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return f'"{escaped(name, chr(34))}"'


def escaped(text: str, end: str) -> str:
    """Return text escaped so that it fits on one line before the delimiter ``end``."""
    for character, written in (("\\", "\\\\"), (end, "\\" + end), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, written)
    return text


def span_of(sets: Iterable[MembershipFunction]) -> tuple[float, float]:
    """Return the range of the sets' centers, a substitute where the data's range is unknown."""
    peaks = [chosen.peak(*chosen.parameters) for chosen in sets] or [0.0]
    return float(min(peaks)), float(max(peaks))


def named_terms(
    by_rule: Mapping[int, MembershipFunction], low: float, high: float
) -> tuple[dict[str, MembershipFunction], dict[int, str]]:
    """Name the sets of one variable after the third of its range in which they are centered.

    If several sets share a word, they are numbered from low to high. Rules with equal sets share a name.

    Returns
    -------
    terms : dict
        Name to set.
    names : dict
        Rule to name.
    """
    words: dict[str, list[MembershipFunction]] = {"low": [], "medium": [], "high": []}
    place: dict[int, tuple[str, int]] = {}
    peaks = {r: chosen.peak(*chosen.parameters) for r, chosen in by_rule.items()}
    for r in sorted(by_rule, key=lambda r: (peaks[r], r)):
        chosen = by_rule[r]
        position = (peaks[r] - low) / (high - low) if high > low else 0.5
        word = "low" if position < 1 / 3 else "medium" if position <= 2 / 3 else "high"
        if chosen not in words[word]:
            words[word].append(chosen)
        place[r] = (word, words[word].index(chosen))
    names = {
        (word, n): word if len(found) == 1 else f"{word}{n + 1}"
        for word, found in words.items()
        for n in range(len(found))
    }
    terms = {name: words[word][n] for (word, n), name in names.items()}
    return terms, {r: names[key] for r, key in place.items()}


def conditions(antecedent: Mapping[str, str], selectivity: Mapping[str, float], max_terms: int | None) -> str:
    """Return ``x1 is low AND x2 is high``, or the most selective conditions and the number of those left out.

    Examples
    --------
    >>> conditions({"x1": "low", "x2": "high"}, {"x1": 1.0, "x2": 3.0}, max_terms=1)
    'x2 is high AND ... (1 less selective)'
    """
    names = list(antecedent)
    left_out = 0 if max_terms is None else max(len(names) - max_terms, 0)
    if left_out:
        names = sorted(names, key=lambda name: -selectivity[name])[:max_terms]
    text = premise_text(And(tuple(Is(name, antecedent[name]) for name in names)))
    return f"{text} AND ... ({left_out} less selective)" if left_out else text


def premise_text(premise: Expression) -> str:
    """Return a premise as text; AND binds more tightly than OR.

    Examples
    --------
    >>> premise_text(And((Is("x", "low", ("not",)), Or((Is("y", "high"), Is("z", "high", ("very",)))))))
    'x is not low AND (y is high OR z is very high)'
    """
    if isinstance(premise, Is):
        return " ".join((quoted(premise.variable), "is", *premise.hedges, quoted(premise.term)))
    if isinstance(premise, Not):
        inner = premise_text(premise.part)
        return f"NOT {inner}" if isinstance(premise.part, Not) else f"NOT ({inner})"
    if isinstance(premise, Quantified):
        inner = "instances" if premise.part == ANYTHING else premise_text(premise.part)
        simple = isinstance(premise.part, Is) or premise.part == ANYTHING
        words = [premise.quantifier.upper(), *([] if premise.count is None else [str(premise.count)])]
        return " ".join((*words, inner if simple else f"({inner})"))
    if not premise.parts:
        return "anything"
    join = " AND " if isinstance(premise, And) else " OR "
    return join.join(
        f"({premise_text(part)})" if isinstance(part, And | Or) and part.parts else premise_text(part)
        for part in premise.parts
    )


def conclusion(
    output: str, coefs: Sequence[float], variables: Sequence[str], digits: int | None, max_terms: int | None = None
) -> str:
    """Return ``y = 0.3 + 2*x1 - 1*x2`` for the coefficients of an output, constant first.

    Examples
    --------
    >>> conclusion("y", [0.3, 2.0, -1.0], ["x1", "x2"], digits=3)
    'y = 0.3 + 2*x1 - 1*x2'
    >>> conclusion("y", [0.3, 2.0, -1.0], ["x1", "x2"], digits=3, max_terms=1)
    'y = 0.3 + 2*x1 + ... (1 smaller)'
    """
    slopes = {name: value for name, value in zip(variables, coefs[1:], strict=False) if value}
    shown = list(slopes)
    if max_terms is not None and len(shown) > max_terms:
        shown = sorted(slopes, key=lambda name: -abs(slopes[name]))[:max_terms]
    text = f"{quoted(output)} = {format_number(coefs[0], digits)}"
    for name in shown:
        text += f" {'-' if slopes[name] < 0 else '+'} {format_number(abs(slopes[name]), digits)}*{quoted(name)}"
    left_out = len(slopes) - len(shown)
    return f"{text} + ... ({left_out} smaller)" if left_out else text


def with_weight(weight: float, digits: int | None) -> str:
    """Return `` WITH 0.5``, or nothing for a weight of 1."""
    return "" if weight == 1 else f" WITH {format_number(weight, digits)}"


def format_set(chosen: MembershipFunction, digits: int | None) -> str:
    """Return ``Gaussian(0.6, 0.1)``, with as many digits for positions as the set's width requires.

    Examples
    --------
    >>> from fuzzymil.membership import Gaussian
    >>> format_set(Gaussian(1000000.25, 0.5), digits=2)
    'Gaussian(1000000.2, 0.5)'
    """
    if digits is None:
        return f"{type(chosen).__name__}({', '.join(format_number(value, None) for value in chosen.parameters)})"
    spread = float(chosen.spread(*chosen.parameters))
    values = []
    for value in chosen.parameters:
        apart = math.log10(abs(value) / spread) if value and math.isfinite(abs(value) / spread) else 0.0
        values.append(format_number(value, max(digits, math.floor(max(apart, 0.0)) + 2)))
    return f"{type(chosen).__name__}({', '.join(values)})"


def format_number(value: float, digits: int | None) -> str:
    """Return a number with this many significant digits; None writes it exactly.

    Examples
    --------
    >>> format_number(2 / 3, 3), format_number(-1e-30 * 0, 3), format_number(0.1, None), format_number(2.0, None)
    ('0.667', '0', '0.1', '2')
    """
    text = f"{value:.{digits}g}" if digits is not None else repr(float(value)).removesuffix(".0")
    return "0" if text == "-0" else text
