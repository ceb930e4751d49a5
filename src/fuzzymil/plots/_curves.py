"""Curves with bands in panels: over epochs, or along a path of settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.plots.style import add_legend, add_title, as_written, bare, distinct, panels


@dataclasses.dataclass(frozen=True)
class Line:
    """A curve (n_points,), with a band (n_points, 2) around it if it summarizes several curves.

    Examples
    --------
    >>> Line("training", np.array([0.5, 0.2])).band is None
    True
    """

    label: str
    y: Array
    band: Array | None = None

    @classmethod
    def mean_of(cls, label: str, curves: npt.ArrayLike) -> Line:
        """Return the mean of ``curves`` (n_curves, n_points), with the interquartile range as the band.

        Examples
        --------
        >>> Line.mean_of("two", [[0.0, 2.0], [2.0, 4.0]]).y
        array([1., 3.])
        """
        every = np.asarray(curves, float)
        band = np.nanquantile(every, [0.25, 0.75], axis=0).T if len(every) > 1 else None
        return cls(label, np.nanmean(every, axis=0), band)

    def draw(self, axis: Any, x: npt.ArrayLike, **look: Any) -> Any:
        """Draw the curve and its band, and return the curve for the legend."""
        (drawn,) = axis.plot(x, self.y, linewidth=1.6, **look)
        if self.band is not None:
            axis.fill_between(x, *self.band.T, color=look["color"], alpha=0.15, linewidth=0)
        return drawn


@dataclasses.dataclass
class CurvesDisplay:
    """Panels of curves over epochs 1, 2, ...

    Parameters
    ----------
    panels : dict of str to list of Line
        By title. A label looks the same in every panel.
    ylabel : str
    note : str
        What the bands are.
    columns : int
        Maximum number of panels side by side.

    Examples
    --------
    >>> display = CurvesDisplay.from_history({"loss": [0.5, 0.2], "validation_loss": [0.6, 0.4]})
    >>> [(line.label, line.y.tolist()) for line in display.panels[""]]
    [('training', [0.5, 0.2]), ('validation', [0.6, 0.4])]
    """

    panels: dict[str, list[Line]]
    ylabel: str
    note: str = ""
    columns: int = 3

    @classmethod
    def from_history(cls, history: Mapping[str, npt.ArrayLike]) -> CurvesDisplay:
        """Show the loss of one model during training and, if there was any, on the validation bags.

        Parameters
        ----------
        history : dict of arrays of shape (n_epochs,)
            ``model.history_``.
        """
        found = {
            label: np.asarray(history[name], float)
            for name, label in (("loss", "training"), ("validation_loss", "validation"))
            if name in history
        }
        if not found or not all(map(len, found.values())):
            raise InputError("There is no loss to draw: pass the history_ of a model trained for at least one epoch.")
        return cls({"": [Line(label, values) for label, values in found.items()]}, "loss")

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = list(dict.fromkeys(line.label for lines in self.panels.values() for line in lines))
        styles = dict(zip(labels, distinct(len(labels)), strict=True))
        figure, axes = panels(len(self.panels), self.columns, (3.2, 2.4), (0.6, 0.9))
        columns = axes.shape[1]
        handles: dict[str, Any] = {}
        for axis, (name, lines) in zip(axes.flat, self.panels.items(), strict=False):
            for line in lines:
                look = {key: value for key, value in styles[line.label].items() if key != "marker"}
                handles.setdefault(line.label, line.draw(axis, np.arange(1, len(line.y) + 1), **look))
            axis.set_title(as_written(name), fontsize=9, loc="left", fontweight="bold")
            axis.set_ylim(bottom=0)
            bare(axis)
        for column in range(columns):
            last = (len(self.panels) - 1 - column) // columns
            axes[last, column].set_xlabel("epoch", fontsize=9)
        figure.supylabel(self.ylabel, fontsize=9)
        add_title(figure, title)
        columns = min(len(handles), max(2, int(1.6 * columns)))
        add_legend(figure, list(handles.values()), list(handles), title=self.note, ncols=columns)
        return figure
