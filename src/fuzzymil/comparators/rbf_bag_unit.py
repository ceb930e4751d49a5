"""RBF-Bag-Unit: a radial basis function network whose units are bags."""

from __future__ import annotations

import math

import numpy as np
from sklearn.linear_model import Ridge

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, above_zero, checks, comparator
from fuzzymil.comparators.citation_knn import hausdorff_distances
from fuzzymil.comparators.rbf_mip import CHECKS, mean_gap, responses

__all__ = ["RBFBagUnit", "medoids"]


def medoids(distances: Array, n_medoids: int) -> Array:
    """Return the positions of medoids: objects that are the most central of those nearest to them.

    The search starts from the most central object and, one after another, the object farthest from those chosen.

    Parameters
    ----------
    distances : array of shape (n, n)
    n_medoids : int

    Returns
    -------
    array of shape (n_medoids,)
        Sorted.

    Examples
    --------
    >>> places = np.array([0.0, 1.0, 2.0, 8.0, 9.0])
    >>> medoids(np.abs(places - places[:, None]), 2).tolist()
    [1, 3]
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
class RBFBagUnit(BagClassifier):
    """RBF-Bag-Unit: Gaussian units around single bags, and a linear second layer.

    Each hidden unit is a training bag; its response to a bag is a Gaussian of the Hausdorff distance between the two.
    The units are the medoids of each class. The second layer is a ridge regression of the targets -1 and 1 on the
    responses.

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

    Attributes
    ----------
    units_ : Bags
        The bags used as units.
    width_ : float
        Width of the Gaussians, in the units of the features.
    output_ : Ridge
        The second layer.
    classes_ : array of shape (2,)

    See Also
    --------
    RBFMIP : Its units are clusters of bags.

    Notes
    -----
    Differences from the original: this is a reconstruction from the idea that gives the method its name, one bag per
    hidden unit. The choice of units (k-medoids in each class, from a fixed start), their common width and the ridge
    penalty are choices made here and may differ from the original's.

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

    _checks = CHECKS | checks(ridge=above_zero)

    def __init__(
        self, fraction: float = 0.6, *, width: float = 0.5, ridge: float = 0.1, distance: str = "maximal"
    ) -> None:
        self.fraction = fraction
        self.width = width
        self.ridge = ridge
        self.distance = distance

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
