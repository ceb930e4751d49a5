"""MIGraph: a kernel between bags as graphs, whose nodes are instances and whose edges join neighbors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators import comparator
from fuzzymil.comparators._base import BoolArray
from fuzzymil.comparators.kernels import (
    SEARCH_GRID,
    BagKernelSVM,
    WeighedBags,
    edges,
    kernel_width,
    self_kernel,
    set_kernel,
    width,
)
from fuzzymil.estimators.parameters import above_zero, checked, integer


def edge_features(instances: Array, gamma: float) -> Array:
    """Return features (n_edges, 4) of the edges of a bag's graph.

    Each end of an edge has two: its share of the graph's edges, and the edge's share of the likeness over all edges of
    that end. The end with the larger features comes first, so the order of instances does not matter.
    """
    first, second, likeness = edges(instances, gamma)
    if not len(likeness):
        return np.zeros((0, 4))
    ends = np.concatenate([first, second])
    share = np.bincount(ends) / len(likeness)
    total = np.bincount(ends, np.tile(likeness, 2))
    one = np.column_stack([share[first], likeness / total[first]])
    other = np.column_stack([share[second], likeness / total[second]])
    greater = np.where(one[:, 0] == other[:, 0], one[:, 1] >= other[:, 1], one[:, 0] > other[:, 0])
    return np.where(greater[:, None], np.hstack([one, other]), np.hstack([other, one]))


class BagGraphs(NamedTuple):
    """Bags as graphs whose nodes are instances; `edge_features` describes the edges."""

    nodes: WeighedBags
    edges: WeighedBags | None  # of the bags that have any; None if no bag has
    owners: npt.NDArray[np.int64]  # (n_bags with edges,), positions of these bags


@comparator("MIGraph", search_grid=SEARCH_GRID, fit_seconds=0.14)
@dataclass(eq=False, repr=False)
class MIGraph(BagKernelSVM):
    """MIGraph: a support vector machine with a kernel between graphs, one graph per bag.

    Instances of a bag that are closer than its average distance are connected by an edge. The kernel of two bags is the
    sum of Gaussian kernels over all pairs of their instances and over all pairs of their edges, scaled so that every
    bag has length 1.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    gamma : "scale" or float
        Of the kernel of instances, ``exp(-gamma * |x - y|^2)``; "scale" is one over the sum of the variances of the
        features.
    edge_gamma : "scale" or float
        The same for the kernel of edges, whose features are shares from 0 to 1.
    max_edges : int
        Maximum number of edges per bag. If a bag has more, this many are drawn, with higher weights: a bag of n
        instances has about n² / 4 edges, and all pairs of edges are compared.
    random_state : int, RandomState or None
        Random seed of the drawn edges. The draw of a bag does not depend on the other bags.

    Notes
    -----
    Large bags have far more pairs of edges than of instances, so their edges dominate the kernel.

    Differences from the original: distances within a bag as in `MiGraph`, so gamma also changes the graph; edges are
    sampled if there are more than ``max_edges``; the weight of an edge is the likeness of its ends, not the reciprocal
    of their distance, which is infinite for equal instances; the order of instances does not matter.

    References
    ----------
    Z.-H. Zhou, Y.-Y. Sun and Y.-F. Li (2009), Multi-instance learning by treating instances as non-i.i.d.
    samples, 26th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = MIGraph().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 10.0)
    _: KW_ONLY
    gamma: float | str = checked(width, "scale")
    edge_gamma: float | str = checked(width, "scale")
    max_edges: int = checked(integer(1), 200)
    random_state: Any = None

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        described = np.concatenate([self._drawn(edge_features(bag, self.gamma_)) for bag in bags])
        self.edge_gamma_ = kernel_width(self.edge_gamma, described)

    def _drawn(self, features: Array) -> Array:
        if len(features) <= self.max_edges:
            return features
        rng = np.random.default_rng(self.seed_)  # restarted for each bag, so that bags are independent
        return features[rng.choice(len(features), self.max_edges, replace=False)]

    def _describe(self, bags: Bags) -> BagGraphs:
        nodes = WeighedBags(bags, np.ones(bags.n_instances))
        squares = self_kernel(nodes, self.gamma_)
        every = [edge_features(bag, self.gamma_) for bag in bags]
        owners = np.flatnonzero([len(features) for features in every])
        joined = None
        if len(owners):
            drawn = Bags.from_list([self._drawn(every[b]) for b in owners])
            counts = np.array([len(every[b]) for b in owners]) / drawn.sizes
            joined = WeighedBags(drawn, np.repeat(counts, drawn.sizes))
            squares[owners] += self_kernel(joined, self.edge_gamma_)
            joined = WeighedBags(drawn, joined.weights / np.repeat(np.sqrt(squares[owners]), drawn.sizes))
        return BagGraphs(WeighedBags(bags, np.repeat(1 / np.sqrt(squares), bags.sizes)), joined, owners)

    def _compare(self, first: BagGraphs, second: BagGraphs) -> Array:
        kernel = set_kernel(first.nodes, second.nodes, self.gamma_)
        if first.edges is not None and second.edges is not None:
            kernel[np.ix_(first.owners, second.owners)] += set_kernel(first.edges, second.edges, self.edge_gamma_)
        return kernel
