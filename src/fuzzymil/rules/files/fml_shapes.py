"""The shapes of FML's terms: the sets that they and their complements mean, and the shape of a set."""

from __future__ import annotations

from collections.abc import Callable

from fuzzymil.inference.membership import (
    Discrete,
    Formula,
    Gaussian,
    MembershipFunction,
    Ramp,
    Rectangle,
    Singleton,
    SShape,
    Trapezoidal,
    Triangular,
    ZShape,
)
from fuzzymil.rules.files._formulas import formula_of
from fuzzymil.rules.files._words import word_for

_EDGES = {"leftGaussianShape": "exp(-0.5*max(x, 0)^2)", "rightGaussianShape": "exp(-0.5*min(x, 0)^2)"}
"""Half a Gaussian, of center 0 and width 1; on the other side of the center the membership is 1."""

_FORMULAS = {
    **{text: (shape, False) for shape, text in _EDGES.items()},
    **{f"1 - {text}": (shape, True) for shape, text in {**_EDGES, "gaussianShape": "exp(-0.5*x^2)"}.items()},
}
"""The shapes that formulas stand for, and whether they are complements."""

SHAPES: dict[str, tuple[int, Callable[..., MembershipFunction]]] = {
    "triangularShape": (3, Triangular),
    "trapezoidShape": (4, Trapezoidal),
    "rectangularShape": (2, Rectangle),
    "gaussianShape": (2, Gaussian),
    "singletonShape": (1, Singleton),
    "sShape": (2, SShape),
    "zShape": (2, ZShape),
    "leftLinearShape": (2, lambda start, end: Ramp(end, start)),
    "rightLinearShape": (2, Ramp),
    "leftGaussianShape": (2, lambda center, width: Formula(_EDGES["leftGaussianShape"], center, width)),
    "rightGaussianShape": (2, lambda center, width: Formula(_EDGES["rightGaussianShape"], center, width)),
}
"""Shapes: how many parameters they have, and the set that they mean."""


def complement(chosen: MembershipFunction) -> MembershipFunction:
    """Return the set of memberships ``1 - mu``, of a family that can be trained and written again if there is one.

    Examples
    --------
    >>> complement(Ramp(1, 3)), complement(Triangular(0, 1, 2))
    (Ramp(start=3.0, end=1.0), Discrete(0.0, 1.0, 1.0, 0.0, 2.0, 1.0))
    >>> complement(Gaussian(3, 0.5)).text
    '1 - exp(-0.5*x^2)'
    """
    values = chosen.parameters
    if isinstance(chosen, Ramp):
        return Ramp(values[1], values[0])
    if isinstance(chosen, SShape | ZShape):
        return (ZShape if isinstance(chosen, SShape) else SShape)(*values)
    if isinstance(chosen, Gaussian):
        return Formula("1 - exp(-0.5*x^2)", *values)
    if isinstance(chosen, Formula) and chosen.text in _EDGES.values():
        return Formula(f"1 - {chosen.text}", *values)
    if isinstance(chosen, Triangular | Trapezoidal) and values[-2] < values[-1]:  # no edge that includes its end
        degrees = (1.0, *[0.0] * (len(values) - 2), 1.0)
        return Discrete(*(number for point in zip(values, degrees, strict=True) for number in point))
    if isinstance(chosen, Discrete):
        return Discrete(*(number for x, mu in chosen.points for number in (x, 1.0 - mu)))
    return Formula(f"1 - ({formula_of(chosen)})")


def is_shape(chosen: Formula) -> bool:
    """Return whether a formula stands for a shape."""
    return chosen.text in _FORMULAS


def shape_of(chosen: MembershipFunction) -> tuple[str, tuple[float, ...], bool]:
    """Return the shape of a set, its parameters, and whether it is the complement; `Discrete` has points instead.

    Examples
    --------
    >>> shape_of(complement(Gaussian(3, 0.5)))
    ('gaussianShape', (3.0, 0.5), True)
    """
    values = chosen.parameters
    if isinstance(chosen, Ramp):
        return "rightLinearShape" if chosen.side > 0 else "leftLinearShape", tuple(sorted(values)), False
    if isinstance(chosen, Formula) and is_shape(chosen):
        shape, turned = _FORMULAS[chosen.text]
        return shape, values, turned
    families = {
        shape: make.name
        for shape, (_, make) in SHAPES.items()
        if isinstance(make, type) and issubclass(make, MembershipFunction)
    }
    return word_for("membership family", chosen.name, families, "FML"), values, False
