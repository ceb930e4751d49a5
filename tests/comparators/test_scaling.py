"""The scaling of features for comparators: what MI-ANFIS does by itself."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.comparators import APR, standardized
from fuzzymil.comparators._base import ClippedScaler
from fuzzymil.learn.train.scaling import Measures, Scaling

ROWS = np.random.RandomState(0).standard_t(2, size=(200, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -3.0]


@parametrize_with_checks([ClippedScaler()])
def test_scikit_learn_accepts_the_scaler(estimator, check):
    check(estimator)


def test_scaled_values_by_loops():
    new = 5.0 * ROWS[:20] + 1.0
    found = ClippedScaler().fit(ROWS).transform(new)
    for d in range(3):
        column = ROWS[:, d]
        mean, deviation = column.mean(), column.std()
        low, high = max(column.min(), mean - 3 * deviation), min(column.max(), mean + 3 * deviation)
        for i in range(20):
            assert found[i, d] == pytest.approx((min(max(new[i, d], low), high) - mean) / deviation)
    assert np.abs(found).max() <= 3.0 + 1e-12


def test_the_scaling_is_that_of_the_networks():
    own = Scaling.fit(Measures.of(ROWS), standardize=True, clip=3.0)
    np.testing.assert_array_equal(ClippedScaler().fit(ROWS).transform(10 * ROWS), own.apply(10 * ROWS))


def test_other_limits_and_constant_features():
    scaler = ClippedScaler(1.0).fit([[0.0, 7.0], [1.0, 7.0], [5.0, 7.0]])
    found = scaler.transform([[100.0, 7.0], [-100.0, 9.0]])
    np.testing.assert_allclose(found, [[1.0, 0.0], [-2 / np.std([0, 1, 5]), 0.0]])
    with pytest.raises(ParameterError, match=r"clip .*above 0"):
        ClippedScaler(0.0).fit(ROWS)


def test_names_of_features_and_missing_values_are_kept():
    bags = Bags.from_list([ROWS[:5], ROWS[5:9]], ["a", "b", "c"], labels=[0, 1])
    model = standardized(APR())
    assert list(model.named_steps) == ["scale", "method"]
    assert list(model["scale"].fit_transform(bags).feature_names) == ["a", "b", "c"]
    holed = bags.map_instances(lambda x: np.where(np.arange(len(x))[:, None] == 6, np.nan, x))
    scaled = model["scale"].fit_transform(holed)
    assert np.isnan(scaled.instances).any(axis=1).tolist() == [False] * 6 + [True] + [False] * 2
    assert model.fit(holed, holed.labels).predict(holed).shape == (2,)
