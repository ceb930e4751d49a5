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
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose._categories import crisp_statements, numeric_features
from fuzzymil.learn.choose._gaps import IGNORED, Gaps, gaps_in, nth_degree
from fuzzymil.learn.choose._limits import limits
from fuzzymil.learn.choose._premises import Condition, Part, Premise, order_statistics
from fuzzymil.learn.train.scaling import Measures

__all__ = ["Dictionary", "averages", "bag_sizes", "categories", "ease_of_averages", "joined", "shares", "thresholds"]

_MOST_COLUMNS = 5_000  # of thresholds: with many features, fewer thresholds of each
_MOST_THRESHOLDS, _FEWEST_THRESHOLDS = 9, 3
_AVERAGE_THRESHOLDS = 5
_LEAST_SHARE = 0.1  # of the bags must be large enough for a count
_EASE_OF_COUNTS = 0.9  # prefer SOME to AT LEAST k
_TYPICAL_SPREAD = 0.4  # standard deviation over bags of a statement that is true in some and false in others


@dataclasses.dataclass(frozen=True)
class Dictionary:
    """Candidate premises and how true they are in each bag."""

    columns: Array  # (b, p), in Fortran order
    premise: Callable[[int], Any]  # a Premise, or a Prototype
    lengths: Array  # (p,), numbers of conditions
    ease: Array  # (p,), by which the penalty on a conclusion is divided

    def eased(self, rows: Array) -> Array:
        """Return the columns of some bags times their ease, in Fortran order."""
        return (np.take(self.columns.T, rows, axis=1) * self.ease[:, None]).T


def joined(dictionaries: Sequence[Dictionary]) -> Dictionary:
    """Return one dictionary with the candidates of several."""
    ends = np.cumsum([len(each.lengths) for each in dictionaries])

    def premise(number: int) -> Any:
        place = int(np.searchsorted(ends, number, side="right"))
        return dictionaries[place].premise(number - int(ends[place - 1] if place else 0))

    columns = _side_by_side([each.columns for each in dictionaries])
    lengths, ease = (np.concatenate([getattr(each, name) for each in dictionaries]) for name in ("lengths", "ease"))
    return Dictionary(columns, premise, lengths, ease)


def _side_by_side(parts: Sequence[Array]) -> Array:
    """Return all columns of several arrays, in Fortran order."""
    found = np.empty((sum(part.shape[1] for part in parts), len(parts[0])))
    return np.concatenate([part.T for part in parts], out=found).T


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
    greatest, least = order_statistics(bags.instances, bags.offsets, max(counts), known=stand_ins is not None)
    n_gaps = gaps_in(bags)
    columns: list[Array] = []
    found: list[_Threshold] = []
    # What happens in few of many bags would hide between thresholds that divide them evenly.
    many = n_thresholds == _MOST_THRESHOLDS
    for count in counts:
        quantifier, number = ("some", None) if count == 1 else ("at least", count)
        for ordered, sign in ((greatest, 1.0), (least, -1.0)):
            each = limits(ordered[count - 1][:, numeric], n_thresholds, tails=count == 1 and many)
            features = np.repeat(numeric, [len(centers) for centers, _ in each])
            if not len(features):
                continue
            centers, slopes = (np.concatenate(values) for values in zip(*each, strict=True))
            slopes *= sign
            truth = _rising(centers, slopes, ordered[count - 1][:, features])
            if stand_ins is not None:
                for d in np.unique(features[n_gaps[:, features].any(axis=0)]):
                    own = features == d
                    degree = functools.partial(_rising, centers[own], slopes[own])
                    of_gap = degree(stand_ins[:, d]).mean(axis=0)
                    truth[:, own] = nth_degree(ordered[:, :, d], n_gaps[:, d], count, degree, of_gap)
            columns.append(truth)
            sets = zip(features.tolist(), centers.tolist(), slopes.tolist(), strict=True)
            found += [_Threshold(quantifier, number, *chosen) for chosen in sets]
    ease = np.array([1.0 if each.quantifier == "some" else _EASE_OF_COUNTS for each in found])
    return _single_conditions(bags, columns, found, ease)


def _rising(centers: Array, slopes: Array, values: Array) -> Array:
    """Return the degrees (n, c) of values, (n,) for all sets or (n, c), in sets that rise or fall at these centers."""
    return np.asarray(expit(slopes * (values.reshape(len(values), -1) - centers)))


def averages(bags: Bags, gaps: Gaps = IGNORED) -> Dictionary:
    """Return conditions on single features that instances satisfy ON AVERAGE."""
    spread = Measures.of(bags.instances).deviation
    columns: list[Array] = []
    found: list[_Threshold] = []
    numeric = numeric_features(bags)
    each = limits(bags.instances[:, numeric], _AVERAGE_THRESHOLDS)
    for d, (centers, slopes) in zip(numeric, each, strict=True):
        values = bags.instances[:, d]
        if not len(centers):
            continue
        # A wide set, too: its average is nearly the average of the feature.
        slopes = np.append(slopes, 1.4 / spread[d])
        centers = np.append(centers, np.nanmedian(values))
        truth = _rising(centers, slopes, values)
        of_gap = 1.0 if gaps.values is None else _rising(centers, slopes, gaps.values[:, d]).mean(axis=0)
        truth = np.where(np.isnan(truth), of_gap, truth)
        columns.append(np.add.reduceat(truth, bags.offsets[:-1], axis=0) / bags.sizes[:, None])
        pairs = zip(centers.tolist(), slopes.tolist(), strict=True)
        found += [_Threshold("on average", None, d, *pair) for pair in pairs]
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

    together = _side_by_side(columns) if columns else np.empty((bags.n_bags, 0))
    return Dictionary(together, premise, np.ones(len(found)), ease)


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
