"""What is measured in a radar cube, simulated or not: whether there is an alarm, and four features per depth window.

The radar looks straight down. ``x`` is the position down-track (scans) and ``y`` cross-track (channels), in meters from
the alarm at the center of the grid. In order: the sampling of a cube, edge histograms, alignment to the ground and
whitening, validation and prescreener, features, prototypes, bags.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import uniform_filter
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError, described, listed
from fuzzymil.bags import Bags

SPEED_OF_LIGHT = 299_792_458.0
"""In air, m/s."""


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


# Edge histogram descriptors: the directions of edges in a radar slice along the track.
#
# The signature of a buried mine is a hyperbola: rising edges, a flat top, falling edges. The descriptor (after Frigui
# and Gader, 2009) counts edges in four directions, and pixels without an edge, in seven overlapping parts of a slice:
# 35 numbers per depth window. EHDDT uses (down-track, depth) slices, EHDCT (cross-track, depth) slices.


N_WINDOWS, LENGTH, HOP = 15, 20, 6
"""Number, length and hop of the depth windows of an aligned trace, in samples."""

PARTS, PART_LENGTH, PART_HOP = 7, 6, 3
"""Number, length and hop of the overlapping parts of a slice along the track."""

EDGES = ("vertical", "horizontal", "diagonal", "antidiagonal", "none")
"""Kinds of edges in the order of the descriptor. A diagonal edge becomes deeper along the track."""

THRESHOLD = 2.0
"""Minimum response of an edge, in standard deviations of the background."""

# Rows run along the track and columns along the depth; scaled so that white noise keeps its deviation of 1.
_OPERATORS = np.array(
    [
        [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
        [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
        [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]],
        [[2, 1, 0], [1, 0, -1], [0, -1, -2]],
    ]
) / np.sqrt(12.0)


def cut(values: Array) -> Array:
    """Return views of the depth windows, shape (..., N_WINDOWS, LENGTH), of aligned ``values`` (..., n_depths).

    Examples
    --------
    >>> cut(np.arange(104))[-1, [0, -1]].tolist()
    [84, 103]
    """
    return np.asarray(sliding_window_view(values, LENGTH, axis=-1)[..., ::HOP, :])


def edge_kinds(slices: Array) -> Array:
    """Return the kind of edge (a position in `EDGES`) at each pixel of slices (n_slices, n_places, n_depths).

    It is that of the operator with the strongest response, or none below the threshold. Border values are repeated. The
    slices are in standard deviations of the background.

    Examples
    --------
    >>> step = np.zeros((1, 6, 6))
    >>> step[:, :, 3:] = 10.0  # changes with depth, like a layer
    >>> EDGES[edge_kinds(step)[0, 2, 3]]
    'horizontal'
    """
    padded = np.pad(slices, ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = sliding_window_view(padded, (3, 3), axis=(1, 2))
    responses = np.abs(np.tensordot(around, _OPERATORS, axes=([3, 4], [1, 2])))  # (n, w, t, 4)
    return np.where(responses.max(axis=-1) >= THRESHOLD, responses.argmax(axis=-1), len(EDGES) - 1)


def edge_histograms(slices: Array) -> Array:
    """Compute edge histograms (N_WINDOWS, PARTS * len(EDGES)) of parallel slices like those of `edge_kinds`.

    It holds square roots of the shares of pixels, by part and then kind; the squares of a part sum to 1. The Euclidean
    distance of two descriptors is then the Hellinger distance of their histograms.

    Examples
    --------
    >>> quiet = edge_histograms(np.zeros((1, 24, 104)))
    >>> quiet.shape, quiet[0, :5].tolist()
    ((15, 35), [0.0, 0.0, 0.0, 0.0, 1.0])
    """
    kinds = edge_kinds(slices)
    share = (kinds[..., None, :] == np.arange(len(EDGES))[:, None]).mean(axis=0)  # (w, 5, t)
    by_window = cut(share).mean(axis=-1)  # (w, 5, n_windows)
    parts = sliding_window_view(by_window, PART_LENGTH, axis=0)[::PART_HOP].mean(axis=-1)  # (parts, 5, n_windows)
    return np.asarray(np.sqrt(parts.transpose(2, 0, 1).reshape(N_WINDOWS, -1)))


# Alignment of traces to the ground reflection, and whitening by the background.


SKIP = 0.6e-9
"""Start of the aligned traces in seconds after the peak of the ground reflection, whose pulse dominates before."""

STEP = 0.1e-9
"""Seconds between samples of the aligned traces: the flank of a hyperbola moves one to three samples per scan."""

DEPTHS = 104
"""Number of samples of an aligned trace."""

BACKGROUND_DISTANCE = 0.6
"""Down-track distance from the center of a cube, in meters, beyond which a scan is background."""

LATEST_GROUND = GRID.n_samples - 1 - round((SKIP + STEP * (DEPTHS - LENGTH // 2)) / GRID.sample_spacing)
"""Latest valid sample of the ground reflection: half of the deepest window is still recorded."""

_REACH = 0.3e-9  # maximum deviation of a trace's ground from its channel's: ten times that due to height and roughness


class Background(NamedTuple):
    """Statistics of an aligned cube away from the alarm.

    Attributes
    ----------
    mean : array of shape (n_channels, n_depths)
    deviation : array of shape (n_depths,)
    """

    mean: Array
    deviation: Array


def background_scans() -> Array:
    """Return which scans are far enough from the center to be background, shape (n_scans,)."""
    return np.asarray(np.abs(GRID.x) > BACKGROUND_DISTANCE)


def ground_peaks(cube: Array) -> Array:
    """Find the ground reflection in each trace of a cube, (n_channels, n_scans), in fractional samples.

    The ground of a channel is the extremum of its mean trace, because no echo is stronger. That of a trace is the
    nearby maximum of the same sign, refined by a parabola through its neighbors.

    Examples
    --------
    >>> cube = np.zeros((GRID.n_channels, GRID.n_scans, GRID.n_samples))
    >>> cube[..., 29:32] = [-0.5, -1.0, -0.5]
    >>> bool((ground_peaks(cube) == 30).all())
    True
    """
    mean = cube.mean(axis=1)  # (c, t)
    middle = np.abs(mean).argmax(axis=1)
    sign = np.sign(np.take_along_axis(mean, middle[:, None], axis=1))  # (c, 1)
    reach = round(_REACH / GRID.sample_spacing)
    middle = np.clip(middle, reach + 1, cube.shape[2] - reach - 2)  # leave room for the search on both sides
    near = middle[:, None] + np.arange(-reach - 1, reach + 2)  # (c, n)
    values = np.take_along_axis(cube, near[:, None, :], axis=2) * sign[:, None]  # (c, s, n)
    best = 1 + values[..., 1:-1].argmax(axis=2)
    left, top, right = (np.take_along_axis(values, best[..., None] + k, axis=2)[..., 0] for k in (-1, 0, 1))
    bend = left - 2 * top + right
    # No parabola has its maximum here if the values are flat, or still rising at the end of the search.
    peaked = (bend < 0) & (np.abs(left - right) <= -bend)
    offset = np.where(peaked, 0.5 * (left - right) / np.where(peaked, bend, 1.0), 0.0)
    return np.asarray(middle[:, None] - reach - 1 + best + offset)


def check_ground(peaks: Array, what: str = "The cube") -> None:
    """Raise `InputError` if the ground reflection is so late that the deepest windows are not recorded.

    Parameters
    ----------
    peaks : array of shape (n_channels, n_scans)
        From `ground_peaks`.
    what : str
        Name of the cube, for error messages.
    """
    channel, scan = np.unravel_index(peaks.argmax(), peaks.shape)
    latest = float(peaks[channel, scan])
    if latest > LATEST_GROUND:
        raise InputError(
            f"{what} has its strongest echo, taken as the ground, at sample {latest:.0f} in channel {channel}, scan "
            f"{scan}, but the windows fit only up to sample {LATEST_GROUND}: start the recording later, and remove "
            "anything stronger than the ground."
        )


def align(cube: Array, peaks: Array) -> Array:
    """Shift each trace to its ground reflection, remove the reflection and resample more coarsely.

    Each new sample is the mean of the recording over its interval, by linear interpolation at two points, or NaN after
    the end of the recording. The peaks are those of `ground_peaks`; the result has shape (n_channels, n_scans, DEPTHS).

    Examples
    --------
    >>> ramp = np.broadcast_to(np.arange(256.0), (24, 60, 256))
    >>> align(ramp, np.full((24, 60), 20.0))[0, 0, :3].tolist()  # 0.6 ns are 12 samples, a step is 2
    [32.0, 34.0, 36.0]
    """
    step = STEP / GRID.sample_spacing
    wanted = peaks[..., None] + SKIP / GRID.sample_spacing + step * np.arange(DEPTHS)
    halves = [_interpolated(cube, wanted + side * step / 4) for side in (-1, 1)]
    return np.asarray((halves[0] + halves[1]) / 2)


def _interpolated(cube: Array, places: Array) -> Array:
    last = cube.shape[2] - 1
    below = np.floor(places).astype(int)
    inside = below < last
    below = np.where(inside, below, last - 1)
    weight = places - below
    values = np.take_along_axis(cube, below, axis=2)
    values = values + weight * (np.take_along_axis(cube, below + 1, axis=2) - values)
    return np.where(inside, values, np.nan)


def background_of(aligned: Array) -> Background:
    """Compute the mean of the background per channel and depth, and its standard deviation per depth.

    Parameters
    ----------
    aligned : array of shape (n_channels, n_scans, n_depths)
    """
    quiet = aligned[:, background_scans()]
    mean = quiet.mean(axis=1)
    deviation = np.sqrt(np.square(quiet - mean[:, None]).mean(axis=(0, 1)))
    return Background(mean, deviation)


def check_background(background: Background, what: str = "The cube") -> None:
    """Raise `InputError` if the background is constant at some depth.

    Parameters
    ----------
    background : Background
    what : str
        Name of the cube, for error messages.
    """
    still = background.deviation == 0
    if still.any():
        depth = 1e9 * (SKIP + STEP * still.argmax())
        raise InputError(
            f"{what} has a constant background {depth:.1f} ns below the ground: real traces contain noise. Pass the "
            "samples as recorded, neither filled in nor rounded to a few values."
        )


def whiten(aligned: Array, background: Background) -> Array:
    """Subtract the mean of the background and divide by its standard deviation.

    Depths that not all traces reach become 0, the mean of the background.
    """
    scaled = (aligned - background.mean[:, None]) / background.deviation
    return np.where(np.isnan(aligned).any(axis=(0, 1)), 0.0, scaled)


# Validation of radar cubes, and the prescreener that raises alarms.


LEAST_BACKGROUND = 12
"""Minimum number of background scans, beyond `alignment.BACKGROUND_DISTANCE`."""

LEAST_ENERGY = 2.5
"""Minimum energy of an alarm: the mean square in the strongest window, relative to the background."""

_PATCH = 0.3  # side in meters of the square over which energy is averaged: about as wide as a signature
_AIM = 0.2  # maximum distance in meters of an alarm's strongest patch from the center, in either direction
_CLIPPED_RUN = 3  # consecutive samples at the maximum of a channel; the peak of a pulse has one, or two by chance
_CLIPPED_SHARE = 0.1  # share of a channel's traces
_OFFSET = 0.1  # relative to a channel's maximum: up to this offset the ground stays the peak of the mean trace
_GREATEST = 1e15  # maximum of a sample: its square and that of its inverse are far from the limits of float32


@dataclasses.dataclass(frozen=True)
class Screening:
    """Result of the prescreener.

    Parameters
    ----------
    raised : bool
        Whether there is an alarm.
    reason : str
        Explanation of the decision.
    energy : float
        Maximum energy of a 0.3 m patch in a depth window near the center, relative to the background.
    x, y : float
        Position of the strongest patch of the whole cube, in meters from the center.
    """

    raised: bool
    reason: str
    energy: float
    x: float
    y: float


def screen(cube: Any) -> Screening:
    """Decide by energy whether there is an object in the center of a cube.

    Traces are aligned to the ground and compared with the background, the scans away from the center (`alignment`).
    Energy is averaged over depth windows and patches of 0.3 m. An alarm needs a patch near the center with
    `LEAST_ENERGY` times the energy of the background. It is rejected if a stronger patch is at the edge: among the
    background scans, or under the outermost channels, where half of the patch is not recorded.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
        Validated by `check_cube`.

    Examples
    --------
    >>> from paper.radar.simulation import simulate_alarm
    >>> mine = simulate_alarm("high-metal mine", "easy", random_state=0).cube
    >>> screen(mine).raised, screen(np.roll(mine, 25, axis=1)).raised
    (True, False)
    """
    numbers = check_cube(cube)
    check_background(background_of(align(numbers, ground_peaks(numbers))))
    return screened(numbers)


def screened(cube: Array) -> Screening:
    """Screen a cube that is already validated."""
    aligned = align(cube, ground_peaks(cube))
    energies = cut(np.square(whiten(aligned, background_of(aligned)))).mean(axis=-1)  # (c, s, windows)
    size = (round(_PATCH / GRID.channel_spacing), round(_PATCH / GRID.scan_spacing), 1)
    patches = uniform_filter(energies, size, mode="nearest").max(axis=2)  # (c, s)
    channel, scan = np.unravel_index(patches.argmax(), patches.shape)
    x, y = float(GRID.x[scan]), float(GRID.y[channel])
    energy = float(patches[np.ix_(np.abs(GRID.y) <= _AIM, np.abs(GRID.x) <= _AIM)].max())
    at_edge = abs(x) > BACKGROUND_DISTANCE or abs(y) > GRID.y[-1] - _PATCH / 2
    reason = f"the center has {energy:.1f} times the energy of the background (an alarm needs {LEAST_ENERGY})"
    if at_edge and patches.max() >= LEAST_ENERGY:
        reason += (
            f", the edge {patches.max():.1f} times, {x:+.2f} m down-track and {y:+.2f} m cross-track from the center: "
            "center the cube there"
        )
    return Screening(energy >= LEAST_ENERGY and not at_edge, reason, energy, x, y)


def check_cube(cube: Any, grid: Grid = GRID, name: str = "") -> Array:
    """Validate a radar cube and return it as a floating-point array.

    Raises `InputError` if the shape differs from the grid, if samples are not finite, extremely large or small, or have
    an offset, if channels are dead (constant in a trace) or saturated (clipped), if there are too few different
    background scans, or if the ground reflection, the strongest echo of a channel, is so late that the deepest windows
    are not recorded. Cubes with nothing in the center are valid; `screen` rejects them.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
    grid : Grid
    name : str
        Name of the cube, for error messages.

    Returns
    -------
    array of the same shape, 32 or 64 bit

    Examples
    --------
    >>> check_cube(np.zeros((24, 60, 100)))
    Traceback (most recent call last):
    ...
    fuzzymil.InputError: The cube has shape (24, 60, 100), expected (24, 60, 256) (channels, scans, samples)...
    """
    what = f"The cube {name}" if name else "The cube"
    numbers = _numbers(cube, what, grid)
    if numbers.shape != grid.shape:
        raise InputError(
            f"{what} has shape {numbers.shape}, expected {grid.shape} (channels, scans, samples). Crop it around the "
            f"alarm or resample it; include the background, more than {BACKGROUND_DISTANCE} m from the center."
        )
    bad = ~np.isfinite(numbers)
    if bad.any():
        channel, scan, sample = np.argwhere(bad)[0]
        raise InputError(
            f"{what} has {bad.sum()} of {bad.size} samples that are not finite, the first in channel {channel}, "
            f"scan {scan}, sample {sample} ({numbers[channel, scan, sample]}): fill the gap or exclude the cube."
        )
    far = numbers[:, np.abs(grid.x) > BACKGROUND_DISTANCE]
    n_background = len(np.unique(far.swapaxes(0, 1).reshape(far.shape[1], -1), axis=0))
    if n_background < LEAST_BACKGROUND:
        raise InputError(
            f"{what} has {n_background} different background scans (more than {BACKGROUND_DISTANCE} m from the "
            f"center), but at least {LEAST_BACKGROUND} are needed: record a longer track. Repeated or filled-in scans "
            "do not count."
        )
    _refuse(what, (np.ptp(numbers, axis=2) == 0).any(axis=1), "are dead (constant) in at least one scan")
    _refuse(what, _saturated(numbers), "are saturated (clipped at their maximum or minimum)")
    greatest = float(np.abs(numbers).max())
    if not 1 / _GREATEST <= greatest <= _GREATEST:
        raise InputError(
            f"{what} has a maximum amplitude of {greatest:.3g}, expected between {1 / _GREATEST:g} and {_GREATEST:g}"
            ": rescale all samples by one factor. The features do not depend on the unit."
        )
    middle = np.median(numbers, axis=(1, 2))
    off = np.abs(middle) > _OFFSET * np.abs(numbers - middle[:, None, None]).max(axis=(1, 2))
    if off.any():
        raise InputError(
            f"{what} has an offset: the median of channel {off.argmax()} is {middle[off.argmax()]:.6g}. Subtract it, "
            "so that silence is 0."
        )
    check_ground(ground_peaks(numbers), what)
    return numbers


def _numbers(cube: Any, what: str, grid: Grid) -> Array:
    try:
        return arrays.numeric(cube)
    except InputTypeError:
        got = getattr(cube, "dtype", None) or described(cube)
        way = "pass its attribute cube" if hasattr(cube, "cube") else "convert it first"
        raise InputTypeError(
            f"{what} must be an array of real numbers of shape {grid.shape} (channels, scans, samples), got {got}: "
            f"{way}."
        ) from None


def _refuse(what: str, channels: Array, because: str) -> None:
    if channels.any():
        raise InputError(
            f"{what} has channels that {because}: {listed(np.flatnonzero(channels))} (counted from 0). Exclude it, or "
            "replace them with neighboring channels."
        )


def _saturated(cube: Array) -> Array:
    """Return which channels (n_channels,) stay at an extreme value for several samples in many traces."""
    found = np.zeros(len(cube), bool)
    for extreme in (cube.max(axis=(1, 2)), cube.min(axis=(1, 2))):
        there = cube == extreme[:, None, None]
        runs = np.asarray(sliding_window_view(there, _CLIPPED_RUN, axis=2).all(axis=-1))
        found |= runs.any(axis=2).mean(axis=1) >= _CLIPPED_SHARE
    return found


# Features of a radar cube: four in each of fifteen depth windows.


FEATURES = ("EHDDT", "EHDCT", "width down-track", "width cross-track")
"""Feature names; widths are in meters."""

MIDDLE = 0.15
"""Distance from the center of the cube, in meters, within which slices belong to the alarm."""

_SPAN = 0.6  # half length of a slice in meters, the same down-track as the array has cross-track
_LEAST_SHARE = 0.2  # minimum target energy of a positive window, relative to the strongest window
_LEAST_RATIO = 0.5  # minimum ratio of target energy to background energy


@dataclasses.dataclass(frozen=True)
class Measured:
    """Measurements of the windows of a cube, before the detectors are applied.

    Attributes
    ----------
    down_track, cross_track : arrays of shape (N_WINDOWS, 35)
        Edge histograms.
    widths : array of shape (N_WINDOWS, 2)
        Widths of the signature down-track and cross-track, in meters.
    energies : array of shape (N_WINDOWS,)
        Mean squared amplitudes around the alarm, relative to the background.
    target_energies : array of shape (N_WINDOWS,), or None
        The same for the echoes of the target alone, if known.
    """

    down_track: Array
    cross_track: Array
    widths: Array
    energies: Array
    target_energies: Array | None = None


def windows() -> list[tuple[int, int]]:
    """Return the start and end of each depth window, in samples after the ground reflection.

    Examples
    --------
    >>> windows()[0], windows()[-1], len(windows())
    ((12, 52), (180, 220), 15)
    """
    skip, step = round(SKIP / GRID.sample_spacing), round(STEP / GRID.sample_spacing)
    starts = range(0, N_WINDOWS * HOP, HOP)
    return [(skip + step * start, skip + step * (start + LENGTH)) for start in starts]


def measure(cube: npt.ArrayLike, target: Array | None = None, name: str = "") -> Measured:
    """Measure the windows of a cube.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
        With the alarm in the center; validated by `check_cube`.
    target : array of the same shape, optional
        Echoes of the target alone, if known.
    name : str
        Name of the cube, for error messages.

    Examples
    --------
    >>> from paper.radar.simulation import simulate_alarm
    >>> alarm = simulate_alarm("high-metal mine", "easy", random_state=0)
    >>> found = measure(alarm.cube, alarm.target)
    >>> found.down_track.shape, found.widths.shape, bool(window_truth(found.target_energies).any())
    ((15, 35), (15, 2), True)
    """
    return measured(check_cube(cube, name=name), target, name)


def measured(cube: Array, target: Array | None = None, name: str = "") -> Measured:
    """Measure a cube that is already validated."""
    what = f"The cube {name}" if name else "The cube"
    cube = np.asarray(cube, float)
    peaks = ground_peaks(cube)
    check_ground(peaks, what)
    aligned = align(cube, peaks)
    background = background_of(aligned)
    check_background(background, what)
    whitened = whiten(aligned, background)
    scans, channels = np.abs(GRID.x) <= _SPAN, np.abs(GRID.y) <= _SPAN
    near_scans, near_channels = np.abs(GRID.x) <= MIDDLE, np.abs(GRID.y) <= MIDDLE
    down, across = whitened[near_channels][:, scans], whitened[channels][:, near_scans].swapaxes(0, 1)
    return Measured(
        edge_histograms(down),
        edge_histograms(across),
        np.column_stack([_width(whitened, down, GRID.scan_spacing), _width(whitened, across, GRID.channel_spacing)]),
        _energies(whitened),
        None if target is None else _energies(_target_alone(target, peaks, background)),
    )


def _width(whitened: Array, slices: Array, spacing: float) -> Array:
    """Return the widths (N_WINDOWS,) of the signature in ``slices`` (n, n_places, n_depths)."""
    energy = cut(np.square(slices).mean(axis=0)).mean(axis=-1)  # (places, windows)
    floor = cut(np.square(whitened[:, background_scans()]).mean(axis=(0, 1))).mean(axis=-1)
    return signature_width(energy.T, floor, spacing)


def _energies(whitened: Array) -> Array:
    """Return the mean squares (N_WINDOWS,) around the center of the cube."""
    around = whitened[np.abs(GRID.y) <= MIDDLE][:, np.abs(GRID.x) <= MIDDLE]
    return np.asarray(cut(np.square(around).mean(axis=(0, 1))).mean(axis=-1))


def _target_alone(target: Array, peaks: Array, background: Background) -> Array:
    """Return the echoes of the target in the whitened cube."""
    silent = background._replace(mean=np.zeros_like(background.mean))
    return whiten(align(np.asarray(target, float), peaks), silent)


def signature_width(energy: Array, floor: Array, spacing: float) -> Array:
    """Return the width of a signature, in the unit of ``spacing``, from its energy (..., n_places) along the track.

    It is the participation ratio (Σe)² / Σe² of the energy e above the floor (that of the background), times the
    spacing: n equal values have a width of n spacings, and weak tails hardly count. The width is 0 if nothing exceeds
    the floor.

    Examples
    --------
    >>> signature_width(np.array([1.0, 3.0, 3.0, 1.0]), np.array(1.0), 0.05)
    array(0.1)
    """
    above = np.where(energy > floor[..., None], energy - floor[..., None], 0.0)
    squares = np.square(above).sum(axis=-1)
    seen = squares > 0
    return np.where(seen, spacing * np.square(above.sum(axis=-1)) / np.where(seen, squares, 1.0), 0.0)


def window_truth(target_energies: Array) -> Array:
    """Return which windows contain the target, from its energies (..., N_WINDOWS) relative to that of the background.

    These have at least 0.2 times the target energy of the strongest window, and more than half the energy of the
    background.

    Examples
    --------
    >>> window_truth(np.array([0.0, 9.0, 2.0, 1.0])).tolist()
    [0, 1, 1, 0]
    >>> window_truth(np.array([0.1, 0.2])).tolist()
    [0, 0]
    """
    enough = target_energies >= _LEAST_SHARE * target_energies.max(axis=-1, keepdims=True)
    return np.asarray(enough & (target_energies > _LEAST_RATIO)).astype(int)


# Confidence that a descriptor shows a mine: a possibilistic k-nearest-neighbor rule over prototypes.


NEIGHBORS = 5
"""Number of neighbors for soft labels and confidences."""

FUZZIFIER = 2.0
"""Exponent m of the possibilistic weight: with a larger m the weight falls more slowly with distance."""


@dataclasses.dataclass(frozen=True)
class Prototypes:
    """Typical descriptors of mines and clutter.

    Attributes
    ----------
    points : array of shape (n_prototypes, n_numbers)
    labels : array of shape (n_prototypes,)
        Degree to which each indicates a mine, from 0 to 1.
    reach : float
        Distance up to which a descriptor counts as fully typical.
    """

    points: Array
    labels: Array
    reach: float


def soft_labels(points: Array, is_mine: Array) -> Array:
    """Compute soft labels (n,) of points (n, n_numbers) from the labels of their neighbors (Keller's rule).

    They are 0.51 + 0.49 q for mines and 0.49 q otherwise, where q is the share of mines among the nearest neighbors.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3], [0.15]])
    >>> soft_labels(points, np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)).round(3).tolist()
    [0.706, 0.706, 0.706, 0.098, 0.098, 0.098, 0.098, 0.294]
    """
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argsort(axis=1, kind="stable")[:, : min(NEIGHBORS, len(points) - 1)]
    share = is_mine[nearest].mean(axis=1)
    return np.asarray(np.where(is_mine, 0.51, 0.0) + 0.49 * share)


def learn_prototypes(
    mines: Array, clutter: Array, quiet: Array, counts: tuple[int, int, int] = (30, 30, 10), random_state: Any = None
) -> Prototypes:
    """Learn prototypes from labeled descriptors by k-means within each group.

    Parameters
    ----------
    mines : array of shape (n, n_numbers)
        Descriptors of windows that contain a mine.
    clutter, quiet : arrays of shape (n, n_numbers)
        Descriptors of windows of alarms without a mine: with and without a conspicuous signal.
    counts : tuple of int
        Number of prototypes per group.
    random_state : int, RandomState or None

    Returns
    -------
    Prototypes
        Their reach is the mean distance between a descriptor and the nearest prototype of its group.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> groups = [rng.normal(place, 0.1, (50, 2)) for place in (1, 0, -1)]
    >>> found = learn_prototypes(*groups, (6, 6, 3), random_state=0)
    >>> float(found.labels.min()), float(found.labels.max())
    (0.0, 1.0)
    """
    found, distances = [], []
    for what, descriptors, n in zip(
        ("mines", "clutter", "quiet windows"), (mines, clutter, quiet), counts, strict=True
    ):
        n_different = len(np.unique(descriptors, axis=0))
        if n_different < n:
            raise InputError(
                f"{n} prototypes of {what} need at least {n} different descriptors, got {n_different}: "
                "use more alarms for the calibration."
            )
        clusters = KMeans(n, n_init=4, random_state=random_state).fit(descriptors)
        found.append(clusters.cluster_centers_)
        distances.append(float(cdist(descriptors, clusters.cluster_centers_).min(axis=1).mean()))
    points = np.concatenate(found)
    return Prototypes(points, soft_labels(points, np.arange(len(points)) < counts[0]), float(np.mean(distances)))


def confidences(descriptors: Array, prototypes: Prototypes) -> Array:
    """Return the confidence (n,), from 0 to 1, that descriptors (n, n_numbers) show a mine.

    It is the mean over the K nearest prototypes of their soft label times the possibilistic weight
    1 / (1 + max(0, d/η - 1)^(2/(m-1))) of the distance d, where η is the reach. Descriptors far from all prototypes
    have a low confidence.

    Examples
    --------
    >>> known = Prototypes(np.array([[0.0], [1.0], [1.2], [1.4], [1.6]]), np.array([0.0, 1.0, 1.0, 1.0, 1.0]), 1.0)
    >>> confidences(np.array([[1.0], [100.0]]), known).round(3).tolist()
    [0.8, 0.0]
    """
    distances = cdist(descriptors, prototypes.points)
    k = min(NEIGHBORS, len(prototypes.points))
    nearest = distances.argsort(axis=1, kind="stable")[:, :k]
    beyond = np.maximum(np.take_along_axis(distances, nearest, axis=1) / prototypes.reach - 1.0, 0.0)
    weights = 1.0 / (1.0 + beyond ** (2.0 / (FUZZIFIER - 1.0)))
    return np.asarray((weights * prototypes.labels[nearest]).mean(axis=1))


# From cubes to bags.


@dataclasses.dataclass(frozen=True)
class Detectors:
    """The two calibrated edge histogram detectors.

    Attributes
    ----------
    down_track, cross_track : Prototypes
        Prototypes of EHDDT and EHDCT.
    seeds : tuple of int
        Random seeds of the simulated alarms used for calibration, which must not be used for other alarms. Empty for
        prototypes from other sources.
    """

    down_track: Prototypes
    cross_track: Prototypes
    seeds: tuple[int, ...] = ()

    def features(self, measured: Measured) -> Array:
        """Return the features (N_WINDOWS, 4) of the windows of a cube, in the order of `FEATURES`."""
        return np.column_stack(
            [
                confidences(measured.down_track, self.down_track),
                confidences(measured.cross_track, self.cross_track),
                measured.widths,
            ]
        )


def features_of(cubes: Iterable[npt.ArrayLike], detectors: Detectors, *, ids: Sequence[Any] | None = None) -> Bags:
    """Compute the same features for measured cubes, or cubes from another simulator.

    Parameters
    ----------
    cubes : iterable of arrays of shape (n_channels, n_scans, n_samples)
        Sampled like `GRID`, with the alarm in the center. Cubes are validated by `check_cube`; use `screen` to decide
        whether there is an alarm.
    detectors : Detectors
        From `calibrate`.
    ids : sequence, optional
        Unique names of the cubes.

    Returns
    -------
    Bags
        Without labels.

    Examples
    --------
    >>> from paper.radar.simulation import draw_alarm
    >>> by_hand = Prototypes(np.eye(35)[:2], np.array([1.0, 0.0]), reach=1.0)
    >>> cube = draw_alarm("high-metal mine", "easy", random_state=5).cube
    >>> features_of([cube], Detectors(by_hand, by_hand))
    Bags(1 bag, 15 instances, 4 features, 15 instances per bag)
    """
    given, detectors = _several(cubes), check_detectors(detectors)
    if isinstance(ids, str):
        raise InputError(f"ids must be a list with one name per cube, got {ids!r}.")
    names = list(range(len(given))) if ids is None else list(ids)
    if len(names) != len(given):
        raise InputError(f"There are {len(given)} cubes but {len(names)} ids: pass one id per cube.")
    repeated = [name for name, n in Counter(map(str, names)).items() if n > 1]
    if repeated:
        raise InputError(f"Duplicate ids {listed(repeated)}: every cube needs its own id.")
    bags = []
    for name, cube in zip(names, given, strict=True):
        bags.append(detectors.features(measure(cube, name=str(name))))
    return Bags.from_list(bags, FEATURES, ids=names)


def _several(cubes: Any) -> list[Any]:
    if isinstance(cubes, Mapping):
        raise InputTypeError("cubes must be a list of arrays, got a mapping: pass its values, and its keys as ids.")
    if isinstance(cubes, str | bytes) or not isinstance(cubes, Iterable):
        raise InputTypeError(f"cubes must be a list of arrays (channels, scans, samples), got {described(cubes)}.")
    if getattr(cubes, "ndim", 4) == 3:
        raise InputError("cubes must be a list of arrays, got a single 3-D array: pass [cube].")
    given = list(cubes)
    if not given:
        raise InputError("There are no cubes: pass at least one.")
    return given


def check_detectors(detectors: Any) -> Detectors:
    """Return the detectors, or raise `ParameterError` if they are something else."""
    if not isinstance(detectors, Detectors):
        raise ParameterError(f"detectors must be Detectors, as returned by calibrate, got {described(detectors)}.")
    return detectors
