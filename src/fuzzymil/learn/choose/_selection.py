"""Choosing rules: families of candidates are compared on held-out bags, and the best becomes the rules.

1. A dictionary of candidate premises: quantified conditions, conjunctions, prototypes.
2. For each family, a path of L1-penalized fits, from no rule to many, cross-validated inside the training bags.
3. The shortest family that is as good as the best; prototypes only where they help.
4. Rules that say the same are merged, and only as many are kept as held-out bags need.
5. The sets of these are moved together with the conclusions, by gradient.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.learn.choose._families import (
    PENALTIES,
    Family,
    Problem,
    Validation,
    dictionary_of,
    fitted,
    prototypes,
    statements,
    validated,
)
from fuzzymil.learn.choose._merging import merged, with_shared_sets
from fuzzymil.learn.choose._path import Fit, greatest_penalty, solutions, strongest
from fuzzymil.learn.choose._premises import Premise, Statements
from fuzzymil.learn.choose._prototypes import Prototype, Prototypes
from fuzzymil.learn.choose._refinement import mean_cost, refined

__all__ = ["N_FOLDS", "Chosen", "HeldOut", "Ingredient", "Plan", "chosen", "plan", "premises_of"]

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_STANDARD_ERRORS = 0.5  # by which the cost may exceed the least, in favor of shorter rules
_HOPELESS = 4.0  # standard errors by which the first prototypes are worse than short rules
_NEGLIGIBLE = 0.015  # the same, as a share of what the rules explain
_LEAST_CONCLUSION = 1e-3  # in absolute value; a rule below it is left out
_IDLE = 0.01  # of the outputs' range: a rule whose contributions to all bags differ by less is left out
_STEPS = 15  # of refinement: more would fit noise
_RELAXED = 0.1  # of the penalty, once it has chosen rules about numbers: it would draw the numbers to their mean
N_FOLDS = 5
_LONGEST = 3  # conditions in a conjunction, unless max_conditions is less
_FALLBACK = 5  # position of the penalty for bags too few to validate


@dataclasses.dataclass(frozen=True)
class Ingredient:
    """A family of rules in a plan: how strongly it is penalized, and how many rules are kept."""

    family: Family
    penalties: Array  # descending; the last one is used
    n_rules: int


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """What each kind of candidates answers for bags that it has not seen, at the best of its penalties."""

    folds: Array  # (b,), the part in which a bag is held out
    outputs: dict[str, Array]  # (b, k): logits of classes, standardized numbers


@dataclasses.dataclass(frozen=True)
class Plan:
    """What cross-validation decided."""

    ingredients: tuple[Ingredient, ...]  # whose outputs are averaged
    validations: tuple[Validation, ...]
    options: dict[str, float]  # mean cost on held-out bags of each way that was compared
    held_out: HeldOut | None = None  # None with too few bags to hold some out


@dataclasses.dataclass(frozen=True)
class Chosen:
    """Chosen rules: ``default + sum(truth of premise * coefs)``."""

    premises: tuple[Premise | Prototype, ...]
    coefs: Array  # (r, k)
    default: Array  # (k,)

    def truth(self, problem: Problem) -> Array:
        """Return how true the premises are in the bags of a problem, (b, r)."""
        found = np.empty((problem.bags.n_bags, len(self.premises)))
        for kind in (tuple, Prototype):
            places = [n for n, premise in enumerate(self.premises) if type(premise) is kind]
            if places:
                found[:, places] = premises_of([self.premises[n] for n in places], problem).columns()
        return found

    def cost(self, problem: Problem) -> float:
        """Return the mean cost on the bags of a problem."""
        output = self.default + self.truth(problem) @ self.coefs
        return mean_cost(output, problem.targets, problem.weights, classes=problem.classes)[0]

    def without_idle(self, problem: Problem) -> Chosen:
        """Return the same without rules that add nearly the same to every bag; the default takes over what they add."""
        truth = self.truth(problem)
        output = truth @ self.coefs
        added = np.ptp(truth, axis=0)[:, None] * np.abs(self.coefs)
        kept = np.any(added >= _IDLE * np.ptp(output, axis=0), axis=1)
        if not kept.any():
            return self
        mean = np.average(truth, axis=0, weights=problem.weights)
        default = self.default + mean[~kept] @ self.coefs[~kept]
        return Chosen(tuple(itertools.compress(self.premises, kept)), self.coefs[kept], default)


def plan(
    problem: Problem,
    groups: Array,
    *,
    n_rules: int,
    max_conditions: int | None,
    rng: np.random.RandomState,
    tick: Callable[[str], None] = lambda stage: None,
) -> Plan:
    """Decide by cross-validation which families of rules to use, and how many rules.

    Parameters
    ----------
    problem : Problem
    groups : array of int, shape (b,)
        Classes, or parts of the range of targets, which every fold contains.
    n_rules : int
        Most rules.
    max_conditions : int or None
        Most conditions in a rule.
    rng : RandomState
    tick : callable
        Called from time to time with what is going on, for progress.
    """
    terms = min(max_conditions or _LONGEST, _LONGEST)
    short = statements(problem.bags, problem.gaps)
    folds = _folds(groups, rng)
    if folds is None:  # too few bags to hold some out
        family = short[0]
        columns = family.dictionary.columns * family.dictionary.ease
        greatest = max(greatest_penalty(columns, target, problem.weights) for target in problem.targets.T)
        return Plan((Ingredient(family, greatest * PENALTIES[: _FALLBACK + 1], n_rules),), (), {})
    weights = problem.weights
    validations = [validated(family, problem, folds, terms, tick) for family in short]
    null = float(np.average(validations[0].costs[0], weights=weights))
    places = [_place(each, weights, null) for each in validations]
    cost = [each.costs[place] for each, place in zip(validations, places, strict=True)]
    n_short = len(short)
    first = 0
    for f in range(1, n_short):  # families with more ways to be right by chance must be clearly better
        first = first if _as_good(cost[first], cost[f], weights, null) else f
    if max_conditions is None or max_conditions >= problem.bags.n_features:
        for family in prototypes(problem.standardized, rng, problem.stand_ins):
            each = validated(family, problem, folds, terms, tick)
            validations.append(each)
            places.append(_place(each, weights, null))
            cost.append(each.costs[places[-1]])
            if not _as_good(cost[-1], cost[first], weights, null, standard_errors=_HOPELESS):
                break  # other widths would not make up for that
    mean = [float(np.average(each, weights=weights)) for each in cost]
    options = {each.family.name: value for each, value in zip(validations, mean, strict=True)}
    outputs = {each.family.name: each.outputs[place] for each, place in zip(validations, places, strict=True)}
    used: tuple[int, ...] = (first,)
    if len(validations) > n_short:
        second = min(range(n_short, len(validations)), key=lambda f: mean[f])
        both = (validations[first].outputs[places[first]] + validations[second].outputs[places[second]]) / 2
        outputs["both"] = both
        joint = problem.costs(both)
        options["both"] = float(np.average(joint, weights=weights))
        ways: dict[tuple[int, ...], Array] = {(first,): cost[first], (second,): cost[second], (first, second): joint}
        if n_rules == 1:
            del ways[first, second]
        best = min(ways, key=lambda way: float(np.average(ways[way], weights=weights)))
        used = (first,) if _as_good(ways[first,], ways[best], weights, null) else best
    ingredients = []
    for f in used:
        tick("number of rules")
        each, place = validations[f], places[f]
        size = _size(each, place, problem, folds, n_rules // len(used), null)
        ingredients.append(Ingredient(each.family, each.penalties[: place + 1], size))
    return Plan(tuple(ingredients), tuple(validations), options, HeldOut(folds, outputs))


def chosen(problem: Problem, made: Plan, max_conditions: int | None, everything: Problem) -> tuple[Chosen, Chosen]:
    """Choose rules according to a plan; return them before and after refinement.

    Parameters
    ----------
    problem : Problem
        The bags that the plan was made with.
    made : Plan
    max_conditions : int or None
        Most conditions in a rule.
    everything : Problem
        The bags that the rules are refined with: of very many bags, the first are a sample.
    """
    rows = np.arange(problem.bags.n_bags)
    terms = min(max_conditions or _LONGEST, _LONGEST)
    before, after = [], []
    for each in made.ingredients:
        dictionary = dictionary_of(each.family, problem, rows, terms)
        fits = fitted(dictionary, problem, rows, penalties=each.penalties)
        found, coefs = _rules(dictionary.premise, fits)
        start = Chosen(tuple(found), coefs, np.array([fit.default for fit in fits]))
        if found:
            order = strongest(premises_of(found, problem).columns(), coefs, problem.weights)[: each.n_rules]
            start = Chosen(tuple(found[n] for n in order), coefs[order], start.default)
        before.append(start)
        after.append(_refined(start, everything, float(each.penalties[-1])))
    return _averaged(before), _averaged(after).without_idle(everything)


def _refined(start: Chosen, problem: Problem, penalty: float) -> Chosen:
    if not start.premises:
        return start
    premises = premises_of(start.premises, problem)
    default, coefs, moves = refined(
        premises,
        start.default,
        start.coefs,
        problem.targets,
        problem.weights,
        penalty=penalty if problem.classes else _RELAXED * penalty,
        classes=problem.classes,
        steps=_STEPS,
    )
    used = np.abs(coefs).max(axis=1) > _LEAST_CONCLUSION
    moved: list[Any] = [premise for premise, needed in zip(premises.moved(moves), used, strict=True) if needed]
    if moved and not isinstance(moved[0], Prototype):
        moved = with_shared_sets(moved, problem.bags)
    return Chosen(tuple(moved), coefs[used], default)


def _averaged(parts: list[Chosen]) -> Chosen:
    premises = tuple(premise for part in parts for premise in part.premises)
    coefs = np.concatenate([part.coefs for part in parts]) / len(parts)
    return Chosen(premises, coefs, np.mean([part.default for part in parts], axis=0))


def premises_of(found: Sequence[Any], problem: Problem) -> Statements | Prototypes:
    """Return premises on the bags of a problem."""
    if isinstance(found[0], Prototype):
        centers, widths = np.array([each.center for each in found]), np.array([each.width for each in found])
        quantifiers = [each.quantifier for each in found]
        return Prototypes(quantifiers, centers, widths, problem.standardized, problem.stand_ins)
    return Statements(found, problem.bags, problem.gaps)


def _rules(premise: Callable[[int], Any], fits: Sequence[Fit]) -> tuple[list[Any], Array]:
    """Return premises and conclusions (r, k) that fits use, merged where they are alike."""
    coefs = np.array([fit.coefs for fit in fits]).T
    used = np.flatnonzero(np.any(coefs != 0, axis=1))
    found = [premise(int(number)) for number in used]
    if found and not isinstance(found[0], Prototype):
        return merged(found, coefs[used])
    return found, coefs[used]


def _size(each: Validation, place: int, problem: Problem, folds: Array, most: int, null: float) -> int:
    """Return how many rules held-out bags need, the strongest first."""
    sizes = [size for size in _SIZES if size < most] + [most]
    outputs = np.empty((len(sizes), *problem.targets.shape))
    path = each.penalties[np.unique([place // 3, 2 * place // 3, place])]  # few steps suffice for few columns
    for fold in range(int(folds.max()) + 1):
        rows, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        targets, weights = problem.targets[rows], problem.weights[rows]
        fits = each.fits[fold][place]
        found, coefs = _rules(each.dictionaries[fold].premise, fits)
        if not found:
            outputs[:, held] = [fit.default for fit in fits]
            continue
        columns = premises_of(found, problem).columns()
        order = strongest(columns[rows], coefs, weights)
        for n, size in enumerate(sizes):
            kept = order[:size]
            inside = np.asfortranarray(columns[np.ix_(rows, kept)])
            for k, target in enumerate(targets.T):
                *_, fit = solutions(inside, target, weights, path, logistic=problem.classes)
                outputs[n, held, k] = fit.predict(columns[np.ix_(held, kept)])
            if size >= len(order):
                outputs[n:, held] = outputs[n, held]
                break
    each_cost = [problem.costs(output) for output in outputs]
    best = min(each_cost, key=lambda cost: float(np.average(cost, weights=problem.weights)))
    good = (_as_good(cost, best, problem.weights, null, standard_errors=0.0) for cost in each_cost)
    return next(size for size, enough in zip(sizes, good, strict=True) if enough)


def _place(each: Validation, weights: Array, null: float) -> int:
    """Return the strongest penalty whose rules are as good as the best."""
    best = each.costs[np.average(each.costs, axis=1, weights=weights).argmin()]
    good = (_as_good(cost, best, weights, null, standard_errors=0.0) for cost in each.costs)
    return next(place for place, enough in enumerate(good) if enough)


def _as_good(cost: Array, best: Array, weights: Array, null: float, standard_errors: float = _STANDARD_ERRORS) -> bool:
    """Return whether costs (b,) are at most a standard error or a negligible amount above others."""
    gap = cost - best
    mean = float(np.average(gap, weights=weights))
    error = float(np.sqrt(np.average(np.square(gap - mean), weights=weights) / len(gap)))
    explained = max(null - float(np.average(best, weights=weights)), 0.0)
    return mean <= max(standard_errors * error, _NEGLIGIBLE * explained) + 1e-12


def _folds(groups: Array, rng: np.random.RandomState) -> Array | None:
    """Return the part in which each bag is held out; None if there are too few.

    Every part has bags of every group, except for groups of a single bag.
    """
    counts = np.bincount(groups)
    counts, repeated = counts[counts > 0], counts[counts > 1]
    if len(groups) < 2 * N_FOLDS or len(repeated) < min(2, len(counts)):
        return None
    n_folds = min(N_FOLDS, int(repeated.min()))
    folds = np.empty(len(groups), int)
    for group in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == group))
        folds[members] = (np.arange(len(members)) + rng.randint(n_folds)) % n_folds
    return folds
