"""The edits of a document: each takes a case and a message, and returns another document and what was done.

All of them go through the library's own `edit`, `parse` and `over`, so that the studio can do nothing that a program
could not.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import And, Is, Quantified, RuleBase, Variable
from fuzzymil.rules.language import parser
from fuzzymil.studio.case import Case
from fuzzymil.studio.document import Document, Term, check_text, merge_texts, terms_of_rule
from fuzzymil.studio.sets import axis_of, move_handle, quantile_terms, to_family
from fuzzymil.studio.start import variable_from

Edit = Callable[[Case, Mapping[str, Any]], tuple[Document, str]]

EDITS: dict[str, Edit] = {}
"""The edits by the type of their message."""

_ARGUMENTS = {"merge", "drop", "keep", "without", "weights", "conclusions", "drop_unused_terms", "default"}


class ConflictError(ParameterError):
    """An edit that cannot be joined with one that was made meanwhile."""


def _edit(function: Edit) -> Edit:
    """Register an edit under the name of its function."""
    EDITS[function.__name__] = function
    return function


# ---------------------------------------------------------------------- what messages name


def _text(message: Mapping[str, Any], field: str) -> str:
    value = message.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{field} must be text, got {value!r:.60}.")
    return value


def _number(message: Mapping[str, Any], field: str) -> float:
    value = message.get(field)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ParameterError(f"{field} must be a number, got {value!r:.60}.")
    return float(value)


def _place(document: Document, message: Mapping[str, Any], field: str = "number") -> int:
    number, last = message.get(field), document.rules.n_rules
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= last:
        raise ParameterError(f"{field} must be the number of a rule, from 1 to {last}, got {number!r:.60}.")
    return number


def _rule(document: Document, message: Mapping[str, Any]) -> tuple[int, str]:
    """Return the number of a rule, and its name."""
    number = _place(document, message)
    return number, document.rules.name_of(number - 1)


def _variable(rules: RuleBase, message: Mapping[str, Any]) -> Variable:
    variables = {variable.name: variable for variable in rules.all_variables}
    known_name("variable", message.get("variable"), variables)
    return variables[str(message["variable"])]


def _term(rules: RuleBase, message: Mapping[str, Any]) -> tuple[Term, MembershipFunction]:
    variable = _variable(rules, message)
    known_name("term", message.get("term"), variable.terms, f"of {variable.name!r:.60}")
    return (variable.name, str(message["term"])), variable.terms[str(message["term"])]


def _with_variable(rules: RuleBase, name: str, **fields: Any) -> RuleBase:
    """Return the rules with other fields of one variable, input or output."""

    def changed(variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return tuple(dataclasses.replace(each, **fields) if each.name == name else each for each in variables)

    outputs = changed(rules.outputs) if rules.concludes_sets else rules.outputs
    return dataclasses.replace(rules, variables=changed(rules.variables), outputs=outputs)


def _users(rules: RuleBase, variable: str, term: str | None = None) -> list[int]:
    """Return the numbers of the rules with a condition or conclusion on a variable, or on one of its terms."""
    asked = enumerate((terms_of_rule(rules, r) for r in range(rules.n_rules)), start=1)
    return [r for r, terms in asked if any(name == variable and term in (None, each) for name, each in terms)]


def _set(text: str) -> MembershipFunction:
    """Return the set that is written as in a declaration: ``Gaussian(0.1, 0.2)``."""
    parsed = parser.read(f"VARIABLE x: term = {text}")
    parsed.mistakes.check()
    found = parsed.variables["x"].terms if "x" in parsed.variables else {}
    if list(found) != ["term"] or parsed.rules:
        raise ParameterError(f"Expected one fuzzy set, for example Gaussian(0.1, 0.2), got {text!r:.60}.")
    return found["term"]


# ---------------------------------------------------------------------- rules


@_edit
def write_text(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Take over a text without mistakes, as it was written.

    ``base`` is the text that it was begun from. If the rules were edited elsewhere since, both changes are joined;
    where they concern the same lines, `ConflictError` is raised.
    """
    document, text, base = case.document, check_text(message.get("text")), message.get("base")
    if base is not None and base != document.text:
        both = merge_texts(check_text(base), text, document.text)
        if both is None:
            raise ConflictError("The same lines were changed elsewhere meanwhile: compare them with your text.")
        text = both
    return document.with_text(text), "Edited the text"


@_edit
def set_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change a rule: its weight, text, label or comment, and whether it is on."""
    document, rules = case.document, case.document.rules
    number, name = _rule(document, message)
    label = f"Changed {name}"
    if "text" in message:
        rules = rules.edit(replace={number: _text(message, "text")})
    if "weight" in message:
        rules, label = rules.edit(weights={number: _number(message, "weight")}), f"Changed the weight of {name}"
    said = {field: str(message[field] or "") for field in ("label", "comment") if field in message}
    if said:
        rules = _with_rule(rules, number, **said)
    if rules is not document.rules:
        document = _renumber(document, rules, document.off)
    if "on" in message:
        on = bool(message["on"])
        document = document.replace(off=document.off - {number} if on else document.off | {number})
        label = f"Switched {name} {'on' if on else 'off'}"
    return document, label


def _with_rule(rules: RuleBase, number: int, **fields: Any) -> RuleBase:
    """Return the rules with other fields of one rule."""
    every = list(rules.rules)
    every[number - 1] = dataclasses.replace(every[number - 1], **fields)
    return dataclasses.replace(rules, rules=tuple(every))


def _renumber(document: Document, rules: RuleBase, off: frozenset[int]) -> Document:
    """Return the document with other rules, of which those with these numbers are switched off."""
    return document.replace(off=frozenset[int]()).with_rules(rules).replace(off=off)


@_edit
def add_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add a rule, at the end or after another one."""
    document = case.document
    rules = document.rules.edit(add=_text(message, "text"))
    if message.get("after") is not None:
        after = 0 if message["after"] == 0 else _place(document, message, "after")
        first = document.rules.n_rules
        new = list(range(first + 1, rules.n_rules + 1))
        rules = rules.edit(keep=[*range(1, after + 1), *new, *range(after + 1, first + 1)])
    return document.with_rules(rules), "Added a rule"


@_edit
def remove_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove a rule."""
    document = case.document
    number, name = _rule(document, message)
    off = frozenset(each - (each > number) for each in document.off if each != number)
    return _renumber(document, document.rules.edit(drop=number), off), f"Removed {name}"


@_edit
def move_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Put a rule in another place."""
    document = case.document
    number, name = _rule(document, message)
    order = [each for each in range(1, document.rules.n_rules + 1) if each != number]
    order.insert(_place(document, message, "to") - 1, number)
    off = frozenset(order.index(each) + 1 for each in document.off)
    return _renumber(document, document.rules.edit(keep=order), off), f"Moved {name}"


@_edit
def edit(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Apply arguments of `RuleBase.edit`, such as those that `diagnose` advises."""
    document, asked = case.document, message.get("arguments")
    if not isinstance(asked, Mapping) or not asked or not asked.keys() <= _ARGUMENTS:
        raise ParameterError(f"arguments must be some of {listed(sorted(_ARGUMENTS))}.")
    arguments: dict[str, Any] = {
        name: _by_number(value) if isinstance(value, Mapping) else value for name, value in asked.items()
    }
    return document.with_rules(document.rules.edit(**arguments)), str(message.get("label") or "Edited the rules")[:200]


def _by_number(value: Mapping[str, Any]) -> dict[Any, Any]:
    """Return a mapping whose keys are numbers again, which JSON writes as text."""
    return {int(key) if re.fullmatch("[0-9]{1,6}", str(key)) else key: each for key, each in value.items()}


@_edit
def set_condition(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the condition of a plain rule on one variable, add it, or, with a term of null, remove it."""
    document, names = case.document, case.document.rules.feature_names
    number, name = _rule(document, message)
    rule = document.rules.rules[number - 1]
    variable = _variable(document.rules, message).name
    if variable not in names:
        raise ParameterError(f"{variable} is an output: change the conclusion of the rule instead.")
    quantifier = rule.premise if isinstance(rule.premise, Quantified) else None
    asked = _conjunction(rule.premise if quantifier is None else quantifier.part)
    if asked is None:
        raise ParameterError(f"{name} is more than conditions joined by AND: change its text instead.")
    changed = {each.variable: each for each in asked}
    if message.get("term") is None:
        changed.pop(variable, None)
    else:
        term = _term(document.rules, message)[0][1]
        changed[variable] = Is(variable, term, tuple(map(str, message.get("hedges") or ())))
    order = [changed[each] for each in names if each in changed]
    premise: Any = order[0] if len(order) == 1 else And(tuple(order))
    if quantifier is not None and order:
        premise = dataclasses.replace(quantifier, part=premise)
    return _renumber(document, _with_rule(document.rules, number, premise=premise), document.off), f"Changed {name}"


def _conjunction(premise: Any) -> list[Is] | None:
    """Return the conditions that a premise joins by AND, each about another variable; None for other premises."""
    parts = premise.parts if isinstance(premise, And) else (premise,)
    conditions = [part for part in parts if isinstance(part, Is)]
    return conditions if len(parts) == len({each.variable for each in conditions}) else None


@_edit
def set_conclusion(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change what a rule concludes about an output: a number, a sum as text, or a term."""
    document = case.document
    number, name = _rule(document, message)
    output = message.get("output") or case.outputs[0]
    known_name("output", output, case.outputs)
    rules = document.rules.edit(conclusions={number: {str(output): message.get("value", message.get("term"))}})
    return _renumber(document, rules, document.off), f"Changed the conclusion of {name}"


# ---------------------------------------------------------------------- settings


@_edit
def set_threshold(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Set what an output must exceed to mean the positive class; null returns to the usual one."""
    value = None if message.get("threshold") is None else _number(message, "threshold")
    return case.document.replace(threshold=value), "Changed the threshold"


@_edit
def set_positive(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Say which of two classes is the positive one, which the output is about."""
    if case.names is None or len(case.outputs) > 1:
        raise ParameterError("There is a positive class only if a single output decides between two classes.")
    known_name("class", message.get("class"), case.names)
    return case.document.replace(positive=str(message["class"])), f"Made {message['class']} the positive class"


# ---------------------------------------------------------------------- sets


def _changed_set(old: MembershipFunction, message: Mapping[str, Any]) -> MembershipFunction:
    """Return a set as a message changes it: by a handle, by numbers, by a family, or written out."""
    if "handle" in message:
        return move_handle(old, _text(message, "handle"), _number(message, "x"))
    if "family" in message:
        return to_family(old, _text(message, "family"))
    if "set" in message:
        return _set(_text(message, "set"))
    values = message.get("parameters")
    if isinstance(values, Mapping):
        for name in values:
            known_name("parameter", name, old.fields(), f"of a {type(old).__name__}")
        return dataclasses.replace(old, **{name: _number(values, name) for name in values})
    if isinstance(values, list):
        if len(values) != len(old.parameters):
            raise ParameterError(f"A {type(old).__name__} has {len(old.parameters)} parameters.")
        return old.with_parameters(*(_number({"parameters": each}, "parameters") for each in values))
    raise ParameterError("Expected a handle with x, parameters, a family, or a set.")


def drag_term(document: Document, message: Mapping[str, Any]) -> Document:
    """Return a document in which a term is moved, without a text of its own: what a drag shows before it ends."""
    name, old = _term(document.rules, message)
    made = document.replace()
    vars(made)["rules"] = document.rules.edit(sets={name: _changed_set(old, message)})
    vars(made)["lines"] = document.lines
    return made


@_edit
def set_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the set of a term."""
    name, old = _term(case.document.rules, message)
    rules = case.document.rules.edit(sets={name: _changed_set(old, message)})
    verb = "Changed the family of" if "family" in message else "Moved" if message.get("handle") == "move" else "Changed"
    return case.document.with_rules(rules), f"{verb} {'.'.join(name)}"


@_edit
def add_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add a term: a set as text, or a Gaussian around ``x``."""
    rules = case.document.rules
    variable, term = _variable(rules, message), _text(message, "term")
    if "set" in message:
        new = _set(_text(message, "set"))
    else:
        low, high = axis_of(variable, case.values(variable.name))
        center = _number(message, "x") if message.get("x") is not None else (low + high) / 2
        new = _set(f"Gaussian({center!r}, {(high - low) / 8!r})")
    rules = rules.edit(new_terms={(variable.name, term): new})
    return case.document.with_rules(rules), f"Added {variable.name}.{term}"


@_edit
def delete_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove a term that no rule uses."""
    rules = case.document.rules
    (name, term), _ = _term(rules, message)
    variable = _variable(rules, message)
    users = _users(rules, name, term)
    if users:
        some = len(users) > 1
        them = f"rule{'s' * some} {listed(users)}: change {'them' if some else 'it'} first."
        raise ParameterError(f"{name}.{term} is used by {them}")
    if term in variable.categories:
        raise ParameterError(f"{name}.{term} is a category of the data: it cannot be removed.")
    left = {each: own for each, own in variable.terms.items() if each != term}
    return case.document.with_rules(_with_variable(rules, name, terms=left)), f"Removed {name}.{term}"


@_edit
def freeze(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Lock a term, or all terms of a variable, against training; or unlock them."""
    document = case.document
    variable = _variable(document.rules, message)
    one = None if message.get("term") is None else _term(document.rules, message)[0]
    terms = {(variable.name, term) for term in variable.terms} if one is None else {one}
    lock = bool(message.get("frozen", True))
    what = variable.name if one is None else ".".join(one)
    frozen = document.frozen | terms if lock else document.frozen - terms
    return document.replace(frozen=frozenset(frozen)), f"{'Locked' if lock else 'Unlocked'} {what}"


# ---------------------------------------------------------------------- variables


@_edit
def rename(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Rename a variable, one of its terms, or an output."""
    document, new = case.document, _text(message, "name").strip()
    if "output" in message:
        old = _text(message, "output")
        known_name("output", old, case.outputs)
        return document.with_rules(document.rules.edit(rename={old: new})), f"Renamed {old} to {new}"
    if message.get("term") is not None:
        term, _ = _term(document.rules, message)
        rules = document.rules.edit(rename={term: new})
        renamed = document.with_rules(rules, lambda each: (term[0], new) if each == term else each)
        return renamed, f"Renamed {'.'.join(term)} to {new}"
    name = _variable(document.rules, message).name
    renamed = document.with_rules(
        document.rules.edit(rename={name: new}), lambda each: (new, each[1]) if each[0] == name else each
    )
    return renamed, f"Renamed {name} to {new}"


@_edit
def set_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the range, the unit or the comment of a variable; null removes an end of the range."""
    document = case.document
    variable = _variable(document.rules, message)
    fields: dict[str, Any] = {
        end: None if message[end] is None else _number(message, end) for end in ("low", "high") if end in message
    }
    fields |= {name: str(message[name]) for name in ("unit", "comment") if name in message}
    rules = _with_variable(document.rules, variable.name, **fields)
    return document.with_rules(rules), f"Changed {variable.name}"


@_edit
def add_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add an input, usually a feature of the data that no rule uses yet, with an automatic partition."""
    document, name = case.document, _text(message, "name")
    names = document.rules.feature_names
    if name in names:
        raise ParameterError(f"There already is a variable {name!r:.60}.")
    rules, bags = document.rules.over([*names, name]), case.bags
    known = () if bags is None else bags.feature_names or bags.names[: len(names) + 1]
    if bags is not None and name in known:
        d = known.index(name)
        made = variable_from(name, bags.instances[:, d], None if bags.columns is None else bags.columns[d])
        fields = {field: getattr(made, field) for field in ("low", "high", "terms", "unit", "categories")}
        rules = _with_variable(rules, name, **fields)
    return document.with_rules(rules), f"Added {name}"


@_edit
def remove_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove an input that no rule uses."""
    document, base = case.document, case.document.rules
    name = _variable(document.rules, message).name
    if name not in base.feature_names:
        raise ParameterError(f"{name} is an output: only inputs can be removed.")
    users, place = _users(document.rules, name), base.feature_names.index(name)
    if users or (base.coefs.shape[2] > 1 and (base.coefs[:, :, 1 + place] != 0).any()):
        raise ParameterError(f"{name} is used by rules {listed(users) or 'in their conclusions'}.")
    if len(base.variables) == 1:
        raise ParameterError("Rules need at least one variable.")
    rules = tuple(
        rule
        if rule.terms
        else rule.concluding([row if len(row) == 1 else (*row[: 1 + place], *row[2 + place :]) for row in rule.coefs])
        for rule in base.rules
    )
    left = tuple(each for each in base.variables if each.name != name)
    changed = dataclasses.replace(base, variables=left, rules=rules)
    return document.with_rules(changed), f"Removed {name}"


@_edit
def partition(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Give a variable 3, 5 or 7 terms at quantiles of the data; terms that rules use stay."""
    document = case.document
    variable = _variable(document.rules, message)
    values = case.values(variable.name)
    if values is None:
        values = np.linspace(*axis_of(variable), 101)
    made = quantile_terms(values, int(_number(message, "n")), message.get("names"))
    kept = {
        term: old
        for term, old in variable.terms.items()
        if term not in made and (_users(document.rules, variable.name, term) or term in variable.categories)
    }
    rules = _with_variable(document.rules, variable.name, terms={**made, **kept})
    return document.with_rules(rules), f"Divided {variable.name} into {len(made)} terms"
