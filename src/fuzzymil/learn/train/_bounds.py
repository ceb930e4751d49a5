"""Constraints on rules as bounds on their arrays: what they allow, whether the start keeps them, what ended at one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.inference.layers import Params
from fuzzymil.inference.membership import MembershipFunction, family
from fuzzymil.learn.train._projection import FLATTEST, Bounds, Neighbors, least_top, measured, reaches
from fuzzymil.learn.train.constraints import Constraints, Touched
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase

__all__ = ["bounds_of", "touched"]

_TOUCHING = 1e-4  # relative distance from a bound: single precision, on standardized axes


def bounds_of(rules: RuleBase, start: Params, constraints: Constraints, moves: Array, axes: Scaling) -> Bounds:
    """Return the bounds that constraints mean for training that starts from these rules.

    Parameters
    ----------
    rules : RuleBase
    start : Params
        Their arrays, in the units of the data.
    constraints : Constraints
    moves : array of shape (rows, d)
        0 for frozen sets.
    axes : Scaling
        From the units of the data to the axes that the bounds are to be on.
    """
    shape = (rules.arrangement.n_rows, rules.n_features)
    ordered = constraints.ordered or constraints.overlap is not None
    peaks = np.array([np.full(shape, -np.inf), np.full(shape, np.inf)])
    if ordered:
        ranges = _ranges(rules, axes)
        limits = [_intervals(list(v.terms.values()), *ends) for v, ends in zip(rules.variables, ranges, strict=True)]
        for (row, d), (_, term) in rules.arrangement.terms.items():
            place = list(rules.variables[d].terms).index(term)
            peaks[:, row, d] = (limits[d][place] - axes.shift[d]) / axes.scale[d]
    low, high = _levels(rules, start, constraints)
    linear = start.coefs.shape[2] > 1
    ends = _ranges(rules, axes) if linear else np.zeros((0, 2))
    if linear and constraints.conclusions is not None:
        _check_ranges(rules, ends)
    _check_conclusions(rules, start, constraints, low, high, ends)
    offset = 0.0 if not rules.normalize else axes.target_shift
    scaled = (ends - axes.shift[:, None]) / axes.scale[:, None] if linear else ends
    return Bounds(
        peaks=peaks,
        steepness=_steepness(start, axes) if ordered else _steepness(start, axes, factor=0.0),
        levels=(np.array([low, high]) - offset) / axes.target_scale,
        slopes=_slopes(rules, start, constraints),
        middle=scaled.mean(axis=1),
        half=np.diff(scaled, axis=1)[:, 0] / 2,
        neighbors=None if constraints.overlap is None else _neighbors(rules, constraints.overlap, moves, axes),
    )


def _intervals(sets: list[MembershipFunction], low: float, high: float) -> Array:
    """Return the lowest and highest peak of each set, (n, 2): halfway to its neighbors, and within the range."""
    peaks = np.array([float(chosen.peak(*chosen.parameters)) for chosen in sets])
    distinct = np.unique(peaks)
    inner = (distinct[:-1] + distinct[1:]) / 2
    ends = np.concatenate([np.minimum(distinct[:1], low), inner, np.maximum(distinct[-1:], high)])
    own = np.searchsorted(distinct, peaks)
    return np.column_stack([ends[own], ends[own + 1]])


def _steepness(start: Params, axes: Scaling, factor: float = FLATTEST) -> dict[str, tuple[Array, ...]]:
    found = {}
    for name, values in start.sets.items():
        signed = [kind == "steepness" for kind in family(name)._kinds()]
        signed += [False] * (len(values) - len(signed))  # families with any number of parameters have none
        found[name] = tuple(
            factor * np.asarray(value) * axes.scale if steep else np.zeros(np.shape(value))
            for steep, value in zip(signed, values, strict=True)
        )
    return found


def _levels(rules: RuleBase, start: Params, constraints: Constraints) -> tuple[Array, Array]:
    """Return the lowest and highest conclusions, (r, k) each."""
    low = np.full((rules.n_rules, len(rules.outputs)), -np.inf)
    high = -low
    given = constraints.conclusions
    if isinstance(given, Mapping):
        for name, (least, most) in given.items():
            known_name("output", name, rules.output_names, "in conclusions")
            low[:, rules.output_names.index(name)], high[:, rules.output_names.index(name)] = least, most
    elif given is not None:
        low[:], high[:] = given
    return low, high


def _slopes(rules: RuleBase, start: Params, constraints: Constraints) -> Array:
    """Return the lowest and highest slopes, (2, r, k, d or 0); a sign means the same on every axis."""
    slopes = np.asarray(start.coefs, float)[:, :, 1:]
    signs = np.full(slopes.shape, np.nan)
    if isinstance(constraints.signs, Mapping):
        for name, sign in constraints.signs.items():
            known_name("variable", name, rules.feature_names, "in signs")
            if slopes.shape[2]:
                d = rules.feature_names.index(name)
                signs[:, :, d] = sign
                for r, k in np.argwhere((slopes[:, :, d] * sign < 0) | ((sign == 0) & (slopes[:, :, d] != 0))):
                    raise ParameterError(
                        f"signs: {name!r} must have the sign {sign}, but rule {r + 1} starts with the slope "
                        f"{slopes[r, k, d]:g} in {rules.output_names[k]!r}: change the rule, or the constraint."
                    )
    elif constraints.signs:
        signs = np.where(slopes != 0, np.sign(slopes), np.nan)
    return np.array([np.where(signs >= 0, 0.0, -np.inf), np.where(signs <= 0, 0.0, np.inf)])


def _ranges(rules: RuleBase, axes: Scaling) -> Array:
    """Return the ranges of the variables, (d, 2); where one declares none, that of the data."""
    ends = [(v.low, v.high) for v in rules.variables]
    known = zip(ends, axes.ranges, strict=True)
    return np.array([[s if e is None else e for e, s in zip(end, seen, strict=True)] for end, seen in known], float)


def _check_ranges(rules: RuleBase, ends: Array) -> None:
    for variable, end in zip(rules.variables, ends, strict=True):
        if np.abs(end).max() == np.finfo(float).max:  # how a scaling writes that there is no limit
            raise ParameterError(
                f"conclusions: linear conclusions are bounded within the ranges of variables, but {variable.name!r} "
                "has none: declare it (VARIABLE ... FROM 0 TO 1)."
            )


def _neighbors(rules: RuleBase, level: float, moves: Array, axes: Scaling) -> Neighbors:
    places = rules.arrangement.terms
    home: dict[tuple[str, str], int] = {}  # the place of each term
    for (row, d), term in places.items():
        home.setdefault(term, row * rules.n_features + d)
    others: list[tuple[float, ...]] = []
    beside: dict[tuple[str, str], list[tuple[str, str] | None]] = {}
    for d, variable in enumerate(rules.variables):
        terms = _by_peak(variable.terms)
        _check_overlap(variable.name, terms, level)
        for name, chosen in terms:
            if (variable.name, name) not in home:
                home[variable.name, name] = moves.size + len(others)
                moved = chosen.moved(-axes.shift[d] / axes.scale[d], 1.0 / axes.scale[d], *chosen.parameters)
                values = reaches(chosen.kind, tuple(np.array([value]) for value in moved), math.log(level))
                others.append(tuple(float(value[0]) for value in values))
        keys = [None, *((variable.name, name) for name, _ in terms), None]
        beside |= {(variable.name, name): [keys[n], keys[n + 2]] for n, (name, _) in enumerate(terms)}
    others.append((0.0, np.inf, np.inf))
    nowhere = moves.size + len(others) - 1
    sides = np.full((2, *moves.shape), nowhere, np.int32)
    for (row, d), term in places.items():
        sides[:, row, d] = [nowhere if neighbor is None else home[neighbor] for neighbor in beside[term]]
    return Neighbors(
        log_level=np.asarray(math.log(level)),
        used={kind: mask > 0 for kind, mask in rules.compile()[1].items()},
        moves=np.concatenate([moves.ravel(), np.zeros(len(others))]),
        left=sides[0],
        right=sides[1],
        unused=np.array(others).T,
    )


def _by_peak(terms: Mapping[str, MembershipFunction]) -> list[tuple[str, MembershipFunction]]:
    return sorted(terms.items(), key=lambda item: float(item[1].peak(*item[1].parameters)))


# ---------------------------------------------------------------------- the start


def _check_conclusions(
    rules: RuleBase, start: Params, constraints: Constraints, low: Array, high: Array, ends: Array
) -> None:
    """Raise if a rule concludes something out of its bounds."""
    coefs = np.asarray(start.coefs, float)
    level = coefs[:, :, 0] + (coefs[:, :, 1:] * ends.mean(axis=1)).sum(axis=2)
    reach = (np.abs(coefs[:, :, 1:]) * np.diff(ends, axis=1)[:, 0] / 2).sum(axis=2)
    for r, k in np.argwhere((level - reach < low) | (level + reach > high)):
        least, most = level[r, k] - reach[r, k], level[r, k] + reach[r, k]
        said = f"{least:g}" if least == most else f"{least:g} to {most:g} in the ranges of the variables"
        raise ParameterError(
            f"conclusions: rule {r + 1} starts with {rules.output_names[k]} = {said}, outside {low[r, k]:g} to "
            f"{high[r, k]:g}: change the rule, or the bounds."
        )


def _check_overlap(name: str, terms: list[tuple[str, MembershipFunction]], level: float) -> None:
    """Raise if neighboring terms of a variable cross below the level."""
    for term, chosen in terms:
        top = float(chosen(chosen.peak(*chosen.parameters)))
        independent = chosen.with_edges_apart(0.0, *chosen.parameters) is not None
        if independent and top < math.exp(least_top(math.log(level))):
            raise ParameterError(
                f"overlap: the edges of the term {term!r} of {name!r} are so near to each other that the membership "
                f"between them is only {top:.3g}: move them apart, or lower overlap."
            )
    for (a, left), (b, right) in itertools.pairwise(terms):
        peaks = [float(chosen.peak(*chosen.parameters)) for chosen in (left, right)]
        sides = [reaches(s.kind, tuple(np.array([v]) for v in s.parameters), math.log(level)) for s in (left, right)]
        to_right, to_left = float(sides[0][2][0]), float(sides[1][1][0])
        if peaks[1] - peaks[0] > (to_right + to_left) * (1 + 1e-6):
            x = np.linspace(peaks[0], peaks[1], 2001)
            crossing = float(np.minimum(left(x), right(x)).max())
            raise ParameterError(
                f"overlap: the terms {a!r} and {b!r} of {name!r} start with a crossing at {crossing:.3g}, below "
                f"{level:g}: widen one of them, or lower overlap."
            )
        for term, reach, other in ((a, to_right, b), (b, to_left, a)):
            if reach == 0 and peaks[1] > peaks[0]:
                raise ParameterError(
                    f"overlap: the term {term!r} of {name!r} ends abruptly towards {other!r} and cannot be widened "
                    "there: give it a sloping edge, or leave overlap out."
                )


# ---------------------------------------------------------------------- the end


def touched(rules: RuleBase, bounds: Bounds, constraints: Constraints, held: tuple[Array, Array]) -> list[Touched]:
    """Return what ended at a bound.

    Parameters
    ----------
    rules : RuleBase
        After training, with the conditions of the rules that it started from.
    bounds : Bounds
        In the units of the data.
    constraints : Constraints
    held : (array of shape (rows, d), array of shape (r, k, 1))
        0 for frozen sets and conclusions.
    """
    params, _, _ = rules.compile()
    return [
        *_touched_conclusions(rules, bounds, held[1][:, :, 0] > 0),
        *_touched_terms(rules, params, bounds, constraints, held[0].ravel() > 0),
    ]


def _touched_conclusions(rules: RuleBase, bounds: Bounds, moves: Array) -> Iterator[Touched]:
    coefs = rules.coefs
    level = coefs[:, :, 0] + (coefs[:, :, 1:] * bounds.middle).sum(axis=2)
    reach = (np.abs(coefs[:, :, 1:]) * bounds.half).sum(axis=2)
    low, high = bounds.levels
    room = np.where(np.isfinite(high - low), high - low, np.abs(level) + 1.0) * _TOUCHING
    for r, k in np.argwhere(moves):
        for side, value, bound in (("lower", level - reach, low), ("upper", level + reach, high)):
            if abs(value[r, k] - bound[r, k]) <= room[r, k]:
                yield Touched(
                    f"rule {r + 1}", rules.output_names[k], float(bound[r, k]), f"{side} bound of conclusions"
                )
        for d in np.flatnonzero((coefs[r, k, 1:] == 0) & np.isfinite(bounds.slopes[:, r, k]).any(axis=0)):
            if np.isinf(bounds.slopes[:, r, k, d]).any():
                what = f"slope of {rules.feature_names[d]} in {rules.output_names[k]}"
                yield Touched(f"rule {r + 1}", what, 0.0, "bound of its sign")


def _touched_terms(
    rules: RuleBase, params: Params, bounds: Bounds, constraints: Constraints, moves: Array
) -> Iterator[Touched]:
    near = bounds.neighbors
    places = None if near is None else measured(params.sets, near)
    seen = set()
    for (row, d), key in rules.arrangement.terms.items():
        if key in seen:
            continue
        seen.add(key)
        flat, variable = row * rules.n_features + d, rules.variables[d]
        chosen = variable.terms[key[1]]
        peak, spread = (float(f(*chosen.parameters)) for f in (chosen.peak, chosen.spread))
        order = [term for term, _ in _by_peak(variable.terms)]
        place = order.index(key[1])
        for side, step in enumerate((-1, 1)):
            bound = bounds.peaks[side, row, d]
            if moves[flat] and abs(peak - bound) <= _TOUCHING * spread:
                inner = 0 <= place + step < len(order)
                end = f"midpoint to {order[place + step]}" if inner else f"{('lower', 'upper')[side]} end of the range"
                yield Touched(".".join(key), "peak", peak, end)
        if near is None or places is None or place + 1 == len(order):
            continue
        other = int(near.right[row, d])
        distance, reach = places[0][other] - places[0][flat], places[2][flat] + places[1][other]
        if (moves[flat] or near.moves[other] > 0) and abs(distance - reach) <= _TOUCHING * distance:
            level = float(constraints.overlap or 0.0)
            yield Touched(".".join(key), f"overlap with {order[place + 1]}", level, "least overlap")
