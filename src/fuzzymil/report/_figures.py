"""The figures of a report, as SVG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.explain import Effect
from fuzzymil.plots import FAINT, EffectDisplay, ReliabilityDisplay, RocDisplay
from fuzzymil.plots.style import as_written, bare

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def roc(folds: Sequence[tuple[Any, Any]], classes: Sequence[Any], pos_label: Any) -> bytes:
    """Draw ROC curves, from (truth, scores) of each fold: of one of two classes, or of several and their mean."""
    return _svg(RocDisplay.from_classes(folds, classes, pos_label=pos_label).plot())


def reliability(folds: Sequence[tuple[Any, Any]], classes: Sequence[Any], pos_label: Any) -> bytes:
    """Draw the reliability of probabilities, from (truth, probabilities) of each fold."""
    return _svg(ReliabilityDisplay.from_classes(folds, classes, pos_label=pos_label).plot())


def effects(found: Sequence[Effect], n_classes: int) -> bytes:
    """Draw how predictions change with features."""
    return _svg(EffectDisplay(list(found), n_classes).plot())


def agreement(truth: Array, predicted: Array, name: str) -> bytes:
    """Draw predicted against true values, shape (n_bags,), with the line on which they agree."""
    both = np.concatenate([truth, predicted])
    margin = 0.04 * (float(np.ptp(both)) or 1.0)
    ends = (float(both.min()) - margin, float(both.max()) + margin)
    figure, axis = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    axis.plot(ends, ends, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    axis.scatter(truth, predicted, s=16, color="#4A5560", alpha=0.75, linewidths=0)
    axis.set(xlim=ends, ylim=ends)
    axis.set_box_aspect(1)
    axis.set_xlabel(as_written(f"{name}, true"), fontsize=9)
    axis.set_ylabel(as_written(f"{name}, predicted"), fontsize=9)
    bare(axis)
    return _svg(figure)


def _svg(figure: Figure) -> bytes:
    """Return a figure as SVG, always in the same bytes, and close it."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return buffer.getvalue()
