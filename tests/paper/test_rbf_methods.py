"""RBF-MIP and RBF-Bag-Unit: clusters and responses against loops over instances, layers against closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.comparators.citation_knn import hausdorff_distances
from paper.methods import RBFMIP, RBFBagUnit
from paper.methods.rbf import medoids, merge_bags

DISTANCES = ("minimal", "maximal")
MODELS = {"RBF-MIP": RBFMIP, "RBF-Bag-Unit": RBFBagUnit}
models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def some_bags(n_bags=9, seed=0, spread=1.0):
    """Bags around places of their own; the class is the side they are on."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n_bags, 2)) * 2
    bags = [place + spread * rng.normal(size=(rng.integers(1, 5), 2)) for place in places]
    return Bags.from_list(bags, labels=(places[:, 0] > 0).astype(int))


def slow_hausdorff(one, other, distance):
    gaps = [[math.dist(a, b) for b in other] for a in one]
    if distance == "minimal":
        return min(map(min, gaps))
    return max(max(map(min, gaps)), max(map(min, zip(*gaps, strict=True))))


def slow_clusters(bags, n_clusters, distance):
    """Clusters as lists of bags, merged pair by pair from their instances."""
    clusters = [[b] for b in range(len(bags))]

    def union(cluster):
        return [row for b in cluster for row in bags[b]]

    while len(clusters) > n_clusters:
        one, other = min(
            itertools.combinations(range(len(clusters)), 2),
            key=lambda pair: slow_hausdorff(union(clusters[pair[0]]), union(clusters[pair[1]]), distance),
        )
        clusters[one] += clusters.pop(other)
    return clusters, [union(cluster) for cluster in clusters]


# ---------------------------------------------------------------------- clusters of bags


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n_clusters", [1, 2, 4, 8, 9])
def test_merging_is_the_slow_transcription(n_clusters, distance):
    bags = some_bags()
    found = merge_bags(bags, n_clusters, distance)
    members, unions = slow_clusters(bags, n_clusters, distance)
    assert [np.flatnonzero(found.of_bags == c).tolist() for c in range(n_clusters)] == list(map(sorted, members))
    np.testing.assert_allclose(
        found.from_bags, [[slow_hausdorff(bag, union, distance) for union in unions] for bag in bags], rtol=1e-12
    )
    np.testing.assert_allclose(
        found.between, [[slow_hausdorff(one, other, distance) for one in unions] for other in unions], rtol=1e-12
    )


@pytest.mark.parametrize("n_clusters", [2, 5, 12])
def test_merging_by_the_minimal_distance_is_single_linkage(n_clusters):
    bags = some_bags(20, seed=3)
    tree = linkage(squareform(hausdorff_distances(bags), checks=False), "single")
    expected = fcluster(tree, n_clusters, "maxclust")
    found = merge_bags(bags, n_clusters, "minimal").of_bags
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)


def test_merging_by_hand():
    """{0, 1} and {3} are 3 apart, {9} is 6 from both: the union {0, 1, 3} is 9 from {9}."""
    bags = Bags.from_list([[[0.0], [1.0]], [[9.0]], [[3.0]]])
    found = merge_bags(bags, 2, "maximal")
    assert found.of_bags.tolist() == [0, 1, 0]
    assert found.between.tolist() == [[0.0, 9.0], [9.0, 0.0]]
    assert found.from_bags.tolist() == [[2.0, 9.0], [9.0, 0.0], [3.0, 6.0]]
    assert merge_bags(bags, 2, "minimal").between.tolist() == [[0.0, 6.0], [6.0, 0.0]]


# ---------------------------------------------------------------------- RBF-MIP


@pytest.mark.parametrize("distance", DISTANCES)
def test_second_layer_is_the_pseudo_inverse(distance):
    bags, fresh = some_bags(12), some_bags(7, seed=5)
    model = RBFMIP(0.5, width=0.8, distance=distance).fit(bags)
    _, unions = slow_clusters(bags, 6, distance)
    pairs = list(itertools.combinations(unions, 2))
    width = 0.8 * sum(slow_hausdorff(*pair, distance) for pair in pairs) / len(pairs)
    assert model.width_ == pytest.approx(width, rel=1e-12)

    def design(bags):
        rows = [[slow_hausdorff(bag, union, distance) for union in unions] for bag in bags]
        return np.column_stack([np.ones(len(bags)), np.exp(-np.square(rows) / (2 * width**2))])

    weights = np.linalg.pinv(design(bags)) @ np.where(bags.labels == 1, 1.0, -1.0)
    np.testing.assert_allclose([model.intercept_, *model.coef_], weights, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(fresh), design(fresh) @ weights, rtol=1e-6)


def test_second_layer_by_hand():
    """Two bags, each a unit, 2 apart; width 2: responses 1 and exp(-1/2), and least norm makes a bias of 0."""
    model = RBFMIP(1.0, width=1.0).fit([[[0.0]], [[2.0]]], ["a", "b"])
    assert model.width_ == 2.0
    assert model.intercept_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.coef_, np.array([-1, 1]) / (1 - math.exp(-0.5)), rtol=1e-12)


def test_with_a_unit_a_bag_the_targets_are_met():
    bags = some_bags(10)
    model = RBFMIP(1.0, width=0.3).fit(bags)
    assert model.units_.n_bags == 10
    np.testing.assert_allclose(model.decision_function(bags), np.where(bags.labels == 1, 1.0, -1.0), atol=1e-8)


def test_there_are_two_units_at_least():
    assert RBFMIP(0.01).fit(some_bags()).units_.n_bags == 2


# ---------------------------------------------------------------------- RBF-Bag-Unit


@pytest.mark.parametrize("n_medoids", [1, 2, 3])
def test_medoids_of_well_separated_groups_are_the_best_of_all(n_medoids):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(5, 2)) + place for place in ([0, 0], [30, 0], [0, 30])[:n_medoids]])
    distances = np.linalg.norm(points - points[:, None], axis=2)
    best = min(
        itertools.combinations(range(len(points)), n_medoids), key=lambda m: distances[:, list(m)].min(axis=1).sum()
    )
    assert medoids(distances, n_medoids).tolist() == list(best)


def test_medoids_are_different_objects_even_where_objects_coincide():
    assert medoids(np.zeros((4, 4)), 3).tolist() == [0, 1, 2]
    assert sorted(medoids(np.zeros((4, 4)), 4).tolist()) == [0, 1, 2, 3]


def test_units_are_bags_of_both_classes():
    bags = some_bags(20)
    units = RBFBagUnit(0.3).fit(bags).units_
    n_positive = bags.labels.sum()
    assert units.labels.sum() == math.ceil(0.3 * n_positive)
    assert (1 - units.labels).sum() == math.ceil(0.3 * (20 - n_positive))
    known = [sorted(bag.tolist()) for bag in bags]
    assert all(sorted(unit.tolist()) in known for unit in units)


def test_the_ridge_layer_has_its_closed_form():
    bags, fresh = some_bags(12), some_bags(7, seed=5)
    model = RBFBagUnit(1.0, width=0.7, ridge=0.2).fit(bags)
    everyone = list(bags)
    pairs = list(itertools.combinations(everyone, 2))
    width = 0.7 * sum(slow_hausdorff(*pair, "maximal") for pair in pairs) / len(pairs)

    def respond(bags):
        rows = [[slow_hausdorff(bag, unit, "maximal") for unit in everyone] for bag in bags]
        return np.exp(-np.square(rows) / (2 * width**2))

    targets = np.where(bags.labels == 1, 1.0, -1.0)
    centered = respond(bags) - respond(bags).mean(axis=0)
    coef = np.linalg.solve(centered.T @ centered + 0.2 * np.eye(12), centered.T @ (targets - targets.mean()))
    expected = (respond(fresh) - respond(bags).mean(axis=0)) @ coef + targets.mean()
    np.testing.assert_allclose(model.decision_function(fresh), expected, rtol=1e-8, atol=1e-12)


# ---------------------------------------------------------------------- both


@models
@pytest.mark.parametrize("distance", DISTANCES)
def test_learns_and_does_not_mind_order_place_and_scale(make, distance):
    bags, fresh = some_bags(60, spread=0.3), some_bags(60, seed=1, spread=0.3)
    model = make(distance=distance).fit(bags)
    assert model.score(fresh) > 0.8
    decided = model.decision_function(fresh)
    backwards = Bags.from_list([bag[::-1] for bag in bags], labels=bags.labels)
    np.testing.assert_array_equal(make(distance=distance).fit(backwards).decision_function(fresh), decided)

    def moved(bags):
        return bags.map_instances(lambda x: 4.0 * x + 64.0)  # powers of two: distances scale but for the last digits

    np.testing.assert_allclose(
        make(distance=distance).fit(moved(bags)).decision_function(moved(fresh)), decided, rtol=1e-5, atol=1e-5
    )


@models
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fraction": 0.0}, "fraction .*above 0 and at most 1, got 0.0"),
        ({"fraction": 1.5}, "fraction .*above 0 and at most 1, got 1.5"),
        ({"width": 0.0}, "width .*above 0"),
        ({"distance": "max"}, "distance.*'max'.*minimal, maximal"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)) + str(next(iter(value.values()))),
)
def test_bad_settings_are_named(make, settings, message):
    with pytest.raises(ParameterError, match=message):
        make(**settings).fit(some_bags())


def test_a_ridge_of_zero_is_refused():
    with pytest.raises(ParameterError, match=r"ridge .*above 0"):
        RBFBagUnit(ridge=0.0).fit(some_bags())


@models
def test_bags_that_do_not_differ_are_refused(make):
    with pytest.raises(InputError, match=r"distance 0 .*'maximal'"):
        make().fit([[[1.0]], [[1.0], [1.0]], [[1.0]]], [0, 1, 1])
