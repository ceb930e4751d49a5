"""The output over two inputs or along one, with the region where no rule applies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.rules.activations import matched
from fuzzymil.studio.case import Case

__all__ = ["slices", "surface"]

_MOST_POINTS = 121
_MOST_SHOWN = 10_000  # instances on top
UNKNOWN = 0.05
"""Firing strength below which no rule is said to apply, as in `fuzzymil.plots.SurfaceDisplay`."""


def _count(request: Mapping[str, Any], usual: int) -> int:
    n = request.get("n", usual)
    if not isinstance(n, int) or isinstance(n, bool) or not 2 <= n <= _MOST_POINTS:
        raise ParameterError(f"n must be a whole number from 2 to {_MOST_POINTS}, got {n!r:.60}.")
    return n


def _held(case: Case, request: Mapping[str, Any], shown: tuple[str, ...]) -> dict[str | int, float]:
    given = request.get("others") or {}
    for name in given:
        known_name("variable", name, case.base.feature_names, "in others")
    return {name: float(value) for name, value in given.items() if name not in shown and value is not None}


def surface(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output over two variables, ``x`` and ``y``; the others are held."""
    from fuzzymil.plots import SurfaceDisplay

    x, y = request.get("x"), request.get("y")
    for name in (x, y):
        known_name("variable", name, case.base.feature_names)
    output = request.get("output", case.outputs[0])
    made = SurfaceDisplay.from_rules(
        case.rules,
        str(x),
        str(y),
        at=_held(case, request, (str(x), str(y))),
        output=output,
        bags=None if case.bags is None else matched(case.base, case.data),
        n_points=_count(request, 41),
    )
    return {
        "x": made.x,
        "y": made.y,
        "z": made.z,
        "uncovered": None if made.strongest is None else made.strongest < UNKNOWN,
        "low": float(made.z.min()),
        "high": float(made.z.max()),
        "names": [str(x), str(y)],
        "titles": [made.xlabel, made.ylabel],
        "output": made.output,
        "others": made.held,
        "instances": _instances(case, (str(x), str(y))),
    }


def _instances(case: Case, names: tuple[str, ...]) -> dict[str, Any] | None:
    if case.bags is None:
        return None
    seen = matched(case.base, case.data)
    every = slice(None, None, seen.n_instances // _MOST_SHOWN + 1)
    columns = [seen.instances[every, case.base.feature_names.index(name)] for name in names]
    labels = None if case.labels is None else np.asarray(case.labels, object)[seen.bag_index[every]]
    return {"values": columns, "labels": labels, "bags": seen.bag_index[every]}


def slices(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return all outputs along one variable; the others are held."""
    from fuzzymil.rules.editing.comparison import span

    name = str(request.get("variable"))
    names = case.base.feature_names
    known_name("variable", name, names)
    seen = None if case.bags is None else matched(case.base, case.data).instances
    place = np.array([sum(span(each)) / 2 for each in case.base.variables])
    if seen is not None:
        known = ~np.isnan(seen).all(axis=0)
        place[known] = np.nanmedian(seen[:, known], axis=0)
    for other, value in _held(case, request, (name,)).items():
        place[names.index(str(other))] = value
    d = names.index(name)
    low, high = span(case.base.variables[d], None if seen is None else seen[:, d])
    x = np.linspace(low, high if high > low else low + 1.0, _count(request, 101))
    rows = np.tile(place, (len(x), 1))
    rows[:, d] = x
    found = case.rules.infer(rows)
    normalized = getattr(case.rules, "normalize", True)
    return {
        "variable": name,
        "x": x,
        "y": {output: found.output[:, k] for k, output in enumerate(case.outputs)},
        "firing": found.firing.T,
        "uncovered": found.strongest < UNKNOWN if normalized else None,
        "others": {each: float(place[k]) for k, each in enumerate(names) if k != d},
    }
