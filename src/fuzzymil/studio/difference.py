"""What distinguishes two documents, as the page shows it: rules, curves of sets, numbers, and bags that flip."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil.rules.editing import Changed, Difference, shown
from fuzzymil.studio.case import Case
from fuzzymil.studio.describe import values_of
from fuzzymil.studio.document import Document, Rules, Term
from fuzzymil.studio.sets import axis_of, described_set

__all__ = ["answers", "difference", "terms_of_rule"]

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
    return old.diff(new) if old.concludes_sets == new.concludes_sets else None


def _kind(case: Case) -> str:
    return "Mamdani" if case.rules.concludes_sets else "Sugeno"


def terms_of_rule(rules: Rules, place: int) -> list[Term]:
    """Return the terms that a rule, counted from 0, asks for or concludes.

    Examples
    --------
    >>> terms_of_rule(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1").rules, 0)
    [('x', 'low')]
    """
    rule = rules.rules[place]
    return list(dict.fromkeys((each.variable, each.term) for each in (*rule.conditions, *rule.terms.values())))


def _rules(found: Difference) -> list[dict[str, Any]]:
    texts = [found.old.statements(), found.new.statements()]
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
            for variable in rules.all_variables
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
        curves = [None if each is None else described_set(each, axis) for each in sets]
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
