"""Premises whose fuzzy sets move: how true they are in some bags, and the derivatives of that, in NumPy.

Choosing rules compares thousands of small premises and moves the sets of the best; to compile a program for each would
take longer than the comparison. The values are those of `fuzzymil.inference.premises`, which is tested.

A *move* is a vector that is 0 where the sets are: 1 in any direction is a great change. Locations shift by a part of
the spread of their feature; widths, shapes and slopes are multiplied by its exponential.

Axes: b bags, i instances, c movable conditions, p parts, r rules, d features, t values that a missing one stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.engines.numpy import order_statistics
from fuzzymil.inference.membership import MembershipFunction, Sigmoid, family
from fuzzymil.inference.premises import Form, Group, Parts, Place, log_truth_of_parts, missing_degrees

_STEP = 0.3  # a move of 1 shifts a location by this many standard deviations of its feature
_FARTHEST = 1e300  # a finite distance, instead of an infinite one, can be multiplied by 0

Pullback = Callable[[Array], Array]
"""A function from the derivatives (b, r) of some number by the truths to its derivatives by the moves."""


class Movable(Protocol):
    """Premises whose fuzzy sets can be moved."""

    @property
    def n_moves(self) -> int:
        """Length of a move."""

    def evaluate(self, moves: Array) -> tuple[Array, Pullback]:
        """Return the truth (b, r) of the premises after a move, and how its derivatives become those of the move."""


class _Conditions(NamedTuple):
    """Movable conditions with sets of one family."""

    family: type[MembershipFunction]
    rows: Array  # (c,), of the sets in the network's arrays, and the features
    columns: Array
    parts: Array  # (c,)
    start: int  # of their moves, one parameter after the other
    parameters: tuple[Array, ...]  # (c,) each, where nothing has moved

    def moved(self, moves: Array, unit: Array) -> tuple[Array, ...]:
        """Return the parameters after a move."""
        steps = self._own(moves)
        return tuple(
            value + unit * step if role == "location" else value * np.exp(step)
            for role, value, step in zip(self.family.roles().values(), self.parameters, steps, strict=True)
        )

    def add_slopes(self, found: Array, slopes: Sequence[Array], parameters: tuple[Array, ...], unit: Array) -> None:
        """Set the derivatives by the moves, given those by the parameters, (c,) each."""
        roles = self.family.roles().values()
        for place, role, slope, value in zip(self._own(found), roles, slopes, parameters, strict=True):
            place += slope * (unit if role == "location" else value)

    def _own(self, moves: Array) -> Array:
        shape = len(self.parameters), len(self.rows)
        return moves[self.start : self.start + shape[0] * shape[1]].reshape(shape)


class MovablePremises:
    """Quantified premises on some bags, whose sets can be moved.

    Every premise is a conjunction of parts under the product; every part *some*, *all*, *at least* or *on average* of
    a conjunction. Sets without `MembershipFunction.log_mu_slopes`, and conditions under OR and NOT, stay.

    Shapes: ``instances`` (i, d), ``offsets`` (b + 1,). ``sets``, ``masks``: as for
    `fuzzymil.inference.premises.log_truth_of_parts`. ``unit`` (d,): standard deviations of the features.
    ``missing_values`` (t, d): what a missing value stands for. None: it satisfies every condition.
    """

    def __init__(
        self,
        parts: Parts,
        sets: Mapping[str, tuple[Array, ...]],
        masks: Mapping[str, Array],
        instances: Array,
        offsets: Array,
        unit: Array,
        missing_values: Array | None = None,
    ) -> None:
        self._offsets, self._sizes = offsets, np.diff(offsets)
        self._owner = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._rules, self._quantifiers = np.array(parts.rules, int), [_known_quantifier(q) for q in parts.quantifiers]
        self._unit, self._missing_values = _STEP * unit, missing_values
        n_parts = len(self._rules)
        movable: dict[str, list[tuple[Place, int]]] = {}
        fixed, n_conditions = [], np.zeros(n_parts, int)
        for group in parts.truths:
            own, rest = _movable_conditions(group)
            for part, places in zip(group.rules, group.places, strict=True):
                n_conditions[part] = len(places)
                for number in own:
                    movable.setdefault(group.families[number], []).append((places[number], part))
            if rest != ("and",):
                fixed.append(Group(rest, group.rules, group.places, group.families))
        # Which value decides on a threshold is known beforehand, unless a missing one may, to a degree that changes.
        partly: Array = np.zeros(instances.shape[1], bool)
        if missing_values is not None:
            partly = np.asarray(np.isnan(instances).any(axis=0))
        self._thresholds: list[tuple[_Conditions, Array]] = []
        self._conditions: list[_Conditions] = []
        start = 0
        for kind, conditions in movable.items():
            rows, columns = np.array([place for place, _ in conditions], int).T
            where = np.array([part for _, part in conditions], int)
            decided = np.array([self._quantifiers[part][0] in ("some", "at least") for part in where], bool)
            alone = np.full(len(where), family(kind) is Sigmoid)
            alone &= (n_conditions[where] == 1) & decided & ~partly[columns]
            for chosen, is_threshold in ((alone, True), (~alone, False)):
                if not chosen.any():
                    continue
                values = tuple(each[rows[chosen], columns[chosen]] for each in sets[kind])
                same = _Conditions(family(kind), rows[chosen], columns[chosen], where[chosen], start, values)
                start += len(values) * int(chosen.sum())
                if is_threshold:
                    self._thresholds.append((same, self._decisive_values(same, instances)))
                else:
                    self._conditions.append(same)
        self.n_moves = start
        self._x = [instances[:, each.columns] for each in self._conditions]
        self._unknown = [np.isnan(x) for x in self._x]
        self._x = [np.where(gone, 0.0, x) for x, gone in zip(self._x, self._unknown, strict=True)]
        simple = np.zeros(n_parts, bool)
        for each, _ in self._thresholds:
            simple[each.parts] = True
        self._counting = np.flatnonzero(n_conditions == 0)  # of all instances
        self._places = np.flatnonzero(~simple & (n_conditions > 0))
        place_of = np.full(n_parts, -1)
        place_of[self._places] = np.arange(len(self._places))
        self._incidence = [
            (place_of[each.parts][:, None] == np.arange(len(self._places))).astype(float) for each in self._conditions
        ]
        self._log_fixed = np.zeros((len(instances), len(self._places)))
        if fixed:
            which = [part for group in fixed for part in group.rules]
            self._log_fixed[:, place_of[which]] = _log_truth_of_fixed(
                fixed, which, sets, masks, instances, missing_values
            )

    def moved(self, moves: Array) -> dict[Place, MembershipFunction]:
        """Return the sets after a move, by their places in the network's arrays."""
        found: dict[Place, MembershipFunction] = {}
        for each in (*(own for own, _ in self._thresholds), *self._conditions):
            places = zip(each.rows.tolist(), each.columns.tolist(), strict=True)
            values = zip(*each.moved(moves, self._unit[each.columns]), strict=True)
            found |= {place: each.family(*map(float, own)) for place, own in zip(places, values, strict=True)}
        return found

    def evaluate(self, moves: Array) -> tuple[Array, Pullback]:
        """Return the truth (b, r) of the premises after a move, and how its derivatives become those of the move."""
        degrees = np.ones((len(self._sizes), len(self._rules)))
        for p in self._counting:
            degrees[:, p] = self._sizes >= self._quantifiers[p][1]
        by_value = []
        with np.errstate(over="ignore"):
            for each, values in self._thresholds:
                parameters = each.moved(moves, self._unit[each.columns])
                degrees[:, each.parts] = np.exp(each.family.log_mu(values, *parameters))
                by_value.append((each, parameters, values))
        log_truth, by_instance = self._log_fixed, []
        for each, x, unknown, incidence in zip(self._conditions, self._x, self._unknown, self._incidence, strict=True):
            parameters = each.moved(moves, self._unit[each.columns])
            log_truth = log_truth + self._log_memberships(each, x, unknown, parameters) @ incidence
            by_instance.append((each, parameters, x, unknown, incidence))
        deciding = self._join(degrees, log_truth)
        truth = np.ones((len(self._sizes), int(self._rules.max(initial=-1)) + 1))
        for part, rule in enumerate(self._rules.tolist()):
            truth[:, rule] *= degrees[:, part]

        def pullback(slopes: Array) -> Array:
            found = np.zeros(self.n_moves)
            by_degree = self._slopes_of_parts(slopes, degrees)
            inner = by_degree * degrees  # by the logarithms of the degrees
            for each, parameters, values in by_value:
                weight = inner[:, each.parts]
                with np.errstate(over="ignore", invalid="ignore"):
                    own = each.family.log_mu_slopes(values, *parameters)
                    total = [np.where(weight == 0, 0.0, weight * value).sum(axis=0) for value in own]
                each.add_slopes(found, total, parameters, self._unit[each.columns])
            of_rows = np.zeros_like(log_truth)
            for g, p in enumerate(self._places):
                rows = deciding[g]
                if rows is None:  # the mean over instances
                    share = np.exp(log_truth[:, g]) / self._sizes[self._owner]
                    of_rows[:, g] = by_degree[self._owner, p] * share
                else:
                    reached = degrees[:, p] > 0
                    np.add.at(of_rows[:, g], rows[reached], inner[reached, p])
            for each, parameters, x, unknown, incidence in by_instance:
                weight = of_rows @ incidence.T
                total = [(weight * value).sum(axis=0) for value in self._slopes(each, x, unknown, parameters)]
                each.add_slopes(found, total, parameters, self._unit[each.columns])
            return found

        return truth, pullback

    def _decisive_values(self, conditions: _Conditions, instances: Array) -> Array:
        """Return the value (b, c) on which each threshold decides."""
        features, places = np.unique(conditions.columns, return_inverse=True)
        nth = np.array([self._quantifiers[part][1] for part in conditions.parts]) - 1
        greatest, least = order_statistics(instances[:, features], self._offsets, int(nth.max()) + 1)
        rises = conditions.parameters[1] > 0
        values = np.where(rises, greatest[nth, :, places].T, least[nth, :, places].T)
        return np.where(np.isfinite(values), values, np.copysign(_FARTHEST, values))

    def _log_memberships(
        self, conditions: _Conditions, x: Array, unknown: Array, parameters: tuple[Array, ...]
    ) -> Array:
        """Return log-memberships (i, c)."""
        log_mu: Array = conditions.family.log_mu(x, *parameters)
        if not unknown.any():
            return log_mu
        if self._missing_values is None:
            return np.where(unknown, 0.0, log_mu)
        each: Array = conditions.family.log_mu(self._missing_values[:, conditions.columns], *parameters)
        return np.where(unknown, np.logaddexp.reduce(each, axis=0) - np.log(len(each)), log_mu)

    def _slopes(
        self, conditions: _Conditions, x: Array, unknown: Array, parameters: tuple[Array, ...]
    ) -> Sequence[Array]:
        """Return the derivatives of log-memberships by each parameter, (i, c) each."""
        kind = conditions.family
        slopes: Sequence[Array] = kind.log_mu_slopes(x, *parameters)
        if not unknown.any():
            return slopes
        theirs = [np.zeros(1)] * len(slopes)
        if self._missing_values is not None:
            values = self._missing_values[:, conditions.columns]
            each = kind.log_mu(values, *parameters)
            share = np.exp(each - np.logaddexp.reduce(each, axis=0))
            theirs = [(share * own).sum(axis=0) for own in kind.log_mu_slopes(values, *parameters)]
        return [np.where(unknown, missing, own) for missing, own in zip(theirs, slopes, strict=True)]

    def _join(self, degrees: Array, log_truth: Array) -> list[Array | None]:
        """Set the degrees of the parts that look at all instances; return the rows that decide, None for a mean."""
        starts = self._offsets[:-1]
        found: list[Array | None] = []
        for g, p in enumerate(self._places):
            (quantifier, count), values = self._quantifiers[p], log_truth[:, g]
            if quantifier == "on average":
                degrees[:, p] = np.add.reduceat(np.exp(values), starts) / self._sizes
                found.append(None)
                continue
            if count == 1:
                reduced = (np.minimum if quantifier == "all" else np.maximum).reduceat(values, starts)
                rows = np.where(values == reduced[self._owner], np.arange(len(values)), len(values))
                deciding = np.minimum.reduceat(rows, starts)
            else:
                order = np.lexsort((-values, self._owner))
                deciding = order[np.minimum(starts + count - 1, len(order) - 1)]
            degrees[:, p] = np.where(self._sizes >= count, np.exp(values[deciding]), 0.0)
            found.append(deciding)
        return found

    def _slopes_of_parts(self, slopes: Array, degrees: Array) -> Array:
        """Return derivatives (b, p) from those of the rules, (b, r): each times the degrees of the other parts."""
        found = slopes[:, self._rules]
        for r in np.flatnonzero(np.bincount(self._rules, minlength=slopes.shape[1]) > 1):
            parts = np.flatnonzero(self._rules == r)
            for p in parts:
                found[:, p] = slopes[:, r] * degrees[:, parts[parts != p]].prod(axis=1)
        return found


def _known_quantifier(quantifier: tuple[str, int] | None) -> tuple[str, int]:
    if quantifier is None or quantifier[0] not in ("some", "all", "at least", "on average"):
        raise ParameterError(f"Sets can move under 'some', 'all', 'at least' and 'on average', got {quantifier!r}.")
    return quantifier


def _movable_conditions(group: Group) -> tuple[list[int], Form]:
    """Return the conditions of a group whose sets can move, and the form of what is left."""
    if group.form[0] == "row":
        leaves: tuple[Form, ...] = tuple(("is", n, (), group.form[1]) for n in range(len(group.families)))
    else:
        leaves = group.form[1:] if group.form[0] == "and" else (group.form,)
    has_slopes = [family(k).log_mu_slopes is not MembershipFunction.log_mu_slopes for k in group.families]
    moves = [leaf[0] == "is" and not leaf[2] and has_slopes[leaf[1]] for leaf in leaves]
    rest = (leaf for leaf, own in zip(leaves, moves, strict=True) if not own)
    return [leaf[1] for leaf, own in zip(leaves, moves, strict=True) if own], ("and", *rest)


def _log_truth_of_fixed(
    groups: list[Group], which: list[int], sets: Any, masks: Any, instances: Array, missing_values: Array | None
) -> Array:
    """Return the log-truths (i, n) of what does not move in some parts."""
    place = {part: n for n, part in enumerate(which)}
    groups = [group._replace(rules=tuple(place[part] for part in group.rules)) for group in groups]
    missing, x = np.isnan(instances), instances
    known = degrees = None
    if missing.any():
        x, known = np.where(missing, 0.0, instances), 1.0 - missing
        degrees = missing_degrees(sets, masks, missing_values)
    given: Any = Parts(tuple(groups), (), (), ()), sets, masks, "product", "algebraic", x, known, None, degrees
    return np.asarray(log_truth_of_parts(*given))
