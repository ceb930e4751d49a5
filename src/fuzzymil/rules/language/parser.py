"""Parses the rule language into statements, with errors that point at the character.

::

    # comments run to the end of the line
    VARIABLE depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)
    OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    USING t_norm = min, aggregation = max
    Rule 1: IF depth is very shallow AND NOT (size is small OR size is medium) THEN mine = 1.15 WITH 0.5
    IF depth is not shallow THEN mine = 0.3 + 2*depth - size
    IF depth is deep THEN risk is small
    IF SOME (depth is deep AND size is small) AND NOT (AT LEAST 3 instances) THEN mine += 2.2
    Default: mine = -2.9

Keywords are not case-sensitive; names are, and need double quotes unless they are plain words. Line breaks
have no meaning. Nothing is ever executed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, described, did_you_mean, listed
from fuzzymil.membership import FAMILIES, MembershipFunction
from fuzzymil.rules.language.lexer import Place, Token
from fuzzymil.rules.language.premises import PremiseReader
from fuzzymil.rules.premise import Expression
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
    adds: Place | None  # of the first ``+=`` or ``-=``
    sets: Place | None  # of the first ``=``


@dataclasses.dataclass
class Parsed:
    """The content of a text."""

    variables: dict[str, Variable] = dataclasses.field(default_factory=dict)
    outputs: dict[str, Variable] = dataclasses.field(default_factory=dict)  # those with terms
    settings: dict[str, object] = dataclasses.field(default_factory=dict)
    places: dict[str, Place] = dataclasses.field(default_factory=dict)  # of the settings
    defaults: dict[str, tuple[float, Place]] = dataclasses.field(default_factory=dict)  # of the outputs
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


class _Reader(PremiseReader):
    """Parser for the statements of one text."""

    def __init__(self, text: str, label: str, parsed: Parsed) -> None:
        super().__init__(text, label, parsed.variables)
        self.parsed = parsed

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
            elif following[:1] == [":"] and self.skip_word("default"):
                self.skip(":")
                self.defaults()
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
            term = self.take_term("the name of a term")
            if term.text in terms:
                self.fail(term, f"The term {term.text!r:.60} of {name.text!r:.60} is defined twice.")
            self.take("=", "'=' and a fuzzy set")
            terms[term.text] = self.fuzzy_set()
            more = self.skip(",")
        try:
            into[name.text] = Variable(name.text, terms, low, high, unit)
        except ParameterError as problem:
            self.fail(name, str(problem))

    def defaults(self) -> None:
        """``mine = -2.9, other = 1``."""
        more = True
        while more:
            output = self.take("name", "the name of an output (Default: y = 0.5)")
            if output.text in self.parsed.defaults:
                self.fail(output, f"The default of {output.text!r:.60} appears twice.")
            self.take("=", "'=' and a number")
            value = self.number(f"the default of {output.text!r:.60}, a number")
            self.parsed.defaults[output.text] = value, self.place_of(output)
            more = self.skip(",")

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

    # ------------------------------------------------------------------ rules

    def rule(self) -> None:
        first, hint = self.token, self.advice_on_names()
        self.label_of_rule()
        if self.token.kind != "if" and first.kind == "name":
            hint = did_you_mean(first.text, _STATEMENTS) or hint
            if hint:
                self.fail(first, f"Unknown statement {first.text!r:.60}.{hint}")
        start = self.take("if", "a rule (IF ... THEN ...), VARIABLE, OUTPUT or USING")
        premise = self.whole_premise(start)
        self.take("then", "AND, OR or THEN")
        conclusions: dict[str, Linear | str] = {}
        signs: dict[str, Place] = {}
        more = True
        while more:
            output = self.take("name", "a conclusion (for example 'y = 1')")
            if output.text in conclusions:
                self.fail(output, f"The rule concludes {output.text!r:.60} twice.")
            signs.setdefault(self.token.kind, self.place_of(self.token))
            conclusions[output.text] = self.conclusion(output)
            more = self.skip(",") or self.skip("and")
        weight = self.plain_number("the weight of the rule (for example 0.5)") if self.skip("with") else 1.0
        adds = signs.get("+=", signs.get("-="))
        self.parsed.rules.append(
            ParsedRule(premise, conclusions, weight, self.place_of(start), adds, sets=signs.get("="))
        )

    def label_of_rule(self) -> None:
        """Skip ``Rule 3:`` or ``R3:``."""
        kinds = [token.kind for token in self.tokens[self.position : self.position + 3]]
        for length in (1, 2):
            if kinds[length : length + 1] == [":"] and set(kinds[:length]) <= {"name", "number"}:
                self.position += length + 1
                return

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
        start = self.token
        if not (self.skip("+=") or self.skip("-=")):
            self.take("=", "'=' and a number ('+=' to add it, 'is' and a term)")
        found = self.linear()
        if not all(map(math.isfinite, (found.constant, *found.slopes.values()))):
            self.fail(start, "The numbers of this sum are too large.")
        if start.kind == "-=":
            return Linear(-found.constant, {name: -slope for name, slope in found.slopes.items()})
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
