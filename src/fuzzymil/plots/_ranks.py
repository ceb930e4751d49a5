"""Average ranks of methods, and which of them do not differ significantly."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fuzzymil.plots.style import FAINT, HIGH, as_written, bare


@dataclasses.dataclass
class RanksDisplay:
    """A critical-difference diagram: one row per method, bars span methods that do not differ significantly.

    Parameters
    ----------
    ranks : dict of str to float
        Average rank of each method, 1 being the best.
    critical_difference : float or None
        Average ranks closer than this do not differ significantly; None if it is unknown.
    note : str
        How the ranks were computed.
    bold : collection of str
        Methods to highlight.

    Examples
    --------
    >>> display = RanksDisplay({"a": 1.2, "b": 3.0, "c": 1.8}, 1.5)
    >>> display.groups()
    [['a', 'c'], ['c', 'b']]
    """

    ranks: dict[str, float]
    critical_difference: float | None = None
    note: str = ""
    bold: Collection[str] = ()

    def groups(self) -> list[list[str]]:
        """Return the maximal groups of methods that do not differ significantly, the best first."""
        ordered = sorted(self.ranks, key=lambda name: self.ranks[name])
        found: list[list[str]] = []
        if self.critical_difference is None:
            return found
        for place, first in enumerate(ordered):
            reach = self.ranks[first] + self.critical_difference
            group = [name for name in ordered[place:] if self.ranks[name] <= reach]
            if len(group) > 1 and not (found and set(group) <= set(found[-1])):
                found.append(group)
        return found

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        ordered = sorted(self.ranks, key=lambda name: self.ranks[name])
        rows = {name: row for row, name in enumerate(ordered)}
        groups = self.groups()
        figure, axis = plt.subplots(figsize=(7.2, 1.6 + 0.24 * len(ordered)), layout="constrained")
        for name, row in rows.items():
            rank, color = self.ranks[name], HIGH if name in self.bold else "#222222"
            axis.plot([0.5, rank], [row, row], color="#E4E4E4", linewidth=0.8, zorder=1)
            axis.plot(rank, row, "o", color=color, markersize=6 if name in self.bold else 4.5, zorder=3)
            axis.annotate(
                f"{rank:.1f}", (rank, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7
            )
        right = len(ordered) * 1.06 + 1.0
        step = 0.018 * len(ordered)
        for number, group in enumerate(groups):
            x = right + step * number
            axis.plot([x, x], [rows[group[0]] - 0.3, rows[group[-1]] + 0.3], color=FAINT, linewidth=2.4)
        axis.set_yticks(list(rows.values()), [as_written(name) for name in rows], fontsize=8)
        for label, name in zip(axis.get_yticklabels(), rows, strict=True):
            if name in self.bold:
                label.set_fontweight("bold")
        axis.set_ylim(len(ordered) - 0.4, -1.9)
        axis.set_xlim(0.5, right + step * len(groups))
        if self.critical_difference is not None:
            _measure(axis, self.critical_difference, right)
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel(f"average rank (1 is best){self._legend(groups)}", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        return figure

    def _legend(self, groups: list[list[str]]) -> str:
        bars = "; bars on the right span methods that do not differ significantly" if groups else ""
        return f"{bars}\n{self.note}" if self.note else bars


def _measure(axis: Any, critical_difference: float, right: float) -> None:
    """Draw the critical difference as a ruler at the top, or write it if it is wider than the figure."""
    low, high = 1.0, 1.0 + critical_difference
    words = f"critical difference {critical_difference:.1f}"
    if high > right:
        axis.text(low, -1, f"{words}: wider than the range of ranks", ha="left", va="center", fontsize=8)
        return
    axis.annotate("", (low, -1), (high, -1), arrowprops={"arrowstyle": "|-|", "mutation_scale": 3, "lw": 1.1})
    middle = ((low + high) / 2, -1)
    axis.annotate(words, middle, (0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=8)
