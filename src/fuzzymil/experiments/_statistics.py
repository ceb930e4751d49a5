"""Statistics of repeated and cross-validated results."""

from __future__ import annotations

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
    "paired_difference",
    "quartiles",
    "ranking",
    "spread",
]


@dataclass(frozen=True)
class Spread:
    """Results of r repeats of a k-fold cross-validation."""

    mean: float
    over_repeats: float | None  # deviation of the r means; None for a single repeat
    over_folds: float  # deviation of all r * k folds
    n_repeats: int
    n_folds: int


def spread(values: npt.ArrayLike) -> Spread:
    """Summarize results of shape (n_repeats, n_folds); deviations divide by n - 1.

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
    """A difference of two methods on the same data."""

    mean: float
    low: float  # 95 % interval of the mean difference
    high: float
    p: float
    n: int


def corrected_t_test(differences: npt.ArrayLike, test_share: float) -> PairedTest:
    """Compare two methods over repeated cross-validation (Nadeau and Bengio's corrected resampled t-test).

    Folds share training bags, so that their differences are not independent; the variance of their mean is
    taken as ``1/n + n_test/n_train`` times their own instead of ``1/n``. Without any spread the answer is
    certain: p is 1 for no difference, else 0.

    Parameters
    ----------
    differences : array of shape (n,)
        One a fold of a repeat.
    test_share : float
        Test bags by training bags, 1/9 for ten folds.

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
    """Compare two methods over pairs: the mean of ``one - other``, its t-interval, and Wilcoxon's signed-rank p.

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
    """Return lower quartile, median, upper quartile.

    Examples
    --------
    >>> quartiles([1, 2, 3, 4, 5])
    (2.0, 3.0, 4.0)
    """
    low, middle, high = np.quantile(np.asarray(values, float), [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Ranking:
    """Average ranks of k methods on n data sets, the best being rank 1."""

    ranks: tuple[float, ...]
    p: float  # of Friedman's test that all methods are alike; NaN below three methods or on a single data set
    critical_difference: float  # of average ranks, at 5 % (Nemenyi)


def ranking(scores: npt.ArrayLike) -> Ranking:
    """Rank methods as Demšar proposes: Friedman's test, then Nemenyi's critical difference.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
        Greater is better; equal scores share their mean rank.

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
    """Return p values (n,) made safe for n tests at once, by Holm's steps.

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
