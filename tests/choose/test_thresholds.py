"""Thresholds of features, against a straightforward version for one feature at a time."""

import numpy as np
import pytest

from fuzzymil.learn.choose.candidates import dividing_thresholds

TAILS = (0.05, 0.02, 0.01, 0.005)


def limits_of_one(values, count, *, tails):
    """Return thresholds and slopes of one feature."""
    nothing = np.empty(0), np.empty(0)
    known = np.sort(values[np.isfinite(values)])
    if len(known) < 2 or known[-1] - known[0] < 1e-290:
        return nothing
    rounding = max(1e-12 * (known[-1] - known[0]), 8 * np.finfo(float).eps * max(abs(known[0]), abs(known[-1])))
    steps = [n for n in range(len(known) - 1) if known[n + 1] - known[n] > rounding]
    if not steps:
        return nothing
    if len(steps) <= count:
        width = min(known[n + 1] - known[n] for n in steps)
        return np.array([(known[n] + known[n + 1]) / 2 for n in steps]), np.full(len(steps), 8.0 / width)
    places = list(np.linspace(0, len(known), count + 2)[1:-1])
    if tails:
        rare = [share * len(known) for share in TAILS if share * len(known) >= 10]
        places += [*rare, *(len(known) - each for each in rare)]
    chosen = sorted({min((n for n in steps if n >= place - 1), default=steps[-1]) for place in places})
    centers = np.array([(known[n] + known[n + 1]) / 2 for n in chosen])
    low, high = known[len(known) // 10], known[len(known) - 1 - len(known) // 10]
    slopes = np.full(len(chosen), 4.0 * count / (high - low if high > low else known[-1] - known[0]))
    part = len(known) // (count + 1)
    if tails and len(chosen) > 1:
        for n, step in enumerate(chosen):
            if step < part - 1 or step > len(known) - 1 - part:
                low, high = max(n - 1, 0), min(n + 1, len(chosen) - 1)
                ends = (n, high) if centers[n] < np.median(known) else (low, n)
                ends = ends if ends[0] < ends[1] else (low, high)
                slopes[n] = max(slopes[n], 4.0 / (centers[ends[1]] - centers[ends[0]]))
    return centers, slopes


def features(rng, n):
    """Return features of many kinds, (n, d)."""
    x = rng.normal(size=(n, 16))
    x[:, 1] = np.round(x[:, 1])  # few values
    x[:, 2] = np.round(x[:, 2], 1)  # ties
    x[:, 3] = 5.0  # one value
    x[:, 4] = rng.rand(n) < 0.05  # two values, one of which is rare
    x[:, 5] = np.where(rng.rand(n) < 0.9, 0.0, x[:, 5])  # mostly one value
    x[:, 6] = np.where(rng.rand(n) < 0.3, np.nan, x[:, 6])
    x[:, 7] = np.where(rng.rand(n) < 0.5, np.inf, x[:, 7])
    x[:, 8] = np.where(rng.rand(n) < 0.5, -np.inf, np.round(x[:, 8]))
    x[:, 9] = np.nan
    x[1:, 10] = np.nan
    x[:, 11] = 1e9 + 1e-6 * x[:, 11]  # differences near rounding
    x[:, 12] = np.exp(3 * x[:, 12])
    x[:, 13] *= 1e-300
    x[:, 14] = rng.randint(0, 12, n)
    x[:, 15] = np.where(rng.rand(n) < 0.97, np.round(x[:, 15]), np.nan)
    return x


@pytest.mark.parametrize("n", [1, 2, 5, 11, 12, 60, 199, 205, 1000, 3000])
@pytest.mark.parametrize(("count", "tails"), [(9, True), (9, False), (5, False), (3, False)])
def test_all_features_at_once_have_the_thresholds_that_each_has_alone(n, count, tails):
    values = features(np.random.RandomState(n), n)
    found = dividing_thresholds(values, count, tails=TAILS if tails else ())
    assert len(found) == values.shape[1]
    for d, (centers, slopes) in enumerate(found):
        expected = limits_of_one(values[:, d], count, tails=tails)
        np.testing.assert_array_equal(centers, expected[0], err_msg=str(d))
        np.testing.assert_array_equal(slopes, expected[1], err_msg=str(d))


def test_very_many_values_are_divided_in_parts_with_the_same_result(monkeypatch):
    values = features(np.random.RandomState(0), 100)
    together = dividing_thresholds(values, 5)
    monkeypatch.setattr("fuzzymil.learn.choose.candidates._AT_ONCE", 300)
    for one, other in zip(together, dividing_thresholds(values, 5), strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_features_have_no_thresholds():
    assert dividing_thresholds(np.empty((10, 0)), 5) == []
