"""Names for learned fuzzy sets: the words that a person would choose for the sets of one variable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fuzzymil.bags import Column
from fuzzymil.inference.membership import Bell, MembershipFunction, family

# Names of one, two and three sets of a kind, from low to high.
_OPEN_UPWARD = (("high",), ("raised", "high"), ("raised", "high", "extreme"))
_OPEN_DOWNWARD = (("low",), ("low", "reduced"), ("minimal", "low", "reduced"))
_BOUNDED = {
    "low": (("low",), ("lowest", "low"), ("lowest", "low", "fairly_low")),
    "medium": (("medium",), ("lower_medium", "upper_medium"), ("lower_medium", "medium", "upper_medium")),
    "high": (("high",), ("high", "highest"), ("fairly_high", "high", "highest")),
}
_BESIDE_OPEN = {"low": (("lower",), ("lower", "fairly_low")), "high": (("upper",), ("fairly_high", "upper"))}
"""For bounded sets that lie between the middle and open ones, which have the plain words."""


def named_sets(
    sets: Iterable[MembershipFunction], low: float, high: float, column: Column | None = None
) -> dict[MembershipFunction, str]:
    """Name the sets of one variable, in the order of their values.

    Those open to the bottom come first, then bounded ones, then those open to the top. A set that is open to the top
    is *high*, one that is open to the bottom *low*; two and three of them are *raised*, *high* and *extreme*, or
    *minimal*, *low* and *reduced*. A bounded set is called after the third of the range in which it is centered: *low*,
    *medium* or *high*, with a qualifying word where two or three sets share a third (*lower_medium*, *upper_medium*),
    or have the same center (*narrow_medium*, *broad_medium*). Only more than three are numbered, from low to high. Sets
    of dates and times are called after where they begin and end.

    ``low``, ``high``: range of the variable. ``column``: of a date or a time of day. Returned: the name of each
    different set.
    """
    distinct = list(dict.fromkeys(sets))
    sides = dict(zip(distinct, _sides(distinct), strict=True))
    places = {chosen: _place(chosen, side) for chosen, side in sides.items()}
    rank = {"downward": 0, "": 1, "medium": 1, "upward": 2}
    distinct.sort(key=lambda chosen: (rank[sides[chosen]], places[chosen], chosen.parameters))
    if column is not None and column.kind in ("date", "hour"):
        return _dated(distinct, sides, column)
    kinds: dict[str, list[MembershipFunction]] = {}
    for chosen in distinct:
        position = (places[chosen] - low) / (high - low) if high > low else 0.5
        third = "low" if position < 1 / 3 else "medium" if position <= 2 / 3 else "high"
        kinds.setdefault(sides[chosen] or third, []).append(chosen)
    names: dict[MembershipFunction, str] = {}
    for kind, ladders in (("upward", _OPEN_UPWARD), ("downward", _OPEN_DOWNWARD)):
        names |= _named(kinds.get(kind, []), ladders)
    taken = {"low": "downward" in kinds, "high": "upward" in kinds}
    for third, ladders in _BOUNDED.items():
        names |= _named(kinds.get(third, []), _BESIDE_OPEN[third] if taken.get(third) else ladders)
    return {chosen: names[chosen] for chosen in distinct}


def _place(chosen: MembershipFunction, side: str) -> float:
    """Return where a set is: its most typical value, or where it begins if it is open to one side."""
    edge = chosen.inverse(0.5) if side in ("upward", "downward") else None
    return float(chosen.peak(*chosen.parameters) if edge is None else edge)


def _dated(
    sets: Sequence[MembershipFunction], sides: dict[MembershipFunction, str], column: Column
) -> dict[MembershipFunction, str]:
    """Name sets of a date or a time of day by where they begin and end."""
    names: dict[MembershipFunction, str] = {}
    for chosen in sets:
        center, reach = _place(chosen, ""), float(chosen.spread(*chosen.parameters))
        if isinstance(chosen, Bell):
            reach = chosen.width
        if sides[chosen] in ("upward", "downward"):
            edge = chosen.parameters[0]
            name = f"{'after' if sides[chosen] == 'upward' else 'before'} {_rounded(edge, column)}"
        else:
            name = f"{_rounded(center - reach, column)} to {_rounded(center + reach, column)}"
        same = [other for other in names.values() if other == name or other.startswith(f"{name} (")]
        names[chosen] = f"{name} ({len(same) + 1})" if same else name
    return names


def _rounded(value: float, column: Column) -> str:
    return str(column.shown(round(value) if column.kind == "date" else value))


def _named(sets: Sequence[MembershipFunction], ladders: Sequence[Sequence[str]]) -> dict[MembershipFunction, str]:
    """Name sets of one kind, from low to high."""
    if not sets:
        return {}
    if len({_place(chosen, "") for chosen in sets}) < len(sets) == 2:
        narrow, broad = sorted(sets, key=lambda chosen: float(chosen.spread(*chosen.parameters)))
        return {narrow: f"narrow_{ladders[0][0]}", broad: f"broad_{ladders[0][0]}"}
    words = (
        ladders[len(sets) - 1] if len(sets) <= len(ladders) else [f"{ladders[0][0]}{n + 1}" for n in range(len(sets))]
    )
    return dict(zip(sets, words, strict=True))


def _sides(sets: Sequence[MembershipFunction]) -> list[str]:
    """Return to which side each set is open, "medium" if to both, and an empty text if it is bounded."""
    found = dict.fromkeys(sets, "")
    alike: dict[str, list[MembershipFunction]] = {}
    for chosen in sets:
        alike.setdefault(chosen.kind, []).append(chosen)
    for kind, members in alike.items():  # of one kind all at once: learned rule bases have thousands of sets
        parameters: Any = [values[:, None] for values in np.array([each.parameters for each in members]).T]
        peaks = np.array([[_place(each, "")] for each in members])
        far = np.array([[1e9 * float(each.spread(*each.parameters))] for each in members])
        log_below, log_above = np.asarray(family(kind).log_mu(peaks + far * [-1.0, 1.0], *parameters)).T
        is_open = np.maximum(log_below, log_above) > math.log(0.5)
        for each, below, above in zip(
            np.array(members, object)[is_open], log_below[is_open], log_above[is_open], strict=True
        ):
            found[each] = "upward" if above > below else "downward" if below > above else "medium"
    return [found[chosen] for chosen in sets]
