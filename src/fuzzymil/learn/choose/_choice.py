"""The entry to this package: from bags and targets to rule bases."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags, Column, Columns
from fuzzymil.learn.choose._conversion import rule_base
from fuzzymil.learn.choose._families import Problem
from fuzzymil.learn.choose._gaps import Gaps
from fuzzymil.learn.choose._selection import HeldOut, Plan, chosen, plan
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase

__all__ = ["MOST_BAGS", "Choice", "choose_rules"]

MOST_RULES = 50
MOST_BAGS = 3_000  # that candidates are compared on; their sets are refined on all


@dataclasses.dataclass(frozen=True)
class Choice:
    """Chosen rules, and what was compared to find them.

    Attributes
    ----------
    members : list of RuleBase
        One rule base, or the members of a committee.
    initial : callable
        Makes the rules of the first member before their sets were refined, which few need.
    families : tuple of str
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
    families: tuple[str, ...]
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
    gaps: Array | None = None,
    asks_missing: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, total, stage: None,
) -> Choice:
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
    gaps : array of shape (t, d), optional
        What missing values stand for. None: they satisfy every condition.
    asks_missing : bool
        Whether rules may ask if a value is missing.
    progress : callable
        Receives the number of steps that are done, their total, and what is going on.

    Returns
    -------
    Choice
    """
    counting = weights > 0
    bags, targets, weights, groups = bags[counting], targets[counting], weights[counting], groups[counting]
    columns = bags.columns or Columns(map(Column, bags.names))
    used = np.flatnonzero(scaling.varies & ~columns.categorical)  # distances between categories mean nothing
    seen = scaling.apply(bags.instances)
    standardized = Bags(seen[:, used] if len(used) else np.zeros((len(seen), 1)), bags.offsets)
    plain = Bags(bags.instances, bags.offsets, columns=bags.columns)
    problem = Problem(plain, standardized, scaling.apply_to_targets(targets), weights, classes)
    if gaps is not None:
        stand_ins = scaling.apply(gaps)[:, used] if len(used) else None
        problem = problem._replace(gaps=Gaps(gaps, asks_missing), stand_ins=stand_ins)
    if not classes:
        rank = np.argsort(np.argsort(problem.targets[:, 0], kind="stable"))
        groups = 5 * rank // len(rank)
    done, member = 0, 0

    def tick(stage: str) -> None:
        nonlocal done
        done += 1
        whose = f" (member {member + 1} of {n_members})" if n_members > 1 else ""
        progress(done, max(done, _STEPS_OF_A_PLAN * n_members), stage + whose)

    members, starts, plans, costs = [], [], [], []
    written = scaling, columns, used, outputs, gaps
    with threadpool_limits(1, user_api="blas"):  # for products as small as these, threads mostly wait for each other
        for member in range(n_members):  # noqa: B007 (tick tells it)
            few, factors = _sample(groups, rng)
            part = problem.only(few)
            part = part._replace(weights=part.weights * factors)
            made = plan(
                part, groups[few], n_rules=n_rules or MOST_RULES, max_conditions=max_conditions, rng=rng, tick=tick
            )
            tick("refining the rules")
            before, after = chosen(part, made, max_conditions, problem)
            starts.append(functools.partial(rule_base, before, *written))
            members.append(rule_base(after, *written))
            plans.append(made)
            costs.append(after.cost(problem))
    progress(done, done, "")
    families = tuple(ingredient.family.name for ingredient in plans[0].ingredients)
    return Choice(members, starts[0], families, _costs(plans[0], problem), costs[0], plans[0].held_out)


_STEPS_OF_A_PLAN = 45


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


def _costs(made: Plan, problem: Problem) -> dict[str, float]:
    if not made.options:
        return {}
    mean = np.average(problem.targets, axis=0, weights=problem.weights)
    level = np.log(np.clip(mean, 1e-6, 1) / np.clip(1 - mean, 1e-6, 1)) if problem.classes else mean
    nothing = problem.costs(np.tile(level, (len(problem.targets), 1)))
    return {"no rules": float(np.average(nothing, weights=problem.weights)), **made.options}
