"""What distinguishes two documents, as the page shows it, and accepting a part of it: rule by rule, with its sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.editing import Difference, shown
from fuzzymil.studio.case import Case
from fuzzymil.studio.document import Document, Term, terms_of_rule
from fuzzymil.studio.sets import axis_of, set_facts
from fuzzymil.studio.views import rmse

_MOST_FLIPS = 1_000


def difference(old: Case, new: Case) -> dict[str, Any]:
    """Return the difference of two cases on the same bags."""
    kinds = ["Mamdani" if case.rules.concludes_sets else "Sugeno" for case in (old, new)]
    if kinds[0] != kinds[1]:
        return {
            "rules": [],
            "terms": [],
            "settings": [{"where": "rules", "what": "kind", "old": kinds[0], "new": kinds[1]}],
            "flipped": [],
            "accuracy": None,
            "rmse": None,
            "text": f"The rules were {kinds[0]} rules and are {kinds[1]} rules.",
        }
    found = old.document.rules.diff(new.document.rules)
    settings = [
        {"where": change.where, "what": change.what, **_as_text(change)}
        for change in found.changes
        if change.where in ("default", "operators") or change.what in ("range", "variable")
    ]
    return {
        "rules": _rules(found),
        "terms": _terms(found, new),
        "settings": settings + _marks(old.document, new.document),
        "text": found.to_text(),
        **answer_changes(old, new),
    }


def _as_text(change: Any) -> dict[str, str]:
    """Return the old and the new value as text."""
    return dict(zip(("old", "new"), shown(change.old, change.new, 4), strict=True))


def _rules(found: Difference) -> list[dict[str, Any]]:
    moved = {(change.variable.name, change.term) for change in found.sets}
    rows = []
    for rule in found.rules:
        here, number = (found.old, rule.old) if rule.new is None else (found.new, rule.new)
        terms = terms_of_rule(here, (number or 0) - 1)
        changes = [{"what": change.what, **_as_text(change)} for change in rule.changes]
        changed = bool(changes) or None in (rule.old, rule.new) or any(tuple(term) in moved for term in terms)
        rows.append({**rule._asdict(), "changes": changes, "changed": changed, "terms": terms})
    return rows


def _terms(found: Difference, new: Case) -> list[dict[str, Any]]:
    rows = []
    for change in found.sets:
        name = change.variable.name
        axis = axis_of(change.variable, new.values(name))
        curves = [None if each is None else set_facts(each, axis) for each in (change.old, change.new)]
        rows.append({"variable": name, "term": change.term, "axis": axis, "old": curves[0], "new": curves[1]})
    return rows


def _marks(old: Document, new: Document) -> list[dict[str, Any]]:
    """Return the changes of what documents hold beside their text."""

    def text(value: Any) -> str:
        if isinstance(value, frozenset):
            return ", ".join(sorted(".".join(each) if isinstance(each, tuple) else str(each) for each in value))
        return "as usual" if value is None else str(value)

    names = [name for name in ("off", "frozen", "threshold", "positive") if getattr(old, name) != getattr(new, name)]
    return [
        {"where": "studio", "what": name, "old": text(getattr(old, name)), "new": text(getattr(new, name))}
        for name in names
    ]


def answer_changes(old: Case, new: Case) -> dict[str, Any]:
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
            found["rmse"] = [rmse(each, new.numbers) for each in (before, after)]
        return found
    found["flipped"] = [
        {
            "bag": b,
            "id": str(new.data.ids[b]),
            "label": None if labels is None else labels[b],
            "old": before[b],
            "new": after[b],
            "old_score": old.scores[b],
            "new_score": new.scores[b],
        }
        for b in np.flatnonzero(before != after)[:_MOST_FLIPS].tolist()
    ]
    if labels is not None:
        found["accuracy"] = [float((each == labels).mean()) for each in (before, after)]
    return found


# ---------------------------------------------------------------------- accepting a part


def accept_rules(
    old: RuleBase, new: RuleBase, accepted: Collection[int], gone: Collection[int] = (), *, default: bool = False
) -> tuple[RuleBase, list[str]]:
    """Return the old rules with some of the new ones in place of those that they correspond to.

    Every rule keeps the sets that it had where it comes from. A term that an accepted and a rejected rule share, and
    that differs, is therefore split: the accepted rule asks for a new term.

    ``accepted`` are numbers of new rules, ``gone`` those of old ones without a new one that may go; ``default`` says
    whether the new default is taken. Also returned: the terms that were split, as ``"hue.low -> hue.low_2"``.
    """
    for number in accepted:
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= new.n_rules:
            raise ParameterError(
                f"There is no proposed rule {number!r:.60}; they are numbered from 1 to {new.n_rules}."
            )
    if not accepted and not gone and not default:
        return old, []
    if (old.concludes_sets, old.normalize) != (new.concludes_sets, new.normalize):
        raise ParameterError("The proposal is of another kind than the rules: accept all of it, or nothing.")
    matches = old.diff(new).matches
    taken = [
        (None, match.new) if match.new in accepted else (match.old, None)
        for match in sorted(matches, key=lambda match: match.old or match.new or 0)
        if match.new in accepted or (match.old is not None and match.old not in gone)
    ]
    if not taken:
        raise ParameterError("This would remove every rule: a rule base needs at least one.")
    names = tuple(dict.fromkeys((*old.feature_names, *new.feature_names)))
    left, right = old.over(names), new.over(names)
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
    made = _rules_taken(left, right, taken, terms)
    if default and not made.concludes_sets and new.outputs == old.outputs:
        made = dataclasses.replace(made, default=new.default)
    return made, [f"{v}.{t} -> {v}.{name}" for (v, t), name in fresh.items()]


def _sets(rules: RuleBase) -> dict[Term, MembershipFunction]:
    return {(v.name, term): chosen for v in rules.all_variables for term, chosen in v.terms.items()}


def _free(name: str, known: Collection[str]) -> str:
    return next(made for n in range(2, len(known) + 3) if (made := f"{name}_{n}") not in known)


def _with_terms(variables: Iterable[Variable], terms: dict[Term, MembershipFunction]) -> tuple[Variable, ...]:
    return tuple(
        dataclasses.replace(each, terms={term: chosen for (name, term), chosen in terms.items() if name == each.name})
        for each in variables
    )


def _rules_taken(
    left: RuleBase, right: RuleBase, taken: Sequence[tuple[int | None, int | None]], terms: Any
) -> RuleBase:
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
