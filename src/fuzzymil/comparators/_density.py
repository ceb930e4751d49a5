"""Diverse density: how likely a point is to be the concept that positive bags share and negative bags lack.

An instance at scaled squared distance D from the point is in the concept with probability exp(-D). A positive bag
should have at least one instance in the concept (noisy-or), a negative bag none. Distances in the hundreds are common
in many dimensions, so everything is computed in logarithms to avoid underflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, above_zero, checks
from fuzzymil.estimators.parameters import integer

FAR = 40.0  # from this distance on, log(1 - exp(-D)) equals -exp(-D) to the last digit

CHECKS = checks(max_starts=integer(1), max_steps=integer(1), init_scale=above_zero)
"""Checks of the parameters of the search."""


class Concept(NamedTuple):
    """A point, one scale per feature, and their cost (the negative logarithm of the density)."""

    center: Array  # (d,)
    scales: Array  # (d,)
    cost: float

    def distances(self, instances: Array) -> Array:
        """Return the scaled squared distance (i,) of each instance from the point."""
        return np.asarray(((instances - self.center) ** 2) @ self.scales**2)


def noisy_or_loss(distances: Array, starts: Array, positive: BoolArray) -> tuple[float, Array]:
    """Return the negative log-likelihood of the labels ``positive`` (b,), and its derivative by the distances.

    ``distances`` (n_instances,) are scaled squared distances of the packed instances from the concept; ``starts``
    (n_bags,) holds the position of the first instance of each bag. The cost is infinite if an instance of a negative
    bag lies on the concept. The derivative (n_instances,) is 0 at distance 0, where the distance itself has zero
    gradient.

    Examples
    --------
    >>> cost, slopes = noisy_or_loss(np.array([0.7, 0.7, 2.0]), np.array([0, 2]), np.array([True, False]))
    >>> print(f"{np.exp(-cost):.4f}")  # (1 - (1 - exp(-0.7))²) (1 - exp(-2))
    0.6455
    """
    with np.errstate(divide="ignore"):  # log 0 = -inf is intended at distance 0
        near = np.minimum(distances, FAR)
        log_not = np.where(near < 1, np.log(-np.expm1(-near)), np.log1p(-np.exp(-near)))  # each accurate on its side
        log_miss = np.where(distances < FAR, np.log(-log_not), -distances)  # log(-log(1 - P)) of each instance
        log_misses = np.logaddexp.reduceat(log_miss, starts)  # log(-log(prod(1 - P))) of each bag
        likely = np.log(-np.expm1(-np.exp(np.maximum(log_misses, -FAR))))
    misses = np.exp(log_misses)
    log_hit = np.where(log_misses > -FAR, likely, log_misses)  # log(1 - prod(1 - P))
    cost = misses[~positive].sum() - log_hit[positive].sum()
    sizes = np.diff(np.append(starts, len(distances)))
    odds = np.repeat(np.where(positive, -misses - log_hit, 0.0), sizes)
    sign = np.repeat(np.where(positive, 1.0, -1.0), sizes)
    away = distances > 0
    slopes = np.zeros(len(distances))
    slopes[away] = sign[away] * np.exp(odds[away] - distances[away] + np.exp(log_miss[away]))
    return float(cost), slopes


def climb(bags: Bags, positive: BoolArray, center: Array, scales: Array, max_steps: int) -> Concept:
    """Return the concept at the maximum of the density L-BFGS reaches from ``center`` and ``scales``, both (d,)."""
    d = bags.n_features

    def cost(parameters: Array) -> tuple[float, Array]:
        center, scales = parameters[:d], parameters[d:]
        apart = bags.instances - center
        squares = apart**2
        value, slopes = noisy_or_loss(squares @ scales**2, bags.offsets[:-1], positive)
        return value, np.concatenate([-2 * scales**2 * (slopes @ apart), 2 * scales * (slopes @ squares)])

    start = np.concatenate([center, scales])
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": max_steps})
    return Concept(found.x[:d], np.abs(found.x[d:]), float(found.fun))


def starting_points(bags: Bags, positive: BoolArray, scale: float, max_starts: int) -> Array:
    """Return the instances (n_starts, d) of positive bags from which to start the search, by decreasing density.

    These are the ``max_starts`` densest of the instances with the highest diverse density in each positive bag, with
    the same ``scale`` for every feature. An instance that also occurs in a negative bag has density zero. If all do,
    bag means are used instead. The result is empty if no point has positive density.
    """
    own = bags[positive]
    for candidates in (list(own), [bag.mean(axis=0, keepdims=True) for bag in own]):
        points, costs = [], []
        for rows in candidates:
            distances = scale**2 * cdist(rows, bags.instances, "sqeuclidean")
            found = [noisy_or_loss(row, bags.offsets[:-1], positive)[0] for row in distances]
            points.append(rows[np.argmin(found)])
            costs.append(min(found))
        order = np.argsort(costs, kind="stable")[: min(max_starts, np.isfinite(costs).sum())]
        if len(order):
            return np.array(points)[order]
    return np.empty((0, bags.n_features))


def best_threshold(distances: Array, positive: BoolArray) -> float:
    """Return the threshold on ``distances`` (n_bags,) from the concept with the fewest errors.

    It is halfway between two bags; of several equally good thresholds, the smallest. If all bags are at the same
    distance it is log 2, which corresponds to a probability of one half.
    """
    values = np.unique(distances)
    if len(values) == 1:
        return float(np.log(2))
    cuts = (values[:-1] + values[1:]) / 2
    errors = ((distances < cuts[:, None]) != positive).sum(axis=1)
    return float(cuts[np.argmin(errors)])
