"""Layer 1: families of membership functions, in logarithms.

A family is a small immutable value, ``Gaussian(center=0.6, width=0.1)``, that can be called on
arrays. The network uses the same class without instances: ``log_mu`` takes arrays of parameters of
any shape that broadcasts with ``x``. Training moves *free* parameters, real numbers without
constraints; ``to_free`` and ``from_free`` translate (a width is trained as its logarithm). The vertical
edge of a triangle or trapezoid stays vertical in training: it moves with the set and has no slope to learn.

A new family is one subclass; the tests iterate over `FAMILIES`, so that none escapes the checks.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from fuzzymil._utils.errors import ParameterError, did_you_mean

__all__ = ["FAMILIES", "Bell", "Gaussian", "MembershipFunction", "Sigmoid", "Trapezoidal", "Triangular", "family"]

Parameters = tuple[Any, ...]  # one array (or number) for each field of the family, in order


@dataclasses.dataclass(frozen=True)
class MembershipFunction(ABC):
    """A fuzzy set on the real line: the degree, between 0 and 1, to which a number belongs."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field in self.fields():
            value = getattr(self, field)
            if not isinstance(value, float | int | np.number) or not math.isfinite(value):
                raise ParameterError(f"{type(self).__name__}: {field} must be a finite number, got {value!r}.")
            if type(value) is not float:
                object.__setattr__(self, field, float(value))
        self._check()

    @classmethod
    @functools.cache  # learned rules have thousands of sets
    def fields(cls) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @property
    def parameters(self) -> tuple[float, ...]:
        """The parameters, in the order of `fields`."""
        return tuple(getattr(self, field) for field in self.fields())

    def __call__(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the degree of membership of ``x``, of its shape."""
        with jax.enable_x64():
            log_mu = self.log_mu(jnp.asarray(x, jnp.float64), *map(jnp.float64, self.parameters))
            return np.asarray(np.exp(log_mu))

    def __str__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.parameters)
        return f"{type(self).__name__}({values})"

    @abstractmethod
    def _check(self) -> None:
        """Raise `ParameterError` unless the parameters describe a set."""

    @staticmethod
    @abstractmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        """Return the logarithm of the membership; ``-inf`` where it is truly zero."""

    @staticmethod
    @abstractmethod
    def to_free(*parameters: Any) -> Parameters:
        """Translate parameters to unconstrained ones."""

    @staticmethod
    @abstractmethod
    def from_free(*free: Any) -> Parameters:
        """Translate unconstrained parameters back; the inverse of `to_free`."""

    @staticmethod
    @abstractmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        """Return the parameters of the same set on the axis ``shift + scale * x``, with scale > 0."""

    @staticmethod
    @abstractmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return a set that is greatest at ``center`` and about ``width`` (a standard deviation) wide."""

    @staticmethod
    @abstractmethod
    def peak(*parameters: Any) -> Any:
        """Return a most typical value of the set."""

    @staticmethod
    @abstractmethod
    def spread(*parameters: Any) -> Any:
        """Return how wide the set is, comparable to a Gaussian's standard deviation."""


def _positive(kind: str, **values: float) -> None:
    for name, value in values.items():
        if value <= 0:
            raise ParameterError(f"{kind}: {name} must be greater than 0, got {value!r}.")


@dataclasses.dataclass(frozen=True)
class Gaussian(MembershipFunction):
    """The paper's set (eq. gmf): ``exp(-(x - center)**2 / (2 * width**2))``.

    Examples
    --------
    >>> Gaussian(center=0.6, width=0.1)([0.6, 0.7]).round(4)
    array([1.    , 0.6065])
    """

    center: float
    width: float
    name: ClassVar[str] = "gaussian"

    def _check(self) -> None:
        _positive("Gaussian", width=self.width)

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width = parameters
        return -0.5 * jnp.square((x - center) / width)

    @staticmethod
    def to_free(*parameters: Any) -> Parameters:
        center, width = parameters
        return center, jnp.log(width)

    @staticmethod
    def from_free(*free: Any) -> Parameters:
        center, log_width = free
        return center, jnp.exp(log_width)

    @staticmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        center, width = parameters
        return shift + scale * center, scale * width

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width

    @staticmethod
    def peak(*parameters: Any) -> Any:
        return parameters[0]

    @staticmethod
    def spread(*parameters: Any) -> Any:
        return parameters[1]


@dataclasses.dataclass(frozen=True)
class Bell(MembershipFunction):
    """The generalized bell: ``1 / (1 + |(x - center) / width|**(2 * slope))``.

    Examples
    --------
    >>> Bell(center=0, width=2, slope=3)([0, 2]).round(4)
    array([1. , 0.5])
    """

    center: float
    width: float
    slope: float
    name: ClassVar[str] = "bell"

    def _check(self) -> None:
        _positive("Bell", width=self.width, slope=self.slope)

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width, slope = parameters
        z = jnp.abs(x - center) / width
        at_center = z == 0  # log 0 has no derivative, the bell has one there: 0
        log_z = jnp.log(jnp.where(at_center, 1.0, z))
        return jnp.where(at_center, 0.0, -jax.nn.softplus(2 * slope * log_z))

    @staticmethod
    def to_free(*parameters: Any) -> Parameters:
        center, width, slope = parameters
        return center, jnp.log(width), jnp.log(slope)

    @staticmethod
    def from_free(*free: Any) -> Parameters:
        center, log_width, log_slope = free
        return center, jnp.exp(log_width), jnp.exp(log_slope)

    @staticmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        center, width, slope = parameters
        return shift + scale * center, scale * width, slope

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width * math.sqrt(2 * math.log(2)), np.full(np.shape(center), 2.0)

    @staticmethod
    def peak(*parameters: Any) -> Any:
        return parameters[0]

    @staticmethod
    def spread(*parameters: Any) -> Any:
        return parameters[1] / math.sqrt(2 * math.log(2))


@dataclasses.dataclass(frozen=True)
class Sigmoid(MembershipFunction):
    """A set open to one side: ``1 / (1 + exp(-slope * (x - center)))``; a negative slope opens left.

    Examples
    --------
    >>> Sigmoid(center=1, slope=4)([1, 2]).round(4)
    array([0.5  , 0.982])
    """

    center: float
    slope: float
    name: ClassVar[str] = "sigmoid"

    def _check(self) -> None:
        if self.slope == 0:
            raise ParameterError("Sigmoid: slope must not be 0 (the set would be 0.5 everywhere).")

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, slope = parameters
        return jax.nn.log_sigmoid(slope * (x - center))

    @staticmethod
    def to_free(*parameters: Any) -> Parameters:
        return parameters

    @staticmethod
    def from_free(*free: Any) -> Parameters:
        return free

    @staticmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        center, slope = parameters
        return shift + scale * center, slope / scale

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Open away from zero, with ``center`` well inside (at a membership of 0.88)."""
        slope = np.where(np.asarray(center) >= 0, 1.0, -1.0) / width
        return center - 2.0 / slope, slope

    @staticmethod
    def peak(*parameters: Any) -> Any:
        center, slope = parameters
        return center + 2.0 / slope

    @staticmethod
    def spread(*parameters: Any) -> Any:
        return 1.0 / abs(parameters[1])


@dataclasses.dataclass(frozen=True)
class Triangular(MembershipFunction):
    """Rises from ``left`` to ``peak_at`` and falls to ``right``; truly zero outside.

    One of the two edges may be vertical (``left == peak_at``, say); it belongs to the set.

    Examples
    --------
    >>> Triangular(0, 1, 3)([0.5, 1, 2, 5]).round(4)
    array([0.5, 1. , 0.5, 0. ])
    >>> Triangular(0, 0, 1)([-0.1, 0, 0.5]).round(4)
    array([0. , 1. , 0.5])
    """

    left: float
    peak_at: float
    right: float
    name: ClassVar[str] = "triangular"

    def _check(self) -> None:
        if not self.left <= self.peak_at <= self.right or self.left == self.right:
            raise ParameterError(
                f"Triangular: left <= peak_at <= right and left < right are needed, got {self.parameters}."
            )

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, peak, right = parameters
        return _log_or_zero(jnp.minimum(_ramp(x, left, peak), _ramp(-x, -right, -peak)))

    @staticmethod
    def to_free(*parameters: Any) -> Parameters:
        left, peak, right = parameters
        return _log_width(peak - left), peak, _log_width(right - peak)

    @staticmethod
    def from_free(*free: Any) -> Parameters:
        log_rise, peak, log_fall = free
        return peak - jnp.exp(log_rise), peak, peak + jnp.exp(log_fall)

    @staticmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        return tuple(shift + scale * value for value in parameters)

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        reach = math.sqrt(6) * width  # a triangle of this half base has standard deviation `width`
        return center - reach, center, center + reach

    @staticmethod
    def peak(*parameters: Any) -> Any:
        return parameters[1]

    @staticmethod
    def spread(*parameters: Any) -> Any:
        left, _, right = parameters
        return (right - left) / (2 * math.sqrt(6))


@dataclasses.dataclass(frozen=True)
class Trapezoidal(MembershipFunction):
    """Rises from ``left``, is 1 from ``left_top`` to ``right_top``, falls to ``right``; zero outside.

    Neighboring corners may be equal: an edge is then vertical and belongs to the set, or the top a point.

    Examples
    --------
    >>> Trapezoidal(0, 1, 2, 4)([0.5, 1.5, 3, 5]).round(4)
    array([0.5, 1. , 0.5, 0. ])
    >>> Trapezoidal(0, 0, 2, 2)([-0.1, 0, 2, 2.1]).round(4)
    array([0., 1., 1., 0.])
    """

    left: float
    left_top: float
    right_top: float
    right: float
    name: ClassVar[str] = "trapezoidal"

    def _check(self) -> None:
        if not self.left <= self.left_top <= self.right_top <= self.right or self.left == self.right:
            raise ParameterError(
                "Trapezoidal: left <= left_top <= right_top <= right and left < right are needed, "
                f"got {self.parameters}."
            )

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, left_top, right_top, right = parameters
        rise, fall = _ramp(x, left, left_top), _ramp(-x, -right, -right_top)
        return _log_or_zero(jnp.minimum(jnp.minimum(rise, fall), 1.0))

    @staticmethod
    def to_free(*parameters: Any) -> Parameters:
        left, left_top, right_top, right = parameters
        middle = (left_top + right_top) / 2
        return _log_width(left_top - left), middle, _log_width(right_top - left_top), _log_width(right - right_top)

    @staticmethod
    def from_free(*free: Any) -> Parameters:
        log_rise, middle, log_top, log_fall = free
        half = jnp.exp(log_top) / 2
        return middle - half - jnp.exp(log_rise), middle - half, middle + half, middle + half + jnp.exp(log_fall)

    @staticmethod
    def moved(shift: Any, scale: Any, *parameters: Any) -> Parameters:
        return tuple(shift + scale * value for value in parameters)

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @staticmethod
    def peak(*parameters: Any) -> Any:
        return (parameters[1] + parameters[2]) / 2

    @staticmethod
    def spread(*parameters: Any) -> Any:
        left, left_top, right_top, right = parameters
        return (right + right_top - left_top - left) / 6


_LOG_OF_NO_WIDTH = -1e4
"""Free parameter of a vertical edge: a finite number, as optimizers need, whose exponential and slope are exactly 0."""


def _log_width(width: Any) -> Any:
    vertical = width == 0
    return jnp.where(vertical, _LOG_OF_NO_WIDTH, jnp.log(jnp.where(vertical, 1.0, width)))


def _ramp(x: jax.Array, start: jax.Array, end: jax.Array) -> jax.Array:
    """Straight line through 0 at ``start`` and 1 at ``end``; where they are equal, a step that reaches 1 there."""
    vertical = start == end
    step = jnp.where(x < end, 0.0, jnp.where(x >= end, 1.0, x))  # a NaN comes through
    return jnp.where(vertical, step, (x - start) / jnp.where(vertical, 1.0, end - start))


def _log_or_zero(mu: jax.Array) -> jax.Array:
    """Logarithm that is -inf with derivative 0 where the membership is truly zero."""
    outside = mu <= 0
    return jnp.where(outside, -jnp.inf, jnp.log(jnp.where(outside, 1.0, mu)))


FAMILIES: dict[str, type[MembershipFunction]] = {
    kind.name: kind for kind in (Gaussian, Bell, Sigmoid, Triangular, Trapezoidal)
}


def family(name: str) -> type[MembershipFunction]:
    """Look a family up by name.

    Examples
    --------
    >>> family("bell")
    <class 'fuzzymil.membership._families.Bell'>
    """
    if name not in FAMILIES:
        raise ParameterError(
            f"Unknown membership family {name!r}; known are {', '.join(FAMILIES)}.{did_you_mean(name, FAMILIES)}"
        )
    return FAMILIES[name]
