"""The base class of membership functions, and the registry of families.

The network uses a family without instances: ``log_mu`` takes arrays of parameters of any shape that broadcasts with
``x`` (Layer 1, equation (6)). Training moves *free* parameters, which may be any real number; ``to_free`` and
``from_free`` convert (a width is trained as its logarithm). The annotation of a parameter states its role:

============  ==============================  ============  ==============  =========================
annotation    meaning                         allowed       trained as      on the axis ``a + s * x``
============  ==============================  ============  ==============  =========================
`Location`    a value on the axis             any           itself          ``a + s * value``
`Width`       a distance                      above 0       its logarithm   ``s * value``
`Shape`       a number without a unit         above 0       its logarithm   ``value``
`Steepness`   change per unit; signed         not 0         itself          ``value / s``
============  ==============================  ============  ==============  =========================
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError, did_you_mean
from fuzzymil._utils.registry import register
from fuzzymil._utils.runtime import in_64_bit

if TYPE_CHECKING:
    import jax

Parameters = tuple[Any, ...]
"""One array (or number) per parameter of a family, in order."""

Location = Annotated[float, "location"]
Width = Annotated[float, "width"]
Shape = Annotated[float, "shape"]
Steepness = Annotated[float, "steepness"]

FAMILIES: dict[str, type[MembershipFunction]] = {}
"""All families by name."""


@dataclasses.dataclass(frozen=True)
class MembershipFunction(ABC):
    """A fuzzy set on the real line: the degree, between 0 and 1, to which a number belongs to it.

    A subclass is a frozen dataclass with a registered name, ``class Gaussian(MembershipFunction, name="gaussian")``.
    Its fields are annotated as `Location`, `Width`, `Shape` or `Steepness`. It must define ``log_mu`` and ``around``;
    the other methods have defaults that follow from the annotations. See `fuzzymil.membership` for an example.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        """Register the class under ``name``; a class without a name is a base of others."""
        super().__init_subclass__()
        if name is not None:
            register(FAMILIES, "Membership family", name, cls)
            cls.name = name

    def __post_init__(self) -> None:
        for field in self.fields():
            value = getattr(self, field)
            if not isinstance(value, float | int | np.number) or not math.isfinite(value):
                raise ParameterError(f"{type(self).__name__}: {field} must be a finite number, got {value!r}.")
            if type(value) is not float:
                object.__setattr__(self, field, float(value))
        self._check()

    @classmethod
    @functools.cache  # learned rule bases have thousands of sets
    def fields(cls) -> tuple[str, ...]:
        """Return the names of the parameters, in order."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @classmethod
    @functools.cache
    def _kinds(cls) -> tuple[str, ...]:
        """Return what the annotation of each parameter says it is."""
        hints = get_type_hints(cls, include_extras=True)
        return tuple(get_args(hints[field])[1] for field in cls.fields())

    @property
    def parameters(self) -> tuple[float, ...]:
        """The parameters, in the order of `fields`."""
        return tuple(getattr(self, field) for field in self.fields())

    def __call__(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the degree of membership of ``x``, an array of the same shape."""
        return np.asarray(np.exp(self.log_membership(x)))

    def log_membership(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the logarithm of the degree of membership of ``x``, an array of the same shape.

        Examples
        --------
        >>> from fuzzymil.membership import Gaussian
        >>> Gaussian(0, 1).log_membership([0.0, 100.0]).tolist()
        [-0.0, -5000.0]
        """
        values: list[Any] = [np.asarray(each, np.float64) for each in (x, *self.parameters)]
        with np.errstate(all="ignore"), in_64_bit():
            return np.asarray(self.log_mu(*values), np.float64)

    def __str__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.parameters)
        return f"{type(self).__name__}({values})"

    def _check(self) -> None:
        """Raise `ParameterError` unless the parameters describe a set."""
        for field, kind, value in zip(self.fields(), self._kinds(), self.parameters, strict=True):
            if kind in ("width", "shape") and value <= 0:
                raise ParameterError(f"{type(self).__name__}: {field} must be greater than 0, got {value!r}.")
            if kind == "steepness" and value == 0:
                raise ParameterError(f"{type(self).__name__}: {field} must not be 0 (the set would be flat).")

    @staticmethod
    @abstractmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        """Return the logarithm of the membership; ``-inf`` where it is exactly zero."""

    @staticmethod
    @abstractmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return the parameters of a set that peaks at ``center`` and has about the standard deviation ``width``."""

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        """Convert parameters to unconstrained ones."""
        return tuple(
            namespace(value).log(value) if kind in ("width", "shape") else value
            for kind, value in zip(cls._kinds(), parameters, strict=True)
        )

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        """Convert unconstrained parameters back; the inverse of `to_free`."""
        return tuple(
            namespace(value).exp(value) if kind in ("width", "shape") else value
            for kind, value in zip(cls._kinds(), free, strict=True)
        )

    @classmethod
    def moved(cls, shift: Any, scale: Any, *parameters: Any) -> Parameters:
        """Return the parameters of the same set on the axis ``shift + scale * x``, with scale > 0."""
        change = {
            "location": lambda value: shift + scale * value,
            "width": lambda value: scale * value,
            "shape": lambda value: value,
            "steepness": lambda value: value / scale,
        }
        return tuple(change[kind](value) for kind, value in zip(cls._kinds(), parameters, strict=True))

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        """Return a most typical value of the set; by default its first location."""
        return parameters[cls._kinds().index("location")]

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        """Return how wide the set is, comparable to a Gaussian's standard deviation; by default its first width."""
        return parameters[cls._kinds().index("width")]


def family(name: str) -> type[MembershipFunction]:
    """Return the family registered under a name.

    Examples
    --------
    >>> family("bell").fields()
    ('center', 'width', 'slope')
    """
    if name not in FAMILIES:
        raise ParameterError(
            f"Unknown membership family {name!r}; choose from {', '.join(FAMILIES)}.{did_you_mean(name, FAMILIES)}"
        )
    return FAMILIES[name]
