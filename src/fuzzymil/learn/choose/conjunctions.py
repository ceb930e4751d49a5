"""The search for conjunctions: conditions that one instance satisfies at the same time.

Candidates are intervals between quantiles of each feature. The search extends the most promising ones by all others at
once: which instances satisfy which intervals is kept as bits, so that joining a conjunction over the instances of all
bags takes microseconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Bell, Sigmoid
from fuzzymil.learn.choose.candidates import (
    IGNORED,
    Condition,
    MissingValues,
    Part,
    Premise,
    category_conditions,
    degrees_of_missing,
    dividing_thresholds,
    numeric_features,
    which_satisfy,
)

_MOST_INTERVALS = 1500
_SOFT = 0.04  # width of the fuzzy border of an interval, relative to the range of its feature
_EXTENSIONS = 8  # kept of each conjunction
_WORTH = 1.1  # by which factor another condition must increase the gain


class Intervals:
    """Intervals between quantiles of the features, and categories, and which instances lie in them.

    ``missing``: in the search, a missing value lies in an interval if most of what it stands for does.
    """

    def __init__(self, bags: Bags, missing: MissingValues = IGNORED) -> None:
        numeric = numeric_features(bags)
        per_feature = _MOST_INTERVALS / max(len(numeric), 1)
        n_edges = next((n for n in (9, 7, 5, 4, 3) if len(_pairs(n)) <= per_feature), 2)
        wide = np.ones(bags.n_features)
        found: dict[tuple[int, float, float], None] = {}
        each = zip(numeric, dividing_thresholds(bags.instances[:, numeric], n_edges), strict=True)
        divided = {d: edges for d, (edges, _) in each if len(edges)}
        values = bags.instances[:, list(divided)]
        quantiles = np.nanquantile if np.isnan(values).any() else np.quantile  # the first is far slower
        least, low, high, greatest = quantiles(values, (0.0, 0.1, 0.9, 1.0), axis=0)
        wide[list(divided)] = np.where(high > low, high - low, greatest - least)
        for d, edges in divided.items():
            bounds = np.r_[-np.inf, edges, np.inf]
            for first, last in _pairs(len(edges)):
                found[d, float(bounds[first]), float(bounds[last])] = None
        self.intervals = list(found)
        self._categories = category_conditions(bags, missing)
        self.feature = np.array([d for d, *_ in (*found, *self._categories)], int)
        self._numeric = self.feature[: len(found)]
        self._soft = _SOFT * wide
        self._low, self._high = (np.array([interval[end] for interval in found]) for end in (1, 2))
        of_missing = np.ones(len(found))
        if missing.values is not None:
            values = missing.values[:, self._numeric]
            of_missing = ((values > self._low) & (values <= self._high)).mean(axis=0)
        self._if_missing = np.append(of_missing, degrees_of_missing(self._categories, missing)) > 0.5
        inside = self.contain(bags.instances)
        self._counts = np.add.reduceat(inside, bags.offsets[:-1], axis=0, dtype=np.float32)
        packed = np.packbits(np.pad(inside, ((0, 0), (0, -inside.shape[1] % 64))), axis=1, bitorder="little")
        self._bits = np.ascontiguousarray(packed).view(np.uint64)
        self._owner = np.repeat(np.arange(bags.n_bags), bags.sizes)

    def contain(self, rows: Array) -> Array:
        """Return whether each instance lies in each interval, (rows, n)."""
        values = rows[:, self._numeric]
        inside = (values > self._low) & (values <= self._high)
        if self._categories:
            inside = np.hstack([inside, which_satisfy(self._categories, rows)])
        return np.where(np.isnan(rows[:, self.feature]), self._if_missing, inside)

    def premise(self, members: tuple[int, ...]) -> Premise:
        """Return the premise that some instance lies in all of these intervals."""
        return (Part("some", None, tuple(self._condition(n) for n in sorted(members))),)

    def _condition(self, number: int) -> Condition:
        if number >= len(self.intervals):
            return self._categories[number - len(self.intervals)]
        d, low, high = self.intervals[number]
        if np.isinf(low) or np.isinf(high):
            rising = np.isinf(high)
            return Condition(d, (Sigmoid(low if rising else high, (1 if rising else -1) / self._soft[d]),))
        half = (high - low) / 2
        return Condition(d, (Bell(low + half, half, max(half / (2 * self._soft[d]), 1.0)),))

    def find(
        self,
        rows: Array,
        residuals: Array,
        curvature: Array,
        *,
        max_conditions: int = 3,
        beam: int = 40,
        keep: int = 12,
    ) -> list[Premise]:
        """Return the intervals and conjunctions that reduce the loss most, best first.

        ``rows`` (b,): Bags to look at, ascending. ``residuals``, ``curvature`` (b,): negative first and second
        derivative of the loss with respect to the output, times the bags' weights. ``max_conditions``: most conditions
        in a conjunction. ``beam``: number of conjunctions that are extended by another condition. ``keep``: number of
        conjunctions to return.
        """
        n = len(self.feature)
        place = np.full(len(self._counts), -1)  # of each bag among those to look at
        place[rows] = np.arange(len(rows))
        looked_at = place[self._owner] >= 0
        total = curvature.sum()
        slope = (residuals - curvature * (residuals.sum() / total)).astype(np.float32)
        weight = curvature.astype(np.float32)

        def gains(truth: Array, of: Array) -> Array:
            """Return by how much columns (bags, n) reduce the loss, which are 0 in other bags."""
            mean = weight[of] @ truth
            return np.asarray(np.square(slope[of] @ truth) / np.maximum(mean - mean * mean / total, 0.02 * total))

        counts = self._counts[rows]
        some = gains((counts > 0).astype(np.float32), np.arange(len(rows)))
        few = np.minimum(counts, 3)
        spread = weight @ np.square(few) - np.square(weight @ few) / total
        often = np.square(slope @ few) / np.maximum(spread, 0.02 * total)
        first = self._varied(np.argsort(-np.maximum(some, often), kind="stable"), beam)
        members: dict[tuple[int, ...], float] = {(m,): float(some[m]) for m in first}
        # An interval says something alone, too; of half-lines, there are enough among the thresholds.
        bounded = np.isfinite(self._low) & np.isfinite(self._high)
        found = {key: gain for key, gain in members.items() if key[0] < len(bounded) and bounded[key[0]]}
        for _ in range(1, min(max_conditions, len(np.unique(self.feature)))):
            longer: dict[tuple[int, ...], float] = {}
            for chosen, before in members.items():
                instances = np.flatnonzero(np.logical_and.reduce([self._is_inside(m) for m in chosen]) & looked_at)
                if not len(instances):
                    continue
                owner = place[self._owner[instances]]
                starts = np.flatnonzero(np.diff(owner, prepend=-1))
                any_of = np.bitwise_or.reduceat(self._bits[instances], starts, axis=0)
                any_of = np.ascontiguousarray(any_of).view(np.uint8)
                truth = np.unpackbits(any_of, axis=1, count=n, bitorder="little").astype(np.float32)
                merit = gains(truth, owner[starts])
                for m in chosen:
                    merit[self.feature == self.feature[m]] = 0.0
                for best in np.argpartition(-merit, min(_EXTENSIONS, n - 1))[:_EXTENSIONS]:
                    if merit[best] > _WORTH * before:
                        longer[tuple(sorted((*chosen, int(best))))] = float(merit[best])
            kept = sorted(longer, key=lambda key: -longer[key])[: max(beam // 4, keep)]
            members = {key: longer[key] for key in kept}
            found |= members
        return [self.premise(key) for key in sorted(found, key=lambda key: -found[key])[:keep]]

    def _is_inside(self, number: int) -> Array:
        """Return whether each instance lies in an interval, (i,)."""
        word, bit = divmod(number, 64)
        return np.asarray(self._bits[:, word] >> np.uint64(bit) & np.uint64(1)).astype(bool)

    def _varied(self, order: Array, count: int) -> list[int]:
        """Return the first intervals in an order, but only some of each feature."""
        most = max(count // 10, 6)
        seen: dict[int, int] = {}
        chosen = []
        for n in order:
            d = int(self.feature[n])
            seen[d] = seen.get(d, 0) + 1
            if seen[d] <= most:
                chosen.append(int(n))
            if len(chosen) == count:
                break
        return chosen


def _pairs(n_edges: int) -> list[tuple[int, int]]:
    """Return positions of lower and upper bounds: half-lines, and intervals of two or more parts up to half of all."""
    last = n_edges + 1
    inner = [(a, b) for a in range(1, last) for b in range(a + 2, last) if b - a <= max(3, n_edges // 2)]
    return [(a, last) for a in range(1, last)] + [(0, b) for b in range(1, last)] + inner


def find_pairs(
    columns: Array,
    residuals: Array,
    curvature: Array,
    *,
    differ: Callable[[int, int], bool] = lambda one, two: True,
    beam: int = 60,
    keep: int = 12,
) -> list[tuple[int, int]]:
    """Return pairs of premises whose conjunction reduces the loss most: each may hold in another instance.

    ``columns`` (b, p): truth of the premises. ``residuals``, ``curvature`` (b,): as in `Intervals.find`. ``differ``:
    whether two premises, given their columns, say different things; others are not joined. ``beam``: number of premises
    that are joined with every other one. ``keep``: number of pairs to return, best first.
    """
    total = curvature.sum()
    slope = residuals - curvature * (residuals.sum() / total)

    def gains(first: Array, second: Array) -> Array:
        """Return by how much the products of few columns and many, (m, n), reduce the loss."""
        weighted = first.T * curvature
        mean, square = weighted @ second, (weighted * first.T) @ np.square(second)
        return np.asarray(
            np.square((first.T * slope) @ second) / np.maximum(square - mean * mean / total, 0.02 * total)
        )

    alone = gains(np.ones((len(columns), 1)), columns)[0]
    first = np.argsort(-alone, kind="stable")[:beam]
    together = gains(columns[:, first], columns)
    together[together <= _WORTH * np.maximum(alone[first][:, None], alone)] = 0.0
    better = np.flatnonzero(together)
    best = better[np.argsort(-together.flat[better], kind="stable")]
    found: dict[tuple[int, int], None] = {}
    for place, other in zip(*np.unravel_index(best, together.shape), strict=True):
        one, two = sorted((int(first[place]), int(other)))
        if differ(one, two):
            found[one, two] = None
        if len(found) == keep:
            break
    return list(found)
