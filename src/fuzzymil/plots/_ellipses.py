"""Rules in the plane: the projection of everything within one width of a rule's center."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from matplotlib.patches import Ellipse

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import listed
from fuzzymil.bags import Bags
from fuzzymil.plots._projection import Projection, project_ellipsoids
from fuzzymil.plots._rules import conclusions, spoken_of
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.printer import format_number


@dataclasses.dataclass(frozen=True)
class RuleEllipse:
    """A rule in the plane: everything within one width of its center.

    Attributes
    ----------
    number : int
        Rule number, from 1.
    center : array of shape (2,)
    matrix : array of shape (2, 2)
        The ellipse is all u with ``(u - center)' matrix^-1 (u - center) <= 1``. Infinite along an axis on which the
        rule has no condition.
    kind : int
        0 or 1 for a low or high conclusion; with several outputs, the position of the one that the rule is about.
    label : str
        The kind in words.
    against : bool
        Whether the rule takes away from that output.

    Examples
    --------
    >>> RuleEllipse(1, np.zeros(2), np.eye(2), 1, "rule with conclusion > 0.5").number
    1
    """

    number: int
    center: Array
    matrix: Array
    kind: int
    label: str
    against: bool = False


def rule_ellipses(
    rules: RuleBase, seen: Bags, projection: Projection, *, mixed: bool, high: float = 0.5
) -> tuple[tuple[RuleEllipse, ...], str]:
    """Return the rules in the plane of ``seen`` bags, and notes for the reader.

    ``mixed`` says whether an axis mixes several features. A rule then has the mean and standard deviation of the
    instances in features without a condition; otherwise it is unbounded along them. Above ``high``, the conclusion for
    a single output counts as high.
    """
    open_ = np.isnan(rules.widths)
    # Unbounded features can be drawn as such only on an axis of their own.
    mean, deviation = (seen.instances.mean(axis=0), seen.instances.std(axis=0)) if mixed else (0.0, 1.0)
    centers, matrices = project_ellipsoids(
        projection, np.where(open_, mean, rules.centers), np.where(open_, deviation, rules.widths)
    )
    if not mixed:
        for axis, column in enumerate(projection.directions.argmax(axis=1)):
            centers[open_[:, column], axis] = np.nan
            matrices[open_[:, column], axis, axis] = np.inf
    for r, rule in enumerate(rules.rules):
        if not rule.antecedent:  # true everywhere, in any projection
            centers[r], matrices[r] = np.nan, np.diag([np.inf, np.inf])
    said = conclusions(rules)
    limit = format_number(high, 3)
    labels = [f"rule with conclusion ≤ {limit}", f"rule with conclusion > {limit}"]
    kinds = [(int(above), False, labels[int(above)]) for above in said[:, 0] > high]
    if len(rules.outputs) > 1:
        kinds = spoken_of(rules)
    found = tuple(
        RuleEllipse(r + 1, centers[r], matrices[r], kind, label, against)
        for r, (kind, against, label) in enumerate(kinds)
    )
    notes = []
    if mixed:
        notes.append("ellipses: projections of everything within one width of a rule's center")
        if any(len(rule.antecedent) not in (0, len(rules.variables)) for rule in rules.rules):
            notes.append("features without a condition: mean ± one standard deviation")
    anywhere = [rule.number for rule in found if np.isnan(rule.center).all()]
    if anywhere:
        notes.append(
            f"not drawn (no condition on these features): rule{'s' if len(anywhere) > 1 else ''} {listed(anywhere)}"
        )
    if not all(rule.is_plain for rule in rules.rules):
        notes.append("rules with OR, NOT or hedges: only the first condition on each feature is drawn")
    return found, "; ".join(notes)


def draw_ellipse(axis: Any, rule: RuleEllipse, label: str | None, look: dict[str, Any]) -> bool:
    """Draw an ellipse, or two lines if it is unbounded along an axis; return whether there was anything to draw."""
    bounded = np.isfinite(np.diag(rule.matrix))
    if not bounded.any():
        return False
    if bounded.all():
        (short, long), vectors = np.linalg.eigh(rule.matrix)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        width, height = 2 * float(np.sqrt(long)), 2 * float(np.sqrt(max(short, 0.0)))  # negative only by rounding
        axis.add_patch(
            Ellipse(tuple(rule.center), width, height, angle=angle, fill=False, label=label, zorder=3, **look)
        )
        return True
    place = int(np.flatnonzero(bounded)[0])
    half, draw = float(np.sqrt(rule.matrix[place, place])), (axis.axvline, axis.axhline)[place]
    draw(rule.center[place] - half, label=label, zorder=3, **look)
    draw(rule.center[place] + half, zorder=3, **look)
    return True


def in_view(rule: RuleEllipse, low: tuple[float, float], high: tuple[float, float]) -> bool:
    """Return whether the center of a rule is inside the limits of the axes."""
    ends = np.array([low, high])
    return bool(np.all(np.isnan(rule.center) | ((ends[:, 0] <= rule.center) & (rule.center <= ends[:, 1]))))
