"""Similarity of fuzzy sets and rules, and degrees of conditions on data, shared by simplify and diagnose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.activations import Activations
from fuzzymil.inference.membership import MembershipFunction, Missing
from fuzzymil.inference.premises import hedged
from fuzzymil.rules.editing._edit import can_blend
from fuzzymil.rules.premise import Is, Quantified, plain_conditions, premise_key
from fuzzymil.rules.rule import Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_GRID = np.linspace(0.0, 1.0, 201)  # over the range
_AWAY = np.concatenate([np.linspace(0.0, 4.0, 21), np.geomspace(4.5, 1e6, 30)])
_NEAR = np.concatenate([-_AWAY, _AWAY])  # around each set, in spreads: sets can be far narrower than the grid


def span(variable: Variable, values: Array | None = None) -> tuple[float, float]:
    """Return the range over which sets of a variable are compared.

    This is its own range, extended to include the values; without either, three spreads around its sets.
    """
    known = np.array([v for v in (variable.low, variable.high) if v is not None])
    if values is not None:
        known = np.concatenate([known, values[~np.isnan(values)]])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if low < high or not variable.terms:
        return low, high
    places = [(float(s.peak(*s.parameters)), float(s.spread(*s.parameters))) for s in variable.terms.values()]
    return min(c - 3 * s for c, s in places), max(c + 3 * s for c, s in places)


def similarities(sets: Sequence[MembershipFunction], low: float, high: float) -> Array:
    """Return the similarity of each pair of sets, shape (n, n): the area of the intersection over that of the union.

    It is 1 for equal sets, and 0 for disjoint sets and for sets that cannot be merged (of different families).
    Areas are computed from ``low`` to ``high``.
    """
    near = [float(s.peak(*s.parameters)) + float(s.spread(*s.parameters)) * _NEAR for s in sets]
    points = np.sort(np.clip(np.concatenate([low + (high - low) * _GRID, *near]), low, high))
    mu = np.stack([chosen(points) for chosen in sets])
    found = np.eye(len(sets))
    for a, b in itertools.combinations(range(len(sets)), 2):
        both, either = (np.trapezoid(join(mu[a], mu[b]), points) for join in (np.minimum, np.maximum))
        alike = both / either if either > 0 and can_blend([sets[a], sets[b]]) else 0.0
        found[a, b] = found[b, a] = 1.0 if sets[a] == sets[b] else alike
    return found


def rule_similarities(base: RuleBase) -> Array:
    """Return the similarity of each pair of rules, shape (n_rules, n_rules): the minimum over their sets.

    It is 0 for rules with conditions on different variables or with different quantifiers, and for premises that
    differ and are not plain conjunctions.
    """
    premises = [rule.premise for rule in base.rules]
    quantifiers = [(p.quantifier, p.count) if isinstance(p, Quantified) else None for p in premises]
    asked = [plain_conditions(p.part if isinstance(p, Quantified) else p) or {} for p in premises]
    about = [(quantifier, frozenset(conditions)) for quantifier, conditions in zip(quantifiers, asked, strict=True)]
    found = np.array([[float(bool(mine[1]) and mine == yours) for yours in about] for mine in about])
    for variable in base.variables:
        asking = [r for r, conditions in enumerate(asked) if variable.name in conditions]
        if len(asking) > 1:
            sets = [variable.terms[asked[r][variable.name]] for r in asking]
            pairs = np.ix_(asking, asking)
            found[pairs] = np.minimum(found[pairs], similarities(sets, *span(variable)))
    keys = list(map(premise_key, premises))
    return np.where([[mine == yours for yours in keys] for mine in keys], 1.0, found)


def shares(found: Activations, *, normalize: bool) -> Array:
    """Return how much each rule counts for each bag, shape (n_bags, n_rules).

    This is its normalized strength or, for additive rules, the greatest part of an output's range that it adds.
    """
    if normalize:
        return found.normalized
    spread = np.ptp(found.output, axis=0)
    added = np.abs(found.normalized[:, :, None] * found.rule_outputs)
    return np.asarray((added / np.where(spread > 0, spread, 1.0)).max(axis=2))


class Asked(NamedTuple):
    """A condition of a rule, and the lowest and highest degree to which values satisfy it."""

    rule: int  # counted from 1
    condition: Is
    least: float
    greatest: float


def conditions_on(base: RuleBase, seen: Bags | None) -> Iterator[Asked]:
    """Iterate over the conditions of all rules with their degrees on the bags, or without bags on the range.

    Missing values are ignored, unless it is asked for them; a condition on values that are all missing is always true,
    as in inference.
    """
    for d, variable in enumerate(base.variables):
        low, high = span(variable)
        values = low + (high - low) * _GRID if seen is None else seen.instances[:, d]
        known = ~np.isnan(values)
        for r, rule in enumerate(base.rules, start=1):
            for condition in rule.conditions:
                if condition.variable == variable.name:
                    mu = hedged(variable.terms[condition.term], condition.hedges, values)
                    if not isinstance(variable.terms[condition.term], Missing):
                        mu = mu[known]
                    elif seen is None:  # a range says nothing about missing values
                        mu = np.array([0.0, 1.0])
                    yield Asked(r, condition, *((float(mu.min()), float(mu.max())) if len(mu) else (1.0, 1.0)))
