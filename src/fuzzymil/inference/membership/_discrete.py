"""Sets given by points, joined by straight lines."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership._base import MembershipFunction, Parameters, held, log_or_zero, log_width

if TYPE_CHECKING:
    import jax


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
        degrees = map(held, free[n_points:])
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
