"""What all figures share: colors that everybody can tell apart, and how files are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FAINT", "HIGH", "LOW", "as_written", "bare", "distinct", "save_figure", "shortened"]

# Two hues that color-blind readers tell apart and that differ in grey, too.
HIGH, LOW, FAINT = "#D55E00", "#0072B2", "#8A8A8A"

# Color never stands alone: each has a dash and a marker of its own, for grey prints.
_COLORS = (LOW, HIGH, "#009E73", "#CC79A7", "#56B4E9", "#000000", "#E69F00", "#882255")
_DASHES = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.2)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1)),
    (0, (1, 3)),
    (0, (8, 3)),
    (0, (4, 1, 1, 1, 1, 1)),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def distinct(n: int) -> list[dict[str, Any]]:
    """Return color, dash and marker of ``n`` series; beyond eight, colors come back with other dashes and markers.

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


def bare(axis: Any) -> None:
    """Take away what does not carry data."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8)


def as_written(name: str) -> str:
    r"""Return a name that is drawn as it is: a dollar sign would begin a formula.

    Examples
    --------
    >>> as_written("price [$]")
    'price [\\$]'
    """
    return name.replace("$", r"\$")


def shortened(text: str, width: int) -> str:
    """Return a text of ``width`` characters at most, its beginning if it is longer.

    Examples
    --------
    >>> shortened("a rather long name", 12)
    'a rather ...'
    """
    return text if len(text) <= width else f"{text[: width - 4].rstrip()} ..."


def save_figure(figure: Figure, path: Any) -> None:
    """Write a figure as PNG and as SVG beside it, and close it.

    The same figure gives the same files: no date, no random names inside.
    """
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(path.with_suffix(".png"), dpi=160)
        figure.savefig(path.with_suffix(".svg"), dpi=160, metadata={"Date": None})
    plt.close(figure)
