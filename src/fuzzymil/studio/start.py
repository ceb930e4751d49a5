"""Where to start without rules: from the data alone, from a text with mistakes, or from the demonstration."""

from __future__ import annotations

import math

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags, Column
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.language import parser
from fuzzymil.studio.case import class_text
from fuzzymil.studio.document import Document
from fuzzymil.studio.sets import quantile_terms

_MOST_CLASSES = 10  # whole numbers with more values are quantities

_GUESS = """\
# A bag of points is positive if one of its points lies in one of two discs.
# These rules are a first guess: drag the sets, or train them.

VARIABLE x1 FROM 0 TO 2: left = Gaussian(0.7, 0.3), right = Gaussian(1.3, 0.3)
VARIABLE x2 FROM 0 TO 2: low = Gaussian(0.7, 0.3), high = Gaussian(1.3, 0.3)
Default: positive = -3
First disc: IF SOME (x1 is left AND x2 is low) THEN positive += 5
Second disc: IF SOME (x1 is right AND x2 is high) THEN positive += 5
"""


def demo_document() -> Document:
    """Return an expert's first guess at the paper's two concepts."""
    return Document(_GUESS)


def demo_bags() -> Bags:
    """Return the bags of the demonstration: 150, of which 100 are positive."""
    from fuzzymil.datasets import make_two_concepts

    made = make_two_concepts(random_state=np.random.RandomState(3))  # a number would load scikit-learn
    assert made.labels is not None
    labels = ["positive" if label else "negative" for label in made.labels]
    return Bags(made.instances, made.offsets, ids=made.ids, labels=labels, feature_names=["x1", "x2"])


def variable_from(name: str, values: Array, column: Column | None = None) -> Variable:
    """Return a variable with three terms at quantiles of its values (n,), or with the categories of its column."""
    if column is not None and column.categories:
        return Variable(name, categories=column.categories)
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    unit = "" if column is None else column.unit
    if low == high:
        return Variable(name, {}, low, high, unit)
    digits = 2 - math.floor(math.log10(high - low))  # as many as a person would write
    step = 10.0**-digits
    low, high = round(math.floor(low / step) * step, digits), round(math.ceil(high / step) * step, digits)
    return Variable(name, quantile_terms(known, 3), low, high, unit)


def starting_rules(bags: Bags) -> Document:
    """Return rules to begin with: the variables of the data, and one rule that concludes the shares of the classes."""
    columns = bags.columns or (None,) * bags.n_features
    variables = [
        variable_from(name, bags.instances[:, d], column)
        for d, (name, column) in enumerate(zip(bags.names, columns, strict=True))
    ]
    shares = _shares(bags)
    rule = Rule({}, [[round(share, 4)] for share in shares.values()])
    return Document.of(RuleBase(tuple(variables), (rule,), tuple(map(Variable, shares)), aggregation="max"))


def _shares(bags: Bags) -> dict[str, float]:
    """Return outputs, and what a rule about every bag concludes: the share of each class, or the mean of numbers."""
    if bags.labels is None:
        return {"y": 0.0}
    values, counts = np.unique(np.asarray(bags.labels), return_counts=True)
    is_number = values.dtype.kind in "iuf"
    if is_number and (len(values) > _MOST_CLASSES or (values != np.round(values)).any()):
        return {"y": float(np.mean(np.asarray(bags.labels, float)))}
    names = [class_text(each) for each in values]
    shares = dict(zip(names, (counts / counts.sum()).tolist(), strict=True))
    return shares if len(values) > 2 else {"y" if is_number else names[-1]: shares[names[-1]]}


def readable_part(text: str) -> Document:
    r"""Return rules to show while a text has mistakes: the variables that can be read, and one rule about every bag."""
    found = parser.read(text)
    variables = tuple(found.variables.values()) or (Variable("x"),)
    concluded = [name for rule in found.rules for name in rule.conclusions if name not in found.variables]
    try:
        return Document.of(RuleBase(variables, (Rule({}, [[0.0]]),), (Variable(concluded[0] if concluded else "y"),)))
    except ValueError:
        return Document.of(RuleBase((Variable("x"),), (Rule({}, [[0.0]]),)))
