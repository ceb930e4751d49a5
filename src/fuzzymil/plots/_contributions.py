"""Contributions as bars: from zero, or each from where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from scipy.special import expit, logit

from fuzzymil.explain.words import number_column
from fuzzymil.plots.style import FAINT, HIGH, LOW, bare

Bar = tuple[float, int, float]  # its place, the number of rows that it spans, and the amount

_TOTAL = "#333333"
_PROBABILITIES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


def draw_bars(axis: Any, bars: Sequence[Bar]) -> None:
    """Draw bars from zero; the last is the sum."""
    _draw(axis, bars, [0.0] * len(bars))


def draw_waterfall(axis: Any, bars: Sequence[Bar], *, logit: bool) -> None:
    """Draw bars that start where the one before ends; the last is the sum, from zero.

    Parameters
    ----------
    axis : matplotlib Axes
    bars : sequence of Bar
    logit : bool
        Whether the sum is the logit of a probability, which an axis on top shows.
    """
    amounts = [amount for _, _, amount in bars]
    starts = [0.0, *np.cumsum(amounts[:-2]).tolist(), 0.0]
    _draw(axis, bars, starts)
    for (place, rows, _), (after, later, _), level in zip(bars[:-1], bars[1:], np.cumsum(amounts[:-1]), strict=True):
        ends = place + _half(rows), after - _half(later)
        axis.plot([level, level], ends, color=FAINT, linewidth=0.8, zorder=1)
    if logit:
        _show_probabilities(axis)


def _draw(axis: Any, bars: Sequence[Bar], starts: Sequence[float]) -> None:
    amounts = [amount for _, _, amount in bars]
    for n, ((place, rows, amount), start, text) in enumerate(zip(bars, starts, number_column(amounts), strict=True)):
        color = _TOTAL if n == len(bars) - 1 else HIGH if amount > 0 else LOW
        axis.barh(place, amount, left=start, color=color, height=2 * _half(rows), zorder=2)
        axis.annotate(
            text.strip(),
            (start + amount, place),
            xytext=(-3 if amount < 0 else 3, 0),
            textcoords="offset points",
            ha="right" if amount < 0 else "left",
            va="center",
            fontsize=8,
        )
    axis.axvline(0, color="black", linewidth=0.8)
    axis.axhline(bars[-1][0] - 0.5, color="black", linewidth=0.8)
    ends = [0.0, *starts, *(start + amount for start, amount in zip(starts, amounts, strict=True))]
    room = 0.25 * (max(ends) - min(ends) or 1.0)  # for the numbers
    axis.set_xlim(min(ends) - room, max(ends) + room)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    bare(axis)
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0, labelleft=False)


def _half(rows: int) -> float:
    """Return half the height of a bar."""
    return rows / 2 - 0.19


def _show_probabilities(axis: Any) -> None:
    top = axis.secondary_xaxis("top")
    low, high = axis.get_xlim()
    shown = [level for level in _PROBABILITIES if low <= logit(level) <= high] or [float(expit((low + high) / 2))]
    top.xaxis.set_major_locator(FixedLocator([float(logit(level)) for level in shown]))
    top.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * expit(value):.3g}%"))
    top.tick_params(labelsize=7, length=2)
    top.spines["top"].set_linewidth(0.6)
    top.set_xlabel("probability", fontsize=8)
