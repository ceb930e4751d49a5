"""miGraph: a kernel between bags in which neighbors within a bag share their weight."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, checks, comparator, word_or_positive
from fuzzymil.comparators.kernels import SEARCH_GRID, BagKernelSVM, WeighedBags, kernel_width, set_kernel


class Edges(NamedTuple):
    """Pairs of neighboring instances in a bag."""

    first: npt.NDArray[np.int64]  # (n_edges,), rows of the bag
    second: npt.NDArray[np.int64]  # (n_edges,)
    likeness: Array  # (n_edges,)


def edges(instances: Array, gamma: float) -> Edges:
    """Return the pairs of instances of a bag that are closer than the average pair.

    The distance of x and y is ``1 - exp(-gamma * |x - y|^2)``.
    """
    if len(instances) == 1:
        none = np.array([], dtype=np.int64)
        return Edges(none, none, np.array([]))
    exponents = -gamma * pdist(instances, "sqeuclidean")
    distances = -np.expm1(exponents)
    near = distances < distances.mean()
    first, second = np.triu_indices(len(instances), 1)
    return Edges(first[near], second[near], np.exp(exponents[near]))


def clique_weights(instances: Array, gamma: float) -> Array:
    """Return one over the size of each instance's neighborhood (itself included), scaled to sum to 1."""
    found = edges(instances, gamma)
    neighbors = np.bincount(np.concatenate([found.first, found.second]), minlength=len(instances))
    weights = 1 / (1 + neighbors)
    return np.asarray(weights / weights.sum())


@comparator("miGraph", search_grid=SEARCH_GRID, fit_seconds=0.07)
@dataclass(eq=False, repr=False)
class MiGraph(BagKernelSVM):
    """miGraph: a support vector machine with a set kernel in which neighbors within a bag share their weight.

    Instances of a bag that are closer than its average distance are neighbors. The weight of an instance is one over
    the size of its neighborhood, so a cluster of similar instances weighs as much as a single isolated one. The kernel
    of two bags is the weighted mean of ``exp(-gamma * |x - y|^2)`` over all pairs of their instances.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    gamma : "scale" or float
        "scale" is one over the sum of the variances of the features.

    Notes
    -----
    Differences from the original: distances within a bag are ``1 - exp(-gamma * |x - y|^2)`` with the kernel's own
    gamma. The kernel is divided by the sums of both bags' weights; the authors' program is reported to divide by the
    square roots of these sums.

    References
    ----------
    Z.-H. Zhou, Y.-Y. Sun and Y.-F. Li (2009), Multi-instance learning by treating instances as non-i.i.d.
    samples, 26th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = MiGraph().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    _checks = BagKernelSVM._checks | checks(gamma=word_or_positive("scale"))

    C: float = 10.0
    _: KW_ONLY
    gamma: float | str = "scale"

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        return WeighedBags(bags, np.concatenate([clique_weights(bag, self.gamma_) for bag in bags]))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)
