"""Radar cubes on common ground: traces shifted to the ground reflection, freed of the background, in its units."""

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
"""Seconds after the ground reflection's peak at which the aligned traces begin: before, its own pulse rules."""

STEP = 0.1e-9
"""Seconds between samples of the aligned traces; a hyperbola's flank then moves by one to three samples a scan."""

DEPTHS = 104
"""Samples of an aligned trace."""

BACKGROUND_DISTANCE = 0.6
"""Meters down-track from the middle of a cube beyond which a scan counts as background."""

LATEST_GROUND = GRID.n_samples - 1 - round((SKIP + STEP * (DEPTHS - LENGTH // 2)) / GRID.sample_spacing)
"""Sample at which a ground reflection may lie at most: half of the deepest window is still recorded."""

_REACH = 0.3e-9  # how far a trace's ground may lie from its channel's: ten times what height and roughness make


class Background(NamedTuple):
    """What an aligned cube is like away from the alarm.

    Attributes
    ----------
    mean : array of shape (n_channels, n_depths)
    deviation : array of shape (n_depths,)
    """

    mean: Array
    deviation: Array


def background_scans() -> Array:
    """Tell which scans lie far enough from the middle to be background, shape (n_scans,).

    Examples
    --------
    >>> int(background_scans().sum())
    36
    """
    return np.asarray(np.abs(GRID.x) > BACKGROUND_DISTANCE)


def ground_peaks(cube: Array) -> Array:
    """Find where each trace has the ground reflection.

    A channel's ground is the greatest extremum of its mean trace: samples have no offset, and no echo is stronger. A
    trace's own is the greatest value of the same sign near by, refined by a parabola through its neighbors.

    Parameters
    ----------
    cube : array of shape (n_channels, n_scans, n_samples)

    Returns
    -------
    array of shape (n_channels, n_scans)
        In samples, with fractions.

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
    middle = np.minimum(np.maximum(middle, reach + 1), cube.shape[2] - reach - 2)  # room for the search on both sides
    near = middle[:, None] + np.arange(-reach - 1, reach + 2)  # (c, n)
    values = np.take_along_axis(cube, near[:, None, :], axis=2) * sign[:, None]  # (c, s, n)
    best = 1 + values[..., 1:-1].argmax(axis=2)
    left, top, right = (np.take_along_axis(values, best[..., None] + k, axis=2)[..., 0] for k in (-1, 0, 1))
    bend = left - 2 * top + right
    # Flat, or still rising where the search ended: no parabola has its top there.
    peaked = (bend < 0) & (np.abs(left - right) <= -bend)
    offset = np.where(peaked, 0.5 * (left - right) / np.where(peaked, bend, 1.0), 0.0)
    return np.asarray(middle[:, None] - reach - 1 + best + offset)


def check_ground(peaks: Array, what: str = "The cube") -> None:
    """Raise an `InputError` where the ground reflection comes so late that the deepest windows were not recorded.

    Parameters
    ----------
    peaks : array of shape (n_channels, n_scans)
        From `ground_peaks`.
    what : str
        The cube, for messages.

    Examples
    --------
    >>> check_ground(np.full((24, 60), 200.0))
    Traceback (most recent call last):
    ...
    fuzzymil.InputError: The cube has its strongest echo, which is taken for the ground, at sample 200 in ...
    """
    channel, scan = np.unravel_index(peaks.argmax(), peaks.shape)
    latest = float(peaks[channel, scan])
    if latest > LATEST_GROUND:
        raise InputError(
            f"{what} has its strongest echo, which is taken for the ground, at sample {latest:.0f} in channel "
            f"{channel}, scan {scan}, but the windows fit into the record up to sample {LATEST_GROUND}: let the record "
            "begin later, and leave out what is stronger than the ground."
        )


def align(cube: Array, peaks: Array) -> Array:
    """Shift every trace to its ground reflection, leave that out, and sample more coarsely.

    Each new sample is the mean of the record over its own interval, by linear interpolation at two points. After the
    end of the record it is NaN.

    Parameters
    ----------
    cube : array of shape (n_channels, n_scans, n_samples)
    peaks : array of shape (n_channels, n_scans)
        From `ground_peaks`.

    Returns
    -------
    array of shape (n_channels, n_scans, DEPTHS)

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
    """Measure the background: the mean of each channel and depth, and the deviation from it at each depth.

    Parameters
    ----------
    aligned : array of shape (n_channels, n_scans, n_depths)
    """
    quiet = aligned[:, background_scans()]
    mean = quiet.mean(axis=1)
    deviation = np.sqrt(np.square(quiet - mean[:, None]).mean(axis=(0, 1)))
    return Background(mean, deviation)


def check_background(background: Background, what: str = "The cube") -> None:
    """Raise an `InputError` where the background does not vary, so that it is no unit to measure in.

    Parameters
    ----------
    background : Background
    what : str
        The cube, for messages.

    Examples
    --------
    >>> check_background(background_of(np.ones((24, 60, 104))))
    Traceback (most recent call last):
    ...
    fuzzymil.InputError: The cube has a background that does not vary at all 0.6 ns below the ground: ...
    """
    still = background.deviation == 0
    if still.any():
        depth = 1e9 * (SKIP + STEP * still.argmax())
        raise InputError(
            f"{what} has a background that does not vary at all {depth:.1f} ns below the ground: real traces hold "
            "noise. Give the samples as they were recorded, neither filled in nor rounded to a few values."
        )


def whiten(aligned: Array, background: Background) -> Array:
    """Take the background's mean off each channel and divide each depth by the background's deviation.

    Depths that not every trace reaches become 0, which is what background is on average.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> aligned = rng.normal(3.0, 2.0, size=(24, 60, 104))
    >>> bool(abs(whiten(aligned, background_of(aligned)).std() - 1) < 0.05)
    True
    """
    scaled = (aligned - background.mean[:, None]) / background.deviation
    return np.where(np.isnan(aligned).any(axis=(0, 1)), 0.0, scaled)
