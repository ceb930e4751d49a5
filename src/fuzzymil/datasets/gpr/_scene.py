"""The scene around a target: soil, surface, antenna path, clutter and layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter

from fuzzymil._utils.arrays import Array
from fuzzymil.datasets.gpr._echoes import Body, Ground, interface_echoes
from fuzzymil.datasets.gpr._objects import draw_object
from fuzzymil.datasets.gpr.conditions import Conditions, Counts
from fuzzymil.datasets.gpr.geometry import Grid

_DECOYS = ("rock", "scrap metal", "root", "void")


def draw_ground(rng: np.random.RandomState, conditions: Conditions, grid: Grid) -> Ground:
    """Draw the soil, its surface and the path of the antennas."""
    c = conditions
    traces, spacing = (grid.n_channels, grid.n_scans), (grid.channel_spacing, grid.scan_spacing)
    return Ground(
        permittivity=rng.uniform(*c.permittivity),
        attenuation=rng.uniform(*c.attenuation),
        height=rng.uniform(*c.height),
        hollows=_smooth(rng, traces, spacing, c.roughness_length, rng.uniform(*c.roughness)),
        lift=_smooth(rng, traces[1:], spacing[1:], c.jitter_length, c.jitter),
        brightness=1 + _smooth(rng, traces, spacing, c.roughness_length, c.brightness),
    )


def draw_clutter(rng: np.random.RandomState, conditions: Conditions, ground: Ground, grid: Grid) -> list[Body]:
    """Draw weak scatterers in the whole volume, and decoys near the center."""
    c = conditions
    n = _count(rng, c.n_scatterers)
    x, y = rng.uniform(grid.x[0], grid.x[-1], size=n), rng.uniform(grid.y[0], grid.y[-1], size=n)
    depth, size = rng.uniform(*c.scatterer_depth, size=n), rng.uniform(*c.scatterer_size, size=n)
    sign = rng.choice([-1.0, 1.0], size=n)
    columns = {"x": x, "y": y, "depth": depth, "reflection": sign, "size": size}
    bodies = [Body(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    for _ in range(_count(rng, c.n_decoys)):
        kind = _DECOYS[rng.randint(len(_DECOYS))]
        place = rng.uniform(-c.decoy_distance, c.decoy_distance, size=2)
        decoy, _ = draw_object(kind, rng, c, (place[0], place[1]), ground.permittivity)
        bodies += scaled(decoy, rng.uniform(*c.decoy_gain))
    return bodies


def draw_layers(rng: np.random.RandomState, conditions: Conditions, ground: Ground, grid: Grid) -> tuple[Array, Array]:
    """Draw wavy interfaces through the whole volume.

    Returns the times and amplitudes of their echoes, each of shape (n_layers, n_channels, n_scans).
    """
    c = conditions
    n = _count(rng, c.n_layers)
    traces, spacing = (grid.n_channels, grid.n_scans), (grid.channel_spacing, grid.scan_spacing)
    depths = [
        rng.uniform(*c.layer_depth) + _smooth(rng, traces, spacing, c.layer_length, c.layer_relief) for _ in range(n)
    ]
    reflections = rng.uniform(*c.layer_reflection, size=n) * rng.choice([-1.0, 1.0], size=n)
    return interface_echoes(np.array(depths).reshape(n, *traces), reflections, ground)


def scaled(bodies: Sequence[Body], gain: float) -> list[Body]:
    """Multiply the echoes of bodies by ``gain``."""
    return [dataclasses.replace(body, reflection=gain * body.reflection) for body in bodies]


def _count(rng: np.random.RandomState, bounds: Counts) -> int:
    return int(rng.randint(bounds[0], bounds[1] + 1))


def _smooth(
    rng: np.random.RandomState, shape: Sequence[int], spacing: Sequence[float], length: float, deviation: float
) -> Array:
    """Draw a Gaussian random field with mean 0, the given deviation and Gaussian correlation of the given length."""
    # The correlation of noise smoothed by a Gaussian is a Gaussian wider by a factor of sqrt(2).
    field = gaussian_filter(rng.normal(size=shape), [length / step / np.sqrt(2) for step in spacing])
    return np.asarray(deviation * (field - field.mean()) / field.std())
