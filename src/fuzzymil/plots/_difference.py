"""What distinguishes two rule bases: moved sets, old and new numbers, and bags that changed sides."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fuzzymil._utils.colors import class_color
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.plots._rules import rules_of
from fuzzymil.plots.style import FAINT, HIGH, LOW, PLAIN, Scale, add_legend, add_title, as_written, bare, shorten
from fuzzymil.rules.curves import axis_of, curve_points
from fuzzymil.rules.editing import Difference, Flip, border_of
from fuzzymil.rules.language.printer import format_number

_COLUMNS = 3
_MOST_NUMBERS, _MOST_FLIPS, _LEAST_ROWS = 24, 12, 8  # rows of numbers next to the sets


@dataclasses.dataclass(frozen=True)
class TermPanel:
    """The sets of one variable: name of a term to its old and new set, None if there is none."""

    title: str
    low: float
    high: float
    terms: dict[str, tuple[MembershipFunction | None, MembershipFunction | None]]
    scale: Scale = PLAIN


@dataclasses.dataclass
class DifferenceDisplay:
    """What distinguishes two rule bases.

    The panels show the variables whose sets differ: new sets are solid, old ones are dashed ghosts behind them. Next
    to them, each conclusion, weight and default that differs is drawn from its old value (open) to its new one
    (filled). With bags, the last panel lists those that changed sides, in the same way.

    Parameters
    ----------
    panels : list of TermPanel
    numbers : list of (str, float, float)
        What differs, its old and its new value.
    flips : list of Flip, or None
        Bags that changed sides; None if there are no bags.
    threshold : float
        Output at which sides change.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> old = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> new = old.edit(sets={"hue.low": {"center": 0.2}}, conclusions={2: 0.4})
    >>> display = DifferenceDisplay.from_rules(old, new, [[[0.0]], [[1.0]]])
    >>> [panel.title for panel in display.panels], [flip.bag for flip in display.flips]
    (['hue'], [1])
    >>> plt.close(display.plot())
    """

    panels: list[TermPanel]
    numbers: list[tuple[str, float, float]]
    flips: list[Flip] | None = None
    threshold: float = 0.5

    @classmethod
    def from_rules(cls, old: Any, new: Any, bags: Any = None, *, threshold: float | None = None) -> DifferenceDisplay:
        """Compare rules, or those of fitted models.

        Parameters
        ----------
        old, new : RuleBase, or fitted model
        bags : Bags, or anything `as_bags` accepts, optional
            Bags to look for changed decisions in.
        threshold : float, optional
            See `Difference.flips`.
        """
        return cls.from_difference(rules_of(old).diff(rules_of(new)), bags, threshold=threshold)

    @classmethod
    def from_difference(
        cls, difference: Difference, bags: Any = None, *, threshold: float | None = None
    ) -> DifferenceDisplay:
        """Draw the result of ``old.diff(new)``; see `from_rules`."""
        old, new = difference.old, difference.new
        changed = {change.variable.name for change in difference.sets}
        before, after = ({variable.name: variable for variable in rules.all_variables} for rules in (old, new))
        panels = []
        for variable in (after | before | after).values():
            then = before.get(variable.name)
            known = {} if then is None else then.terms
            now = variable.terms if variable.name in after else {}
            if variable.name in changed:
                terms = {term: (known.get(term), now.get(term)) for term in dict.fromkeys((*known, *now))}
                ends = [axis_of(v) for v in (variable, then) if v is not None]
                low, high = min(end[0] for end in ends), max(end[1] for end in ends)
                panels.append(TermPanel(variable.title, low, high, terms, Scale.of(variable)))
        numbers = [
            (f"{change.where}: {change.what}", change.old, change.new)
            for change in difference.changes
            if isinstance(change.old, float) and isinstance(change.new, float) and change.where != "operators"
        ]
        border = border_of(new) if threshold is None else threshold
        flips = None if bags is None else list(difference.flips(bags, threshold))
        return cls(panels, numbers, flips, border)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        columns = min(max(math.ceil(math.sqrt(len(self.panels))), 1), _COLUMNS)
        n_rows = max(-(-len(self.panels) // columns), 1)
        lists = [bool(self.numbers), self.flips is not None]
        lengths = [min(len(self.numbers), _MOST_NUMBERS), min(len(self.flips or ()), _MOST_FLIPS)]
        tallest = max((length for shown, length in zip(lists, lengths, strict=True) if shown), default=0)
        height = max(2.0 * n_rows, 0.8 + 0.24 * tallest)
        widths = [2.6 * columns] * bool(self.panels) + [3.8] * sum(lists)
        figure = plt.figure(figsize=(sum(widths) or 4.2, 0.6 + height), layout="constrained")
        if not widths:
            figure.text(0.5, 0.5, "The rules are the same.", ha="center", va="center", color=FAINT)
            return figure
        parts = iter(np.ravel(np.array(figure.subfigures(1, len(widths), width_ratios=widths), object)))
        if self.panels:
            self._draw_sets(next(parts), n_rows, columns)
        if self.numbers:
            axis = next(parts).subplots()
            _draw_moves(axis, self.numbers, _MOST_NUMBERS)
            axis.set_title("old to new numbers", fontsize=9, fontweight="bold")
        if self.flips is not None:
            self._draw_flips(next(parts).subplots())
        ghost = Line2D([], [], color=FAINT, linestyle="--"), Line2D([], [], color="#222222")
        add_legend(figure, ghost, ["old", "new"], ncols=2)
        add_title(figure, title)
        return figure

    def _draw_sets(self, part: Any, n_rows: int, columns: int) -> None:
        axes = part.subplots(n_rows, columns, squeeze=False).ravel()
        for axis in axes[len(self.panels) :]:
            axis.set_visible(False)
        for axis, panel in zip(axes, self.panels, strict=False):
            _draw_terms(axis, panel)

    def _draw_flips(self, axis: Any) -> None:
        flips = self.flips or []
        count = f"{len(flips)} bag{'' if len(flips) == 1 else 's'} changed sides"
        more = f", the first {_MOST_FLIPS}" if len(flips) > _MOST_FLIPS else ""
        axis.set_title(count + more, fontsize=9, fontweight="bold")
        if not flips:
            axis.set_axis_off()
            return
        one = len(flips[0].new_output) == 1
        rows = [
            (
                f"bag {flip.bag}" if one else f"bag {flip.bag}: {flip.old} to {flip.new}",
                _margin(flip, flip.old_output),
                _margin(flip, flip.new_output),
            )
            for flip in flips
        ]
        _draw_moves(axis, rows, _MOST_FLIPS)
        axis.axvline(self.threshold if one else 0.0, color="#222222", linewidth=0.9, linestyle=":")
        axis.set_xlabel("output" if one else "new decision minus old one", fontsize=8)


def _draw_terms(axis: Any, panel: TermPanel) -> None:
    x = curve_points(
        [each for pair in panel.terms.values() for each in pair if each is not None], panel.low, panel.high
    )
    names: list[tuple[float, str, str]] = []  # place from 0 to 1, term and color
    for number, (term, (old, new)) in enumerate(panel.terms.items()):
        color = class_color(number, len(panel.terms) + 2)  # terms have no direction
        if old is not None:
            axis.plot(x, old(x), color=color, linestyle="--", linewidth=1.1, alpha=0.45)
        if new is not None:
            axis.plot(x, new(x), color=color, linewidth=1.8)
        shown = old if new is None else new
        if shown is not None:
            place = (x[np.argmax(shown(x))] - x[0]) / (x[-1] - x[0])
            names.append((float(place), shorten(term, 14), color))
    last, raised = -1.0, False
    for place, term, color in sorted(names):
        raised = place - last < 0.3 and not raised  # names next to each other would overlap
        last = place
        side = "left" if place < 0.1 else "right" if place > 0.9 else "center"
        look = {"fontsize": 7, "color": color, "ha": side, "va": "bottom", "clip_on": False}
        axis.text(place, 0.91 if raised else 0.83, as_written(term), transform=axis.transAxes, **look)
    axis.set_ylim(0, 1.24)
    axis.set_yticks([0, 1])
    axis.set_xlim(panel.low, panel.high)
    axis.set_xlabel(as_written(panel.title), fontsize=8)
    panel.scale.put_on(axis.xaxis)
    bare(axis)


def _margin(flip: Flip, output: tuple[float, ...]) -> float:
    """Return the output, or of several the lead of the one that decides now over the one that decided before."""
    if len(output) == 1:
        return output[0]
    return output[int(np.argmax(flip.new_output))] - output[int(np.argmax(flip.old_output))]


def _draw_moves(axis: Any, rows: list[tuple[str, float, float]], most: int) -> None:
    """Draw a line from each old value (open) to its new one (filled), with both numbers."""
    for y, (_, old, new) in enumerate(rows[:most]):
        color = HIGH if new > old else LOW
        axis.plot([old, new], [y, y], color=color, linewidth=1.4, zorder=1)
        axis.plot([old], [y], "o", markerfacecolor="white", markeredgecolor=FAINT, markersize=5)
        axis.plot([new], [y], "o", color=color, markersize=5)
        text = f"{format_number(old, 3)} → {format_number(new, 3)}"
        axis.text(1.02, y, text, transform=axis.get_yaxis_transform(), fontsize=7, va="center", clip_on=False)
    left = len(rows) - most
    labels = [as_written(shorten(name, 34)) for name, _, _ in rows[:most]]
    axis.set_yticks(range(len(labels)), labels, fontsize=7)
    axis.set_ylim(max(len(labels), _LEAST_ROWS) - 0.5, -0.5)  # few rows stay together, at the top
    if left > 0:
        axis.set_xlabel(f"... and {left} more", fontsize=8)
    axis.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.margins(x=0.08)
    bare(axis)
