"""Choosing rules: kinds of candidates are compared on held-out bags, and the best becomes the rules.

1. Candidate premises: quantified conditions, conjunctions, prototypes (`candidates`, `conjunctions`).
2. For each kind, a path of L1-penalized fits, from no rule to many, cross-validated inside the training bags (`kinds`,
   `path`).
3. The shortest kind that is as good as the best; prototypes only where they help (`decide`).
4. Rules that say the same are merged, and only as many are kept as held-out bags need (`fit_rules`).
5. The sets of these are moved together with the conclusions, by gradient (`refine`).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags, Column, Columns
from fuzzymil.inference.membership import Gaussian, MembershipFunction, Missing, Sigmoid
from fuzzymil.learn.choose.candidates import Condition, MissingValues, Part, Premise, Prototype
from fuzzymil.learn.choose.kinds import (
    PENALTIES,
    Kind,
    Problem,
    Validation,
    candidates_of,
    cross_validate,
    fit_outputs,
    prototype_kinds,
    short_kinds,
)
from fuzzymil.learn.choose.path import Fit, fit_path, greatest_penalty, strength_order
from fuzzymil.learn.choose.refine import mean_cost, merge_alike, move_sets, share_sets
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.naming import named_sets
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Or, Quantified
from fuzzymil.rules.rule import MISSING, Rule, Variable, crisp_set

MOST_RULES = 50
MOST_BAGS = 3_000  # that candidates are compared on; their sets are refined on all
_STEPS_OF_A_MEMBER = 45  # for progress


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """Chosen rules, and what was compared to find them.

    Attributes
    ----------
    members : list of RuleBase
        One rule base, or the members of a committee.
    initial : callable
        Makes the rules of the first member before their sets were refined, which few need.
    kinds : tuple of str
        The kinds of candidates that the rules come from.
    held_out_costs : dict
        Mean cost on held-out bags of each kind of candidates, and without any rule ("no rules"): the cross-entropy of
        classes, half the squared error of standardized targets. Empty with too few bags to hold some out.
    cost : float
        The same of the first member on the bags that it was chosen from.
    held_out : HeldOut or None
        The folds of the first member, and what each kind of candidates answers for the bags held out in them: of more
        than 3,000 bags, for a sample.
    """

    members: list[RuleBase]
    initial: Callable[[], RuleBase]
    kinds: tuple[str, ...]
    held_out_costs: dict[str, float]
    cost: float
    held_out: HeldOut | None


def choose_rules(
    bags: Bags,
    targets: Array,
    weights: Array,
    groups: Array,
    *,
    scaling: Scaling,
    classes: bool,
    outputs: Sequence[str],
    n_rules: int | None,
    max_conditions: int | None,
    n_members: int,
    rng: np.random.RandomState,
    missing_values: Array | None = None,
    may_ask_missing: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, total, stage: None,
) -> SearchResult:
    """Choose rules that explain the targets of bags.

    Parameters
    ----------
    bags : Bags
    targets : array of shape (b, k)
        0 or 1 for classes, one column for two of them; numbers in the units of the data otherwise.
    weights : array of shape (b,)
    groups : array of int, shape (b,)
        Class of each bag; not used for numbers.
    scaling : Scaling
        Of features and targets.
    classes : bool
        Whether targets are classes.
    outputs : sequence of str
        Names of the outputs.
    n_rules : int or None
        Most rules; None: 50.
    max_conditions : int or None
        Most conditions in a rule; None: no limit.
    n_members : int
        Number of rule bases. Each is chosen with other folds, and with other prototypes if there are many instances.
    rng : RandomState
    missing_values : array of shape (t, d), optional
        What missing values stand for. None: they satisfy every condition.
    may_ask_missing : bool
        Whether rules may ask if a value is missing.
    progress : callable
        Receives the number of steps that are done, their total, and what is going on.

    Returns
    -------
    SearchResult
    """
    counting = weights > 0
    bags, targets, weights, groups = bags[counting], targets[counting], weights[counting], groups[counting]
    columns = bags.columns or Columns(map(Column, bags.names))
    used = np.flatnonzero(scaling.varies & ~columns.categorical)  # distances between categories mean nothing
    seen = scaling.apply(bags.instances)
    standardized = Bags(seen[:, used] if len(used) else np.zeros((len(seen), 1)), bags.offsets)
    unnamed = Bags(bags.instances, bags.offsets, columns=bags.columns)
    problem = Problem(unnamed, standardized, scaling.apply_to_targets(targets), weights, classes)
    if missing_values is not None:
        problem = problem._replace(
            missing=MissingValues(missing_values, may_ask_missing),
            missing_standardized=scaling.apply(missing_values)[:, used] if len(used) else None,
        )
    if not classes:
        rank = np.argsort(np.argsort(problem.targets[:, 0], kind="stable"))
        groups = 5 * rank // len(rank)
    done, member = 0, 0

    def tick(stage: str) -> None:
        nonlocal done
        done += 1
        whose = f" (member {member + 1} of {n_members})" if n_members > 1 else ""
        progress(done, max(done, _STEPS_OF_A_MEMBER * n_members), stage + whose)

    members, starts, decisions, costs = [], [], [], []
    written = scaling, columns, used, outputs, missing_values
    most = n_rules or MOST_RULES
    with threadpool_limits(1, user_api="blas"):  # for products as small as these, threads mostly wait for each other
        for member in range(n_members):  # noqa: B007 (tick tells it)
            few, factors = _sample(groups, rng)
            part = problem.only(few)
            part = part._replace(weights=part.weights * factors)
            decision = decide(part, groups[few], max_rules=most, max_conditions=max_conditions, rng=rng, tick=tick)
            tick("refining the rules")
            before, after = fit_rules(part, decision, max_conditions, problem)
            starts.append(functools.partial(rule_base, before, *written))
            members.append(rule_base(after, *written))
            decisions.append(decision)
            costs.append(after.cost(problem))
    progress(done, done, "")
    first = decisions[0]
    kinds = tuple(setting.kind.name for setting in first.settings)
    return SearchResult(members, starts[0], kinds, _held_out_costs(first, problem), costs[0], first.held_out)


def _sample(groups: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return a sample of very many bags with enough of each group, and by how much it must count more.

    All bags, if they are few.
    """
    counts = np.bincount(groups)
    if len(groups) <= MOST_BAGS:
        return np.arange(len(groups)), np.ones(len(groups))
    enough = max(MOST_BAGS // (4 * int(np.count_nonzero(counts))), 1)
    wanted: Array = np.minimum(counts, np.maximum(counts * MOST_BAGS // len(groups), enough))
    found = [rng.choice(np.flatnonzero(groups == group), size, replace=False) for group, size in enumerate(wanted)]
    rows = np.sort(np.concatenate(found))
    return rows, (counts / np.maximum(wanted, 1))[groups[rows]]


def _held_out_costs(decision: Decision, problem: Problem) -> dict[str, float]:
    if not decision.costs:
        return {}
    mean = np.average(problem.targets, axis=0, weights=problem.weights)
    level = np.log(np.clip(mean, 1e-6, 1) / np.clip(1 - mean, 1e-6, 1)) if problem.classes else mean
    nothing = problem.costs(np.tile(level, (len(problem.targets), 1)))
    return {"no rules": float(np.average(nothing, weights=problem.weights)), **decision.costs}


# ---------------------------------------------------------------------- what to use, and how many rules

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
class Setting:
    """How rules of one kind are fitted: how strongly they are penalized, and how many are kept."""

    kind: Kind
    penalties: Array  # descending; the last one is used
    n_rules: int


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """What each kind of candidates answers for bags that it has not seen, at the best of its penalties."""

    folds: Array  # (b,), the part in which a bag is held out
    outputs: dict[str, Array]  # (b, k): logits of classes, standardized numbers


@dataclasses.dataclass(frozen=True)
class Decision:
    """What cross-validation decided."""

    settings: tuple[Setting, ...]  # of the kinds whose outputs are averaged
    costs: dict[str, float]  # mean cost on held-out bags of each way that was compared
    held_out: HeldOut | None = None  # None with too few bags to hold some out


@dataclasses.dataclass(frozen=True)
class AdditiveRules:
    """Rules without names for their sets: ``default + sum(truth of premise * coefs)``."""

    premises: tuple[Premise | Prototype, ...]
    coefs: Array  # (r, k)
    default: Array  # (k,)

    def truth(self, problem: Problem) -> Array:
        """Return how true the premises are in the bags of a problem, (b, r)."""
        found = np.empty((problem.bags.n_bags, len(self.premises)))
        for kind in (tuple, Prototype):
            places = [n for n, premise in enumerate(self.premises) if type(premise) is kind]
            if places:
                found[:, places] = problem.truths([self.premises[n] for n in places])
        return found

    def cost(self, problem: Problem) -> float:
        """Return the mean cost on the bags of a problem."""
        output = self.default + self.truth(problem) @ self.coefs
        return mean_cost(output, problem.targets, problem.weights, classes=problem.classes)[0]

    def without_idle(self, problem: Problem) -> AdditiveRules:
        """Return the same without rules that add nearly the same to every bag; the default takes over what they add."""
        truth = self.truth(problem)
        output = truth @ self.coefs
        added = np.ptp(truth, axis=0)[:, None] * np.abs(self.coefs)
        kept = np.any(added >= _IDLE * np.ptp(output, axis=0), axis=1)
        if not kept.any():
            return self
        mean = np.average(truth, axis=0, weights=problem.weights)
        default = self.default + mean[~kept] @ self.coefs[~kept]
        return AdditiveRules(tuple(itertools.compress(self.premises, kept)), self.coefs[kept], default)


def decide(
    problem: Problem,
    groups: Array,
    *,
    max_rules: int,
    max_conditions: int | None,
    rng: np.random.RandomState,
    tick: Callable[[str], None] = lambda stage: None,
) -> Decision:
    """Decide by cross-validation which kinds of candidates to use, and how many rules.

    ``groups`` (b,): classes, or parts of the range of targets, which every fold contains. ``max_conditions``: maximum
    number of conditions in a rule. ``tick``: called from time to time with what is going on, for progress.
    """
    longest = min(max_conditions or _LONGEST, _LONGEST)
    short = short_kinds(problem.bags, problem.missing)
    folds = _folds(groups, rng)
    if folds is None:  # too few bags to hold some out
        kind = short[0]
        columns = kind.candidates.columns * kind.candidates.scales
        greatest = max(greatest_penalty(columns, target, problem.weights) for target in problem.targets.T)
        return Decision((Setting(kind, greatest * PENALTIES[: _FALLBACK + 1], max_rules),), {})
    weights = problem.weights
    validations = [cross_validate(kind, problem, folds, longest, tick) for kind in short]
    null = float(np.average(validations[0].costs[0], weights=weights))
    places = [_place(each, weights, null) for each in validations]
    cost = [each.costs[place] for each, place in zip(validations, places, strict=True)]
    n_short = len(short)
    first = 0
    for f in range(1, n_short):  # kinds with more ways to be right by chance must be clearly better
        first = first if _as_good(cost[first], cost[f], weights, null) else f
    if max_conditions is None or max_conditions >= problem.bags.n_features:
        for kind in prototype_kinds(problem.standardized, rng, problem.missing_standardized):
            each = cross_validate(kind, problem, folds, longest, tick)
            validations.append(each)
            places.append(_place(each, weights, null))
            cost.append(each.costs[places[-1]])
            if not _as_good(cost[-1], cost[first], weights, null, standard_errors=_HOPELESS):
                break  # other widths would not make up for that
    mean = [float(np.average(each, weights=weights)) for each in cost]
    costs = {each.kind.name: value for each, value in zip(validations, mean, strict=True)}
    outputs = {each.kind.name: each.outputs[place] for each, place in zip(validations, places, strict=True)}
    used: tuple[int, ...] = (first,)
    if len(validations) > n_short:
        second = min(range(n_short, len(validations)), key=lambda f: mean[f])
        both = (validations[first].outputs[places[first]] + validations[second].outputs[places[second]]) / 2
        outputs["both"] = both
        joint = problem.costs(both)
        costs["both"] = float(np.average(joint, weights=weights))
        ways: dict[tuple[int, ...], Array] = {(first,): cost[first], (second,): cost[second], (first, second): joint}
        if max_rules == 1:
            del ways[first, second]
        best = min(ways, key=lambda way: float(np.average(ways[way], weights=weights)))
        used = (first,) if _as_good(ways[first,], ways[best], weights, null) else best
    settings = []
    for f in used:
        tick("number of rules")
        each, place = validations[f], places[f]
        size = _size(each, place, problem, folds, max_rules // len(used), null)
        settings.append(Setting(each.kind, each.penalties[: place + 1], size))
    return Decision(tuple(settings), costs, HeldOut(folds, outputs))


def fit_rules(
    problem: Problem, decision: Decision, max_conditions: int | None, everything: Problem
) -> tuple[AdditiveRules, AdditiveRules]:
    """Choose rules as cross-validation decided; return them before and after refinement.

    ``problem``: the bags that the decision was made with. ``max_conditions``: maximum number of conditions in a rule.
    ``everything``: the bags that the rules are refined with: of very many bags, the first are a sample.
    """
    rows = np.arange(problem.bags.n_bags)
    longest = min(max_conditions or _LONGEST, _LONGEST)
    before, after = [], []
    for each in decision.settings:
        candidates = candidates_of(each.kind, problem, rows, longest)
        fits = fit_outputs(candidates, problem, rows, penalties=each.penalties)
        found, coefs = _used_premises(candidates.premise, fits)
        start = AdditiveRules(tuple(found), coefs, np.array([fit.default for fit in fits]))
        if found:
            order = strength_order(problem.truths(found), coefs, problem.weights)[: each.n_rules]
            start = AdditiveRules(tuple(found[n] for n in order), coefs[order], start.default)
        before.append(start)
        after.append(_refine(start, everything, float(each.penalties[-1])))
    return _average(before), _average(after).without_idle(everything)


def _refine(start: AdditiveRules, problem: Problem, penalty: float) -> AdditiveRules:
    if not start.premises:
        return start
    movable = problem.movable(start.premises)
    default, coefs, moves = move_sets(
        movable,
        start.default,
        start.coefs,
        problem.targets,
        problem.weights,
        penalty=penalty if problem.classes else _RELAXED * penalty,
        classes=problem.classes,
        steps=_STEPS,
    )
    used = np.abs(coefs).max(axis=1) > _LEAST_CONCLUSION
    moved: list[Any] = [premise for premise, needed in zip(movable.moved(moves), used, strict=True) if needed]
    if moved and not isinstance(moved[0], Prototype):
        moved = share_sets(moved, problem.bags)
    return AdditiveRules(tuple(moved), coefs[used], default)


def _average(parts: list[AdditiveRules]) -> AdditiveRules:
    premises = tuple(premise for part in parts for premise in part.premises)
    coefs = np.concatenate([part.coefs for part in parts]) / len(parts)
    return AdditiveRules(premises, coefs, np.mean([part.default for part in parts], axis=0))


def _used_premises(premise: Callable[[int], Any], fits: Sequence[Fit]) -> tuple[list[Any], Array]:
    """Return premises and conclusions (r, k) that fits use, merged where they are alike."""
    coefs = np.array([fit.coefs for fit in fits]).T
    used = np.flatnonzero(np.any(coefs != 0, axis=1))
    found = [premise(int(number)) for number in used]
    if found and not isinstance(found[0], Prototype):
        return merge_alike(found, coefs[used])
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
        found, coefs = _used_premises(each.candidates[fold].premise, fits)
        if not found:
            outputs[:, held] = [fit.default for fit in fits]
            continue
        columns = problem.truths(found)
        order = strength_order(columns[rows], coefs, weights)
        for n, size in enumerate(sizes):
            kept = order[:size]
            inside = np.asfortranarray(columns[np.ix_(rows, kept)])
            for k, target in enumerate(targets.T):
                *_, fit = fit_path(inside, target, weights, path, logistic=problem.classes)
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
    excess = cost - best
    mean = float(np.average(excess, weights=weights))
    error = float(np.sqrt(np.average(np.square(excess - mean), weights=weights) / len(excess)))
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


# ---------------------------------------------------------------------- a rule base

_REACH = 6.0  # a sigmoid has reached its limit this many times 1 / slope from its center


def rule_base(
    found: AdditiveRules,
    scaling: Scaling,
    columns: Columns,
    used: Array,
    outputs: Sequence[str],
    missing_values: Array | None = None,
) -> RuleBase:
    """Return additive rules as a rule base, in the units of the data and with names for their sets.

    Prototypes are in standardized units, and limited to the range that their features have; other premises are in
    the units of the data.

    ``scaling``: of features and targets. ``columns``: the features. ``used``: the features that prototypes are about.
    ``missing_values`` (t, d): what missing values stand for.
    """
    order = np.argsort(-np.abs(found.coefs).max(axis=1, initial=0.0), kind="stable")
    parts = [_parts(found.premises[n], scaling, used) for n in order]
    limited = any(isinstance(premise, Prototype) for premise in found.premises)
    sets: dict[int, list[MembershipFunction]] = {}
    prototypes: dict[int, dict[MembershipFunction, str]] = {}
    for rule, (n, premise) in enumerate(zip(order, parts, strict=True), start=1):
        for _, _, conditions in premise:
            for condition in conditions:
                if condition.is_crisp:
                    continue
                if isinstance(found.premises[n], Prototype):
                    prototypes.setdefault(condition.feature, {})[condition.sets[0]] = f"prototype{rule}"
                else:
                    sets.setdefault(condition.feature, []).append(condition.sets[0])
    words: dict[int, dict[MembershipFunction, str]] = {}
    variables = []
    for d, column in enumerate(columns):
        stand_ins = () if missing_values is None else tuple(missing_values[:, d])
        if column.categories:
            variables.append(Variable(column.name, categories=column.categories, missing_values=stand_ins))
            continue
        low, high = map(float, scaling.ranges[d])
        own = sets.get(d, [])
        words[d] = named_sets(own, low, high, column) | prototypes.get(d, {})
        if limited:  # values are clipped to the range, which must not hide a threshold
            reach = [_reach(chosen) for chosen in own]
            low, high = min([low, *(ends[0] for ends in reach)]), max([high, *(ends[1] for ends in reach)])
        terms = {word: chosen for chosen, word in words[d].items()}
        variables.append(Variable(column.name, terms, low, high, column.unit, missing_values=stand_ins))
    rules = [
        Rule(_expression(premise, words, columns), (coefs * scaling.target_scale)[:, None].tolist())
        for premise, coefs in zip(parts, found.coefs[order], strict=True)
    ]
    if not rules:  # nothing in the bags tells their labels apart: a rule base needs a rule, even if it says nothing
        rules = [Rule(ANYTHING, np.zeros((len(found.default), 1)).tolist())]
    default = found.default * scaling.target_scale + scaling.target_shift
    return RuleBase(
        variables=tuple(variables),
        rules=tuple(rules),
        outputs=tuple(map(Variable, outputs)),
        aggregation="max",
        normalize=False,
        default=tuple(map(float, default)),
        limited=limited,
    )


def _parts(premise: Premise | Prototype, scaling: Scaling, used: Array) -> Premise:
    """Return the parts of a premise, in the units of the data."""
    if not isinstance(premise, Prototype):
        return premise
    shift, scale = scaling.shift[used], scaling.scale[used]
    numbers = zip(
        used.tolist(), (shift + scale * premise.center).tolist(), (scale * premise.width).tolist(), strict=True
    )
    conditions = tuple(Condition(d, (Gaussian(center, width),)) for d, center, width in numbers)
    return (Part(premise.quantifier, None, conditions),)


def _expression(premise: Premise, words: dict[int, dict[MembershipFunction, str]], columns: Columns) -> Expression:
    def of(condition: Condition) -> Expression:
        column = columns[condition.feature]
        hedges = ("not",) if condition.negated else ()
        if not condition.is_crisp:
            return Is(column.name, words[condition.feature][condition.sets[0]])
        if condition.sets == (Missing(),):
            return Is(column.name, MISSING, hedges)
        codes = [code for code in range(len(column.categories)) if crisp_set(code) in condition.sets]
        each = tuple(Is(column.name, column.categories[code], hedges) for code in codes)
        return each[0] if len(each) == 1 else Or(each)

    parts = []
    for quantifier, count, conditions in premise:
        inner = And(tuple(map(of, conditions))) if conditions else ANYTHING
        parts.append(Quantified(quantifier, inner, count))
    return And(tuple(parts))


def _reach(chosen: MembershipFunction) -> tuple[float, float]:
    """Return between which values the membership changes."""
    if isinstance(chosen, Sigmoid):
        return chosen.center - _REACH / abs(chosen.slope), chosen.center + _REACH / abs(chosen.slope)
    center, width = chosen.parameters[:2]
    return center - 3 * width, center + 3 * width
