"""APR: an axis-parallel rectangle by iterated discrimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, InstanceScores, comparator
from fuzzymil.estimators.parameters import checked, real


class Rectangle(NamedTuple):
    """Bounds on some of the features."""

    features: Array  # (f,), positions of the bounded features
    lower: Array  # (f,)
    upper: Array  # (f,)
    spans: Array  # (f,), range of each in the training data: the unit of depth

    def depth(self, instances: Array) -> Array:
        """Return the depth (i,) of each instance inside the rectangle: the minimum over features, in their ranges."""
        values = instances[:, self.features]
        return np.asarray((np.minimum(values - self.lower, self.upper - values) / self.spans).min(axis=1))


def smallest_rectangle(positives: Bags) -> Array:
    """Choose an instance (n_bags,) of each bag, greedily, so that the sum of the sides of their rectangle is small.

    The first instance is the most central one. Then the instance that enlarges the rectangle least is added, from a bag
    that has none yet. After each addition, the choices in single bags are exchanged, the best exchange first, as long
    as the rectangle becomes smaller.
    """
    x, owner = positives.instances, positives.bag_index
    chosen = np.full(positives.n_bags, -1)  # -1: none yet
    first = _most_central(positives)
    chosen[owner[first]] = first
    while (chosen < 0).any():
        candidates = np.flatnonzero(chosen[owner] < 0)
        members = x[chosen[chosen >= 0]]
        best = candidates[np.argmin(_sizes(x[candidates], members.min(axis=0), members.max(axis=0)))]
        chosen[owner[best]] = best
        while _improve(chosen, x, owner):
            pass
    return chosen


def _most_central(positives: Bags) -> int:
    """Return the instance nearest to the center of the minimax rectangle, which every bag reaches into or across."""
    x, starts = positives.instances, positives.offsets[:-1]
    least_top = np.maximum.reduceat(x, starts).min(axis=0)
    greatest_bottom = np.minimum.reduceat(x, starts).max(axis=0)
    middle = (least_top + greatest_bottom) / 2
    return int(np.argmin(((x - middle) ** 2).sum(axis=1)))


def _sizes(candidates: Array, lower: Array, upper: Array) -> Array:
    """Return the size (c,) of the rectangle with bounds (d,) or (c, d) after adding each candidate (c, d)."""
    return np.asarray((np.maximum(candidates, upper) - np.minimum(candidates, lower)).sum(axis=1))


def _improve(chosen: Array, x: Array, owner: Array) -> bool:
    """Make the best exchange in a single bag, in place, and return whether it made the rectangle smaller."""
    bags = np.flatnonzero(chosen >= 0)
    members = x[chosen[bags]]
    ordered = np.sort(members, axis=0)
    lower = np.where(members == ordered[0], ordered[1], ordered[0])  # (b, d), bounds of all the others
    upper = np.where(members == ordered[-1], ordered[-2], ordered[-1])
    candidates = np.flatnonzero(chosen[owner] >= 0)
    place = np.searchsorted(bags, owner[candidates])
    sizes = _sizes(x[candidates], lower[place], upper[place])
    best = np.argmin(sizes)
    if sizes[best] >= (ordered[-1] - ordered[0]).sum():
        return False
    chosen[owner[candidates[best]]] = candidates[best]
    return True


def discriminating_features(lower: Array, upper: Array, negatives: Array, margin: float) -> Array:
    """Return the sorted features (n_chosen,) needed to exclude negative instances (n_instances, d) from a rectangle.

    A feature discriminates an instance if the instance lies more than ``margin`` beyond its bounds, or beyond them and
    farther than for any other feature. Features are chosen greedily by the number of remaining instances that they
    discriminate, until no feature discriminates any.
    """
    excess = np.maximum(lower - negatives, negatives - upper)
    farthest = excess.max(axis=1, keepdims=True)
    out_well = (excess > margin) | ((excess == farthest) & (farthest > 0))
    taken = []
    while out_well.any():
        feature = int(np.argmax(out_well.sum(axis=0)))
        taken.append(feature)
        out_well = out_well[~out_well[:, feature]]
    return np.array(sorted(taken), dtype=int)


def expand(values: Array, tau: float, epsilon: float) -> tuple[float, float]:
    """Return bounds that a new value from the same distribution violates with probability ``epsilon``.

    The density is estimated with Gaussian kernels, so wide that a kernel in the middle of the range has a share ``tau``
    of its mass inside the range. Half of ``epsilon`` lies beyond each bound. Bounds never move inwards.
    """
    low, high = float(values.min()), float(values.max())
    width = (high - low) / 2 / norm.ppf((1 + tau) / 2)
    if width == 0:
        return low, high
    beyond = width * norm.ppf(epsilon / 2)  # no kernel has more mass beyond this

    def too_much_below(bound: float) -> float:
        return float(norm.cdf((bound - values) / width).mean() - epsilon / 2)

    def too_much_above(bound: float) -> float:
        return float(norm.sf((bound - values) / width).mean() - epsilon / 2)

    if too_much_below(low) > 0:
        low = brentq(too_much_below, low + beyond, low)
    if too_much_above(high) > 0:
        high = brentq(too_much_above, high, high - beyond)
    return low, high


_INSIDE = real(low=0.0, high=1.0, open_low=True, open_high=True)


@comparator("APR", search_grid={"tau": [0.99, 0.999], "margin": [0.25, 0.5]}, fit_seconds=0.1)
@dataclass(eq=False, repr=False, kw_only=True)
class APR(InstanceScores):
    """APR: an axis-parallel rectangle that contains an instance of every positive bag and of no negative bag.

    Iterated discrimination: grow the smallest rectangle with an instance of each positive bag, keep only the features
    that exclude negative instances, and repeat on these until the features no longer change. Finally, expand the bounds
    by a kernel density estimate, since such a tight rectangle would miss new positive bags. A bag is positive if one of
    its instances lies inside.

    Parameters
    ----------
    tau : float
        Between 0 and 1. Higher values mean narrower kernels, and bounds that expand less.
    epsilon : float
        Between 0 and 1: probability, per feature, that an instance like those inside violates the bounds.
    margin : float
        Distance beyond a bound, in training ranges of the feature, from which a single feature is sufficient to
        exclude an instance.

    Attributes
    ----------
    rectangle_ : Rectangle
        ``features`` (n_chosen,), ``lower`` and ``upper`` (n_chosen,).

    Notes
    -----
    Differences from the original: it measures sides and the margin in Ångström (1, about a quarter of the range of a
    MUSK feature), here the unit is the range of each feature in the training data; choices of instances are revised in
    the order of gain, so the order of bags does not matter; scores are depths inside the rectangle.

    Source: T. G. Dietterich, R. H. Lathrop and T. Lozano-Pérez (1997), Solving the multiple instance problem with
    axis-parallel rectangles, Artificial Intelligence 89.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[0.2], [-4.0]], [[2.0]], [[-2.0], [7.0]]]
    >>> model = APR().fit(bags, [1, 1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    """

    tau: float = checked(_INSIDE, 0.999)
    epsilon: float = checked(_INSIDE, 0.01)
    margin: float = checked(real(low=0.0), 0.25)

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self.rectangle_ = self.rectangle_of(bags, positive)

    def rectangle_of(self, bags: Bags, positive: BoolArray) -> Rectangle:
        """Return the rectangle learned from some bags."""
        spans = np.ptp(bags.instances, axis=0)
        features = np.flatnonzero(spans > 0)
        if not len(features):
            raise InputError("All instances of all bags are equal: no rectangle can separate the bags.")
        positives, negatives = bags[positive], bags[~positive].instances
        while True:
            scaled = _on_unit_ranges(positives, features, spans)
            witnesses = scaled.instances[smallest_rectangle(scaled)]
            lower, upper = witnesses.min(axis=0), witnesses.max(axis=0)
            outside = negatives[:, features] / spans[features]
            needed = discriminating_features(lower, upper, outside, self.margin)
            if len(needed) in (0, len(features)):
                break
            features = features[needed]
        inside = ((scaled.instances >= lower) & (scaled.instances <= upper)).all(axis=1)
        values = positives.instances[inside][:, features]
        lower, upper = np.transpose([expand(column, self.tau, self.epsilon) for column in values.T])
        unit = spans[features]
        # The edge belongs to the rectangle, so its depth must be greater than 0.
        lower -= np.spacing(np.maximum(np.abs(lower), unit))
        upper += np.spacing(np.maximum(np.abs(upper), unit))
        return Rectangle(features, lower, upper, unit)

    def _decide_instances(self, bags: Bags) -> Array:
        return self.rectangle_.depth(bags.instances)


def _on_unit_ranges(bags: Bags, features: Array, spans: Array) -> Bags:
    return bags.map_instances(lambda x: x[:, features] / spans[features])
