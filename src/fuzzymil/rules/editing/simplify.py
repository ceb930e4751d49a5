"""Fewer and shorter rules that say the same, and how much what they infer changes by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.bags import Bags
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.editing.comparison import conditions_on, premise_key, seen_bags, similarities, span
from fuzzymil.rules.editing.merge import blended, shares_of
from fuzzymil.rules.editing.rewrite import rewritten_rules, without_unused_terms
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import And, Is
from fuzzymil.rules.rule import Rule

__all__ = ["Change", "MergedTerms", "Simplified", "simplify"]

N_POINTS = 1024
"""Points of the variables' ranges on which rules are compared where no bags are given."""

Step = TypeVar("Step")

_ROUNDING = 1e-9  # of the outputs' range: steps that change nothing do so but for rounding


class MergedTerms(NamedTuple):
    """Terms of a variable that said the same, and the one that stands for them."""

    variable: str
    terms: tuple[str, ...]
    kept: str


class Change(NamedTuple):
    """How far outputs moved, and how many decisions with them."""

    greatest: float
    mean: float
    flips: int
    n_bags: int
    threshold: float | None  # None: of several outputs the greatest decides
    sampled: bool  # whether the bags are points of the variables' ranges

    def __str__(self) -> str:
        where = f"{self.n_bags} points of the variables' ranges" if self.sampled else f"{self.n_bags} bags"
        at = "" if self.threshold is None else f" at {self.threshold:g}"
        return (
            f"Outputs on {where} change by {self.greatest:.2g} at most, {self.mean:.2g} on average; "
            f"{self.flips} decision{'' if self.flips == 1 else 's'}{at} changed."
        )


@dataclasses.dataclass(frozen=True)
class Simplified:
    """A simpler rule base, what was done to get it, and what it costs; as text by ``str``.

    Attributes
    ----------
    rules : RuleBase
        The simpler rules.
    before : RuleBase
        The rules as they were; numbers and names below are theirs.
    dropped : tuple of int
        Numbers of the rules that went since they decide nothing.
    conditions : tuple of (int, str)
        Rules, and their conditions that went since they always hold.
    terms : tuple of MergedTerms
        Terms that said the same.
    merged : tuple of tuples of int
        Numbers of the rules that then asked the same and became one.
    change : Change
        How far the outputs moved.
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
            lines.append(f"Dropped, since they decide nothing: {_rules(self.dropped)}.")
        for number in dict.fromkeys(rule for rule, _ in self.conditions):
            gone = listed(condition for rule, condition in self.conditions if rule == number)
            lines.append(f"Rule {number} no longer asks what always holds: {gone}.")
        for variable, terms, kept in self.terms:
            lines.append(f"Terms of {variable} that say the same: {listed(terms)}; kept as {kept}.")
        lines.extend(f"Asking the same, and now one: {_rules(group)}." for group in self.merged)
        return "\n".join([*lines, str(self.change)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but ``before`` as plain values."""
        return {
            "rules": self.rules.to_dict(),
            "dropped": list(self.dropped),
            "conditions": [list(condition) for condition in self.conditions],
            "terms": [{"variable": v, "terms": list(terms), "kept": kept} for v, terms, kept in self.terms],
            "merged": [list(group) for group in self.merged],
            "change": self.change._asdict(),
        }


def _size(base: RuleBase) -> str:
    n_conditions = sum(len(rule.conditions) for rule in base.rules)
    n_terms = len(set(base.arrangement.terms.values()))
    return ", ".join(_count(*part) for part in ((base.n_rules, "rule"), (n_conditions, "condition"), (n_terms, "term")))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _rules(numbers: Sequence[int]) -> str:
    return f"rule{'' if len(numbers) == 1 else 's'} {listed(numbers)}"


# ---------------------------------------------------------------------- the steps, as far as outputs allow


def simplify(
    base: RuleBase,
    bags: Any,
    *,
    tolerance: float,
    similarity: float,
    always: float,
    min_share: float,
    threshold: float,
) -> Simplified:
    """Merge and drop; see `RuleBase.simplify`."""
    for name, value, high in (
        ("tolerance", tolerance, np.inf),
        ("similarity", similarity, 1.0),
        ("always", always, 1.0),
        ("min_share", min_share, 1.0),
    ):
        if not 0 <= value <= high:
            raise ParameterError(f"{name} must be a number from 0 to {high:g}, got {value!r}.")
    seen = None if bags is None else seen_bags(base, bags)
    judge = _Judge(base, _points(base) if seen is None else seen, tolerance)
    now = without_unused_terms(base)
    numbers = list(range(1, base.n_rules + 1))

    idle = [] if seen is None else _idle_rules(now, seen, min_share)
    now, dropped = judge.most(now, idle, lambda rules, chosen: rules.edit(drop=chosen, drop_unused_terms=True))
    numbers = [number for number in numbers if number not in dropped]
    now, loose = judge.most(now, _loose_conditions(now, seen, always), _without_conditions)
    now, alike = judge.most(now, _like_terms(now, seen, similarity), _with_shared_terms)
    clusters = _clusters(alike)
    now, merged = judge.most(now, _equal_premises(now), lambda rules, groups: rules.edit(merge=groups))
    return Simplified(
        now,
        base,
        tuple(sorted(dropped)),
        tuple(sorted((numbers[rule - 1], printer.premise_text(condition)) for rule, condition in loose)),
        tuple(MergedTerms(variable, terms, terms[0]) for variable, terms in clusters),
        tuple(tuple(numbers[rule - 1] for rule in group) for group in merged),
        judge.change(now, threshold, sampled=seen is None),
    )


class _Judge:
    """Lets through what moves no output by more than ``tolerance`` of the outputs' range."""

    def __init__(self, base: RuleBase, bags: Bags, tolerance: float) -> None:
        self.bags = bags
        self.before = base.infer(bags).output
        spread = np.ptp(self.before, axis=0)
        self.allowed = (tolerance + _ROUNDING) * np.where(spread > 0, spread, 1.0)

    def accepts(self, rules: RuleBase) -> bool:
        return bool((np.abs(rules.infer(self.bags).output - self.before) <= self.allowed).all())

    def most(
        self, base: RuleBase, steps: Sequence[Step], apply: Callable[[RuleBase, list[Step]], RuleBase]
    ) -> tuple[RuleBase, list[Step]]:
        """Take as many steps as are let through together, the most harmless first; found by bisection."""
        best, taken, too_many = base, 0, len(steps) + 1
        middle = len(steps)
        while taken < middle:
            found = apply(base, list(steps[:middle]))
            if self.accepts(found):
                best, taken = found, middle
            else:
                too_many = middle
            middle = (taken + too_many) // 2
        return best, list(steps[:taken])

    def change(self, rules: RuleBase, threshold: float, *, sampled: bool) -> Change:
        after = rules.infer(self.bags).output
        moved = np.abs(after - self.before)
        single = after.shape[1] == 1
        decisions = [out[:, 0] > threshold if single else out.argmax(axis=1) for out in (self.before, after)]
        flips = int((decisions[0] != decisions[1]).sum())
        at = float(threshold) if single else None
        return Change(float(moved.max()), float(moved.mean()), flips, len(after), at, sampled)


def _points(base: RuleBase) -> Bags:
    """Points spread evenly over the variables' ranges (always the same), and the rules' own centers, a bag each."""
    low, high = np.array([span(variable) for variable in base.variables]).T
    anywhere = np.random.RandomState(0).uniform(low, high, size=(N_POINTS, base.n_features))
    centers = np.where(np.isnan(base.centers), (low + high) / 2, base.centers)
    points = np.concatenate([anywhere, centers])
    return Bags(points, np.arange(len(points) + 1))


def _idle_rules(base: RuleBase, seen: Bags, min_share: float) -> list[int]:
    """Return the numbers of rules that nowhere reach the share, the idlest first; never all."""
    greatest = base.infer(seen).normalized.max(axis=0)
    return [int(r) + 1 for r in np.argsort(greatest, kind="stable")[:-1] if greatest[r] < min_share]


# ---------------------------------------------------------------------- conditions


def _loose_conditions(base: RuleBase, seen: Bags | None, always: float) -> list[tuple[int, Is]]:
    """Return rules and their conditions, joined to the rest by AND, that hold everywhere; the surest first."""
    found = [asked for asked in conditions_on(base, seen) if asked.least >= always]
    found.sort(key=lambda asked: (-asked.least, asked.rule))
    return [(number, condition) for number, condition, *_ in found if _stands_alone(base.rules[number - 1], condition)]


def _stands_alone(rule: Rule, condition: Is) -> bool:
    """Tell whether a condition is itself a part of the conjunction, and the only one on its variable."""
    asked = [other.variable for other in rule.conditions]
    parts = rule.premise.parts if isinstance(rule.premise, And) else (rule.premise,)
    return condition in parts and asked.count(condition.variable) == 1


def _without_conditions(base: RuleBase, gone: Sequence[tuple[int, Is]]) -> RuleBase:
    without: dict[int, list[str]] = {}
    for number, condition in gone:
        without.setdefault(number, []).append(condition.variable)
    return without_unused_terms(base.edit(without=without))


# ---------------------------------------------------------------------- terms


class _Likeness(NamedTuple):
    """Terms of a variable, every two of which are at least so similar."""

    similarity: float
    variable: str
    terms: tuple[str, ...]


def _like_terms(base: RuleBase, seen: Bags | None, similarity: float) -> list[_Likeness]:
    """Return the joints of each variable's tree of terms (complete linkage), the most similar first."""
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
    return sorted(found, key=lambda joint: -joint.similarity)  # stable: a joint stays behind those it is made of


def _clusters(joints: Sequence[_Likeness]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the variable and terms of the outermost joints."""
    outermost: dict[tuple[str, str], tuple[str, ...]] = {}
    for _, variable, terms in joints:
        outermost |= {(variable, term): terms for term in terms}
    return list(dict.fromkeys((variable, terms) for (variable, _), terms in outermost.items()))


def _with_shared_terms(base: RuleBase, joints: Sequence[_Likeness]) -> RuleBase:
    """Put one term, named as the first, in the place of all terms of a cluster; a term counts by the rules using it."""
    use: dict[tuple[str, str], float] = {}
    for rule in base.rules:
        for asked in rule.conditions:
            use[asked.variable, asked.term] = use.get((asked.variable, asked.term), 0.0) + rule.weight
    known = {variable.name: dict(variable.terms) for variable in base.variables}
    kept: dict[tuple[str, str], str] = {}
    for name, terms in _clusters(joints):
        shares = shares_of([use[name, term] for term in terms])
        known[name][terms[0]] = blended([known[name][term] for term in terms], shares)
        kept |= {(name, term): terms[0] for term in terms}

    def change(asked: Is) -> Is:
        return dataclasses.replace(asked, term=kept.get((asked.variable, asked.term), asked.term))

    variables = tuple(dataclasses.replace(v, terms=known[v.name]) for v in base.variables)
    rules = rewritten_rules(base.rules, change)
    return without_unused_terms(dataclasses.replace(base, variables=variables, rules=rules))


# ---------------------------------------------------------------------- rules


def _equal_premises(base: RuleBase) -> list[tuple[int, ...]]:
    """Return the numbers of rules that ask the same (with the same alpha), in groups."""
    groups: dict[Any, list[int]] = {}
    for r, rule in enumerate(base.rules):
        alpha = base.alpha[r] if isinstance(base.alpha, tuple) else base.alpha
        groups.setdefault((premise_key(rule), alpha), []).append(r + 1)
    return [tuple(group) for group in groups.values() if len(group) > 1]
