"""RBF-MIP: a radial basis function network whose units are clusters of bags."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, above_zero, checks, comparator
from fuzzymil.comparators.citation_knn import hausdorff_distances
from fuzzymil.estimators.parameters import choice, real

__all__ = ["CHECKS", "RBFMIP", "Clusters", "mean_gap", "merge_bags", "responses"]

# How the distances of instances to the nearest instance of a set give the distance to that set.
OVER_INSTANCES = {"minimal": np.minimum, "maximal": np.maximum}

CHECKS = checks(fraction=real(low=0.0, high=1.0, open_low=True), width=above_zero, distance=choice(OVER_INSTANCES))
"""Checks of the parameters that both RBF networks have."""


class Clusters(NamedTuple):
    """Training bags merged into clusters, in the order of the first bag of each cluster."""

    of_bags: Array  # (b,) cluster of each bag
    from_bags: Array  # (b, u) distances of bags from clusters
    between: Array  # (u, u) distances between clusters


def merge_bags(bags: Bags, n_clusters: int, distance: str = "maximal") -> Clusters:
    """Merge bags bottom up: repeatedly, the two nearest clusters; a cluster is the union of its bags.

    Parameters
    ----------
    bags : Bags
    n_clusters : int
        At most the number of bags, which are the initial clusters.
    distance : {"minimal", "maximal"}
        The Hausdorff distance between bags and between clusters; see
        `fuzzymil.comparators.citation_knn.hausdorff_distances`.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [1.0]], [[10.0]], [[2.0]]])
    >>> clusters = merge_bags(bags, 2)
    >>> clusters.of_bags.tolist()  # {0, 1} and {2} are 2 apart
    [0, 1, 0]
    >>> clusters.between.tolist()  # 10 is that far from 0
    [[0.0, 10.0], [10.0, 0.0]]
    """
    over = OVER_INSTANCES[distance]
    starts = bags.offsets[:-1]
    # Distance of each instance to the nearest one of each cluster, (i, u). Unlike the distance between clusters, it is
    # updated by a minimum when clusters are merged.
    nearest = np.stack([cdist(bags.instances, bag).min(axis=1) for bag in bags], axis=1)
    bag_to_bag = over.reduceat(nearest, starts, axis=0)
    one_way = bag_to_bag.copy()  # (from u, to u)
    between = over(one_way, one_way.T)
    np.fill_diagonal(between, np.inf)
    cluster = np.arange(bags.n_bags)
    for _ in range(bags.n_bags - n_clusters):
        kept, gone = np.unravel_index(between.argmin(), between.shape)
        cluster[cluster == gone] = kept
        alive = np.unique(cluster)
        nearest[:, kept] = np.minimum(nearest[:, kept], nearest[:, gone])
        one_way[kept] = over(one_way[kept], one_way[gone])
        one_way[alive, kept] = _of_clusters(over, over.reduceat(nearest[:, kept], starts), cluster)
        between[kept, alive] = between[alive, kept] = over(one_way[kept, alive], one_way[alive, kept])
        between[kept, kept] = between[gone] = between[:, gone] = np.inf
    alive, of_bags = np.unique(cluster, return_inverse=True)
    between = between[np.ix_(alive, alive)]
    np.fill_diagonal(between, 0.0)
    there = over.reduceat(nearest[:, alive], starts, axis=0)
    back = _of_clusters(over, bag_to_bag, cluster)
    return Clusters(of_bags, over(there, back.T), between)


def _of_clusters(over: np.ufunc, of_bags: Array, cluster: Array) -> Array:
    """Reduce values (b, ...) over the bags of each cluster."""
    order = np.argsort(cluster, kind="stable")
    return np.asarray(over.reduceat(of_bags[order], np.unique(cluster[order], return_index=True)[1], axis=0))


def mean_gap(between: Array) -> float:
    """Return the mean of the distances (u, u) between different units.

    Examples
    --------
    >>> mean_gap(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]))
    2.0
    """
    n_units = len(between)
    gap = float(between.sum() / (n_units * (n_units - 1)))
    if gap == 0:
        raise InputError(
            "All units of the network are at distance 0 from each other, so there is no scale for their width: pass "
            "bags that differ, or distance='maximal'."
        )
    return gap


def responses(distances: Array, width: float) -> Array:
    """Return the Gaussian responses of units at these distances.

    Examples
    --------
    >>> responses(np.array([0.0, 2.0]), 2.0).round(3).tolist()
    [1.0, 0.607]
    """
    return np.asarray(np.exp(-0.5 * np.square(distances / width)))


@comparator("RBF-MIP", search_grid={"fraction": [0.7, 1.0]}, fit_seconds=0.07)
class RBFMIP(BagClassifier):
    """RBF-MIP: Gaussian units around clusters of bags, and a linear second layer.

    The first layer has one unit per cluster of training bags. Clusters are merged bottom up, and the response of a unit
    to a bag is a Gaussian of the Hausdorff distance between the bag and the union of the cluster's bags. The second
    layer is a linear function of the responses, fitted to the targets -1 and 1 by least squares (a singular value
    decomposition).

    Parameters
    ----------
    fraction : float
        Number of clusters (at least two) divided by the number of training bags; 1 merges none.
    width : float
        Width of the Gaussians, relative to the mean distance between clusters.
    distance : {"maximal", "minimal"}
        The Hausdorff distance; see `fuzzymil.comparators.citation_knn.hausdorff_distances`.

    Attributes
    ----------
    units_ : Bags
        The clusters, as bags.
    width_ : float
        Width of the Gaussians, in the units of the features.
    coef_ : array of shape (n_units,)
    intercept_ : float
        The second layer.
    classes_ : array of shape (2,)

    Notes
    -----
    Differences from the original: as far as its text was available, the clustering by Hausdorff distance, the least
    squares, the number of clusters as a fraction of the bags and the width relative to the mean distance between
    clusters are those of the original; the default values are choices made here. If the responses do not determine the
    second layer, the solution of minimum norm is used.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou (2006), Adapting RBF neural networks to multi-instance learning, Neural
    Processing Letters 23.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.2], [5.1]], [[2.0]], [[2.1], [2.4]]]
    >>> model = RBFMIP(fraction=0.5).fit(bags, [1, 1, 0, 0])
    >>> model.units_.sizes.tolist()
    [4, 3]
    >>> model.predict([[[0.1], [5.0]], [[2.2]]]).tolist()
    [1, 0]
    """

    _checks = CHECKS

    def __init__(self, fraction: float = 0.7, *, width: float = 0.5, distance: str = "maximal") -> None:
        self.fraction = fraction
        self.width = width
        self.distance = distance

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        clusters = merge_bags(bags, max(math.ceil(self.fraction * bags.n_bags), 2), self.distance)
        order = np.argsort(clusters.of_bags, kind="stable")
        sizes = np.bincount(clusters.of_bags, weights=bags.sizes).astype(int)
        self.units_ = Bags(bags[order].instances, np.cumsum([0, *sizes]))
        self.width_ = self.width * mean_gap(clusters.between)
        design = np.column_stack([np.ones(bags.n_bags), responses(clusters.from_bags, self.width_)])
        solution, *_ = np.linalg.lstsq(design, np.where(positive, 1.0, -1.0))
        self.intercept_, self.coef_ = float(solution[0]), solution[1:]

    def _decide(self, bags: Bags) -> Array:
        distances = hausdorff_distances(bags, self.units_, self.distance)
        return np.asarray(responses(distances, self.width_) @ self.coef_ + self.intercept_)
