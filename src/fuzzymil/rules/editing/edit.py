"""Changes that make another rule base of a rule base: what a person wants different, or other features."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, known_name, listed
from fuzzymil.membership import MembershipFunction
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.editing.merge import merged_rules, shares_of
from fuzzymil.rules.editing.rewrite import TermName, find_term, renamed, rewritten, without_unused_terms
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Expression
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["edit", "over"]


def edit(
    base: RuleBase,
    *,
    rename: Mapping[TermName, str],
    sets: Mapping[TermName, Any],
    new_terms: Mapping[TermName, Any],
    without: Mapping[int, str | Iterable[str]],
    conclusions: Mapping[int, Any],
    weights: Mapping[int, float],
    merge: Iterable[Iterable[int]],
    drop: int | Iterable[int],
    keep: Iterable[int] | None,
    add: str | Iterable[str],
    drop_unused_terms: bool,
) -> RuleBase:
    """Return a changed copy; see `RuleBase.edit`."""
    base = renamed(base, rename)
    base = _with_sets(base, sets, new_terms)
    base = _with_changed_rules(base, without, conclusions, weights)
    groups = [tuple(_numbers(base, "merge", group)) for group in merge]
    order = _order(base, groups, drop, keep)
    base = _merged(base, groups, order)
    texts = [add] if isinstance(add, str) else list(add)
    if texts:
        base = _with_added(base, texts)
    return without_unused_terms(base) if drop_unused_terms else base


def over(base: RuleBase, names: tuple[str, ...]) -> RuleBase:
    """Return the same rules over these features; see `RuleBase.over`."""
    for name in base.feature_names:
        if name not in names:
            raise InputError(f"There is no feature {name!r}, which the rules use.{did_you_mean(name, names)}")
    known = {variable.name: variable for variable in base.variables}
    place = {name: d for d, name in enumerate(base.feature_names)}
    rules = []
    for rule in base.rules:
        rows = [
            row if len(row) == 1 else (row[0], *(row[1 + place[n]] if n in place else 0.0 for n in names))
            for row in rule.coefs
        ]
        rules.append(Rule(rule.premise, tuple(rows), rule.weight))
    variables = tuple(known.get(name, Variable(name)) for name in names)
    return dataclasses.replace(base, variables=variables, rules=tuple(rules))


# ---------------------------------------------------------------------- numbers of rules


def _number(base: RuleBase, what: str, number: object) -> int:
    if not isinstance(number, numbers.Integral) or isinstance(number, bool):
        raise ParameterError(f"{what}: rules go by their number, as printed; got {number!r:.100}.")
    if not 1 <= int(number) <= base.n_rules:
        raise ParameterError(f"{what}: there is no rule {number}; they are numbered from 1 to {base.n_rules}.")
    return int(number)


def _numbers(base: RuleBase, what: str, given: object) -> list[int]:
    """Return the numbers of different rules; a single one counts as a list."""
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = [_number(base, what, number) for number in several]
    twice = next((number for number in found if found.count(number) > 1), None)
    if twice is not None:
        raise ParameterError(f"{what}: rule {twice} is named twice.")
    return found


def _order(base: RuleBase, groups: list[tuple[int, ...]], drop: Any, keep: Any) -> list[int]:
    """Return the numbers of the rules that stay, in their new order; of a merged group the first."""
    dropped = _numbers(base, "drop", drop)
    wanted = list(range(1, base.n_rules + 1)) if keep is None else _numbers(base, "keep", keep)
    if keep is not None and dropped:
        raise ParameterError("drop and keep exclude each other: name the rules that go, or those that stay.")
    gone = {}
    for group in groups:
        if len(group) < 2:
            raise ParameterError(f"merge: a group needs at least two rules, merge=[(1, 2)] say; got {group}.")
        for number in group:
            if number in gone:
                raise ParameterError(f"merge: rule {number} is in two groups; name all rules of a group together.")
            gone[number] = group[0]
    for what, named in (("drop", dropped), ("keep", [] if keep is None else wanted)):
        for number in named:
            if number in gone and (what == "drop" or gone[number] != number):
                raise ParameterError(
                    f"{what}: rule {number} is merged into rule {gone[number]}; leave it out of one of the two."
                )
    left = [number for number in wanted if number not in dropped and gone.get(number, number) == number]
    if not left:
        raise ParameterError("No rule would be left: a rule base needs at least one.")
    return left


def _merged(base: RuleBase, groups: list[tuple[int, ...]], order: list[int]) -> RuleBase:
    """Put each group's rule in the place of its first, and the rules in order."""
    base, rules = merged_rules(base, groups)
    made = {group[0]: rule for group, rule in zip(groups, rules, strict=True)}
    chosen = tuple(made.get(number, base.rules[number - 1]) for number in order)
    alpha = base.alpha
    if isinstance(alpha, tuple):
        one_each = dict(enumerate(alpha, start=1))
        for group in groups:
            shares = shares_of([base.rules[number - 1].weight for number in group])
            one_each[group[0]] = float(shares @ [alpha[number - 1] for number in group])
        alpha = tuple(one_each[number] for number in order)
    return dataclasses.replace(base, rules=chosen, alpha=alpha)


# ---------------------------------------------------------------------- fuzzy sets


def _with_sets(base: RuleBase, sets: Mapping[TermName, Any], new_terms: Mapping[TermName, Any]) -> RuleBase:
    changed = {variable.name: dict(variable.terms) for variable in base.variables}
    for name, value in sets.items():
        variable, term = find_term(base, name, "sets")
        changed[variable][term] = _changed_set(name, changed[variable][term], value)
    for name, value in new_terms.items():
        variable, term = _new_term(base, name)
        changed[variable][term] = value
    variables = tuple(dataclasses.replace(v, terms=changed[v.name]) for v in base.variables)
    return dataclasses.replace(base, variables=variables)


def _changed_set(name: TermName, old: MembershipFunction, value: Any) -> MembershipFunction:
    if isinstance(value, MembershipFunction):
        return value
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"sets: give {name!r} a fuzzy set, Gaussian(0.1, 0.2) say, or parameters to change, "
            f"{{{old.fields()[0]!r}: 0.1}} say; got {value!r:.100}."
        )
    for field in value:
        known_name(f"parameter of {name!r} (a {type(old).__name__})", field, old.fields())
    return dataclasses.replace(old, **value)


def _new_term(base: RuleBase, name: TermName) -> tuple[str, str]:
    """Split the name of a term that is not there yet."""
    found = [(known, rest) for known in base.feature_names if (rest := _term_of(name, known))]
    if len(found) != 1:
        what = f"can mean {listed(found)}" if found else "names no variable"
        raise ParameterError(
            f"new_terms: {name!r} {what}; write 'variable.term' or (variable, term); "
            f"variables are {listed(base.feature_names)}."
        )
    variable, term = found[0]
    if term in base.variables[base.feature_names.index(variable)].terms:
        raise ParameterError(f"new_terms: {variable!r} has a term {term!r} already; sets= changes it.")
    return found[0]


def _term_of(name: TermName, variable: str) -> str:
    """Return what a name says after the variable, or nothing if it starts otherwise."""
    if isinstance(name, tuple):
        return name[1] if len(name) == 2 and name[0] == variable and isinstance(name[1], str) else ""
    start = f"{variable}."
    return name.removeprefix(start) if isinstance(name, str) and name.startswith(start) else ""


# ---------------------------------------------------------------------- single rules


def _with_changed_rules(
    base: RuleBase, without: Mapping[int, Any], conclusions: Mapping[int, Any], weights: Mapping[int, Any]
) -> RuleBase:
    premises = [rule.premise for rule in base.rules]
    for number, given in without.items():
        r = _number(base, "without", number) - 1
        names = [given] if isinstance(given, str) else list(given)
        asked = base.rules[r].antecedent
        for name in names:
            if name not in asked:
                raise ParameterError(
                    f"without: rule {number} does not ask about {name!r}, but about {listed(asked)}."
                    f"{did_you_mean(name, asked)}"
                )
        premises[r] = _no_longer_asking(premises[r], names)
    heavy = [rule.weight for rule in base.rules]
    for number, weight in weights.items():
        if not isinstance(weight, numbers.Real):
            raise ParameterError(f"weights: the weight of rule {number} must be a number, got {weight!r:.100}.")
        heavy[_number(base, "weights", number) - 1] = float(weight)
    said = {_number(base, "conclusions", number) - 1: value for number, value in conclusions.items()}
    return dataclasses.replace(base, rules=tuple(map(Rule, premises, _with_conclusions(base, said), heavy)))


def _no_longer_asking(premise: Expression, names: Sequence[str]) -> Expression:
    return rewritten(premise, lambda condition: None if condition.variable in names else condition)


Coefs = Sequence[Sequence[float]]  # of one rule: for each output its constant, or its constant and slopes


def _with_conclusions(base: RuleBase, said: Mapping[int, Any]) -> list[Coefs]:
    """Return the coefficients of all rules, with what some of them are to conclude instead."""
    coefs: list[Coefs] = [rule.coefs for rule in base.rules]
    for r, value in said.items():
        if not isinstance(value, Mapping):
            if len(base.outputs) > 1:
                raise ParameterError(
                    f"conclusions: rule {r + 1} concludes {listed(base.outputs)}: say of which, "
                    f"{{{r + 1}: {{{base.outputs[0]!r}: {value!r:.60}}}}}."
                )
            value = {base.outputs[0]: value}
        for output in value:
            known_name("output in conclusions", output, base.outputs)
        coefs[r] = [
            _conclusion(base, output, value[output]) if output in value else row
            for output, row in zip(base.outputs, coefs[r], strict=True)
        ]
    return _of_one_order(coefs, base.n_features)


def _conclusion(base: RuleBase, output: str, value: Any) -> Sequence[float]:
    """Return the coefficients of a number, or of a text such as ``"0.3 + 2*hue"``."""
    if isinstance(value, str):
        found = _parsed(base, [f"IF anything THEN {printer.quoted(output)} = {value}"])
        if found.n_rules > 1 or found.outputs != (output,) or found.rules[0].weight != 1:
            raise ParameterError(f"conclusions: expected a sum such as '0.3 + 2*x', got {value!r:.100}.")
        return found.rules[0].coefs[0]
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ParameterError(f"conclusions: {output!r} must be a number or a text ('0.3 + 2*x'), got {value!r:.100}.")
    return (float(value),)


def _of_one_order(coefs: Sequence[Coefs], n_features: int) -> list[Coefs]:
    """Give every conclusion slopes, 0 where it has none, if one has slopes."""
    if all(len(row) == 1 for rows in coefs for row in rows):
        return list(coefs)
    return [[row if len(row) > 1 else (*row, *[0.0] * n_features) for row in rows] for rows in coefs]


# ---------------------------------------------------------------------- new rules


def _with_added(base: RuleBase, texts: list[str]) -> RuleBase:
    found = _parsed(base, texts)
    for name in found.outputs:
        known_name("output in add", name, base.outputs)
    missing = next((name for name in base.outputs if name not in found.outputs), None)
    if missing is not None:
        raise ParameterError(f"add: the new rules say nothing about {missing!r}; every rule concludes all outputs.")
    columns = [found.outputs.index(name) for name in base.outputs]
    new = [[rule.coefs[k] for k in columns] for rule in found.rules]
    every = (*base.rules, *found.rules)
    coefs = _of_one_order([*(rule.coefs for rule in base.rules), *new], base.n_features)
    alpha = base.alpha
    if isinstance(alpha, tuple):
        alpha += (sum(alpha) / len(alpha),) * len(new)
    rules = tuple(Rule(rule.premise, rows, rule.weight) for rule, rows in zip(every, coefs, strict=True))
    return dataclasses.replace(base, rules=rules, alpha=alpha)


def _parsed(base: RuleBase, texts: list[str]) -> RuleBase:
    """Read rules over the variables there are, which may neither declare others nor choose operators."""
    operators = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)}
    for name in ("variables", "rules", "outputs"):
        del operators[name]
    found = RuleBase.parse(
        texts, base.variables, **(operators | {"alpha": 1.0, "consequent_alpha": 1.0, "default": ()})
    )
    if found.feature_names != base.feature_names:
        raise ParameterError(
            f"add: {found.feature_names[-1]!r} is a new variable; a new feature comes in by rules.over([...]) first."
        )
    return found
