"""What features matter: effects on predictions, importance, and what additive rules add, feature by feature."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import Affine2D, blended_transform_factory

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import Effect, Importance
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.effects import position
from fuzzymil.explain.words import in_short
from fuzzymil.plots._rules import check_shown, classes_of, rules_of
from fuzzymil.plots.style import (
    FAINT,
    HIGH,
    LOW,
    add_legend,
    add_title,
    as_written,
    bare,
    class_look,
    grid,
    panels,
    shorten,
    subplots,
    write_values,
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import bags_of_equal, seen_bags
from fuzzymil.rules.curves import axis_of
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import Not, conditions
from fuzzymil.rules.rule import Variable

_COLUMNS = 3
_LINE = "#4A5560"  # neither a class nor a direction
_DASHED: Any = (0, (4, 2))


# ---------------------------------------------------------------------- effects


@dataclasses.dataclass
class EffectDisplay:
    """The mean prediction as a feature moves over its range, one panel per feature.

    Solid lines: all instances of a bag have the value; the band is where the middle half of the bags are. Dashed lines:
    one instance of the bag, drawn at random, has it. Everything else stays as it is. The dotted line is the mean for
    the bags as they are. Gray bars at the foot show how many instances have such values.

    Parameters
    ----------
    effects : list of Effect
    n_classes : int
        Number of classes of the model; 0 for a regressor.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = RuleClassifier(random_state=0).fit(bags)
    >>> display = EffectDisplay.from_model(model, bags, ["x1"])
    >>> [effect.feature for effect in display.effects]
    ['x1']
    """

    effects: list[Effect]
    n_classes: int = 0

    @classmethod
    def from_model(
        cls,
        model: Any,
        bags: Any,
        features: Sequence[str | int] | None = None,
        *,
        max_features: int = 6,
        **settings: Any,
    ) -> EffectDisplay:
        """Compute the effects of features.

        Parameters
        ----------
        model : fitted model with rules
        bags : Bags, or anything `as_bags` accepts
        features : sequence of str or int, optional
            Names or columns. Default: those that move the prediction most, of those that rules use.
        max_features : int
            Maximum number of features, if they are not named.
        **settings
            ``pos_label``, ``n_points`` and ``random_state`` of ``model.effect``.
        """
        if isinstance(features, str):
            raise ParameterError(f"features must be a list of names or columns: pass [{features!r}].")
        check_shown(max_features=max_features)
        wanted = features if features is not None else used_features([rules_of(each) for each in model.members_])
        effects = [model.effect(bags, feature, **settings) for feature in wanted]
        if features is None:
            effects.sort(key=lambda each: -max(curve.change for curve in each.curves))
            effects = effects[:max_features]
        if not effects:
            raise ParameterError("The rules use no feature, so there is no effect to show.")
        return cls(effects, len(classes_of(model)))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        room = 0.8 + (1.0 if len(self.effects) == 1 else 0.0), 1.5 if title else 1.2
        figure, axes = panels(len(self.effects), _COLUMNS, (3.4, 2.7), room)
        for axis, effect in zip(axes.flat, self.effects, strict=False):
            self._draw(axis, effect)
        first = self.effects[0]
        low, high = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim((-0.12, 1.04) if first.classifies else (low - 0.12 * (high - low), high))
        what, each = ("probability of", "each class") if first.classifies else ("predicted", "each output")
        about = first.curves[0].name if len(first.curves) == 1 else each
        figure.supylabel(as_written(f"{what} {shorten(about, 30)}"), fontsize=9)
        add_title(figure, title)
        self._legend(figure)
        return figure

    def _color(self, place: int) -> str:
        alone = not self.n_classes and len(self.effects[0].curves) == 1
        return _LINE if alone else str(class_look(place, self.n_classes or 8)["color"])

    def _draw(self, axis: Any, effect: Effect) -> None:
        names = bool(effect.variable.categories)
        for n, curve in enumerate(effect.curves):
            color = self._color(curve.place)
            axis.axhline(effect.mean[n], color=color, linewidth=0.8, linestyle=":", zorder=1)
            if names:
                x = effect.values + 0.16 * (n - (len(effect.curves) - 1) / 2)
                reach = np.abs([curve.low, curve.high] - curve.all_instances)
                axis.errorbar(x, curve.all_instances, yerr=reach, fmt="o", color=color, markersize=5, linewidth=1.2)
                axis.plot(x, curve.one_instance, "o", markerfacecolor="none", color=color, markersize=5, zorder=3)
            else:
                axis.fill_between(effect.values, curve.low, curve.high, color=color, alpha=0.13, linewidth=0)
                axis.plot(effect.values, curve.all_instances, color=color, linewidth=1.8)
                axis.plot(effect.values, curve.one_instance, color=color, linewidth=1.3, linestyle=_DASHED)
        half = 0.5 if names else 0.0
        _put_feature(axis, effect.variable, effect.counts, (effect.values[0] - half, effect.values[-1] + half))
        grid(axis, "y")

    def _legend(self, figure: Figure) -> None:
        curves = self.effects[0].curves
        entries: list[tuple[str, Any]] = []
        own = self._color(curves[0].place)
        if len(curves) > 1:
            own = "#444444"
            entries += [
                (shorten(curve.name, 24), Line2D([], [], color=self._color(curve.place), linewidth=1.8))
                for curve in curves
            ]
        names = [bool(effect.variable.categories) for effect in self.effects]
        for text, width, dash, fill in (
            ("all instances of a bag have the value", 1.8, "-", own),
            ("one instance of a bag has the value", 1.3, _DASHED, "none"),
        ):
            look: dict[str, Any] = {"color": own, "linewidth": width, "linestyle": "" if all(names) else dash}
            look |= {"marker": "o", "markerfacecolor": fill} if any(names) else {}
            entries.append((text, Line2D([], [], **look)))
        entries.append(("middle half of the bags", Patch(color=own, alpha=0.13)))
        entries.append(("mean for the bags as they are", Line2D([], [], color=own, linewidth=0.8, linestyle=":")))
        note = f"means over {self.effects[0].n_bags:,} bags; gray: how many instances have such values"
        labels, handles = zip(*entries, strict=True)
        columns = 3 if figure.get_figwidth() > 8 else 2
        add_legend(figure, handles, labels, title=textwrap.fill(note, 90), ncols=columns)


# ---------------------------------------------------------------------- importance


Row = tuple[str, float, float]  # a feature or rule, the drop, and its standard deviation


@dataclasses.dataclass
class ImportanceDisplay:
    """The drop in the score without what a feature says, and without each rule.

    Bars are means, whiskers one standard deviation. A bar to the left of zero means that the score is better without.

    The rows, ``features`` and ``rules``, are (name, drop, standard deviation), the most important first. The ``note``
    says on which bags the drop in the score was measured, and what is not shown.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = RuleClassifier(random_state=0).fit(bags[::2])
    >>> display = ImportanceDisplay.from_importance(model.importance(bags[1::2], n_repeats=3))
    >>> len(display.features), len(display.rules)
    (2, 2)
    """

    features: list[Row]
    rules: list[Row]
    score_name: str
    note: str = ""

    @classmethod
    def from_importance(
        cls, importance: Importance, *, max_features: int = 15, max_rules: int = 15
    ) -> ImportanceDisplay:
        """Show what ``model.importance`` found, of features and rules at most so many."""
        for name, most in (("max_features", max_features), ("max_rules", max_rules)):
            if most < 0:
                raise ParameterError(f"{name} must not be negative, got {most!r}.")
        used = [(each.name, each.drop, each.std) for each in importance.features if each.used]
        rules = [(f"{each.name}: {each.text}", each.drop, each.std) for each in importance.rules]
        notes = [importance.basis]
        if unused := len(importance.features) - len(used):
            notes.append(f"No rule uses {unused} other feature{'s' if unused > 1 else ''}.")
        for rows, most, what in ((used, max_features, "feature"), (rules, max_rules, "rule")):
            if len(rows) > most > 0:
                notes.append(f"{len(rows) - most} more {what}{'s' if len(rows) - most > 1 else ''}.")
        return cls(used[:max_features], rules[:max_rules], importance.score_name, " ".join(notes))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        lists = [(name, rows) for name, rows in (("features", self.features), ("rules", self.rules)) if rows]
        lists = lists or [("features", [])]
        heights = [max(len(rows), 1) + 0.6 for _, rows in lists]
        size = 6.6, 1.1 + 0.33 * sum(heights) + (0.3 if title else 0.0)
        figure, axes = subplots(len(lists), 1, size, height_ratios=heights, sharex=True)
        for axis, (name, rows) in zip(axes[:, 0], lists, strict=True):
            self._draw(axis, name, rows)
        axes[-1, 0].set_xlabel(as_written(f"drop in {self.score_name}"), fontsize=9)
        add_title(figure, title)
        figure.supxlabel(as_written(textwrap.fill(self.note, 100)), fontsize=7.5)
        return figure

    def _draw(self, axis: Any, name: str, rows: Sequence[Row]) -> None:
        places = np.arange(len(rows))
        whiskers = {"xerr": [std for _, _, std in rows], "ecolor": "#111111", "capsize": 2.5}
        axis.barh(places, [drop for _, drop, _ in rows], height=0.6, color=_LINE, alpha=0.85, zorder=2, **whiskers)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_yticks(places, [as_written(textwrap.fill(shorten(text, 76), 40)) for text, _, _ in rows])
        axis.set_ylim(max(len(rows), 1) - 0.4, -0.6)
        axis.set_title(name, fontsize=9, fontweight="bold", loc="left")
        grid(axis, "x")
        axis.tick_params(axis="y", length=0)
        if not rows:
            axis.text(0.5, 0.5, "no rule uses any", transform=axis.transAxes, ha="center", va="center", color=FAINT)


# ---------------------------------------------------------------------- what each feature adds


_N_POINTS = 241
_N_BINS = 30


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a part of a rule adds, ``y`` (n_points,), as a function of a feature.

    Rules count from 1. If the rule asks for more than this part (is not ``alone``), it adds this if its other
    conditions hold.
    """

    rule: int
    text: str
    y: Array
    alone: bool


@dataclasses.dataclass(frozen=True)
class ShapePanel:
    """The rules about one feature, along its values ``x`` (n_points,), and a histogram of the instances (n_bins,)."""

    variable: Variable
    x: Array
    shapes: list[Shape]
    counts: Array | None

    @property
    def feature(self) -> str:
        """Name of the feature, with its unit."""
        return self.variable.title


@dataclasses.dataclass(repr=False)
class ShapesDisplay:
    """What additive rules add to the output as functions of each feature, in the manner of additive models.

    Lines of rules that raise the output are orange, of those that lower it blue. A solid line belongs to a rule about
    this feature alone, a dashed line to a rule that has other conditions, too: it shows what the rule adds if those
    hold. Rules that add nothing to this output are not drawn. The value is that of the instance for *some*, of as
    many instances as asked for *at least*, and of all instances otherwise.

    There is one panel per feature, by influence on the output; the sum starts from ``default``, and the ``note`` says
    what is not shown.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ... VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
    ... Default: yes = -2
    ... IF SOME pages is high THEN yes += 3
    ... ''')
    >>> (shape,) = ShapesDisplay.from_rules(rules).panels[0].shapes
    >>> shape.text, shape.y[[0, -1]].round(2).tolist(), shape.alone
    ('SOME pages is high', [0.0, 3.0], True)
    """

    panels: list[ShapePanel]
    output: str
    default: float
    note: str = ""

    @classmethod
    def from_rules(
        cls, rule_base: Any, *, bags: Any = None, output: str | int = 0, max_features: int = 9
    ) -> ShapesDisplay:
        """Evaluate the rules feature by feature.

        Parameters
        ----------
        rule_base : RuleBase, or fitted model
            With additive rules.
        bags : Bags, or anything `as_bags` accepts, optional
            Histograms of their instances are drawn below the curves, which cover the range of their values.
        output : str or int
        max_features : int
            Maximum number of features: those whose rules add most.
        """
        rules = rules_of(rule_base)
        if rules.normalize:
            raise ParameterError(
                "Normalized rules do not add up, so a feature adds nothing by itself: use SurfaceDisplay, or additive "
                "rules (normalize=False)."
            )
        check_shown(max_features=max_features)
        k = position("output", output, rules.output_names)
        seen = None if bags is None else seen_bags(rules, bags)
        panels = [_panel(rules, d, k, None if seen is None else seen.instances[:, d]) for d in used_features([rules])]
        panels = [panel for panel in panels if panel.shapes]
        panels.sort(key=lambda panel: -max(float(np.ptp(shape.y)) for shape in panel.shapes))
        left, silent = len(panels) - max_features, int((~rules.coefs[:, k].any(axis=1)).sum())
        notes = [
            f"{left} feature{'s' if left > 1 else ''} that add{'' if left > 1 else 's'} less" if left > 0 else "",
            f"{silent} rule{'s' if silent > 1 else ''} that add{'' if silent > 1 else 's'} nothing" if silent else "",
        ]
        hidden = " and ".join(filter(None, notes))
        note = f"{hidden} not shown" if hidden else ""
        return cls(panels[:max_features], rules.output_names[k], rules.default[k], note)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, axes = panels(max(len(self.panels), 1), _COLUMNS, (3.3, 2.7), (0.6, 0.8))
        ends = [float(end) for panel in self.panels for shape in panel.shapes for end in (shape.y.min(), shape.y.max())]
        low, high = min([0.0, *ends]), max([0.0, *ends])
        lines = max((len(panel.shapes) for panel in self.panels), default=1)
        for axis, panel in zip(axes.flat, self.panels, strict=False):
            _draw_shapes(axis, panel)
        tall = high - low or 1.0
        axes[0, 0].set_ylim(low - 0.2 * tall, high + (0.08 + 0.09 * lines) * tall)  # above the curves is the legend
        figure.supylabel(as_written(f"added to {shorten(self.output, 30)}"), fontsize=9)
        add_title(figure, title)
        note = f"default: {self.output} = {format_number(self.default, 3)}; dashed: if the rule's other conditions hold"
        figure.supxlabel(as_written(f"{note}; {self.note}" if self.note else note), fontsize=7.5)
        return figure


def _panel(rules: RuleBase, d: int, k: int, values: Array | None) -> ShapePanel:
    variable = rules.variables[d]
    low, high = axis_of(variable, values)
    x = np.linspace(low, high if high > low else low + 1.0, _N_POINTS)
    rows = np.full((_N_POINTS, rules.n_features), np.nan)  # a missing value satisfies every condition
    rows[:, d] = x
    found = rules.ignoring_missing_values().infer(bags_of_equal(rules, rows))
    shapes = []
    for p, part in enumerate(rules.parts):
        rule = rules.rules[part.rule]
        asks = any(condition.variable == variable.name for condition in conditions(part.premise))
        if asks and rules.coefs[part.rule, k].any():
            holds = 1 - found.degrees[:, p] if part.negated else found.degrees[:, p]
            alone = set(rule.antecedent) == {variable.name} and sum(each.rule == part.rule for each in rules.parts) == 1
            y = rule.weight * holds * found.rule_outputs[:, part.rule, k]
            shapes.append(
                Shape(part.rule + 1, in_short(Not(part.expression) if part.negated else part.expression), y, alone)
            )
    counts = None
    if values is not None:
        n_bins = len(variable.categories) or _N_BINS
        counts = np.histogram(values[~np.isnan(values)], n_bins, (x[0], x[-1]))[0]
    return ShapePanel(variable, x, shapes, counts)


def _draw_shapes(axis: Any, panel: ShapePanel) -> None:
    axis.axhline(0, color="black", linewidth=0.6, zorder=1)
    several = len(panel.shapes) > 1
    for n, shape in enumerate(panel.shapes):
        most = int(np.abs(shape.y).argmax())
        color = HIGH if shape.y[most] > 0 else LOW
        label = as_written(shorten(f"{shape.rule}: {shape.text}", 40))
        axis.plot(panel.x, shape.y, color=color, linestyle="-" if shape.alone else _DASHED, linewidth=1.8, label=label)
        if several:  # they differ in color only if one raises and one lowers the output
            near = np.flatnonzero(np.abs(shape.y) >= 0.9 * np.abs(shape.y[most]))
            at = near[len(near) * (n + 1) // (len(panel.shapes) + 1)]
            look = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": color, "linewidth": 0.8}
            place = (panel.x[at], shape.y[at])
            axis.text(*place, str(shape.rule), fontsize=6.5, color=color, ha="center", va="center", bbox=look)
        if shape.alone:
            axis.fill_between(panel.x, 0, shape.y, color=color, alpha=0.1, linewidth=0)
    _put_feature(axis, panel.variable, panel.counts, (panel.x[0], panel.x[-1]))
    axis.legend(fontsize=6.5, frameon=False, loc="upper left", handlelength=1.6)
    bare(axis)


def _put_feature(axis: Any, variable: Variable, counts: Array | None, ends: tuple[float, float]) -> None:
    """Put a feature on the horizontal axis, and its histogram at the foot of the axes, one tenth of their height."""
    if counts is not None:
        foot = blended_transform_factory(axis.transData, Affine2D().scale(1.0, 0.1) + axis.transAxes)
        edges = np.linspace(*ends, len(counts) + 1)
        axis.stairs(counts / max(counts.max(), 1), edges, fill=True, color=FAINT, alpha=0.6, transform=foot)
    axis.set_xlim(*ends)
    write_values(axis.xaxis, variable)
    axis.set_xlabel(as_written(shorten(variable.title, 40)), fontsize=9)
