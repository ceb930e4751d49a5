"""Families with straight edges: triangles, trapezoids, rectangles and points.

A vertical edge stays vertical in training: it moves with the set and has no slope to learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership._base import Location, MembershipFunction, Parameters, log_or_zero, log_width, ramp

if TYPE_CHECKING:
    import jax


@dataclass(frozen=True)
class _Polygon(MembershipFunction):
    """A set given by the places of its corners, from left to right."""

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        return namespace(parameters[0]).isfinite(cls.spread(*parameters))  # a width of 0 means vertical edges

    def _check(self) -> None:
        corners = self.parameters
        if list(corners) != sorted(corners):
            raise ParameterError(f"{type(self).__name__}: {' <= '.join(self.fields())} is required, got {corners}.")


@dataclass(frozen=True)
class Triangular(_Polygon, name="triangular"):
    """A triangle that rises from ``left`` to ``peak_at`` and falls to ``right``; zero outside.

    Edges may be vertical (``left == peak_at``, for example), and then belong to the set; if both are, it is a point.

    Examples
    --------
    >>> Triangular(0, 1, 3)([0.5, 1, 2, 5]).round(4)
    array([0.5, 1. , 0.5, 0. ])
    >>> Triangular(0, 0, 1)([-0.1, 0, 0.5]).round(4)
    array([0. , 1. , 0.5])
    """

    left: Location
    peak_at: Location
    right: Location

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, peak, right = parameters
        return log_or_zero(namespace(x).minimum(ramp(x, left, peak), ramp(-x, -right, -peak)))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        reach = math.sqrt(6) * width  # a triangle with this half base has standard deviation `width`
        return center - reach, center, center + reach

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, peak, right = parameters
        return log_width(peak - left), peak, log_width(right - peak)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        log_rise, peak, log_fall = free
        xp = namespace(peak)
        return peak - xp.exp(log_rise), peak, peak + xp.exp(log_fall)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return parameters[1]

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        left, _, right = parameters
        return (right - left) / (2 * math.sqrt(6))


@dataclass(frozen=True)
class Trapezoidal(_Polygon, name="trapezoidal"):
    """A trapezoid: rises from ``left``, is 1 from ``left_top`` to ``right_top``, falls to ``right``; zero outside.

    Neighboring corners may coincide: the edge is then vertical and belongs to the set, or the top is a point.

    Examples
    --------
    >>> Trapezoidal(0, 1, 2, 4)([0.5, 1.5, 3, 5]).round(4)
    array([0.5, 1. , 0.5, 0. ])
    >>> Trapezoidal(0, 0, 2, 2)([-0.1, 0, 2, 2.1]).round(4)
    array([0., 1., 1., 0.])
    """

    left: Location
    left_top: Location
    right_top: Location
    right: Location

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, left_top, right_top, right = parameters
        rise, fall = ramp(x, left, left_top), ramp(-x, -right, -right_top)
        xp = namespace(x)
        return log_or_zero(xp.minimum(xp.minimum(rise, fall), 1.0))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, left_top, right_top, right = parameters
        middle = (left_top + right_top) / 2
        return log_width(left_top - left), middle, log_width(right_top - left_top), log_width(right - right_top)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        log_rise, middle, log_top, log_fall = free
        xp = namespace(middle)
        half = xp.exp(log_top) / 2
        return middle - half - xp.exp(log_rise), middle - half, middle + half, middle + half + xp.exp(log_fall)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[1] + parameters[2]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        left, left_top, right_top, right = parameters
        return (right + right_top - left_top - left) / 6


@dataclass(frozen=True)
class Rectangle(_Polygon, name="rectangle"):
    """A set without doubt: 1 from ``left`` to ``right``, both included; 0 outside. Training leaves it as it is.

    Examples
    --------
    >>> Rectangle(0, 2)([-0.1, 0, 2, 2.1]).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    trainable = False

    left: Location
    right: Location

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, right = parameters
        xp = namespace(x)
        return xp.where((x >= left) & (x <= right), 0.0, xp.where(xp.isnan(x), x, -xp.inf))

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[0] + parameters[1]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return (parameters[1] - parameters[0]) / (2 * math.sqrt(3))


@dataclass(frozen=True)
class Singleton(MembershipFunction, name="singleton"):
    """A single number: 1 at ``value``, 0 everywhere else. Training leaves it as it is.

    As the conclusion of Mamdani rules it is a plain number, for the defuzzifiers "average" and "sum".

    Examples
    --------
    >>> Singleton(2)([1.9, 2.0]).tolist()
    [0.0, 1.0]
    """

    trainable = False

    value: Location

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        xp = namespace(x)
        return xp.where(x == parameters[0], 0.0, xp.where(xp.isnan(x), x, -xp.inf))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value, whatever the degree."""
        return np.full(np.shape(degree), self.value)

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return 0.0 * parameters[0]
