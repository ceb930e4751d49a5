"""One of several: fuzzy sets, and rules, that are joined into one that stands for all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.membership import MembershipFunction, Sigmoid
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.premise import Expression, conjunction, plain_conditions
from fuzzymil.rules.rule import Rule

__all__ = ["blended", "can_blend", "merged_rules", "shares_of"]


def shares_of(weights: Sequence[float]) -> Array:
    """Return weights that sum to one; equal ones where all are 0.

    Examples
    --------
    >>> shares_of([1.0, 3.0]), shares_of([0.0, 0.0])
    (array([0.25, 0.75]), array([0.5, 0.5]))
    """
    values = np.asarray(weights, float)
    total = values.sum()
    return np.asarray(values / total) if total > 0 else np.full(len(values), 1.0 / len(values))


def can_blend(sets: Sequence[MembershipFunction]) -> bool:
    """Tell whether sets are of one family (sigmoids: open to one side)."""
    sides = {np.sign(chosen.slope) for chosen in sets if isinstance(chosen, Sigmoid)}
    return len({type(chosen) for chosen in sets}) == 1 and len(sides) <= 1


def blended(sets: Sequence[MembershipFunction], shares: Array) -> MembershipFunction:
    """Return the set that covers all of these, sets of one family.

    With shares p, centers c and spreads s, the mean and the standard deviation of the mixture of the sets::

        center = sum(p * c)    spread = sqrt(sum(p * (s**2 + (c - center)**2)))

    What else a family has (the slope of a bell, the corners of a trapezoid) is averaged with the sets
    moved to one place and scaled to one spread.

    Examples
    --------
    >>> from fuzzymil.membership import Gaussian
    >>> print(blended([Gaussian(0.0, 0.3), Gaussian(0.8, 0.3)], np.array([0.5, 0.5])))
    Gaussian(0.4, 0.5)
    """
    family = type(sets[0])
    centers = np.array([float(family.peak(*chosen.parameters)) for chosen in sets])
    spreads = np.array([float(family.spread(*chosen.parameters)) for chosen in sets])
    center = float(shares @ centers)
    spread = float(np.sqrt(shares @ (spreads**2 + (centers - center) ** 2)))
    shapes = [
        family.moved(-c / s, 1.0 / s, *chosen.parameters) for chosen, c, s in zip(sets, centers, spreads, strict=True)
    ]
    return family(*(float(value) for value in family.moved(center, spread, *(shares @ np.array(shapes, float)))))


def merged_rules(base: RuleBase, groups: Sequence[Sequence[int]]) -> tuple[RuleBase, list[Rule]]:
    """Make one rule of each group of rules; see `RuleBase.edit` for the formulas.

    Parameters
    ----------
    base : RuleBase
    groups : sequence of sequences of int
        Numbers of the rules, counted from 1.

    Returns
    -------
    base : RuleBase
        The same rules, with the terms that the new rules need.
    rules : list of Rule
        One for each group.
    """
    found = []
    for group in groups:
        rules = [base.rules[number - 1] for number in group]
        shares = shares_of([rule.weight for rule in rules])
        base, premise = _merged_premise(base, group, shares)
        coefs = np.tensordot(shares, np.array([rule.coefs for rule in rules]), axes=1)
        found.append(Rule(premise, coefs.tolist(), sum(rule.weight for rule in rules)))
    return base, found


def _merged_premise(base: RuleBase, group: Sequence[int], shares: Array) -> tuple[RuleBase, Expression]:
    premises = [base.rules[number - 1].premise for number in group]
    if all(premise == premises[0] for premise in premises):
        return base, premises[0]
    asked = [plain_conditions(premise) for premise in premises]
    antecedents = [antecedent for antecedent in asked if antecedent is not None]
    if len(antecedents) < len(asked):
        number = group[asked.index(None)]
        raise ParameterError(
            f"Rule {number} cannot be merged: its premise is no plain conjunction ('a is b AND c is d'), nor equal to "
            "those of the others."
        )
    for number, antecedent in zip(group, antecedents, strict=True):
        for name in sorted(antecedent.keys() ^ antecedents[0].keys()):
            asks, does_not = (number, group[0]) if name in antecedent else (group[0], number)
            raise ParameterError(
                f"Rules {group[0]} and {number} cannot be merged: rule {asks} asks about {name!r}, rule {does_not} "
                f"does not. Leave that condition out first: edit(without={{{asks}: {name!r}}})."
            )
    joined = {}
    for name in antecedents[0]:
        base, joined[name] = _merged_term(base, name, [antecedent[name] for antecedent in antecedents], group, shares)
    return base, conjunction(joined)


def _merged_term(
    base: RuleBase, name: str, terms: Sequence[str], group: Sequence[int], shares: Array
) -> tuple[RuleBase, str]:
    """Find or make the term of a variable that covers these."""
    place = base.feature_names.index(name)
    variable = base.variables[place]
    distinct = list(dict.fromkeys(terms))
    if len(distinct) == 1:
        return base, distinct[0]
    sets = [variable.terms[term] for term in terms]
    if not can_blend(sets):
        raise ParameterError(
            f"Rules {' and '.join(map(str, group))} cannot be merged: their sets of {name!r} "
            f"({', '.join(str(variable.terms[term]) for term in distinct)}) are not of one family and side."
        )
    new = blended(sets, shares)
    label = "_or_".join(distinct)
    if variable.terms.get(label, new) != new:
        label = next(free for n in range(2, len(variable.terms) + 3) if (free := f"{label}_{n}") not in variable.terms)
    wider = dataclasses.replace(variable, terms={**variable.terms, label: new})
    variables = (*base.variables[:place], wider, *base.variables[place + 1 :])
    return dataclasses.replace(base, variables=variables), label
