"""Measuring importance: features are shuffled, rules are switched off.

A feature's values are shuffled over the instances of all bags, so that they say nothing about a bag, or about the
instance's other values; if all instances of a bag share one value, it is shuffled over the bags instead. A rule is
switched off. The importance is the drop in the score on the same bags.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.explain._importance import FeatureImportance, Importance, RuleImportance, ordered
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.words import in_short
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import infer_output

Score = Callable[[Array, Array], float]
"""Scores the output (n_bags, n_outputs) for the bags at some positions (n,), which may repeat."""


def importance(
    members: Sequence[RuleBase],
    bags: Bags,
    score: Score,
    *,
    score_name: str = "score",
    groups: Array | None = None,
    n_repeats: int = 20,
    n_training: int | None = None,
    rng: np.random.Generator | None = None,
) -> Importance:
    """Measure how much features and rules matter; ``model.importance`` calls this.

    Parameters
    ----------
    members : sequence of RuleBase
        Whose outputs are averaged.
    bags : Bags
        With the features of the rules, in their order.
    score : callable
        Maps the output (n_bags, n_outputs) and positions of bags to a number; greater is better.
    score_name : str
    groups : array of int of shape (n_bags,), optional
        Classes, from each of which as many bags are drawn as it has.
    n_repeats, n_training : int
        See `Importance`.
    rng : numpy Generator, optional

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> bags, truth = Bags.from_list([[[0.0]], [[1.0]], [[0.1]], [[0.9]]]), np.array([0, 1, 0, 1])
    >>> right = lambda output, rows: float(((output[rows, 0] > 0.5) == truth[rows]).mean())
    >>> found = importance([rules], bags, right, rng=np.random.default_rng(0))
    >>> found.score, found.features[0].drop > 0.3, found.rules[0].drop
    (1.0, True, 0.5)
    """
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, int) or n_repeats < 1:
        raise ParameterError(f"n_repeats must be an integer of at least 1, got {n_repeats!r}.")
    rng = np.random.default_rng(0) if rng is None else rng
    everything = np.arange(bags.n_bags)
    draws = [_drawn(everything, groups, rng) for _ in range(n_repeats)]
    # All features are shuffled in the same ways, so that their drops differ by what they say and not by chance.
    shuffles = [(rng.permutation(bags.n_instances), rng.permutation(bags.n_bags)) for _ in range(n_repeats)]
    own = outputs_of(members, bags)
    whole, on_draws = score(own, everything), np.array([score(own, rows) for rows in draws])

    def spread(drops: Array) -> float:
        return float(drops.std(ddof=1)) if len(drops) > 1 else 0.0

    used = set(used_features(members))
    features = []
    for d, name in enumerate(members[0].feature_names):
        if d not in used:
            features.append(FeatureImportance(name, 0.0, 0.0, used=False))
            continue
        found = [outputs_of(members, _shuffled(bags, d, *orders)) for orders in shuffles]
        drops = np.array([whole - score(output, everything) for output in found])
        varied = np.array(
            [before - score(output, rows) for before, output, rows in zip(on_draws, found, draws, strict=True)]
        )
        features.append(FeatureImportance(name, float(drops.mean()), spread(varied), used=True))
    rules = []
    for m, r in _places(members):
        output = outputs_of(_without(members, m, r), bags)
        varied = on_draws - [score(output, rows) for rows in draws]
        base = members[m]
        name = base.name_of(r) if len(members) == 1 else f"{base.name_of(r)} of member {m + 1}"
        drop = whole - score(output, everything)
        rules.append(RuleImportance(name, in_short(base.rules[r].premise), float(drop), spread(varied), m, r))
    return Importance(
        score_name=score_name,
        score=float(whole),
        features=ordered(features),
        rules=tuple(sorted(rules, key=lambda each: -each.drop)),
        n_bags=bags.n_bags,
        n_repeats=n_repeats,
        n_training=n_training,
    )


def outputs_of(members: Iterable[RuleBase], bags: Bags) -> Array:
    """Return the mean output (n_bags, n_outputs) of rule bases.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> outputs_of([rules, rules.edit(conclusions={2: 3})], Bags.from_list([[[1.0]]])).round(2).tolist()
    [[1.99]]
    """
    return np.asarray(np.mean([infer_output(rules, bags) for rules in members], axis=0))


def _drawn(everything: Array, groups: Array | None, rng: np.random.Generator) -> Array:
    """Return as many positions as there are, drawn with replacement within each group."""
    if groups is None:
        return np.asarray(rng.choice(everything, len(everything)))
    own = [everything[groups == group] for group in np.unique(groups)]
    return np.concatenate([rng.choice(rows, len(rows)) for rows in own])


def _shuffled(bags: Bags, d: int, of_instances: Array, of_bags: Array) -> Bags:
    """Return bags with a feature's values shuffled over all instances, or over bags if each has a single value."""
    values = bags.instances[:, d]
    first = values[bags.offsets[:-1]]
    repeated = np.repeat(first, bags.sizes)
    if bags.n_instances > bags.n_bags and np.array_equal(values, repeated, equal_nan=True):
        values = np.repeat(first[of_bags], bags.sizes)
    else:
        values = values[of_instances]
    return with_values(bags, d, values)


def with_values(bags: Bags, d: int, values: Any) -> Bags:
    """Return bags with other values of one feature."""
    instances = np.array(bags.instances, float)
    instances[:, d] = values
    return Bags(instances, bags.offsets, feature_names=bags.feature_names, columns=bags.columns)


def _places(members: Sequence[RuleBase]) -> list[tuple[int, int]]:
    return [(m, r) for m, base in enumerate(members) for r in range(base.n_rules)]


def _without(members: Sequence[RuleBase], m: int, r: int) -> list[RuleBase]:
    """Return the members with a rule switched off: its weight is 0."""
    base = members[m]
    rules = tuple(
        dataclasses.replace(rule, weight=0.0) if place == r else rule for place, rule in enumerate(base.rules)
    )
    off = dataclasses.replace(base, rules=rules)
    return [off if place == m else each for place, each in enumerate(members)]
