"""Where the antennas are, and how a ray gets from one of them through the ground surface to a buried point.

The radar looks straight down. ``x`` is the position down-track (scans), ``y`` cross-track (channels), both in meters
from the alarm at the middle of the grid; depths are meters below the mean surface, heights meters above it.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["GRID", "SPEED_OF_LIGHT", "Grid", "Ray", "refracted_ray"]

SPEED_OF_LIGHT = 299_792_458.0
"""In air, m/s."""

# Enough for a path exact to 1e-12 m, for every offset on the grid, antennas from 0.12 m up and points down to 2.5 m.
_NEWTON_STEPS = 5


@dataclasses.dataclass(frozen=True)
class Grid:
    """Sampling of a cube of radar data: channels across the track, scans along it, samples in time.

    Parameters
    ----------
    n_channels, n_scans, n_samples : int
        Shape of a cube.
    channel_spacing, scan_spacing : float
        Meters between neighbors.
    sample_spacing : float
        Seconds between samples.
    start : float
        Seconds from the emission of the pulse to the first sample.

    Examples
    --------
    >>> GRID.shape
    (24, 60, 256)
    >>> GRID.x[[0, -1]], GRID.y[[0, -1]]  # meters from the alarm
    (array([-1.475,  1.475]), array([-0.575,  0.575]))
    """

    n_channels: int = 24
    n_scans: int = 60
    n_samples: int = 256
    channel_spacing: float = 0.05
    scan_spacing: float = 0.05
    sample_spacing: float = 0.05e-9
    start: float = 0.5e-9

    @property
    def shape(self) -> tuple[int, int, int]:
        """``(n_channels, n_scans, n_samples)``."""
        return (self.n_channels, self.n_scans, self.n_samples)

    @property
    def x(self) -> Array:
        """Down-track positions of the scans in meters, shape (n_scans,); 0 is the alarm."""
        return (np.arange(self.n_scans) - (self.n_scans - 1) / 2) * self.scan_spacing

    @property
    def y(self) -> Array:
        """Cross-track positions of the channels in meters, shape (n_channels,); 0 is the alarm."""
        return (np.arange(self.n_channels) - (self.n_channels - 1) / 2) * self.channel_spacing

    @property
    def times(self) -> Array:
        """Seconds after emission of every sample, shape (n_samples,)."""
        return self.start + np.arange(self.n_samples) * self.sample_spacing


GRID = Grid()
"""The array that the simulated alarms come from: 24 channels and 60 scans 5 cm apart, 256 samples of 0.05 ns."""


class Ray(NamedTuple):
    """The path from an antenna to a buried point; every field has the shape of the offsets.

    Attributes
    ----------
    air, ground : arrays
        Lengths of the two legs in meters.
    cos_air, cos_ground : arrays
        Cosines of the angles between the legs and the vertical.
    """

    air: Array
    ground: Array
    cos_air: Array
    cos_ground: Array


def refracted_ray(offset: Array, depth: Array | float, height: float, index: float) -> Ray:
    """Find the ray that obeys Snell's law at the flat surface.

    With ``q`` the tangent of the angle in air, the horizontal distance that a ray covers is
    ``height q + depth q / sqrt(n² + (n² - 1) q²)``, ``n`` being the refractive index. It is increasing and concave in
    ``q``, so Newton's method from the vertical ray (q = 0) approaches the solution from below without ever passing it.

    Parameters
    ----------
    offset : array
        Horizontal distances between antenna and point in meters, not negative.
    depth : array that broadcasts with ``offset``, or float
    height : float
        Of the antenna, more than 0.
    index : float
        Refractive index of the soil, at least 1.

    Examples
    --------
    >>> ray = refracted_ray(np.array([0.0, 0.3]), depth=0.1, height=0.2, index=3.0)
    >>> ray.air + 3.0 * ray.ground  # optical path: one-way travel time times the speed of light
    array([0.5      , 0.6491531])
    """
    bend = index**2 - 1
    tangent = offset / (height + depth / index)
    for _ in range(_NEWTON_STEPS):
        root = np.sqrt(index**2 + bend * tangent**2)
        covered = height * tangent + depth * tangent / root
        tangent = tangent + (offset - covered) / (height + depth * index**2 / root**3)
    cos_air = 1 / np.sqrt(1 + tangent**2)
    cos_ground = np.sqrt(index**2 + bend * tangent**2) * cos_air / index
    return Ray(height / cos_air, depth / cos_ground, cos_air, cos_ground)
