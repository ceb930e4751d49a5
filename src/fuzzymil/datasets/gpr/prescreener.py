"""Validation of radar cubes, and the prescreener that raises alarms."""

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
    >>> from fuzzymil.datasets.gpr.simulation import simulate_alarm
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
