"""Facts about rules that figures show: conclusions, influence, and how much conditions restrict features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described, known_name
from fuzzymil.bags import Bags
from fuzzymil.estimators import ExplainableModel
from fuzzymil.network.premises import hedged
from fuzzymil.rules import RuleBase
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.premise import negations


def rules_of(model: Any) -> RuleBase:
    """Return a rule base, or the rule base of a model: ``rules_`` or ``rule_base``."""
    for found in (model, getattr(model, "rules_", None), getattr(model, "rule_base", None)):
        if isinstance(found, RuleBase):
            return found
    raise ParameterError(f"Expected a RuleBase or a fitted model with rules, got {described(model)}.")


def position(what: str, wanted: Any, known: Sequence[str]) -> int:
    """Return the position of a feature or output, given by name or position.

    Examples
    --------
    >>> position("feature", "size", ["hue", "size"]), position("output", 0, ["sky"])
    (1, 0)
    """
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if not 0 <= wanted < len(known):
            raise ParameterError(f"There is no {what} {wanted}: expected 0 to {len(known) - 1}.")
        return int(wanted)
    known_name(what, wanted, known)
    return known.index(wanted)


def conclusions(rules: RuleBase) -> Array:
    """Return the conclusion of each rule at its own center, shape (n_rules, n_outputs).

    A linear conclusion is evaluated where the memberships are greatest; features without a condition are at the
    middle of their range.

    Examples
    --------
    >>> linear = RuleBase.from_arrays([[2.0]], [[1.0]], [[[1.0, 3.0]]])
    >>> conclusions(linear).tolist()
    [[7.0]]
    """
    coefs = rules.coefs
    if coefs.shape[2] == 1:
        return np.asarray(coefs[:, :, 0])
    middle = [sum(span(variable)) / 2 for variable in rules.variables]
    at = np.where(np.isnan(rules.centers), middle, rules.centers)
    return np.asarray(coefs[:, :, 0] + np.einsum("rkd,rd->rk", coefs[:, :, 1:], at))


def border(model: Any, said: Array) -> float:
    """Return the conclusion above which a rule counts as high.

    This is the threshold of a binary classifier, otherwise the mean of the conclusions ``said`` (n_rules,).
    """
    if isinstance(model, ExplainableModel) and len(getattr(model, "classes_", ())) == 2:
        return float(model._reading().threshold)
    return float(said.mean())


def influences(rules: RuleBase) -> Array:
    """Return how far each rule can move the output, shape (n_rules,), from 0 to its weight.

    This is the distance of its conclusion from the mean conclusion, relative to the range of all conclusions and for
    the output where it is greatest, times the weight of the rule. If all conclusions are equal, it is the weight.
    """
    found = conclusions(rules)
    weights = np.array([rule.weight for rule in rules.rules])
    ranges = np.ptp(found, axis=0)
    if not ranges.any():
        return weights
    differs = ranges > 0
    away = np.abs(found - found.mean(axis=0))[:, differs] / ranges[differs]
    return np.asarray(weights * away.max(axis=1))


def conditions_about(rules: RuleBase, r: int, d: int, x: npt.ArrayLike) -> Iterator[Array]:
    """Yield, for each condition of rule ``r`` on feature ``d``, the degrees to which values ``x`` satisfy it.

    Hedges and a NOT around the condition are taken into account.
    """
    rule, variable = rules.rules[r], rules.variables[d]
    for condition, negated in zip(rule.conditions, negations(rule.premise), strict=True):
        if condition.variable == variable.name:
            hedges = ("not", *condition.hedges) if negated else condition.hedges
            yield hedged(variable.terms[condition.term], hedges, x)


def restrictions(rules: RuleBase, seen: Bags | None = None, *, n_points: int = 201) -> Array:
    """Return how much each rule restricts each feature, shape (n_rules, n_features), from 0 to 1.

    This is 1 minus the mean degree to which values satisfy the rule's condition: the known values of the ``seen``
    instances (see `fuzzymil.rules.inference.seen_bags`) or, without bags, ``n_points`` over the feature's range. It is
    0 for a feature without a condition, and near 1 for a condition that hardly any value satisfies. Of several
    conditions on a feature, the most restrictive counts.
    """
    found = np.zeros((rules.n_rules, rules.n_features))
    for d, variable in enumerate(rules.variables):
        values = np.linspace(*span(variable), n_points) if seen is None else seen.instances[:, d]
        values = values[~np.isnan(values)]
        if not len(values):  # all are missing, and a missing value satisfies every condition
            continue
        for r in range(rules.n_rules):
            left = [float(degrees.mean()) for degrees in conditions_about(rules, r, d, values)]
            found[r, d] = 1 - min(left, default=1.0)
    return found
