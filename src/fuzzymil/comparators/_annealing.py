"""Temperatures that fall, for methods that make up their mind slowly."""

from __future__ import annotations

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators._base import check_integer, check_real

__all__ = ["cooling"]


def cooling(max_temperature: float, min_temperature: float, n_temperatures: int) -> Array:
    """Return temperatures (n_temperatures,) from the greatest to the least, each the same fraction of the last.

    Examples
    --------
    >>> cooling(8.0, 1.0, 4).round(6).tolist()
    [8.0, 4.0, 2.0, 1.0]
    """
    check_real("min_temperature", min_temperature, low=0.0, open_low=True)
    check_real("max_temperature", max_temperature, low=float(min_temperature))
    check_integer("n_temperatures", n_temperatures, 1)
    return np.geomspace(max_temperature, min_temperature, n_temperatures)
