"""Bags of points in the plane, true concepts, and learned rules as ellipses."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Ellipse

from fuzzymil.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.plots.style import FAINT, HIGH, LOW, bare
from fuzzymil.rules import RuleBase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PlaneDisplay"]


@dataclasses.dataclass
class PlaneDisplay:
    """Instances of bags with two features, and what is known or was learned about them.

    Parameters
    ----------
    groups : dict of str to array of shape (n, 2)
        Instances by the kind of their bag, the negative kind first.
    concepts : array of shape (n_concepts, 2), optional
        Centres of the true concepts.
    radius : float
        Of the true concepts.
    bag : array of shape (m, 2), optional
        Instances of one bag, to be circled.
    rules : RuleBase, optional
        Drawn one width around their centres.
    """

    groups: dict[str, Array]
    concepts: Array | None = None
    radius: float = 0.0
    bag: Array | None = None
    rules: RuleBase | None = None

    @classmethod
    def from_bags(
        cls,
        bags: Bags,
        kinds: Array,
        order: Sequence[str],
        *,
        concepts: Array | None = None,
        radius: float = 0.0,
        circled: int | None = None,
        rules: RuleBase | None = None,
    ) -> PlaneDisplay:
        """Sort the instances by the kind of their bag.

        Parameters
        ----------
        bags : Bags
            With two features.
        kinds : array of shape (n_bags,)
            Names of three kinds at most.
        order : sequence of str
            The kinds, negatives first.
        circled : int, optional
            Bag whose instances are circled.
        """
        owners = np.repeat(np.asarray(kinds), bags.sizes)
        groups = {kind: bags.instances[owners == kind] for kind in order}
        return cls(groups, concepts, radius, None if circled is None else bags[circled], rules)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, axis = plt.subplots(figsize=(6.2, 6.8), layout="constrained")
        looks: tuple[dict[str, Any], ...] = (
            {"marker": ".", "s": 14},
            {"marker": "+", "s": 34},
            {"marker": "^", "s": 18},
        )
        colors = (FAINT, LOW, "#009E73")
        for (name, points), look, color in zip(self.groups.items(), looks, colors, strict=False):
            axis.scatter(points[:, 0], points[:, 1], color=color, linewidths=1.0, label=f"in a {name} bag", **look)
        if self.bag is not None:
            axis.scatter(
                self.bag[:, 0],
                self.bag[:, 1],
                s=110,
                facecolors="none",
                edgecolors="black",
                linewidths=1.2,
                label="one bag's instances",
            )
        if self.concepts is not None:
            axis.scatter(
                self.concepts[:, 0],
                self.concepts[:, 1],
                marker="s",
                s=46,
                color="black",
                label="concept centre",
                zorder=4,
            )
            for center in self.concepts:
                axis.add_patch(Circle(center, self.radius, fill=False, color="black", linewidth=1.4, zorder=4))
        if self.rules is not None:
            self._ellipses(axis)
        axis.set_aspect("equal")
        axis.set_xlabel("x")
        axis.set_ylabel("y")
        bare(axis)
        if title:
            figure.suptitle(title, fontsize=11)
        figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
        return figure

    def _ellipses(self, axis: Any) -> None:
        assert self.rules is not None
        outputs = self.rules.coefs[:, 0, 0]
        low, high = axis.get_xlim(), axis.get_ylim()
        named: set[bool] = set()
        for r, (center, width) in enumerate(zip(self.rules.centers, self.rules.widths, strict=True)):
            positive = bool(outputs[r] > 0.5)
            axis.add_patch(
                Ellipse(
                    (float(center[0]), float(center[1])),
                    *(2 * width),
                    fill=False,
                    edgecolor=HIGH if positive else LOW,
                    linestyle="-" if positive else "--",
                    linewidth=2.0 if positive else 1.2,
                    zorder=3,
                    label=None
                    if positive in named
                    else f"rule that concludes {'positive' if positive else 'negative'}",
                )
            )
            named.add(positive)
            inside = low[0] <= center[0] <= low[1] and high[0] <= center[1] <= high[1]
            if inside:
                axis.annotate(
                    str(r + 1),
                    (center[0], center[1]),
                    xytext=(6, 6),
                    textcoords="offset points",
                    fontsize=10,
                    fontweight="bold",
                    color=HIGH if positive else LOW,
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
                    zorder=5,
                )
        # Wide rules reach far beyond the data, which is what the figure is about.
        axis.set_xlim(low)
        axis.set_ylim(high)
