"""Merging rules that say nearly the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.selection._premises import Condition, Part, Premise

__all__ = ["merged"]


def merged(premises: Sequence[Premise], coefs: Array) -> tuple[list[Premise], Array]:
    """Join rules with the same quantifiers and features, and conclusions of the same sign.

    Neighboring thresholds become one, between them and as soft as they were apart; conclusions are added up.

    Parameters
    ----------
    premises : sequence of Premise
    coefs : array of shape (r, k)

    Returns
    -------
    premises : list of Premise
    coefs : array of shape (r, k)
    """
    groups: dict[object, list[int]] = {}
    for number, premise in enumerate(premises):
        alike = tuple((part.quantifier, part.count, tuple(map(_direction, part.conditions))) for part in premise)
        groups.setdefault((alike, tuple(np.sign(coefs[number]))), []).append(number)
    found = []
    for members in groups.values():
        share = np.abs(coefs[members]).sum(axis=1)
        found.append(_mean([premises[number] for number in members], share / share.sum()))
    return found, np.array([coefs[members].sum(axis=0) for members in groups.values()]).reshape(-1, coefs.shape[1])


def _direction(condition: Condition) -> tuple[int, type, bool]:
    return condition.feature, type(condition.set), condition.set.parameters[-1] > 0


def _mean(premises: list[Premise], share: Array) -> Premise:
    parts = []
    for p, part in enumerate(premises[0]):
        conditions = []
        for c, condition in enumerate(part.conditions):
            sets = np.array([premise[p].conditions[c].set.parameters for premise in premises])
            conditions.append(Condition(condition.feature, _mean_set(condition.set, sets, share)))
        parts.append(Part(part.quantifier, part.count, tuple(conditions)))
    return tuple(parts)


def _mean_set(like: MembershipFunction, sets: Array, share: Array) -> MembershipFunction:
    if isinstance(like, Sigmoid):
        center = float(share @ sets[:, 0])
        # A sigmoid is a distribution of thresholds, whose variances add up.
        soft = np.sqrt(share @ (1 / np.square(sets[:, 1])) + 3 / np.pi**2 * (share @ np.square(sets[:, 0] - center)))
        return Sigmoid(center, float(np.sign(sets[0, 1]) / soft))
    return Bell(*(float(value) for value in share @ sets))
