"""Citation-kNN and MILES against slow transcriptions, other implementations and certificates of optimality."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import directed_hausdorff

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.comparators import MILES, CitationKNN
from fuzzymil.comparators.citation_knn import hausdorff_distances
from fuzzymil.comparators.miles import bag_likeness, one_norm_machine
from fuzzymil.datasets import make_two_concepts

TRAIN, TEST = make_two_concepts(15, 20, random_state=0), make_two_concepts(15, 20, random_state=1)


# ---------------------------------------------------------------------- Hausdorff distances


def test_minimal_distance_is_that_of_the_nearest_pair():
    slow = [[min(np.linalg.norm(a - b) for a in bag for b in other) for other in TRAIN[:8]] for bag in TEST[:9]]
    np.testing.assert_allclose(hausdorff_distances(TEST[:9], TRAIN[:8]), slow, rtol=1e-12)


def test_maximal_distance_is_the_classical_one():
    def slow(bag, other):
        return max(directed_hausdorff(bag, other)[0], directed_hausdorff(other, bag)[0])

    expected = [[slow(bag, other) for other in TRAIN[:8]] for bag in TEST[:9]]
    np.testing.assert_allclose(hausdorff_distances(TEST[:9], TRAIN[:8], "maximal"), expected, rtol=1e-12)


@pytest.mark.parametrize("distance", ["minimal", "maximal"])
def test_pairs_of_the_same_bags_are_computed_once_and_mirrored(distance):
    once = hausdorff_distances(TRAIN, distance=distance)
    np.testing.assert_array_equal(once, hausdorff_distances(TRAIN, TRAIN, distance))


# ---------------------------------------------------------------------- Citation-kNN


def slow_votes(train, positive, bag, n_references, n_citers):
    """Positive and negative votes for a bag, counted place by place; no distances are equal here."""

    def between(one, other):
        return min(np.linalg.norm(a - b) for a in one for b in other)

    voters = sorted(range(len(train)), key=lambda c: between(bag, train[c]))[:n_references]
    for c in range(len(train)):
        nearer = sum(between(train[c], train[o]) < between(train[c], bag) for o in range(len(train)) if o != c)
        if nearer < n_citers:
            voters.append(c)
    return sum(positive[v] for v in voters), sum(not positive[v] for v in voters)


@pytest.mark.parametrize(("n_references", "n_citers"), [(2, 4), (1, 0), (3, 1)])
def test_votes_are_those_of_references_and_citers(n_references, n_citers):
    train = TRAIN[::4]
    model = CitationKNN(n_references, n_citers).fit(train)
    votes = [slow_votes(list(train), train.labels == 1, bag, n_references, n_citers) for bag in TEST[::5]]
    expected = [(p - n) / (p + n) for p, n in votes]
    np.testing.assert_allclose(model.decision_function(TEST[::5]), expected, atol=1e-12)


# java weka.classifiers.mi.CitationKNN -R 2 -C 4 -t train.arff -T test.arff -p 0 -distribution (Weka 3.6.14) on TRAIN
# and TEST: its probability of class 1. It scales features by their range, and adds 1/50 to the votes of each class.
WEKA = """
    0.713 0.252 0.555 0.993 0.445 0.571 0.993 0.748 0.599 0.5 0.5 0.666 0.5 0.5 0.998 0.5 0.599 0.5 0.666 0.169 0.615
    0.799 0.699 0.336 0.664 0.5 0.5 0.993 0.666 0.798 0.666 0.666 0.5 0.252 0.429 0.005 0.666 0.664 0.334 0.5 0.376
    0.995 0.5 0.401 0.5 0.252 0.599 0.571 0.713 0.202
"""


def test_shares_of_votes_are_those_of_weka():
    spans = np.ptp(TRAIN.instances, axis=0)
    model = CitationKNN(2, 4).fit(TRAIN.map_instances(lambda x: x / spans))
    decisions = model.decision_function(TEST.map_instances(lambda x: x / spans))
    weka = np.array([float(number) for number in WEKA.split()])
    # The smoothing draws shares towards a half, the more the fewer votes there are; 2 at least.
    assert (np.sign(decisions) == np.sign((weka - 0.5).round(3))).all()
    np.testing.assert_allclose((decisions + 1) / 2, weka, atol=0.5 / 51 + 0.0005)


def test_a_tie_is_negative():
    model = CitationKNN(1, 0).fit([[[0.0]], [[2.0]]], [0, 1])
    assert model.decision_function([[[1.0]]]).tolist() == [0.0]
    assert model.predict([[[1.0]], [[1.1]]]).tolist() == [0, 1]


def test_equally_near_bags_all_vote_whatever_their_order():
    bags, labels = [[[-1.0]], [[1.0]], [[1.0]], [[9.0]]], np.array([0, 1, 1, 0])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        model = CitationKNN(1, 0).fit([bags[b] for b in order], labels[order])
        assert model.decision_function([[[0.0]]])[0] == pytest.approx(1 / 3)


def test_more_neighbors_than_bags_means_all_of_them():
    model = CitationKNN(10, 10).fit([[[0.0]], [[1.0]], [[5.0]]], [0, 1, 1])
    assert model.decision_function([[[0.0]]])[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_references": 0}, "n_references .*at least 1"),
        ({"n_citers": -1}, "n_citers .*at least 0"),
        ({"distance": "minimum"}, "Did you mean 'minimal'"),
    ],
)
def test_settings_of_citation_knn(settings, message):
    with pytest.raises(ParameterError, match=message):
        CitationKNN(**settings).fit(TRAIN)


# ---------------------------------------------------------------------- MILES


def test_likeness_is_that_of_the_nearest_instance():
    prototypes = TRAIN.instances[:7]
    slow = [[max(np.exp(-0.8 * ((x - p) ** 2).sum()) for x in bag) for p in prototypes] for bag in TEST[:9]]
    np.testing.assert_allclose(bag_likeness(TEST[:9], prototypes, 0.8), slow, rtol=1e-10)


def objective(weights, intercept, rows, signs, C):
    return np.abs(weights).sum() + C * np.maximum(0, 1 - signs * (rows @ weights + intercept)).sum()


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_the_machine_is_optimal_by_duality(C):
    rng = np.random.RandomState(0)
    rows, positive = rng.uniform(size=(25, 40)), np.arange(25) % 3 == 0
    signs = np.where(positive, 1.0, -1.0)
    weights, intercept = one_norm_machine(rows, positive, C)
    # Any prices a of the rows with |rows' (a y)| <= 1, sum(a y) = 0 and 0 <= a <= C prove sum(a) as a lower bound.
    slopes = (rows * signs[:, None]).T
    dual = linprog(
        -np.ones(25), np.vstack([slopes, -slopes]), np.ones(80), signs[None], [0.0], bounds=(0, C), method="highs"
    )
    assert objective(weights, intercept, rows, signs, C) == pytest.approx(-dual.fun, rel=1e-7)


def test_a_single_pair_by_hand():
    # One column that differs by 0.5 between the classes: w = 2 / 0.5 makes both margins 1.
    weights, intercept = one_norm_machine(np.array([[1.0], [0.5]]), np.array([True, False]), 100.0)
    assert weights == pytest.approx([4.0])
    assert intercept == pytest.approx(-3.0)


def test_scores_of_instances_add_up_to_the_decision():
    model = MILES().fit(TRAIN)
    sums = np.add.reduceat(model.instance_scores(TEST), TEST.offsets[:-1])
    likeness = bag_likeness(TEST, model.prototypes_, model.gamma_)
    np.testing.assert_allclose(sums, likeness @ model.weights_, rtol=1e-9)
    np.testing.assert_allclose(sums + model.intercept_, model.decision_function(TEST), rtol=1e-9)


def test_equal_instances_share_their_part():
    model = MILES().fit(TRAIN)
    scores = model.instance_scores([TEST[0], np.repeat(TEST[0], 2, axis=0)])
    alone, doubled = scores[: len(TEST[0])], scores[len(TEST[0]) :]
    np.testing.assert_allclose(np.repeat(alone, 2) / 2, doubled, rtol=1e-12)


def test_few_training_instances_become_prototypes():
    model = MILES().fit(TRAIN)
    known = {tuple(x) for x in TRAIN.instances}
    assert all(tuple(x) in known for x in model.prototypes_)
    assert 0 < len(model.prototypes_) <= len(TRAIN)  # a vertex of the programme has no more than one a bag


def test_cheap_errors_leave_no_prototype_and_the_greater_class():
    bags = TRAIN[np.r_[0:10, 30:35]]
    model = MILES(C=1e-4).fit(bags)
    assert model.prototypes_.shape == (0, 2)
    assert model.predict(TEST).tolist() == [1] * len(TEST)
    assert model.instance_scores(TEST).tolist() == [0.0] * TEST.n_instances


def test_gamma_counts_in_the_unit_of_features():
    tenfold = MILES(gamma=0.02).fit(TRAIN.map_instances(lambda x: 10 * x))
    plain = MILES(gamma=2.0).fit(TRAIN)
    expected = plain.decision_function(TEST)
    np.testing.assert_allclose(tenfold.decision_function(TEST.map_instances(lambda x: 10 * x)), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"C": 0.0}, "C .*above 0"), ({"gamma": "auto"}, "gamma .*'scale' .*above 0")],
)
def test_settings_of_miles(settings, message):
    with pytest.raises(ParameterError, match=message):
        MILES(**settings).fit(TRAIN)


def test_bags_are_kept_with_their_ids():
    bags = Bags.from_list([[[0.0]], [[1.0]]], ids=["first", "second"], labels=["no", "yes"])
    assert CitationKNN(1, 0).fit(bags).bags_.ids.tolist() == ["first", "second"]
