"""From chosen candidates to good rules: moving sets and conclusions by gradient, and sharing sets that are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, log_softmax

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.inference.movable import Movable
from fuzzymil.learn.choose.candidates import Condition, Premise
from fuzzymil.rules.editing.comparison import similarities

_ONE_SET = 0.95  # similarity above which two sets of a feature become one

_PULL = 0.01  # on sets, towards where they were chosen: half of this per squared move
_LEAST_VARIANCE = 0.05**2  # of a premise over the bags; see `search`
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


def move_sets(
    premises: Movable,
    default: Array,
    coefs: Array,
    targets: Array,
    weights: Array,
    *,
    ridge: float,
    classes: bool,
    steps: int = 40,
    signs: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Minimize the penalized cost over default, conclusions and sets; conclusions of 0 stay 0.

    Shapes: ``default`` (k,), ``coefs`` (r, k), ``targets`` (b, k), ``weights`` (b,). ``ridge``: half of it is on the
    squared conclusions, each times the variance of its premise, as in `search`. ``classes``: whether targets are
    classes (see `mean_cost`). ``steps``: maximum number of iterations. ``signs`` (r,): of the conclusions, 0 for any.
    """
    n_outputs, n_coefs = len(default), coefs.size
    still = premises.evaluate(np.zeros(premises.n_moves))[0]
    share = weights / weights.sum()
    variance = np.maximum(share @ np.square(still) - np.square(share @ still), _LEAST_VARIANCE)
    penalty = ridge * np.broadcast_to(variance[:, None], coefs.shape)

    def objective(point: Array) -> tuple[float, Array]:
        level, weight, moves = np.split(point, [n_outputs, n_outputs + n_coefs])
        weight = weight.reshape(coefs.shape)
        truth, pullback = premises.evaluate(moves)
        cost, slope = mean_cost(level + truth @ weight, targets, weights, classes=classes)
        of_weight = truth.T @ slope + penalty * weight
        of_moves = pullback(slope @ weight.T) + _PULL * moves
        value = cost + 0.5 * float((penalty * np.square(weight)).sum()) + 0.5 * _PULL * float(moves @ moves)
        return value, np.concatenate([slope.sum(axis=0), of_weight.ravel(), of_moves])

    start = np.concatenate([default, coefs.ravel(), np.zeros(premises.n_moves)])
    free = np.where(coefs != 0, np.inf, 0.0)
    own = (np.zeros(len(coefs)) if signs is None else signs)[:, None]
    far = np.full(premises.n_moves, _FARTHEST)
    low, high = (
        np.concatenate([np.full(n_outputs, np.inf), np.where(own == barred, 0.0, free).ravel(), far])
        for barred in (1, -1)
    )
    # Unlike `minimize`, this does not convert thousands of bounds back and forth.
    found, _, _ = fmin_l_bfgs_b(
        objective, start, bounds=list(zip((-low).tolist(), high.tolist(), strict=True)), maxiter=steps
    )
    level, weight, moves = np.split(found, [n_outputs, n_outputs + n_coefs])
    return level, weight.reshape(coefs.shape), moves


# ---------------------------------------------------------------------- what says nearly the same


def share_sets(premises: Sequence[Premise], bags: Bags) -> list[Premise]:
    """Return premises in which sets of a feature that are nearly equal are one, so that they have one name.

    Premises that only such sets tell apart keep them: what lies between is what they are about.

    ``bags``: the sets are compared over the range of their values.
    """
    found = list(premises)
    sets: dict[int, dict[MembershipFunction, None]] = {}
    for condition in (each for premise in premises for part in premise for each in part.conditions):
        if not condition.is_crisp:
            sets.setdefault(condition.feature, {})[condition.sets[0]] = None
    for feature, own in sets.items():
        for alike in _nearly_equal(list(own), bags.instances[:, feature]) if len(own) > 1 else ():
            one = _mean_set(
                alike[0], np.array([each.parameters for each in alike]), np.full(len(alike), 1 / len(alike))
            )
            shared = [_with_one_set(premise, feature, alike, one) for premise in found]
            if len(set(shared)) == len(set(found)):
                found = shared
    return found


def _nearly_equal(sets: list[MembershipFunction], values: Array) -> list[list[MembershipFunction]]:
    """Return the sets, of several in a group, that are all nearly equal."""
    known = values[~np.isnan(values)]
    alike = similarities(sets, float(known.min()), float(known.max())) > _ONE_SET
    groups: list[list[int]] = []
    for n in range(len(sets)):
        group = next((members for members in groups if alike[n, members].all()), None)
        if group is None:
            groups.append([n])
        else:
            group.append(n)
    return [[sets[n] for n in members] for members in groups if len(members) > 1]


def _with_one_set(
    premise: Premise, feature: int, alike: Sequence[MembershipFunction], one: MembershipFunction
) -> Premise:
    def of(condition: Condition) -> Condition:
        meant = condition.feature == feature and not condition.is_crisp and condition.sets[0] in alike
        return condition.with_set(one) if meant else condition

    return tuple(part._replace(conditions=tuple(map(of, part.conditions))) for part in premise)


def _mean_set(like: MembershipFunction, sets: Array, share: Array) -> MembershipFunction:
    if isinstance(like, Sigmoid):
        center = float(share @ sets[:, 0])
        # A sigmoid is a distribution of thresholds, whose variances add up.
        soft = np.sqrt(share @ (1 / np.square(sets[:, 1])) + 3 / np.pi**2 * (share @ np.square(sets[:, 0] - center)))
        return Sigmoid(center, float(np.sign(sets[0, 1]) / soft))
    return Bell(*(float(value) for value in share @ sets))
