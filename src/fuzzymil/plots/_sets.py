"""Membership functions of the rules, before and after training."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import SEVERAL, class_color, class_of_rule
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.words import number_column
from fuzzymil.plots._rules import (
    border,
    check_start,
    conclusions,
    conditions_about,
    influences,
    is_simple,
    position,
    quantifier_word,
    quantifiers_about,
    restrictions,
    rules_of,
    split,
)
from fuzzymil.plots.style import FAINT, HIGH, LOW, PLAIN, Scale, add_legend, add_title, as_written, shorten
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import seen_bags
from fuzzymil.rules.curves import axis_of, curve_points
from fuzzymil.rules.language.printer import format_number
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
        initial = check_start(rules, initial)
        asked = {name for rule in rules.rules for name in rule.antecedent}
        used = [d for d, variable in enumerate(rules.variables) if variable.name in asked] or [0]  # at least one column
        places, left = split((influences(rules, output) @ restrictions(rules))[used], max_features, in_order=False)
        shown = [used[place] for place in places]
        points = {d: _points(rules, initial, None, d) for d in shown}
        constants = rules.coefs[:, output or 0, 0]
        curves = []
        for r, rule in enumerate(rules.rules):
            row: list[Curve | None] = []
            for d in shown:
                variable = rules.variables[d]
                if variable.name not in rule.antecedent:
                    row.append(None)
                    continue
                x = points[d]
                before = None if initial is None else next(conditions_about(initial, r, d, x))
                after = next(conditions_about(rules, r, d, x))
                row.append(Curve(x, before, after, quantifiers_about(rules, r, d)[0]))
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
        add_title(figure, title)
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
        versions = [version.outputs[k].terms[said.term] for version in (rules, initial) if version is not None]
        x = curve_points(versions, *axis_of(output))
        before = None if initial is None else initial.outputs[k].terms[said.term](x)
        found.append(Curve(x, before, output.terms[said.term](x)))
    return found


# All rules at a glance: a grid of fuzzy sets, rules by features, with the conclusions on the right.


_HALF = 0.42  # half the width and height of the drawing in a cell
_TALL = 0.82  # share of that height for a membership of 1, with room for a number above
_FOLDED_WIDTH = 1.7  # width of the column of folded features, in cells
_LETTER = 0.08  # width of a letter in the names of columns, in inches
_BOLD = 0.08  # of one in the names of outputs
_MAX_OUTPUTS = 6
_N_BINS = 24


@dataclasses.dataclass(frozen=True)
class Cell:
    """The conditions of one rule on one feature, shape (n_conditions, n_points), before and after training."""

    after: Array
    before: Array | None
    restriction: float
    quantifier: str = ""


@dataclasses.dataclass(repr=False)
class RuleGridDisplay:
    """Fuzzy sets of each rule (rows) in each feature (columns), and the rules' conclusions.

    A cell shows the membership over the range of the feature; the dashed line is the set before training. The number
    in the corner is how much the set restricts the feature: 0 not at all, 1 fully. It is 1 minus the mean membership
    of the data. Features that are not shown are folded into one column, with their restrictions in descending order.

    Features are selected by relevance: the sum over the rules of how much the rule restricts the feature, times the
    distance of the rule's conclusion from the mean conclusion.

    Parameters
    ----------
    features : list of str
        Names of the columns, with units.
    rows : list of str
        Names of the rules.
    points : list of arrays of shape (n_points,)
        Values of each feature at which the memberships are known.
    cells : nested lists of Cell or None
        One row per rule, one column per feature; None if the rule has no condition on the feature.
    folded : array of shape (n_rules, n_folded)
        Restrictions of the features that are not shown, in descending order.
    outputs : list of str
    conclusions : array of shape (n_rules, n_outputs)
        Conclusions of the rules, at their centers.
    high : array of shape (n_rules,)
        Whether a rule has a high conclusion; all False with several outputs.
    counts : list of arrays of shape (n_bins,), or None
        Histogram of the instances in each feature.
    note : str
        What is not shown, and what marks mean.
    additive : bool
        Whether the conclusions are added to a default.
    scales : list of Scale
        How the values of the features are written: as numbers, categories or dates.
    colors : list of str
        Of several outputs; a rule has that of its greatest conclusion, an additive one that of the output that it
        changes most.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0, 0.5], [1.0, 0.5]], [[0.1, 9.0], [0.1, 9.0]], [0, 1],
    ...     feature_names=["hue", "size"], ranges=[[0, 1], [0, 1]])
    >>> display = RuleGridDisplay.from_rules(rules, max_features=1)
    >>> display.features, display.folded.round(3).tolist()
    (['hue'], [[0.001], [0.001]])
    """

    features: list[str]
    rows: list[str]
    points: list[Array]
    cells: list[list[Cell | None]]
    folded: Array
    outputs: list[str]
    conclusions: Array
    high: Array
    counts: list[Array] | None = None
    note: str = ""
    additive: bool = False
    scales: list[Scale] = dataclasses.field(default_factory=list)
    colors: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def from_rules(
        cls,
        rule_base: Any,
        initial: Any = None,
        *,
        bags: Any = None,
        max_features: int = 12,
        max_rules: int = 16,
        outputs: Sequence[str | int] | None = None,
        threshold: float | None = None,
    ) -> RuleGridDisplay:
        """Select what to show of rules.

        Parameters
        ----------
        rule_base : RuleBase, or fitted model
        initial : RuleBase, optional
            The rules before training: the same variables and as many rules.
        bags : Bags, or anything `as_bags` accepts, optional
            Restrictions are computed from their instances, and histograms are drawn above the grid. Default: computed
            from the range of each feature.
        max_features : int
            Maximum number of features. If there are more, the most relevant are shown in descending order.
        max_rules : int
            Maximum number of rules: those that can move the output most.
        outputs : sequence of str or int, optional
            Default: all, but at most the first six.
        threshold : float, optional
            Above which the conclusion for a single output counts as high. Default: the threshold of a binary
            classifier, else the mean of the rules' conclusions.
        """
        rules = rules_of(rule_base)
        for name, value in (("max_features", max_features), ("max_rules", max_rules)):
            if value < 1:
                raise ParameterError(f"{name} must be at least 1, got {value!r}.")
        initial = check_start(rules, initial)
        seen = None if bags is None else seen_bags(rules, bags)
        restricted, influence = restrictions(rules, seen), influences(rules)
        used = used_features([rules]) or [0]  # one column even if no rule has a condition
        columns, folded = split((influence @ restricted)[used], max_features, in_order=False)
        columns, folded = ([used[place] for place in places] for places in (columns, folded))
        rows, _ = split(influence, max_rules, in_order=True)
        chosen = range(min(len(rules.outputs), _MAX_OUTPUTS)) if outputs is None else outputs
        k = [position("output", output, rules.output_names) for output in chosen]
        points = [_points(rules, initial, seen, d) for d in columns]
        said = conclusions(rules)[:, k]
        limit = border(rule_base, said[:, 0]) if threshold is None else threshold
        return cls(
            features=[rules.variables[d].title for d in columns],
            rows=[_row_name(rules, r) for r in rows],
            points=points,
            cells=[
                [_cell(rules, initial, r, d, x, restricted) for d, x in zip(columns, points, strict=True)] for r in rows
            ],
            folded=-np.sort(-restricted[np.ix_(rows, folded)], axis=1),
            outputs=[rules.output_names[place] for place in k],
            conclusions=said[rows],
            high=(said[rows, 0] > limit) & (len(k) == 1),
            counts=None if seen is None else [_counts(rules, seen, d, x) for d, x in zip(columns, points, strict=True)],
            note=_grid_note(rules, rows, k, limit),
            additive=not rules.normalize,
            scales=[Scale.of(rules.variables[d]) for d in columns],
            colors=[class_color(place, len(rules.outputs)) for place in k] if len(k) > 1 else [],
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_rows, n_columns = len(self.rows), len(self.features)
        cell = float(np.clip(6.0 / n_columns, 0.66, 1.5))
        across = n_columns + (_FOLDED_WIDTH if self.folded.size else 0.0)
        top = 0.5 if self.counts is None else 1.5
        said = max(1.15, 0.2 + _BOLD * max(map(len, self._heads))) * len(self.outputs)
        figure, (grid, right) = plt.subplots(
            1,
            2,
            figsize=(0.9 + cell * across + said, 1.5 + 0.52 * (n_rows + top) + (0.3 if title else 0.0)),
            width_ratios=(cell * across, said),
            sharey=True,
            layout="constrained",
        )
        for axis in (grid, right):
            axis.set_ylim(n_rows - 0.5, -top)
            axis.tick_params(length=0, labelsize=8)
            for side in axis.spines.values():
                side.set_visible(False)
        self._draw_grid(grid, across, cell)
        self._draw_conclusions(right)
        add_title(figure, title)
        note = "numbers: how much a set restricts its feature (0: not at all, 1: fully)"
        if any(cell is not None and cell.before is not None for row in self.cells for cell in row):
            note += "; dashed: before training"
        note = textwrap.fill(f"{note}; {self.note}" if self.note else note, int(14 * figure.get_figwidth()))
        figure.supxlabel(as_written(note), fontsize=7.5)
        return figure

    def _draw_grid(self, axis: Any, across: float, cell: float) -> None:
        axis.set_xlim(-0.5, across - 0.5)
        axis.set_yticks(range(len(self.rows)), [as_written(row) for row in self.rows])
        names = [as_written(shorten(name, 30)) for name in self.features]
        places = [float(d) for d in range(len(names))]
        if self.folded.size:
            places.append(len(names) - 0.5 + _FOLDED_WIDTH / 2)
            names.append(f"+{self.folded.shape[1]} more")
        steep = max(map(len, self.features)) * _LETTER > cell
        axis.xaxis.tick_top()
        axis.set_xticks(
            places, names, rotation=40 if steep else 0, ha="left" if steep else "center", rotation_mode="anchor"
        )
        for d, x in enumerate(self.points):
            if self.counts is not None:
                _draw_counts(axis, d, self.counts[d])
            foot, scale = len(self.rows) - 1 + _HALF + 0.06, self.scales[d] if self.scales else PLAIN
            for place, side, value in ((d - _HALF, "left", x[0]), (d + _HALF, "right", x[-1])):
                end = float(value) if not scale.categories else float(round(value + (0.5 if side == "left" else -0.5)))
                text = as_written(shorten(scale.text(end), 12))
                axis.text(place, foot, text, fontsize=6, ha=side, va="top", color="#555555")
        if self.counts is not None:
            axis.text(-0.53, -1, "instances", fontsize=8, ha="right", va="center", color="#555555")
        for r, row in enumerate(self.cells):
            color = self._color(r)
            for d, found in enumerate(row):
                _draw_cell(axis, r, d, self.points[d], found, color)
            if self.folded.size:
                _draw_folded(axis, r, len(self.features) - 0.5, self.folded[r])

    @property
    def _heads(self) -> list[str]:
        return [shorten(name, 18) + (" +=" if self.additive else "") for name in self.outputs]

    def _color(self, r: int) -> str:
        """Return the color of a rule: of the output for which it speaks or, of a single one, of its direction."""
        if self.additive and not self.conclusions[r].any():
            return FAINT
        if self.colors:
            return self.colors[class_of_rule(self.conclusions[r], additive=self.additive)]
        return HIGH if self.high[r] else LOW

    def _draw_conclusions(self, axis: Any) -> None:
        axis.set_xlim(-0.08, len(self.outputs))
        axis.tick_params(labelleft=False)
        axis.xaxis.tick_top()
        axis.set_xticks(np.arange(len(self._heads)) + 0.46, list(map(as_written, self._heads)), fontweight="bold")
        for k, values in enumerate(self.conclusions.T):
            low, high = min(values.min(), 0.0), max(values.max(), 0.0)
            scale = 0.55 / (high - low) if high > low else 0.0
            zero = k - low * scale
            axis.plot([zero, zero], [-0.5, len(values) - 0.5], color="black", linewidth=0.8, zorder=3)
            for r, text in enumerate(number_column(values.tolist())):
                color = self.colors[k] if self.colors else self._color(r)
                axis.barh(r, values[r] * scale, left=zero, height=0.5, color=color, zorder=2)
                shown = text.strip() if self.additive else text.strip().removeprefix("+")
                axis.text(k + 0.92, r, shown, fontsize=8, ha="right", va="center")


# ---------------------------------------------------------------------- what to show


def _points(rules: RuleBase, initial: RuleBase | None, seen: Bags | None, d: int) -> Array:
    """Return values over the range of a feature; if that is unknown, over the sets before and after training."""
    versions = [base.variables[d] for base in (rules, initial) if base is not None]
    ends = [axis_of(variable, None if seen is None else seen.instances[:, d]) for variable in versions]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    asked = {
        condition.term
        for rule in rules.rules
        for condition in rule.conditions
        if condition.variable == versions[0].name
    }
    sets = [variable.terms[term] for variable in versions for term in sorted(asked) if term in variable.terms]
    return curve_points(sets, low, high if high > low else low + 1.0)


def _cell(rules: RuleBase, initial: Any, r: int, d: int, x: Array, restricted: Array) -> Cell | None:
    after = list(conditions_about(rules, r, d, x))
    if not after:
        return None
    before = [] if initial is None else list(conditions_about(initial, r, d, x))
    said = ", ".join(dict.fromkeys(filter(None, quantifiers_about(rules, r, d))))
    return Cell(np.array(after), np.array(before) if before else None, float(restricted[r, d]), said)


def _counts(rules: RuleBase, seen: Bags, d: int, x: Array) -> Array:
    values, names = seen.instances[:, d], rules.variables[d].categories
    counts, _ = np.histogram(values[~np.isnan(values)], len(names) or _N_BINS, (x[0], x[-1]))
    return np.asarray(counts)


def _row_name(rules: RuleBase, r: int) -> str:
    rule = rules.rules[r]
    weight = "" if rule.weight == 1 else f" (x {format_number(rule.weight, 2)})"
    counts = [quantifier_word(part) for part in rules.parts if part.rule == r and part.premise == ANYTHING]
    asked = "".join(f"\n{word} instances" for word in counts if word)
    return f"{shorten(rules.name_of(r), 16)}{'' if is_simple(rules, r) else '*'}{weight}{asked}"


def _grid_note(rules: RuleBase, rows: list[int], outputs: list[int], limit: float) -> str:
    notes = [f"thick orange lines: conclusion > {format_number(limit, 3)}"] if len(outputs) == 1 else []
    if not rules.normalize:
        starts = ", ".join(f"{rules.output_names[k]} = {format_number(rules.default[k], 3)}" for k in outputs)
        notes = [*(["thick orange lines: the rule raises the output"] if notes else []), f"default: {starts}"]
    if rules.coefs.shape[2] > 1:
        notes.append("linear conclusions are evaluated at the center of the rule")
    if not all(is_simple(rules, r) for r in rows):
        notes.append("* premise with OR, NOT or hedges: the cells show its single conditions")
    unused = rules.n_features - len(used_features([rules]))
    if unused:
        notes.append(f"no condition on {unused} other feature{'s' if unused > 1 else ''}")
    if len(rows) < rules.n_rules:
        notes.append(f"{rules.n_rules - len(rows)} rules with less influence are not shown")
    if len(outputs) < len(rules.outputs):
        notes.append(f"{len(outputs)} of {len(rules.outputs)} outputs")
    return "; ".join(notes)


# ---------------------------------------------------------------------- drawing


def _height(r: float, degrees: Array) -> Array:
    """Return the vertical positions of degrees from 0 to 1 in row ``r``; the axis points down."""
    return np.asarray(r + _HALF - 2 * _HALF * _TALL * degrees)


def _draw_cell(axis: Any, r: int, d: int, x: Array, found: Cell | None, color: str) -> None:
    ends = [d - _HALF, d + _HALF]
    axis.plot(ends, [r + _HALF] * 2, color="#BBBBBB", linewidth=0.6, zorder=1)
    if found is None:
        axis.text(d, r, "any", fontsize=7.5, color=FAINT, ha="center", va="center")
        return
    across = d + _HALF * (2 * (x - x[0]) / (x[-1] - x[0]) - 1)
    for degrees in () if found.before is None else found.before:
        axis.plot(across, _height(r, degrees), color="#666666", linewidth=0.9, linestyle=(0, (2.5, 1.5)), zorder=4)
    for degrees in found.after:
        width = 1.8 if color == HIGH else 1.1  # visible in grayscale
        axis.plot(across, _height(r, degrees), color=color, linewidth=width, zorder=3)
        axis.fill_between(across, _height(r, degrees), r + _HALF, color=color, alpha=0.22, linewidth=0, zorder=2)
    look = {"fontsize": 6, "color": "#333333", "va": "top", "zorder": 5}
    axis.text(d + _HALF, r - _HALF, _degree(found.restriction), ha="right", **look)
    if found.quantifier:
        axis.text(d - _HALF, r - _HALF, found.quantifier, ha="left", fontstyle="italic", **look)


def _draw_folded(axis: Any, r: int, left: float, restricted: Array) -> None:
    """Draw the restrictions of the folded features as steps in descending order."""
    start, end = left + 0.12, left + _FOLDED_WIDTH - 0.12
    edges = np.linspace(start, end, len(restricted) + 1)
    axis.stairs(_height(r, restricted), edges, baseline=r + _HALF, fill=True, color="#AAAAAA", zorder=2)
    axis.plot([start, end], [r + _HALF] * 2, color="#BBBBBB", linewidth=0.6, zorder=1)
    ends = f"{_degree(restricted[-1])} to {_degree(restricted[0])}" if len(restricted) > 1 else _degree(restricted[0])
    axis.text(
        end,
        r - _HALF,
        f"{ends}, mean {_degree(restricted.mean())}" if len(restricted) > 2 else ends,
        fontsize=6,
        color="#333333",
        ha="right",
        va="top",
        zorder=5,
    )


def _draw_counts(axis: Any, d: int, counts: Array) -> None:
    edges = np.linspace(d - _HALF, d + _HALF, len(counts) + 1)
    share = counts / counts.max() if counts.any() else counts
    axis.stairs(_height(-1, share), edges, baseline=-1 + _HALF, fill=True, color="#777777", zorder=2)


def _degree(value: float) -> str:
    """Return a number from 0 to 1 with two decimals, without the leading zero."""
    text = f"{value:.2f}"
    return {"0.00": "0", "1.00": "1"}.get(text, text[1:])
