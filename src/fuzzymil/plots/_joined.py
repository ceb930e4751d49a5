"""What Mamdani rules concluded about a bag: cut sets, the joined set, and its defuzzified point."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.explain import Explanation, explain
from fuzzymil.explain.text import degree, number
from fuzzymil.plots._rules import rules_of
from fuzzymil.plots.style import FAINT, add_legend, as_written, bare, class_look, shortened

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
        names = [*(shortened(cut.label, 60) for cut in self.cuts), "joined set", f"output: {number(self.point)}"]
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
