"""Penalized regression: which columns explain the targets, from the strongest penalty to the weakest.

The loss is squared or logistic, the penalty is L1. Each step is a proximal Newton method: a weighted lasso, solved by
scikit-learn's coordinate descent on the columns that matter, and warm-started.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from fuzzymil._utils.arrays import Array

_NEWTON_STEPS = 8  # at full length
_MOST_STEPS = 40
_HALVINGS = 12
_SWEEPS = 30  # of coordinate descent in a Newton step, which is warm-started
_MOST_JOINING = 200  # columns at once
_ROUNDS = 50  # of joining; inexact steps could go in circles
_TOLERANCE = 0.01  # relative, of the conditions that a solution fulfills
_MANY_BAGS, _BAGS_PER_COLUMN = 1000, 10  # above both, coordinate descent works on the inner products of columns
_CONVERGED = 3e-4  # by which a Newton step lowers the cost, relative to it
_LEAST_CURVATURE = 1e-3  # of the logistic loss, where a bag is explained perfectly


class Fit(NamedTuple):
    """A linear model of columns."""

    default: float
    coefs: Array  # (p,)

    def predict(self, columns: Array) -> Array:
        """Return the output (b,) for columns (b, p)."""
        used = np.flatnonzero(self.coefs)
        return np.asarray(self.default + columns[:, used] @ self.coefs[used])


def costs(output: Array, target: Array, *, logistic: bool) -> Array:
    """Return the cost of each bag: its logistic loss for targets 0 and 1, or half its squared error."""
    if logistic:
        return np.asarray(np.logaddexp(0.0, output) - target * output)
    return np.asarray(0.5 * np.square(target - output))


def residuals(output: Array, target: Array, *, logistic: bool) -> Array:
    """Return the negative derivative of `costs` with respect to the output."""
    return np.asarray(target - (expit(output) if logistic else output))


def greatest_penalty(columns: Array, target: Array, weights: Array) -> float:
    """Return the least penalty with which no column is used."""
    share = weights / weights.sum()
    return float(np.abs((share * (target - share @ target)) @ columns).max(initial=0.0))


def strength_order(columns: Array, coefs: Array, weights: Array) -> Array:
    """Return the order of columns by how much they move the output, with coefficients (p, k)."""
    mean = np.average(columns, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(columns - mean), axis=0, weights=weights))
    return np.argsort(-(np.abs(coefs).sum(axis=1) * spread), kind="stable")


def fit_path(
    columns: Array, target: Array, weights: Array, penalties: Iterable[float], *, logistic: bool
) -> Iterator[Fit]:
    """Yield the minimizer of ``mean cost + penalty * sum(abs(coefs))`` for each penalty, greatest first.

    Shapes: ``weights`` (b,). ``columns`` (b, p): in Fortran order, for speed. ``target`` (b,): 0 or 1 if ``logistic``.
    ``penalties``: descending.
    """
    share = weights / weights.sum()
    mean = float(share @ target)
    default = float(logit(np.clip(mean, 1e-6, 1 - 1e-6))) if logistic else mean
    coefs = np.zeros(columns.shape[1])
    output = np.full(len(target), default)
    slopes = _slopes(columns, output, target, share, logistic=logistic)
    solved = np.inf
    for penalty in penalties:
        # Checking the parameters of each small problem would take longer than solving it; one that has not converged
        # is continued by the next step.
        with config_context(skip_parameter_validation=True), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for _ in range(_ROUNDS):
                # Only columns that would improve the fit join; coordinate descent over all of them would take far
                # longer.
                used = coefs != 0
                joining = np.flatnonzero((slopes > penalty * (1 + _TOLERANCE) + 1e-12) & ~used)
                if not len(joining) and solved == penalty:
                    break
                if len(joining) > _MOST_JOINING:
                    joining = joining[np.argsort(-slopes[joining], kind="stable")[:_MOST_JOINING]]
                used[joining] = True
                chosen = np.flatnonzero(used)
                part = columns[:, chosen]
                default, coefs[chosen], output = _newton(
                    part, target, share, penalty, default, coefs[chosen], output, logistic=logistic
                )
                slopes = _slopes(columns, output, target, share, logistic=logistic)
                stuck = solved == penalty and not np.any(coefs[joining])
                solved = penalty
                if stuck:
                    break
        yield Fit(default, coefs.copy())


def _slopes(columns: Array, output: Array, target: Array, share: Array, *, logistic: bool) -> Array:
    """Return how fast the mean cost changes with the coefficient of each column, up or down."""
    return np.asarray(np.abs((share * residuals(output, target, logistic=logistic)) @ columns))


def _newton(
    columns: Array,
    target: Array,
    share: Array,
    penalty: float,
    default: float,
    coefs: Array,
    output: Array,
    *,
    logistic: bool,
) -> tuple[float, Array, Array]:
    """Return default, coefficients and output after Newton steps, each of which solves a weighted lasso."""
    if not logistic:
        default, coefs = _step(columns, target, share, penalty, coefs)
        return default, coefs, default + columns @ coefs
    cost = _penalized(output, target, share, penalty, coefs)
    n_steps = 0
    for _ in range(_MOST_STEPS):
        likely = expit(output)
        curvature = np.maximum(likely * (1 - likely), _LEAST_CURVATURE)
        wanted = output + (target - likely) / curvature
        new_default, new_coefs = _step(columns, wanted, share * curvature, penalty, coefs)
        # Where one class is rare, a whole step would go too far, and the next one even further.
        size = 1.0
        for _ in range(_HALVINGS):
            moved, level = coefs + size * (new_coefs - coefs), default + size * (new_default - default)
            new_output = level + columns @ moved
            new_cost = _penalized(new_output, target, share, penalty, moved)
            if new_cost <= cost + 1e-9 * abs(cost):
                break
            size /= 2
        else:
            break
        done = cost - new_cost <= _CONVERGED * cost
        default, coefs, output, cost = level, moved, new_output, new_cost
        n_steps += size == 1.0
        if done or n_steps == _NEWTON_STEPS:
            break
    return default, coefs, output


def _penalized(output: Array, target: Array, share: Array, penalty: float, coefs: Array) -> float:
    return float(share @ costs(output, target, logistic=True) + penalty * np.abs(coefs).sum())


def _step(columns: Array, wanted: Array, weight: Array, penalty: float, coefs: Array) -> tuple[float, Array]:
    """Return default and coefficients of the lasso with these targets and weights."""
    total = weight.sum()
    middle, level = weight @ columns / total, weight @ wanted / total
    if columns.shape[1]:
        root = np.sqrt(weight / total * len(wanted))
        scaled = np.asfortranarray((columns - middle) * root[:, None])
        coefs = _lasso(scaled, (wanted - level) * root, penalty / total, coefs)
    return float(level - middle @ coefs), coefs


def _lasso(columns: Array, target: Array, penalty: float, start: Array) -> Array:
    """Return the coefficients that minimize half the mean squared error plus the penalty."""
    # With many bags and few columns, coordinate descent on their inner products is several times faster.
    many = len(columns) > max(_MANY_BAGS, _BAGS_PER_COLUMN * columns.shape[1])
    products = columns.T @ columns if many else False
    _, path, _ = enet_path(
        columns,
        target,
        l1_ratio=1.0,
        alphas=[penalty],
        coef_init=start.copy(),  # which is overwritten
        precompute=products,
        Xy=None if products is False else columns.T @ target,
        tol=1e-4,
        max_iter=_SWEEPS,
        check_input=False,
    )
    return np.asarray(path[:, 0])
