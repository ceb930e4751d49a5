"""Fuzzy sets: those of rules before and after training, of two rule bases, and what Mamdani rules conclude."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import SEVERAL, class_color, class_of_rule
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.explain import Explanation, JoinedSet, RuleExplanation, explain
from fuzzymil.explain.words import degree, number
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.plots._rules import (
    border,
    check_shown,
    conditions_about,
    influences,
    quantifier_word,
    restrictions,
    rules_of,
)
from fuzzymil.plots.style import (
    FAINT,
    HIGH,
    LOW,
    NotebookFigure,
    add_legend,
    add_title,
    as_written,
    bare,
    class_look,
    grid,
    shorten,
    subplots,
    write_values,
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.curves import axis_of, curve, curve_points
from fuzzymil.rules.editing import Difference, Flip, border_of
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import ANYTHING
from fuzzymil.rules.rule import Variable


def draw_set(axis: Any, x: Array, y: Array, color: str, *, ghost: bool = False) -> Any:
    """Draw a fuzzy set as a filled curve, or one that is there for comparison as a dashed line; return its line."""
    if ghost:
        return axis.plot(x, y, color=color, linestyle="--", linewidth=1.1, alpha=1.0 if color == FAINT else 0.5)[0]
    axis.fill_between(x, y, color=color, alpha=0.12, linewidth=0)
    return axis.plot(x, y, color=color, linewidth=1.8)[0]


# ---------------------------------------------------------------------- sets of rules


_TITLED = 4  # conclusions in the title of a rule


@dataclasses.dataclass(frozen=True)
class Curve:
    """The conditions of a rule on a feature, (n_conditions, n_points) over its range, before and after training."""

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
        One row per rule, one column for each of the ``variables``; None if the rule has no condition on the feature.
    titles : list of str
        Titles of the rows.
    high : list of bool
        Which rules have a high conclusion.
    looks : list of (str, str)
        Color of each rule, and what it means.
    n_outputs : int
        Number of columns, the last ones, that are outputs of Mamdani rules.
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
    variables: list[Variable]
    high: list[bool]
    looks: list[tuple[str, str]]
    n_outputs: int = 0
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
        check_shown(max_features=max_features)
        bases = [rules] if initial is None else [rules, _check_start(rules, initial)]
        asked = {name for rule in rules.rules for name in rule.antecedent}
        used = [d for d, variable in enumerate(rules.variables) if variable.name in asked] or [0]  # at least one column
        order = np.argsort(-(influences(rules, output) @ restrictions(rules))[used], kind="stable")
        shown = [used[place] for place in (order if len(used) > max_features else range(len(used)))][:max_features]
        left = len(used) - len(shown)
        outputs = rules.outputs if rules.concludes_sets else ()
        constants = rules.coefs[:, output or 0, 0]
        high = constants > border(rule_base, constants)
        several = output is None and len(rules.outputs) > 1 and not rules.concludes_sets
        each_rule = range(rules.n_rules)

        def columns(r: int) -> Iterator[tuple[list[Asked], list[Variable]]]:
            for d in shown:
                yield [list(conditions_about(base, r, d)) for base in bases], [base.variables[d] for base in bases]
            for k, made in enumerate(outputs):
                yield [_concluded(base, r, k) for base in bases], [made]

        return cls(
            curves=[[_curve(found, versions) for found, versions in columns(r)] for r in each_rule],
            titles=[_title(rules, r, output) + _hidden(rules, r, shown) for r in each_rule],
            variables=[*(rules.variables[d] for d in shown), *outputs],
            high=high.tolist(),
            looks=[
                _look(rules, rules.coefs[r] if several else rules.coefs[r, [output or 0]], bool(high[r]))
                for r in each_rule
            ],
            n_outputs=len(outputs),
            note=f"{left} feature{'s' * (left > 1)} that matter{'s' * (left == 1)} less not shown" if left else "",
        )

    @property
    def features(self) -> list[str]:
        """Names of the columns."""
        return [variable.name for variable in self.variables]

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        n_rows, n_columns = len(self.curves), len(self.variables)
        size = 0.6 + 3.1 * n_columns, 0.7 + 1.15 * n_rows
        figure, axes = subplots(n_rows, n_columns, size, sharex="col", sharey=True)
        for r, row in enumerate(self.curves):
            color, _ = self.looks[r]
            for d, shown in enumerate(row):
                concludes = d >= n_columns - self.n_outputs
                _draw(axes[r, d], shown, color, "nothing" if concludes else "any")
                if concludes:
                    axes[r, d].set_facecolor("#F7F5F0")
            axes[r, 0].set_title(as_written(self.titles[r]), loc="left", fontsize=9, color=color, fontweight="bold")
        drawn = [shown for row in self.curves for shown in row if shown is not None]
        # Of all panels; above the curves is room for the quantifiers.
        axes[0, 0].set_ylim(0, 1.35 if any(shown.quantifier for shown in drawn) else 1.08)
        for axis, variable in zip(axes[-1], self.variables, strict=True):
            axis.set_xlabel(as_written(variable.title))
            write_values(axis.xaxis, variable)
        figure.supylabel("membership", fontsize=9)
        add_title(figure, title)
        looks = {look for look, row in zip(self.looks, self.curves, strict=True) if any(row)}
        ranks = [HIGH, LOW, *SEVERAL, FAINT]
        ordered = sorted(looks, key=lambda look: (ranks.index(look[0]), look[1]))
        handles = [Line2D([], [], color=color, label=text) for color, text in ordered]
        if any(shown.before is not None for shown in drawn):
            handles.append(Line2D([], [], color=FAINT, linestyle="--", label="before training"))
        if handles or self.note:
            labels = [str(handle.get_label()) for handle in handles]
            add_legend(figure, handles, labels, title=self.note, ncols=max(len(handles), 1))
        return figure


def _check_start(rules: RuleBase, initial: Any) -> RuleBase:
    """Return the rules before training if they have the same conditions, else raise `ParameterError`."""
    if not isinstance(initial, RuleBase) or initial.feature_names != rules.feature_names:
        raise ParameterError("initial must be a rule base with the same variables, such as model.initial_rules_.")
    if initial.n_rules != rules.n_rules:
        raise ParameterError(
            f"initial must have as many rules as after training: expected {rules.n_rules}, got {initial.n_rules}."
        )
    for n, (before, after) in enumerate(zip(initial.rules, rules.rules, strict=True), start=1):
        if not set(after.antecedent) <= set(before.antecedent):
            raise ParameterError(f"Rule {n} asks about other features than in initial: leave initial out.")
    return initial


def _draw(axis: Any, shown: Curve | None, color: str, blank: str) -> None:
    axis.set_yticks([0, 1])
    bare(axis)
    if shown is None:
        axis.text(0.5, 0.5, blank, transform=axis.transAxes, ha="center", va="center", color=FAINT)
        return
    for y in () if shown.before is None else shown.before:
        draw_set(axis, shown.x, y, FAINT, ghost=True)
    for y in shown.after:
        draw_set(axis, shown.x, y, color)
    axis.set_xlim(shown.x[0], shown.x[-1])
    look = {"fontsize": 8, "color": "#333333", "va": "top", "ha": "left", "fontstyle": "italic"}
    axis.text(0.02, 0.98, shown.quantifier, transform=axis.transAxes, **look)


Asked = list[tuple[str, MembershipFunction, tuple[str, ...]]]  # quantifier in short, set and hedges


def _curve(found: list[Asked], variables: Sequence[Variable]) -> Curve | None:
    """Return the sets of a rule, and of the same before training; they are drawn over the ranges of the variables."""
    if not found[0]:
        return None
    low, high = _ends(variables)
    x = curve_points([chosen for each in found for _, chosen, _ in each], low, high)
    after, *before = (np.array([curve(chosen, low, high, how, at=x).y for _, chosen, how in each]) for each in found)
    words = dict.fromkeys(quantifier for quantifier, *_ in found[0] if quantifier)
    return Curve(x, before[0] if before else None, after, ", ".join(words))


def _ends(variables: Sequence[Variable]) -> tuple[float, float]:
    """Return the ends of an axis for versions of one variable."""
    ends = [axis_of(variable) for variable in variables]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return low, high if high > low else low + 1.0


def _concluded(rules: RuleBase, r: int, k: int) -> Asked:
    """Return the set that a rule concludes of an output, if any."""
    said = rules.rules[r].terms.get(rules.outputs[k].name)
    return [] if said is None else [("", rules.outputs[k].terms[said.term], said.hedges)]


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


def _title(rules: RuleBase, r: int, output: int | None) -> str:
    """Return the number of a rule and its conclusion, and what it asks of the number of instances."""
    if rules.concludes_sets:
        return f"{rules.name_of(r)}: {rules.concluded_text(r)}"
    coefs = rules.coefs[r]
    chosen = range(len(rules.outputs)) if output is None else [output]
    if output is None and not rules.normalize:  # not "+= 0.00" for every class that the rule does not mention
        chosen = [k for k in chosen if coefs[k].any()] or [0]
    said = []
    for k in chosen[:_TITLED]:
        constant, *slopes = coefs[k]
        sign = "=" if rules.normalize else "-=" if constant < 0 else "+="
        value = f"{constant if rules.normalize else abs(constant):.2f}"
        said.append(f"{rules.output_names[k]} {sign} {value}{' + ...' if any(slopes) else ''}")
    more = f" and {len(chosen) - _TITLED} more" if len(chosen) > _TITLED else ""
    counts = [quantifier_word(part) for part in rules.parts if part.rule == r and part.premise == ANYTHING]
    asked = "".join(f" ({word} instances)" for word in counts if word)
    return f"{rules.name_of(r)}: {', '.join(said)}{more}{asked}"


def _hidden(rules: RuleBase, r: int, shown: list[int]) -> str:
    """Return how many conditions of a rule are on features that are not shown: without them it looks like others."""
    n = len(set(rules.rules[r].antecedent) - {rules.variables[d].name for d in shown})
    return f" ({n} condition{'s' if n > 1 else ''} not shown)" if n else ""


# ---------------------------------------------------------------------- two rule bases


_COLUMNS = 3
_MOST_NUMBERS, _MOST_FLIPS, _LEAST_ROWS = 24, 12, 8  # rows of numbers next to the sets


@dataclasses.dataclass(frozen=True)
class TermPanel:
    """The sets of one variable: name of a term to its old and new set, None if there is none; ``ends`` of the axis."""

    variable: Variable
    ends: tuple[float, float]
    terms: dict[str, tuple[MembershipFunction | None, MembershipFunction | None]]

    @property
    def title(self) -> str:
        """Name of the variable, with its unit."""
        return self.variable.title


@dataclasses.dataclass
class DifferenceDisplay:
    """What distinguishes two rule bases.

    The panels show the variables whose sets differ: new sets are solid, old ones are dashed ghosts behind them. Next
    to them, each conclusion, weight and default that differs is drawn from its old value (open) to its new one
    (filled). With bags, the last panel lists those that changed sides, in the same way.

    The ``difference`` is what ``old.diff(new)`` returns, ``flips`` are the bags that changed sides (None without bags),
    and sides change at the ``threshold``.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> old = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> new = old.edit(sets={"hue.low": {"center": 0.2}}, conclusions={2: 0.4})
    >>> display = DifferenceDisplay.from_rules(old, new, [[[0.0]], [[1.0]]])
    >>> [panel.title for panel in display.panels], [flip.bag for flip in display.flips]
    (['hue'], [1])
    """

    difference: Difference
    flips: list[Flip] | None = None
    threshold: float = 0.5

    @classmethod
    def from_rules(cls, old: Any, new: Any, bags: Any = None, *, threshold: float | None = None) -> DifferenceDisplay:
        """Compare rules, or those of fitted models; see `from_difference`."""
        return cls.from_difference(rules_of(old).diff(rules_of(new)), bags, threshold=threshold)

    @classmethod
    def from_difference(
        cls, difference: Difference, bags: Any = None, *, threshold: float | None = None
    ) -> DifferenceDisplay:
        """Draw the result of ``old.diff(new)``.

        Parameters
        ----------
        difference : Difference
        bags : Bags, or anything `as_bags` accepts, optional
            Bags to look for changed decisions in.
        threshold : float, optional
            See `Difference.flips`.
        """
        flips = None if bags is None else list(difference.flips(bags, threshold))
        return cls(difference, flips, border_of(difference.new) if threshold is None else threshold)

    @property
    def panels(self) -> list[TermPanel]:
        """The variables whose sets differ."""
        changed = {change.variable.name for change in self.difference.sets}
        old, new = self.difference.old, self.difference.new
        before, after = ({variable.name: variable for variable in rules.all_variables} for rules in (old, new))
        found = []
        for name, variable in (after | before | after).items():
            if name in changed:
                versions = [versions[name].terms if name in versions else {} for versions in (before, after)]
                terms = {
                    term: (versions[0].get(term), versions[1].get(term)) for term in {**versions[0], **versions[1]}
                }
                ends = _ends([each[name] for each in (before, after) if name in each])
                found.append(TermPanel(variable, ends, terms))
        return found

    @property
    def numbers(self) -> list[tuple[str, float, float]]:
        """Each number that differs: what it is, its old and its new value."""
        return [
            (f"{change.where}: {change.what}", change.old, change.new)
            for change in self.difference.changes
            if isinstance(change.old, float) and isinstance(change.new, float) and change.where != "operators"
        ]

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        panels, numbers = self.panels, self.numbers
        columns = min(max(math.ceil(math.sqrt(len(panels))), 1), _COLUMNS)
        n_rows = max(-(-len(panels) // columns), 1)
        lengths = [min(len(numbers), _MOST_NUMBERS), min(len(self.flips or ()), _MOST_FLIPS)]
        height = max(2.0 * n_rows, 0.8 + 0.24 * max(lengths))
        widths = [2.6 * columns] * bool(panels) + [3.8] * (bool(numbers) + (self.flips is not None))
        size = sum(widths) or 4.2, 0.6 + height
        figure = plt.figure(FigureClass=NotebookFigure, figsize=size, layout="constrained")
        if not widths:
            figure.text(0.5, 0.5, "The rules are the same.", ha="center", va="center", color=FAINT)
            return figure
        parts = iter(np.ravel(np.array(figure.subfigures(1, len(widths), width_ratios=widths), object)))
        if panels:
            axes = next(parts).subplots(n_rows, columns, squeeze=False).ravel()
            for axis in axes[len(panels) :]:
                axis.set_visible(False)
            for axis, panel in zip(axes, panels, strict=False):
                _draw_terms(axis, panel)
        if numbers:
            axis = next(parts).subplots()
            _draw_moves(axis, numbers, _MOST_NUMBERS)
            axis.set_title("old to new numbers", fontsize=9, fontweight="bold")
        if self.flips is not None:
            self._draw_flips(next(parts).subplots(), self.flips)
        ghost = Line2D([], [], color=FAINT, linestyle="--"), Line2D([], [], color="#222222")
        add_legend(figure, ghost, ["old", "new"], ncols=2)
        add_title(figure, title)
        return figure

    def _draw_flips(self, axis: Any, flips: list[Flip]) -> None:
        count = f"{len(flips)} bag{'' if len(flips) == 1 else 's'} changed sides"
        more = f", the first {_MOST_FLIPS}" if len(flips) > _MOST_FLIPS else ""
        axis.set_title(count + more, fontsize=9, fontweight="bold")
        if not flips:
            axis.set_axis_off()
            return
        one = len(flips[0].new_output) == 1
        rows = []
        for flip in flips:
            name = f"bag {flip.bag}" if one else f"bag {flip.bag}: {flip.old} to {flip.new}"
            rows.append((name, _margin(flip, flip.old_output), _margin(flip, flip.new_output)))
        _draw_moves(axis, rows, _MOST_FLIPS)
        axis.axvline(self.threshold if one else 0.0, color="#222222", linewidth=0.9, linestyle=":")
        axis.set_xlabel("output" if one else "new decision minus old one", fontsize=8)


def _draw_terms(axis: Any, panel: TermPanel) -> None:
    x = curve_points([each for pair in panel.terms.values() for each in pair if each], *panel.ends)
    names: list[tuple[float, str, str]] = []  # place from 0 to 1, term and color
    for n, (term, (old, new)) in enumerate(panel.terms.items()):
        color = class_color(n, len(panel.terms) + 2)  # terms have no direction
        for chosen, ghost in ((old, True), (new, False)):
            if chosen is not None:
                y = curve(chosen, *panel.ends, at=x).y
                draw_set(axis, x, y, color, ghost=ghost)
        names.append((float((x[np.argmax(y)] - x[0]) / (x[-1] - x[0])), shorten(term, 14), color))
    last, raised = -1.0, False
    for place, term, color in sorted(names):
        raised = place - last < 0.3 and not raised  # names next to each other would overlap
        last = place
        side = "left" if place < 0.1 else "right" if place > 0.9 else "center"
        look = {"fontsize": 7, "color": color, "ha": side, "va": "bottom", "clip_on": False}
        axis.text(place, 0.91 if raised else 0.83, as_written(term), transform=axis.transAxes, **look)
    axis.set(ylim=(0, 1.24), yticks=[0, 1], xlim=panel.ends)
    axis.set_xlabel(as_written(panel.title), fontsize=8)
    write_values(axis.xaxis, panel.variable)
    bare(axis)


def _margin(flip: Flip, output: tuple[float, ...]) -> float:
    """Return the output, or of several the lead of the one that decides now over the one that decided before."""
    if len(output) == 1:
        return output[0]
    return output[int(np.argmax(flip.new_output))] - output[int(np.argmax(flip.old_output))]


def _draw_moves(axis: Any, rows: list[tuple[str, float, float]], most: int) -> None:
    """Draw a line from each old value (open) to its new one (filled), with both numbers."""
    for y, (_, old, new) in enumerate(rows[:most]):
        color = HIGH if new > old else LOW
        axis.plot([old, new], [y, y], color=color, linewidth=1.4, zorder=1)
        axis.plot([old], [y], "o", markerfacecolor="white", markeredgecolor=FAINT, markersize=5)
        axis.plot([new], [y], "o", color=color, markersize=5)
        text = f"{format_number(old, 3)} → {format_number(new, 3)}"
        axis.text(1.02, y, text, transform=axis.get_yaxis_transform(), fontsize=7, va="center", clip_on=False)
    left = len(rows) - most
    labels = [as_written(shorten(name, 34)) for name, _, _ in rows[:most]]
    axis.set_yticks(range(len(labels)), labels, fontsize=7)
    axis.set_ylim(max(len(labels), _LEAST_ROWS) - 0.5, -0.5)  # few rows stay together, at the top
    if left > 0:
        axis.set_xlabel(f"... and {left} more", fontsize=8)
    grid(axis, "x")
    axis.margins(x=0.08)
    bare(axis)


# ---------------------------------------------------------------------- what Mamdani rules concluded about a bag


_MOST_RULES = 8
_POINTS = 250  # of a curve


@dataclasses.dataclass
class JoinedSetDisplay:
    """The sets that rules concluded about a bag, the set they were joined into, and its defuzzified point.

    Each rule that fires has a color: a dashed line is the term that it concludes, the filled area what is left of it at
    the strength of the rule. The black line is the joined set, and the vertical line the output.

    The ``explanation`` is one of Mamdani rules that do not average numbers; at most ``max_rules`` are drawn.

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
    >>> round(display.joined.point, 3), [rule.name for rule in display.rules]
    (0.389, ['Rule 2', 'Rule 1'])
    """

    explanation: Explanation
    max_rules: int = _MOST_RULES

    @classmethod
    def from_rules(
        cls,
        rules: Any,
        bags: Any,
        bag: Any = None,
        *,
        position: int | None = None,
        output: str | None = None,
        max_rules: int = _MOST_RULES,
    ) -> JoinedSetDisplay:
        """Infer a bag and show what the rules concluded.

        Parameters
        ----------
        rules : RuleBase that concludes sets, or fitted MIMamdani
        bags, bag, position, output
            See `fuzzymil.explain.explain`.
        max_rules : int
            Maximum number of rules: the strongest.
        """
        own = rules_of(rules)
        if not own.concludes_sets:
            raise ParameterError(f"Expected rules that conclude sets, or a fitted MIMamdani, got {described(rules)}.")
        which: dict[str, Any] = {"bag": bag, "position": position, "output": output}
        found = explain(own, bags, **which) if own is rules else rules.explain(bags, **which)
        return cls.from_explanation(found, max_rules=max_rules)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_rules: int = _MOST_RULES) -> JoinedSetDisplay:
        """Show the sets of an explanation of Mamdani rules; see `from_rules`."""
        display = cls(explanation, max_rules)
        _ = display.joined  # raises if there is none
        return display

    @property
    def joined(self) -> JoinedSet:
        """The joined set."""
        if self.explanation.joined is None:
            raise ParameterError("There is no joined set: only Mamdani rules, unless they average numbers, make one.")
        return self.explanation.joined

    @property
    def rules(self) -> list[RuleExplanation]:
        """The rules that fire, the strongest first."""
        fire = (rule for rule in self.explanation.rules if rule.index in self.joined.cuts and rule.firing > 0)
        return sorted(fire, key=lambda rule: -rule.log_firing)[: self.max_rules]

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        found, joined, rules = self.explanation, self.joined, self.rules
        figure, ((axis,),) = subplots(1, 1, (6.2, 3.0 + 0.2 * len(rules)))
        every = slice(None, None, max(len(joined.values) // _POINTS, 1))
        x, membership = np.array(joined.values)[every], np.array(joined.membership)[every]
        handles, names = [], []
        for place, rule in enumerate(rules):
            color = class_look(place, 8)["color"]  # rules have no direction here
            draw_set(axis, x, np.array(joined.sets[rule.index])[every], color, ghost=True)
            handles.append(axis.fill_between(x, joined.cuts[rule.index][every], color=color, alpha=0.3, linewidth=0))
            names.append(shorten(f"{rule.name} ({degree(rule.log_firing)}): {rule.concluded}", 60))
        handles += axis.plot(x, membership, color="#222222", linewidth=1.6)
        handles.append(axis.axvline(joined.point, color="#222222", linewidth=1.6, linestyle="-."))
        names += ["joined set", f"output: {number(joined.point)}"]
        if found.classes and len(found.outputs) == 1:
            handles.append(axis.axvline(found.threshold, color=FAINT, linewidth=1.2, linestyle=":"))
            names.append(f"threshold: {number(found.threshold)}")
        half = (joined.values[1] - joined.values[0]) / 2  # values are in the middle of their cells
        axis.set_xlim(joined.values[0] - half, joined.values[-1] + half)
        axis.set_ylim(0, 1.05 * max(1.0, *joined.membership))  # sums may exceed 1
        axis.set_xlabel(as_written(f"{joined.output} [{joined.unit}]" if joined.unit else joined.output))
        axis.set_ylabel("membership")
        bare(axis)
        heading = f"Bag {found.bag}: {joined.output} = {number(joined.point)}" if title is None else title
        axis.set_title(as_written(heading), fontsize=11)
        add_legend(figure, handles, names, ncols=1)
        return figure
