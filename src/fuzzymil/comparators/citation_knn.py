"""Citation-kNN: votes of a bag's neighbors, and of the bags that have it as a neighbor, by Hausdorff distance."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.spatial.distance import cdist

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator
from fuzzymil.estimators.parameters import checked, choice, integer


def _minimal(distances: Array, starts: Array) -> Array:
    """Return the minimum distance between an instance of the bag and one of each other bag."""
    return np.asarray(np.minimum.reduceat(distances.min(axis=0), starts))


def _maximal(distances: Array, starts: Array) -> Array:
    """Return the maximum distance from an instance of either bag to the nearest one of the other."""
    there = np.minimum.reduceat(distances, starts, axis=1).max(axis=0)
    back = np.maximum.reduceat(distances.min(axis=0), starts)
    return np.asarray(np.maximum(there, back))


HAUSDORFF = {"minimal": _minimal, "maximal": _maximal}


def hausdorff_distances(bags: Bags, others: Bags | None = None, distance: str = "minimal") -> Array:
    """Return the Euclidean Hausdorff distances (n_bags, n_others) between bags, or between the bags and themselves.

    "minimal" is the distance of the two nearest instances, "maximal" the classical one: from the instance that is
    farthest from the other bag to that bag.
    """
    reduce = HAUSDORFF[distance]
    if others is not None:
        return np.stack([reduce(cdist(bag, others.instances), others.offsets[:-1]) for bag in bags])
    found = np.empty((bags.n_bags, bags.n_bags))
    for b, (bag, start) in enumerate(zip(bags, bags.offsets[:-1], strict=True)):
        found[b, b:] = found[b:, b] = reduce(cdist(bag, bags.instances[start:]), bags.offsets[b:-1] - start)
    return found


@comparator("Citation-KNN", search_grid={"n_references": [1, 2, 3]}, fit_seconds=0.06)
@dataclass(eq=False, repr=False)
class CitationKNN(BagClassifier):
    """Citation-kNN: nearest neighbors of bags, by references and citers.

    The *references* of a bag are the training bags nearest to it; its *citers* are the training bags that have it among
    their own nearest bags. Both vote, and the bag is positive if more than half of the votes are; a tie is negative.
    Neighbors at equal distance all vote, so the order of bags does not matter.

    Parameters
    ----------
    n_references : int
        Number of nearest training bags that vote, at least 1.
    n_citers : int
        A training bag votes as a citer if the bag is among its ``n_citers`` nearest; 0 for no citers.
    distance : {"minimal", "maximal"}
        The Hausdorff distance between bags; see `hausdorff_distances`.

    Attributes
    ----------
    bags_ : Bags
        The training bags.
    positive_ : array of shape (n_bags,)
        Which of them are positive.
    reach_ : array of shape (n_bags,)
        Distance up to which each training bag cites a bag.

    Notes
    -----
    The decision value is the share of positive votes minus that of negative votes. The defaults, 2 references and 4
    citers, are those of the original's best result on MUSK1.

    Differences from the original: none known, except for ties, which the original does not specify.

    Source: J. Wang and J.-D. Zucker (2000), Solving the multiple-instance problem: a lazy learning approach,
    17th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.2], [9.0]], [[2.0]], [[2.1], [7.0]]]
    >>> model = CitationKNN(n_references=1, n_citers=1).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    """

    n_references: int = checked(integer(1), 2)
    n_citers: int = checked(integer(0), 4)
    _: KW_ONLY
    distance: str = checked(choice(HAUSDORFF), "minimal")

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        between = hausdorff_distances(bags, distance=self.distance)
        np.fill_diagonal(between, np.inf)  # no bag is its own neighbor
        self.bags_ = bags
        self.positive_ = positive
        self.reach_ = _ranked(between, self.n_citers)

    def _decide(self, bags: Bags) -> Array:
        distances = hausdorff_distances(bags, self.bags_, self.distance)
        referred = distances <= _ranked(distances, self.n_references)[:, None]
        cited = distances <= self.reach_
        votes = referred.astype(float) + cited
        return np.asarray(votes @ np.where(self.positive_, 1.0, -1.0) / votes.sum(axis=1))


def _ranked(distances: Array, k: int) -> Array:
    """Return the k-th smallest distance of each row: -inf for k = 0, inf for k beyond the last."""
    if k == 0:
        return np.full(len(distances), -np.inf)
    if k > distances.shape[1]:
        return np.full(len(distances), np.inf)
    return np.asarray(np.partition(distances, k - 1, axis=1)[:, k - 1])
