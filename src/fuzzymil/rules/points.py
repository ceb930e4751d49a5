"""Conclusions in points, as on an index card, and the table from the score of a bag to its probability.

Additive rules may say what a point is worth, their ``unit``: then every conclusion is a whole number of points. The
score of a bag is the sum of the points, each times the strength of its rule; ``default + unit * score`` is its logit.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.text import typeset
from fuzzymil.inference.engines.numpy import sigmoid

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_ROUNDING = 1e-9  # of points
_UNLIKELY = 0.01  # below it, and as close to 1, scores share a row
_MOST_ROWS = 12


def whole_points(base: RuleBase, unit: float) -> tuple[int, ...] | None:
    """Return the points of each rule; None if the conclusions are not whole points of additive rules for one output."""
    if base.concludes_sets or base.normalize or base.coefs.shape[1:] != (1, 1):
        return None
    points = base.coefs[:, 0, 0] / unit
    whole = np.rint(points)
    if not np.all(np.abs(points - whole) <= _ROUNDING * np.maximum(np.abs(whole), 1)):
        return None
    return tuple(map(int, whole))


def in_points(points: int) -> str:
    """Return points with their sign: ``+1 point``, ``-3 points``."""
    return f"{points:+d} point{'' if abs(points) == 1 else 's'}"


@dataclasses.dataclass(frozen=True)
class ScoreRow:
    """What a score means.

    ``low``, ``high``: the scores that the row stands for: in the first row all up to it, in the last one all from it
    on. ``probability``: at the score.
    """

    score: int
    low: int
    high: int
    probability: float

    @property
    def text(self) -> str:
        """The scores in words: ``3``, ``-2 or less``, ``5 or more``."""
        more = "" if self.low == self.high else " or less" if self.score == self.high else " or more"
        return f"{self.score}{more}"

    @property
    def percent(self) -> str:
        """The probability in percent; nothing is called certain or impossible."""
        if self.probability < 0.001 or self.probability > 0.995:
            return "<0.1%" if self.probability < 0.5 else ">99%"
        return f"{100 * self.probability:.{1 if self.probability < 0.00995 else 0}f}%"


@dataclasses.dataclass(frozen=True)
class ScoreTable:
    """The probability for each score; between two scores, it lies between theirs.

    ``unit``: logits per point. ``default``: logit of score 0. ``rows``: by score.
    """

    unit: float
    default: float
    rows: tuple[ScoreRow, ...]

    def __str__(self) -> str:
        widths = [max(len(row.text), len(row.percent)) for row in self.rows]
        lines = ("Score      ", *(row.text for row in self.rows)), ("Probability", *(row.percent for row in self.rows))
        return "\n".join("  ".join([name, *map(str.rjust, cells, widths)]) for name, *cells in lines)

    def _repr_html_(self) -> str:
        return html.fragment(self.html)

    @property
    def html(self) -> Markup:
        """The table in HTML, for pages with a style."""
        heads = ["Score", *(typeset(row.text) for row in self.rows)]
        return html.table("", heads, [["Probability", *(row.percent for row in self.rows)]])

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return dataclasses.asdict(self) | {"rows": [dataclasses.asdict(row) for row in self.rows]}


def score_table(base: RuleBase) -> ScoreTable:
    """Return the table from score to probability of rules with points."""
    if base.unit is None or base.points is None:
        advice = "choose rules with RuleClassifier(points=True), or write USING unit = 0.5 ... THEN y += 3 points"
        raise ParameterError(f"These rules have no points: {advice}.")
    points = [rule.weight * each for rule, each in zip(base.rules, base.points, strict=True)]
    least, most = math.floor(sum(min(each, 0) for each in points)), math.ceil(sum(max(each, 0) for each in points))
    default = base.default[0]
    unlikely, likely = (np.log([_UNLIKELY / (1 - _UNLIKELY), 1 / _UNLIKELY - 1]) - default) / base.unit
    first, last = min(max(least, math.floor(unlikely)), most), max(min(most, math.ceil(likely)), least)
    step = next(size for n in range(20) for size in (10**n, 2 * 10**n, 5 * 10**n) if last - first < _MOST_ROWS * size)
    between = (score for score in range(first + 1, last) if score % step == 0)
    scores = [first, *between, *([last] if last > first else [])]
    rows = [ScoreRow(score, score, score, float(sigmoid(default + base.unit * score))) for score in scores]
    rows[0] = dataclasses.replace(rows[0], low=least)
    rows[-1] = dataclasses.replace(rows[-1], high=most)
    return ScoreTable(base.unit, default, tuple(rows))
