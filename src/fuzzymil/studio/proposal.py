"""Accepting a part of other rules: rule by rule, each with the sets that it was proposed with."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.studio.difference import terms_of_rule
from fuzzymil.studio.document import Rules, Term

__all__ = ["merged"]


def merged(
    old: Rules, new: Rules, accepted: Collection[int], gone: Collection[int] = (), *, default: bool = False
) -> tuple[Rules, list[str]]:
    """Return the old rules with some of the new ones in place of those that they correspond to.

    Every rule keeps the sets that it had where it comes from. A term that an accepted and a rejected rule share, and
    that differs, is therefore split: the accepted rule asks for a new term.

    Parameters
    ----------
    old, new : RuleBase
        Of the same kind.
    accepted : collection of int
        Numbers of new rules.
    gone : collection of int
        Numbers of old rules without a new one that are accepted to be removed.
    default : bool
        Whether the new default is accepted.

    Returns
    -------
    rules : RuleBase
    split : list of str
        The terms that were split, as ``"hue.low -> hue.low_2"``.

    Examples
    --------
    >>> text = '''VARIABLE x: low = Gaussian({}, 1)  IF x is low THEN y = {}  IF x is not low THEN y = {}'''
    >>> old, new = (RuleBase.parse(text.format(*numbers)) for numbers in ((0, 1, 0), (0.5, 2, 3)))
    >>> rules, split = merged(old, new, [2])
    >>> print(rules)
    Rule 1: IF x is low THEN y = 1
    Rule 2: IF x is not low_2 THEN y = 3
    >>> split
    ['x.low -> x.low_2']
    """
    _check(new, accepted)
    if not accepted and not gone and not default:
        return old, []
    matches = _diff(old, new).matches
    taken = [
        (None, match.new) if match.new in accepted else (match.old, None)
        for match in sorted(matches, key=lambda match: match.old or match.new or 0)
        if match.new in accepted or (match.old is not None and match.old not in gone)
    ]
    if not taken:
        raise ParameterError("This would remove every rule: a rule base needs at least one.")
    names = tuple(dict.fromkeys((*old.feature_names, *new.feature_names)))
    left: Rules = old.over(names)
    right: Rules = new.over(names)
    kept = {term for before, _ in taken if before is not None for term in terms_of_rule(left, before - 1)}
    asked = {term for _, after in taken if after is not None for term in terms_of_rule(right, after - 1)}
    sets, others = _sets(left), _sets(right)
    fresh = {
        term: _free(term[1], {name for variable, name in (*sets, *others) if variable == term[0]})
        for term in sorted(asked & kept)
        if sets.get(term) != others[term]
    }
    right = right.edit(rename=dict(fresh))
    renamed = {(variable, fresh.get((variable, name), name)) for variable, name in asked}
    others = _sets(right)
    terms = sets | {term: others[term] for term in renamed}
    made = _joined(left, right, taken, terms)
    if default and not made.concludes_sets and new.outputs == old.outputs:
        made = dataclasses.replace(made, default=new.default)
    return made, [f"{v}.{t} -> {v}.{name}" for (v, t), name in fresh.items()]


def _check(new: Rules, accepted: Collection[int]) -> None:
    for number in accepted:
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= new.n_rules:
            raise ParameterError(
                f"There is no proposed rule {number!r:.60}; they are numbered from 1 to {new.n_rules}."
            )


def _diff(old: Rules, new: Rules) -> Any:
    if (old.concludes_sets, old.normalize) != (new.concludes_sets, new.normalize):
        raise ParameterError("The proposal is of another kind than the rules: accept all of it, or nothing.")
    return old.diff(new)


def _sets(rules: Rules) -> dict[Term, MembershipFunction]:
    return {(v.name, term): chosen for v in rules.all_variables for term, chosen in v.terms.items()}


def _free(name: str, known: Collection[str]) -> str:
    return next(made for n in range(2, len(known) + 3) if (made := f"{name}_{n}") not in known)


def _with_terms(variables: Iterable[Variable], terms: dict[Term, MembershipFunction]) -> tuple[Variable, ...]:
    return tuple(
        dataclasses.replace(each, terms={term: chosen for (name, term), chosen in terms.items() if name == each.name})
        for each in variables
    )


def _joined(left: RuleBase, right: RuleBase, taken: Sequence[tuple[int | None, int | None]], terms: Any) -> RuleBase:
    known = {variable.name: variable for variable in right.variables}
    # A variable that only the new rules know brings its range.
    variables = [each if each.terms or each.low is not None else known[each.name] for each in left.variables]
    n_coefs = max(left.coefs.shape[2], right.coefs.shape[2])
    rules, alphas = [], []
    for before, after in taken:
        base, number = (left, before) if before is not None else (right, after or 0)
        rule = base.rules[number - 1]
        longer = [(*row, *[0.0] * (n_coefs - len(row))) for row in rule.coefs]
        rules.append(rule if rule.terms else rule.concluding(longer))
        alphas.append(base.alpha[number - 1] if isinstance(base.alpha, tuple) else base.alpha)
    return dataclasses.replace(
        left,
        variables=_with_terms(variables, terms),
        outputs=_with_terms(left.outputs, terms) if left.concludes_sets else left.outputs,
        rules=tuple(rules),
        alpha=tuple(alphas) if len(set(alphas)) > 1 else alphas[0],
    )
