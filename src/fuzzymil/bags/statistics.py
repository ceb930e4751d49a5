"""Statistics of bags: tables with one row per bag, for methods that know nothing of bags."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags._bags import Bags


def bag_means(bags: Bags) -> Array:
    """Return the mean of each feature in each bag, shape (n_bags, n_features).

    Missing values are left out; without any value, the mean is NaN.
    """
    return _mean(bags.instances, bags)


def bag_deviations(bags: Bags) -> Array:
    """Return the standard deviation of each feature in each bag, shape (n_bags, n_features); 0 for one instance.

    Missing values are left out, as in `bag_means`.
    """
    return np.asarray(np.sqrt(_mean(np.square(bags.instances - np.repeat(bag_means(bags), bags.sizes, axis=0)), bags)))


def _mean(values: Array, bags: Bags) -> Array:
    known = ~np.isnan(values)
    if known.all():
        return np.asarray(np.add.reduceat(values, bags.offsets[:-1]) / bags.sizes[:, None])
    counts = np.add.reduceat(known.astype(float), bags.offsets[:-1])
    sums = np.add.reduceat(np.where(known, values, 0.0), bags.offsets[:-1])
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


STATISTICS: dict[str, Callable[[Bags], Array]] = {
    "mean": bag_means,
    "min": lambda bags: np.asarray(np.fmin.reduceat(bags.instances, bags.offsets[:-1])),  # fmin leaves out NaN
    "max": lambda bags: np.asarray(np.fmax.reduceat(bags.instances, bags.offsets[:-1])),
    "std": bag_deviations,
    "size": lambda bags: bags.sizes[:, None].astype(float),
}
"""Functions from bags to tables with one row per bag."""

THREE = ("mean", "min", "max")
FIVE = (*THREE, "std", "size")


def bag_statistics(bags: Bags, statistics: Sequence[str] = THREE) -> Array:
    """Return statistics of the bags side by side, shape (n_bags, n_columns).

    Each of "mean", "min", "max" and "std" has one column per feature; "size", the number of instances, has one column.
    Missing values are left out; a statistic of no value is NaN.
    """
    return np.hstack([STATISTICS[name](bags) for name in statistics])


_ENOUGH = 10_000  # instances from which typical values are taken


def typical_values(bags: Bags, count: int) -> Array:
    """Return values that stand for each feature, shape (count, n_features), in ascending order.

    They divide the known values of the instances evenly: one is the median, ten lie in the middle of the tenths. A
    single category is the most frequent one. Without any known value they are 0. Of very many instances, some are used.
    """
    rows = bags.instances[:: max(bags.n_instances // _ENOUGH, 1)]
    shares = (np.arange(count) + 0.5) / count
    found = _known_quantiles(rows, shares)
    categorical = np.zeros(bags.n_features, bool) if bags.columns is None else bags.columns.categorical
    for d in np.flatnonzero(categorical | np.isnan(found[0])):
        known = rows[~np.isnan(rows[:, d]), d]
        if not len(known):  # in these rows
            known = bags.instances[~np.isnan(bags.instances[:, d]), d]
        if not len(known):
            found[:, d] = 0.0
        elif categorical[d] and count == 1:
            codes, often = np.unique(known, return_counts=True)
            found[0, d] = codes[np.argmax(often)]
        else:
            found[:, d] = np.quantile(known, shares, method="inverted_cdf" if categorical[d] else "linear")
    return found


def _known_quantiles(rows: Array, shares: Array) -> Array:
    """Return ``np.quantile(column, shares)`` of the known values of each column (n, d), shape (n_shares, d).

    All columns at once, which is many times faster. A column without any known value has NaN.
    """
    ordered = np.sort(rows.astype(float, copy=False), axis=0)  # NaN comes last
    complete = not np.isnan(ordered[-1:]).any()
    n_known = np.full(ordered.shape[1], len(ordered)) if complete else (~np.isnan(ordered)).sum(axis=0)
    place = shares[:, None] * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(int)
    part = place - below
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, np.minimum(below + 1, np.maximum(n_known - 1, 0)), axis=0)
    step = high - low
    # From the nearer one of the two, as NumPy does.
    return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))


def fill_missing(bags: Bags, values: Array) -> Bags:
    """Return bags in which one value per feature, shape (n_features,), takes the place of each missing one."""
    missing = np.isnan(bags.instances)
    if not missing.any():
        return bags
    instances = np.where(missing, values, bags.instances)
    if bags.columns is not None:
        return bags.with_features(instances, bags.columns)
    return bags.map_instances(lambda _: instances)
