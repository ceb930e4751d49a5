"""Coverage: how usual a bag is, compared with the training bags.

A value of a feature is the more unusual the fewer training values are at least as low, or at least as high; beyond the
training range, the farther out it is. A bag is as unusual as the most unusual value of any of its instances, or as the
number of its instances. The *coverage* of a bag is the share of the training bags that are at least as unusual.

So the coverage of bags like the training bags is spread evenly from 0 to 1: one in twenty is below 0.05. A bag that is
more unusual than every training bag has coverage 0. Only features that the rules use count.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.storage import decode_number, encode_number
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Formula
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import printer

UNUSUAL = 0.05
"""Coverage below which a bag is reported as unusual."""

# Levels of quantiles in thousandths, so that places among sorted values are exact; dense where values are unusual.
_TAIL = [0, 1, 2, 5, 10, 20, 50, 100, 200]
_LEVELS = np.array([*_TAIL, 500, *(1000 - level for level in reversed(_TAIL))])
_PERCENTS = np.arange(0, 1001, 10)
_FOLDS = 10
_AT_ONCE = 1 << 21  # values to sort or compare, which are copied
_ROWS = 50_000  # instances to measure; of more, a part of the bags is measured
_REMEMBERED = 1000  # bags that are recognized when they come again; of more, evenly chosen ones
_PRINT = 6  # bytes of a fingerprint: two of a million bags are alike with a probability of 0.2%


class Measured(NamedTuple):
    """Coverage of bags, and the most unusual value of each; all of shape (n_bags,)."""

    coverage: Array
    column: Array  # -1 if what is most unusual is the number of instances
    instance: Array
    value: Array  # NaN if all values of the bag are missing
    high: Array  # rather than low
    share: Array  # of the training values that are at least as high, or low; 0 outside their range


@dataclasses.dataclass(frozen=True)
class Unusual:
    """What is most unusual about a bag, compared with the training bags: one of its values, or its size.

    The ``value`` of a ``feature`` of an ``instance`` (a position in the bag; both None for the number of instances) is
    unusually ``high``, rather than low: a ``share`` of the training values is at least as extreme, 0 outside their
    ``limits``. Categories, dates and times of day are also ``shown`` as a person writes them, with their limits
    (``shown_limits``; categories have none).

    Examples
    --------
    >>> print(Unusual(instance=3, feature="pages", value=140.0, high=True, share=0.0, limits=(0.0, 40.0)))
    pages = 140 of instance 3 is above all training values (0 to 40)
    >>> print(Unusual(instance=None, feature=None, value=9.0, high=True, share=0.02, limits=(1.0, 12.0)))
    9 instances: 2% of the training bags have at least as many
    """

    instance: int | None
    feature: str | None
    value: float
    high: bool
    share: float
    limits: tuple[float, float]
    shown: str | None = None
    shown_limits: tuple[str, str] | None = None

    def __str__(self) -> str:
        value, low, high = (printer.format_number(number, 3) for number in (self.value, *self.limits))
        value, (low, high) = self.shown or value, self.shown_limits or (low, high)
        beyond = not self.limits[0] <= self.value <= self.limits[1]
        share = f"{printer.format_number(100 * self.share, 2)}% of the training"
        if self.feature is None:
            count = f"{int(self.value):,} instance{'' if self.value == 1 else 's'}"
            if beyond:
                return f"{count}: {'more' if self.high else 'fewer'} than any training bag ({low} to {high})"
            return f"{count}: {share} bags have at {'least' if self.high else 'most'} as many"
        what = f"{printer.quoted(self.feature)} = {value} of instance {self.instance}"
        if self.shown is not None and self.shown_limits is None:
            return f"{what} is a category that no training bag has"
        if beyond:
            return f"{what} is {'above' if self.high else 'below'} all training values ({low} to {high})"
        return f"{what}: {share} values are at least as {'high' if self.high else 'low'}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return dataclasses.asdict(self) | {"limits": list(self.limits), "text": str(self)}


@dataclasses.dataclass(frozen=True, eq=False)
class Coverage:
    """What is remembered of the training bags: quantiles of each feature, and how unusual the bags are.

    Attributes
    ----------
    columns : tuple of int
        The features that count.
    quantiles : array of shape (1 + n_columns, n_levels)
        Quantiles of the number of instances, and of each of these features.
    typicality : array of shape (101,)
        Percentiles, over the training bags, of the typicality of the most unusual value, each bag compared with the
        other bags: the share of values at least as extreme or, outside their range, minus the distance from it in
        units of its length.
    prints : frozenset of str, or None
        Fingerprints of at most 1,000 training bags, by which they are recognized; None if they were not recorded.

    Examples
    --------
    >>> bags = [[[float(a)], [float(b)]] for a in range(10) for b in range(10)]
    >>> known = Coverage.of(Bags.from_list(bags), columns=[0])
    >>> known.measure(Bags.from_list([[[4.0], [5.0]], [[5.0], [99.0]]])).coverage.tolist()
    [0.96, 0.0]
    >>> known.n_recognized(Bags.from_list([[[4.0], [5.0]], [[5.0], [99.0]]]))
    1
    """

    columns: tuple[int, ...]
    quantiles: Array
    typicality: Array
    prints: frozenset[str] | None = None

    @classmethod
    def of(cls, bags: Bags, columns: Iterable[int]) -> Coverage:
        """Remember the training bags, of more than 50,000 instances evenly chosen ones, and the features that count."""
        chosen = tuple(map(int, columns))
        prints = frozenset(_prints(_every(bags, -(-bags.n_bags // _REMEMBERED))))
        bags = _every(bags, -(-bags.n_instances // _ROWS))
        n_folds = min(_FOLDS, bags.n_bags)
        fold = (np.arange(bags.n_bags) % n_folds).astype(np.int8)
        counts = bags.sizes[:, None].astype(float)
        low, high, quantiles = [counts], [counts], [_quantiles_without(counts, fold, n_folds)]
        step = max(_AT_ONCE // bags.n_instances, 1)
        for some in (chosen[first : first + step] for first in range(0, len(chosen), step)):
            values = _compared(bags, some)
            low.append(np.fmin.reduceat(values, bags.offsets[:-1]))  # NaN is left out
            high.append(np.fmax.reduceat(values, bags.offsets[:-1]))
            quantiles.append(_quantiles_without(_values(bags, some), np.repeat(fold, bags.sizes), n_folds))
        *others, everything = np.concatenate(quantiles, axis=1)
        ends = np.hstack(low), np.hstack(high)
        typicality = np.empty(bags.n_bags)
        # Bags are compared with others, as new bags will be: compared with themselves, none is beyond the range.
        for place, compared in enumerate(others or [everything]):
            typicality[place::n_folds] = _typicality(compared, *(end[place::n_folds] for end in ends)).min(axis=1)
        return cls(chosen, everything, _lower(np.sort(typicality)[:, None], _PERCENTS)[0], prints)

    def n_recognized(self, bags: Bags) -> int | None:
        """Return how many of these bags are training bags, as far as they are remembered; None if none are."""
        return None if self.prints is None else sum(each in self.prints for each in _prints(bags))

    def measure(self, bags: Bags) -> Measured:
        """Return the coverage of bags with the features of the training bags. Missing values do not count."""
        if bags.n_bags > 1 and bags.n_instances * len(self.columns) > _AT_ONCE:
            halves = bags[: bags.n_bags // 2], bags[bags.n_bags // 2 :]
            return Measured(*map(np.concatenate, zip(*map(self.measure, halves), strict=True)))
        values = _compared(bags, self.columns, self.quantiles)
        least, row, instance = _of_bags(self.quantiles, values, bags.sizes)
        value = bags.sizes.astype(float)
        if self.columns:
            value = np.where(row > 0, values[bags.offsets[:-1] + instance, row - 1], value)
        at_most, at_least = (shares[0] for shares in _shares(self.quantiles[row], value[None], value[None]))
        return Measured(
            coverage=_share_up_to(self.typicality, _PERCENTS, least),
            column=np.array([-1, *self.columns])[row],
            instance=instance,
            value=value,
            high=at_least <= at_most,
            share=np.minimum(at_most, at_least),
        )

    def limits(self, column: int) -> tuple[float, float]:
        """Return the least and the greatest training value of a column; of -1, of the number of instances."""
        row = 0 if column < 0 else 1 + self.columns.index(column)
        return float(self.quantiles[row, 0]), float(self.quantiles[row, -1])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "columns": list(self.columns),
            "quantiles": [[encode_number(value) for value in row] for row in self.quantiles],
            "typicality": [encode_number(value) for value in self.typicality],
            **({} if self.prints is None else {"prints": sorted(self.prints)}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Coverage:
        """Return the value that `to_dict` described, or raise `ValueError` if the parts do not fit together."""
        columns = tuple(map(int, content["columns"]))
        quantiles = np.array([[decode_number(value) for value in row] for row in content["quantiles"]], float)
        typicality = np.array([decode_number(value) for value in content["typicality"]], float)
        if quantiles.shape != (1 + len(columns), len(_LEVELS)) or typicality.shape != _PERCENTS.shape:
            raise ValueError("the coverage has arrays of the wrong shape")
        falls = (quantiles[:, 1:] < quantiles[:, :-1]).any() or (typicality[1:] < typicality[:-1]).any()
        if falls or min(columns, default=0) < 0:
            raise ValueError("the coverage has quantiles in the wrong order")
        prints = None if content.get("prints") is None else frozenset(map(str, content["prints"]))
        return cls(columns, quantiles, typicality, prints)


def _prints(bags: Bags) -> list[str]:
    """Return a fingerprint of the values of each bag."""
    values = bags.instances.astype(float) + 0.0  # one zero, whatever its sign
    values[np.isnan(values)] = np.nan  # and one NaN
    return [
        hashlib.blake2b(values[start:stop].tobytes(), digest_size=_PRINT).hexdigest()
        for start, stop in pairwise(bags.offsets.tolist())
    ]


def _every(bags: Bags, step: int) -> Bags:
    return bags if step == 1 else bags[::step]


def _values(bags: Bags, columns: tuple[int, ...]) -> Array:
    """Return a copy of some columns of the instances, (i, n_columns)."""
    return bags.instances[:, list(columns)].astype(float, copy=False)


def _compared(bags: Bags, columns: tuple[int, ...], quantiles: Array | None = None) -> Array:
    """Return the values (i, n_columns) that count; of categories, only those that the quantiles do not have.

    Codes have no order, so a category is either known or not.
    """
    values = _values(bags, columns)
    if bags.columns is not None:
        for place, d in enumerate(columns):
            if bags.columns[d].categories:
                known = np.inf if quantiles is None else quantiles[1 + place, -1]
                values[values[:, place] <= known, place] = np.nan
    return values


def used_features(members: Iterable[RuleBase]) -> list[int]:
    """Return the features that rules with the same features use in their conditions or conclusions, in order."""
    used: set[int] = set()
    for rules in members:
        asked = {condition.variable for rule in rules.rules for condition in rule.conditions}
        terms = (term for output in rules.outputs for term in output.terms.values())
        asked |= {name for term in terms if isinstance(term, Formula) for name in term.names}
        used |= {d for d, name in enumerate(rules.feature_names) if name in asked}
        used |= set(np.flatnonzero((rules.coefs[:, :, 1:] != 0).any(axis=(0, 1))).tolist())
    return sorted(used)


def _quantiles_without(values: Array, fold: Array, n_folds: int) -> Array:
    """Return the quantiles of columns (n, d) without each fold of rows, and last of all rows; (d, n_levels) each.

    A single fold is not left out.
    """
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    columns, folds = np.ascontiguousarray(ordered.T), np.ascontiguousarray(fold[order].T)
    # Sorted once: what is left without a fold is still in order.
    found = [
        _lower(columns[folds != each].reshape(len(columns), -1).T, _LEVELS) for each in range(n_folds) if n_folds > 1
    ]
    return np.array([*found, _lower(ordered, _LEVELS)])


def _lower(ordered: Array, levels: Array) -> Array:
    """Return quantiles (d, l) of the sorted columns (n, d): the least value that a share of the values do not exceed.

    Missing values come last in the columns and do not count; a column without any known value has NaN.
    """
    counts = len(ordered) - np.isnan(ordered).sum(axis=0) if np.isnan(ordered[-1]).any() else len(ordered)
    places = np.maximum(-(-levels * np.reshape(counts, (-1, 1)) // 1000) - 1, 0)
    return np.asarray(np.take_along_axis(ordered.T, places, axis=1))


def _of_bags(quantiles: Array, values: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """Return the typicality (b,) of each bag's most unusual value, its row in the quantiles, and its instance."""
    starts, counts = np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes[:, None].astype(float)
    own = _typicality(quantiles[:1], counts, counts)[:, 0]
    if not values.shape[1]:
        return own, np.zeros(len(sizes), int), np.zeros(len(sizes), int)
    each = _typicality(quantiles[1:], values, values)
    of_instance = each.min(axis=1)
    least = np.minimum.reduceat(of_instance, starts)
    first = np.flatnonzero(of_instance == np.repeat(least, sizes))
    place = first[np.searchsorted(first, starts)]  # the first instance of each bag that is as unusual as the bag
    of_size = own < least
    row = np.where(of_size, 0, 1 + each[place].argmin(axis=1))
    return np.minimum(own, least), row, np.where(of_size, 0, place - starts)


def _typicality(quantiles: Array, low: Array, high: Array) -> Array:
    """Return the typicality (n, d) of the most unusual of values from ``low`` to ``high``, (n, d) each.

    It is that of the least or of the greatest one, given the quantiles (d, n_levels) of their columns.
    """
    first, last = quantiles[:, 0], quantiles[:, -1]
    depth = np.minimum(*_shares(quantiles, low, high))
    outside = np.maximum(first - low, high - last)
    with np.errstate(divide="ignore", invalid="ignore"):  # beyond a single value, any distance is infinitely far
        found = np.where(outside > 0, -outside / (last - first), depth)
    return np.where(np.isnan(low) | np.isnan(first), 1.0, found)


def _shares(quantiles: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the shares of numbers, given their quantiles (d, l), that are at most ``low`` and at least ``high``."""
    both = np.concatenate([quantiles, -quantiles[:, ::-1]])  # the levels are symmetric
    at_most, at_least = np.split(_share_up_to(both, _LEVELS, np.concatenate([low, -high], axis=1)), 2, axis=1)
    return at_most, at_least


def _share_up_to(quantiles: Array, levels: Array, values: Array) -> Array:
    """Return the share of numbers with given quantiles (..., l) that are at most each value (n, ...)."""
    place = np.zeros(values.shape, np.int8)
    for k in range(len(levels)):
        place += (values >= quantiles[..., k]).view(np.int8)
    before, after = np.maximum(place - 1, 0), np.minimum(place, len(levels) - 1)
    columns = () if quantiles.ndim == 1 else (np.arange(len(quantiles)),)
    start, stop = quantiles[(*columns, before)], quantiles[(*columns, after)]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where((stop > start) & np.isfinite(start), (values - start) / (stop - start), 0.0)
    return np.where(place > 0, (levels[before] + part * (levels[after] - levels[before])) / 1000, 0.0)
