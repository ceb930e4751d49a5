"""How edits are registered, and how they read their messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import Variable
from fuzzymil.rules.language import parser
from fuzzymil.studio.case import Case
from fuzzymil.studio.document import Document, Rules, Term

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
    variables = {variable.name: variable for variable in rules.all_variables}
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

    outputs = changed(rules.outputs) if rules.concludes_sets else rules.outputs
    return dataclasses.replace(rules, variables=changed(rules.variables), outputs=outputs)


def used_by(rules: Rules, variable: str, term: str | None = None) -> list[int]:
    """Return the numbers of the rules with a condition or conclusion on a variable, or on one of its terms."""
    return [
        r
        for r, rule in enumerate(rules.rules, start=1)
        if any(
            each.variable == variable and term in (None, each.term) for each in (*rule.conditions, *rule.terms.values())
        )
    ]


def set_of(text: str) -> MembershipFunction:
    """Return the set that is written as in a declaration: ``Gaussian(0.1, 0.2)``."""
    parsed = parser.read(f"VARIABLE x: term = {text}")
    parsed.mistakes.check()
    found = parsed.variables["x"].terms if "x" in parsed.variables else {}
    if list(found) != ["term"] or parsed.rules:
        raise ParameterError(f"Expected one fuzzy set, for example Gaussian(0.1, 0.2), got {text!r:.60}.")
    return found["term"]
