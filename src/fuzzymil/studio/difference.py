"""What distinguishes two documents, as the page shows it: rules, curves of sets, numbers, and bags that flip."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import MamdaniRules, RuleBase, Variable
from fuzzymil.rules.editing import Changed, Difference, all_variables, shown
from fuzzymil.rules.language import source
from fuzzymil.studio.case import Case
from fuzzymil.studio.document import Document, Rules, Term
from fuzzymil.studio.sets import axis_of, set_facts
from fuzzymil.studio.views import values_of

__all__ = [
    "answers",
    "difference",
    "terms_of_rule",
    "accept_rules",
]

_MOST_FLIPS = 1_000


def difference(old: Case, new: Case) -> dict[str, Any]:
    """Return the difference of two cases on the same bags.

    Examples
    --------
    >>> rule = "VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = {}"
    >>> found = difference(Case(Document(rule.format(1)), None), Case(Document(rule.format(2)), None))
    >>> found["rules"][0]["changes"]
    [{'what': 'y', 'old': '1', 'new': '2'}]
    """
    found = _difference(old.document.rules, new.document.rules)
    if found is None:
        return {
            "rules": [],
            "terms": [],
            "settings": [{"where": "rules", "what": "kind", "old": _kind(old), "new": _kind(new)}],
            "flipped": [],
            "accuracy": None,
            "rmse": None,
            "text": f"The rules were {_kind(old)} rules and are {_kind(new)} rules.",
        }
    settings = _settings(found) + _further(old.document, new.document)
    text = found.to_text() if found else "The rules are the same."
    return {
        "rules": _rules(found),
        "terms": _terms(found, new),
        "settings": settings,
        "text": text,
        **answers(old, new),
    }


def _difference(old: Rules, new: Rules) -> Difference | None:
    if isinstance(old, RuleBase) and isinstance(new, RuleBase):
        return old.diff(new)
    if isinstance(old, RuleBase) or isinstance(new, RuleBase):
        return None
    found: Difference = old.diff(new)
    return found


def _kind(case: Case) -> str:
    return "Sugeno" if isinstance(case.rules, RuleBase) else "Mamdani"


def _statements(rules: Rules) -> list[str]:
    return source.statements(rules) if isinstance(rules, RuleBase) else rules.statements()


def terms_of_rule(rules: Rules, place: int) -> list[Term]:
    """Return the terms that a rule, counted from 0, asks for or concludes.

    Examples
    --------
    >>> terms_of_rule(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1").rules, 0)
    [('x', 'low')]
    """
    base = rules if isinstance(rules, RuleBase) else rules.premises
    found = [(each.variable, each.term) for each in base.rules[place].conditions]
    if not isinstance(rules, RuleBase):
        found += [
            (name, said if isinstance(said, str) else said.term) for name, said in rules.conclusions[place].items()
        ]
    return list(dict.fromkeys(found))


def _rules(found: Difference) -> list[dict[str, Any]]:
    texts = [_statements(found.old), _statements(found.new)]
    moved = {change.where for change in found.changes if change.what == "set"}
    lines = _own_changes(found)
    rows = []
    for match in found.matches:
        here = found.old if match.new is None else found.new
        place = (match.old if match.new is None else match.new) or 0
        terms = terms_of_rule(here, place - 1)
        changes = lines.get((match.old, match.new), [])
        rows.append(
            {
                "old": match.old,
                "new": match.new,
                "name": here.name_of(place - 1),
                "old_text": None if match.old is None else texts[0][match.old - 1],
                "new_text": None if match.new is None else texts[1][match.new - 1],
                "changes": changes,
                "changed": bool(changes) or None in match or any(".".join(term) in moved for term in terms),
                "terms": [list(term) for term in terms],
            }
        )
    return rows


def _own_changes(found: Difference) -> dict[tuple[int | None, int | None], list[dict[str, str]]]:
    """Return the changes of each pair of rules, as text; names of rules may repeat, so they are compared one by one."""
    by_pair: dict[tuple[int | None, int | None], list[dict[str, str]]] = {}
    for match in found.matches:
        if match.old is None or match.new is None:
            continue
        name = found.new.name_of(match.new - 1)
        own = [
            change
            for change in found.changes
            if change.where == name and change.what not in ("rule", "set", "range", "variable")
        ]
        by_pair[match.old, match.new] = [{"what": change.what, **_shown(change)} for change in own]
    return by_pair


def _shown(change: Changed) -> dict[str, str]:
    """Return the old and the new value as text."""
    old, new = shown(change.old, change.new, 4)
    return {"old": old, "new": new}


def _terms(found: Difference, new: Case) -> list[dict[str, Any]]:
    known = [
        {
            (variable.name, term): (variable, chosen)
            for variable in all_variables(rules)
            for term, chosen in variable.terms.items()
        }
        for rules in (found.old, found.new)
    ]
    rows = []
    for key in dict.fromkeys((*known[0], *known[1])):
        pair = [each.get(key) for each in known]
        sets = [None if each is None else each[1] for each in pair]
        if sets[0] == sets[1]:
            continue
        variable = next(each[0] for each in reversed(pair) if each is not None)
        names = new.base.feature_names
        values = values_of(new.bags, key[0], names.index(key[0])) if key[0] in names else None
        axis = axis_of(variable, values)
        curves = [None if each is None else set_facts(each, axis) for each in sets]
        rows.append({"variable": key[0], "term": key[1], "axis": axis, "old": curves[0], "new": curves[1]})
    return rows


def _settings(found: Difference) -> list[dict[str, Any]]:
    return [
        {
            "where": change.where,
            "what": change.what,
            **_shown(change),
        }
        for change in found.changes
        if change.where in ("default", "operators") or change.what in ("range", "variable")
    ]


def _further(old: Document, new: Document) -> list[dict[str, Any]]:
    """Return what documents hold beside their text."""
    found = []
    for name in ("off", "frozen", "threshold", "positive"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            texts = [
                ", ".join(sorted(".".join(each) if isinstance(each, tuple) else str(each) for each in value))
                if isinstance(value, frozenset)
                else "as usual"
                if value is None
                else str(value)
                for value in (before, after)
            ]
            found.append({"where": "studio", "what": name, "old": texts[0], "new": texts[1]})
    return found


def answers(old: Case, new: Case) -> dict[str, Any]:
    """Return the bags that the two decide differently, how often each is right, and the error if labels are numbers."""
    found: dict[str, Any] = {"flipped": [], "accuracy": None, "rmse": None}
    if new.bags is None:
        return found
    try:
        before, after = old.decisions, new.decisions
    except ValueError:  # other variables than those of the data
        return found
    labels = new.labels
    if new.reading is None or old.reading is None:
        if new.reading is old.reading and np.asarray(new.bags.labels).dtype.kind in "iufb":
            found["rmse"] = [float(np.sqrt(((each - new.bags.labels) ** 2).mean())) for each in (before, after)]
        return found
    flipped = np.flatnonzero(before != after)[:_MOST_FLIPS]
    rows = [
        {
            "bag": int(b),
            "id": str(new.data.ids[b]),
            "label": None if labels is None else labels[b],
            "old": before[b],
            "new": after[b],
            "old_score": old.scores[b],
            "new_score": new.scores[b],
        }
        for b in flipped
    ]
    right = None if labels is None else [float((before == labels).mean()), float((after == labels).mean())]
    return found | {"flipped": rows, "accuracy": right}


# Accepting a part of other rules: rule by rule, each with the sets that it was proposed with.


def accept_rules(
    old: Rules, new: Rules, accepted: Collection[int], gone: Collection[int] = (), *, default: bool = False
) -> tuple[Rules, list[str]]:
    """Return the old rules with some of the new ones in place of those that they correspond to.

    Every rule keeps the sets that it had where it comes from. A term that an accepted and a rejected rule share, and
    that differs, is therefore split: the accepted rule asks for a new term.

    Parameters
    ----------
    old, new : RuleBase or MamdaniRules
        Of the same class.
    accepted : collection of int
        Numbers of new rules.
    gone : collection of int
        Numbers of old rules without a new one that are accepted to be removed.
    default : bool
        Whether the new default is accepted.

    Returns
    -------
    rules : RuleBase or MamdaniRules
    split : list of str
        The terms that were split, as ``"hue.low -> hue.low_2"``.

    Examples
    --------
    >>> text = '''VARIABLE x: low = Gaussian({}, 1)  IF x is low THEN y = {}  IF x is not low THEN y = {}'''
    >>> old, new = (RuleBase.parse(text.format(*numbers)) for numbers in ((0, 1, 0), (0.5, 2, 3)))
    >>> rules, split = accept_rules(old, new, [2])
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
    if default and isinstance(made, RuleBase) and new.outputs == old.outputs:
        made = dataclasses.replace(made, default=new.default)
    return made, [f"{v}.{t} -> {v}.{name}" for (v, t), name in fresh.items()]


def _check(new: Rules, accepted: Collection[int]) -> None:
    for number in accepted:
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= new.n_rules:
            raise ParameterError(
                f"There is no proposed rule {number!r:.60}; they are numbered from 1 to {new.n_rules}."
            )


def _diff(old: Rules, new: Rules) -> Any:
    adds = [isinstance(each, RuleBase) and not each.normalize for each in (old, new)]
    if isinstance(old, RuleBase) != isinstance(new, RuleBase) or adds[0] != adds[1]:
        raise ParameterError("The proposal is of another kind than the rules: accept all of it, or nothing.")
    return old.diff(new)


def _sets(rules: Rules) -> dict[Term, MembershipFunction]:
    return {(v.name, term): chosen for v in all_variables(rules) for term, chosen in v.terms.items()}


def _free(name: str, known: Collection[str]) -> str:
    return next(made for n in range(2, len(known) + 3) if (made := f"{name}_{n}") not in known)


def _with_terms(variables: Iterable[Variable], terms: dict[Term, MembershipFunction]) -> tuple[Variable, ...]:
    return tuple(
        dataclasses.replace(each, terms={term: chosen for (name, term), chosen in terms.items() if name == each.name})
        for each in variables
    )


def _joined(left: Rules, right: Rules, taken: Sequence[tuple[int | None, int | None]], terms: Any) -> Rules:
    if isinstance(left, RuleBase):
        assert isinstance(right, RuleBase)
        return _base(left, right, taken, terms)
    assert isinstance(right, MamdaniRules)
    said = [
        left.conclusions[before - 1] if before is not None else right.conclusions[(after or 0) - 1]
        for before, after in taken
    ]
    return dataclasses.replace(
        left,
        premises=_base(left.premises, right.premises, taken, terms),
        outputs=_with_terms(left.outputs, terms),
        conclusions=tuple(said),
    )


def _base(left: RuleBase, right: RuleBase, taken: Sequence[tuple[int | None, int | None]], terms: Any) -> RuleBase:
    known = {variable.name: variable for variable in right.variables}
    # A variable that only the new rules know brings its range.
    variables = [each if each.terms or each.low is not None else known[each.name] for each in left.variables]
    n_coefs = max(left.coefs.shape[2], right.coefs.shape[2])
    rules, alphas = [], []
    for before, after in taken:
        base, number = (left, before) if before is not None else (right, after or 0)
        rule = base.rules[number - 1]
        rules.append(rule.concluding([(*row, *[0.0] * (n_coefs - len(row))) for row in rule.coefs]))
        alphas.append(base.alpha[number - 1] if isinstance(base.alpha, tuple) else base.alpha)
    return dataclasses.replace(
        left,
        variables=_with_terms(variables, terms),
        rules=tuple(rules),
        alpha=tuple(alphas) if len(set(alphas)) > 1 else alphas[0],
    )
