"""MI-SVM, mi-SVM and ALP-SVM against scikit-learn's SVC, closed forms and slow transcriptions."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import entr, expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags.statistics import bag_means
from fuzzymil.comparators import MISVM, MiSVM
from fuzzymil.comparators.svm import witnesses
from paper.methods import ALPSVM
from paper.methods.alp_svm import hinge_evidence, label_probabilities
from paper.methods.annealing import cooling

EACH = [MISVM, MiSVM, ALPSVM]


def concept_bags(n_bags, seed):
    """Positive bags hold one to three instances close to (2, 2), and like all bags some around the origin."""
    rng = np.random.RandomState(seed)
    bags, truth, labels = [], [], np.arange(n_bags) % 2
    for label in labels:
        usual, telling = rng.randint(1, 4), label * rng.randint(1, 4)
        rows = np.concatenate([rng.normal(size=(usual, 2)), rng.normal(2.5, 0.3, size=(telling, 2))])
        order = np.lexsort(rows.T[::-1])  # the order that estimators give them, so that transcriptions see the same
        bags.append(rows[order])
        truth.append((np.arange(len(rows)) >= usual)[order])
    packed = Bags.from_list(bags, labels=labels)
    return Bags(packed.instances, packed.offsets, labels=labels, instance_labels=np.concatenate(truth))


TRAIN, TEST = concept_bags(40, seed=1), concept_bags(60, seed=2)


# ---------------------------------------------------------------------- parts


def test_witnesses_are_the_instances_with_the_greatest_score():
    scores = np.random.RandomState(0).normal(size=TRAIN.n_instances)
    parts = np.split(scores, TRAIN.offsets[1:-1])
    slow = [start + np.argmax(part) for start, part in zip(TRAIN.offsets[:-1], parts, strict=True)]
    assert witnesses(scores, TRAIN).tolist() == slow


def test_means_of_bags():
    np.testing.assert_allclose(bag_means(TRAIN), [bag.mean(axis=0) for bag in TRAIN], rtol=1e-14)


def test_evidence_is_the_difference_of_hinge_losses():
    scores = np.linspace(-3, 3, 25)
    losses = [[max(0.0, 1 - label * score) for score in scores] for label in (-1, 1)]
    np.testing.assert_allclose(hinge_evidence(scores), np.subtract(*losses))


def test_probabilities_have_the_least_free_energy():
    bags = Bags.from_list([np.zeros((4, 1)), np.zeros((3, 1))])
    evidence = np.array([1.0, -2.0, -3.0, 0.5, 4.0, -1.0, 2.0])
    least = np.array([3.2, 1.0])  # the first bag falls short of it by itself, the second does not

    def free_energy(p):
        return -(p @ evidence) - (entr(p) + entr(1 - p)).sum()

    enough = [{"type": "ineq", "fun": lambda p, b=b: p[bags.bag_index == b].sum() - least[b]} for b in (0, 1)]
    best = minimize(free_energy, np.full(7, 0.8), bounds=[(1e-9, 1 - 1e-9)] * 7, constraints=enough, tol=1e-12)
    found = label_probabilities(evidence, bags, least)
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    assert found[:4].sum() == pytest.approx(3.2, rel=1e-12)
    np.testing.assert_allclose(found[4:], expit(evidence[4:]), rtol=1e-12)


@pytest.mark.parametrize("evidence", [-1e6, 0.0, 1e6], ids=["against", "none", "for"])
def test_a_bag_whose_every_label_must_be_positive(evidence):
    bags = Bags.from_list([np.zeros((1, 1)), np.zeros((3, 1))])
    found = label_probabilities(np.full(4, evidence), bags, np.array([1.0, 3.0]))
    np.testing.assert_array_equal(found, 1.0)


def test_strong_evidence_against_all_leaves_the_least_share():
    found = label_probabilities(np.array([-1e5, -1e5 - 3.0]), Bags.from_list([np.zeros((2, 1))]), np.array([1.0]))
    assert found.sum() == pytest.approx(1.0)
    assert np.log(found[0] / (1 - found[0])) == pytest.approx(1.5, rel=1e-6)  # of 3 apart, half to each side


def test_cooling_by_one_step_is_where_it_begins():
    np.testing.assert_allclose(cooling(3.0, 0.5, 1), [3.0])


# ---------------------------------------------------------------------- bags of one instance are plain classification


@pytest.mark.parametrize("method", EACH, ids=lambda method: method.__name__)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_bags_of_one_instance_give_the_plain_machine(method, kernel):
    rng = np.random.RandomState(3)
    y = np.repeat([1, 0], [25, 35])
    X = rng.normal(1.5 * y[:, None], 1.0, size=(60, 3))
    T = rng.normal(size=(40, 3))
    model = method(C=2.0, kernel=kernel, gamma=0.3).fit(X, y)
    plain = SVC(C=2.0, kernel=kernel, gamma=0.3).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(T), plain.decision_function(T))
    np.testing.assert_array_equal(model.instance_scores(T), plain.decision_function(T))


def test_the_scale_of_the_kernel_is_that_of_scikit_learn_on_standardized_features():
    rng = np.random.RandomState(4)
    X = rng.normal(size=(50, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X[:, 0] > 0).astype(int)
    np.testing.assert_allclose(MiSVM().fit(X, y).decision_function(X), SVC().fit(X, y).decision_function(X), atol=1e-9)


# ---------------------------------------------------------------------- slow transcriptions


def slow_bag_machine(bags, labels, **settings):
    """MI-SVM bag by bag; a positive bag's witness stands where the bag stands."""
    standing = [bag.mean(axis=0) for bag in bags]
    chosen = None
    while True:
        rows = [[standing[b]] if labels[b] else list(bag) for b, bag in enumerate(bags)]
        signs = [[1] if labels[b] else [0] * len(bag) for b, bag in enumerate(bags)]
        machine = SVC(**settings).fit(np.concatenate(rows), np.concatenate(signs))
        best = [int(np.argmax(machine.decision_function(bag))) for bag in bags]
        if best == chosen:
            return machine
        chosen = best
        standing = [bag[best[b]] for b, bag in enumerate(bags)]


def slow_instance_machine(bags, labels, **settings):
    """mi-SVM bag by bag."""
    guesses = [np.full(len(bag), labels[b]) for b, bag in enumerate(bags)]
    while True:
        machine = SVC(**settings).fit(np.concatenate(list(bags)), np.concatenate(guesses))
        before, guesses = guesses, []
        for b, bag in enumerate(bags):
            scores = machine.decision_function(bag)
            guess = (scores > 0).astype(int) * labels[b]
            if labels[b] and not guess.any():
                guess[np.argmax(scores)] = 1
            guesses.append(guess)
        if all((old == new).all() for old, new in zip(before, guesses, strict=True)):
            return machine


@pytest.mark.parametrize(
    ("method", "slow"), [(MISVM, slow_bag_machine), (MiSVM, slow_instance_machine)], ids=["MI-SVM", "mi-SVM"]
)
@pytest.mark.parametrize(
    "settings",
    [
        {"C": 1.0, "kernel": "rbf", "gamma": 0.5},
        {"C": 1.0, "kernel": "linear", "gamma": 1.0},
        {"C": 0.5, "kernel": "rbf", "gamma": 0.5, "balanced": True},
    ],
    ids=["rbf", "linear", "balanced"],
)
def test_a_slow_transcription_ends_with_the_same_machine(method, slow, settings):
    model = method(**settings).fit(TRAIN)
    assert model.n_iter_ > 1
    plain = {key: value for key, value in settings.items() if key != "balanced"}
    weight = "balanced" if "balanced" in settings else None
    expected = slow(list(TRAIN), TRAIN.labels, class_weight=weight, **plain).decision_function(TEST.instances)
    np.testing.assert_allclose(model.instance_scores(TEST), expected, atol=1e-9)
    bag_scores = [part.max() for part in np.split(expected, TEST.offsets[1:-1])]
    np.testing.assert_allclose(model.decision_function(TEST), bag_scores, atol=1e-9)


def test_a_share_of_one_takes_the_labels_of_the_bags():
    first, rest = TRAIN[TRAIN.labels == 1], TRAIN[TRAIN.labels == 0]  # in the order in which they are fitted
    model = ALPSVM(C=2.0, gamma=0.5, share=1.0).fit(first + rest)
    rows = np.concatenate([first.instances, rest.instances])
    naive = SVC(C=2.0, gamma=0.5).fit(rows, np.arange(len(rows)) < first.n_instances)
    np.testing.assert_allclose(model.instance_scores(TEST), naive.decision_function(TEST.instances), atol=1e-9)


def test_annealing_is_a_weighted_machine_in_turn_with_probabilities():
    share, temperatures = 0.75, cooling(2.0, 0.5, 3)
    model = ALPSVM(gamma=0.5, share=share, max_temperature=2.0, min_temperature=0.5, n_temperatures=3, max_iter=1)
    model.fit(TRAIN)
    positive = TRAIN[TRAIN.labels == 1]
    negative = TRAIN[TRAIN.labels == 0].instances
    likely = np.concatenate([np.full(n, max(share, 1 / n)) for n in positive.sizes])
    for temperature in temperatures:
        rows = np.concatenate([positive.instances, positive.instances, negative])
        signs = np.repeat([1, -1, -1], [positive.n_instances, positive.n_instances, len(negative)])
        weights = np.concatenate([likely, 1 - likely, np.ones(len(negative))])
        machine = SVC(gamma=0.5).fit(rows[weights > 0], signs[weights > 0], sample_weight=weights[weights > 0])
        loss = [np.maximum(0, 1 - sign * machine.decision_function(positive.instances)) for sign in (1, -1)]
        likely = label_probabilities(
            (loss[1] - loss[0]) / temperature, positive, np.maximum(1.0, share * positive.sizes)
        )
    assert model.n_iter_ == 3
    np.testing.assert_allclose(model.instance_scores(TEST), machine.decision_function(TEST.instances), atol=1e-6)


# ---------------------------------------------------------------------- what they find


@pytest.mark.parametrize("method", [MISVM, MiSVM], ids=["MI-SVM", "mi-SVM"])
def test_the_widest_margin_by_hand(method):
    # Witnesses at 2 against a nearest negative at 0: the score is the line through (2, 1) and (0, -1).
    bags = [[[2.0], [-3.0]], [[-4.0], [2.0]], [[0.0], [-1.0], [-3.5]], [[-2.0], [-4.0], [-5.0]]]
    model = method(C=100.0, kernel="linear").fit(bags, [1, 1, 0, 0])
    np.testing.assert_allclose(model.instance_scores([[[2.0], [1.0]], [[0.0]]]), [1.0, 0.0, -1.0], atol=1e-2)


@pytest.mark.parametrize("method", EACH, ids=lambda method: method.__name__)
def test_instances_of_the_concept_are_found(method):
    scores = method().fit(TRAIN).instance_scores(TEST)
    assert ((scores > 0) == TEST.instance_labels).mean() > 0.9


def test_annealing_without_a_share_calls_few_instances_positive():
    few, enough = (ALPSVM(share=share).fit(TRAIN).instance_scores(TRAIN) > 0 for share in (0.0, 0.7))
    assert few.sum() < enough.sum()


def test_guesses_that_still_change_are_told():
    for method in (MISVM, MiSVM):
        with pytest.warns(ConvergenceWarning, match=f"{method.__name__} .*max_iter=1"):
            method(gamma=0.5, max_iter=1).fit(TRAIN)
        settled = method(gamma=0.5).fit(TRAIN).n_iter_
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert method(gamma=0.5, max_iter=settled).fit(TRAIN).n_iter_ == settled


def test_guesses_that_go_round_are_left(monkeypatch):
    class Seesaw(SVC):
        """Scores that turn round with every fit."""

        fits = 0

        def fit(self, X, y):
            Seesaw.fits += 1
            return super().fit(X, y)

        def decision_function(self, X):
            return X[:, 0] * (-1) ** Seesaw.fits

    monkeypatch.setattr("fuzzymil.comparators.svm.SVC", Seesaw)
    bags = [[[1.0], [-2.0]], [[0.5], [-0.5]], [[3.0], [-3.0]]]
    for method in (MISVM, MiSVM):
        assert method().fit(bags, [1, 1, 0]).n_iter_ == 3


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize("method", EACH, ids=lambda method: method.__name__)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C .*above 0"),
        ({"kernel": "poly"}, "kernel.*'poly'.*rbf, linear"),
        ({"gamma": "auto"}, "gamma .*'scale' .*above 0, got 'auto'"),
        ({"gamma": -1.0}, "gamma .*above 0"),
        ({"max_iter": 0}, "max_iter .*at least 1"),
    ],
    ids=["C", "kernel", "gamma-word", "gamma", "max_iter"],
)
def test_settings_that_cannot_be(method, settings, message):
    with pytest.raises(ParameterError, match=message):
        method(**settings).fit(TRAIN)


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        (MISVM, {"balanced": "yes"}, "balanced .*True or False.* got 'yes'"),
        (MiSVM, {"balanced": None}, "balanced .*True or False.* got None"),
        (ALPSVM, {"share": 1.5}, "share .*least 0 and at most 1"),
        (ALPSVM, {"min_temperature": 0.0}, "min_temperature .*above 0"),
        (ALPSVM, {"max_temperature": 0.1}, "max_temperature .*least 0.25"),
        (ALPSVM, {"n_temperatures": 0}, "n_temperatures .*at least 1"),
    ],
    ids=["balanced", "no choice", "share", "cold", "hot", "steps"],
)
def test_settings_of_their_own_that_cannot_be(method, settings, message):
    with pytest.raises(ParameterError, match=message):
        method(**settings).fit(TRAIN)
