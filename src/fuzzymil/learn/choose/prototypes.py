"""Prototypes: premises that compare an instance with a typical one in all features.

Short premises miss what only many features tell together, like the shape of a molecule. A prototype is an instance of
the bags with a wide Gaussian set around each of its values; it asks how much some instance of a bag, or its instances
on average, resemble that one. Values count only up to three standard deviations from the mean, because a single
outlier would make an instance unlike all others; so do those of the rule base that has prototypes (`limited`).

Axes: b bags, i instances, n prototypes, d features, t values that a missing one stands for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.engines.numpy import log_truth_of_gaussians
from fuzzymil.inference.membership import Gaussian
from fuzzymil.learn.choose.candidates import (
    IGNORED,
    Candidates,
    Condition,
    MissingValues,
    Part,
    Premise,
    chunks_of_bags,
    numeric_features,
)
from fuzzymil.learn.train.scaling import Scaling

_MOST = 500  # instances that become prototypes,
_FEWEST = 50  # and how many even where there are very many instances
_AFFORDABLE = 2_000_000_000  # numbers to compute
_FEWEST_FEATURES = 4  # fewer are covered by conjunctions
_WIDTH = 0.6  # standard deviations, times the root of the number of features: distances grow at that rate
_QUANTIFIERS = ("some", "on average")


def is_prototype(premise: Premise) -> bool:
    """Return whether a premise compares instances with a typical one."""
    return len(premise) == 1 and len(premise[0].conditions) >= _FEWEST_FEATURES


def prototypes(bags: Bags, scaling: Scaling, missing: MissingValues = IGNORED) -> Candidates | None:
    """Return prototypes, made from instances of as many bags as possible; None where there are too few features.

    ``scaling``: of the features; values count within its ranges.

    Examples
    --------
    >>> from fuzzymil.learn.train.scaling import Measures
    >>> bags = Bags.from_list(np.random.RandomState(0).normal(size=(10, 3, 5)))
    >>> found = prototypes(bags, Scaling.fit(Measures.of(bags.instances), standardize=True, clip=3.0))
    >>> found.columns.shape, len(found.premise(0)[0].conditions)
    ((10, 60), 5)
    """
    ranges = scaling.ranges
    used = np.intersect1d(numeric_features(bags), np.flatnonzero(scaling.varies))
    if len(used) < _FEWEST_FEATURES:
        return None
    affordable = _AFFORDABLE // (bags.n_instances * len(used))
    centers = bags.instances[np.ix_(_typical(bags, int(np.clip(affordable, _FEWEST, _MOST))), used)]
    centers = np.where(np.isnan(centers), scaling.shift[used], np.clip(centers, *ranges[used].T))
    widths = _WIDTH * np.sqrt(len(used)) * scaling.scale[used]

    def premise(number: int) -> Premise:
        quantifier, place = divmod(number, len(centers))
        sets = zip(used.tolist(), centers[place].tolist(), widths.tolist(), strict=True)
        return (Part(_QUANTIFIERS[quantifier], None, tuple(Condition(d, (Gaussian(*two),)) for d, *two in sets)),)

    each = _pooled(centers, np.tile(widths, (len(centers), 1)), used, bags, ranges, missing)
    return Candidates(np.asfortranarray(np.hstack(each), dtype=np.float32), premise)


def prototype_truths(premises: Sequence[Premise], bags: Bags, ranges: Array, missing: MissingValues = IGNORED) -> Array:
    """Return how true prototypes are in each bag, (b, n)."""
    used = np.array([condition.feature for condition in premises[0][0].conditions])
    sets = np.array([[each.sets[0].parameters for each in premise[0].conditions] for premise in premises])
    each = _pooled(sets[..., 0], sets[..., 1], used, bags, ranges, missing)
    is_mean = np.array([premise[0].quantifier == _QUANTIFIERS[1] for premise in premises])
    return np.where(is_mean, each[1], each[0])


def origin(premise: Premise, bags: Bags, ranges: Array) -> tuple[int, int] | None:
    """Return the bag and the instance in it that a prototype was made from; None if that had missing values."""
    used = np.array([condition.feature for condition in premise[0].conditions])
    center = [condition.sets[0].parameters[0] for condition in premise[0].conditions]
    rows = np.flatnonzero(np.clip(bags.instances[:, used[0]], *ranges[used[0]]) == center[0])
    rows = rows[np.all(np.clip(bags.instances[np.ix_(rows, used)], *ranges[used].T) == center, axis=1)]
    if not len(rows):
        return None
    bag = int(bags.bag_index[rows[0]])
    return bag, int(rows[0] - bags.offsets[bag])


def _typical(bags: Bags, count: int) -> Array:
    """Return the positions of about so many instances: as many of each bag as possible."""
    rng = np.random.RandomState(0)
    order = rng.permutation(bags.n_instances)
    order = order[np.argsort(bags.bag_index[order], kind="stable")]  # shuffled within each bag
    turn = np.arange(bags.n_instances) - np.repeat(bags.offsets[:-1], bags.sizes)
    return np.sort(order[np.lexsort((rng.rand(len(order)), turn))[:count]])


def _pooled(
    centers: Array, widths: Array, used: Array, bags: Bags, ranges: Array, missing: MissingValues
) -> tuple[Array, Array]:
    """Return the greatest and the mean truth of prototypes (n, d) in each bag, (b, n) each."""
    greatest, mean = np.empty((2, bags.n_bags, len(centers)))
    of_missing = np.zeros_like(centers)
    if missing.values is not None:
        away = (missing.values[:, None, used] - centers) / widths
        of_missing = np.log(np.mean(np.exp(-0.5 * np.square(away)), axis=0))
    for some in chunks_of_bags(bags, len(centers) + len(used)):
        part = bags[some]
        x = np.clip(part.instances[:, used], *ranges[used].T)
        unknown = np.isnan(x)
        if unknown.any():
            log_truth = log_truth_of_gaussians(np.where(unknown, 0.0, x), ~unknown * 1.0, centers, 1 / widths)
            log_truth += unknown @ of_missing.T
        else:
            log_truth = log_truth_of_gaussians(x, None, centers, 1 / widths)
        truth = np.exp(log_truth)
        greatest[some] = np.maximum.reduceat(truth, part.offsets[:-1], axis=0)
        mean[some] = np.add.reduceat(truth, part.offsets[:-1], axis=0) / part.sizes[:, None]
    return greatest, mean
