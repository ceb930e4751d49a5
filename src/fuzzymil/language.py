"""The rule language: from text to parsed statements, with errors that point at the character.

::

    # comments run to the end of the line
    VARIABLE depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)
    OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    USING t_norm = min, t_conorm = max
    Rule 1: IF depth is very shallow AND NOT (size is small OR size is medium) THEN mine = 1.15 WITH 0.5
    IF depth is not shallow THEN mine = 0.3 + 2*depth - size
    IF depth is deep THEN risk is small

Words of the language may be written in capitals or not; names are taken as they are, in double quotes
where they are no plain words. Line ends mean nothing. Nothing is ever executed.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn

from fuzzymil.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.membership import FAMILIES, MembershipFunction
from fuzzymil.premise import ANYTHING, HEDGES, MAX_DEPTH, And, Expression, Is, Not, Or
from fuzzymil.vocabulary import Variable
from fuzzymil.wording import KEYWORDS

__all__ = ["Linear", "MAX_TEXT", "Parsed", "ParsedRule", "read"]

MAX_TEXT = 1_000_000  # characters

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|(?:\#|//)[^\n]*)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*(?:\.\w+)*)
    |(?P<quoted>"(?:[^"\\\n]|\\.)*")
    |(?P<unit>\[(?:[^\]\\\n]|\\.)*\])
    |(?P<sign>[-+*=(),:;])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_FAMILIES = {kind.__name__: kind for kind in FAMILIES.values()}


class Token(NamedTuple):
    """A word, number or sign of the text; ``kind`` is a keyword in lower case, or name, number, unit, sign, end."""

    kind: str
    text: str
    start: int


class Linear(NamedTuple):
    """A conclusion ``constant + slopes``."""

    constant: float
    slopes: dict[str, float]


class ParsedRule(NamedTuple):
    """One rule; a conclusion is a number, a linear form, or the name of a term of the output."""

    premise: Expression
    conclusions: dict[str, Linear | str]
    weight: float
    where: str  # for messages: "line 3"


@dataclasses.dataclass
class Parsed:
    """All that a text says."""

    variables: dict[str, Variable] = dataclasses.field(default_factory=dict)
    outputs: dict[str, Variable] = dataclasses.field(default_factory=dict)  # those with terms
    settings: dict[str, object] = dataclasses.field(default_factory=dict)
    rules: list[ParsedRule] = dataclasses.field(default_factory=list)


def read(text: str | Iterable[str], variables: Iterable[Variable] = (), outputs: Iterable[Variable] = ()) -> Parsed:
    """Read statements.

    Parameters
    ----------
    text : str, or sequence of str
        In a sequence every entry holds whole statements.
    variables, outputs : sequences of Variable
        What is known before; the text may declare more.

    Raises
    ------
    RuleSyntaxError
    """
    parsed = Parsed()
    for known, given in ((parsed.variables, variables), (parsed.outputs, outputs)):
        for variable in given:
            if variable.name in known:
                raise ParameterError(f"Two variables have the name {variable.name!r}.")
            known[variable.name] = variable
    if isinstance(text, str):
        _Reader(text, "", parsed).statements()
        return parsed
    for number, entry in enumerate(text, start=1):
        if not isinstance(entry, str):
            raise RuleSyntaxError(f"Rule {number} must be text, got {entry!r:.100}.")
        _Reader(entry, f"rule {number}, ", parsed).statements()
    return parsed


class _Reader:
    """Recursive descent over one text; every method reads what it is named after."""

    def __init__(self, text: str, label: str, parsed: Parsed) -> None:
        if len(text) > MAX_TEXT:
            raise RuleSyntaxError(
                f"{label}The text has {len(text):,} characters; at most {MAX_TEXT:,} are read. Split it."
            )
        self.text, self.label, self.parsed = text, label, parsed
        self.tokens = self._tokens()
        self.place = 0
        self.level = 0

    # ------------------------------------------------------------------ tokens

    def _tokens(self) -> list[Token]:
        found, start = [], 0
        while start < len(self.text):
            match = _TOKEN.match(self.text, start)
            if match is None:
                self._fail(start, _why_unreadable(self.text, start))
            kind, text = str(match.lastgroup), match.group()
            if kind == "name" and text.lower() in KEYWORDS:
                kind = text.lower()
            elif kind == "quoted":
                kind, text = "name", _ESCAPE.sub(_unescaped, text[1:-1])
            elif kind == "unit":
                text = _ESCAPE.sub(_unescaped, text[1:-1])
            elif kind == "sign":
                kind = text
            if kind != "space":
                found.append(Token(kind, text, start))
            start = match.end()
        found.append(Token("end", "the end of the text", len(self.text.rstrip())))
        return found

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def take(self, kind: str, expected: str) -> Token:
        token = self.token
        if token.kind != kind:
            self.expect(expected)
        self.place += 1
        return token

    def skip(self, kind: str) -> bool:
        if self.token.kind == kind:
            self.place += 1
            return True
        return False

    def expect(self, what: str) -> NoReturn:
        token = self.token
        found = token.text if token.kind == "end" else f"{token.text!r:.60}"
        self._fail(token.start, f"Expected {what}, found {found}.{_advice(token, what)}")

    def _fail(self, start: int, message: str) -> NoReturn:
        line = self.text.count("\n", 0, start) + 1
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", start)
        content = self.text[first : last if last >= 0 else None].rstrip("\r")
        column = start - first
        cut = max(column - 60, 0)
        shown = ("..." if cut else "") + content[cut : cut + 100] + ("..." if len(content) > cut + 100 else "")
        caret = " " * (column - cut + (3 if cut else 0)) + "^"
        shown = "".join(" " if ord(character) < 32 else character for character in shown)
        where = f"{self.label}line {line}, character {column + 1}"
        raise RuleSyntaxError(f"{where[0].upper()}{where[1:]}: {message}\n  {shown}\n  {caret}")

    # ------------------------------------------------------------------ statements

    def statements(self) -> None:
        while self.token.kind != "end":
            kind = self.token.text.lower() if self.token.kind == "name" else ""
            if kind not in ("variable", "output", "using") or self.tokens[self.place + 1].kind != "name":
                self.rule()
                self.skip(";")
                continue
            self.place += 1
            if kind == "using":
                self.using()
            else:
                self.declaration(self.parsed.variables if kind == "variable" else self.parsed.outputs)
            self.skip(";")

    def declaration(self, into: dict[str, Variable]) -> None:
        name = self.take("name", "the name of a variable")
        if name.text in into:
            self._fail(name.start, f"The variable {name.text!r} is declared twice.")
        unit = self.token.text if self.skip("unit") else ""
        low = self.number("the least value") if self._word("from") else None
        high = self.number("the greatest value") if self._word("to") else None
        terms: dict[str, MembershipFunction] = {}
        if self.skip(":"):
            while True:
                term = self.take("name", "the name of a term")
                if term.text in terms:
                    self._fail(term.start, f"The term {term.text!r} of {name.text!r} is defined twice.")
                self.take("=", "'=' and a fuzzy set")
                terms[term.text] = self.fuzzy_set()
                if not self.skip(","):
                    break
        into[name.text] = Variable(name.text, terms, low, high, unit)

    def _word(self, word: str) -> bool:
        """Skip a word that is a keyword in this place only."""
        return self.token.text.lower() == word and self.skip("name")

    def fuzzy_set(self) -> MembershipFunction:
        kind = self.take("name", f"a fuzzy set ({listed(_FAMILIES)})")
        if kind.text not in _FAMILIES:
            self._unknown("membership family", kind, _FAMILIES)
        self.take("(", f"'(' and the parameters of {kind.text}")
        values = [self.number(f"a parameter of {kind.text}")]
        while self.skip(","):
            values.append(self.number(f"a parameter of {kind.text}"))
        self.take(")", "',' or ')'")
        family = _FAMILIES[kind.text]
        if len(values) != len(family.fields()):
            self._fail(kind.start, f"{kind.text} has the parameters {listed(family.fields())}, got {len(values)}.")
        try:
            return family(*values)
        except ParameterError as problem:
            self._fail(kind.start, str(problem))

    def using(self) -> None:
        while True:
            name = self.take("name", "the name of a setting")
            if name.text in self.parsed.settings:
                self._fail(name.start, f"The setting {name.text!r} is given twice.")
            self.take("=", "'=' and a value")
            self.parsed.settings[name.text] = self.setting()
            if not self.skip(","):
                return

    def setting(self) -> object:
        token = self.token
        if token.kind == "name" and token.text != "inf":
            self.place += 1
            return _WORDS.get(token.text.lower(), token.text)
        if self.skip("("):
            values = [self.number("a number", infinite=True)]
            while self.skip(","):
                values.append(self.number("a number", infinite=True))
            self.take(")", "',' or ')'")
            return tuple(values)
        return self.number("a name, a number or numbers in brackets", infinite=True)

    def number(self, what: str, *, infinite: bool = False) -> float:
        sign = -1.0 if self.skip("-") else 1.0
        if infinite and self._word("inf"):
            return sign * math.inf
        return sign * self.plain_number(what)

    def plain_number(self, what: str) -> float:
        token = self.take("number", what)
        value = float(token.text)
        if not math.isfinite(value):
            self._fail(token.start, f"The number {token.text[:40]} is too great.")
        return value

    # ------------------------------------------------------------------ rules

    def rule(self) -> None:
        self.label_of_rule()
        where = f"{self.label}line {self.text.count(chr(10), 0, self.token.start) + 1}"
        self.take("if", "a rule (IF ... THEN ...), VARIABLE, OUTPUT or USING")
        premise = self.premise()
        self.take("then", "AND, OR or THEN")
        conclusions: dict[str, Linear | str] = {}
        while True:
            output = self.take("name", "what the rule concludes, 'y = 1' say")
            if output.text in conclusions:
                self._fail(output.start, f"The rule concludes {output.text!r} twice.")
            conclusions[output.text] = self.conclusion(output)
            if not (self.skip(",") or self.skip("and")):
                break
        weight = self.plain_number("the weight of the rule, 0.5 say") if self.skip("with") else 1.0
        if self.token.kind in ("and", "or", "+", "-", "*", "(", ")", "number", "then", "is"):
            self.expect("the next rule or the end of the text")
        self.parsed.rules.append(ParsedRule(premise, conclusions, weight, where))

    def label_of_rule(self) -> None:
        """Skip ``Rule 3:`` or ``R3:``."""
        kinds = [token.kind for token in self.tokens[self.place : self.place + 3]]
        for length in (1, 2):
            if kinds[length : length + 1] == [":"] and set(kinds[:length]) <= {"name", "number"}:
                self.place += length + 1
                return

    def premise(self) -> Expression:
        """Alternatives joined by OR."""
        parts = [self.all_of()]
        while self.skip("or"):
            parts.append(self.all_of())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def all_of(self) -> Expression:
        parts = [self.part()]
        while self.skip("and"):
            parts.append(self.part())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def part(self) -> Expression:
        start = self.token.start
        self.level += 1
        if self.level > MAX_DEPTH:
            self._fail(start, f"Brackets and NOTs are nested more than {MAX_DEPTH} deep.")
        found: Expression
        if self.skip("not"):
            found = Not(self.part())
        elif self.skip("("):
            found = self.premise()
            if self.token.kind != ")":
                self.expect("AND, OR or ')'")
            self.place += 1
        elif self.skip("anything"):
            found = ANYTHING
        else:
            found = self.condition()
        self.level -= 1
        return found

    def condition(self) -> Is:
        name = self.take("name", "a condition ('variable is term'), NOT or '('")
        if name.text not in self.parsed.variables:
            self._unknown("variable", name, self.parsed.variables)
        self.take("is", "'is'")
        hedges = []
        while self.token.kind in HEDGES:
            hedges.append(self.token.kind)
            self.place += 1
            if len(hedges) > MAX_DEPTH:
                self._fail(name.start, f"A condition may have at most {MAX_DEPTH} hedges.")
        term = self.take("name", f"a term of {name.text!r}")
        terms = self.parsed.variables[name.text].terms
        if term.text not in terms:
            self._unknown(f"term of {name.text!r}", term, terms)
        return Is(name.text, term.text, tuple(hedges))

    def conclusion(self, output: Token) -> Linear | str:
        if self.skip("is"):
            term = self.take("name", f"a term of the output {output.text!r}")
            if output.text not in self.parsed.outputs:
                self._unknown("output", output, self.parsed.outputs)
            terms = self.parsed.outputs[output.text].terms
            if term.text not in terms:
                self._unknown(f"term of {output.text!r}", term, terms)
            return term.text
        self.take("=", "'=' and a number (or 'is' and a term)")
        return self.linear()

    def linear(self) -> Linear:
        """``0.3 + 2*depth - size``."""
        constant, slopes = 0.0, dict[str, float]()
        sign = -1.0 if self.skip("-") else 1.0
        self.skip("+")
        while True:
            value, name = self.product()
            if name is None:
                constant += sign * value
            else:
                slopes[name] = slopes.get(name, 0.0) + sign * value
            if self.token.kind not in "+-" or self.token.kind == "":
                return Linear(constant, slopes)
            sign = -1.0 if self.token.kind == "-" else 1.0
            self.place += 1

    def product(self) -> tuple[float, str | None]:
        if self.token.kind == "number":
            value = self.plain_number("a number")
            return (value, self.factor()) if self.skip("*") else (value, None)
        name = self.factor()
        return (self.plain_number("a number") if self.skip("*") else 1.0), name

    def factor(self) -> str:
        name = self.take("name", "a number or a variable")
        if self.token.kind == "(":
            self._fail(
                name.start, "Functions cannot be called in a conclusion: it is a sum of numbers times variables."
            )
        if name.text not in self.parsed.variables:
            self._unknown("variable", name, self.parsed.variables)
        return name.text

    def _unknown(self, what: str, token: Token, known: Mapping[str, object]) -> NoReturn:
        there = f"known are {listed(known)}" if known else "none is declared"
        self._fail(token.start, f"Unknown {what}: {token.text!r:.60}; {there}.{did_you_mean(token.text, known)}")


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r"}.get(match.group(1), match.group(1))


def _why_unreadable(text: str, start: int) -> str:
    character = text[start]
    if character == '"':
        return "This quotation mark is never closed."
    if character == "[":
        return "This square bracket is never closed."
    if character in "/^":
        return (
            f"{character!r} is no part of the language: a conclusion is a sum of numbers times variables, "
            "'0.3 + 2*depth' say."
        )
    if character == "'":
        return "Names are quoted by double quotation marks."
    if character in "<>":
        return f"{character!r} is no part of the language: compare with terms ('depth is low')."
    return f"The character {character!r} is no part of the language (names with such characters go in double quotes)."


def _advice(token: Token, expected: str) -> str:
    if token.kind in KEYWORDS and "name" in expected:
        return f" ({token.text!r} is a word of the language: as a name it goes in double quotes.)"
    return ""
