"""The rules of an FLL file: ``if ambient is very dark and (hour is late or moon is new) then power is high``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fuzzymil.network.premises import HEDGES
from fuzzymil.rules._formats.syntax import Piece
from fuzzymil.rules._formats.system import Statement
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import ANYTHING, MAX_DEPTH, And, Expression, Is, Not, Or, Quantified, depth

RESERVED = frozenset({"if", "then", "is", "and", "or", "with", "any", *HEDGES})
_TOKEN = re.compile(r"[()]|[^\s()]+")

Terms = Mapping[str, Mapping[str, object]]
"""Names of variables, each with its terms."""


def read_rule(text: Piece, inputs: Terms, outputs: Terms) -> Statement:
    """Parse one rule over the given variables and terms."""
    return _Reader(text, inputs, outputs).rule()


class _Reader:
    """Recursive-descent parser for one rule; each method parses what it is named after."""

    def __init__(self, text: Piece, inputs: Terms, outputs: Terms) -> None:
        self.text, self.inputs, self.outputs = text, inputs, outputs
        self.tokens = [*text.words(_TOKEN), Piece(text.source, text.end, text.end)]
        self.place = self.level = 0

    @property
    def token(self) -> Piece:
        return self.tokens[self.place]

    def skip(self, word: str) -> bool:
        if self.token.text != word:
            return False
        self.place += 1
        return True

    def take(self, word: str, *others: str) -> None:
        """Parse a word; ``others`` would also be valid here, and are listed in the message."""
        if not self.skip(word):
            found = f"{self.token.text!r:.60}" if self.token.text else "the end of the rule"
            raise self.token.error(f"Expected {' or '.join(map(repr, (*others, word)))}, found {found}.")

    def name(self, what: str, known: Mapping[str, object], where: str = "") -> str:
        token = self.token
        if token.text not in known:
            raise (
                token.unknown(what, known, where)
                if token.text
                else token.error(f"Expected {what}{where}, found the end of the rule.")
            )
        self.place += 1
        return token.text

    def rule(self) -> Statement:
        self.take("if")
        premise = self.premise()
        if depth(premise) > MAX_DEPTH:
            raise self.text.error(f"The rule has more than {MAX_DEPTH} levels of parentheses.")
        self.take("then", "and", "or")
        conclusions: dict[str, str] = {}
        while True:
            where = self.token
            output = self.name("output", self.outputs)
            if output in conclusions:
                raise where.error(f"The rule concludes {output!r:.60} twice.")
            self.take("is")
            if self.token.text in RESERVED:
                raise self.token.error("Hedges in a conclusion are not supported.")
            conclusions[output] = self.name("term", self.outputs[output], f" of {output!r:.60}")
            if not self.skip("and"):
                break
        weight = 1.0
        if self.skip("with"):
            weight = self.token.number("the weight of the rule")
            if weight < 0:
                raise self.token.error("The weight of a rule must be at least 0.")
            self.place += 1
        if self.token.text:
            raise self.token.error(f"Expected 'and', 'with' or the end of the rule, found {self.token.text!r:.60}.")
        return Statement(premise, conclusions, weight, self.text)

    def premise(self) -> Expression:
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
        opening = self.token
        if not self.skip("("):
            return self.condition()
        self.level += 1
        if self.level > MAX_DEPTH:
            raise opening.error(f"Parentheses are nested more than {MAX_DEPTH} levels deep.")
        found = self.premise()
        self.take(")", "and", "or")
        self.level -= 1
        return found

    def condition(self) -> Expression:
        start = self.token
        variable = self.name("variable", self.inputs)
        self.take("is")
        hedges = []
        while self.token.text in HEDGES:
            hedges.append(self.token.text)
            self.place += 1
        if len(hedges) > MAX_DEPTH:
            raise start.error(f"A condition can have at most {MAX_DEPTH} hedges.")
        if self.skip("any"):  # fully true; other hedges do not change what is fully true or false
            return Not(ANYTHING) if hedges.count("not") % 2 else ANYTHING
        return Is(variable, self.name("term", self.inputs[variable], f" of {variable!r:.60}"), tuple(hedges))


def written_rule(rule: Statement, inputs: Mapping[str, str], terms: Mapping[str, Mapping[str, str]]) -> str:
    """Return a rule as text, with the names of variables and of their terms as written in ``inputs`` and ``terms``.

    Its negations must be next to its conditions. Conclusions are written as they are.

    Examples
    --------
    >>> rule = Statement(And((Is("x", "a"), Or((Is("x", "b"), ANYTHING)))), {"y": "high"}, 0.5)
    >>> written_rule(rule, {"x": "x"}, {"x": {"a": "a", "b": "b"}})
    'if x is a and (x is b or x is any) then y is high with 0.5'
    """
    first = next(iter(inputs.values()))

    def words(premise: Expression) -> str:
        if isinstance(premise, Is):
            term = terms[premise.variable][premise.term]
            return " ".join((inputs[premise.variable], "is", *premise.hedges, term))
        if isinstance(premise, Not):
            return f"{first} is not any"
        assert not isinstance(premise, Quantified)  # refused before
        if not premise.parts:
            return f"{first} is any"
        join = " and " if isinstance(premise, And) else " or "
        return join.join(
            f"({words(part)})" if isinstance(part, And | Or) and part.parts else words(part) for part in premise.parts
        )

    conclusions = " and ".join(f"{output} is {term}" for output, term in rule.conclusions.items())
    weight = "" if rule.weight == 1 else f" with {format_number(rule.weight, None)}"
    return f"if {words(rule.premise)} then {conclusions}{weight}"
