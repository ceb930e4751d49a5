"""Edits of rule bases, by hand or to fit other features: names, sets, conclusions, merged, dropped and new rules."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, known_name, listed
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction
from fuzzymil.rules.conclusion import SETTINGS, WEIGHTED
from fuzzymil.rules.language import parser, printer, source
from fuzzymil.rules.premise import (
    ANYTHING,
    Expression,
    Is,
    Quantified,
    conjunction,
    inside,
    plain_conditions,
    premise_key,
    with_parts,
)
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

TermName = str | tuple[str, str]
"""``"variable.term"``, or ``("variable", "term")`` where dots in names would make that ambiguous."""


def edit(
    base: RuleBase,
    *,
    rename: Mapping[Any, str] | None = None,
    sets: Mapping[Any, Any] | None = None,
    new_terms: Mapping[Any, Any] | None = None,
    without: Mapping[int, str | Iterable[str]] | None = None,
    conclusions: Mapping[int, Any] | None = None,
    weights: Mapping[int, float] | None = None,
    replace: Mapping[int, str] | None = None,
    merge: Iterable[Iterable[int]] = (),
    drop: int | Iterable[int] = (),
    keep: Iterable[int] | None = None,
    add: str | Iterable[str] = (),
    default: float | Mapping[str, float] | None = None,
    drop_unused_terms: bool = False,
) -> RuleBase:
    """Return a changed copy of the rule base.

    Rules are identified by their numbers in this rule base, even if the same call drops or adds rules, or by their
    labels.
    Renaming comes first: all other arguments, including rules to add, use the new names.

    Parameters
    ----------
    rename : mapping, optional
        Old to new names of variables, outputs and terms: ``{"x1": "hue", "hue.low": "dark", "y": "sky"}``. A term
        is written ``"variable.term"`` (or ``("variable", "term")``), with the new name of its variable.
    sets : mapping, optional
        New fuzzy sets of terms, ``{"hue.dark": Gaussian(0.1, 0.2)}``, or new values of some of their parameters,
        ``{"hue.dark": {"center": 0.1}}``; also of outputs, ``{"risk.great": Triangular(0.4, 1, 1.6)}``. This affects
        every rule that uses the term.
    new_terms : mapping, optional
        Terms to add, with their fuzzy sets.
    without : mapping, optional
        Conditions to remove: rule number to variables, ``{3: ["texture"]}``.
    conclusions : mapping, optional
        New conclusions of rules: a number, or text such as ``"0.3 + 2*hue"``; or a term, ``"very great"``. With several
        outputs, a mapping from output to these, ``{2: {"sky": 0.8}}``; of rules that conclude sets, None makes the rule
        say nothing about an output. For additive rules, this is what the rule adds, of rules with a ``unit`` also as
        text such as ``"-3 points"``.
    weights : mapping, optional
        New weights of rules.
    replace : mapping, optional
        Rules to put in the place of others, as text over the existing variables and outputs: rule number to rule,
        ``{5: "IF hue is dark THEN sky = 0"}``. The old label and comment stay unless the text has its own.
    merge : sequence of sequences of int
        Groups of rules to merge, ``[(1, 4)]``. The merged rule takes the place of the first one named. The rules of
        a group must be plain conjunctions over the same variables, all of them with the same quantifier or all
        without. With p the rules' weights divided by their sum, the merged rule concludes the mean weighted by p, and
        its weight is the sum of the weights; an additive rule adds the weighted sum, with weight 1. Merging rules
        with equal premises (and alphas) changes no output, except for linear conclusions under a nonlinear
        ``conclusion_aggregation``. Where the rules use different terms, a new one (``low_or_medium``) has the mean and
        standard deviation of their mixture: center c = sum(p c_r), width sqrt(sum(p (s_r**2 + (c_r - c)**2))). Rules
        that conclude sets must conclude the same, and the merged rule has the greatest of their weights.
    drop : int or sequence of int
        Rules to remove.
    keep : sequence of int, optional
        Alternative to ``drop``: the rules to keep, in this order.
    add : str or sequence of str
        Rules to add, as text over the existing variables and outputs. If each rule has its own alpha, new rules
        get the mean.
    default : float or mapping, optional
        New default, a number or, with several outputs, a mapping from output to number.
    drop_unused_terms : bool
        Whether to remove terms that no rule uses.

    Returns
    -------
    RuleBase

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0, 0.0], [1.0, 1.0], [1.1, 1.0]], [[0.3, 0.3]] * 3, [0, 1, 0.8])
    >>> print(rules)
    Rule 1: IF x1 is low AND x2 is low THEN y = 0
    Rule 2: IF x1 is high AND x2 is high THEN y = 1
    Rule 3: IF x1 is highest AND x2 is high THEN y = 0.8
    >>> mine = rules.edit(rename={"x1": "hue", "hue.low": "dark", "y": "sky"}, sets={"hue.dark": {"center": 0.1}},
    ...                   without={1: "x2"}, merge=[(2, 3)], add="IF hue is dark AND x2 is high THEN sky = 0.5")
    >>> print(mine)
    Rule 1: IF hue is dark THEN sky = 0
    Rule 2: IF hue is high_or_highest AND x2 is high THEN sky = 0.9 WITH 2
    Rule 3: IF hue is dark AND x2 is high THEN sky = 0.5
    """
    if rename:
        base = with_names(base, rename)
    if sets or new_terms:
        base = _with_sets(base, sets or {}, new_terms or {})
    if without or conclusions or weights:
        base = _with_changed_rules(base, without or {}, conclusions or {}, weights or {})
    if replace:
        base = _with_replaced(base, replace)
    groups = [tuple(numbers_of(base, "merge", group)) for group in merge]
    order = order_of(base, groups, drop, keep)
    if groups or order != list(range(1, base.n_rules + 1)):
        base = _in_order(base, groups, order)
    if texts := [add] if isinstance(add, str) else list(add):
        new, alpha = _new_rules(base, "add", texts), base.alpha
        if isinstance(alpha, tuple):
            alpha += (sum(alpha) / len(alpha),) * len(new)
        base = dataclasses.replace(base, rules=_with_slopes(base, [*base.rules, *new]), alpha=alpha)
    if default is not None:
        base = _with_default(base, default)
    return without_unused_terms(base, of_outputs=True) if drop_unused_terms else base


def over(base: RuleBase, feature_names: Iterable[str]) -> RuleBase:
    """Return the same rules over these features, in this order; additional features are don't-care.

    Parameters
    ----------
    feature_names : sequence of str
        All features of the rules must be among them.

    Returns
    -------
    RuleBase

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> rules.over(["size", "hue"]).feature_names
    ('size', 'hue')
    """
    names = tuple(feature_names)
    for name in base.feature_names:
        if name not in names:
            raise InputError(f"feature_names must include {name!r}, which the rules use.{did_you_mean(name, names)}")
    known = {variable.name: variable for variable in base.variables}

    def over_names(row: Sequence[float]) -> Sequence[float]:
        slopes = dict(zip(base.feature_names, row[1:], strict=False))
        return (row[0], *(slopes.get(name, 0.0) for name in names)) if slopes else row

    rules = [rule if rule.terms else rule.concluding(list(map(over_names, rule.coefs))) for rule in base.rules]
    variables = [known.get(name, Variable(name)) for name in names]
    return dataclasses.replace(base, variables=tuple(variables), rules=tuple(rules))


# ---------------------------------------------------------------------- rule numbers


def number_of(base: RuleBase, what: str, number: object) -> int:
    """Return the number of a rule, given by number or label; ``what`` names the argument in error messages."""
    if isinstance(number, str):
        labels = [rule.label for rule in base.rules]
        if labels.count(number) > 1:
            raise ParameterError(f"{what}: several rules have the label {number!r:.60}; use their numbers.")
        if not number or number not in labels:
            raise ParameterError(
                f"{what}: expected the number of a rule, or its label, got {number!r:.60}."
                f"{did_you_mean(number, filter(None, labels))}"
            )
        return labels.index(number) + 1
    if not isinstance(number, numbers.Integral) or isinstance(number, bool):
        raise ParameterError(f"{what}: expected the number of a rule, as printed, got {number!r:.100}.")
    if not 1 <= int(number) <= base.n_rules:
        raise ParameterError(f"{what}: there is no rule {number}; rules are numbered from 1 to {base.n_rules}.")
    return int(number)


def numbers_of(base: RuleBase, what: str, given: object) -> list[int]:
    """Return distinct rule numbers; a single number counts as a list."""
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = [number_of(base, what, number) for number in several]
    twice = next((number for number in found if found.count(number) > 1), None)
    if twice is not None:
        raise ParameterError(f"{what}: rule {twice} appears twice.")
    return found


def order_of(base: RuleBase, groups: list[tuple[int, ...]], drop: Any, keep: Any) -> list[int]:
    """Return the numbers of the rules to keep, in their new order; for a merged group, the first."""
    dropped = numbers_of(base, "drop", drop)
    wanted = list(range(1, base.n_rules + 1)) if keep is None else numbers_of(base, "keep", keep)
    if keep is not None and dropped:
        raise ParameterError("Use either drop (the rules to remove) or keep (the rules to keep), not both.")
    gone = {}
    for group in groups:
        if len(group) < 2:
            raise ParameterError(f"merge: a group needs at least two rules, for example merge=[(1, 2)], got {group}.")
        for number in group:
            if number in gone:
                raise ParameterError(f"merge: rule {number} is in two groups; put all rules to merge into one group.")
            gone[number] = group[0]
    for what, named in (("drop", dropped), ("keep", [] if keep is None else wanted)):
        for number in named:
            if number in gone and (what == "drop" or gone[number] != number):
                raise ParameterError(f"{what}: rule {number} is merged into rule {gone[number]}: it cannot be both.")
    left = [number for number in wanted if number not in dropped and gone.get(number, number) == number]
    if not left:
        raise ParameterError("This would remove every rule: a rule base needs at least one.")
    return left


# ---------------------------------------------------------------------- merged rules


def _in_order(base: RuleBase, groups: list[tuple[int, ...]], order: list[int]) -> RuleBase:
    """Replace each group by its merged rule, see `RuleBase.edit` for the formulas, and put the rules in order."""
    rules = dict(enumerate(base.rules, start=1))
    alphas = dict(enumerate(base.alpha, start=1)) if isinstance(base.alpha, tuple) else {}
    for group in groups:
        own = [rules[number] for number in group]
        shares = shares_of([rule.weight for rule in own])
        conclusions, weight = _merge_conclusions(base, group, shares)
        base, premise = _merge_premises(base, group, shares)
        label = " and ".join(dict.fromkeys(rule.label for rule in own if rule.label))
        comment = "\n".join(dict.fromkeys(rule.comment for rule in own if rule.comment))
        rules[group[0]] = Rule(premise, conclusions, weight, label, comment)
        if alphas:
            alphas[group[0]] = float(shares @ [alphas[number] for number in group])
    alpha = tuple(alphas[number] for number in order) if alphas else base.alpha
    return dataclasses.replace(base, rules=tuple(rules[number] for number in order), alpha=alpha)


def _merge_conclusions(base: RuleBase, group: Sequence[int], shares: Array) -> tuple[Any, float]:
    """Return what a merged rule concludes, and its weight."""
    rules = [base.rules[number - 1] for number in group]
    if base.concludes_sets:
        for number, rule in zip(group[1:], rules[1:], strict=True):
            if rule.terms != rules[0].terms:
                raise ParameterError(
                    f"merge: rules {group[0]} and {number} have different conclusions: give them the same one first, "
                    f"edit(conclusions={{{number}: ...}}), or drop one of them."
                )
        return rules[0].terms, max(rule.weight for rule in rules)  # equal sets cover each other
    weight = sum(rule.weight for rule in rules)
    coefs = np.tensordot(shares, np.array([rule.coefs for rule in rules]), axes=1)
    if not base.normalize and weight > 0:  # what they add together, in one number
        coefs, weight = weight * coefs, 1.0
    return coefs.tolist(), weight


def _merge_premises(base: RuleBase, group: Sequence[int], shares: Array) -> tuple[RuleBase, Expression]:
    """Return the premise of a merged rule, and rules with the terms that it needs."""
    premises = [base.rules[number - 1].premise for number in group]
    first = premises[0]
    if len(set(map(premise_key, premises))) == 1:
        return base, first
    alike = len({(p.quantifier, p.count) if isinstance(p, Quantified) else None for p in premises}) == 1
    antecedents: list[dict[str, str]] = []
    for number, premise in zip(group, premises, strict=True):
        found = plain_conditions(premise.part if alike and isinstance(premise, Quantified) else premise)
        if found is None:
            raise ParameterError(
                f"Rule {number} cannot be merged: its premise differs from the others and is not a plain conjunction "
                "('a is b AND c is d'), or all of them under the same quantifier."
            )
        antecedents.append(found)
        for name in sorted(found.keys() ^ antecedents[0].keys()):
            asks, does_not = (number, group[0]) if name in found else (group[0], number)
            raise ParameterError(
                f"Rules {group[0]} and {number} cannot be merged: rule {asks} has a condition on {name!r}, rule "
                f"{does_not} does not. Remove it first: edit(without={{{asks}: {name!r}}})."
            )
    terms = {}
    for name in antecedents[0]:
        base, terms[name] = _merge_terms(base, name, [antecedent[name] for antecedent in antecedents], group, shares)
    merged = conjunction(terms)
    return base, dataclasses.replace(first, part=merged) if isinstance(first, Quantified) else merged


def _merge_terms(
    base: RuleBase, name: str, terms: Sequence[str], group: Sequence[int], shares: Array
) -> tuple[RuleBase, str]:
    """Return the term of a variable that covers these terms, and rules that have it."""
    known = base.variables[base.feature_names.index(name)].terms
    distinct = list(dict.fromkeys(terms))
    if len(distinct) == 1:
        return base, distinct[0]
    sets = [known[term] for term in terms]
    if not can_blend(sets):
        raise ParameterError(
            f"Rules {' and '.join(map(str, group))} cannot be merged: their sets of {name!r} "
            f"({', '.join(str(known[term]) for term in distinct)}) differ in family or direction."
        )
    new = blend(sets, shares)
    label = "_or_".join(distinct)
    if known.get(label, new) != new:
        label = next(free for n in range(2, len(known) + 3) if (free := f"{label}_{n}") not in known)
    return _with_terms(base, {name: {**known, label: new}}), label


# ---------------------------------------------------------------------- sets


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


def blend(sets: Sequence[MembershipFunction], shares: Array) -> MembershipFunction:
    """Return one set of the same family with the mean and standard deviation of the mixture of sets.

    With shares p, centers c and spreads s, these are ``center = sum(p * c)`` and
    ``spread = sqrt(sum(p * (s**2 + (c - center)**2)))``. Other parameters (the slope of a bell, the corners of a
    trapezoid) are averaged after moving the sets to the same center and scaling them to the same spread.
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


def _with_sets(base: RuleBase, sets: Mapping[TermName, Any], new_terms: Mapping[TermName, Any]) -> RuleBase:
    changed = {variable.name: dict(variable.terms) for variable in _owners_of_terms(base)}
    for name, value in sets.items():
        variable, term = _find_term(base, name, "sets")
        changed[variable][term] = _change_set(name, changed[variable][term], value)
    for name, value in new_terms.items():
        variable, term = _new_term(base, name)
        changed[variable][term] = value
    return _with_terms(base, changed)


def _change_set(name: TermName, old: MembershipFunction, value: Any) -> MembershipFunction:
    if isinstance(value, MembershipFunction):
        return value
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"sets: {name!r} must be a fuzzy set, for example Gaussian(0.1, 0.2), or parameters to change, "
            f"for example {{{next(iter(old.fields()), 'center')!r}: 0.1}}, got {value!r:.100}."
        )
    for field in value:
        known_name("parameter", field, old.fields(), f"of {name!r} (a {type(old).__name__})")
    return dataclasses.replace(old, **value)


# ---------------------------------------------------------------------- terms


def _owners_of_terms(base: RuleBase) -> tuple[Variable, ...]:
    """Return the variables, and the outputs of which rules conclude sets, which must have different names."""
    both = sorted(set(base.feature_names) & set(base.output_names)) if base.concludes_sets else []
    if both:
        raise ParameterError(f"{listed(both)} names an input and an output: rename one by dataclasses.replace.")
    return base.all_variables


def _find_term(base: RuleBase, name: TermName, what: str) -> tuple[str, str]:
    """Return the variable and the term that a name refers to; ``what`` names the argument in error messages."""
    every = [(variable.name, term) for variable in _owners_of_terms(base) for term in variable.terms]
    found = [place for place in every if name in (place, ".".join(place))]
    if len(found) > 1:
        raise ParameterError(f"{what}: {name!r} is ambiguous ({listed(found)}). Write it as a pair (variable, term).")
    if not found:
        known = [".".join(place) for place in every]
        asked = ".".join(name) if isinstance(name, tuple) and all(isinstance(part, str) for part in name) else name
        raise ParameterError(
            f"{what}: unknown term {asked!r:.100}; expected 'variable.term', one of {listed(known)}."
            f"{did_you_mean(asked, known)}"
        )
    return found[0]


def _new_term(base: RuleBase, name: TermName) -> tuple[str, str]:
    """Return the variable and the term of a name that does not exist yet."""
    terms = {variable.name: variable.terms for variable in _owners_of_terms(base)}
    if isinstance(name, tuple):
        found = [name] if len(name) == 2 and name[0] in terms and name[1] and isinstance(name[1], str) else []
    else:
        starts = [known for known in terms if isinstance(name, str) and name.startswith(f"{known}.")]
        found = [(known, rest) for known in starts if (rest := name.removeprefix(f"{known}."))]
    if len(found) != 1:
        what = f"is ambiguous ({listed(found)})" if found else "does not start with a variable"
        raise ParameterError(
            f"new_terms: {name!r} {what}. Write 'variable.term' or (variable, term); the variables are {listed(terms)}."
        )
    variable, term = found[0]
    if term in terms[variable]:
        raise ParameterError(f"new_terms: {variable!r} already has a term {term!r}; use sets= to change it.")
    return variable, term


def _with_terms(base: RuleBase, terms: Mapping[str, Mapping[str, MembershipFunction]], **changes: Any) -> RuleBase:
    """Return the rule base with other terms of the variables and outputs that are named, and other changes."""

    def changed(variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return tuple(dataclasses.replace(v, terms=terms[v.name]) if v.name in terms else v for v in variables)

    outputs = changed(base.outputs) if base.concludes_sets else base.outputs
    return dataclasses.replace(base, variables=changed(base.variables), outputs=outputs, **changes)


def without_unused_terms(base: RuleBase, *, of_outputs: bool = False) -> RuleBase:
    """Return the rule base without terms that no rule uses; variables stay, since they are the data's columns."""

    def only(used: set[tuple[str, str]], variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        kept = [{term: chosen for term, chosen in v.terms.items() if (v.name, term) in used} for v in variables]
        return tuple(dataclasses.replace(v, terms=terms) for v, terms in zip(variables, kept, strict=True))

    outputs = base.outputs
    if of_outputs:
        outputs = only({(said.variable, said.term) for rule in base.rules for said in rule.terms.values()}, outputs)
    return dataclasses.replace(
        base, variables=only(set(base.arrangement.terms.values()), base.variables), outputs=outputs
    )


# ---------------------------------------------------------------------- single rules


def rewrite_conditions(premise: Expression, change: Callable[[Is], Is | None]) -> Expression:
    """Return a premise with every condition changed; conditions that become None are removed."""
    found = _rewrite(premise, change)
    return ANYTHING if found is None else found


def _rewrite(premise: Expression, change: Callable[[Is], Is | None]) -> Expression | None:
    if isinstance(premise, Is):
        return change(premise)
    parts = [part for part in (_rewrite(part, change) for part in inside(premise)) if part is not None]
    return with_parts(premise, parts) if parts or premise == ANYTHING else None


def _without_conditions(premise: Expression, names: Sequence[str]) -> Expression:
    return rewrite_conditions(premise, lambda asked: None if asked.variable in names else asked)


def rewrite_rules(rules: Iterable[Rule], change: Callable[[Is], Is], *, conclusions: bool = False) -> tuple[Rule, ...]:
    """Return rules with every condition changed and, if these are meant, too, every term that they conclude."""

    def concluded(rule: Rule) -> Any:
        new = map(change, rule.terms.values())
        return {said.variable: said for said in new} if conclusions and rule.terms else rule.conclusions

    return tuple(
        Rule(rewrite_conditions(rule.premise, change), concluded(rule), rule.weight, rule.label, rule.comment)
        for rule in rules
    )


def _with_changed_rules(
    base: RuleBase, without: Mapping[int, Any], conclusions: Mapping[int, Any], weights: Mapping[int, Any]
) -> RuleBase:
    rules = list(base.rules)
    for number, given in without.items():
        r = number_of(base, "without", number) - 1
        names = [given] if isinstance(given, str) else list(given)
        asked = rules[r].antecedent
        for name in names:
            if name not in asked:
                raise ParameterError(
                    f"without: rule {number} has no condition on {name!r}; it has conditions on {listed(asked)}."
                    f"{did_you_mean(name, asked)}"
                )
        rules[r] = dataclasses.replace(rules[r], premise=_without_conditions(rules[r].premise, names))
    for number, weight in weights.items():
        if not isinstance(weight, numbers.Real):
            raise ParameterError(f"weights: the weight of rule {number} must be a number, got {weight!r:.100}.")
        r = number_of(base, "weights", number) - 1
        rules[r] = dataclasses.replace(rules[r], weight=float(weight))
    for number, value in conclusions.items():
        r = number_of(base, "conclusions", number) - 1
        values = _by_output(base, "conclusions", value, f"{{{r + 1}: %s}}", "the one")
        if base.concludes_sets:
            rules[r] = rules[r].concluding(_concluded_terms(base, r, values))
        else:
            both = zip(base.output_names, rules[r].coefs, strict=True)
            rules[r] = rules[r].concluding([_sum(base, o, values[o]) if o in values else row for o, row in both])
    return dataclasses.replace(base, rules=_with_slopes(base, rules))


def _with_slopes(base: RuleBase, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """If any conclusion has slopes, give all of them slopes, 0 where they had none."""
    if all(len(row) == 1 for rule in rules for row in rule.coefs):
        return tuple(rules)
    none = [0.0] * base.n_features
    return tuple(rule.concluding([row if len(row) > 1 else (*row, *none) for row in rule.coefs]) for rule in rules)


def _by_output(base: RuleBase, what: str, value: Any, example: str, ones: str) -> Mapping[str, Any]:
    """Return what is given by output; a single value is for a single output."""
    names = base.output_names
    if not isinstance(value, Mapping):
        if len(names) > 1:
            raise ParameterError(
                f"{what}: there are several outputs ({listed(names)}), so name {ones} to change: "
                f"{example % f'{{{names[0]!r}: {value!r:.60}}}'}."
            )
        return {names[0]: value}
    for output in value:
        known_name("output", output, names, f"in {what}")
    return value


def _concluded_terms(base: RuleBase, r: int, values: Mapping[str, Any]) -> dict[str, Is]:
    found = dict(base.rules[r].terms)
    for output, said in values.items():
        if said is None:
            found.pop(output, None)
        elif isinstance(said, str):
            terms = base.outputs[base.place_of(output)].terms
            *hedges, term = (said,) if said in terms else said.split()
            known_name("term", term, terms, f"of {output!r} in conclusions")
            found[output] = Is(output, term, tuple(hedges))
        else:
            raise ParameterError(f"conclusions: {output!r} must be a term, such as 'very great', got {said!r:.100}.")
    if not found:
        raise ParameterError(f"conclusions: rule {r + 1} would say nothing: drop it instead, edit(drop={r + 1}).")
    return found


def _sum(base: RuleBase, output: str, value: Any) -> Sequence[float]:
    """Return the coefficients of a number, or of text such as ``"0.3 + 2*hue"``."""
    if isinstance(value, str):
        sign = "=" if base.normalize else "+="
        found = _parse(base, [f"IF anything THEN {printer.quoted(output)} {sign} {value}"], "conclusions")
        if found.n_rules > 1 or found.output_names != (output,) or found.rules[0].weight != 1:
            raise ParameterError(f"conclusions: expected a sum such as '0.3 + 2*x', got {value!r:.100}.")
        return found.rules[0].coefs[0]
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ParameterError(f"conclusions: {output!r} must be a number or text ('0.3 + 2*x'), got {value!r:.100}.")
    return (float(value),)


def _with_default(base: RuleBase, given: Any) -> RuleBase:
    values = _by_output(base, "default", given, "%s", "the ones")
    for output, value in values.items():
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise ParameterError(f"default: {output!r} must be a number, got {value!r:.100}.")
    both = zip(base.output_names, base.default, strict=True)
    return dataclasses.replace(base, default=tuple(float(values.get(output, old)) for output, old in both))


# ---------------------------------------------------------------------- new rules


def _with_replaced(base: RuleBase, texts: Mapping[int, str]) -> RuleBase:
    rules = list(base.rules)
    for number, text in texts.items():
        r = number_of(base, "replace", number) - 1
        new = _new_rules(base, "replace", [text])
        if len(new) != 1:
            raise ParameterError(f"replace: expected one rule for rule {number}, got {len(new)}: {text!r:.100}.")
        label, comment = new[0].label or rules[r].label, new[0].comment or rules[r].comment
        rules[r] = dataclasses.replace(new[0], label=label, comment=comment)
    return dataclasses.replace(base, rules=_with_slopes(base, rules))


def _new_rules(base: RuleBase, what: str, texts: list[str]) -> list[Rule]:
    """Parse rules that conclude the same outputs as the others."""
    found = _parse(base, texts, what)
    if base.concludes_sets:
        return list(found.rules)
    for name in found.output_names:
        known_name("output", name, base.output_names, f"in {what}")
    for name in base.output_names:
        if name not in found.output_names:
            raise ParameterError(f"{what}: the new rules have no conclusion for {name!r}; each needs one per output.")
    columns = [found.output_names.index(name) for name in base.output_names]
    return [rule.concluding([rule.coefs[k] for k in columns]) for rule in found.rules]


def _parse(base: RuleBase, texts: list[str], what: str) -> RuleBase:
    """Parse rules over the existing variables and outputs; they can neither declare others nor choose operators."""
    outputs = base.outputs if base.concludes_sets else ()
    for rule in parser.read(texts, base.variables, outputs).rules:
        if rule.sets is not None and not base.normalize:
            raise rule.sets.error("These rules are added up: write '+=' (or '-=') and what the rule adds.")
        if any(said is not None and isinstance(said, Is) != base.concludes_sets for said in rule.conclusions.values()):
            kind = "terms of outputs: write 'output is term'" if base.concludes_sets else "numbers: write 'y = 1'"
            raise rule.place.error(f"The other rules conclude {kind}.")
    operators: dict[str, Any] = {"t_norm": base.t_norm, "s_norm": base.s_norm}
    if base.concludes_sets:
        operators |= {name: getattr(base.defuzzification, name) for name in SETTINGS}
    else:
        names = ("aggregation", "conclusion_aggregation", "normalize", "limited", "unit")
        operators |= {name: getattr(base, name) for name in names} | {"alpha": 1.0, "default": ()}
    found = source.parse(type(base), texts, base.variables, outputs, **operators)
    if found.feature_names != base.feature_names:
        new = found.feature_names[-1]
        raise ParameterError(f"{what}: {new!r} is a new variable; add new features with rules.over([...]) first.")
    if base.concludes_sets and found.output_names != base.output_names:
        raise ParameterError(f"{what}: {found.output_names[-1]!r} is a new output; use only existing ones.")
    return found


# ---------------------------------------------------------------------- names


def with_names(base: RuleBase, names: Mapping[TermName, str]) -> RuleBase:
    """Return the rule base with other names; see `RuleBase.edit`."""
    for old, new in names.items():
        if not isinstance(new, str) or not new:
            raise ParameterError(f"rename: the new name of {old!r} must be a non-empty string, got {new!r:.100}.")
        if old in base.feature_names and old in base.output_names:
            raise ParameterError(f"rename: {old!r} is both a variable and an output: use dataclasses.replace.")
    renamed = {name: names.get(name, name) for name in (*base.output_names, *base.feature_names)}
    for what, own in (("variables", base.feature_names), ("outputs", base.output_names)):
        _refuse_duplicates(what, [renamed[name] for name in own])

    def change(said: Is) -> Is:
        return dataclasses.replace(said, variable=renamed[said.variable])

    variables = tuple(dataclasses.replace(v, name=renamed[v.name]) for v in base.variables)
    outputs = tuple(
        dataclasses.replace(output, name=renamed[output.name], terms=_terms_over(base, k, renamed))
        for k, output in enumerate(base.outputs)
    )
    rules = rewrite_rules(base.rules, change, conclusions=True)
    base = dataclasses.replace(base, variables=variables, outputs=outputs, rules=rules)
    of_terms = {_renamed_term(base, old, renamed): new for old, new in names.items() if old not in renamed}
    return _with_term_names(base, of_terms) if of_terms else base


def _refuse_duplicates(what: str, names: Sequence[str]) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ParameterError(f"rename: two {what} would be named {repeated!r}.")


def _terms_over(base: RuleBase, k: int, names: Mapping[str, str]) -> Mapping[str, MembershipFunction]:
    """Return the terms of an output, numbers that are computed from other variables by the new names of these."""
    terms = base.outputs[k].terms
    if not base.concludes_sets or base.setting("defuzzify", k) not in WEIGHTED:
        return terms
    found = dict(terms)
    for term, chosen in terms.items():
        if isinstance(chosen, Formula):
            found[term] = Formula(Arithmetic(chosen.text).renamed(names).text, *chosen.parameters)
    return found


def _renamed_term(base: RuleBase, name: TermName, renamed: Mapping[str, str]) -> tuple[str, str]:
    """Find a term by the new name of its variable."""
    try:
        return _find_term(base, name, "rename")
    except ParameterError as problem:
        variable = name[0] if isinstance(name, tuple) else str(name).rpartition(".")[0]
        new = renamed.get(variable, variable)
        hint = did_you_mean(name, renamed) if new == variable else f" ({variable!r} is now {new!r}: use the new name.)"
        raise ParameterError(f"{problem}{hint}") from None


def _with_term_names(base: RuleBase, of_terms: Mapping[tuple[str, str], str]) -> RuleBase:
    terms = {}
    for variable in _owners_of_terms(base):
        names = [of_terms.get((variable.name, term), term) for term in variable.terms]
        _refuse_duplicates(f"terms of {variable.name!r}", names)
        terms[variable.name] = dict(zip(names, variable.terms.values(), strict=True))

    def change(said: Is) -> Is:
        return dataclasses.replace(said, term=of_terms.get((said.variable, said.term), said.term))

    return _with_terms(base, terms, rules=rewrite_rules(base.rules, change, conclusions=True))
