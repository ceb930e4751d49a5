"""Accuracy against the number of conditions: the default with fewer rules, and the older ways to short rules.

Other experiments can draw the same figure: train the models of `recipes`, summarize each with `point`, and pass the
points to `draw_tradeoff`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

from fuzzymil.estimators import MIANFISClassifier
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._recipe import Recipe
from fuzzymil.plots import save_figure
from fuzzymil.plots.style import add_legend, bare, distinct

__all__ = ["WAYS", "draw_tradeoff", "point", "recipes"]

WAYS = {
    "chosen": "default, limited to few rules or many",
    "normalized": "normalized rules, few or many",
    "shortened": "10 normalized rules, shortened",
}
"""The ways to a shorter rule base, in words."""

_BOUNDS = {"chosen": (1, 2, 3, 5, 10, 20), "normalized": (2, 3, 5, 10, 20), "shortened": (1, 2, 3, 5, 10)}
_QUICK_BOUNDS = {"chosen": (1, 5), "normalized": (2, 5), "shortened": (1, 5)}
_MAX_COLUMNS = 4


def recipes(*, quick: bool = False) -> dict[tuple[str, int], Recipe]:
    """Return the models to train, by way and bound.

    Examples
    --------
    >>> [bound for way, bound in recipes() if way == "chosen"]
    [1, 2, 3, 5, 10, 20]
    """
    settings: dict[str, Any] = {
        "chosen": lambda bound: {"n_rules": bound},
        "normalized": lambda bound: {"n_rules": bound, "init": "kmeans"},
        "shortened": lambda bound: {"n_rules": 10, "init": "kmeans", "max_conditions": bound},
    }
    bounds = _QUICK_BOUNDS if quick else _BOUNDS
    return {(way, bound): Recipe(MIANFISClassifier(**settings[way](bound))) for way in WAYS for bound in bounds[way]}


def point(bound: int, accuracy: npt.ArrayLike, sizes: Sequence[Results]) -> Results:
    """Summarize the models of one bound.

    Parameters
    ----------
    bound : int
    accuracy : array of shape (n_repeats, n_folds)
        Or (n_datasets, 1) for separate datasets.
    sizes : sequence of dict
        ``n_rules`` and ``n_conditions`` of each model, as `size_of` returns them.

    Returns
    -------
    dict
        ``bound``, the means of ``accuracy``, ``n_rules`` and ``n_conditions``, and the ``deviation`` of the accuracy
        between repeats or datasets (None for a single one).

    Examples
    --------
    >>> found = point(2, [[0.8], [0.9]], [{"n_rules": 2, "n_conditions": 3}, {"n_rules": 1, "n_conditions": 1}])
    >>> found["n_conditions"], round(found["accuracy"], 6), round(found["deviation"], 6)
    (2.0, 0.85, 0.070711)
    """
    means = np.asarray(accuracy, float).mean(axis=1)
    return {
        "bound": bound,
        "accuracy": float(means.mean()),
        "deviation": float(means.std(ddof=1)) if len(means) > 1 else None,
        **{name: float(np.mean([size[name] for size in sizes])) for name in ("n_rules", "n_conditions")},
    }


def draw_tradeoff(paths: Mapping[str, Mapping[str, Sequence[Results]]], note: str, path: Path) -> None:
    """Draw accuracy against the number of conditions, one panel for each problem, and save the figure.

    Parameters
    ----------
    paths : dict of str to (dict of str to sequence of dict)
        By title and way (a key of `WAYS`): the points, in the order of their bounds.
    note : str
        What the bars are, and how many datasets or folds there are.
    path : Path
        The suffixes ``.png`` and ``.svg`` replace its own.
    """
    first, second, *others = distinct(len(WAYS))
    styles = dict(zip(WAYS, (second, first, *others), strict=True))  # the default has the same color in all figures
    rows = -(-len(paths) // _MAX_COLUMNS)
    columns = -(-len(paths) // rows)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(0.8 + 2.9 * columns, 1.1 + 2.3 * rows),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    handles: dict[str, Any] = {}
    for axis, (title, ways) in zip(axes.flat, paths.items(), strict=False):
        for way, points in ways.items():
            deviations = [entry["deviation"] for entry in points]
            handles[way] = axis.errorbar(
                [entry["n_conditions"] for entry in points],
                [100 * entry["accuracy"] for entry in points],
                yerr=None if None in deviations else 100 * np.array(deviations),
                markersize=4.5,
                linewidth=1.4,
                elinewidth=0.8,
                **styles[way],
            )
        # Linear up to 1, so that rules without any condition have a place.
        axis.set_xscale("symlog", linthresh=1, linscale=0.4)
        axis.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        axis.minorticks_off()
        axis.set_title(title, fontsize=9, loc="left", fontweight="bold")
        axis.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        bare(axis)
    most = max(entry["n_conditions"] for ways in paths.values() for points in ways.values() for entry in points)
    axes[0, 0].set_xlim(-0.1, max(1.6 * most, 10))
    axes[0, 0].set_ylim(top=min(axes[0, 0].get_ylim()[1], 102))
    for axis in axes.flat[len(paths) :]:
        axis.set_visible(False)
    for axis in axes.flat[max(len(paths) - columns, 0) : len(paths)]:
        axis.tick_params(labelbottom=True)  # also above an empty place
        axis.set_xlabel("conditions in all rules", fontsize=9)
    figure.supylabel("accuracy in percent", fontsize=9)
    figure.suptitle("Accuracy against the length of the rules", fontsize=11)
    add_legend(figure, list(handles.values()), [WAYS[way] for way in handles], title=note, ncols=len(handles))
    save_figure(figure, path)
