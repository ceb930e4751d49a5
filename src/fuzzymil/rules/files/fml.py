"""FML, the XML language of IEEE 1855: Mamdani, TSK (Sugeno) and Tsukamoto systems.

::

    <fuzzySystem name="tipper" xmlns="http://www.ieee1855.org">
      <knowledgeBase>
        <fuzzyVariable name="food" domainleft="0" domainright="10" type="input">
          <fuzzyTerm name="rancid"><leftLinearShape param1="1" param2="3"/></fuzzyTerm>
        </fuzzyVariable>
        <tskVariable name="tip" type="output" combination="WA" defaultValue="0">
          <tskTerm name="cheap" order="0"><tskValue>5</tskValue></tskTerm>
        </tskVariable>
      </knowledgeBase>
      <tskRuleBase andMethod="MIN" orMethod="MAX">
        <tskRule name="rule1" connector="and" weight="1">
          <antecedent><clause modifier="very"><variable>food</variable><term>rancid</term></clause></antecedent>
          <tskConsequent><tskThen><tskClause><variable>tip</variable><term>cheap</term></tskClause></tskThen>
          </tskConsequent>
        </tskRule>
      </tskRuleBase>
    </fuzzySystem>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar
from xml.etree import ElementTree

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.inference import membership as mf
from fuzzymil.inference.membership import Discrete, Formula, MembershipFunction, Singleton
from fuzzymil.rules.files._exchange import Words, Writer, number, register_exchange_format
from fuzzymil.rules.files._sets import formula_of
from fuzzymil.rules.files._system import Output, System, SystemRule, Term
from fuzzymil.rules.files._text import by_name, whole, word_for
from fuzzymil.rules.premise import MAX_DEPTH, And, Expression, Is, Not, Or, inside, simplified, with_parts
from fuzzymil.rules.rule import Variable

WORDS = Words("FML")
MODIFIERS = {"not": "not", "very": "very", "more_or_less": "somewhat", "intensify": "extremely"}
"""Words for hedges; *extremely* is called contrast intensification elsewhere."""

_JOINS = {
    "MIN": "min({a}, {b})",
    "PROD": "{a} * {b}",
    "BDIF": "max(0, {a} + {b} - 1)",
    "MAX": "max({a}, {b})",
    "PROBOR": "({a} + {b} - {a} * {b})",
    "BSUM": "min(1, {a} + {b})",
}
"""How terms are joined to another one."""

_VARIABLES = ("fuzzyVariable", "tskVariable", "tsukamotoVariable")
_BASES = ("mamdaniRuleBase", "tskRuleBase", "tsukamotoRuleBase")

Element = ElementTree.Element
T = TypeVar("T")


def read(text: str) -> System:
    """Parse the text of an FML file; raises `RuleSyntaxError`."""
    root = _root(text)
    if root.tag != "fuzzySystem":
        raise RuleSyntaxError(f"Expected an FML document (<fuzzySystem>), found <{root.tag:.60}>.")
    found = [element for element in root.iter() if element.tag in _VARIABLES]
    inputs = [element for element in found if element.get("type", "input").lower() == "input"]
    outputs = [element for element in found if element.get("type", "input").lower() != "input"]
    bases = [element for element in root if element.tag in _BASES]
    if not inputs or not outputs or len(bases) != 1:
        came = f"{len(inputs)} inputs, {len(outputs)} outputs and {len(bases)} rule bases"
        raise RuleSyntaxError(f"Expected inputs, outputs and one rule base ({listed(_BASES)}), found {came}.")
    base = bases[0]
    implication = _word(base, "activationMethod", WORDS.t_norms, "min")
    norms = _word(base, "andMethod", WORDS.t_norms, "min"), _word(base, "orMethod", WORDS.s_norms, "max")
    variables = tuple(
        Variable(_name(element), _terms(element, _set), *_domain(element), element.get("scale", "") or "")
        for element in inputs
    )
    said = tuple(_output(element, implication, 1 + len(inputs)) for element in outputs)
    premises = _Premises(root, {v.name: v.terms for v in variables}, norms)
    return System(
        variables,
        said,
        tuple(_rules(base, premises, {o.name: o.terms for o in said})),
        *norms,
        limited=False,
        name=root.get("name", ""),
    )


def _root(text: str) -> Element:
    content = whole(text).text
    if "<!DOCTYPE" in content or "<!ENTITY" in content:
        raise RuleSyntaxError("The document declares its own entities, which FML does not have.")
    try:
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", content))
    except ElementTree.ParseError as problem:
        line, column = problem.position
        raise RuleSyntaxError(f"Line {line}, character {column + 1}: the XML is not well formed.") from None
    for element in root.iter():
        element.tag = str(element.tag).rpartition("}")[2]
    return root


def _check_known(problem: str, word: str, known: Collection[str]) -> None:
    """Raise `RuleSyntaxError` about an unknown word."""
    if word not in known:
        raise RuleSyntaxError(f"{problem}; choose from {listed(known)}.{did_you_mean(word, known)}")


# ---------------------------------------------------------------------- variables


def _name(element: Element) -> str:
    name = element.get("name", "")
    if not name:
        raise RuleSyntaxError(f"<{element.tag}> has no name.")
    return name


def _number(text: str | None, where: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise RuleSyntaxError(f"{where}: expected a number, found {text!r:.60}.") from None


def _domain(element: Element) -> tuple[float | None, float | None]:
    where = f"The domain of {_name(element)!r:.60}"
    low, high = (element.get("domainleft"), element.get("domainright"))
    return None if low is None else _number(low, where), None if high is None else _number(high, where)


def _terms(element: Element, value_of: Callable[[Element, str, dict[str, T]], T]) -> dict[str, T]:
    known: dict[str, T] = {}

    def read() -> Iterator[tuple[str, T]]:
        for term in element:
            if term.tag in ("fuzzyTerm", "tskTerm", "tsukamotoTerm"):
                name = _name(term)
                known[name] = value_of(term, f"The term {name!r:.60} of {_name(element)!r:.60}", known)
                yield name, known[name]

    return by_name(_name(element), read())


def _set(term: Element, where: str, known: Mapping[str, MembershipFunction]) -> MembershipFunction:
    """Return the set of a term, possibly joined from ``known`` sets."""
    joined = next((part for part in term if part.tag == "circularDefinition"), None)
    if joined is None:
        found = _shape(term, where)
    else:
        found = _make(Formula, [_formula_of_terms(next(iter(joined), joined), where, known)], where)
    if term.get("complement", "false").lower() == "true":
        return _make(lambda: complement(found), (), where)
    return found


def _formula_of_terms(element: Element, where: str, known: Mapping[str, MembershipFunction], level: int = 0) -> str:
    """Return the formula of terms that are joined by <and> and <or>."""
    if level > MAX_DEPTH:
        raise RuleSyntaxError(f"{where} is nested more than {MAX_DEPTH} levels deep.")
    if element.tag == "termName":
        name = (element.text or "").strip()
        if name not in known:
            raise RuleSyntaxError(f"{where} refers to {name!r:.60}, which is not a term before it ({listed(known)}).")
        return formula_of(known[name])
    norm = element.get("t-norm", "MIN") if element.tag == "and" else element.get("t-conorm", "MAX")
    if element.tag not in ("and", "or") or len(element) != 2 or norm not in _JOINS:
        came = f"<{element.tag:.60}> with {norm!r:.60} and {len(element)} parts"
        raise RuleSyntaxError(f"{where}: expected two terms joined by {listed(_JOINS)}, found {came}.")
    a, b = (_formula_of_terms(part, where, known, level + 1) for part in element)
    return _JOINS[norm].format(a=f"({a})", b=f"({b})")


def _shape(term: Element, where: str) -> MembershipFunction:
    shape = next((part for part in term if part.tag.endswith("Shape")), None)
    if shape is None:
        raise RuleSyntaxError(f"{where} has no shape.")
    if shape.tag == "pointSetShape":
        numbers = [_number(point.get(key), where) for point in shape if point.tag == "point" for key in ("x", "y")]
        return _make(Discrete, numbers, where)
    _check_known(f"{where}: unknown shape {shape.tag!r:.60}", shape.tag, [*SHAPES, "pointSetShape"])
    count, make = SHAPES[shape.tag]
    return _make(make, [_number(shape.get(f"param{n + 1}"), f"{where}, param{n + 1}") for n in range(count)], where)


def _make(make: Callable[..., MembershipFunction], numbers: Iterable[float | str], where: str) -> MembershipFunction:
    try:
        return make(*numbers)
    except ParameterError as problem:
        raise RuleSyntaxError(f"{where}: {problem}") from None


def _output(element: Element, implication: str, n_coefs: int) -> Output:
    default = element.get("defaultValue")
    value = 0.0 if default is None else _number(default, f"The default of {_name(element)!r:.60}")
    low, high = _domain(element)
    if element.tag == "fuzzyVariable":
        terms = _terms(element, _set)
        method = _word(element, "defuzzifier", WORDS.defuzzifiers, "centroid")
        accumulation = _word(element, "accumulation", WORDS.accumulations, "max")
        if terms and all(isinstance(term, Singleton) for term in terms.values()) and method == "centroid":
            return Output(_name(element), terms, low, high, value, defuzzify="average", accumulation=accumulation)
        return Output(_name(element), terms, low, high, value, implication, accumulation, method)
    combined = element.get("combination", "WA").upper()
    if combined != "WA":
        raise RuleSyntaxError(f"The combination of {_name(element)!r:.60} must be WA, got {combined!r:.60}.")

    def numbers(term: Element, where: str, known: object) -> Term:
        del known
        values = tuple(_number(part.text, where) for part in term if part.tag == "tskValue")
        if len(values) not in (1, n_coefs):
            raise RuleSyntaxError(f"{where} must have 1 or {n_coefs} values (constant first), got {len(values)}.")
        return values

    chosen: Mapping[str, Term]
    if element.tag == "tskVariable":
        chosen = _terms(element, numbers)
    else:
        chosen = shapes = _terms(element, _set)
        for name, shape in shapes.items():
            if shape.inverse(0.5) is None:
                which = f"{name!r:.60} of {_name(element)!r:.60}"
                raise RuleSyntaxError(f"In a Tsukamoto system, {which} must be a linear, S or Z shape.")
    return Output(_name(element), chosen, low, high, value, defuzzify="average", accumulation="sum")


def _word(element: Element, key: str, known: Mapping[str, str], default: str) -> str:
    said = element.get(key)
    if said is None:
        return default
    _check_known(f"Unknown {key} {said!r:.60}", said.upper(), known)
    return known[said.upper()]


# ---------------------------------------------------------------------- shapes

_EDGES = {"leftGaussianShape": "exp(-0.5*max(x, 0)^2)", "rightGaussianShape": "exp(-0.5*min(x, 0)^2)"}
"""Half a Gaussian, of center 0 and width 1; on the other side of the center the membership is 1."""

_FORMULAS = {
    **{text: (shape, False) for shape, text in _EDGES.items()},
    **{f"1 - {text}": (shape, True) for shape, text in {**_EDGES, "gaussianShape": "exp(-0.5*x^2)"}.items()},
}
"""The shapes that formulas stand for, and whether they are complements."""

SHAPES: dict[str, tuple[int, Callable[..., MembershipFunction]]] = {
    "triangularShape": (3, mf.Triangular),
    "trapezoidShape": (4, mf.Trapezoidal),
    "rectangularShape": (2, mf.Rectangle),
    "gaussianShape": (2, mf.Gaussian),
    "singletonShape": (1, Singleton),
    "sShape": (2, mf.SShape),
    "zShape": (2, mf.ZShape),
    "leftLinearShape": (2, lambda start, end: mf.Ramp(end, start)),
    "rightLinearShape": (2, mf.Ramp),
    "leftGaussianShape": (2, lambda center, width: Formula(_EDGES["leftGaussianShape"], center, width)),
    "rightGaussianShape": (2, lambda center, width: Formula(_EDGES["rightGaussianShape"], center, width)),
}
"""Shapes: how many parameters they have, and the set that they mean."""


def complement(chosen: MembershipFunction) -> MembershipFunction:
    """Return the set of memberships ``1 - mu``, of a family that can be trained and written again if there is one."""
    values = chosen.parameters
    if isinstance(chosen, mf.Ramp):
        return mf.Ramp(values[1], values[0])
    if isinstance(chosen, mf.SShape | mf.ZShape):
        return (mf.ZShape if isinstance(chosen, mf.SShape) else mf.SShape)(*values)
    if isinstance(chosen, mf.Gaussian):
        return Formula("1 - exp(-0.5*x^2)", *values)
    if isinstance(chosen, Formula) and chosen.text in _EDGES.values():
        return Formula(f"1 - {chosen.text}", *values)
    if isinstance(chosen, mf.Triangular | mf.Trapezoidal) and values[-2] < values[-1]:  # no edge that includes its end
        degrees = (1.0, *[0.0] * (len(values) - 2), 1.0)
        return Discrete(*(number for point in zip(values, degrees, strict=True) for number in point))
    if isinstance(chosen, Discrete):
        return Discrete(*(number for x, mu in chosen.points for number in (x, 1.0 - mu)))
    return Formula(f"1 - ({formula_of(chosen)})")


def shape_of(chosen: MembershipFunction) -> tuple[str, tuple[float, ...], bool]:
    """Return the shape of a set, its parameters, and whether it is the complement; `Discrete` has points instead."""
    values = chosen.parameters
    if isinstance(chosen, mf.Ramp):
        return "rightLinearShape" if chosen.side > 0 else "leftLinearShape", tuple(sorted(values)), False
    if isinstance(chosen, Formula) and chosen.text in _FORMULAS:
        shape, turned = _FORMULAS[chosen.text]
        return shape, values, turned
    families = {shape: getattr(make, "name", "") for shape, (_, make) in SHAPES.items()}
    return word_for("membership family", chosen.name, families, "FML"), values, False


# ---------------------------------------------------------------------- rules

Terms = Mapping[str, Mapping[str, object]]


class _Premises:
    """What conditions may be about: inputs, and terms that are joined from those of several inputs."""

    def __init__(self, root: Element, inputs: Terms, norms: tuple[str, str]) -> None:
        self.inputs, self.norms = inputs, norms
        self.aggregated: dict[tuple[str, str], Expression] = {}
        for variable in root.iter("aggregatedFuzzyVariable"):
            for term in variable.iter("aggregatedFuzzyTerm"):
                where = f"The term {_name(term)!r:.60} of {_name(variable)!r:.60}"
                self.aggregated[_name(variable), _name(term)] = self._premise(next(iter(term), term), where)

    def clause(self, element: Element, where: str) -> Expression:
        """Return the condition that a clause asks for."""
        variable, term, modifier = _parts(element, where)
        if (variable, term) not in self.aggregated:
            return _clause(element, self.inputs, where)
        found = self.aggregated[variable, term]
        if not modifier:
            return found
        if modifier == "not":
            return Not(found)
        if self.norms != ("min", "max"):
            raise RuleSyntaxError(f"{where}: only 'not' can modify {variable!r:.60}, which is several conditions.")
        return _with_modifier(found, MODIFIERS[modifier])

    def check(self, element: Element, where: str) -> None:
        """Raise an error if an element has norms of its own that are not those of the rule base."""
        t_norm, s_norm = self.norms
        for key, known, shared in (
            ("andMethod", WORDS.t_norms, t_norm),
            ("t-norm", WORDS.t_norms, t_norm),
            ("orMethod", WORDS.s_norms, s_norm),
            ("t-conorm", WORDS.s_norms, s_norm),
        ):
            if _word(element, key, known, shared) != shared:
                raise RuleSyntaxError(f"{where} has {key} {element.get(key)!r:.60}, but the rule base has {shared}.")

    def _premise(self, element: Element, where: str, level: int = 0) -> Expression:
        if level > MAX_DEPTH:
            raise RuleSyntaxError(f"{where} is nested more than {MAX_DEPTH} levels deep.")
        self.check(element, where)
        if element.tag == "clause":
            return self.clause(element, where)
        if element.tag not in ("and", "or"):
            raise RuleSyntaxError(f"{where}: expected <and>, <or> or <clause>, found <{element.tag:.60}>.")
        parts = tuple(self._premise(part, where, level + 1) for part in element)
        return And(parts) if element.tag == "and" else Or(parts)


def _with_modifier(premise: Expression, hedge: str) -> Expression:
    """Return a premise with a hedge on its conditions, which for minimum and maximum is the same as on the whole."""
    if isinstance(premise, Is):
        return Is(premise.variable, premise.term, (hedge, *premise.hedges))
    return with_parts(premise, (_with_modifier(part, hedge) for part in inside(premise)))


def _rules(base: Element, premises: _Premises, outputs: Terms) -> Iterable[SystemRule]:
    for position, rule in enumerate((part for part in base if part.tag in ("rule", "tskRule")), start=1):
        where = f"Rule {position}"
        joined = rule.get("connector", "and").lower()
        asked = [premises.clause(part, where) for part in rule.iter("clause") if _inside(rule, "antecedent", part)]
        if len(asked) > 1:
            premises.check(rule, where)
        said = [
            _clause(part, outputs, where)
            for part in rule.iter()
            if part.tag in ("clause", "tskClause") and not _inside(rule, "antecedent", part)
        ]
        if any(part.tag.lower().endswith("else") for part in rule.iter()):
            raise RuleSyntaxError(f"{where} has an ELSE, which is not supported: write a second rule.")
        if joined not in ("and", "or") or not asked:
            raise RuleSyntaxError(f"{where} must have clauses joined by 'and' or 'or', got {joined!r:.60}.")
        conclusions: dict[str, str | Is] = {
            clause.variable: clause if clause.hedges else clause.term for clause in said
        }
        premise = And(tuple(asked)) if joined == "and" else Or(tuple(asked))
        yield SystemRule(simplified(premise), conclusions, _number(rule.get("weight", "1"), f"The weight of {where}"))


def _inside(rule: Element, name: str, part: Element) -> bool:
    return any(part in list(section.iter()) for section in rule if section.tag == name)


def _parts(element: Element, where: str) -> tuple[str, str, str]:
    """Return the variable, the term and the modifier of a clause."""
    parts = {part.tag: (part.text or "").strip() for part in element}
    modifier = element.get("modifier", "")
    if modifier and modifier not in MODIFIERS:
        raise RuleSyntaxError(f"{where}: unknown modifier {modifier!r:.60}; choose from {listed(MODIFIERS)}.")
    return parts.get("variable", ""), parts.get("term", ""), modifier


def _clause(element: Element, known: Terms, where: str) -> Is:
    variable, term, modifier = _parts(element, where)
    _check_known(f"{where}: unknown variable {variable!r:.60}", variable, known)
    _check_known(f"{where}: unknown term {term!r:.60} of {variable!r:.60}", term, known[variable])
    return Is(variable, term, (MODIFIERS[modifier],) if modifier else ())


# ---------------------------------------------------------------------- writing


class _Writer(Writer):
    title, words, sets = "FML", WORDS, {}

    def term_name(self, name: str) -> str:
        return name

    def text(self, comments: Iterable[str] = ()) -> str:
        system = self.system
        kinds = {_kind(output) for output in system.outputs}
        if len(kinds) > 1:
            raise ParameterError(f"FML holds systems of one kind, these are of several: {listed(sorted(kinds))}.")
        if system.limited or system.activation != "general":
            raise ParameterError("FML cannot clip inputs (limited=True) or choose rules (activation): change that.")
        if any(output.clip or output.hold or output.defuzzify == "sum" for output in system.outputs):
            raise ParameterError("FML cannot express sums, clipped outputs or previous values (clip, hold).")
        self.check_singletons()
        kind = kinds.pop()
        root = Element("fuzzySystem", {"xmlns": "http://www.ieee1855.org", "name": self.system_name()})
        knowledge = ElementTree.SubElement(root, "knowledgeBase")
        for variable in system.inputs:
            about = {"name": variable.name, "scale": variable.unit, **_domain_text(variable), "type": "input"}
            _add_terms(ElementTree.SubElement(knowledge, "fuzzyVariable", about), variable.terms)
        for output in system.outputs:
            about = {"name": output.name, **_domain_text(output), "type": "output"}
            if kind == "mamdani":
                about["accumulation"] = self.operator("accumulation", output.accumulation)
                about["defuzzifier"] = self.operator("defuzzifier", output.defuzzify)
            else:
                about["combination"] = "WA"
            about["defaultValue"] = number(output.default)
            name = {"mamdani": "fuzzyVariable", "tsk": "tskVariable", "tsukamoto": "tsukamotoVariable"}[kind]
            _add_terms(ElementTree.SubElement(knowledge, name, about), output.terms, tsk=kind == "tsk")
        implication = self.shared_setting("implication", system.outputs) if kind == "mamdani" else None
        operators = {
            "activationMethod": self.operator("implication", implication or "min"),
            "andMethod": self.operator("T-norm", system.t_norm),
            "orMethod": self.operator("S-norm", system.s_norm),
        }
        rules = ElementTree.SubElement(root, f"{kind}RuleBase", {"name": "rules", **operators})
        for position, rule in enumerate(system.rules, start=1):
            self._add_rule(rules, position, rule, "tsk" if kind == "tsk" else "")
        ElementTree.indent(root)
        notes = [f"<!-- {comment.replace('--', '- -')} -->" for comment in comments]
        body = ElementTree.tostring(root, encoding="unicode")
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *notes, body, ""])

    def changes(self) -> list[str]:
        sets = any(not output.weighted for output in self.system.outputs)
        return ["The resolution of outputs is not kept."] if sets else []

    def _add_rule(self, base: Element, position: int, rule: SystemRule, prefix: str) -> None:
        premise = rule.premise
        parts = premise.parts if isinstance(premise, And | Or) else (premise,)
        conditions = [part for part in parts if isinstance(part, Is) and len(part.hedges) <= 1]
        if len(conditions) != len(parts) or not parts:
            allowed = "conditions joined all by AND or all by OR, each with at most one modifier"
            raise self.error(position, f", which has {allowed}: split the rule, or use another format.")

        def tag(name: str) -> str:  # FML's names for the parts of Sugeno rules
            return f"tsk{name.capitalize()}" if prefix else name

        about = {"name": f"rule{position}", "connector": "or" if isinstance(premise, Or) else "and"}
        element = ElementTree.SubElement(base, tag("rule"), {**about, "weight": number(rule.weight)})
        antecedent = ElementTree.SubElement(element, "antecedent")
        for condition in conditions:
            _add_clause(antecedent, "clause", condition, position)
        then = ElementTree.SubElement(ElementTree.SubElement(element, tag("consequent")), tag("then"))
        for name, term in rule.conclusions.items():
            _add_clause(then, tag("clause"), term if isinstance(term, Is) else Is(name, term), position)


def _kind(output: Output) -> str:
    if not output.weighted:
        return "mamdani"
    numbers = all(isinstance(term, tuple | Singleton) for term in output.terms.values())
    if any(isinstance(term, Formula) for term in output.terms.values()):
        raise ParameterError(f"FML cannot compute {output.name!r:.60} by a formula: use another format.")
    if output.accumulation != "sum":
        raise ParameterError(f"FML cannot join the strengths of {output.name!r:.60} by {output.accumulation!r}.")
    return "tsk" if numbers else "tsukamoto"


def _domain_text(variable: Variable | Output) -> dict[str, str]:
    ends = {"domainleft": variable.low, "domainright": variable.high}
    return {key: number(end) for key, end in ends.items() if end is not None}


def _add_terms(variable: Element, terms: Mapping[str, Term], *, tsk: bool = False) -> None:
    for name, term in terms.items():
        if tsk:
            values = term.parameters if isinstance(term, Singleton) else term
            assert isinstance(values, tuple)
            element = ElementTree.SubElement(variable, "tskTerm", {"name": name, "order": str(int(len(values) > 1))})
            for value in values:
                ElementTree.SubElement(element, "tskValue").text = number(value)
        else:
            assert isinstance(term, MembershipFunction)
            kind = "tsukamotoTerm" if variable.tag == "tsukamotoVariable" else "fuzzyTerm"
            _add_shape(ElementTree.SubElement(variable, kind, {"name": name}), term)


def _add_shape(element: Element, term: MembershipFunction) -> None:
    if isinstance(term, Discrete):
        shape = ElementTree.SubElement(element, "pointSetShape")
        for x, y in term.points:
            ElementTree.SubElement(shape, "point", {"x": number(x), "y": number(y)})
        return
    word, values, turned = shape_of(term)
    element.set("complement", "true" if turned else "false")
    ElementTree.SubElement(element, word, {f"param{n + 1}": number(value) for n, value in enumerate(values)})


def _add_clause(parent: Element, kind: str, clause: Is, position: int) -> None:
    words = {ours: word for word, ours in MODIFIERS.items()}
    if len(clause.hedges) > 1 or any(hedge not in words for hedge in clause.hedges):
        raise ParameterError(f"Rule {position}: FML has no modifier for {' '.join(clause.hedges)!r}.")
    about = {"modifier": words[clause.hedges[0]]} if clause.hedges else {}
    element = ElementTree.SubElement(parent, kind, about)
    ElementTree.SubElement(element, "variable").text = clause.variable
    ElementTree.SubElement(element, "term").text = clause.term


register_exchange_format("fml", (".fml", ".xml"), read, _Writer)
