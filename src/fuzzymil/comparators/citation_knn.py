"""Citation-kNN: bags vote by the Hausdorff distance, as neighbors and as those that count a bag among their own."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import known_name
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, check_integer

__all__ = ["CitationKNN", "hausdorff_distances"]


def _minimal(distances: Array, starts: Array) -> Array:
    """Least distance between an instance of the one bag and one of each other bag."""
    return np.asarray(np.minimum.reduceat(distances.min(axis=0), starts))


def _maximal(distances: Array, starts: Array) -> Array:
    """Greatest distance from an instance of either bag to the nearest one of the other."""
    there = np.minimum.reduceat(distances, starts, axis=1).max(axis=0)
    back = np.maximum.reduceat(distances.min(axis=0), starts)
    return np.asarray(np.maximum(there, back))


HAUSDORFF = {"minimal": _minimal, "maximal": _maximal}


def hausdorff_distances(bags: Bags, others: Bags | None = None, distance: str = "minimal") -> Array:
    """Return the Hausdorff distance of each bag to each other bag, in Euclidean geometry.

    Parameters
    ----------
    bags : Bags
    others : Bags, optional
        Default: the same bags, each pair computed once.
    distance : {"minimal", "maximal"}
        "minimal": between the two nearest instances. "maximal": from the instance that is farthest
        from the other bag to that bag (the classical Hausdorff distance).

    Returns
    -------
    array of shape (n_bags, n_others)

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [1.0]], [[3.0], [9.0]]])
    >>> hausdorff_distances(bags)
    array([[0., 2.],
           [2., 0.]])
    >>> hausdorff_distances(bags, distance="maximal")[0, 1]
    np.float64(8.0)
    """
    reduce = HAUSDORFF[distance]
    if others is not None:
        return np.stack([reduce(cdist(bag, others.instances), others.offsets[:-1]) for bag in bags])
    found = np.empty((bags.n_bags, bags.n_bags))
    for b, (bag, start) in enumerate(zip(bags, bags.offsets[:-1], strict=True)):
        found[b, b:] = found[b:, b] = reduce(cdist(bag, bags.instances[start:]), bags.offsets[b:-1] - start)
    return found


class CitationKNN(BagClassifier):
    """Nearest neighbors of bags, by references and citers.

    A bag's *references* are the training bags nearest to it; its *citers* are the training bags that
    would have it among their own nearest. Both vote, and the bag is of the second class if more than
    half of the votes are: a tie is negative. Neighbors at equal distance all count, so the order of
    bags never matters.

    Parameters
    ----------
    n_references : int
        Nearest training bags that vote, at least 1.
    n_citers : int
        How near, in places, a bag must be to a training bag for this to vote as a citer; 0: no citers.
    distance : {"minimal", "maximal"}
        The Hausdorff distance between bags, see `hausdorff_distances`.

    Attributes
    ----------
    bags_ : Bags
        The training bags.
    positive_ : array of shape (n_bags,)
        Which of them are of the second class.
    reach_ : array of shape (n_bags,)
        For each training bag the distance up to which it cites a bag.
    classes_ : array of shape (2,)

    Notes
    -----
    Departures: none known but for ties, which the original leaves open. The decision value is the share
    of positive less that of negative votes. The defaults, 2 references and 4 citers, are those of the
    original's best result on MUSK1.

    References
    ----------
    J. Wang and J.-D. Zucker (2000), Solving the multiple-instance problem: a lazy learning approach,
    17th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.2], [9.0]], [[2.0]], [[2.1], [7.0]]]
    >>> model = CitationKNN(n_references=1, n_citers=1).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    """

    def __init__(self, n_references: int = 2, n_citers: int = 4, *, distance: str = "minimal") -> None:
        self.n_references = n_references
        self.n_citers = n_citers
        self.distance = distance

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_integer("n_references", self.n_references, 1)
        check_integer("n_citers", self.n_citers, 0)
        known_name("distance", self.distance, HAUSDORFF)
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


def _ranked(distances: Array, place: int) -> Array:
    """Return the distance in the given place of each row: beyond the last there is no limit, before the first none."""
    if place == 0:
        return np.full(len(distances), -np.inf)
    if place > distances.shape[1]:
        return np.full(len(distances), np.inf)
    return np.asarray(np.partition(distances, place - 1, axis=1)[:, place - 1])
