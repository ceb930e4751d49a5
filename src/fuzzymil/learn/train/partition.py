"""Where rules start: a sample of the bags, and partitions of the instance space with one center per rule.

The partitions take instances (i, d) without missing values and return centers (r, d), in the units of the instances;
the estimators pass standardized features.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.runtime import check_process
from fuzzymil.bags import Bags

SAMPLE_ROWS = 50_000
"""Number of instances to initialize rules on; if there are no more, all of them are used."""

_FEW_BAGS, _TOO_LARGE = 10, 8  # bags of each class at least, unless they have so many times too many instances
_HASHED_ROWS = 1 << 16  # hashed at once
_FEW_ROWS = 4096  # up to which k-means takes one thread

Array = npt.NDArray[np.float64]


def random(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return the centers of the cells around ``n_rules`` random instances (the paper's choice on synthetic data).

    Examples
    --------
    >>> random(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).shape
    (2, 1)
    """
    seeds = instances[rng.choice(len(instances), n_rules, replace=False)]
    cell = _squared_distances(instances, seeds).argmin(axis=1)
    # The cell of an instance that duplicates another may be empty; then the instance is the center.
    return np.array([instances[cell == r].mean(axis=0) if (cell == r).any() else seeds[r] for r in range(n_rules)])


def kmeans(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return the centers of k-means.

    Examples
    --------
    >>> sorted(kmeans(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).round(3).ravel().tolist())
    [0.1, 5.0]
    """
    from sklearn import config_context
    from sklearn.cluster import KMeans  # deferred, like all of scikit-learn here: slow to import

    check_process()  # its threads do not survive a fork either
    # Threads share parts of 256 rows; where there are only a few, they mostly wait for each other.
    one_thread = _thread_pools().limit(limits=1 if len(instances) <= _FEW_ROWS else None, user_api="openmp")
    with one_thread, config_context(assume_finite=True, skip_parameter_validation=True):
        found = KMeans(n_rules, n_init=1, random_state=rng).fit(instances)
    return np.asarray(found.cluster_centers_, np.float64)


@functools.cache  # looking for the libraries takes longer than k-means
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def grid(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return centers on a regular grid over the range of the data.

    The features with the largest ranges get the most grid lines. A grid needs at least two lines per feature, so with
    more than ``log2(n_rules)`` features the others stay at the middle of their range.

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
    """Return the centers of fuzzy c-means (the paper's choice on the benchmark data).

    The fuzzifier depends on the dimension (see `fuzzifier`), because with the customary 2 centers coincide on
    high-dimensional data. If two centers still coincide, it is moved towards 1 and clustering is repeated.

    Examples
    --------
    >>> sorted(fcm(np.array([[0.0], [0.2], [5.0]]), 2, np.random.RandomState(0)).round(1).ravel().tolist())
    [0.1, 5.0]
    """
    from sklearn.cluster import kmeans_plusplus

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
    """Return a fuzzifier with which the centers of fuzzy c-means stay apart.

    All centers collapse to the mean if the data vary equally in more than ``2 m / (m - 1)`` dimensions;
    ``m = q / (q - 2)`` stays just below that for q dimensions.

    Examples
    --------
    >>> fuzzifier(1000, 2), round(fuzzifier(1000, 25), 3)
    (2.0, 1.087)
    """
    q = min(n_instances - 1, n_features)
    return 2.0 if q <= 4 else q / (q - 2)


def fcm_memberships(instances: Array, centers: Array, m: float) -> Array:
    """Return the memberships (i, r) of fuzzy c-means; an instance on a center belongs to that center only."""
    from scipy.special import logsumexp

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
    # Not the expanded square, because equal points must be at distance 0.
    return np.stack([np.square(a - center).sum(axis=1) for center in b], axis=1)


def _prime_factors(n: int) -> list[int]:
    """Return the prime factors, largest first."""
    factors, divisor = [], 2
    while n > 1:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    return factors[::-1]


def even_split(n_rules: int, n_groups: int) -> npt.NDArray[np.int64]:
    """Divide rules among groups as evenly as possible; the later groups get what is left over.

    Examples
    --------
    >>> even_split(7, 3).tolist()
    [2, 2, 3]
    """
    counts = np.full(n_groups, n_rules // n_groups)
    counts[::-1][: n_rules % n_groups] += 1
    return counts


def default_width(n_features: int) -> float:
    """Return a width, in standard deviations of a feature, with which rules overlap in any dimension.

    Squared distances grow with the number of features, so the width grows with its square root.

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
    """Count distinct instances up to ``enough`` or more; of many instances, only the first are examined."""
    for some in (4 * enough, 10_000):  # comparing all rows would take longer than initializing the rules
        rows = instances[:some] + 0.0  # one zero, whatever its sign
        found = len({row.tobytes() for row in rows})
        if found >= enough:
            break
    return found


def centers_by(method: str, instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return centers by a method in `PARTITIONS`; raise if there are too few distinct instances."""
    distinct = n_distinct(instances, n_rules)
    if method != "grid" and n_rules > distinct:
        raise ParameterError(
            f"n_rules={n_rules} is more than the number of distinct instances, {distinct}: use fewer rules, more bags, "
            "or init='grid'."
        )
    return PARTITIONS[method](instances, n_rules, rng)


# ---------------------------------------------------------------------- a sample of the bags


def sampled(bags: Bags) -> tuple[Bags, Any]:
    """Return bags with about `SAMPLE_ROWS` instances, and their places; all bags, if they have no more."""
    if bags.n_instances <= SAMPLE_ROWS:
        return bags, np.arange(bags.n_bags)
    places = sample_places(bag_hashes(bags), bags.sizes)
    return bags[places], places


def sampled_by_class(bags: Bags, groups: Any) -> tuple[Bags, Any, Array]:
    """Return bags as `sampled` does, their places, and by how much each of them must count more.

    Every group (class) gets its share of the instances, and at least a few bags, even if these are larger than that:
    nothing could be learned from a sample without a rare class.
    """
    if bags.n_instances <= SAMPLE_ROWS:
        return bags, np.arange(bags.n_bags), np.ones(bags.n_bags)
    order = np.argsort(bag_hashes(bags), kind="stable")
    taken = np.zeros(bags.n_bags, bool)
    present = np.unique(groups)
    for group in present:
        own = order[groups[order] == group]
        rows = np.cumsum(bags.sizes[own])
        few = (np.arange(len(own)) < _FEW_BAGS) & (rows <= _TOO_LARGE * SAMPLE_ROWS // len(present))
        few[0] = True
        taken[own[few | (rows <= SAMPLE_ROWS // (2 * len(present)))]] = True
    rest = order[~taken[order]]
    room = SAMPLE_ROWS - int(bags.sizes[taken].sum())
    rest = rest[bags.sizes[rest] <= room // 2]  # one huge bag should not end the sample
    taken[rest[np.cumsum(bags.sizes[rest]) <= room]] = True
    places = np.flatnonzero(taken)
    share = np.bincount(groups[places], minlength=groups.max() + 1) / np.maximum(np.bincount(groups), 1)
    return bags[places], places, 1 / share[groups[places]]


def sample_places(hashes: Any, sizes: Any) -> Any:
    """Return the places, in order, of the bags with the lowest hashes that have `SAMPLE_ROWS` instances together.

    At least one bag is taken.
    """
    order = np.argsort(hashes, kind="stable")
    within = np.cumsum(sizes[order]) <= SAMPLE_ROWS
    within[0] = True
    return np.sort(order[within])


def bag_hashes(bags: Bags) -> Any:
    """Return a 64-bit hash of the instances of each bag.

    A bag has the same hash in every process, so the same bags are sampled however they are divided.
    """
    factors = _mixed(np.arange(1, bags.n_features + 1, dtype=np.uint64)) | np.uint64(1)
    rows = np.empty(bags.n_instances, np.uint64)
    for first in range(0, bags.n_instances, _HASHED_ROWS):
        values = np.ascontiguousarray(bags.instances[first : first + _HASHED_ROWS], np.float64).view(np.uint64)
        rows[first : first + _HASHED_ROWS] = (_mixed(values) * factors).sum(axis=1, dtype=np.uint64)
    return _mixed(np.add.reduceat(_mixed(rows), bags.offsets[:-1]))


def _mixed(numbers: Any) -> Any:
    """Mix the bits of 64-bit numbers, as the generator splitmix64 does."""
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(numbers ^ (numbers >> np.uint64(31)))
