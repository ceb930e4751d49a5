"""Why a bag got its prediction: which instance satisfies which rule, and what each rule contributes."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import ConditionExplanation, Explanation, RuleExplanation
from fuzzymil.explain.text import degree, evenly, rest_in_words
from fuzzymil.explain.words import rule_in_words, score_name, the_score
from fuzzymil.plots.style import HIGH, LOW, add_colorbar, bare, shortened
from fuzzymil.rules.language.printer import format_number

_TOTAL = "#333333"
_LINE = 46  # characters per line of a label
_MIDDLE = 2.5  # inches for the conditions at the witness
_READABLE = 0.1  # if all degrees are below, the greatest is drawn darkest: the figure would be blank


@dataclasses.dataclass(frozen=True)
class Met:
    """A condition, the degree to which the witness satisfies it, and whether it limits the truth of the rule."""

    text: str
    support: float
    decisive: bool


@dataclasses.dataclass
class ExplanationDisplay:
    """The truth of each rule (rows) for each instance (columns), and the rules' contributions as bars.

    The witness of a rule is framed. The conditions that the witness satisfies least are listed with their degrees,
    the decisive one in black. Bars to the right raise the score, bars to the left lower it; the last bar is the sum.

    Parameters
    ----------
    title : str
    rules : list of str
        Labels of the rows.
    truth : array of shape (n_rules, n_columns)
        Degrees of truth, divided by ``exp(log_scale)``.
    log_scale : float
        0, or the logarithm of the greatest degree if all are small.
    instances : list of int
        Position in the bag of each column.
    witnesses : list of int or None
        Column of each rule's witness.
    contributions : list of float
        One per row.
    bars : list of (str, float)
        Further bars: other rules, contributions from no rule, and the sum.
    score : str
        Name of the sum.
    note : str
        What is not shown.
    conditions : list of lists of Met
        Conditions of each rule at its witness, the least satisfied first.
    further : list of str
        Summary of the other conditions of each rule.

    Examples
    --------
    >>> from fuzzymil.explain import explain
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> display = ExplanationDisplay.from_explanation(explain(rules, [[[0.1], [0.9]]]))
    >>> display.witnesses
    [1, 0]
    """

    title: str
    rules: list[str]
    truth: Array
    log_scale: float
    instances: list[int]
    witnesses: list[int | None]
    contributions: list[float]
    bars: list[tuple[str, float]]
    score: str
    note: str = ""
    conditions: list[list[Met]] = dataclasses.field(default_factory=list)
    further: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, max_rules: int = 12, max_instances: int = 30, max_conditions: int = 3
    ) -> ExplanationDisplay:
        """Select what to show of an explanation.

        Parameters
        ----------
        explanation : Explanation
        max_rules : int
            Maximum number of rules; the others are summed up in one bar.
        max_instances : int
            Maximum number of instances: those that contribute most to the rules shown.
        max_conditions : int
            Maximum number of conditions per rule: those that are satisfied least.
        """
        for name, value in (("max_rules", max_rules), ("max_instances", max_instances)):
            if value < 1:
                raise ParameterError(f"{name} must be at least 1, got {value!r}.")
        if max_conditions < 0:
            raise ParameterError(f"max_conditions must not be negative, got {max_conditions!r}.")
        shown, rest = explanation.rules[:max_rules], explanation.rules[max_rules:]
        columns = _columns(shown, max_instances)
        log_truth = np.array([rule.log_truth for rule in shown])
        greatest = float(log_truth.max())
        log_scale = greatest if -math.inf < greatest < math.log(_READABLE) else 0.0
        bars = [(rest_in_words(rest), sum(rule.contribution for rule in rest))] if rest else []
        if explanation.baseline:
            bars.append(
                ("default: no rule fires" if explanation.is_uncovered else "from no rule", explanation.baseline)
            )
        bars.append((shortened(score_name(explanation), _LINE), explanation.score))
        return cls(
            title=_title(explanation),
            rules=[_label(explanation, rule) for rule in shown],
            truth=np.exp(log_truth[:, columns] - log_scale),
            log_scale=log_scale,
            instances=columns,
            witnesses=[None if rule.witness is None else columns.index(rule.witness) for rule in shown],
            contributions=[rule.contribution for rule in shown],
            bars=bars,
            score=shortened(the_score(explanation), 30),
            note=_note(log_truth, columns),
            conditions=[[_met(condition) for condition in rule.decisive[:max_conditions]] for rule in shown],
            further=[_further(rule.decisive[max_conditions:]) for rule in shown],
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_rows, n_columns = len(self.rules) + len(self.bars), len(self.instances)
        wide = float(np.clip(0.26 * n_columns, 1.6, 7.0))
        detailed = any(self.conditions)
        figure, (heat, *middle, bars) = plt.subplots(
            1,
            3 if detailed else 2,
            figsize=(3.6 + wide + 3.0 + _MIDDLE * detailed, 1.5 + (0.52 if detailed else 0.44) * n_rows),
            width_ratios=(wide, _MIDDLE, 2.8) if detailed else (wide, 2.8),
            sharey=True,
            layout="constrained",
        )
        self._draw_truth(figure, heat)
        for axis in middle:
            self._draw_conditions(axis)
        self._draw_contributions(bars)
        labels = [*self.rules, *(name for name, _ in self.bars)]
        heat.set_yticks(range(n_rows), labels)
        heat.set_ylim(n_rows - 0.5, -0.5)
        for text in heat.get_yticklabels()[len(self.rules) :]:
            text.set_fontweight("bold")
        heading = figure.suptitle(self.title if title is None else title, fontsize=11)
        for text in (heading, bars.xaxis.label, *heat.get_yticklabels()):
            text.set_parse_math(False)  # names may contain "$"
        return figure

    def _draw_truth(self, figure: Figure, axis: Any) -> None:
        n_rules, n_columns = self.truth.shape
        edges = np.arange(n_columns + 1) - 0.5, np.arange(n_rules + 1) - 0.5
        image = axis.pcolormesh(*edges, self.truth, cmap="Greys", vmin=0, vmax=1, edgecolors="#DDDDDD", linewidth=0.5)
        for row, column in enumerate(self.witnesses):
            if column is not None:
                frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=HIGH, linewidth=2, zorder=3)
                frame.set_clip_on(False)
                axis.add_patch(frame)
        if n_columns <= 12 and self.log_scale == 0:
            for (row, column), value in np.ndenumerate(self.truth):
                text = "1" if value >= 0.995 else f"{value:.2f}"[1:] if value >= 0.005 else ""
                color = "white" if value > 0.6 else "black"
                axis.text(column, row, text, color=color, fontsize=7, ha="center", va="center")
        bare(axis)
        for side in ("left", "bottom"):
            axis.spines[side].set_visible(False)
        axis.tick_params(axis="both", length=0, labelsize=7.5)
        long = n_columns > 12 and self.instances[-1] > 99
        axis.set_xticks(range(n_columns), list(map(str, self.instances)), rotation=90 if long else 0)
        axis.xaxis.tick_top()
        axis.xaxis.set_label_position("top")
        line = " " if n_columns > 12 else "\n"
        axis.set_xlabel(f"instance{line}(orange frame: witness of the rule)", fontsize=8)
        scale = "degree of truth"
        if self.log_scale:
            scale += f", relative to the greatest ({degree(self.log_scale)})"
        note = textwrap.fill(self.note, 30 + 2 * n_columns)
        look = {"location": "bottom", "aspect": 30, "shrink": min(1.0, 3.0 / n_columns**0.5), "pad": 0.02}
        add_colorbar(figure, image, axis, f"{scale}\n{note}" if note else scale, **look)

    def _draw_conditions(self, axis: Any) -> None:
        """Draw a thin bar for the degree to which the witness satisfies each condition, with its text."""
        room = 0.86 / (1 + max(map(len, self.conditions)))
        for row, (met, further) in enumerate(zip(self.conditions, self.further, strict=True)):
            lines = len(met) + bool(further)
            places = row + room * (np.arange(lines) - (lines - 1) / 2)
            for place, condition in zip(places, met, strict=False):
                color = "black" if condition.decisive else "#555555"
                axis.barh(place, 1, height=0.62 * room, color="#EEEEEE")
                axis.barh(place, condition.support, height=0.62 * room, color=color)
                text = axis.text(1.06, place, condition.text, fontsize=6.5, va="center", color=color)
                text.set_parse_math(False)
            if further:
                axis.text(1.06, places[-1], further, fontsize=6.5, va="center", color="#555555")
        axis.set_xlim(0, 2.9)
        axis.set_xticks([0, 1], ["0", "1"])
        axis.xaxis.tick_top()
        axis.xaxis.set_label_position("top")
        axis.set_xlabel("conditions: degree to which\nthe witness satisfies them", fontsize=8, loc="left")
        bare(axis)
        for side in ("left", "bottom"):
            axis.spines[side].set_visible(False)
        axis.tick_params(axis="both", length=0, labelsize=7.5, labelleft=False)

    def _draw_contributions(self, axis: Any) -> None:
        values = [*self.contributions, *(value for _, value in self.bars)]
        colors = [HIGH if value > 0 else LOW for value in values]
        colors[-1] = _TOTAL
        axis.barh(range(len(values)), values, color=colors, height=0.62)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.axhline(len(values) - 1.5, color="black", linewidth=0.8)
        for row, (value, text) in enumerate(zip(values, evenly(values), strict=True)):
            axis.annotate(
                text.strip(),
                (value, row),
                xytext=(-3 if value < 0 else 3, 0),
                textcoords="offset points",
                ha="right" if value < 0 else "left",
                va="center",
                fontsize=8,
            )
        axis.margins(x=0.3)
        axis.xaxis.set_major_locator(MaxNLocator(4))
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0, labelleft=False)
        axis.set_xlabel(f"contribution to {self.score}", fontsize=8)


def _columns(shown: Sequence[RuleExplanation], max_instances: int) -> list[int]:
    """Return the instances to show, in order: the witnesses, and those that contribute most to the strengths."""
    part = sum(rule.strength * np.array(rule.shares) for rule in shown)
    witnesses = dict.fromkeys(rule.witness for rule in shown if rule.witness is not None)
    first = [*witnesses, *(i for i in np.argsort(-part, kind="stable").tolist() if i not in witnesses)]
    return sorted(first[: max(max_instances, len(witnesses))])


def _met(condition: ConditionExplanation) -> Met:
    value = "missing" if condition.value is None else format_number(condition.value, 3)
    text = f"{shortened(condition.variable, 20)} = {value}: {degree(condition.log_support, 2)}"
    return Met(text, math.exp(condition.log_support), condition.limiting)


def _further(rest: Sequence[ConditionExplanation]) -> str:
    return f"{len(rest)} more, {degree(rest[0].log_support, 2)} or more each" if rest else ""


def _note(log_truth: Array, columns: list[int]) -> str:
    hidden = np.delete(log_truth, columns, axis=1)
    if not hidden.size:
        return ""
    return (
        f"{len(columns)} of {log_truth.shape[1]:,} instances; "
        f"the others satisfy none of these rules to more than {degree(float(hidden.max()))}"
    )


def _title(explanation: Explanation) -> str:
    bag, score = (shortened(text, _LINE) for text in (str(explanation.bag), score_name(explanation)))
    value = format_number(explanation.score, 3)
    if explanation.classes is None:
        return f"Bag {bag}: {score} = {value}"
    return f"Bag {bag}: predicted {shortened(str(explanation.prediction), _LINE)} ({score} {value})"


def _label(explanation: Explanation, rule: RuleExplanation) -> str:
    """Return the conclusion of a rule for this bag, and its premise on two lines at most."""
    premise, _ = rule_in_words(explanation, rule, max_terms=3)
    said = f"{explanation.outputs[explanation.target]} = {format_number(rule.outputs[explanation.target], 3)}"
    return "\n".join(
        [
            shortened(f"{rule.name}: {said}", _LINE),
            *textwrap.wrap(f"if {premise}", _LINE, max_lines=2, placeholder=" ..."),
        ]
    )
