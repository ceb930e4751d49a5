"""From reflecting bodies to traces: times and amplitudes of echoes, and the radar pulse.

The model is kinematic and first-order (Born): each body reflects the pulse once, independently, along the ray of
`refracted_ray`. Bodies do not shadow each other, and soil delays and attenuates the pulse without changing its
shape. Echoes are spikes in time that are convolved with the pulse. An amplitude of 1 is the echo of a perfect flat
mirror in air, one meter below the antenna.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.fft

from fuzzymil._utils.arrays import Array
from paper.radar.cubes import SPEED_OF_LIGHT, Grid

# Exact to 1e-12 m for all offsets on the grid, antennas at least 0.12 m high and points up to 2.5 m deep.
_NEWTON_STEPS = 5


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


@dataclasses.dataclass(frozen=True)
class Ground:
    """The soil, its surface, and the path of the antennas above it; lengths are in meters."""

    permittivity: float  # relative, of the soil
    attenuation: float  # of the soil, in Np/m
    height: float  # mean, of the antennas
    hollows: Array  # (n_channels, n_scans), depth of the surface below its mean at each trace
    lift: Array  # (n_scans,), height of the antennas above their mean at each scan
    brightness: Array  # (n_channels, n_scans), factor on the echo of the surface, around 1

    @classmethod
    def flat(cls, grid: Grid, permittivity: float = 9.0, attenuation: float = 2.0, height: float = 0.2) -> Ground:
        """Return flat ground under antennas at constant height."""
        traces = (grid.n_channels, grid.n_scans)
        return cls(permittivity, attenuation, height, np.zeros(traces), np.zeros(grid.n_scans), np.ones(traces))

    @property
    def index(self) -> float:
        """Refractive index of the soil."""
        return float(np.sqrt(self.permittivity))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body:
    """A reflector in the soil: a point, a dome or a long cylinder; lengths are in meters."""

    x: float  # position down-track, from the alarm
    y: float  # position cross-track
    depth: float  # of its top
    reflection: float  # coefficient, -1 for metal
    size: float  # scattering length: the radius of curvature of a dome or cylinder, the strength of a point
    radius: float = 0.0  # of curvature; 0 for a point
    heading: float | None = None  # angle in radians between the axis of a cylinder and the track; None for a round body
    reach: float = np.inf  # distance from its center, all around or along a cylinder's axis, at which the echo fades


def interface_reflection(above: float, below: float) -> float:
    """Return the reflection coefficient of a flat interface between two relative permittivities, at normal incidence.

    It is negative if the permittivity increases.
    """
    first, second = np.sqrt(above), np.sqrt(below)
    return float((first - second) / (first + second))


def surface_echoes(ground: Ground) -> tuple[Array, Array]:
    """Return times (seconds) and amplitudes of the surface echo, each of shape (1, n_channels, n_scans)."""
    distance = (ground.height + ground.lift + ground.hollows)[None]
    return 2 * distance / SPEED_OF_LIGHT, interface_reflection(1.0, ground.permittivity) * ground.brightness / distance


def interface_echoes(depths: Array, reflections: Array, ground: Ground) -> tuple[Array, Array]:
    """Return times and amplitudes of the echoes of extended interfaces in the soil, directly below each antenna.

    ``depths``, in meters below the mean surface, and the results have shape (n_interfaces, n_channels, n_scans);
    ``reflections`` (n_interfaces,).
    """
    air, soil = ground.height + ground.lift + ground.hollows, depths - ground.hollows
    passed = (1 - interface_reflection(1.0, ground.permittivity) ** 2) * np.exp(-2 * ground.attenuation * soil)
    distance = air + soil / ground.index
    return 2 * (air + ground.index * soil) / SPEED_OF_LIGHT, reflections[:, None, None] * passed / distance


def body_echoes(bodies: Sequence[Body], ground: Ground, grid: Grid) -> tuple[Array, Array]:
    """Return times (in seconds) and amplitudes of the echoes of bodies, both (n_bodies, n_channels, n_scans).

    A round body with radius of curvature ``a`` reflects along the ray to its center of curvature, at the distance ``a``
    from it. With the lengths ``p`` of that ray in air and ``s`` in soil, ``r = p + s / n``, the angle ``θ`` in air and
    the reflection coefficient ``R``,

        time      = 2 (p + n s) / c, plus the first-order shift due to lift and hollows
        amplitude = R (1 - R_surface²) cos²θ exp(-2 attenuation s) / r · size / (n r + a)

    For a cylinder, which spreads the wave in one direction only, the last factor is replaced by its square root. Both
    are geometrical optics, exact directly above the body.
    """
    if not bodies:
        return np.zeros((0, grid.n_channels, grid.n_scans)), np.zeros((0, grid.n_channels, grid.n_scans))
    n, surface = ground.index, interface_reflection(1.0, ground.permittivity)
    depth, reflection, size, radius, reach = (
        np.array([getattr(body, name) for body in bodies])[:, None, None]
        for name in ("depth", "reflection", "size", "radius", "reach")
    )
    across, along = _distances(bodies, grid)
    long = np.array([body.heading is not None for body in bodies])[:, None, None]
    ray = refracted_ray(across, depth + radius, ground.height, n)
    soil = ray.ground - radius
    spread = ray.air + soil / n
    times = ray.air + n * soil + ground.lift * ray.cos_air + ground.hollows * (ray.cos_air - n * ray.cos_ground)
    share = size / (n * spread + radius)
    faded = np.exp(-((np.where(long, along, across) / reach) ** 4))
    losses = (1 - surface**2) * ray.cos_air**2 * np.exp(-2 * ground.attenuation * soil) * faded
    return 2 * times / SPEED_OF_LIGHT, reflection * losses * np.where(long, np.sqrt(share), share) / spread


def _distances(bodies: Sequence[Body], grid: Grid) -> tuple[Array, Array]:
    """Return the horizontal distances of the antennas from the bodies, and along the axes of cylinders."""
    east = grid.x - np.array([body.x for body in bodies])[:, None, None]
    north = grid.y[:, None] - np.array([body.y for body in bodies])[:, None, None]
    heading = np.array([0.0 if body.heading is None else body.heading for body in bodies])[:, None, None]
    long = np.array([body.heading is not None for body in bodies])[:, None, None]
    along = east * np.cos(heading) + north * np.sin(heading)
    aside = north * np.cos(heading) - east * np.sin(heading)
    return np.where(long, np.abs(aside), np.hypot(east, north)), np.abs(along)


def ringing_ricker(times: Array, frequency: float, ringing: float) -> Array:
    """Return a Ricker wavelet with peak 1 at time 0 and a spectral peak at ``frequency``, followed by ringing.

    The ringing consists of copies with alternating sign, each one period later and ``ringing`` (0 to 1) times as
    strong.
    """
    copies = []
    for k in range(4):
        phase = (np.pi * frequency * (times - k / frequency)) ** 2
        copies.append((-ringing) ** k * (1 - 2 * phase) * np.exp(-phase))
    return np.asarray(sum(copies))


def pulse(grid: Grid, frequency: float, ringing: float) -> Array:
    """Return the spectrum of a ringing Ricker wavelet sampled on the grid, for `record`."""
    n = _padded(grid)
    lags = scipy.fft.fftfreq(n, 1 / n) * grid.sample_spacing  # time 0 first, negative times last
    return np.asarray(scipy.fft.rfft(ringing_ricker(lags, frequency, ringing).astype(np.float32)))


def record(times: Array, amplitudes: Array, spectrum: Array, grid: Grid) -> Array:
    """Record echoes: spikes are split between the two nearest samples, then convolved with the pulse.

    The split (linear interpolation) attenuates a frequency f by at most 1 - cos(π f Δt) = 3% at 1.5 GHz and causes no
    time shift to first order. Echoes outside the recording are dropped. Times, in seconds after emission, and
    amplitudes have shape (n_echoes, n_channels, n_scans), the spectrum is that of `pulse`, and the result has shape
    (n_channels, n_scans, n_samples) and 32 bits.
    """
    n = _padded(grid)
    place = (times - grid.start) / grid.sample_spacing
    below = np.floor(place).astype(np.int64)
    weight = place - below
    traces = np.arange(grid.n_channels * grid.n_scans).reshape(grid.n_channels, grid.n_scans) * n
    inside = (below >= 0) & (below < grid.n_samples)  # the last sample's neighbor is in the padding
    slots = (below + traces)[inside]
    values, weight = amplitudes[inside], weight[inside]
    total = grid.n_channels * grid.n_scans * n
    spikes = np.bincount(slots, values * (1 - weight), total) + np.bincount(slots + 1, values * weight, total)
    lines = scipy.fft.rfft(spikes.astype(np.float32).reshape(grid.n_channels, grid.n_scans, n))
    return np.asarray(scipy.fft.irfft(lines * spectrum, n)[..., : grid.n_samples])


def _padded(grid: Grid) -> int:
    # 4 ns of padding for the pulse, so that ringing at the end does not wrap around to the beginning.
    return int(scipy.fft.next_fast_len(grid.n_samples + round(4e-9 / grid.sample_spacing), real=True))
