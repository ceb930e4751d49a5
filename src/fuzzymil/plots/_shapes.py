"""What each feature adds: the contributions of additive rules as functions of one feature."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Affine2D, blended_transform_factory

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.words import in_short
from fuzzymil.plots._axes import PLAIN, Scale, view
from fuzzymil.plots._rules import bags_of_equal, position, rules_of
from fuzzymil.plots.style import FAINT, HIGH, LOW, as_written, bare, shortened
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import seen_bags
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import Not, Part, Quantified, conditions

_N_POINTS = 241
_N_BINS = 30
_COLUMNS = 3


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a part of a rule adds as a function of a feature.

    Attributes
    ----------
    rule : int
        Number of the rule, from 1.
    text : str
        The part.
    y : array of shape (n_points,)
        What the rule adds.
    alone : bool
        Whether the rule asks for nothing else. Otherwise this is what it adds if its other conditions hold.
    """

    rule: int
    text: str
    y: Array
    alone: bool


@dataclasses.dataclass(frozen=True)
class ShapePanel:
    """The rules about one feature.

    Attributes
    ----------
    feature : str
        Name, with its unit.
    x : array of shape (n_points,)
    shapes : list of Shape
    counts : array of shape (n_bins,), or None
        Histogram of the instances over the range of ``x``.
    scale : Scale
        How the values are written: as numbers, categories or dates.
    """

    feature: str
    x: Array
    shapes: list[Shape]
    counts: Array | None
    scale: Scale = PLAIN


@dataclasses.dataclass(repr=False)
class ShapesDisplay:
    """What additive rules add to the output as functions of each feature, in the manner of additive models.

    Lines of rules that raise the output are orange, of those that lower it blue. A solid line belongs to a rule about
    this feature alone, a dashed line to a rule that has other conditions, too: it shows what the rule adds if those
    hold. Rules that add nothing to this output are not drawn. The value is that of the instance for *some*, of as
    many instances as asked for *at least*, and of all instances otherwise.

    Parameters
    ----------
    panels : list of ShapePanel
        By influence on the output.
    output : str
    default : float
        What the sum starts from.
    note : str
        What is not shown.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ... VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
    ... Default: yes = -2
    ... IF SOME pages is high THEN yes += 3
    ... ''')
    >>> display = ShapesDisplay.from_rules(rules)
    >>> (shape,) = display.panels[0].shapes
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
        if max_features < 1:
            raise ParameterError(f"max_features must be at least 1, got {max_features!r}.")
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
        return cls(
            panels=panels[:max_features],
            output=rules.output_names[k],
            default=rules.default[k],
            note=f"{hidden} not shown" if hidden else "",
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_panels = max(len(self.panels), 1)
        columns = min(_COLUMNS, n_panels)
        rows = -(-n_panels // columns)
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(0.6 + 3.3 * columns, 0.8 + 2.7 * rows),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        ends = [float(end) for panel in self.panels for shape in panel.shapes for end in (shape.y.min(), shape.y.max())]
        low, high = min([0.0, *ends]), max([0.0, *ends])
        lines = max((len(panel.shapes) for panel in self.panels), default=1)
        for axis, panel in zip(axes.flat, self.panels, strict=False):
            _draw(axis, panel)
        for axis in axes.flat[len(self.panels) :]:
            axis.set_visible(False)
        tall = high - low or 1.0
        axes[0, 0].set_ylim(low - 0.2 * tall, high + (0.08 + 0.09 * lines) * tall)  # above the curves is the legend
        figure.supylabel(as_written(f"added to {shortened(self.output, 30)}"), fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        note = f"default: {self.output} = {format_number(self.default, 3)}; dashed: if the rule's other conditions hold"
        figure.supxlabel(as_written(f"{note}; {self.note}" if self.note else note), fontsize=7.5)
        return figure


def _panel(rules: RuleBase, d: int, k: int, values: Array | None) -> ShapePanel:
    low, high = view(rules.variables[d], values)
    x = np.linspace(low, high if high > low else low + 1.0, _N_POINTS)
    rows = np.full((_N_POINTS, rules.n_features), np.nan)  # a missing value satisfies every condition
    rows[:, d] = x
    found = rules.ignoring_gaps().infer(bags_of_equal(rules, rows))
    shapes = []
    for p, part in enumerate(rules.parts):
        name, rule = rules.variables[d].name, rules.rules[part.rule]
        adds = rules.coefs[part.rule, k].any()
        if adds and any(condition.variable == name for condition in conditions(part.premise)):
            holds = 1 - found.degrees[:, p] if part.negated else found.degrees[:, p]
            alone = set(rule.antecedent) == {name} and sum(each.rule == part.rule for each in rules.parts) == 1
            y = rule.weight * holds * found.rule_outputs[:, part.rule, k]
            shapes.append(Shape(part.rule + 1, _text(part), y, alone))
    counts = None
    if values is not None:
        n_bins = len(rules.variables[d].categories) or _N_BINS
        counts = np.histogram(values[~np.isnan(values)], n_bins, (x[0], x[-1]))[0]
    return ShapePanel(rules.variables[d].title, x, shapes, counts, Scale.of(rules.variables[d]))


def _text(part: Part) -> str:
    whole = part.premise if part.quantifier is None else Quantified(part.quantifier, part.premise, part.count)
    return in_short(Not(whole) if part.negated else whole)


def _draw(axis: Any, panel: ShapePanel) -> None:
    axis.axhline(0, color="black", linewidth=0.6, zorder=1)
    several = len(panel.shapes) > 1
    for n, shape in enumerate(panel.shapes):
        most = int(np.abs(shape.y).argmax())
        color = HIGH if shape.y[most] > 0 else LOW
        dash = "-" if shape.alone else (0, (4, 2))
        label = shortened(f"{shape.rule}: {shape.text}", 40)
        axis.plot(panel.x, shape.y, color=color, linestyle=dash, linewidth=1.8, label=as_written(label))
        if several:  # they differ in color only if one raises and one lowers the output
            near = np.flatnonzero(np.abs(shape.y) >= 0.9 * np.abs(shape.y[most]))
            at = near[len(near) * (n + 1) // (len(panel.shapes) + 1)]
            look = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": color, "linewidth": 0.8}
            place = (panel.x[at], shape.y[at])
            axis.text(*place, str(shape.rule), fontsize=6.5, color=color, ha="center", va="center", bbox=look)
        if shape.alone:
            axis.fill_between(panel.x, 0, shape.y, color=color, alpha=0.1, linewidth=0)
    if panel.counts is not None and panel.counts.any():
        edges = np.linspace(panel.x[0], panel.x[-1], len(panel.counts) + 1)
        share = panel.counts / panel.counts.max()
        axis.stairs(share, edges, fill=True, color=FAINT, alpha=0.6, transform=_strip(axis))
    axis.set_xlim(panel.x[0], panel.x[-1])
    panel.scale.put_on(axis.xaxis)
    axis.set_xlabel(as_written(shortened(panel.feature, 40)), fontsize=9)
    axis.legend(fontsize=6.5, frameon=False, loc="upper left", handlelength=1.6)
    bare(axis)


def _strip(axis: Any) -> Any:
    """Return a transformation to the foot of the axes, one tenth of their height."""
    foot = Affine2D().scale(1.0, 0.1) + axis.transAxes
    return blended_transform_factory(axis.transData, foot)
