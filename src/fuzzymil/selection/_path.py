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

__all__ = ["Fit", "costs", "greatest_penalty", "residuals", "solutions"]

_NEWTON_STEPS = 8
_SWEEPS = 30  # of coordinate descent in a Newton step, which is warm-started
_MOST_JOINING = 200  # columns at once
_ROUNDS = 50  # of joining; inexact steps could go in circles
_TOLERANCE = 0.01  # relative, of the conditions that a solution fulfills
_BAGS_PER_COLUMN = 1.5  # above which coordinate descent works on the inner products of columns
_CONVERGED = 0.01  # largest change of a coefficient in a Newton step, relative to the largest coefficient
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


def solutions(
    columns: Array, target: Array, weights: Array, penalties: Iterable[float], *, logistic: bool
) -> Iterator[Fit]:
    """Yield the minimizer of ``mean cost + penalty * sum(abs(coefs))`` for each penalty, greatest first.

    Parameters
    ----------
    columns : array of shape (b, p)
        In Fortran order, for speed.
    target : array of shape (b,)
        0 or 1 if ``logistic``.
    weights : array of shape (b,)
    penalties : iterable of float
        Descending.
    """
    share = weights / weights.sum()
    mean = float(share @ target)
    default = float(logit(np.clip(mean, 1e-6, 1 - 1e-6))) if logistic else mean
    coefs = np.zeros(columns.shape[1])
    output = np.full(len(target), default)
    solved = np.inf
    for penalty in penalties:
        for _ in range(_ROUNDS):
            # Only columns that would improve the fit join; coordinate descent over all of them would take far longer.
            slopes = np.abs((share * residuals(output, target, logistic=logistic)) @ columns)
            joining = np.flatnonzero((slopes > penalty * (1 + _TOLERANCE) + 1e-12) & (coefs == 0))
            if not len(joining) and solved == penalty:
                break
            joining = joining[np.argsort(-slopes[joining], kind="stable")[:_MOST_JOINING]]
            chosen = np.union1d(np.flatnonzero(coefs), joining)
            part = columns[:, chosen]
            default, coefs[chosen] = _newton(part, target, share, penalty, default, coefs[chosen], logistic=logistic)
            output = default + part @ coefs[chosen]
            stuck = solved == penalty and not np.any(coefs[joining])
            solved = penalty
            if stuck:
                break
        yield Fit(default, coefs.copy())


def _newton(
    columns: Array, target: Array, share: Array, penalty: float, default: float, coefs: Array, *, logistic: bool
) -> tuple[float, Array]:
    """Return default and coefficients after Newton steps, each of which solves a weighted lasso."""
    n_steps = _NEWTON_STEPS if logistic else 1
    # Checking the parameters of each small problem would take longer than solving it; one that has not converged is
    # continued by the next step.
    with config_context(skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(n_steps):
            output = default + columns @ coefs
            curvature, wanted = np.ones_like(output), target
            if logistic:
                likely = expit(output)
                curvature = np.maximum(likely * (1 - likely), _LEAST_CURVATURE)
                wanted = output + (target - likely) / curvature
            weight = share * curvature
            total = weight.sum()
            middle, level = weight @ columns / total, weight @ wanted / total
            moved = coefs
            if columns.shape[1]:
                root = np.sqrt(weight / total * len(target))
                scaled = np.asfortranarray((columns - middle) * root[:, None])
                wished = (wanted - level) * root
                moved = _lasso(scaled, wished, penalty / total, coefs)
            change, coefs = float(np.abs(moved - coefs).max(initial=0.0)), moved
            before, default = default, float(level - middle @ coefs)
            if max(change, abs(default - before)) <= _CONVERGED * max(1.0, float(np.abs(coefs).max(initial=0.0))):
                break
    return default, coefs


def _lasso(columns: Array, target: Array, penalty: float, start: Array) -> Array:
    """Return the coefficients that minimize half the mean squared error plus the penalty."""
    # With far more bags than columns, coordinate descent on their inner products is several times faster.
    products = columns.T @ columns if len(columns) > _BAGS_PER_COLUMN * columns.shape[1] else False
    _, path, _ = enet_path(
        columns,
        target,
        l1_ratio=1.0,
        alphas=[penalty],
        coef_init=start,
        precompute=products,
        Xy=None if products is False else columns.T @ target,
        tol=1e-4,
        max_iter=_SWEEPS,
        check_input=False,
    )
    return np.asarray(path[:, 0])
