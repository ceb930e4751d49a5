"""Merges several fuzzy sets, or several rules, into one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules._rule_set import R
from fuzzymil.rules.premise import Expression, Quantified, conjunction, plain_conditions, premise_key
from fuzzymil.rules.rule import Rule


def shares_of(weights: Sequence[float]) -> Array:
    """Return weights normalized to sum to one; equal shares if all are 0."""
    values = np.asarray(weights, float)
    total = values.sum()
    return np.asarray(values / total) if total > 0 else np.full(len(values), 1.0 / len(values))


def can_blend(sets: Sequence[MembershipFunction]) -> bool:
    """Return whether sets belong to one family, are open to the same side, and have a width."""
    return len({(chosen.kind, chosen.side) for chosen in sets}) == 1 and all(
        chosen.spread(*chosen.parameters) > 0 for chosen in sets
    )


def blended(sets: Sequence[MembershipFunction], shares: Array) -> MembershipFunction:
    """Return one set that covers several sets of one family.

    With shares p, centers c and spreads s, it has the mean and standard deviation of the mixture of the sets::

        center = sum(p * c)    spread = sqrt(sum(p * (s**2 + (c - center)**2)))

    Other parameters (the slope of a bell, the corners of a trapezoid) are averaged after moving the sets to the same
    center and scaling them to the same spread.
    """
    family = type(sets[0])
    centers = np.array([float(family.peak(*chosen.parameters)) for chosen in sets])
    spreads = np.array([float(family.spread(*chosen.parameters)) for chosen in sets])
    center = float(shares @ centers)
    spread = float(np.sqrt(shares @ (spreads**2 + (centers - center) ** 2)))
    shapes = [
        family.moved(-c / s, 1.0 / s, *chosen.parameters) for chosen, c, s in zip(sets, centers, spreads, strict=True)
    ]
    mixed = family.moved(center, spread, *(shares @ np.array(shapes, float)))
    return sets[0].with_parameters(*map(float, mixed))


def merged_rules(base: R, groups: Sequence[Sequence[int]]) -> tuple[R, list[Rule]]:
    """Merge groups of rules, given by number from 1, into one rule each; see `RuleBase.edit` for the formulas.

    Returns the same rules, plus the terms that the new rules need, and the new rules.
    """
    found = []
    for group in groups:
        rules = [base.rules[number - 1] for number in group]
        shares = shares_of([rule.weight for rule in rules])
        base, premise = _merged_premise(base, group, shares)
        weight = sum(rule.weight for rule in rules)
        coefs = np.tensordot(shares, np.array([rule.coefs for rule in rules]), axes=1)
        if not base.normalize and weight > 0:  # what they add together, in one number
            coefs, weight = weight * coefs, 1.0
        label = " and ".join(dict.fromkeys(rule.label for rule in rules if rule.label))
        comment = "\n".join(dict.fromkeys(rule.comment for rule in rules if rule.comment))
        found.append(Rule(premise, coefs.tolist(), weight, label, comment))
    return base, found


def _merged_premise(base: R, group: Sequence[int], shares: Array) -> tuple[R, Expression]:
    premises = [base.rules[number - 1].premise for number in group]
    if len({premise_key(premise) for premise in premises}) == 1:
        return base, premises[0]
    how = {(p.quantifier, p.count) if isinstance(p, Quantified) else None for p in premises}
    if len(how) == 1 and isinstance(first := premises[0], Quantified):
        base, inner = _merged_conjunctions(base, [p.part for p in premises if isinstance(p, Quantified)], group, shares)
        return base, dataclasses.replace(first, part=inner)
    return _merged_conjunctions(base, premises, group, shares)


def _merged_conjunctions(
    base: R, premises: Sequence[Expression], group: Sequence[int], shares: Array
) -> tuple[R, Expression]:
    asked = [plain_conditions(premise) for premise in premises]
    antecedents = [antecedent for antecedent in asked if antecedent is not None]
    if len(antecedents) < len(asked):
        number = group[asked.index(None)]
        raise ParameterError(
            f"Rule {number} cannot be merged: its premise differs from the others and is not a plain conjunction "
            "('a is b AND c is d'), or all of them under the same quantifier."
        )
    for number, antecedent in zip(group, antecedents, strict=True):
        for name in sorted(antecedent.keys() ^ antecedents[0].keys()):
            asks, does_not = (number, group[0]) if name in antecedent else (group[0], number)
            raise ParameterError(
                f"Rules {group[0]} and {number} cannot be merged: rule {asks} has a condition on {name!r}, rule "
                f"{does_not} does not. Remove it first: edit(without={{{asks}: {name!r}}})."
            )
    joined = {}
    for name in antecedents[0]:
        base, joined[name] = _merged_term(base, name, [antecedent[name] for antecedent in antecedents], group, shares)
    return base, conjunction(joined)


def _merged_term(base: R, name: str, terms: Sequence[str], group: Sequence[int], shares: Array) -> tuple[R, str]:
    """Find or create the term of a variable that covers these terms."""
    place = base.feature_names.index(name)
    variable = base.variables[place]
    distinct = list(dict.fromkeys(terms))
    if len(distinct) == 1:
        return base, distinct[0]
    sets = [variable.terms[term] for term in terms]
    if not can_blend(sets):
        raise ParameterError(
            f"Rules {' and '.join(map(str, group))} cannot be merged: their sets of {name!r} "
            f"({', '.join(str(variable.terms[term]) for term in distinct)}) differ in family or direction."
        )
    new = blended(sets, shares)
    label = "_or_".join(distinct)
    if variable.terms.get(label, new) != new:
        label = next(free for n in range(2, len(variable.terms) + 3) if (free := f"{label}_{n}") not in variable.terms)
    wider = dataclasses.replace(variable, terms={**variable.terms, label: new})
    variables = (*base.variables[:place], wider, *base.variables[place + 1 :])
    return dataclasses.replace(base, variables=variables), label
