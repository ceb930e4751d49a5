"""Scores of several methods side by side, and distributions of single results."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from fuzzymil.plots.style import FAINT, add_legend, as_written, bare, distinct

Score = tuple[float, float | None]  # a mean, and the standard deviation if known


@dataclasses.dataclass
class ScoresDisplay:
    """A dot with a whisker for each method (rows of a panel) on each dataset (panels).

    Parameters
    ----------
    scores : dict of str to (dict of str to pair)
        By panel and method: the mean, and one standard deviation or None.
    xlabel : str
    printed : set of str
        Methods whose numbers are quoted from publications: drawn hollow and gray.

    Examples
    --------
    >>> figure = ScoresDisplay({"MUSK1": {"MI-ANFIS": (0.9, 0.02), "mi-SVM": (0.87, None)}}, "accuracy").plot()
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['MI-ANFIS', 'mi-SVM']
    >>> plt.close(figure)
    """

    scores: dict[str, dict[str, Score]]
    xlabel: str
    printed: frozenset[str] = frozenset()

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        methods = list(dict.fromkeys(name for panel in self.scores.values() for name in panel))
        families = list(dict.fromkeys(_family(name) for name in methods))
        styles = dict(zip(families, distinct(len(families)), strict=True))
        figure, axes = plt.subplots(
            1,
            len(self.scores),
            figsize=(1.6 + 1.9 * len(self.scores), 0.9 + 0.3 * len(methods)),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        for axis, (name, panel) in zip(axes[0], self.scores.items(), strict=True):
            for row, method in enumerate(methods):
                if method not in panel:
                    continue
                mean, deviation = panel[method]
                quoted = method in self.printed
                style = styles[_family(method)]
                color = FAINT if quoted else style["color"]
                axis.errorbar(
                    mean,
                    row,
                    xerr=deviation,
                    marker=style["marker"],
                    color=color,
                    markerfacecolor="white" if quoted else color,
                    capsize=2,
                    markersize=5,
                    linewidth=1.2,
                )
            axis.set_title(as_written(name), fontsize=9, fontweight="bold")
            axis.grid(axis="x", color="#DDDDDD", linewidth=0.6)
            bare(axis)
        axes[0, 0].set_yticks(range(len(methods)), list(map(as_written, methods)), fontsize=8)
        axes[0, 0].invert_yaxis()
        figure.supxlabel(self.xlabel, fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        return figure


def _family(method: str) -> str:
    """Return the part before the comma: variants of one method look alike."""
    return method.split(",")[0]


@dataclasses.dataclass
class DistributionDisplay:
    """The share of results below each value, for several methods (empirical distribution functions).

    Parameters
    ----------
    values : dict of str to (dict of str to array)
        By panel and method.
    xlabel : str
    marks : dict of str to float
        Named values to mark with a line.

    Examples
    --------
    >>> display = DistributionDisplay({"alpha = 1": {"random": [0.3, 0.1], "cluster": [0.1, 0.1]}}, "error")
    >>> figure = display.plot()
    >>> figure.axes[0].get_title(loc="left")
    'alpha = 1'
    >>> plt.close(figure)
    """

    values: dict[str, dict[str, npt.ArrayLike]]
    xlabel: str
    marks: dict[str, float] = dataclasses.field(default_factory=dict)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        methods = list(dict.fromkeys(name for panel in self.values.values() for name in panel))
        styles = dict(zip(methods, distinct(len(methods)), strict=True))
        n_panels = len(self.values)
        figure, axes = plt.subplots(
            1,
            n_panels,
            figsize=(0.8 + 3.8 * n_panels, 4.0),
            squeeze=False,
            sharex=True,
            sharey=True,
            layout="constrained",
        )
        for axis, (title_of_panel, panel) in zip(axes[0], self.values.items(), strict=True):
            for name, values in panel.items():
                _steps(axis, name, values, styles[name])
            for value in self.marks.values():
                axis.axvline(value, color=FAINT, linewidth=0.9, linestyle=":")
            axis.set_title(as_written(title_of_panel), fontsize=9, loc="left", fontweight="bold")
            axis.set_xlabel(self.xlabel, fontsize=9)
            bare(axis)
        every = np.concatenate([np.asarray(v, float) for panel in self.values.values() for v in panel.values()])
        axes[0, 0].set_xlim(0, 1.05 * max(every.max(), *self.marks.values(), 0.0))
        axes[0, 0].set_ylim(0, 1.02)
        for place, (name, value) in enumerate(self.marks.items()):
            axes[0, 0].annotate(
                name,
                (value, 0.03 + 0.07 * place),
                xycoords=("data", "axes fraction"),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=8,
                color="#555555",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            )
        figure.supylabel("share of runs that end below", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        add_legend(figure, handles, labels, ncols=len(methods))
        return figure


def _steps(axis: Any, name: str, values: npt.ArrayLike, style: dict[str, Any]) -> None:
    ordered = np.sort(np.asarray(values, float))
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    axis.step(
        np.concatenate([[0.0], ordered]),
        np.concatenate([[0.0], share]),
        where="post",
        color=style["color"],
        linestyle=style["linestyle"],
        linewidth=1.8,
        label=name,
    )
