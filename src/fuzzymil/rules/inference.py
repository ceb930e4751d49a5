"""Inference with rules: bags matched by feature names, limited to the variables' ranges, through the network."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, did_you_mean
from fuzzymil.bags import Bags, Columns, as_bags
from fuzzymil.inference import activations
from fuzzymil.inference.activations import Activations
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.compile import compiled
from fuzzymil.rules.premise import asked_of_one

__all__ = ["asked_of_instances", "clipped", "infer", "infer_output", "matched", "seen_bags"]

Rules = TypeVar("Rules", bound=RuleSet)


def infer(base: RuleSet, bags: Any) -> Activations:
    """Run inference on bags and return the values of every layer, in 64 bit.

    A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by name, and categories
    by theirs; features without a variable of that name are ignored.

    Parameters
    ----------
    bags : Bags, or anything `as_bags` accepts

    Returns
    -------
    Activations

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> rules.infer([[[0.0]], [[0.0], [1.0]]]).output.round(2).tolist()
    [[0.0], [0.5]]
    """
    return activations.infer(*_compiled_once(base), seen_bags(base, bags))


def infer_output(base: RuleSet, bags: Any) -> Array:
    """Return ``infer(base, bags).output``, shape (n_bags, n_outputs), with less memory.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> infer_output(rules, [[[0.0]], [[0.0], [1.0]]]).round(2).tolist()
    [[0.0], [0.5]]
    """
    return activations.infer_output(*_compiled_once(base), seen_bags(base, bags))


def asked_of_instances(base: Rules) -> Rules:
    """Return the rules as they are asked of single instances; see `asked_of_one`."""
    rules = tuple(dataclasses.replace(rule, premise=asked_of_one(rule.premise)) for rule in base.rules)
    return base if rules == base.rules else dataclasses.replace(base, rules=rules)


def _compiled_once(base: RuleSet) -> tuple[Params, Masks, Operators]:
    """Return the arrays of a rule base, which never changes, and keep them with it."""
    found: tuple[Params, Masks, Operators] | None = vars(base).get("_compiled")
    if found is None:
        found = vars(base)["_compiled"] = compiled(base)
    return found


def seen_bags(base: RuleSet, bags: Any) -> Bags:
    """Return bags as the rules see them: their features only, within their limits."""
    return clipped(base, matched(base, as_bags(bags)))


def matched(base: RuleSet, bags: Bags) -> Bags:
    """Return bags with the rules' features, in the rules' order."""
    if bags.feature_names is None:
        if bags.n_features != base.n_features:
            raise InputError(f"X has {bags.n_features} features, but these rules expect {base.n_features}.")
        return bags
    bags = _recoded(base, bags)
    if bags.feature_names == base.feature_names:
        return bags
    place = {name: d for d, name in enumerate(bags.names)}
    for name in base.feature_names:
        if name not in place:
            raise InputError(f"The bags have no feature {name!r}, which the rules use.{did_you_mean(name, place)}")
    columns = [place[name] for name in base.feature_names]
    if bags.columns is not None:
        return bags.with_features(bags.instances[:, columns], Columns(bags.columns[d] for d in columns))
    return bags.map_instances(lambda x: x[:, columns], base.feature_names)


def _recoded(base: RuleSet, bags: Bags) -> Bags:
    """Return bags in which categories have the codes of the rules' variables."""
    known = {variable.name: variable.categories for variable in base.variables if variable.categories}
    if bags.columns is None or not known:
        return bags
    wanted = Columns(
        dataclasses.replace(column, categories=known[column.name])
        if column.kind == "category" and column.name in known
        else column
        for column in bags.columns
    )
    return bags.align(wanted)


def clipped(base: RuleSet, bags: Bags) -> Bags:
    """Return bags with values clipped to the variables' ranges if the rules are ``limited``."""
    if not base.limited:
        return bags
    low = [-np.inf if variable.low is None else variable.low for variable in base.variables]
    high = [np.inf if variable.high is None else variable.high for variable in base.variables]
    return bags.map_instances(lambda x: np.clip(x, low, high))
