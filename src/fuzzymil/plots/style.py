"""The common style of all figures, and saving them to files."""

from __future__ import annotations

import contextlib
import io
import os
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import FAINT as FAINT
from fuzzymil._utils.colors import HIGH as HIGH
from fuzzymil._utils.colors import LOW as LOW
from fuzzymil._utils.colors import WITNESS as WITNESS
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import warn_user
from fuzzymil.bags import Bags
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.rule import Variable

if os.environ.get("PYTHONSAFEPATH") and mpl.matplotlib_fname() == "matplotlibrc":  # as for commands
    mpl.rcParams.update(mpl.rcParamsDefault)
    warn_user("The matplotlibrc in the current folder is ignored: it could run programs.")

# Color is never the only difference: each has its own dash and marker, for grayscale prints.
_COLORS = (LOW, HIGH, "#009E73", "#CC79A7", "#56B4E9", "#000000", "#E69F00", "#882255")
_DASHES = ("-", *((0, gaps) for gaps in ((5, 2), (1, 1.2), (6, 2, 1, 2), (3, 1), (2, 2.5), (8, 3), (4, 1, 1, 1, 1, 1))))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def distinct(n: int) -> list[dict[str, Any]]:
    """Return color, dash and marker of ``n`` series; beyond eight, colors repeat with other dashes and markers."""
    kinds = [(place % 8, (place % 8 + place // 8) % 8) for place in range(n)]
    return [{"color": _COLORS[own], "linestyle": _DASHES[turn], "marker": _MARKERS[turn]} for own, turn in kinds]


def class_look(place: int, n_classes: int) -> dict[str, Any]:
    """Return color, dash and marker of a class, by its position among the classes of the model.

    A class has the same color in every figure, in reports and in notebooks; of two, the positive one comes last.
    """
    turn = place % len(_DASHES)
    return {"color": class_color(place, n_classes), "linestyle": _DASHES[turn], "marker": _MARKERS[turn]}


class NotebookFigure(Figure):
    """A figure that a notebook shows once: pyplot draws it at the end of the cell, also if it is the cell's value."""

    def _ipython_display_(self) -> None:
        if not ("inline" in plt.get_backend() and plt.fignum_exists(self.number)):
            raise NotImplementedError  # then IPython shows it like any other figure


def subplots(rows: int, columns: int, size: tuple[float, float], **settings: Any) -> tuple[Figure, Any]:
    """Return a figure of a size in inches, and its axes (rows, columns)."""
    settings |= {"figsize": size, "layout": "constrained", "FigureClass": NotebookFigure}
    return plt.subplots(rows, columns, squeeze=False, **settings)


def panels(n: int, columns: int, size: tuple[float, float], room: tuple[float, float]) -> tuple[Figure, Any]:
    """Return a figure with ``n`` panels of a size, at most so many side by side, and its axes (rows, columns)."""
    rows = -(-n // columns)
    columns = -(-n // rows)  # as even as possible: four panels make two rows of two
    figure, axes = subplots(rows, columns, (room[0] + size[0] * columns, room[1] + size[1] * rows), sharey=True)
    for axis in axes.flat[n:]:
        axis.set_visible(False)
    return figure, axes


def bare(axis: Any) -> None:
    """Remove what carries no data."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8)


def grid(axis: Any, along: str) -> None:
    """Draw thin lines at the ticks of an axis ("x", "y" or "both") behind the data, and remove what carries none."""
    axis.grid(axis=along, color="#E0E0E0", linewidth=0.6)
    axis.set_axisbelow(True)
    bare(axis)


def add_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, title: str = "", **look: Any) -> None:
    """Put a legend below the axes, its title above the entries, in as many of ``ncols`` columns as fit the figure."""
    width = 72 * figure.get_figwidth()  # points; a letter takes about 5.3 of them, a handle and its gaps 45
    fit = max(1, int(width / (45 + 5.3 * max(map(len, labels), default=1))))
    settings = {"loc": "outside lower center", "fontsize": 9, "title_fontsize": 9, "frameon": False, **look}
    title = "\n".join(textwrap.fill(line, int(width / 5.3)) for line in title.split("\n"))
    settings["ncols"] = min(look.get("ncols", 1), fit)
    figure.legend(handles, list(map(as_written, labels)), title=as_written(title) or None, **settings)


def add_title(figure: Figure, title: str | None) -> None:
    """Put a title, if there is one, above the axes, drawn literally."""
    if title:
        figure.suptitle(as_written(title), fontsize=11)


def add_colorbar(figure: Figure, image: Any, axes: Any, label: str, **look: Any) -> None:
    """Put a color bar next to axes; the label is drawn literally."""
    bar = figure.colorbar(image, ax=axes, **look)
    bar.set_label(as_written(label), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_linewidth(0.4)


def as_written(text: str) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of starting a formula."""
    return text.replace("$", r"\$")


def shorten(text: str, width: int) -> str:
    """Truncate a text to at most ``width`` characters."""
    return text if len(text) <= width else f"{text[: width - 4].rstrip()} ..."


def save_figure(figure: Figure, path: Any) -> None:
    """Save a figure as PNG and SVG, each written whole or not at all, and close it.

    The suffixes ``.png`` and ``.svg`` replace that of the path. Identical figures produce identical files, without
    dates or random ids.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> figure, _ = plt.subplots()
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save_figure(figure, folder / "empty")
    >>> sorted(path.name for path in folder.iterdir())
    ['empty.png', 'empty.svg']
    """
    for suffix in (".png", ".svg"):
        with contextlib.nullcontext() if path.suffix == suffix else storage.own_names():
            storage.write_atomically(path.with_suffix(suffix), figure_bytes(figure, suffix))
    plt.close(figure)


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the content of a file (.png, .svg or .pdf), the same for the same figure: without dates or random ids."""
    content = io.BytesIO()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(content, format=suffix.removeprefix("."), dpi=160, metadata=undated)
    return content.getvalue()


# ---------------------------------------------------------------------- values as a person writes them


_MOST_NAMES = 24
_STEEP = 26  # characters of all names together that fit next to each other on one panel
_LETTERS = 18  # of a name at a tick


def value_shown(variable: Variable, value: float) -> str:
    """Return a value of a variable as a person writes it."""
    return variable.shown(value) or format_number(value, 3)


def write_values(axis: Any, variable: Variable, *, across: bool = True) -> None:
    """Write categories or dates at the ticks of ``axes.xaxis`` or ``axes.yaxis``; across, long names are turned."""
    if not variable.categories:
        if variable.shown(0.0) is not None:
            axis.set_major_locator(MaxNLocator(4))
            axis.set_major_formatter(FuncFormatter(lambda value, _: variable.shown(value) or ""))
        return
    names = [as_written(shorten(name, _LETTERS)) for name in variable.categories]
    step = -(-len(names) // _MOST_NAMES)
    axis.set_major_locator(FixedLocator(range(0, len(names), step)))
    axis.set_minor_locator(NullLocator())
    axis.set_ticklabels(names[::step])
    if across and sum(map(len, names[::step])) > _STEEP:
        for label in axis.get_ticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")


def variables_of(bags: Bags) -> Sequence[Variable]:
    """Return the features of bags as variables, as far as the bags say what they mean."""
    if bags.columns is None:
        return [Variable(name) for name in bags.names]
    return [Variable(column.name, unit=column.unit, categories=column.categories) for column in bags.columns]


def spread_out(values: Array, variable: Variable, instances: Array) -> Array:
    """Return values (n,) moved a little apart if they are categories, which would otherwise hide each other.

    The distance depends on the instance (n, d) alone, so that the same instance is always at the same place.
    """
    if not variable.categories:
        return values
    weights = 0.6180339887498949 * np.sqrt(np.arange(1, instances.shape[1] + 1))
    mixed = np.where(np.isnan(instances), 0.0, instances) @ weights
    return np.asarray(values + 0.6 * (997 * mixed % 1.0 - 0.5))
