"""Features of a radar cube: four in each of fifteen depth windows."""

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

__all__ = ["FEATURES", "Measured", "measure", "measured", "signature_width", "window_truth", "windows"]

FEATURES = ("EHDDT", "EHDCT", "width down-track", "width cross-track")
"""Feature names; widths are in meters."""

MIDDLE = 0.15
"""Distance from the center of the cube, in meters, within which slices belong to the alarm."""

_SPAN = 0.6  # half length of a slice in meters, the same down-track as the array has cross-track
_LEAST_SHARE = 0.2  # minimum target energy of a positive window, relative to the strongest window
_LEAST_RATIO = 0.5  # minimum ratio of target energy to background energy


@dataclass(frozen=True)
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
    >>> from fuzzymil.datasets.gpr.simulation import simulate_alarm
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
