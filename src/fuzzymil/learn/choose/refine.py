"""From chosen candidates to good rules: merging what says the same, and moving sets and conclusions by gradient."""

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
    penalty: float,
    classes: bool,
    steps: int = 40,
    move: bool = True,
) -> tuple[Array, Array, Array]:
    """Minimize the penalized cost over default, conclusions and sets.

    Conclusions keep their sign, so the penalty is smooth; a rule that is not needed ends at exactly 0.

    Shapes: ``default`` (k,), ``coefs`` (r, k), ``targets`` (b, k), ``weights`` (b,). ``penalty``: on the sum of
    absolute conclusions. ``classes``: whether targets are classes (see `mean_cost`). ``steps``: most iterations.
    ``move``: whether the sets move, too.
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


# ---------------------------------------------------------------------- what says nearly the same


def merge_alike(premises: Sequence[Premise], coefs: Array) -> tuple[list[Premise], Array]:
    """Join rules with the same quantifiers and features, and conclusions of the same sign.

    Neighboring thresholds become one, between them and as soft as they were apart; conclusions are added up.

    Shapes: ``coefs`` (r, k). The result is (r, k).
    """
    groups: dict[object, list[list[int]]] = {}
    for number in np.argsort(-np.abs(coefs).sum(axis=1), kind="stable"):
        premise = premises[number]
        alike = tuple(
            (part.quantifier, part.number, tuple((c.feature, c.direction) for c in part.conditions)) for part in premise
        )
        others = groups.setdefault((alike, tuple(np.sign(coefs[number]))), [])
        group = next((members for members in others if _overlap(premise, premises[members[0]])), None)
        if group is None:
            others.append([int(number)])
        else:
            group.append(int(number))
    together = [sorted(members) for others in groups.values() for members in others]
    found = []
    for members in together:
        share = np.abs(coefs[members]).sum(axis=1)
        found.append(_mean([premises[number] for number in members], share / share.sum()))
    return found, np.array([coefs[members].sum(axis=0) for members in together]).reshape(-1, coefs.shape[1])


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


def _overlap(premise: Premise, other: Premise) -> bool:
    """Return whether bounded sets are centered inside each other; half-open ones always overlap."""
    pairs = [
        (one.sets[0].parameters, two.sets[0].parameters)
        for part, same in zip(premise, other, strict=True)
        for one, two in zip(part.conditions, same.conditions, strict=True)
        if isinstance(one.sets[0], Bell) and isinstance(two.sets[0], Bell)
    ]
    return all(abs(one[0] - two[0]) <= min(one[1], two[1]) for one, two in pairs)


def _mean(premises: list[Premise], share: Array) -> Premise:
    def of(p: int, c: int, condition: Condition) -> Condition:
        if condition.is_crisp:
            return condition
        sets = np.array([premise[p].conditions[c].sets[0].parameters for premise in premises])
        return condition.with_set(_mean_set(condition.sets[0], sets, share))

    return tuple(
        part._replace(conditions=tuple(of(p, c, condition) for c, condition in enumerate(part.conditions)))
        for p, part in enumerate(premises[0])
    )


def _mean_set(like: MembershipFunction, sets: Array, share: Array) -> MembershipFunction:
    if isinstance(like, Sigmoid):
        center = float(share @ sets[:, 0])
        # A sigmoid is a distribution of thresholds, whose variances add up.
        soft = np.sqrt(share @ (1 / np.square(sets[:, 1])) + 3 / np.pi**2 * (share @ np.square(sets[:, 0] - center)))
        return Sigmoid(center, float(np.sign(sets[0, 1]) / soft))
    return Bell(*(float(value) for value in share @ sets))
