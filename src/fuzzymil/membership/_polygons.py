"""Families with straight edges: triangular and trapezoidal.

A vertical edge stays vertical in training: it moves with the set and has no slope to learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.membership._base import Location, MembershipFunction, Parameters

if TYPE_CHECKING:
    import jax


@dataclass(frozen=True)
class _Polygon(MembershipFunction):
    """A set given by the places of its corners, from left to right."""

    def _check(self) -> None:
        corners = self.parameters
        if list(corners) != sorted(corners) or corners[0] == corners[-1]:
            raise ParameterError(
                f"{type(self).__name__}: {' <= '.join(self.fields())} and left < right are required, got {corners}."
            )


@dataclass(frozen=True)
class Triangular(_Polygon, name="triangular"):
    """A triangle that rises from ``left`` to ``peak_at`` and falls to ``right``; zero outside.

    One of the two edges may be vertical (``left == peak_at``, for example); it belongs to the set.

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
        return _log_or_zero(namespace(x).minimum(_ramp(x, left, peak), _ramp(-x, -right, -peak)))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        reach = math.sqrt(6) * width  # a triangle with this half base has standard deviation `width`
        return center - reach, center, center + reach

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, peak, right = parameters
        return _log_width(peak - left), peak, _log_width(right - peak)

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
        rise, fall = _ramp(x, left, left_top), _ramp(-x, -right, -right_top)
        xp = namespace(x)
        return _log_or_zero(xp.minimum(xp.minimum(rise, fall), 1.0))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, left_top, right_top, right = parameters
        middle = (left_top + right_top) / 2
        return _log_width(left_top - left), middle, _log_width(right_top - left_top), _log_width(right - right_top)

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


_LOG_OF_NO_WIDTH = -1e4
"""Free parameter of a vertical edge: finite, as optimizers need, but its exponential and slope are exactly 0."""


def _log_width(width: Any) -> Any:
    xp = namespace(width)
    vertical = width == 0
    return xp.where(vertical, _LOG_OF_NO_WIDTH, xp.log(xp.where(vertical, 1.0, width)))


def _ramp(x: jax.Array, start: jax.Array, end: jax.Array) -> jax.Array:
    """Return the line through 0 at ``start`` and 1 at ``end``; where they are equal, a step that reaches 1 there."""
    xp = namespace(x)
    vertical = start == end
    step = xp.where(x < end, 0.0, xp.where(x >= end, 1.0, x))  # lets NaN through
    return xp.where(vertical, step, (x - start) / xp.where(vertical, 1.0, end - start))


def _log_or_zero(mu: jax.Array) -> jax.Array:
    """Return the logarithm; -inf with derivative 0 where the membership is exactly zero."""
    xp = namespace(mu)
    outside = mu <= 0
    return xp.where(outside, -xp.inf, xp.log(xp.where(outside, 1.0, mu)))
