"""A tree of systems: which one asks for whose outputs, from left to right."""

from __future__ import annotations

import dataclasses

import numpy as np
from matplotlib.figure import Figure

from fuzzymil._utils.text import quantity
from fuzzymil.plots.style import add_title, as_written, shorten, subplots
from fuzzymil.rules.tree import RuleTree, TreeActivations

_NAME = 22  # characters that fit in a box


@dataclasses.dataclass(repr=False)
class TreeDisplay:
    """The systems of a tree as boxes, level by level, with what flows between them.

    Parameters
    ----------
    tree : RuleTree
    values : dict of str to float
        Values of inputs and outputs, written on the arrows; may be empty.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> tree = RuleTree([RuleBase.parse("VARIABLE a: low = Ramp(1, 0) IF a is low THEN b = 1")])
    >>> TreeDisplay.from_tree(tree, tree.infer([[0.25]])).values
    {'a': 0.25, 'b': 1.0}
    """

    tree: RuleTree
    values: dict[str, float]

    @classmethod
    def from_tree(cls, tree: RuleTree, found: TreeActivations | None = None, bag: int = 0) -> TreeDisplay:
        """Take the values from what a tree computed for the bag at a position; means over its instances."""
        if found is None:
            return cls(tree, {})
        means = found.bags[[bag]].instances.mean(axis=0)
        return cls(tree, dict(zip(found.bags.names, means.tolist(), strict=True)))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        tree, owners = self.tree, self.tree.owners
        columns = [list(tree.feature_names), *map(list, tree.levels), list(tree.output_names)]
        tallest = max(map(len, columns))
        figure, ((axis,),) = subplots(1, 1, (1.7 * len(columns), 0.6 + 0.8 * tallest))
        axis.set_axis_off()
        inner, places = range(1, len(columns) - 1), dict[tuple[str, str], tuple[float, float]]()
        for x, names in enumerate(columns):
            for n, name in enumerate(names):
                kind = "system" if x in inner else "input" if x == 0 else "output"
                places[kind, name] = (float(x), (tallest - 1) * 0.5 + (len(names) - 1) * 0.5 - n)
        for (kind, name), place in places.items():
            text = shorten(name, _NAME)
            if kind == "system":
                text += f"\n{quantity(tree.systems[name].n_rules, 'rule')}"
            else:
                text += self._value(name)
            look = {"boxstyle": "round,pad=0.4", "facecolor": "#E8F0F8" if kind == "system" else "white"}
            edge = "#333333" if kind == "system" else "none"
            axis.text(*place, as_written(text), ha="center", va="center", fontsize=9, bbox={**look, "edgecolor": edge})
        for name, rules in tree.systems.items():
            for variable in rules.feature_names:
                start = ("system", owners[variable]) if variable in owners else ("input", variable)
                self._arrow(axis, places[start], places["system", name], variable if variable in owners else "")
        for output in tree.output_names:
            self._arrow(axis, places["system", owners[output]], places["output", output], "")
        axis.set_xlim(-0.5, len(columns) - 0.5)
        axis.set_ylim(-0.6, tallest - 0.4)
        add_title(figure, tree.name if title is None else title)
        return figure

    def _value(self, name: str) -> str:
        return f"\n{self.values[name]:.3g}" if name in self.values else ""

    def _arrow(self, axis: object, start: tuple[float, float], end: tuple[float, float], label: str) -> None:
        """Draw an arrow between two boxes, with the name of what flows."""
        one, two = np.add(start, (0.36, 0.0)), np.subtract(end, (0.36, 0.0))
        style = {"arrowstyle": "-|>", "color": "#666666", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", tuple(two), tuple(one), arrowprops=style)  # type: ignore[attr-defined]
        if label:
            x, y = (one + two) / 2
            text = f"{shorten(label, _NAME)}{self._value(label)}"
            look = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            axis.text(  # type: ignore[attr-defined]
                x, y, as_written(text), ha="center", va="center", fontsize=8, color="#333333", bbox=look
            )
