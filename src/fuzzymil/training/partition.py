"""Where rules start: partitions of the instance space, one center a rule.

All functions take instances (i, d) without missing values and return centers (r, d). They work in
whatever units they are given; the estimators give them standardized features.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.cluster import KMeans, kmeans_plusplus

from fuzzymil._utils.errors import ParameterError

__all__ = ["PARTITIONS", "default_width", "even_split", "fcm", "fuzzifier", "grid", "kmeans", "random"]

Array = npt.NDArray[np.float64]


def random(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Centers of the cells around ``n_rules`` instances drawn at random (the paper's synthetic start).

    Examples
    --------
    >>> random(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).shape
    (2, 1)
    """
    seeds = instances[rng.choice(len(instances), n_rules, replace=False)]
    cell = _squared_distances(instances, seeds).argmin(axis=1)
    # A drawn instance that repeats another keeps its place: its cell may be empty.
    return np.array([instances[cell == r].mean(axis=0) if (cell == r).any() else seeds[r] for r in range(n_rules)])


def kmeans(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Centers of k-means.

    Examples
    --------
    >>> sorted(kmeans(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).round(3).ravel().tolist())
    [0.1, 5.0]
    """
    found = KMeans(n_rules, n_init=1, random_state=rng).fit(instances)
    return np.asarray(found.cluster_centers_, np.float64)


def grid(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Centers on a regular grid over the range of the data, as even over the features as ``n_rules`` allows.

    The features that vary most get the most grid lines; a grid needs at least two, so beyond
    ``log2(n_rules)`` features the rest stay at the middle of their range.

    Examples
    --------
    >>> grid(np.array([[0.0, 0.0], [4.0, 2.0]]), 4, np.random.RandomState(0)).tolist()
    [[1.0, 0.5], [1.0, 1.5], [3.0, 0.5], [3.0, 1.5]]
    """
    del rng
    low, high = instances.min(axis=0), instances.max(axis=0)
    by_range = np.argsort(low - high, kind="stable")
    by_range = by_range[: max(int((high > low).sum()), 1)]  # lines across a constant feature would coincide
    lines = np.ones(instances.shape[1], int)
    factors = _prime_factors(n_rules)
    for place, factor in enumerate(factors):
        lines[by_range[place % len(by_range)]] *= factor
    axes = [low[d] + (high[d] - low[d]) * (np.arange(lines[d]) + 0.5) / lines[d] for d in range(instances.shape[1])]
    return np.array(list(product(*axes)))


def fcm(instances: Array, n_rules: int, rng: np.random.RandomState, max_iter: int = 100, tol: float = 1e-4) -> Array:
    """Centers of fuzzy c-means (the paper's start on the benchmark sets).

    The fuzzifier follows the dimension (`fuzzifier`): the customary 2 lets centers coincide on
    data of many features. Should two still meet, it is moved towards 1 and the clustering repeated.

    Examples
    --------
    >>> sorted(fcm(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).round(1).ravel().tolist())
    [0.1, 5.0]
    """
    spread = np.sqrt(instances.var(axis=0).sum())
    m = fuzzifier(len(instances), int((np.ptp(instances, axis=0) > 0).sum()))
    start, _ = kmeans_plusplus(instances, n_rules, random_state=rng)
    for _ in range(8):
        centers = _fcm_iterate(instances, start, m, max_iter, tol * spread)
        gaps = _squared_distances(centers, centers)[np.triu_indices(n_rules, 1)]
        if not len(gaps) or np.sqrt(gaps.min()) > 1e-2 * spread:
            break
        m = 1 + (m - 1) / 2
    return centers


def fuzzifier(n_instances: int, n_features: int) -> float:
    """Return a fuzzifier under which the centers of fuzzy c-means stay apart.

    All centers fall on the mean when the data's directions are spread evenly over more than
    ``2 m / (m - 1)`` dimensions; ``m = q / (q - 2)`` stays just inside for q dimensions.

    Examples
    --------
    >>> fuzzifier(1000, 2), round(fuzzifier(1000, 25), 3)
    (2.0, 1.087)
    """
    q = min(n_instances - 1, n_features)
    return 2.0 if q <= 4 else q / (q - 2)


def fcm_memberships(instances: Array, centers: Array, m: float) -> Array:
    """Memberships (i, r) of fuzzy c-means; an instance on a center belongs to it alone."""
    squared = _squared_distances(instances, centers)
    on_center = squared == 0
    with np.errstate(divide="ignore"):
        score = -np.log(squared) / (m - 1)
    score = np.where(on_center.any(axis=1, keepdims=True), np.where(on_center, 0.0, -np.inf), score)
    return np.asarray(np.exp(score - logsumexp(score, axis=1, keepdims=True)))


def _fcm_iterate(instances: Array, centers: Array, m: float, max_iter: int, tol: float) -> Array:
    for _ in range(max_iter):
        weights = fcm_memberships(instances, centers, m) ** m
        moved = weights.T @ instances / weights.sum(axis=0)[:, None]
        step = np.abs(moved - centers).max()
        centers = moved
        if step < tol:
            break
    return centers


def _squared_distances(a: Array, b: Array) -> Array:
    # Differences rather than the expanded square: equal points must be at distance 0.
    return np.stack([np.square(a - center).sum(axis=1) for center in b], axis=1)


def _prime_factors(n: int) -> list[int]:
    """Prime factors, greatest first."""
    factors, divisor = [], 2
    while n > 1:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    return factors[::-1]


def even_split(n_rules: int, n_groups: int) -> npt.NDArray[np.int64]:
    """Divide rules among groups as evenly as can be; later groups, so the positive of two, get what is left over.

    Examples
    --------
    >>> even_split(7, 3).tolist()
    [2, 2, 3]
    """
    counts = np.full(n_groups, n_rules // n_groups)
    counts[::-1][: n_rules % n_groups] += 1
    return counts


def default_width(n_features: int) -> float:
    """Width, in standard deviations of a feature, that lets rules overlap at any dimension.

    Squared distances grow with the number of features, so widths grow with its square root.

    Examples
    --------
    >>> round(default_width(2), 2), round(default_width(166), 2)
    (0.85, 7.73)
    """
    return 0.6 * float(np.sqrt(n_features))


PARTITIONS: dict[str, Callable[[Any, int, np.random.RandomState], Array]] = {
    "fcm": fcm,
    "kmeans": kmeans,
    "random": random,
    "grid": grid,
}


def n_distinct(instances: Array, enough: int) -> int:
    """Return how many instances differ, or a number that is at least ``enough``; of many only the first are looked at.

    Examples
    --------
    >>> n_distinct(np.array([[1.0], [2.0], [1.0]]), enough=3)
    2
    """
    for some in (4 * enough, 10_000):  # all rows would take longer to sort than rules take to start
        found = len(np.unique(instances[:some], axis=0))
        if found >= enough:
            break
    return found


def centers_by(method: str, instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Partition instances by a named method, with an error that tells what is short."""
    distinct = n_distinct(instances, n_rules)
    if method != "grid" and n_rules > distinct:
        raise ParameterError(
            f"n_rules={n_rules} rules cannot start on {distinct} distinct instance(s): "
            "use fewer rules, more bags, or init='grid'."
        )
    return PARTITIONS[method](instances, n_rules, rng)
