"""Parses premises: conditions, AND, OR, NOT, parentheses and quantifiers."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.network.premises import HEDGES
from fuzzymil.network.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.rules.language.lexer import Token
from fuzzymil.rules.language.printer import is_quantifier_word
from fuzzymil.rules.language.reader import Reader
from fuzzymil.rules.premise import (
    ANYTHING,
    MAX_DEPTH,
    TOO_DEEP,
    And,
    Expression,
    Is,
    Not,
    Or,
    Quantified,
    check_premise,
)
from fuzzymil.rules.rule import Variable

__all__ = ["PremiseReader"]

_MEANT = {
    **dict.fromkeys(("any", "one", "a", "an", "exists"), "SOME"),
    **dict.fromkeys(("every", "each"), "ALL"),
    **dict.fromkeys(("mean", "usually", "average"), "ON AVERAGE"),
    **dict.fromkeys(("majority", "mostly"), "MOST"),
    **dict.fromkeys(("none", "no"), "NOT (SOME ...)"),
}  # words that people write for quantifiers


class PremiseReader(Reader):
    """Parser for premises over declared variables."""

    def __init__(self, text: str, label: str, variables: Mapping[str, Variable]) -> None:
        super().__init__(text, label)
        self.variables = variables
        self.level = 0  # of parentheses and NOTs
        self.quantifier: Token | None = None  # around the condition being read
        self.quantified = False  # whether the premise has a quantifier
        self.bare: list[Token] = []  # its conditions without one

    def whole_premise(self, start: Token) -> Expression:
        self.bare, self.quantified = [], False
        premise = self.premise()
        if self.quantified and self.bare:
            self.fail(
                self.bare[0],
                f"The condition on {self.bare[0].text!r:.60} has no quantifier, but another one of this rule has: the "
                "premise is about the whole bag. Write SOME, ALL, MOST, ON AVERAGE or AT LEAST 3 before it, or put it "
                "into the parentheses of a quantifier.",
            )
        try:
            check_premise(premise)
        except ParameterError as problem:
            self.fail(start, str(problem))
        return premise

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
        elif self.skip("anything") or (self.quantifier is not None and self.skip("instances")):
            found = ANYTHING
        elif is_quantifier_word(start.kind):
            found = self.quantified_part()
        else:
            if self.token.kind == "instances":
                self.fail(start, "'instances' stands after a quantifier: 'AT LEAST 8 instances'.")
            found = self.condition()
        self.level -= 1
        return found

    def quantified_part(self) -> Quantified:
        """Parse ``SOME depth is deep`` or ``AT LEAST 3 (depth is deep AND size is small)``."""
        start, outer = self.token, self.quantifier
        name = self.quantifier_name()
        words = name.upper()
        if outer is not None:
            self.fail(
                start,
                f"{words} stands inside another quantifier ({outer.text.upper()} ...): a quantifier asks about single "
                "instances. Join quantified conditions by AND, OR and NOT.",
            )
        count = self.count(words) if name in COUNTING else None
        if count is None and self.token.kind == "number":
            self.fail(self.token, f"{words} takes no count: write 'AT LEAST {self.token.text:.20}' to count instances.")
        asked = self.token.kind in ("name", "not", "(", "anything", "instances") or is_quantifier_word(self.token.kind)
        if not asked:
            came = self.token.text if self.token.kind == "end" else f"{self.token.text!r:.60}"
            self.fail(
                self.token,
                f"Expected what {words} asks of the instances, a condition ('variable is term'), '(' or 'instances', "
                f"found {came}.",
            )
        self.quantifier, self.quantified = start, True
        found = self.part()
        self.quantifier = None
        return Quantified(name, found, count)

    def quantifier_name(self) -> str:
        """Parse the words of a quantifier; of several that match, the longest."""
        rest = [token.kind for token in self.tokens[self.position :]]
        found = [name for name in QUANTIFIERS if rest[: len(name.split())] == name.split()]
        if not found:
            meant = [name.upper() for name in QUANTIFIERS if self.token.kind in name.split()]
            self.fail(
                self.token,
                f"{self.token.text!r} belongs to a quantifier ({listed(meant)}). Write it in full, or put a name of "
                "this kind in double quotes.",
            )
        name = max(found, key=len)
        self.position += len(name.split())
        return name

    def count(self, words: str) -> int:
        token = self.token
        if token.kind != "number":
            share = token.text.lower() in ("half", "most", "many", "all")
            hint = " For a share of the bag, write MOST or ON AVERAGE." if share else ""
            found = token.text if token.kind == "end" else f"{token.text!r:.60}"
            self.fail(token, f"Expected a count after {words} (for example '{words} 3'), found {found}.{hint}")
        value = self.plain_number("a count")
        if value < 1 or not value.is_integer():
            self.fail(token, f"The count of {words} must be a whole number of at least 1, got {token.text:.40}.")
        return int(value)

    def condition(self) -> Is:
        name = self.take("name", "a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...)")
        if name.text not in self.variables:
            meant = _MEANT.get(name.text.lower()) if self.token.kind in ("name", "(", "number") else None
            if meant is not None:
                self.fail(name, f"Unknown variable {name.text!r:.60}. Did you mean the quantifier {meant}?")
            self.unknown("variable", name, self.variables)
        if self.quantifier is None:
            self.bare.append(name)
        self.take("is", "'is'")
        hedges = []
        while self.token.kind in HEDGES:
            hedges.append(self.token.kind)
            self.position += 1
        term = self.term(name.text, self.variables[name.text])
        return Is(name.text, term, tuple(hedges))

    def take_term(self, expected: str) -> Token:
        """Take the name of a term, which may be a word that means a quantifier elsewhere (``size is average``)."""
        word = self.token
        if is_quantifier_word(word.kind) or word.kind == "instances":
            self.position += 1
            return word
        return self.take("name", expected)

    def term(self, name: str, variable: Variable) -> str:
        term = self.take_term(f"a term of {name!r:.60}")
        if term.text not in variable.terms:
            self.unknown("term", term, variable.terms, f" of {name!r:.60}")
        return term.text
