"""The rules of an FLL file: ``if ambient is very dark and (hour is late or moon is new) then power is high``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fuzzymil.inference.premises import HEDGES
from fuzzymil.rules.files._syntax import Piece
from fuzzymil.rules.files._system import Statement
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import ANYTHING, MAX_DEPTH, And, Expression, Is, Not, Or, Quantified, depth

RESERVED = frozenset({"if", "then", "is", "and", "or", "with", "any", *HEDGES})
_TOKEN = re.compile(r"[()]|[^\s()]+")

Terms = Mapping[str, Mapping[str, object]]
"""Names of variables, each with its terms."""


class RuleReader:
    """Recursive-descent parser for one rule; each method parses what it is named after.

    Parameters
    ----------
    text : Piece
    inputs, outputs : mappings
        Names of variables, each with its terms.
    before : sequence of Statement
        The rules before this one, which decide conditions about outputs.

    Attributes
    ----------
    chained : set of str
        The outputs whose terms several rules before this one conclude, and this one asks for.
    """

    def __init__(self, text: Piece, inputs: Terms, outputs: Terms, before: Sequence[Statement] = ()) -> None:
        self.text, self.inputs, self.outputs, self.before = text, inputs, outputs, before
        self.chained: set[str] = set()
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

    def word(self) -> str:
        """Return the token as it is compared with hedges."""
        return self.token.text

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

    def rules(self) -> list[Statement]:
        """Parse the rule; a conclusion on an output that has one already is returned as a rule of its own."""
        self.take("if")
        premise = self.premise()
        if depth(premise) > MAX_DEPTH:
            raise self.text.error(f"The rule has more than {MAX_DEPTH} levels of parentheses.")
        self.take("then", "and", "or")
        found: list[dict[str, str | Is]] = [{}]
        modified: tuple[str, ...] = ()
        while True:
            output = self.name("output", self.outputs)
            if output in found[-1]:
                found.append({})
            self.take("is")
            hedges = self.hedges(self.outputs[output])
            term = self.name("term", self.outputs[output], f" of {output!r:.60}")
            modified = (*hedges, *modified)  # the strength stays modified for the conclusions that follow
            found[-1][output] = Is(output, term, modified) if modified else term
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
        return [Statement(premise, conclusions, weight, self.text) for conclusions in found]

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

    def hedges(self, terms: Mapping[str, object]) -> list[str]:
        """Parse the hedges before one of these terms, which may be called like a hedge itself."""
        start, found = self.token, []
        while self.word() in HEDGES:
            after = self.tokens[self.place + 1].text
            if self.token.text in terms and after not in terms and after.lower() not in ("any", *HEDGES):
                break
            found.append(self.word())
            self.place += 1
        if len(found) > MAX_DEPTH:
            raise start.error(f"A condition can have at most {MAX_DEPTH} hedges.")
        if self.token.text and self.token.text not in terms and self.tokens[self.place + 1].text in terms:
            raise self.token.unknown("hedge", HEDGES)
        return found

    def condition(self) -> Expression:
        start = self.token
        known = self.outputs if start.text in self.outputs and start.text not in self.inputs else self.inputs
        variable = self.name("variable", known)
        self.take("is")
        hedges = self.hedges(known[variable])
        if self.skip("any"):  # fully true; other hedges do not change what is fully true or false
            return Not(ANYTHING) if hedges.count("not") % 2 else ANYTHING
        term = self.name("term", known[variable], f" of {variable!r:.60}")
        return Is(variable, term, tuple(hedges)) if known is self.inputs else self.concluded(start, term, hedges)

    def concluded(self, where: Piece, term: str, hedges: list[str]) -> Expression:
        """Return the condition that the rules before this one conclude a term of an output."""
        rules = [rule for rule in self.before if rule.conclusions.get(where.text) == term]
        hedged = any(isinstance(rule.conclusions.get(where.text), Is) for rule in self.before)
        if hedges not in ([], ["not"]) or hedged or any(rule.weight != 1 for rule in rules):
            raise where.error("A condition about an output is supported only without hedges and weights.")
        if len(rules) > 1:
            self.chained.add(where.text)
        parts = tuple(rule.premise for rule in rules)
        found = parts[0] if len(parts) == 1 else Or(parts) if parts else Not(ANYTHING)
        return Not(found) if hedges else found


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

    conclusions = " and ".join(
        " ".join((output, "is", *said.hedges, said.term)) if isinstance(said, Is) else f"{output} is {said}"
        for output, said in rule.conclusions.items()
    )
    weight = "" if rule.weight == 1 else f" with {format_number(rule.weight, None)}"
    return f"if {words(rule.premise)} then {conclusions}{weight}"
