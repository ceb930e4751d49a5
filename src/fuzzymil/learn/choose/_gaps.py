"""Missing values among candidates: to which degree they satisfy a condition, and whether rules may ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags

__all__ = ["IGNORED", "Gaps", "gaps_in", "nth_degree"]


class Gaps(NamedTuple):
    """What missing values mean to rules; see `fuzzymil.inference.missing`."""

    values: Array | None = None  # (t, d), what a missing value stands for; None: it satisfies every condition
    asked: bool = False  # whether "x is missing" is a candidate

    def mean(self, features: Array | list[int], degree: Callable[[Array], Array]) -> Array | None:
        """Return the mean of a function of values (t, n) of some features, (n,); None if gaps satisfy everything."""
        return None if self.values is None else np.asarray(degree(self.values[:, features]).mean(axis=0))


IGNORED = Gaps()


def gaps_in(bags: Bags) -> Array:
    """Return how many values are missing, (b, d)."""
    return np.add.reduceat(np.isnan(bags.instances), bags.offsets[:-1], axis=0, dtype=int)


def nth_degree(known: Array, n_gaps: Array, nth: int, degree: Callable[[Array], Array], of_gap: Array) -> Array:
    """Return the nth greatest degree in each bag (b, c) of some conditions on a feature.

    Parameters
    ----------
    known : array of shape (count, b)
        Known values in each bag by their degree, the greatest first; of infinite degree 0 where there are fewer.
    n_gaps : array of shape (b,)
        Number of missing values.
    nth : int
        Counted from 1, at most ``count``.
    degree : callable
        Maps values (b,) to degrees (b, c).
    of_gap : array of shape (c,)
        Degree of a missing value.
    """
    # With g gaps of degree L among known degrees a1 >= a2 >= ..., the nth is max(a_n, min(a_(n - g), L)).
    before = nth - 1 - n_gaps
    earlier = degree(known[np.maximum(before, 0), np.arange(len(n_gaps))])
    earlier = np.where((before < 0)[:, None], 1.0, earlier)
    return np.maximum(degree(known[nth - 1]), np.minimum(earlier, of_gap))
