"""Classifiers of bag statistics against scikit-learn's own on tables made by loops, and against hand cases."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags.statistics import bag_statistics
from fuzzymil.comparators import EmbeddingBoosting, EmbeddingForest, EmbeddingLogistic

KINDS = (EmbeddingForest, EmbeddingBoosting, EmbeddingLogistic)
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def made_bags(n_bags, seed):
    """Bags of 1 to 6 instances of 3 features; positive bags are shifted in the first."""
    rng = np.random.RandomState(seed)
    labels = np.arange(n_bags) % 2
    bags = [rng.normal([1.5 * label, 0.0, 0.0], 1.0, size=(rng.randint(1, 7), 3)) for label in labels]
    return Bags.from_list(bags, labels=labels)


TRAIN, TEST = made_bags(40, seed=1), made_bags(60, seed=2)


def by_loops(bags, statistics):
    """The table of statistics, one number at a time."""
    rows = []
    for bag in bags:
        row = []
        for name in statistics:
            if name == "size":
                row.append(len(bag))
                continue
            for d in range(bag.shape[1]):
                values = [float(x) for x in bag[:, d]]
                mean = sum(values) / len(values)
                spread = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
                row.append({"mean": mean, "min": min(values), "max": max(values), "std": spread}[name])
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("statistics", [("mean", "min", "max"), ("std", "size"), ("size",), ("max", "mean")])
def test_statistics_by_loops(statistics):
    np.testing.assert_allclose(bag_statistics(TRAIN, statistics), by_loops(TRAIN, statistics), rtol=1e-12, atol=1e-12)


def test_missing_values_are_left_out_of_statistics():
    bags = Bags.from_list([[[1.0, np.nan], [np.nan, np.nan], [4.0, np.nan]], [[2.0, 7.0]]])
    found = bag_statistics(bags, ["mean", "min", "max", "std", "size"])
    np.testing.assert_array_equal(found[0], [2.5, np.nan, 1, np.nan, 4, np.nan, 1.5, np.nan, 3])
    np.testing.assert_array_equal(found[1], [2, 7, 2, 7, 2, 7, 0, 0, 1])


def test_deviations_far_from_zero_are_exact():
    bags = Bags.from_list([[[1e8], [1e8 + 2.0]], [[1e8]]])
    assert bag_statistics(bags, ["std"]).tolist() == [[1.0], [0.0]]


# ---------------------------------------------------------------------- each is scikit-learn's classifier on the table


def test_the_forest_is_a_random_forest_on_three_statistics():
    model = EmbeddingForest(20, random_state=3).fit(TRAIN)
    three = ("mean", "min", "max")
    plain = RandomForestClassifier(20, random_state=3).fit(bag_statistics(TRAIN, three), TRAIN.labels)
    likely = plain.predict_proba(bag_statistics(TEST, three))[:, 1]
    np.testing.assert_allclose(model.decision_function(TEST), likely - 0.5, atol=1e-12)


def test_boosting_starts_at_the_log_odds_and_adds_its_trees():
    model = EmbeddingBoosting(30, max_depth=2, random_state=3).fit(TRAIN[:39])
    table = bag_statistics(TEST, ("mean", "min", "max", "std", "size"))
    total = np.full(len(TEST), np.log(19 / 20))  # 19 of the 39 bags are positive
    for (tree,) in model.classifier_.estimators_:
        assert tree.get_depth() <= 2
        total += 0.1 * tree.predict(table)
    np.testing.assert_allclose(model.decision_function(TEST), total, atol=1e-9)
    assert isinstance(model.classifier_, GradientBoostingClassifier)


def test_logistic_regression_minimizes_the_penalized_loss():
    model = EmbeddingLogistic(C=0.5, statistics=("mean", "size")).fit(TRAIN)
    table, y = by_loops(TRAIN, ("mean", "size")), 2 * np.asarray(TRAIN.labels) - 1
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    fitted = model.classifier_[-1]
    assert isinstance(fitted, LogisticRegression)
    w, b = fitted.coef_[0], fitted.intercept_[0]

    def loss(w, b):
        return 0.5 * w @ w + 0.5 * np.logaddexp(0, -y * (scaled @ w + b)).sum()

    slopes = [(loss(w + step, b) - loss(w - step, b)) / 2e-4 for step in 1e-4 * np.eye(len(w))]
    slopes.append((loss(w, b + 1e-4) - loss(w, b - 1e-4)) / 2e-4)
    np.testing.assert_allclose(slopes, 0.0, atol=2e-3)
    np.testing.assert_allclose(model.decision_function(TRAIN), scaled @ w + b, atol=1e-9)


# ---------------------------------------------------------------------- what the statistics are for


def test_only_the_size_tells_large_bags_from_small_ones():
    rng = np.random.RandomState(0)
    labels = np.arange(80) % 2
    # Few different values, so that the extremes of a bag say little about its size.
    bags = Bags.from_list([rng.randint(0, 2, (6 + 2 * label, 1)).astype(float) for label in labels], labels=labels)
    model = EmbeddingLogistic(statistics=("mean", "min", "max", "size")).fit(bags[:40])
    assert model.score(bags[40:]) == 1.0
    assert EmbeddingLogistic().fit(bags[:40]).score(bags[40:]) < 0.8


@every
def test_statistics_can_be_chosen(kind):
    model = kind(statistics=("size",)).fit(TRAIN)
    assert model.classifier_.n_features_in_ == 1
    same_sizes = TEST.map_instances(lambda x: x + 100.0)
    np.testing.assert_array_equal(model.decision_function(same_sizes), model.decision_function(TEST))


@pytest.mark.parametrize("kind", [EmbeddingForest, EmbeddingBoosting])
def test_another_seed_is_another_model(kind):
    first, second = (kind(5, random_state=seed).fit(TRAIN).decision_function(TEST) for seed in (0, 1))
    assert (first != second).any()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EmbeddingForest(0), "n_estimators .*at least 1"),
        (EmbeddingForest(statistics=("mean", "maximum")), r"'maximum' in statistics.*Did you mean 'max'"),
        (EmbeddingForest(statistics="mean"), "statistics .*tuple.*'mean'"),
        (EmbeddingLogistic(statistics=()), r"statistics .*tuple"),
        (EmbeddingLogistic(C=0.0), "C .*above 0"),
        (EmbeddingBoosting(max_depth=0), "max_depth .*at least 1"),
        (EmbeddingBoosting(subsample=1.5), "subsample .*at most 1"),
        (EmbeddingBoosting(learning_rate=0.0), "learning_rate .*above 0"),
        (EmbeddingBoosting(max_features=2.0), "max_features .*at most 1"),
    ],
)
def test_settings_that_cannot_be(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(TRAIN)
