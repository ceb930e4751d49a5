"""The search for conjunctions, against trying all of them."""

import itertools

import numpy as np
import pytest
from premises_to_try import random_bags

from fuzzymil import Bags
from fuzzymil.inference.membership import Bell, Sigmoid
from fuzzymil.learn.choose.candidates import premise_truths
from fuzzymil.learn.choose.conjunctions import Intervals, find_pairs


def gain(truth, residuals, curvature):
    """By how much a column with values 0 and 1 reduces a quadratic loss, next to a new default."""
    total = curvature.sum()
    slope = residuals - curvature * residuals.sum() / total
    spread = curvature @ truth - (curvature @ truth) ** 2 / total
    return (slope @ truth) ** 2 / max(spread, 0.02 * total)


def holds(bags, intervals, chosen):
    """Whether some instance of each bag lies in all chosen intervals, by a loop."""
    found = []
    for bag in bags:
        inside = False
        for row in bag:
            inside |= all(
                np.isnan(row[d]) or low < row[d] <= high for d, low, high in (intervals.intervals[n] for n in chosen)
            )
        found.append(float(inside))
    return np.array(found)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_best_pair_is_found(missing):
    bags = random_bags(0, n_bags=40, missing=missing)
    wanted = np.array([float(np.any((bag[:, 0] > 5) & (bag[:, 1] < 5))) for bag in bags])
    residuals = wanted - wanted.mean()
    curvature = np.full(40, wanted.mean() * (1 - wanted.mean()))
    intervals = Intervals(bags)
    n = len(intervals.intervals)
    by_pair = {
        pair: gain(holds(bags, intervals, pair), residuals, curvature)
        for pair in itertools.combinations(range(n), 2)
        if intervals.feature[pair[0]] != intervals.feature[pair[1]]
    }
    best = max(by_pair, key=by_pair.get)
    found = intervals.find(np.arange(bags.n_bags), residuals, curvature, max_conditions=2, beam=n, keep=5)
    assert len(found) == 5
    greatest = by_pair[best]
    gains = sorted(by_pair.values(), reverse=True)
    as_good = {intervals.premise(pair) for pair, value in by_pair.items() if value >= greatest * (1 - 1e-5)}
    assert found[0] in as_good
    top = {intervals.premise(pair) for pair, value in by_pair.items() if value >= gains[20] * (1 - 1e-5)}
    assert set(found) <= top


def test_conjunctions_are_longer_only_where_that_helps():
    bags = random_bags(1, n_bags=120)
    pair = np.array([float(np.any((bag[:, 0] > 5) & (bag[:, 1] < 4))) for bag in bags])
    triple = np.array([float(np.any((bag[:, 0] > 4) & (bag[:, 1] < 6) & (bag[:, 2] > 4))) for bag in bags])
    intervals = Intervals(bags)
    for wanted, length in ((pair, 2), (triple, 3)):
        curvature = np.full(len(wanted), wanted.mean() * (1 - wanted.mean()))
        (part,) = intervals.find(np.arange(bags.n_bags), wanted - wanted.mean(), curvature)[0]
        assert [condition.feature for condition in part.conditions] == [0, 1, 2][:length]
        short = intervals.find(np.arange(bags.n_bags), wanted - wanted.mean(), curvature, max_conditions=2)
        assert {len(part.conditions) for (part,) in short} == {2}
    alone = intervals.find(np.arange(bags.n_bags), pair - pair.mean(), np.ones(120), max_conditions=1)
    assert {type(condition.sets[0]) for (part,) in alone for condition in part.conditions} == {Bell}
    assert {len(part.conditions) for (part,) in alone} == {1}


def test_a_search_looks_at_the_bags_that_it_is_given():
    bags = random_bags(3, n_bags=80)
    wanted = np.array([float(np.any((bag[:, 0] > 5) & (bag[:, 1] < 4))) for bag in bags])
    rows = np.flatnonzero(np.arange(80) % 3)
    intervals = Intervals(bags)
    residuals = wanted[rows] - wanted[rows].mean()
    found = intervals.find(rows, residuals, np.ones(len(rows)))
    # The same as to look at all bags, of which the others count nothing; later ones nearly tie.
    padded, curvature = np.zeros(80), np.zeros(80)
    padded[rows], curvature[rows] = residuals, 1.0
    assert found[:3] == intervals.find(np.arange(80), padded, curvature)[:3]
    others = np.setdiff1d(np.arange(80), rows)
    assert found[:3] != intervals.find(others, -wanted[others] + wanted[others].mean(), np.ones(len(others)))[:3]


def test_sets_follow_their_intervals():
    bags = random_bags(2, n_bags=60)
    intervals = Intervals(bags)
    rows = np.array([row for bag in bags for row in bag])
    for n, (d, low, high) in enumerate(intervals.intervals):
        ((condition,),) = [part.conditions for part in intervals.premise((n,))]
        assert condition.feature == d
        assert isinstance(condition.sets[0], Bell if np.isfinite(low) and np.isfinite(high) else Sigmoid)
        assert np.array_equal(intervals.inside((n,)), (rows[:, d] > low) & (rows[:, d] <= high))
        assert np.array_equal(intervals.inside((n,)), condition.sets[0](rows[:, d]) > 0.5)


def test_no_value_lies_on_the_border_of_a_set():
    """A set of a feature with few values must not be half true."""
    instances = np.random.RandomState(0).randint(2, size=(60, 2)).astype(float)
    intervals = Intervals(Bags(instances, np.arange(0, 61, 3)))
    for n in range(len(intervals.intervals)):
        (condition,) = intervals.premise((n,))[0].conditions
        truth = condition.sets[0](instances[:, condition.feature])
        assert np.all(np.minimum(truth, 1 - truth) < 0.01)


def test_intervals_of_odd_features():
    rng = np.random.RandomState(0)
    instances = np.column_stack([rng.uniform(size=60), np.full(60, 2.0), np.full(60, np.nan), rng.randint(2, size=60)])
    intervals = Intervals(Bags(instances, np.arange(0, 61, 3)))
    assert set(intervals.feature) == {0, 3}  # those that vary
    two = [interval for interval in intervals.intervals if interval[0] == 3]
    assert two
    for _, low, high in two:  # no interval that holds all instances or none
        assert 0 < ((instances[:, 3] > low) & (instances[:, 3] <= high)).sum() < 60


def test_joint_statements_are_those_of_brute_force():
    rng = np.random.default_rng(4)
    columns = rng.random((60, 9)) > 0.5
    target = (columns[:, 2] & columns[:, 7]).astype(float)
    residuals = target - target.mean()
    curvature = np.full(60, target.mean() * (1 - target.mean()))
    assert find_pairs(columns.astype(float), residuals, curvature)[0] == (2, 7)

    def gain(column):
        centered = column - np.average(column, weights=curvature)
        return (residuals @ column) ** 2 / max(curvature @ centered**2, 0.02 * curvature.sum())

    found = find_pairs(columns.astype(float), residuals, curvature, keep=50)
    alone = [gain(column) for column in columns.T.astype(float)]
    pairs = {(a, b): gain((columns[:, a] & columns[:, b]).astype(float)) for a in range(9) for b in range(a + 1, 9)}
    worth = {pair for pair, value in pairs.items() if value > 1.1 * max(alone[pair[0]], alone[pair[1]])}
    assert set(found) == worth
    assert [pairs[pair] for pair in found] == sorted((pairs[pair] for pair in found), reverse=True)


def test_statements_that_say_the_same_are_not_joined():
    rng = np.random.default_rng(4)
    columns = (rng.random((60, 9)) > 0.5).astype(float)
    target = columns[:, 2] * columns[:, 7]
    residuals, curvature = target - target.mean(), np.full(60, 0.2)
    found = find_pairs(columns, residuals, curvature, differ=lambda one, two: (one, two) != (2, 7), keep=3)
    everything = find_pairs(columns, residuals, curvature, keep=4)
    assert found == [pair for pair in everything if pair != (2, 7)]
    assert len(found) == 3


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_of_very_many_instances_some_of_each_bag_are_looked_at(missing, monkeypatch):
    rng = np.random.default_rng(0)
    values = [rng.uniform(0, 10, (size, 4)) for size in (*[300] * 50, *[5] * 10)]
    for bag in values:
        bag[rng.random(bag.shape) < missing] = np.nan
    bags = Bags.from_list(values)
    every = Intervals(bags)
    assert every.n_sampled == every.n_instances == bags.n_instances
    monkeypatch.setattr("fuzzymil.learn.choose.conjunctions._MOST_CODES", 4 * 2_000)
    some = Intervals(bags)
    assert some.intervals == every.intervals
    assert 1_900 < some.n_sampled <= 2_000 < some.n_instances
    for n, (d, low, high) in enumerate(some.intervals):
        if np.isinf(low) or np.isinf(high):  # extremes are among them, so no bag loses what they satisfy
            column = bags.instances[:, d]
            column = np.where(np.isnan(column), column, (column > low) & (column <= high))
            known = np.fmax.reduceat(column, bags.offsets[:-1]) == 1
            looked_at = np.bincount(
                np.repeat(np.arange(60), np.minimum(bags.sizes, 39))[some.inside((n,))], minlength=60
            )
            assert (looked_at[known] > 0).all()


def test_truths_are_evaluated_some_bags_at_a_time(monkeypatch):
    bags = random_bags(3, n_bags=50, missing=0.1)
    intervals = Intervals(bags)
    premises = [intervals.premise((0, len(intervals.feature) - 1)), intervals.premise((5,), "at least", 2)]
    expected = premise_truths(premises, bags)
    for numbers in (1, 40, 100):
        monkeypatch.setattr("fuzzymil.learn.choose.candidates._NUMBERS_AT_ONCE", numbers)
        np.testing.assert_array_equal(premise_truths(premises, bags), expected)


def plant(rule, n_bags, sizes, n_features, seed, positive=0.5, noise=0.0):
    """Return bags of uniform values between 0 and 10, and which satisfy a rule; some labels are wrong."""
    rng = np.random.default_rng(seed)
    missing = {True: round(n_bags * positive), False: n_bags - round(n_bags * positive)}
    found = []
    while any(missing.values()):
        bag = rng.uniform(0, 10, (rng.integers(*sizes), n_features))
        label = bool(rule(*bag.T[:3]))
        if missing[label]:
            missing[label] -= 1
            found.append((bag, label))
    rng.shuffle(found)
    labels = np.array([label for _, label in found]) ^ (rng.random(n_bags) < noise)
    return Bags.from_list([bag for bag, _ in found]), labels.astype(float)


def count_of(least):
    return lambda a, b, c: ((a > 5) & (b < 6)).sum() >= least


PLANTED = {
    "at least 2": (count_of(2), 300, (4, 9), 10, {"noise": 0.05}),
    "at least 3": (count_of(3), 300, (6, 15), 10, {}),
    "at least 3, noisy": (count_of(3), 300, (6, 15), 10, {"noise": 0.1}),
    "at least 5": (count_of(5), 300, (10, 25), 10, {"noise": 0.1}),
    "on average": (lambda a, b, c: ((a > 5) & (b < 6)).mean() >= 0.3, 300, (5, 60), 10, {"noise": 0.05}),
    "some, 500": (
        lambda a, b, c: ((a > 8.9) & (b < 1.1) & (c > 3.3) & (c < 4.5)).any(), 200, (400, 600), 8, {},
    ),
    "some, 2000": (lambda a, b, c: ((a > 9.95) & (b > 9.95)).any(), 300, (2000, 2001), 4, {"positive": 0.05}),
    "at least 3, 100": (
        lambda a, b, c: ((a > 8.4) & (b < 1.6)).sum() >= 3, 300, (60, 140), 8, {"noise": 0.05},
    ),
}  # fmt: skip


LARGE = [name for name in PLANTED if PLANTED[name][2][0] > 50]


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        *((name, 10) for name in PLANTED if name not in LARGE),
        *((name, 1) for name in LARGE),
        *(pytest.param(name, 10, marks=pytest.mark.slow) for name in LARGE),
    ],
)
def test_what_is_planted_is_found(name, seeds):
    rule, n_bags, sizes, n_features, others = PLANTED[name]
    features = {0, 1, 2} if name == "some, 500" else {0, 1}
    quantifier = name.partition(",")[0]
    hits = 0
    for seed in range(seeds):
        bags, labels = plant(rule, n_bags, sizes, n_features, seed, **others)
        curvature = np.full(n_bags, labels.mean() * (1 - labels.mean()))
        found = Intervals(bags).find(np.arange(n_bags), labels - labels.mean(), curvature)
        hits += any(
            f"{part.quantifier} {part.number or ''}".strip() == quantifier
            and {condition.feature for condition in part.conditions} == features
            for (part,) in found
        )
    assert hits >= 0.8 * seeds
