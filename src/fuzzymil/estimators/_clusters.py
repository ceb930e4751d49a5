"""Clusters of labeled instances, from which rules are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.learn.train import partition


class Clusters(NamedTuple):
    """Clusters of instances, each of one class."""

    centers: Array  # (r, d)
    widths: Array  # (r, d)
    groups: Array  # (r,), the class of each


def clustered(x: Array, groups: Array, weights: Array, n_rules: int, rng: np.random.RandomState) -> Clusters:
    """Cluster the instances of each class by k-means.

    Parameters
    ----------
    x : array of shape (i, d)
        Instances, standardized and complete.
    groups : array of shape (i,)
        Whole numbers from 0.
    weights : array of shape (i,)
        Greater than 0.
    n_rules : int
        Number of clusters in all; fewer if a group has fewer distinct instances than its share.
    rng : RandomState

    Examples
    --------
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]])
    >>> found = clustered(x, np.array([0, 0, 1, 1]), np.ones(4), 2, np.random.RandomState(0))
    >>> found.centers.round(3).tolist(), found.widths.round(3).tolist(), found.groups.tolist()
    ([[-0.9], [0.9]], [[0.1], [0.1]], [0, 1])
    """
    owner = np.zeros(len(x), int)  # the cluster of each instance
    labels: list[int] = []
    for group, share in enumerate(partition.even_split(n_rules, groups.max() + 1)):
        members = np.flatnonzero(groups == group)
        members = members[np.lexsort(x[members].T)]  # the order of instances must not matter
        if len(members):
            n_clusters = min(int(share), partition.n_distinct(x[members], int(share)))
            centers = partition.centers_by("kmeans", x[members], n_clusters, rng)
            distances = np.stack([np.square(x[members] - center).sum(axis=1) for center in centers], axis=1)
            _, nearest = np.unique(distances.argmin(axis=1), return_inverse=True)
            owner[members] = len(labels) + nearest
            labels += [group] * (int(nearest.max()) + 1)
    belongs = (owner == np.arange(len(labels))[:, None]) * weights  # (r, i)
    total = belongs.sum(axis=1, keepdims=True)
    means = belongs @ x / total
    squares = np.stack([belong @ np.square(x - mean) for belong, mean in zip(belongs, means, strict=True)])
    within = squares.sum(axis=0) / total.sum()
    within = np.where(within > 0, within, 1.0)  # clusters of one point each: the spread of all instances
    return Clusters(means, np.sqrt((squares + within) / (total + 1.0)), np.array(labels))
