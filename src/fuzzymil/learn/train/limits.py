"""Limits on training from given rules: shared terms stay shared, frozen ones fixed, and others within bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.inference.layers import Params
from fuzzymil.inference.premises import Place
from fuzzymil.learn.train._bounds import bounds_of, touched
from fuzzymil.learn.train._projection import Bounds, projected
from fuzzymil.learn.train.constraints import Constraints, Touched
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase

__all__ = ["Bounds", "Limits", "box_of", "limits_of", "projected", "touched_by", "unmoved"]


class Limits(NamedTuple):
    """Constraints on training from rules that a person wrote."""

    owner: Any  # (rows, d), flat index of the first condition that uses the same set: all of them move together
    sets: Any  # (rows, d), 0 for frozen sets
    coefs: Any  # (r, k, 1), 0 for frozen conclusions
    default: Any  # (k,), 0 for a frozen default
    bounds: Bounds | None = None  # on the axes of training
    stay: Any = None  # () strength of the pull to the start, if there is one
    start: Params | None = None  # with bounds or a pull: where training began


def limits_of(
    rules: RuleBase,
    frozen: Iterable[str] = (),
    constraints: Constraints | None = None,
    start: Params | None = None,
    axes: Scaling | None = None,
) -> Limits:
    """Return the limits for training that starts from these rules.

    Parameters
    ----------
    rules : RuleBase
    frozen : sequence of str
        ``"rule 2"`` for a whole rule (its conclusion, and its terms in all rules that use them), ``"hue.dark"`` for a
        term, ``"hue"`` for all terms of a variable, ``"sky"`` for all conclusions about an output, and its default.
    constraints : Constraints, optional
        These need the next two.
    start : Params, optional
        Where training begins, in the units of the data.
    axes : Scaling, optional
        The axes of training.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> limits_of(rules, ["hue.low"]).sets.tolist()
    [[0.0], [1.0]]
    """
    frozen = tuple(frozen)
    places = rules.arrangement.terms
    shape = (rules.arrangement.n_rows, rules.n_features)
    owner: Array = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    first: dict[tuple[str, str], Place] = {}
    for place, term in places.items():
        owner[place] = owner[first.setdefault(term, place)]
    sets, conclusions = _moves(rules, frozen)
    default = np.array([0.0 if output in frozen else 1.0 for output in rules.output_names])
    limits = Limits(owner, sets, conclusions, default)
    if constraints is None or start is None or axes is None:
        return limits
    return limits._replace(
        bounds=bounds_of(rules, start, constraints, sets, axes) if _has_bounds(constraints) else None,
        stay=np.asarray(constraints.stay) if constraints.stay else None,
        start=axes.inward(start, additive=not rules.normalize),
    )


def box_of(
    rules: RuleBase, frozen: Iterable[str], constraints: Constraints | None, start: Params, axes: Scaling
) -> Bounds | None:
    """Return the bounds of `limits_of` in the units of the data."""
    if constraints is None or not _has_bounds(constraints):
        return None
    return bounds_of(rules, start, constraints, _moves(rules, frozen)[0], axes.plain())


def touched_by(rules: RuleBase, frozen: Iterable[str], constraints: Constraints, box: Bounds) -> list[Touched]:
    """Return what ended at a bound; the rules must have the conditions of those that the box was made for."""
    return touched(rules, box, constraints, _moves(rules, frozen))


def _has_bounds(constraints: Constraints) -> bool:
    return dataclasses.replace(constraints, stay=0.0) != Constraints()


def _moves(rules: RuleBase, frozen: Iterable[str]) -> tuple[Array, Array]:
    """Return arrays (rows, d) and (r, k, 1) that are 0 for frozen sets and conclusions."""
    held, conclusions = _held(rules, frozen)
    sets = np.ones((rules.arrangement.n_rows, rules.n_features))
    known = {variable.name: variable.terms for variable in rules.variables}
    for place, (name, term) in rules.arrangement.terms.items():
        sets[place] = float((name, term) not in held and known[name][term].trainable)
    return sets, conclusions


def unmoved(start: RuleBase, trained: RuleBase, frozen: Sequence[str]) -> RuleBase:
    """Return the trained rules with all that is frozen exactly as it was, without rounding errors."""
    held, moves = _held(start, frozen)
    variables = [
        dataclasses.replace(v, terms={t: old.terms[t] if (v.name, t) in held else s for t, s in v.terms.items()})
        for v, old in zip(trained.variables, start.variables, strict=True)
    ]
    coefs = np.where(moves > 0, trained.coefs, start.coefs)
    # Rule Dropout as printed scales every conclusion, also a frozen one: that is no rounding error.
    coefs = np.where(np.isclose(coefs, trained.coefs, rtol=1e-4), coefs, trained.coefs)
    rules = [rule.concluding(rows.tolist()) for rule, rows in zip(trained.rules, coefs, strict=True)]
    default = [
        before if output in frozen else after
        for output, before, after in zip(start.output_names, start.default, trained.default, strict=True)
    ]
    return dataclasses.replace(trained, variables=tuple(variables), rules=tuple(rules), default=tuple(default))


def _held(rules: RuleBase, frozen: Iterable[str]) -> tuple[set[tuple[str, str]], Array]:
    """Return the frozen terms, and an array (r, k, 1) that is 0 for frozen conclusions."""
    known = {f"rule {r + 1}" for r in range(rules.n_rules)} | set(rules.output_names)
    known |= {f"rule {rule.label}" for rule in rules.rules if rule.label}
    known |= {variable.name for variable in rules.variables}
    known |= {f"{variable.name}.{term}" for variable in rules.variables for term in variable.terms}
    terms: set[tuple[str, str]] = set()
    conclusions = np.ones((rules.n_rules, len(rules.outputs), 1))
    for name in frozen:
        if name not in known:
            raise ParameterError(
                f"frozen: unknown name {name!r}. Use rules ('rule 1'), terms ('variable.term'), variables or outputs: "
                f"{listed(sorted(known))}.{did_you_mean(name, known)}"
            )
        for variable in rules.variables:
            terms |= {
                (variable.name, term) for term in variable.terms if name in (variable.name, f"{variable.name}.{term}")
            }
        for r, rule in enumerate(rules.rules):
            if name in (f"rule {r + 1}", f"rule {rule.label}"):
                conclusions[r] = 0.0
                terms |= {(condition.variable, condition.term) for condition in rule.conditions}
        for k, output in enumerate(rules.output_names):
            if name == output:
                conclusions[:, k] = 0.0
    return terms, conclusions
