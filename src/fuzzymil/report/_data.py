"""Facts about the data for ``templates/data.html``: bags, their sizes and labels, and their features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.drawings import histogram
from fuzzymil.report._answers import Answers
from fuzzymil.report._format import number
from fuzzymil.rules.rule import Variable


def data_facts(answers: Answers) -> dict[str, Any]:
    """Summarize the bags."""
    bags, truth, classes = answers.bags, answers.truth, answers.classes
    counts = Counter(truth.tolist()) if truth is not None and classes is not None else {}
    targets = list(truth.reshape(len(truth), -1).T) if truth is not None and classes is None else []
    return {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "n_features": bags.n_features,
        "sizes": {"min": int(bags.sizes.min()), "max": int(bags.sizes.max()), "median": float(np.median(bags.sizes))},
        "n_missing": int(np.isnan(bags.instances).sum()),
        "n_values": bags.instances.size,
        "labeled": truth is not None,
        "classes": [(name, counts[name], counts[name] / bags.n_bags) for name in classes or () if counts],
        "targets": [
            (name, _summary(values)) for name, values in zip(answers.rules.output_names, targets, strict=False)
        ],
        "features": list(_features(answers)),
    }


def _features(answers: Answers) -> Iterator[dict[str, Any]]:
    variables = _variables(answers)
    uses = Counter(
        name for base in answers.members for rule in base.rules for name in {each.variable for each in rule.conditions}
    )
    for d, name in enumerate(answers.names):
        variable = variables.get(name)
        yield {
            "name": name,
            "unit": "" if variable is None or variable.shown(0.0) else variable.unit,
            "n_rules": 0 if variable is None else uses[variable.name],
            **_described(answers, d, variable),
        }


def _described(answers: Answers, d: int, variable: Variable | None) -> dict[str, Any]:
    """Return the values of a feature in short, categories and dates as a person writes them."""
    found = _summary(answers.bags.instances[:, d])
    categories = () if variable is None else variable.categories
    if categories and found["known"]:
        values = answers.bags.instances[:, d]
        found["histogram"] = histogram(values, -0.5, len(categories) - 0.5, len(categories))
    numbers = [found[key] for key in ("min", "median", "max")] if found["known"] else []
    shown = [(None if variable is None else variable.shown(value)) or number(value, 4) for value in numbers]
    return found | {"categories": list(categories), "shown": shown or ["\N{EN DASH}"] * 3}


def _variables(answers: Answers) -> dict[str, Variable]:
    """Return the rules' variable for each feature, by name or, for unnamed features, by position."""
    variables, names = answers.rules.variables, answers.names
    if {variable.name for variable in variables} <= set(names):
        return {variable.name: variable for variable in variables}
    return dict(zip(names, variables, strict=True))


def _summary(values: Array) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    found = {"n_missing": missing, "missing": missing / len(values), "known": len(known) > 0}
    if not len(known):
        return found
    low, high = float(known.min()), float(known.max())
    middle = {"median": float(np.median(known)), "mean": float(known.mean())}
    return found | middle | {"min": low, "max": high, "histogram": histogram(values, low, high)}
