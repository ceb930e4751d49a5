"""From a radar cube to what the fusion sees: four features in each of fifteen depth windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil.datasets.gpr.alignment import (
    SKIP,
    STEP,
    Background,
    align,
    background_of,
    background_scans,
    check_background,
    check_ground,
    ground_peaks,
    whiten,
)
from fuzzymil.datasets.gpr.edges import HOP, LENGTH, N_WINDOWS, cut, edge_histograms
from fuzzymil.datasets.gpr.geometry import GRID
from fuzzymil.datasets.gpr.prescreener import check_cube
from fuzzymil.datasets.gpr.widths import signature_width

__all__ = ["FEATURES", "Measured", "measure", "measured", "window_truth", "windows"]

FEATURES = ("EHDDT", "EHDCT", "width down-track", "width cross-track")
"""Names of the features of a window; widths are in meters."""

MIDDLE = 0.15
"""Meters from the middle of the cube within which slices count as the alarm's own."""

_SPAN = 0.6  # meters from the middle that a slice covers along the track: as far as the array reaches across it
_LEAST_SHARE = 0.2  # of the strongest window's target energy that makes a window positive
_LEAST_RATIO = 0.5  # of target energy by that of the background


@dataclass(frozen=True)
class Measured:
    """What the windows of a cube hold, before detectors judge it.

    Attributes
    ----------
    down_track, cross_track : arrays of shape (N_WINDOWS, 35)
        Edge histograms.
    widths : array of shape (N_WINDOWS, 2)
        Of the signature down-track and cross-track, in meters.
    energies : array of shape (N_WINDOWS,)
        Mean squares around the alarm, in units of the background's.
    target_energies : array of shape (N_WINDOWS,), or None
        The same of the target's echoes alone, where they are known.
    """

    down_track: Array
    cross_track: Array
    widths: Array
    energies: Array
    target_energies: Array | None = None


def windows() -> list[tuple[int, int]]:
    """Return where the depth windows begin and end, in samples of a cube after the ground reflection.

    Examples
    --------
    >>> windows()[0], windows()[-1], len(windows())
    ((12, 52), (180, 220), 15)
    """
    skip, step = round(SKIP / GRID.sample_spacing), round(STEP / GRID.sample_spacing)
    starts = range(0, N_WINDOWS * HOP, HOP)
    return [(skip + step * start, skip + step * (start + LENGTH)) for start in starts]


def measure(cube: npt.ArrayLike, target: Array | None = None, name: str = "") -> Measured:
    """Measure what the detectors need of a cube.

    Parameters
    ----------
    cube : array-like of shape (n_channels, n_scans, n_samples)
        With the alarm in the middle. What `check_cube` refuses is refused here, too.
    target : array of the same shape, optional
        The target's echoes alone, where they are known.
    name : str
        Of the alarm, for messages.

    Examples
    --------
    >>> from fuzzymil.datasets.gpr.simulation import simulate_alarm
    >>> alarm = simulate_alarm("high-metal mine", "easy", random_state=0)
    >>> found = measure(alarm.cube, alarm.target)
    >>> found.down_track.shape, found.widths.shape, bool(window_truth(found.target_energies).any())
    ((15, 35), (15, 2), True)
    """
    return measured(check_cube(cube, name=name), target, name)


def measured(cube: Array, target: Array | None = None, name: str = "") -> Measured:
    """Measure as `measure` does, a cube that is known to be in order."""
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
    """Return the width (N_WINDOWS,) of the signature along the places of ``slices`` (n, n_places, n_depths)."""
    energy = cut(np.square(slices).mean(axis=0)).mean(axis=-1)  # (places, windows)
    floor = cut(np.square(whitened[:, background_scans()]).mean(axis=(0, 1))).mean(axis=-1)
    return signature_width(energy.T, floor, spacing)


def _energies(whitened: Array) -> Array:
    """Return the mean square (N_WINDOWS,) around the middle of the cube."""
    around = whitened[np.abs(GRID.y) <= MIDDLE][:, np.abs(GRID.x) <= MIDDLE]
    return np.asarray(cut(np.square(around).mean(axis=(0, 1))).mean(axis=-1))


def _target_alone(target: Array, peaks: Array, background: Background) -> Array:
    """Return the target's echoes as they stand in the whitened cube."""
    silent = background._replace(mean=np.zeros_like(background.mean))
    return whiten(align(np.asarray(target, float), peaks), silent)


def window_truth(target_energies: Array) -> Array:
    """Tell which windows hold the target.

    A window does if it has at least 0.2 of the target energy of the strongest window, and more than half the energy
    of the background.

    Parameters
    ----------
    target_energies : array of shape (..., N_WINDOWS)
        In units of the background's energy.

    Returns
    -------
    array of int, of the same shape

    Examples
    --------
    >>> window_truth(np.array([0.0, 9.0, 2.0, 1.0])).tolist()
    [0, 1, 1, 0]
    >>> window_truth(np.array([0.1, 0.2])).tolist()
    [0, 0]
    """
    enough = target_energies >= _LEAST_SHARE * target_energies.max(axis=-1, keepdims=True)
    return np.asarray(enough & (target_energies > _LEAST_RATIO)).astype(int)
