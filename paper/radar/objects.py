"""Objects in the soil: mines and six kinds of clutter, each made of a few reflecting bodies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy.ndimage import gaussian_filter

from fuzzymil._utils.arrays import Array
from paper.radar.conditions import Conditions, Counts
from paper.radar.cubes import Grid
from paper.radar.echoes import Body, Ground, interface_echoes, interface_reflection

Facts = dict[str, float]
Place = tuple[float, float]
Draw = Callable[[np.random.RandomState, Conditions, Place, float], tuple[list[Body], Facts]]

_METAL = -1.0
_RIM_POINTS = 12  # less than half a wavelength apart in any soil, even on the largest mine


def draw_object(
    kind: str, rng: np.random.RandomState, conditions: Conditions, place: Place, soil: float
) -> tuple[list[Body], Facts]:
    """Draw a random object of one of `KINDS`: its bodies, and facts about it (lengths in meters).

    ``place`` is its position down-track and cross-track, in meters from the center; ``soil`` the relative permittivity
    around it.
    """
    return _DRAWS[kind](rng, conditions, place, soil)


def _high_metal_mine(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw a metal disc: the domed top, its rim, and a second reflection between mine and surface."""
    reflection = rng.uniform(*c.metal_reflection)
    bodies, facts = _domed_disc(rng, c, place, reflection)
    depth = facts["depth"]
    again = reflection**2 * interface_reflection(soil, 1.0)
    bodies.append(dataclasses.replace(bodies[0], depth=2 * depth, reflection=again))
    return bodies, facts


def _low_metal_mine(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw a plastic disc: top, rim and bottom, and in half of the cases a small metal part inside."""
    plastic = rng.uniform(*c.plastic_permittivity)
    top = interface_reflection(soil, plastic)
    bodies, facts = _domed_disc(rng, c, place, top)
    thickness = rng.uniform(*c.mine_thickness)
    bodies.append(_bottom(bodies[0], thickness, plastic, soil))
    part = rng.uniform(*c.metal_part) * rng.randint(2)
    if part:
        middle = facts["depth"] + thickness / 2 * np.sqrt(plastic / soil)
        bodies.append(_body(place, middle, _METAL * (1 - top**2), part))
    return bodies, facts | {"thickness": thickness, "object permittivity": plastic, "metal part": part}


def _domed_disc(rng: np.random.RandomState, c: Conditions, place: Place, reflection: float) -> tuple[list[Body], Facts]:
    """Draw a spherical cap over the disc, and points around its rim that diffract with the opposite sign.

    A flat disc would reflect only to the antennas directly above it: a narrower signature than that of a point.
    """
    radius, depth, dome = rng.uniform(*c.mine_radius), rng.uniform(*c.mine_depth), rng.uniform(*c.mine_dome)
    curvature = (radius**2 + dome**2) / (2 * dome)
    angles = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(_RIM_POINTS) / _RIM_POINTS
    strength = -reflection * rng.uniform(*c.mine_rim)
    bodies = [_body(place, depth, reflection, curvature, radius=curvature)]
    bodies += [
        _body((place[0] + east, place[1] + north), depth + dome, strength, curvature / _RIM_POINTS)
        for east, north in zip(radius * np.cos(angles), radius * np.sin(angles), strict=True)
    ]
    return bodies, {"depth": depth, "radius": radius, "dome": dome}


def _rock(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw a rounded top, the far side, and corners and edges that reflect with either sign."""
    radius, depth = rng.uniform(*c.rock_radius), rng.uniform(*c.rock_depth)
    stone = rng.uniform(*c.rock_permittivity)
    top = _body(place, depth, interface_reflection(soil, stone), radius, radius=radius)
    bodies = [top, _bottom(top, radius, stone, soil)]
    for _ in range(rng.randint(4, 9)):
        east, north = rng.uniform(-radius, radius, size=2)
        corner = depth + radius * rng.uniform(0.1, 0.8)
        size = radius * rng.uniform(0.2, 0.8)
        bodies.append(_body((place[0] + east, place[1] + north), corner, top.reflection * _sign(rng), size))
    return bodies, {"depth": depth, "radius": radius, "object permittivity": stone}


def _scrap_metal(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw metal fragments close together at different depths."""
    depth, count = rng.uniform(*c.scrap_depth), rng.randint(1, 5)
    offsets = rng.uniform(-c.scrap_spread, c.scrap_spread, size=(count, 2))
    offsets -= offsets.mean(axis=0)  # the alarm is raised at their center
    bodies = []
    for east, north in offsets:
        lower, size = rng.uniform(0, c.scrap_spread / 2), rng.uniform(*c.scrap_size)
        bodies.append(_body((place[0] + east, place[1] + north), depth + lower, _METAL, size))
    return bodies, {"depth": depth, "fragments": float(count)}


def _root(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw a root or a pipe: a long horizontal cylinder in any direction."""
    radius, depth, reach = rng.uniform(*c.root_radius), rng.uniform(*c.root_depth), rng.uniform(*c.root_reach)
    heading, wood, pipe = rng.uniform(0, np.pi), rng.uniform(*c.root_permittivity), rng.randint(4) == 0
    reflection = _METAL if pipe else interface_reflection(soil, wood)
    facts = {"depth": depth, "radius": radius, "heading": np.degrees(heading), "metal": float(pipe)}
    return [_body(place, depth, reflection, radius, radius=radius, heading=heading, reach=reach)], facts


def _void(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw one to three air-filled chambers of a burrow."""
    depth, count, air = rng.uniform(*c.void_depth), rng.randint(1, 4), interface_reflection(soil, 1.0)
    offsets = rng.uniform(-c.void_spread, c.void_spread, size=(count, 2))
    offsets -= offsets.mean(axis=0)
    bodies = []
    for east, north in offsets:
        radius, lower = rng.uniform(*c.void_radius), rng.uniform(0, c.void_spread / 2)
        chamber = _body((place[0] + east, place[1] + north), depth + lower, air, radius, radius=radius)
        bodies += [chamber, _bottom(chamber, 2 * radius, 1.0, soil)]
    return bodies, {"depth": depth, "chambers": float(count)}


def _layer(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw a slightly curved piece of a layer that fades towards its edges."""
    depth, curvature, reach = rng.uniform(*c.lens_depth), rng.uniform(*c.lens_curvature), rng.uniform(*c.lens_reach)
    reflection = rng.uniform(*c.lens_reflection) * _sign(rng)
    body = _body(place, depth, reflection, curvature, radius=curvature, reach=reach)
    return [body], {"depth": depth, "reach": reach}


def _bare_soil(rng: np.random.RandomState, c: Conditions, place: Place, soil: float) -> tuple[list[Body], Facts]:
    """Draw nothing: an alarm on bare soil is caused by decoys or the surface."""
    return [], {}


def _bottom(top: Body, thickness: float, inside: float, soil: float) -> Body:
    """Return the far side: the wave passes the top twice, its sign changes, and the inside has its own wave speed.

    The body is placed where its echo appears to come from; attenuation inside is that of the soil.
    """
    apparent = thickness * np.sqrt(inside / soil)
    reflection = -top.reflection * (1 - top.reflection**2)
    return dataclasses.replace(top, depth=top.depth + apparent, reflection=reflection)


def _body(place: Place, depth: float, reflection: float, size: float, **shape: float) -> Body:
    return Body(x=place[0], y=place[1], depth=depth, reflection=reflection, size=size, **shape)


def _sign(rng: np.random.RandomState) -> float:
    return float(rng.choice([-1.0, 1.0]))


_DRAWS: dict[str, Draw] = {
    "high-metal mine": _high_metal_mine,
    "low-metal mine": _low_metal_mine,
    "rock": _rock,
    "scrap metal": _scrap_metal,
    "root": _root,
    "void": _void,
    "layer": _layer,
    "bare soil": _bare_soil,
}

KINDS = tuple(_DRAWS)
"""All kinds of alarms."""

MINES = KINDS[:2]
"""The kinds that are mines."""

CLUTTER = KINDS[2:]
"""The kinds that are not mines."""


# The scene around a target: soil, surface, antenna path, clutter and layers.


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
