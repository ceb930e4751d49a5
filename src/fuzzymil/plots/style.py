"""The common style of all figures, and saving them to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fuzzymil._utils import storage
from fuzzymil._utils.colors import FAINT, HIGH, LOW, WITNESS, class_color

__all__ = [
    "FAINT",
    "HIGH",
    "LOW",
    "WITNESS",
    "add_colorbar",
    "add_legend",
    "as_written",
    "bare",
    "class_look",
    "distinct",
    "drawn",
    "save_figure",
    "shortened",
]

# Color is never the only difference: each has its own dash and marker, for grayscale prints.
_COLORS = (LOW, HIGH, "#009E73", "#CC79A7", "#56B4E9", "#000000", "#E69F00", "#882255")
_DASHES = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.2)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1)),
    (0, (2, 2.5)),
    (0, (8, 3)),
    (0, (4, 1, 1, 1, 1, 1)),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def distinct(n: int) -> list[dict[str, Any]]:
    """Return color, dash and marker of ``n`` series; beyond eight, colors repeat with other dashes and markers.

    Examples
    --------
    >>> [style["marker"] for style in distinct(2)]
    ['o', 's']
    >>> first, *_, ninth = distinct(9)
    >>> first["color"] == ninth["color"], first["linestyle"] == ninth["linestyle"]
    (True, False)
    """
    rounds = [divmod(place, len(_COLORS)) for place in range(n)]
    return [
        {
            "color": _COLORS[own],
            "linestyle": _DASHES[(own + turn) % len(_DASHES)],
            "marker": _MARKERS[(own + turn) % len(_MARKERS)],
        }
        for turn, own in rounds
    ]


def class_look(place: int, n_classes: int) -> dict[str, Any]:
    """Return color, dash and marker of a class, by its position among the classes of the model.

    A class has the same color in every figure, in reports and in notebooks; of two, the one that the rules speak for
    comes last.

    Examples
    --------
    >>> class_look(1, 2)["color"] == HIGH
    True
    """
    turn = place % len(_DASHES)
    return {"color": class_color(place, n_classes), "linestyle": _DASHES[turn], "marker": _MARKERS[turn]}


def bare(axis: Any) -> None:
    """Remove what carries no data."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8)


def add_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, title: str = "", **look: Any) -> None:
    """Put a legend below the axes, its title above the entries; labels and title are drawn literally."""
    settings: dict[str, Any] = {"loc": "outside lower center", "fontsize": 8, "title_fontsize": 8, "frameon": False}
    figure.legend(handles, list(map(as_written, labels)), title=as_written(title) or None, **(settings | look))


def add_colorbar(figure: Figure, image: Any, axes: Any, label: str, **look: Any) -> None:
    """Put a color bar next to axes; the label is drawn literally."""
    bar = figure.colorbar(image, ax=axes, **look)
    bar.set_label(as_written(label), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_linewidth(0.4)


def as_written(text: str) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of starting a formula.

    Examples
    --------
    >>> as_written("price [$]")
    'price [\\$]'
    """
    return text.replace("$", r"\$")


def shortened(text: str, width: int) -> str:
    """Truncate a text to at most ``width`` characters.

    Examples
    --------
    >>> shortened("a rather long name", 12)
    'a rather ...'
    """
    return text if len(text) <= width else f"{text[: width - 4].rstrip()} ..."


def save_figure(figure: Figure, path: Any) -> None:
    """Save a figure as PNG and SVG, each written whole or not at all, and close it.

    Identical figures produce identical files, without dates or random ids.

    Parameters
    ----------
    figure : matplotlib Figure
    path : pathlib.Path
        The suffixes ``.png`` and ``.svg`` replace its own.

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
        storage.write_atomically(path.with_suffix(suffix), drawn(figure, suffix))
    plt.close(figure)


def drawn(figure: Figure, suffix: str) -> bytes:
    """Return the content of a file with a figure, the same for the same figure: without dates or random ids.

    Parameters
    ----------
    figure : matplotlib Figure
    suffix : {".png", ".svg", ".pdf"}

    Examples
    --------
    >>> figure, _ = plt.subplots()
    >>> drawn(figure, ".png")[1:4]
    b'PNG'
    >>> plt.close(figure)
    """
    content = io.BytesIO()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(content, format=suffix.removeprefix("."), dpi=160, metadata=undated)
    return content.getvalue()
