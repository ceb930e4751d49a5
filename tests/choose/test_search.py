"""Forward search: fits are optima, the best columns are found, limits hold."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from fuzzymil.learn.choose.choose import decide, divide
from fuzzymil.learn.choose.search import constant, costs, residuals, search


def problem(seed=0, *, logistic, n=60, p=12, n_outputs=1):
    """Columns of which the first two decide, with weights from 1 to 3."""
    rng = np.random.RandomState(seed)
    columns = rng.uniform(size=(n, p))
    score = np.column_stack([4 * columns[:, k] - 3 * columns[:, k + 1] for k in range(n_outputs)])
    score += rng.normal(scale=0.7, size=score.shape)
    targets = (score > np.median(score, axis=0)).astype(float) if logistic else score
    return columns, targets, rng.randint(1, 4, size=n).astype(float)


def run(columns, targets, weights, *, logistic, sizes=(1, 2, 4), ridges=(0.01, 0.1), **settings):
    favor = np.ones(columns.shape[1])
    return search(columns, favor, targets, weights, sizes=sizes, ridges=ridges, logistic=logistic, **settings)


def objective(point, columns, target, weights, ridge, logistic):
    """Mean cost plus ridge on standardized coefficients, written as loops."""
    share = [weight / sum(weights) for weight in weights]
    total = 0.0
    for row, wanted, own in zip(columns, target, share, strict=True):
        output = point[0] + sum(a * b for a, b in zip(point[1:], row, strict=True))
        total += own * (np.log(1 + np.exp(output)) - wanted * output if logistic else (wanted - output) ** 2 / 2)
    for column, coef in zip(columns.T, point[1:], strict=True):
        mean = sum(own * value for own, value in zip(share, column, strict=True))
        variance = sum(own * (value - mean) ** 2 for own, value in zip(share, column, strict=True))
        total += ridge / 2 * coef**2 * variance
    return total


@pytest.mark.parametrize("logistic", [True, False])
def test_conclusions_minimize_the_penalized_cost(logistic):
    columns, targets, weights = problem(logistic=logistic)
    for (size, ridge), found in run(columns, targets, weights, logistic=logistic).items():
        used = columns[:, found.places]
        point = np.r_[found.default, found.coefs[:, 0]]
        reached = objective(point, used, targets[:, 0], weights, ridge, logistic)
        least = minimize(objective, point, args=(used, targets[:, 0], weights, ridge, logistic)).fun
        assert reached <= least + 1e-5, (size, ridge)
        assert len(found.places) == size


@pytest.mark.parametrize("logistic", [True, False])
def test_the_first_column_is_the_best_of_all(logistic):
    columns, targets, weights = problem(1, logistic=logistic)
    found = run(columns, targets, weights, logistic=logistic, sizes=(1,), ridges=(0.1,))[1, 0.1]
    least = [
        minimize(objective, np.zeros(2), args=(columns[:, [n]], targets[:, 0], weights, 0.1, logistic)).fun
        for n in range(columns.shape[1])
    ]
    assert found.places.tolist() == [int(np.argmin(least))]


@pytest.mark.parametrize("logistic", [True, False])
def test_the_columns_that_decide_are_found_together(logistic):
    columns, targets, weights = problem(2, logistic=logistic)
    assert set(run(columns, targets, weights, logistic=logistic)[2, 0.01].places) == {0, 1}


def test_sizes_contain_each_other():
    columns, targets, weights = problem(3, logistic=True, p=40)
    found = run(columns, targets, weights, logistic=True, sizes=(1, 3, 8, 20), ridges=(0.1,))
    for one, two in itertools.pairwise(sorted(found)):
        assert set(found[one].places) <= set(found[two].places)


def test_every_output_gets_what_it_needs():
    columns, targets, weights = problem(4, logistic=False, n_outputs=3, n=200)
    found = run(columns, targets, weights, logistic=False, sizes=(4,), ridges=(0.001,))[4, 0.001]
    assert set(found.places) == {0, 1, 2, 3}
    coefs = found.coefs[np.argsort(found.places)]
    for k in range(3):
        assert np.abs(coefs[k, k] - 4) < 0.6
        assert np.abs(coefs[k + 1, k] + 3) < 0.6


def test_many_are_added_at_once_without_twins():
    rng = np.random.RandomState(0)
    columns = rng.uniform(size=(300, 90))
    columns = np.hstack([columns, columns + rng.normal(scale=1e-3, size=columns.shape)])
    targets = (columns[:, :60].sum(axis=1) > 30).astype(float)[:, None]
    found = run(columns, targets, np.ones(300), logistic=True, sizes=(50, 80), ridges=(0.1,))
    assert len(found[80, 0.1].places) == 80
    new = found[80, 0.1].places[50:60] % 90
    assert len(set(new)) == 10


def test_columns_run_out():
    columns, targets, weights = problem(logistic=True, p=3)
    assert len(run(columns, targets, weights, logistic=True, sizes=(2, 9))[9, 0.1].places) == 3
    constant_columns = np.ones((60, 4))
    assert not len(run(constant_columns, targets, weights, logistic=True)[4, 0.1].places)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_signs_are_kept_under_every_ridge(n_outputs):
    columns, targets, weights = problem(logistic=True, n_outputs=n_outputs)
    signs = np.where(np.arange(12) % 2, 1, 0)  # the second column would be negative
    for found in run(
        columns, targets, weights, logistic=True, sizes=(3, 6), ridges=(1e-4, 0.1, 1.0), signs=signs
    ).values():
        assert np.all(found.coefs[found.places % 2 == 1] >= 0)
        assert found.coefs.any(axis=1).all()


def test_given_columns_are_in_every_sum():
    columns, targets, weights = problem(logistic=True)
    columns = np.hstack([np.ones((60, 1)), columns[:, 5:6], columns])  # one that says nothing, one that says little
    for (size, _), found in run(columns, targets, weights, logistic=True, sizes=(2, 4), n_given=2).items():
        assert len(found.places) == size
        if size:
            assert found.places[:2].tolist() == [0, 1]
            assert abs(found.coefs[0, 0]) < 1e-4
    assert {2, 3} <= {*found.places}


def test_favor_decides_between_equals():
    columns, targets, weights = problem(logistic=True)
    twice = np.hstack([columns, columns])
    favor = np.r_[np.full(12, 0.9), np.ones(12)]
    found = search(twice, favor, targets, weights, sizes=(2,), ridges=(0.1,), logistic=True)[2, 0.1]
    assert set(found.places) == {12, 13}


def test_a_weight_counts_as_that_many_repetitions():
    columns, targets, weights = problem(logistic=True)
    again = np.repeat(np.arange(60), weights.astype(int))
    by_weight = run(columns, targets, weights, logistic=True)[4, 0.1]
    repeated = run(columns[again], targets[again], np.ones(len(again)), logistic=True)[4, 0.1]
    np.testing.assert_allclose(by_weight.output(columns), repeated.output(columns), atol=1e-4)


@pytest.mark.parametrize("share", [0.003, 0.03, 0.97])
def test_a_rare_class_is_fitted(share):
    """Newton's method without control of its steps diverges here: the first goes ten times too far."""
    values = np.random.RandomState(0).uniform(size=2000)
    targets = (values > 1 - share).astype(float)[:, None]
    column = 1 / (1 + np.exp(-400 * (values[:, None] - (1 - share))))
    found = run(column, targets, np.ones(2000), logistic=True, sizes=(1,), ridges=(1e-4,))[1, 1e-4]
    assert np.isfinite(found.coefs).all()
    cost = costs(found.output(column), targets, logistic=True).mean()
    assert cost < 0.3 * costs(np.full((2000, 1), found.default), targets, logistic=True).mean()


def test_nothing_to_explain():
    for logistic in (True, False):
        columns = np.random.RandomState(0).uniform(size=(20, 3))
        found = run(columns, np.ones((20, 1)), np.ones(20), logistic=logistic)[1, 0.1]
        assert costs(found.output(columns), np.ones((20, 1)), logistic=logistic).max() < 1e-5
    assert constant(np.array([[0.0], [1.0], [1.0]]), np.ones(3), logistic=True) == pytest.approx(np.log(2))
    shares = constant(np.eye(3)[[0, 0, 1, 2]], np.ones(4), logistic=True)
    assert shares == pytest.approx(np.log([0.5, 0.25, 0.25]))


def test_costs_and_their_derivatives():
    output, target = np.linspace(-3, 3, 7), np.array([0, 1, 0, 1, 0, 1, 1.0])
    for logistic in (True, False):
        step = 1e-6
        up, down = (costs(output + change, target, logistic=logistic) for change in (step, -step))
        np.testing.assert_allclose((down - up) / (2 * step), residuals(output, target, logistic=logistic), atol=1e-8)
    assert costs(np.array([1000.0, -1000.0]), np.array([1.0, 0.0]), logistic=True) == pytest.approx([0, 0])


# ---------------------------------------------------------------------- how many


def spread(mean, n=100, scale=0.01, seed=0):
    return mean + scale * np.random.RandomState(seed).normal(size=n)


@pytest.mark.parametrize(
    ("means", "chosen"),
    [
        ({0: 0.69, 1: 0.3, 2: 0.1, 3: 0.1}, 2),  # as good as the best
        ({0: 0.69, 1: 0.69, 2: 0.7}, 0),  # none is better than none
        ({0: 0.69, 1: 0.3, 50: 0.2, 100: 0.1}, 100),  # many, clearly better
        ({0: 0.69, 1: 0.3, 50: 0.1, 100: 0.0999}, 50),
    ],
)
def test_the_fewest_rules_that_are_about_as_good_are_chosen(means, chosen):
    costs_of = {size: spread(mean, seed=size) for size, mean in means.items()}
    costs_of[0] = costs_of[0] if chosen else spread(means[0], seed=1)
    assert decide(costs_of, np.ones(100)) == chosen


def test_parts_have_every_class_and_keep_groups_together():
    strata, rng = np.repeat([0, 1], [140, 20]), np.random.RandomState(0)
    folds = divide(strata, 5, rng)
    assert [len(held) for _, held in folds] == [32] * 5
    assert all(strata[held].sum() == 4 for _, held in folds)
    assert len(divide(strata[100:150], 5, rng).parts) > 1  # few bags are divided several times
    groups = np.arange(160) // 4
    grouped = divide(strata, 5, rng, groups)
    assert all(not set(groups[rows]) & set(groups[held]) for rows, held in grouped)
    assert divide(np.array([0, 1] * 4), 5, rng) is None
