"""Statistics of repeated and cross-validated results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = [
    "PairedTest",
    "Ranking",
    "Spread",
    "corrected_t_test",
    "holm",
    "padded",
    "paired_difference",
    "quartiles",
    "ranking",
    "spread",
]


@dataclass(frozen=True)
class Spread:
    """Results of r repeats of a k-fold cross-validation."""

    mean: float
    over_repeats: float | None  # standard deviation of the r means; None for a single repeat
    over_folds: float  # standard deviation of all r * k folds
    n_repeats: int
    n_folds: int


def spread(values: npt.ArrayLike) -> Spread:
    """Summarize results of shape (n_repeats, n_folds); standard deviations divide by n - 1.

    Examples
    --------
    >>> spread([[0.8, 0.9], [0.7, 0.8]]).mean
    0.8
    """
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


@dataclass(frozen=True)
class PairedTest:
    """The difference of two methods on the same data."""

    mean: float
    low: float  # 95% interval of the mean difference
    high: float
    p: float
    n: int


def corrected_t_test(differences: npt.ArrayLike, test_share: float) -> PairedTest:
    """Compare two methods over repeated cross-validation (Nadeau and Bengio's corrected resampled t-test).

    Folds share training bags, so their differences are not independent. The variance of the mean difference is
    therefore taken as ``1/n + n_test/n_train`` times the sample variance instead of ``1/n``. If all differences are
    equal, p is 1 for a difference of zero and 0 otherwise.

    Parameters
    ----------
    differences : array of shape (n,)
        One value per fold and repeat.
    test_share : float
        Number of test bags divided by the number of training bags: 1/9 for ten folds.

    Examples
    --------
    >>> round(corrected_t_test([0.1, 0.0, 0.2, 0.1], 1 / 3).p, 3)
    0.207
    """
    values = np.asarray(differences, float).ravel()
    n = len(values)
    error = float(np.sqrt((1 / n + test_share) * values.var(ddof=1)))
    return _tested(float(values.mean()), error, n)


def _tested(mean: float, error: float, n: int) -> PairedTest:
    if error == 0:
        return PairedTest(mean, mean, mean, 1.0 if mean == 0 else 0.0, n)
    reach = float(stats.t.ppf(0.975, n - 1)) * error
    p = 2 * float(stats.t.sf(abs(mean / error), n - 1))
    return PairedTest(mean, mean - reach, mean + reach, p, n)


def paired_difference(one: npt.ArrayLike, other: npt.ArrayLike) -> PairedTest:
    """Compare paired results: the mean of ``one - other``, its t-interval, and Wilcoxon's signed-rank p-value.

    Examples
    --------
    >>> paired_difference([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p
    1.0
    """
    differences = np.asarray(one, float) - np.asarray(other, float)
    n = len(differences)
    interval = _tested(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n)), n)
    p = float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0
    return PairedTest(interval.mean, interval.low, interval.high, p, n)


def quartiles(values: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile.

    Examples
    --------
    >>> quartiles([1, 2, 3, 4, 5])
    (2.0, 3.0, 4.0)
    """
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

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
        Higher is better; equal scores share their mean rank.

    Examples
    --------
    >>> found = ranking([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.6, 0.5, 0.5]])
    >>> found.ranks, round(found.critical_difference, 2)
    ((1.0, 2.5, 2.5), 1.91)
    """
    array = np.asarray(scores, float)
    n, k = array.shape
    ranks = stats.rankdata(-array, axis=1).mean(axis=0)
    p = float(stats.friedmanchisquare(*array.T).pvalue) if n > 1 and k > 2 else float("nan")
    quantile = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return Ranking(tuple(ranks.tolist()), p, float(quantile * np.sqrt(k * (k + 1) / (6 * n))))


def holm(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return p-values (n,) corrected for n simultaneous tests by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def padded(curves: Sequence[npt.ArrayLike], length: int | None = None) -> npt.NDArray[np.float64]:
    """Return curves as rows of one array, with NaN after the end of those that stopped early (training diverged).

    Parameters
    ----------
    curves : sequence of arrays
    length : int, optional
        Number of columns. Default: the length of the longest curve.

    Examples
    --------
    >>> padded([[0.5, 0.25], [0.75]])
    array([[0.5 , 0.25],
           [0.75,  nan]])
    """
    values = [np.array(curve, float) for curve in curves]  # None becomes NaN
    rows = np.full((len(values), length or max(map(len, values))), np.nan)
    for row, curve in zip(rows, values, strict=True):
        row[: len(curve)] = curve
    return rows
