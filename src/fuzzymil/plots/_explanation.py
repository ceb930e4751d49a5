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
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from scipy.special import expit, logit

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.explain import ConditionExplanation, Explanation, PartExplanation, RuleExplanation, explain
from fuzzymil.explain.words import (
    degree,
    number,
    number_column,
    pieces,
    rests_on,
    rule_in_words,
    score_name,
    sum_lines,
    the_score,
)
from fuzzymil.plots._rules import rules_of
from fuzzymil.plots.style import (
    FAINT,
    HIGH,
    LOW,
    WITNESS,
    add_colorbar,
    add_legend,
    as_written,
    bare,
    class_look,
    shorten,
)
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.points import in_points

# Contributions as bars: from zero, or each from where the one before ends.


Bar = tuple[float, int, float]  # its place, the number of rows that it spans, and the amount

_TOTAL = "#333333"
_PROBABILITIES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


def draw_bars(axis: Any, bars: Sequence[Bar]) -> None:
    """Draw bars from zero; the last is the sum."""
    _draw(axis, bars, [0.0] * len(bars))


def draw_waterfall(axis: Any, bars: Sequence[Bar], *, logit: bool) -> None:
    """Draw bars that start where the one before ends; the last is the sum, from zero.

    Parameters
    ----------
    axis : matplotlib Axes
    bars : sequence of Bar
    logit : bool
        Whether the sum is the logit of a probability, which an axis on top shows.
    """
    amounts = [amount for _, _, amount in bars]
    starts = [0.0, *np.cumsum(amounts[:-2]).tolist(), 0.0]
    _draw(axis, bars, starts)
    for (place, rows, _), (after, later, _), level in zip(bars[:-1], bars[1:], np.cumsum(amounts[:-1]), strict=True):
        ends = place + _half(rows), after - _half(later)
        axis.plot([level, level], ends, color=FAINT, linewidth=0.8, zorder=1)
    if logit:
        _show_probabilities(axis)


def _draw(axis: Any, bars: Sequence[Bar], starts: Sequence[float]) -> None:
    amounts = [amount for _, _, amount in bars]
    for n, ((place, rows, amount), start, text) in enumerate(zip(bars, starts, number_column(amounts), strict=True)):
        color = _TOTAL if n == len(bars) - 1 else HIGH if amount > 0 else LOW
        axis.barh(place, amount, left=start, color=color, height=2 * _half(rows), zorder=2)
        axis.annotate(
            text.strip(),
            (start + amount, place),
            xytext=(-3 if amount < 0 else 3, 0),
            textcoords="offset points",
            ha="right" if amount < 0 else "left",
            va="center",
            fontsize=8,
        )
    axis.axvline(0, color="black", linewidth=0.8)
    axis.axhline(bars[-1][0] - 0.5, color="black", linewidth=0.8)
    ends = [0.0, *starts, *(start + amount for start, amount in zip(starts, amounts, strict=True))]
    room = 0.25 * (max(ends) - min(ends) or 1.0)  # for the numbers
    axis.set_xlim(min(ends) - room, max(ends) + room)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    bare(axis)
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0, labelleft=False)


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


@dataclasses.dataclass(frozen=True)
class Met:
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
    title : str
    rows : list of str
        Labels of the rows, one per part of a rule.
    owners : list of int
        Position in ``contributions`` of the rule of each row.
    truth : array of shape (n_rows, n_columns)
        Degrees of truth, divided by ``exp(log_scale)``.
    log_scale : float
        0, or the logarithm of the greatest degree if all are small; always 0 for additive rules, whose degrees are
        absolute.
    instances : list of int
        Position in the bag of each column.
    witnesses : list of lists of int
        Columns of each row's witnesses.
    contributions : list of float
        One per rule.
    bars : list of (str, float)
        Further bars: other rules, contributions from no rule, and the sum.
    score : str
        Name of the sum.
    start : (str, float) or None
        What the sum of additive rules starts from.
    logit : bool
        Whether the score is the logit of a probability.
    note : str
        What is not shown.
    conditions : list of lists of Met
        Conditions of each row at its witness, the least satisfied first.
    further : list of str
        Summary of the other conditions of each row.

    Examples
    --------
    >>> from fuzzymil.explain import explain
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> display = ExplanationDisplay.from_explanation(explain(rules, [[[0.1], [0.9]]]))
    >>> display.witnesses
    [[1], [0]]
    """

    title: str
    rows: list[str]
    owners: list[int]
    truth: Array
    log_scale: float
    instances: list[int]
    witnesses: list[list[int]]
    contributions: list[float]
    bars: list[tuple[str, float]]
    score: str
    start: tuple[str, float] | None = None
    logit: bool = False
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
            Maximum number of conditions per row: those that are satisfied least.
        """
        for name, value in (("max_rules", max_rules), ("max_instances", max_instances)):
            if value < 1:
                raise ParameterError(f"{name} must be at least 1, got {value!r}.")
        if max_conditions < 0:
            raise ParameterError(f"max_conditions must not be negative, got {max_conditions!r}.")
        lines = sum_lines(explanation, max_rules)
        shown = [line.rule for line in lines if line.rule is not None]
        bars = [(shorten(line.text.replace("->", "→"), _LINE), line.amount) for line in lines if line.rule is None]
        parts = [(rule, part) for rule in shown for part in rule.parts]
        columns = _columns(shown, max_instances)
        log_truth = np.array([part.log_truth for _, part in parts])
        greatest = float(log_truth.max())
        relative = not explanation.additive and -math.inf < greatest < math.log(_READABLE)
        log_scale = greatest if relative else 0.0
        start = bars.pop(0) if explanation.additive else None
        return cls(
            title=_title(explanation),
            rows=[label for rule in shown for label in _labels(explanation, rule)],
            owners=[place for place, rule in enumerate(shown) for _ in rule.parts],
            truth=np.exp(log_truth[:, columns] - log_scale),
            log_scale=log_scale,
            instances=columns,
            witnesses=[[columns.index(witness.instance) for witness in part.witnesses] for _, part in parts],
            contributions=[rule.contribution for rule in shown],
            bars=bars,
            score=shorten(the_score(explanation), 30),
            start=start,
            logit=explanation.scale == "logit" and len(explanation.outputs) == 1,
            note=_note(log_truth, columns),
            conditions=[_met(part, max_conditions) for _, part in parts],
            further=[_further(rule, part, max_conditions) for rule, part in parts],
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        first = 0 if self.start is None else 1
        labels = [*([] if self.start is None else [self.start[0]]), *self.rows, *(name for name, _ in self.bars)]
        n_columns = len(self.instances)
        wide = float(np.clip(0.26 * n_columns, 1.6, 7.0))
        detailed = any(self.conditions)
        texts = [*(met.text for row in self.conditions for met in row), *self.further]
        middle_wide = float(np.clip(_BAR + _LETTER * max(map(len, texts), default=0), 2.5, 4.0))
        figure, (heat, *middle, bars) = plt.subplots(
            1,
            3 if detailed else 2,
            figsize=(6.8 + wide + middle_wide * detailed, 1.6 + (0.52 if detailed else 0.44) * len(labels)),
            width_ratios=(wide, middle_wide, 3.0) if detailed else (wide, 3.0),
            sharey=True,
            layout="constrained",
        )
        self._draw_truth(figure, heat, first)
        for axis in middle:
            self._draw_conditions(axis, first, middle_wide)
        self._draw_contributions(bars, first)
        heat.set_yticks(range(len(labels)), labels)
        heat.set_ylim(len(labels) - 0.5, -0.5)
        for text in [*heat.get_yticklabels()[:first], *heat.get_yticklabels()[first + len(self.rows) :]]:
            text.set_fontweight("bold")
        heading = figure.suptitle(self.title if title is None else title, fontsize=11)
        for text in (heading, bars.xaxis.label, *heat.get_yticklabels()):
            text.set_parse_math(False)  # names may contain "$"
        return figure

    def _draw_truth(self, figure: Figure, axis: Any, first: int) -> None:
        n_rows, n_columns = self.truth.shape
        edges = np.arange(n_columns + 1) - 0.5, first + np.arange(n_rows + 1) - 0.5
        image = axis.pcolormesh(*edges, self.truth, cmap="Greys", vmin=0, vmax=1, edgecolors="#DDDDDD", linewidth=0.5)
        for row, columns in enumerate(self.witnesses):
            for column in columns:
                corner = (column - 0.5, first + row - 0.5)
                frame = Rectangle(corner, 1, 1, fill=False, edgecolor=WITNESS, linewidth=2, zorder=3)
                frame.set_clip_on(False)
                axis.add_patch(frame)
        if n_columns <= 12 and self.log_scale == 0:
            for (row, column), value in np.ndenumerate(self.truth):
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
        whose = "rule" if len(self.rows) == len(self.contributions) else "part"
        lines = textwrap.wrap(f"(purple frame: witness of the {whose})", 20 if n_columns <= 12 else 60)
        axis.set_xlabel("\n".join(["instance", *lines] if n_columns <= 12 else [f"instance {lines[0]}"]), fontsize=8)
        scale = "degree of truth"
        if self.log_scale:
            scale += f", relative to the greatest ({degree(self.log_scale)})"
        note = textwrap.fill(self.note, 30 + 2 * n_columns)
        look = {"location": "bottom", "aspect": 30, "shrink": min(1.0, 3.0 / n_columns**0.5), "pad": 0.02}
        add_colorbar(figure, image, axis, f"{scale}\n{note}" if note else scale, **look)

    def _draw_conditions(self, axis: Any, first: int, wide: float) -> None:
        """Draw a thin bar for the degree to which the witness satisfies each condition, with its text."""
        room = 0.86 / (1 + max(map(len, self.conditions)))
        for row, (met, further) in enumerate(zip(self.conditions, self.further, strict=True), start=first):
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

    def _draw_contributions(self, axis: Any, first: int) -> None:
        of_rules = [
            (first + float(np.mean(places)), len(places), amount)
            for place, amount in enumerate(self.contributions)
            for places in [[row for row, owner in enumerate(self.owners) if owner == place]]
        ]
        below = [(float(first + len(self.rows) + n), 1, amount) for n, (_, amount) in enumerate(self.bars)]
        bars = [*of_rules, *below]
        if self.start is None:
            draw_bars(axis, bars)
        else:
            draw_waterfall(axis, [(0.0, 1, self.start[1]), *bars], logit=self.logit)
        if len(self.rows) > len(self.contributions):
            for row in np.flatnonzero(np.diff(self.owners)):
                axis.axhline(first + row + 0.5, color="#DDDDDD", linewidth=0.6, zorder=0)
        axis.set_xlabel(f"{'adding up' if self.start else 'contribution'} to {self.score}", fontsize=8)


def _columns(shown: Sequence[RuleExplanation], max_instances: int) -> list[int]:
    """Return the instances to show, in order: the witnesses, and those that contribute most to the strengths."""
    part = sum((rule.strength * np.array(each.shares) for rule in shown for each in rule.parts), np.zeros(1))
    witnesses = dict.fromkeys(witness for rule in shown for witness in rule.witnesses)
    first = [*witnesses, *(i for i in np.argsort(-part, kind="stable").tolist() if i not in witnesses)]
    return sorted(first[: max(max_instances, len(witnesses))])


def _met(part: PartExplanation, most: int) -> list[Met]:
    """Return the conditions at the witness or, of several witnesses, the truth of each."""
    if len(part.witnesses) == 1:
        return [_condition(condition) for condition in part.witnesses[0].decisive[:most]]
    found = []
    for witness in part.witnesses[:most] if most else ():
        (condition, *others) = witness.decisive
        value = f": {_value(condition)}" if not others else ""
        text = f"instance {witness.instance}{value}: {degree(witness.log_truth, 2)}"
        found.append(Met(text, witness.truth, witness is part.witnesses[-1]))
    return found


def _condition(condition: ConditionExplanation) -> Met:
    text = f"{_value(condition)}: {degree(condition.log_support, 2)}"
    return Met(text, math.exp(condition.log_support), condition.limiting)


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


def _note(log_truth: Array, columns: list[int]) -> str:
    hidden = np.delete(log_truth, columns, axis=1)
    if not hidden.size:
        return ""
    return (
        f"{len(columns)} of {log_truth.shape[1]:,} instances; "
        f"the others satisfy none of these rules to more than {degree(float(hidden.max()))}"
    )


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


# What Mamdani rules concluded about a bag: cut sets, the joined set, and its defuzzified point.


_MOST_RULES = 8
_POINTS = 250  # of a curve


@dataclasses.dataclass(frozen=True)
class Cut:
    """The set that a rule concludes: as it is written, and cut off or scaled by the strength of the rule."""

    label: str
    whole: Array
    cut: Array


@dataclasses.dataclass
class JoinedSetDisplay:
    """The sets that rules concluded about a bag, the set they were joined into, and its defuzzified point.

    Each rule that fires has a color: a dashed line is the term that it concludes, the filled area what is left of it at
    the strength of the rule. The black line is the joined set, and the vertical line the output.

    Parameters
    ----------
    values : array of shape (n_values,)
        Of the output.
    membership : array of shape (n_values,)
        Of these values in the joined set.
    cuts : list of Cut
        One per rule, the strongest first.
    point : float
        The output.
    axis : str
        Name and unit of the output.
    title : str
    threshold : float or None
        Output at which the decision of a classifier changes.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.parse('''
    ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> display = JoinedSetDisplay.from_rules(rules, [[[0.9], [0.3]]])
    >>> round(display.point, 3), [cut.label for cut in display.cuts]
    (0.389, ['Rule 2 (0.882): risk is small', 'Rule 1 (0.325): risk is great'])
    >>> plt.close(display.plot())
    """

    values: Array
    membership: Array
    cuts: list[Cut]
    point: float
    axis: str
    title: str = ""
    threshold: float | None = None

    @classmethod
    def from_rules(
        cls, rules: Any, bags: Any, bag: Any = None, *, output: str | None = None, max_rules: int = _MOST_RULES
    ) -> JoinedSetDisplay:
        """Infer a bag and show what the rules concluded.

        Parameters
        ----------
        rules : RuleBase that concludes sets, or fitted MIMamdani
        bags : Bags, or anything `as_bags` accepts
            A single bag, as in ``[instances]``, or several, of which ``bag`` selects one.
        bag : id or position, optional
        output : str, optional
            Default: that of the predicted class, otherwise the first.
        max_rules : int
            Maximum number of rules: the strongest.
        """
        own = rules_of(rules)
        if not own.concludes_sets:
            raise ParameterError(f"Expected rules that conclude sets, or a fitted MIMamdani, got {described(rules)}.")
        found = explain(own, bags, bag, output=output) if own is rules else rules.explain(bags, bag, output=output)
        return cls.from_explanation(found, max_rules=max_rules)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_rules: int = _MOST_RULES) -> JoinedSetDisplay:
        """Show the sets of an explanation of Mamdani rules; see `from_rules`."""
        joined = explanation.joined
        if joined is None:
            raise ParameterError("There is no joined set: only Mamdani rules, unless they average numbers, make one.")
        values = np.array(joined.values)
        by_strength = sorted(
            (rule for rule in explanation.rules if rule.index in joined.cuts and rule.firing > 0),
            key=lambda rule: -rule.log_firing,
        )
        cuts = [
            Cut(
                label=f"{rule.name} ({degree(rule.log_firing)}): {rule.concluded}",
                whole=np.array(joined.sets[rule.index]),
                cut=np.array(joined.cuts[rule.index]),
            )
            for rule in by_strength[:max_rules]
        ]
        single = explanation.classes is not None and len(explanation.outputs) == 1
        return cls(
            values=values,
            membership=np.array(joined.membership),
            cuts=cuts,
            point=joined.point,
            axis=f"{joined.output} [{joined.unit}]" if joined.unit else joined.output,
            title=f"Bag {explanation.bag}: {joined.output} = {number(joined.point)}",
            threshold=explanation.threshold if single else None,
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, axis = plt.subplots(figsize=(6.2, 3.0 + 0.2 * len(self.cuts)), layout="constrained")
        handles: list[Any] = []
        some = slice(None, None, max(len(self.values) // _POINTS, 1))
        x = self.values[some]
        looks = [class_look(place, 8) for place in range(len(self.cuts))]  # rules have no direction here
        for style, cut in zip(looks, self.cuts, strict=True):
            axis.plot(x, cut.whole[some], color=style["color"], linewidth=1.0, linestyle="--", alpha=0.7)
            handles.append(axis.fill_between(x, cut.cut[some], color=style["color"], alpha=0.3, linewidth=0))
        handles += axis.plot(x, self.membership[some], color="#222222", linewidth=1.6)
        handles.append(axis.axvline(self.point, color="#222222", linewidth=1.6, linestyle="-."))
        names = [*(shorten(cut.label, 60) for cut in self.cuts), "joined set", f"output: {number(self.point)}"]
        if self.threshold is not None:
            handles.append(axis.axvline(self.threshold, color=FAINT, linewidth=1.2, linestyle=":"))
            names.append(f"threshold: {number(self.threshold)}")
        half = float(self.values[1] - self.values[0]) / 2  # values are in the middle of their cells
        axis.set_xlim(float(self.values[0]) - half, float(self.values[-1]) + half)
        axis.set_ylim(0, 1.05 * max(1.0, float(self.membership.max(initial=0.0))))  # sums may exceed 1
        axis.set_xlabel(as_written(self.axis))
        axis.set_ylabel("membership")
        bare(axis)
        axis.set_title(as_written(self.title if title is None else title), fontsize=11)
        add_legend(figure, handles, names, ncols=1)
        return figure
