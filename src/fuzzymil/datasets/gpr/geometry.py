"""Positions of the antennas, and rays from an antenna through the ground surface to a buried point.

The radar looks straight down. ``x`` is the position down-track (scans) and ``y`` cross-track (channels), in meters from
the alarm at the center of the grid; depths are in meters below the mean surface, heights in meters above it.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["GRID", "SPEED_OF_LIGHT", "Grid", "Ray", "refracted_ray"]

SPEED_OF_LIGHT = 299_792_458.0
"""In air, m/s."""

# Exact to 1e-12 m for all offsets on the grid, antennas at least 0.12 m high and points up to 2.5 m deep.
_NEWTON_STEPS = 5


@dataclasses.dataclass(frozen=True)
class Grid:
    """Sampling of a radar cube: channels across the track, scans along it, samples in time.

    Parameters
    ----------
    n_channels, n_scans, n_samples : int
        Shape of a cube.
    channel_spacing, scan_spacing : float
        Distance between neighbors in meters.
    sample_spacing : float
        Time between samples in seconds.
    start : float
        Time from the emission of the pulse to the first sample, in seconds.

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
        """Times of the samples in seconds after emission, shape (n_samples,)."""
        return self.start + np.arange(self.n_samples) * self.sample_spacing


GRID = Grid()
"""The grid of the simulated alarms: 24 channels and 60 scans 5 cm apart, 256 samples 0.05 ns apart."""


class Ray(NamedTuple):
    """The path from an antenna to a buried point; all fields have the shape of the offsets.

    Attributes
    ----------
    air, ground : arrays
        Lengths of the segments in air and in soil, in meters.
    cos_air, cos_ground : arrays
        Cosines of the angles between the segments and the vertical.
    """

    air: Array
    ground: Array
    cos_air: Array
    cos_ground: Array


def refracted_ray(offset: Array, depth: Array | float, height: float, index: float) -> Ray:
    """Compute the ray that satisfies Snell's law at a flat surface; lengths are in meters.

    For the tangent ``q`` of the angle in air and the refractive index ``n`` (at least 1) of the soil, a ray covers the
    horizontal distance ``height q + depth q / sqrt(n² + (n² - 1) q²)`` between antenna and point, ``offset``. It is
    increasing and concave in ``q``, so Newton's method, started below the solution, approaches it from below.

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
