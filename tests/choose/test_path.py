"""Penalized fits, against other solvers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from fuzzymil.learn.choose.path import costs, fit_path, greatest_penalty, residuals


def problem(seed, *, logistic, n=60, p=25):
    rng = np.random.RandomState(seed)
    columns = np.asfortranarray(rng.uniform(size=(n, p)))
    score = 4 * columns[:, 0] - 3 * columns[:, 1] + rng.normal(scale=0.7, size=n)
    target = (score > np.median(score)).astype(float) if logistic else score
    return columns, target, rng.randint(1, 4, size=n).astype(float)


def objective(default, coefs, columns, target, weights, penalty, *, logistic):
    """The loss, written as a loop."""
    total = 0.0
    for row, wanted, weight in zip(columns, target, weights, strict=True):
        output = default + sum(row * coefs)
        cost = np.log(1 + np.exp(output)) - wanted * output if logistic else (wanted - output) ** 2 / 2
        total += weight * cost
    return total / sum(weights) + penalty * sum(abs(coefs))


def logistic_optimum(columns, target, weights, penalty):
    """Return the least objective, found by splitting coefficients into positive and negative parts."""
    n_columns, share = columns.shape[1], weights / weights.sum()

    def smooth(point):
        coefs = point[1 : n_columns + 1] - point[n_columns + 1 :]
        output = point[0] + columns @ coefs
        wrong = share * (1 / (1 + np.exp(-output)) - target)
        slopes = columns.T @ wrong
        value = share @ (np.logaddexp(0, output) - target * output) + penalty * point[1:].sum()
        return value, np.concatenate([[wrong.sum()], slopes + penalty, penalty - slopes])

    bounds = [(None, None)] + [(0, None)] * (2 * n_columns)
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-10}
    found = minimize(smooth, np.zeros(2 * n_columns + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.fun


@pytest.mark.parametrize("seed", range(2))
def test_logistic_fits_reach_the_least_objective(seed):
    columns, target, weights = problem(seed, logistic=True)
    penalties = greatest_penalty(columns, target, weights) * np.geomspace(1, 0.01, 5)
    fits = list(fit_path(columns, target, weights, penalties, logistic=True))
    for penalty, fit in zip(penalties, fits, strict=True):
        least = logistic_optimum(columns, target, weights, penalty)
        reached = objective(fit.default, fit.coefs, columns, target, weights, penalty, logistic=True)
        # Solutions are approximate: at most 0.5 % of what can be explained is missing.
        assert least - 1e-9 <= reached <= least + 0.005 * (np.log(2) - least)


@pytest.mark.parametrize("share", [0.003, 0.01, 0.03, 0.97])
def test_a_rare_class_is_fitted_as_exactly(share):
    """Newton's method without control of its steps diverges here: the first goes ten times too far."""
    rng = np.random.RandomState(0)
    values = rng.uniform(size=2000)
    target = (values > 1 - share).astype(float)
    limits = np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9, 1 - share])
    columns = np.asfortranarray(1 / (1 + np.exp(-np.array([5, 5, 5, 5, 5, 400]) * (values[:, None] - limits))))
    weights = np.ones(len(target))
    penalties = greatest_penalty(columns, target, weights) * np.geomspace(1, 0.05, 5)
    null = logistic_optimum(columns, target, weights, 10.0)
    for penalty, fit in zip(penalties, fit_path(columns, target, weights, penalties, logistic=True), strict=True):
        least = logistic_optimum(columns, target, weights, penalty)
        reached = objective(fit.default, fit.coefs, columns, target, weights, penalty, logistic=True)
        assert least - 1e-9 <= reached <= least + 0.005 * null


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_fits_are_those_of_scikit_learn(seed):
    columns, target, weights = problem(seed, logistic=False)
    penalties = greatest_penalty(columns, target, weights) * np.geomspace(1, 0.01, 6)
    for penalty, fit in zip(penalties, fit_path(columns, target, weights, penalties, logistic=False), strict=True):
        reference = Lasso(alpha=penalty, tol=1e-10, max_iter=100_000).fit(columns, target, sample_weight=weights)
        least = objective(reference.intercept_, reference.coef_, columns, target, weights, penalty, logistic=False)
        reached = objective(fit.default, fit.coefs, columns, target, weights, penalty, logistic=False)
        assert least - 1e-9 <= reached <= 1.002 * least
        np.testing.assert_allclose(fit.predict(columns), reference.predict(columns), atol=0.05)


@pytest.mark.parametrize("logistic", [True, False])
def test_fits_fulfill_the_conditions_of_an_optimum(logistic):
    columns, target, weights = problem(7, logistic=logistic)
    share = weights / weights.sum()
    penalties = greatest_penalty(columns, target, weights) * np.array([0.7, 0.3, 0.1])
    for penalty, fit in zip(penalties, fit_path(columns, target, weights, penalties, logistic=logistic), strict=True):
        left = share * residuals(fit.predict(columns), target, logistic=logistic)
        slopes = left @ columns
        used = fit.coefs != 0
        assert used.any()
        assert not used.all()
        assert abs(left.sum()) < 0.02 * penalty
        assert np.all(np.abs(slopes[~used]) <= 1.03 * penalty)
        np.testing.assert_allclose(slopes[used], penalty * np.sign(fit.coefs[used]), rtol=0.05)


@pytest.mark.parametrize("logistic", [True, False])
def test_no_column_is_used_from_the_greatest_penalty_on(logistic):
    columns, target, weights = problem(1, logistic=logistic)
    greatest = greatest_penalty(columns, target, weights)
    above, below = fit_path(columns, target, weights, [greatest, 0.9 * greatest], logistic=logistic)
    assert not above.coefs.any()
    assert below.coefs.any()
    mean = np.average(target, weights=weights)
    assert above.default == pytest.approx(np.log(mean / (1 - mean)) if logistic else mean, abs=1e-6)


@pytest.mark.parametrize("logistic", [True, False])
def test_a_weight_counts_as_that_many_repetitions(logistic):
    columns, target, weights = problem(2, logistic=logistic)
    again = np.repeat(np.arange(len(target)), weights.astype(int))
    ones = np.ones(len(again))
    penalties = greatest_penalty(columns, target, weights) * np.array([0.5, 0.2])
    assert greatest_penalty(columns[again], target[again], ones) == pytest.approx(penalties[0] / 0.5)
    by_weight = fit_path(columns, target, weights, penalties, logistic=logistic)
    repeated = fit_path(np.asfortranarray(columns[again]), target[again], ones, penalties, logistic=logistic)
    for one, other in zip(by_weight, repeated, strict=True):
        np.testing.assert_allclose(one.predict(columns), other.predict(columns), atol=1e-6)


def test_equal_columns_and_separable_targets_end():
    rng = np.random.RandomState(0)
    column = rng.uniform(size=(40, 1))
    columns = np.asfortranarray(np.tile(column, (1, 300)))  # more than join at once
    target = (column[:, 0] > 0.5).astype(float)
    *_, fit = fit_path(columns, target, np.ones(40), 0.25 * np.geomspace(1, 1e-4, 12), logistic=True)
    assert np.all(np.isfinite(fit.coefs))
    assert np.all((fit.predict(columns) > 0) == (target > 0))


def test_nothing_to_explain():
    columns = np.asfortranarray(np.random.RandomState(0).uniform(size=(20, 3)))
    for logistic in (True, False):
        (fit,) = fit_path(columns, np.ones(20), np.ones(20), [0.0], logistic=logistic)
        assert not fit.coefs.any()
        none = np.empty((20, 0))
        assert greatest_penalty(none, np.arange(20) % 2.0, np.ones(20)) == 0
        (fit,) = fit_path(none, np.arange(20) % 2.0, np.ones(20), [0.1], logistic=logistic)
        assert fit.predict(none) == pytest.approx(np.full(20, 0.0 if logistic else 0.5), abs=1e-6)


def test_costs_and_their_derivatives():
    output, target = np.linspace(-3, 3, 7), np.array([0, 1, 0, 1, 0, 1, 1.0])
    for logistic in (True, False):
        step = 1e-6
        up, down = (costs(output + change, target, logistic=logistic) for change in (step, -step))
        np.testing.assert_allclose((down - up) / (2 * step), residuals(output, target, logistic=logistic), atol=1e-8)
    assert costs(np.array([1000.0, -1000.0]), np.array([1.0, 0.0]), logistic=True) == pytest.approx([0, 0])
