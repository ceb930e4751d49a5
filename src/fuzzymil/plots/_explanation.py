"""Why a bag got its prediction: which instance satisfies which rule, and what each rule contributes."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from scipy.special import expit, logit

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import ConditionExplanation, Explanation, PartExplanation, RuleExplanation
from fuzzymil.explain.words import (
    degree,
    number_column,
    pieces,
    rests_on,
    rule_in_words,
    score_name,
    sum_lines,
    the_score,
)
from fuzzymil.plots._rules import check_shown
from fuzzymil.plots.style import FAINT, HIGH, LOW, WITNESS, add_colorbar, bare, shorten, subplots
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.points import in_points

Bar = tuple[float, int, float]  # its place, the number of rows that it spans, and the amount

_TOTAL = "#333333"
_PROBABILITIES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


def _draw_bars(axis: Any, bars: Sequence[Bar], *, joined: bool, logit: bool) -> None:
    """Draw bars, the last of which is the sum, from zero or, if joined, each from where the one before ends.

    If the sum is the logit of a probability, an axis on top shows that.
    """
    amounts = [amount for _, _, amount in bars]
    starts = [0.0, *np.cumsum(amounts[:-2]).tolist(), 0.0] if joined else [0.0] * len(bars)
    for n, ((place, rows, amount), start, text) in enumerate(zip(bars, starts, number_column(amounts), strict=True)):
        color = _TOTAL if n == len(bars) - 1 else HIGH if amount > 0 else LOW
        axis.barh(place, amount, left=start, color=color, height=2 * _half(rows), zorder=2)
        look = {"ha": "right" if amount < 0 else "left", "va": "center", "fontsize": 8}
        offset = (-3 if amount < 0 else 3, 0)
        axis.annotate(text.strip(), (start + amount, place), xytext=offset, textcoords="offset points", **look)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.axhline(bars[-1][0] - 0.5, color="black", linewidth=0.8)
    ends = [0.0, *starts, *(start + amount for start, amount in zip(starts, amounts, strict=True))]
    room = 0.25 * (max(ends) - min(ends) or 1.0)  # for the numbers
    axis.set_xlim(min(ends) - room, max(ends) + room)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    bare(axis)
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0, labelleft=False)
    if not joined:
        return
    for (place, rows, _), (after, later, _), level in zip(bars[:-1], bars[1:], np.cumsum(amounts[:-1]), strict=True):
        axis.plot([level] * 2, [place + _half(rows), after - _half(later)], color=FAINT, linewidth=0.8, zorder=1)
    if logit:
        _show_probabilities(axis)


def _half(rows: int) -> float:
    """Return half the height of a bar."""
    return rows / 2 - 0.19


def _show_probabilities(axis: Any) -> None:
    top = axis.secondary_xaxis("top")
    low, high = axis.get_xlim()
    shown = [level for level in _PROBABILITIES if low <= logit(level) <= high] or [float(expit((low + high) / 2))]
    top.xaxis.set_major_locator(FixedLocator([float(logit(level)) for level in shown]))
    top.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * expit(value):.3g}%"))
    top.tick_params(labelsize=7, length=2)
    top.spines["top"].set_linewidth(0.6)
    top.set_xlabel("probability", fontsize=8)


_LINE = 46  # characters per line of a label
_BAR = 0.9  # inches for the bar of a condition at the witness
_LETTER = 0.053  # inches for a letter of its text
_NAME = 40  # characters of the name of a feature
_READABLE = 0.1  # if all degrees are below, the greatest is drawn darkest: the figure would be blank


class Met(NamedTuple):
    """A condition, the degree to which the witness satisfies it, and whether it limits the truth of the rule."""

    text: str
    support: float
    decisive: bool


@dataclasses.dataclass
class ExplanationDisplay:
    """The truth of each rule (rows) for each instance (columns), and the rules' contributions as bars.

    A rule has one row for each quantified part. The witnesses of a part are framed. The conditions that the witness
    satisfies least are listed with their degrees, the decisive one in black; for *at least*, the witnesses are listed.
    Bars to the right raise the score, bars to the left lower it; the last bar is the sum. The bars of additive rules
    start where the one above ends, the first with the default; a second axis shows probabilities for a logit.

    Parameters
    ----------
    explanation : Explanation
    rules, instances : list of RuleExplanation, list of int
        Those that are shown.
    bars : list of (str, float)
        Bars without a rule: other rules, contributions from no rule, and the sum.
    start : (str, float) or None
        What the sum of additive rules starts from.
    max_conditions : int
        Maximum number of conditions per row.

    Examples
    --------
    >>> from fuzzymil.explain import explain
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> display = ExplanationDisplay.from_explanation(explain(rules, [[[0.1], [0.9]]]))
    >>> display.witnesses
    [[1], [0]]
    """

    explanation: Explanation
    rules: list[RuleExplanation]
    instances: list[int]
    bars: list[tuple[str, float]]
    start: tuple[str, float] | None
    max_conditions: int

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, max_rules: int = 12, max_instances: int = 30, max_conditions: int = 3
    ) -> ExplanationDisplay:
        """Select what to show of an explanation.

        Parameters
        ----------
        max_rules : int
            Maximum number of rules; the others are summed up in one bar.
        max_instances : int
            Maximum number of instances: those that contribute most to the rules shown.
        max_conditions : int
            Maximum number of conditions per row: those that are satisfied least.
        """
        check_shown(max_rules=max_rules, max_instances=max_instances)
        if max_conditions < 0:
            raise ParameterError(f"max_conditions must not be negative, got {max_conditions!r}.")
        lines = sum_lines(explanation, max_rules)
        rules = [line.rule for line in lines if line.rule is not None]
        bars = [(shorten(line.text.replace("->", "→"), _LINE), line.amount) for line in lines if line.rule is None]
        start = bars.pop(0) if explanation.additive else None
        return cls(explanation, rules, _columns(rules, max_instances), bars, start, max_conditions)

    @property
    def parts(self) -> list[tuple[RuleExplanation, PartExplanation]]:
        """The parts of rules in the rows, with their rules."""
        return [(rule, part) for rule in self.rules for part in rule.parts]

    @property
    def rows(self) -> list[str]:
        """Labels of the rows."""
        return [label for rule in self.rules for label in _labels(self.explanation, rule)]

    @property
    def log_scale(self) -> float:
        """0, or the logarithm of the greatest degree if all are small; degrees of additive rules are absolute."""
        greatest = max(max(part.log_truth) for _, part in self.parts)
        return greatest if not self.explanation.additive and -math.inf < greatest < math.log(_READABLE) else 0.0

    @property
    def truth(self) -> Array:
        """Degrees of truth, shape (n_rows, n_columns), divided by ``exp(log_scale)``."""
        log_truth = np.array([part.log_truth for _, part in self.parts])
        return np.asarray(np.exp(log_truth[:, self.instances] - self.log_scale))

    @property
    def witnesses(self) -> list[list[int]]:
        """Columns of each row's witnesses."""
        return [[self.instances.index(each.instance) for each in part.witnesses] for _, part in self.parts]

    @property
    def conditions(self) -> list[list[Met]]:
        """Conditions of each row at its witness, the least satisfied first."""
        return [_met(part, self.max_conditions) for _, part in self.parts]

    @property
    def further(self) -> list[str]:
        """A summary of each row's other conditions."""
        return [_further(rule, part, self.max_conditions) for rule, part in self.parts]

    @property
    def note(self) -> str:
        """Which instances are not shown."""
        shown, every = set(self.instances), range(self.explanation.n_instances)
        hidden = [part.log_truth[i] for _, part in self.parts for i in every if i not in shown]
        if not hidden:
            return ""
        return (
            f"{len(shown)} of {len(every):,} instances; "
            f"the others satisfy none of these rules to more than {degree(max(hidden))}"
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        start = [] if self.start is None else [self.start[0]]
        labels, first = [*start, *self.rows, *(name for name, _ in self.bars)], len(start)
        conditions, further = self.conditions, self.further
        wide = float(np.clip(0.26 * len(self.instances), 1.6, 7.0))
        detailed = any(conditions)
        texts = [*(met.text for row in conditions for met in row), *further]
        middle_wide = float(np.clip(_BAR + _LETTER * max(map(len, texts), default=0), 2.5, 4.0))
        size = 6.8 + wide + middle_wide * detailed, 1.6 + (0.52 if detailed else 0.44) * len(labels)
        widths = (wide, middle_wide, 3.0) if detailed else (wide, 3.0)
        figure, axes = subplots(1, len(widths), size, width_ratios=widths, sharey=True)
        heat, *middle, bars = axes[0]
        self._draw_truth(figure, heat, first)
        for axis in middle:
            _draw_conditions(axis, first, middle_wide, conditions, further)
        self._draw_contributions(bars, first)
        heat.set_yticks(range(len(labels)), labels)
        heat.set_ylim(len(labels) - 0.5, -0.5)
        for text in [*heat.get_yticklabels()[:first], *heat.get_yticklabels()[-len(self.bars) :]]:
            text.set_fontweight("bold")
        heading = figure.suptitle(_title(self.explanation) if title is None else title, fontsize=11)
        for text in (heading, bars.xaxis.label, *heat.get_yticklabels()):
            text.set_parse_math(False)  # names may contain "$"
        return figure

    def _draw_truth(self, figure: Figure, axis: Any, first: int) -> None:
        truth, log_scale = self.truth, self.log_scale
        n_rows, n_columns = truth.shape
        edges = np.arange(n_columns + 1) - 0.5, first + np.arange(n_rows + 1) - 0.5
        image = axis.pcolormesh(*edges, truth, cmap="Greys", vmin=0, vmax=1, edgecolors="#DDDDDD", linewidth=0.5)
        for row, columns in enumerate(self.witnesses):
            for column in columns:
                corner = (column - 0.5, first + row - 0.5)
                frame = Rectangle(corner, 1, 1, fill=False, edgecolor=WITNESS, linewidth=2, zorder=3)
                frame.set_clip_on(False)
                axis.add_patch(frame)
        if n_columns <= 12 and log_scale == 0:
            for (row, column), value in np.ndenumerate(truth):
                text = "1" if value >= 0.995 else f"{value:.2f}"[1:] if value >= 0.005 else ""
                color = "white" if value > 0.6 else "black"
                axis.text(column, first + row, text, color=color, fontsize=7, ha="center", va="center")
        bare(axis)
        for side in ("left", "bottom"):
            axis.spines[side].set_visible(False)
        axis.tick_params(axis="both", length=0, labelsize=7.5)
        long = n_columns > 12 and self.instances[-1] > 99
        axis.set_xticks(range(n_columns), list(map(str, self.instances)), rotation=90 if long else 0)
        axis.xaxis.tick_top()
        axis.xaxis.set_label_position("top")
        whose = "rule" if n_rows == len(self.rules) else "part"
        lines = textwrap.wrap(f"(purple frame: witness of the {whose})", 20 if n_columns <= 12 else 60)
        axis.set_xlabel("\n".join(["instance", *lines] if n_columns <= 12 else [f"instance {lines[0]}"]), fontsize=8)
        scale = "degree of truth"
        if log_scale:
            scale += f", relative to the greatest ({degree(log_scale)})"
        note = textwrap.fill(self.note, 30 + 2 * n_columns)
        look = {"location": "bottom", "aspect": 30, "shrink": min(1.0, 3.0 / n_columns**0.5), "pad": 0.02}
        add_colorbar(figure, image, axis, f"{scale}\n{note}" if note else scale, **look)

    def _draw_contributions(self, axis: Any, first: int) -> None:
        bars: list[Bar] = [] if self.start is None else [(0.0, 1, self.start[1])]
        row = first
        for rule in self.rules:
            if row > first and len(self.parts) > len(self.rules):
                axis.axhline(row - 0.5, color="#DDDDDD", linewidth=0.6, zorder=0)
            bars.append((row + (len(rule.parts) - 1) / 2, len(rule.parts), rule.contribution))
            row += len(rule.parts)
        bars += [(float(row + n), 1, amount) for n, (_, amount) in enumerate(self.bars)]
        found = self.explanation
        probable = found.scale == "logit" and len(found.outputs) == 1
        _draw_bars(axis, bars, joined=self.start is not None, logit=probable)
        what = "adding up" if self.start else "contribution"
        axis.set_xlabel(f"{what} to {shorten(the_score(found), 30)}", fontsize=8)


def _draw_conditions(axis: Any, first: int, wide: float, conditions: list[list[Met]], others: list[str]) -> None:
    """Draw a thin bar for the degree to which the witness satisfies each condition, with its text."""
    room = 0.86 / (1 + max(map(len, conditions)))
    for row, (met, further) in enumerate(zip(conditions, others, strict=True), start=first):
        lines = len(met) + bool(further)
        places = row + room * (np.arange(lines) - (lines - 1) / 2)
        for place, condition in zip(places, met, strict=False):
            color = "black" if condition.decisive else "#555555"
            axis.barh(place, 1, height=0.62 * room, color="#EEEEEE")
            axis.barh(place, condition.support, height=0.62 * room, color=color)
            text = axis.text(1.06, place, condition.text, fontsize=6.5, va="center", color=color)
            text.set_parse_math(False)
        if further:
            axis.text(1.06 if met else 0.0, places[-1], further, fontsize=6.5, va="center", color="#555555")
    axis.set_xlim(0, wide / _BAR)
    axis.set_xticks([0, 1], ["0", "1"])
    axis.xaxis.tick_top()
    axis.xaxis.set_label_position("top")
    axis.set_xlabel("conditions: degree to which\nthe witness satisfies them", fontsize=8, loc="left")
    bare(axis)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)
    axis.tick_params(axis="both", length=0, labelsize=7.5, labelleft=False)


def _columns(shown: Sequence[RuleExplanation], max_instances: int) -> list[int]:
    """Return the instances to show, in order: the witnesses, and those that contribute most to the strengths."""
    part = sum((rule.strength * np.array(each.shares) for rule in shown for each in rule.parts), np.zeros(1))
    witnesses = dict.fromkeys(witness for rule in shown for witness in rule.witnesses)
    first = [*witnesses, *(i for i in np.argsort(-part, kind="stable").tolist() if i not in witnesses)]
    return sorted(first[: max(max_instances, len(witnesses))])


def _met(part: PartExplanation, most: int) -> list[Met]:
    """Return the conditions at the witness or, of several witnesses, the truth of each."""
    if len(part.witnesses) == 1:
        return [
            Met(f"{_value(each)}: {degree(each.log_support, 2)}", math.exp(each.log_support), each.limiting)
            for each in part.witnesses[0].decisive[:most]
        ]
    found = []
    for witness in part.witnesses[:most]:
        (condition, *others) = witness.decisive
        value = f": {_value(condition)}" if not others else ""
        text = f"instance {witness.instance}{value}: {degree(witness.log_truth, 2)}"
        found.append(Met(text, witness.truth, witness is part.witnesses[-1]))
    return found


def _value(condition: ConditionExplanation) -> str:
    value = condition.shown or ("missing" if condition.value is None else format_number(condition.value, 3))
    return f"{shorten(condition.variable, _NAME)} = {value}"


def _further(rule: RuleExplanation, part: PartExplanation, most: int) -> str:
    if not part.witnesses:
        return rests_on(rule, part, 1) if most and part.quantifier is not None else ""
    if len(part.witnesses) > 1:
        left = part.witnesses[most:]
        return f"{len(left)} more, {degree(part.log_degree, 2)} or more each" if left and most else ""
    rest = part.witnesses[0].decisive[most:]
    return f"{len(rest)} more, {degree(rest[0].log_support, 2)} or more each" if rest else ""


def _title(explanation: Explanation) -> str:
    bag, score = (shorten(text, _LINE) for text in (str(explanation.bag), score_name(explanation)))
    value = format_number(explanation.score, 3)
    if explanation.classes is None:
        return f"Bag {bag}: {score} = {value}"
    return f"Bag {bag}: predicted {shorten(str(explanation.prediction), _LINE)} ({score} {value})"


def _labels(explanation: Explanation, rule: RuleExplanation) -> list[str]:
    """Return the conclusion of a rule for this bag and its premise, each part on two lines at most."""
    said = rule.outputs[explanation.target]
    if rule.points is not None:
        heading = f"{rule.name}: {in_points(rule.points)}"
    elif explanation.additive:
        heading = f"{rule.name}: {'+' if said > 0 else ''}{format_number(said, 3)}"
    else:
        value = f"{explanation.outputs[explanation.target]} = {format_number(said, 3)}"
        heading = f"{rule.name}: {rule.concluded or value}"
    texts = [text for text, *_ in pieces(explanation, rule, 3)]
    if len(texts) < len(rule.parts):  # not simply joined by AND
        texts = [rule_in_words(explanation, rule, 3)[0], *(part.text for part in rule.parts[1:])]
    texts[0] = texts[0] if explanation.additive else f"if {texts[0]}"
    found = ["\n".join(textwrap.wrap(text, _LINE, max_lines=2, placeholder=" ...")) for text in texts]
    return [f"{shorten(heading, _LINE)}\n{found[0]}", *found[1:]]
