"""Figures of the planted problems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._words import plural
from fuzzymil.experiments.planted.methods import OWN
from fuzzymil.experiments.planted.tradeoff import draw_tradeoff
from fuzzymil.plots import save_figure
from fuzzymil.plots.style import HIGH, add_legend, bare, distinct

__all__ = ["draw_figures"]


def draw_figures(results: Results, folder: Path) -> None:
    """Write the figures."""
    settings = results["settings"]
    n_sets, n_test = settings["n_sets"], settings["n_test"]
    note = f"mean of {plural(n_sets, 'dataset')} per kind, {n_test} unseen bags each"
    _draw_dots(results["measured"], note, folder / "accuracy.png")
    bars = "; bars: one standard deviation over them" if n_sets > 1 else ""
    note = f"{settings['path_size']} training bags; mean of {plural(n_sets, 'dataset')} per kind{bars}"
    draw_tradeoff(results["paths"], note, folder / "conditions.png")


def _draw_dots(measured: Mapping[str, Results], note: str, path: Path) -> None:
    """Draw the mean accuracy of each method on each kind, one panel for each number of training bags."""
    kinds = list(next(iter(measured.values())))
    methods = list(dict.fromkeys(name for by_kind in measured.values() for own in by_kind.values() for name in own))
    styles = _styles(methods)
    n_columns = min(len(measured), 2)
    n_rows = -(-len(measured) // n_columns)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(1.2 + 4.0 * n_columns, 1.2 + 0.34 * len(kinds) * n_rows),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    handles: dict[str, Any] = {}
    for axis, (size, by_kind) in zip(axes.flat, measured.items(), strict=False):
        for name, style in styles.items():
            rows = [row for row, kind in enumerate(kinds) if name in by_kind[kind]]
            means = [100 * np.mean(by_kind[kinds[row]][name]["accuracy"]) for row in rows]
            (handles[name],) = axis.plot(means, rows, linestyle="", **style)
        for row in range(len(kinds)):
            axis.axhline(row, color="#E8E8E8", linewidth=0.8, zorder=0)
        axis.axvline(50, color="#BBBBBB", linewidth=0.8, linestyle=":", zorder=0)  # guessing
        axis.set_title(f"{size} training bags", fontsize=9, loc="left", fontweight="bold")
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0)
    for axis in axes.flat[len(measured) :]:
        axis.set_visible(False)
    axes[0, 0].set_yticks(range(len(kinds)), kinds)
    axes[0, 0].set_ylim(len(kinds) - 0.5, -0.5)
    for axis in axes.flat[max(len(measured) - n_columns, 0) : len(measured)]:
        axis.set_xlabel("accuracy in percent (dotted: guessing)", fontsize=9)
    figure.suptitle("Accuracy on planted problems", fontsize=11)
    add_legend(figure, [handles[name] for name in methods], methods, title=note, ncols=2)
    save_figure(figure, path)


def _styles(methods: list[str]) -> dict[str, dict[str, Any]]:
    """Return the look of each method: the default filled, and over the hollow others."""
    peers = [name for name in methods if name != OWN]
    # One look too many, because the color of the default is taken.
    looks = [look for look in distinct(len(peers) + 1) if look["color"] != HIGH]
    hollow = {"markerfacecolor": "none", "markersize": 5.5, "zorder": 2}
    styles = {
        name: {"marker": look["marker"], "color": look["color"], **hollow}
        for name, look in zip(peers, looks, strict=True)
    }
    return styles | {OWN: {"marker": "o", "color": HIGH, "markersize": 6.5, "zorder": 3}}
