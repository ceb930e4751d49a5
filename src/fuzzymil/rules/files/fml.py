"""Reads fuzzy systems from FML, the XML language of IEEE 1855: Mamdani, TSK (Sugeno) and Tsukamoto systems.

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

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from xml.etree import ElementTree

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.inference.membership import Discrete, Formula, MembershipFunction, Singleton
from fuzzymil.rules.files._formulas import formula_of
from fuzzymil.rules.files._syntax import unused, whole
from fuzzymil.rules.files._system import Output, Statement, System, Term
from fuzzymil.rules.files.fml_shapes import SHAPES, complement
from fuzzymil.rules.premise import MAX_DEPTH, And, Expression, Is, Not, Or, simplified
from fuzzymil.rules.rule import Variable

T_NORMS = {
    "MIN": "min",
    "PROD": "product",
    "BDIF": "lukasiewicz",
    "DRP": "drastic",
    "EPROD": "einstein",
    "HPROD": "hamacher",
    "NILMIN": "nilpotent",
}
S_NORMS = {
    "MAX": "max",
    "PROBOR": "algebraic",
    "BSUM": "bounded",
    "DRS": "drastic",
    "ESUM": "einstein",
    "HSUM": "hamacher",
    "NILMAX": "nilpotent",
}
ACCUMULATIONS = {**S_NORMS, "SUM": "sum"}
DEFUZZIFIERS = {"COG": "centroid", "COA": "bisector", "MOM": "mom", "LM": "som", "RM": "lom"}
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
    root = _parsed(text)
    if root.tag != "fuzzySystem":
        raise RuleSyntaxError(f"Expected an FML document (<fuzzySystem>), found <{root.tag:.60}>.")
    found = [element for element in root.iter() if element.tag in _VARIABLES]
    inputs = [element for element in found if element.get("type", "input").lower() == "input"]
    outputs = [element for element in found if element.get("type", "input").lower() != "input"]
    bases = [element for element in root if element.tag in _BASES]
    if not inputs or not outputs or len(bases) != 1:
        raise RuleSyntaxError(
            f"Expected inputs, outputs and one rule base ({listed(_BASES)}), found {len(inputs)} inputs, "
            f"{len(outputs)} outputs and {len(bases)} rule bases."
        )
    base = bases[0]
    implication = _word(base, "activationMethod", T_NORMS, "min")
    norms = _word(base, "andMethod", T_NORMS, "min"), _word(base, "orMethod", S_NORMS, "max")
    variables = tuple(
        Variable(_name(element), _terms(element, _set), *_domain(element), element.get("scale", "") or "")
        for element in inputs
    )
    said = tuple(_output(element, implication, 1 + len(inputs)) for element in outputs)
    return System(
        inputs=variables,
        outputs=said,
        rules=tuple(
            _rules(base, _Premises(root, {v.name: v.terms for v in variables}, norms), {o.name: o.terms for o in said})
        ),
        t_norm=norms[0],
        s_norm=norms[1],
        limited=False,
    )


def _parsed(text: str) -> Element:
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
    ends = [
        None if (said := element.get(key)) is None else _number(said, f"{key} of {_name(element)!r:.60}")
        for key in ("domainleft", "domainright")
    ]
    return ends[0], ends[1]


def _terms(element: Element, value_of: Callable[[Element, str, dict[str, T]], T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for term in element:
        if term.tag in ("fuzzyTerm", "tskTerm", "tsukamotoTerm"):
            name = unused(_name(term), found)
            found[name] = value_of(term, f"The term {name!r:.60} of {_name(element)!r:.60}", found)
    return found


def _set(term: Element, where: str, known: Mapping[str, MembershipFunction]) -> MembershipFunction:
    """Return the set of a term, possibly joined from ``known`` sets."""
    joined = next((part for part in term if part.tag == "circularDefinition"), None)
    if joined is None:
        found = _shape(term, where)
    else:
        found = _made(Formula, [_joined(next(iter(joined), joined), where, known)], where)
    if term.get("complement", "false").lower() == "true":
        return _made(lambda: complement(found), (), where)
    return found


def _joined(element: Element, where: str, known: Mapping[str, MembershipFunction], level: int = 0) -> str:
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
        raise RuleSyntaxError(
            f"{where}: expected two terms in <and> or <or> with one of {listed(_JOINS)}, found <{element.tag:.60}> "
            f"with {norm!r:.60} and {len(element)} parts."
        )
    a, b = (_joined(part, where, known, level + 1) for part in element)
    return _JOINS[norm].format(a=f"({a})", b=f"({b})")


def _shape(term: Element, where: str) -> MembershipFunction:
    shape = next((part for part in term if part.tag.endswith("Shape")), None)
    if shape is None:
        raise RuleSyntaxError(f"{where} has no shape.")
    if shape.tag == "pointSetShape":
        numbers = [_number(point.get(key), where) for point in shape if point.tag == "point" for key in ("x", "y")]
        return _made(Discrete, numbers, where)
    if shape.tag not in SHAPES:
        raise RuleSyntaxError(
            f"{where}: unknown shape {shape.tag!r:.60}; choose from {listed([*SHAPES, 'pointSetShape'])}."
            f"{did_you_mean(shape.tag, SHAPES)}"
        )
    count, make = SHAPES[shape.tag]
    return _made(make, [_number(shape.get(f"param{n + 1}"), f"{where}, param{n + 1}") for n in range(count)], where)


def _made(make: Callable[..., MembershipFunction], numbers: Iterable[float | str], where: str) -> MembershipFunction:
    try:
        return make(*numbers)
    except ParameterError as problem:
        raise RuleSyntaxError(f"{where}: {problem}") from None


def _output(element: Element, implication: str, n_coefs: int) -> Output:
    default = element.get("defaultValue")
    value = math.nan if default is None else _number(default, f"The default of {_name(element)!r:.60}")
    low, high = _domain(element)
    if element.tag == "fuzzyVariable":
        terms = _terms(element, _set)
        method = _word(element, "defuzzifier", DEFUZZIFIERS, "centroid")
        accumulation = _word(element, "accumulation", ACCUMULATIONS, "max")
        if terms and all(isinstance(term, Singleton) for term in terms.values()) and method == "centroid":
            return Output(_name(element), terms, low, high, value, defuzzify="average", accumulation=accumulation)
        return Output(
            _name(element),
            terms,
            low,
            high,
            value,
            implication=implication,
            accumulation=accumulation,
            defuzzify=method,
        )
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
                raise RuleSyntaxError(
                    f"The term {name!r:.60} of {_name(element)!r:.60} has a shape that is not supported in a Tsukamoto "
                    "system: use leftLinearShape, rightLinearShape, sShape or zShape."
                )
    return Output(_name(element), chosen, low, high, value, defuzzify="average", accumulation="sum")


def _word(element: Element, key: str, known: Mapping[str, str], default: str) -> str:
    said = element.get(key)
    if said is None:
        return default
    if said.upper() not in known:
        raise RuleSyntaxError(
            f"Unknown {key} {said!r:.60}; choose from {listed(known)}.{did_you_mean(said.upper(), known)}"
        )
    return known[said.upper()]


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
                self.aggregated[_name(variable), _name(term)] = self._joined(next(iter(term), term), where)

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
        return _modified(found, MODIFIERS[modifier])

    def check(self, element: Element, where: str) -> None:
        """Raise an error if an element has norms of its own that are not those of the rule base."""
        t_norm, s_norm = self.norms
        for key, known, shared in (
            ("andMethod", T_NORMS, t_norm),
            ("t-norm", T_NORMS, t_norm),
            ("orMethod", S_NORMS, s_norm),
            ("t-conorm", S_NORMS, s_norm),
        ):
            if _word(element, key, known, shared) != shared:
                raise RuleSyntaxError(
                    f"{where} has {key} {element.get(key)!r:.60}, which must be that of the whole rule base ({shared})."
                )

    def _joined(self, element: Element, where: str, level: int = 0) -> Expression:
        if level > MAX_DEPTH:
            raise RuleSyntaxError(f"{where} is nested more than {MAX_DEPTH} levels deep.")
        self.check(element, where)
        if element.tag == "clause":
            return self.clause(element, where)
        if element.tag not in ("and", "or"):
            raise RuleSyntaxError(f"{where}: expected <and>, <or> or <clause>, found <{element.tag:.60}>.")
        parts = tuple(self._joined(part, where, level + 1) for part in element)
        return And(parts) if element.tag == "and" else Or(parts)


def _modified(premise: Expression, hedge: str) -> Expression:
    """Return a premise with a hedge on its conditions, which for minimum and maximum is the same as on the whole."""
    if isinstance(premise, Is):
        return Is(premise.variable, premise.term, (hedge, *premise.hedges))
    assert isinstance(premise, And | Or)
    return type(premise)(tuple(_modified(part, hedge) for part in premise.parts))


def _rules(base: Element, premises: _Premises, outputs: Terms) -> Iterable[Statement]:
    for number, rule in enumerate((part for part in base if part.tag in ("rule", "tskRule")), start=1):
        where = f"Rule {number}"
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
        yield Statement(simplified(premise), conclusions, _number(rule.get("weight", "1"), f"The weight of {where}"))


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
    if variable not in known:
        raise RuleSyntaxError(
            f"{where}: unknown variable {variable!r:.60}; choose from {listed(known)}.{did_you_mean(variable, known)}"
        )
    if term not in known[variable]:
        terms = known[variable]
        raise RuleSyntaxError(
            f"{where}: unknown term {term!r:.60} of {variable!r:.60}; choose from {listed(terms)}."
            f"{did_you_mean(term, terms)}"
        )
    return Is(variable, term, (MODIFIERS[modifier],) if modifier else ())
