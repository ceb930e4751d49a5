"""Premises made of quantified conditions: how true they are in each bag, and the derivatives of that.

Everything here is NumPy, and small: choosing rules compares thousands of candidates, and compiling a program for each
would take longer than the comparison. The network of `fuzzymil.inference` computes the same values, which is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.learn.choose._gaps import IGNORED, Gaps
from fuzzymil.learn.train.scaling import Measures

__all__ = ["Condition", "Gone", "OneOf", "Part", "Premise", "Premises", "Statements", "order_statistics"]


class OneOf(NamedTuple):
    """The crisp set of some categories, by their codes, or of all others."""

    codes: tuple[int, ...]
    negated: bool = False

    @property
    def side(self) -> object:
        """What it has in common with sets that say the same: only itself does."""
        return self

    def holds(self, values: Array) -> Array:
        """Return whether each value belongs to it; a missing one does."""
        return np.asarray((np.isin(values, self.codes) != self.negated) | np.isnan(values))


class Gone(NamedTuple):
    """The crisp set of missing values, or of all others."""

    negated: bool = False

    @property
    def side(self) -> object:
        """What it has in common with sets that say the same: only itself does."""
        return self

    def holds(self, values: Array) -> Array:
        """Return whether each value belongs to it."""
        return np.asarray(np.isnan(values) != self.negated)


class Condition(NamedTuple):
    """A feature and the fuzzy set that its value must belong to."""

    feature: int
    set: MembershipFunction | OneOf | Gone

    @property
    def is_crisp(self) -> bool:
        """Whether the set has no numbers that could be moved."""
        return isinstance(self.set, OneOf | Gone)


class Part(NamedTuple):
    """A quantifier over the instances that satisfy some conditions; without conditions it counts all instances."""

    quantifier: str
    number: int | None
    conditions: tuple[Condition, ...]

    @property
    def is_threshold(self) -> bool:
        """Whether the part depends on one value of each bag, the same wherever the threshold is."""
        alone = len(self.conditions) == 1 and isinstance(self.conditions[0].set, Sigmoid)
        return alone and self.quantifier in ("some", "at least")


Premise = tuple[Part, ...]
"""The conjunction of quantified parts."""


class Premises(Protocol):
    """Premises whose fuzzy sets can be moved, by a vector that is 0 where they are now."""

    @property
    def n_moves(self) -> int:
        """Length of the vector. In each direction, 1 is a great change."""
        ...

    def evaluate(self, moves: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return the truth (b, r) of the premises, and a function from its derivatives to those of the moves."""
        ...


def order_statistics(x: Array, offsets: Array, count: int, *, known: bool = False) -> tuple[Array, Array]:
    """Return the greatest and least ``count`` values of each feature of instances (i, d) in each bag, (count, b, d).

    A missing value satisfies every condition, so it is infinitely great in one, infinitely small in the other; if only
    ``known`` values count, the other way round. Bags with fewer instances satisfy nothing.
    """
    always = -np.inf if known else np.inf
    missing = np.isnan(x)
    is_whole = not missing.any()
    high, low = (x, x) if is_whole else (np.where(missing, always, x), np.where(missing, -always, x))
    if count == 1:
        starts = offsets[:-1]
        return np.maximum.reduceat(high, starts, axis=0)[None], np.minimum.reduceat(low, starts, axis=0)[None]
    shape = (count, len(offsets) - 1, x.shape[1])
    greatest, least = np.full(shape, -np.inf), np.full(shape, np.inf)
    for b, (first, last) in enumerate(pairwise(offsets.tolist())):
        n = min(count, last - first)
        ordered = np.sort(high[first:last], axis=0)
        greatest[:n, b] = ordered[::-1][:n]
        least[:n, b] = (ordered if is_whole else np.sort(low[first:last], axis=0))[:n]
    return greatest, least


_NEVER = -1e4  # the logarithm of 0, finite, so that it can be multiplied by 0
_STEP = 0.3  # a move of 1 shifts a set by this many standard deviations of its feature


class Statements:
    """Quantified conditions on bags.

    Parameters
    ----------
    premises : sequence of Premise
        With sigmoid and bell-shaped sets, sets of categories, and of missing values.
    bags : Bags
    gaps : Gaps
        What missing values mean.
    """

    def __init__(self, premises: Sequence[Premise], bags: Bags, gaps: Gaps = IGNORED) -> None:
        self.premises, self.bags = tuple(premises), bags
        self._parts = [part for premise in premises for part in premise]
        self._rule = np.array([r for r, premise in enumerate(premises) for _ in premise], int)
        self._conditions = [condition for part in self._parts for condition in part.conditions]
        self._part = np.array([p for p, part in enumerate(self._parts) for _ in part.conditions], int)
        asked = np.array([condition.feature for condition in self._conditions], int)
        each, places = np.unique(asked, return_inverse=True)
        self._unit = _STEP * Measures.of(bags.instances[:, each]).deviation[places]
        self._is_bell = np.array([isinstance(condition.set, Bell) for condition in self._conditions], bool)
        # A crisp set has no parameters: it takes part as a set that does not move.
        sets = [(0.0, 1.0) if isinstance(c.set, OneOf | Gone) else c.set.parameters for c in self._conditions]
        self._center = np.array([values[0] for values in sets], float)
        self._width = np.array([values[1] if len(values) == 3 else 1.0 for values in sets], float)
        self._slope = np.array([values[-1] for values in sets], float)
        # Which value decides on a threshold is known beforehand, unless a missing one may, to a degree that changes.
        partly: set[int] = set()
        if gaps.values is not None:
            partly = set(np.flatnonzero(np.isnan(bags.instances).any(axis=0)).tolist())
        simple = np.zeros(len(self._parts), bool)
        for p, part in enumerate(self._parts):
            simple[p] = part.is_threshold and part.conditions[0].feature not in partly
        self._simple = np.flatnonzero(simple[self._part])  # conditions that are parts of their own
        self._other = np.flatnonzero(~simple[self._part])
        self._value = self._decisive_values()
        features = [self._conditions[c].feature for c in self._other]
        self._x = bags.instances[:, features]
        self._unknown = np.isnan(self._x)
        self._stand_ins = None if gaps.values is None else gaps.values[:, features]
        self._crisp = np.array([self._conditions[c].is_crisp for c in self._other], bool)
        self._log_crisp = np.zeros_like(self._x)
        for place in np.flatnonzero(self._crisp):
            chosen = self._conditions[self._other[place]].set
            assert isinstance(chosen, OneOf | Gone)
            self._log_crisp[:, place] = np.where(chosen.holds(self._x[:, place]), 0.0, _NEVER)
            if isinstance(chosen, OneOf) and self._stand_ins is not None:
                share = chosen.holds(self._stand_ins[:, place]).mean()
                self._log_crisp[self._unknown[:, place], place] = np.log(share) if share else _NEVER
        self._unknown &= ~self._crisp
        self._x = np.where(np.isnan(self._x), 0.0, self._x)
        self._owner = np.repeat(np.arange(bags.n_bags), bags.sizes)
        self._places = np.flatnonzero([bool(p.conditions) and not s for p, s in zip(self._parts, simple, strict=True)])
        self._incidence = (self._part[self._other][:, None] == self._places).astype(float)

    @property
    def n_moves(self) -> int:
        """Three per condition: the center, the logarithms of the width (of a bell) and of the slope."""
        return 3 * len(self._conditions)

    def columns(self) -> Array:
        """Return the truth of the premises, (b, r)."""
        return self.evaluate(np.zeros(self.n_moves))[0]

    def moved(self, moves: Array) -> tuple[Premise, ...]:
        """Return the premises after a move."""
        center, width, slope = self._sets(moves)
        found: list[Premise] = []
        c = 0
        for premise in self.premises:
            parts = []
            for part in premise:
                conditions = []
                for condition in part.conditions:
                    new: MembershipFunction = (
                        Bell(center[c], width[c], slope[c]) if self._is_bell[c] else Sigmoid(center[c], slope[c])
                    )
                    conditions.append(condition if condition.is_crisp else Condition(condition.feature, new))
                    c += 1
                parts.append(Part(part.quantifier, part.number, tuple(conditions)))
            found.append(tuple(parts))
        return tuple(found)

    def evaluate(self, moves: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return the truth (b, r) of the premises, and a function from its derivatives to those of the moves."""
        center, width, slope = self._sets(moves)
        degrees = np.ones((self.bags.n_bags, len(self._parts)))
        for p, part in enumerate(self._parts):
            if not part.conditions:
                degrees[:, p] = self.bags.sizes >= (part.number or 0)
        chosen = self._simple
        away = self._value - center[chosen]
        away = np.where(np.isfinite(away), away, np.copysign(1e300, away))
        with np.errstate(over="ignore"):
            simple = expit(slope[chosen] * away)
        degrees[:, self._part[chosen]] = simple
        log_truth, derivatives = self._memberships(center, width, slope)
        rows = self._join(degrees, log_truth)
        truth = np.ones((self.bags.n_bags, len(self.premises)))
        for p, r in enumerate(self._rule):
            truth[:, r] *= degrees[:, p]

        def pullback(slopes: Array) -> Array:
            found = np.zeros((3, len(self._conditions)))
            inner = self._slopes_of_parts(slopes, degrees)
            steep = inner[:, self._part[chosen]] * simple * (1 - simple)
            found[0, chosen] = -(steep * slope[chosen]).sum(axis=0)
            with np.errstate(over="ignore"):
                found[2, chosen] = (steep * np.where(steep == 0, 0.0, slope[chosen] * away)).sum(axis=0)
            of_rows = np.zeros_like(log_truth)
            for g, p in enumerate(self._places):
                weighted = inner[:, p] * degrees[:, p]
                deciding = rows[g]
                if deciding is None:  # the mean over instances
                    share = np.exp(log_truth[:, g]) / self.bags.sizes[self._owner]
                    of_rows[:, g] = inner[self._owner, p] * share
                else:
                    reached = degrees[:, p] > 0
                    np.add.at(of_rows[:, g], deciding[reached], weighted[reached])
            of_conditions = of_rows @ self._incidence.T
            for axis, derivative in enumerate(derivatives):
                found[axis, self._other] = (of_conditions * derivative).sum(axis=0)
            found[0] *= self._unit
            return found.ravel()

        return truth, pullback

    def _sets(self, moves: Array) -> tuple[Array, Array, Array]:
        shift, wider, steeper = moves.reshape(3, -1)
        return self._center + self._unit * shift, self._width * np.exp(wider), self._slope * np.exp(steeper)

    def _decisive_values(self) -> Array:
        """Return the value (b, simple conditions) on which each threshold decides."""
        if not len(self._simple):
            return np.empty((self.bags.n_bags, 0))
        asked = [self._conditions[c].feature for c in self._simple]
        features, places = np.unique(asked, return_inverse=True)
        nth = np.array([self._parts[self._part[c]].number or 1 for c in self._simple]) - 1
        instances = self.bags.instances[:, features]
        greatest, least = order_statistics(instances, self.bags.offsets, int(nth.max()) + 1)
        rises = self._slope[self._simple] > 0
        return np.where(rises, greatest[nth, :, places].T, least[nth, :, places].T)

    def _memberships(self, center: Array, width: Array, slope: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        """Return log-truths (i, parts) of the parts that look at all instances, and derivatives (i, conditions)."""
        log_mu, derivatives = self._of_values(self._x, center, width, slope)
        log_mu = np.where(self._crisp, self._log_crisp, log_mu)
        still = np.broadcast_to(self._crisp, log_mu.shape)
        of_gap, slopes = 0.0, [0.0] * len(derivatives)
        if self._unknown.any() and self._stand_ins is not None:
            each, theirs = self._of_values(self._stand_ins, center, width, slope)
            total = np.logaddexp.reduce(each, axis=0)
            share = np.exp(each - total)
            of_gap = total - np.log(len(each))
            slopes = [(share * own).sum(axis=0) for own in theirs]
        by_center, by_width, by_slope = (
            np.where(still, 0.0, np.where(self._unknown, gap, own))
            for own, gap in zip(derivatives, slopes, strict=True)
        )
        return np.where(self._unknown, of_gap, log_mu) @ self._incidence, (by_center, by_width, by_slope)

    def _of_values(
        self, x: Array, center: Array, width: Array, slope: Array
    ) -> tuple[Array, tuple[Array, Array, Array]]:
        """Return log-memberships (n, conditions) of values in the sets, and their derivatives."""
        of, bell = self._other, self._is_bell[self._other]
        steep = slope[of]
        away = x - center[of]
        scaled = np.where(bell, away / width[of], 1.0)
        log_scaled = np.log(np.maximum(np.abs(scaled), 1e-300))
        z = np.where(bell, -2 * steep * log_scaled, steep * away)
        log_mu = -np.logaddexp(0.0, -z)
        rate = expit(-z)  # d log_mu / d z
        safe = np.where(away == 0, 1.0, away)
        by_center = np.where(bell, np.where(away == 0, 0.0, 2 * steep / safe), -steep)
        return log_mu, (rate * by_center, rate * np.where(bell, 2 * steep, 0.0), rate * z)

    def _join(self, degrees: Array, log_truth: Array) -> list[Array | None]:
        """Set the degrees of the parts that look at all instances; return the rows that decide, None for a mean."""
        starts, sizes = self.bags.offsets[:-1], self.bags.sizes
        rows: list[Array | None] = []
        for g, p in enumerate(self._places):
            part, values = self._parts[p], log_truth[:, g]
            if part.quantifier == "on average":
                degrees[:, p] = np.add.reduceat(np.exp(values), starts) / sizes
                rows.append(None)
                continue
            nth = (part.number or 1) - 1
            if nth == 0:
                reduced = (np.minimum if part.quantifier == "all" else np.maximum).reduceat(values, starts)
                rows_of_values = np.where(values == reduced[self._owner], np.arange(len(values)), len(values))
                deciding = np.minimum.reduceat(rows_of_values, starts)
            else:
                order = np.lexsort((-values, self._owner))
                deciding = order[np.minimum(starts + nth, len(order) - 1)]
            degrees[:, p] = np.where(sizes > nth, np.exp(values[deciding]), 0.0)
            rows.append(deciding)
        return rows

    def _slopes_of_parts(self, slopes: Array, degrees: Array) -> Array:
        """Return derivatives (b, parts) from those of the rules, (b, r): each times the degrees of the other parts."""
        found = slopes[:, self._rule]
        for r in np.flatnonzero(np.bincount(self._rule, minlength=len(self.premises)) > 1):
            parts = np.flatnonzero(self._rule == r)
            for p in parts:
                found[:, p] = slopes[:, r] * degrees[:, parts[parts != p]].prod(axis=1)
        return found
