"""Diverse density (DD, EM-DD, DD-SVM) and rectangles (APR) against formulas, slow loops and Weka."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import norm

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.comparators import APR, EMDD, DiverseDensity
from fuzzymil.comparators.apr import discriminating_features, expand, smallest_rectangle
from fuzzymil.comparators.diverse_density import Concept, best_threshold, climb, noisy_or_loss, starting_points
from fuzzymil.datasets import make_two_concepts
from paper.methods import DDSVM, BaggingAPR
from paper.methods.dd_svm import distinct_concepts, nearness

BOTH = make_two_concepts(12, 16, random_state=0)
ONE = BOTH[np.r_[:12, 24:40]]  # bags of the concept around (0.5, 0.5), and negative ones
POSITIVE = ONE.labels == 1


# ---------------------------------------------------------------------- the density


def exact_cost(distances, starts, positive):
    """The negative log-likelihood, multiplied out with 400 digits."""
    with mpmath.workdps(400):
        likelihood = mpmath.mpf(1)
        for part, wanted in zip(np.split(distances, starts[1:]), positive, strict=True):
            none = mpmath.fprod(1 - mpmath.exp(-mpmath.mpf(float(d))) for d in part)
            likelihood *= 1 - none if wanted else none
        return float(-mpmath.log(likelihood))


@pytest.mark.parametrize("size", [1e-30, 1e-3, 1.0, 30.0, 300.0])
def test_the_cost_is_exact_from_near_to_far(size):
    rng = np.random.RandomState(0)
    distances, starts = size * rng.uniform(0.5, 2.0, size=9), np.array([0, 3, 4, 8])
    positive = np.array([True, False, True, False])
    cost, _ = noisy_or_loss(distances, starts, positive)
    assert cost == pytest.approx(exact_cost(distances, starts, positive), rel=1e-12)


@pytest.mark.parametrize("distance", [39.9, 40.0, 40.1])
def test_the_two_ways_of_computing_meet(distance):
    starts, positive = np.array([0, 2]), np.array([True, False])
    distances = np.array([distance, distance + 0.3, distance])
    cost, slopes = noisy_or_loss(distances, starts, positive)
    assert cost == pytest.approx(exact_cost(distances, starts, positive), rel=1e-14)
    assert slopes[:2].sum() == pytest.approx(1.0, rel=1e-12)  # far away a positive bag costs its distance


def test_probabilities_that_underflow_still_count():
    cost, slopes = noisy_or_loss(np.array([5000.0, 4000.0]), np.array([0]), np.array([True]))
    assert cost == 4000.0
    assert slopes.tolist() == [0.0, 1.0]


def test_slopes_are_those_of_the_cost():
    rng = np.random.RandomState(1)
    starts, positive = np.array([0, 3, 4, 8]), np.array([True, False, True, False])
    for size in (1e-20, 0.1, 1.0, 20.0):
        distances = size * rng.uniform(0.5, 2.0, size=9)
        slopes = noisy_or_loss(distances, starts, positive)[1]
        step = 1e-6 * size
        for i, change in enumerate(step * np.eye(9)):
            above, below = (noisy_or_loss(distances + sign * change, starts, positive)[0] for sign in (1, -1))
            assert slopes[i] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-9)


def test_an_instance_on_the_concept():
    starts = np.array([0, 2])
    cost, slopes = noisy_or_loss(np.array([0.0, 1.0, 2.0]), starts, np.array([True, False]))
    assert cost == pytest.approx(-np.log(1 - np.exp(-2.0)))
    assert slopes[:2].tolist() == [0.0, 0.0]  # the bag is certain already
    assert noisy_or_loss(np.array([0.5, 1.0, 0.0]), starts, np.array([True, False]))[0] == np.inf


def test_a_climb_ends_where_the_density_is_flat():
    start = ONE[0][0]
    found = climb(ONE, POSITIVE, start, np.ones(2), max_steps=500)

    def cost(parameters):
        concept = Concept(parameters[:2], parameters[2:], 0.0)
        return noisy_or_loss(concept.distances(ONE.instances), ONE.offsets[:-1], POSITIVE)[0]

    top = np.concatenate([found.center, found.scales])
    assert cost(top) == pytest.approx(found.cost, rel=1e-9)
    assert check_grad(cost, lambda _: np.zeros(4), top) < 1e-2
    assert found.cost < cost(np.concatenate([start, np.ones(2)]))


def test_starts_are_the_densest_instances_of_positive_bags():
    costs = []
    for bag in ONE[POSITIVE]:
        inside = [((ONE.instances - x) ** 2).sum(axis=1) * 4.0 for x in bag]
        found = [exact_cost(distances, ONE.offsets[:-1], POSITIVE) for distances in inside]
        costs.append((min(found), bag[int(np.argmin(found))]))
    expected = [x for _, x in sorted(costs, key=lambda pair: pair[0])]
    np.testing.assert_array_equal(starting_points(ONE, POSITIVE, 2.0, 100), expected)
    np.testing.assert_array_equal(starting_points(ONE, POSITIVE, 2.0, 3), expected[:3])


def test_instances_that_negative_bags_have_too_are_no_starts():
    bags = Bags.from_list([[[0.0], [1.0]], [[0.0]], [[0.0], [3.0]]])
    assert starting_points(bags, np.array([True, True, False]), 1.0, 5).tolist() == [[1.0]]
    with pytest.raises(InputError, match=r"Every instance of a positive bag .*no concept"):
        DiverseDensity().fit([[[0.0]], [[0.0], [3.0]]], [1, 0])


def test_where_all_instances_are_shared_the_means_of_bags_are_tried():
    bags, labels = [[[0.0], [4.0]], [[0.0], [4.0]], [[0.0]], [[4.0]]], [1, 1, 0, 0]
    assert starting_points(Bags.from_list(bags), np.array(labels) == 1, 1.0, 5).tolist() == [[2.0], [2.0]]
    assert np.isfinite(DiverseDensity().fit(bags, labels).concept_.cost)


def test_dd_svm_does_without_concepts_of_a_class_that_has_none():
    shared = [
        [[0.0], [5.0]],
        [[0.0], [5.1]],
        [[0.0], [5.2]],
        [[0.0]],
        [[0.0], [0.0]],
    ]  # all that is negative is in positives
    labels = [1, 1, 1, 0, 0]
    assert DDSVM().fit(shared, labels).predict(shared).tolist() == labels
    with pytest.raises(InputError, match="no concept"):
        DDSVM().fit([[[0.0]], [[0.0]]], [1, 0])


def test_the_threshold_makes_the_fewest_errors():
    rng = np.random.RandomState(2)
    for _ in range(20):
        distances, positive = rng.uniform(size=9).round(1), rng.uniform(size=9) < 0.5
        middles = [(a + b) / 2 for a, b in zip(sorted(distances), sorted(distances)[1:], strict=False) if a < b]
        errors = [sum((d < t) != p for d, p in zip(distances, positive, strict=True)) for t in middles]
        assert best_threshold(distances, positive) == pytest.approx(middles[int(np.argmin(errors))])
    assert best_threshold(np.ones(3), np.array([True, False, True])) == pytest.approx(np.log(2))


# ---------------------------------------------------------------------- DD and EM-DD


# java weka.classifiers.mi.MIDD -N 2 -t one.arff -no-cv, and MIEMDD likewise (Weka 3.6.14), on ONE: point and scale of
# each feature. MIEMDD stops its climbs earlier than we do.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "center", "scales", "tolerance"),
    [
        (DiverseDensity, [0.4998, 0.4620], [2.5747, 4.8853], 1e-4),
        (EMDD, [0.4769, 0.4453], [2.3120, 4.7050], 1e-2),
    ],
    ids=["DD", "EMDD"],
)
def test_the_concept_is_that_of_weka(method, center, scales, tolerance):
    model = method(max_starts=12, max_steps=500).fit(ONE)
    np.testing.assert_allclose(model.concept_.center, center, atol=tolerance)
    np.testing.assert_allclose(model.concept_.scales, scales, atol=tolerance)


@pytest.mark.parametrize("method", [DiverseDensity, EMDD])
def test_irrelevant_features_get_small_scales(method):
    rng = np.random.RandomState(3)
    noisy = ONE.map_instances(lambda x: np.column_stack([x, rng.uniform(0, 2, size=(len(x), 2))]))
    scales = method().fit(noisy).concept_.scales
    assert scales[:2].min() > 2 * scales[2:].max()


def test_one_instance_bags_make_em_dd_and_dd_the_same():
    rng = np.random.RandomState(4)
    y = np.arange(24) % 2
    X = rng.normal(1.5 * y[:, None], 1.0, size=(24, 2))
    full, em = DiverseDensity(max_steps=500).fit(X, y), EMDD(max_steps=500).fit(X, y)
    assert em.concept_.cost == pytest.approx(full.concept_.cost, rel=1e-6)
    np.testing.assert_array_equal(em.predict(X), full.predict(X))


def test_em_dd_ends_at_responsible_instances():
    model = EMDD(max_steps=500).fit(ONE)
    nearest = np.minimum.reduceat(model.concept_.distances(ONE.instances), ONE.offsets[:-1])
    assert model.concept_.cost == pytest.approx(exact_cost(nearest, np.arange(len(ONE)), POSITIVE))


def test_instances_are_scored_by_their_distance():
    model = DiverseDensity().fit(ONE)
    expected = model.threshold_ - ((ONE.instances - model.concept_.center) ** 2 * model.concept_.scales**2).sum(axis=1)
    np.testing.assert_allclose(model.instance_scores(ONE), expected)
    np.testing.assert_allclose(model.decision_function(ONE), np.maximum.reduceat(expected, ONE.offsets[:-1]))


def test_more_starts_never_find_less_density():
    costs = [DiverseDensity(max_starts=starts).fit(BOTH).concept_.cost for starts in (1, 4, 16)]
    assert costs == sorted(costs, reverse=True)


def test_one_round_of_em_dd_is_no_better_than_many():
    assert EMDD(max_rounds=1).fit(BOTH).concept_.cost >= EMDD().fit(BOTH).concept_.cost


@pytest.mark.parametrize("method", [DiverseDensity, EMDD, DDSVM])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_starts": 0}, "max_starts .*at least 1"),
        ({"max_steps": 0}, "max_steps .*at least 1"),
        ({"init_scale": 0.0}, "init_scale .*above 0"),
    ],
)
def test_settings_of_climbs(method, settings, message):
    with pytest.raises(ParameterError, match=message):
        method(**settings).fit(ONE)


# ---------------------------------------------------------------------- DD-SVM


def test_bags_lie_where_their_nearest_instances_do():
    concepts = [Concept(np.array([0.5, 1.0]), np.array([1.0, 3.0]), 0.0), Concept(np.zeros(2), np.ones(2), 0.0)]
    slow = [[min(np.linalg.norm((x - c.center) * c.scales) for x in bag) for c in concepts] for bag in ONE]
    np.testing.assert_allclose(nearness(ONE, concepts), slow)


def test_only_dense_and_distinct_concepts_remain():
    def at(x, scale, cost):
        return Concept(np.array([x]), np.array([scale]), cost)

    concepts = [at(4.0, 1.0, 3.0), at(2.0, 2.0, 4.0), at(4.3, 1.0, 5.0), at(9.0, 1.0, 11.0), at(9.0, 1.0, 7.0)]
    # Densest first; 2 · 2 is the same place as 4 · 1; 4.3 differs by 7.5 %; 11 lies beyond the middle of 3 and 11.
    assert [c.cost for c in distinct_concepts(concepts, 0.05)] == [3.0, 5.0, 7.0]
    assert [c.cost for c in distinct_concepts(concepts, 0.1)] == [3.0, 7.0]


def test_both_classes_give_concepts():
    model = DDSVM(max_starts=3).fit(ONE)
    assert len(model.concepts_) == model.machine_.n_features_in_
    exchanged = DDSVM(max_starts=3).fit(ONE, 1 - ONE.labels)
    assert sorted(c.cost for c in exchanged.concepts_) == sorted(c.cost for c in model.concepts_)
    np.testing.assert_allclose(exchanged.decision_function(ONE), -model.decision_function(ONE), atol=1e-2)


def test_either_class_may_be_the_one_with_a_concept():
    test = make_two_concepts(20, 20, random_state=1)[np.r_[:20, 40:60]]
    for labels, wanted in ((ONE.labels, test.labels), (1 - ONE.labels, 1 - test.labels)):
        assert DDSVM(max_starts=5).fit(ONE, labels).score(test, wanted) > 0.8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": -1.0}, "C .*above 0"),
        ({"gamma": "auto"}, "gamma .*'scale' .*above 0"),
        ({"likeness": -0.1}, "likeness .*least 0"),
    ],
)
def test_settings_of_dd_svm(settings, message):
    with pytest.raises(ParameterError, match=message):
        DDSVM(**settings).fit(ONE)


# ---------------------------------------------------------------------- APR


def sides(points):
    return np.ptp(points, axis=0).sum()


def test_no_exchange_in_a_single_bag_makes_the_rectangle_smaller():
    rng = np.random.RandomState(5)
    for _ in range(10):
        bags = Bags.from_list([rng.uniform(size=(rng.randint(1, 6), 3)) for _ in range(7)])
        chosen = smallest_rectangle(bags)
        assert (bags.bag_index[chosen] == np.arange(7)).all()
        size = sides(bags.instances[chosen])
        for b, bag in enumerate(bags):
            for other in bag:
                points = bags.instances[chosen]
                points[b] = other
                assert sides(points) >= size - 1e-12


def test_the_smallest_rectangle_is_found_where_there_is_a_clear_one():
    rng = np.random.RandomState(6)
    near = rng.normal(0.0, 0.1, size=(5, 2))
    bags = Bags.from_list([np.vstack([rng.uniform(-5, 5, size=(2, 2)), point]) for point in near])
    best = min(sides(np.array(points)) for points in product(*bags))
    assert sides(bags.instances[smallest_rectangle(bags)]) == pytest.approx(best)


def slow_features(lower, upper, negatives, margin):
    left, taken = [list(x) for x in negatives], []
    while True:
        counts = []
        for f in range(len(lower)):
            count = 0
            for x in left:
                out = [max(low - v, v - high) for low, v, high in zip(lower, x, upper, strict=True)]
                count += out[f] > margin or (out[f] > 0 and out[f] == max(out))
            counts.append(count)
        if not max(counts, default=0):
            return sorted(taken)
        best = counts.index(max(counts))
        taken.append(best)
        kept = []
        for x in left:
            out = [max(low - v, v - high) for low, v, high in zip(lower, x, upper, strict=True)]
            if not (out[best] > margin or (out[best] > 0 and out[best] == max(out))):
                kept.append(x)
        left = kept


def test_features_are_chosen_as_in_a_slow_transcription():
    rng = np.random.RandomState(7)
    for _ in range(10):
        negatives = rng.normal(scale=2.0, size=(15, 5))
        found = discriminating_features(-np.ones(5), np.ones(5), negatives, 0.8)
        assert found.tolist() == slow_features(-np.ones(5), np.ones(5), negatives, 0.8)


def test_a_rectangle_that_holds_all_negatives_needs_no_feature():
    assert discriminating_features(np.zeros(2), np.ones(2), np.full((3, 2), 0.5), 0.1).tolist() == []


@pytest.mark.parametrize(("tau", "epsilon"), [(0.999, 0.01), (0.9, 0.2)])
def test_expanded_bounds_leave_the_wanted_share_outside(tau, epsilon):
    values = np.array([0.0, 0.2, 0.3, 2.0])
    low, high = expand(values, tau, epsilon)
    kernel = norm(values, 1.0 / norm.ppf((1 + tau) / 2))
    assert kernel.cdf(low).mean() == pytest.approx(epsilon / 2)
    assert kernel.sf(high).mean() == pytest.approx(epsilon / 2)
    assert low < 0.0
    assert high > 2.0


def test_bounds_never_move_inwards():
    values = np.linspace(0.0, 1.0, 1000)
    assert expand(values, 0.999, 0.5) == (0.0, 1.0)
    assert expand(np.full(3, 7.0), 0.999, 0.01) == (7.0, 7.0)


def test_only_features_that_shut_negatives_out_are_bounded():
    rng = np.random.RandomState(8)
    idle = ONE.map_instances(lambda x: np.column_stack([x, rng.uniform(0, 2, size=len(x)), np.ones(len(x))]))
    rectangle = APR().fit(idle).rectangle_
    assert {0, 1} <= set(rectangle.features) <= {0, 1, 2}
    assert (rectangle.lower[:2] < 0.5).all()
    assert (rectangle.upper[:2] > 0.5).all()
    model = APR().fit(ONE)
    assert model.rectangle_.features.tolist() == [0, 1]
    inside = [(x > model.rectangle_.lower).all() and (x < model.rectangle_.upper).all() for x in ONE.instances]
    np.testing.assert_array_equal(model.instance_scores(ONE) > 0, inside)


def test_every_positive_training_bag_is_inside():
    assert (APR().fit(ONE).predict(ONE[POSITIVE]) == 1).all()
    assert (APR(epsilon=0.999).fit(ONE).predict(ONE[POSITIVE]) == 1).all()  # the edge of a tight rectangle counts


def test_the_scale_of_features_does_not_matter_to_rectangles():
    stretched = ONE.map_instances(lambda x: x * [1000.0, 1e-3])
    np.testing.assert_allclose(APR().fit(stretched).decision_function(stretched), APR().fit(ONE).decision_function(ONE))


def test_a_feature_with_one_value_in_all_positive_bags():
    bags = [[[0.0, 1.0]], [[0.0, 2.0]], [[3.0, 1.5]], [[-2.0, 1.5]]]
    model = APR().fit(bags, [1, 1, 0, 0])
    assert model.predict([[[0.0, 1.5]], [[1e-9, 1.5]]]).tolist() == [1, 0]


def test_bags_that_are_all_alike():
    with pytest.raises(InputError, match="no rectangle"):
        APR().fit([[[1.0]], [[1.0]]], [0, 1])


def test_a_committee_of_rectangles_votes():
    model = BaggingAPR(7, random_state=0).fit(ONE)
    assert len(model.rectangles_) == 7
    inside = np.array([rectangle.depth(ONE.instances) > 0 for rectangle in model.rectangles_])
    votes = [inside[:, start:end].any(axis=1).mean() for start, end in zip(ONE.offsets, ONE.offsets[1:], strict=False)]
    np.testing.assert_allclose(model.decision_function(ONE), np.array(votes) - 0.5)
    np.testing.assert_allclose(model.instance_scores(ONE), inside.mean(axis=0) - 0.5)


def test_other_seeds_draw_other_samples():
    first, second = (BaggingAPR(3, random_state=seed).fit(ONE) for seed in (0, 1))
    assert (first.decision_function(ONE) != second.decision_function(ONE)).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau": 1.0}, "tau .*above 0 and below 1"),
        ({"epsilon": 0}, "epsilon .*above 0 and below 1"),
        ({"margin": -1.0}, "margin .*least 0"),
        ({"n_estimators": 0}, "n_estimators .*at least 1"),
    ],
)
def test_settings_of_rectangles(settings, message):
    with pytest.raises(ParameterError, match=message):
        BaggingAPR(**settings).fit(ONE)
