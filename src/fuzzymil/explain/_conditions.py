"""The conditions of a rule at its witnesses: to which degree each holds, and which one decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import in_64_bit
from fuzzymil.bags import Column, Columns
from fuzzymil.explain.parts import ConditionExplanation
from fuzzymil.inference.layers import Masks, Params
from fuzzymil.inference.membership import family
from fuzzymil.inference.missing import missing_degrees
from fuzzymil.inference.norms import S_NORMS, T_NORMS, complement
from fuzzymil.inference.premises import HEDGES
from fuzzymil.rules import RuleBase, premise
from fuzzymil.rules.premise import And, Expression, Is, Not, Part, Quantified
from fuzzymil.rules.rule import Variable


class Sight(NamedTuple):
    """A part of a rule, by its number, and an instance (d,): as in the data, and clipped to the ranges of the rules."""

    part: int
    given: Array
    seen: Array


def conditions_at(
    base: RuleBase, params: Params, masks: Masks, sights: Sequence[Sight], columns: Columns | None = None
) -> list[tuple[ConditionExplanation, ...]]:
    """Return the conditions of parts at instances.

    Parameters
    ----------
    base : RuleBase
    params, masks
        The rule base, compiled.
    sights : sequence of Sight
    columns : Columns, optional
        What the features mean, with the names of all categories that the bags have.
    """
    places = base.arrangement.places
    missing = missing_degrees(params.sets, masks, params.missing_values)
    log_mu = iter(_log_memberships(params, masks, sights, [places[sight.part] for sight in sights]).tolist())
    found = []
    for sight in sights:
        degrees = [next(log_mu) for _ in places[sight.part]]
        features = [d for _, d in places[sight.part]]
        # Where a value is missing, its membership may be known nevertheless.
        certain = ~np.isnan(sight.seen[features])
        for n, place in enumerate(places[sight.part]):
            if missing is not None and not certain[n] and missing.settled[place]:
                degrees[n], certain[n] = float(missing.log_mu[place]), True
        asked = base.parts[sight.part]
        found.append(_conditions(base, asked, sight, features, degrees, certain.tolist(), columns or base.variables))
    return found


def _log_memberships(
    params: Params, masks: Masks, sights: Sequence[Sight], places: list[tuple[tuple[int, int], ...]]
) -> Array:
    """Return the log-membership of each instance in the sets of its part's conditions, one after the other, (n,)."""
    flat = [(row, d, sight.seen[d]) for sight, own in zip(sights, places, strict=True) for row, d in own]
    if not flat:
        return np.zeros(0)
    rows, columns = (np.array(each, int) for each in list(zip(*flat, strict=True))[:2])
    x = np.array([value for _, _, value in flat])
    found = np.zeros(len(flat))
    with np.errstate(all="ignore"), in_64_bit():
        for kind, sets in params.sets.items():
            own = np.asarray(masks[kind])[rows, columns] > 0
            parameters = (np.asarray(values)[rows[own], columns[own]] for values in sets)
            found[own] = np.asarray(family(kind).log_mu(x[own], *parameters))
    return found


def _conditions(
    base: RuleBase,
    part: Part,
    sight: Sight,
    columns: Sequence[int],
    log_mu: Sequence[float],
    certain: Sequence[bool],
    meanings: Sequence[Column | Variable],
) -> tuple[ConditionExplanation, ...]:
    """Return the conditions of one part at one instance, given their columns, and its log-memberships in their sets.

    ``certain`` says which of these are known.
    """
    asked = list(premise.conditions(part.premise))
    negated = [inside != part.negated for inside in premise.negations(part.premise)]
    known = ~np.isnan(sight.seen)
    degrees = [
        # As in the network, an unknown membership counts in favor of the rule.
        _hedged(value, condition.hedges) if sure else -np.inf if negative else 0.0
        for condition, sure, negative, value in zip(asked, certain, negated, log_mu, strict=True)
    ]
    support = [_complement(degree) if negative else degree for degree, negative in zip(degrees, negated, strict=True)]
    if premise.plain_conditions(part.premise) is not None:
        limiting = int(np.argmin(degrees)) if degrees else None
    else:
        limiting = decides(base, part.premise, degrees)
    return tuple(
        ConditionExplanation(
            variable=condition.variable,
            term=condition.term,
            hedges=condition.hedges,
            unit=base.variables[d].unit,
            value=float(sight.given[d]) if known[d] else None,
            counted_as=float(sight.seen[d]) if known[d] else None,
            log_membership=degrees[n],
            negated=negated[n],
            log_support=support[n],
            limiting=n == limiting and support[n] < 0,
            shown=meanings[d].shown(float(sight.given[d])) if known[d] else None,
        )
        for n, (condition, d) in enumerate(zip(asked, columns, strict=True))
    )


def decides(base: RuleBase, asked: Expression, degrees: Sequence[float]) -> int | None:
    """Return the number of the condition, or of the quantified part, that decides a premise.

    This is the least true part of an AND and the truest part of an OR, also inside a NOT (De Morgan's laws).

    Parameters
    ----------
    base : RuleBase
    asked : Expression
        The premise: of an instance, or of a bag.
    degrees : sequence of float
        Logarithms of the degrees of its conditions, or of its quantified parts, from left to right.
    """
    return _limiting(asked, enumerate(degrees), base)[1]


def _limiting(asked: Expression, degrees: Iterator[tuple[int, float]], base: RuleBase) -> tuple[float, int | None]:
    """Return the log-truth of a premise and the number of the condition that decides it."""
    if isinstance(asked, Is | Quantified):
        number, degree = next(degrees)
        return degree, number
    if isinstance(asked, Not):
        degree, number = _limiting(asked.part, degrees, base)  # type: ignore[assignment]
        return _complement(degree), number
    parts = [_limiting(part, degrees, base) for part in asked.parts]
    if not parts:
        return 0.0, None
    join, pick = (T_NORMS[base.t_norm], min) if isinstance(asked, And) else (S_NORMS[base.s_norm], max)
    degrees_of_parts: Any = np.array([degree for degree, _ in parts])
    with np.errstate(all="ignore"), in_64_bit():
        joined = float(join(degrees_of_parts))
    return joined, pick(parts, key=lambda part: part[0])[1]


def _hedged(log_mu: float, hedges: tuple[str, ...]) -> float:
    if not hedges:
        return log_mu
    value: Any = np.float64(log_mu)
    with np.errstate(all="ignore"), in_64_bit():
        for hedge in reversed(hedges):
            value = HEDGES[hedge](value)
        return float(value)


def _complement(log_mu: float) -> float:
    value: Any = np.float64(log_mu)
    with np.errstate(all="ignore"), in_64_bit():
        return float(complement(value))
