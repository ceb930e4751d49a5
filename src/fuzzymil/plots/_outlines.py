"""Quantified rules in the plane of two features: where an instance satisfies each part."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import listed
from fuzzymil.bags import Bags
from fuzzymil.plots._rules import conclusions, quantifier_word, spoken_of
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import conditions

_LEVEL = 0.5
_N_POINTS = 121
_EDGE = 0.1  # share of the axes that half a label needs


@dataclasses.dataclass(frozen=True)
class RuleOutline:
    """A part of a rule in the plane of two features.

    Attributes
    ----------
    number : int
        Rule number, from 1.
    word : str
        Its quantifier, in short.
    x, y : arrays of shape (n,)
        Values of the two features.
    truth : array of shape (n, n)
        Degree to which an instance satisfies the part there (rows: ``y``), if its conditions on other features hold.
    kind : int
        0 or 1 for a low or high conclusion; with several outputs, the position of the one that the rule is about.
    label : str
        The kind in words.
    against : bool
        Whether the rule takes away from that output.
    """

    number: int
    word: str
    x: Array
    y: Array
    truth: Array
    kind: int
    label: str
    against: bool = False

    @property
    def middle(self) -> tuple[float, float]:
        """A place where the part is satisfied: the middle of where it is nearly as true as anywhere."""
        down, across = np.nonzero(self.truth >= 0.95 * self.truth.max())
        near = np.hypot(down - down.mean(), across - across.mean()).argmin()
        return float(self.x[across[near]]), float(self.y[down[near]])


def rule_outlines(
    rules: RuleBase, across: int, up: int, low: tuple[float, float], high: tuple[float, float], limit: float
) -> tuple[tuple[RuleOutline, ...], str]:
    """Return the parts of the rules in the plane of two features, and notes for the reader.

    Parameters
    ----------
    rules : RuleBase
    across, up : int
        The features.
    low, high : pairs of float
        Range of each feature.
    limit : float
        Above it, the conclusion for a single output counts as high.
    """
    x, y = np.linspace(*low, _N_POINTS), np.linspace(*high, _N_POINTS)
    rows = np.full((_N_POINTS**2, rules.n_features), np.nan)  # a missing value satisfies every condition
    rows[:, across], rows[:, up] = np.tile(x, _N_POINTS), np.repeat(y, _N_POINTS)
    truth = rules.ignoring_gaps().infer(Bags(rows, np.arange(len(rows) + 1), feature_names=rules.feature_names)).truth
    said = conclusions(rules)
    labels = [f"rule that {does} {rules.output_names[0]}" for does in ("lowers", "raises")]
    if rules.normalize:
        labels = [f"rule with conclusion {sign} {format_number(limit, 3)}" for sign in ("≤", ">")]
    kinds = [(int(high), False, labels[int(high)]) for high in said[:, 0] > limit]
    if len(rules.outputs) > 1:
        kinds = spoken_of(rules)
    shown = {rules.feature_names[across], rules.feature_names[up]}
    found, elsewhere = [], []
    for p, part in enumerate(rules.parts):
        asked = {condition.variable for condition in conditions(part.premise)}
        if asked & shown:
            kind, against, label = kinds[part.rule]
            plane = truth[:, p].reshape(_N_POINTS, _N_POINTS)
            found.append(RuleOutline(part.rule + 1, quantifier_word(part), x, y, plane, kind, label, against))
        if asked - shown or not asked:
            elsewhere.append(part.rule + 1)
    notes = [f"lines: an instance satisfies the rule (or its part) to {_LEVEL}"]
    if elsewhere:
        numbers = sorted(set(elsewhere))
        notes.append(f"with other conditions, too: rule{'s' if len(numbers) > 1 else ''} {listed(numbers)}")
    return tuple(found), "; ".join(notes)


def draw_outline(axis: Any, outline: RuleOutline, look: dict[str, Any]) -> None:
    """Draw the line at which a part is half satisfied, its number and its quantifier."""
    if outline.truth.max() > _LEVEL > outline.truth.min():
        drawn = axis.contour(
            outline.x,
            outline.y,
            outline.truth,
            levels=[_LEVEL],
            colors=look["color"],
            linestyles=[look["linestyle"]],
            linewidths=look["linewidth"],
        )
        drawn.set_zorder(3)
        axis.contourf(outline.x, outline.y, outline.truth, levels=[_LEVEL, 1.1], colors=look["color"], alpha=0.06)
    x, y = outline.middle
    # Inside the axes even if the place is at their edge.
    across = (x - outline.x[0]) / (outline.x[-1] - outline.x[0])
    up = (y - outline.y[0]) / (outline.y[-1] - outline.y[0])
    axis.text(
        x,
        y,
        f"{outline.number} {outline.word}".strip(),
        ha="left" if across < _EDGE else "right" if across > 1 - _EDGE else "center",
        va="bottom" if up < _EDGE / 2 else "top" if up > 1 - _EDGE / 2 else "center",
        fontsize=9,
        fontweight="bold",
        color=look["color"],
        bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        zorder=7,
        clip_on=True,
    )
