"""Families that are open to one side: straight, curved and vertical edges."""

from __future__ import annotations

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
    Side,
    Steepness,
    log_or_zero,
    log_width,
    ramp,
)

if TYPE_CHECKING:
    import jax


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

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        w = np.asarray(degree, float)
        with np.errstate(divide="ignore"):
            return np.asarray(self.center + (np.log(w) - np.log1p(-np.minimum(w, 1.0))) / self.slope)

    @property
    def side(self) -> int:
        """1 for a set that is open to the right, -1 for one that is open to the left."""
        return 1 if self.slope > 0 else -1

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        center, slope = parameters
        z = slope * (x - center)
        return -namespace(z).logaddexp(-z, 0.0)

    @staticmethod
    def log_mu_slopes(x: Any, *parameters: Any) -> tuple[Any, ...]:
        from scipy.special import expit  # rules are read and inferred without SciPy

        center, slope = parameters
        away = x - center
        rate = expit(-slope * away)
        return -slope * rate, away * rate

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return a set that opens away from zero, with ``center`` well inside it (at a membership of 0.88)."""
        slope = np.where(np.asarray(center) >= 0, 1.0, -1.0) / width
        return center - 2.0 / slope, slope

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        center, slope = parameters
        return center + 2.0 / slope

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return 1.0 / abs(parameters[1])


# ---------------------------------------------------------------------- in the direction from the first to the second


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
        """1 for a set that is open to the right, -1 for one that is open to the left."""
        return 1 if self.parameters[1] > self.parameters[0] else -1

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return a set that opens away from zero and just reaches 1 at ``center``."""
        side = np.where(np.asarray(center) >= 0, 1.0, -1.0)
        return center - 2.0 * side * width, center

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        first, second = parameters
        xp = namespace(second)
        return second, xp.log(abs(second - first)), xp.sign(second - first)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        second, log_extent, side = free
        xp = namespace(second)
        return second - xp.where(stop_gradient(side) < 0, -1.0, 1.0) * xp.exp(log_extent), second

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return parameters[1]

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return abs(parameters[1] - parameters[0]) / 2.0


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        return log_or_zero(namespace(x).minimum(ramp(x, *parameters), 1.0))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        return np.asarray(self.start + (self.end - self.start) * np.asarray(degree, float))


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        inflection, end = parameters
        xp = namespace(x)
        return -xp.log1p(xp.maximum((end - x) / (end - inflection), 0.0))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.end - (self.end - self.inflection) * (1.0 / np.asarray(degree, float) - 1.0))

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        side = np.where(np.asarray(center) >= 0, 1.0, -1.0)
        return center - side * width, center

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return abs(parameters[1] - parameters[0])


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
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        start, end = parameters
        xp = namespace(x)
        risen = ramp(x, start, end)
        inside = xp.where(risen >= 1, 1.0, risen)
        # sqrt(1 - (1 - t)**2) = sqrt(t (2 - t)), without cancellation near the start
        return 0.5 * (log_or_zero(inside) + xp.log(2.0 - xp.where(inside <= 0, 1.0, inside)))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        rest = np.sqrt(np.maximum(1.0 - np.square(np.asarray(degree, float)), 0.0))
        return np.asarray(self.end - (self.end - self.start) * rest)


# ---------------------------------------------------------------------- always to the right, always to the left


@dataclass(frozen=True)
class _Smooth(MembershipFunction):
    """An edge from ``start`` to ``end`` made of two parabolas."""

    start: Location
    end: Location

    def _check(self) -> None:
        if self.start > self.end:
            raise ParameterError(
                f"{type(self).__name__}: start <= end is required, got {self.parameters}. SShape rises from start to "
                "end, and ZShape falls."
            )

    @classmethod
    def to_free(cls, *parameters: Any) -> Parameters:
        start, end = parameters
        return (start + end) / 2, log_width(end - start)

    @classmethod
    def from_free(cls, *free: Any) -> Parameters:
        middle, log_extent = free
        half = namespace(log_extent).exp(log_extent) / 2
        return middle - half, middle + half

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return (parameters[1] - parameters[0]) / 2.0

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        return namespace(parameters[0]).isfinite(cls.spread(*parameters))


def log_smooth(risen: jax.Array) -> jax.Array:
    """Return the log-membership of an edge made of two parabolas, ``risen`` on the way from 0 to 1."""
    xp = namespace(risen)
    low = xp.minimum(risen, 0.5)
    rest = xp.clip(1.0 - risen, 0.0, 0.5)
    return xp.where(risen <= 0.5, math.log(2.0) + 2.0 * log_or_zero(low), xp.log1p(-2.0 * xp.square(rest)))


def _risen(degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Invert `log_smooth`: return how far along its way an edge has a degree."""
    w = np.clip(np.asarray(degree, float), 0.0, 1.0)
    return np.asarray(np.where(w <= 0.5, np.sqrt(w / 2.0), 1.0 - np.sqrt((1.0 - w) / 2.0)))


@dataclass(frozen=True)
class SShape(_Smooth, name="s_shape"):
    """A smooth edge that rises: 0 up to ``start``, 1/2 in the middle, 1 from ``end`` on (MATLAB's ``smf``).

    Examples
    --------
    >>> SShape(0, 4)([-1, 1, 2, 3, 5]).round(4).tolist()
    [0.0, 0.125, 0.5, 0.875, 1.0]
    """

    @property
    def side(self) -> int:
        """1 for a set that is open to the right, -1 for one that is open to the left."""
        return 1

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        return log_smooth(ramp(x, *parameters))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        return np.asarray(self.start + (self.end - self.start) * _risen(degree))

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        return parameters[1]


@dataclass(frozen=True)
class ZShape(_Smooth, name="z_shape"):
    """A smooth edge that falls: 1 up to ``start``, 1/2 in the middle, 0 from ``end`` on (MATLAB's ``zmf``).

    Examples
    --------
    >>> ZShape(0, 4)([-1, 1, 2, 3, 5]).round(4).tolist()
    [1.0, 0.875, 0.5, 0.125, 0.0]
    """

    @property
    def side(self) -> int:
        """1 for a set that is open to the right, -1 for one that is open to the left."""
        return -1

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        start, end = parameters
        return log_smooth(ramp(-x, -end, -start))

    def inverse(self, degree: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value at which the membership is ``degree``."""
        return np.asarray(self.end - (self.end - self.start) * _risen(degree))


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

    start: Location
    direction: Side

    @property
    def side(self) -> int:
        """1 for a set that is open to the right, -1 for one that is open to the left."""
        return 1 if self.direction > 0 else -1

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        start, direction = parameters
        xp = namespace(x)
        outside = xp.where(direction > 0, x < start, x > start)
        return xp.where(outside, -xp.inf, xp.where(xp.isnan(x), x, 0.0))

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return 0.0 * parameters[0]

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        return namespace(parameters[0]).isfinite(parameters[0])
