"""Conclusions that are fuzzy sets: cut by the rules' strengths, joined into one set, and turned into a number.

The range of an output is divided into equal cells, and sets are evaluated at their midpoints; or, as MATLAB does, at
equally spaced points that include both ends. Degrees stay in logarithms until their maximum is known, and are then
taken relative to it: strengths far below the smallest float still yield the right result, and only an empty set yields
none.

Everything up to `bisector` is written over an array namespace: NumPy runs it for inference, and JAX differentiates it
for training (`conclude`).

Axes: b bags, p parts (a concluded set and its degree), c cells.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array, namespace
from fuzzymil.inference._numerics import stop_gradient
from fuzzymil.inference.membership import family
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES, Place

if TYPE_CHECKING:
    import jax

# Size of the arrays (bags x cells) processed at once, so that they fit in the processor's cache.
_CHUNK_VALUES = 1 << 16


def cells(low: float, high: float, resolution: int) -> Array:
    """Return the midpoints of ``resolution`` equal cells of a range, shape (c,)."""
    return low + (high - low) * (np.arange(resolution) + 0.5) / resolution


SAMPLINGS: dict[str, Callable[[float, float, int], Array]] = {"cells": cells, "points": np.linspace}
"""Where sets are evaluated: in the middle of cells, or at points that include both ends of the range."""


# ---------------------------------------------------------------------- implication: log-degree, log-membership
# How the strength of a rule limits its conclusion: cut off above, or scaled down.


def limit_set(log_degree: Any, log_mu: Any, implication: str) -> Any:
    """Return the conclusion (b, c) of a rule with strengths (b, 1) on a set (c,), in logarithms."""
    xp = namespace(log_mu)
    if implication == "min":
        return xp.minimum(log_degree, log_mu)
    if implication == "product":
        return log_degree + log_mu
    return T_NORMS[implication](xp.stack(xp.broadcast_arrays(log_degree, log_mu), axis=-1))


# ---------------------------------------------------------------------- accumulation
# Each takes degrees a and b relative to a common unit, and that unit's logarithm (b, 1), and joins them:
# with a = u * a', the algebraic sum a + b - a b is u * (a' + b' - u a' b').


def _algebraic(a: Any, b: Any, log_unit: Any) -> Any:
    return a + b - namespace(a).exp(log_unit) * a * b


def _bounded(a: Any, b: Any, log_unit: Any) -> Any:
    xp = namespace(a)
    with np.errstate(over="ignore"):  # the bound of 1 is infinitely far if all degrees are tiny
        return xp.minimum(a + b, xp.exp(-log_unit))


# The other S-norms join logarithms.

ACCUMULATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "max": lambda a, b, log_unit: namespace(a).maximum(a, b),
    "algebraic": _algebraic,
    "bounded": _bounded,
    "sum": lambda a, b, log_unit: a + b,
}


def join_sets(log_degrees: Any, log_mu: Any, implication: str, accumulation: str) -> tuple[Any, Any]:
    """Join the concluded sets of each bag into one.

    The sets ``log_mu`` (p, c) are concluded with the strengths ``log_degrees`` (b, p). Returns the membership (b, c)
    relative to ``exp(log_unit)``, where ``log_unit`` (b, 1) is the logarithm of the highest degree of any part: zero
    everywhere and ``-inf`` if the set is empty. What is computed from the membership must not depend on its unit,
    which has no gradient.
    """
    xp = namespace(log_mu)
    parts = [limit_set(log_degrees[:, p : p + 1], log_mu[p], implication) for p in range(len(log_mu))]
    if accumulation not in ACCUMULATIONS:
        parts = [S_NORMS[accumulation](xp.stack(parts, axis=-1))]
        accumulation = "max"  # of the one set that is left
    highest: Any = functools.reduce(xp.maximum, parts)
    log_unit = stop_gradient(highest.max(axis=1, keepdims=True))
    unit = xp.where(xp.isneginf(log_unit), 0.0, log_unit)  # an empty set has no unit
    if accumulation == "max":  # the maximum of the logarithms needs only one exponential
        return xp.exp(highest - unit), log_unit
    relative = (xp.exp(part - unit) for part in parts)
    join = ACCUMULATIONS[accumulation]
    return functools.reduce(lambda a, b: join(a, b, unit), relative), log_unit


# ---------------------------------------------------------------------- from a set to a number
# Each takes memberships (b, c), no row all zero, and the cells' midpoints (c,), and returns numbers (b,).


def centroid(membership: Any, y: Any) -> Any:
    """Center of the area under the set: the mean value, weighted by membership."""
    # Not a matrix product, whose last digits depend on the number of bags.
    return (membership * y).sum(axis=1) / membership.sum(axis=1)


def bisector(membership: Any, y: Any) -> Any:
    """Value that halves the area under the set; the middle of the gap if a gap does."""
    # At the edge after each cell, the area on the left minus that on the right, each summed from its own end,
    # so that a symmetric set has the same rounding on both sides.
    xp = namespace(membership)
    left = xp.cumsum(membership, axis=1)
    right = xp.cumsum(membership[:, ::-1], axis=1)[:, ::-1]
    balance = xp.concatenate([-right[:, :1], left[:, :-1] - right[:, 1:], left[:, -1:]], axis=1)
    before, after = (balance < 0).sum(axis=1) - 1, (balance <= 0).sum(axis=1)  # edges on either side of the half
    width = (y[-1] - y[0]) / (len(y) - 1)
    bag = np.arange(len(membership))
    lack, excess = -balance[bag, before], balance[bag, after]
    inside = before + lack / (lack + excess)
    edge = xp.where(after == before + 1, inside, (before + after) / 2)
    return y[0] + width * (edge - 0.5)


def first_half(membership: Array, y: Array) -> Array:
    """First of the points up to which the memberships sum to half of their total, as MATLAB defines the bisector."""
    total = np.cumsum(membership, axis=1)
    return np.asarray(y[(total >= total[:, -1:] / 2).argmax(axis=1)])


def _at_maximum(membership: Array) -> Array:
    return np.asarray(membership == membership.max(axis=1, keepdims=True))


DEFUZZIFIERS: dict[str, Callable[[Any, Any], Any]] = {
    "centroid": centroid,
    "bisector": bisector,
    # the mean, the smallest and the largest of the values with the highest membership
    "mom": lambda membership, y: centroid(_at_maximum(membership).astype(float), y),
    "som": lambda membership, y: y[_at_maximum(membership).argmax(axis=1)],
    "lom": lambda membership, y: y[::-1][_at_maximum(membership)[:, ::-1].argmax(axis=1)],
}


DIFFERENTIABLE = ("centroid", "bisector")
"""The defuzzifiers that training can follow: the others jump from cell to cell."""


# ---------------------------------------------------------------------- in plain numbers
# The fast way for inference, where nothing underflows.

_LIMITS = {"min": np.minimum, "product": np.multiply}
_JOINS = {"max": np.maximum, "sum": np.add, "bounded": np.add}  # a bounded sum is cut off at the end
_FAINT = -100.0  # logarithm of the height below which a joined set needs logarithms
_CACHED = 1 << 15  # numbers in a chunk of bags


def plain_suffices(log_degrees: Array, log_mu: Array, implication: str, accumulation: str) -> Array:
    """Return for which bags (b,) plain numbers do, given log-degrees (b, p) and the sets' log-memberships (p, c)."""
    if implication not in _LIMITS or accumulation not in _JOINS:
        return np.zeros(len(log_degrees), bool)
    height = log_mu.max(axis=1)
    reached = np.minimum(log_degrees, height) if implication == "min" else log_degrees + height
    return np.asarray(reached.max(axis=1) > _FAINT)


def defuzzify_plain(
    degrees: Array, mu: Array, y: Array, implication: str, accumulation: str, defuzzifier: Callable[[Any, Any], Any]
) -> Array:
    """Return the number (b,) for each bag's joined set over the values ``y`` (c,)."""
    limit, join = _LIMITS[implication], _JOINS[accumulation]
    ranges = [_support(row) for row in mu]
    n_bags = max(_CACHED // len(y), 1)
    joined, part = np.empty((2, n_bags, len(y)))
    found = np.empty(len(degrees))
    for first in range(0, len(degrees), n_bags):
        strengths = degrees[first : first + n_bags]
        whole, room = joined[: len(strengths)], part[: len(strengths)]
        whole.fill(0.0)
        for p, cells in enumerate(ranges):
            limit(strengths[:, p : p + 1], mu[p, cells], out=room[:, cells])
            join(whole[:, cells], room[:, cells], out=whole[:, cells])
        if accumulation == "bounded":
            np.minimum(whole, 1.0, out=whole)
        found[first : first + n_bags] = defuzzifier(whole, y)
    return found


def _support(mu: Array) -> slice:
    """Return the cells between the first and the last with a membership above 0."""
    cells = np.flatnonzero(mu)
    return slice(cells[0], cells[-1] + 1) if len(cells) else slice(0, 0)


def defuzzify(
    log_degrees: Array, log_mu: Array, y: Array, implication: str, accumulation: str, method: str, sampling: str
) -> Array:
    """Return the number (b,) for each bag's joined set over the values ``y`` (c,); NaN if it is empty."""
    defuzzifier = first_half if (method, sampling) == ("bisector", "points") else DEFUZZIFIERS[method]
    found = np.full(len(log_degrees), np.nan)
    if not len(log_mu):
        return found
    plain = plain_suffices(log_degrees, log_mu, implication, accumulation)
    if plain.any():
        degrees = np.exp(log_degrees[plain])
        found[plain] = defuzzify_plain(degrees, np.exp(log_mu), y, implication, accumulation, defuzzifier)
    rest, size = np.flatnonzero(~plain), max(_CHUNK_VALUES // len(y), 1)
    for part in (rest[first : first + size] for first in range(0, len(rest), size)):
        membership, log_unit = join_sets(log_degrees[part], log_mu, implication, accumulation)
        alive = ~np.isneginf(log_unit[:, 0])
        if alive.any():
            found[part[alive]] = defuzzifier(membership[alive], y)
    return found


# ---------------------------------------------------------------------- what rules conclude, for training


class ConcludedTerm(NamedTuple):
    """A term of an output: the family and place of its set, and the rules that conclude it, each with its hedges."""

    family: str
    place: Place
    rules: tuple[tuple[int, tuple[str, ...]], ...]


class ConcludedOutput(NamedTuple):
    """How the conclusions about one output become a number."""

    terms: tuple[ConcludedTerm, ...]
    low: float
    high: float
    resolution: int
    sampling: str
    implication: str
    accumulation: str
    defuzzify: str


class Conclusions(NamedTuple):
    """The outputs; and how many rows of sets come before, and columns belong to, those of the premises. Hashable."""

    n_terms: int
    n_features: int
    families: tuple[str, ...]
    outputs: tuple[ConcludedOutput, ...]


def conclude(sets: dict[str, tuple[Any, ...]], concluded: ConcludedOutput, log_firing: Any, default: Any) -> jax.Array:
    """Return the number (b,) for one output, given log firing strengths (b, r), or the default if nothing fires."""
    xp = namespace(log_firing)
    places = SAMPLINGS[concluded.sampling](concluded.low, concluded.high, concluded.resolution)
    y = xp.asarray(places, log_firing.dtype)
    parts = []
    for term in concluded.terms:
        log_mu = family(term.family).log_mu(y, *(values[term.place] for values in sets[term.family]))
        degrees = []
        for rule, hedges in term.rules:
            degree = log_firing[:, rule]
            for hedge in reversed(hedges):
                degree = HEDGES[hedge](degree)
            degrees.append(degree)
        if concluded.accumulation == "max":  # the strongest rule of a term covers the others
            degrees = [xp.stack(degrees, axis=1).max(axis=1)]
        parts += [(degree, log_mu) for degree in degrees]
    if not parts:
        return xp.broadcast_to(xp.asarray(default, log_firing.dtype), (len(log_firing),))
    log_degrees = xp.stack([degree for degree, _ in parts], axis=1)
    log_mu = xp.stack([curve for _, curve in parts])
    membership, log_unit = join_sets(log_degrees, log_mu, concluded.implication, concluded.accumulation)
    empty = xp.isneginf(log_unit)
    # Of an empty set, the number is not read; but its gradient must exist.
    return xp.where(empty[:, 0], default, DEFUZZIFIERS[concluded.defuzzify](xp.where(empty, 1.0, membership), y))
