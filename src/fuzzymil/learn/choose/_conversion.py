"""Chosen rules as a rule base, in the units of the data and with names for their sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Columns
from fuzzymil.inference.membership import Gaussian, MembershipFunction, Sigmoid
from fuzzymil.learn.choose._premises import Gone, OneOf
from fuzzymil.learn.choose._prototypes import Prototype
from fuzzymil.learn.choose._selection import Chosen
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.naming import dated_sets, named_sets
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Or, Quantified
from fuzzymil.rules.rule import MISSING, Rule, Variable

__all__ = ["rule_base"]

_REACH = 6.0  # a sigmoid has reached its limit this many times 1 / slope from its center


def rule_base(
    found: Chosen, scaling: Scaling, columns: Columns, used: Array, outputs: Sequence[str], gaps: Array | None = None
) -> RuleBase:
    """Return chosen rules as a rule base.

    Prototypes are in standardized units, and limited to the range that their features have; statements are in the
    units of the data.

    Parameters
    ----------
    found : Chosen
    scaling : Scaling
        Of features and targets.
    columns : Columns
        The features.
    used : array of int
        The features that prototypes are about.
    outputs : sequence of str
    gaps : array of shape (t, d), optional
        What missing values stand for.
    """
    order = np.argsort(-np.abs(found.coefs).max(axis=1, initial=0.0), kind="stable")
    parts = [_parts(found.premises[n], scaling, used) for n in order]
    limited = any(isinstance(premise, Prototype) for premise in found.premises)
    sets: dict[int, list[MembershipFunction]] = {}
    prototypes: dict[int, dict[MembershipFunction, str]] = {}
    for rule, (n, premise) in enumerate(zip(order, parts, strict=True), start=1):
        for _, _, conditions in premise:
            for feature, chosen in conditions:
                if isinstance(chosen, OneOf | Gone):
                    continue
                if isinstance(found.premises[n], Prototype):
                    prototypes.setdefault(feature, {})[chosen] = f"prototype{rule}"
                else:
                    sets.setdefault(feature, []).append(chosen)
    words: dict[int, dict[MembershipFunction, str]] = {}
    variables = []
    for d, column in enumerate(columns):
        stand_ins = () if gaps is None else tuple(gaps[:, d])
        if column.categories:
            variables.append(Variable(column.name, categories=column.categories, missing_values=stand_ins))
            continue
        low, high = map(float, scaling.ranges[d])
        own = sets.get(d, [])
        named = dated_sets(own, column) if column.kind in ("date", "hour") else named_sets(own, low, high)
        words[d] = dict(zip(own, named, strict=True)) | prototypes.get(d, {})
        if limited:  # values are clipped to the range, which must not hide a threshold
            reach = [_reach(chosen) for chosen in own]
            low, high = min([low, *(ends[0] for ends in reach)]), max([high, *(ends[1] for ends in reach)])
        terms = {word: chosen for chosen, word in words[d].items()}
        variables.append(Variable(column.name, terms, low, high, column.unit, missing_values=stand_ins))
    rules = [
        Rule(_expression(premise, words, columns), (coefs * scaling.target_scale)[:, None].tolist())
        for premise, coefs in zip(parts, found.coefs[order], strict=True)
    ]
    if not rules:  # nothing in the bags tells their labels apart: a rule base needs a rule, even if it says nothing
        rules = [Rule(ANYTHING, np.zeros((len(found.default), 1)).tolist())]
    default = found.default * scaling.target_scale + scaling.target_shift
    return RuleBase(
        variables=tuple(variables),
        rules=tuple(rules),
        outputs=tuple(map(Variable, outputs)),
        aggregation="max",
        normalize=False,
        default=tuple(map(float, default)),
        limited=limited,
    )


_Part = tuple[str, int | None, list[tuple[int, MembershipFunction | OneOf | Gone]]]


def _parts(premise: object, scaling: Scaling, used: Array) -> list[_Part]:
    """Return quantifier, count and conditions of the parts of a premise, in the units of the data."""
    if isinstance(premise, Prototype):
        shift, scale = scaling.shift[used], scaling.scale[used]
        centers, widths = shift + scale * premise.center, scale * premise.width
        sets = [Gaussian(float(c), float(s)) for c, s in zip(centers, widths, strict=True)]
        return [(premise.quantifier, None, list(zip(used.tolist(), sets, strict=True)))]
    assert isinstance(premise, tuple)
    return [(part.quantifier, part.number, [(c.feature, c.set) for c in part.conditions]) for part in premise]


def _expression(premise: list[_Part], words: dict[int, dict[MembershipFunction, str]], columns: Columns) -> Expression:
    def asked(d: int, chosen: MembershipFunction | OneOf | Gone) -> Expression:
        name = columns[d].name
        if not isinstance(chosen, OneOf | Gone):
            return Is(name, words[d][chosen])
        hedges = ("not",) if chosen.negated else ()
        if isinstance(chosen, Gone):
            return Is(name, MISSING, hedges)
        each = tuple(Is(name, columns[d].categories[code], hedges) for code in chosen.codes)
        return each[0] if len(each) == 1 else Or(each)

    parts = []
    for quantifier, count, conditions in premise:
        inner = And(tuple(asked(*condition) for condition in conditions)) if conditions else ANYTHING
        parts.append(Quantified(quantifier, inner, count))
    return And(tuple(parts))


def _reach(chosen: MembershipFunction) -> tuple[float, float]:
    """Return between which values the membership changes."""
    if isinstance(chosen, Sigmoid):
        return chosen.center - _REACH / abs(chosen.slope), chosen.center + _REACH / abs(chosen.slope)
    center, width = chosen.parameters[:2]
    return center - 3 * width, center + 3 * width
