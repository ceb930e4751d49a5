"""Candidates about categories, and about missing values: crisp conditions.

A feature is a category, is not that category, or is one of two. Its value is missing, or is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.learn.choose._gaps import IGNORED, Gaps, gaps_in
from fuzzymil.learn.choose._premises import Condition, Gone, OneOf, Part, Premise

__all__ = ["crisp_conditions", "crisp_statements", "numeric_features", "satisfied"]

_MOST_FOR_PAIRS = 8  # categories, of which any two may be joined: more pairs would be chosen by chance
_LEAST_SHARE = 0.002  # of the instances, which a category must have to be worth a condition


def numeric_features(bags: Bags) -> list[int]:
    """Return the positions of the features that are not categories."""
    if bags.columns is None:
        return list(range(bags.n_features))
    return np.flatnonzero(~bags.columns.categorical).tolist()


def crisp_conditions(bags: Bags, gaps: Gaps = IGNORED) -> list[Condition]:
    """Return conditions on the features that are categories, and on missing values."""
    found = []
    if gaps.asked:
        share = np.isnan(bags.instances).mean(axis=0)
        for d in np.flatnonzero((share > _LEAST_SHARE) & (share < 1 - _LEAST_SHARE)).tolist():
            found += [Condition(d, Gone()), Condition(d, Gone(negated=True))]
    for d, column in enumerate(bags.columns or ()):
        if not column.categories:
            continue
        values = bags.instances[:, d]
        counts = [np.sum(values == code) for code in range(len(column.categories))]
        present = [code for code, count in enumerate(counts) if count > _LEAST_SHARE * len(values)]
        if len(present) < 2:
            continue
        sets = [OneOf((code,)) for code in present]
        if len(present) > 2:  # of two, not being one is being the other
            sets += [OneOf((code,), negated=True) for code in present]
        if 3 < len(present) <= _MOST_FOR_PAIRS:
            sets += [OneOf(pair) for pair in itertools.combinations(present, 2)]
        found += [Condition(d, chosen) for chosen in sets]
    return found


def satisfied(conditions: Sequence[Condition], instances: Array) -> Array:
    """Return whether each instance satisfies each crisp condition, (i, n); a missing category is any category."""
    found = np.empty((len(instances), len(conditions)), bool)
    for n, (feature, chosen) in enumerate(conditions):
        assert isinstance(chosen, OneOf | Gone)
        found[:, n] = chosen.holds(instances[:, feature])
    return found


def degrees_of_gaps(conditions: Sequence[Condition], gaps: Gaps) -> Array:
    """Return to which degree a missing value satisfies each crisp condition, (n,)."""
    found = np.ones(len(conditions))
    for n, (feature, chosen) in enumerate(conditions):
        if isinstance(chosen, Gone):
            found[n] = not chosen.negated
        elif isinstance(chosen, OneOf) and gaps.values is not None:
            found[n] = chosen.holds(gaps.values[:, feature]).mean()
    return found


def crisp_statements(
    bags: Bags, counts: Sequence[int] = (), *, average: bool = False, gaps: Gaps = IGNORED
) -> tuple[Array, list[Premise]]:
    """Return how true crisp statements are in each bag, (b, p), and the statements.

    Parameters
    ----------
    bags : Bags
    counts : sequence of int
        At least so many instances: 1 is SOME.
    average : bool
        Also, the share of the instances.
    gaps : Gaps
        What missing values mean.
    """
    conditions = crisp_conditions(bags, gaps)
    if not conditions:
        return np.empty((bags.n_bags, 0)), []
    of_gap = degrees_of_gaps(conditions, gaps)
    features = [condition.feature for condition in conditions]
    sure = satisfied(conditions, bags.instances) & ~np.isnan(bags.instances[:, features])
    number = np.add.reduceat(sure.astype(float), bags.offsets[:-1], axis=0)
    unsure = gaps_in(bags)[:, features]
    columns, premises = [], []
    for count in counts:
        quantifier, nth = ("some", None) if count == 1 else ("at least", count)
        columns.append(np.where(number >= count, 1.0, np.where(number + unsure >= count, of_gap, 0.0)))
        premises += [(Part(quantifier, nth, (condition,)),) for condition in conditions]
    if average:
        columns.append((number + unsure * of_gap) / bags.sizes[:, None])
        premises += [(Part("on average", None, (condition,)),) for condition in conditions]
    together = np.concatenate(columns, axis=1)
    varies = np.flatnonzero(together.min(axis=0) < together.max(axis=0))
    return together[:, varies], [premises[place] for place in varies]
