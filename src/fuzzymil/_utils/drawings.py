"""Small drawings in the text of reports and notebooks, as SVG: bars and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from fuzzymil._utils.arrays import Array

WIDTH, HEIGHT = 120, 36  # of a drawing, in its own units; report.js uses the same
_BINS = 24


class Bar(NamedTuple):
    """A bar: where it starts, how wide it is, its sign (or none), and where zero and a marked value are."""

    start: float
    width: float
    sign: str
    zero: float | None
    mark: float | None

    @property
    def svg(self) -> Markup:
        """The drawing."""
        kind = Markup(' class="{}"').format(self.sign) if self.sign else ""
        parts = [Markup('<rect x="{}" y="2" width="{}" height="8"{}></rect>').format(self.start, self.width, kind)]
        for name, at in (("zero", self.zero), ("mark", self.mark)):
            if at is not None:
                parts.append(Markup('<line class="{0}" x1="{1}" x2="{1}" y1="0" y2="12"></line>').format(name, at))
        return Markup(
            '<svg class="bar" viewBox="0 0 {} 12" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
        ).format(WIDTH, Markup("").join(parts))


def histogram(values: Array, low: float, high: float, n_bins: int = _BINS) -> str:
    """Return the SVG path of a histogram of values (n,) from ``low`` to ``high``, without the missing ones."""
    known = values[~np.isnan(values)]
    counts, _ = np.histogram(known, n_bins, (low, high) if high > low else (low - 0.5, low + 0.5))
    heights = (HEIGHT - 4) * counts / max(int(counts.max(initial=0)), 1)
    step = WIDTH / n_bins
    # A bin with any value is at least one unit high: rare is not never.
    shown = [(n, max(float(height), 1.0)) for n, height in enumerate(heights) if counts[n]]
    return "".join(f"M{step * n:.4g} {HEIGHT}V{HEIGHT - tall:.3g}h{step:.4g}V{HEIGHT}" for n, tall in shown)


def histogram_svg(path: str) -> Markup:
    """Return the drawing of a `histogram`."""
    return Markup('<svg class="spread" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"></path></svg>').format(
        WIDTH, HEIGHT, path
    )


def bar(
    value: float, low: float, high: float, *, signed: bool = False, mark: float | None = None, start: float = 0.0
) -> Bar:
    """Return a number as a bar that starts at zero (or at the nearer end of the range).

    ``value``, ``low``, ``high``: the number, and the ends of the range. ``signed``: whether positive and negative
    numbers have their own colors. ``mark``: another number to mark. ``start``: where the bar starts instead of at zero;
    it ends at ``start + value``.
    """
    zero = min(max(0.0, low), high)
    first, last = sorted((place(start or zero, low, high), place(start + value, low, high)))
    return Bar(
        first,
        round(last - first, 1),
        ("less" if value < (0.0 if start else zero) else "more") if signed else "",
        place(zero, low, high) if low < zero else None,
        None if mark is None else place(mark, low, high),
    )


def waterfall(amounts: Sequence[float], *, joined: bool, signed: bool) -> list[Bar]:
    """Return numbers and, last, their sum as bars; joined bars start where the one before ends."""
    starts = [0.0] * len(amounts)
    if joined:
        starts[1:-1] = np.cumsum(amounts[:-2]).tolist()
    reached = [start + amount for start, amount in zip(starts, amounts, strict=True)]
    widest = max(map(abs, reached)) or 1.0
    ends = (-widest if min(reached) < 0 else 0.0, widest if max(reached) > 0 else 0.0)
    return [bar(amount, *ends, signed=signed, start=start) for start, amount in zip(starts, amounts, strict=True)]


def place(value: float, low: float, high: float) -> float | int:
    """Return where to draw a value between the ends of a range; outside of it, at the nearer end."""
    part = (value - low) / (high - low) if high > low else 0.5
    found = round(WIDTH * min(max(part, 0.0), 1.0), 1)
    return int(found) if math.floor(found) == found else found
