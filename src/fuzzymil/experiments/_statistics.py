"""Statistics of repeated and cross-validated results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from fuzzymil._utils.statistics import PairedTest, t_test


@dataclass(frozen=True)
class Spread:
    """Results of r repeats of a k-fold cross-validation."""

    mean: float
    over_repeats: float | None  # standard deviation of the r means; None for a single repeat
    over_folds: float  # standard deviation of all r * k folds
    n_repeats: int
    n_folds: int


def spread(values: npt.ArrayLike) -> Spread:
    """Summarize results of shape (n_repeats, n_folds); standard deviations divide by n - 1."""
    array = np.asarray(values, float)
    n_repeats, n_folds = array.shape
    means = array.mean(axis=1)
    return Spread(
        round(float(means.mean()), 12),
        float(means.std(ddof=1)) if n_repeats > 1 else None,
        float(array.std(ddof=1)),
        n_repeats,
        n_folds,
    )


def paired_difference(one: npt.ArrayLike, other: npt.ArrayLike) -> PairedTest:
    """Compare paired results: the mean of ``one - other``, its t-interval, and Wilcoxon's signed-rank p-value."""
    differences = np.asarray(one, float) - np.asarray(other, float)
    n = len(differences)
    interval = t_test(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n)), n)
    p = float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0
    return PairedTest(interval.mean, interval.low, interval.high, p, n)


def quartiles(values: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile."""
    low, middle, high = np.quantile(np.asarray(values, float), [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Ranking:
    """Average ranks of k methods on n datasets; rank 1 is best."""

    ranks: tuple[float, ...]
    p: float  # Friedman's test that all methods are equal; NaN with fewer than three methods or with one dataset
    critical_difference: float  # of average ranks, at the 5% level (Nemenyi)


def ranking(scores: npt.ArrayLike) -> Ranking:
    """Rank methods as proposed by Demšar: Friedman's test, then Nemenyi's critical difference.

    Higher ``scores`` (n_sets, n_methods) are better; equal scores share their mean rank.
    """
    array = np.asarray(scores, float)
    n, k = array.shape
    ranks = stats.rankdata(-array, axis=1).mean(axis=0)
    p = float(stats.friedmanchisquare(*array.T).pvalue) if n > 1 and k > 2 else float("nan")
    quantile = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return Ranking(tuple(ranks.tolist()), p, float(quantile * np.sqrt(k * (k + 1) / (6 * n))))


def padded(curves: Sequence[npt.ArrayLike], length: int | None = None) -> npt.NDArray[np.float64]:
    """Return curves as rows of one array, with NaN after the end of those that stopped early (training diverged).

    The array has ``length`` columns, by default as many as the longest curve.
    """
    values = [np.array(curve, float) for curve in curves]  # None becomes NaN
    rows = np.full((len(values), length or max(map(len, values))), np.nan)
    for row, curve in zip(rows, values, strict=True):
        row[: len(curve)] = curve
    return rows
