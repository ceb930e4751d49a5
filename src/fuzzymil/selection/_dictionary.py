"""Dictionaries of candidate premises: quantified thresholds of single features, bag sizes, prototypes.

A dictionary is built from the instances alone, without the labels, so it can be shared by all parts of a
cross-validation.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.membership import Sigmoid
from fuzzymil.selection._categories import crisp_statements, numeric_features
from fuzzymil.selection._gaps import IGNORED, Gaps, gaps_in, nth_degree
from fuzzymil.selection._premises import Condition, Part, Premise, order_statistics
from fuzzymil.training.scaling import Measures

__all__ = [
    "Dictionary",
    "averages",
    "bag_sizes",
    "categories",
    "ease_of_averages",
    "joined",
    "limits",
    "shares",
    "thresholds",
]

_MOST_COLUMNS = 5_000  # of thresholds: with many features, fewer thresholds of each
_MOST_THRESHOLDS, _FEWEST_THRESHOLDS = 9, 3
_AVERAGE_THRESHOLDS = 5
_TAILS = (0.05, 0.02, 0.01, 0.005)  # shares of rare bags that thresholds separate from the others
_RARE_BAGS = 10  # at least so many
_LEAST_SHARE = 0.1  # of the bags must be large enough for a count
_EASE_OF_COUNTS = 0.9  # prefer SOME to AT LEAST k
_LEAST_RANGE = 1e-290  # of a feature: the slopes of its sets would overflow
_TYPICAL_SPREAD = 0.4  # standard deviation over bags of a statement that is true in some and false in others


@dataclasses.dataclass(frozen=True)
class Dictionary:
    """Candidate premises and how true they are in each bag."""

    columns: Array  # (b, p), in Fortran order
    premise: Callable[[int], Any]  # a Premise, or a Prototype
    lengths: Array  # (p,), numbers of conditions
    ease: Array  # (p,), by which the penalty on a conclusion is divided


def joined(dictionaries: Sequence[Dictionary]) -> Dictionary:
    """Return one dictionary with the candidates of several."""
    ends = np.cumsum([len(each.lengths) for each in dictionaries])

    def premise(number: int) -> Any:
        place = int(np.searchsorted(ends, number, side="right"))
        return dictionaries[place].premise(number - int(ends[place - 1] if place else 0))

    columns = np.concatenate([each.columns for each in dictionaries], axis=1)
    lengths, ease = (np.concatenate([getattr(each, name) for each in dictionaries]) for name in ("lengths", "ease"))
    return Dictionary(np.asfortranarray(columns), premise, lengths, ease)


def thresholds(bags: Bags, counts: Sequence[int] = (1,), gaps: Gaps = IGNORED) -> Dictionary:
    """Return conditions on single features: great or small in at least so many instances.

    Parameters
    ----------
    bags : Bags
    counts : sequence of int
        1 is SOME, k is AT LEAST k.
    gaps : Gaps
        What missing values mean.
    """
    numeric = numeric_features(bags)
    n_thresholds = _MOST_COLUMNS // (2 * len(counts) * max(len(numeric), 1))
    n_thresholds = int(np.clip(n_thresholds, _FEWEST_THRESHOLDS, _MOST_THRESHOLDS))
    counts = [count for count in counts if np.mean(bags.sizes >= count) >= _LEAST_SHARE or count == 1]
    stand_ins = gaps.values
    greatest, least = order_statistics(bags, max(counts), known=stand_ins is not None)
    n_gaps = gaps_in(bags)
    columns: list[Array] = []
    found: list[_Threshold] = []
    for count in counts:
        quantifier, number = ("some", None) if count == 1 else ("at least", count)
        for ordered, sign in ((greatest, 1.0), (least, -1.0)):
            for d in numeric:
                # What happens in few of many bags would hide between thresholds that divide them evenly.
                tails = count == 1 and n_thresholds == _MOST_THRESHOLDS
                values = ordered[:, :, d]
                centers, slopes = limits(values[count - 1], n_thresholds, tails=tails)
                if len(centers):
                    slopes = sign * slopes
                    degree = functools.partial(_rising, centers, slopes)
                    if stand_ins is not None and n_gaps[:, d].any():
                        of_gap = degree(stand_ins[:, d]).mean(axis=0)
                        columns.append(nth_degree(values, n_gaps[:, d], count, degree, of_gap))
                    else:
                        columns.append(degree(values[count - 1]))
                    pairs = zip(centers.tolist(), slopes.tolist(), strict=True)
                    found += [_Threshold(quantifier, number, d, *pair) for pair in pairs]
    ease = np.array([1.0 if each.quantifier == "some" else _EASE_OF_COUNTS for each in found])
    return _single_conditions(bags, columns, found, ease)


def _rising(centers: Array, slopes: Array, values: Array) -> Array:
    """Return the degrees (n, c) of values (n,) in sets that rise or fall at these centers."""
    return np.asarray(expit(slopes * (values[:, None] - centers)))


def averages(bags: Bags, gaps: Gaps = IGNORED) -> Dictionary:
    """Return conditions on single features that instances satisfy ON AVERAGE."""
    spread = Measures.of(bags.instances).deviation
    columns: list[Array] = []
    found: list[_Threshold] = []
    for d in numeric_features(bags):
        values = bags.instances[:, d]
        centers, slopes = limits(values, _AVERAGE_THRESHOLDS)
        if not len(centers):
            continue
        # A wide set, too: its average is nearly the average of the feature.
        slopes = np.append(slopes, 1.4 / spread[d])
        centers = np.append(centers, np.nanmedian(values))
        truth = _rising(centers, slopes, values)
        of_gap = 1.0 if gaps.values is None else _rising(centers, slopes, gaps.values[:, d]).mean(axis=0)
        truth = np.where(np.isnan(truth), of_gap, truth)
        columns.append(np.add.reduceat(truth, bags.offsets[:-1], axis=0) / bags.sizes[:, None])
        found += [_Threshold("on average", None, d, *map(float, each)) for each in zip(centers, slopes, strict=True)]
    ease = np.concatenate([ease_of_averages(each) for each in columns]) if columns else np.empty(0)
    return _single_conditions(bags, columns, found, ease)


class _Threshold(NamedTuple):
    quantifier: str
    number: int | None
    feature: int
    center: float
    slope: float


def _single_conditions(bags: Bags, columns: list[Array], found: list[_Threshold], ease: Array) -> Dictionary:
    def premise(place: int) -> Premise:
        quantifier, number, feature, center, slope = found[place]
        return (Part(quantifier, number, (Condition(feature, Sigmoid(center, slope)),)),)

    together = np.concatenate(columns, axis=1) if columns else np.empty((bags.n_bags, 0))
    return Dictionary(np.asfortranarray(together), premise, np.ones(len(found)), ease)


def categories(bags: Bags, counts: Sequence[int] = (1,), gaps: Gaps = IGNORED) -> Dictionary:
    """Return conditions on categories and on missing values that at least so many instances satisfy."""
    counts = [count for count in counts if np.mean(bags.sizes >= count) >= _LEAST_SHARE or count == 1]
    columns, found = crisp_statements(bags, counts, gaps=gaps)
    ease = np.array([1.0 if premise[0].quantifier == "some" else _EASE_OF_COUNTS for premise in found])
    return Dictionary(np.asfortranarray(columns), found.__getitem__, np.ones(len(found)), ease)


def shares(bags: Bags, gaps: Gaps = IGNORED) -> Dictionary:
    """Return conditions on categories and missing values, to the degree of the share of instances that satisfy them."""
    columns, found = crisp_statements(bags, average=True, gaps=gaps)
    return Dictionary(np.asfortranarray(columns), found.__getitem__, np.ones(len(found)), ease_of_averages(columns))


def ease_of_averages(columns: Array) -> Array:
    """Return the ease of averages: as they vary little from bag to bag, their conclusions must be great."""
    return np.asarray(np.clip(_TYPICAL_SPREAD / np.maximum(columns.std(axis=0), 1e-9), 1.0, 8.0))


def bag_sizes(bags: Bags) -> Dictionary:
    """Return statements about the number of instances."""
    sizes = bags.sizes
    limits = np.unique(np.quantile(sizes, np.linspace(0, 1, _MOST_THRESHOLDS + 2)[1:-1]).round().astype(int))
    limits = limits[(limits > sizes.min()) & (limits <= sizes.max())]
    columns = np.asfortranarray((sizes[:, None] >= limits).astype(float))
    ones = np.ones(len(limits))
    return Dictionary(columns, lambda number: (Part("at least", int(limits[number]), ()),), ones, ones)


def limits(values: Array, count: int, *, tails: bool = False) -> tuple[Array, Array]:
    """Return thresholds that divide the values into parts of equal size, and the slopes of the sets at them.

    With ``tails``, some more among the least and the greatest of many values.
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < 2 or known[-1] - known[0] < _LEAST_RANGE:
        return np.empty(0), np.empty(0)
    # A threshold lies between two values that differ by more than rounding.
    rounding = max(1e-12 * (known[-1] - known[0]), 8 * np.finfo(float).eps * np.abs(known[[0, -1]]).max())
    steps = np.flatnonzero(np.diff(known) > rounding)
    if not len(steps):
        return np.empty(0), np.empty(0)
    if len(steps) <= count:
        slope = 8.0 / float((known[steps + 1] - known[steps]).min())
        return (known[steps] + known[steps + 1]) / 2, np.full(len(steps), slope)
    places = np.linspace(0, len(known), count + 2)[1:-1]
    if tails:
        rare = np.array([share * len(known) for share in _TAILS if share * len(known) >= _RARE_BAGS])
        places = np.concatenate([rare[::-1], places, len(known) - rare])
    steps = np.unique(steps[np.clip(np.searchsorted(steps, places - 1), 0, len(steps) - 1)])
    centers = (known[steps] + known[steps + 1]) / 2
    low, high = known[len(known) // 10], known[len(known) - 1 - len(known) // 10]
    slopes = np.full(len(steps), 4.0 * count / (high - low if high > low else known[-1] - known[0]))
    if tails and len(centers) > 1:  # there, sets are as steep as the distance from the next threshold asks for
        gaps = np.diff(centers)
        inner = np.where(centers < np.median(known), np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
        far = (steps < len(known) // (count + 1) - 1) | (steps > len(known) - 1 - len(known) // (count + 1))
        slopes = np.where(far, np.maximum(slopes, 4.0 / inner), slopes)
    return centers, slopes
