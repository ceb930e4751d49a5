"""Membership functions of the rules, before and after training."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import SEVERAL, class_color, class_of_rule
from fuzzymil.plots._axes import Scale, view
from fuzzymil.plots._rules import (
    border,
    checked_start,
    conditions_about,
    influences,
    quantifier_word,
    quantifiers_about,
    restrictions,
    rules_of,
    split,
)
from fuzzymil.plots.style import FAINT, HIGH, LOW, add_legend, as_written
from fuzzymil.rules import RuleBase
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.premise import ANYTHING

_TITLED = 4  # conclusions in the title of a rule


@dataclasses.dataclass(frozen=True)
class Curve:
    """One fuzzy set, before and after training, over the range of its feature."""

    x: Array
    before: Array | None
    after: Array
    quantifier: str = ""


@dataclasses.dataclass(repr=False)
class MembershipDisplay:
    """Membership functions of each rule (rows) in each feature (columns), before and after training.

    A dashed gray line is the set before training, a solid line the set after it. Rules with a high conclusion, above
    the threshold of a binary classifier or else the mean, are orange, the others blue. Of additive rules, those that
    raise the output are orange, and those that do not change it gray. With several outputs, a rule has the color of
    its greatest conclusion, an additive one that of the output that it changes most. The panels name the quantifiers
    of a premise. Of Mamdani rules, the last columns are the sets that they conclude, on a tinted ground.

    Parameters
    ----------
    curves : nested lists of Curve or None
        One row per rule, one column per feature; None if the rule has no condition on the feature.
    titles : list of str
        Titles of the rows.
    features : list of str
        Names of the columns.
    high : list of bool
        Which rules have a high conclusion.
    marks : dict of str to sequence of float
        Values to mark, by feature.
    units : list of str
        Units of the features.
    scales : list of Scale
        How the values of the features are written: as numbers, categories or dates.
    n_outputs : int
        Number of columns, the last ones, that are outputs of Mamdani rules.
    colors : list of str
        Colors of the rules. Default: by ``high``.
    kinds : list of str
        What the colors mean, one per rule.
    note : str
        What is not shown.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> MembershipDisplay.from_rules(rules).titles
    ['Rule 1: y = 0.00', 'Rule 2: y = 1.00']
    """

    curves: list[list[Curve | None]]
    titles: list[str]
    features: list[str]
    high: list[bool]
    marks: dict[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    units: list[str] = dataclasses.field(default_factory=list)
    scales: list[Scale] = dataclasses.field(default_factory=list)
    n_outputs: int = 0
    colors: list[str] = dataclasses.field(default_factory=list)
    kinds: list[str] = dataclasses.field(default_factory=list)
    note: str = ""

    @classmethod
    def from_rules(
        cls, rule_base: Any, initial: Any = None, *, max_features: int = 6, output: int | None = None
    ) -> MembershipDisplay:
        """Evaluate the sets of rules and, optionally, of the rules before training.

        Parameters
        ----------
        rule_base : RuleBase, or fitted model
        initial : RuleBase, optional
            The rules before training: the same variables and as many rules.
        max_features : int
            Maximum number of features. If there are more, those that matter most come first: that influential rules
            restrict most. Features without conditions are not shown.
        output : int, optional
            Output whose conclusions are in the titles. Default: all, of additive rules those that the rule changes.
        """
        rules = rules_of(rule_base)
        initial = checked_start(rules, initial)
        asked = {name for rule in rules.rules for name in rule.antecedent}
        used = [d for d, variable in enumerate(rules.variables) if variable.name in asked] or [0]  # at least one column
        places, left = split((influences(rules, output) @ restrictions(rules))[used], max_features, in_order=False)
        shown = [used[place] for place in places]
        constants = rules.coefs[:, output or 0, 0]
        curves = []
        for r, rule in enumerate(rules.rules):
            row: list[Curve | None] = []
            for d in shown:
                variable = rules.variables[d]
                if variable.name not in rule.antecedent:
                    row.append(None)
                    continue
                x = np.linspace(*_view(rules, initial, d), 300)
                before = None if initial is None else _degrees(initial, r, d, x)
                row.append(Curve(x, before, _degrees(rules, r, d, x), quantifiers_about(rules, r, d)[0]))
            curves.append(row + (_concluded_curves(rules, initial, r) if rules.concludes_sets else []))
        outputs = rules.outputs if rules.concludes_sets else ()
        columns = [*(rules.variables[d] for d in shown), *outputs]
        high = constants > border(rule_base, constants)
        several = output is None and len(rules.outputs) > 1 and not rules.concludes_sets
        looks = [
            _look(rules, rules.coefs[r] if several else rules.coefs[r, [output or 0]], bool(high[r]))
            for r in range(rules.n_rules)
        ]
        return cls(
            curves=curves,
            titles=[
                (_said(rules, r) if rules.concludes_sets else _title(rules, r, output)) + _hidden(rules, r, shown)
                for r in range(rules.n_rules)
            ],
            features=[variable.name for variable in columns],
            high=high.tolist(),
            units=["" if variable.shown(0.0) else variable.unit for variable in columns],
            scales=[Scale.of(variable) for variable in columns],
            n_outputs=len(outputs),
            colors=[color for color, _ in looks],
            kinds=[kind for _, kind in looks],
            note=_note(len(left)),
        )

    def with_marks(self, marks: dict[str, Sequence[float]]) -> MembershipDisplay:
        """Return the display with dotted lines at known values of features, such as true concepts."""
        return dataclasses.replace(self, marks=marks)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_rows, n_columns = len(self.curves), len(self.features)
        figure, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(0.6 + 3.1 * n_columns, 0.7 + 1.15 * n_rows),
            squeeze=False,
            sharex="col",
            sharey=True,
            layout="constrained",
        )
        for r, row in enumerate(self.curves):
            color = self._color(r)
            for d, curve in enumerate(row):
                concludes = d >= n_columns - self.n_outputs
                _draw(axes[r, d], curve, color, "nothing" if concludes else "any")
                if concludes:
                    axes[r, d].set_facecolor("#F7F5F0")
                for place in self.marks.get(self.features[d], ()):
                    axes[r, d].axvline(place, color="black", linewidth=0.8, linestyle=":")
            axes[r, 0].set_title(as_written(self.titles[r]), loc="left", fontsize=9, color=color, fontweight="bold")
        asks = any(curve is not None and curve.quantifier for row in self.curves for curve in row)
        axes[0, 0].set_ylim(0, 1.35 if asks else 1.08)  # of all; room for the quantifiers above the curves
        for d, name in enumerate(self.features):
            unit = self.units[d] if self.units else ""
            axes[-1, d].set_xlabel(as_written(f"{name} [{unit}]" if unit else name))
            if self.scales:
                self.scales[d].put_on(axes[-1, d].xaxis)
        figure.supylabel("membership", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        self._legend(figure)
        return figure

    def _legend(self, figure: Figure) -> None:
        drawn = {(self._color(r), kind) for r, kind in enumerate(self.kinds) if any(self.curves[r])}
        ranks = [HIGH, LOW, *SEVERAL, FAINT]
        ordered = sorted(drawn, key=lambda look: (ranks.index(look[0]), look[1]))
        handles = [Line2D([], [], color=color, label=kind) for color, kind in ordered]
        if any(curve is not None and curve.before is not None for row in self.curves for curve in row):
            handles.append(Line2D([], [], color=FAINT, linestyle="--", label="before training"))
        if self.marks:
            handles.append(Line2D([], [], color="black", linestyle=":", linewidth=0.8, label="true concepts"))
        if handles or self.note:
            labels = [str(handle.get_label()) for handle in handles]
            add_legend(figure, handles, labels, title=self.note, ncols=max(len(handles), 1))

    def _color(self, r: int) -> str:
        return self.colors[r] if self.colors else HIGH if self.high[r] else LOW


def _draw(axis: Any, curve: Curve | None, color: str, blank: str) -> None:
    axis.set_yticks([0, 1])
    axis.tick_params(labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    if curve is None:
        axis.text(0.5, 0.5, blank, transform=axis.transAxes, ha="center", va="center", color=FAINT)
        return
    if curve.before is not None:
        axis.plot(curve.x, curve.before, color=FAINT, linestyle="--", linewidth=1.2)
    axis.plot(curve.x, curve.after, color=color, linewidth=1.8)
    axis.fill_between(curve.x, curve.after, color=color, alpha=0.12, linewidth=0)
    axis.set_xlim(curve.x[0], curve.x[-1])
    if curve.quantifier:
        look = {"fontsize": 8, "color": "#333333", "va": "top", "ha": "left", "fontstyle": "italic"}
        axis.text(0.02, 0.98, curve.quantifier, transform=axis.transAxes, **look)


def _look(rules: RuleBase, coefs: Array, high: bool) -> tuple[str, str]:
    """Return the color of a rule and what it means, given its conclusions (n_outputs, n_coefs) that are shown."""
    additive = not rules.normalize
    if additive and not coefs.any():
        return FAINT, "changes nothing"
    if len(coefs) > 1:
        k = class_of_rule(coefs[:, 0], additive=additive)
        name = rules.output_names[k]
        return class_color(k, len(coefs)), f"changes {name} most" if additive else f"for {name}"
    words = ("lowers the output", "raises the output") if additive else ("low conclusion", "high conclusion")
    return (LOW, HIGH)[high], words[high]


def _note(n_left: int) -> str:
    if not n_left:
        return ""
    return f"{n_left} feature{'s' if n_left > 1 else ''} that matter{'' if n_left > 1 else 's'} less not shown"


def _title(rules: RuleBase, r: int, output: int | None) -> str:
    """Return the number of a rule and its conclusion, and what it asks of the number of instances."""
    coefs = rules.coefs[r]
    chosen = range(len(rules.outputs)) if output is None else [output]
    if output is None and not rules.normalize:  # not "+= 0.00" for every class that the rule does not mention
        chosen = [k for k in chosen if coefs[k].any()] or [0]
    said = ", ".join(_concluded(rules, r, k) for k in chosen[:_TITLED])
    more = f" and {len(chosen) - _TITLED} more" if len(chosen) > _TITLED else ""
    counts = [quantifier_word(part) for part in rules.parts if part.rule == r and part.premise == ANYTHING]
    asked = "".join(f" ({word} instances)" for word in counts if word)
    return f"{rules.name_of(r)}: {said}{more}{asked}"


def _concluded(rules: RuleBase, r: int, output: int) -> str:
    constant = rules.coefs[r, output, 0]
    sign = "=" if rules.normalize else "-=" if constant < 0 else "+="
    value = f"{constant if rules.normalize else abs(constant):.2f}"
    more = " + ..." if np.any(rules.coefs[r, output, 1:]) else ""
    return f"{rules.output_names[output]} {sign} {value}{more}"


def _hidden(rules: RuleBase, r: int, shown: list[int]) -> str:
    """Return how many conditions of a rule are on features that are not shown: without them it looks like others."""
    n = len(set(rules.rules[r].antecedent) - {rules.variables[d].name for d in shown})
    return f" ({n} condition{'s' if n > 1 else ''} not shown)" if n else ""


def _said(rules: RuleBase, r: int) -> str:
    return f"{rules.name_of(r)}: {rules.concluded_text(r)}"


def _concluded_curves(rules: RuleBase, initial: RuleBase | None, r: int) -> list[Curve | None]:
    """Return the set that a rule concludes of each output, now and before training."""
    found: list[Curve | None] = []
    for k, output in enumerate(rules.outputs):
        said = rules.rules[r].terms.get(output.name)
        if said is None:
            found.append(None)
            continue
        x = np.linspace(*span(output), 300)
        before = None if initial is None else initial.outputs[k].terms[said.term](x)
        found.append(Curve(x, before, output.terms[said.term](x)))
    return found


def _degrees(rules: RuleBase, rule: int, d: int, x: Array) -> Array:
    """Return the degrees to which values satisfy the rule's first condition on a feature."""
    return next(conditions_about(rules, rule, d, x))


def _view(rules: RuleBase, initial: RuleBase | None, d: int) -> tuple[float, float]:
    """Return the range of a feature to draw: its own or, if that is unknown, that of the sets."""
    variable = rules.variables[d]
    if variable.categories:
        return view(variable)
    low, high = variable.low, variable.high
    if low is None or high is None or not high > low:
        peaks = np.concatenate([base.centers[:, d] for base in (rules, initial) if base is not None])
        reach = 3 * np.nanmax(rules.widths[:, d])
        return float(np.nanmin(peaks) - reach), float(np.nanmax(peaks) + reach)
    return low, high
