"""Reads fuzzy systems from FCL, the Fuzzy Control Language of IEC 61131-7, also as jFuzzyLogic and fuzzylite write it.

::

    FUNCTION_BLOCK tipper
    VAR_INPUT
      service : REAL;
    END_VAR
    VAR_OUTPUT
      tip : REAL;
    END_VAR
    FUZZIFY service
      TERM poor := (0, 1) (4, 0);
      TERM good := GAUSS 5 1.5;
    END_FUZZIFY
    DEFUZZIFY tip
      TERM cheap := (0, 0) (5, 1) (10, 0);
      TERM fair := (10, 0) (15, 1) (20, 0);
      METHOD : COG;
      DEFAULT := 0;
    END_DEFUZZIFY
    RULEBLOCK rules
      AND : MIN;
      ACT : MIN;
      ACCU : MAX;
      RULE 1 : IF service IS poor THEN tip IS cheap;
      RULE 2 : IF NOT (service IS poor) THEN tip IS fair WITH 0.5;
    END_RULEBLOCK
    END_FUNCTION_BLOCK

Keywords are not case-sensitive. Points that form a triangle, a trapezoid or a ramp become one. An output without a
RANGE spans its terms. ``DEFAULT := NC`` keeps the previous value.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import (
    Arithmetic,
    Discrete,
    MembershipFunction,
    Ramp,
    Singleton,
    Trapezoidal,
    Triangular,
)
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._linear import linear_coefficients
from fuzzymil.rules.files._syntax import Piece, coefficients, fuzzy_set, interval, unused, whole
from fuzzymil.rules.files._system import Output, Statement, System, Term, without_rules
from fuzzymil.rules.files.fcl_blocks import Block, blocks_of, declared, said_in, statements
from fuzzymil.rules.files.fll_rules import RuleReader, Terms
from fuzzymil.rules.premise import Expression, Not
from fuzzymil.rules.rule import Variable

T_NORMS = {
    "MIN": "min",
    "PROD": "product",
    "BDIF": "lukasiewicz",
    "HPROD": "hamacher",
    "EPROD": "einstein",
    "DPROD": "drastic",
    "NMIN": "nilpotent",
    "HAMACHER": "hamacher",
    "DMIN": "drastic",
    "NIPMIN": "nilpotent",
}
S_NORMS = {
    "MAX": "max",
    "ASUM": "algebraic",
    "PROBOR": "algebraic",
    "BSUM": "bounded",
    "HSUM": "hamacher",
    "ESUM": "einstein",
    "DSUM": "drastic",
    "NMAX": "nilpotent",
    "EINSTEIN": "einstein",
    "DMAX": "drastic",
    "NIPMAX": "nilpotent",
}
ACCUMULATIONS = {**S_NORMS, "SUM": "sum", "NSUM": "sum"}  # a sum divided by a number has the same center
DEFUZZIFIERS = {"COG": "centroid", "COA": "bisector", "MM": "mom", "LM": "som", "RM": "lom", "MOM": "mom"}
WEIGHTED = {"COGS": "average", "COGF": "average", "COGSS": "sum"}

SETS = {
    "GAUSS": sets.FLL["Gaussian"],
    "GAUSS2": sets.FLL["GaussianProduct"],
    "GBELL": sets.FIS["gbellmf"],
    "SIGM": sets.FIS["sigmf"],
    "DSIGM": sets.FIS["dsigmf"],
    "TRIAN": sets.FLL["Triangle"],
    "TRAPE": sets.FLL["Trapezoid"],
    "RECT": sets.FLL["Rectangle"],
    "TRIANGULAR": sets.FLL["Triangle"],
    "TRAPEZOIDAL": sets.FLL["Trapezoid"],
}
"""jFuzzyLogic's words, then what people write; fuzzylite's are those of FLL."""

_CALL = re.compile(r"\b[A-Z][A-Z0-9]*\b(?=\s*\()")  # functions in capitals, as jFuzzyLogic has them
_SETTINGS = {"AND", "OR", "ACT", "ACCU", "ENABLED", "METHOD", "DEFAULT"}


def read(text: str, block: str | None = None) -> System:
    """Parse the text of an FCL file, or one of its function blocks; raises `RuleSyntaxError`."""
    given = whole(text)
    blocks = blocks_of(given, block)
    inputs = declared(blocks, "VAR_INPUT", "FUZZIFY")
    names = [block.head.text for block in inputs]
    variables = [Variable(block.head.text, _sets(block, names), *_range(block)) for block in inputs]
    shared = _settings([block for block in blocks if block.kind == "RULEBLOCK"])
    outputs: list[Output] = []
    for described in declared(blocks, "VAR_OUTPUT", "DEFUZZIFY"):
        outputs.append(_output(described, names, [output.name for output in outputs], shared))
    rules = _rules(blocks, variables, outputs)
    end = Piece(given.source, given.end, given.end)
    t_norm = _word(shared, "AND", T_NORMS) or "min"
    return System(
        inputs=tuple(variables),
        outputs=tuple(outputs),
        rules=tuple(rules) or (without_rules(outputs, end),),
        t_norm=t_norm,
        s_norm=_word(shared, "OR", S_NORMS) or DUAL[t_norm],
        limited=False,
    )


# ---------------------------------------------------------------------- variables


def _range(block: Block) -> tuple[float | None, float | None]:
    said = said_in(block, "RANGE")
    if said is None:
        return None, None
    numbers = [token.number("a number", finite=False) for token in said if token.text not in ("(", ")", "..", ",")]
    if len(numbers) != 2:
        raise block.head.error("Expected RANGE := (low .. high).")
    return interval(said[0], numbers)


def _terms(block: Block, inputs: list[str], before: list[str] | None) -> dict[str, Term]:
    """Return the terms of a variable; those of a number may be computed from inputs, and from outputs ``before`` it."""
    found: dict[str, Term] = {}
    for statement in statements(block):
        if statement[0].text.upper() != "TERM":
            continue
        if len(statement) < 4 or statement[2].text != ":=":
            raise statement[0].error("Expected a term: 'TERM low := (0, 1) (5, 0);'.")
        name, value = statement[1], statement[3:]
        found[unused(name.text, found)] = _term(value, inputs, before)
    return found


def _sets(block: Block, inputs: list[str]) -> dict[str, MembershipFunction]:
    """Return the terms of an input."""
    found = _terms(block, inputs, None)
    return {name: term for name, term in found.items() if isinstance(term, MembershipFunction)}


def _term(tokens: list[Piece], inputs: list[str], before: list[str] | None) -> Term:
    first, weighted = tokens[0], before is not None
    word = first.text.upper()
    numbers = [token for token in tokens[1:] if token.text not in ("(", ")", ",")]
    if weighted and word in ("LINEAR", "CONSTANT"):
        values = [token.number(f"a coefficient of {first}") for token in numbers]
        values = values[:-1] if len(values) == len(inputs) + 2 else values
        return coefficients(first, values, {first.text: len(inputs) + 1 if word == "LINEAR" else 1})
    if word == "FUNCTION" or (weighted and not _is_set(word)):
        start = tokens[1] if word == "FUNCTION" and len(tokens) > 1 else first
        return _formula(Piece(first.source, start.start, tokens[-1].end), inputs, before)
    if first.text == "(" or word == "SINGLETONS":
        return _points(tokens if first.text == "(" else tokens[1:])
    if len(tokens) == 1:
        return fuzzy_set(first, Singleton, [first.number("a number or a fuzzy set")])
    known = {name.upper(): (name, entry) for name, entry in sets.FLL.items()} | {
        name: (name, entry) for name, entry in SETS.items()
    }
    if word not in known:
        raise first.unknown("fuzzy set", (*SETS, *sets.FLL))
    name, entry = known[word]
    values = [token.number(f"a parameter of {first}", finite=False) for token in numbers]
    return sets.read(first, name, values, {name: entry})


def _is_set(word: str) -> bool:
    return word == "(" or word in SETS or word in {name.upper() for name in sets.FLL}


def _formula(where: Piece, inputs: list[str], before: list[str] | None) -> Term:
    """Return the set that a formula means; after outputs ``before`` this one, the number."""
    where = whole(_CALL.sub(lambda match: match[0].lower(), where.source))._replace(start=where.start, end=where.end)
    try:
        formula = Arithmetic(where.text)
    except ParameterError as problem:
        raise where.error(str(problem)) from None
    found = None if before is None else linear_coefficients(formula, inputs)
    if found is not None:
        return found if any(found[1:]) else found[:1]
    return sets.read_formula(where, None if before is None else [*inputs, *before])


def _points(tokens: list[Piece]) -> MembershipFunction:
    """Return the set through points; a triangle, trapezoid or ramp where they form one."""
    where = tokens[0]
    numbers = [token.number("a number") for token in tokens if token.text not in ("(", ")", ",")]
    found = fuzzy_set(where, Discrete, numbers)
    values, degrees = tuple(numbers[::2]), tuple(numbers[1::2])
    shapes: Mapping[tuple[float, ...], type[MembershipFunction]] = {
        (0.0, 1.0, 0.0): Triangular,
        (0.0, 1.0, 1.0, 0.0): Trapezoidal,
    }
    if degrees in shapes:
        return shapes[degrees](*values)
    if degrees in ((0.0, 1.0), (1.0, 0.0)) and values[0] != values[1]:
        return Ramp(*(values if degrees == (0.0, 1.0) else reversed(values)))
    return found


def _output(block: Block, inputs: list[str], before: list[str], shared: Mapping[str, Piece]) -> Output:
    said = said_in(block, "METHOD")
    word = "COG" if not said else said[0].text.upper()
    if said and word not in {**DEFUZZIFIERS, **WEIGHTED}:
        raise said[0].unknown("METHOD", (*DEFUZZIFIERS, *WEIGHTED))
    method = {**DEFUZZIFIERS, **WEIGHTED}[word]
    terms = _terms(block, inputs, before if word in WEIGHTED else None)
    weighted = word in WEIGHTED or (bool(terms) and all(isinstance(term, Singleton) for term in terms.values()))
    method = "average" if weighted and word not in WEIGHTED else method  # the center of numbers
    low, high = _range(block)
    if not weighted and (low is None or high is None):
        low, high = _span(terms, low, high)
    own = said_in(block, "ACCU")
    accumulation = _word({"ACCU": own[0]} if own else shared, "ACCU", ACCUMULATIONS)
    default, hold = _default(block)
    lock = [token.text.upper() for token in said_in(block, "LOCK") or ()]
    return Output(
        block.head.text,
        {name: term.parameters if weighted and isinstance(term, Singleton) else term for name, term in terms.items()},
        low,
        high,
        default,
        implication="min" if weighted else _word(shared, "ACT", T_NORMS) or "min",
        accumulation=("sum" if own is None else accumulation or "sum") if weighted else accumulation or "max",
        defuzzify=method,
        clip=weighted and "RANGE" in lock,
        hold=hold or "PREVIOUS" in lock,
    )


def _default(block: Block) -> tuple[float, bool]:
    """Return the default (NaN if there is none), and whether the previous value is kept."""
    value, hold = math.nan, False
    for token in said_in(block, "DEFAULT") or ():
        if token.text.upper() == "NC":
            hold = True
        elif token.text != "|":
            value = token.number("a number", finite=False)
    return value, hold


def _span(terms: Mapping[str, Term], low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the range of an output that has none: that of its terms."""
    ends: list[float] = []
    for term in terms.values():
        if isinstance(term, Discrete):
            ends += term.parameters[::2]
        elif isinstance(term, Triangular | Trapezoidal | Ramp):
            ends += term.parameters
        elif isinstance(term, MembershipFunction):
            peak, spread = float(term.peak(*term.parameters)), float(term.spread(*term.parameters))
            ends += [peak - 4 * spread, peak + 4 * spread]
    low, high = (min(ends, default=0.0) if low is None else low), (max(ends, default=1.0) if high is None else high)
    return (low, high) if low < high else (low - 0.5, low + 0.5)


# ---------------------------------------------------------------------- rules


def _settings(blocks: list[Block]) -> dict[str, Piece]:
    """Return the settings that all blocks of rules share."""
    found: dict[str, Piece] = {}
    for block in blocks:
        for n, token in enumerate(block.tokens[:-2]):
            key = token.text.upper()
            named = n and block.tokens[n - 1].text.upper() == "RULE"  # RULE and : IF ...
            if key in _SETTINGS and block.tokens[n + 1].text == ":" and not named:
                value = block.tokens[n + 2]
                if key in found and found[key].text.upper() != value.text.upper() and key != "ENABLED":
                    raise value.error(f"All rule blocks must have the same {key}.")
                found[key] = value
    return found


def _word(settings: Mapping[str, Piece], key: str, known: Mapping[str, str]) -> str | None:
    said = settings.get(key)
    if said is None or said.text.upper() == "NONE":
        return None
    if said.text.upper() not in known:
        raise said.unknown(key, known)
    return known[said.text.upper()]


def _rules(blocks: list[Block], inputs: list[Variable], outputs: list[Output]) -> list[Statement]:
    found: list[Statement] = []
    known = ({v.name: v.terms for v in inputs}, {o.name: o.terms for o in outputs})
    for block in blocks:
        if block.kind != "RULEBLOCK":
            continue
        starts = [n for n, token in enumerate(block.tokens) if token.text.upper() == "RULE"]
        for start, end in itertools.pairwise([*starts, len(block.tokens)]):
            tokens = block.tokens[start:end]
            first = next((n for n, token in enumerate(tokens) if token.text.upper() == "IF"), None)
            if first is None:
                raise tokens[0].error("Expected a rule: 'RULE 1 : IF a IS low THEN y IS high;'.")
            body = [token for token in tokens[first:] if token.text != ";"]
            found += _FclRule(body, *known, found).rules()
    return found


class _FclRule(RuleReader):
    """A rule of FCL: keywords in any case, NOT before parentheses, conclusions joined by commas too."""

    def __init__(self, tokens: list[Piece], inputs: Terms, outputs: Terms, before: list[Statement]) -> None:
        text = Piece(tokens[0].source, tokens[0].start, tokens[-1].end)
        super().__init__(text, inputs, outputs, before)
        self.tokens = [*tokens, Piece(text.source, text.end, text.end)]

    def skip(self, word: str) -> bool:
        said = self.token.text.lower()
        if said != word and not (word == "and" and said == ","):
            return False
        self.place += 1
        return True

    def part(self) -> Expression:
        if self.token.text.lower() == "not" and self.token.text not in self.inputs:
            self.place += 1
            return Not(self.part())
        return super().part()

    def word(self) -> str:
        return self.token.text.lower()
