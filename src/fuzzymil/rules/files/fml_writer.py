"""Writes fuzzy systems as FML, the XML language of IEEE 1855."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Discrete, Formula, MembershipFunction, Singleton
from fuzzymil.rules.files import fml
from fuzzymil.rules.files._system import Output, Statement, System, Term
from fuzzymil.rules.files._words import word_for
from fuzzymil.rules.files.fml_shapes import is_shape, shape_of
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import And, Is, Or

Element = ElementTree.Element


def write(system: System, comments: Iterable[str] = ()) -> str:
    """Return a system as FML, comments first; raises `ParameterError` for what FML cannot express."""
    kinds = {_kind(output) for output in system.outputs}
    if len(kinds) > 1:
        raise ParameterError(f"FML holds systems of one kind, these outputs are of several: {listed(sorted(kinds))}.")
    if system.limited or system.activation != "general":
        raise ParameterError("FML cannot clip inputs (limited=True) or choose rules (activation): change that.")
    if any(output.clip or output.hold or output.defuzzify == "sum" for output in system.outputs):
        raise ParameterError("FML cannot express sums, clipped outputs or previous values (clip, hold).")
    kind = kinds.pop()
    root = Element("fuzzySystem", {"xmlns": "http://www.ieee1855.org", "name": "rules"})
    knowledge = ElementTree.SubElement(root, "knowledgeBase")
    for variable in system.inputs:
        about = {"name": variable.name, "scale": variable.unit, **_domain(variable.low, variable.high), "type": "input"}
        _add_terms(ElementTree.SubElement(knowledge, "fuzzyVariable", about), variable.terms)
    for output in system.outputs:
        if output.terms and not output.weighted and all(isinstance(t, Singleton) for t in output.terms.values()):
            raise ParameterError(
                f"The terms of {output.name!r:.60} are single numbers, which FML averages: use defuzzify='average'."
            )
        about = {"name": output.name, **_domain(output.low, output.high), "type": "output"}
        if kind == "mamdani":
            about["accumulation"] = _word("accumulation", output.accumulation, fml.ACCUMULATIONS)
            about["defuzzifier"] = _word("defuzzifier", output.defuzzify, fml.DEFUZZIFIERS)
        else:
            about["combination"] = "WA"
        about["defaultValue"] = _number(output.default)
        name = {"mamdani": "fuzzyVariable", "tsk": "tskVariable", "tsukamoto": "tsukamotoVariable"}[kind]
        _add_terms(ElementTree.SubElement(knowledge, name, about), output.terms, tsk=kind == "tsk")
    implications = {output.implication for output in system.outputs if kind == "mamdani"} or {"min"}
    if len(implications) > 1:
        raise ParameterError(f"FML has one implication for all outputs, these have {listed(sorted(implications))}.")
    rules = ElementTree.SubElement(
        root,
        f"{kind}RuleBase",
        {
            "name": "rules",
            "activationMethod": _word("implication", implications.pop(), fml.T_NORMS),
            "andMethod": _word("T-norm", system.t_norm, fml.T_NORMS),
            "orMethod": _word("S-norm", system.s_norm, fml.S_NORMS),
        },
    )
    for position, rule in enumerate(system.rules, start=1):
        _add_rule(rules, position, rule, tsk=kind == "tsk")
    ElementTree.indent(root)
    notes = [f"<!-- {comment.replace('--', '- -')} -->" for comment in comments]
    body = ElementTree.tostring(root, encoding="unicode")
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *notes, body, ""])


def changes(system: System) -> list[str]:
    """Return sentences about what is lost or written differently."""
    found = []
    if any(not output.weighted for output in system.outputs):
        found.append("The resolution of outputs is not kept.")
    formulas = {
        term.text
        for variable in system.inputs
        for term in variable.terms.values()
        if isinstance(term, Formula) and not is_shape(term)
    }
    if formulas:
        found.append(f"The formulas {listed(sorted(formulas))} are not kept.")
    return found


def _kind(output: Output) -> str:
    if not output.weighted:
        return "mamdani"
    numbers = all(isinstance(term, tuple | Singleton) for term in output.terms.values())
    if any(isinstance(term, Formula) for term in output.terms.values()):
        raise ParameterError(f"FML cannot compute {output.name!r:.60} by a formula: use another format.")
    if output.accumulation != "sum":
        raise ParameterError(f"FML cannot join the strengths of {output.name!r:.60} by {output.accumulation!r}.")
    return "tsk" if numbers else "tsukamoto"


def _number(value: float) -> str:
    return format_number(value, None)


def _word(what: str, ours: str, words: Mapping[str, str]) -> str:
    return word_for(what, ours, words, "FML")


def _domain(low: float | None, high: float | None) -> dict[str, str]:
    ends = {"domainleft": low, "domainright": high}
    return {key: _number(end) for key, end in ends.items() if end is not None}


def _add_terms(variable: Element, terms: Mapping[str, Term], *, tsk: bool = False) -> None:
    for name, term in terms.items():
        if tsk:
            values = term.parameters if isinstance(term, Singleton) else term
            assert isinstance(values, tuple)
            element = ElementTree.SubElement(variable, "tskTerm", {"name": name, "order": str(int(len(values) > 1))})
            for value in values:
                ElementTree.SubElement(element, "tskValue").text = _number(value)
        else:
            assert isinstance(term, MembershipFunction)
            kind = "tsukamotoTerm" if variable.tag == "tsukamotoVariable" else "fuzzyTerm"
            _add_shape(ElementTree.SubElement(variable, kind, {"name": name}), term)


def _add_shape(element: Element, term: MembershipFunction) -> None:
    if isinstance(term, Discrete):
        shape = ElementTree.SubElement(element, "pointSetShape")
        for x, y in term.points:
            ElementTree.SubElement(shape, "point", {"x": _number(x), "y": _number(y)})
        return
    word, values, turned = shape_of(term)
    element.set("complement", "true" if turned else "false")
    ElementTree.SubElement(element, word, {f"param{n + 1}": _number(value) for n, value in enumerate(values)})


def _add_rule(base: Element, position: int, rule: Statement, *, tsk: bool) -> None:
    premise = rule.premise
    parts = premise.parts if isinstance(premise, And | Or) else (premise,)
    conditions = [part for part in parts if isinstance(part, Is) and len(part.hedges) <= 1]
    if len(conditions) != len(parts) or not parts:
        raise ParameterError(
            f"Rule {position} cannot be written to FML, where conditions are joined all by AND or all by OR, each with "
            "at most one modifier: split the rule, or use another format."
        )
    about = {"name": f"rule{position}", "connector": "or" if isinstance(premise, Or) else "and"}
    element = ElementTree.SubElement(base, "tskRule" if tsk else "rule", {**about, "weight": _number(rule.weight)})
    asked = ElementTree.SubElement(element, "antecedent")
    for condition in conditions:
        _add_clause(asked, "clause", condition, position)
    said = ElementTree.SubElement(element, "tskConsequent" if tsk else "consequent")
    then = ElementTree.SubElement(said, "tskThen" if tsk else "then")
    for name, term in rule.conclusions.items():
        clause = term if isinstance(term, Is) else Is(name, term)
        _add_clause(then, "tskClause" if tsk else "clause", clause, position)


def _add_clause(parent: Element, kind: str, clause: Is, position: int) -> None:
    words = {ours: word for word, ours in fml.MODIFIERS.items()}
    if len(clause.hedges) > 1 or any(hedge not in words for hedge in clause.hedges):
        raise ParameterError(f"Rule {position}: FML has no modifier for {' '.join(clause.hedges)!r}.")
    about = {"modifier": words[clause.hedges[0]]} if clause.hedges else {}
    element = ElementTree.SubElement(parent, kind, about)
    ElementTree.SubElement(element, "variable").text = clause.variable
    ElementTree.SubElement(element, "term").text = clause.term
