"""The families of sets: hills, sets that are open to one side, polygons, and single points.

A vertical edge stays vertical in training: it moves with the set and has no slope to learn.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference._numerics import stop_gradient
from fuzzymil.inference.membership._base import (
    Location,
    MembershipFunction,
    Parameters,
    Shape,
    Side,
    Steepness,
    Width,
    log_or_zero,
    log_width,
    ramp,
)

# ---------------------------------------------------------------------- smooth hills


@dataclass(frozen=True)
class Gaussian(MembershipFunction, name="gaussian"):
    """A bell curve, equation (6) of the paper: ``exp(-(x - center)**2 / (2 * width**2))``.

    Examples
    --------
    >>> Gaussian(center=0.6, width=0.1)([0.6, 0.7]).round(4)
    array([1.    , 0.6065])
    """

    center: Location
    width: Width

    @staticmethod
    def log_mu(x: Any, center: Any, width: Any) -> Any:
        z = (x - center) / width
        return -0.5 * namespace(z).square(z)

    @staticmethod
    def log_mu_slopes(x: Any, center: Any, width: Any) -> tuple[Any, ...]:
        z = (x - center) / width
        return z / width, np.square(z) / width

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width


_HALF_WIDTH = math.sqrt(2 * math.log(2))  # where a Gaussian of width 1, like every bell of width 1, has fallen to 1/2


@dataclass(frozen=True)
class Bell(MembershipFunction, name="bell"):
    """The generalized bell: ``1 / (1 + |(x - center) / width|**(2 * slope))``.

    Examples
    --------
    >>> Bell(center=0, width=2, slope=3)([0, 2]).round(4)
    array([1. , 0.5])
    """

    center: Location
    width: Width
    slope: Shape

    @staticmethod
    def log_mu(x: Any, center: Any, width: Any, slope: Any) -> Any:
        z = abs(x - center) / width
        xp = namespace(z)
        at_center = z == 0  # log 0 has no derivative there; the bell has one, 0
        log_z = xp.log(xp.where(at_center, 1.0, z))
        return xp.where(at_center, 0.0, -xp.logaddexp(2 * slope * log_z, 0.0))

    @staticmethod
    def log_mu_slopes(x: Any, center: Any, width: Any, slope: Any) -> tuple[Any, ...]:
        from scipy.special import expit  # rules are read and inferred without SciPy

        away = x - center
        at_center = away == 0
        log_z = np.log(np.where(at_center, 1.0, np.abs(away) / width))
        rate = np.where(at_center, 0.0, expit(2 * slope * log_z))
        return 2 * slope * rate / np.where(at_center, 1.0, away), 2 * slope * rate / width, -2 * log_z * rate

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width * _HALF_WIDTH, np.full(np.shape(center), 2.0)

    @classmethod
    def spread(cls, center: Any, width: Any, slope: Any) -> Any:
        return width / _HALF_WIDTH


@dataclass(frozen=True)
class PiShape(MembershipFunction, name="pi_shape"):
    """A smooth hill: an `SShape` from ``left`` to ``left_top`` times a `ZShape` from ``right_top`` to ``right``.

    Examples
    --------
    >>> PiShape(0, 4, 5, 9)([0, 2, 4.5, 7, 9]).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    vertical = True

    left: Location
    left_top: Location
    right_top: Location
    right: Location

    def _check(self) -> None:
        if self.left > self.left_top or self.right_top > self.right:
            raise ParameterError(
                f"PiShape: left <= left_top and right_top <= right are required, got {self.parameters}."
            )

    @staticmethod
    def log_mu(x: Any, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
        return log_smooth(ramp(x, left, left_top)) + log_smooth(ramp(-x, -right, -right_top))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @classmethod
    def to_free(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Parameters:
        return log_width(left_top - left), left_top, right_top, log_width(right - right_top)

    @classmethod
    def from_free(cls, log_rise: Any, left_top: Any, right_top: Any, log_fall: Any) -> Parameters:
        xp = namespace(log_rise)
        return left_top - xp.exp(log_rise), left_top, right_top, right_top + xp.exp(log_fall)

    @classmethod
    def peak(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
        return (left_top + right_top) / 2

    @classmethod
    def spread(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
        return (right + abs(right_top - left_top) - left) / 6

    @classmethod
    def with_edges_apart(cls, distance: Any, left: Any, left_top: Any, right_top: Any, right: Any) -> Parameters:
        return left - distance, left_top - distance, right_top + distance, right + distance


@dataclass(frozen=True)
class TwoSidedGaussian(MembershipFunction, name="two_sided_gaussian"):
    """A Gaussian edge on each side: 1 from ``left`` to ``right`` (MATLAB's ``gauss2mf``).

    If ``left`` is to the right of ``right``, the two edges overlap, and their product stays below 1.

    Examples
    --------
    >>> TwoSidedGaussian(left=0, left_width=1, right=2, right_width=3)([-1, 1, 5]).round(4).tolist()
    [0.6065, 1.0, 0.6065]
    """

    left: Location
    left_width: Width
    right: Location
    right_width: Width

    @staticmethod
    def log_mu(x: Any, left: Any, left_width: Any, right: Any, right_width: Any) -> Any:
        xp = namespace(x)
        below, above = xp.minimum(x - left, 0.0) / left_width, xp.maximum(x - right, 0.0) / right_width
        return -0.5 * (xp.square(below) + xp.square(above))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width, center, width

    @classmethod
    def peak(cls, left: Any, left_width: Any, right: Any, right_width: Any) -> Any:
        return (left + right) / 2

    @classmethod
    def spread(cls, left: Any, left_width: Any, right: Any, right_width: Any) -> Any:
        return (left_width + right_width + abs(right - left)) / 2

    @classmethod
    def with_edges_apart(cls, distance: Any, left: Any, left_width: Any, right: Any, right_width: Any) -> Parameters:
        return left - distance, left_width, right + distance, right_width


@dataclass(frozen=True)
class _TwoSigmoids(MembershipFunction):
    """Two sigmoids, centered at ``left`` and at ``right``."""

    left: Location
    rising: Steepness
    falling: Steepness
    right: Location

    @classmethod
    def peak(cls, left: Any, rising: Any, falling: Any, right: Any) -> Any:
        return (left + right) / 2

    @classmethod
    def spread(cls, left: Any, rising: Any, falling: Any, right: Any) -> Any:
        return abs(right - left) / 2 + 0.5 / abs(rising) + 0.5 / abs(falling)

    @classmethod
    def with_edges_apart(cls, distance: Any, left: Any, rising: Any, falling: Any, right: Any) -> Parameters:
        outward = distance * namespace(left).where(cls._left_is_left(left, rising, right), 1.0, -1.0)
        return left - outward, rising, falling, right + outward

    @staticmethod
    def _left_is_left(left: Any, rising: Any, right: Any) -> Any:
        """Return whether the edge called ``left`` is the left one."""
        return rising > 0


@dataclass(frozen=True)
class SigmoidDifference(_TwoSigmoids, name="sigmoid_difference"):
    """The distance between two sigmoids: ``|sigmoid(x; left, rising) - sigmoid(x; right, falling)|``.

    Both slopes usually have the same sign (MATLAB's ``dsigmf``).

    Examples
    --------
    >>> SigmoidDifference(left=-2, rising=4, falling=4, right=2)([-2, 0, 2]).round(3).tolist()
    [0.5, 0.999, 0.5]
    """

    @staticmethod
    def log_mu(x: Any, left: Any, rising: Any, falling: Any, right: Any) -> Any:
        a, b = rising * (x - left), falling * (x - right)
        xp = namespace(a)
        # |e^a - e^b| / ((1 + e^a) (1 + e^b)), where the difference is taken relative to the greater one
        apart = -abs(a - b)
        greater = xp.maximum(a, b)
        return greater + log_or_zero(-xp.expm1(apart)) - xp.logaddexp(a, 0.0) - xp.logaddexp(b, 0.0)

    @staticmethod
    def _left_is_left(left: Any, rising: Any, right: Any) -> Any:
        return left <= right  # a difference has the same sign everywhere: it does not matter which is which

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 0.75 * width, 4.0 / width, 4.0 / width, center + 0.75 * width


@dataclass(frozen=True)
class SigmoidProduct(_TwoSigmoids, name="sigmoid_product"):
    """The product of two sigmoids: ``sigmoid(x; left, rising) * sigmoid(x; right, falling)``.

    A hill has a positive and a negative slope (MATLAB's ``psigmf``).

    Examples
    --------
    >>> SigmoidProduct(left=-2, rising=4, falling=-4, right=2)([-2, 0, 2]).round(3).tolist()
    [0.5, 0.999, 0.5]
    """

    @staticmethod
    def log_mu(x: Any, left: Any, rising: Any, falling: Any, right: Any) -> Any:
        a, b = rising * (x - left), falling * (x - right)
        xp = namespace(a)
        return -xp.logaddexp(-a, 0.0) - xp.logaddexp(-b, 0.0)

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 0.75 * width, 4.0 / width, -4.0 / width, center + 0.75 * width


_DEVIATION = math.sqrt(1 / 3 - 2 / math.pi**2) / 2
"""Standard deviation of a cosine hill of width 1."""


@dataclass(frozen=True)
class Cosine(MembershipFunction, name="cosine"):
    """One period of a cosine: ``(1 + cos(2 pi (x - center) / width)) / 2`` within half a width of the center, else 0.

    Examples
    --------
    >>> Cosine(center=0, width=4)([-2, -1, 0, 3]).round(4).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """

    center: Location
    width: Width

    @staticmethod
    def log_mu(x: Any, center: Any, width: Any) -> Any:
        xp = namespace(x)
        inside = 0.5 - abs((x - center) / width)  # share of the width up to the nearer end
        # The square of a sine: near the end, 1 + cos would cancel.
        return 2.0 * log_or_zero(xp.sin(math.pi * xp.maximum(inside, 0.0)))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width / _DEVIATION

    @classmethod
    def spread(cls, center: Any, width: Any) -> Any:
        return _DEVIATION * width


# ---------------------------------------------------------------------- other hills


@dataclass(frozen=True)
class Spike(MembershipFunction, name="spike"):
    """A sharp peak: ``exp(-10 |x - center| / width)``.

    Examples
    --------
    >>> Spike(center=0, width=10)([-1, 0, 1]).round(4).tolist()
    [0.3679, 1.0, 0.3679]
    """

    center: Location
    width: Width

    @staticmethod
    def log_mu(x: Any, center: Any, width: Any) -> Any:
        return -10.0 * abs(x - center) / width

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width * 10.0 / math.sqrt(2)

    @classmethod
    def spread(cls, center: Any, width: Any) -> Any:
        return width * math.sqrt(2) / 10.0


@dataclass(frozen=True)
class _Span(MembershipFunction):
    """A set from its first location to its second; training moves its middle and the logarithm of its extent."""

    @classmethod
    def to_free(cls, start: Any, end: Any) -> Parameters:
        return (start + end) / 2, log_width(end - start)

    @classmethod
    def from_free(cls, middle: Any, log_extent: Any) -> Parameters:
        half = namespace(log_extent).exp(log_extent) / 2
        return middle - half, middle + half


@dataclass(frozen=True)
class SemiEllipse(_Span, name="semi_ellipse"):
    """The upper half of an ellipse from ``left`` to ``right``; zero outside.

    Examples
    --------
    >>> SemiEllipse(-5, 5)([-5, -3, 0, 4, 6]).round(4).tolist()
    [0.0, 0.8, 1.0, 0.6, 0.0]
    """

    left: Location
    right: Location

    def _check(self) -> None:
        if self.left >= self.right:
            raise ParameterError(f"SemiEllipse: left < right is required, got {self.parameters}.")

    @staticmethod
    def log_mu(x: Any, left: Any, right: Any) -> Any:
        radius = (right - left) / 2
        return 0.5 * log_or_zero((x - left) / radius * ((right - x) / radius))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center + 2 * width

    @classmethod
    def peak(cls, left: Any, right: Any) -> Any:
        return (left + right) / 2

    @classmethod
    def spread(cls, left: Any, right: Any) -> Any:
        return (right - left) / 4


# ---------------------------------------------------------------------- polygons


@dataclass(frozen=True)
class _Polygon(MembershipFunction):
    """A set given by the places of its corners, from left to right."""

    vertical = True

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
    def log_mu(x: Any, left: Any, peak: Any, right: Any) -> Any:
        return log_or_zero(namespace(x).minimum(ramp(x, left, peak), ramp(-x, -right, -peak)))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        reach = math.sqrt(6) * width  # a triangle with this half base has standard deviation `width`
        return center - reach, center, center + reach

    @classmethod
    def to_free(cls, left: Any, peak: Any, right: Any) -> Parameters:
        return log_width(peak - left), peak, log_width(right - peak)

    @classmethod
    def from_free(cls, log_rise: Any, peak: Any, log_fall: Any) -> Parameters:
        xp = namespace(peak)
        return peak - xp.exp(log_rise), peak, peak + xp.exp(log_fall)

    @classmethod
    def peak(cls, left: Any, peak: Any, right: Any) -> Any:
        return peak

    @classmethod
    def spread(cls, left: Any, peak: Any, right: Any) -> Any:
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
    def log_mu(x: Any, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
        rise, fall = ramp(x, left, left_top), ramp(-x, -right, -right_top)
        xp = namespace(x)
        return log_or_zero(xp.minimum(xp.minimum(rise, fall), 1.0))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @classmethod
    def to_free(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Parameters:
        middle = (left_top + right_top) / 2
        return log_width(left_top - left), middle, log_width(right_top - left_top), log_width(right - right_top)

    @classmethod
    def from_free(cls, log_rise: Any, middle: Any, log_top: Any, log_fall: Any) -> Parameters:
        xp = namespace(middle)
        half = xp.exp(log_top) / 2
        return middle - half - xp.exp(log_rise), middle - half, middle + half, middle + half + xp.exp(log_fall)

    @classmethod
    def peak(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
        return (left_top + right_top) / 2

    @classmethod
    def spread(cls, left: Any, left_top: Any, right_top: Any, right: Any) -> Any:
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
    def log_mu(x: Any, left: Any, right: Any) -> Any:
        xp = namespace(x)
        return xp.where((x >= left) & (x <= right), 0.0, xp.where(xp.isnan(x), x, -xp.inf))

    @classmethod
    def peak(cls, left: Any, right: Any) -> Any:
        return (left + right) / 2

    @classmethod
    def spread(cls, left: Any, right: Any) -> Any:
        return (right - left) / (2 * math.sqrt(3))


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

    vertical = True

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
    def log_mu(x: Any, *parameters: Any) -> Any:
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
        steps = (log_width(after - before) for before, after in itertools.pairwise(values))
        return values[0], *steps, *degrees

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        n_points = len(free) // 2
        values = [free[0]]
        for step in free[1:n_points]:
            values.append(values[-1] + namespace(step).exp(step))
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


# ---------------------------------------------------------------------- open to one side


@dataclass(frozen=True)
class Sigmoid(MembershipFunction, name="sigmoid"):
    """A set open to one side: ``1 / (1 + exp(-slope * (x - center)))``; open to the left if the slope is negative.

    Examples
    --------
    >>> Sigmoid(center=1, slope=4)([1, 2]).round(4)
    array([0.5  , 0.982])
    """

    center: Location
    slope: Steepness

    def inverse(self, degree: Any) -> Any:
        w = np.asarray(degree, float)
        with np.errstate(divide="ignore"):
            return self.center + (np.log(w) - np.log1p(-np.minimum(w, 1.0))) / self.slope

    @property
    def side(self) -> int:
        return 1 if self.slope > 0 else -1

    @staticmethod
    def log_mu(x: Any, center: Any, slope: Any) -> Any:
        z = slope * (x - center)
        return -namespace(z).logaddexp(-z, 0.0)

    @staticmethod
    def log_mu_slopes(x: Any, center: Any, slope: Any) -> tuple[Any, ...]:
        from scipy.special import expit  # rules are read and inferred without SciPy

        away = x - center
        rate = expit(-slope * away)
        return -slope * rate, away * rate

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return a set that opens away from zero, with ``center`` well inside it (at a membership of 0.88)."""
        slope = np.where(np.asarray(center) >= 0, 1.0, -1.0) / width
        return center - 2.0 / slope, slope

    @classmethod
    def peak(cls, center: Any, slope: Any) -> Any:
        return center + 2.0 / slope

    @classmethod
    def spread(cls, center: Any, slope: Any) -> Any:
        return 1.0 / abs(slope)


@dataclass(frozen=True)
class _Directed(MembershipFunction):
    """A set that rises from its first location to its second, in either direction; training keeps the direction."""

    def _check(self) -> None:
        first, second = self.fields()
        if getattr(self, first) == getattr(self, second):
            raise ParameterError(
                f"{type(self).__name__}: {first} and {second} must differ, got {getattr(self, first)!r} twice. "
                "For a vertical edge use Binary."
            )

    @property
    def side(self) -> int:
        return 1 if self.parameters[1] > self.parameters[0] else -1

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return a set that opens away from zero and just reaches 1 at ``center``."""
        side = np.where(np.asarray(center) >= 0, 1.0, -1.0)
        return center - 2.0 * side * width, center

    @classmethod
    def to_free(cls, first: Any, second: Any) -> Parameters:
        xp = namespace(second)
        return second, xp.log(abs(second - first)), xp.sign(second - first)

    @classmethod
    def from_free(cls, second: Any, log_extent: Any, side: Any) -> Parameters:
        xp = namespace(second)
        return second - xp.where(stop_gradient(side) < 0, -1.0, 1.0) * xp.exp(log_extent), second

    @classmethod
    def peak(cls, first: Any, second: Any) -> Any:
        return second

    @classmethod
    def spread(cls, first: Any, second: Any) -> Any:
        return abs(second - first) / 2.0


@dataclass(frozen=True)
class Ramp(_Directed, name="ramp"):
    """A straight edge: 0 up to ``start``, 1 from ``end`` on. It falls if ``end`` is less than ``start``.

    Examples
    --------
    >>> Ramp(0, 2)([-1, 1, 3]).tolist()
    [0.0, 0.5, 1.0]
    >>> Ramp(2, 0)([-1, 1, 3]).tolist()
    [1.0, 0.5, 0.0]
    """

    start: Location
    end: Location

    @staticmethod
    def log_mu(x: Any, start: Any, end: Any) -> Any:
        return log_or_zero(namespace(x).minimum(ramp(x, start, end), 1.0))

    def inverse(self, degree: Any) -> Any:
        return self.start + (self.end - self.start) * np.asarray(degree, float)


@dataclass(frozen=True)
class Concave(_Directed, name="concave"):
    """A curve that bends inward: 1 from ``end`` on, and 1/2 at ``inflection``; never quite 0 on the other side.

    With ``d`` the distance from ``inflection`` to ``end``, and ``u`` that from ``x`` to ``end``, it is ``d / (d + u)``.

    Examples
    --------
    >>> Concave(inflection=0, end=1)([-1, 0, 2]).round(4).tolist()
    [0.3333, 0.5, 1.0]
    """

    inflection: Location
    end: Location

    @staticmethod
    def log_mu(x: Any, inflection: Any, end: Any) -> Any:
        xp = namespace(x)
        return -xp.log1p(xp.maximum((end - x) / (end - inflection), 0.0))

    def inverse(self, degree: Any) -> Any:
        with np.errstate(divide="ignore"):
            return self.end - (self.end - self.inflection) * (1.0 / np.asarray(degree, float) - 1.0)

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        side = np.where(np.asarray(center) >= 0, 1.0, -1.0)
        return center - side * width, center

    @classmethod
    def spread(cls, inflection: Any, end: Any) -> Any:
        return abs(end - inflection)


@dataclass(frozen=True)
class Arc(_Directed, name="arc"):
    """A quarter of an ellipse: 0 up to ``start``, steep there, 1 from ``end`` on.

    Examples
    --------
    >>> Arc(0, 1)([-1, 0.4, 2]).round(4).tolist()
    [0.0, 0.8, 1.0]
    """

    start: Location
    end: Location

    @staticmethod
    def log_mu(x: Any, start: Any, end: Any) -> Any:
        xp = namespace(x)
        risen = ramp(x, start, end)
        inside = xp.where(risen >= 1, 1.0, risen)
        # sqrt(1 - (1 - t)**2) = sqrt(t (2 - t)), without cancellation near the start
        return 0.5 * (log_or_zero(inside) + xp.log(2.0 - xp.where(inside <= 0, 1.0, inside)))

    def inverse(self, degree: Any) -> Any:
        rest = np.sqrt(np.maximum(1.0 - np.square(np.asarray(degree, float)), 0.0))
        return self.end - (self.end - self.start) * rest


@dataclass(frozen=True)
class _Smooth(_Span):
    """An edge from ``start`` to ``end`` made of two parabolas."""

    vertical = True

    start: Location
    end: Location

    def _check(self) -> None:
        if self.start > self.end:
            raise ParameterError(
                f"{type(self).__name__}: start <= end is required, got {self.parameters}. SShape rises from start to "
                "end, and ZShape falls."
            )

    @classmethod
    def spread(cls, start: Any, end: Any) -> Any:
        return (end - start) / 2.0


def log_smooth(risen: Any) -> Any:
    """Return the log-membership of an edge made of two parabolas, ``risen`` on the way from 0 to 1."""
    xp = namespace(risen)
    low = xp.minimum(risen, 0.5)
    rest = xp.clip(1.0 - risen, 0.0, 0.5)
    return xp.where(risen <= 0.5, math.log(2.0) + 2.0 * log_or_zero(low), xp.log1p(-2.0 * xp.square(rest)))


def _risen(degree: Any) -> Any:
    """Invert `log_smooth`: return how far along its way an edge has a degree."""
    w = np.clip(np.asarray(degree, float), 0.0, 1.0)
    return np.where(w <= 0.5, np.sqrt(w / 2.0), 1.0 - np.sqrt((1.0 - w) / 2.0))


@dataclass(frozen=True)
class SShape(_Smooth, name="s_shape"):
    """A smooth edge that rises: 0 up to ``start``, 1/2 in the middle, 1 from ``end`` on (MATLAB's ``smf``).

    Examples
    --------
    >>> SShape(0, 4)([-1, 1, 2, 3, 5]).round(4).tolist()
    [0.0, 0.125, 0.5, 0.875, 1.0]
    """

    side = 1

    @staticmethod
    def log_mu(x: Any, start: Any, end: Any) -> Any:
        return log_smooth(ramp(x, start, end))

    def inverse(self, degree: Any) -> Any:
        return self.start + (self.end - self.start) * _risen(degree)

    @classmethod
    def peak(cls, start: Any, end: Any) -> Any:
        return end


@dataclass(frozen=True)
class ZShape(_Smooth, name="z_shape"):
    """A smooth edge that falls: 1 up to ``start``, 1/2 in the middle, 0 from ``end`` on (MATLAB's ``zmf``).

    Examples
    --------
    >>> ZShape(0, 4)([-1, 1, 2, 3, 5]).round(4).tolist()
    [1.0, 0.875, 0.5, 0.125, 0.0]
    """

    side = -1

    @staticmethod
    def log_mu(x: Any, start: Any, end: Any) -> Any:
        return log_smooth(ramp(-x, -end, -start))

    def inverse(self, degree: Any) -> Any:
        return self.end - (self.end - self.start) * _risen(degree)


# ---------------------------------------------------------------------- vertical edges, points, and what is not there


@dataclass(frozen=True)
class Binary(MembershipFunction, name="binary"):
    """A vertical edge: 1 from ``start`` on to the right, or to the left if ``direction`` is negative; else 0.

    Training leaves it as it is.

    Examples
    --------
    >>> Binary(2, 1)([1, 2, 3]).tolist(), Binary(2, -1)([1, 2, 3]).tolist()
    ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    """

    trainable = False
    vertical = True

    start: Location
    direction: Side

    @property
    def side(self) -> int:
        return 1 if self.direction > 0 else -1

    @staticmethod
    def log_mu(x: Any, start: Any, direction: Any) -> Any:
        xp = namespace(x)
        outside = xp.where(direction > 0, x < start, x > start)
        return xp.where(outside, -xp.inf, xp.where(xp.isnan(x), x, 0.0))

    @classmethod
    def spread(cls, start: Any, direction: Any) -> Any:
        return 0.0 * start


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
    def log_mu(x: Any, value: Any) -> Any:
        xp = namespace(x)
        return xp.where(x == value, 0.0, xp.where(xp.isnan(x), x, -xp.inf))

    def inverse(self, degree: Any) -> Any:
        return np.full(np.shape(degree), self.value)  # whatever the degree

    @classmethod
    def spread(cls, value: Any) -> Any:
        return 0.0 * value


@dataclass(frozen=True)
class Missing(MembershipFunction, name="missing"):
    """What is not there: 1 for a missing value, 0 for every number. Training leaves it as it is.

    In rules, ``lactate is missing`` means this set, unless the variable has another term of that name.

    Examples
    --------
    >>> Missing()([0.0, float("nan")]).tolist()
    [0.0, 1.0]
    """

    trainable = False
    vertical = True

    @staticmethod
    def log_mu(x: Any) -> Any:
        xp = namespace(x)
        return xp.where(xp.isnan(x), 0.0, -xp.inf)

    @classmethod
    def peak(cls) -> Any:
        return 0.0  # no number is typical

    @classmethod
    def spread(cls) -> Any:
        return 0.0
