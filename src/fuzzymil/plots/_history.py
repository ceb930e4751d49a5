"""Curves over epochs, several panels side by side, with bands for their spread."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.plots.style import bare, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CurvesDisplay", "Line"]


@dataclasses.dataclass(frozen=True)
class Line:
    """A curve (n_epochs,), and the band (n_epochs, 2) around it where it is a mean or median of several."""

    label: str
    y: Array
    band: Array | None = None

    @classmethod
    def mean_of(cls, label: str, curves: npt.ArrayLike) -> Line:
        """Return the mean of ``curves`` (n_curves, n_epochs), and the middle half of them as the band.

        Examples
        --------
        >>> Line.mean_of("two", [[0.0, 2.0], [2.0, 4.0]]).y
        array([1., 3.])
        """
        every = np.asarray(curves, float)
        band = np.nanquantile(every, [0.25, 0.75], axis=0).T if len(every) > 1 else None
        return cls(label, np.nanmean(every, axis=0), band)


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
        """Show how one model was trained: its loss, and that on the bags held out where there were any.

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
            raise InputError("There is no loss to draw: give the history_ of a model that was trained for some epochs.")
        return cls({"": [Line(label, values) for label, values in found.items()]}, "loss")

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = list(dict.fromkeys(line.label for lines in self.panels.values() for line in lines))
        styles = dict(zip(labels, distinct(len(labels)), strict=True))
        rows = -(-len(self.panels) // self.columns)
        columns = -(-len(self.panels) // rows)  # as even as it goes: four panels make two rows of two
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(0.6 + 3.2 * columns, 0.9 + 2.4 * rows),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        handles: dict[str, Any] = {}
        for axis, (name, lines) in zip(axes.flat, self.panels.items(), strict=False):
            for line in lines:
                handles.setdefault(line.label, _draw(axis, line, styles[line.label]))
            axis.set_title(name, fontsize=9, loc="left", fontweight="bold")
            axis.set_ylim(bottom=0)
            bare(axis)
        for axis in axes.flat[len(self.panels) :]:
            axis.set_visible(False)
        for column in range(columns):
            last = (len(self.panels) - 1 - column) // columns
            axes[last, column].set_xlabel("epoch", fontsize=9)
        figure.supylabel(self.ylabel, fontsize=9)
        if title:
            figure.suptitle(title, fontsize=11)
        legend_title = self.note or None
        figure.legend(
            handles=list(handles.values()),
            labels=list(handles),
            loc="outside lower center",
            ncols=min(len(handles), max(2, int(1.6 * columns))),
            fontsize=8,
            frameon=False,
            title=legend_title,
            title_fontsize=8,
        )
        return figure


def _draw(axis: Any, line: Line, style: dict[str, Any]) -> Any:
    epochs = np.arange(1, len(line.y) + 1)
    (drawn,) = axis.plot(epochs, line.y, color=style["color"], linestyle=style["linestyle"], linewidth=1.6)
    if line.band is not None:
        axis.fill_between(epochs, line.band[:, 0], line.band[:, 1], color=style["color"], alpha=0.15, linewidth=0)
    return drawn
