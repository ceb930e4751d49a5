"""Where to start without rules: from the data alone, or from a text with mistakes."""

from __future__ import annotations

import math

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.language import parser
from fuzzymil.studio.case import class_text
from fuzzymil.studio.document import Document
from fuzzymil.studio.sets import quantile_terms

__all__ = ["salvaged", "starter", "variables_from"]


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
        low, high = _rounded_ends(values)
        terms = quantile_terms(values, 3) if high > low else {}
        unit = "" if column is None else column.unit
        found.append(Variable(name, terms, low, high, unit))
    return found


def _rounded_ends(values: Array) -> tuple[float, float]:
    """Return a range that holds all values, with the digits that a person would write."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if low == high:
        return low, high
    digits = 2 - math.floor(math.log10(high - low))
    unit = 10.0**-digits
    return round(math.floor(low / unit) * unit, digits), round(math.ceil(high / unit) * unit, digits)


_MOST_CLASSES = 10  # whole numbers with more values are quantities


def _shares(bags: Bags) -> dict[str, float]:
    """Return outputs, and what a rule about every bag concludes: the share of each class, or the mean of numbers."""
    if bags.labels is None:
        return {"y": 0.0}
    values, counts = np.unique(np.asarray(bags.labels), return_counts=True)
    names = [class_text(each) for each in values]
    is_number = values.dtype.kind in "iuf"
    if is_number and (len(values) > _MOST_CLASSES or (values != np.round(values)).any()):
        return {"y": float(np.mean(np.asarray(bags.labels, float)))}
    shares = dict(zip(names, (counts / counts.sum()).tolist(), strict=True))
    if len(values) > 2:
        return shares
    return {"y" if is_number else names[-1]: shares[names[-1]]}


def starter(bags: Bags) -> Document:
    """Return rules to begin with: the variables of the data, and one rule that concludes the shares of the classes.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0]], [[1.0]], [[2.0]]], labels=["no", "yes", "no"])
    >>> print(starter(bags).rules)
    Rule 1: IF anything THEN yes = 0.3333
    """
    shares = _shares(bags)
    rule = Rule({}, [[round(share, 4)] for share in shares.values()])
    return Document.of(RuleBase(tuple(variables_from(bags)), (rule,), tuple(map(Variable, shares)), aggregation="max"))


def salvaged(text: str) -> Document:
    r"""Return rules to show while a text has mistakes: the variables that can be read, and one rule about every bag.

    Examples
    --------
    >>> print(salvaged("VARIABLE x: low = Gaussian(0, 1)\nIF x is lwo THEN sky = 1").text.splitlines()[-1])
    Rule 1: IF anything THEN sky = 0
    """
    found = parser.read(text)
    variables = tuple(found.variables.values()) or (Variable("x"),)
    concluded = [name for rule in found.rules for name in rule.conclusions if name not in found.variables]
    outputs = (Variable(concluded[0] if concluded else "y"),)
    try:
        return Document.of(RuleBase(variables, (Rule({}, [[0.0]]),), outputs))
    except ValueError:
        return Document.of(RuleBase((Variable("x"),), (Rule({}, [[0.0]]),)))
