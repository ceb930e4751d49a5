"""Edits of rule bases, by hand or to fit other features."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, known_name, listed
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules._rule_set import R, RuleSet
from fuzzymil.rules.editing._merge import merged_rules, shares_of
from fuzzymil.rules.editing._rewrite import TermName, find_term, renamed, rewritten, without_unused_terms
from fuzzymil.rules.language import parser, printer, source
from fuzzymil.rules.premise import Expression
from fuzzymil.rules.rule import Rule, Variable


def edit(
    base: R,
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
) -> R:
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
        ``{"hue.dark": {"center": 0.1}}``. This affects every rule that uses the term.
    new_terms : mapping, optional
        Terms to add, with their fuzzy sets.
    without : mapping, optional
        Conditions to remove: rule number to variables, ``{3: ["texture"]}``.
    conclusions : mapping, optional
        New conclusions of rules: a number, or text such as ``"0.3 + 2*hue"``. With several outputs, a mapping
        from output to these, ``{2: {"sky": 0.8}}``. For additive rules, this is what the rule adds.
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
        ``conclusion_aggregation``. Where the rules use different terms, a new one (``low_or_medium``) has the mean and standard
        deviation of their mixture: center c = sum(p c_r), width sqrt(sum(p (s_r**2 + (c_r - c)**2))).
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
        base = renamed(base, rename)
    if sets or new_terms:
        base = _with_sets(base, sets or {}, new_terms or {})
    if without or conclusions or weights:
        base = _with_changed_rules(base, without or {}, conclusions or {}, weights or {})
    base = _with_replaced(base, replace or {})
    groups = [tuple(numbers_of(base, "merge", group)) for group in merge]
    order = order_of(base, groups, drop, keep)
    if groups or order != list(range(1, base.n_rules + 1)):
        base = in_order(base, groups, order)
    texts = [add] if isinstance(add, str) else list(add)
    if texts:
        base = with_further(base, _new_rules(base, "add", texts))
    if default is not None:
        base = _with_default(base, default)
    return without_unused_terms(base) if drop_unused_terms else base


def over(base: R, feature_names: Iterable[str]) -> R:
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
    place = {name: d for d, name in enumerate(base.feature_names)}
    rules = []
    for rule in base.rules:
        rows = [
            row if len(row) == 1 else (row[0], *(row[1 + place[n]] if n in place else 0.0 for n in names))
            for row in rule.coefs
        ]
        rules.append(rule.concluding(rows))
    variables = tuple(known.get(name, Variable(name)) for name in names)
    return dataclasses.replace(base, variables=variables, rules=tuple(rules))


# ---------------------------------------------------------------------- rule numbers


def number_of(base: RuleSet, what: str, number: object) -> int:
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


def numbers_of(base: RuleSet, what: str, given: object) -> list[int]:
    """Return distinct rule numbers; a single number counts as a list."""
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = [number_of(base, what, number) for number in several]
    twice = next((number for number in found if found.count(number) > 1), None)
    if twice is not None:
        raise ParameterError(f"{what}: rule {twice} appears twice.")
    return found


def order_of(base: RuleSet, groups: list[tuple[int, ...]], drop: Any, keep: Any) -> list[int]:
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
                raise ParameterError(
                    f"{what}: rule {number} is merged into rule {gone[number]}; remove it from {what} or from merge."
                )
    left = [number for number in wanted if number not in dropped and gone.get(number, number) == number]
    if not left:
        raise ParameterError("This would remove every rule: a rule base needs at least one.")
    return left


def in_order(base: R, groups: list[tuple[int, ...]], order: list[int]) -> R:
    """Replace each group by its merged rule, and put the rules in order."""
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


def _with_sets(base: R, sets: Mapping[TermName, Any], new_terms: Mapping[TermName, Any]) -> R:
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
            f"sets: {name!r} must be a fuzzy set, for example Gaussian(0.1, 0.2), or parameters to change, "
            f"for example {{{next(iter(old.fields()), 'center')!r}: 0.1}}, got {value!r:.100}."
        )
    for field in value:
        known_name("parameter", field, old.fields(), f"of {name!r} (a {type(old).__name__})")
    return dataclasses.replace(old, **value)


def _new_term(base: RuleSet, name: TermName) -> tuple[str, str]:
    """Split the name of a term that does not exist yet."""
    found = [(known, rest) for known in base.feature_names if (rest := _term_of(name, known))]
    if len(found) != 1:
        what = f"is ambiguous ({listed(found)})" if found else "does not start with a variable"
        raise ParameterError(
            f"new_terms: {name!r} {what}. Write 'variable.term' or (variable, term); "
            f"the variables are {listed(base.feature_names)}."
        )
    variable, term = found[0]
    if term in base.variables[base.feature_names.index(variable)].terms:
        raise ParameterError(f"new_terms: {variable!r} already has a term {term!r}; use sets= to change it.")
    return found[0]


def _term_of(name: TermName, variable: str) -> str:
    """Return the part of a name after the variable, or nothing if it does not start with the variable."""
    if isinstance(name, tuple):
        return name[1] if len(name) == 2 and name[0] == variable and isinstance(name[1], str) else ""
    start = f"{variable}."
    return name.removeprefix(start) if isinstance(name, str) and name.startswith(start) else ""


# ---------------------------------------------------------------------- single rules


def _with_changed_rules(
    base: R, without: Mapping[int, Any], conclusions: Mapping[int, Any], weights: Mapping[int, Any]
) -> R:
    premises = [rule.premise for rule in base.rules]
    for number, given in without.items():
        r = number_of(base, "without", number) - 1
        names = [given] if isinstance(given, str) else list(given)
        asked = base.rules[r].antecedent
        for name in names:
            if name not in asked:
                raise ParameterError(
                    f"without: rule {number} has no condition on {name!r}; it has conditions on {listed(asked)}."
                    f"{did_you_mean(name, asked)}"
                )
        premises[r] = _without_variables(premises[r], names)
    heavy = [rule.weight for rule in base.rules]
    for number, weight in weights.items():
        if not isinstance(weight, numbers.Real):
            raise ParameterError(f"weights: the weight of rule {number} must be a number, got {weight!r:.100}.")
        heavy[number_of(base, "weights", number) - 1] = float(weight)
    said = {number_of(base, "conclusions", number) - 1: value for number, value in conclusions.items()}
    changed = zip(base.rules, premises, _with_conclusions(base, said), heavy, strict=True)
    rules = tuple(Rule(premise, coefs, weight, rule.label, rule.comment) for rule, premise, coefs, weight in changed)
    return dataclasses.replace(base, rules=rules)


def _without_variables(premise: Expression, names: Sequence[str]) -> Expression:
    return rewritten(premise, lambda condition: None if condition.variable in names else condition)


Coefs = Sequence[Sequence[float]]  # of one rule: per output the constant, optionally followed by slopes


def _with_conclusions(base: RuleSet, said: Mapping[int, Any]) -> list[Coefs]:
    """Return the coefficients of all rules, some of them with new conclusions."""
    coefs: list[Coefs] = [rule.coefs for rule in base.rules]
    for r, value in said.items():
        if not isinstance(value, Mapping):
            if len(base.outputs) > 1:
                raise ParameterError(
                    f"conclusions: there are several outputs ({listed(base.outputs)}), so name the one to change: "
                    f"{{{r + 1}: {{{base.outputs[0]!r}: {value!r:.60}}}}}."
                )
            value = {base.outputs[0]: value}
        for output in value:
            known_name("output", output, base.outputs, "in conclusions")
        coefs[r] = [
            _conclusion(base, output, value[output]) if output in value else row
            for output, row in zip(base.outputs, coefs[r], strict=True)
        ]
    return _of_one_order(coefs, base.n_features)


def _conclusion(base: RuleSet, output: str, value: Any) -> Sequence[float]:
    """Return the coefficients of a number, or of text such as ``"0.3 + 2*hue"``."""
    if isinstance(value, str):
        sign = "=" if base.normalize else "+="
        found = _parsed(base, [f"IF anything THEN {printer.quoted(output)} {sign} {value}"], "conclusions")
        if found.n_rules > 1 or found.outputs != (output,) or found.rules[0].weight != 1:
            raise ParameterError(f"conclusions: expected a sum such as '0.3 + 2*x', got {value!r:.100}.")
        return found.rules[0].coefs[0]
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ParameterError(f"conclusions: {output!r} must be a number or text ('0.3 + 2*x'), got {value!r:.100}.")
    return (float(value),)


def _of_one_order(coefs: Sequence[Coefs], n_features: int) -> list[Coefs]:
    """If any conclusion has slopes, give all of them slopes (0 where they had none)."""
    if all(len(row) == 1 for rows in coefs for row in rows):
        return list(coefs)
    return [[row if len(row) > 1 else (*row, *[0.0] * n_features) for row in rows] for rows in coefs]


def _with_default(base: R, given: Any) -> R:
    if not isinstance(given, Mapping):
        if len(base.outputs) > 1:
            raise ParameterError(
                f"default: there are several outputs ({listed(base.outputs)}), so name the ones to change: "
                f"{{{base.outputs[0]!r}: {given!r:.60}}}."
            )
        given = {base.outputs[0]: given}
    for output, value in given.items():
        known_name("output", output, base.outputs, "in default")
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise ParameterError(f"default: {output!r} must be a number, got {value!r:.100}.")
    values = zip(base.outputs, base.default, strict=True)
    return dataclasses.replace(base, default=tuple(float(given.get(output, old)) for output, old in values))


# ---------------------------------------------------------------------- new rules


def with_further(base: R, new: Sequence[Rule]) -> R:
    """Return the rule base with further rules; if rules have their own alpha, these get the mean one."""
    alpha = base.alpha
    if isinstance(alpha, tuple):
        alpha += (sum(alpha) / len(alpha),) * len(new)
    return dataclasses.replace(base, rules=_rules_of_one_order((*base.rules, *new), base.n_features), alpha=alpha)


def _with_replaced(base: R, texts: Mapping[int, str]) -> R:
    rules = list(base.rules)
    for number, text in texts.items():
        place = number_of(base, "replace", number) - 1
        new = _new_rules(base, "replace", [text])
        if len(new) != 1:
            raise ParameterError(f"replace: expected one rule for rule {number}, got {len(new)}: {text!r:.100}.")
        old = rules[place]
        rules[place] = dataclasses.replace(
            new[0], label=new[0].label or old.label, comment=new[0].comment or old.comment
        )
    return dataclasses.replace(base, rules=_rules_of_one_order(rules, base.n_features)) if texts else base


def _new_rules(base: RuleSet, what: str, texts: list[str]) -> list[Rule]:
    """Parse rules that conclude the same outputs as the others."""
    found = _parsed(base, texts, what)
    for name in found.outputs:
        known_name("output", name, base.outputs, f"in {what}")
    missing = next((name for name in base.outputs if name not in found.outputs), None)
    if missing is not None:
        raise ParameterError(
            f"{what}: the new rules have no conclusion for {missing!r}; every rule needs one per output."
        )
    columns = [found.outputs.index(name) for name in base.outputs]
    return [rule.concluding([rule.coefs[k] for k in columns]) for rule in found.rules]


def _rules_of_one_order(rules: Sequence[Rule], n_features: int) -> tuple[Rule, ...]:
    coefs = _of_one_order([rule.coefs for rule in rules], n_features)
    return tuple(rule.concluding(rows) for rule, rows in zip(rules, coefs, strict=True))


def _parsed(base: R, texts: list[str], what: str) -> R:
    """Parse rules over the existing variables; they can neither declare others nor choose operators."""
    operators = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)}
    for name in ("variables", "rules", "outputs", "comment"):
        del operators[name]
    operators |= {"alpha": 1.0, "conclusion_alpha": 1.0, "default": ()}
    said = next((rule.sets for rule in parser.read(texts, base.variables).rules if rule.sets is not None), None)
    if said is not None and not base.normalize:
        raise said.error("These rules are added up: write '+=' (or '-=') and what the rule adds.")
    found = source.parse(type(base), texts, base.variables, **operators)
    if found.feature_names != base.feature_names:
        raise ParameterError(
            f"{what}: {found.feature_names[-1]!r} is a new variable; add new features with rules.over([...]) first."
        )
    return found
