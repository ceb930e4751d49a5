"""The Gaussian family, the paper's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.membership._base import Location, MembershipFunction, Parameters, Width

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
    def around(center: Any, width: Any) -> Parameters:
        return center, width
