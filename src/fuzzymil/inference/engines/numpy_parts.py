"""How far quantified parts of additive rules hold for bags, without the truth of each part for each instance.

Prediction asks for nothing else. Where a quantifier picks an instance by one condition with a set open to one side, an
order statistic of the feature decides, whatever the number of rules. Other parts are evaluated in chunks that fit the
cache, and not in logarithms: truths of additive rules are added up, so that tiny ones do not count. The values are
those of `fuzzymil.inference.premises` up to rounding, which is tested.

Axes: b bags, i instances, d features, p parts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.engines.numpy import order_statistics
from fuzzymil.inference.membership import family
from fuzzymil.inference.premises import HEDGES, Form, MissingDegrees, Parts, missing_degrees
from fuzzymil.inference.quantifiers import MOST_FROM, MOST_TO

_NUMBERS = 1 << 16  # in a chunk
_MANY = 8  # conditions in one part for which a kernel for all of them is faster
_AND: dict[str, Callable[[Array, Array], Array]] = {"product": np.multiply, "min": np.minimum}
_OR: dict[str, Callable[[Array, Array], Array]] = {"algebraic": lambda a, b: a + b - a * b, "max": np.maximum}
_PICKING = ("some", "all", "at least")  # an instance


class _Alike(NamedTuple):
    """Parts that differ in the numbers of their sets alone."""

    quantifier: str
    place: int  # of the instance, by its truth
    form: Form
    families: tuple[str, ...]
    numbers: Array  # (p,), of the parts
    places: Array  # (p, n, 2), of the sets of their conditions: row and feature

    def only(self, some: Array) -> _Alike:
        return self._replace(numbers=self.numbers[some], places=self.places[some])


def log_degrees(
    parts: Parts,
    sets: dict[str, tuple[Array, ...]],
    masks: dict[str, Array],
    missing_values: Array | None,
    norms: tuple[str, str],
    x: Array,
    offsets: Array,
) -> Array | None:
    """Return the log-degrees (b, p) to which parts hold for bags; None where only the plain way knows.

    Shapes: ``x`` (i, d), where NaN is missing; ``offsets`` (b + 1,). ``norms``: the T-norm and the S-norm.
    ``missing_values`` (t, d): see `fuzzymil.inference.premises`.
    """
    groups = _alike(parts)
    if groups is None or norms[0] not in _AND or norms[1] not in _OR:
        return None
    gaps: Array = np.asarray(np.isnan(x).any(axis=0))
    missing = missing_degrees(sets, masks, missing_values) if gaps.any() else None
    found = np.empty((len(offsets) - 1, len(parts.rules)))
    others = []
    for alike in groups:
        decided = np.zeros(len(alike.numbers), bool)
        if alike.quantifier in _PICKING and alike.families == ("sigmoid",) and alike.form[0] in ("row", "is"):
            decided = ~gaps[alike.places[:, 0, 1]]
            if decided.any():
                own = alike.only(decided)
                found[:, own.numbers] = _by_order(own, sets, x, offsets)
        if not decided.all():
            others.append(alike.only(~decided))
    most = max((len(alike.numbers) for alike in others), default=0)
    for bags in _chunks(offsets, _NUMBERS // most) if most else ():
        ends = offsets[bags.start : bags.stop + 1]
        columns = np.ascontiguousarray(x[ends[0] : ends[-1]].T)
        for alike in others:
            truths = _truths(alike, sets, norms, columns, gaps, missing)
            found[bags, alike.numbers] = _join(alike, truths, ends - ends[0]).T
    return np.asarray(np.log(found, out=found))


@functools.lru_cache(maxsize=64)
def _alike(parts: Parts) -> list[_Alike] | None:
    """Return parts that are computed together; None if one is long, or has a quantifier that is not known here."""
    found = []
    for group in parts.truths:
        places = np.array(group.places, int).reshape(len(group.rules), len(group.families), 2)
        own = [parts.quantifiers[number] or ("", 1) for number in group.rules]
        for quantifier, count in dict.fromkeys(own):
            some = [n for n, each in enumerate(own) if each == (quantifier, count)]
            numbers = np.array(group.rules)[some]
            found.append(_Alike(quantifier, count, group.form, group.families, numbers, places[some]))
    known = {*_PICKING, "on average", "most"}
    return found if all(each.quantifier in known and len(each.families) <= _MANY for each in found) else None


def _chunks(offsets: Array, n_rows: int) -> Iterator[slice]:
    """Yield bags of about so many instances together."""
    first = 0
    while first < len(offsets) - 1:
        last = max(int(np.searchsorted(offsets, offsets[first] + n_rows, side="right")) - 1, first + 1)
        yield slice(first, last)
        first = last


def _by_order(alike: _Alike, sets: Any, x: Array, offsets: Array) -> Array:
    """Return the degrees (b, p) of parts with one set open to one side, where no value is missing."""
    rows, features = alike.places[:, 0].T
    hedges = alike.form[2] if alike.form[0] == "is" else ()
    parameters = [each[rows, features] for each in sets["sigmoid"]]
    if x.size > _NUMBERS and 2 * len(used := np.unique(features)) < x.shape[1]:
        x, features = x[:, used], np.searchsorted(used, features)
    greatest, least = (each[alike.place - 1] for each in order_statistics(x, offsets, alike.place))
    rises = (parameters[1] > 0) != (hedges.count("not") % 2 == 1)
    values = np.where(rises != (alike.quantifier == "all"), greatest[:, features], least[:, features])
    degrees = _degrees("sigmoid", hedges, parameters, values)
    return np.where(np.diff(offsets)[:, None] >= alike.place, degrees, 0.0) if alike.place > 1 else degrees


def _degrees(kind: str, hedges: Sequence[str], parameters: Sequence[Array], x: Array) -> Array:
    """Return the degrees of known values in sets with hedges; ``x`` is overwritten."""
    if kind == "sigmoid":  # in logarithms, this takes fifty times as long
        center, slope = parameters
        found = x
        found -= center
        found *= -slope
        np.exp(found, out=found)
        found += 1.0
        np.reciprocal(found, out=found)
    else:
        found = np.exp(family(kind).log_mu(x, *parameters))
    for hedge in reversed(hedges):
        found = 1.0 - found if hedge == "not" else np.exp(HEDGES[hedge](np.log(found)))  # type: ignore[arg-type]
    return found


def _truths(
    alike: _Alike, sets: Any, norms: tuple[str, str], columns: Array, gaps: Array, missing: MissingDegrees | None
) -> Array:
    """Return how true the premises of parts are for each instance, (p, i), given the features in columns, (d, i)."""

    def condition(number: int, hedges: Sequence[str], favorable: bool) -> Array:
        rows, features = alike.places[:, number].T
        kind = alike.families[number]
        values = columns[features]
        unknown = np.isnan(values) if gaps[features].any() else None
        found = _degrees(kind, hedges, [each[rows, features, None] for each in sets[kind]], values)
        if unknown is not None:
            instead = np.full(len(rows), float(favorable))
            if missing is not None:
                known: Any = missing.log_mu[rows, features]
                for hedge in reversed(hedges):
                    known = HEDGES[hedge](known)
                instead = np.where(missing.settled[rows, features] > 0, np.exp(known), instead)
            found = np.where(unknown, instead[:, None], found)
        return found

    def joined(form: Form) -> Array:
        if form[0] == "is":
            return condition(*form[1:])
        if form[0] == "not":
            return 1.0 - joined(form[1])
        if form[0] == "row":
            inner = [condition(number, (), form[1]) for number in range(len(alike.families))]
        else:
            inner = list(map(joined, form[1:]))
        join = _OR[norms[1]] if form[0] == "or" else _AND[norms[0]]
        found = inner[0] if inner else np.ones((len(alike.numbers), columns.shape[1]))
        for each in inner[1:]:
            found = join(found, each)
        return found

    return joined(alike.form)


def _join(alike: _Alike, truths: Array, offsets: Array) -> Array:
    """Return the degrees (p, b) to which parts hold, given the truths (p, i) of their premises."""
    if alike.quantifier in ("some", "all"):
        reduction = np.maximum if alike.quantifier == "some" else np.minimum
        return np.asarray(reduction.reduceat(truths, offsets[:-1], axis=1))
    if alike.quantifier == "at least":
        greatest, _ = order_statistics(truths.T, offsets, alike.place)
        return np.asarray(np.maximum(greatest[-1].T, 0.0))  # of fewer instances, -inf
    share = np.add.reduceat(truths, offsets[:-1], axis=1) / np.diff(offsets)
    return share if alike.quantifier == "on average" else np.clip((share - MOST_FROM) / (MOST_TO - MOST_FROM), 0.0, 1.0)
