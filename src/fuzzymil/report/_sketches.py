"""Small drawings inside the text: fuzzy sets, how values are spread, and bars; as SVG without any names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.membership import MembershipFunction
from fuzzymil.network.premises import hedged
from fuzzymil.report.html import Markup, element
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.rule import Variable

__all__ = ["HEIGHT", "WIDTH", "Sketcher", "bar", "columns", "outline", "thinned"]

WIDTH, HEIGHT = 120, 36  # of a drawing, in its own units
_TOP, _BOTTOM = 3, HEIGHT - 2  # membership 1 and 0
_BINS = 24


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
    >>> print(Sketcher([hue], np.array([[0.1], [0.9]])).draw("hue", "blue", value=0.5))
    <svg class="set" viewBox="0 0 120 36" aria-hidden="true" data-low="0.0" data-high="1.0"><polyline
    points="0,34 48,34 72,3 96,34 120,34"></polyline><line x1="60" x2="60" y1="0" y2="36"></line></svg>
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
        spread: bool = False,
    ) -> Markup:
        """Return a drawing of a set.

        Parameters
        ----------
        variable, term : str
        hedges : tuple of str
            ``"not"`` and the like, the outermost first.
        value : float, optional
            Where to draw a mark.
        spread : bool
            Whether to draw how the data are spread, behind the set.
        """
        low, high = self._spans[variable]
        key = (variable, term, hedges)
        if key not in self._outlines:
            self._outlines[key] = outline(self._variables[variable].terms[term], hedges, low, high)
        place = None if value is None else _place(value, low, high)
        return element(
            "svg",
            columns(self._values[variable], low, high) if spread else None,
            element("polyline", points=self._outlines[key]),
            None if place is None else element("line", x1=place, x2=place, y1=0, y2=HEIGHT),
            class_="set",
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            aria_hidden="true",
            data_low=f"{low:.6}",
            data_high=f"{high:.6}",
        )


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
    near = peak + width * np.linspace(-4.0, 4.0, 65)  # a narrow set would fall between the points of an even grid
    # Points beyond the range go to its ends and not away: arrays of one size need one compiled program.
    x = np.sort(np.concatenate([np.linspace(low, high, 121), np.clip(near, low, high)]))
    mu = hedged(chosen, hedges, x)
    points = np.column_stack([WIDTH * (x - low) / (high - low), _BOTTOM - (_BOTTOM - _TOP) * mu])
    return " ".join(f"{across:.4g},{down:.3g}" for across, down in thinned(points, 0.25).round(1))


def thinned(points: Array, tolerance: float) -> Array:
    """Leave out points (n, 2) of a line that its other points tell within a distance (Ramer, Douglas and Peucker).

    Examples
    --------
    >>> thinned(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), 0.1).tolist()
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


def columns(values: Array, low: float, high: float) -> Markup:
    """Draw how values (n,) are spread from ``low`` to ``high``; missing ones do not count.

    Examples
    --------
    >>> columns(np.array([0.0, 0.0, 1.0, np.nan]), 0.0, 1.0)
    '<path d="M0 36V4h5V36M115 36V20h5V36"></path>'
    """
    known = values[~np.isnan(values)]
    counts, _ = np.histogram(known, _BINS, (low, high) if high > low else (low - 0.5, low + 0.5))
    heights = (HEIGHT - 4) * counts / max(int(counts.max(initial=0)), 1)
    step = WIDTH // _BINS
    # What occurs is at least one unit high: rare is not never.
    shown = [(n, max(float(height), 1.0)) for n, height in enumerate(heights) if counts[n]]
    return element("path", d="".join(f"M{step * n} {HEIGHT}V{HEIGHT - tall:.3g}h{step}V{HEIGHT}" for n, tall in shown))


def bar(value: float, low: float, high: float, *, signed: bool = False, mark: float | None = None) -> Markup:
    """Draw a number as a bar from zero (or the nearer end of the range).

    Parameters
    ----------
    value, low, high : float
        The number, and the ends of the range that is drawn.
    signed : bool
        Whether numbers above and below zero have colors of their own.
    mark : float, optional
        Another number, drawn as an upright line.

    Examples
    --------
    >>> print(bar(0.5, 0.0, 1.0))
    <svg class="bar" viewBox="0 0 120 12" preserveAspectRatio="none" aria-hidden="true"><rect x="0" y="2" width="60"
    height="8"></rect></svg>
    """
    zero = min(max(0.0, low), high)
    start, end = sorted((_place(zero, low, high), _place(value, low, high)))
    sign = ("less" if value < zero else "more") if signed else None
    ticks = [(zero, "zero")] if low < zero else []
    ticks += [(mark, "mark")] if mark is not None else []
    return element(
        "svg",
        element("rect", x=start, y=2, width=round(end - start, 1), height=8, class_=sign),
        [
            element("line", x1=_place(tick, low, high), x2=_place(tick, low, high), y1=0, y2=12, class_=kind)
            for tick, kind in ticks
        ],
        class_="bar",
        viewBox=f"0 0 {WIDTH} 12",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _place(value: float, low: float, high: float) -> float | int:
    """Return where a value is drawn between the ends of a range; beyond them, at the end."""
    part = (value - low) / (high - low) if high > low else 0.5
    place = round(WIDTH * min(max(part, 0.0), 1.0), 1)
    return int(place) if math.floor(place) == place else place
