"""Candidates about categories: a feature is one of them, is not one of them, or is one of two."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.selection._premises import Condition, OneOf, Part, Premise

__all__ = ["categorical_conditions", "categorical_statements", "numeric_features", "satisfied"]

_MOST_FOR_PAIRS = 8  # categories, of which any two may be joined: more pairs would be chosen by chance
_LEAST_SHARE = 0.002  # of the instances, which a category must have to be worth a condition


def numeric_features(bags: Bags) -> list[int]:
    """Return the positions of the features that are not categories."""
    if bags.columns is None:
        return list(range(bags.n_features))
    return np.flatnonzero(~bags.columns.categorical).tolist()


def categorical_conditions(bags: Bags) -> list[Condition]:
    """Return conditions on the features that are categories."""
    found = []
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
    """Return whether each instance satisfies each condition on a category, (i, n); a missing value satisfies all."""
    found = np.empty((len(instances), len(conditions)), bool)
    for n, (feature, chosen) in enumerate(conditions):
        assert isinstance(chosen, OneOf)
        found[:, n] = chosen.holds(instances[:, feature])
    return found


def categorical_statements(
    bags: Bags, counts: Sequence[int] = (), *, average: bool = False
) -> tuple[Array, list[Premise]]:
    """Return how true statements about categories are in each bag, (b, p), and the statements.

    Parameters
    ----------
    bags : Bags
    counts : sequence of int
        At least so many instances: 1 is SOME.
    average : bool
        Also, the share of the instances.
    """
    conditions = categorical_conditions(bags)
    if not conditions:
        return np.empty((bags.n_bags, 0)), []
    number = np.add.reduceat(satisfied(conditions, bags.instances).astype(float), bags.offsets[:-1], axis=0)
    columns, premises = [], []
    for count in counts:
        quantifier, nth = ("some", None) if count == 1 else ("at least", count)
        columns.append((number >= count).astype(float))
        premises += [(Part(quantifier, nth, (condition,)),) for condition in conditions]
    if average:
        columns.append(number / bags.sizes[:, None])
        premises += [(Part("on average", None, (condition,)),) for condition in conditions]
    together = np.concatenate(columns, axis=1)
    varies = np.flatnonzero(together.min(axis=0) < together.max(axis=0))
    return together[:, varies], [premises[place] for place in varies]
