"""Parses premises: conditions, AND, OR, NOT, parentheses and quantifiers."""

from __future__ import annotations

from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.lexer import Token
from fuzzymil.rules.language.parsed import Parsed
from fuzzymil.rules.language.printer import is_quantifier_word, quoted
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
from fuzzymil.rules.rule import MISSING, Variable

__all__ = ["PremiseReader"]


class PremiseReader(Reader):
    """Parser for premises over declared variables."""

    def __init__(self, text: str, label: str, entry: int, parsed: Parsed) -> None:
        super().__init__(text, label, entry, parsed.mistakes)
        self.parsed, self.variables = parsed, parsed.variables
        self.level = 0  # of parentheses and NOTs
        self.quantifier: Token | None = None  # around the condition being read
        self.quantified = False  # whether the premise has a quantifier
        self.bare: list[Token] = []  # its conditions without one
        self.asked: Variable | None = None  # of the condition read last

    def whole_premise(self, start: Token) -> Expression:
        self.bare, self.quantified, self.quantifier, self.asked, self.level = [], False, None, None, 0
        premise = self.premise()
        if self.quantified and self.bare:
            self.report(
                self.bare[0],
                f"The condition on {self.bare[0].text!r:.60} has no quantifier, but another one of this rule has: the "
                "premise is about the whole bag. Write SOME, ALL, MOST, ON AVERAGE or AT LEAST 3 before it, or put it "
                "into the parentheses of a quantifier.",
            )
            return premise
        try:
            check_premise(premise)
        except ParameterError as problem:
            self.report(start, str(problem))
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
        while self.skip("and") or self.and_is_missing():
            parts.append(self.part())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def and_is_missing(self) -> bool:
        """Report that a comma or nothing stands between two conditions; return whether it is so."""
        comma = self.token.kind == ","
        following = self.tokens[self.position + comma : self.position + comma + 2]
        kinds = [token.kind for token in following]
        if kinds != ["name", "is"] or following[0].text not in self.variables:
            return False
        if comma:
            self.report(self.token, "Write AND (or OR) between conditions instead of a comma.")
            self.advance()
        else:
            self.report(self.token, f"AND or OR is missing before the condition on {self.token.text!r:.60}.")
        return True

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
            self.take(")", f"AND, OR or ')' to close the '(' at character {self.place_of(start).character}")
        elif self.skip("anything") or (self.quantifier is not None and self.skip("instances")):
            found = ANYTHING
        elif start.kind != "name" and is_quantifier_word(start.kind):
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
        rest = self.kinds(max(len(name.split()) for name in QUANTIFIERS))
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
        share = bool(token.problem) or token.text.lower() in ("half", "most", "many", "all")
        if token.kind != "number" or share:
            hint = " For a share of the bag, write MOST or ON AVERAGE." if share else ""
            found = token.text if token.kind == "end" else f"{token.text!r:.60}"
            self.position += bool(token.problem)  # which has another cure elsewhere
            self.fail(token, f"Expected a count after {words} (for example '{words} 3'), found {found}.{hint}")
        value = self.plain_number("a count")
        if value < 1 or not value.is_integer():
            self.fail(token, f"The count of {words} must be a whole number of at least 1, got {token.text:.40}.")
        return int(value)

    def condition(self) -> Is:
        hedges = self.misplaced_hedges()
        name = self.take("name", "a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...)")
        if self.comes("name", "is") and name.text.lower() not in cures.QUANTIFIERS_ELSEWHERE:
            name = self.joined(name)
        variable = self.variables.get(name.text)
        if variable is None and name.text not in self.parsed.damaged:
            self.unknown_variable(name)
        self.asked = variable
        if self.quantifier is None:
            self.bare.append(name)
        self.take_is(name, variable)
        while self.token.kind in HEDGES:
            hedges.append(self.advance().kind)
        term = self.term(name.text, variable, hedged=True)
        return Is(name.text, term, tuple(hedges))

    def misplaced_hedges(self) -> list[str]:
        """Parse hedges before a variable, and report them."""
        start, found = self.token, list[str]()
        while self.token.kind in HEDGES:
            found.append(self.advance().kind)
        if found:
            name = quoted(self.token.text) if self.token.kind == "name" else "variable"
            self.report(start, f"A hedge stands before the term: write '{name} is {' '.join(found)} ...'.")
        return found

    def joined(self, name: Token) -> Token:
        """Parse the second word of a name without quotes, and report it."""
        more = self.advance()
        whole = name._replace(text=f"{name.text} {more.text}", end=more.end)
        if whole.text in self.variables or name.text in self.variables:
            self.report(name, f'Put names of several words in double quotes: "{whole.text:.100}".')
        return name if name.text in self.variables else whole

    def unknown_variable(self, name: Token) -> None:
        meant = cures.QUANTIFIERS_ELSEWHERE.get(name.text.lower())
        if meant is not None and self.token.kind in ("name", "(", "number"):
            self.fail(name, f"Unknown variable {name.text!r:.60}. Did you mean the quantifier {meant}?")
        asked, join = (
            self.tokens[self.position - 3],
            self.tokens[self.position - 2],
        )  # 'low OR' in 'depth is low OR high'
        if self.asked is not None and name.text in self.asked.terms and self.token.kind != "is":
            first = quoted(self.asked.name)
            self.fail(
                name,
                f"Repeat the variable in every condition: '{first} is {asked.text:.60} {join.text.upper()} "
                f"{first} is {quoted(name.text)}'.",
            )
        several = " " in name.text and self.text[name.start] != '"'
        self.unknown("variable", name, self.variables, hint=" (Put names of several words in double quotes.)" * several)

    def take_is(self, name: Token, variable: Variable | None) -> None:
        """Parse ``is``, or what people write for it."""
        if self.skip("is"):
            return
        token, following = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        terms = () if variable is None else variable.terms
        if token.kind in ("=", "==") or token.text.lower() in ("in", "are", "was", "equals"):
            if following.kind != "number":  # which is a mistake of its own
                term = quoted(following.text) if following.text in terms else "term"
                self.report(token, f"Write 'is' instead of {token.text!r}: '{quoted(name.text)} is {term}'.")
            self.advance()
        elif token.kind in HEDGES or (token.kind == "name" and token.text in terms):
            more = " ..." if token.kind in HEDGES else ""
            self.report(token, f"'is' is missing: write '{quoted(name.text)} is {token.text:.60}{more}'.")
        else:
            self.expect(f"'is' and a term of {name.text!r:.60}")

    def take_term(self, expected: str) -> Token:
        """Take the name of a term, which may be a word that means a quantifier elsewhere (``size is average``)."""
        word = self.token
        if is_quantifier_word(word.kind) or word.kind == "instances":
            self.position += 1
            return word
        return self.take("name", expected)

    def term(self, name: str, variable: Variable | None, *, hedged: bool = False) -> str:
        """Parse a term of a variable; ``hedged`` says whether hedges could stand before it."""
        if variable is None or name in self.parsed.damaged:
            return self.take_term(f"a term of {name!r:.60}").text
        if self.token.kind == "name" and (self.token.text in variable.terms or self.token.text == MISSING):
            return self.advance().text
        if self.token.kind == "number":
            self.fail(
                self.token,
                f"A condition names a term, not a number: write '{quoted(name)} is {_example(variable)}', or declare a "
                f"term for values around {self.token.text:.40}.",
            )
        if self.kinds(3)[0] == "(" and self.kinds(3)[2:] == [")"]:
            self.report(self.token, "Write the term without parentheses.")
            self.advance()
            found = self.term(name, variable)
            self.advance()
            return found
        terms = f" ({listed(map(quoted, variable.terms))})" if variable.terms else ", but none is declared"
        term = self.take_term(f"a term of {name!r:.60}{terms}")
        if term.text in variable.terms:
            return term.text
        following = self.token
        if hedged and (following.kind in HEDGES or (following.kind == "name" and following.text in variable.terms)):
            self.report(
                term, f"Unknown hedge {term.text!r:.60}; choose from {listed(HEDGES)}.{did_you_mean(term.text, HEDGES)}"
            )
            while self.token.kind in HEDGES:
                self.advance()
            return self.term(name, variable)
        self.unknown("term", term, variable.terms, f" of {name!r:.60}")
        if following.kind == "name" and self.advice_on_names():
            self.advance()
        return term.text


def _example(variable: Variable) -> str:
    return quoted(next(iter(variable.terms), "term"))
