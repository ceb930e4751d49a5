"""Merging rules that say nearly the same, and sets that are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.learn.choose._premises import Condition, Gone, OneOf, Part, Premise
from fuzzymil.rules.editing.comparison import similarities

__all__ = ["merged", "with_shared_sets"]

_ONE_SET = 0.95  # similarity above which two sets of a feature become one


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
    groups: dict[object, list[list[int]]] = {}
    for number in np.argsort(-np.abs(coefs).sum(axis=1), kind="stable"):
        premise = premises[number]
        alike = tuple((part.quantifier, part.number, tuple(map(_direction, part.conditions))) for part in premise)
        others = groups.setdefault((alike, tuple(np.sign(coefs[number]))), [])
        joined = next((members for members in others if _overlap(premise, premises[members[0]])), None)
        if joined is None:
            others.append([int(number)])
        else:
            joined.append(int(number))
    together = [sorted(members) for others in groups.values() for members in others]
    found = []
    for members in together:
        share = np.abs(coefs[members]).sum(axis=1)
        found.append(_mean([premises[number] for number in members], share / share.sum()))
    return found, np.array([coefs[members].sum(axis=0) for members in together]).reshape(-1, coefs.shape[1])


def with_shared_sets(premises: Sequence[Premise], bags: Bags) -> list[Premise]:
    """Return premises in which sets of a feature that are nearly equal are one, so that they have one name.

    Premises that only such sets tell apart keep them: what lies between is what they are about.

    Parameters
    ----------
    premises : sequence of Premise
    bags : Bags
        The sets are compared over the range of their values.
    """
    found = list(premises)
    sets: dict[int, dict[MembershipFunction, None]] = {}
    for condition in (each for premise in premises for part in premise for each in part.conditions):
        if not isinstance(condition.set, OneOf | Gone):
            sets.setdefault(condition.feature, {})[condition.set] = None
    for feature, own in sets.items():
        for alike in _nearly_equal(list(own), bags.instances[:, feature]) if len(own) > 1 else ():
            one = _mean_set(
                alike[0], np.array([each.parameters for each in alike]), np.full(len(alike), 1 / len(alike))
            )
            shared = [_replaced(premise, feature, alike, one) for premise in found]
            if len(set(shared)) == len(set(found)):
                found = shared
    return found


def _nearly_equal(sets: list[MembershipFunction], values: Array) -> list[list[MembershipFunction]]:
    """Return the sets, of several in a group, that are all nearly equal."""
    known = values[~np.isnan(values)]
    alike = similarities(sets, float(known.min()), float(known.max())) > _ONE_SET
    groups: list[list[int]] = []
    for n in range(len(sets)):
        group = next((members for members in groups if alike[n, members].all()), None)
        if group is None:
            groups.append([n])
        else:
            group.append(n)
    return [[sets[n] for n in members] for members in groups if len(members) > 1]


def _replaced(premise: Premise, feature: int, alike: Sequence[MembershipFunction], one: MembershipFunction) -> Premise:
    def replaced(condition: Condition) -> Condition:
        meant = condition.feature == feature and condition.set in alike
        return Condition(feature, one) if meant else condition

    return tuple(Part(part.quantifier, part.number, tuple(map(replaced, part.conditions))) for part in premise)


def _direction(condition: Condition) -> tuple[int, object, bool]:
    if isinstance(condition.set, OneOf | Gone):
        return condition.feature, condition.set, True
    return condition.feature, type(condition.set), condition.set.parameters[-1] > 0


def _overlap(premise: Premise, other: Premise) -> bool:
    """Return whether bounded sets are centered inside each other; half-open ones always overlap."""
    pairs = [
        (one.set.parameters, two.set.parameters)
        for part, same in zip(premise, other, strict=True)
        for one, two in zip(part.conditions, same.conditions, strict=True)
        if isinstance(one.set, Bell) and isinstance(two.set, Bell)
    ]
    return all(abs(one[0] - two[0]) <= min(one[1], two[1]) for one, two in pairs)


def _mean(premises: list[Premise], share: Array) -> Premise:
    parts = []
    for p, part in enumerate(premises[0]):
        conditions = []
        for c, condition in enumerate(part.conditions):
            if isinstance(condition.set, OneOf | Gone):
                conditions.append(condition)
                continue
            alike = [premise[p].conditions[c].set for premise in premises]
            sets = np.array([chosen.parameters for chosen in alike if not isinstance(chosen, OneOf | Gone)])
            conditions.append(Condition(condition.feature, _mean_set(condition.set, sets, share)))
        parts.append(Part(part.quantifier, part.number, tuple(conditions)))
    return tuple(parts)


def _mean_set(like: MembershipFunction, sets: Array, share: Array) -> MembershipFunction:
    if isinstance(like, Sigmoid):
        center = float(share @ sets[:, 0])
        # A sigmoid is a distribution of thresholds, whose variances add up.
        soft = np.sqrt(share @ (1 / np.square(sets[:, 1])) + 3 / np.pi**2 * (share @ np.square(sets[:, 0] - center)))
        return Sigmoid(center, float(np.sign(sets[0, 1]) / soft))
    return Bell(*(float(value) for value in share @ sets))
