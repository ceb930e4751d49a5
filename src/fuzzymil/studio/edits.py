"""How edits are registered, and how they read their messages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import And, Is, Quantified, Rule, RuleBase, Variable
from fuzzymil.rules.editing import all_variables
from fuzzymil.rules.language import parser
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.document import Document, Rules, Term, check_text, merge_texts
from fuzzymil.studio.sets import axis_of, move_handle, quantile_terms, to_family
from fuzzymil.studio.views import values_of

__all__ = [
    "EDITS",
    "ConflictError",
    "edit_message",
    "number_of",
    "set_of",
    "term_of",
    "text_of",
    "used_by",
    "variable_of",
    "with_variable",
    "drag_term",
]

Edit = Callable[[Case, Mapping[str, Any]], tuple[Document, str]]

EDITS: dict[str, Edit] = {}
"""The edits by the type of their message."""


class ConflictError(ParameterError):
    """An edit that cannot be joined with one that was made meanwhile."""


def edit_message(function: Edit) -> Edit:
    """Register an edit under the name of its function."""
    EDITS[function.__name__] = function
    return function


# ---------------------------------------------------------------------- what messages name


def text_of(message: Mapping[str, Any], field: str) -> str:
    value = message.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{field} must be text, got {value!r:.60}.")
    return value


def number_of(message: Mapping[str, Any], field: str) -> float:
    value = message.get(field)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ParameterError(f"{field} must be a number, got {value!r:.60}.")
    return float(value)


def variable_of(rules: Rules, message: Mapping[str, Any]) -> Variable:
    variables = {variable.name: variable for variable in all_variables(rules)}
    known_name("variable", message.get("variable"), variables)
    return variables[str(message["variable"])]


def term_of(rules: Rules, message: Mapping[str, Any]) -> tuple[Term, MembershipFunction]:
    variable = variable_of(rules, message)
    known_name("term", message.get("term"), variable.terms, f"of {variable.name!r:.60}")
    return (variable.name, str(message["term"])), variable.terms[str(message["term"])]


def with_variable(rules: Rules, name: str, **fields: Any) -> Rules:
    """Return the rules with other fields of one variable, input or output."""

    def changed(variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return tuple(dataclasses.replace(each, **fields) if each.name == name else each for each in variables)

    if isinstance(rules, RuleBase):
        return dataclasses.replace(rules, variables=changed(rules.variables))
    premises = dataclasses.replace(rules.premises, variables=changed(rules.premises.variables))
    return dataclasses.replace(rules, premises=premises, outputs=changed(rules.outputs))


def used_by(rules: Rules, variable: str, term: str | None = None) -> list[int]:
    """Return the numbers of the rules with a condition or conclusion on a variable, or on one of its terms."""
    base = rules if isinstance(rules, RuleBase) else rules.premises
    found = set()
    for r, rule in enumerate(base.rules, start=1):
        if any(each.variable == variable and term in (None, each.term) for each in rule.conditions):
            found.add(r)
    if not isinstance(rules, RuleBase):
        for r, said in enumerate(rules.conclusions, start=1):
            if variable in said:
                own = said[variable]
                if term in (None, own if isinstance(own, str) else own.term):
                    found.add(r)
    return sorted(found)


def set_of(text: str) -> MembershipFunction:
    """Return the set that is written as in a declaration: ``Gaussian(0.1, 0.2)``."""
    parsed = parser.read(f"VARIABLE x: term = {text}")
    parsed.mistakes.check()
    found = parsed.variables["x"].terms if "x" in parsed.variables else {}
    if list(found) != ["term"] or parsed.rules:
        raise ParameterError(f"Expected one fuzzy set, for example Gaussian(0.1, 0.2), got {text!r:.60}.")
    return found["term"]


# Edits of rules, operators, and what the output means.


@edit_message
def write_text(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Take over a text without mistakes, as it was written.

    ``base`` is the text that it was begun from. If the rules were edited elsewhere since, both changes are joined;
    where they concern the same lines, `ConflictError` is raised.
    """
    document, text = case.document, check_text(message.get("text"))
    base = message.get("base")
    if base is None or base == document.text:
        return document.with_text(text), "Edited the text"
    joined = merge_texts(check_text(base), text, document.text)
    if joined is None:
        raise ConflictError("The same lines were changed elsewhere meanwhile: compare them with your text.")
    return document.with_text(joined), "Edited the text"


def _place(document: Document, message: Mapping[str, Any], field: str = "number") -> int:
    number = message.get(field)
    last = document.rules.n_rules
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= last:
        raise ParameterError(f"{field} must be the number of a rule, from 1 to {last}, got {number!r:.60}.")
    return number


@edit_message
def set_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change a rule: its weight, text, label or comment, and whether it is on."""
    document = case.document
    number = _place(document, message)
    name = document.base.name_of(number - 1)
    rules, label = document.rules, f"Changed {name}"
    if "text" in message:
        rules = rules.edit(replace={number: text_of(message, "text")})
    if "weight" in message:
        rules, label = rules.edit(weights={number: number_of(message, "weight")}), f"Changed the weight of {name}"
    said = {field: str(message[field] or "") for field in ("label", "comment") if field in message}
    if said:
        rules = _with_said(rules, number, said)
    if rules is not document.rules:
        document = _same_numbers(document, rules)
    if "on" in message:
        on = bool(message["on"])
        document = document.replaced(off=document.off - {number} if on else document.off | {number})
        label = f"Switched {name} {'on' if on else 'off'}"
    return document, label


def _with_said(rules: Rules, number: int, said: Mapping[str, str]) -> Rules:
    base = rules if isinstance(rules, RuleBase) else rules.premises
    every = list(base.rules)
    old = every[number - 1]
    label, comment = said.get("label", old.label), said.get("comment", old.comment)
    every[number - 1] = Rule(old.premise, old.coefs, old.weight, label, comment)
    premises = dataclasses.replace(base, rules=tuple(every))
    return premises if isinstance(rules, RuleBase) else dataclasses.replace(rules, premises=premises)


@edit_message
def add_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add a rule, at the end or after another one."""
    document = case.document
    rules = document.rules.edit(add=text_of(message, "text"))
    if message.get("after") is not None:
        after = 0 if message["after"] == 0 else _place(document, message, "after")
        first = document.rules.n_rules
        new = list(range(first + 1, rules.n_rules + 1))
        rules = rules.edit(keep=[*range(1, after + 1), *new, *range(after + 1, first + 1)])
    return document.with_rules(rules), "Added a rule"


@edit_message
def remove_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove a rule."""
    document = case.document
    number = _place(document, message)
    name = document.base.name_of(number - 1)
    kept = document.replaced(off=frozenset[int]()).with_rules(document.rules.edit(drop=number))
    off = frozenset(each - (each > number) for each in document.off if each != number)
    return kept.replaced(off=off), f"Removed {name}"


@edit_message
def move_rule(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Put a rule in another place."""
    document = case.document
    number, to = _place(document, message), _place(document, message, "to")
    order = [each for each in range(1, document.rules.n_rules + 1) if each != number]
    order.insert(to - 1, number)
    moved = document.replaced(off=frozenset[int]()).with_rules(document.rules.edit(keep=order))
    off = frozenset(order.index(each) + 1 for each in document.off)
    return moved.replaced(off=off), f"Moved {document.base.name_of(number - 1)}"


@edit_message
def edit(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Apply arguments of `RuleBase.edit`, such as those that `diagnose` advises."""
    document = case.document
    asked = message.get("arguments")
    allowed = {"merge", "drop", "keep", "without", "weights", "conclusions", "drop_unused_terms", "default"}
    if not isinstance(asked, Mapping) or not asked or not asked.keys() <= allowed:
        raise ParameterError(f"arguments must be some of {listed(sorted(allowed))}.")
    arguments: dict[str, Any] = {
        name: _by_number(value) if isinstance(value, Mapping) else value for name, value in asked.items()
    }
    return document.with_rules(document.rules.edit(**arguments)), str(message.get("label") or "Edited the rules")[:200]


def _by_number(value: Mapping[str, Any]) -> dict[Any, Any]:
    """Return a mapping whose keys are numbers again, which JSON writes as text."""
    return {int(key) if re.fullmatch("[0-9]{1,6}", str(key)) else key: each for key, each in value.items()}


# ---------------------------------------------------------------------- settings


@edit_message
def set_operators(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change operators and defaults."""
    document, rules = case.document, case.document.rules
    asked = dict(message.get("operators") or {})
    if isinstance(rules, RuleBase):
        names = (
            "t_norm",
            "s_norm",
            "aggregation",
            "alpha",
            "conclusion_aggregation",
            "conclusion_alpha",
            "normalize",
            "limited",
        )
        rules = dataclasses.replace(rules, **_operators(asked, names))
    else:
        inner, outer = (
            ("t_norm", "s_norm", "aggregation", "alpha", "limited"),
            ("implication", "accumulation", "defuzzify"),
        )
        for name in asked:
            known_name("operator", name, (*inner, *outer))
        premises = dataclasses.replace(
            rules.premises, **_operators({n: v for n, v in asked.items() if n in inner}, inner)
        )
        rules = dataclasses.replace(rules, premises=premises, **{n: v for n, v in asked.items() if n in outer})
    if message.get("default") is not None:
        rules = rules.edit(default=message["default"])
    return document.with_rules(rules), f"Changed {listed(asked) or 'the default'}"


def _operators(asked: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    for name in asked:
        known_name("operator", name, names)
    # A T-norm brings its own S-norm unless one is chosen.
    implied = {"s_norm": ""} if "t_norm" in asked and "s_norm" not in asked else {}
    return {**implied, **{name: tuple(value) if isinstance(value, list) else value for name, value in asked.items()}}


@edit_message
def set_threshold(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Set what an output must exceed to mean the positive class; null returns to the usual one."""
    value = None if message.get("threshold") is None else number_of(message, "threshold")
    return case.document.replaced(threshold=value), "Changed the threshold"


@edit_message
def set_positive(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Say which of two classes the output speaks for."""
    if case.classes is None or len(case.outputs) > 1:
        raise ParameterError("Only a single output that decides between two classes speaks for one of them.")
    names = [class_text(each) for each in case.classes]
    known_name("class", message.get("class"), names)
    return case.document.replaced(positive=str(message["class"])), f"The output speaks for {message['class']}"


# ---------------------------------------------------------------------- cells of the table


@edit_message
def set_condition(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the condition of a plain rule on one variable, add it, or, with a term of null, remove it."""
    document = case.document
    number = _place(document, message)
    rule = document.base.rules[number - 1]
    variable = variable_of(document.rules, message).name
    if variable not in document.base.feature_names:
        raise ParameterError(f"{variable} is an output: change the conclusion of the rule instead.")
    quantifier, asked = _conjunction(rule.premise)
    if asked is None:
        raise ParameterError(
            f"{document.base.name_of(number - 1)} is more than conditions joined by AND: change its text instead."
        )
    changed = {each.variable: each for each in asked}
    if message.get("term") is None:
        changed.pop(variable, None)
    else:
        term = term_of(document.rules, message)[0][1]
        changed[variable] = Is(variable, term, tuple(map(str, message.get("hedges") or ())))
    order = [changed[name] for name in document.base.feature_names if name in changed]
    premise: Any = order[0] if len(order) == 1 else And(tuple(order))
    if quantifier is not None and order:
        premise = dataclasses.replace(quantifier, part=premise)
    new = Rule(premise, rule.coefs, rule.weight, rule.label, rule.comment)
    every = tuple(new if r == number - 1 else each for r, each in enumerate(document.base.rules))
    return _with_base_rules(document, every), f"Changed {document.base.name_of(number - 1)}"


def _conjunction(premise: Any) -> tuple[Quantified | None, list[Is] | None]:
    """Return the quantifier of a premise and the conditions that it joins by AND, each about another variable."""
    quantifier = premise if isinstance(premise, Quantified) else None
    inner = premise if quantifier is None else quantifier.part
    parts: list[Any] = [inner] if isinstance(inner, Is) else list(inner.parts) if isinstance(inner, And) else [None]
    plain = all(isinstance(part, Is) for part in parts)
    return quantifier, parts if plain and len({part.variable for part in parts}) == len(parts) else None


def _with_base_rules(document: Document, every: tuple[Rule, ...]) -> Document:
    base = dataclasses.replace(document.base, rules=every)
    rules = base if isinstance(document.rules, RuleBase) else dataclasses.replace(document.rules, premises=base)
    return _same_numbers(document, rules)


def _same_numbers(document: Document, rules: Rules) -> Document:
    """Return the document with rules whose numbers stay, so that the same ones are switched off."""
    return document.replaced(off=frozenset[int]()).with_rules(rules).replaced(off=document.off)


@edit_message
def set_conclusion(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change what a rule concludes about an output: a number, a sum as text, or a term."""
    document = case.document
    number = _place(document, message)
    output = message.get("output") or case.outputs[0]
    known_name("output", output, case.outputs)
    value = message.get("value", message.get("term"))
    rules = document.rules.edit(conclusions={number: {str(output): value}})
    label = f"Changed the conclusion of {document.base.name_of(number - 1)}"
    return _same_numbers(document, rules), label


# Edits of variables and their fuzzy sets.


def _new_set(chosen: MembershipFunction, message: Mapping[str, Any]) -> MembershipFunction:
    """Return a set as a message changes it: by a handle, by numbers, by a family, or written out."""
    if "handle" in message:
        return move_handle(chosen, text_of(message, "handle"), number_of(message, "x"))
    if "family" in message:
        return to_family(chosen, text_of(message, "family"))
    if "set" in message:
        return set_of(text_of(message, "set"))
    values = message.get("parameters")
    if isinstance(values, Mapping):
        for name in values:
            known_name("parameter", name, chosen.fields(), f"of a {type(chosen).__name__}")
        return dataclasses.replace(chosen, **{name: number_of(values, name) for name in values})
    if isinstance(values, list):
        if len(values) != len(chosen.parameters):
            raise ParameterError(f"A {type(chosen).__name__} has {len(chosen.parameters)} parameters.")
        return chosen.with_parameters(*(number_of({"parameters": each}, "parameters") for each in values))
    raise ParameterError("Expected a handle with x, parameters, a family, or a set.")


def drag_term(document: Document, message: Mapping[str, Any]) -> Document:
    """Return a document in which a term is moved, without a text of its own: what a drag shows before it ends.

    Examples
    --------
    >>> document = Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1")
    >>> message = {"variable": "x", "term": "low", "handle": "center", "x": 0.5}
    >>> drag_term(document, message).rules.variables[0].terms["low"]
    Gaussian(center=0.5, width=1.0)
    """
    name, chosen = term_of(document.rules, message)
    made = document.replaced()
    vars(made)["rules"] = document.rules.edit(sets={name: _new_set(chosen, message)})
    vars(made)["lines"] = document.lines
    return made


@edit_message
def set_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the set of a term."""
    document = case.document
    name, chosen = term_of(document.rules, message)
    rules = document.rules.edit(sets={name: _new_set(chosen, message)})
    verb = "Changed the family of" if "family" in message else "Moved" if message.get("handle") == "move" else "Changed"
    return document.with_rules(rules), f"{verb} {name[0]}.{name[1]}"


@edit_message
def add_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add a term: a set as text, or a triangle around ``x``."""
    document = case.document
    variable, term = variable_of(document.rules, message), text_of(message, "term")
    if "set" in message:
        chosen = set_of(text_of(message, "set"))
    else:
        low, high = _axis(case, variable)
        center = number_of(message, "x") if message.get("x") is not None else (low + high) / 2
        chosen = set_of(f"Gaussian({center!r}, {(high - low) / 8!r})")
    rules = document.rules.edit(new_terms={(variable.name, term): chosen})
    return document.with_rules(rules), f"Added {variable.name}.{term}"


def _axis(case: Case, variable: Variable) -> tuple[float, float]:
    return axis_of(variable, _values(case, variable))


def _values(case: Case, variable: Variable) -> Any:
    names = case.base.feature_names
    return values_of(case.bags, variable.name, names.index(variable.name)) if variable.name in names else None


@edit_message
def delete_term(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove a term that no rule uses."""
    document = case.document
    (name, term), _ = term_of(document.rules, message)
    variable = variable_of(document.rules, message)
    users = used_by(document.rules, name, term)
    if users:
        raise ParameterError(
            f"{name}.{term} is used by rule{'s' * (len(users) > 1)} {listed(users)}: "
            f"change {'them' if len(users) > 1 else 'it'} first."
        )
    if term in variable.categories:
        raise ParameterError(f"{name}.{term} is a category of the data: it cannot be removed.")
    left = {each: chosen for each, chosen in variable.terms.items() if each != term}
    return document.with_rules(with_variable(document.rules, name, terms=left)), f"Removed {name}.{term}"


@edit_message
def rename(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Rename a variable, one of its terms, or an output."""
    document = case.document
    new = text_of(message, "name").strip()
    if "output" in message:
        old = text_of(message, "output")
        known_name("output", old, case.outputs)
        return document.with_rules(document.rules.edit(rename={old: new})), f"Renamed {old} to {new}"
    variable = variable_of(document.rules, message)
    if message.get("term") is None:
        rules = document.rules.edit(rename={variable.name: new})
        return document.with_rules(
            rules, lambda term: (new, term[1]) if term[0] == variable.name else term
        ), f"Renamed {variable.name} to {new}"
    old_name, _ = term_of(document.rules, message)
    rules = document.rules.edit(rename={old_name: new})
    return document.with_rules(
        rules, lambda term: (term[0], new) if term == old_name else term
    ), f"Renamed {old_name[0]}.{old_name[1]} to {new}"


@edit_message
def set_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Change the range, the unit or the comment of a variable; null removes an end of the range."""
    document = case.document
    variable = variable_of(document.rules, message)
    fields: dict[str, Any] = {}
    for end in ("low", "high"):
        if end in message:
            fields[end] = None if message[end] is None else number_of(message, end)
    for name in ("unit", "comment"):
        if name in message:
            fields[name] = str(message[name])
    rules = with_variable(document.rules, variable.name, **fields)
    return document.with_rules(rules), f"Changed {variable.name}"


@edit_message
def add_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Add an input, usually a feature of the data that no rule uses yet, with an automatic partition."""
    document, name = case.document, text_of(message, "name")
    names = document.base.feature_names
    if name in names:
        raise ParameterError(f"There already is a variable {name!r:.60}.")
    rules = document.rules.over([*names, name])
    values = values_of(case.bags, name, len(names))
    if values is not None and np.isfinite(values).any():
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        terms = quantile_terms(values, 3) if high > low else {}
        rules = with_variable(rules, name, low=low, high=high, terms=terms)
    return document.with_rules(rules), f"Added {name}"


@edit_message
def remove_variable(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Remove an input that no rule uses."""
    document = case.document
    variable = variable_of(document.rules, message)
    base = document.base
    users = used_by(document.rules, variable.name)
    place = base.feature_names.index(variable.name) if variable.name in base.feature_names else -1
    if place < 0:
        raise ParameterError(f"{variable.name} is an output: only inputs can be removed.")
    if users or (base.coefs.shape[2] > 1 and (base.coefs[:, :, 1 + place] != 0).any()):
        raise ParameterError(f"{variable.name} is used by rules {listed(users) or 'in their conclusions'}.")
    if len(base.variables) == 1:
        raise ParameterError("Rules need at least one variable.")
    rules = tuple(
        rule.concluding([row if len(row) == 1 else (*row[: 1 + place], *row[2 + place :]) for row in rule.coefs])
        for rule in base.rules
    )
    left = tuple(each for each in base.variables if each.name != variable.name)
    premises = dataclasses.replace(base, variables=left, rules=rules)
    changed = (
        premises if isinstance(document.rules, RuleBase) else dataclasses.replace(document.rules, premises=premises)
    )
    return document.with_rules(changed), f"Removed {variable.name}"


@edit_message
def partition(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Give a variable 3, 5 or 7 terms at quantiles of the data; terms that rules use stay."""
    document = case.document
    variable = variable_of(document.rules, message)
    values = _values(case, variable)
    if values is None:
        values = np.linspace(*_axis(case, variable), 101)
    made = quantile_terms(values, int(number_of(message, "n")), message.get("names"))
    kept = {
        term: chosen
        for term, chosen in variable.terms.items()
        if term not in made and (used_by(document.rules, variable.name, term) or term in variable.categories)
    }
    rules = with_variable(document.rules, variable.name, terms={**made, **kept})
    return document.with_rules(rules), f"Divided {variable.name} into {len(made)} terms"


@edit_message
def freeze(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Lock a term, or all terms of a variable, against training; or unlock them."""
    document = case.document
    variable = variable_of(document.rules, message)
    terms = list(variable.terms) if message.get("term") is None else [term_of(document.rules, message)[0][1]]
    chosen = {(variable.name, term) for term in terms}
    lock = bool(message.get("frozen", True))
    what = variable.name if message.get("term") is None else f"{variable.name}.{terms[0]}"
    frozen = document.frozen | chosen if lock else document.frozen - chosen
    return document.replaced(frozen=frozenset(frozen)), f"{'Locked' if lock else 'Unlocked'} {what}"
