"""The search for conjunctions: conditions that one instance satisfies at the same time.

Candidates are intervals between quantiles of each feature, and categories. Of every value the part of its feature's
range is kept, as a small number, and of every instance which conditions it satisfies, as bits, so that a conjunction is
extended by all others at once.

In large bags, some instance satisfies nearly every single condition, which leaves nothing to start from. There, pairs
are tried together: those that more instances satisfy where residuals are high are where to start.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
    some_instances,
    which_satisfy,
)

_MOST_INTERVALS, _MOST_FINE_INTERVALS = 1500, 3000
_MOST_CODES = 1 << 25  # values that are looked at; of more, those of a sample of the instances of each bag
_AT_ONCE = 1 << 22  # numbers, to bound the memory that they take
_SOFT = 0.04  # width of the fuzzy border of an interval, relative to the range of its feature
_EXTENSIONS = 8  # kept of each conjunction
_WORTH = 1.1  # by which factor another condition, or another quantifier than SOME, must increase the gain
_FLOOR = 0.02  # least share of the bags that a gain is computed for
_NUMBERS = (2, 3, 4, 5)  # of AT LEAST

_LARGE = 50  # median size of the bags from which on pairs are tried together
_TAILS = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)  # shares of the instances that edges separate in large bags
_MOST_PLACES = 200_000_000  # instances times pairs of features that are tried together
_SEEDS, _SEEDS_OF_TWO = 160, 3  # pairs that are kept: in all, and of two features
_FEW_FEATURES, _FEW_SEEDS = 7, 12  # where bags are not large
_SWEEPS = 2


class Intervals:
    """Intervals between quantiles of the features, and categories, and which instances lie in them.

    ``missing``: in the search, a missing value lies in an interval if most of what it stands for does. ``n_sampled`` of
    ``n_instances`` are looked at: of very many, a part of each bag with its extremes.
    """

    def __init__(self, bags: Bags, missing: MissingValues = IGNORED) -> None:
        numeric = numeric_features(bags)
        typical = float(np.median(bags.sizes))
        self._is_large = typical >= _LARGE
        n_edges, tails = _resolution(len(numeric), typical)
        self.intervals: list[tuple[int, float, float]] = []
        self._soft: list[float] = []  # width of the border of each
        tables: list[Array] = []  # which parts of the range satisfy each condition; the last one is a missing value
        edges: dict[int, Array] = {}
        for d, own, soft in _divide(bags, numeric, n_edges, tails):
            edges[d], bounds, parts = own, np.r_[-np.inf, own, np.inf], np.arange(len(own) + 2)
            for a, b in _pairs(len(own), len(tails) if len(own) == n_edges + 2 * len(tails) else 0):
                self.intervals.append((d, float(bounds[a]), float(bounds[b])))
                self._soft.append(float(min(soft[a], soft[b])))
                tables.append((parts >= a) & (parts < b))
        self._categories = category_conditions(bags, missing)
        self.feature = np.array([*(d for d, *_ in self.intervals), *(c.feature for c in self._categories)], int)
        for condition in self._categories:
            values = np.zeros(len(edges.get(condition.feature, ())) + 1, int)
            if bags.columns is not None and bags.columns[condition.feature].categories:
                values = np.arange(len(bags.columns[condition.feature].categories))
            with_missing = np.append(values, np.nan)[:, None]
            tables.append(which_satisfy([condition._replace(feature=0)], with_missing)[:, 0])
        for table, degree in zip(tables, self._degrees_of_missing(missing), strict=True):
            table[-1] = degree > 0.5
        self._tables = tables
        used, self._row = np.unique(self.feature, return_inverse=True)
        self._numbers = np.split(np.argsort(self._row, kind="stable"), np.cumsum(np.bincount(self._row)))[:-1]
        self._members = [np.column_stack([tables[n] for n in own]).astype(np.float32) for own in self._numbers]
        alike: dict[tuple[int, ...], list[int]] = {}
        for row, members in enumerate(self._members):
            alike.setdefault(members.shape, []).append(row)
        self._alike = list(alike.values())  # features with equally many parts of their range, and conditions
        kept = _sample(bags, used, _MOST_CODES // max(len(used), 1))
        self.n_instances, self.n_sampled = bags.n_instances, len(kept)
        self._n_bags, self._owner = bags.n_bags, bags.bag_index[kept]
        self._codes = np.empty((len(used), len(kept)), np.min_scalar_type(max(map(len, tables), default=1)))
        for row, (d, members) in enumerate(zip(used.tolist(), self._members, strict=True)):
            values = bags.instances[kept, d]
            self._codes[row] = 0 if d in edges else np.nan_to_num(values)
            for edge in edges.get(d, ()):
                self._codes[row] += values > edge  # far faster than to search, for so few edges
            self._codes[row][np.isnan(values)] = len(members) - 1
        self._counts = np.empty((len(tables), bags.n_bags), np.min_scalar_type(int(bags.sizes.max())))
        for numbers, counts in self.counts(self._codes, slice(None), self._owner, bags.n_bags):
            self._counts[numbers] = counts.swapaxes(1, 2)
        self._bits = np.zeros((len(kept), 0 if self._is_large else -(-len(tables) // 64)), np.uint64)
        for first in range(0, 64 * self._bits.shape[1], 64):
            inside = [self.inside((n,)) for n in range(first, min(first + 64, len(tables)))]
            packed = np.packbits(inside, axis=0, bitorder="little")
            self._bits.view(np.uint8)[:, first // 8 : first // 8 + len(packed)] = packed.T
        self._together: dict[tuple[int, int], Array] = {}  # number of instances in two parts of two features

    def _degrees_of_missing(self, missing: MissingValues) -> list[float]:
        degrees = [1.0] * len(self.intervals)
        if missing.values is not None:
            values = missing.values.T
            degrees = [float(((values[d] > low) & (values[d] <= high)).mean()) for d, low, high in self.intervals]
        return [*degrees, *degrees_of_missing(self._categories, missing).tolist()]

    def inside(self, members: Sequence[int], codes: Array | None = None) -> Array:
        """Return whether each instance that is looked at lies in all of these intervals, (i,)."""
        codes = self._codes if codes is None else codes
        found: Array = np.ones(codes.shape[1], bool)
        for n in members:
            own, parts = codes[self._row[n]], np.flatnonzero(self._tables[n])
            if parts[-1] - parts[0] < len(parts):  # unsigned differences tell in one comparison
                found &= own - own.dtype.type(parts[0]) < own.dtype.type(len(parts))
            else:
                found &= np.take(self._tables[n], own)
        return found

    def counts(
        self, codes: Array, instances: Array | slice, owner: Array, n_bags: int, only: int | None = None
    ) -> Iterator[tuple[Array, Array]]:
        """Yield for some features the conditions (p, c), and how many instances of each bag satisfy each (p, b, c).

        ``owner``: the bag of each of the ``instances`` with these ``codes``, from 0 to ``n_bags``. ``only``: a feature.
        """
        for group in self._alike if only is None else [[only]]:
            n_parts, n_conditions = self._members[group[0]].shape
            step = max(_AT_ONCE // max(len(owner), n_bags * max(n_parts, n_conditions)), 1)
            for some in (group[first : first + step] for first in range(0, len(group), step)):
                shape = len(some), n_bags, n_parts
                places = np.array([codes[row][instances] for row in some])
                places = places + n_parts * (owner + n_bags * np.arange(len(some))[:, None])
                parts = np.bincount(places.ravel(), minlength=shape[0] * n_bags * n_parts).reshape(shape)
                members = np.array([self._members[row] for row in some])
                yield np.array([self._numbers[row] for row in some]), parts.astype(np.float32) @ members

    def together(self, one: int, two: int) -> Array:
        """Return how many instances lie in each part of the range of one feature and of another."""
        if (one, two) not in self._together:
            shape = len(self._members[one]), len(self._members[two])
            places = self._codes[one].astype(np.intp) * shape[1] + self._codes[two]
            self._together[one, two] = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
        return self._together[one, two]

    def premise(self, members: Sequence[int], quantifier: str = "some", number: int | None = None) -> Premise:
        """Return the premise that so many instances lie in all of these intervals."""
        return (Part(quantifier, number, tuple(self._condition(n) for n in sorted(members))),)

    def _condition(self, number: int) -> Condition:
        if number >= len(self.intervals):
            return self._categories[number - len(self.intervals)]
        (d, low, high), soft = self.intervals[number], self._soft[number]
        if np.isinf(low) or np.isinf(high):
            rising = np.isinf(high)
            return Condition(d, (Sigmoid(low if rising else high, (1 if rising else -1) / soft),))
        half = (high - low) / 2
        return Condition(d, (Bell(low + half, half, max(half / (2 * soft), 1.0)),))

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

        Each has the quantifier with which it does so: SOME unless ON AVERAGE or AT LEAST is clearly better.

        ``rows`` (b,): Bags to look at, ascending. ``residuals``, ``curvature`` (b,): negative first and second
        derivative of the loss with respect to the output, times the bags' weights. ``max_conditions``: most conditions
        in a conjunction. ``beam``: number of conjunctions that are extended by another condition. ``keep``: number of
        conjunctions to return.
        """
        if not len(self.feature):
            return []
        search = _Search(self, rows, residuals, curvature)
        best = search.alone(beam)
        # An interval says something alone, too; of half-lines, there are enough among the thresholds.
        bounded = np.array([np.isfinite(low) and np.isfinite(high) for _, low, high in self.intervals])
        found = {key: each for key, each in best.items() if key[0] < len(bounded) and bounded[key[0]]}
        for length in range(2, min(max_conditions, len(np.unique(self.feature))) + 1):
            longer: dict[_Key, float] = {}
            for key, before in best.items() if length > 2 or not self._is_large else ():
                longer |= {new: gain for new, gain in search.extend(key).items() if gain > _WORTH * before.gain}
            n_kept = max(beam // 4, keep)
            judged = search.judge(sorted(longer, key=lambda key: -longer[key])[:n_kept])
            if length == 2:
                judged |= search.judge(search.pairs())
            found |= judged
            n_kept = len(judged) if self._is_large else n_kept
            best = dict(sorted(judged.items(), key=lambda item: -item[1].gain)[:n_kept])
        order = sorted(found, key=lambda key: -found[key].gain)[:keep]
        if self._is_large:
            found = search.improved({key: found[key] for key in order})
            order = sorted(found, key=lambda key: -found[key].gain)
        return [self.premise(key, found[key].quantifier, found[key].number) for key in order]


class _Truth(NamedTuple):
    """By how much a conjunction reduces the loss, and with which quantifier."""

    gain: float
    quantifier: str
    number: int | None


_Key = tuple[int, ...]  # numbers of conditions, ascending


class _Search:
    """A search among intervals, for what some bags need; see `Intervals.find`."""

    def __init__(self, intervals: Intervals, rows: Array, residuals: Array, curvature: Array) -> None:
        self._of, self._rows = intervals, rows
        self._codes, self._owner, self._bits = intervals._codes, intervals._owner, intervals._bits
        if len(rows) < intervals._n_bags:
            place = np.full(intervals._n_bags, -1)  # of each bag among those to look at
            place[rows] = np.arange(len(rows))
            looked_at = np.flatnonzero(place[self._owner] >= 0)
            self._codes, self._owner = self._codes[:, looked_at], place[self._owner[looked_at]]
            self._bits = self._bits[looked_at]
        self._sizes = np.bincount(self._owner)
        self._total = float(curvature.sum())
        # Of each bag: what it still needs, next to a new default, and how much it counts.
        self._needs = np.array([residuals - curvature * (residuals.sum() / self._total), curvature])
        self._inside: dict[_Key, Array] = {}

    def alone(self, count: int) -> dict[_Key, _Truth]:
        """Return the best single conditions, but only some of each feature."""
        n, merits = len(self._of.feature), []
        for first in range(0, n, step := max(_AT_ONCE // len(self._rows), 1)):
            counts = np.take(self._of._counts[first : first + step], self._rows, axis=1).T
            merits.append(self._merit(counts, np.arange(len(self._rows))))
        self._alone = np.concatenate(merits)
        most = max(count // 10, 6)
        seen: dict[int, int] = {}
        chosen: list[int] = []
        for n in np.argsort(-self._alone, kind="stable").tolist():
            d = int(self._of.feature[n])
            seen[d] = seen.get(d, 0) + 1
            if seen[d] <= most:
                chosen.append(n)
            if len(chosen) == count:
                break
        truths = self._truths(self._of._counts[chosen][:, self._rows].T)
        return {(n,): truth for n, truth in zip(chosen, truths, strict=True)}

    def pairs(self) -> list[_Key]:
        """Return pairs of conditions that more instances satisfy, or fewer, where more is needed."""
        needed = (self._needs[0] / self._sizes)[self._owner]
        spread = float((self._needs[1] / self._sizes).sum()) / len(needed)
        least, share = _FLOOR * len(self._sizes), len(needed) / self._of.n_sampled
        members, numbers = self._of._members, self._of._numbers
        found: list[tuple[float, _Key]] = []
        rows = self._promising_features()
        alike = {row: _alike(members[row], self._codes[row]) for row in rows}
        for place, one in enumerate(rows):
            codes = self._codes[one].astype(np.intp)
            for two in rows[place + 1 :]:
                shape = len(members[one]), len(members[two])
                together = np.bincount(codes * shape[1] + self._codes[two], needed, shape[0] * shape[1]).reshape(shape)
                product = members[one].T @ together @ members[two]
                often = members[one].T @ self._of.together(one, two) @ members[two]
                score = np.square(product) / (spread * np.maximum(share * often, least))
                for _ in range(_SEEDS_OF_TWO):
                    a, b = np.unravel_index(np.argmax(score), score.shape)
                    found.append((float(score[a, b]), tuple(sorted((int(numbers[one][a]), int(numbers[two][b]))))))
                    score[np.ix_(alike[one][a], alike[two][b])] = 0.0
        return [key for _, key in sorted(found, reverse=True)[: _SEEDS if self._of._is_large else _FEW_SEEDS]]

    def _promising_features(self) -> list[int]:
        """Return which features are tried together: as many as time allows of those that say something alone."""
        most = _FEW_FEATURES
        if self._of._is_large:
            most = max(int(np.sqrt(2 * _MOST_PLACES / len(self._owner))), most)
        merit = np.zeros(len(self._codes))
        np.maximum.at(merit, self._of._row, self._alone)
        return sorted(np.argsort(-merit, kind="stable")[:most].tolist())

    def extend(self, key: _Key, only: int | None = None) -> dict[_Key, float]:
        """Return the best conjunctions with one more condition, and about how much they reduce the loss.

        ``only``: of the codes, the feature that it is about; None: any other.
        """
        instances = self._instances(key)
        if not len(instances):
            return {}
        starts = np.diff(self._owner[instances], prepend=-1) > 0
        bags = self._owner[instances[starts]]
        merit = np.zeros(len(self._of.feature))
        if only is None and not self._of._is_large:
            needs = self._needs[:, bags].astype(np.float32)
            any_of = np.bitwise_or.reduceat(self._bits.take(instances, axis=0), np.flatnonzero(starts), axis=0).view(
                np.uint8
            )
            product, mean = np.zeros((2, len(merit)))
            for first in range(0, len(bags), step := max(_AT_ONCE // len(merit), 1)):
                some = slice(first, first + step)
                truth = np.unpackbits(any_of[some], axis=1, count=len(merit), bitorder="little").astype(np.float32)
                product += needs[0, some] @ truth
                mean += needs[1, some] @ truth  # twice as fast as the product of matrices
            merit = self._gain(product, mean, mean)
        else:
            owner = np.cumsum(starts) - 1
            for numbers, counts in self._of.counts(self._codes, instances, owner, len(bags), only):
                merit[numbers] = self._merit(counts, bags)
        for m in key:
            merit[self._of.feature == self._of.feature[m]] = 0.0
        best = np.argpartition(-merit, min(_EXTENSIONS, len(merit) - 1))[:_EXTENSIONS].tolist()
        return {tuple(sorted((*key, n))): float(merit[n]) for n in best if merit[n] > 0}

    def improved(self, found: dict[_Key, _Truth]) -> dict[_Key, _Truth]:
        """Return conjunctions each of whose conditions is the best of its feature, given the others."""
        better: dict[_Key, _Truth] = {}
        for key, truth in found.items():
            for number in key * _SWEEPS if len(key) > 1 else ():
                if number in key:  # it may have changed
                    others = self.extend(tuple(n for n in key if n != number), only=int(self._of._row[number]))
                    for other, own in self.judge(list(others)[:_SWEEPS]).items():
                        if own.gain > truth.gain:
                            key, truth = other, own
            better[key] = truth
        return better

    def judge(self, keys: Sequence[_Key]) -> dict[_Key, _Truth]:
        """Return how good conjunctions are."""
        if not keys:
            return {}
        n_bags = len(self._sizes)
        counts = [np.bincount(self._owner[self._instances(key)], minlength=n_bags) for key in keys]
        return dict(zip(keys, self._truths(np.column_stack(counts)), strict=True))

    def _instances(self, key: _Key) -> Array:
        """Return the instances that lie in all intervals."""
        if key not in self._inside:
            self._inside[key] = np.flatnonzero(self._of.inside(key, self._codes)).astype(np.int32)
        return self._inside[key]

    def _merit(self, counts: Array, bags: Array) -> Array:
        """Return about how much conditions (..., c) reduce the loss that so many instances (..., b, c) satisfy."""
        needs, counts = self._needs[:, bags].astype(np.float32), counts.astype(np.float32)
        some, root = np.minimum(counts, 1.0), np.sqrt(counts)
        mean = needs[1] @ some
        often = self._gain(needs[0] @ root, needs[1] @ root, needs[1] @ counts)
        return np.maximum(self._gain(needs[0] @ some, mean, mean), often)

    def _gain(self, product: Array, mean: Array, square: Array, greatest: Array | float = 1.0) -> Array:
        """Return by how much columns reduce the loss, given products with them and with their squares."""
        spread = np.maximum(square - np.square(mean) / self._total, _FLOOR * self._total * np.square(greatest))
        return np.asarray(np.square(product) / spread)

    def _truths(self, counts: Array) -> list[_Truth]:
        """Return how good conjunctions are that so many instances (b, n) satisfy."""
        ways = [("some", None), *(("at least", number) for number in _NUMBERS), ("on average", None)]
        columns = np.array([counts >= (number or 1) for _, number in ways], float)
        columns[-1] = counts / self._sizes[:, None]
        greatest = columns.max(axis=1)
        product, mean = np.moveaxis(self._needs @ columns, 1, 0)
        square = self._needs[1] @ np.square(columns)
        gains = self._gain(product, mean, square, np.where(greatest > 0, greatest, 1.0))
        gains[1:] /= _WORTH
        return [_Truth(float(own[best]), *ways[best]) for own in gains.T for best in [int(np.argmax(own))]]


def _alike(members: Array, codes: Array) -> Array:
    """Return which conditions on a feature half of the instances of either share, (c, c)."""
    both = members.T @ (np.bincount(codes, minlength=len(members))[:, None] * members)
    alone = np.diag(both)
    return np.asarray(both > 0.5 * (alone[:, None] + alone - both))


def _sample(bags: Bags, features: Array, most: int) -> Array:
    """Return the instances to look at: of the largest bags a part, with the extremes of the features, if they fit."""
    if bags.n_instances <= most:
        return np.arange(bags.n_instances)
    ordered = np.sort(bags.sizes)
    level = (most - np.cumsum(ordered) + ordered) // np.arange(bags.n_bags, 0, -1)
    limit = max(int(level[np.argmax(level < ordered)]), 1)  # of each bag
    extreme = np.zeros(bags.n_instances, bool)
    for d in features.tolist():
        column = bags.instances[:, d]
        for end in (np.fmax, np.fmin):
            extreme |= column == np.repeat(end.reduceat(column, bags.offsets[:-1]), bags.sizes)
    first = np.lexsort((np.random.RandomState(0).rand(bags.n_instances) - extreme, bags.bag_index))
    rank = np.arange(bags.n_instances) - np.repeat(bags.offsets[:-1], bags.sizes)
    return np.sort(first[rank < limit])


def _resolution(n_features: int, typical: float) -> tuple[int, tuple[float, ...]]:
    """Return the number of even quantiles that divide each feature, and the shares of rarer values.

    ``typical``: size of bags.
    """
    tails = tuple(share for share in _TAILS if share * typical >= 1) if typical >= _LARGE else ()
    for n_edges, some in itertools.product((19, 14, 9, 5), (tails, tails[::2])) if tails else ():
        if n_features * len(_pairs(n_edges + 2 * len(some), len(some))) <= _MOST_FINE_INTERVALS:
            return n_edges, some
    per_feature = _MOST_INTERVALS / max(n_features, 1)
    return next((n for n in (9, 7, 5, 4, 3) if len(_pairs(n)) <= per_feature), 2), ()


def _divide(
    bags: Bags, features: Sequence[int], n_edges: int, tails: tuple[float, ...]
) -> Iterator[tuple[int, Array, Array]]:
    """Yield features that vary with the edges of their parts, and with the width of the border at each bound."""
    rows = some_instances(bags)
    step = max(_AT_ONCE // len(rows), 1)
    for some in (features[first : first + step] for first in range(0, len(features), step)):
        instances = bags.instances[rows[:, None], some]
        divided = dividing_thresholds(instances, n_edges, tails=tails)
        varies = [place for place, (edges, _) in enumerate(divided) if len(edges)]
        values = instances[:, varies]
        quantiles = np.nanquantile if np.isnan(values).any() else np.quantile  # the first is far slower
        for place, (least, low, high, greatest) in zip(
            varies, quantiles(values, (0.0, 0.1, 0.9, 1.0), axis=0).T if varies else (), strict=True
        ):
            edges = divided[place][0]
            soft = np.full(len(edges) + 2, _SOFT * (high - low if high > low else greatest - least))
            if tails and len(edges) > 1:  # as sharp as the distance from the next edge asks for
                gaps = np.diff(edges)
                gaps = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
                soft[1:-1] = np.minimum(soft[1:-1], 0.2 * gaps)
            yield some[place], edges, soft


def _pairs(n_edges: int, n_tails: int = 0) -> list[tuple[int, int]]:
    """Return positions of lower and upper bounds: half-lines, and intervals of several parts up to half of all.

    With edges in the tails, parts are small: intervals of one to four of them, and none in the tails.
    """
    last = n_edges + 1
    shortest, longest = (1, 4) if n_tails else (2, max(3, n_edges // 2))
    inner = range(1 + n_tails, last - n_tails)
    bounded = [(a, b) for a in inner for b in inner if shortest <= b - a <= longest]
    return [(a, last) for a in range(1, last)] + [(0, b) for b in range(1, last)] + bounded


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
