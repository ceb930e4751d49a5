"""RBF-MIP and RBF-Bag-Unit: radial basis function networks whose units are clusters of bags, or single bags."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.linear_model import Ridge

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator
from fuzzymil.comparators.citation_knn import hausdorff_distances
from fuzzymil.estimators.parameters import above_zero, checked, choice, share

# How the distances of instances to the nearest instance of a set give the distance to that set.
OVER_INSTANCES = {"minimal": np.minimum, "maximal": np.maximum}


class Clusters(NamedTuple):
    """Training bags merged into clusters, in the order of the first bag of each cluster."""

    of_bags: Array  # (b,) cluster of each bag
    from_bags: Array  # (b, u) distances of bags from clusters
    between: Array  # (u, u) distances between clusters


def merge_bags(bags: Bags, n_clusters: int, distance: str = "maximal") -> Clusters:
    """Merge bags bottom up: repeatedly, the two nearest clusters; a cluster is the union of its bags."""
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
    """Return the mean of the distances (u, u) between different units."""
    n_units = len(between)
    gap = float(between.sum() / (n_units * (n_units - 1)))
    if gap == 0:
        raise InputError(
            "All units of the network are at distance 0 from each other, so there is no scale for their width: pass "
            "bags that differ, or distance='maximal'."
        )
    return gap


def responses(distances: Array, width: float) -> Array:
    """Return the Gaussian responses of units at these distances."""
    return np.asarray(np.exp(-0.5 * np.square(distances / width)))


@comparator("RBF-MIP", search_grid={"fraction": [0.7, 1.0]}, fit_seconds=0.07)
@dataclass(eq=False, repr=False)
class RBFMIP(BagClassifier):
    """RBF-MIP: Gaussian units around clusters of bags, and a linear second layer.

    Clusters of training bags are merged bottom up. The response of a unit to a bag is a Gaussian of the Hausdorff
    distance between the bag and the union of the cluster's bags. The second layer is fitted to the targets -1 and 1 by
    least squares, with the solution of minimum norm if several are equally good.

    Parameters
    ----------
    fraction : float
        Number of clusters (at least two) divided by the number of training bags; 1 merges none.
    width : float
        Width of the Gaussians, relative to the mean distance between clusters.
    distance : {"maximal", "minimal"}
        The Hausdorff distance; see `fuzzymil.comparators.citation_knn.hausdorff_distances`.

    Notes
    -----
    Differences from the original, as far as its text was available: none but the default values.

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

    fraction: float = checked(share, 0.7)
    _: KW_ONLY
    width: float = checked(above_zero, 0.5)
    distance: str = checked(choice(OVER_INSTANCES), "maximal")

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


def medoids(distances: Array, n_medoids: int) -> Array:
    """Return the sorted positions (n_medoids,) of the objects that are the most central of those nearest to them.

    ``distances`` is (n, n). The search starts from the most central object and, one after another, the object farthest
    from those chosen.
    """
    chosen = [int(distances.sum(axis=1).argmin())]
    while len(chosen) < n_medoids:
        from_chosen = distances[:, chosen].min(axis=1)
        from_chosen[chosen] = -np.inf  # objects equal to a chosen one may still be needed
        chosen.append(int(from_chosen.argmax()))
    medoid = np.sort(chosen)
    while True:
        nearest = distances[:, medoid].argmin(axis=1)
        nearest[medoid] = np.arange(n_medoids)
        groups = [np.flatnonzero(nearest == m) for m in range(n_medoids)]
        central = [group[distances[np.ix_(group, group)].sum(axis=1).argmin()] for group in groups]
        moved = np.sort(central)
        if _cost(distances, moved) >= _cost(distances, medoid):  # each round must improve, so that the search ends
            return medoid
        medoid = moved


def _cost(distances: Array, medoid: Array) -> float:
    return float(distances[:, medoid].min(axis=1).sum())


@comparator("RBF-Bag-Unit", search_grid={"fraction": [0.6, 1.0]}, fit_seconds=0.06)
@dataclass(eq=False, repr=False)
class RBFBagUnit(BagClassifier):
    """RBF-Bag-Unit: Gaussian units around single bags, and a linear second layer.

    The units are the medoids of each class; the response of one to a bag is a Gaussian of the Hausdorff distance
    between the two. The second layer is a ridge regression of the targets -1 and 1 on the responses.

    Parameters
    ----------
    fraction : float
        Number of units divided by the number of training bags, in each class; 1 makes every bag a unit.
    width : float
        Width of the Gaussians, relative to the mean distance between units.
    ridge : float
        Penalty on the squared coefficients of the second layer.
    distance : {"maximal", "minimal"}
        The Hausdorff distance; see `fuzzymil.comparators.citation_knn.hausdorff_distances`.

    Notes
    -----
    Differences from the original: this is a reconstruction from the idea that gives the method its name. The choice of
    units, their common width and the ridge penalty are choices made here and may differ from the original's.

    References
    ----------
    A. Bouchachia (2010), Multiple instance learning with radial basis function neural networks, 17th
    International Conference on Neural Information Processing.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.2], [5.1]], [[2.0]], [[2.1], [2.4]]]
    >>> model = RBFBagUnit(fraction=0.5).fit(bags, [1, 1, 0, 0])
    >>> model.units_.n_bags
    2
    >>> model.predict([[[0.1], [5.0]], [[2.2]]]).tolist()
    [1, 0]
    """

    fraction: float = checked(share, 0.6)
    _: KW_ONLY
    width: float = checked(above_zero, 0.5)
    ridge: float = checked(above_zero, 0.1)
    distance: str = checked(choice(OVER_INSTANCES), "maximal")

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        distances = hausdorff_distances(bags, distance=self.distance)
        units = np.sort(np.concatenate([self._units(distances, np.flatnonzero(c)) for c in (positive, ~positive)]))
        self.units_ = bags[units]
        self.width_ = self.width * mean_gap(distances[np.ix_(units, units)])
        self.output_ = Ridge(self.ridge).fit(responses(distances[:, units], self.width_), np.where(positive, 1.0, -1.0))

    def _units(self, distances: Array, of_class: Array) -> Array:
        """Return the units among the bags of one class."""
        within = medoids(distances[np.ix_(of_class, of_class)], math.ceil(self.fraction * len(of_class)))
        return np.asarray(of_class[within])

    def _decide(self, bags: Bags) -> Array:
        distances = hausdorff_distances(bags, self.units_, self.distance)
        return np.asarray(self.output_.predict(responses(distances, self.width_)))
