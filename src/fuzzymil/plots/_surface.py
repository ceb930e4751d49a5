"""The output of rules as a function of two features, for bags with one instance, or several equal ones."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.bags import Bags
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.effects import position
from fuzzymil.plots._rules import leading_features, rules_of
from fuzzymil.plots.style import (
    add_colorbar,
    add_legend,
    as_written,
    bare,
    shorten,
    subplots,
    value_shown,
    write_values,
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import bags_of_equal, equal_instances, seen_bags
from fuzzymil.rules.curves import typical_values
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.rule import Variable

_UNKNOWN = 0.05  # firing strength below which no rule is said to apply
_FEW = 4  # other features whose values are written


@dataclasses.dataclass(repr=False)
class SurfaceDisplay:
    """The output as a function of two features: a color map with contour lines.

    For normalized rules, it is hatched where no rule has a firing strength of 0.05 or more: no rule applies to such an
    instance, and the output there is that of the nearest rules.

    Parameters
    ----------
    x, y, z : arrays of shape (n_x,), (n_y,), (n_y, n_x)
        Values of the two ``features``, and the ``output`` for a bag with its instances there.
    strongest : array of shape (n_y, n_x), or None
        Greatest firing strength there; None for additive rules, whose output is meant even where no rule fires.
    held : dict of str to float
        Values of the other features that the rules use; the ``note`` says how they were chosen.
    n_instances : int
        Number of equal instances in each bag: 1, or as many as a rule with *at least* asks for.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0, 0.0], [1.0, 1.0]], [[0.3, 0.3], [0.3, 0.3]], [0, 1])
    >>> display = SurfaceDisplay.from_rules(rules, "x1", "x2", n_points=3)
    >>> display.z.round(2).tolist()
    [[0.0, 0.0, 0.5], [0.0, 0.5, 1.0], [0.5, 1.0, 1.0]]
    """

    x: Array
    y: Array
    z: Array
    strongest: Array | None
    features: tuple[Variable, Variable]
    output: str
    held: dict[str, float]
    note: str
    n_instances: int = 1

    @classmethod
    def from_rules(
        cls,
        rule_base: Any,
        x: str | int | None = None,
        y: str | int | None = None,
        *,
        at: Mapping[str | int, float] | None = None,
        output: str | int = 0,
        bags: Any = None,
        n_points: int = 81,
        n_instances: int | None = None,
    ) -> SurfaceDisplay:
        """Evaluate the rules on a grid of bags with one instance each, or as many equal ones as a rule asks for.

        Parameters
        ----------
        rule_base : RuleBase, or fitted model
        x, y : str or int
            The two features, by name or column. Default: those that the most influential rules use.
        at : dict of str or int to float, optional
            Values of other features.
        output : str or int
        bags : Bags, or anything `as_bags` accepts, optional
            Other features are at the medians of their instances, and the map covers the range of their values.
            Default: the middle of the features' ranges in the rules, and these ranges.
        n_points : int
            Number of grid points along each feature.
        n_instances : int, optional
            Number of equal instances in each bag. Default: 1, or as many as a rule with *at least* asks for.
        """
        rules = rules_of(rule_base)
        k = position("output", output, rules.output_names)
        across, up = _axes(rules, x, y, k)
        if across == up:
            raise ParameterError(f"x and y must be different features, got {rules.feature_names[up]!r} twice.")
        if n_points < 2:
            raise ParameterError(f"n_points must be at least 2, got {n_points!r}.")
        if n_instances is not None and n_instances < 1:
            raise ParameterError(f"n_instances must be at least 1, got {n_instances!r}.")
        n_equal = equal_instances(rules) if n_instances is None else n_instances
        seen = None if bags is None else seen_bags(rules, bags)
        given = _given(rules, at or {}, (across, up))
        place = typical_values(rules.variables, None if seen is None else seen.instances)
        place[list(given)] = list(given.values())
        xs, ys = (_points(rules.variables[d], seen, d, n_points) for d in (across, up))
        instances = np.tile(place, (len(xs) * len(ys), 1))
        instances[:, across], instances[:, up] = np.tile(xs, len(ys)), np.repeat(ys, len(xs))
        found = rules.infer(bags_of_equal(rules, instances, n_equal))
        held = {d: float(place[d]) for d in used_features([rules]) if d not in (across, up)}
        note = _in_words(len(given), rules.n_features - 2, medians=seen is not None)
        if note and 0 < len(held) <= _FEW:
            each = ((rules.variables[d], value) for d, value in held.items())
            texts = (f"{shorten(variable.name, 30)} = {value_shown(variable, value)}" for variable, value in each)
            note = f"{', '.join(texts)} ({note})"
        return cls(
            x=xs,
            y=ys,
            z=found.output[:, k].reshape(len(ys), len(xs)),
            strongest=found.strongest.reshape(len(ys), len(xs)) if rules.normalize else None,
            features=(rules.variables[across], rules.variables[up]),
            output=rules.output_names[k],
            held={rules.feature_names[d]: value for d, value in held.items()},
            note=note,
            n_instances=n_equal,
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, ((axis,),) = subplots(1, 1, (5.8, 5.2))
        blocks = any(feature.categories for feature in self.features)  # between categories there is nothing
        shading: Any = "nearest" if blocks else "gouraud"
        image = axis.pcolormesh(self.x, self.y, self.z, cmap="cividis", shading=shading, rasterized=True)
        levels = MaxNLocator(5).tick_values(float(self.z.min()), float(self.z.max()))
        inside = [level for level in levels if self.z.min() < level < self.z.max()]
        if inside and not blocks:
            lines = axis.contour(self.x, self.y, self.z, levels=inside, colors="white", linewidths=0.9)
            for text in axis.clabel(lines, fontsize=7.5, fmt="%g"):
                text.set_bbox({"boxstyle": "round,pad=0.1", "facecolor": "#333333", "edgecolor": "none", "alpha": 0.6})
        if self.strongest is not None and not blocks and (self.strongest < _UNKNOWN).any():
            look: dict[str, Any] = {"levels": [-1.0, _UNKNOWN], "hatches": ["////"], "colors": "none"}
            axis.contourf(self.x, self.y, self.strongest, **look).set(edgecolor="#FFFFFF80", linewidth=0.0)
            sample = Patch(facecolor="#777777", edgecolor="white", hatch="////")
            add_legend(figure, [sample], [f"firing strength of all rules below {_UNKNOWN}"])
        axis.set_xlabel(as_written(shorten(self.features[0].title, 60)), fontsize=9)
        axis.set_ylabel(as_written(shorten(self.features[1].title, 50)), fontsize=9)
        bare(axis)
        write_values(axis.xaxis, self.features[0])
        write_values(axis.yaxis, self.features[1], across=False)
        add_colorbar(figure, image, axis, shorten(self.output, 40), aspect=30)
        count = "one instance" if self.n_instances == 1 else f"{self.n_instances} equal instances"
        heading = f"{shorten(self.output, 40)} for bags with {count}" if title is None else title
        figure.suptitle(as_written(heading), fontsize=11)
        axis.set_title(as_written(textwrap.fill(self.note, 76)), fontsize=8, color="#333333")
        return figure


def _axes(rules: RuleBase, x: str | int | None, y: str | int | None, output: int) -> tuple[int, int]:
    """Return the positions of the two features; those that are not chosen are the leading ones."""
    if rules.n_features < 2:
        raise ParameterError("A surface needs two features, and these rules have one.")
    chosen = [None if each is None else position("feature", each, rules.feature_names) for each in (x, y)]
    known = [d for d in chosen if d is not None]
    rest = iter([d for d in leading_features(rules, known, output) if d not in known])
    across, up = (next(rest) if d is None else d for d in chosen)
    return across, up


def _given(rules: RuleBase, at: Mapping[str | int, float], shown: tuple[int, int]) -> dict[int, float]:
    found = {}
    for feature, value in at.items():
        d = position("feature", feature, rules.feature_names)
        if d in shown:
            raise ParameterError(f"at has a value for {rules.feature_names[d]!r}, which is an axis of the figure.")
        if not isinstance(value, int | float | np.number) or not np.isfinite(value):
            raise ParameterError(f"at[{rules.feature_names[d]!r}] must be a finite number, got {described(value)}.")
        found[d] = float(value)
    return found


def _points(variable: Variable, seen: Bags | None, d: int, n_points: int) -> Array:
    """Return the values of a feature to evaluate: points over its range, or its categories."""
    if variable.categories:
        return np.arange(len(variable.categories), dtype=float)
    low, high = span(variable, None if seen is None else seen.instances[:, d])
    return np.linspace(*((low, high) if high > low else (low - 1.0, low + 1.0)), n_points)


def _in_words(n_given: int, n_others: int, *, medians: bool) -> str:
    """Describe how the values of the other features were chosen."""
    counts = {"at given values": n_given}
    counts["at the median" if medians else "in the middle of the range"] = n_others - n_given
    texts = [f"{count} {where}" for where, count in counts.items() if count]
    plural = "" if next(filter(None, counts.values()), 0) == 1 else "s"
    return ", ".join(texts).replace(" ", f" other feature{plural} ", 1)
