"""Where rules start: fuzzy c-means against the oracle's steps, and the other partitions."""

import itertools

import numpy as np
import oracle_learning
import pytest

from fuzzymil import ANFISRegressor, Training
from fuzzymil._utils.errors import ParameterError
from fuzzymil.learn.train import partition


def blobs(rng, features=2, each=30):
    """Three well separated groups and their centers."""
    centers = np.zeros((3, features))
    centers[1, 0], centers[2, -1] = 20.0, 20.0
    return np.concatenate([center + rng.normal(size=(each, features)) for center in centers]), centers


def matched(found, expected):
    """Greatest distance between centers and those expected, in the best order."""
    return min(np.abs(found[list(order)] - expected).max() for order in itertools.permutations(range(len(expected))))


@pytest.mark.parametrize("m", [1.05, 1.5, 2.0, 3.0])
def test_fcm_memberships_are_the_oracles(m):
    rng = np.random.default_rng(1)
    points, centers = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    points[3] = centers[2]  # on a center: it alone
    found = partition.fcm_memberships(points, centers, m)
    np.testing.assert_allclose(found, oracle_learning.fcm_memberships(points.tolist(), centers.tolist(), m), atol=1e-12)
    assert found[3].tolist() == [0.0, 0.0, 1.0, 0.0]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_point_on_two_centers_belongs_to_both_alike():
    found = partition.fcm_memberships(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), 2.0)
    assert found.tolist() == [[0.5, 0.0, 0.5]]


def test_fcm_ends_where_the_oracles_two_steps_leave_the_centers_in_place():
    points, _ = blobs(np.random.default_rng(2))
    centers = partition.fcm(points, 3, np.random.RandomState(0), max_iter=500, tol=1e-10)
    memberships = oracle_learning.fcm_memberships(points.tolist(), centers.tolist(), 2.0)  # two features: m = 2
    np.testing.assert_allclose(oracle_learning.fcm_update(points.tolist(), memberships, 2.0), centers, atol=1e-6)


def test_fcm_takes_the_oracles_steps_from_its_start():
    points, _ = blobs(np.random.default_rng(3), features=6)
    m = partition.fuzzifier(len(points), 6)
    assert m == pytest.approx(6 / 4)
    starts = partition.fcm(points, 3, np.random.RandomState(5), max_iter=0)
    moved = partition.fcm(points, 3, np.random.RandomState(5), max_iter=2, tol=0.0)
    expected = starts.tolist()
    for _ in range(2):
        expected = oracle_learning.fcm_update(
            points.tolist(), oracle_learning.fcm_memberships(points.tolist(), expected, m), m
        )
    np.testing.assert_allclose(moved, expected, atol=1e-9)
    assert np.abs(moved - starts).max() > 0.01


@pytest.mark.parametrize("method", ["fcm", "kmeans"])
def test_clustering_finds_separated_groups(method):
    points, centers = blobs(np.random.default_rng(4), each=60)
    found = partition.centers_by(method, points, 3, np.random.RandomState(0))
    assert matched(found, centers) < 0.8


@pytest.mark.parametrize("features", [25, 166])
def test_fcm_keeps_its_centers_apart_in_many_dimensions(features):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(300, features))
    found = partition.fcm(points, 6, np.random.RandomState(0))
    spread = np.sqrt(points.var(axis=0).sum())
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(found, 2)]
    assert min(gaps) > 1e-2 * spread
    assert np.isfinite(found).all()


def test_fcm_sharpens_the_fuzzifier_where_centers_would_meet():
    # Directions spread evenly over two dimensions but counted as many: the rest is next to nothing.
    rng = np.random.default_rng(6)
    points = np.concatenate([rng.normal(size=(400, 4)), 1e-9 * rng.normal(size=(400, 1))], axis=1)
    found = partition.fcm(points, 5, np.random.RandomState(1))
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(found, 2)]
    assert min(gaps) > 1e-2 * np.sqrt(points.var(axis=0).sum())


def test_fuzzifier_is_two_in_few_dimensions_and_nears_one_in_many():
    assert partition.fuzzifier(100, 1) == 2.0
    assert partition.fuzzifier(100, 4) == 2.0
    assert partition.fuzzifier(5, 1000) == 2.0  # five points span four dimensions
    assert partition.fuzzifier(1000, 166) == pytest.approx(166 / 164)
    assert all(1 < partition.fuzzifier(n, d) <= 2 for n in (6, 50) for d in (5, 40, 1000))


def test_constant_features_do_not_count_for_the_fuzzifier():
    points, _ = blobs(np.random.default_rng(7))
    wide = np.concatenate([points, np.full((len(points), 30), 4.0)], axis=1)
    found = partition.fcm(wide, 3, np.random.RandomState(0))
    np.testing.assert_allclose(found[:, :2], partition.fcm(points, 3, np.random.RandomState(0)), atol=1e-9)
    assert found[:, 2:] == pytest.approx(4.0)


EXACT = ("fcm", "kmeans", "random", "grid")


@pytest.mark.parametrize("method", EXACT)
def test_every_partition_gives_distinct_finite_centers_within_the_data_and_repeats_by_seed(method):
    points = np.random.default_rng(8).normal(size=(50, 3))
    found = partition.centers_by(method, points, 4, np.random.RandomState(3))
    again = partition.centers_by(method, points, 4, np.random.RandomState(3))
    assert found.shape == (4, 3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, again)
    assert len(np.unique(found, axis=0)) == 4
    assert (found >= points.min(axis=0)).all()
    assert (found <= points.max(axis=0)).all()


@pytest.mark.parametrize("method", EXACT)
def test_one_rule_starts_in_the_middle(method):
    points = np.random.default_rng(9).normal(size=(50, 3))
    found = partition.centers_by(method, points, 1, np.random.RandomState(3))
    middle = (points.min(axis=0) + points.max(axis=0)) / 2 if method == "grid" else points.mean(axis=0)
    np.testing.assert_allclose(found, [middle], atol=1e-6)


def test_random_centers_are_the_means_of_the_nearest_instances():
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    possible = [
        [np.mean([p for p in points[:, 0] if abs(p - a) <= abs(p - b)]) for a, b in ((s, t), (t, s))]
        for s, t in itertools.permutations(points[:, 0], 2)
    ]
    for seed in range(5):
        found = sorted(partition.random(points, 2, np.random.RandomState(seed))[:, 0])
        assert any(np.allclose(found, sorted(pair)) for pair in possible)


def test_random_stands_repeated_instances():
    points = np.array([[0.0], [0.0], [0.0], [7.0]])
    for seed in range(5):
        found = partition.random(points, 3, np.random.RandomState(seed))
        assert np.isfinite(found).all()
        assert set(found.ravel()) <= {0.0, 7.0}


def test_grid_gives_most_lines_to_the_widest_feature():
    points = np.array([[0.0, 0.0, 5.0], [1.0, 60.0, 5.0]])
    found = partition.grid(points, 6, np.random.RandomState(0))
    assert sorted(set(found[:, 1])) == [10.0, 30.0, 50.0]
    assert sorted(set(found[:, 0])) == [0.25, 0.75]
    assert set(found[:, 2]) == {5.0}
    assert sorted(partition.grid(points, 5, np.random.RandomState(0))[:, 1]) == [6.0, 18.0, 30.0, 42.0, 54.0]


def test_grid_puts_no_two_rules_on_one_place_when_a_feature_is_constant():
    points = np.array([[0.0, 5.0], [1.0, 5.0], [0.3, 5.0]])
    assert len(np.unique(partition.grid(points, 4, np.random.RandomState(0)), axis=0)) == 4


@pytest.mark.parametrize("method", ["fcm", "kmeans", "random"])
def test_more_rules_than_distinct_instances_are_refused_with_a_way_out(method):
    points = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    with pytest.raises(ParameterError, match=r"n_rules=3 .*distinct instances, 2: .*fewer rules.*init='grid'"):
        partition.centers_by(method, points, 3, np.random.RandomState(0))
    assert len(partition.centers_by("grid", points, 3, np.random.RandomState(0))) == 3


def test_subtractive_clustering_finds_as_many_blobs_as_there_are():
    points, middles = blobs(np.random.default_rng(2), features=2)
    found = partition.subtractive(points, 20, np.random.RandomState(0))
    assert len(found) == len(middles)
    distances = np.linalg.norm(found[:, None] - middles, axis=2)
    assert set(distances.argmin(axis=1)) == set(range(len(middles)))
    assert len(partition.subtractive(points, 2, np.random.RandomState(0))) == 2


def test_wang_mendel_makes_a_rule_for_each_cell_with_instances():
    diagonal = np.repeat(np.linspace(0.0, 1.0, 100)[:, None], 2, axis=1)
    found = partition.wang_mendel(diagonal, 5, np.random.RandomState(0))
    np.testing.assert_allclose(found, np.repeat((np.arange(5)[:, None] + 0.5) / 5, 2, axis=1))
    many = np.random.default_rng(0).normal(size=(200, 6))  # in all 64 cells of two lines
    assert partition.wang_mendel(many, 5, np.random.RandomState(0)).shape == (5, 6)


def test_sets_on_neighboring_lines_of_a_grid_cross_at_one_half():
    X = np.array([[a, 10 * b] for a in range(4) for b in range(4)], float)
    model = ANFISRegressor(16, init="grid", training=Training(max_epochs=0)).fit(X, X.sum(axis=1))
    for variable in model.rules_.variables:
        sets = sorted(variable.terms.values(), key=lambda chosen: chosen.center)
        assert len(sets) == 4
        for left, right in itertools.pairwise(sets):
            assert left((left.center + right.center) / 2) == pytest.approx(0.5)
            assert right((left.center + right.center) / 2) == pytest.approx(0.5)


def test_default_width_grows_with_the_root_of_the_dimension():
    assert partition.default_width(4 * 30) == pytest.approx(2 * partition.default_width(30))


def test_distinct_instances_are_counted_as_by_sorting():
    rng = np.random.default_rng(0)
    for n in (1, 5, 40, 300):
        rows = rng.integers(-1, 2, (n, 3)) * rng.choice([-1.0, 1.0], (n, 3))  # zeros of both signs
        assert partition.n_distinct(rows, 1000) == len(np.unique(rows, axis=0))


def test_few_instances_are_clustered_as_by_many_threads(monkeypatch):
    points, _ = blobs(np.random.default_rng(2), features=5)
    found = partition.kmeans(points, 4, np.random.RandomState(0))
    monkeypatch.setattr(partition, "_FEW_ROWS", 0)
    np.testing.assert_array_equal(found, partition.kmeans(points, 4, np.random.RandomState(0)))
