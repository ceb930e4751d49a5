"""The rule viewer: rules and variables, the instances of one bag on every set, and the steps to the output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.explain import Explanation, explain
from fuzzymil.inference.premises import hedged
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import clipped, matched
from fuzzymil.rules.premise import conditions, negations
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.describe import condition_columns, values_of
from fuzzymil.studio.sets import axis_of
from fuzzymil.studio.views.bags import committee_on, place_of

__all__ = ["viewer"]

_POINTS = 81
_MOST_EXTRA = 200


def viewer(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the walk from a bag's instances to its output.

    ``extra`` are instances to add, as rows in the order of the rules' variables; ``without`` are places of instances to
    leave out; ``change`` maps places of instances to other values of some variables.
    """
    bag, kept = _bag(case, request)
    own = case.of_bags(bag)
    found = explain(own.rules, bag, reading=own.explained)
    seen = clipped(own.base, bag).instances
    columns = condition_columns(case)
    return {
        "bag": request.get("bag"),
        "bag_id": str(bag.ids[0]),
        "label": None if bag.labels is None else class_text(bag.labels[0]),
        "variables": [variable.name for variable in case.base.variables],
        "columns": columns,
        "axes": {name: axis_of(*_variable(case, name)) for name in columns},
        "instances": bag.instances,
        "places": kept,
        "rows": _rows(own, found, seen, {name: axis_of(*_variable(case, name)) for name in columns}),
        "outputs": list(own.outputs),
        "output": own.found.output[0],
        "default": own.rules.default,
        "threshold": own.threshold if own.reading is not None and len(own.outputs) == 1 else None,
        "decision": own.decisions[0],
        "score": found.score,
        "probability": None
        if found.probability is None
        else dict(zip(map(class_text, found.classes or ()), found.probability, strict=False)),
        "uncovered": bool(np.isneginf(own.found.log_firing[0]).all()),
        "joined": None if found.joined is None else found.joined.to_dict(),
        "committee": committee_on(own),
    }


def _variable(case: Case, name: str) -> tuple[Any, Array | None]:
    place = case.base.feature_names.index(name)
    return case.base.variables[place], values_of(case.bags, name, place)


def _bag(case: Case, request: Mapping[str, Any]) -> tuple[Bags, list[int | None]]:
    """Return the bag to show, with instances added, changed or left out, and the place of each in the data."""
    names = case.base.feature_names
    rows, places = np.zeros((0, len(names))), list[int | None]()
    label = ids = None
    if request.get("bag") is not None:
        one = matched(case.base, case.data[[place_of(case.data, request["bag"])]])
        rows, places = np.array(one.instances, float), list(range(one.n_instances))
        ids, label = one.ids, one.labels
    for place, values in (request.get("change") or {}).items():
        k = int(place)
        if not 0 <= k < len(rows):
            raise ParameterError(f"change: the bag has no instance {k}; it has {len(rows)}.")
        for name, value in values.items():
            if name not in names:
                raise ParameterError(f"change: there is no variable {name!r:.60}.")
            rows[k, names.index(name)] = float(value)
    gone = {int(k) for k in request.get("without") or ()}
    kept = [k for k in range(len(rows)) if k not in gone]
    rows, places = rows[kept], [places[k] for k in kept]
    extra = request.get("extra") or []
    if len(extra) > _MOST_EXTRA or any(len(row) != len(names) for row in extra):
        raise ParameterError(f"extra: expected at most {_MOST_EXTRA} rows of {len(names)} values, one per variable.")
    if extra:
        added = np.array([[np.nan if value is None else float(value) for value in row] for row in extra])
        rows, places = np.concatenate([rows, added]), places + [None] * len(added)
    if not len(rows):
        raise ParameterError("The bag has no instances: choose a bag, or add one.")
    return Bags(rows, [0, len(rows)], ids=ids, labels=label, feature_names=names), places


def _rows(case: Case, found: Explanation, seen: Array, axes: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    by_place = {rule.index: rule for rule in found.rules}
    rows = []
    for r in range(case.base.n_rules):
        explained = by_place[r]
        rows.append(
            {
                "rule": r + 1,
                "name": explained.name,
                "text": explained.text,
                "weight": case.document.base.rules[r].weight,
                "on": r + 1 not in case.document.off,
                "cells": _cells(case, r, seen, axes),
                "parts": [
                    {
                        "text": part.text,
                        "quantifier": part.quantifier,
                        "count": part.count,
                        "negated": part.negated,
                        "deciding": part.deciding,
                        "degree": part.degree,
                        "truth": list(part.truth),
                        "shares": list(part.shares),
                        "witnesses": [witness.instance for witness in part.witnesses],
                    }
                    for part in explained.parts
                ],
                "witness": explained.witness,
                "firing": explained.firing,
                "share": explained.strength,
                "conclusion": list(explained.outputs),
                "concluded": explained.concluded,
                "contribution": list(explained.contributions),
            }
        )
    return rows


def _cells(case: Case, r: int, seen: Array, axes: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return the conditions of a rule, each with the curve of its set and the degree of every instance in it."""
    base: RuleBase = case.base
    found = []
    premise = base.rules[r].premise
    for condition, negated in zip(conditions(premise), negations(premise), strict=True):
        d = base.feature_names.index(condition.variable)
        chosen = base.variables[d].terms[condition.term]
        x = np.linspace(*axes[condition.variable], _POINTS)
        # As in the network, an unknown value counts in favor of the rule.
        unknown = np.isnan(seen[:, d])
        degrees = hedged(chosen, condition.hedges, np.where(unknown, 0.0, seen[:, d]))
        found.append(
            {
                "variable": condition.variable,
                "term": condition.term,
                "hedges": list(condition.hedges),
                "negated": negated,
                "curve": np.round(hedged(chosen, condition.hedges, x), 5),
                "degrees": np.where(unknown, 0.0 if negated else 1.0, degrees),
            }
        )
    return found
