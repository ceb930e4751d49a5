"""MIGraph and miGraph: kernels between bags that see how the instances of a bag lie to one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, check_integer
from fuzzymil.comparators._instance_kernel import WeighedBags, kernel_width, self_kernel, set_kernel
from fuzzymil.comparators.bag_kernel import BagKernelSVM

__all__ = ["BagGraphs", "Edges", "MIGraph", "MiGraph", "clique_weights", "edge_features", "edges"]


class Edges(NamedTuple):
    """The pairs of neighbors in a bag.

    Examples
    --------
    >>> len(edges(np.array([[0.0], [1.0], [5.0], [6.0]]), gamma=1.0).likeness)
    2
    """

    first: npt.NDArray[np.int64]  # (n_edges,), rows of the bag
    second: npt.NDArray[np.int64]  # (n_edges,)
    likeness: Array  # (n_edges,)


def edges(instances: Array, gamma: float) -> Edges:
    """Join the instances of a bag that are nearer to one another than its pairs are on average.

    Near is meant in the Gaussian kernel: the distance of x and y is ``1 - exp(-gamma * |x - y|^2)``.

    Examples
    --------
    >>> found = edges(np.array([[0.0], [1.0], [5.0]]), gamma=np.log(2))
    >>> found.first.tolist(), found.second.tolist(), found.likeness.round(6).tolist()
    ([0], [1], [0.5])
    """
    if len(instances) == 1:
        nobody = np.array([], dtype=np.int64)
        return Edges(nobody, nobody, np.array([]))
    exponents = -gamma * pdist(instances, "sqeuclidean")
    distances = -np.expm1(exponents)
    near = distances < distances.mean()
    first, second = np.triu_indices(len(instances), 1)
    return Edges(first[near], second[near], np.exp(exponents[near]))


def clique_weights(instances: Array, gamma: float) -> Array:
    """Return one over the size of each instance's neighborhood, itself included, scaled to sum to one.

    Examples
    --------
    >>> clique_weights(np.array([[0.0], [1.0], [5.0]]), gamma=1.0).tolist()
    [0.25, 0.25, 0.5]
    """
    found = edges(instances, gamma)
    neighbors = np.bincount(np.concatenate([found.first, found.second]), minlength=len(instances))
    weights = 1 / (1 + neighbors)
    return np.asarray(weights / weights.sum())


def edge_features(instances: Array, gamma: float) -> Array:
    """Describe the edges of a bag's graph by their two ends.

    An end is described by its share of the graph's edges and by this edge's share of the likeness over
    all edges of that end. The end with the greater description comes first, so that no order matters.

    Returns
    -------
    array of shape (n_edges, 4)

    Examples
    --------
    >>> edge_features(np.array([[0.0], [1.0], [5.0]]), gamma=1.0).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
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


class MiGraph(BagKernelSVM):
    """miGraph: a support vector machine by a set kernel in which neighbors within a bag share one voice.

    Instances of a bag that are nearer than its average distance are neighbors. An instance counts one over
    the size of its neighborhood, so that a crowd of like instances weighs as much as a single other one; the
    kernel of two bags is the weighted mean of ``exp(-gamma * |x - y|^2)`` over all pairs of their instances.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    gamma : "scale" or float
        "scale" is one over the sum of the features' variances.

    Attributes
    ----------
    support_bags_ : WeighedBags
        The training bags that decide.
    dual_coef_ : array of shape (n_support_bags,)
    intercept_ : float
    gamma_ : float
    classes_ : array of shape (2,)

    Notes
    -----
    Departures: distances within a bag are ``1 - exp(-gamma * |x - y|^2)``, with the kernel's own gamma. The
    kernel is divided by the sums of both bags' weights; the authors' own program is reported to divide by
    the roots of these sums.

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

    def __init__(self, C: float = 10.0, *, gamma: float | str = "scale") -> None:
        self.C = C
        self.gamma = gamma

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        return WeighedBags(bags, np.concatenate([clique_weights(bag, self.gamma_) for bag in bags]))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)


class BagGraphs(NamedTuple):
    """Bags as graphs: nodes are instances, edges are described by `edge_features`.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [1.0]]])
    >>> BagGraphs(WeighedBags(bags, np.ones(2)), edges=None, owners=np.array([], dtype=int)).nodes.bags
    Bags(1 bag, 2 instances, 1 feature, 2 instances per bag)
    """

    nodes: WeighedBags
    edges: WeighedBags | None  # of those bags that have any; None if no bag has
    owners: npt.NDArray[np.int64]  # (n_bags with edges,), which bags these are


class MIGraph(BagKernelSVM):
    """MIGraph: a support vector machine by a kernel between graphs, one graph a bag.

    Instances of a bag that are nearer than its average distance are joined by an edge. The kernel of two
    bags is the sum of Gaussian kernels over all pairs of their instances and over all pairs of their edges,
    scaled so that every bag has length one.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    gamma : "scale" or float
        Of the kernel of instances, ``exp(-gamma * |x - y|^2)``; "scale" is one over the sum of the features' variances.
    edge_gamma : "scale" or float
        Of the kernel of edges, whose features are shares from 0 to 1.
    max_edges : int
        From a bag with more edges this many are drawn, and each counts for several. A bag of n instances has
        about n² / 4 edges, and all pairs of edges are compared: MUSK2's bag of 1044 would have a
        quarter of a million.
    random_state : int, RandomState or None
        Draws the edges. A bag's draw does not depend on the other bags.

    Attributes
    ----------
    support_bags_ : BagGraphs
        The training bags that decide.
    dual_coef_ : array of shape (n_support_bags,)
    intercept_ : float
    gamma_, edge_gamma_ : float
    seed_ : int
        With which the edges of each bag are drawn.
    classes_ : array of shape (2,)

    Notes
    -----
    Large bags have far more pairs of edges than of instances, so that there the edges decide nearly alone.

    Departures: distances within a bag are ``1 - exp(-gamma * |x - y|^2)``, with the kernel's own gamma, so that gamma
    changes the graph, too; edges are drawn where there are more than ``max_edges``; an edge weighs the likeness of its
    ends instead of the reciprocal of their distance, which is infinite between equal instances; and its ends come in
    an order that does not depend on that of the instances.

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

    def __init__(
        self,
        C: float = 10.0,
        *,
        gamma: float | str = "scale",
        edge_gamma: float | str = "scale",
        max_edges: int = 200,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.edge_gamma = edge_gamma
        self.max_edges = max_edges
        self.random_state = random_state

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        check_integer("max_edges", self.max_edges, 1)
        self.gamma_ = kernel_width(self.gamma, bags.instances)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        described = np.concatenate([self._drawn(edge_features(bag, self.gamma_)) for bag in bags])
        self.edge_gamma_ = kernel_width(self.edge_gamma, described, "edge_gamma")

    def _drawn(self, features: Array) -> Array:
        if len(features) <= self.max_edges:
            return features
        rng = np.random.default_rng(self.seed_)  # anew for each bag, so that its draw depends on nothing else
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
