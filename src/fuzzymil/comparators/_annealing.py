"""Falling temperatures, for methods that assign labels by annealing."""

from __future__ import annotations

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators._base import above_zero, checks
from fuzzymil.estimators.parameters import check_real, integer

CHECKS = checks(min_temperature=above_zero, n_temperatures=integer(1))


def cooling(max_temperature: float, min_temperature: float, n_temperatures: int) -> Array:
    """Return temperatures (n_temperatures,) that fall geometrically from the maximum to the minimum.

    Examples
    --------
    >>> cooling(8.0, 1.0, 4).round(6).tolist()
    [8.0, 4.0, 2.0, 1.0]
    """
    check_real("max_temperature", max_temperature, low=float(min_temperature))
    return np.geomspace(max_temperature, min_temperature, n_temperatures)
