"""Facts about rules that figures show: conclusions, influence, and how much conditions restrict features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_of_rule
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.estimators import RuleModel
from fuzzymil.explain.coverage import used_features
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.premises import hedged
from fuzzymil.rules import RuleBase
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.premise import Part, conditions, negations


def rules_of(model: Any) -> RuleBase:
    """Return a rule base, or the rule base of a model, ``rules_`` or ``rule_base``."""
    for found in (model, getattr(model, "rules_", None), getattr(model, "rule_base", None)):
        if isinstance(found, RuleBase):
            return found
    raise ParameterError(f"Expected a RuleBase or a fitted model with rules, got {described(model)}.")


def check_shown(**settings: int) -> None:
    """Raise `ParameterError` for a number of things to show that is not at least 1."""
    for name, value in settings.items():
        if value < 1:
            raise ParameterError(f"{name} must be at least 1, got {value!r}.")


def conclusions(rules: RuleBase) -> Array:
    """Return the conclusion of each rule (n_rules, n_outputs), a linear one where its memberships are greatest."""
    coefs = rules.coefs
    if coefs.shape[2] == 1:
        return np.asarray(coefs[:, :, 0])
    middle = [sum(span(variable)) / 2 for variable in rules.variables]
    at = np.where(np.isnan(rules.centers), middle, rules.centers)
    return np.asarray(coefs[:, :, 0] + np.einsum("rkd,rd->rk", coefs[:, :, 1:], at))


def border(model: Any, said: Array) -> float:
    """Return the conclusion above which a rule counts as high: 0, a threshold, or the mean of ``said`` (n_rules,)."""
    if not rules_of(model).normalize:
        return 0.0
    if isinstance(model, RuleModel) and len(getattr(model, "classes_", ())) == 2:
        return float(model._reading().threshold)
    return float(said.mean())


def classes_of(model: Any) -> list[Any]:
    """Return the classes of a model in the order of their colors, the positive one last; none of other models."""
    reading = model._reading() if isinstance(model, RuleModel) else None
    return [] if reading is None or reading.classes is None else list(np.asarray(reading.classes).tolist())


def influences(rules: RuleBase, output: int | None = None) -> Array:
    """Return how far each rule can move an output, or any of them, shape (n_rules,), from 0 to its weight.

    This is the distance of its conclusion from the mean one, relative to their range; of additive rules, the conclusion
    itself, relative to the greatest one.
    """
    found = conclusions(rules) if output is None else conclusions(rules)[:, [output]]
    weights = np.array([rule.weight for rule in rules.rules])
    if rules.normalize:
        away, ranges = np.abs(found - found.mean(axis=0)), np.ptp(found, axis=0)
    else:
        away, ranges = np.abs(found), np.abs(found).max(axis=0)
    if not ranges.any():
        return weights
    differs = ranges > 0
    return np.asarray(weights * (away[:, differs] / ranges[differs]).max(axis=1))


def output_of_each_rule(rules: RuleBase) -> list[tuple[int, bool, str]]:
    """Return, for each rule, which of several outputs it is about, if it speaks against it, and this in words."""
    found = []
    for said in conclusions(rules):
        k = class_of_rule(said, additive=not rules.normalize)
        against = not rules.normalize and bool(said[k] < 0)
        found.append((k, against, f"rule {'against' if against else 'for'} {rules.output_names[k]}"))
    return found


def leading_features(rules: RuleBase, given: Sequence[int] = (), output: int | None = None) -> list[int]:
    """Return two features to draw rules over, in their order: those ``given``, and those of the influential rules."""
    moved = np.zeros(rules.n_features)
    for influence, rule in zip(influences(rules, output), rules.rules, strict=True):
        for name in {condition.variable for condition in rule.conditions}:
            moved[rules.feature_names.index(name)] += influence
    moved[[d for d in used_features([rules]) if not moved[d]]] = -0.5  # before those that no rule uses
    moved[moved == 0] = -1.0
    moved[list(given)] = np.inf
    return sorted(np.argsort(-moved, kind="stable")[:2].tolist())


def conditions_about(rules: RuleBase, r: int, d: int) -> Iterator[tuple[str, MembershipFunction, tuple[str, ...]]]:
    """Yield the quantifier in short, the set and the hedges of each condition of rule ``r`` on feature ``d``."""
    variable = rules.variables[d]
    for part in rules.parts:
        if part.rule == r:
            for condition, negated in zip(conditions(part.premise), negations(part.premise), strict=True):
                if condition.variable == variable.name:
                    hedges = ("not", *condition.hedges) if negated else condition.hedges
                    yield quantifier_word(part), variable.terms[condition.term], hedges


def restrictions(rules: RuleBase) -> Array:
    """Return how much each rule restricts each feature, shape (n_rules, n_features), from 0 to 1.

    This is 1 minus the mean degree to which values over the feature's range satisfy the rule's condition; of several
    conditions on a feature, the most restrictive counts.
    """
    found = np.zeros((rules.n_rules, rules.n_features))
    for d, variable in enumerate(rules.variables):
        values = np.linspace(*span(variable), 201)
        for r in range(rules.n_rules):
            left = [float(hedged(chosen, how, values).mean()) for _, chosen, how in conditions_about(rules, r, d)]
            found[r, d] = 1 - min(left, default=1.0)
    return found


def quantifier_word(part: Part) -> str:
    """Return the quantifier of a part in short: ``some``, ``all``, ``mean``, ``most`` or ``≥ 3``."""
    if part.quantifier is None:
        return ""
    word = {"on average": "mean", "at least": "≥"}.get(part.quantifier, part.quantifier)
    counted = word if part.count is None else f"{word} {part.count}"
    return f"not {counted}" if part.negated else counted
