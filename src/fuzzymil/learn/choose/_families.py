"""Families of candidates, and how well each explains bags that it has not seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.learn.choose._conjunctions import Intervals, joint_statements
from fuzzymil.learn.choose._dictionary import (
    Dictionary,
    averages,
    bag_sizes,
    categories,
    ease_of_averages,
    joined,
    shares,
    thresholds,
)
from fuzzymil.learn.choose._gaps import IGNORED, Gaps
from fuzzymil.learn.choose._path import Fit, costs, greatest_penalty, residuals, solutions, strongest
from fuzzymil.learn.choose._premises import Premise, Statements
from fuzzymil.learn.choose._prototypes import Prototypes, typical_instances
from fuzzymil.learn.choose._refinement import refined

__all__ = ["Family", "Problem", "Validation", "dictionary_of", "fitted", "prototypes", "statements", "validated"]

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
_EASE_PER_CONDITION = 0.9
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
    gaps: Gaps = IGNORED
    stand_ins: Array | None = None  # (t, d): the values of the gaps, standardized, for prototypes

    def only(self, rows: Array) -> Problem:
        """Return the problem on some of the bags."""
        bags, standardized = self.bags[rows], self.standardized[rows]
        return self._replace(
            bags=bags, standardized=standardized, targets=self.targets[rows], weights=self.weights[rows]
        )

    def costs(self, outputs: Array) -> Array:
        """Return the cost (b,) of outputs (b, k)."""
        return np.asarray(costs(outputs, self.targets, logistic=self.classes).sum(axis=1))


class Averages:
    """Averages over the instances, whose sets can be moved to where they explain most.

    The greatest value of a bag leaves much room for a threshold, but a share of its instances is only as right as the
    threshold that it counts from, and the quantiles may miss that.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._moved: dict[bytes, Dictionary] = {}  # by the bags whose labels were used: several families ask for them

    def moved(self, problem: Problem, rows: Array) -> Dictionary:
        """Return the most useful candidates, their sets moved by gradient on some of the bags."""
        key = rows.tobytes()
        if key not in self._moved:
            self._moved[key] = self._move(problem, rows)
        return self._moved[key]

    def _move(self, problem: Problem, rows: Array) -> Dictionary:
        dictionary, part = self.dictionary, problem.only(rows)
        columns = dictionary.columns[rows]
        fits = fitted(dictionary, problem, rows)
        coefs = np.array([fit.coefs for fit in fits]).T
        used = np.flatnonzero(coefs.any(axis=1))
        used = used[strongest(columns[:, used], coefs[used], part.weights)[:_MOVED]]
        moved: Sequence[Premise] = ()
        if len(used):
            premises = Statements([dictionary.premise(int(number)) for number in used], part.bags, part.gaps)
            greatest = max(greatest_penalty(columns, target, part.weights) for target in part.targets.T)
            *_, moves = refined(
                premises,
                np.array([fit.default for fit in fits]),
                coefs[used],
                part.targets,
                part.weights,
                penalty=_MOVING_PENALTY * greatest,
                classes=part.classes,
                steps=_MOVING_STEPS,
            )
            moved = premises.moved(moves)
        truth = Statements(moved, problem.bags, problem.gaps).columns()
        return Dictionary(truth, moved.__getitem__, dictionary.lengths[used], ease_of_averages(truth))


class Family(NamedTuple):
    """Candidates of one kind."""

    name: str
    dictionary: Dictionary
    intervals: Intervals | None = None  # in which conjunctions are searched
    averages: Averages | None = None  # which join with their sets moved

    @property
    def is_readable(self) -> bool:
        """Whether its rules have few conditions."""
        return not self.name.startswith("prototypes")


@dataclasses.dataclass(frozen=True)
class Validation:
    """How a family does on bags that its rules have not seen, for each penalty."""

    family: Family
    penalties: Array  # (p,)
    outputs: Array  # (p, b, k)
    costs: Array  # (p, b)
    lengths: Array  # (p,), mean number of conditions
    dictionaries: list[Dictionary]  # by fold
    fits: list[list[list[Fit]]]  # by fold, penalty and output


def statements(bags: Bags, gaps: Gaps = IGNORED) -> list[Family]:
    """Return the families of short rules: SOME, averages, intervals and conjunctions in one instance, counts."""
    sizes, several = bag_sizes(bags), bags.sizes.max() > 1
    some = joined([thresholds(bags, gaps=gaps), categories(bags, gaps=gaps), sizes])
    found = [Family("some", some)]
    if several:
        means = joined([averages(bags, gaps), shares(bags, gaps)])
        movable = Averages(means)
        found.append(Family("averages", means, averages=movable))
    intervals = Intervals(bags, gaps)
    if len(intervals.feature):
        found.append(Family("conjunctions", some, intervals))
    counts = [count for count in _COUNTS if count == 1 or np.mean(bags.sizes >= count) >= 0.5]
    if several:
        each = thresholds(bags, counts, gaps), categories(bags, counts, gaps)
        found.append(Family("counts", joined([*each, means, sizes]), averages=movable))
    return found


def prototypes(standardized: Bags, rng: np.random.RandomState, stand_ins: Array | None = None) -> Iterator[Family]:
    """Yield the families of rules over all features at once, the most promising first."""
    affordable = _MOST_DISTANCES // standardized.n_instances
    count = int(np.clip(affordable, _FEWEST_PROTOTYPES, _MOST_PROTOTYPES))
    centers = typical_instances(standardized.instances, count, rng)
    n, d = centers.shape
    for quantifier, width in _PROTOTYPES:
        if quantifier != "some" and standardized.sizes.max() == 1:
            continue
        widths = np.full((n, d), width * np.sqrt(d))
        made = Prototypes([quantifier] * n, centers, widths, standardized, stand_ins)
        dictionary = Dictionary(
            columns=np.asfortranarray(made.columns()),
            premise=made.prototype,
            lengths=np.full(n, float(d)),
            ease=np.ones(n),
        )
        yield Family(f"prototypes, {quantifier}, {width}", dictionary)


def dictionary_of(family: Family, problem: Problem, rows: Array, max_conditions: int) -> Dictionary:
    """Return the candidates of a family for all bags; conjunctions and moved sets are found on some of them.

    Parameters
    ----------
    family : Family
    problem : Problem
    rows : array of int
        Bags whose labels may be used.
    max_conditions : int
        Most conditions in a conjunction.
    """
    dictionary, intervals = family.dictionary, family.intervals
    if family.averages is not None:
        return joined([dictionary, family.averages.moved(problem, rows)])
    if intervals is None:
        return dictionary
    targets, weights = problem.targets[rows], problem.weights[rows]
    statement = dictionary.premise

    def differ(one: int, two: int) -> bool:
        return _differ(statement(one), statement(two))

    for number in range(_ROUNDS):
        found: dict[Premise, None] = {}
        for k, target in enumerate(targets.T):
            output = np.full(len(rows), np.average(target, weights=weights))
            left = target - output
            if number:
                (fit,) = fitted(dictionary, problem, rows, outputs=[k])
                left = residuals(fit.predict(dictionary.columns)[rows], target, logistic=problem.classes)
            likely = target - left
            curve = np.maximum(likely * (1 - likely), 1e-3) if problem.classes else np.ones(len(rows))
            needed, curve = weights * left, weights * curve
            found |= dict.fromkeys(intervals.search(rows, needed, curve, max_conditions=max_conditions))
            if number and max_conditions > 1:  # what the sum of two statements leaves to explain
                pairs = joint_statements(family.dictionary.columns[rows], needed, curve, differ=differ)
                found |= {(*statement(one), *statement(two)): None for one, two in pairs}
        if not found:
            break
        new = list(found)
        lengths = np.array([float(sum(max(len(each.conditions), 1) for each in premise)) for premise in new])
        columns = Statements(new, problem.bags, problem.gaps).columns()
        ease = np.power(_EASE_PER_CONDITION, lengths - 1)
        dictionary = joined([dictionary, Dictionary(columns, new.__getitem__, lengths, ease)])
    return dictionary


def _differ(one: Premise, two: Premise) -> bool:
    """Return whether two statements with one part each are about different things: x > 7 follows from x > 8."""
    asks = [
        (part.quantifier, [(condition.feature, condition.set.side) for condition in part.conditions])
        for part in (*one, *two)
    ]
    return asks[0] != asks[1]


def fitted(
    dictionary: Dictionary,
    problem: Problem,
    rows: Array,
    outputs: list[int] | None = None,
    penalties: Array | None = None,
) -> list[Fit]:
    """Return the fit of each output on some bags: at the last of these penalties, or at a moderate one."""
    columns, weights = dictionary.eased(rows), problem.weights[rows]
    found = []
    for k in range(problem.targets.shape[1]) if outputs is None else outputs:
        target = problem.targets[rows, k]
        path = penalties
        if path is None:
            path = greatest_penalty(columns, target, weights) * np.geomspace(1.0, 0.1, 5)
        *_, fit = solutions(columns, target, weights, path, logistic=problem.classes)
        found.append(Fit(fit.default, fit.coefs * dictionary.ease))
    return found


KIND_WORDS = {
    "some": "one condition on some instance",
    "averages": "averages over the instances",
    "conjunctions": "several conditions together",
    "counts": "counts and averages",
    "prototypes": "prototypes over all features",
}
"""What candidates are, in words."""


def validated(
    family: Family,
    problem: Problem,
    folds: Array,
    max_conditions: int,
    tick: Callable[[str], None] = lambda stage: None,
) -> Validation:
    """Cross-validate a family; penalties that are clearly too weak are left out.

    Parameters
    ----------
    family : Family
    problem : Problem
    folds : array of shape (b,)
        The part in which a bag is held out.
    max_conditions : int
        Most conditions in a conjunction.
    tick : callable
        Called with what is going on, before each fold and each fit.
    """
    n_folds, (n_bags, n_outputs) = int(folds.max()) + 1, problem.targets.shape
    dictionaries, running, greatest = [], [], []
    stage = KIND_WORDS[family.name.partition(",")[0]]
    for fold in range(n_folds):
        tick(f"candidates: {stage}")
        rows = np.flatnonzero(folds != fold)
        targets, weights = problem.targets[rows], problem.weights[rows]
        dictionary = dictionary_of(family, problem, rows, max_conditions)
        columns = dictionary.eased(rows)
        dictionaries.append(dictionary)
        running.append((columns, targets, weights))
        greatest.append(max(greatest_penalty(columns, target, weights) for target in targets.T))
    tick(f"cross-validation: {stage}")
    penalties = np.mean(greatest) * PENALTIES
    paths = [
        [solutions(columns, target, weights, penalties, logistic=problem.classes) for target in targets.T]
        for columns, targets, weights in running
    ]
    outputs, lengths, means = [], [], []
    fits: list[list[list[Fit]]] = [[] for _ in range(n_folds)]
    for _ in penalties:
        output, length = np.empty((n_bags, n_outputs)), 0.0
        for fold, dictionary in enumerate(dictionaries):
            held = np.flatnonzero(folds == fold)
            solved = [next(path) for path in paths[fold]]
            solved = [Fit(fit.default, fit.coefs * dictionary.ease) for fit in solved]
            fits[fold].append(solved)
            output[held] = np.column_stack([fit.predict(dictionary.columns)[held] for fit in solved])
            used = np.any([fit.coefs != 0 for fit in solved], axis=0)
            length += float(dictionary.lengths[used].sum()) / n_folds
        outputs.append(output)
        lengths.append(length)
        means.append(float(np.average(problem.costs(output), weights=problem.weights)))
        if means[-1] < _PERFECT or len(means) - int(np.argmin(means)) > _PATIENCE:
            break
    found = np.array(outputs)
    each = np.array([problem.costs(output) for output in found])
    return Validation(family, penalties[: len(found)], found, each, np.array(lengths), dictionaries, fits)
