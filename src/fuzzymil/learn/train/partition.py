"""Where rules start: a sample of the bags, partitions of the instance space, and a greedy search for short rules.

The partitions take instances (i, d) without missing values and return centers (r, d), in the units of the instances;
the estimators pass standardized features.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.runtime import check_process
from fuzzymil.bags import Bags, BagStream, PartitionedBags, require_whole_bags
from fuzzymil.learn.train.scaling import Measures

SAMPLE_ROWS = 50_000
"""Number of instances to initialize rules on; if there are no more, all of them are used."""

_FEW_BAGS, _TOO_LARGE = 10, 8  # bags of each class at least, unless they have so many times too many instances
_SHARE_OF_CLASS = 20  # of the instances of a sample: what the few bags of one class may have
_HASHED_ROWS = 1 << 16  # hashed at once
_FEW_ROWS = 4096  # up to which k-means takes one thread
_MOST_LINES = 9  # of a grid, per feature: more terms would have no names
_CLUSTERED_ROWS, _ROWS_AT_ONCE = 5_000, 200  # whose distances subtractive clustering computes
_APART = 1.5  # radius in which subtractive clustering takes potential away, relative to that of the sets

Array = npt.NDArray[Any]


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


def grid_widths(centers: Array, otherwise: float) -> Array:
    """Return widths (r, d) with which neighbors on the lines of a grid cross at one half, as in Jang's ANFIS.

    ``otherwise``: the width where all centers are on one line.

    Examples
    --------
    >>> grid_widths(np.array([[1.0, 0.0], [3.0, 0.0]]), 0.8).round(3).tolist()
    [[0.849, 0.8], [0.849, 0.8]]
    """
    lines = [np.unique(column) for column in centers.T]
    apart = [np.diff(line).min() / math.sqrt(8 * math.log(2)) if len(line) > 1 else otherwise for line in lines]
    return np.tile(apart, (len(centers), 1))


def wang_mendel(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return the cells of a regular grid in which there are instances, as Wang and Mendel's rules from examples.

    The grid has the same number of lines for every feature, as many as leave at most ``n_rules`` such cells, or two;
    of more cells, those with most instances count.

    Examples
    --------
    >>> wang_mendel(np.array([[0.0, 0.0], [1.0, 1.1], [4.0, 4.0]]), 3, np.random.RandomState(0)).round(2).tolist()
    [[0.22, 0.22], [1.11, 1.11], [3.78, 3.78]]
    """
    del rng
    low, span = instances.min(axis=0), np.ptp(instances, axis=0)
    varies = span > 0
    shares = np.where(varies, (instances - low) / np.where(varies, span, 1.0), 0.0)
    kept: tuple[Array, Array, int] | None = None
    for n_lines in range(2, _MOST_LINES + 1):
        nearest = np.minimum((shares * n_lines).astype(int), n_lines - 1)
        cells, counts = np.unique(nearest, axis=0, return_counts=True)
        if kept is None or len(cells) <= n_rules:
            kept = cells, counts, n_lines
    assert kept is not None
    cells, counts, n_lines = kept
    cells = cells[np.sort(np.argsort(-counts, kind="stable")[:n_rules])]
    return np.asarray(low + span * np.where(varies, (cells + 0.5) / n_lines, 0.0))


def subtractive(instances: Array, n_rules: int, rng: np.random.RandomState) -> Array:
    """Return the centers of Chiu's subtractive clustering: instances with many others around, far from each other.

    There are at most ``n_rules``: centers are taken until what is left of the potential is below 15% of the first. The
    radius is that of sets with the `default_width`. Of more than 5,000 instances, as many count, evenly spaced.

    Examples
    --------
    >>> subtractive(np.array([[0.0], [0.2], [0.1], [5.0], [5.1]]), 9, np.random.RandomState(0)).ravel().tolist()
    [0.1, 5.1]
    """
    del rng
    # The same for every restart, because fits that train together have equally many rules.
    rows = instances[np.linspace(0, len(instances) - 1, min(len(instances), _CLUSTERED_ROWS)).round().astype(int)]
    spread = rows.std(axis=0)
    scaled = rows / np.where(spread > 0, spread, 1.0)
    width = default_width(max(int((spread > 0).sum()), 1))
    potential = sum(np.exp(-_squared_distances(scaled, some) / (2 * width**2)).sum(axis=1) for some in _parts(scaled))
    found: list[int] = []
    least = 0.15 * potential.max()
    while len(found) < n_rules and potential.max() > least:
        center = int(potential.argmax())
        found.append(center)
        # Taken from a wider neighborhood, so that centers are not close to each other.
        near = np.exp(-np.square(scaled - scaled[center]).sum(axis=1) / (2 * (_APART * width) ** 2))
        potential = potential - potential[center] * near
    return np.asarray(rows[found])


def _parts(rows: Array) -> list[Array]:
    return [rows[first : first + _ROWS_AT_ONCE] for first in range(0, len(rows), _ROWS_AT_ONCE)]


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
    "wang-mendel": wang_mendel,
    "subtractive": subtractive,
}

GRIDS = ("grid", "wang-mendel")
"""Partitions into the cells of a grid over all instances, with sets that cross at one half."""


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
    if method not in (*GRIDS, "subtractive") and n_rules > distinct:
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


def sample_places(hashes: Any, sizes: Any, rows: int | None = None) -> Any:
    """Return the places, in order, of the bags with the lowest hashes that have so many instances together.

    At least one bag is taken. ``rows``: `SAMPLE_ROWS` by default.
    """
    order = np.argsort(hashes, kind="stable")
    within = np.cumsum(sizes[order]) <= (SAMPLE_ROWS if rows is None else rows)
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


# ---------------------------------------------------------------------- one pass over a stream


class StreamSummary(NamedTuple):
    """What is known about all bags of a stream."""

    measures: Measures
    labels: Array  # (n_bags,) or (n_bags, n_outputs)
    any_missing: bool
    sample: Bags
    places: Array  # of the sample's bags among all bags
    part_bags: Array  # (n_parts,) bags in each part
    part_rows: Array  # (n_parts,) instances
    greatest_bag: int
    digest: str  # of all bags


class Quota(NamedTuple):
    """Which bags a sample has: those with the lowest hashes that have so many instances together.

    ``few``: so many bags of each class at least, unless they are large.
    """

    rows: int
    few: int = 0

    def places(self, hashes: Array, sizes: Array, classes: Array) -> Array:
        """Return the places of the bags in a sample, in order; a sample of samples is the sample of all."""
        taken = sample_places(hashes, sizes, self.rows)
        for each in np.unique(classes) if self.few else ():
            own = np.flatnonzero(classes == each)
            own = own[np.argsort(hashes[own], kind="stable")][: self.few]
            within = np.cumsum(sizes[own]) <= self.rows // _SHARE_OF_CLASS
            taken = np.append(taken, own[within | (np.arange(len(own)) < _FEW_BAGS)])
        return np.unique(taken)


class _Facts(NamedTuple):
    """What is known about the bags of a part."""

    measures: Measures
    labels: Any  # an array; None if they are not known
    sizes: Array
    hashes: Array
    names: tuple[str, ...] | None
    ids: Array


def _facts(bags: Bags, check: Callable[[Bags], Bags]) -> _Facts:
    bags = check(bags)
    if bags.columns is not None and bags.columns.categorical.any():
        name = bags.columns.names[int(np.argmax(bags.columns.categorical))]
        raise InputError(
            f"Feature {name!r} has categories, which streams do not support yet: pass all bags at "
            "once, or bags.with_indicators()."
        )
    return _Facts(Measures.of(bags.instances), bags.labels, bags.sizes, bag_hashes(bags), bags.feature_names, bags.ids)


def _facts_and_bags(bags: Bags, check: Callable[[Bags], Bags]) -> tuple[_Facts, Bags]:
    return _facts(bags, check), bags


def _some_of(bags: Bags, places: Array) -> Bags | None:
    plain = Bags(bags.instances, bags.offsets, feature_names=bags.feature_names)
    return plain[places] if len(places) else None


def summarize(
    stream: BagStream,
    check: Callable[[Bags], Bags],
    report: Callable[[int, int], None],
    *,
    quota: Callable[[int], Quota] | None = None,
    client: Any = None,
) -> StreamSummary:
    """Pass over all parts once; with a Dask client, on the workers of its cluster, and a second time for the sample.

    ``check``: receives each part and returns it, or raises. ``report``: called with the number of parts done and the
    number of parts. ``quota``: of the sample, given the number of features.
    """
    parts: list[_Facts] = []
    sample, digest = _Sample(quota or (lambda n_features: Quota(SAMPLE_ROWS))), hashlib.blake2b(digest_size=16)
    if client is None:
        found = stream.map(functools.partial(_facts_and_bags, check=check))
    else:
        found = ((facts, None) for facts in stream.map(functools.partial(_facts, check=check), client))
    for number, (own, bags) in enumerate(found):
        if own.labels is None:
            raise InputError(f"Part {number} of the stream has no labels: load must return Bags with labels.")
        if parts and _is_text(own.labels) != _is_text(parts[0].labels):
            raise InputError(f"The labels of parts 0 and {number} of the stream mix text and numbers: use one of them.")
        now, then = ((each.names or len(each.measures.low)) for each in (own, parts[0] if parts else own))
        if now != then:
            raise InputError(
                f"Part {number} of the stream has different features than part 0: {now} instead of {then}."
            )
        parts.append(own)
        sample.add(bags, own)
        digest.update(own.hashes.tobytes() + own.sizes.tobytes() + repr(own.labels.tolist()).encode())
        report(number + 1, len(stream))
    if isinstance(stream, PartitionedBags):
        require_whole_bags([part.ids for part in parts])
    whole = Measures.joined([part.measures for part in parts])
    part_rows = np.array([int(part.sizes.sum()) for part in parts])
    part_bags = np.array([len(part.sizes) for part in parts])
    if client is None:
        kept, places = sample.result()
    else:
        places = sample.places()
        ends = np.cumsum(part_bags)
        own_places = np.split(places, np.searchsorted(places, ends[:-1]))
        given = [(each - end + n,) for each, end, n in zip(own_places, ends, part_bags, strict=True)]
        kept = Bags.concatenate([some for some in stream.map(_some_of, client, given) if some is not None])
    return StreamSummary(
        measures=whole,
        labels=np.concatenate([part.labels for part in parts]),
        any_missing=bool((whole.n_known < part_rows.sum()).any()),
        sample=kept,
        places=places,
        part_bags=part_bags,
        part_rows=part_rows,
        greatest_bag=max(int(part.sizes.max()) for part in parts),
        digest=digest.hexdigest(),
    )


def _is_text(labels: Array) -> bool:
    return labels.dtype.kind in "US" or (labels.dtype == object and isinstance(labels.ravel()[0], str))


class _Sample:
    """The bags of a sample among those seen so far: themselves, unless they stay on a cluster, and their numbers."""

    def __init__(self, quota: Callable[[int], Quota]) -> None:
        self._quota_of, self._n_bags = quota, 0
        self._bags: list[Bags] = []
        self._known: list[tuple[Array, Array, Array, Array]] = []  # numbers, hashes, sizes and labels

    def add(self, bags: Bags | None, facts: _Facts) -> None:
        self._quota = self._quota_of(len(facts.measures.low))
        numbers = self._n_bags + np.arange(len(facts.sizes))
        self._n_bags += len(numbers)
        self._known.append((numbers, facts.hashes, facts.sizes, facts.labels))
        if bags is not None:
            self._bags.append(Bags(bags.instances, bags.offsets, feature_names=bags.feature_names))
            if sum(part.n_instances for part in self._bags) > 2 * self._quota.rows:
                self._thin()

    def _thin(self) -> None:
        known = tuple(map(np.concatenate, zip(*self._known, strict=True)))
        chosen = self._quota.places(*known[1:])
        self._known = [tuple(each[chosen] for each in known)]  # type: ignore[list-item]
        if self._bags:
            self._bags = [Bags.concatenate(self._bags)[chosen]]

    def result(self) -> tuple[Bags, Array]:
        """Return the bags and their numbers."""
        if len(self._bags) > 1 or self._bags[0].n_instances > self._quota.rows:
            self._thin()
        return self._bags[0], self._known[0][0]

    def places(self) -> Array:
        """Return the numbers of the bags."""
        self._thin()
        return self._known[0][0]


# ---------------------------------------------------------------------- a search for short rules
# Training moves and widens sets, but rarely finds the two features of fifty that matter, because each rule starts with
# conditions on all of them. So short rules are searched for before training. The truth of a rule with conditions on
# features p and q around an instance is ``mu_p * mu_q`` (the product); the covariance of its mean truth over a bag with
# the labels, for all pairs of features at once, is a matrix product. The best pair is extended by one feature at a time
# while the score improves; then the part of the labels that the rules explain so far is subtracted (by least squares),
# and the search continues with the residual. It ends when the best rule scores no better than the best one for shuffled
# labels. The last rule has no condition: it covers all other bags.
#

_WIDTHS = (0.35, 0.7, 1.4)  # candidate widths of the sets, in standard deviations of the feature
_N_CENTERS = 60  # instances tried as the center of each rule
_N_SHUFFLES = 19  # a rule must beat the best of this many searches on shuffled labels (p < 0.05)
_N_FEATURES = 64  # features with the best scores of their own, from which pairs are formed
_MAX_INSTANCES = 4000  # larger data is subsampled within bags


class ShortRules(NamedTuple):
    """Rules with few conditions; the last one has none."""

    centers: Array  # (r, d)
    widths: Array  # (r, d)
    used: Array  # (r, d), whether the rule has a condition on the feature


class _Found(NamedTuple):
    score: float
    features: list[int]
    width: float
    truth: Array  # (i,)


class _Data(NamedTuple):
    x: Array  # (i, d) in standard deviations, NaN where unknown
    owner: Array  # (i,) bag of each instance
    share: Array  # (i,) one over the size of its bag


def short_rules(
    x: Array,
    offsets: Array,
    targets: Array,
    weights: Array,
    *,
    n_rules: int,
    max_conditions: int,
    rng: np.random.RandomState,
    exactly: bool = False,
) -> ShortRules:
    """Find rules with at most ``max_conditions`` conditions; at most ``n_rules``, with the one that has none.

    Shapes: ``x`` (n_instances, n_features), with NaN for missing values, ``offsets`` (n_bags + 1,), ``targets``
    (n_bags, n_outputs), ``weights`` (n_bags,). ``exactly``: return ``n_rules`` rules, even if the last ones are no
    better than chance.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> x = rng.uniform(size=(400, 5))                              # bags of two instances
    >>> near = np.abs(x[:, [1, 3]] - 0.5).max(axis=1) < 0.2
    >>> labels = near.reshape(-1, 2).any(axis=1)[:, None].astype(float)
    >>> found = short_rules(x, np.arange(0, 401, 2), labels, np.ones(200), n_rules=4, max_conditions=2, rng=rng)
    >>> np.flatnonzero(found.used[0])
    array([1, 3])
    """
    scale = _deviation(x)
    data = _thinned(x / scale, offsets, rng)
    # A feature that is constant or always missing carries no information.
    varies = np.fmax.reduce(data.x, axis=0) > np.fmin.reduce(data.x, axis=0)
    columns: list[Array] = [np.ones(len(targets))]
    found: list[tuple[Array, _Found]] = []
    root = np.sqrt(weights)[:, None]
    while len(found) < n_rules - 1:
        joint = np.stack(columns, axis=1)
        solution = np.linalg.lstsq(root * joint, root * targets, rcond=None)[0]
        rest = weights[:, None] * (targets - joint @ solution)
        center, best = _best_rule(data, rest, varies, max_conditions, rng, test=not exactly and len(found) > 0)
        if best is None:
            break
        found.append((center, best))
        columns.append(np.bincount(data.owner, best.truth * data.share, minlength=len(targets)))
    centers = np.stack([center for center, _ in found] + [np.zeros(x.shape[1])])
    used = np.zeros(centers.shape, bool)
    for rule, (_, one) in enumerate(found):
        used[rule, one.features] = True
    width = np.array([one.width for _, one in found] + [1.0])[:, None]
    return ShortRules(np.where(np.isnan(centers), 0.0, centers) * scale, width * scale, used)


def _deviation(x: Array) -> Array:
    """Return the standard deviation of each feature over the known values, or 1 if it is 0 or undefined."""
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, x, 0.0).sum(axis=0) / count
    deviation = np.sqrt(np.where(known, np.square(x - mean), 0.0).sum(axis=0) / count)
    return np.where(deviation > 0, deviation, 1.0)


def _thinned(x: Array, offsets: Array, rng: np.random.RandomState) -> _Data:
    """Subsample the instances of large bags, so that all bags together stay within the limit."""
    sizes = np.diff(offsets)
    most = int(sizes.max())
    while np.minimum(sizes, most).sum() > _MAX_INSTANCES and most > 1:
        most = most * 3 // 4
    rows = [
        start + (np.arange(size) if size <= most else np.sort(rng.permutation(size)[:most]))
        for start, size in zip(offsets[:-1], sizes, strict=True)
    ]
    kept = np.minimum(sizes, most)
    owner = np.repeat(np.arange(len(sizes)), kept)
    return _Data(x[np.concatenate(rows)].astype(np.float32), owner, (1.0 / kept)[owner])


def _best_rule(
    data: _Data, rest: Array, varies: Array, max_conditions: int, rng: np.random.RandomState, *, test: bool
) -> tuple[Array, _Found | None]:
    """Return center and conditions of the rule that best fits the residual (b, k) of the targets."""
    shuffled = [rest] + [rest[rng.permutation(len(rest))] for _ in range(_N_SHUFFLES if test else 0)]
    residuals = [(each[data.owner] * data.share[:, None]).astype(np.float32) for each in shuffled]
    centers = rng.permutation(len(data.x))[:_N_CENTERS]
    best: list[tuple[Array, _Found | None]] = [(data.x[0], None)] * len(shuffled)
    for center in data.x[np.sort(centers)]:
        for width in _WIDTHS:
            with np.errstate(under="ignore"):
                mu = np.exp(-0.5 * np.square((data.x - center) / width))
            mu = np.where(np.isnan(mu), 1.0, mu).astype(np.float32) * varies
            for place, residual in enumerate(residuals):
                one = _conjunction(mu, residual, max_conditions, width)
                leader = best[place][1]
                if leader is None or one.score > leader.score:
                    best[place] = center, one
    center, winner = best[0]
    chance = max((one.score for _, one in best[1:] if one is not None), default=0.0)
    return center, None if winner is None or (test and winner.score <= chance) else winner


def _conjunction(mu: Array, residual: Array, max_conditions: int, width: float) -> _Found:
    """Return the best conjunction of features, given memberships (i, d) and the residuals (i, k) of instances."""
    alone = _scores(mu, residual)
    if max_conditions == 1:
        first = int(alone.argmax())
        return _Found(float(alone[first]), [first], width, mu[:, first])
    near = np.sort(np.argsort(-alone, kind="stable")[:_N_FEATURES])
    pairs = _pair_scores(mu[:, near], residual)
    p, q = np.unravel_index(int(pairs.argmax()), pairs.shape)
    features, score = [int(near[p]), int(near[q])], float(pairs[p, q])
    if features[0] == features[1]:  # a single feature is best
        features = features[:1]
    truth = mu[:, features].prod(axis=1)
    while len(features) < max_conditions:
        longer = _scores(mu * truth[:, None], residual)
        longer[features] = 0.0
        new = int(longer.argmax())
        if longer[new] <= score:
            break
        features.append(new)
        score = float(longer[new])
        truth = truth * mu[:, new]
    return _Found(score, features, width, truth)


def _scores(truth: Array, residual: Array) -> Array:
    """Return the residual that each column (i, d) collects, in standard deviations under random signs."""
    collected = residual.T @ truth
    noise = np.square(residual).T @ np.square(truth)
    return _ratio(np.square(collected).sum(axis=0), noise.sum(axis=0))


def _pair_scores(mu: Array, residual: Array) -> Array:
    """Return the scores (d, d) of all products of two columns; the diagonal holds those of single columns."""
    collected = np.zeros((mu.shape[1],) * 2)
    noise = np.zeros_like(collected)
    squared = np.square(mu)
    for own in residual.T:
        collected += np.square(mu.T @ (own[:, None] * mu))
        noise += squared.T @ (np.square(own)[:, None] * squared)
    scores = _ratio(collected, noise)
    np.fill_diagonal(scores, _scores(mu, residual))
    return scores


def _ratio(squares: Array, noise: Array) -> Array:
    return np.sqrt(np.divide(squares, noise, out=np.zeros(squares.shape), where=noise > 0))
