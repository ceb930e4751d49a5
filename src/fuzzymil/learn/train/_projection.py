"""Bounds on the parameters of rules, as arrays, and the projection that a training step ends with.

The functions run on NumPy arrays in the units of the data and, compiled, on standardized axes. A set is moved or
widened as a whole, so they need no more of a family than ``peak``, ``spread``, ``log_mu``, ``moved`` and
``with_edges_apart``.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array, namespace
from fuzzymil.inference.layers import Params
from fuzzymil.inference.membership import family

FLATTEST = 0.01  # of its starting slope, to which a set that opens to one side may flatten
_LOG_NEAREST, _LOG_FARTHEST = np.log(1e-6), np.log(1e6)  # distances from a peak, in spreads
_HALVINGS = 32
_FAR_APART = 16.0  # spreads: edges that far apart do not touch each other


class Bounds(NamedTuple):
    """What parameters are projected onto after every step.

    Sets have shape (rows, d), as in `Params`. A *place* is a flat index of one of them; the places that follow those
    belong to terms that no rule uses, and the last one to no term at all.
    """

    peaks: Any  # (2, rows, d) lowest and highest
    steepness: dict[str, tuple[Any, ...]]  # like the sets: the flattest signed slope, 0 for other parameters
    levels: Any  # (2, r, k) lowest and highest value of a conclusion within the ranges of the variables
    slopes: Any  # (2, r, k, d or 0) lowest and highest
    middle: Any  # (d or 0,) of the variables' ranges
    half: Any  # (d or 0,) length of the ranges
    neighbors: Neighbors | None = None


class Neighbors(NamedTuple):
    """Terms next to each other, which must overlap."""

    log_level: Any  # () logarithm of the least membership at which they cross
    used: dict[str, Any]  # (rows, d) by family: whether a set of this family is there
    moves: Any  # (places,) 0 for sets that training does not change
    left: Any  # (rows, d) place of the next term to the left
    right: Any  # (rows, d)
    unused: Any  # (3, others) peak of the terms that no rule uses, and their reaches to the left and right


def projected(params: Params, bounds: Bounds, snap: float = 0.0) -> Params:
    """Return the parameters within the bounds; those that are within them stay exactly as they are.

    What is nearer to a bound than ``snap``, relative to the spread of the set or the width of the bounds, is put on it.
    """
    sets = {name: _in_order(name, values, bounds, snap) for name, values in params.sets.items()}
    if bounds.neighbors is not None:
        sets = {name: _with_a_top(name, values, bounds.neighbors) for name, values in sets.items()}
        factor = _widening(sets, bounds.neighbors)
        for name, values in sets.items():
            # By a factor, around the peak.
            sets[name] = family(name).moved(family(name).peak(*values) * (1.0 - factor), factor, *values)
    return params._replace(sets=sets, coefs=_within(params.coefs, bounds, snap))


def _clipped(value: Any, low: Any, high: Any, near: Any) -> Any:
    xp = namespace(value)
    value = xp.where(xp.abs(value - low) <= near, low, value)
    return xp.clip(xp.where(xp.abs(value - high) <= near, high, value), low, high)


def _in_order(name: str, values: tuple[Any, ...], bounds: Bounds, snap: float) -> tuple[Any, ...]:
    """Keep the direction in which a set opens, and its peak between those of its neighbors."""
    kind = family(name)
    xp = namespace(values[0])
    kept = tuple(
        xp.where(value * xp.sign(least) < xp.abs(least), least, value)
        for value, least in zip(values, bounds.steepness[name], strict=True)
    )
    peak = kind.peak(*kept)
    target = _clipped(peak, bounds.peaks[0], bounds.peaks[1], snap * kind.spread(*kept))
    return tuple(kind.moved(target - peak, 1.0, *kept))


def _within(coefs: Any, bounds: Bounds, snap: float) -> Any:
    """Keep the signs of slopes, and what a rule concludes anywhere in the ranges of the variables."""
    xp = namespace(coefs)
    low, high = bounds.levels
    slopes = xp.clip(coefs[:, :, 1:], bounds.slopes[0], bounds.slopes[1])
    reach = (xp.abs(slopes) * bounds.half).sum(axis=2)
    most = (high - low) / 2
    slopes = slopes * xp.where(reach > most, most / xp.where(reach > 0, reach, 1.0), 1.0)[:, :, None]
    reach = xp.minimum(reach, most)
    level = coefs[:, :, 0] + (slopes * bounds.middle).sum(axis=2)
    inside = _clipped(level, low + reach, high - reach, snap * xp.where(xp.isfinite(most), most, 0.0))
    constant = xp.where(inside == level, coefs[:, :, 0], inside - (slopes * bounds.middle).sum(axis=2))
    return xp.concatenate([constant[:, :, None], slopes], axis=2)


# ---------------------------------------------------------------------- overlap


def _with_a_top(name: str, values: tuple[Any, ...], near: Neighbors) -> tuple[Any, ...]:
    """Move edges that came too close to each other apart, until the membership between them is `least_top`."""
    moves = near.moves[: near.left.size].reshape(near.left.shape)
    xp = namespace(near.unused)
    kind = family(name)
    if kind.with_edges_apart(0.0, *values) is None:
        return values
    peak, target = kind.peak(*values), least_top(near.log_level)

    def low(distance: Any) -> Any:
        return kind.log_mu(peak, *(kind.with_edges_apart(distance, *values) or values)) < target

    def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        middle = (ends[0] + ends[1]) / 2
        still = low(middle)
        return xp.where(still, middle, ends[0]), xp.where(still, ends[1], middle)

    _, enough = _looped(halve, (xp.zeros_like(peak), _FAR_APART * kind.spread(*values)))
    moved = kind.with_edges_apart(enough, *values) or values
    short = low(xp.zeros_like(peak)) & (moves > 0)
    return tuple(xp.where(short, new, old) for new, old in zip(moved, values, strict=True))


def least_top(log_level: Any) -> Any:
    """Return the least log-membership at the peak of a set that overlaps with others at a level: well above it."""
    return log_level / 2


def _looped(step: Any, ends: Any) -> Any:
    if isinstance(ends[0], np.ndarray):
        return functools.reduce(lambda ends, n: step(n, ends), range(_HALVINGS), ends)
    import jax

    return jax.lax.fori_loop(0, _HALVINGS, step, ends)  # as one loop, which compiles faster


def reaches(name: str, values: tuple[Any, ...], log_level: Any) -> tuple[Any, Any, Any]:
    """Return the peak of sets, and how far to its left and right their membership stays at a level.

    Examples
    --------
    >>> peak, left, right = reaches("triangular", tuple(np.array([value]) for value in (0.0, 2.0, 3.0)), np.log(0.5))
    >>> peak.tolist(), left.round(6).tolist(), right.round(6).tolist()
    ([2.0], [1.0], [0.5])
    """
    kind = family(name)
    xp = namespace(values[0])
    peak, spread = kind.peak(*values), kind.spread(*values)

    def reach(side: float) -> Any:
        def holds(log_distance: Any) -> Any:
            return kind.log_mu(peak + side * spread * xp.exp(log_distance), *values) >= log_level

        def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
            middle = (ends[0] + ends[1]) / 2
            there = holds(middle)
            return xp.where(there, middle, ends[0]), xp.where(there, ends[1], middle)

        ends = xp.full_like(peak, _LOG_NEAREST), xp.full_like(peak, _LOG_FARTHEST)
        nowhere, everywhere = ~holds(ends[0]), holds(ends[1])
        ends = _looped(halve, ends)
        return xp.where(nowhere, 0.0, xp.where(everywhere, xp.inf, spread * xp.exp(ends[0])))

    return peak, reach(-1.0), reach(1.0)


def measured(sets: dict[str, tuple[Any, ...]], near: Neighbors) -> Any:
    """Return the peaks of all places and their reaches to the left and right, (3, places)."""
    xp = namespace(near.unused)
    known = {name: reaches(name, values, near.log_level) for name, values in sets.items()}
    found = []
    for n, others in enumerate(near.unused):
        by_family = [xp.where(near.used[name], values[n], 0.0) for name, values in known.items()]
        found.append(xp.concatenate([functools.reduce(operator.add, by_family).ravel(), others]))
    return xp.stack(found)


def _widening(sets: dict[str, tuple[Any, ...]], near: Neighbors) -> Any:
    """Return the factors (rows, d) by which sets must widen to overlap with their neighbors.

    Two terms cross at a level or above it if their reaches at that level cover the distance of their peaks. If only
    one of the two moves, it has to cover what the other leaves.
    """
    xp = namespace(near.unused)
    places = measured(sets, near)
    peak, left, right = (values[: near.left.size].reshape(near.left.shape) for values in places)

    def factor(distance: Any, mine: Any, its: Any, neighbor: Any) -> Any:
        both = near.moves[neighbor] > 0
        needed, present = xp.where(both, distance, distance - its), xp.where(both, mine + its, mine)
        short = (mine + its < distance) & (present > 0)
        return xp.where(short, needed / xp.where(short, present, 1.0), 1.0)

    wider = xp.maximum(
        factor(peak - places[0][near.left], left, places[2][near.left], near.left),
        factor(places[0][near.right] - peak, right, places[1][near.right], near.right),
    )
    moves = near.moves[: near.left.size].reshape(near.left.shape)
    return xp.where(moves > 0, xp.maximum(wider, 1.0), 1.0)


def as_type(values: Any, dtype: Any) -> Array:
    """Return an array with its numbers in another precision; indices stay integers.

    Examples
    --------
    >>> as_type([0.5], np.float32).dtype, as_type([2], np.float32).dtype.kind
    (dtype('float32'), 'i')
    """
    array: Array = np.asarray(values)
    return array if array.dtype.kind in "iub" else array.astype(dtype)
