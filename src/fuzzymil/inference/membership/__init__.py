"""Membership functions: fuzzy sets of many shapes.

=========================  ==================================================================================
smooth hills               `Gaussian`, `TwoSidedGaussian`, `Bell`, `PiShape`, `Cosine`, `SigmoidDifference`,
                           `SigmoidProduct`
other hills                `Triangular`, `Trapezoidal`, `Spike`, `SemiEllipse`
open to one side           `Sigmoid`, `SShape`, `ZShape`, `Ramp`, `Concave`, `Arc`
vertical edges (frozen)    `Rectangle`, `Binary`, `Singleton`
any shape                  `Discrete` (points), `Formula` (arithmetic)
=========================  ==================================================================================

A membership function is a small immutable value that can be called on arrays:

>>> Gaussian(center=0.6, width=0.1)([0.6, 0.7]).round(4)
array([1.    , 0.6065])

To add a family, add one file to this folder with one class in it (or define the class anywhere else; it is registered
as soon as Python sees it); those that come with the library are in one file. The rule language, JSON, training and
plots then support it by its name:

>>> from dataclasses import dataclass
>>> from fuzzymil.inference.membership import Location, MembershipFunction, Width, family
>>> @dataclass(frozen=True)
... class Laplace(MembershipFunction, name="laplace"):
...     '''A set with a sharp peak: ``exp(-|x - center| / width)``.'''
...
...     center: Location
...     width: Width
...
...     @staticmethod
...     def log_mu(x, center, width):
...         return -abs(x - center) / width
...
...     @staticmethod
...     def around(center, width):
...         return center, width
>>> family("laplace")(center=0, width=2)([0, 2]).round(4)
array([1.    , 0.3679])
>>> del FAMILIES["laplace"]
"""

from typing import Any

from fuzzymil._utils.registry import import_modules
from fuzzymil.inference.membership._base import (
    FAMILIES,
    Degree,
    Location,
    MembershipFunction,
    Shape,
    Side,
    Steepness,
    Text,
    Width,
    family,
    learnable_families,
)
from fuzzymil.inference.membership._families import (
    Arc,
    Bell,
    Binary,
    Concave,
    Cosine,
    Discrete,
    Gaussian,
    Missing,
    PiShape,
    Ramp,
    Rectangle,
    SemiEllipse,
    Sigmoid,
    SigmoidDifference,
    SigmoidProduct,
    Singleton,
    Spike,
    SShape,
    Trapezoidal,
    Triangular,
    TwoSidedGaussian,
    ZShape,
)
from fuzzymil.inference.membership._formula import Arithmetic, Formula

__all__ = [
    "FAMILIES",
    "Arc",
    "Arithmetic",
    "Bell",
    "Binary",
    "Concave",
    "Cosine",
    "Degree",
    "Discrete",
    "Formula",
    "Gaussian",
    "Location",
    "MembershipFunction",
    "Missing",
    "PiShape",
    "Ramp",
    "Rectangle",
    "SShape",
    "SemiEllipse",
    "Shape",
    "Side",
    "Sigmoid",
    "SigmoidDifference",
    "SigmoidProduct",
    "Singleton",
    "Spike",
    "Steepness",
    "Text",
    "Trapezoidal",
    "Triangular",
    "TwoSidedGaussian",
    "Width",
    "ZShape",
    "family",
    "learnable_families",
]

import_modules(__name__, private=True)  # a file in this folder registers its families


def __getattr__(name: str) -> Any:
    for kind in FAMILIES.values():
        if kind.__name__ == name:
            return kind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
