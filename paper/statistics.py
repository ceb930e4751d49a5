"""Statistics of repeated and cross-validated results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from fuzzymil._utils.arrays import Array
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


# Paired bootstrap of areas under the ROC curve and detection rates, over the folds of cross-validations.


@dataclass(frozen=True)
class Run:
    """One cross-validation of one method."""

    scores: Array  # (n_bags,), from models not trained on the bag; those of different folds are never compared
    folds: Array  # (n_bags,)


@dataclass(frozen=True)
class Interval:
    """A number and the interval that holds 95% of its bootstrap replicates."""

    value: float
    low: float
    high: float


def draw_weights(groups: Array, n_replicates: int, rng: np.random.RandomState) -> Array:
    """Draw how often each bag occurs in each replicate, with replacement within its group, (n_replicates + 1, n_bags).

    Each replicate has as many bags of each group (n_bags,) as the data; the first row is the data itself: each bag
    once.
    """
    weights = np.ones((n_replicates + 1, len(groups)))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        weights[1:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), n_replicates)
    return weights


def areas(truth: Array, runs: Sequence[Run], weights: Array) -> Array:
    """Return the area under the ROC curve, averaged over folds and runs, for each row of weights (n, n_bags).

    A fold in which one class has no weight is left out of that row's average.
    """
    found = []
    for scores, positive, own in _folds(truth, runs, weights):
        high, low = scores[positive], scores[~positive]
        wins = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        up, down = own[:, positive], own[:, ~positive]
        found.append(_ratio(((up @ wins) * down).sum(axis=1), up.sum(axis=1) * down.sum(axis=1)))
    return np.asarray(np.nanmean(found, axis=0))


def rates_detected(truth: Array, runs: Sequence[Run], weights: Array, false_rate: float) -> Array:
    """Return the share of positives detected at a false-alarm rate, averaged over folds and runs, per row of weights.

    ROC curves are interpolated linearly; the upper end of a vertical segment counts. See `areas`.
    """
    found = []
    for scores, positive, own in _folds(truth, runs, weights):
        order = np.argsort(-scores, kind="stable")
        ends = np.append(np.diff(scores[order]) != 0, True)  # equal scores are detected together
        true, false = (
            _ratio(counted.cumsum(axis=1)[:, ends], counted.sum(axis=1, keepdims=True))
            for counted in (own[:, order] * positive[order], own[:, order] * ~positive[order])
        )
        start = np.zeros((len(own), 1))
        true, false = np.hstack([start, true]), np.hstack([start, false])
        before = np.maximum((false <= false_rate).sum(axis=1) - 1, 0)
        after = np.minimum(before + 1, false.shape[1] - 1)
        rows = np.arange(len(own))
        gap = false[rows, after] - false[rows, before]
        share = np.where(gap > 0, (false_rate - false[rows, before]) / np.where(gap > 0, gap, 1.0), 0.0)
        found.append(true[rows, before] + share * (true[rows, after] - true[rows, before]))
    return np.asarray(np.nanmean(found, axis=0))


def _folds(truth: Array, runs: Sequence[Run], weights: Array) -> list[tuple[Array, Array, Array]]:
    """Return for each fold of each run the scores (n,), the labels (n,) and the weights (rows, n)."""
    return [
        (run.scores[inside], truth[inside], weights[:, inside])
        for run in runs
        for inside in (run.folds == fold for fold in np.unique(run.folds))
    ]


def _ratio(part: Array, whole: Array) -> Array:
    """Divide, with NaN where the divisor is 0."""
    known = np.broadcast_to(whole > 0, part.shape)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=known))


def interval(replicates: Array, *, centered: bool = False) -> Interval:
    """Summarize replicates (n,), the first of which is the value on the data itself.

    ``centered`` shifts the interval by the mean deviation of the replicates from the value. Replicates of detection
    rates are too high on average: a bag drawn twice makes the steps of the ROC curve higher, and their upper ends
    count.

    Examples
    --------
    >>> interval(np.array([0.5, 0.4, 0.6]))
    Interval(value=0.5, low=0.405, high=0.595)
    >>> interval(np.array([0.5, 0.75, 1.0]), centered=True)
    Interval(value=0.5, low=0.38125, high=0.61875)
    """
    value, drawn = float(replicates[0]), replicates[1:]
    low, high = np.quantile(drawn, [0.025, 0.975]) - (drawn.mean() - value if centered else 0.0)
    return Interval(value, float(low), float(high))


def holm(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return p-values (n,) corrected for n simultaneous tests by Holm's method."""
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
