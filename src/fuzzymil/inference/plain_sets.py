"""Concluded sets joined in plain numbers: the fast way for inference, where nothing underflows.

Axes: b bags, p parts (a concluded set and its degree), c cells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["defuzzified", "suits"]

_LIMITS = {"min": np.minimum, "product": np.multiply}
_JOINS = {"max": np.maximum, "sum": np.add, "bounded": np.add}  # a bounded sum is cut off at the end
_FAINT = -100.0  # logarithm of the height below which a joined set needs logarithms
_CACHED = 1 << 15  # numbers in a chunk of bags


def suits(log_degrees: Array, log_mu: Array, implication: str, accumulation: str) -> Array:
    """Return for which bags (b,) plain numbers will do, given log-degrees (b, p) and the sets' log-memberships (p, c).

    Examples
    --------
    >>> suits(np.array([[-1.0], [-500.0], [-np.inf]]), np.zeros((1, 3)), "min", "max").tolist()
    [True, False, False]
    """
    if implication not in _LIMITS or accumulation not in _JOINS:
        return np.zeros(len(log_degrees), bool)
    height = log_mu.max(axis=1)
    reached = np.minimum(log_degrees, height) if implication == "min" else log_degrees + height
    return np.asarray(reached.max(axis=1) > _FAINT)


def defuzzified(
    degrees: Array,
    mu: Array,
    y: Array,
    implication: str,
    accumulation: str,
    defuzzifier: Callable[[Array, Array], Array],
) -> Array:
    """Return the number (b,) for each bag's joined set over the values ``y`` (c,).

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> centroid = lambda membership, y: (membership * y).sum(axis=1) / membership.sum(axis=1)
    >>> defuzzified(np.array([[0.5, 1.0]]), np.array([[1.0, 0, 0], [0, 0, 1]]), y, "min", "max", centroid).round(4)
    array([1.3333])
    """
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
