"""What people write by habit from other languages and programs, and how it is written here."""

from __future__ import annotations

import re
import unicodedata

CLOSES_NOTHING = "This ')' closes no '(': remove it, or add '(' before it."
WRONG_QUOTES = 'Use plain double quotes ("...") around names.'
THEN_ELSEWHERE = frozenset({"than", "implies", "do", "alors", "dann", "entonces"})
WEIGHT_WORDS = frozenset({"weight", "weighted", "certainty", "cf"})

QUANTIFIERS_ELSEWHERE = {
    **dict.fromkeys(("any", "one", "a", "an", "exists"), "SOME"),
    **dict.fromkeys(("every", "each"), "ALL"),
    **dict.fromkeys(("mean", "usually", "average"), "ON AVERAGE"),
    **dict.fromkeys(("majority", "mostly"), "MOST"),
    **dict.fromkeys(("none", "no"), "NOT (SOME ...)"),
    **dict.fromkeys(("many", "several"), "MOST, for a share of the bag, or AT LEAST 3, for a number"),
    "few": "NOT AT LEAST 3",
    "exactly": "AT LEAST 2 ... AND NOT AT LEAST 3",
}
STATEMENTS_ELSEWHERE = {
    **dict.fromkeys(("input", "inputs", "var", "variables", "inputvariable", "var_input"), "VARIABLE"),
    **dict.fromkeys(("outputs", "outputvariable", "var_output"), "OUTPUT"),
    **dict.fromkeys(("use", "set", "let", "settings", "operators"), "USING"),
    **dict.fromkeys(("when", "whenever", "si", "wenn"), "IF"),
}
# MATLAB's names, and the order of the parameters where it differs.
FAMILIES_ELSEWHERE = {
    "gaussmf": "MATLAB's gaussmf with [sigma c] is Gaussian(c, sigma) here.",
    "gbellmf": "MATLAB's gbellmf with [a b c] is Bell(c, a, b) here.",
    "sigmf": "MATLAB's sigmf with [a c] is Sigmoid(c, a) here.",
    "trimf": "MATLAB's trimf with [a b c] is Triangular(a, b, c) here.",
    "trapmf": "MATLAB's trapmf with [a b c d] is Trapezoidal(a, b, c, d) here.",
    "gauss2mf": "MATLAB's gauss2mf with [s1 c1 s2 c2] is TwoSidedGaussian(c1, s1, c2, s2) here.",
    "smf": "MATLAB's smf with [a b] is SShape(a, b) here.",
    "zmf": "MATLAB's zmf with [a b] is ZShape(a, b) here.",
    "pimf": "MATLAB's pimf with [a b c d] is PiShape(a, b, c, d) here.",
    "dsigmf": "MATLAB's dsigmf with [a1 c1 a2 c2] is SigmoidDifference(c1, a1, a2, c2) here.",
    "psigmf": "MATLAB's psigmf with [a1 c1 a2 c2] is SigmoidProduct(c1, a1, a2, c2) here.",
    "linsmf": "MATLAB's linsmf with [a b] is Ramp(a, b) here.",
    "linzmf": "MATLAB's linzmf with [a b] is Ramp(b, a) here.",
    # fuzzylite's, and scikit-fuzzy's words for the same shapes.
    "triangle": "The family is called Triangular here: Triangular(left, peak, right).",
    "trapezoid": "The family is called Trapezoidal here: Trapezoidal(left, left_top, right_top, right).",
    "gaussianproduct": "fuzzylite's GaussianProduct is TwoSidedGaussian here, with the same parameters.",
    "function": 'A set given by arithmetic is Formula("1 - abs(x)") here.',
    "constant": "A single number is Singleton(3) here.",
    "linear": "In a Sugeno rule, write a linear conclusion as 'THEN y = 1 + 2*depth'.",
}

_SIGNS = {
    **dict.fromkeys(("&&", "&", "\u2227"), ("and", "AND")),
    **dict.fromkeys(("||", "|", "\u2228"), ("or", "OR")),
    **dict.fromkeys(("!", "\u00ac"), ("not", "NOT")),
    **dict.fromkeys(("->", "=>", "\u2192", "\u21d2"), ("then", "THEN")),
    **dict.fromkeys(("\u2212", "\u2013", "\u2014"), ("-", "a plain minus sign, '-',")),
    **dict.fromkeys(("\u00d7", "\u00b7", "\u22c5"), ("*", "'*'")),
    ":=": ("=", "'='"),
}
_PERCENT_END = re.compile(r"%\s*(?:[,;)#\n]|$)")
_RANGE = re.compile(r"\[\s*[-+]?[.0-9]+\s*(?:[,;:]|\s|\.\.|to\b)\s*[-+]?[.0-9]+\s*\]", re.IGNORECASE)


def foreign(sign: str) -> tuple[str, str]:
    """Return the kind of token that a sign of another language means, or nothing, and how to write it."""
    if sign in _SIGNS:
        meant, written = _SIGNS[sign]
        name = f" ({unicodedata.name(sign).lower()})" if meant in ("-", "*") else ""
        return meant, f"Write {written} instead of {sign!r}{name}."
    if sign in ("!=", "\u2260"):
        return "", f"{sign!r} is not supported: write 'is not', for example 'depth is not low'."
    return "", f"{sign!r} is not supported: describe a range of values by a term, for example 'depth is low'."


def comment(content: str) -> str:
    """Return how to write a comment that begins as in another language."""
    sign = content[: 1 if content[0] == "%" else 2]
    return f"Comments begin with '#', not with {sign!r}."


def is_percent(text: str, end: int, start: int) -> bool:
    """Return whether ``%`` at ``start``, after a number that ends at ``end``, means percent rather than a comment."""
    return end == start or _PERCENT_END.match(text, start) is not None


def percent(number: str) -> str:
    """Return how to write a percentage."""
    return f"Percent signs are not supported: write '{float(number) / 100:.12g}' instead of '{number:.30}%'."


def decimal_comma(text: str, place: int) -> str:
    """Return the cure if the comma at ``place`` stands between the digits of one number, else nothing."""
    before, after = re.search(r"(?<![\w.])[0-9]{1,30}$", text[:place][-31:]), re.match(r",([0-9]{1,30})", text[place:])
    if before is None or after is None:
        return ""
    whole, part = before[0], after[1]
    more = f" ('{whole}{part}' if the comma separates thousands)" if len(part) == 3 and whole != "0" else ""
    return f" Numbers have a decimal point: write '{whole}.{part}' instead of '{whole},{part}'{more}."


def is_range(text: str, start: int) -> bool:
    """Return whether the square brackets that open at ``start`` hold a range rather than a unit."""
    return _RANGE.match(text, start) is not None


def unreadable(kind: str, content: str) -> str:
    """Return what is wrong with characters that are no token."""
    character = content[0]
    if kind == "shortened":
        return "This text was shortened when it was printed. Use to_source() or to_text(max_conditions=None) instead."
    if kind == "run_on":
        return "A number cannot run into a letter: write a product as '2*depth' and ten thousand as '10000' or '1e4'."
    if kind == "open" and character == '"':
        return "This quotation mark is never closed: add another one after the name."
    if kind == "open":
        return "This square bracket is never closed: a unit is written '[m]'."
    if character in "/^":
        example = "a sum of numbers times variables, for example '0.3 + 2*depth'"
        return f"{character!r} is not supported: a conclusion is {example}."
    if character == ".":
        return "A rule needs no full stop at its end: remove it."
    if unicodedata.category(character) in ("Pi", "Pf") or character in "'`\u201e\u201a":
        return WRONG_QUOTES
    if character in "{}]":
        return f"{character!r} is not supported: use parentheses."
    return f"Unexpected character {character!r}. (Put names that contain it in double quotes.)"
