"""Planted problems: loops that share nothing with the generator find the same labels and the same witnesses."""

import math

import numpy as np
import pytest

from fuzzymil import ParameterError
from fuzzymil.datasets import PLANTED, make_planted

POINT = {"A": 3, "B": 7, "C": 5, "D": 6, "E": 4, "F": 7, "G": 3, "H": 5}


def near_the_point(row):
    return math.dist([row[name] for name in POINT], list(POINT.values())) <= 2


# For each kind, whether an instance counts, and what the counted instances must be for the bag to be positive.
COUNTED = {
    "some": lambda row: row["A"] > 9,
    "pair": lambda row: row["A"] > 7 and 3 < row["B"] < 5,
    "either": lambda row: row["A"] > 9 or row["B"] > 9,
    "both": lambda row: row["A"] > 8.5 or row["B"] > 8.5,
    "count": lambda row: row["A"] > 6.5,
    "most": lambda row: row["A"] > 5,
    "unless": lambda row: row["A"] > 8,
    "triple": lambda row: row["A"] > 6 and row["B"] < 4 and 3 < row["C"] < 8,
    "prototype": near_the_point,
}


def positive(kind, rows):
    n = sum(COUNTED[kind](row) for row in rows) if kind in COUNTED else 0
    if kind == "both":
        return max(row["A"] for row in rows) > 8.5 and max(row["B"] for row in rows) > 8.5
    if kind == "count":
        return n >= 3
    if kind == "most":
        return 2 * n > len(rows)
    if kind == "size":
        return len(rows) >= 8
    if kind == "all":
        return max(row["B"] for row in rows) < 8.5
    if kind == "unless":
        return n > 0 and max(row["B"] for row in rows) <= 9
    return n > 0


@pytest.mark.parametrize("kind", sorted(set(PLANTED) - {"shift"}))
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_and_witnesses_follow_the_truth(kind, seed):
    bags = make_planted(kind, 80, 3, random_state=seed)
    assert np.bincount(bags.labels).tolist() == [40, 40]
    assert 0 <= bags.instances.min() < 0.1
    assert 9.9 < bags.instances.max() <= 10
    truth = np.split(bags.instance_labels, bags.offsets[1:-1])
    for bag, label, witnesses in zip(bags, bags.labels, truth, strict=True):
        rows = [dict(zip(bags.feature_names, values, strict=True)) for values in bag]
        assert positive(kind, rows) == label
        found = [int(label and kind in COUNTED and COUNTED[kind](row)) for row in rows]
        assert witnesses.tolist() == found
        assert not label or kind not in COUNTED or any(found)


@pytest.mark.parametrize("kind", PLANTED)
def test_features_and_sizes(kind):
    problem = PLANTED[kind]
    bags = make_planted(kind, 200, random_state=0)
    assert bags.feature_names == (*problem.columns, *(f"noise{n}" for n in range(1, 21)))
    assert set(problem.features) <= set(problem.columns)
    assert (bags.sizes.min(), bags.sizes.max()) == problem.sizes == ((3, 12) if kind == "size" else (4, 10))
    noise = bags.instances[:, len(problem.columns) :]
    per_class = [noise[np.repeat(bags.labels, bags.sizes) == label].mean(axis=0) for label in (0, 1)]
    assert np.abs(np.subtract(*per_class)).max() < 1  # about 3.5 standard errors


def test_the_classes_are_mixed():
    labels = make_planted("all", 200, random_state=0).labels  # positive bags are drawn more rarely
    assert 0.35 < labels[150:].mean() < 0.65


def test_shift_moves_all_instances_and_cannot_be_decided_perfectly():
    bags = make_planted("shift", 8000, 0, random_state=0)
    of_instance = np.repeat(bags.labels, bags.sizes)
    for label, means in ((0, [5, 5]), (1, [6, 4])):
        own = bags.instances[of_instance == label]
        np.testing.assert_allclose(own.mean(axis=0), means, atol=0.05)
        np.testing.assert_allclose(own.std(axis=0), 1.5, atol=0.05)
    assert not bags.instance_labels.any()
    # The likelihood ratio grows with the sum of A - B - 1; it is right with probability Phi(sqrt(n / 2) / 1.5).
    decided = np.array([(bag[:, 0] - bag[:, 1]).mean() > 1 for bag in bags])
    best = np.mean([0.5 * math.erfc(-math.sqrt(n / 2) / 1.5 / math.sqrt(2)) for n in range(4, 11)])
    assert best == pytest.approx(0.8876, abs=1e-4)
    assert np.mean(decided == bags.labels) == pytest.approx(best, abs=0.012)


def test_each_feature_of_the_prototype_alone_tells_almost_nothing():
    bags = make_planted("prototype", 3000, 0, random_state=0)
    for over in (np.minimum, np.maximum, np.add):
        of_bags = over.reduceat(bags.instances, bags.offsets[:-1]) / (bags.sizes[:, None] if over is np.add else 1)
        for column in of_bags.T:
            ranks = np.argsort(np.argsort(column))
            area = (ranks[bags.labels == 1].mean() - 749.5) / 1500
            assert abs(area - 0.5) < 0.12


def test_numbers_and_seeds():
    bags = make_planted("some", 7, 0, random_state=3)
    assert (len(bags), bags.labels.sum(), bags.n_features) == (7, 3, 2)
    np.testing.assert_array_equal(bags.instances, make_planted("some", 7, 0, random_state=3).instances)
    state = np.random.RandomState(3)
    np.testing.assert_array_equal(bags.instances, make_planted("some", 7, 0, random_state=state).instances)
    assert not np.array_equal(make_planted("some", 7, 0, random_state=state).instances[:5], bags.instances[:5])


def test_mistakes_are_named():
    with pytest.raises(ParameterError, match=r"'pairs'.*some.*Did you mean 'pair'"):
        make_planted("pairs")
    with pytest.raises(ParameterError, match=r"n_bags.*2.*1"):
        make_planted("pair", 1)
    with pytest.raises(ParameterError, match=r"n_noise.*0.*-1"):
        make_planted("pair", 10, -1)
