"""Simplification: fewer and shorter rules, and how much the outputs change."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil._utils.text import quantity
from fuzzymil.bags import Bags
from fuzzymil.rules import json
from fuzzymil.rules.activations import infer, seen_bags
from fuzzymil.rules.editing._edit import blend, edit, rewrite_rules, shares_of, without_unused_terms
from fuzzymil.rules.editing.comparison import conditions_on, shares, similarities, span
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import And, Expression, Is, Quantified, is_quantified, premise_key
from fuzzymil.rules.rule import Rule

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

N_POINTS = 1024
"""Random points of the variables' ranges on which rules are compared if no bags are given."""

Step = TypeVar("Step")

_ROUNDING = 1e-9  # of the outputs' range: even steps that change nothing cause rounding errors


class MergedTerms(NamedTuple):
    """Similar terms of a variable, and the name of the one that replaces them."""

    variable: str
    terms: tuple[str, ...]
    kept: str


class Change(NamedTuple):
    """How much the outputs changed, and how many decisions with them."""

    greatest: float
    mean: float
    flips: int
    n_bags: int
    threshold: float | None  # None: the largest of several outputs decides
    sampled: bool  # whether the bags are random points of the variables' ranges

    def __str__(self) -> str:
        where = f"{self.n_bags} points of the variables' ranges" if self.sampled else f"{self.n_bags} bags"
        at = "" if self.threshold is None else f" at {self.threshold:g}"
        return (
            f"Outputs on {where} change by at most {self.greatest:.2g}, {self.mean:.2g} on average; "
            f"{quantity(self.flips, 'decision')}{at} changed."
        )


@dataclasses.dataclass(frozen=True)
class Simplified:
    """The result of `simplify`: simpler rules, the steps taken, and the change of the outputs.

    Attributes
    ----------
    rules : RuleBase
        The simpler rules.
    before : RuleBase
        The original rules; the numbers and names below refer to them.
    dropped : tuple of int
        Rules that were dropped because they never matter.
    conditions : tuple of (int, str)
        Rules, and their conditions that were removed because they always hold.
    terms : tuple of MergedTerms
        Similar terms that were merged.
    merged : tuple of tuples of int
        Rules that were merged because they then had the same premise.
    change : Change
        How much the outputs changed.
    """

    rules: RuleBase
    before: RuleBase
    dropped: tuple[int, ...]
    conditions: tuple[tuple[int, str], ...]
    terms: tuple[MergedTerms, ...]
    merged: tuple[tuple[int, ...], ...]
    change: Change

    def __str__(self) -> str:
        lines = [f"{_size(self.before)} became {_size(self.rules)}."]
        if self.dropped:
            one = len(self.dropped) == 1
            lines.append(f"Dropped because they never matter: {'rule' if one else 'rules'} {listed(self.dropped)}.")
        for number in dict.fromkeys(rule for rule, _ in self.conditions):
            gone = listed(condition for rule, condition in self.conditions if rule == number)
            lines.append(f"Rule {number}: removed conditions that always hold: {gone}.")
        for variable, terms, kept in self.terms:
            lines.append(f"Merged similar terms of {variable}: {listed(terms)}; kept as {kept}.")
        lines.extend(f"Merged rules with the same premise: rules {listed(group)}." for group in self.merged)
        return "\n".join([*lines, str(self.change)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but ``before`` as plain values."""
        return {
            "rules": json.to_dict(self.rules),
            "dropped": list(self.dropped),
            "conditions": [list(condition) for condition in self.conditions],
            "terms": [{"variable": v, "terms": list(terms), "kept": kept} for v, terms, kept in self.terms],
            "merged": [list(group) for group in self.merged],
            "change": self.change._asdict(),
        }


def _size(rules: RuleBase) -> str:
    n_conditions = sum(len(rule.conditions) for rule in rules.rules)
    counts = (rules.n_rules, "rule"), (n_conditions, "condition"), (len(set(rules.arrangement.terms.values())), "term")
    return ", ".join(quantity(*part) for part in counts)


# ---------------------------------------------------------------------- steps, as far as the tolerance allows


def simplify(
    base: RuleBase,
    bags: Any = None,
    *,
    tolerance: float = 0.05,
    similarity: float = 0.8,
    always: float = 0.95,
    min_share: float = 0.01,
    threshold: float = 0.5,
) -> Simplified:
    """Merge similar terms and rules, drop idle ones, and report how much the outputs change.

    The steps, in order: drop rules that never reach ``min_share``; remove conditions that always hold; merge
    similar terms of a variable; merge rules that then have the same premise, adding their weights, which changes
    no output (see `edit`). Each step goes as far as all outputs stay within ``tolerance``, least harmful changes
    first.

    Parameters
    ----------
    bags : Bags, or anything `as_bags` accepts, optional
        Typical bags for these rules. Without them no rule is dropped as idle, and outputs are compared on
        one-instance bags: 1024 points of the variables' ranges and the centers of the rules. Rules with quantifiers
        need bags.
    tolerance : float
        Largest allowed change of any output on the bags, relative to the outputs' range there; ``inf`` for any.
    similarity : float
        Terms are similar if, for each pair of them, the area of the intersection is at least this fraction of the
        area of the union (over the variable's range). They are merged as in `edit`.
    always : float
        A condition always holds if its membership is at least this on all instances (without bags, on the
        whole range).
    min_share : float
        A rule is idle if its share of the (normalized) strength is below this on every bag. Of additive rules, what
        it adds must stay below this part of the outputs' range.
    threshold : float
        Decision threshold of a single output, for counting decisions that change. With several outputs the
        largest one decides.

    Returns
    -------
    Simplified

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0], [1.01]], [[0.3], [0.3], [0.3]], [0, 1, 0.9])
    >>> simpler = rules.simplify([[[0.0]], [[0.4], [1.0]]])
    >>> print(simpler)
    3 rules, 3 conditions, 3 terms became 2 rules, 2 conditions, 2 terms.
    Merged similar terms of x1: high, highest; kept as high.
    Merged rules with the same premise: rules 2, 3.
    Outputs on 2 bags change by at most 2.4e-05, 2.2e-05 on average; 0 decisions at 0.5 changed.
    >>> print(simpler.rules)
    Rule 1: IF x1 is low THEN y = 0
    Rule 2: IF x1 is high THEN y = 0.95 WITH 2
    """
    for name, value, high in (
        ("tolerance", tolerance, np.inf),
        ("similarity", similarity, 1.0),
        ("always", always, 1.0),
        ("min_share", min_share, 1.0),
    ):
        if not 0 <= value <= high:
            raise ParameterError(f"{name} must be a number from 0 to {high:g}, got {value!r}.")
    if bags is None and any(is_quantified(rule.premise) for rule in base.rules):
        raise ParameterError(
            "Rules with quantifiers depend on how many instances a bag has: simplify them on typical bags, "
            "rules.simplify(bags)."
        )
    seen = None if bags is None else seen_bags(base, bags)
    judge = _Judge(base, _points(base) if seen is None else seen, tolerance)
    now = without_unused_terms(base)
    idle = [] if seen is None else _idle_rules(now, seen, min_share)
    now, dropped = judge.most(now, idle, lambda rules, chosen: edit(rules, drop=chosen))
    numbers = [number for number in range(1, base.n_rules + 1) if number not in dropped]
    now, loose = judge.most(now, _loose_conditions(now, seen, always), _without_conditions)
    now, alike = judge.most(now, _like_terms(now, seen, similarity), _with_shared_terms)
    now, merged = judge.most(now, _equal_premises(now), lambda rules, groups: edit(rules, merge=groups))
    return Simplified(
        rules=now,
        before=base,
        dropped=tuple(sorted(dropped)),
        conditions=tuple(sorted((numbers[rule - 1], printer.premise_text(condition)) for rule, condition in loose)),
        terms=tuple(MergedTerms(variable, terms, terms[0]) for variable, terms in _clusters(alike)),
        merged=tuple(tuple(numbers[rule - 1] for rule in group) for group in merged),
        change=judge.change(now, threshold, sampled=seen is None),
    )


class _Judge:
    """Accepts rules whose outputs differ by at most ``tolerance`` of the outputs' range."""

    def __init__(self, base: RuleBase, bags: Bags, tolerance: float) -> None:
        self.bags = bags
        self.before = infer(base, bags).output
        spread = np.ptp(self.before, axis=0)
        self.allowed = (tolerance + _ROUNDING) * np.where(spread > 0, spread, 1.0)

    def accepts(self, rules: RuleBase) -> bool:
        return bool((np.abs(infer(rules, self.bags).output - self.before) <= self.allowed).all())

    def most(
        self, base: RuleBase, steps: Sequence[Step], apply: Callable[[RuleBase, list[Step]], RuleBase]
    ) -> tuple[RuleBase, list[Step]]:
        """Apply as many steps as are accepted together, least harmful first; found by bisection."""
        best, taken, too_many = base, 0, len(steps) + 1
        middle = len(steps)
        while taken < middle:
            found = without_unused_terms(apply(base, list(steps[:middle])))
            if self.accepts(found):
                best, taken = found, middle
            else:
                too_many = middle
            middle = (taken + too_many) // 2
        return best, list(steps[:taken])

    def change(self, rules: RuleBase, threshold: float, *, sampled: bool) -> Change:
        after = infer(rules, self.bags).output
        moved = np.abs(after - self.before)
        single = after.shape[1] == 1
        decisions = [out[:, 0] > threshold if single else out.argmax(axis=1) for out in (self.before, after)]
        flips = int((decisions[0] != decisions[1]).sum())
        at = float(threshold) if single else None
        return Change(float(moved.max()), float(moved.mean()), flips, len(after), at, sampled)


def _points(base: RuleBase) -> Bags:
    """Return one-instance bags: points drawn from the variables' ranges (always the same), and the rules' centers."""
    low, high = np.array([span(variable) for variable in base.variables]).T
    anywhere = np.random.RandomState(0).uniform(low, high, size=(N_POINTS, base.n_features))
    points = np.concatenate([anywhere, np.where(np.isnan(base.centers), (low + high) / 2, base.centers)])
    return Bags(points, np.arange(len(points) + 1))


def _idle_rules(rules: RuleBase, seen: Bags, min_share: float) -> list[int]:
    """Return the numbers of rules that never reach the share, the most idle first; never all of them."""
    greatest = shares(infer(rules, seen), normalize=rules.normalize).max(axis=0)
    return [int(r) + 1 for r in np.argsort(greatest, kind="stable")[:-1] if greatest[r] < min_share]


# ---------------------------------------------------------------------- conditions


def _loose_conditions(base: RuleBase, seen: Bags | None, always: float) -> list[tuple[int, Is]]:
    """Return rules and their conditions, joined by AND, that hold everywhere; the surest first."""
    found = sorted(conditions_on(base, seen), key=lambda asked: (-asked.least, asked.rule))
    return [
        (asked.rule, asked.condition)
        for asked in found
        if asked.least >= always and _stands_alone(base.rules[asked.rule - 1], asked.condition)
    ]


def _stands_alone(rule: Rule, condition: Is) -> bool:
    """Return whether a condition is itself a part of the conjunction, and the only one on its variable."""

    def joined(premise: Expression) -> tuple[Expression, ...]:
        return premise.parts if isinstance(premise, And) else (premise,)

    whole = [part.part if isinstance(part, Quantified) else part for part in joined(rule.premise)]
    asked = [other.variable for other in rule.conditions]
    return condition in itertools.chain(*map(joined, whole)) and asked.count(condition.variable) == 1


def _without_conditions(base: RuleBase, gone: Sequence[tuple[int, Is]]) -> RuleBase:
    without: dict[int, list[str]] = {}
    for number, condition in gone:
        without.setdefault(number, []).append(condition.variable)
    return edit(base, without=without)


# ---------------------------------------------------------------------- terms


class _Likeness(NamedTuple):
    """Terms of a variable with at least this pairwise similarity."""

    similarity: float
    variable: str
    terms: tuple[str, ...]


def _like_terms(base: RuleBase, seen: Bags | None, similarity: float) -> list[_Likeness]:
    """Return the merges of each variable's dendrogram of terms (complete linkage), the most similar first."""
    from scipy.cluster.hierarchy import linkage  # deferred, like the next one: slow to import
    from scipy.spatial.distance import squareform

    found = []
    for d, variable in enumerate(base.variables):
        terms = list(variable.terms)
        if len(terms) < 2:
            continue
        values = None if seen is None else seen.instances[:, d]
        alike = similarities(list(variable.terms.values()), *span(variable, values))
        members: list[tuple[int, ...]] = [(n,) for n in range(len(terms))]
        for left, right, distance, _ in linkage(squareform(1.0 - alike, checks=False), "complete"):
            members.append(tuple(sorted((*members[int(left)], *members[int(right)]))))
            if 1.0 - distance >= similarity:
                found.append(_Likeness(1.0 - distance, variable.name, tuple(terms[n] for n in members[-1])))
    return sorted(found, key=lambda merge: -merge.similarity)  # stable: a merge stays behind the ones it contains


def _clusters(merges: Sequence[_Likeness]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the variable and terms of the outermost merges."""
    outermost: dict[tuple[str, str], tuple[str, ...]] = {}
    for _, variable, terms in merges:
        outermost |= {(variable, term): terms for term in terms}
    return list(dict.fromkeys((variable, terms) for (variable, _), terms in outermost.items()))


def _with_shared_terms(base: RuleBase, merges: Sequence[_Likeness]) -> RuleBase:
    """Replace all terms of a cluster by one, named like the first; each term is weighted by the rules that use it."""
    use: dict[tuple[str, str], float] = {}
    for rule in base.rules:
        for asked in rule.conditions:
            use[asked.variable, asked.term] = use.get((asked.variable, asked.term), 0.0) + rule.weight
    known = {variable.name: dict(variable.terms) for variable in base.variables}
    kept: dict[tuple[str, str], str] = {}
    for name, terms in _clusters(merges):
        shares = shares_of([use[name, term] for term in terms])
        known[name][terms[0]] = blend([known[name][term] for term in terms], shares)
        kept |= {(name, term): terms[0] for term in terms}

    def change(asked: Is) -> Is:
        return dataclasses.replace(asked, term=kept.get((asked.variable, asked.term), asked.term))

    variables = tuple(dataclasses.replace(v, terms=known[v.name]) for v in base.variables)
    return dataclasses.replace(base, variables=variables, rules=rewrite_rules(base.rules, change))


# ---------------------------------------------------------------------- rules


def _equal_premises(base: RuleBase) -> list[tuple[int, ...]]:
    """Return groups of rules with equal premises and alphas (and with equal conclusions, if these are sets)."""
    groups: dict[Any, list[int]] = {}
    for r, rule in enumerate(base.rules):
        alpha = base.alpha[r] if isinstance(base.alpha, tuple) else base.alpha
        groups.setdefault((premise_key(rule.premise), alpha, rule.terms), []).append(r + 1)
    return [tuple(group) for group in groups.values() if len(group) > 1]
