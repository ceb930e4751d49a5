"""Which rules fire on which bags: a heatmap of firing strengths."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import as_bags
from fuzzymil.plots._rules import MOST_CLASSES, classes_of, conclusions, position, rules_of
from fuzzymil.plots.style import add_colorbar, as_written, bare, shortened
from fuzzymil.rules.language.printer import format_number

_NAMED = 45  # more bags are not named one by one
_MANY_RULES = 10  # with more, strengths are small, so the color scale favors small values


@dataclasses.dataclass(repr=False)
class FiringDisplay:
    """Firing strengths of rules (columns) on bags (rows), and the bags' scores.

    Bags are ordered by label, then by score; rules by their conclusion. If rules and labels agree, dark cells run
    from one corner to the other.

    Parameters
    ----------
    strengths : array of shape (n_bags, n_rules)
        In the order of ``bags`` and ``rules``.
    scores : array of shape (n_bags,)
        Output of the rules.
    bags : list of str
        Ids.
    rules : list of str
        Names and conclusions.
    groups : list of (str, int)
        Labels with their numbers of bags, in order; empty without labels, or if they are numbers with many values.
    output : str
        Name of the output.
    normalize : bool
        Whether the strengths sum to one.
    colors : list of str
        Of the groups: those of their classes.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> display = FiringDisplay.from_rules(rules, [[[0.9]], [[0.1]], [[0.2]]], ["yes", "no", "no"])
    >>> display.bags, display.groups, display.strengths.round(2).tolist()
    (['1', '2', '0'], [('no', 2), ('yes', 1)], [[0.99, 0.01], [0.97, 0.03], [0.01, 0.99]])
    """

    strengths: Array
    scores: Array
    bags: list[str]
    rules: list[str]
    groups: list[tuple[str, int]]
    output: str
    normalize: bool = True
    colors: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def from_rules(cls, rule_base: Any, bags: Any, labels: Any = None, *, output: str | int = 0) -> FiringDisplay:
        """Evaluate the rules on bags.

        Parameters
        ----------
        rule_base : RuleBase, or fitted model
        bags : Bags, or anything `as_bags` accepts
        labels : array of shape (n_bags,), optional
            Default: the labels of the bags, if any.
        output : str or int
            The output to show as the score.
        """
        rules, packed = rules_of(rule_base), as_bags(bags)
        k = position("output", output, rules.output_names)
        found = rules.infer(packed)
        scores = found.output[:, k]
        known = packed.labels if labels is None else np.asarray(labels)
        if known is not None and known.shape != (packed.n_bags,):
            raise InputError(f"Expected one label per bag: got {packed.n_bags} bags and labels of shape {known.shape}.")
        codes, names = _groups(known)
        order = np.lexsort((scores, np.zeros(packed.n_bags) if codes is None else codes))
        said = conclusions(rules)
        columns = np.argsort(said[:, k], kind="stable")
        return cls(
            strengths=found.normalized[np.ix_(order, columns)],
            scores=scores[order],
            bags=[str(packed.ids[b]) for b in order],
            rules=[f"{rules.name_of(r)}: {format_number(float(said[r, k]), 2)}" for r in columns],
            groups=[] if codes is None else list(zip(names, np.bincount(codes).tolist(), strict=True)),
            output=rules.output_names[k],
            normalize=rules.normalize,
            colors=_colors(rule_base, known, names),
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_bags, n_rules = self.strengths.shape
        wide, high = float(np.clip(0.42 * n_rules, 2.2, 9.0)), float(np.clip(0.19 * n_bags, 1.4, 6.5))
        figure, (heat, right) = plt.subplots(
            1,
            2,
            figsize=(1.6 + wide + 1.6, 2.1 + high + (0.3 if title else 0.0)),
            width_ratios=(wide, 1.5),
            sharey=True,
            layout="constrained",
        )
        greatest = 1.0 if self.normalize else float(max(self.strengths.max(), np.finfo(float).tiny))
        image = heat.pcolormesh(
            np.arange(n_rules + 1) - 0.5,
            np.arange(n_bags + 1) - 0.5,
            self.strengths,
            cmap="Greys",
            norm=PowerNorm(0.55 if n_rules > _MANY_RULES else 1.0, vmin=0, vmax=greatest),
            edgecolors="#E5E5E5" if n_bags <= _NAMED else "none",
            linewidth=0.4,
            rasterized=n_bags > _NAMED,
        )
        heat.set_ylim(n_bags - 0.5, -0.5)
        heat.xaxis.tick_top()
        heat.set_xticks(range(n_rules), self.rules, rotation=90)
        self._draw_scores(right)
        self._name_rows(heat, right)
        for axis in (heat, right):
            axis.tick_params(axis="both", length=0, labelsize=7.5)
        strength = "normalized firing strength" if self.normalize else "firing strength"
        look = {"location": "bottom", "aspect": 30, "shrink": min(1.0, 2.6 / wide), "pad": 0.02}
        add_colorbar(figure, image, heat, strength, **look)
        heat.set_xlabel(as_written(f"rules, by conclusion for {shortened(self.output, 30)}"), fontsize=8)
        heat.xaxis.set_label_position("top")
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        return figure

    def _draw_scores(self, axis: Any) -> None:
        n_bags = len(self.scores)
        each = [color for color, (_, count) in zip(self.colors, self.groups, strict=False) for _ in range(count)]
        colors = each or ["#444444"] * n_bags
        if n_bags <= _NAMED:
            axis.scatter(self.scores, range(n_bags), s=14, c=colors, zorder=3)
            axis.hlines(range(n_bags), 0, self.scores, color=colors, linewidth=0.8)
        else:
            axis.scatter(self.scores, range(n_bags), s=4, c=colors, linewidths=0, zorder=3)
        axis.axvline(0, color="black", linewidth=0.6)
        axis.margins(x=0.08)
        axis.xaxis.set_major_locator(MaxNLocator(3))
        axis.grid(axis="x", color="#E5E5E5", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_xlabel(as_written(shortened(self.output, 22)), fontsize=8)
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", labelleft=False)

    def _name_rows(self, heat: Any, right: Any) -> None:
        """Name each bag or, if there are many, each group of bags; lines separate the groups."""
        bare(heat)
        ends = np.cumsum([count for _, count in self.groups])
        for end in ends[:-1]:
            heat.axhline(end - 0.5, color="black", linewidth=0.9)
            right.axhline(end - 0.5, color="black", linewidth=0.9)
        if len(self.bags) <= _NAMED:
            heat.set_yticks(range(len(self.bags)), [as_written(shortened(name, 24)) for name in self.bags])
            for (name, count), end in zip(self.groups, ends, strict=True):
                right.annotate(
                    as_written(f"label {shortened(name, 20)}"),
                    (1.03, end - count / 2 - 0.5),
                    xycoords=("axes fraction", "data"),
                    fontsize=8,
                    fontweight="bold",
                    va="center",
                )
        elif self.groups:
            names = [f"label {shortened(name, 20)}\n{count:,} bags" for name, count in self.groups]
            places = [end - count / 2 - 0.5 for (_, count), end in zip(self.groups, ends, strict=True)]
            heat.set_yticks(places, list(map(as_written, names)))
        else:
            heat.set_yticks([])
            heat.set_ylabel(f"{len(self.bags):,} bags, by score", fontsize=8)


def _colors(model: Any, labels: Array | None, names: list[str]) -> list[str]:
    """Return the colors of the groups of bags."""
    known = list(map(str, classes_of(model, labels)))
    if not known or not set(names) <= set(known):
        return []
    return [class_color(known.index(name), len(known)) for name in names]


def _groups(labels: Array | None) -> tuple[Array | None, list[str]]:
    """Return the group of each bag (n_bags,) and the names of the groups; none for numbers with many values."""
    if labels is None:
        return None, []
    known = sorted(set(labels.tolist()), key=lambda label: (isinstance(label, str), label))
    if len(known) > MOST_CLASSES and labels.dtype.kind in "iuf":
        return None, []
    place = {label: code for code, label in enumerate(known)}
    return np.array([place[label] for label in labels.tolist()]), list(map(str, known))
