"""Diverse density: how likely a point is to be the concept that positive bags share and negative bags lack.

An instance at the scaled squared distance D from the point is in the concept with probability exp(-D). A
positive bag wants at least one instance in it (noisy-or), a negative bag none. Distances of hundreds are
common in many dimensions, so everything is computed in logarithms: no probability underflows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray

__all__ = ["Concept", "best_threshold", "climb", "noisy_or_loss", "starting_points"]

FAR = 40.0
"""From this distance on, log(1 - exp(-D)) is -exp(-D) to the last digit."""


class Concept(NamedTuple):
    """A point, a scale a feature, and the cost (negative logarithm of the density) of the two."""

    center: Array  # (d,)
    scales: Array  # (d,)
    cost: float

    def distances(self, instances: Array) -> Array:
        """Return the scaled squared distance (i,) of each instance from the point."""
        return np.asarray(((instances - self.center) ** 2) @ self.scales**2)


def noisy_or_loss(distances: Array, starts: Array, positive: BoolArray) -> tuple[float, Array]:
    """Return the negative log-likelihood of bags' labels, and its derivative with respect to the distances.

    Parameters
    ----------
    distances : array of shape (n_instances,)
        Scaled squared distances of the instances from the concept, bag after bag.
    starts : array of shape (n_bags,)
        Position of each bag's first instance.
    positive : array of bool of shape (n_bags,)

    Returns
    -------
    cost : float
        Infinite if an instance of a negative bag lies on the concept.
    slopes : array of shape (n_instances,)
        An instance at distance 0 has slope 0: there the distance itself has no slope.

    Examples
    --------
    >>> cost, slopes = noisy_or_loss(np.array([0.7, 0.7, 2.0]), np.array([0, 2]), np.array([True, False]))
    >>> print(f"{np.exp(-cost):.4f}")  # (1 - (1 - exp(-0.7))²) (1 - exp(-2))
    0.6455
    """
    with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant, at distance 0
        near = np.minimum(distances, FAR)
        log_not = np.where(near < 1, np.log(-np.expm1(-near)), np.log1p(-np.exp(-near)))  # both exact on their side
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
    """Return the concept of locally greatest density that is reached from a point and scales (L-BFGS).

    Parameters
    ----------
    bags : Bags
    positive : array of bool of shape (n_bags,)
    center, scales : arrays of shape (n_features,)
    max_steps : int

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [5.0]], [[0.2], [9.0]], [[-2.0]], [[2.2], [7.0]]])
    >>> concept = climb(bags, np.array([True, True, False, False]), np.zeros(1), np.ones(1), max_steps=100)
    >>> concept.center.round(3)
    array([0.1])
    """
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
    """Return instances of positive bags that are the densest points to begin with.

    Of each positive bag the instance with the greatest diverse density at equal scales is taken, and of
    these the densest ``max_starts``. An instance that is in a negative bag too has no density. If all are, the bags'
    means are tried in their place.

    Parameters
    ----------
    bags : Bags
    positive : array of bool of shape (n_bags,)
    scale : float
        The scale of every feature.
    max_starts : int

    Returns
    -------
    array of shape (n_starts, n_features)
        Densest first; empty where no point has any density.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [5.0]], [[0.2], [9.0]], [[5.1]]])
    >>> starting_points(bags, np.array([True, True, False]), 1.0, max_starts=1)
    array([[0.]])
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
    """Return the distance from the concept up to which calling bags positive makes the fewest errors.

    Half way between two bags; of several equally good ones the least. Where all bags are equally far it is
    log 2, at which the probability is a half.

    Parameters
    ----------
    distances : array of shape (n_bags,)
        Of each bag's nearest instance.
    positive : array of bool of shape (n_bags,)

    Examples
    --------
    >>> best_threshold(np.array([0.1, 0.5, 0.9, 3.0]), np.array([True, True, False, False]))
    0.7
    """
    values = np.unique(distances)
    if len(values) == 1:
        return float(np.log(2))
    cuts = (values[:-1] + values[1:]) / 2
    errors = ((distances < cuts[:, None]) != positive).sum(axis=1)
    return float(cuts[np.argmin(errors)])
