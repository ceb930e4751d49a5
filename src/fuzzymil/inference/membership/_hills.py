"""Families that rise and fall again: curved edges on both sides of a top."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership._base import (
    Location,
    MembershipFunction,
    Parameters,
    Shape,
    Steepness,
    Width,
    log_or_zero,
    log_width,
    ramp,
)
from fuzzymil.inference.membership._edges import log_smooth

if TYPE_CHECKING:
    import jax


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width = parameters
        z = (x - center) / width
        return -0.5 * namespace(z).square(z)

    @staticmethod
    def log_mu_slopes(x: Any, *parameters: Any) -> tuple[Any, ...]:
        center, width = parameters
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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width, slope = parameters
        z = abs(x - center) / width
        xp = namespace(z)
        at_center = z == 0  # log 0 has no derivative there; the bell has one, 0
        log_z = xp.log(xp.where(at_center, 1.0, z))
        return xp.where(at_center, 0.0, -xp.logaddexp(2 * slope * log_z, 0.0))

    @staticmethod
    def log_mu_slopes(x: Any, *parameters: Any) -> tuple[Any, ...]:
        from scipy.special import expit  # rules are read and inferred without SciPy

        center, width, slope = parameters
        away = x - center
        at_center = away == 0
        log_z = np.log(np.where(at_center, 1.0, np.abs(away) / width))
        rate = np.where(at_center, 0.0, expit(2 * slope * log_z))
        return 2 * slope * rate / np.where(at_center, 1.0, away), 2 * slope * rate / width, -2 * log_z * rate

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width * _HALF_WIDTH, np.full(np.shape(center), 2.0)

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return parameters[1] / _HALF_WIDTH


@dataclass(frozen=True)
class PiShape(MembershipFunction, name="pi_shape"):
    """A smooth hill: an `SShape` from ``left`` to ``left_top`` times a `ZShape` from ``right_top`` to ``right``.

    Examples
    --------
    >>> PiShape(0, 4, 5, 9)([0, 2, 4.5, 7, 9]).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, left_top, right_top, right = parameters
        return log_smooth(ramp(x, left, left_top)) + log_smooth(ramp(-x, -right, -right_top))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center - width, center + width, center + 2 * width

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, left_top, right_top, right = parameters
        return log_width(left_top - left), left_top, right_top, log_width(right - right_top)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        log_rise, left_top, right_top, log_fall = free
        xp = namespace(log_rise)
        return left_top - xp.exp(log_rise), left_top, right_top, right_top + xp.exp(log_fall)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[1] + parameters[2]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        left, left_top, right_top, right = parameters
        return (right + abs(right_top - left_top) - left) / 6

    @classmethod
    def with_edges_apart(cls, distance: Any, *parameters: Any) -> Parameters:
        left, left_top, right_top, right = parameters
        return left - distance, left_top - distance, right_top + distance, right + distance

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        return namespace(parameters[0]).isfinite(cls.spread(*parameters))


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, left_width, right, right_width = parameters
        xp = namespace(x)
        below, above = xp.minimum(x - left, 0.0) / left_width, xp.maximum(x - right, 0.0) / right_width
        return -0.5 * (xp.square(below) + xp.square(above))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width, center, width

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[0] + parameters[2]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        left, left_width, right, right_width = parameters
        return (left_width + right_width + abs(right - left)) / 2

    @classmethod
    def with_edges_apart(cls, distance: Any, *parameters: Any) -> Parameters:
        left, left_width, right, right_width = parameters
        return left - distance, left_width, right + distance, right_width


@dataclass(frozen=True)
class _TwoSigmoids(MembershipFunction):
    """Two sigmoids, centered at ``left`` and at ``right``."""

    left: Location
    rising: Steepness
    falling: Steepness
    right: Location

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[0] + parameters[3]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        left, rising, falling, right = parameters
        return abs(right - left) / 2 + 0.5 / abs(rising) + 0.5 / abs(falling)

    @classmethod
    def with_edges_apart(cls, distance: Any, *parameters: Any) -> Parameters:
        left, rising, falling, right = parameters
        outward = distance * cls._direction(*parameters)
        return left - outward, rising, falling, right + outward

    @classmethod
    def _direction(cls, *parameters: Any) -> Any:
        """Return 1 where ``left`` is the left edge, -1 where it is the right one."""
        return namespace(parameters[1]).where(parameters[1] > 0, 1.0, -1.0)


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, rising, falling, right = parameters
        a, b = rising * (x - left), falling * (x - right)
        xp = namespace(a)
        # |e^a - e^b| / ((1 + e^a) (1 + e^b)), where the difference is taken relative to the greater one
        apart = -abs(a - b)
        greater = xp.maximum(a, b)
        return greater + log_or_zero(-xp.expm1(apart)) - xp.logaddexp(a, 0.0) - xp.logaddexp(b, 0.0)

    @classmethod
    def _direction(cls, *parameters: Any) -> Any:
        left, _, _, right = parameters  # a difference has the same sign everywhere: it does not matter which is which
        return namespace(left).where(left <= right, 1.0, -1.0)

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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, rising, falling, right = parameters
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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width = parameters
        xp = namespace(x)
        inside = 0.5 - abs((x - center) / width)  # share of the width up to the nearer end
        # The square of a sine: near the end, 1 + cos would cancel.
        return 2.0 * log_or_zero(xp.sin(math.pi * xp.maximum(inside, 0.0)))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width / _DEVIATION

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return _DEVIATION * parameters[1]


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, width = parameters
        return -10.0 * abs(x - center) / width

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center, width * 10.0 / math.sqrt(2)

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return parameters[1] * math.sqrt(2) / 10.0


@dataclass(frozen=True)
class SemiEllipse(MembershipFunction, name="semi_ellipse"):
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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        left, right = parameters
        radius = (right - left) / 2
        return 0.5 * log_or_zero((x - left) / radius * ((right - x) / radius))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        return center - 2 * width, center + 2 * width

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        left, right = parameters
        return (left + right) / 2, namespace(right).log(right - left)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        middle, log_extent = free
        half = namespace(log_extent).exp(log_extent) / 2
        return middle - half, middle + half

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return (parameters[0] + parameters[1]) / 2

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return (parameters[1] - parameters[0]) / 4
