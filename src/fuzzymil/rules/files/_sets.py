"""Fuzzy sets in other programs' files: their words, the order of their parameters, and what only they write."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.inference.membership import (
    Arc,
    Bell,
    Binary,
    Concave,
    Cosine,
    Discrete,
    Formula,
    Gaussian,
    MembershipFunction,
    PiShape,
    Ramp,
    Rectangle,
    SemiEllipse,
    Sigmoid,
    SigmoidDifference,
    SigmoidProduct,
    Spike,
    SShape,
    Trapezoidal,
    Triangular,
    TwoSidedGaussian,
    ZShape,
)
from fuzzymil.rules.files._formulas import formula_of, spelled
from fuzzymil.rules.files._syntax import Piece, fuzzy_set
from fuzzymil.rules.files._words import word_for
from fuzzymil.rules.language.printer import format_number

Family = type[MembershipFunction]


class Word(NamedTuple):
    """A family as a format writes it: for each of the format's parameters, the position of ours."""

    family: Family
    places: tuple[int, ...] = ()


FLL: dict[str, Word] = {
    "Gaussian": Word(Gaussian, (0, 1)),
    "Bell": Word(Bell, (0, 1, 2)),
    "Sigmoid": Word(Sigmoid, (0, 1)),
    "Triangle": Word(Triangular, (0, 1, 2)),
    "Trapezoid": Word(Trapezoidal, (0, 1, 2, 3)),
    "Rectangle": Word(Rectangle, (0, 1)),
    "SShape": Word(SShape, (0, 1)),
    "ZShape": Word(ZShape, (0, 1)),
    "PiShape": Word(PiShape, (0, 1, 2, 3)),
    "GaussianProduct": Word(TwoSidedGaussian, (0, 1, 2, 3)),
    "SigmoidDifference": Word(SigmoidDifference, (0, 1, 2, 3)),
    "SigmoidProduct": Word(SigmoidProduct, (0, 1, 2, 3)),
    "Ramp": Word(Ramp, (0, 1)),
    "Concave": Word(Concave, (0, 1)),
    "Arc": Word(Arc, (0, 1)),
    "Cosine": Word(Cosine, (0, 1)),
    "Spike": Word(Spike, (0, 1)),
    "SemiEllipse": Word(SemiEllipse, (0, 1)),
    "Binary": Word(Binary, (0, 1)),
    "Discrete": Word(Discrete),
    "Function": Word(Formula),
}
"""fuzzylite's words."""

FIS: dict[str, Word] = {
    "gaussmf": Word(Gaussian, (1, 0)),
    "gauss2mf": Word(TwoSidedGaussian, (1, 0, 3, 2)),
    "gbellmf": Word(Bell, (1, 2, 0)),
    "sigmf": Word(Sigmoid, (1, 0)),
    "dsigmf": Word(SigmoidDifference, (1, 0, 2, 3)),
    "psigmf": Word(SigmoidProduct, (1, 0, 2, 3)),
    "trimf": Word(Triangular, (0, 1, 2)),
    "trapmf": Word(Trapezoidal, (0, 1, 2, 3)),
    "smf": Word(SShape, (0, 1)),
    "zmf": Word(ZShape, (0, 1)),
    "pimf": Word(PiShape, (0, 1, 2, 3)),
    "linsmf": Word(Ramp, (0, 1)),
    "linzmf": Word(Ramp, (1, 0)),
    "rampmf": Word(Ramp, (0, 1)),
    "rectmf": Word(Rectangle, (0, 1)),
    "concavemf": Word(Concave, (0, 1)),
    "arcmf": Word(Arc, (0, 1)),
    "cosinemf": Word(Cosine, (0, 1)),
    "spikemf": Word(Spike, (0, 1)),
    "semiellipsemf": Word(SemiEllipse, (0, 1)),
    "binarymf": Word(Binary, (0, 1)),
    "discretemf": Word(Discrete),
    "function": Word(Formula),
}
"""MATLAB's words, then those that only fuzzylite writes."""

MATLAB = frozenset(list(FIS)[:13])
"""Words that MATLAB reads."""


def read(where: Piece, word: str, values: Sequence[float], words: Mapping[str, Word]) -> MembershipFunction:
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
    if family in (Gaussian, TwoSidedGaussian):  # whose widths are squared: the sign means nothing
        ours[1::2] = map(abs, ours[1::2])
    elif family is Bell:
        ours = _upright(ours)
    elif family in (Rectangle, SemiEllipse):
        ours = sorted(ours)
    if len(values) > count and values[-1] != 1:
        return _low(where, word, family, ours, values[-1])
    if not all(map(math.isfinite, ours)):
        return _open(where, word, family, ours)
    if family in (SShape, ZShape) and ours[0] > ours[1]:  # a step in the middle
        ours = [sum(ours) / 2] * 2
    if family is Ramp and ours[0] == ours[1]:
        return Binary(ours[0], -1.0 if word == "linzmf" else 1.0)
    return fuzzy_set(where, family, ours)


def _upright(values: list[float]) -> list[float]:
    """Return a bell with positive width and slope; a negative slope turns it upside down, so it stays an error."""
    center, width, slope = values
    return [center, abs(width), slope]


def _low(where: Piece, word: str, family: Family, corners: list[float], height: float) -> MembershipFunction:
    """Return a set that is less high than 1."""
    if family not in (Triangular, Trapezoidal, Rectangle, Ramp) or not all(map(math.isfinite, corners)):
        raise where.error(f"The height of {word} must be 1; other heights are supported for sets of straight lines.")
    if family is Ramp:
        points = [(corners[0], 0.0), (corners[1], height)]
    elif family is Rectangle:
        points = [(corners[0], 0.0), (corners[0], height), (corners[1], height), (corners[1], 0.0)]
    else:
        points = [(x, height if 0 < place < len(corners) - 1 else 0.0) for place, x in enumerate(corners)]
    return fuzzy_set(where, Discrete, [number for point in sorted(points, key=lambda p: p[0]) for number in point])


def _open(where: Piece, word: str, family: Family, values: list[float]) -> MembershipFunction:
    """Return a set that an infinite parameter leaves open to one side, or to both."""
    if family is Binary and math.isfinite(values[0]) and not math.isnan(values[1]):
        return Binary(values[0], math.copysign(1.0, values[1] - values[0]))
    if family in (Triangular, Trapezoidal, Rectangle) and not any(map(math.isnan, values)):
        half = len(values) // 2
        rise, fall = (values[0], values[half - 1]), (values[half if len(values) != 3 else 1], values[-1])
        if family is Triangular:
            rise, fall = (values[0], values[1]), (values[1], values[2])
        if family is Rectangle:
            rise, fall = (values[0], values[0]), (values[1], values[1])
        left, right = rise[0] == -math.inf, fall[1] == math.inf
        if left and right:
            return Formula("1")
        edge = (fall[1], fall[0]) if left else rise
        if all(map(math.isfinite, edge)):
            return Ramp(*edge) if edge[0] != edge[1] else Binary(edge[0], -1.0 if left else 1.0)
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


def written(
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
        return word, [spelled(formula_of(chosen) if names is None else chosen.text, names or {})]
    values = [chosen.parameters[place] for place in words[word].places] or list(chosen.parameters)
    if isinstance(chosen, Binary):
        values[1] = math.copysign(math.inf, values[1])
    return word, [format_number(value, None) for value in values]
