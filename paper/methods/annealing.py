"""Temperatures that fall: what methods with annealing share."""

from __future__ import annotations

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.estimators.parameters import check_real


def cooling(max_temperature: float, min_temperature: float, n_temperatures: int) -> Array:
    """Return temperatures (n_temperatures,) that fall geometrically from the maximum to the minimum."""
    check_real("max_temperature", max_temperature, low=float(min_temperature))
    return np.geomspace(max_temperature, min_temperature, n_temperatures)
