"""Candidates: the premises that rules are chosen from, and how true each is in every bag.

A candidate is a conjunction of quantified parts, each about instances that satisfy some conditions at the same time.
Candidates are made from the instances alone, without the labels, so
all folds of a cross-validation share them. Conjunctions that labels suggest are found in `conjunctions`.

Their sets have no names yet, so they are not the trees of `fuzzymil.rules` that chosen ones become; but they compile to
the same arrays, and the same engine evaluates them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.engines.numpy import order_statistics
from fuzzymil.inference.membership import MembershipFunction, Missing, Sigmoid
from fuzzymil.inference.movable import MovablePremises, Pullback
from fuzzymil.inference.premises import Form, Group, Join, Parts, Place
from fuzzymil.learn.train.scaling import Measures
from fuzzymil.rules.rule import crisp_set

# ---------------------------------------------------------------------- what a candidate says


class Condition(NamedTuple):
    """A feature, and the sets of which its value must belong to one; if negated, it must not belong to the set."""

    feature: int
    sets: tuple[MembershipFunction, ...]
    negated: bool = False

    @property
    def is_crisp(self) -> bool:
        """Whether it is about categories or missing values: its sets have no numbers that could be moved."""
        return not self.sets[0].trainable

    def with_set(self, chosen: MembershipFunction) -> Condition:
        """Return the same condition with another set."""
        return self._replace(sets=(chosen,))

    @property
    def direction(self) -> object:
        """What it has in common with conditions that say nearly the same."""
        chosen = self.sets[0]
        return (self.sets, self.negated) if self.is_crisp else (type(chosen), chosen.parameters[-1] > 0)


class Part(NamedTuple):
    """A quantifier over the instances that satisfy some conditions; without conditions it counts all instances."""

    quantifier: str
    number: int | None
    conditions: tuple[Condition, ...]


Premise = tuple[Part, ...]
"""The conjunction of quantified parts."""


def n_conditions(premise: Premise) -> int:
    """Return the number of conditions; a count of all instances is one, too."""
    return sum(max(len(part.conditions), 1) for part in premise)


class MissingValues(NamedTuple):
    """What missing values mean to rules; see `fuzzymil.inference.missing`."""

    values: Array | None = None  # (t, d), what a missing value stands for; None: it satisfies every condition
    may_ask: bool = False  # whether "x is missing" is a candidate


IGNORED = MissingValues()


# ---------------------------------------------------------------------- how true it is


def _compile(
    premises: Sequence[Premise], column: dict[int, int]
) -> tuple[Parts, dict[str, Any], dict[str, Array], list[list[Place]]]:
    """Return premises as arrays for the engines: parts, sets and masks; and the place of each part's conditions."""
    parts = [(rule, part) for rule, premise in enumerate(premises) for part in premise]
    n_rows = len(parts)
    placed: dict[Place, MembershipFunction] = {}
    groups: dict[tuple[Form, tuple[str, ...]], list[tuple[int, tuple[Place, ...]]]] = {}
    in_order: list[list[Place]] = []
    for number, (_, part) in enumerate(parts):
        places: list[Place] = []
        leaves: list[Form] = []
        first: list[int] = []
        for condition in part.conditions:
            hedges = ("not",) if condition.negated else ()
            leaf: list[Form] = []
            first.append(len(places))
            for chosen in condition.sets:
                place = (number, column[condition.feature])
                if place in placed:
                    place, n_rows = (n_rows, place[1]), n_rows + 1
                placed[place] = chosen
                leaf.append(("is", len(places), hedges, True))
                places.append(place)
            leaves.append(leaf[0] if len(leaf) == 1 else ("or", *leaf))
        in_order.append([places[n] for n in first])
        kinds = tuple(placed[place].kind for place in places)
        is_plain = all(leaf[0] == "is" and not leaf[2] for leaf in leaves)
        form: Form = ("row", True) if is_plain else ("and", *leaves)
        groups.setdefault((form, kinds), []).append((number, tuple(places)))
    sets: dict[str, Any] = {}
    masks: dict[str, Array] = {}
    shape = n_rows, len(column)
    for place, chosen in placed.items():
        if chosen.kind not in sets:
            sets[chosen.kind] = tuple(np.full(shape, value) for value in chosen.parameters)
            masks[chosen.kind] = np.zeros(shape)
        masks[chosen.kind][place] = 1.0
        for values, value in zip(sets[chosen.kind], chosen.parameters, strict=True):
            values[place] = value
    truths = tuple(
        Group(form, tuple(n for n, _ in members), tuple(places for _, places in members), kinds)
        for (form, kinds), members in groups.items()
    )
    own: list[list[int]] = [[] for _ in premises]
    for number, (rule, _) in enumerate(parts):
        own[rule].append(number)
    joins = tuple(
        Join(("and", *(("part", n) for n in range(len(numbers)))), (rule,), (tuple(numbers),))
        for rule, numbers in enumerate(own)
    )
    quantifiers = tuple((part.quantifier, part.number or 1) for _, part in parts)
    return Parts(truths, quantifiers, joins, tuple(rule for rule, _ in parts)), sets, masks, in_order


class MovableConditions:
    """Premises on some bags, whose sets can be moved; see `MovablePremises`."""

    def __init__(self, premises: Sequence[Premise], bags: Bags, missing: MissingValues = IGNORED) -> None:
        self.premises = tuple(premises)
        used = sorted({c.feature for premise in premises for part in premise for c in part.conditions})
        column = {feature: place for place, feature in enumerate(used)}
        parts, sets, masks, self._places = _compile(self.premises, column)
        self._engine = MovablePremises(
            parts,
            sets,
            masks,
            bags.instances[:, used],
            bags.offsets,
            Measures.of(bags.instances[:, used]).deviation,
            None if missing.values is None else missing.values[:, used],
        )
        self.n_moves = self._engine.n_moves

    def evaluate(self, moves: Array) -> tuple[Array, Pullback]:
        """Return the truth (b, r) of the premises after a move, and how its derivatives become those of the move."""
        return self._engine.evaluate(moves)

    def moved(self, moves: Array) -> list[Premise]:
        """Return the premises after a move."""
        sets, places = self._engine.moved(moves), iter(self._places)

        def of(part: Part) -> Part:
            pairs = zip(part.conditions, next(places), strict=True)
            return part._replace(conditions=tuple(c if c.is_crisp else c.with_set(sets[place]) for c, place in pairs))

        return [tuple(map(of, premise)) for premise in self.premises]


def premise_truths(premises: Sequence[Premise], bags: Bags, missing: MissingValues = IGNORED) -> Array:
    """Return how true premises are in each bag, (b, r)."""
    found = []
    for rows in chunks_of_bags(bags, sum(map(n_conditions, premises))):
        movable = MovableConditions(premises, bags[rows], missing)
        found.append(movable.evaluate(np.zeros(movable.n_moves))[0])
    return np.concatenate(found)


def chunks_of_bags(bags: Bags, n_numbers: int) -> Iterator[slice]:
    """Yield bags, one part after the other, with whose instances so many numbers each fit in memory."""
    each = max(_NUMBERS_AT_ONCE // max(n_numbers, 1), 1)
    ends = np.searchsorted(bags.offsets, np.arange(0, bags.n_instances, each) + each, side="right") - 1
    ends = np.unique(np.maximum(ends, 1))
    ends = np.append(ends[ends < bags.n_bags], bags.n_bags)
    return (slice(first, last) for first, last in zip((0, *ends[:-1].tolist()), ends.tolist(), strict=True))


# ---------------------------------------------------------------------- many of them

_MOST_COLUMNS = 5_000  # of thresholds: with many features, fewer thresholds of each
_MOST_THRESHOLDS, _FEWEST_THRESHOLDS = 9, 3
_AVERAGE_THRESHOLDS = 5
_LEAST_SHARE = 0.1  # of the bags must be large enough for a count


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Candidate premises and how true they are in each bag."""

    columns: Array  # (b, p), in Fortran order; single precision suffices
    premise: Callable[[int], Premise]


def concatenate(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several collections as one."""
    ends = np.cumsum([each.columns.shape[1] for each in parts])

    def premise(number: int) -> Premise:
        place = int(np.searchsorted(ends, number, side="right"))
        return parts[place].premise(number - int(ends[place - 1] if place else 0))

    return Candidates(_side_by_side([each.columns for each in parts]), premise)


def _side_by_side(parts: Sequence[Array]) -> Array:
    """Return all columns of several arrays, in Fortran order."""
    found = np.empty((sum(part.shape[1] for part in parts), len(parts[0])), np.float32)
    return np.concatenate([part.T for part in parts], out=found, casting="same_kind").T


def numeric_features(bags: Bags) -> list[int]:
    """Return the positions of the features that are not categories."""
    if bags.columns is None:
        return list(range(bags.n_features))
    return np.flatnonzero(~bags.columns.categorical).tolist()


def _common_counts(bags: Bags, counts: Sequence[int]) -> list[int]:
    return [count for count in counts if count == 1 or np.mean(bags.sizes >= count) >= _LEAST_SHARE]


# ---------------------------------------------------------------------- one number


def thresholds(bags: Bags, counts: Sequence[int] = (1,), missing: MissingValues = IGNORED) -> Candidates:
    """Return conditions on single features: great or small in at least so many instances.

    ``counts``: 1 is SOME, k is AT LEAST k.
    """
    numeric = numeric_features(bags)
    affordable = _MOST_COLUMNS // (2 * len(counts) * max(len(numeric), 1))
    counts = _common_counts(bags, counts)
    values = missing.values
    columns: list[Array] = []
    found: list[_Threshold] = []
    for some in _parts_of(numeric, max(bags.n_instances, 2 * max(counts) * bags.n_bags)):
        known = bags.instances[:, some]
        greatest, least = order_statistics(known, bags.offsets, max(counts), known=values is not None)
        n_missing = np.add.reduceat(np.isnan(known), bags.offsets[:-1], axis=0, dtype=int)
        for count in counts:
            quantifier, number = ("some", None) if count == 1 else ("at least", count)
            n_thresholds = int(np.clip(affordable, _FEWEST_THRESHOLDS if count == 1 else 1, _MOST_THRESHOLDS))
            # What happens in few of many bags would hide between thresholds that divide them evenly.
            tails = _TAILS if count == 1 and n_thresholds == _MOST_THRESHOLDS else ()
            for ordered, sign in ((greatest, 1.0), (least, -1.0)):
                each = dividing_thresholds(ordered[count - 1], n_thresholds, tails=tails)
                places = np.repeat(np.arange(len(some)), [len(centers) for centers, _ in each])
                if not len(places):
                    continue
                centers, slopes = (np.concatenate(numbers) for numbers in zip(*each, strict=True))
                slopes *= sign
                truth = _degrees(centers, slopes, ordered[count - 1][:, places])
                if values is not None:
                    for place in np.unique(places[n_missing[:, places].any(axis=0)]):
                        own, gone = places == place, n_missing[:, place]
                        degree = functools.partial(_degrees, centers[own], slopes[own])
                        of_missing = degree(values[:, some[place]]).mean(axis=0)
                        truth[:, own] = _nth_degree(ordered[:, :, place], gone, count, degree, of_missing)
                columns.append(truth.astype(np.float32))
                sets = zip(places.tolist(), centers.tolist(), slopes.tolist(), strict=True)
                found += [_Threshold(quantifier, number, some[place], *chosen) for place, *chosen in sets]
    return _single_conditions(bags, columns, found)


def _parts_of(features: Sequence[int], n_numbers: int) -> Iterator[list[int]]:
    """Yield features, so few at once that so many numbers of each fit in memory."""
    some = max(_NUMBERS_AT_ONCE // max(n_numbers, 1), 1)
    return (list(features[first : first + some]) for first in range(0, len(features), some))


def _degrees(centers: Array, slopes: Array, values: Array) -> Array:
    """Return the degrees (n, c) of values, (n,) for all sets or (n, c), in sigmoids."""
    return _sigmoid(slopes * (values.reshape(len(values), -1) - centers))


def _sigmoid(values: Array) -> Array:
    values *= 0.5
    return np.asarray(0.5 + 0.5 * np.tanh(values, out=values))  # NumPy computes this many times faster than `expit`


def _nth_degree(known: Array, n_missing: Array, nth: int, degree: Callable[[Array], Array], of_missing: Array) -> Array:
    """Return the nth greatest degree in each bag (b, c) of some conditions on a feature.

    ``known`` (count, b): known values in each bag by their degree, the greatest first; of infinite degree 0 where there
    are fewer. ``n_missing`` (b,): number of missing values. ``nth``: counted from 1, at most ``count``. ``degree``:
    maps values (b,) to degrees (b, c). ``of_missing`` (c,): degree of a missing value.
    """
    # With g missing values of degree L among known degrees a1 >= a2 >= ..., the nth is max(a_n, min(a_(n - g), L)).
    before = nth - 1 - n_missing
    earlier = degree(known[np.maximum(before, 0), np.arange(len(n_missing))])
    earlier = np.where((before < 0)[:, None], 1.0, earlier)
    return np.maximum(degree(known[nth - 1]), np.minimum(earlier, of_missing))


def averages(bags: Bags, missing: MissingValues = IGNORED) -> Candidates:
    """Return conditions on single features that instances satisfy ON AVERAGE."""
    columns: list[Array] = []
    found: list[_Threshold] = []
    rows = some_instances(bags)
    for some in _parts_of(numeric_features(bags), bags.n_instances):
        spread = Measures.of(bags.instances[:, some]).deviation
        values = bags.instances[rows[:, None], some]
        for place, (centers, slopes) in enumerate(dividing_thresholds(values, _AVERAGE_THRESHOLDS)):
            if not len(centers):
                continue
            # A wide set, too: its average is nearly the average of the feature.
            slopes = np.append(slopes, 1.4 / spread[place])
            centers = np.append(centers, np.nanmedian(values[:, place]))
            columns.append(_average_degrees(bags, some[place], centers, slopes, missing))
            pairs = zip(centers.tolist(), slopes.tolist(), strict=True)
            found += [_Threshold("on average", None, some[place], *pair) for pair in pairs]
    return _single_conditions(bags, columns, found)


def _average_degrees(bags: Bags, feature: int, centers: Array, slopes: Array, missing: MissingValues) -> Array:
    """Return the mean degree (b, c) of a feature in sigmoids."""
    of_missing = np.ones(1)
    if missing.values is not None:
        of_missing = _degrees(centers, slopes, missing.values[:, feature]).mean(axis=0)
    found = np.empty((bags.n_bags, len(centers)), np.float32)
    for chunk in chunks_of_bags(bags, len(centers)):
        ends = bags.offsets[chunk.start : chunk.stop + 1]
        values = np.ascontiguousarray(bags.instances[ends[0] : ends[-1], feature])
        truth = _sigmoid(slopes[:, None] * (values - centers[:, None]))
        truth[:, np.isnan(values)] = of_missing[:, None]
        found[chunk] = (np.add.reduceat(truth, ends[:-1] - ends[0], axis=1) / np.diff(ends)).T
    return found


class _Threshold(NamedTuple):
    quantifier: str
    number: int | None
    feature: int
    center: float
    slope: float


def _single_conditions(bags: Bags, columns: list[Array], found: list[_Threshold]) -> Candidates:
    def premise(place: int) -> Premise:
        quantifier, number, feature, center, slope = found[place]
        return (Part(quantifier, number, (Condition(feature, (Sigmoid(center, slope),)),)),)

    together = _side_by_side(columns) if columns else np.empty((bags.n_bags, 0))
    return Candidates(together, premise)


def bag_sizes(bags: Bags) -> Candidates:
    """Return premises about the number of instances."""
    sizes = bags.sizes
    limits = np.unique(np.quantile(sizes, np.linspace(0, 1, _MOST_THRESHOLDS + 2)[1:-1]).round().astype(int))
    limits = limits[(limits > sizes.min()) & (limits <= sizes.max())]
    columns = np.asfortranarray((sizes[:, None] >= limits).astype(float))
    return Candidates(columns, lambda n: (Part("at least", int(limits[n]), ()),))


# ---------------------------------------------------------------------- where thresholds lie

_TAILS = (0.05, 0.02, 0.01, 0.005)  # shares of rare bags that thresholds separate from the others
_RARE_BAGS = 10  # at least so many
_LEAST_RANGE = 1e-290  # of a feature: the slopes of its sets would overflow
_MOST_SORTED = 100_000  # instances whose values are sorted to divide them
_AT_ONCE = 1 << 19  # values, to bound the memory that sorting them takes
_NUMBERS_AT_ONCE = 1 << 21  # the same for what is computed from all instances


def some_instances(bags: Bags) -> Array:
    """Return the positions of all instances; of very many, of a random sample with about the same quantiles."""
    if bags.n_instances <= _MOST_SORTED:
        return np.arange(bags.n_instances)
    return np.sort(np.random.RandomState(0).choice(bags.n_instances, _MOST_SORTED, replace=False))


def dividing_thresholds(values: Array, count: int, *, tails: tuple[float, ...] = ()) -> list[tuple[Array, Array]]:
    """Return thresholds that divide the values of each feature into parts of equal size, and the slopes of the sets.

    ``values`` (n, d): those that are not finite do not count. ``count``: number of thresholds; fewer where a feature
    has few values. ``tails``: shares of the least and the greatest of many values that more thresholds separate.
    """
    some = max(_AT_ONCE // max(len(values), 1), 1)
    parts = (values[:, first : first + some] for first in range(0, values.shape[1], some))
    return [each for part in parts for each in _divide(part, count, tails)]


def _divide(values: Array, count: int, tails: tuple[float, ...]) -> list[tuple[Array, Array]]:
    # One feature per row. Doing the same to one after the other would mostly be overhead of many small calls.
    known = np.sort(np.where(np.isfinite(values), values, np.nan).T, axis=1)  # NaN comes last
    n_known = np.count_nonzero(~np.isnan(known), axis=1)
    found = [(np.empty(0), np.empty(0))] * len(known)
    rows = np.flatnonzero(n_known > 1)
    rows = rows[_at(known[rows], n_known[rows] - 1) - known[rows, 0] >= _LEAST_RANGE]
    known, n_known = known[rows], n_known[rows]
    least, greatest = known[:, 0], _at(known, n_known - 1)
    # A threshold lies between two values that differ by more than rounding.
    rounding = np.maximum(
        1e-12 * (greatest - least), 8 * np.finfo(float).eps * np.maximum(np.abs(least), np.abs(greatest))
    )
    is_step = np.diff(known, axis=1) > rounding[:, None]
    n_steps = np.count_nonzero(is_step, axis=1)
    for n in np.flatnonzero((n_steps > 0) & (n_steps <= count)):
        steps = np.flatnonzero(is_step[n])
        slope = 8.0 / float((known[n, steps + 1] - known[n, steps]).min())
        found[rows[n]] = (known[n, steps] + known[n, steps + 1]) / 2, np.full(len(steps), slope)
    many = np.flatnonzero(n_steps > count)
    if len(many):
        pairs = _divide_evenly(known[many], n_known[many], is_step[many], count, tails)
        for n, pair in zip(rows[many], pairs, strict=True):
            found[n] = pair
    return found


def _divide_evenly(
    known: Array, n_known: Array, is_step: Array, count: int, tails: tuple[float, ...]
) -> list[tuple[Array, Array]]:
    """Return the same for features with more steps between their values, which are sorted, than thresholds."""
    places = np.linspace(0, n_known, count + 2)[1:-1].T
    if tails:
        rare = np.array(tails) * n_known[:, None]
        is_rare = rare >= _RARE_BAGS
        low = np.where(is_rare, rare, places[:, :1])
        high = np.where(is_rare, n_known[:, None] - rare, places[:, -1:])
        places = np.sort(np.concatenate([low, places, high], axis=1), axis=1)
    # The next step from each value on; from the last one on, the last step.
    n_pairs = is_step.shape[1]
    last = n_pairs - 1 - np.argmax(is_step[:, ::-1], axis=1)
    following = np.where(is_step, np.arange(n_pairs), last[:, None])
    following = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
    wanted = np.clip(np.ceil(places - 1), 0, n_pairs - 1).astype(int)
    steps = np.take_along_axis(following, wanted, axis=1)
    new = np.diff(steps, axis=1, prepend=-1) > 0
    centers = (np.take_along_axis(known, steps, axis=1) + np.take_along_axis(known, steps + 1, axis=1)) / 2
    low, high = _at(known, n_known // 10), _at(known, n_known - 1 - n_known // 10)
    spread = np.where(high > low, high - low, _at(known, n_known - 1) - known[:, 0])
    slopes = 4.0 * count / spread
    part = n_known // (count + 1)
    far = (steps < (part - 1)[:, None]) | (steps > (n_known - 1 - part)[:, None])
    middle = (_at(known, (n_known - 1) // 2) + _at(known, n_known // 2)) / 2
    found = []
    for n, chosen in enumerate(new):
        own = centers[n, chosen]
        steep = np.full(len(own), slopes[n])
        if tails and len(own) > 1 and far[n].any():
            # There, sets are as steep as the distance from the next threshold asks for.
            distances = np.diff(own)
            before, after = np.append(distances, distances[-1]), np.insert(distances, 0, distances[0])
            inner = np.where(own < middle[n], before, after)
            steep = np.where(far[n, chosen], np.maximum(steep, 4.0 / inner), steep)
        found.append((own, steep))
    return found


def _at(rows: Array, places: Array) -> Array:
    """Return one value of each row."""
    return np.asarray(rows[np.arange(len(rows)), places])


# ---------------------------------------------------------------------- categories and missing values

_MOST_FOR_PAIRS = 8  # categories, of which any two may be joined: more pairs would be chosen by chance
_LEAST_SHARE_OF_INSTANCES = 0.002  # that a category must have to be worth a condition


def category_conditions(bags: Bags, missing: MissingValues = IGNORED) -> list[Condition]:
    """Return crisp conditions: a feature is a category, is not, or is one of two; its value is missing, or is not."""
    found = []
    if missing.may_ask:
        share = np.isnan(bags.instances).mean(axis=0)
        asked = (share > _LEAST_SHARE_OF_INSTANCES) & (share < 1 - _LEAST_SHARE_OF_INSTANCES)
        for d in np.flatnonzero(asked).tolist():
            found += [Condition(d, (Missing(),)), Condition(d, (Missing(),), negated=True)]
    for d, column in enumerate(bags.columns or ()):
        if not column.categories:
            continue
        values = bags.instances[:, d]
        counts = np.bincount(values[~np.isnan(values)].astype(int), minlength=len(column.categories))
        present = [
            crisp_set(code) for code, n in enumerate(counts.tolist()) if n > _LEAST_SHARE_OF_INSTANCES * len(values)
        ]
        if len(present) < 2:
            continue
        found += [Condition(d, (chosen,)) for chosen in present]
        if len(present) > 2:  # of two, not being one is being the other
            found += [Condition(d, (chosen,), negated=True) for chosen in present]
        if 3 < len(present) <= _MOST_FOR_PAIRS:
            found += [Condition(d, pair) for pair in itertools.combinations(present, 2)]
    return found


def which_satisfy(conditions: Sequence[Condition], instances: Array) -> Array:
    """Return whether each instance satisfies each crisp condition, (i, n); a missing category is any category."""
    found = np.empty((len(instances), len(conditions)), bool)
    for n, (feature, sets, negated) in enumerate(conditions):
        values = instances[:, feature]
        found[:, n] = np.any([chosen(values) > 0 for chosen in sets], axis=0) != negated
        if sets != (Missing(),):
            found[:, n] |= np.isnan(values)
    return found


def degrees_of_missing(conditions: Sequence[Condition], missing: MissingValues) -> Array:
    """Return to which degree a missing value satisfies each crisp condition, (n,)."""
    found = np.ones(len(conditions))
    for n, (feature, sets, negated) in enumerate(conditions):
        if sets == (Missing(),):
            found[n] = not negated
        elif missing.values is not None:
            none = np.prod([1 - chosen(missing.values[:, feature]).mean() for chosen in sets])
            found[n] = none if negated else 1 - none
    return found


def categories(bags: Bags, counts: Sequence[int] = (1,), missing: MissingValues = IGNORED) -> Candidates:
    """Return conditions on categories and on missing values that at least so many instances satisfy."""
    columns, found = category_premises(bags, _common_counts(bags, counts), missing=missing)
    return Candidates(np.asfortranarray(columns), found.__getitem__)


def shares(bags: Bags, missing: MissingValues = IGNORED) -> Candidates:
    """Return conditions on categories and missing values, to the degree of the share of instances that satisfy them."""
    columns, found = category_premises(bags, average=True, missing=missing)
    return Candidates(np.asfortranarray(columns), found.__getitem__)


def category_premises(
    bags: Bags, counts: Sequence[int] = (), *, average: bool = False, missing: MissingValues = IGNORED
) -> tuple[Array, list[Premise]]:
    """Return how true premises about categories and missing values are in each bag, (b, p), and these premises.

    ``counts``: at least so many instances: 1 is SOME. ``average``: also, the share of the instances.
    """
    conditions = category_conditions(bags, missing)
    if not conditions:
        return np.empty((bags.n_bags, 0)), []
    of_missing = degrees_of_missing(conditions, missing)
    number, unsure = np.empty((2, bags.n_bags, len(conditions)))
    for some in _parts_of(range(len(conditions)), bags.n_instances):
        unknown = np.isnan(bags.instances[:, [conditions[n].feature for n in some]])
        sure = which_satisfy([conditions[n] for n in some], bags.instances) & ~unknown
        for counted, into in ((sure, number), (unknown, unsure)):
            into[:, some] = np.add.reduceat(counted, bags.offsets[:-1], axis=0, dtype=float)
    columns, premises = [], []
    for count in counts:
        quantifier, nth = ("some", None) if count == 1 else ("at least", count)
        columns.append(np.where(number >= count, 1.0, np.where(number + unsure >= count, of_missing, 0.0)))
        premises += [(Part(quantifier, nth, (condition,)),) for condition in conditions]
    if average:
        columns.append((number + unsure * of_missing) / bags.sizes[:, None])
        premises += [(Part("on average", None, (condition,)),) for condition in conditions]
    together = np.concatenate(columns, axis=1)
    varies = np.flatnonzero(together.min(axis=0) < together.max(axis=0))
    return together[:, varies], [premises[place] for place in varies]


# ---------------------------------------------------------------------- which of very many sparse features

_MOST_SPARSE_FEATURES = 200


def informative_features(bags: Bags, targets: Array, weights: Array, count: int = _MOST_SPARSE_FEATURES) -> Array:
    """Return the positions of the features to choose rules from, in ascending order.

    These are the features that are clearly related to the targets, more than the best of as many random ones would be,
    and of the others those that most divide the bags into some that have them and some that have not. (Features that
    are merely somewhat related would mostly be so by chance, and bags held out from the choice of rules, which were
    not held out here, would not tell.) A feature is as related as the better of two statements about it: some instance
    has it, a value other than 0; and its mean over the instances.

    Parameters
    ----------
    bags : Bags
        Sparse.
    targets : array of shape (b, k)
    weights : array of shape (b,)
    count : int
        Most features to return.

    Examples
    --------
    >>> rows = sparse.csr_array([[0.0, 1.0], [0.0, 0.0], [3.0, 0.0], [3.0, 1.0]])
    >>> informative_features(Bags(rows, [0, 1, 2, 3, 4]), np.array([[0], [0], [1], [1]]), np.ones(4), 1).tolist()
    [0]
    """
    owner = sparse.csr_array(
        (np.ones(bags.n_instances), bags.bag_index, np.arange(bags.n_instances + 1)),
        shape=(bags.n_instances, bags.n_bags),
    ).T.tocsr()
    rows: Any = bags.sparse
    present = (owner @ (rows != 0).astype(float)).tocsr()
    present.data = np.ones_like(present.data)
    mean = sparse.diags_array(1.0 / bags.sizes) @ (owner @ rows)
    share = weights / weights.sum()
    merit = np.maximum(_merit(present, targets, share), _merit(mean.tocsr(), targets, share))
    often = present.T @ share
    clear = bags.n_bags * merit > 2 * np.log(bags.n_features)
    order = np.lexsort((-often * (1 - often), -np.where(clear, merit, 0.0)))
    return np.sort(order[:count])


def _merit(columns: Any, targets: Array, share: Array) -> Array:
    """Return the greatest squared correlation (d,) of each column (b, d) with a target (b, k)."""
    mean = columns.T @ share
    spread = columns.multiply(columns).T @ share - np.square(mean)
    away = targets - share @ targets
    product = columns.T @ (share[:, None] * away)
    size = np.maximum((share[:, None] * np.square(away)).sum(axis=0), 1e-300)
    return np.asarray((np.square(product) / size).max(axis=1) / np.maximum(spread, 1e-12))
