"""Conditions by the values that satisfy them: "temperature above 76" instead of "temperature is high"."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fuzzymil.bags.columns import DATE
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.premises import hedged
from fuzzymil.rules.language.printer import format_number, premise_text, quoted
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import MISSING, Variable

_FAR = 1e9  # spreads from the peak, where a set counts as open
_HALVINGS = 60


def condition_text(variable: Variable, condition: Is, *, negated: bool = False) -> str:
    """Return a condition with its range, or in its own words where it has none.

    ``negated``: whether the opposite is meant.
    """
    said = range_text(variable, condition.term, ("not", *condition.hedges) if negated else condition.hedges)
    if said:
        return f"{quoted(variable.name)} {said}"
    return f"NOT {premise_text(condition)}" if negated else premise_text(condition)


def range_text(variable: Variable, term: str, hedges: Sequence[str] = ()) -> str:
    """Return the values that belong to a term more than they do not: ``above 76``, ``between 3.1 and 4.2``.

    An end beyond the range of the variable is left out. Empty for categories, for missing values, and for sets that
    hold in the whole range or are not described by two ends.
    """
    chosen = variable.terms[term]
    found = None if term in variable.categories or term == MISSING else half_range(chosen, hedges)
    if found is None:
        return ""
    low, high = found
    inside = hedges.count("not") % 2 == 0
    ends = [-math.inf if variable.low is None else variable.low, math.inf if variable.high is None else variable.high]
    low, high = low if low > ends[0] else -math.inf, high if high < ends[1] else math.inf
    if math.isinf(low) and math.isinf(high):
        return ""
    dated = variable.shown(0.0) is not None
    under, over = ("before", "after") if dated else ("below", "above")
    unit = f" {variable.unit}" if variable.unit and not dated else ""
    first, last = (_shown(variable, end, high - low) for end in (low, high))
    if math.isinf(low):
        return f"{under if inside else over} {last}{unit}"
    if math.isinf(high):
        return f"{over if inside else under} {first}{unit}"
    return f"between {first} and {last}{unit}" if inside else f"{under} {first} or {over} {last}{unit}"


def half_range(chosen: MembershipFunction, hedges: Sequence[str] = ()) -> tuple[float, float] | None:
    """Return between which values the membership is above one half (of a negated set, below), or None.

    None stands for a set that is nowhere above one half, or in several places; infinity for an open side.
    """
    if not chosen.parameters:
        return None
    turned = hedges.count("not") % 2 == 1
    peak, spread = (float(f(*chosen.parameters)) for f in (chosen.peak, chosen.spread))

    def holds(values: np.ndarray) -> np.ndarray:
        return np.asarray((hedged(chosen, hedges, values) > 0.5) != turned)

    if not (math.isfinite(peak) and math.isfinite(spread) and spread > 0 and holds(np.array([peak])).all()):
        return None
    side = np.array([-1.0, 1.0])
    inner, outer = np.full(2, -_HALVINGS / 2), np.full(2, math.log(_FAR))
    is_open = holds(peak + side * spread * np.exp(outer))
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        there = holds(peak + side * spread * np.exp(middle))
        inner, outer = np.where(there, middle, inner), np.where(there, outer, middle)
    reach = np.where(is_open, math.inf, spread * np.exp(inner))
    low, high = peak + side * reach
    seen = peak + spread * np.linspace(-20.0, 20.0, 401)
    clear = np.minimum(abs(seen - low), abs(seen - high)) > 1e-6 * spread
    if not (holds(seen) == ((low <= seen) & (seen <= high)))[clear].all():
        return None
    digits = 9 - math.floor(math.log10(spread))  # without the rounding errors of the search
    low, high = (round(float(end), digits) if math.isfinite(end) else float(end) for end in (low, high))
    return low, high


def _shown(variable: Variable, end: float, width: float) -> str:
    """Return an end with as many digits as tell it apart from the other one."""
    if math.isinf(end):
        return ""
    named = variable.shown(round(end) if variable.unit == DATE else end)
    digits = 3
    if math.isfinite(width) and end:
        digits = max(digits, math.ceil(math.log10(abs(end) / width)) + 2)
    return named if named is not None else format_number(end, digits)
