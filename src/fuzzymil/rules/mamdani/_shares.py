"""What each rule contributes to an answer: its share of the joined set, and the center of that share.

Every value of an output belongs to the rules whose cut sets reach the joined set there: with ``accumulation="max"`` to
those that attain the maximum, evenly; otherwise to all of them in proportion to their membership. The share of a rule
is its part of the area, or of the values at the maximum if the defuzzifier reads only these; its conclusion is the
center of that part. So the answer is the sum of shares times conclusions, up to the difference between a bisector and
a centroid.

Axes: b bags, r rules, c cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.conclusions import join_sets, limit_set
from fuzzymil.rules.mamdani._weighted import WEIGHTED, together

MamdaniRuleSet = Any  # whose activations call these functions

_CHUNK_VALUES = 1 << 22  # bags x rules x cells processed at once


class Shares(NamedTuple):
    """Shares and conclusions of the rules, (b, r) each; a rule that says nothing about the output has the share 0."""

    shares: Array
    conclusions: Array


def log_cuts(rules: MamdaniRuleSet, log_firing: Array, output: int) -> Array:
    """Return the log-memberships (b, r, c) of concluded sets, cut off or scaled by the strengths of their rules.

    Examples
    --------
    >>> from fuzzymil.rules import MamdaniRules
    >>> text = "VARIABLE x: any = Ramp(0, 1) OUTPUT y FROM 0 TO 4: all = Rectangle(0, 9) IF x is any THEN y is all"
    >>> np.exp(log_cuts(MamdaniRules.parse(text, resolution=2), np.log([[0.5]]), 0)).tolist()
    [[[0.5, 0.5]]]
    """
    values, strengths = rules.values(output), rules.strengths(log_firing, output)
    found = np.full((*log_firing.shape, len(values)), -np.inf)
    terms = rules.outputs[output].terms
    for term, concluding in rules.rules_by_term(output).items():
        curve = terms[term].log_membership(values)
        for r in concluding:
            found[:, r] = limit_set(strengths[:, [r]], curve, rules.setting("implication", output))
    return found


def joined_set(rules: MamdaniRuleSet, log_firing: Array, output: int) -> tuple[Array, Array]:
    """Return the joined sets (b, c), and the logarithm of their units (b, 1); see `join_sets`.

    Examples
    --------
    >>> from fuzzymil.rules import MamdaniRules
    >>> text = "VARIABLE x: any = Ramp(0, 1) OUTPUT y FROM 0 TO 4: all = Rectangle(0, 9) IF x is any THEN y is all"
    >>> membership, log_unit = joined_set(MamdaniRules.parse(text, resolution=2), np.log([[0.5]]), 0)
    >>> membership.tolist(), np.exp(log_unit).tolist()
    ([[1.0, 1.0]], [[0.5]])
    """
    log_degrees, log_mu = rules.concluded_sets(log_firing, output)
    if not len(log_mu):  # no rule says anything about the output
        return np.zeros((len(log_firing), len(rules.values(output)))), np.full((len(log_firing), 1), -np.inf)
    membership, log_unit = join_sets(
        log_degrees, log_mu, rules.setting("implication", output), rules.setting("accumulation", output)
    )
    return np.asarray(membership), np.asarray(log_unit)


def shares(rules: MamdaniRuleSet, log_firing: Array, output: int, numbers: Mapping[str, Array] | None = None) -> Shares:
    """Return the share and the conclusion of each rule for each bag; ``numbers`` are those of terms with formulas.

    Examples
    --------
    >>> from fuzzymil.rules import MamdaniRules
    >>> text = "VARIABLE x: any = Ramp(0, 1) OUTPUT y FROM 0 TO 4: all = Rectangle(0, 9) IF x is any THEN y is all"
    >>> shares(MamdaniRules.parse(text), np.log([[0.5]]), 0).conclusions.round(6).tolist()
    [[2.0]]
    """
    n_bags, n_rules = log_firing.shape
    if rules.setting("defuzzify", output) in WEIGHTED:
        return _of_numbers(rules, log_firing, output, numbers or {})
    size = max(_CHUNK_VALUES // (n_rules * len(rules.values(output))), 1)
    parts = [_of_sets(rules, log_firing[start : start + size], output) for start in range(0, n_bags, size)]
    return Shares(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _of_sets(rules: MamdaniRuleSet, log_firing: Array, output: int) -> Shares:
    values = rules.values(output)
    membership, log_unit = joined_set(rules, log_firing, output)
    unit = np.where(np.isneginf(log_unit), 0.0, log_unit)[:, :, None]
    cuts = np.exp(log_cuts(rules, log_firing, output) - unit)  # relative, so that tiny strengths count
    counted = _counted(rules.setting("defuzzify", output), membership)  # (b, c)
    if rules.setting("accumulation", output) == "max":
        own = (cuts == cuts.max(axis=1, keepdims=True)) & (cuts > 0)
    else:
        own = cuts
    total = own.sum(axis=1, keepdims=True)
    part = np.where(total > 0, own / np.where(total > 0, total, 1.0), 0.0) * counted[:, None, :]
    areas = part.sum(axis=2)
    whole = counted.sum(axis=1, keepdims=True)
    centers = _centers(part, values)
    # A rule that is covered by others, or does not fire, still says something.
    centers = np.where(areas > 0, centers, np.where(cuts.any(axis=2), _centers(cuts, values), _typical(rules, output)))
    return Shares(np.where(whole > 0, areas / np.where(whole > 0, whole, 1.0), 0.0), centers)


def _counted(method: str, membership: Array) -> Array:
    """Return how much each value counts in the answer, (b, c)."""
    if method in ("centroid", "bisector"):
        return membership
    highest = (membership == membership.max(axis=1, keepdims=True)) & (membership > 0)
    if method == "mom":
        return np.asarray(highest.astype(float))
    first = highest.argmax(axis=1) if method == "som" else highest.shape[1] - 1 - highest[:, ::-1].argmax(axis=1)
    return np.asarray(highest & (np.arange(highest.shape[1]) == first[:, None])).astype(float)


def _centers(membership: Array, values: Array) -> Array:
    """Return the centers of sets, (b, r); 0 for empty ones."""
    area = membership.sum(axis=2)
    return np.asarray((membership * values).sum(axis=2) / np.where(area > 0, area, 1.0))


def _typical(rules: MamdaniRuleSet, output: int) -> Array:
    """Return the center of the term that each rule concludes, (r,); NaN if it says nothing about the output."""
    found = np.full(rules.n_rules, np.nan)
    for r, number in typical_numbers(rules, output).items():
        found[r] = number
    return found


def typical_numbers(rules: MamdaniRuleSet, output: int) -> dict[int, float]:
    """Return the number that stands for the conclusion of each rule that says something about an output.

    This is the center of the concluded term within the range of the output; of a weighted average, the number of the
    term at full strength.
    """
    found: dict[int, float] = {}
    variable = rules.outputs[output]
    for term, concluding in rules.rules_by_term(output).items():
        chosen = variable.terms[term]
        if rules.setting("defuzzify", output) in WEIGHTED:
            inverse = chosen.inverse(1.0)
            number = rules.default[output] if inverse is None else float(inverse)  # a formula has no number of its own
        else:
            values = rules.values(output)
            mu = chosen(values)
            number = float((mu * values).sum() / mu.sum()) if mu.any() else float(chosen.peak(*chosen.parameters))
        found |= dict.fromkeys(concluding, number)
    return found


def _of_numbers(rules: MamdaniRuleSet, log_firing: Array, output: int, formulas: Mapping[str, Array]) -> Shares:
    """Return the shares in a weighted average or sum; rules of one term share its weight by their strengths."""
    strengths = rules.strengths(log_firing, output)
    terms, accumulation = rules.outputs[output].terms, rules.setting("accumulation", output)
    found, numbers = np.zeros(log_firing.shape), np.tile(_typical(rules, output), (len(log_firing), 1))
    for term, concluding in rules.rules_by_term(output).items():
        if concluding:
            weight = np.exp(together(strengths[:, concluding], accumulation))
            own = np.exp(strengths[:, concluding])
            total = own.sum(axis=1, keepdims=True)
            found[:, concluding] = weight[:, None] * own / np.where(total > 0, total, 1.0)
            inverse = formulas[term] if term in formulas else terms[term].inverse(weight)
            assert inverse is not None  # checked when the rules were made
            numbers[:, concluding] = np.where(weight > 0, inverse, numbers[0, concluding[0]])[:, None]
    if rules.setting("defuzzify", output) == "average":
        whole = found.sum(axis=1, keepdims=True)
        found = np.where(whole > 0, found / np.where(whole > 0, whole, 1.0), 0.0)
    return Shares(found, numbers)
