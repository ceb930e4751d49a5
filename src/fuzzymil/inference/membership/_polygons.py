"""Families with straight edges: triangles, trapezoids, rectangles and points.

A vertical edge stays vertical in training: it moves with the set and has no slope to learn.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference._numerics import stop_gradient
from fuzzymil.inference.membership._base import (
    Location,
    MembershipFunction,
    Parameters,
    log_or_zero,
    log_width,
    ramp,
)

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


@dataclass(frozen=True, init=False, repr=False)
class Discrete(MembershipFunction, name="discrete"):
    """Straight lines through any number of points: ``Discrete(x1, degree1, x2, degree2, ...)``.

    The values are in ascending order. To the left of the first point the membership stays that of the first, to the
    right of the last that of the last. Two points with the same value are a vertical edge, where the second counts.
    Training moves the values and leaves the degrees as they are.

    Examples
    --------
    >>> Discrete(0, 0, 1, 1, 3, 0.5)([-1, 0.5, 2, 9]).tolist()
    [0.0, 0.5, 0.75, 0.5]
    """

    points: tuple[tuple[float, float], ...]

    def __init__(self, *values: float) -> None:
        if len(values) < 2 or len(values) % 2:
            raise ParameterError(
                f"Discrete: expected pairs of numbers, a value and its degree of membership, got {len(values)} numbers."
            )
        for value in values:
            if not isinstance(value, float | int | np.number) or not np.isfinite(value):
                raise ParameterError(f"Discrete: every number must be a finite number, got {value!r}.")
        points = tuple((float(x), float(mu)) for x, mu in zip(values[::2], values[1::2], strict=True))
        object.__setattr__(self, "points", points)
        for number, (x, mu) in enumerate(points, start=1):
            if not 0 <= mu <= 1:
                raise ParameterError(f"Discrete: the degree of point {number} must be from 0 to 1, got {mu!r}.")
            if number > 1 and x < points[number - 2][0]:
                raise ParameterError(
                    f"Discrete: the values must be in ascending order, but {x!r} follows {points[number - 2][0]!r}."
                )

    def __repr__(self) -> str:
        return f"Discrete({', '.join(map(repr, self.parameters))})"

    @classmethod
    @functools.cache
    def fields(cls) -> tuple[str, ...]:
        """Return no names: the number of points is free."""
        return ()

    @classmethod
    def takes(cls, count: int) -> bool:
        """Return whether the constructor takes this number of arguments: pairs."""
        return count >= 2 and count % 2 == 0

    @property
    def parameters(self) -> tuple[float, ...]:
        """The values and degrees of the points, in turn."""
        return tuple(number for point in self.points for number in point)

    @property
    def arguments(self) -> tuple[float | str, ...]:
        """The same as `parameters`."""
        return self.parameters

    @property
    def kind(self) -> str:
        """The name with the number of points."""
        return f"{self.name}:{len(self.points)}"

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        xp = namespace(x)
        values, degrees = parameters[::2], parameters[1::2]
        mu = xp.where(xp.isnan(x), x, degrees[0])
        for k in range(len(values) - 1):
            low, high = values[k], values[k + 1]
            vertical = low == high
            share = xp.clip((x - low) / xp.where(vertical, 1.0, high - low), 0.0, 1.0)
            mu = xp.where(x >= low, degrees[k] * (1.0 - share) + degrees[k + 1] * share, mu)
        mu = xp.where(x >= values[-1], degrees[-1], mu)
        return log_or_zero(mu)

    @classmethod
    def _numeric_kinds(cls, parameters: Parameters) -> tuple[str, ...]:
        return ("location", "degree") * (len(parameters) // 2)

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        values, degrees = parameters[::2], parameters[1::2]
        gaps = (log_width(after - before) for before, after in itertools.pairwise(values))
        return values[0], *gaps, *degrees

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        n_points = len(free) // 2
        values = [free[0]]
        for gap in free[1:n_points]:
            values.append(values[-1] + namespace(gap).exp(gap))
        degrees = map(stop_gradient, free[n_points:])
        return tuple(number for point in zip(values, degrees, strict=True) for number in point)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        """Return the value of the first point with the highest degree."""
        parameters = tuple(np.float64(value) if isinstance(value, float) else value for value in parameters)
        xp = namespace(parameters[0])
        found, highest = parameters[:2]
        for value, degree in zip(parameters[2::2], parameters[3::2], strict=True):
            found, highest = xp.where(degree > highest, value, found), xp.maximum(degree, highest)
        return found

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return (parameters[-2] - parameters[0]) / 4.0

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        return namespace(parameters[0]).isfinite(cls.spread(*parameters))
