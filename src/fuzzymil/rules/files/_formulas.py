"""Formulas in other programs' files: fuzzylite's spelling of ours, and sets as formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction
from fuzzymil.rules.language.printer import format_number

_CONSTANT = re.compile(r"\b(?:pi|e)\b|!")
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
_WORDS = {
    "absolute": "abs",
    "minimum": "min",
    "maximum": "max",
    "arctan2": "atan2",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "neq",
    "less_equal": "le",
    "less": "lt",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def spelled(text: str, names: Mapping[str, str]) -> str:
    """Return a formula as fuzzylite reads it, with other names for its variables.

    fuzzylite has no minus sign before a number or a parenthesis, and no constants.

    Examples
    --------
    >>> spelled("-2 * x^2 + abs(a - x)", {"a": "depth"})
    '((0 - 2) * (x ^ 2)) + abs(depth - x)'
    >>> spelled("2*x - a", {})
    '2*x - a'
    """
    formula = Arithmetic(text)
    if not _CONSTANT.search(text) and not _has_minus(formula.tree) and not set(formula.names) & names.keys():
        return text
    found = _spelled(formula.tree, names)
    return found[1:-1] if found.startswith("(") else found


def _has_minus(tree: Sequence[object]) -> bool:
    kind, *rest = tree
    if kind == "number":
        return float(rest[0]) < 0  # type: ignore[arg-type]
    return kind == "negative" or (kind != "name" and any(_has_minus(part) for part in rest))  # type: ignore[arg-type]


def _spelled(tree: Sequence[object], names: Mapping[str, str]) -> str:
    kind, *rest = tree
    if kind == "number":
        return _number(float(rest[0]))  # type: ignore[arg-type]
    if kind == "name":
        name = str(rest[0])
        return names.get(name) or (_number(Arithmetic.CONSTANTS[name]) if name in Arithmetic.CONSTANTS else name)
    parts = [_spelled(part, names) for part in rest]  # type: ignore[arg-type]
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


# ---------------------------------------------------------------------- sets


def formula_of(chosen: MembershipFunction) -> str:
    """Return the membership of ``x`` in a set as a formula.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian, Trapezoidal
    >>> formula_of(Gaussian(3, 0.5))
    'exp(-((x - 3) / 0.5)^2 / 2)'
    >>> formula_of(Trapezoidal(1, 1, 2, 4))
    'max(0, min(ge(x, 1), min(1, (4 - x) / 2)))'
    """
    if isinstance(chosen, Formula):
        chosen.check_set()
        shift, scale = chosen.parameters
        return chosen.text if (shift, scale) == (0.0, 1.0) else _moved(Arithmetic(chosen.text), shift, scale)
    if chosen.name == "discrete":
        return _through(list(zip(chosen.parameters[::2], chosen.parameters[1::2], strict=True)))
    if chosen.name not in _FORMULAS:
        raise ParameterError(f"The set {chosen} cannot be written as a formula.")
    return _FORMULAS[chosen.name](*chosen.parameters)


def _moved(formula: Arithmetic, shift: float, scale: float) -> str:
    return spelled(formula.text, {"x": f"((x - {_number(shift)}) / {_number(scale)})"})


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
    if a == b:
        return f"le(x, {_n(a)})"
    t = _ramp(b, a)
    return f"(le({t}, 0.5) * 2 * {t}^2 + gt({t}, 0.5) * (1 - 2 * (1 - {t})^2))"


def _sigmoid(center: float, slope: float) -> str:
    return f"1 / (1 + exp({_n(-slope)} * {_minus(center)}))"


def _through(points: list[tuple[float, float]]) -> str:
    found = [_n(points[0][1])]
    for (low, before), (high, after) in pairwise(points):
        if before != after:
            found.append(f"({_n(after - before)}) * {f'ge(x, {_n(low)})' if low == high else _ramp(low, high)}")
    return " + ".join(found)


_FORMULAS: dict[str, Callable[..., str]] = {
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
