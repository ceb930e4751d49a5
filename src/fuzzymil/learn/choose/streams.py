"""Rules within a budget of memory: bags that do not fit are searched on a sample, judged and concluded by all.

One pass over the bags computes how true the premises of the frontier are in each, exactly: a few numbers in single
precision per bag, whatever its size. The bags outside of the sample, which the search has not seen, say how good each
size is, and the conclusions are fitted to all bags. Parts of a stream and partitions of a cluster give the same.

Axes: b bags, r rules, k outputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.inference.activations import infer_strengths
from fuzzymil.inference.movable import Pullback
from fuzzymil.learn.choose.choose import MOST_BAGS, SearchResult, decide, support
from fuzzymil.learn.choose.frontier import Folds, Frontier, FrontierPoint, measure
from fuzzymil.learn.choose.pool import Problem, soften
from fuzzymil.learn.choose.refine import mean_cost, move_sets
from fuzzymil.learn.train.partition import Quota
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase

_MOST_ROWS, _LEAST_ROWS = 200_000, 1_000  # of a sample
_PER_VALUE = 100  # bytes that a search takes for each number of the sample
_PER_DEGREE, _PER_COPY = 16, 24  # bytes: of the degree of a candidate in a bag, of a value of an instance
_FEW = 300  # bags of each class that a sample has at least
_PER_TRUTH, _PER_FIT = 4, 32  # bytes: of a truth that is kept; of one while the conclusions of a size are fitted
_RIDGE = 0.1  # where nothing was held out
_STEPS = 40
_NO_BAGS = Bags(np.zeros((1, 1)), [0, 1])  # their truths are known


def quota(n_features: int) -> Quota:
    """Return which bags rules are searched on: about as many as the memory budget has room for."""
    rows = memory.budget() // (_PER_VALUE * n_features)
    return Quota(int(np.clip(rows, _LEAST_ROWS, _MOST_ROWS)), _FEW)


def require_room(bags: Bags) -> None:
    """Raise if the search for rules of these bags would need more memory than the budget.

    What counts are copies of the instances, and the columns of the candidates, of which there are most where each
    feature can have all its thresholds.
    """
    compared, d = min(bags.n_bags, MOST_BAGS), bags.n_features
    n_columns = d * (14 + 2 * np.clip(2500 // d, 3, 9) + 8 * np.clip(625 // d, 1, 9))
    lack = memory.shortage(_PER_DEGREE * compared * n_columns + _PER_COPY * bags.n_instances * d)
    if lack is not None:
        raise InputError(
            f"Choosing rules from {compared:,} bags with {bags.n_instances:,} instances and {d:,} features is too "
            f"large: {lack}. Use fewer features or bags, a stream of bags, or SciPy's sparse matrices for features "
            "that are mostly 0."
        )


def affordable(points: Sequence[FrontierPoint], n_bags: int) -> tuple[FrontierPoint, ...]:
    """Return the points of a frontier whose truths in all bags fit in the memory budget, from the smallest on."""
    room, total = memory.budget() / 2, 0
    kept = []
    for point in points:
        total += point.rules.n_rules
        if n_bags * (_PER_TRUTH * total + _PER_FIT * point.rules.n_rules) > room:
            break
        kept.append(point)
    if len(kept) < 2 <= len(points):
        raise InputError(
            f"The truths of rules in {n_bags:,} bags do not fit in the memory budget of "
            f"{memory.size_text(memory.budget())}: raise {memory.VARIABLE}, or set max_rules."
        )
    return tuple(kept)


def truths(bags: Bags, bases: Sequence[RuleBase]) -> Array:
    """Return how true the rules of some rule bases are in each bag, (b, r), in single precision."""
    plain = Bags(bags.instances, bags.offsets)
    return np.hstack([infer_strengths(*base.compile(), plain).astype(np.float32) for base in bases])


class _Still:
    """Premises whose sets do not move."""

    n_moves = 0

    def __init__(self, truth: Array) -> None:
        self._truth = truth

    def evaluate(self, moves: Array) -> tuple[Array, Pullback]:
        return self._truth, lambda slopes: np.empty(0)


def conclude(
    found: SearchResult,
    points: Sequence[FrontierPoint],
    parts: Iterable[Array],
    *,
    sampled: Array,
    targets: Array,
    weights: Array,
    scaling: Scaling,
    classes: bool,
    n_folds: int,
) -> SearchResult:
    """Return rules that were found on a sample, judged by the other bags and with conclusions fitted to all.

    Parameters
    ----------
    found : SearchResult
        On the sample.
    points : sequence of FrontierPoint
        Those to keep; see `affordable`.
    parts : iterable of arrays of shape (b, r)
        What `truths` returns for the rules of these points, part by part.
    sampled : array of int
        Positions of the bags of the sample.
    targets : array of shape (b, k)
        In the units of the data.
    weights : array of shape (b,)
    scaling : Scaling
        Of the targets.
    classes : bool
        Whether targets are classes.
    n_folds : int
        Parts of the other bags, to tell how certain measures are. If there are fewer of them than in the sample, what
        was held out in the sample tells more.
    """
    truth = np.concatenate(list(parts))
    ends = np.cumsum([point.rules.n_rules for point in points])
    own = [truth[:, end - point.rules.n_rules : end] for end, point in zip(ends, points, strict=True)]
    labels = scaling.apply_to_targets(targets)
    chosen = found.frontier[found.frontier.chosen].size
    others = np.setdiff1d(np.arange(len(labels)), sampled)
    if len(others) >= len(sampled) and len(points) > 1:
        outside = Problem(_NO_BAGS, labels[others], labels[others], weights[others], classes)
        folds = Folds((np.arange(len(others)) % n_folds)[None])
        unit = float(scaling.target_scale[0]) if not classes and labels.shape[1] == 1 else None
        outputs = {
            point.size: _output(point.rules, each[others], scaling) for point, each in zip(points, own, strict=True)
        }
        costs = {size: outside.costs(output) for size, output in outputs.items()}
        chosen = decide(costs, outside.weights)
        points = [
            dataclasses.replace(
                point,
                measures=measure(outputs[point.size][None], outside.labels, folds, classes=classes, unit=unit),
                support=support(costs, point.size, outside.weights),
            )
            for point in points
        ]
    fitted = soften(labels) if classes else labels
    ridges = {} if found.held_out is None else found.held_out.ridges
    concluded = tuple(
        dataclasses.replace(
            point, rules=_fit(point.rules, each, fitted, weights, scaling, classes, ridges.get(point.size, _RIDGE))
        )
        for point, each in zip(points, own, strict=True)
    )
    place = max(n for n, point in enumerate(concluded) if point.size <= chosen)
    best = concluded[place].rules
    return dataclasses.replace(
        found,
        members=[best, *found.members[1:]],
        frontier=Frontier(concluded, place, n_folds if found.held_out is None else found.frontier.n_folds),
        cost=mean_cost(_output(best, own[place], scaling), labels, weights, classes=classes)[0],
    )


def _output(rules: RuleBase, truth: Array, scaling: Scaling) -> Array:
    """Return the output (b, k) of rules, given their truths (b, r); numbers are standardized."""
    return np.asarray(_default(rules, scaling) + truth @ _conclusions(rules, scaling))


def _default(rules: RuleBase, scaling: Scaling) -> Array:
    return scaling.apply_to_targets(np.array(rules.default))


def _conclusions(rules: RuleBase, scaling: Scaling) -> Array:
    return np.asarray(rules.coefs[:, :, 0] / scaling.target_scale)


def _fit(
    rules: RuleBase, truth: Array, targets: Array, weights: Array, scaling: Scaling, classes: bool, ridge: float
) -> RuleBase:
    """Return rules whose conclusions fit the targets of all bags; those that are 0 stay 0."""
    default, coefs, _ = move_sets(
        _Still(truth.astype(float)),
        _default(rules, scaling),
        _conclusions(rules, scaling),
        targets,
        weights,
        ridge=ridge,
        classes=classes,
        steps=_STEPS,
    )
    said = [
        rule.concluding((own * scaling.target_scale)[:, None].tolist())
        for rule, own in zip(rules.rules, coefs, strict=True)
    ]
    level = default * scaling.target_scale + scaling.target_shift
    return dataclasses.replace(rules, rules=tuple(said), default=tuple(map(float, level)))
