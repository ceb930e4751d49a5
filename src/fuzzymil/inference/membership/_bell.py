"""The generalized bell family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.membership._base import Location, MembershipFunction, Parameters, Shape, Width

if TYPE_CHECKING:
    import jax

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
    def around(center: Any, width: Any) -> Parameters:
        return center, width * _HALF_WIDTH, np.full(np.shape(center), 2.0)

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        return parameters[1] / _HALF_WIDTH
