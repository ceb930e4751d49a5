"""Confidence that a descriptor shows a mine: a possibilistic k-nearest-neighbor rule over prototypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError

__all__ = ["NEIGHBORS", "Prototypes", "confidences", "learn_prototypes", "soft_labels"]

NEIGHBORS = 5
"""Number of neighbors for soft labels and confidences."""

FUZZIFIER = 2.0
"""Exponent m of the possibilistic weight: with a larger m the weight falls more slowly with distance."""


@dataclass(frozen=True)
class Prototypes:
    """Typical descriptors of mines and clutter.

    Attributes
    ----------
    points : array of shape (n_prototypes, n_numbers)
    labels : array of shape (n_prototypes,)
        Degree to which each indicates a mine, from 0 to 1.
    reach : float
        Distance up to which a descriptor counts as fully typical.
    """

    points: Array
    labels: Array
    reach: float


def soft_labels(points: Array, is_mine: Array) -> Array:
    """Compute soft labels (n,) of points (n, n_numbers) from the labels of their neighbors (Keller's rule).

    They are 0.51 + 0.49 q for mines and 0.49 q otherwise, where q is the share of mines among the nearest neighbors.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3], [0.15]])
    >>> soft_labels(points, np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)).round(3).tolist()
    [0.706, 0.706, 0.706, 0.098, 0.098, 0.098, 0.098, 0.294]
    """
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argsort(axis=1, kind="stable")[:, : min(NEIGHBORS, len(points) - 1)]
    share = is_mine[nearest].mean(axis=1)
    return np.asarray(np.where(is_mine, 0.51, 0.0) + 0.49 * share)


def learn_prototypes(
    mines: Array, clutter: Array, quiet: Array, counts: tuple[int, int, int] = (30, 30, 10), random_state: Any = None
) -> Prototypes:
    """Learn prototypes from labeled descriptors by k-means within each group.

    Parameters
    ----------
    mines : array of shape (n, n_numbers)
        Descriptors of windows that contain a mine.
    clutter, quiet : arrays of shape (n, n_numbers)
        Descriptors of windows of alarms without a mine: with and without a conspicuous signal.
    counts : tuple of int
        Number of prototypes per group.
    random_state : int, RandomState or None

    Returns
    -------
    Prototypes
        Their reach is the mean distance between a descriptor and the nearest prototype of its group.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> groups = [rng.normal(place, 0.1, (50, 2)) for place in (1, 0, -1)]
    >>> found = learn_prototypes(*groups, (6, 6, 3), random_state=0)
    >>> float(found.labels.min()), float(found.labels.max())
    (0.0, 1.0)
    """
    found, distances = [], []
    for what, descriptors, n in zip(
        ("mines", "clutter", "quiet windows"), (mines, clutter, quiet), counts, strict=True
    ):
        n_different = len(np.unique(descriptors, axis=0))
        if n_different < n:
            raise InputError(
                f"{n} prototypes of {what} need at least {n} different descriptors, got {n_different}: "
                "use more alarms for the calibration."
            )
        clusters = KMeans(n, n_init=4, random_state=random_state).fit(descriptors)
        found.append(clusters.cluster_centers_)
        distances.append(float(cdist(descriptors, clusters.cluster_centers_).min(axis=1).mean()))
    points = np.concatenate(found)
    return Prototypes(points, soft_labels(points, np.arange(len(points)) < counts[0]), float(np.mean(distances)))


def confidences(descriptors: Array, prototypes: Prototypes) -> Array:
    """Return the confidence (n,), from 0 to 1, that descriptors (n, n_numbers) show a mine.

    It is the mean over the K nearest prototypes of their soft label times the possibilistic weight
    1 / (1 + max(0, d/η - 1)^(2/(m-1))) of the distance d, where η is the reach. Descriptors far from all prototypes
    have a low confidence.

    Examples
    --------
    >>> known = Prototypes(np.array([[0.0], [1.0], [1.2], [1.4], [1.6]]), np.array([0.0, 1.0, 1.0, 1.0, 1.0]), 1.0)
    >>> confidences(np.array([[1.0], [100.0]]), known).round(3).tolist()
    [0.8, 0.0]
    """
    distances = cdist(descriptors, prototypes.points)
    k = min(NEIGHBORS, len(prototypes.points))
    nearest = distances.argsort(axis=1, kind="stable")[:, :k]
    beyond = np.maximum(np.take_along_axis(distances, nearest, axis=1) / prototypes.reach - 1.0, 0.0)
    weights = 1.0 / (1.0 + beyond ** (2.0 / (FUZZIFIER - 1.0)))
    return np.asarray((weights * prototypes.labels[nearest]).mean(axis=1))
