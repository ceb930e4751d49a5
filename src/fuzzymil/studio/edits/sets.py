"""Edits of variables and their fuzzy sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules import Variable
from fuzzymil.studio.case import Case
from fuzzymil.studio.describe import values_of
from fuzzymil.studio.document import Document
from fuzzymil.studio.edits._registry import (
    edit_message,
    number_of,
    set_of,
    term_of,
    text_of,
    used_by,
    variable_of,
    with_variable,
)
from fuzzymil.studio.sets import axis_of, in_family, moved_to, quantile_terms

__all__ = ["dragged"]


def _new_set(chosen: MembershipFunction, message: Mapping[str, Any]) -> MembershipFunction:
    """Return a set as a message changes it: by a handle, by numbers, by a family, or written out."""
    if "handle" in message:
        return moved_to(chosen, text_of(message, "handle"), number_of(message, "x"))
    if "family" in message:
        return in_family(chosen, text_of(message, "family"))
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


def dragged(document: Document, message: Mapping[str, Any]) -> Document:
    """Return a document in which a term is moved, without a text of its own: what a drag shows before it ends.

    Examples
    --------
    >>> document = Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1")
    >>> message = {"variable": "x", "term": "low", "handle": "center", "x": 0.5}
    >>> dragged(document, message).rules.variables[0].terms["low"]
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
        rule
        if rule.terms
        else rule.concluding([row if len(row) == 1 else (*row[: 1 + place], *row[2 + place :]) for row in rule.coefs])
        for rule in base.rules
    )
    left = tuple(each for each in base.variables if each.name != variable.name)
    changed = dataclasses.replace(base, variables=left, rules=rules)
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
