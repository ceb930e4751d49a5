"""Edits of rules, operators, and what the output means."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.rules import And, Is, Quantified, Rule
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.document import Document, Rules
from fuzzymil.studio.edits._registry import (
    ConflictError,
    edit_message,
    number_of,
    term_of,
    text_of,
    variable_of,
)
from fuzzymil.studio.layout import merged_text
from fuzzymil.studio.text import checked_text


@edit_message
def write_text(case: Case, message: Mapping[str, Any]) -> tuple[Document, str]:
    """Take over a text without mistakes, as it was written.

    ``base`` is the text that it was begun from. If the rules were edited elsewhere since, both changes are joined;
    where they concern the same lines, `ConflictError` is raised.
    """
    document, text = case.document, checked_text(message.get("text"))
    base = message.get("base")
    if base is None or base == document.text:
        return document.with_text(text), "Edited the text"
    joined = merged_text(checked_text(base), text, document.text)
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
    every = list(rules.rules)
    old = every[number - 1]
    label, comment = said.get("label", old.label), said.get("comment", old.comment)
    every[number - 1] = Rule(old.premise, old.conclusions, old.weight, label, comment)
    return dataclasses.replace(rules, rules=tuple(every))


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
    shared = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
    further = ("conclusion_aggregation", "conclusion_alpha", "normalize")
    of_sets = ("implication", "accumulation", "defuzzify")
    rules = rules.with_settings(**_operators(asked, (*shared, *(of_sets if rules.concludes_sets else further))))
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
    return _same_numbers(document, dataclasses.replace(document.rules, rules=every))


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
