"""Rules in the plane: the shadow that all within one width of a rule's center casts."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from matplotlib.patches import Ellipse

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import listed
from fuzzymil.bags import Bags
from fuzzymil.plots._projection import Projection, shadows
from fuzzymil.plots._selection import conclusions
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.printer import format_number

__all__ = ["RuleShadow", "draw_shadow", "in_view", "rule_shadows"]


@dataclasses.dataclass(frozen=True)
class RuleShadow:
    """A rule in the plane: all within one width of its center.

    Attributes
    ----------
    number : int
        Of the rule, from 1.
    center : array of shape (2,)
    matrix : array of shape (2, 2)
        The ellipse of all u with ``(u - center)' matrix^-1 (u - center) <= 1``; infinite along an axis that the rule
        leaves open.
    kind : int
        0 and 1 for a low and a high conclusion; with several outputs, the one it concludes most for.
    says : str
        The kind in words.

    Examples
    --------
    >>> RuleShadow(1, np.zeros(2), np.eye(2), 1, "rule that concludes more than 0.5").number
    1
    """

    number: int
    center: Array
    matrix: Array
    kind: int
    says: str


def rule_shadows(
    rules: RuleBase, seen: Bags, projection: Projection, *, mixed: bool, high: float = 0.5
) -> tuple[tuple[RuleShadow, ...], str]:
    """Return the rules in the plane, and what is to be said about them.

    Parameters
    ----------
    rules : RuleBase
    seen : Bags
        With the features of the rules.
    projection : Projection
    mixed : bool
        Whether an axis mixes several features. A feature that a rule leaves out then counts with the mean and the
        standard deviation of the instances; otherwise the rule is open along it.
    high : float
        Above which the conclusion for a single output is high.

    Examples
    --------
    >>> from fuzzymil.plots._projection import chosen_features
    >>> rules = RuleBase.from_arrays([[0.0, 1.0]], [[0.5, 2.0]], [1.0])
    >>> (found,), _ = rule_shadows(rules, Bags.from_list([[[0.0, 0.0]]]), chosen_features(2, 0, 1), mixed=False)
    >>> found.center.tolist(), found.matrix.tolist()
    ([0.0, 1.0], [[0.25, 0.0], [0.0, 4.0]])
    """
    open_ = np.isnan(rules.widths)
    # On a feature of its own an open end is drawn as one; mixed with others it counts as wide as the data.
    mean, deviation = (seen.instances.mean(axis=0), seen.instances.std(axis=0)) if mixed else (0.0, 1.0)
    centers, matrices = shadows(
        projection, np.where(open_, mean, rules.centers), np.where(open_, deviation, rules.widths)
    )
    if not mixed:
        for axis, column in enumerate(projection.directions.argmax(axis=1)):
            centers[open_[:, column], axis] = np.nan
            matrices[open_[:, column], axis, axis] = np.inf
    for r, rule in enumerate(rules.rules):
        if not rule.antecedent:  # it is true everywhere, whatever the projection
            centers[r], matrices[r] = np.nan, np.diag([np.inf, np.inf])
    said = conclusions(rules)
    several = len(rules.outputs) > 1
    kinds = said.argmax(axis=1) if several else (said[:, 0] > high).astype(int)
    limit = format_number(high, 3)
    words = [f"{limit} or less", f"more than {limit}"]
    if several:
        words = [f"most for {name}" for name in rules.outputs]
    found = tuple(
        RuleShadow(r + 1, centers[r], matrices[r], int(kind), f"rule that concludes {words[kind]}")
        for r, kind in enumerate(kinds)
    )
    notes = []
    if mixed:
        notes.append("ellipses: shadows of all within one width of a rule's center")
        if any(len(rule.antecedent) not in (0, len(rules.variables)) for rule in rules.rules):
            notes.append("features that a rule leaves out: mean ± one deviation")
    anywhere = [rule.number for rule in found if np.isnan(rule.center).all()]
    if anywhere:
        notes.append(
            f"not drawn, as without a condition here: rule{'s' if len(anywhere) > 1 else ''} {listed(anywhere)}"
        )
    if not all(rule.is_plain for rule in rules.rules):
        notes.append("of OR, NOT and hedges only the first condition on each feature is drawn")
    return found, "; ".join(notes)


def draw_shadow(axis: Any, rule: RuleShadow, label: str | None, look: dict[str, Any]) -> bool:
    """Draw a rule: an ellipse, or two lines where it is open along an axis; tell whether there was one to draw."""
    bounded = np.isfinite(np.diag(rule.matrix))
    if not bounded.any():
        return False
    if bounded.all():
        (short, long), vectors = np.linalg.eigh(rule.matrix)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        width, height = 2 * float(np.sqrt(long)), 2 * float(np.sqrt(max(short, 0.0)))  # below 0 only by rounding
        axis.add_patch(
            Ellipse(tuple(rule.center), width, height, angle=angle, fill=False, label=label, zorder=3, **look)
        )
        return True
    place = int(np.flatnonzero(bounded)[0])
    half, draw = float(np.sqrt(rule.matrix[place, place])), (axis.axvline, axis.axhline)[place]
    draw(rule.center[place] - half, label=label, zorder=3, **look)
    draw(rule.center[place] + half, zorder=3, **look)
    return True


def in_view(rule: RuleShadow, low: tuple[float, float], high: tuple[float, float]) -> bool:
    """Tell whether the center of a rule, as far as it has one, lies in view.

    Examples
    --------
    >>> in_view(RuleShadow(1, np.array([3.0, 0.5]), np.eye(2), 1, ""), (0.0, 1.0), (0.0, 1.0))
    False
    """
    ends = np.array([low, high])
    return bool(np.all(np.isnan(rule.center) | ((ends[:, 0] <= rule.center) & (rule.center <= ends[:, 1]))))
