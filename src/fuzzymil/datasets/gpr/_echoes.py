"""From reflecting bodies to traces: when an echo returns, how strong it is, and the pulse that it is made of.

The model is kinematic and of first order (Born): every body answers the antenna's pulse once, on its own, along the ray
of `geometry.refracted_ray`; bodies do not shade each other, and soil delays and weakens the pulse without changing its
shape. Echoes are spikes in time; the pulse is put on all of them at once. An amplitude of 1 is the echo of a perfect
flat mirror in air, one meter below the antenna.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import scipy.fft

from fuzzymil._utils.arrays import Array
from fuzzymil.datasets.gpr.geometry import SPEED_OF_LIGHT, Grid, refracted_ray

__all__ = [
    "Body",
    "Ground",
    "body_echoes",
    "interface_echoes",
    "interface_reflection",
    "pulse",
    "record",
    "ringing_ricker",
    "surface_echoes",
]


@dataclasses.dataclass(frozen=True)
class Ground:
    """The soil, its surface, and the antennas' flight over it.

    Parameters
    ----------
    permittivity : float
        Relative, of the soil.
    attenuation : float
        Np/m.
    height : float
        Mean height of the antennas in meters.
    hollows : array of shape (n_channels, n_scans)
        How far the surface under each trace lies below its mean, in meters.
    lift : array of shape (n_scans,)
        How far the antennas are above their mean height, in meters.
    brightness : array of shape (n_channels, n_scans)
        Factor on the surface's own echo, around 1.
    """

    permittivity: float
    attenuation: float
    height: float
    hollows: Array
    lift: Array
    brightness: Array

    @classmethod
    def flat(cls, grid: Grid, permittivity: float = 9.0, attenuation: float = 2.0, height: float = 0.2) -> Ground:
        """Return even ground under steady antennas.

        Examples
        --------
        >>> from fuzzymil.datasets.gpr.geometry import GRID
        >>> Ground.flat(GRID).index
        3.0
        """
        traces = (grid.n_channels, grid.n_scans)
        return cls(permittivity, attenuation, height, np.zeros(traces), np.zeros(grid.n_scans), np.ones(traces))

    @property
    def index(self) -> float:
        """Refractive index of the soil."""
        return float(np.sqrt(self.permittivity))


@dataclasses.dataclass(frozen=True)
class Body:
    """Something in the soil that reflects: a point, a dome, or a long cylinder.

    Parameters
    ----------
    x, y : float
        Where, down-track and cross-track, in meters from the alarm.
    depth : float
        Of its top, in meters.
    reflection : float
        Reflection coefficient, -1 for metal.
    size : float
        Scattering length in meters: of a dome or cylinder its radius of curvature, of a point how strong it is.
    radius : float
        Radius of curvature in meters; 0 for a point.
    heading : float, optional
        Of a cylinder: the angle in radians between its axis and the track. None for a round body.
    reach : float
        Meters from its middle at which the echo fades: along the axis of a cylinder, all around of a round body.

    Examples
    --------
    >>> stone = Body(x=0.0, y=0.1, depth=0.2, reflection=-0.2, size=0.05, radius=0.05)
    >>> wire = Body(x=0.0, y=0.0, depth=0.1, reflection=-1.0, size=0.001, radius=0.001, heading=0.0)
    """

    x: float
    y: float
    depth: float
    reflection: float
    size: float
    radius: float = 0.0
    heading: float | None = None
    reach: float = np.inf


def interface_reflection(above: float, below: float) -> float:
    """Return the reflection coefficient of a flat interface straight from above, of two relative permittivities.

    Into denser matter the sign turns (negative), into thinner matter it stays.

    Examples
    --------
    >>> interface_reflection(1.0, 9.0)  # air to soil
    -0.5
    >>> round(interface_reflection(9.0, 3.0), 3)  # soil to plastic
    0.268
    """
    first, second = np.sqrt(above), np.sqrt(below)
    return float((first - second) / (first + second))


def surface_echoes(ground: Ground) -> tuple[Array, Array]:
    """Return times (seconds) and amplitudes of the ground surface's echo, each of shape (1, n_channels, n_scans).

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.geometry import GRID
    >>> times, amplitudes = surface_echoes(Ground.flat(GRID, permittivity=9.0, height=0.2))
    >>> round(float(times[0, 0, 0]) * 1e9, 3), float(amplitudes[0, 0, 0])  # ns; -0.5 over 0.2 m
    (1.334, -2.5)
    """
    distance = (ground.height + ground.lift + ground.hollows)[None]
    return 2 * distance / SPEED_OF_LIGHT, interface_reflection(1.0, ground.permittivity) * ground.brightness / distance


def interface_echoes(depths: Array, reflections: Array, ground: Ground) -> tuple[Array, Array]:
    """Return times and amplitudes of the echoes of wide interfaces in the soil, straight below every antenna.

    Parameters
    ----------
    depths : array of shape (n_interfaces, n_channels, n_scans)
        Meters below the mean surface.
    reflections : array of shape (n_interfaces,)
    ground : Ground

    Returns
    -------
    times, amplitudes : arrays of shape (n_interfaces, n_channels, n_scans)

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.geometry import GRID
    >>> times, _ = interface_echoes(np.full((1, 24, 60), 0.1), np.array([0.1]), Ground.flat(GRID))
    >>> round(float(times[0, 0, 0]) * 1e9, 3)  # as a body at this depth
    3.336
    """
    air, soil = ground.height + ground.lift + ground.hollows, depths - ground.hollows
    passed = (1 - interface_reflection(1.0, ground.permittivity) ** 2) * np.exp(-2 * ground.attenuation * soil)
    distance = air + soil / ground.index
    return 2 * (air + ground.index * soil) / SPEED_OF_LIGHT, reflections[:, None, None] * passed / distance


def body_echoes(bodies: Sequence[Body], ground: Ground, grid: Grid) -> tuple[Array, Array]:
    """Return times and amplitudes of the echoes of bodies in every trace.

    A round body of curvature ``a`` echoes along the ray towards the center of its curvature, which ends ``a`` before
    it. With ``s`` the length of that ray in the soil, ``r = air leg + s / n`` and ``R`` the reflection coefficient,

        time      = 2 (air leg + n s) / c, and the first-order shift by lift and hollows
        amplitude = R (1 - R_surface²) cos²θ exp(-2 attenuation s) / r · size / (n r + a)

    where ``θ`` is the angle in air. A cylinder has the square root of the last factor: it spreads the wave in one
    direction only. Both are geometrical optics, exact straight above the body.

    Parameters
    ----------
    bodies : sequence of Body
    ground : Ground
    grid : Grid

    Returns
    -------
    times, amplitudes : arrays of shape (n_bodies, n_channels, n_scans)
        Seconds after emission.

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.geometry import GRID
    >>> metal = Body(x=0.025, y=0.025, depth=0.1, reflection=-1.0, size=0.3, radius=0.3)
    >>> times, amplitudes = body_echoes([metal], Ground.flat(GRID), GRID)
    >>> round(float(times[0, 12, 30]) * 1e9, 3)  # 2 (0.2 + 3 · 0.1) m in ns
    3.336
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
    """Return horizontal distances of the antennas from the bodies: the shortest, and along a cylinder's axis."""
    east = grid.x - np.array([body.x for body in bodies])[:, None, None]
    north = grid.y[:, None] - np.array([body.y for body in bodies])[:, None, None]
    heading = np.array([0.0 if body.heading is None else body.heading for body in bodies])[:, None, None]
    long = np.array([body.heading is not None for body in bodies])[:, None, None]
    along = east * np.cos(heading) + north * np.sin(heading)
    aside = north * np.cos(heading) - east * np.sin(heading)
    return np.where(long, np.abs(aside), np.hypot(east, north)), np.abs(along)


def ringing_ricker(times: Array, frequency: float, ringing: float) -> Array:
    """Return a Ricker wavelet and the antenna's ringing after it, peak 1 at time 0.

    The ringing are fainter copies of alternating sign, each ``ringing`` times the one before and a period later.

    Parameters
    ----------
    times : array
        Seconds.
    frequency : float
        Of the Ricker wavelet's spectral peak, in Hz.
    ringing : float
        Between 0 (none) and 1.

    Examples
    --------
    >>> ringing_ricker(np.array([-1e-9, 0.0, 1e-9]), 1e9, 0.0).round(3)
    array([-0.001,  1.   , -0.001])
    """
    copies = []
    for k in range(4):
        phase = (np.pi * frequency * (times - k / frequency)) ** 2
        copies.append((-ringing) ** k * (1 - 2 * phase) * np.exp(-phase))
    return np.asarray(sum(copies))


def pulse(grid: Grid, frequency: float, ringing: float) -> Array:
    """Return the spectrum that `record` multiplies with, of a ringing Ricker wavelet sampled on the grid."""
    n = _padded(grid)
    lags = scipy.fft.fftfreq(n, 1 / n) * grid.sample_spacing  # time 0 first, the times before it at the end
    return np.asarray(scipy.fft.rfft(ringing_ricker(lags, frequency, ringing).astype(np.float32)))


def record(times: Array, amplitudes: Array, spectrum: Array, grid: Grid) -> Array:
    """Record echoes as the radar would: spikes between samples shared by their two neighbors, then the pulse.

    The sharing (linear interpolation) weakens a frequency f by at most 1 - cos(π f Δt) = 3 % at 1.5 GHz and moves
    nothing in time to first order. Echoes outside the record are left out.

    Parameters
    ----------
    times, amplitudes : arrays of shape (n_echoes, n_channels, n_scans)
        Seconds after emission.
    spectrum : array
        From `pulse`.
    grid : Grid

    Returns
    -------
    array of shape (n_channels, n_scans, n_samples), 32 bit

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.geometry import GRID
    >>> when = np.full((1, 24, 60), GRID.times[100])
    >>> cube = record(when, np.ones_like(when), pulse(GRID, 1e9, 0.0), GRID)
    >>> cube.shape, int(cube[0, 0].argmax())
    ((24, 60, 256), 100)
    """
    n = _padded(grid)
    place = (times - grid.start) / grid.sample_spacing
    below = np.floor(place).astype(np.int64)
    weight = place - below
    traces = np.arange(grid.n_channels * grid.n_scans).reshape(grid.n_channels, grid.n_scans) * n
    inside = (below >= 0) & (below < grid.n_samples)  # the last one's neighbor is in the padding
    slots = (below + traces)[inside]
    values, weight = amplitudes[inside], weight[inside]
    total = grid.n_channels * grid.n_scans * n
    spikes = np.bincount(slots, values * (1 - weight), total) + np.bincount(slots + 1, values * weight, total)
    lines = scipy.fft.rfft(spikes.astype(np.float32).reshape(grid.n_channels, grid.n_scans, n))
    return np.asarray(scipy.fft.irfft(lines * spectrum, n)[..., : grid.n_samples])


def _padded(grid: Grid) -> int:
    # Room for a pulse's 4 ns, so that what rings over the end of a record does not come back at its beginning.
    return int(scipy.fft.next_fast_len(grid.n_samples + round(4e-9 / grid.sample_spacing), real=True))
