"""The sigmoid family: sets that are open to one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.membership._base import Location, MembershipFunction, Parameters, Steepness

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
