"""How much features and rules matter for the score, as bars with whiskers."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import Importance
from fuzzymil.plots.style import FAINT, as_written, bare, shortened

Row = tuple[str, float, float]  # a feature or rule, the drop, and its standard deviation

_COLOR = "#4A5560"  # neither a class nor a direction


@dataclasses.dataclass
class ImportanceDisplay:
    """The drop in the score without what a feature says, and without each rule.

    Bars are means, whiskers one standard deviation. A bar to the left of zero means that the score is better without.

    Parameters
    ----------
    features, rules : lists of (str, float, float)
        Name, drop and standard deviation, the most important first.
    score_name : str
    note : str
        On which bags it was measured, and what is not shown.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = RuleClassifier(random_state=0).fit(bags[::2])
    >>> display = ImportanceDisplay.from_model(model, bags[1::2], n_repeats=3)
    >>> len(display.features), len(display.rules)
    (2, 2)
    >>> plt.close(display.plot())
    """

    features: list[Row]
    rules: list[Row]
    score_name: str
    note: str = ""

    @classmethod
    def from_model(
        cls, model: Any, bags: Any, y: Any = None, *, max_features: int = 15, max_rules: int = 15, **settings: Any
    ) -> ImportanceDisplay:
        """Measure the importance and show it.

        Parameters
        ----------
        model : fitted model with rules
        bags : Bags, or anything `as_bags` accepts
            Best bags that were held out.
        y : array of shape (n_bags,), optional
            Default: the labels of the bags.
        max_features, max_rules : int
            Most features and rules to show.
        **settings
            ``scoring``, ``n_repeats`` and ``random_state`` of ``model.importance``.
        """
        found = model.importance(bags, y, **settings)
        return cls.from_importance(found, max_features=max_features, max_rules=max_rules)

    @classmethod
    def from_importance(
        cls, importance: Importance, *, max_features: int = 15, max_rules: int = 15
    ) -> ImportanceDisplay:
        """Show what ``model.importance`` found; see `from_model`."""
        for name, most in (("max_features", max_features), ("max_rules", max_rules)):
            if most < 0:
                raise ParameterError(f"{name} must not be negative, got {most!r}.")
        used = [(each.name, each.drop, each.std) for each in importance.features if each.used]
        rules = [(f"{each.name}: {each.text}", each.drop, each.std) for each in importance.rules]
        notes = [importance.basis]
        unused = len(importance.features) - len(used)
        if unused:
            notes.append(f"No rule uses {unused} other feature{'s' if unused > 1 else ''}.")
        for rows, most, what in ((used, max_features, "feature"), (rules, max_rules, "rule")):
            if len(rows) > most > 0:
                notes.append(f"{len(rows) - most} more {what}{'s' if len(rows) - most > 1 else ''}.")
        return cls(used[:max_features], rules[:max_rules], importance.score_name, " ".join(notes))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        panels = [(name, rows) for name, rows in (("features", self.features), ("rules", self.rules)) if rows]
        panels = panels or [("features", [])]
        heights = [max(len(rows), 1) + 0.6 for _, rows in panels]
        figure, axes = plt.subplots(
            len(panels),
            1,
            figsize=(6.6, 1.1 + 0.33 * sum(heights) + (0.3 if title else 0.0)),
            height_ratios=heights,
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        for axis, (name, rows) in zip(axes[:, 0], panels, strict=True):
            _draw(axis, name, rows)
        axes[-1, 0].set_xlabel(as_written(f"drop in {self.score_name}"), fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        figure.supxlabel(as_written(textwrap.fill(self.note, 100)), fontsize=7.5)
        return figure


def _draw(axis: Any, name: str, rows: Sequence[Row]) -> None:
    places = np.arange(len(rows))
    axis.barh(places, [drop for _, drop, _ in rows], height=0.6, color=_COLOR, alpha=0.85, zorder=2)
    axis.errorbar(
        [drop for _, drop, _ in rows],
        places,
        xerr=[std for _, _, std in rows],
        linestyle="",
        color="#111111",
        capsize=2.5,
        linewidth=1.0,
        zorder=3,
    )
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(places, ["\n".join(map(as_written, _wrapped(text))) for text, _, _ in rows])
    axis.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axis.set_title(name, fontsize=9, fontweight="bold", loc="left")
    axis.grid(axis="x", color="#E5E5E5", linewidth=0.6)
    axis.set_axisbelow(True)
    bare(axis)
    axis.tick_params(axis="y", length=0)
    if not rows:
        axis.text(0.5, 0.5, "no rule uses any", transform=axis.transAxes, ha="center", va="center", color=FAINT)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(shortened(text, 76), 40) or [""]
