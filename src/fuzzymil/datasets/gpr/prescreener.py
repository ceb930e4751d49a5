"""The door for radar cubes: what is no usable cube is refused, and what shows nothing in its middle raises no alarm."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import uniform_filter

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, described, listed
from fuzzymil.datasets.gpr.alignment import (
    BACKGROUND_DISTANCE,
    align,
    background_of,
    check_background,
    check_ground,
    ground_peaks,
    whiten,
)
from fuzzymil.datasets.gpr.edges import cut
from fuzzymil.datasets.gpr.geometry import GRID, Grid

__all__ = ["LEAST_BACKGROUND", "LEAST_ENERGY", "Screening", "check_cube", "screen", "screened"]

LEAST_BACKGROUND = 12
"""Scans beyond `alignment.BACKGROUND_DISTANCE` without which there is no background to compare with."""

LEAST_ENERGY = 2.5
"""Mean square in the best window, in units of the background's, from which on the prescreener raises an alarm."""

_PATCH = 0.3  # meters, the side of the square that energy is averaged over: about as wide as a signature
_AIM = 0.2  # meters from the middle, in either direction, within which an alarm's strongest patch must lie
_CLIPPED_RUN = 3  # samples in a row at the greatest value of a channel: a pulse's top has one, or two by chance
_CLIPPED_SHARE = 0.1  # of a channel's traces
_OFFSET = 0.1  # of a channel's greatest sample: up to there the ground stays the greatest value of the mean trace
_GREATEST = 1e15  # of a sample: its square is far from what 32 bit can hold, and so is that of its inverse


@dataclasses.dataclass(frozen=True)
class Screening:
    """What the prescreener found.

    Parameters
    ----------
    raised : bool
        Whether there is an alarm.
    reason : str
        Why there is one or none, in words.
    energy : float
        Greatest energy of a patch of 0.3 m in a depth window around the middle, in units of the background's.
    x, y : float
        Where the strongest patch of the whole cube is, in meters from the middle.
    """

    raised: bool
    reason: str
    energy: float
    x: float
    y: float


def screen(cube: Any) -> Screening:
    """Decide by energy whether there is something in the middle of a cube.

    Traces are aligned to the ground and compared with the scans away from the middle (`alignment`). Their squares are
    averaged over depth windows and patches of 0.3 m. An alarm needs a patch near the middle with `LEAST_ENERGY` times
    the background's energy. It is rejected, too, when a stronger patch lies at the edge: among the background scans,
    which then are none, or under the outermost channels, where half of it was not recorded.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
        What `check_cube` refuses is refused here, too.

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.simulation import simulate_alarm
    >>> mine = simulate_alarm("high-metal mine", "easy", random_state=0).cube
    >>> screen(mine).raised, screen(np.roll(mine, 25, axis=1)).raised
    (True, False)
    """
    numbers = check_cube(cube)
    check_background(background_of(align(numbers, ground_peaks(numbers))))
    return screened(numbers)


def screened(cube: Array) -> Screening:
    """Decide as `screen` does, on a cube that is known to be in order."""
    aligned = align(cube, ground_peaks(cube))
    energies = cut(np.square(whiten(aligned, background_of(aligned)))).mean(axis=-1)  # (c, s, windows)
    size = (round(_PATCH / GRID.channel_spacing), round(_PATCH / GRID.scan_spacing), 1)
    patches = uniform_filter(energies, size, mode="nearest").max(axis=2)  # (c, s)
    channel, scan = np.unravel_index(patches.argmax(), patches.shape)
    x, y = float(GRID.x[scan]), float(GRID.y[channel])
    energy = float(patches[np.ix_(np.abs(GRID.y) <= _AIM, np.abs(GRID.x) <= _AIM)].max())
    at_edge = abs(x) > BACKGROUND_DISTANCE or abs(y) > GRID.y[-1] - _PATCH / 2
    reason = f"the middle has {energy:.1f} times the background's energy (an alarm needs {LEAST_ENERGY})"
    if at_edge and patches.max() >= LEAST_ENERGY:
        reason += (
            f", the edge {patches.max():.1f} times, {x:+.2f} m down-track and {y:+.2f} m cross-track of the middle: "
            "center the cube there"
        )
    return Screening(energy >= LEAST_ENERGY and not at_edge, reason, energy, x, y)


def check_cube(cube: Any, grid: Grid = GRID, name: str = "") -> Array:
    """Return a cube as numbers, or raise an `InputError` that says what is wrong with it.

    Samples have no offset, and the ground is the strongest echo of a channel. Refused are other shapes than the grid's,
    samples that are no finite numbers, out of all proportion or around another value than 0, channels that recorded
    nothing (the same value throughout a trace) or that are saturated (cut off at their greatest or least value), too
    few different scans away from the middle to know the background, and a ground so late in the record that the deepest
    windows are not in it. Cubes that show nothing in the middle, or more at the edge, can be used: it is `screen` that
    rejects them, with a reason.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
    grid : Grid
    name : str
        Of the cube, for messages.

    Returns
    -------
    array of the same shape, 32 or 64 bit

    Examples
    --------
    >>> check_cube(np.zeros((24, 60, 100)))
    Traceback (most recent call last):
    ...
    fuzzymil.InputError: The cube has the shape (24, 60, 100), expected (24, 60, 256): channels, scans, ...
    """
    what = f"The cube {name}" if name else "The cube"
    numbers = _numbers(cube, what, grid)
    if numbers.shape != grid.shape:
        raise InputError(
            f"{what} has the shape {numbers.shape}, expected {grid.shape}: channels, scans, samples. Cut it around the "
            f"alarm or resample it; scans more than {BACKGROUND_DISTANCE} m from the middle are its background and "
            "must have been recorded."
        )
    bad = ~np.isfinite(numbers)
    if bad.any():
        channel, scan, sample = np.argwhere(bad)[0]
        raise InputError(
            f"{what} has samples that are no finite numbers ({bad.sum()} of {bad.size}), the first in channel "
            f"{channel}, scan {scan}, sample {sample} ({numbers[channel, scan, sample]}): fill the gap or leave the "
            "cube out."
        )
    far = numbers[:, np.abs(grid.x) > BACKGROUND_DISTANCE]
    n_background = len(np.unique(far.swapaxes(0, 1).reshape(far.shape[1], -1), axis=0))
    if n_background < LEAST_BACKGROUND:
        raise InputError(
            f"{what} has {n_background} different background scans (more than {BACKGROUND_DISTANCE} m from the "
            f"middle), but at least {LEAST_BACKGROUND} are needed: record a longer piece of track. Scans that are "
            "repeated or filled in are no background."
        )
    _refuse(what, (np.ptp(numbers, axis=2) == 0).any(axis=1), "recorded nothing in at least one scan")
    _refuse(what, _saturated(numbers), "are saturated (cut off at their greatest or least value)")
    greatest = float(np.abs(numbers).max())
    if not 1 / _GREATEST <= greatest <= _GREATEST:
        raise InputError(
            f"{what} has a greatest sample of {greatest:.3g}, expected one between {1 / _GREATEST:g} and "
            f"{_GREATEST:g}: divide all samples by one number. The unit does not matter to the features."
        )
    middle = np.median(numbers, axis=(1, 2))
    off = np.abs(middle) > _OFFSET * np.abs(numbers - middle[:, None, None]).max(axis=(1, 2))
    if off.any():
        raise InputError(
            f"{what} has an offset: samples of channel {off.argmax()} lie around {middle[off.argmax()]:.6g}. Subtract "
            "it, so that silence is 0."
        )
    check_ground(ground_peaks(numbers), what)
    return numbers


def _numbers(cube: Any, what: str, grid: Grid) -> Array:
    try:
        return arrays.numeric(cube)
    except InputTypeError:
        got = getattr(cube, "dtype", None) or described(cube)
        way = "give its attribute cube" if hasattr(cube, "cube") else "convert it first"
        raise InputTypeError(
            f"{what} must be an array of real numbers of shape {grid.shape} (channels, scans, samples), got {got}: "
            f"{way}."
        ) from None


def _refuse(what: str, channels: Array, because: str) -> None:
    if channels.any():
        raise InputError(
            f"{what} has channels that {because}: {listed(np.flatnonzero(channels))} (counted from 0). Leave it out, "
            "or replace them by what their neighbors recorded."
        )


def _saturated(cube: Array) -> Array:
    """Tell which channels (n_channels,) stay at their extreme value for several samples in many of their traces."""
    found = np.zeros(len(cube), bool)
    for extreme in (cube.max(axis=(1, 2)), cube.min(axis=(1, 2))):
        there = cube == extreme[:, None, None]
        runs = np.asarray(sliding_window_view(there, _CLIPPED_RUN, axis=2).all(axis=-1))
        found |= runs.any(axis=2).mean(axis=1) >= _CLIPPED_SHARE
    return found
