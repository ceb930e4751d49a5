"""Alignment of traces to the ground reflection, and whitening by the background."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets.gpr.edges import LENGTH
from fuzzymil.datasets.gpr.geometry import GRID

__all__ = [
    "BACKGROUND_DISTANCE",
    "DEPTHS",
    "LATEST_GROUND",
    "SKIP",
    "STEP",
    "Background",
    "align",
    "background_of",
    "background_scans",
    "check_background",
    "check_ground",
    "ground_peaks",
    "whiten",
]

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
