"""The pool: all candidates that rules may be chosen from, most made without labels, some found with them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.learn.choose.candidates import (
    IGNORED,
    Candidates,
    Condition,
    MissingValues,
    MovableConditions,
    Premise,
    averages,
    bag_sizes,
    categories,
    concatenate,
    n_conditions,
    premise_truths,
    shares,
    thresholds,
)
from fuzzymil.learn.choose.conjunctions import Intervals, find_pairs
from fuzzymil.learn.choose.prototypes import is_prototype, prototype_truths
from fuzzymil.learn.choose.refine import move_sets
from fuzzymil.learn.choose.search import costs, residuals, search

KIND_WORDS = {
    "some": "one condition on some instance",
    "averages": "averages over the instances",
    "conjunctions": "several conditions together",
    "counts": "counts and averages",
}
"""What candidates are, in words."""

MOST_TOGETHER = 3  # conditions in a conjunction
_COUNTS = (2, 3, 4, 5)
_ROUNDS = 2  # of searches for conjunctions: on what the labels leave to explain, then on what the first ones leave
_FIRST_RULES, _RIDGE = 5, 0.1  # of the rules that leave it
_FAVOR_PER_CONDITION = 0.9  # of the gain: fewer conditions are preferred,
_FAVOR_OF_COUNTS = 0.9  # and SOME to AT LEAST k, or to averages of conjunctions
_MOVED = 4  # averages whose sets are moved
_MOVING_STEPS = 15


class Problem(NamedTuple):
    """What rules must explain."""

    bags: Bags
    labels: Array  # (b, k): 0 or 1 if they are classes
    targets: Array  # (b, k): what is fitted, see `soften`
    weights: Array  # (b,)
    classes: bool
    missing: MissingValues = IGNORED
    ranges: Array | None = None  # (d, 2), in which values count where there are prototypes

    def only(self, rows: Array) -> Problem:
        """Return the problem on some of the bags."""
        taken = {name: getattr(self, name)[rows] for name in ("bags", "labels", "targets", "weights")}
        return self._replace(**taken)

    def costs(self, outputs: Array) -> Array:
        """Return the cost (b,) of outputs (b, k): the cross-entropy of classes, or half the squared error."""
        if self.classes and outputs.shape[1] > 1:
            return np.asarray(-(self.labels * log_softmax(outputs, axis=1)).sum(axis=1))
        return np.asarray(costs(outputs, self.labels, logistic=self.classes).sum(axis=1))

    def truths(self, premises: Sequence[Premise]) -> Array:
        """Return how true premises are in each bag, (b, r)."""
        typical = np.array([is_prototype(premise) for premise in premises], bool)
        found = np.empty((self.bags.n_bags, len(premises)))
        short, alike = (list(itertools.compress(premises, places)) for places in (~typical, typical))
        if short:
            found[:, ~typical] = premise_truths(short, self.bags, self.missing)
        if alike and self.ranges is not None:
            found[:, typical] = prototype_truths(alike, self.bags, self.ranges, self.missing)
        return found


def soften(labels: Array) -> Array:
    """Return classes (b, k) as probabilities that are nearly 0 and 1 (Platt's targets).

    So many bags cannot tell that a class is impossible: rules that separate them do not become infinitely certain.
    """
    n_members = labels.sum(axis=0)
    found = np.where(labels > 0.5, (n_members + 1) / (n_members + 2), 1 / (len(labels) - n_members + 2))
    return np.asarray(found / found.sum(axis=1, keepdims=True) if labels.shape[1] > 1 else found)


@dataclasses.dataclass(frozen=True)
class Pool:
    """What can be said of some bags without their labels, and the intervals in which conjunctions are searched."""

    kinds: dict[str, Candidates]
    intervals: Intervals

    @classmethod
    def of(cls, bags: Bags, missing: MissingValues = IGNORED) -> Pool:
        """Return the pool of some bags."""
        some = [thresholds(bags, missing=missing), categories(bags, missing=missing), bag_sizes(bags)]
        kinds = {"some": concatenate(some)}
        if bags.sizes.max() > 1:
            kinds["averages"] = concatenate([averages(bags, missing), shares(bags, missing)])
            counts = [count for count in _COUNTS if np.mean(bags.sizes >= count) >= 0.5]
            if counts:
                kinds["counts"] = concatenate([thresholds(bags, counts, missing), categories(bags, counts, missing)])
        return cls(kinds, Intervals(bags, missing))

    @property
    def all_kinds(self) -> tuple[str, ...]:
        """The kinds of candidates, the simplest first."""
        has = {*self.kinds} | ({"conjunctions"} if len(self.intervals.feature) else set())
        return tuple(kind for kind in KIND_WORDS if kind in has)

    def grow(
        self,
        problem: Problem,
        rows: Array,
        max_conditions: int = MOST_TOGETHER,
        kinds: Collection[str] = tuple(KIND_WORDS),
    ) -> tuple[Candidates, Array]:
        """Return candidates of some kinds for all bags, and by which factor the gain of each counts.

        ``rows``: the bags whose labels may be used, to find conjunctions and to move the sets of averages.
        ``max_conditions``: maximum number of conditions in a conjunction.
        """
        parts = [self.kinds[kind] for kind in self.kinds if kind in kinds]
        if "averages" in self.kinds and "averages" in kinds:
            parts.append(_move_averages(self.kinds["averages"], problem, rows))
        if "conjunctions" in kinds and len(self.intervals.feature):
            parts.append(self._conjunctions(problem, rows, max_conditions))
        found = concatenate(parts)
        return found, np.concatenate([_favor(part) for part in parts])

    def _conjunctions(self, problem: Problem, rows: Array, max_conditions: int) -> Candidates:
        simple = self.kinds["some"]
        targets, weights = problem.targets[rows], problem.weights[rows]

        def differ(one: int, two: int) -> bool:
            return _differ(simple.premise(one), simple.premise(two))

        found: dict[Premise, None] = {}
        candidates = simple
        for number in range(_ROUNDS):
            output = np.tile(np.average(targets, axis=0, weights=weights), (len(rows), 1))
            left = targets - output
            if number:
                columns = candidates.columns[rows]
                solution = search(
                    columns,
                    _favor(candidates),
                    targets,
                    weights,
                    sizes=(_FIRST_RULES,),
                    ridges=(_RIDGE,),
                    logistic=problem.classes,
                )[_FIRST_RULES, _RIDGE]
                left = residuals(solution.output(columns), targets, logistic=problem.classes)
            new: dict[Premise, None] = {}
            for k, target in enumerate(targets.T):
                likely = target - left[:, k]
                curve = np.maximum(likely * (1 - likely), 1e-3) if problem.classes else np.ones(len(rows))
                needed, curve = weights * left[:, k], weights * curve
                new |= dict.fromkeys(self.intervals.find(rows, needed, curve, max_conditions=max_conditions))
                if number and max_conditions > 1:  # what the sum of two premises leaves to explain
                    pairs = find_pairs(simple.columns[rows], needed, curve, differ=differ)
                    new |= {(*simple.premise(one), *simple.premise(two)): None for one, two in pairs}
            found |= new
            if not found:
                break
            candidates = concatenate([simple, _candidates(list(found), problem)])
        return _candidates(list(found), problem)


def _candidates(premises: list[Premise], problem: Problem) -> Candidates:
    columns = problem.truths(premises) if premises else np.empty((problem.bags.n_bags, 0))
    return Candidates(columns, premises.__getitem__)


def _favor(candidates: Candidates) -> Array:
    """Return by which factor the gain of each candidate counts, (p,)."""
    found = np.empty(candidates.columns.shape[1])
    for n in range(len(found)):
        premise = candidates.premise(n)
        counted = any(
            (part.quantifier == "at least" and part.conditions)
            or (part.quantifier == "on average" and len(part.conditions) > 1)
            for part in premise
        )
        found[n] = (_FAVOR_OF_COUNTS if counted else 1.0) * _FAVOR_PER_CONDITION ** (n_conditions(premise) - 1)
    return found


def _move_averages(candidates: Candidates, problem: Problem, rows: Array) -> Candidates:
    """Return the most useful averages over the instances, their sets moved to where they explain most.

    The greatest value of a bag leaves much room for a threshold, but a share of its instances is only as right as the
    threshold that it counts from, and the quantiles may miss that.
    """
    part, columns = problem.only(rows), candidates.columns[rows]
    solution = search(
        columns,
        np.ones(columns.shape[1]),
        part.targets,
        part.weights,
        sizes=(_MOVED,),
        ridges=(_RIDGE,),
        logistic=part.classes,
    )[_MOVED, _RIDGE]
    found: list[Premise] = []
    if len(solution.places):
        movable = MovableConditions([candidates.premise(int(n)) for n in solution.places], part.bags, part.missing)
        *_, moves = move_sets(
            movable,
            solution.default,
            solution.coefs,
            part.targets,
            part.weights,
            ridge=_RIDGE,
            classes=part.classes,
            steps=_MOVING_STEPS,
        )
        found = movable.moved(moves)
    return _candidates(found, problem)


def _differ(one: Premise, two: Premise) -> bool:
    """Return whether two premises with one part each are about different things: x > 7 follows from x > 8."""
    asks = [
        (part.quantifier, [(condition.feature, _side(condition)) for condition in part.conditions])
        for part in (*one, *two)
    ]
    return asks[0] != asks[1]


def _side(condition: Condition) -> object:
    return (condition.sets, condition.negated) if condition.is_crisp else condition.sets[0].side
