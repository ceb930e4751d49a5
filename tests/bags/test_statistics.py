"""Statistics of bags, against the same computed column by column."""

import numpy as np
import pytest

from fuzzymil.bags import Bags, Column, Columns
from fuzzymil.bags.statistics import typical_values


def by_column(values, count):
    """Quantiles of the known values of each column, one after another."""
    shares = (np.arange(count) + 0.5) / count
    known = [column[~np.isnan(column)] for column in values.T]
    return np.column_stack([np.quantile(column, shares) if len(column) else np.zeros(count) for column in known])


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.95])
def test_typical_values_are_the_quantiles_of_each_feature(missing, count):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(53, 8)) * 10.0 ** np.arange(-4, 4)
    values[:, 3] = np.round(values[:, 3], 1)
    values[rng.random(values.shape) < missing] = np.nan
    values[:, 5] = np.nan if missing else 7.0
    bags = Bags(values, np.arange(54))
    np.testing.assert_array_equal(typical_values(bags, count), by_column(values, count))


def test_typical_categories_are_categories():
    columns = Columns([Column("color", "category", ("blue", "green", "red")), Column("height")])
    values = np.array([[0.0, 1.0], [2.0, 2.0], [2.0, np.nan], [np.nan, 4.0], [1.0, 9.0], [0.0, 1.0], [2.0, 3.0]])
    bags = Bags(values, np.arange(8), columns=columns)
    assert typical_values(bags, 1).tolist() == [[2.0, 2.5]]
    assert set(typical_values(bags, 10)[:, 0]) <= {0.0, 1.0, 2.0}


def test_typical_values_of_rare_ones_come_from_all_instances(monkeypatch):
    """Of many instances some are used, unless a feature is missing in all of these."""
    monkeypatch.setattr("fuzzymil.bags.statistics._ENOUGH", 4)
    values = np.column_stack([np.arange(8.0), np.where(np.arange(8) % 2, 5.0, np.nan)])
    assert typical_values(Bags(values, np.arange(9)), 1).tolist() == [[3.0, 5.0]]
