"""Geometry of the small drawings in the text: fuzzy sets, histograms and bars; ``macros.html`` makes them SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.membership import MembershipFunction
from fuzzymil.network.premises import hedged
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.rule import Variable

WIDTH, HEIGHT = 120, 36  # of a drawing, in its own units; macros.html and report.js use the same
_TOP, _BOTTOM = 3, HEIGHT - 2  # membership 1 and 0
_BINS = 24


class Sketch(NamedTuple):
    """A fuzzy set from ``low`` to ``high``: the points of its curve, a histogram behind it, and a marked value."""

    low: float
    high: float
    points: str
    histogram: str
    mark: float | None


class Bar(NamedTuple):
    """A bar: where it starts, how wide it is, its sign (or none), and where zero and a marked value are."""

    start: float
    width: float
    sign: str
    zero: float | None
    mark: float | None


class Sketcher:
    """Draws the sets of variables over the range of the data.

    Parameters
    ----------
    variables : sequence of Variable
    instances : array of shape (n_instances, n_variables)
        As the rules see them.

    Examples
    --------
    >>> from fuzzymil.membership import Triangular
    >>> hue = Variable("hue", {"blue": Triangular(0.4, 0.6, 0.8)}, low=0.0, high=1.0)
    >>> Sketcher([hue], np.array([[0.1], [0.9]])).draw("hue", "blue", value=0.5)
    Sketch(low=0.0, high=1.0, points='0,34 48,34 72,3 96,34 120,34', histogram='', mark=60)
    """

    def __init__(self, variables: Sequence[Variable], instances: Array) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._values = {variable.name: instances[:, d] for d, variable in enumerate(variables)}
        self._spans = {name: span(variable, self._values[name]) for name, variable in self._variables.items()}
        self._outlines: dict[tuple[str, str, tuple[str, ...]], str] = {}

    def draw(
        self,
        variable: str,
        term: str,
        hedges: tuple[str, ...] = (),
        *,
        value: float | None = None,
        with_data: bool = False,
    ) -> Sketch:
        """Return a drawing of a set.

        Parameters
        ----------
        variable, term : str
        hedges : tuple of str
            ``"not"``, ``"very"`` and so on, the outermost first.
        value : float, optional
            Value to mark.
        with_data : bool
            Whether to draw a histogram of the data behind the set.
        """
        low, high = self._spans[variable]
        key = (variable, term, hedges)
        if key not in self._outlines:
            self._outlines[key] = outline(self._variables[variable].terms[term], hedges, low, high)
        behind = histogram(self._values[variable], low, high) if with_data else ""
        return Sketch(low, high, self._outlines[key], behind, None if value is None else _place(value, low, high))


def outline(chosen: MembershipFunction, hedges: tuple[str, ...], low: float, high: float) -> str:
    """Return the points of a set's curve from ``low`` to ``high``, as few as the eye needs.

    Examples
    --------
    >>> from fuzzymil.membership import Triangular
    >>> outline(Triangular(0, 1, 2), (), 0.0, 2.0)
    '0,34 60,3 120,34'
    """
    if not high > low:
        low, high = low - 0.5, low + 0.5
    peak, width = float(chosen.peak(*chosen.parameters)), float(chosen.spread(*chosen.parameters))
    near = peak + width * np.linspace(-4.0, 4.0, 65)  # an even grid would miss a narrow set
    # Clip points outside the range rather than drop them: arrays of one size need one compiled program.
    x = np.sort(np.concatenate([np.linspace(low, high, 121), np.clip(near, low, high)]))
    mu = hedged(chosen, hedges, x)
    points = np.column_stack([WIDTH * (x - low) / (high - low), _BOTTOM - (_BOTTOM - _TOP) * mu])
    return " ".join(f"{across:.4g},{down:.3g}" for across, down in simplified(points, 0.25).round(1))


def simplified(points: Array, tolerance: float) -> Array:
    """Simplify a line of points (n, 2) within a tolerance (Ramer, Douglas and Peucker).

    Examples
    --------
    >>> simplified(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), 0.1).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]
    """
    kept = {0, len(points) - 1}
    parts = [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        start, along = points[first], points[last] - points[first]
        away = points[first + 1 : last] - start
        length = float(np.hypot(*along))
        distance = np.abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / length if length else np.hypot(*away.T)
        if distance.max() > tolerance:
            farthest = first + 1 + int(distance.argmax())
            kept.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return np.asarray(points[sorted(kept)])


def histogram(values: Array, low: float, high: float) -> str:
    """Return the SVG path of a histogram of values (n,) from ``low`` to ``high``, without the missing ones.

    Examples
    --------
    >>> histogram(np.array([0.0, 0.0, 1.0, np.nan]), 0.0, 1.0)
    'M0 36V4h5V36M115 36V20h5V36'
    """
    known = values[~np.isnan(values)]
    counts, _ = np.histogram(known, _BINS, (low, high) if high > low else (low - 0.5, low + 0.5))
    heights = (HEIGHT - 4) * counts / max(int(counts.max(initial=0)), 1)
    step = WIDTH // _BINS
    # A bin with any value is at least one unit high: rare is not never.
    shown = [(n, max(float(height), 1.0)) for n, height in enumerate(heights) if counts[n]]
    return "".join(f"M{step * n} {HEIGHT}V{HEIGHT - tall:.3g}h{step}V{HEIGHT}" for n, tall in shown)


def bar(
    value: float, low: float, high: float, *, signed: bool = False, mark: float | None = None, start: float = 0.0
) -> Bar:
    """Return a number as a bar that starts at zero (or at the nearer end of the range).

    Parameters
    ----------
    value, low, high : float
        The number, and the ends of the range.
    signed : bool
        Whether positive and negative numbers have their own colors.
    mark : float, optional
        Another number to mark.
    start : float
        Where the bar starts instead of at zero; it ends at ``start + value``.

    Examples
    --------
    >>> bar(0.5, 0.0, 1.0)
    Bar(start=0, width=60, sign='', zero=None, mark=None)
    >>> bar(-0.25, 0.0, 1.0, start=0.5)
    Bar(start=30, width=30, sign='', zero=None, mark=None)
    """
    zero = min(max(0.0, low), high)
    first, last = sorted((_place(start or zero, low, high), _place(start + value, low, high)))
    return Bar(
        first,
        round(last - first, 1),
        ("less" if value < (0.0 if start else zero) else "more") if signed else "",
        _place(zero, low, high) if low < zero else None,
        None if mark is None else _place(mark, low, high),
    )


def _place(value: float, low: float, high: float) -> float | int:
    """Return where to draw a value between the ends of a range; outside of it, at the nearer end."""
    part = (value - low) / (high - low) if high > low else 0.5
    place = round(WIDTH * min(max(part, 0.0), 1.0), 1)
    return int(place) if math.floor(place) == place else place
