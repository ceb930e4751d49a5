"""Thresholds of features: where they divide the values, and how steep the sets at them are."""

from __future__ import annotations

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["limits"]

_TAILS = (0.05, 0.02, 0.01, 0.005)  # shares of rare bags that thresholds separate from the others
_RARE_BAGS = 10  # at least so many
_LEAST_RANGE = 1e-290  # of a feature: the slopes of its sets would overflow
_AT_ONCE = 1 << 19  # values, to bound the memory that sorting them takes


def limits(values: Array, count: int, *, tails: bool = False) -> list[tuple[Array, Array]]:
    """Return thresholds that divide the values of each feature into parts of equal size, and the slopes of the sets.

    Parameters
    ----------
    values : array of shape (n, d)
        Those that are not finite do not count.
    count : int
        Number of thresholds; fewer where a feature has few values.
    tails : bool
        Whether there are some more among the least and the greatest of many values.

    Returns
    -------
    list of (centers, slopes), one pair of arrays for each feature
    """
    some = max(_AT_ONCE // max(len(values), 1), 1)
    parts = (values[:, first : first + some] for first in range(0, values.shape[1], some))
    return [each for part in parts for each in _limits(part, count, tails)]


def _limits(values: Array, count: int, tails: bool) -> list[tuple[Array, Array]]:
    # One feature per row. Doing the same to one after the other would mostly be overhead of many small calls.
    known = np.sort(np.where(np.isfinite(values), values, np.nan).T, axis=1)  # NaN comes last
    n_known = np.count_nonzero(~np.isnan(known), axis=1)
    found = [(np.empty(0), np.empty(0))] * len(known)
    rows = np.flatnonzero(n_known > 1)
    rows = rows[_at(known[rows], n_known[rows] - 1) - known[rows, 0] >= _LEAST_RANGE]
    known, n_known = known[rows], n_known[rows]
    least, greatest = known[:, 0], _at(known, n_known - 1)
    # A threshold lies between two values that differ by more than rounding.
    rounding = np.maximum(
        1e-12 * (greatest - least), 8 * np.finfo(float).eps * np.maximum(np.abs(least), np.abs(greatest))
    )
    is_step = np.diff(known, axis=1) > rounding[:, None]
    n_steps = np.count_nonzero(is_step, axis=1)
    for n in np.flatnonzero((n_steps > 0) & (n_steps <= count)):
        steps = np.flatnonzero(is_step[n])
        slope = 8.0 / float((known[n, steps + 1] - known[n, steps]).min())
        found[rows[n]] = (known[n, steps] + known[n, steps + 1]) / 2, np.full(len(steps), slope)
    many = np.flatnonzero(n_steps > count)
    if len(many):
        pairs = _many_limits(known[many], n_known[many], is_step[many], count, tails)
        for n, pair in zip(rows[many], pairs, strict=True):
            found[n] = pair
    return found


def _many_limits(known: Array, n_known: Array, is_step: Array, count: int, tails: bool) -> list[tuple[Array, Array]]:
    """Return the same for features with more steps between their values, which are sorted, than thresholds."""
    places = np.linspace(0, n_known, count + 2)[1:-1].T
    if tails:
        rare = np.array(_TAILS) * n_known[:, None]
        is_rare = rare >= _RARE_BAGS
        low = np.where(is_rare, rare, places[:, :1])
        high = np.where(is_rare, n_known[:, None] - rare, places[:, -1:])
        places = np.sort(np.concatenate([low, places, high], axis=1), axis=1)
    # The next step from each value on; from the last one on, the last step.
    n_pairs = is_step.shape[1]
    last = n_pairs - 1 - np.argmax(is_step[:, ::-1], axis=1)
    following = np.where(is_step, np.arange(n_pairs), last[:, None])
    following = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
    wanted = np.clip(np.ceil(places - 1), 0, n_pairs - 1).astype(int)
    steps = np.take_along_axis(following, wanted, axis=1)
    new = np.diff(steps, axis=1, prepend=-1) > 0
    centers = (np.take_along_axis(known, steps, axis=1) + np.take_along_axis(known, steps + 1, axis=1)) / 2
    low, high = _at(known, n_known // 10), _at(known, n_known - 1 - n_known // 10)
    spread = np.where(high > low, high - low, _at(known, n_known - 1) - known[:, 0])
    slopes = 4.0 * count / spread
    part = n_known // (count + 1)
    far = (steps < (part - 1)[:, None]) | (steps > (n_known - 1 - part)[:, None])
    middle = (_at(known, (n_known - 1) // 2) + _at(known, n_known // 2)) / 2
    found = []
    for n, chosen in enumerate(new):
        own = centers[n, chosen]
        steep = np.full(len(own), slopes[n])
        if tails and len(own) > 1 and far[n].any():
            # There, sets are as steep as the distance from the next threshold asks for.
            gaps = np.diff(own)
            inner = np.where(own < middle[n], np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
            steep = np.where(far[n, chosen], np.maximum(steep, 4.0 / inner), steep)
        found.append((own, steep))
    return found


def _at(rows: Array, places: Array) -> Array:
    """Return one value of each row."""
    return np.asarray(rows[np.arange(len(rows)), places])
