"""Where to start without rules: from the data alone."""

from __future__ import annotations

import numpy as np

from fuzzymil.bags import Bags
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.studio.case import class_text, classes_of
from fuzzymil.studio.document import Document
from fuzzymil.studio.sets import quantile_terms

__all__ = ["starter", "variables_from"]


def variables_from(bags: Bags) -> list[Variable]:
    """Return one variable per feature, with three terms at quantiles, or with the categories of the data.

    Examples
    --------
    >>> [variable.name for variable in variables_from(Bags.from_list([[[0.0, 1.0]], [[2.0, 1.0]]]))]
    ['x1', 'x2']
    """
    names = bags.names
    found = []
    for d, name in enumerate(names):
        column = None if bags.columns is None else bags.columns[d]
        if column is not None and column.categories:
            found.append(Variable(name, categories=column.categories))
            continue
        values = bags.instances[:, d]
        values = values[~np.isnan(values)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        terms = quantile_terms(values, 3) if high > low else {}
        unit = "" if column is None else column.unit
        found.append(Variable(name, terms, low, high, unit))
    return found


def starter(bags: Bags) -> Document:
    """Return rules to begin with: the variables of the data, and one rule that concludes the share of the class.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0]], [[1.0]], [[2.0]]], labels=["no", "yes", "no"])
    >>> print(starter(bags).rules)
    Rule 1: IF anything THEN yes = 0.3333
    """
    output, share = "y", 0.0
    classes = classes_of(("y",), bags)
    if bags.labels is not None:
        if classes is not None:
            name = class_text(classes[-1])
            share = float(np.mean([class_text(label) == name for label in bags.labels]))
            output = name if not name[:1].isdigit() else "y"
        elif np.asarray(bags.labels).dtype.kind in "iuf":
            share = float(np.mean(np.asarray(bags.labels, float)))
    rules = RuleBase(tuple(variables_from(bags)), (Rule({}, [[share]]),), (output,), aggregation="max")
    return Document.of(rules)
