"""The engine for small inference: NumPy, in 64 bit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil.inference.membership import family

Array = npt.NDArray[Any]

_CACHED = 1 << 15  # numbers in a chunk of rows
_CACHED_ROWS = 1 << 13  # of one column
_SORTED = 1 << 18  # numbers that are sorted at once
_FEW = 8  # order statistics for which values are not sorted
_LARGE = 1 << 16  # product of the sizes of two arrays
_JOINS = {"min": np.minimum, "product": np.add}  # T-norms of logarithms that take two arrays


class Runs:
    """Bags packed one after another, in NumPy: bag b holds the rows from ``offsets[b]`` to ``offsets[b + 1]``.

    No bag is empty.
    """

    def __init__(self, offsets: Array) -> None:
        self._starts, self._sizes = offsets[:-1], np.diff(offsets)

    def sum(self, values: Any) -> Any:
        return np.add.reduceat(values, self._starts, axis=0)

    def max(self, values: Any) -> Any:
        return np.maximum.reduceat(values, self._starts, axis=0)

    def spread(self, values: Any) -> Any:
        return np.repeat(values, self._sizes, axis=0)

    def sizes(self) -> Any:
        return self._sizes.astype(float)

    def owners(self) -> Any:
        return np.repeat(np.arange(len(self._sizes)), self._sizes)


def stop_gradient(values: Array) -> Array:
    """Return values without a gradient."""
    return values


def numbers(values: Sequence[float], like: Array) -> Array:
    """Return numbers as an array of the same precision as another."""
    return np.asarray(values, like.dtype)


def least(values: Array) -> Array:
    """Return the minimum over the last axis."""
    return np.asarray(values.min(axis=-1))


def softmax(values: Array) -> Array:
    """Return exponentials that sum to one over the last axis."""
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def shares(log_values: Array) -> Array:
    """Return `softmax`; all zero where every value is ``-inf``."""
    top = log_values.max(axis=-1, keepdims=True)
    none = np.isneginf(top)
    found = log_values - np.where(none, 0.0, top)
    np.exp(found, out=found)
    found /= np.where(none, 1.0, found.sum(axis=-1, keepdims=True))
    return np.asarray(found)


def log_softmax(values: Array) -> Array:
    """Return the logarithm of `softmax`."""
    below = values - values.max(axis=-1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=-1, keepdims=True)))


def sigmoid(values: Array) -> Array:
    """Return ``1 / (1 + exp(-values))``."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -values)))


def einsum(subscripts: str, a: Array, b: Array) -> Array:
    """Return the sum of products."""
    large = a.size * b.size > _LARGE and b.shape[-1] > 1  # where matrix products make up for looking for them
    return np.asarray(np.einsum(subscripts, a, b, optimize=large))


def sorted_within(owners: Array, values: Array) -> Array:
    """Return values (i, n) in ascending order within each owner (i, n); the owners are in ascending order."""
    return np.take_along_axis(values, np.lexsort((values, owners), axis=0), axis=0)


def order_statistics(x: Array, offsets: Array, count: int, *, known: bool = False) -> tuple[Array, Array]:
    """Return the greatest and least ``count`` values of each feature of instances (i, d) in each bag, (count, b, d).

    Whether so many instances satisfy a condition with a set open to one side depends on these values alone. A missing
    value satisfies every condition, so it is infinitely great in one, infinitely small in the other; if only ``known``
    values count, the other way round. Bags with fewer instances satisfy nothing.
    """
    always = -np.inf if known else np.inf
    sizes = np.diff(offsets)
    shape = (count, len(sizes), x.shape[1])
    greatest, least = np.full(shape, -np.inf), np.full(shape, np.inf)
    for size in np.unique(sizes).tolist():
        n, same = min(count, size), np.flatnonzero(sizes == size)
        step = max(_SORTED // max(size * x.shape[1], 1), 1)
        for bags in (same[first : first + step] for first in range(0, len(same), step)):
            values = x[offsets[bags] + np.arange(size)[:, None]]  # (size, bags, d)
            missing = np.isnan(values)
            is_whole = not missing.any()
            high, low = (values,) * 2 if is_whole else (np.where(missing, end, values) for end in (always, -always))
            if n == 1:
                greatest[0, bags], least[0, bags] = high.max(axis=0), low.min(axis=0)
            elif n <= _FEW:
                greatest[:n, bags], least[:n, bags] = _greatest(high, n), -_greatest(-low, n)
            else:
                high = np.sort(high, axis=0)
                low = high if is_whole else np.sort(low, axis=0)
                greatest[:n, bags], least[:n, bags] = high[::-1][:n], low[:n]
    return greatest, least


def _greatest(values: Array, count: int) -> Array:
    """Return the greatest values over the first axis, in descending order: for a few, faster than sorting."""
    found = np.full((count, *values.shape[1:]), -np.inf)
    for row in values:
        for place in found:
            row, place[...] = np.minimum(place, row), np.maximum(place, row)
    return found


def in_chunks(function: Callable[[Any, Any], Any], n_values: int, x: Array, known: Array | None) -> Any:
    """Call ``function``, which computes ``n_values`` numbers for each row, as many rows at once as fit the cache."""
    n_rows = max(_CACHED // max(n_values, 1), 1)
    if len(x) <= n_rows:
        return function(x, known)
    chunks = [slice(first, first + n_rows) for first in range(0, len(x), n_rows)]
    return np.concatenate([function(x[rows], None if known is None else known[rows]) for rows in chunks])


def log_truth_of_conjunctions(
    sets: Mapping[str, tuple[Array, ...]], masks: Mapping[str, Array], t_norm: str, x: Array, known: Array | None
) -> Array | None:
    """Return the log-truths (i, r) of conjunctions, given as for `layers.layer1`; None where that is the faster way.

    A set that several rules share is evaluated once, and only for the feature that it belongs to. The result is stored
    by columns, so that what follows adds up rules fast.
    """
    shape = next(iter(masks.values())).shape
    if t_norm not in _JOINS or len(x) * shape[0] * shape[1] < _LARGE:
        return None
    shared: dict[tuple[Any, ...], int] = {}
    rules: list[list[int]] = [[] for _ in range(shape[0])]
    for name, parameters in sets.items():
        for rule, feature in zip(*np.nonzero(masks[name]), strict=True):
            key = (feature, name, *(values[rule, feature] for values in parameters))
            rules[rule].append(shared.setdefault(key, len(shared)))
    found = np.empty((len(rules), len(x)))
    join = _JOINS[t_norm]
    for first in range(0, len(x), _CACHED_ROWS):
        rows = slice(first, first + _CACHED_ROWS)
        columns = np.ascontiguousarray(x[rows].T)
        degrees = []
        for feature, name, *numbers in shared:
            log_mu = np.asarray(family(name).log_mu(columns[feature], *numbers))
            degrees.append(log_mu if known is None else np.where(known[rows, feature] > 0, log_mu, 0.0))
        for rule, conditions in enumerate(rules):
            truths = [degrees[place] for place in conditions] or [np.zeros(columns.shape[1])]
            found[rule, rows] = functools.reduce(join, truths)
    return found.T


def log_truth_of_gaussians(
    x: Array, known: Array | None, centers: Array, inverse: Array, squares: Array | None = None
) -> Array:
    """Return the log-truths (i, r) of rules with Gaussian sets, a chunk of rows that fits the cache at a time.

    ``known`` (i, d): 1 or 0; an unknown value has membership 1 in every set. ``inverse`` (r, d): 1 / width; 0 where a
    rule does not use a feature. ``squares``: of ``x``, if an engine has use for them.

    >>> x, centers = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 0.0]])
    >>> log_truth_of_gaussians(x, None, centers, np.array([[1.0, 2.0]])).tolist()
    [[-2.0], [-2.0]]
    """
    found = np.empty((len(x), len(centers)))
    n_rows = max(min(_CACHED // max(x.shape[1], 1), len(x)), 1)
    room = np.empty((n_rows, x.shape[1]))
    for first in range(0, len(x), n_rows):
        rows = slice(first, first + n_rows)
        own = x[rows]
        for rule, (center, steepness) in enumerate(zip(centers, inverse, strict=True)):
            z = np.subtract(own, center, out=room[: len(own)])
            z *= steepness
            found[rows, rule] = -0.5 * np.einsum("id,id->i", z, z if known is None else known[rows] * z)
    return found
