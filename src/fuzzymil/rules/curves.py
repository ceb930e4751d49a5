"""The curves of fuzzy sets, computed here for every view, and small drawings of them for reports and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.drawings import HEIGHT, WIDTH, histogram, place
from fuzzymil._utils.text import visible
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.premises import hedged
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.rule import Variable

_TOP, _BOTTOM = 3, HEIGHT - 2  # membership 1 and 0


class Curve(NamedTuple):
    """The membership ``y`` (n,) of values ``x`` (n,) in a fuzzy set."""

    x: Array
    y: Array


def axis_of(variable: Variable, values: Array | None = None) -> tuple[float, float]:
    """Return the ends of the axis on which a variable is drawn: its range and the values or, without either, its sets.

    Each category has a place of the same width.
    """
    return (-0.5, len(variable.categories) - 0.5) if variable.categories else span(variable, values)


def typical_values(variables: Sequence[Variable], instances: Array | None = None) -> Array:
    """Return a value of each variable (n_variables,): the median of the instances (n, n_variables), or its middle.

    Between two categories there is none: of these it is the most frequent one, or the first.
    """
    found = [0.0 if variable.categories else sum(span(variable)) / 2 for variable in variables]
    for d, column in enumerate(() if instances is None else instances.T):
        known = column[~np.isnan(column)]
        if len(known) and variables[d].categories:
            codes, counts = np.unique(known, return_counts=True)
            found[d] = codes[counts.argmax()]
        elif len(known):
            found[d] = np.median(known)
    return np.array(found, float)


def curve_points(sets: Iterable[MembershipFunction], low: float, high: float) -> Array:
    """Return the values (n,) from ``low`` to ``high`` at which the curves of sets are drawn.

    They are evenly spaced, dense around each set, which an even grid would miss if it is narrow, and have its corners.
    """
    if not high > low:
        low, high = low - 0.5, low + 0.5
    found = [np.linspace(low, high, 161)]
    for chosen in sets:
        peak, width = float(chosen.peak(*chosen.parameters)), float(chosen.spread(*chosen.parameters))
        corners = [getattr(chosen, name) for name, role in chosen.roles().items() if role == "location"]
        found += [peak + width * np.linspace(-4.0, 4.0, 65), np.array(corners, float)]
    return np.sort(np.clip(np.concatenate(found), low, high))


def curve(
    chosen: MembershipFunction, low: float, high: float, hedges: Sequence[str] = (), *, at: Array | None = None
) -> Curve:
    """Return the curve of a fuzzy set: figures, reports, notebooks and the studio draw it.

    ``low``, ``high``: ends of the axis. ``hedges``: ``"not"``, ``"very"`` and so on, the outermost first. ``at`` (n,):
    values at which several sets are compared, see `curve_points`. Default: those of this set.
    """
    x = curve_points([chosen], low, high) if at is None else at
    return Curve(x, hedged(chosen, hedges, x))


# ---------------------------------------------------------------------- small drawings


class Sketch(NamedTuple):
    """A fuzzy set from ``low`` to ``high``: the points of its curve, a histogram behind it, and a marked value.

    ``names`` are the categories, if the values are their codes.
    """

    low: float
    high: float
    points: str
    histogram: str
    mark: float | None
    names: tuple[str, ...] = ()

    @property
    def svg(self) -> Markup:
        """The drawing; it carries the range, and the names of categories, for scripts."""
        behind = Markup('<path d="{}"></path>').format(self.histogram) if self.histogram else ""
        mark = ""
        if self.mark is not None:
            mark = Markup('<line x1="{0}" x2="{0}" y1="0" y2="{1}"></line>').format(self.mark, HEIGHT)
        named = Markup(' data-names="{}"').format("\n".join(map(visible, self.names))) if self.names else ""
        return Markup(
            '<svg class="set" viewBox="0 0 {} {}" aria-hidden="true" data-low="{:.6g}" data-high="{:.6g}"{}>{}'
            '<polyline points="{}"></polyline>{}</svg>'
        ).format(WIDTH, HEIGHT, self.low, self.high, named, behind, self.points, mark)


class Sketcher:
    """Draws the sets of variables over the range of the data.

    ``instances`` (n_instances, n_variables): as the rules see them.
    """

    def __init__(self, variables: Sequence[Variable], instances: Array) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._values = {variable.name: instances[:, d] for d, variable in enumerate(variables)}
        self._spans = {name: axis_of(variable, self._values[name]) for name, variable in self._variables.items()}
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

        ``hedges``: ``"not"``, ``"very"`` and so on, the outermost first. ``value``: value to mark. ``with_data``:
        whether to draw a histogram of the data behind the set.
        """
        low, high = self._spans[variable]
        key = (variable, term, hedges)
        if key not in self._outlines:
            self._outlines[key] = outline(self._variables[variable].terms[term], hedges, low, high)
        names = self._variables[variable].categories
        behind = histogram(self._values[variable], low, high, len(names) or 24) if with_data else ""
        mark = None if value is None else place(value, low, high)
        return Sketch(low, high, self._outlines[key], behind, mark, names)


def outline(chosen: MembershipFunction, hedges: tuple[str, ...], low: float, high: float) -> str:
    """Return the points of a set's curve for SVG, as few as the eye needs."""
    x, mu = curve(chosen, low, high, hedges)
    points = np.column_stack([WIDTH * (x - x[0]) / (x[-1] - x[0]), _BOTTOM - (_BOTTOM - _TOP) * mu])
    return " ".join(f"{across:.4g},{down:.3g}" for across, down in simplify_line(points, 0.25).round(1))


def simplify_line(points: Array, tolerance: float) -> Array:
    """Simplify a line of points (n, 2) within a tolerance (Ramer, Douglas and Peucker)."""
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
