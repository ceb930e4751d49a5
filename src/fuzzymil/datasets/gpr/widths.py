"""How wide a signature is along the track."""

from __future__ import annotations

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["signature_width"]


def signature_width(energy: Array, floor: Array, spacing: float) -> Array:
    """Measure the width over which energy above the floor is spread.

    It is the participation ratio (Σe)² / Σe² of the energy e above the floor, times the spacing: n equal
    places have the width of n spacings, and weak tails hardly count. Where nothing rises above the floor the width is
    0.

    Parameters
    ----------
    energy : array of shape (..., n_places)
        Along the track.
    floor : array of shape (...)
        Energy of the background.
    spacing : float
        Distance of two places.

    Returns
    -------
    array of shape (...)
        In the unit of ``spacing``.

    Examples
    --------
    >>> signature_width(np.array([1.0, 3.0, 3.0, 1.0]), np.array(1.0), 0.05)
    array(0.1)
    """
    above = np.where(energy > floor[..., None], energy - floor[..., None], 0.0)
    squares = np.square(above).sum(axis=-1)
    seen = squares > 0
    return np.where(seen, spacing * np.square(above.sum(axis=-1)) / np.where(seen, squares, 1.0), 0.0)
