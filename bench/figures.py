"""Figures of a run, from the contents of ``results.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt
from tables import exponent, quantity

INK, OURS, OTHER = "#333333", "#2f5fb3", "#c9c9c9"


def draw(sections: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the figure of each section that has one, and return the files written."""
    folder.mkdir(exist_ok=True)
    drawn = []
    for name, function in (("epochs", _epochs), ("growth", _growth), ("roofline", _roofline)):
        if name in sections:
            with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
                figure = function(sections[name]["rows"])
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=150)
            plt.close(figure)
            drawn.append(path)
    return drawn


def _epochs(rows: list[dict[str, Any]]) -> plt.Figure:
    """Draw the epoch of every contestant as bars, one panel per size and number of threads."""
    panels: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        panel, _, name = row["what"].partition(": ")
        if row["value"] is not None:
            panels.setdefault(panel, []).append((name, row["value"]))
    figure, axes = plt.subplots(-(-len(panels) // 2), 2, figsize=(10, 3 * -(-len(panels) // 2)), layout="constrained")
    for axis, (panel, bars) in zip(axes.flat, panels.items(), strict=False):
        names, seconds = zip(*bars, strict=True)
        places = range(len(names))
        axis.barh(places, seconds, color=[OURS if name == "fuzzymil" else OTHER for name in names])
        axis.set(xscale="log", yticks=places, yticklabels=names, title=panel, xlabel="seconds per epoch")
        axis.set_xlim(min(seconds) / 2, max(seconds) * 6)
        axis.invert_yaxis()
        for place, value in zip(places, seconds, strict=True):
            axis.text(value * 1.1, place, quantity(value, "s"), va="center", color=INK)
    return figure


def _growth(rows: list[dict[str, Any]]) -> plt.Figure:
    """Draw logarithmic curves, with a line of slope 1 through the last point."""
    names = list(dict.fromkeys(row["series"] for row in rows if row["series"]))
    figure, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 3.4), layout="constrained", squeeze=False)
    for axis, name in zip(axes.flat, names, strict=True):
        points = [row for row in rows if row["series"] == name]
        sizes, seconds = [row["at"] for row in points], [row["value"] for row in points]
        axis.loglog(sizes, [seconds[-1] * size / sizes[-1] for size in sizes], "--", color=OTHER, label="in proportion")
        power = exponent(sizes, seconds)
        axis.loglog(sizes, seconds, "o-", color=OURS, label=f"measured, upper decades ~ n^{power:.2f}")
        axis.set(xlabel=name, ylabel="seconds per epoch", title=points[0]["note"])
        axis.legend(frameon=False, loc="upper left", fontsize=8)
        low, high = axis.get_ylim()
        axis.set_ylim(low, high * 6)  # room for the legend
    return figure


def _roofline(rows: list[dict[str, Any]]) -> plt.Figure:
    """Draw the bare operations, stacked, and the epoch."""
    *parts, epoch = [row for row in rows if row["series"] == "roofline"]
    figure, axis = plt.subplots(figsize=(8, 2.6), layout="constrained")
    left = 0.0
    for part, color in zip(parts, ("#7f9fd6", "#a9c0e6", "#d3def2"), strict=True):
        axis.barh(0, part["value"], left=left, color=color, label=f"{part['what']}, {quantity(part['value'], 's')}")
        left += part["value"]
    axis.barh(1, epoch["value"], color=OURS)
    axis.text(epoch["value"], 1, f" {quantity(epoch['value'], 's')}", va="center", color=INK)
    axis.text(left, 0, f" {quantity(left, 's')}", va="center", color=INK)
    axis.axvline(2 * left, color=INK, linestyle=":", label="twice the bare operations")
    axis.set(yticks=[0, 1], yticklabels=["bare operations", "an epoch"], xlabel="seconds")
    axis.set_xlim(0, 1.15 * max(2 * left, epoch["value"]))
    axis.invert_yaxis()
    axis.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.25), fontsize=8)
    return figure
