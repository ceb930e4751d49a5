"""Jang's problems (1993), with rules that share bell sets as his do, against the errors that he prints."""

from itertools import product

import numpy as np

from fuzzymil import RuleBase, Training, train_rules


def grid(X, n):
    """Rules on the n lines of each input, from end to end, with bells that cross at one half."""
    lines = [np.linspace(low, high, n) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True)]
    centers = np.array(list(product(*lines)))
    widths = np.tile([(line[1] - line[0]) / 2 for line in lines], (len(centers), 1))
    sets, masks = {"bell": (centers, widths, np.full(centers.shape, 2.0))}, {"bell": np.ones(centers.shape)}
    return RuleBase.from_sets(sets, masks, np.zeros((len(centers), 1, 1 + X.shape[1])))


def three_inputs(lines):
    X = np.array(list(product(lines, repeat=3)))
    return X, (1 + X[:, 0] ** 0.5 + 1 / X[:, 1] + X[:, 2] ** -1.5) ** 2


def mackey_glass():
    """The series at whole times, by the Runge-Kutta method with steps of 0.1."""
    step, lag, n = 0.1, 170, 12_000
    x = np.zeros(n + 1)
    x[0] = 1.2

    def slope(now, then):
        return 0.2 * then / (1 + then**10) - 0.1 * now

    for k in range(n):
        before, after = (x[k - lag + m] if k >= lag - m else 0.0 for m in (0, 1))
        first = slope(x[k], before)
        second = slope(x[k] + step / 2 * first, (before + after) / 2)
        third = slope(x[k] + step / 2 * second, (before + after) / 2)
        x[k + 1] = x[k] + step / 6 * (first + 2 * second + 2 * third + slope(x[k] + step * third, after))
    series, times = x[::10], np.arange(118, 1118)
    return np.column_stack([series[times - lag] for lag in (18, 12, 6, 0)]), series[times + 6]


def trained(rules, X, y):
    training = Training(optimizer="hybrid", max_epochs=500, clip=None)
    return train_rules(rules, X, y, task="regression", training=training, random_state=0)


def test_the_function_of_three_inputs():
    data = [three_inputs(np.arange(1.0, 7.0)), three_inputs(np.arange(1.5, 6.0))]
    rules = trained(grid(data[0][0], 2), *data[0])
    errors = [100 * np.mean(np.abs(rules.infer(X).output[:, 0] / y - 1)) for X, y in data]
    assert errors[0] < 0.043
    assert errors[1] < 1.066


def test_the_mackey_glass_series():
    X, y = mackey_glass()
    rules = trained(grid(X[:500], 2), X[:500], y[:500])
    errors = np.square(rules.infer(X).output[:, 0] - y)
    assert np.sqrt(errors[:500].mean()) < 0.0016
    assert np.sqrt(errors[500:].mean()) < 0.003


def test_the_sinc_of_two_inputs():
    X = np.array(list(product(np.linspace(-10, 10, 11), repeat=2)))
    y = np.sinc(X / np.pi).prod(axis=1)
    errors = trained(grid(X, 4), X, y).infer(X).output[:, 0] - y
    assert np.sqrt(np.mean(np.square(errors))) < 0.05
