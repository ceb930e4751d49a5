"""Names for learned fuzzy sets: the words that a person would choose for the sets of one variable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fuzzymil.bags import Column
from fuzzymil.inference.membership import Bell, MembershipFunction, family

__all__ = ["dated_sets", "named_sets", "named_terms", "span_of"]

# Names of one, two and three sets of a kind, from low to high.
_OPEN_UPWARD = (("high",), ("raised", "high"), ("raised", "high", "extreme"))
_OPEN_DOWNWARD = (("low",), ("low", "reduced"), ("minimal", "low", "reduced"))
_BOUNDED = {
    "low": (("low",), ("lowest", "low"), ("lowest", "low", "fairly_low")),
    "medium": (("medium",), ("lower_medium", "upper_medium"), ("lower_medium", "medium", "upper_medium")),
    "high": (("high",), ("high", "highest"), ("fairly_high", "high", "highest")),
}
_BESIDE_OPEN = {"low": "lower", "high": "upper"}  # for a bounded set where an open one has the plain word


def span_of(sets: Iterable[MembershipFunction]) -> tuple[float, float]:
    """Return the range of the sets' centers, a substitute where the data's range is unknown."""
    peaks = [chosen.peak(*chosen.parameters) for chosen in sets] or [0.0]
    return float(min(peaks)), float(max(peaks))


def named_sets(sets: Sequence[MembershipFunction], low: float, high: float) -> list[str]:
    """Name the sets of one variable.

    A set that is open to the top is *high*, one that is open to the bottom *low*; two and three of them are *raised*,
    *high* and *extreme*, or *reduced*, *low* and *minimal*. A bounded set is called after the third of the range in
    which it is centered: *low*, *medium* or *high*, with a qualifying word where two or three sets share a third
    (*lower_medium*, *upper_medium*), or have the same center (*narrow_medium*, *broad_medium*). Only more than three
    are numbered, from low to high.

    Parameters
    ----------
    sets : sequence of MembershipFunction
    low, high : float
        Range of the variable.

    Returns
    -------
    list of str
        One name for each set; equal sets have the same name, different sets different names.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian, Sigmoid
    >>> named_sets([Sigmoid(8, 2), Sigmoid(5, 2), Sigmoid(2, -2)], 0, 10)
    ['high', 'raised', 'low']
    >>> named_sets([Gaussian(4, 1), Gaussian(6, 1), Gaussian(9, 1)], 0, 10)
    ['lower_medium', 'upper_medium', 'high']
    """
    peaks = {chosen: _peak(chosen) for chosen in sets}
    distinct = sorted(peaks, key=lambda chosen: (peaks[chosen], chosen.parameters))
    kinds: dict[str, list[MembershipFunction]] = {}
    for chosen, side in zip(distinct, _sides(distinct), strict=True):
        position = (peaks[chosen] - low) / (high - low) if high > low else 0.5
        third = "low" if position < 1 / 3 else "medium" if position <= 2 / 3 else "high"
        kinds.setdefault(side or third, []).append(chosen)
    names: dict[MembershipFunction, str] = {}
    for kind, ladders in (("upward", _OPEN_UPWARD), ("downward", _OPEN_DOWNWARD)):
        names |= _named(kinds.get(kind, []), ladders)
    taken = {"low": "downward" in kinds, "high": "upward" in kinds}
    for third, ladders in _BOUNDED.items():
        plain = _BESIDE_OPEN[third] if taken.get(third) else third
        own = tuple(tuple(plain if word == third else word for word in ladder) for ladder in ladders)
        names |= _named(kinds.get(third, []), own)
    return [names[chosen] for chosen in sets]


def dated_sets(sets: Sequence[MembershipFunction], column: Column) -> list[str]:
    """Name the sets of a date or a time of day by where they begin and end.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Bell, Sigmoid
    >>> dated_sets([Sigmoid(20513, 1), Sigmoid(20513, -1), Bell(20513, 2, 3)], Column("day", "date"))
    ['after 2026-03-01', 'before 2026-03-01', '2026-02-27 to 2026-03-03']
    """
    names: dict[MembershipFunction, str] = {}
    distinct = list(dict.fromkeys(sets))
    for chosen, kind in zip(distinct, _sides(distinct), strict=True):
        center, reach = _peak(chosen), float(chosen.spread(*chosen.parameters))
        if isinstance(chosen, Bell):
            reach = chosen.width
        if kind in ("upward", "downward"):
            edge = chosen.parameters[0]
            name = f"{'after' if kind == 'upward' else 'before'} {_rounded(edge, column)}"
        else:
            name = f"{_rounded(center - reach, column)} to {_rounded(center + reach, column)}"
        same = [other for other in names.values() if other == name or other.startswith(f"{name} (")]
        names[chosen] = f"{name} ({len(same) + 1})" if same else name
    return [names[chosen] for chosen in sets]


def _rounded(value: float, column: Column) -> str:
    return str(column.shown(round(value) if column.kind == "date" else value))


def _named(sets: Sequence[MembershipFunction], ladders: Sequence[Sequence[str]]) -> dict[MembershipFunction, str]:
    """Name sets of one kind, from low to high."""
    if not sets:
        return {}
    if len({_peak(chosen) for chosen in sets}) < len(sets) == 2:
        narrow, broad = sorted(sets, key=lambda chosen: float(chosen.spread(*chosen.parameters)))
        return {narrow: f"narrow_{ladders[0][0]}", broad: f"broad_{ladders[0][0]}"}
    words = (
        ladders[len(sets) - 1] if len(sets) <= len(ladders) else [f"{ladders[0][0]}{n + 1}" for n in range(len(sets))]
    )
    return dict(zip(sets, words, strict=True))


def _peak(chosen: MembershipFunction) -> float:
    return float(chosen.peak(*chosen.parameters))


def _sides(sets: Sequence[MembershipFunction]) -> list[str]:
    """Return to which side each set is open, "medium" if to both, and an empty text if it is bounded."""
    found = dict.fromkeys(sets, "")
    alike: dict[str, list[MembershipFunction]] = {}
    for chosen in sets:
        alike.setdefault(chosen.kind, []).append(chosen)
    for kind, members in alike.items():  # of one kind all at once: learned rule bases have thousands of sets
        parameters: Any = [values[:, None] for values in np.array([each.parameters for each in members]).T]
        peaks = np.array([[_peak(each)] for each in members])
        far = np.array([[1e9 * float(each.spread(*each.parameters))] for each in members])
        log_below, log_above = np.asarray(family(kind).log_mu(peaks + far * [-1.0, 1.0], *parameters)).T
        is_open = np.maximum(log_below, log_above) > math.log(0.5)
        for each, below, above in zip(
            np.array(members, object)[is_open], log_below[is_open], log_above[is_open], strict=True
        ):
            found[each] = "upward" if above > below else "downward" if below > above else "medium"
    return [found[chosen] for chosen in sets]


def named_terms(
    by_rule: Mapping[int, MembershipFunction], low: float, high: float
) -> tuple[dict[str, MembershipFunction], dict[int, str]]:
    """Name the sets that rules ask of one variable; rules with equal sets share a name.

    Returns
    -------
    terms : dict
        Name to set, from low to high.
    names : dict
        Rule to name.
    """
    peaks = {rule: _peak(chosen) for rule, chosen in by_rule.items()}
    order = sorted(by_rule, key=lambda rule: (peaks[rule], rule))
    found = dict(zip(order, named_sets([by_rule[rule] for rule in order], low, high), strict=True))
    return {found[rule]: by_rule[rule] for rule in order}, {rule: found[rule] for rule in by_rule}
