"""The paper's two-concept data, and that MI-ANFIS finds the concepts in it."""

import numpy as np
import pytest

from fuzzymil import MIANFISClassifier
from fuzzymil.datasets import CONCEPTS, make_two_concepts
from fuzzymil.estimators import network_parameters

SIGMA = 0.2


def distances(bags):
    return np.linalg.norm(bags.instances[:, None] - CONCEPTS, axis=2)


@pytest.mark.parametrize("seed", range(5))
def test_the_recipe(seed):
    bags = make_two_concepts(random_state=seed)
    assert len(bags) == 150
    assert bags.sizes.min() >= 2
    assert bags.sizes.max() <= 10
    assert bags.labels.tolist() == [1] * 100 + [0] * 50
    assert (bags.instances >= 0).all()
    assert (bags.instances <= 2).all()
    apart, truth = distances(bags), bags.instance_labels
    for concept in (1, 2):
        assert (apart[truth == concept, concept - 1] <= SIGMA).all()
        assert (truth == concept).any()
    assert (apart[truth == 0] >= 1.5 * SIGMA).all()
    for b in range(len(bags)):
        inside = truth[bags.offsets[b] : bags.offsets[b + 1]]
        concept = (1 if b < 50 else 2) if b < 100 else 0
        assert set(inside) <= {0, concept}
        if concept:
            assert (inside == concept).any()
        else:
            assert not inside.any()
    assert str(bags.ids[0]) == "concept1-1"
    assert str(bags.ids[50]) == "concept2-1"
    assert str(bags.ids[149]) == "negative-50"
    assert len(set(bags.ids.tolist())) == 150


def test_sizes_and_places_are_spread_evenly():
    bags = make_two_concepts(1000, 1000, random_state=0)
    counts = np.bincount(bags.sizes)[2:]
    assert len(counts) == 9
    assert counts.min() > 250  # of 333 on average
    inside = distances(bags)[bags.instance_labels == 1, 0]
    assert abs(np.mean(inside <= SIGMA / np.sqrt(2)) - 0.5) < 0.05  # uniform over the disc: half of it by area
    elsewhere = bags.instances[bags.instance_labels == 0]
    np.testing.assert_allclose(elsewhere.mean(axis=0), 1, atol=0.03)


def test_the_witness_is_anywhere_in_its_bag():
    bags = make_two_concepts(300, 1, min_size=4, max_size=4, random_state=0)
    place = [np.flatnonzero(bags.instance_labels[o : o + 4])[0] for o in bags.offsets[:600]]
    assert np.bincount(place).min() > 90


def test_settings_and_seeds():
    bags = make_two_concepts(3, 4, sigma=0.1, min_size=1, max_size=3, random_state=1)
    assert len(bags) == 10
    assert set(bags.sizes.tolist()) <= {1, 2, 3}
    assert (distances(bags)[bags.instance_labels == 2, 1] <= 0.1).all()
    again = make_two_concepts(3, 4, sigma=0.1, min_size=1, max_size=3, random_state=1)
    np.testing.assert_array_equal(bags.instances, again.instances)
    other = make_two_concepts(3, 4, sigma=0.1, min_size=1, max_size=3, random_state=2)
    assert bags.instances.shape != other.instances.shape or not np.array_equal(bags.instances, other.instances)
    state = np.random.RandomState(1)
    np.testing.assert_array_equal(
        make_two_concepts(3, 4, sigma=0.1, min_size=1, max_size=3, random_state=state).instances, bags.instances
    )
    assert len(make_two_concepts(0, 2, random_state=0)) == 2
    assert len(make_two_concepts(2, 0, random_state=0)) == 4


def found(rules):
    """Which concepts have a rule that says yes with its center inside."""
    high = rules.coefs[:, 0, 0] >= 0.5
    near = np.linalg.norm(rules.centers[:, None] - CONCEPTS, axis=2) <= SIGMA
    return (near & high[:, None]).any(axis=0)


def test_mi_anfis_finds_both_concepts():
    accuracy, both, low = [], [], []
    for seed in range(5):
        train = make_two_concepts(random_state=seed)
        unseen = make_two_concepts(167, 166, random_state=1000 + seed)
        settings = {"init": "random", "init_bags": "all", "alpha": 5.0, "n_init": 4}
        model = MIANFISClassifier(6, **network_parameters(random_state=seed, **settings)).fit(train)
        accuracy.append(model.score(unseen, unseen.labels))
        both.append(found(model.rules_).all())
        # Rules away from the concepts speak against, or at least not for, a positive bag.
        away = np.linalg.norm(model.rules_.centers[:, None] - CONCEPTS, axis=2).min(axis=1) > 2 * SIGMA
        low.append((model.rules_.coefs[away, 0, 0] < 0.5).mean() if away.any() else 1.0)
    assert np.median(accuracy) >= 0.95, accuracy
    assert all(both), both
    assert np.mean(low) > 0.8, low
