"""Parses the rule language into statements, with errors that point at the character.

::

    # comments run to the end of the line
    VARIABLE depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)
    OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    USING t_norm = min, aggregation = max
    Rule 1: IF depth is very shallow AND NOT (size is small OR size is medium) THEN mine = 1.15 WITH 0.5
    IF depth is not shallow THEN mine = 0.3 + 2*depth - size
    IF depth is deep THEN risk is small

Keywords are not case-sensitive; names are, and need double quotes unless they are plain words. Line breaks
have no meaning. Nothing is ever executed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, described, did_you_mean, listed
from fuzzymil.membership import FAMILIES, MembershipFunction
from fuzzymil.network.premises import HEDGES
from fuzzymil.rules.language.lexer import Place, Token, tokens
from fuzzymil.rules.language.printer import KEYWORDS, quoted
from fuzzymil.rules.premise import ANYTHING, MAX_DEPTH, TOO_DEEP, And, Expression, Is, Not, Or, check_premise
from fuzzymil.rules.rule import Variable

__all__ = ["Linear", "MAX_TEXT", "Parsed", "ParsedRule", "read"]

MAX_TEXT = 2_000_000  # characters: enough for a hundred rules over hundreds of features, parsed in seconds

_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_STATEMENTS = ("IF", "VARIABLE", "OUTPUT", "USING")


class Linear(NamedTuple):
    """A conclusion ``constant + slopes``."""

    constant: float
    slopes: dict[str, float]


class ParsedRule(NamedTuple):
    """One rule; a conclusion is a linear function, or the name of one of the output's terms."""

    premise: Expression
    conclusions: dict[str, Linear | str]
    weight: float
    place: Place


@dataclasses.dataclass
class Parsed:
    """The content of a text."""

    variables: dict[str, Variable] = dataclasses.field(default_factory=dict)
    outputs: dict[str, Variable] = dataclasses.field(default_factory=dict)  # those with terms
    settings: dict[str, object] = dataclasses.field(default_factory=dict)
    places: dict[str, Place] = dataclasses.field(default_factory=dict)  # of the settings
    rules: list[ParsedRule] = dataclasses.field(default_factory=list)


def read(text: str | Iterable[str], variables: Iterable[Variable] = (), outputs: Iterable[Variable] = ()) -> Parsed:
    """Parse statements.

    Parameters
    ----------
    text : str, or sequence of str
        Each entry of a sequence holds complete statements.
    variables, outputs : sequences of Variable
        Declared beforehand; the text may declare more.

    Raises
    ------
    RuleSyntaxError

    Examples
    --------
    >>> parsed = read("VARIABLE hue: blue = Gaussian(0.6, 0.1)  IF hue is blue THEN sky = 1")
    >>> parsed.rules[0].conclusions
    {'sky': Linear(constant=1.0, slopes={})}
    """
    parsed = Parsed()
    for known, given in ((parsed.variables, variables), (parsed.outputs, outputs)):
        for variable in given:
            if not isinstance(variable, Variable):
                raise ParameterError(f"Expected a Variable, got {described(variable)}.")
            if variable.name in known:
                raise ParameterError(f"Two variables are named {variable.name!r:.60}.")
            known[variable.name] = variable
    entries = _entries(text)
    for number, entry in enumerate(entries, start=1):
        # Files from other systems: drop the byte order mark, and unify line ends, where comments end.
        lines = entry.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        _Reader(lines, "" if isinstance(text, str) else f"rule {number}, ", parsed).statements()
    return parsed


def _entries(text: Any) -> list[str]:
    single = isinstance(text, str | bytes) or not isinstance(text, Iterable)
    entries: list[Any] = [text] if single else list(text)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, str):
            raise RuleSyntaxError(f"Rule {number} must be text, got {described(entry)}.")
    length = sum(map(len, entries))
    if length > MAX_TEXT:
        raise RuleSyntaxError(f"The text has {length:,} characters; the limit is {MAX_TEXT:,}.")
    return entries


class _Reader:
    """Recursive-descent parser for one text; each method parses what it is named after."""

    def __init__(self, text: str, label: str, parsed: Parsed) -> None:
        self.text, self.label, self.parsed = text, label, parsed
        self.tokens = tokens(text, label)
        self.position = 0
        self.level = 0  # of parentheses and NOTs

    # ------------------------------------------------------------------ tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self, kind: str, expected: str) -> Token:
        token = self.token
        if token.kind != kind:
            self.expect(expected)
        self.position += 1
        return token

    def skip(self, kind: str) -> bool:
        if self.token.kind == kind:
            self.position += 1
            return True
        return False

    def skip_word(self, word: str) -> bool:
        """Skip a name that is a keyword only in this position."""
        return self.token.text.lower() == word and self.skip("name")

    def place_of(self, token: Token) -> Place:
        return Place(self.text, self.label, token.start)

    def fail(self, token: Token, message: str) -> NoReturn:
        raise self.place_of(token).error(message)

    def expect(self, what: str) -> NoReturn:
        token = self.token
        advice = self.advice_on_names()
        if token.kind in KEYWORDS and ("name" in what or "term" in what):
            advice = f" ({token.text!r} is a keyword: put it in double quotes to use it as a name.)"
        found = token.text if token.kind == "end" else f"{token.text!r:.60}"
        self.fail(token, f"Expected {what}, found {found}.{advice}")

    def unknown(self, what: str, token: Token, known: Mapping[str, object], where: str = "") -> NoReturn:
        choices = f"choose from {listed(map(quoted, known))}" if known else "none is declared"
        hint = did_you_mean(token.text, known) + self.advice_on_names()
        self.fail(token, f"Unknown {what} {token.text!r:.60}{where}; {choices}.{hint}")

    def advice_on_names(self) -> str:
        """Return a hint about quotes if two names follow each other here."""
        first, second = self.tokens[self.position - 1], self.token
        together = first.kind == second.kind == "name" and "\n" not in self.text[first.start : second.start]
        return " (Put names of several words in double quotes.)" if together else ""

    # ------------------------------------------------------------------ statements

    def statements(self) -> None:
        while self.token.kind != "end":
            following = [token.kind for token in self.tokens[self.position + 1 : self.position + 3]]
            if following == [":", "if"]:  # a label
                self.rule()
            elif self.skip_word("variable"):
                self.declaration(self.parsed.variables)
            elif self.skip_word("output"):
                self.declaration(self.parsed.outputs)
            elif self.skip_word("using"):
                self.using()
            else:
                self.rule()
            self.skip(";")

    def declaration(self, into: dict[str, Variable]) -> None:
        name = self.take("name", "the name of a variable")
        if name.text in into:
            self.fail(name, f"The variable {name.text!r:.60} is declared twice.")
        unit = self.take("unit", "a unit").text if self.token.kind == "unit" else ""
        low = self.number("the lowest value") if self.skip_word("from") else None
        high = self.number("the highest value") if self.skip_word("to") else None
        terms: dict[str, MembershipFunction] = {}
        more = self.skip(":")
        while more:
            term = self.take("name", "the name of a term")
            if term.text in terms:
                self.fail(term, f"The term {term.text!r:.60} of {name.text!r:.60} is defined twice.")
            self.take("=", "'=' and a fuzzy set")
            terms[term.text] = self.fuzzy_set()
            more = self.skip(",")
        try:
            into[name.text] = Variable(name.text, terms, low, high, unit)
        except ParameterError as problem:
            self.fail(name, str(problem))

    def fuzzy_set(self) -> MembershipFunction:
        families = {family.__name__: family for family in FAMILIES.values()}
        kind = self.take("name", f"a fuzzy set ({listed(families)})")
        if kind.text not in families:
            self.unknown("membership family", kind, families)
        self.take("(", f"'(' and the parameters of {kind.text}")
        values = self.numbers(f"a parameter of {kind.text}")
        family = families[kind.text]
        if len(values) != len(family.fields()):
            expected = f"{len(family.fields())} parameters ({listed(family.fields())})"
            self.fail(kind, f"{kind.text} takes {expected}, got {len(values)}.")
        try:
            return family(*values)
        except ParameterError as problem:
            self.fail(kind, str(problem))

    def using(self) -> None:
        while True:
            name = self.take("name", "the name of a setting")
            if name.text in self.parsed.settings:
                self.fail(name, f"The setting {name.text!r:.60} appears twice.")
            self.take("=", "'=' and a value")
            self.parsed.settings[name.text] = self.setting()
            self.parsed.places[name.text] = self.place_of(name)
            if not self.skip(","):
                return

    def setting(self) -> object:
        if self.skip("("):
            return self.numbers("a number", infinite=True)
        if self.token.kind == "name" and self.token.text.lower() != "inf":
            word = self.take("name", "a name").text
            return _WORDS.get(word.lower(), word)
        return self.number("a name, a number or numbers in parentheses", infinite=True)

    def numbers(self, what: str, *, infinite: bool = False) -> tuple[float, ...]:
        """Parse numbers and the closing parenthesis."""
        values = [self.number(what, infinite=infinite)]
        while self.skip(","):
            values.append(self.number(what, infinite=infinite))
        self.take(")", "',' or ')'")
        return tuple(values)

    def number(self, what: str, *, infinite: bool = False) -> float:
        sign = -1.0 if self.skip("-") else 1.0
        if infinite and self.skip_word("inf"):
            return sign * math.inf
        return sign * self.plain_number(what)

    def plain_number(self, what: str) -> float:
        token = self.take("number", what)
        value = float(token.text)
        if math.isinf(value):
            self.fail(token, f"The number {token.text:.40} is too large.")
        return value

    # ------------------------------------------------------------------ rules

    def rule(self) -> None:
        first, hint = self.token, self.advice_on_names()
        self.label_of_rule()
        if self.token.kind != "if" and first.kind == "name":
            hint = did_you_mean(first.text, _STATEMENTS) or hint
            if hint:
                self.fail(first, f"Unknown statement {first.text!r:.60}.{hint}")
        start = self.take("if", "a rule (IF ... THEN ...), VARIABLE, OUTPUT or USING")
        premise = self.premise()
        try:
            check_premise(premise)
        except ParameterError as problem:
            self.fail(start, str(problem))
        self.take("then", "AND, OR or THEN")
        conclusions: dict[str, Linear | str] = {}
        more = True
        while more:
            output = self.take("name", "a conclusion (for example 'y = 1')")
            if output.text in conclusions:
                self.fail(output, f"The rule concludes {output.text!r:.60} twice.")
            conclusions[output.text] = self.conclusion(output)
            more = self.skip(",") or self.skip("and")
        weight = self.plain_number("the weight of the rule (for example 0.5)") if self.skip("with") else 1.0
        self.parsed.rules.append(ParsedRule(premise, conclusions, weight, self.place_of(start)))

    def label_of_rule(self) -> None:
        """Skip ``Rule 3:`` or ``R3:``."""
        kinds = [token.kind for token in self.tokens[self.position : self.position + 3]]
        for length in (1, 2):
            if kinds[length : length + 1] == [":"] and set(kinds[:length]) <= {"name", "number"}:
                self.position += length + 1
                return

    def premise(self) -> Expression:
        """Parse alternatives joined by OR."""
        parts = [self.all_of()]
        while self.skip("or"):
            parts.append(self.all_of())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def all_of(self) -> Expression:
        """Parse parts joined by AND, which binds more tightly than OR."""
        parts = [self.part()]
        while self.skip("and"):
            parts.append(self.part())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def part(self) -> Expression:
        start = self.token
        self.level += 1
        if self.level > MAX_DEPTH + 1:  # the parenthesis of NOT (x is low) is not a level of the premise
            self.fail(start, TOO_DEEP)
        found: Expression
        if self.skip("not"):
            found = Not(self.part())
        elif self.skip("("):
            found = self.premise()
            self.take(")", "AND, OR or ')'")
        elif self.skip("anything"):
            found = ANYTHING
        else:
            found = self.condition()
        self.level -= 1
        return found

    def condition(self) -> Is:
        name = self.take("name", "a condition ('variable is term'), NOT or '('")
        if name.text not in self.parsed.variables:
            self.unknown("variable", name, self.parsed.variables)
        self.take("is", "'is'")
        hedges = []
        while self.token.kind in HEDGES:
            hedges.append(self.token.kind)
            self.position += 1
        term = self.term(name.text, self.parsed.variables[name.text])
        return Is(name.text, term, tuple(hedges))

    def term(self, name: str, variable: Variable) -> str:
        term = self.take("name", f"a term of {name!r:.60}")
        if term.text not in variable.terms:
            self.unknown("term", term, variable.terms, f" of {name!r:.60}")
        return term.text

    def conclusion(self, output: Token) -> Linear | str:
        if self.skip("is"):
            if not self.parsed.outputs:
                self.fail(
                    output,
                    f"The output {output.text!r:.60} has no terms. Declare them for a Mamdani rule "
                    "(OUTPUT ...: term = set), or conclude a number ('= 1').",
                )
            if output.text not in self.parsed.outputs:
                self.unknown("output", output, self.parsed.outputs)
            return self.term(output.text, self.parsed.outputs[output.text])
        start = self.take("=", "'=' and a number (or 'is' and a term)")
        found = self.linear()
        if not all(map(math.isfinite, (found.constant, *found.slopes.values()))):
            self.fail(start, "The numbers of this sum are too large.")
        return found

    def linear(self) -> Linear:
        """``0.3 + 2*depth - size``."""
        constant, slopes = 0.0, dict[str, float]()
        sign = self.sign() or 1.0
        while sign:
            value, name = self.product()
            if name is None:
                constant += sign * value
            else:
                slopes[name] = slopes.get(name, 0.0) + sign * value
            sign = self.sign()
        return Linear(constant, slopes)

    def sign(self) -> float:
        """Parse a plus or minus; return 0 if there is none."""
        return 1.0 if self.skip("+") else -1.0 if self.skip("-") else 0.0

    def product(self) -> tuple[float, str | None]:
        if self.token.kind == "number":
            value = self.plain_number("a number")
            return value, (self.factor("a variable") if self.skip("*") else None)
        name = self.factor("a number or a variable")
        return (self.plain_number("a number") if self.skip("*") else 1.0), name

    def factor(self, expected: str) -> str:
        name = self.take("name", expected)
        if self.token.kind == "(":
            self.fail(name, "Function calls are not supported: a conclusion is a sum of numbers times variables.")
        if name.text not in self.parsed.variables:
            self.unknown("variable", name, self.parsed.variables)
        return name.text
