"""Refinement: moving the sets of chosen rules together with their conclusions, by gradient."""

from __future__ import annotations

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, log_softmax

from fuzzymil._utils.arrays import Array
from fuzzymil.learn.choose._premises import Premises

__all__ = ["mean_cost", "refined"]

_PULL = 0.01  # on sets, towards where they were chosen: half of this per squared move
_FARTHEST = 10.0  # of a move; a trial step without a bound may overflow


def mean_cost(output: Array, targets: Array, weights: Array, *, classes: bool) -> tuple[float, Array]:
    """Return the weighted mean of the cost, and its derivative (b, k).

    The cost is the cross-entropy of classes (one output for two, otherwise one per class), or half the squared error.
    """
    share = (weights / weights.sum())[:, None]
    if not classes:
        wrong = output - targets
        return float(0.5 * (share * np.square(wrong)).sum()), share * wrong
    if output.shape[1] == 1:
        cost = np.logaddexp(0.0, output) - targets * output
        return float((share * cost).sum()), share * (expit(output) - targets)
    log_likely = log_softmax(output, axis=1)
    return float(-(share * targets * log_likely).sum()), share * (np.exp(log_likely) - targets)


def refined(
    premises: Premises,
    default: Array,
    coefs: Array,
    targets: Array,
    weights: Array,
    *,
    penalty: float,
    classes: bool,
    steps: int = 40,
    move: bool = True,
) -> tuple[Array, Array, Array]:
    """Minimize the penalized cost over default, conclusions and sets.

    Conclusions keep their sign, so the penalty is smooth; a rule that is not needed ends at exactly 0.

    Parameters
    ----------
    premises : Premises
    default : array of shape (k,)
    coefs : array of shape (r, k)
    targets : array of shape (b, k)
    weights : array of shape (b,)
    penalty : float
        On the sum of absolute conclusions.
    classes : bool
        Whether targets are classes (see `mean_cost`).
    steps : int
        Most iterations.
    move : bool
        Whether the sets move, too.

    Returns
    -------
    default, coefs, moves : arrays
    """
    n_outputs, n_coefs = len(default), coefs.size
    n_moves = premises.n_moves if move else 0
    signs = np.sign(coefs)
    still = np.zeros(premises.n_moves)
    fixed = None if move else premises.evaluate(still)

    def objective(point: Array) -> tuple[float, Array]:
        level, weight, moves = np.split(point, [n_outputs, n_outputs + n_coefs])
        weight = weight.reshape(coefs.shape)
        truth, pullback = premises.evaluate(moves) if fixed is None else fixed
        cost, slope = mean_cost(level + truth @ weight, targets, weights, classes=classes)
        of_weight = truth.T @ slope + penalty * signs
        of_moves = pullback(slope @ weight.T) + _PULL * moves if move else moves
        value = cost + penalty * float(np.abs(weight).sum()) + 0.5 * _PULL * float(moves @ moves)
        return value, np.concatenate([slope.sum(axis=0), of_weight.ravel(), of_moves])

    start = np.concatenate([default, coefs.ravel(), np.zeros(n_moves)])
    least, greatest = np.full(len(start), -np.inf), np.full(len(start), np.inf)
    of_coefs = slice(n_outputs, n_outputs + n_coefs)
    least[of_coefs] = np.where(signs.ravel() < 0, -np.inf, 0.0)
    greatest[of_coefs] = np.where(signs.ravel() > 0, np.inf, 0.0)
    least[n_outputs + n_coefs :], greatest[n_outputs + n_coefs :] = -_FARTHEST, _FARTHEST
    bounds = list(zip(least.tolist(), greatest.tolist(), strict=True))
    # Unlike `minimize`, this does not convert thousands of bounds back and forth.
    found, _, _ = fmin_l_bfgs_b(objective, start, bounds=bounds, maxiter=steps)
    level, weight, moves = np.split(found, [n_outputs, n_outputs + n_coefs])
    return level, weight.reshape(coefs.shape), moves if move else still
