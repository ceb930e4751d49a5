"""The section on the data: how many bags of which sizes and labels, and what their features are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.report import _markup
from fuzzymil.report._predictions import Answers
from fuzzymil.report._sketches import HEIGHT, WIDTH, columns
from fuzzymil.report.html import Markup, element
from fuzzymil.rules.rule import Variable

__all__ = ["data_section"]

_FEW = 12  # so many features stand in the page as they are; more scroll in a box


def data_section(answers: Answers) -> Markup:
    """Tell what the bags hold."""
    return _markup.section("data", "Data", _markup.facts(_facts(answers)), _labels(answers), _features(answers))


def _facts(answers: Answers) -> dict[str, str]:
    bags = answers.bags
    sizes = bags.sizes
    missing = int(np.isnan(bags.instances).sum())
    cells = bags.instances.size
    return {
        "Bags": f"{bags.n_bags:,}",
        "Instances": f"{bags.n_instances:,}",
        "Instances a bag": f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,.5g}",
        "Features": f"{bags.n_features:,}",
        "Missing values": f"{missing:,} of {cells:,} ({_markup.percent(missing / cells)})" if missing else "none",
        "Labels": "none: the bags carry no labels, so nothing can be said about how good the answers are"
        if answers.truth is None
        else "one a bag",
    }


def _labels(answers: Answers) -> Markup | None:
    truth = answers.truth
    if truth is None:
        return None
    if answers.classes is not None:
        counts = Counter(truth.tolist())
        rows = [
            [_markup.told(label), f"{counts[label]:,}", _markup.percent(counts[label] / len(truth))]
            for label in answers.classes
        ]
        return _markup.table("Classes", ["class", "bags", "share"], rows)
    rows = [
        [name, *(_markup.number(value, 4) for value in _five(column)), _histogram(column)]
        for name, column in zip(answers.rules.outputs, truth.reshape(len(truth), -1).T, strict=True)
    ]
    return _markup.table("What is to be predicted", ["", "least", "median", "greatest", "mean", "values"], rows)


def _features(answers: Answers) -> Markup:
    rows = list(_feature_rows(answers))
    heads = ["feature", "least", "median", "greatest", "missing", "rules", "values"]
    found = element(
        "table",
        element("caption", "Features, and how many rules ask about them"),
        element("thead", element("tr", [element("th", head, scope="col") for head in heads])),
        element("tbody", rows, data_list=True),
    )
    sort_by = {"place": "order", "name": "name", "missing": "missing", "rules": "rules"}
    if len(rows) <= _FEW:
        return _markup.scrolling("Features", found)
    return _markup.collection(
        "features", "features", _markup.scrolling("Features", found, "scroll tall"), len(rows), sort_by=sort_by
    )


def _feature_rows(answers: Answers) -> Iterator[Markup]:
    bags = answers.bags
    variables = _variables(answers)
    asked = Counter(
        name for base in answers.members for rule in base.rules for name in {each.variable for each in rule.conditions}
    )
    for d, name in enumerate(answers.names):
        values, variable = bags.instances[:, d], variables.get(name)
        missing = int(np.isnan(values).sum())
        uses = asked[variable.name] if variable is not None else 0
        known = values[~np.isnan(values)]
        low, middle, high, _ = _five(known) if len(known) else [np.nan] * 4
        unit = f" [{variable.unit}]" if variable is not None and variable.unit else ""
        yield element(
            "tr",
            element("th", f"{name}{unit}", scope="row"),
            [
                element("td", _markup.number(value, 4) if len(known) else _markup.NOTHING)
                for value in (low, middle, high)
            ],
            element("td", f"{missing:,} ({_markup.percent(missing / len(values))})" if missing else "0"),
            element("td", str(uses)),
            element("td", _histogram(values) if len(known) else None),
            data_item=True,
            data_place=d,
            data_name=name,
            data_missing=missing,
            data_rules=uses,
        )


def _variables(answers: Answers) -> dict[str, Variable]:
    """Return the rules' variable of each feature: of the same name, or else (unnamed features) of the same place."""
    variables, names = answers.rules.variables, answers.names
    if {variable.name for variable in variables} <= set(names):
        return {variable.name: variable for variable in variables}
    return dict(zip(names, variables, strict=True))


def _five(values: Array) -> list[float]:
    return [float(of(values)) for of in (np.min, np.median, np.max, np.mean)]


def _histogram(values: Array) -> Markup:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    drawing = columns(values, low, high)
    return element("svg", drawing, class_="spread", viewBox=f"0 0 {WIDTH} {HEIGHT}", aria_hidden="true")
