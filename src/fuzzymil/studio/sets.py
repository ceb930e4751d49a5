"""Fuzzy sets as the page draws and drags them: curves, handles, families, automatic partitions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.inference.membership import FAMILIES, MembershipFunction, Ramp, Triangular, learnable_families
from fuzzymil.rules import Variable
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.language.printer import format_set

_MOVE = "move"
"""The handle that moves a set without changing its shape."""

_PARTITIONS = {
    3: ("low", "medium", "high"),
    5: ("lowest", "low", "medium", "high", "highest"),
    7: ("lowest", "lower", "low", "medium", "high", "higher", "highest"),
}
"""Names of the terms of automatic partitions."""

_STEPS = 25  # of an axis: its ends are multiples of one
_ROUNDING = 1e-9  # of a step
_POINTS = 121  # of a curve
_FLANK = 2.0  # widths from its location at which a slope is dragged
_SHOULDER = 1 / (1 + math.exp(-_FLANK))  # the membership there, 0.88, at which exponents are dragged, too
_EXPONENTS = (0.1, 50.0)  # what a drag reaches; others can be typed


def families() -> list[dict[str, Any]]:
    """Return the families that a person can choose, with the names of their parameters."""
    return [
        {"name": name, "title": kind.__name__, "parameters": list(kind.fields())}
        for name, kind in sorted(learnable_families().items())
    ]


def axis_of(variable: Variable, values: Array | None = None) -> tuple[float, float]:
    """Return the ends of a variable's axis: its range, the data, and the peaks of its sets.

    Each category has a place of the same width. An end that is not that of the range is a round number.
    """
    if variable.categories:
        return -0.5, len(variable.categories) - 0.5
    low, high = span(variable, values)
    peaks = [float(chosen.peak(*chosen.parameters)) for chosen in variable.terms.values() if not _is_formula(chosen)]
    low, high = min([low, *peaks]), max([high, *peaks])
    if not high > low:
        return low - 1.0, high + 1.0
    length = (high - low) / _STEPS
    if not 0 < length < math.inf:  # beyond what numbers can hold
        return low, high
    power = 10.0 ** math.floor(math.log10(length))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= length * (1 - _ROUNDING))
    first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
    before, after = (float(f"{step * place:.12g}") for place in (first, last))  # 0.3, not 0.30000000000000004
    return low if low == variable.low else before, high if high == variable.high else after


def _is_formula(chosen: MembershipFunction) -> bool:
    return chosen.name in ("formula", "discrete")


def set_facts(chosen: MembershipFunction, axis: tuple[float, float]) -> dict[str, Any]:
    """Return a set as the page shows it: family, parameters, handles, and its curve along an axis."""
    roles = type(chosen).roles()
    return {
        "family": chosen.name,
        "shown": format_set(chosen, 4),
        "parameters": [
            {"name": name, "value": getattr(chosen, name)} for name, role in roles.items() if role != "text"
        ],
        "handles": handles(chosen),
        "curve": np.round(chosen(np.linspace(*axis, _POINTS)), 5),  # to be drawn; numbers are in the parameters
    }


# ---------------------------------------------------------------------- handles


def handles(chosen: MembershipFunction) -> list[dict[str, Any]]:
    """Return the points at which a set is dragged; the first one moves all of it."""
    if _is_formula(chosen):
        return []
    found = [(_MOVE, "move", float(type(chosen).peak(*chosen.parameters)))]
    for name, role in type(chosen).roles().items():
        value = getattr(chosen, name)
        if role == "location":
            found.append((name, role, value))
        elif role in ("width", "steepness"):
            anchor, side = _anchor(chosen, name)
            found.append((name, role, anchor + (side * value if role == "width" else _FLANK / value)))
        elif role == "shape":
            found.append((name, role, _shoulder(chosen)))
    return [
        {"name": name, "title": name.replace("_", " "), "role": role, "x": x, "y": float(chosen(x))}
        for name, role, x in found
    ]


def _anchor(chosen: MembershipFunction, name: str) -> tuple[float, int]:
    """Return the location that a width or slope belongs to, and the side on which it is dragged."""
    roles = type(chosen).roles()
    names = list(roles)
    place = names.index(name)
    locations = [n for n, each in enumerate(names) if roles[each] == "location"]
    # Of two locations, the slope or width stands next to its own: left, rising, falling, right.
    nearest = min(locations, key=lambda n: (abs(n - place), n > place))
    if chosen.name in ("sigmoid_difference", "sigmoid_product") and name == "falling":
        nearest = locations[-1]
    return float(getattr(chosen, names[nearest])), -1 if name.startswith("left") else 1


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign; SciPy, which would take long to load, is not needed for that."""
    sign = math.copysign(1.0, function(low))
    while low < (middle := (low + high) / 2) < high:  # until there is no number between them
        low, high = (middle, high) if sign * function(middle) > 0 else (low, middle)
    return middle


def _shoulder(chosen: MembershipFunction) -> float:
    """Return the place to the left of its peak where a set has left its top."""
    kind = type(chosen)
    peak, reach = (float(f(*chosen.parameters)) for f in (kind.peak, kind.spread))
    while chosen(peak - reach) > _SHOULDER:
        reach *= 2
    return peak - _crossing(lambda distance: float(chosen(peak - distance)) - _SHOULDER, 0.0, reach)


def _with_shoulder(chosen: MembershipFunction, name: str, x: float) -> MembershipFunction:
    """Return a set with the exponent that puts its shoulder at ``x``, or as near as a drag can."""
    peak = float(type(chosen).peak(*chosen.parameters))
    place = peak - abs(x - peak)

    def excess(log_exponent: float) -> float:
        return float(dataclasses.replace(chosen, **{name: math.exp(log_exponent)})(place)) - _SHOULDER

    ends = [math.log(each) for each in _EXPONENTS]
    low, high = map(excess, ends)
    if low * high < 0:
        return dataclasses.replace(chosen, **{name: math.exp(_crossing(excess, *ends))})
    farthest = [dataclasses.replace(chosen, **{name: each}) for each in _EXPONENTS]
    return min(farthest, key=lambda made: abs(_shoulder(made) - place))


def move_handle(chosen: MembershipFunction, handle: str, x: float) -> MembershipFunction:
    """Return the set with a handle dragged to ``x``."""
    if handle == _MOVE:
        kind = type(chosen)
        shift = x - float(kind.peak(*chosen.parameters))
        return chosen.with_parameters(*map(float, kind.moved(shift, 1.0, *chosen.parameters)))
    roles = type(chosen).roles()
    known_name("handle", handle, [each["name"] for each in handles(chosen)], f"of a {type(chosen).__name__}")
    if roles[handle] == "location":
        return dataclasses.replace(chosen, **{handle: float(x)})
    if roles[handle] == "shape":
        return _with_shoulder(chosen, handle, float(x))
    anchor, _ = _anchor(chosen, handle)
    distance = abs(x - anchor)
    if distance == 0:
        raise ParameterError(f"{handle.replace('_', ' ').capitalize()}: drag it away from {anchor:g}.")
    value = distance if roles[handle] == "width" else float(np.copysign(_FLANK / distance, getattr(chosen, handle)))
    return dataclasses.replace(chosen, **{handle: value})


# ---------------------------------------------------------------------- families and partitions


def to_family(chosen: MembershipFunction, name: str) -> MembershipFunction:
    """Return a set of another family with the same peak and spread, open to the same side where it can be."""
    known_name("family", name, learnable_families())
    if _is_formula(chosen):
        raise ParameterError(f"A {chosen.name} has no width to keep: write the new set in the text.")
    peak, spread = (float(f(*chosen.parameters)) for f in (type(chosen).peak, type(chosen).spread))
    kind = FAMILIES[name]
    # Families with a side open away from zero: put the peak on the wanted side of it, and move the set back.
    toward = float(chosen.side or 1) * 10.0 * spread
    made = kind.around(np.float64(toward), np.float64(spread))
    # Moving there and back costs the last digits, which nobody wrote.
    return kind(*(float(f"{value:.12g}") for value in kind.moved(peak - toward, 1.0, *made)))


def quantile_terms(values: Array, n_terms: int, names: Sequence[str] | None = None) -> dict[str, MembershipFunction]:
    """Return triangles, open at both ends, that peak at quantiles of the values and cross at one half.

    Shapes: ``values`` (n,). ``n_terms``: {3, 5, 7}. ``names``: names of the terms. Default: *low*, *medium*, *high* and
    the like.
    """
    if n_terms not in _PARTITIONS:
        raise ParameterError(f"An automatic partition has 3, 5 or 7 terms, got {n_terms!r}.")
    named = _PARTITIONS[n_terms] if names is None else tuple(names)
    if len(named) != n_terms or len(set(named)) != n_terms:
        raise ParameterError(f"Expected {n_terms} different names, got {len(named)}.")
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if not known.size:
        raise ParameterError("An automatic partition needs values: open a data file first.")
    peaks = np.quantile(known, np.linspace(0, 1, n_terms))
    if (np.diff(peaks) <= 0).any():  # values that repeat often: spread the peaks evenly instead
        peaks = np.linspace(known.min(), known.max(), n_terms)
    if peaks[0] == peaks[-1]:
        raise ParameterError(f"All values are {peaks[0]:g}: there is nothing to divide into terms.")
    places = _rounded(peaks)
    ends = [Ramp(places[1], places[0]), Ramp(places[-2], places[-1])]
    inner = [Triangular(*places[n - 1 : n + 2]) for n in range(1, n_terms - 1)]
    return dict(zip(named, [ends[0], *inner, ends[1]], strict=True))


def _rounded(peaks: Array) -> list[float]:
    """Return places with as few digits as a person would choose: to a thousandth of the shortest distance."""
    digits = 3 - math.floor(math.log10(float(np.diff(peaks).min())))
    return [round(float(peak), digits) for peak in peaks]
