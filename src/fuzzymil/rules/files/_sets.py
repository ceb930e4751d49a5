"""Fuzzy sets and formulas in other programs' files: words, the order of parameters, spelling, sets as formulas."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.inference import membership as mf
from fuzzymil.inference.membership import Arithmetic, Discrete, Formula, MembershipFunction
from fuzzymil.rules.files._text import Piece, fuzzy_set, word_for
from fuzzymil.rules.language.printer import format_number

Family = type[MembershipFunction]


class Word(NamedTuple):
    """A family as a format writes it: for each of the format's parameters, the position of ours."""

    family: Family
    places: tuple[int, ...] = ()


def _words(**families: Family) -> dict[str, Word]:
    """Return words for families whose parameters come in our order."""
    return {word: Word(family, tuple(range(len(family.fields())))) for word, family in families.items()}


_RARE: tuple[Family, ...] = (mf.Rectangle, mf.Concave, mf.Arc, mf.Cosine, mf.Spike, mf.SemiEllipse, mf.Binary, Discrete)
_FREQUENT: tuple[Family, ...] = (mf.Gaussian, mf.Bell, mf.Sigmoid, mf.SShape, mf.ZShape, mf.PiShape, mf.Ramp)
_DOUBLE: tuple[Family, ...] = (mf.SigmoidDifference, mf.SigmoidProduct)
_RENAMED: dict[str, Family] = {
    "Triangle": mf.Triangular,
    "Trapezoid": mf.Trapezoidal,
    "GaussianProduct": mf.TwoSidedGaussian,
}
_FUNCTION = Word(Formula)

FLL = _words(**_RENAMED, **{each.__name__: each for each in (*_FREQUENT, *_DOUBLE, *_RARE)}) | {"Function": _FUNCTION}
"""fuzzylite's words."""

MATLAB = {
    "gaussmf": Word(mf.Gaussian, (1, 0)),
    "gauss2mf": Word(mf.TwoSidedGaussian, (1, 0, 3, 2)),
    "gbellmf": Word(mf.Bell, (1, 2, 0)),
    "sigmf": Word(mf.Sigmoid, (1, 0)),
    "dsigmf": Word(mf.SigmoidDifference, (1, 0, 2, 3)),
    "psigmf": Word(mf.SigmoidProduct, (1, 0, 2, 3)),
    **_words(trimf=mf.Triangular, trapmf=mf.Trapezoidal, smf=mf.SShape, zmf=mf.ZShape, pimf=mf.PiShape, linsmf=mf.Ramp),
    "linzmf": Word(mf.Ramp, (1, 0)),
}
"""MATLAB's words."""

FIS = MATLAB | _words(rampmf=mf.Ramp, rectmf=mf.Rectangle, **{f"{each.__name__.lower()}mf": each for each in _RARE[1:]})
FIS["function"] = _FUNCTION
"""MATLAB's words, then those that only fuzzylite writes."""


def read_set(where: Piece, word: str, values: Sequence[float], words: Mapping[str, Word]) -> MembershipFunction:
    """Return the set that a word and its numbers mean; a height other than 1 is allowed for sets of straight lines."""
    family, places = words[word]
    count = len(places)
    if not places:
        height = values[-1] if len(values) % 2 else 1.0
        pairs = [v * height if place % 2 else v for place, v in enumerate(values[: len(values) // 2 * 2])]
        return fuzzy_set(where, Discrete, pairs)
    if len(values) not in (count, count + 1):
        raise where.error(f"{word} takes {count} parameters, got {len(values)}.")
    theirs = dict(zip(places, values, strict=False))
    ours = [theirs[place] for place in range(count)]
    if family in (mf.Gaussian, mf.TwoSidedGaussian):  # whose widths are squared: the sign means nothing
        ours[1::2] = map(abs, ours[1::2])
    elif family is mf.Bell:
        ours[1] = abs(ours[1])  # a negative slope turns it upside down, so it stays an error
    elif family in (mf.Rectangle, mf.SemiEllipse):
        ours = sorted(ours)
    if len(values) > count and values[-1] != 1:
        return _low_set(where, word, family, ours, values[-1])
    if not all(map(math.isfinite, ours)):
        return _open_set(where, word, family, ours)
    if family in (mf.SShape, mf.ZShape) and ours[0] > ours[1]:  # a step in the middle
        ours = [sum(ours) / 2] * 2
    if family is mf.Ramp and ours[0] == ours[1]:
        return mf.Binary(ours[0], -1.0 if word == "linzmf" else 1.0)
    return fuzzy_set(where, family, ours)


def _low_set(where: Piece, word: str, family: Family, corners: list[float], height: float) -> MembershipFunction:
    """Return a set that is less high than 1."""
    if family not in (mf.Triangular, mf.Trapezoidal, mf.Rectangle, mf.Ramp) or not all(map(math.isfinite, corners)):
        raise where.error(f"The height of {word} must be 1; other heights are supported for sets of straight lines.")
    if family is mf.Ramp:
        points = [(corners[0], 0.0), (corners[1], height)]
    elif family is mf.Rectangle:
        points = [(corners[0], 0.0), (corners[0], height), (corners[1], height), (corners[1], 0.0)]
    else:
        points = [(x, height if 0 < place < len(corners) - 1 else 0.0) for place, x in enumerate(corners)]
    return fuzzy_set(where, Discrete, [number for point in sorted(points, key=lambda p: p[0]) for number in point])


def _open_set(where: Piece, word: str, family: Family, values: list[float]) -> MembershipFunction:
    """Return a set that an infinite parameter leaves open to one side, or to both."""
    if family is mf.Binary and math.isfinite(values[0]) and not math.isnan(values[1]):
        return mf.Binary(values[0], math.copysign(1.0, values[1] - values[0]))
    if family in (mf.Triangular, mf.Trapezoidal, mf.Rectangle) and not any(map(math.isnan, values)):
        middle = len(values) // 2
        rise, fall = (values[0], values[max(middle - 1, 1 if len(values) > 2 else 0)]), (values[middle], values[-1])
        left, right = rise[0] == -math.inf, fall[1] == math.inf
        if left and right:
            return Formula("1")
        edge = fall[::-1] if left else rise
        if all(map(math.isfinite, edge)):
            return mf.Ramp(*edge) if edge[0] != edge[1] else mf.Binary(edge[0], -1.0 if left else 1.0)
    raise where.error(f"{word} has a parameter that is not a finite number.")


def read_formula(where: Piece, names: Collection[str] | None = None) -> MembershipFunction:
    """Return the set that a formula means, or the number, if ``names`` are what it may be computed from."""
    found = fuzzy_set(where, Formula, [where.text])  # type: ignore[list-item]
    assert isinstance(found, Formula)
    if names is None:
        try:
            found.check_set()
        except ParameterError as problem:
            raise where.error(str(problem)) from None
        return found
    for name in found.names:
        if name not in names:
            raise where.error(
                f"The formula uses {name!r:.60}, which is neither an input nor an output before this one; choose from "
                f"{listed(names)}.{did_you_mean(name, names)}"
            )
    return found


def write_set(
    chosen: MembershipFunction, words: Mapping[str, Word], format: str, names: Mapping[str, str] | None = None
) -> tuple[str, list[str]]:
    """Return the word for a set, and its parameters as text; raises `ParameterError` if the format has none.

    A formula that is a number has ``names`` for the inputs and outputs that it is computed from.
    """
    if chosen.name == "singleton":
        value = format_number(chosen.parameters[0], None)
        return ("Triangle" if "Triangle" in words else "trimf"), [value] * 3
    word = word_for(
        "membership family", chosen.name, {word: entry.family.name for word, entry in words.items()}, format
    )
    if word == "linsmf" and chosen.parameters[0] > chosen.parameters[1]:  # MATLAB has a word for each direction
        word = "linzmf"
    if isinstance(chosen, Formula):
        return word, [formula_text(formula_of(chosen) if names is None else chosen.text, names or {})]
    values = [chosen.parameters[place] for place in words[word].places] or list(chosen.parameters)
    if isinstance(chosen, mf.Binary):
        values[1] = math.copysign(math.inf, values[1])
    return word, [format_number(value, None) for value in values]


# ---------------------------------------------------------------------- formulas

_CONSTANT = re.compile(r"\b(?:pi|e)\b|!")
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
_TESTS = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq", "not_equal": "neq"}
_WORDS = {"absolute": "abs", "minimum": "min", "maximum": "max", "arctan2": "atan2"} | _TESTS
_WORDS |= {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def formula_text(text: str, names: Mapping[str, str]) -> str:
    """Return a formula as fuzzylite reads it, with other names for its variables.

    fuzzylite has no minus sign before a number or a parenthesis, and no constants.
    """
    formula = Arithmetic(text)
    if not _CONSTANT.search(text) and not _has_minus(formula.tree) and not set(formula.names) & names.keys():
        return text
    found = _spell(formula.tree, names)
    return found[1:-1] if found.startswith("(") else found


def _has_minus(tree: Sequence[object]) -> bool:
    kind, *rest = tree
    if kind == "number":
        return float(rest[0]) < 0  # type: ignore[arg-type]
    return kind == "negative" or (kind != "name" and any(_has_minus(part) for part in rest))  # type: ignore[arg-type]


def _spell(tree: Sequence[object], names: Mapping[str, str]) -> str:
    kind, *rest = tree
    if kind == "number":
        return _number(float(rest[0]))  # type: ignore[arg-type]
    if kind == "name":
        name = str(rest[0])
        return names.get(name) or (_number(Arithmetic.CONSTANTS[name]) if name in Arithmetic.CONSTANTS else name)
    parts = [_spell(part, names) for part in rest]  # type: ignore[arg-type]
    if kind == "negative":
        return f"(0 - {parts[0]})"
    if kind == "logical_not":
        return f"eq({parts[0]}, 0)"
    if kind in _SIGNS or str(kind).startswith("logical_"):
        sign = _SIGNS.get(str(kind)) or str(kind).removeprefix("logical_")
        return f"({parts[0]} {sign} {parts[1]})"
    bare = [part[1:-1] if part.startswith("(") else part for part in parts]
    return f"{_WORDS.get(str(kind), kind)}({', '.join(bare)})"


def _number(value: float) -> str:
    return format_number(value, None) if value >= 0 else f"(0 - {format_number(-value, None)})"


# ---------------------------------------------------------------------- sets as formulas


def formula_of(chosen: MembershipFunction) -> str:
    """Return the membership of ``x`` in a set as a formula."""
    if isinstance(chosen, Formula):
        chosen.check_set()
        shift, scale = map(_number, chosen.parameters)
        inner = {"x": f"((x - {shift}) / {scale})"}
        return chosen.text if chosen.parameters == (0.0, 1.0) else formula_text(chosen.text, inner)
    if chosen.name not in _FORMULAS:
        raise ParameterError(f"The set {chosen} cannot be written as a formula.")
    return _FORMULAS[chosen.name](*chosen.parameters)


def _minus(value: float) -> str:
    """Return ``x - value``."""
    return f"(x - {_n(value)})" if value >= 0 else f"(x + {_n(-value)})"


def _n(value: float) -> str:
    return format_number(value, None)


def _rise(a: float, b: float) -> str:
    """Return a line from 0 at a to 1 at b, falling if a > b, without its ends."""
    if a == b:
        return f"ge(x, {_n(a)})"
    return f"{_minus(a)} / {_n(b - a)}" if a < b else f"({_n(a)} - x) / {_n(a - b)}"


def _trapezoidal(a: float, b: float, c: float, d: float) -> str:
    fall = f"le(x, {_n(d)})" if c == d else _rise(d, c)
    return f"max(0, min({_rise(a, b)}, min(1, {fall})))"


def _ramp(a: float, b: float) -> str:
    return f"max(0, min(1, {_rise(a, b)}))"


def _s_shape(a: float, b: float) -> str:
    if a == b:
        return f"ge(x, {_n(a)})"
    t = _ramp(a, b)
    return f"(le({t}, 0.5) * 2 * {t}^2 + gt({t}, 0.5) * (1 - 2 * (1 - {t})^2))"


def _z_shape(a: float, b: float) -> str:
    return f"le(x, {_n(a)})" if a == b else _s_shape(b, a)


def _sigmoid(center: float, slope: float) -> str:
    return f"1 / (1 + exp({_n(-slope)} * {_minus(center)}))"


def _through(*numbers: float) -> str:
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    found = [_n(points[0][1])]
    for (low, before), (high, after) in pairwise(points):
        if before != after:
            found.append(f"({_n(after - before)}) * {f'ge(x, {_n(low)})' if low == high else _ramp(low, high)}")
    return " + ".join(found)


_FORMULAS: dict[str, Callable[..., str]] = {
    "discrete": _through,
    "gaussian": lambda c, s: f"exp(-({_minus(c)} / {_n(s)})^2 / 2)",
    "two_sided_gaussian": lambda a, r, b, s: (
        f"exp(-(min(0, {_minus(a)}) / {_n(r)})^2 / 2 - (max(0, {_minus(b)}) / {_n(s)})^2 / 2)"
    ),
    "bell": lambda c, s, b: f"1 / (1 + abs({_minus(c)} / {_n(s)})^{_n(2 * b)})",
    "sigmoid": _sigmoid,
    "sigmoid_difference": lambda a, r, f, b: f"abs({_sigmoid(a, r)} - {_sigmoid(b, f)})",
    "sigmoid_product": lambda a, r, f, b: f"({_sigmoid(a, r)}) * ({_sigmoid(b, f)})",
    "triangular": lambda a, b, c: _trapezoidal(a, b, b, c),
    "trapezoidal": _trapezoidal,
    "rectangle": lambda a, b: f"ge(x, {_n(a)}) * le(x, {_n(b)})",
    "singleton": lambda a: f"eq(x, {_n(a)})",
    "binary": lambda a, side: f"{'ge' if side > 0 else 'le'}(x, {_n(a)})",
    "s_shape": _s_shape,
    "z_shape": _z_shape,
    "pi_shape": lambda a, b, c, d: f"{_s_shape(a, b)} * {_z_shape(c, d)}",
    "ramp": _ramp,
    "concave": lambda a, b: f"1 / (1 + max(0, {_rise(b, a)}))",
    "arc": lambda a, b: f"sqrt({_ramp(a, b)} * (2 - {_ramp(a, b)}))",
    "cosine": lambda c, s: f"le(abs({_minus(c)}), {_n(s / 2)}) * (1 + cos(2 * pi * {_minus(c)} / {_n(s)})) / 2",
    "spike": lambda c, s: f"exp(-10 * abs({_minus(c)}) / {_n(s)})",
    "semi_ellipse": lambda a, b: f"2 * sqrt(max(0, {_minus(a)} * ({_n(b)} - x))) / {_n(b - a)}",
}
"""The membership in sets of each family, given their parameters."""


# ---------------------------------------------------------------------- linear functions


def linear_coefficients(formula: Arithmetic, names: Sequence[str]) -> tuple[float, ...] | None:
    """Return the coefficients of a linear function, constant first, or None if a formula is not linear."""
    found = _linear(formula.tree, names)
    if found is None or set(found) - {"", *names}:
        return None
    return (found.get("", 0.0), *(found.get(name, 0.0) for name in names))


def _linear(tree: tuple[object, ...], names: Sequence[str]) -> dict[str, float] | None:
    """Return the coefficient of each variable, and the constant under the empty name."""
    kind, *rest = tree
    if kind == "number":
        return {"": float(rest[0])}  # type: ignore[arg-type]
    if kind == "name":
        name = str(rest[0])
        return {"": Arithmetic.CONSTANTS[name]} if name in Arithmetic.CONSTANTS and name not in names else {name: 1.0}
    parts = [_linear(part, names) for part in rest]  # type: ignore[arg-type]
    if any(part is None for part in parts) or kind not in ("add", "subtract", "negative", "multiply", "divide"):
        return None
    one, two = [part for part in (*parts, {"": -1.0}) if part is not None][:2]
    if kind in ("add", "subtract"):
        sign = 1.0 if kind == "add" else -1.0
        return {name: one.get(name, 0.0) + sign * two.get(name, 0.0) for name in {**one, **two}}
    if kind == "multiply" and set(one) <= {""}:
        one, two = two, one
    if set(two) - {""}:
        return None
    factor = two.get("", 0.0)
    if kind == "divide" and factor == 0:
        return None
    return {name: value / factor if kind == "divide" else value * factor for name, value in one.items()}
