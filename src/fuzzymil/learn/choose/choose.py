"""Choosing rules: a frontier of rule bases, from none to many rules, and which of them is the model.

1. Candidate premises: quantified conditions, counts, averages, conjunctions (`candidates`, `conjunctions`, `pool`).
2. In each fold of a cross-validation inside the training bags, a forward search adds one premise after the other and
   fits all their conclusions together, under several ridges (`search`). The bags held out say how good each size is.
3. Of each size, the best ridge counts; of the sizes, the fewest rules that are about as good as the best (`decide`).
4. Rules that compare instances with typical ones in all features, prototypes, are searched apart, and averaged with
   short rules (`blend`). As nobody can read them, they are used only where every short rule base is clearly worse.
5. The same search on all bags gives the rule bases of the frontier; their sets are moved together with the
   conclusions, by gradient (`refine`).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags, Column, Columns
from fuzzymil.inference.membership import MembershipFunction, Missing, Sigmoid
from fuzzymil.learn.choose.candidates import (
    Candidates,
    Condition,
    MissingValues,
    MovableConditions,
    Premise,
)
from fuzzymil.learn.choose.frontier import PROTOTYPE, Folds, Frontier, FrontierPoint, Measure, measure
from fuzzymil.learn.choose.pool import KIND_WORDS, MOST_TOGETHER, Pool, Problem, soften
from fuzzymil.learn.choose.prototypes import is_prototype, origin, prototypes
from fuzzymil.learn.choose.refine import mean_cost, move_sets, share_sets
from fuzzymil.learn.choose.search import Solution, constant, search
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.naming import named_sets
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Or, Quantified
from fuzzymil.rules.rule import MISSING, Rule, Variable, crisp_set

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50)
"""Numbers of rules on the frontier."""
DENSE_SIZE = 100
"""A further one, chosen only where every short rule base is clearly worse."""
BLENDS = {60: (30, 30), 150: (100, 50)}
"""Numbers of rules with prototypes among them, likewise: how many short ones are averaged with how many prototypes."""
MOST_BAGS = 6_000  # that candidates are compared on; conclusions and sets are fitted to all
RIDGES = (0.0001, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
_FEW_RIDGE = 0.1  # with too few bags to hold some out,
_FEW_RULES = 1
_REPEATS = ((60, 4), (120, 2))  # up to so many bags, divisions into folds
_STEPS = 15  # of refinement: more would fit noise
_REFINED = 50  # rules up to which sets are refined,
_REFINED_IN_FOLDS = 8  # and up to which in cross-validation, too: of more rules, it changes little
_LEAST_CONCLUSION = 1e-3  # in absolute value; a rule below it is left out
_IDLE = 0.01  # of the outputs' range: a rule whose contributions to all bags differ by less is left out;
_IDLE_TOGETHER = 0.1  # of many rules, of the range divided by their number
_LOST = 0.1  # of what the best rules explain, times its share of all there is to explain: what fewer rules may cost,
_NEGLIGIBLE = 0.033  # and the same even where it is certain that they cost more
_SAME = 0.01  # of what rules explain: what a stronger ridge may cost
_CLEARLY = 0.5  # standard errors
_SHARES = (0.5, 1.0)  # of prototypes in an average: half and half, or alone
_SOLVED = 0.05  # of the cost without rules: where short rules cost less, prototypes are not compared
_SUPPORT = 0.5  # standard errors by which rules of some size must be better than none
_REACH = 6.0  # a sigmoid has reached its limit this many times 1 / slope from its center
_SHORT = 12  # rules with which kinds of candidates are compared
_N_STRATA = 5  # of numbers


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """Chosen rules, and what was compared to find them.

    Attributes
    ----------
    members : list of RuleBase
        One rule base, or the members of a committee.
    frontier : Frontier
        The best rule base of each size, of the first member.
    held_out : HeldOut or None
        What rules answer for bags that they have not seen; None with too few bags to hold some out.
    kinds : dict of str to HeldOut
        The same with candidates of one kind only, if that was asked for.
    cost : float
        Mean cost of the first member on all bags.
    n_compared : int
        Number of bags that candidates were compared on.
    """

    members: list[RuleBase]
    frontier: Frontier
    held_out: HeldOut | None
    kinds: dict[str, HeldOut]
    cost: float
    n_compared: int


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """What the rules of each size answer for bags that they have not seen, at the best ridge for the size."""

    folds: Folds
    ridges: dict[int, float]
    outputs: dict[int, Array]  # (repeats, b, k): logits of classes, standardized numbers
    costs: dict[int, Array]  # (b,), the mean over the repeats
    shares: dict[int, float]  # of prototypes, in sizes of `BLENDS`
    unrefined: dict[tuple[int, float], Array]  # outputs by size and ridge, with sets where they were found


@dataclasses.dataclass(frozen=True)
class Limits:
    """What rules may be.

    ``max_rules``, ``max_conditions``: None for no limit of one's own. ``prototypes``: whether there may be some.
    ``n_folds``: parts that are held out in turn.
    """

    max_rules: int | None = None
    max_conditions: int | None = None
    prototypes: bool = True
    n_folds: int = 5
    n_jobs: int | None = None

    @property
    def together(self) -> int:
        """Maximum number of conditions in a rule."""
        return min(self.max_conditions or MOST_TOGETHER, MOST_TOGETHER)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rules on the frontier, without prototypes."""
        sizes = (*SIZES, DENSE_SIZE)
        if self.max_rules is None:
            return sizes
        return (*(size for size in sizes if size < self.max_rules), self.max_rules)

    @property
    def blends(self) -> dict[int, tuple[int, int]]:
        """Numbers of rules with prototypes: as `BLENDS`."""
        if not self.prototypes or self.max_conditions is not None:
            return {}
        return {size: parts for size, parts in BLENDS.items() if self.max_rules is None or size <= self.max_rules}


def choose_rules(
    bags: Bags,
    targets: Array,
    weights: Array,
    strata: Array,
    *,
    scaling: Scaling,
    classes: bool,
    outputs: Sequence[str],
    limits: Limits,
    n_members: int,
    rng: np.random.RandomState,
    groups: Array | None = None,
    missing_values: Array | None = None,
    may_ask_missing: bool = False,
    compare_kinds: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, total, stage: None,
) -> SearchResult:
    """Choose rules that explain the targets of bags.

    Parameters
    ----------
    bags : Bags
    targets : array of shape (b, k)
        0 or 1 for classes, one column for two of them; numbers in the units of the data otherwise.
    weights : array of shape (b,)
    strata : array of int, shape (b,)
        Class of each bag; not used for numbers.
    scaling : Scaling
        Of features and targets.
    classes : bool
        Whether targets are classes.
    outputs : sequence of str
        Names of the outputs.
    limits : Limits
    n_members : int
        Number of rule bases. All but the first are chosen with random weights of the bags.
    rng : RandomState
    groups : array of shape (b,), optional
        Bags of the same group are held out together.
    missing_values : array of shape (t, d), optional
        What missing values stand for. None: they satisfy every condition.
    may_ask_missing : bool
        Whether rules may ask if a value is missing.
    compare_kinds : bool
        Whether to compare kinds of candidates, too.
    progress : callable
        Receives the number of steps that are done, their total, and what is going on.
    """
    counting = weights > 0
    bags, targets, weights, strata = bags[counting], targets[counting], weights[counting], strata[counting]
    groups = None if groups is None else groups[counting]
    columns = bags.columns or Columns(map(Column, bags.names))
    missing = MissingValues(missing_values, may_ask_missing)
    labels = scaling.apply_to_targets(targets)
    everything = Problem(
        Bags(bags.instances, bags.offsets, columns=bags.columns),
        labels,
        soften(labels) if classes else labels,
        weights,
        classes,
        missing,
        scaling.ranges,
    )
    if not classes:
        rank = np.argsort(np.argsort(everything.targets[:, 0], kind="stable"))
        strata = _N_STRATA * rank // len(rank)
    few, factors = sample_bags(strata, rng)
    problem = everything if len(few) == len(strata) else everything.only(few)
    problem = problem._replace(weights=problem.weights * factors)
    folds = divide(strata[few], limits.n_folds, rng, None if groups is None else groups[few])
    n_fits = n_members + (0 if folds is None else folds.parts.shape[0] * folds.n_parts)
    done = 0

    def tick(stage: str) -> None:
        nonlocal done
        progress(done, n_fits, stage)
        done += 1

    with threadpool_limits(1, user_api="blas"):  # for products as small as these, threads mostly wait for each other
        tick("candidates")
        done = 0
        pool = Pool.of(problem.bags, missing)
        held_out = None if folds is None else hold_out(pool, problem, folds, limits.sizes, limits, tick=tick)
        typical = None
        if held_out is not None and limits.blends and not _is_solved(held_out, problem.weights):
            typical = prototypes(problem.bags, scaling, missing)
        if typical is not None and held_out is not None and folds is not None:
            n_fits += folds.parts.shape[0] * folds.n_parts
            sizes = tuple(sorted({number for _, number in limits.blends.values()}))
            alone = hold_out(typical, problem, folds, sizes, limits, tick=tick)
            held_out = blend(held_out, alone, limits.blends, problem)
        kinds = {}
        if compare_kinds and folds is not None:
            once, short = Folds(folds.parts[:1]), dataclasses.replace(limits, max_rules=_SHORT)
            n_fits += folds.n_parts * len(pool.all_kinds)
            kinds = {kind: hold_out(pool, problem, once, short.sizes, limits, (kind,), tick) for kind in pool.all_kinds}
        unit = float(scaling.target_scale[0]) if not classes and len(outputs) == 1 else None
        chosen = _FEW_RULES if held_out is None else decide(held_out.costs, problem.weights)
        members, points, cost = [], [], 0.0
        for member in range(n_members):
            tick("fitting" if n_members == 1 else f"fitting (member {member + 1} of {n_members})")
            own = problem
            if member:
                own = problem._replace(weights=problem.weights * rng.exponential(size=len(problem.weights)))
            wanted = sorted({0, *limits.sizes, *(held_out.shares if held_out else ())}) if not member else [chosen]
            found = fit_sizes(pool, typical, own, everything, limits, wanted, held_out)
            made = {
                size: rule_base(each, scaling, columns, outputs, missing_values, bags) for size, each in found.items()
            }
            if not member:
                cost = found[min(chosen, max(found))].cost(everything)
                points = [
                    FrontierPoint.of(size, rules, *_evidence(held_out, size, problem, unit))
                    for size, rules in made.items()
                ]
            members.append(made[min(chosen, max(made))])
    progress(n_fits, n_fits, "")
    # Of many, rules that say nothing new are left out, so a larger size may end with fewer.
    kept = [
        point
        for n, point in enumerate(points)
        if point.size == chosen or point.n_prototypes or all(point.n_rules > other.n_rules for other in points[:n])
    ]
    place = next((n for n, point in enumerate(kept) if point.size == chosen), len(kept) - 1)
    frontier = Frontier(tuple(kept), place, 0 if folds is None else folds.n_parts)
    return SearchResult(members, frontier, held_out, kinds, cost, len(few))


def _evidence(
    held_out: HeldOut | None, size: int, problem: Problem, unit: float | None
) -> tuple[dict[str, Measure], float]:
    """Return what held-out bags say of a size, and by how many standard errors it is better than no rules."""
    if held_out is None:
        return {}, np.nan
    found = measure(held_out.outputs[size], problem.labels, held_out.folds, classes=problem.classes, unit=unit)
    return found, support(held_out.costs, size, problem.weights)


def sample_bags(strata: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return a sample of very many bags with enough of each stratum, and by how much it must count more.

    All bags, if they are few.
    """
    counts = np.bincount(strata)
    if len(strata) <= MOST_BAGS:
        return np.arange(len(strata)), np.ones(len(strata))
    enough = max(MOST_BAGS // (4 * int(np.count_nonzero(counts))), 1)
    wanted: Array = np.minimum(counts, np.maximum(counts * MOST_BAGS // len(strata), enough))
    found = [rng.choice(np.flatnonzero(strata == each), size, replace=False) for each, size in enumerate(wanted)]
    rows = np.sort(np.concatenate(found))
    return rows, (counts / np.maximum(wanted, 1))[strata[rows]]


def divide(strata: Array, n_folds: int, rng: np.random.RandomState, groups: Array | None = None) -> Folds | None:
    """Return divisions of bags into parts that are held out in turn, several of few bags; None if there are too few.

    Every part has bags of every stratum, except for strata of fewer bags than parts. Groups stay together.
    """
    counts = np.bincount(strata)
    counts, repeated = counts[counts > 0], counts[counts > 1]
    if len(strata) < 2 * n_folds or len(repeated) < min(2, len(counts)):
        return None
    n_parts = max(min(n_folds, int(repeated.min())), 2)
    repeats = next((times for most, times in _REPEATS if len(strata) <= most), 1)
    parts = np.empty((repeats, len(strata)), int)
    for own in parts:
        seed = int(rng.randint(2**31 - 1))
        if groups is not None:
            n_parts = min(n_parts, len(np.unique(groups)))
            if n_parts < 2:
                return None
            split = StratifiedGroupKFold(n_parts, shuffle=True, random_state=seed).split(strata, strata, groups)
        else:
            split = StratifiedKFold(n_parts, shuffle=True, random_state=seed).split(strata, strata)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            for part, (_, held) in enumerate(split):
                own[held] = part
    return Folds(parts)


def hold_out(
    pool: Pool | Candidates,
    problem: Problem,
    folds: Folds,
    sizes: Sequence[int],
    limits: Limits,
    kinds: Sequence[str] = tuple(KIND_WORDS),
    tick: Callable[[str], None] = lambda stage: None,
) -> HeldOut:
    """Return what rules of each size, searched on the other bags, answer for the bags held out.

    ``pool``: of short premises, of which some ``kinds`` are searched; or prototypes.
    """

    def answer(rows: Array, held: Array) -> dict[tuple[int, float], tuple[Array, Start | None]]:
        candidates, favor = _grow(pool, problem, rows, limits, kinds)
        found = search(
            candidates.columns[rows],
            favor,
            problem.targets[rows],
            problem.weights[rows],
            sizes=sizes,
            ridges=RIDGES,
            logistic=problem.classes,
        )
        columns, moves = candidates.columns[held], isinstance(pool, Pool)
        return {
            key: (each.output(columns), Start.of(each, candidates) if moves and key[0] <= _REFINED_IN_FOLDS else None)
            for key, each in found.items()
        }

    pairs = list(folds)
    answers = []
    for each in Parallel(n_jobs=limits.n_jobs, return_as="generator")(delayed(answer)(*pair) for pair in pairs):
        answers.append(each)
        tick("cross-validation")
    repeat = np.repeat(np.arange(len(folds.parts)), folds.n_parts)
    outputs = {key: np.empty((len(folds.parts), *problem.targets.shape)) for key in answers[0]}
    for number, (_, held) in enumerate(pairs):
        for key, (output, _) in answers[number].items():
            outputs[key][repeat[number], held] = output
    nothing = float(np.average(_mean_costs(problem, outputs[0, RIDGES[0]]), weights=problem.weights))
    ridges = {
        size: _best_ridge({ridge: outputs[size, ridge] for ridge in RIDGES}, problem, nothing) for size in (0, *sizes)
    }
    chosen = {size: outputs[size, ridge].copy() for size, ridge in ridges.items()}
    for number, (rows, held) in enumerate(pairs):  # as on all bags, the sets of few rules are moved
        inside, outside = problem.only(rows), problem.only(held)
        for size, ridge in ridges.items():
            start = answers[number][size, ridge][1]
            if start is not None and start.premises:
                chosen[size][repeat[number], held] = _refine(start, inside, ridge).output(outside)
    costs = {size: _mean_costs(problem, output) for size, output in chosen.items()}
    return HeldOut(folds, ridges, chosen, costs, {}, outputs)


def _grow(
    pool: Pool | Candidates, problem: Problem, rows: Array, limits: Limits, kinds: Sequence[str] = tuple(KIND_WORDS)
) -> tuple[Candidates, Array]:
    """Return the candidates for some bags, and by which factor the gain of each counts."""
    if isinstance(pool, Pool):
        return pool.grow(problem, rows, limits.together, kinds)
    return pool, np.ones(pool.columns.shape[1])


def _mean_costs(problem: Problem, outputs: Array) -> Array:
    """Return the cost (b,) of outputs (repeats, b, k), the mean over the repeats."""
    return np.asarray(np.mean([problem.costs(each) for each in outputs], axis=0))


def _best_ridge(outputs: dict[float, Array], problem: Problem, nothing: float) -> float:
    """Return the best ridge; a stronger one, if it is about as good, keeps rules from being all too certain.

    ``nothing``: the cost without rules.
    """
    mean = {ridge: float(np.average(_mean_costs(problem, o), weights=problem.weights)) for ridge, o in outputs.items()}
    best = min(mean.values())
    return max(ridge for ridge in mean if mean[ridge] <= best + _SAME * max(nothing - best, 0.0))


def _is_solved(held_out: HeldOut, weights: Array) -> bool:
    """Return whether short rules leave next to nothing to explain."""
    mean = {size: float(np.average(cost, weights=weights)) for size, cost in held_out.costs.items()}
    return min(mean.values()) <= _SOLVED * mean[0]


def blend(short: HeldOut, typical: HeldOut, blends: dict[int, tuple[int, int]], problem: Problem) -> HeldOut:
    """Return held-out answers of short rules, of prototypes, and of averages of both.

    ``blends``: as `BLENDS`.
    """
    nothing = float(np.average(short.costs[0], weights=problem.weights))
    found = dataclasses.replace(short, ridges={**short.ridges}, outputs={**short.outputs}, costs={**short.costs})
    shares = {}
    for size, (n_short, n_typical) in blends.items():
        for share in _SHARES:
            outputs = {
                ridge: (1 - share) * short.unrefined[n_short, ridge] + share * typical.unrefined[n_typical, ridge]
                for ridge in RIDGES
            }
            ridge = _best_ridge(outputs, problem, nothing)
            cost = _mean_costs(problem, outputs[ridge])
            if size in shares and problem.weights @ (cost - found.costs[size]) >= 0:
                continue
            shares[size] = share
            found.ridges[size], found.outputs[size], found.costs[size] = ridge, outputs[ridge], cost
    return dataclasses.replace(found, shares=shares)


def decide(costs: dict[int, Array], weights: Array) -> int:
    """Return how many rules to use: the fewest that are about as good as the best, on held-out bags.

    About as good is what costs less than a standard error more, and at most a small part of what the best rules
    explain. Rules of some size must be better than none. Very many are used only where they are clearly better.

    ``costs`` (b,) by size, which include 0; ``weights`` (b,).
    """
    mean = {size: float(np.average(cost, weights=weights)) for size, cost in costs.items()}

    def tolerance(best: int, error: float) -> float:
        # Where nearly all is explained, a little more is worth no further rule; where little is, it may be.
        explained = max(mean[0] - mean[best], 0.0)
        unit = explained * explained / mean[0] if explained else 0.0
        return max(_NEGLIGIBLE * unit, min(_LOST * unit, error))

    def pick(sizes: list[int]) -> int:
        best = min(sizes, key=lambda size: mean[size])
        for size in sizes:
            more, error = difference(costs[size], costs[best], weights)
            if more <= tolerance(best, error) + 1e-12:
                return size
        return best

    sizes = sorted(size for size in costs if size)
    found = pick([size for size in sizes if size <= SIZES[-1]])
    best = pick(sizes)
    more, error = difference(costs[found], costs[best], weights)
    if more > max(_CLEARLY * error, tolerance(best, np.inf)):
        found = best
    return found if max(support(costs, size, weights) for size in costs) > _SUPPORT else 0


def support(costs: dict[int, Array], size: int, weights: Array) -> float:
    """Return by how many standard errors rules of a size are better than none."""
    gain, error = difference(costs[0], costs[size], weights)
    return gain / error if error > 0 else 0.0


def difference(costs: Array, others: Array, weights: Array) -> tuple[float, float]:
    """Return the mean difference of costs (b,), and its standard error."""
    share, away = weights / weights.sum(), costs - others
    mean = float(share @ away)
    return mean, float(np.sqrt(np.square(share) @ np.square(away - mean)))


@dataclasses.dataclass(frozen=True)
class AdditiveRules:
    """Rules without names for their sets: ``default + sum(truth of premise * coefs)``."""

    premises: tuple[Premise, ...]
    coefs: Array  # (r, k)
    default: Array  # (k,)

    def output(self, problem: Problem) -> Array:
        """Return the output (b, k) for the bags of a problem."""
        nothing = np.tile(self.default, (len(problem.targets), 1))
        return nothing + problem.truths(self.premises) @ self.coefs if self.premises else nothing

    def cost(self, problem: Problem) -> float:
        """Return the mean cost on the bags of a problem."""
        return mean_cost(self.output(problem), problem.labels, problem.weights, classes=problem.classes)[0]

    def without_idle(self, problem: Problem) -> AdditiveRules:
        """Return the same without rules that add nearly the same to every bag; the default takes over what they add."""
        if not self.premises:
            return self
        truth = problem.truths(self.premises)
        added = np.ptp(truth, axis=0)[:, None] * np.abs(self.coefs)
        least = min(_IDLE, _IDLE_TOGETHER / len(self.premises)) * np.ptp(truth @ self.coefs, axis=0)
        kept = np.any(added > np.maximum(least, _LEAST_CONCLUSION), axis=1)
        mean = np.average(truth, axis=0, weights=problem.weights)
        default = self.default + mean[~kept] @ self.coefs[~kept]
        premises = tuple(premise for premise, needed in zip(self.premises, kept, strict=True) if needed)
        return AdditiveRules(premises, self.coefs[kept], default)


class Start(NamedTuple):
    """What a search found, before the sets are moved."""

    premises: tuple[Premise, ...]
    coefs: Array
    default: Array

    @classmethod
    def of(cls, solution: Solution, candidates: Candidates) -> Start:
        """Name the premises of a solution."""
        return cls(tuple(candidates.premise(int(n)) for n in solution.places), solution.coefs, solution.default)


def fit_sizes(
    pool: Pool,
    typical: Candidates | None,
    problem: Problem,
    everything: Problem,
    limits: Limits,
    sizes: Sequence[int],
    held_out: HeldOut | None,
) -> dict[int, AdditiveRules]:
    """Return rules of some sizes, searched on the bags of a problem and refined on all.

    ``typical``: prototypes, if they were compared. ``problem``: of very many bags, ``everything``, it has a sample.
    """
    rows = np.arange(problem.bags.n_bags)
    ridges = {size: _FEW_RIDGE if held_out is None else held_out.ridges[size] for size in sizes}
    shares = {} if held_out is None else {size: held_out.shares[size] for size in sizes if size in held_out.shares}

    def solutions(pool: Pool | Candidates, sizes: Sequence[int]) -> Callable[[int, float], Start]:
        candidates, favor = _grow(pool, problem, rows, limits)
        found = search(
            candidates.columns,
            favor,
            problem.targets,
            problem.weights,
            sizes=sizes,
            ridges=sorted(set(ridges.values())),
            logistic=problem.classes,
        )
        return lambda size, ridge: Start.of(found[size, ridge], candidates)

    blends = {size: BLENDS[size] for size in shares}
    most = max([size for size in sizes if size not in shares] + [n for n, _ in blends.values()])
    short = solutions(pool, [size for size in limits.sizes if size <= most])
    like = solutions(typical, sorted({n for _, n in blends.values()})) if typical is not None and blends else short
    if everything.bags.n_bags == problem.bags.n_bags:
        everything = problem  # with its weights
    found: dict[int, AdditiveRules] = {}
    before = -1
    for size, ridge in ridges.items():
        if size in shares:
            n_short, n_typical = blends[size]
            mixed = _mix(short(n_short, ridge), like(n_typical, ridge), shares[size])
            found[size] = mixed.without_idle(everything)
            continue
        start = short(size, ridge)
        if size > 1 and len(start.premises) == before:
            continue  # there are no more candidates
        before = len(start.premises)
        found[size] = _refine(start, everything, ridge).without_idle(everything)
    return found


def _mix(one: Start, other: Start, share: float) -> AdditiveRules:
    """Return the weighted mean of two sums of rules, given the share of the second."""
    parts = [(start, factor) for start, factor in ((one, 1 - share), (other, share)) if factor]
    return AdditiveRules(
        tuple(premise for start, _ in parts for premise in start.premises),
        np.concatenate([factor * start.coefs for start, factor in parts]),
        np.sum([factor * start.default for start, factor in parts], axis=0),
    )


def _refine(start: Start, problem: Problem, ridge: float) -> AdditiveRules:
    """Move the sets of premises, and fit the conclusions to all bags."""
    if not start.premises:
        return AdditiveRules(*start[:2], constant(problem.labels, problem.weights, logistic=problem.classes))
    if len(start.premises) > _REFINED:
        return AdditiveRules(*start)
    movable = MovableConditions(start.premises, problem.bags, problem.missing)
    default, coefs, moves = move_sets(
        movable,
        start.default,
        start.coefs,
        problem.targets,
        problem.weights,
        ridge=ridge,
        classes=problem.classes,
        steps=_STEPS,
    )
    return AdditiveRules(tuple(share_sets(movable.moved(moves), problem.bags)), coefs, default)


# ---------------------------------------------------------------------- a rule base


def rule_base(
    found: AdditiveRules,
    scaling: Scaling,
    columns: Columns,
    outputs: Sequence[str],
    missing_values: Array | None = None,
    bags: Bags | None = None,
) -> RuleBase:
    """Return additive rules as a rule base, in the units of the data and with names for their sets.

    ``scaling``: of the targets. ``columns``: the features. ``missing_values`` (t, d): what missing values stand for.
    ``bags``: that prototypes were made from.
    """
    order = np.argsort(-np.abs(found.coefs).max(axis=1, initial=0.0), kind="stable")
    parts = [found.premises[n] for n in order]
    sets: dict[int, list[MembershipFunction]] = {}
    typical: dict[int, dict[MembershipFunction, str]] = {}
    for number, premise in enumerate(parts, start=1):
        for condition in (each for part in premise for each in part.conditions):
            if is_prototype(premise):
                typical.setdefault(condition.feature, {}).setdefault(condition.sets[0], f"{PROTOTYPE}{number}")
            elif not condition.is_crisp:
                sets.setdefault(condition.feature, []).append(condition.sets[0])
    words: dict[int, dict[MembershipFunction, str]] = {}
    variables = []
    for d, column in enumerate(columns):
        missing_of = () if missing_values is None else tuple(missing_values[:, d])
        if column.categories:
            variables.append(Variable(column.name, categories=column.categories, missing_values=missing_of))
            continue
        low, high = map(float, scaling.ranges[d])
        if typical:  # values are clipped to the range, which must not hide a threshold
            ends = [end for each in sets.get(d, []) for end in _reach(each)]
            low, high = min([low, *ends]), max([high, *ends])
        words[d] = named_sets(sets.get(d, []), low, high, column) | typical.get(d, {})
        terms = {word: chosen for chosen, word in words[d].items()}
        variables.append(Variable(column.name, terms, low, high, column.unit, missing_values=missing_of))
    rules = [
        Rule(
            _expression(premise, words, columns),
            (coefs * scaling.target_scale)[:, None].tolist(),
            comment=_origin(premise, bags, scaling.ranges) if bags is not None and is_prototype(premise) else "",
        )
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
        limited=bool(typical),
    )


def _reach(chosen: MembershipFunction) -> tuple[float, float]:
    """Return between which values the membership changes."""
    if isinstance(chosen, Sigmoid):
        return chosen.center - _REACH / abs(chosen.slope), chosen.center + _REACH / abs(chosen.slope)
    center, width = chosen.parameters[:2]
    return center - 3 * width, center + 3 * width


def _origin(premise: Premise, bags: Bags, ranges: Array) -> str:
    """Return which instance a prototype was made from, in words."""
    found = origin(premise, bags, ranges)
    return f"like instance {found[1]} of bag {bags.ids[found[0]]}" if found else ""


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
