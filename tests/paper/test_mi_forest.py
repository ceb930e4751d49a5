"""MIForest against scikit-learn's forests, closed forms and drawn labels."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import entr
from sklearn.ensemble import ExtraTreesClassifier

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from paper.methods import MIForest
from paper.methods.mi_forest import tempered


def concept_bags(n_bags, seed):
    """Positive bags hold one or two instances close to (3, 3), and like all bags some around the origin."""
    rng = np.random.RandomState(seed)
    bags, truth, labels = [], [], np.arange(n_bags) % 2
    for label in labels:
        usual, telling = rng.randint(2, 5), label * rng.randint(1, 3)
        bags.append(np.concatenate([rng.normal(size=(usual, 2)), rng.normal(3.0, 0.2, size=(telling, 2))]))
        truth.append(np.arange(usual + telling) >= usual)
    packed = Bags.from_list(bags, labels=labels)
    return Bags(packed.instances, packed.offsets, labels=labels, instance_labels=np.concatenate(truth))


TRAIN, TEST = concept_bags(40, seed=1), concept_bags(60, seed=2)


# ---------------------------------------------------------------------- annealing


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("likely", [0.1, 0.5, 0.7])
def test_tempered_probabilities_have_the_least_free_energy(likely, temperature):
    def free_energy(p):
        return -p * np.log(likely) - (1 - p) * np.log(1 - likely) - temperature * (entr(p) + entr(1 - p))

    best = minimize_scalar(free_energy, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}).x
    assert tempered(np.array([likely]), temperature)[0] == pytest.approx(best, abs=1e-6)


def test_certain_probabilities_stay_certain():
    np.testing.assert_array_equal(tempered(np.array([0.0, 1.0]), 5.0), [0.0, 1.0])


def test_each_tree_learns_from_labels_of_its_own():
    rows = np.arange(6.0)[:, None]
    likely = np.array([0.0, 0.2, 0.5, 0.9, 1.0, 0.0])
    forest = MIForest(300, min_samples_leaf=1)._grown(rows, likely, np.random.RandomState(0))
    votes = np.array([tree.predict_proba(rows)[:, 1] for tree in forest.estimators_])
    assert set(np.unique(votes)) == {0.0, 1.0}
    np.testing.assert_allclose(votes.mean(axis=0), likely, atol=0.09)  # three standard deviations
    np.testing.assert_array_equal(votes.mean(axis=0)[[0, 4, 5]], [0.0, 1.0, 0.0])
    together = np.corrcoef(votes[:, 1], votes[:, 2])[0, 1]
    assert abs(together) < 0.18  # labels are drawn one by one


def test_bags_of_one_instance_keep_their_labels():
    rng = np.random.RandomState(4)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2))  # no structure at all: what is known, is known by heart
    scores = MIForest(30, min_samples_leaf=1, random_state=0).fit(X, y).instance_scores(X)
    np.testing.assert_array_equal(scores, y - 0.5)


def test_every_positive_bag_keeps_a_witness():
    model = MIForest(30, min_samples_leaf=1, random_state=0).fit(TRAIN)
    np.testing.assert_array_equal(model.predict(TRAIN), TRAIN.labels)
    assert (model.instance_scores(TRAIN)[np.repeat(TRAIN.labels, TRAIN.sizes) == 0] == -0.5).all()


def test_annealing_finds_the_instances_that_the_bags_labels_hide():
    model = MIForest(random_state=0).fit(TRAIN)
    naive = ExtraTreesClassifier(50, min_samples_leaf=2, random_state=0)
    naive.fit(TRAIN.instances, np.repeat(TRAIN.labels, TRAIN.sizes))
    found = (model.instance_scores(TEST) > 0) == TEST.instance_labels
    found_naively = (naive.predict(TEST.instances) == 1) == TEST.instance_labels
    assert found.mean() > 0.97
    assert found_naively.mean() < 0.9
    assert model.score(TEST) > 0.95


def test_the_decision_is_the_greatest_probability_less_a_half():
    model = MIForest(10, random_state=0).fit(TRAIN)
    slow = [model.forest_.predict_proba(bag)[:, 1].max() - 0.5 for bag in TEST]
    np.testing.assert_allclose(model.decision_function(TEST), slow, atol=1e-12)
    assert len(model.forest_.estimators_) == 10


def test_another_seed_is_another_forest():
    first, second = (MIForest(5, random_state=seed).fit(TRAIN).decision_function(TEST) for seed in (0, 1))
    assert (first != second).any()


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MIForest(0), "n_estimators .*at least 1"),
        (MIForest(min_samples_leaf=0), "min_samples_leaf .*at least 1"),
        (MIForest(min_temperature=-1.0), "min_temperature .*above 0"),
        (MIForest(max_temperature=0.01), "max_temperature .*least 0.1"),
        (MIForest(n_temperatures=1.5), "n_temperatures .*at least 1"),
    ],
    ids=["trees", "leaves", "cold", "hot", "steps"],
)
def test_settings_that_cannot_be(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(TRAIN)
