"""Kinds of candidates, and how well each explains bags that it has not seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.learn.choose.candidates import (
    IGNORED,
    Candidates,
    Condition,
    MissingValues,
    MovableConditions,
    MovablePrototypes,
    Premise,
    Prototype,
    averages,
    bag_sizes,
    categories,
    concatenate,
    n_conditions,
    premise_truths,
    prototypes,
    scales_of_averages,
    shares,
    thresholds,
    typical_instances,
)
from fuzzymil.learn.choose.conjunctions import Intervals, find_pairs
from fuzzymil.learn.choose.path import Fit, costs, fit_path, greatest_penalty, residuals, strength_order
from fuzzymil.learn.choose.refine import move_sets

PENALTIES = np.geomspace(1.0, 0.004, 12)  # relative to the least penalty with which no rule is chosen
_ROUNDS = 2  # of searches for conjunctions: on what the labels leave to explain, then on what the first ones leave
_COUNTS = (1, 2, 3, 4, 5)
_MOST_PROTOTYPES, _FEWEST_PROTOTYPES = 500, 100
_MOST_DISTANCES = 4_000_000  # from all instances to all prototypes
_PROTOTYPES = (
    ("some", 0.7),
    ("some", 1.1),
    ("some", 0.4),
    ("on average", 0.7),
)  # quantifier, and width over sqrt(n_features)
_SCALE_PER_CONDITION = 0.9
_MOVED = 4  # averages whose sets are moved
_MOVING_STEPS = 15
_MOVING_PENALTY = 0.02  # relative, as in `PENALTIES`
_PATIENCE = 3  # penalties that may be worse than the best before the path ends
_PERFECT = 0.005  # mean cost at which the path ends


class Problem(NamedTuple):
    """What rules must explain."""

    bags: Bags
    standardized: Bags  # the same, for prototypes: only features that vary
    targets: Array  # (b, k): 0 or 1 if they are classes
    weights: Array  # (b,)
    classes: bool
    missing: MissingValues = IGNORED
    missing_standardized: Array | None = None  # (t, d): what a missing value stands for, for prototypes

    def only(self, rows: Array) -> Problem:
        """Return the problem on some of the bags."""
        bags, standardized = self.bags[rows], self.standardized[rows]
        return self._replace(
            bags=bags, standardized=standardized, targets=self.targets[rows], weights=self.weights[rows]
        )

    def costs(self, outputs: Array) -> Array:
        """Return the cost (b,) of outputs (b, k)."""
        return np.asarray(costs(outputs, self.targets, logistic=self.classes).sum(axis=1))

    def movable(self, premises: Sequence[Any]) -> MovableConditions | MovablePrototypes:
        """Return premises, or prototypes, on these bags."""
        if isinstance(premises[0], Prototype):
            return MovablePrototypes(premises, self.standardized, self.missing_standardized)
        return MovableConditions(premises, self.bags, self.missing)

    def truths(self, premises: Sequence[Any]) -> Array:
        """Return how true premises, or prototypes, are in each bag, (b, r)."""
        movable = self.movable(premises)
        return movable.evaluate(np.zeros(movable.n_moves))[0]


class MovedAverages:
    """Averages over the instances, whose sets are moved to where they explain most.

    The greatest value of a bag leaves much room for a threshold, but a share of its instances is only as right as the
    threshold that it counts from, and the quantiles may miss that.
    """

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self._known: dict[bytes, Candidates] = {}  # by the bags whose labels were used: several kinds ask for them

    def find(self, problem: Problem, rows: Array) -> Candidates:
        """Return the most useful candidates, their sets moved by gradient on some of the bags."""
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = self._move(problem, rows)
        return self._known[key]

    def _move(self, problem: Problem, rows: Array) -> Candidates:
        candidates, part = self.candidates, problem.only(rows)
        columns = candidates.columns[rows]
        fits = fit_outputs(candidates, problem, rows)
        coefs = np.array([fit.coefs for fit in fits]).T
        used = np.flatnonzero(coefs.any(axis=1))
        used = used[strength_order(columns[:, used], coefs[used], part.weights)[:_MOVED]]
        found: list[Premise] = []
        if len(used):
            movable = MovableConditions([candidates.premise(int(n)) for n in used], part.bags, part.missing)
            greatest = max(greatest_penalty(columns, target, part.weights) for target in part.targets.T)
            *_, moves = move_sets(
                movable,
                np.array([fit.default for fit in fits]),
                coefs[used],
                part.targets,
                part.weights,
                penalty=_MOVING_PENALTY * greatest,
                classes=part.classes,
                steps=_MOVING_STEPS,
            )
            found = movable.moved(moves)
        truth = premise_truths(found, problem.bags, problem.missing)
        return Candidates(truth, found.__getitem__, scales_of_averages(truth))


class Kind(NamedTuple):
    """Candidates of one kind."""

    name: str
    candidates: Candidates
    intervals: Intervals | None = None  # in which conjunctions are searched
    averages: MovedAverages | None = None  # which join


@dataclasses.dataclass(frozen=True)
class Validation:
    """How a kind of candidates does on bags that its rules have not seen, for each penalty."""

    kind: Kind
    penalties: Array  # (p,)
    outputs: Array  # (p, b, k)
    costs: Array  # (p, b)
    candidates: list[Candidates]  # by fold
    fits: list[list[list[Fit]]]  # by fold, penalty and output


def short_kinds(bags: Bags, missing: MissingValues = IGNORED) -> list[Kind]:
    """Return the kinds of short rules: SOME, averages, intervals and conjunctions in one instance, counts."""
    sizes, several = bag_sizes(bags), bags.sizes.max() > 1
    some = concatenate([thresholds(bags, missing=missing), categories(bags, missing=missing), sizes])
    found = [Kind("some", some)]
    if several:
        means = concatenate([averages(bags, missing), shares(bags, missing)])
        moved = MovedAverages(means)
        found.append(Kind("averages", means, averages=moved))
    intervals = Intervals(bags, missing)
    if len(intervals.feature):
        found.append(Kind("conjunctions", some, intervals))
    counts = [count for count in _COUNTS if count == 1 or np.mean(bags.sizes >= count) >= 0.5]
    if several:
        each = thresholds(bags, counts, missing), categories(bags, counts, missing)
        found.append(Kind("counts", concatenate([*each, means, sizes]), averages=moved))
    return found


def prototype_kinds(standardized: Bags, rng: np.random.RandomState, missing: Array | None = None) -> Iterator[Kind]:
    """Yield the kinds of rules over all features at once, the most promising first."""
    affordable = _MOST_DISTANCES // standardized.n_instances
    count = int(np.clip(affordable, _FEWEST_PROTOTYPES, _MOST_PROTOTYPES))
    centers = typical_instances(standardized.instances, count, rng)
    for quantifier, width in _PROTOTYPES:
        if quantifier == "some" or standardized.sizes.max() > 1:
            found = prototypes(standardized, centers, quantifier, width, missing)
            yield Kind(f"prototypes, {quantifier}, {width}", found)


def candidates_of(kind: Kind, problem: Problem, rows: Array, max_conditions: int) -> Candidates:
    """Return the candidates of a kind for all bags; conjunctions and moved sets are found on some of them.

    ``rows``: Bags whose labels may be used. ``max_conditions``: most conditions in a conjunction.
    """
    candidates, intervals = kind.candidates, kind.intervals
    if kind.averages is not None:
        return concatenate([candidates, kind.averages.find(problem, rows)])
    if intervals is None:
        return candidates
    targets, weights = problem.targets[rows], problem.weights[rows]
    simple = candidates.premise

    def differ(one: int, two: int) -> bool:
        return _differ(simple(one), simple(two))

    for number in range(_ROUNDS):
        found: dict[Premise, None] = {}
        for k, target in enumerate(targets.T):
            output = np.full(len(rows), np.average(target, weights=weights))
            left = target - output
            if number:
                (fit,) = fit_outputs(candidates, problem, rows, outputs=[k])
                left = residuals(fit.predict(candidates.columns)[rows], target, logistic=problem.classes)
            likely = target - left
            curve = np.maximum(likely * (1 - likely), 1e-3) if problem.classes else np.ones(len(rows))
            needed, curve = weights * left, weights * curve
            found |= dict.fromkeys(intervals.find(rows, needed, curve, max_conditions=max_conditions))
            if number and max_conditions > 1:  # what the sum of two premises leaves to explain
                pairs = find_pairs(kind.candidates.columns[rows], needed, curve, differ=differ)
                found |= {(*simple(one), *simple(two)): None for one, two in pairs}
        if not found:
            break
        new = list(found)
        columns = premise_truths(new, problem.bags, problem.missing)
        scales = np.array([_SCALE_PER_CONDITION ** (n_conditions(premise) - 1) for premise in new])
        candidates = concatenate([candidates, Candidates(columns, new.__getitem__, scales)])
    return candidates


def _differ(one: Premise, two: Premise) -> bool:
    """Return whether two premises with one part each are about different things: x > 7 follows from x > 8."""
    asks = [
        (part.quantifier, [(condition.feature, _side(condition)) for condition in part.conditions])
        for part in (*one, *two)
    ]
    return asks[0] != asks[1]


def _side(condition: Condition) -> object:
    return (condition.sets, condition.negated) if condition.is_crisp else condition.sets[0].side


def fit_outputs(
    candidates: Candidates,
    problem: Problem,
    rows: Array,
    outputs: list[int] | None = None,
    penalties: Array | None = None,
) -> list[Fit]:
    """Return the fit of each output on some bags: at the last of these penalties, or at a moderate one."""
    columns, weights = candidates.scaled(rows), problem.weights[rows]
    found = []
    for k in range(problem.targets.shape[1]) if outputs is None else outputs:
        target = problem.targets[rows, k]
        path = penalties
        if path is None:
            path = greatest_penalty(columns, target, weights) * np.geomspace(1.0, 0.1, 5)
        *_, fit = fit_path(columns, target, weights, path, logistic=problem.classes)
        found.append(Fit(fit.default, fit.coefs * candidates.scales))
    return found


KIND_WORDS = {
    "some": "one condition on some instance",
    "averages": "averages over the instances",
    "conjunctions": "several conditions together",
    "counts": "counts and averages",
    "prototypes": "prototypes over all features",
}
"""What candidates are, in words."""


def cross_validate(
    kind: Kind,
    problem: Problem,
    folds: Array,
    max_conditions: int,
    tick: Callable[[str], None] = lambda stage: None,
) -> Validation:
    """Cross-validate a kind of candidates; penalties that are clearly too weak are left out.

    Parameters
    ----------
    kind : Kind
    problem : Problem
    folds : array of shape (b,)
        The part in which a bag is held out.
    max_conditions : int
        Most conditions in a conjunction.
    tick : callable
        Called with what is going on, before each fold and each fit.
    """
    n_folds, (n_bags, n_outputs) = int(folds.max()) + 1, problem.targets.shape
    found, running, greatest = [], [], []
    stage = KIND_WORDS[kind.name.partition(",")[0]]
    for fold in range(n_folds):
        tick(f"candidates: {stage}")
        rows = np.flatnonzero(folds != fold)
        targets, weights = problem.targets[rows], problem.weights[rows]
        candidates = candidates_of(kind, problem, rows, max_conditions)
        columns = candidates.scaled(rows)
        found.append(candidates)
        running.append((columns, targets, weights))
        greatest.append(max(greatest_penalty(columns, target, weights) for target in targets.T))
    tick(f"cross-validation: {stage}")
    penalties = np.mean(greatest) * PENALTIES
    paths = [
        [fit_path(columns, target, weights, penalties, logistic=problem.classes) for target in targets.T]
        for columns, targets, weights in running
    ]
    outputs, means = [], []
    fits: list[list[list[Fit]]] = [[] for _ in range(n_folds)]
    for _ in penalties:
        output = np.empty((n_bags, n_outputs))
        for fold, candidates in enumerate(found):
            held = np.flatnonzero(folds == fold)
            solved = [next(path) for path in paths[fold]]
            solved = [Fit(fit.default, fit.coefs * candidates.scales) for fit in solved]
            fits[fold].append(solved)
            output[held] = np.column_stack([fit.predict(candidates.columns)[held] for fit in solved])
        outputs.append(output)
        means.append(float(np.average(problem.costs(output), weights=problem.weights)))
        if means[-1] < _PERFECT or len(means) - int(np.argmin(means)) > _PATIENCE:
            break
    each = np.array([problem.costs(output) for output in outputs])
    return Validation(kind, penalties[: len(each)], np.array(outputs), each, found, fits)
