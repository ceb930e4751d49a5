"""Scores along a path of settings, on a logarithmic axis."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

from fuzzymil.plots._history import Line
from fuzzymil.plots.style import bare, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PathDisplay", "PathPanel"]


@dataclasses.dataclass(frozen=True)
class PathPanel:
    """The settings (n,) of one panel, rising and above 0, how the axis names them, and the scores along them."""

    settings: list[int]
    names: list[str]
    lines: list[Line]


@dataclasses.dataclass
class PathDisplay:
    """Panels side by side of scores with bands, a point for each setting.

    Parameters
    ----------
    panels : dict of str to PathPanel
        By title. A label looks the same in every panel.
    xlabel, ylabel : str
    note : str
        What the bands are.

    Examples
    --------
    >>> import numpy as np
    >>> path = PathPanel([1, 10], ["1", "all"], [Line("short rules", np.array([0.7, 0.9]))])
    >>> figure = PathDisplay({"some data": path}, "conditions", "accuracy").plot()
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['1', 'all']
    >>> plt.close(figure)
    """

    panels: dict[str, PathPanel]
    xlabel: str
    ylabel: str
    note: str = ""

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = list(dict.fromkeys(line.label for path in self.panels.values() for line in path.lines))
        styles = dict(zip(labels, distinct(len(labels)), strict=True))
        n_panels = len(self.panels)
        figure, axes = plt.subplots(
            1, n_panels, figsize=(0.8 + 3.8 * n_panels, 3.8), squeeze=False, sharey=True, layout="constrained"
        )
        handles: dict[str, Any] = {}
        for axis, (name, path) in zip(axes[0], self.panels.items(), strict=True):
            for line in path.lines:
                style = styles[line.label]
                (drawn,) = axis.plot(path.settings, line.y, linewidth=1.6, markersize=5, **style)
                handles.setdefault(line.label, drawn)
                if line.band is not None:
                    axis.fill_between(path.settings, *line.band.T, color=style["color"], alpha=0.15, linewidth=0)
            axis.set_xscale("log")
            axis.set_xticks(path.settings, path.names)
            axis.xaxis.set_minor_locator(NullLocator())
            axis.set_title(name, fontsize=9, loc="left", fontweight="bold")
            axis.set_xlabel(self.xlabel, fontsize=9)
            axis.grid(axis="y", color="#DDDDDD", linewidth=0.6)
            bare(axis)
        figure.supylabel(self.ylabel, fontsize=9)
        if title:
            figure.suptitle(title, fontsize=11)
        figure.legend(
            handles=list(handles.values()),
            labels=list(handles),
            loc="outside lower center",
            ncols=len(handles),
            fontsize=8,
            frameon=False,
            title=self.note or None,
            title_fontsize=8,
        )
        return figure
