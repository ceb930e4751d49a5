"""The figures of a report, as SVG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from fuzzymil.plots.roc import RocDisplay
from fuzzymil.plots.style import FAINT, LOW, as_written, bare
from fuzzymil.report._performance import Performance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["agreement", "drawn", "roc"]

_MOST_CURVES = 6  # beyond, they cannot be told apart


def roc(found: Performance) -> bytes:
    """Draw the ROC curves: of two classes for the second, of more for each against the rest (the first six)."""
    curves = dict(list(found.curves().items())[:_MOST_CURVES])
    return drawn(RocDisplay.from_scores(curves).plot())


def agreement(found: Performance, output: int = 0) -> bytes:
    """Draw predicted over true numbers of one output, and where they agree."""
    truth, said = (
        np.concatenate([getattr(fold, name).reshape(len(fold.truth), -1)[:, output] for fold in found.folds])
        for name in ("truth", "predicted")
    )
    both = np.concatenate([truth, said])
    margin = 0.04 * (float(np.ptp(both)) or 1.0)
    ends = (float(both.min()) - margin, float(both.max()) + margin)
    figure, axis = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    axis.plot(ends, ends, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    axis.scatter(truth, said, s=16, color=LOW, alpha=0.75, linewidths=0)
    axis.set(xlim=ends, ylim=ends)
    axis.set_box_aspect(1)
    axis.set_xlabel(as_written(f"{found.outputs[output]}, true"), fontsize=9)
    axis.set_ylabel(as_written(f"{found.outputs[output]}, predicted"), fontsize=9)
    bare(axis)
    return drawn(figure)


def drawn(figure: Figure) -> bytes:
    """Return a figure as SVG, the same figure always in the same bytes, and close it."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return buffer.getvalue()
