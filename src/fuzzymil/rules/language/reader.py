"""Reads tokens one after another: the part of the parser that statements and premises share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NoReturn

from fuzzymil._utils.errors import did_you_mean, listed
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.lexer import UNREADABLE, Place, Token, tokens
from fuzzymil.rules.language.mistakes import Abandoned, Mistakes
from fuzzymil.rules.language.printer import keywords, quoted

__all__ = ["Reader"]

_DECLARING = ("variable", "output", "using")


class Reader:
    """Recursive-descent parser for one text; each method of a subclass parses what it is named after.

    A mistake that leaves no doubt about what was meant is reported, and reading goes on as if it had been mended.
    After another one, reading goes on at the next statement.
    """

    def __init__(self, text: str, label: str, entry: int, mistakes: Mistakes) -> None:
        self.text, self.label, self.entry, self.mistakes = text, label, entry, mistakes
        self.tokens = tokens(text, self.report_at)
        self.position = 0

    # ------------------------------------------------------------------ tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def before(self) -> Token:
        """The token that was read last."""
        return self.tokens[self.position - 1]

    def kinds(self, count: int) -> list[str]:
        """Return the kinds of the next tokens."""
        return [token.kind for token in self.tokens[self.position : self.position + count]]

    def comes(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds come next."""
        return self.kinds(len(kinds)) == [*kinds]

    def advance(self) -> Token:
        token = self.token
        if token.problem:
            self.report(token, token.problem)
        self.position += 1
        return token

    def take(self, kind: str, expected: str) -> Token:
        if self.token.kind != kind or self.at_next_statement():
            self.expect(expected)
        return self.advance()

    def skip(self, *kinds: str) -> bool:
        """Skip a token if it is of one of these kinds."""
        if self.token.kind in kinds:
            self.advance()
            return True
        return False

    def skip_word(self, *words: str) -> bool:
        """Skip a name that is a keyword only in this position."""
        return self.token.kind == "name" and self.token.text.lower() in words and self.skip("name")

    def begins_statement(self) -> bool:
        """Return whether a statement begins here, as far as one can tell without knowing what comes before."""
        token, (_, *following) = self.token, [*self.kinds(4), *[""] * 3]
        if token.kind == "if" or (token.kind in ("name", "number") and following[:2] == [":", "if"]):
            return True
        if token.kind != "name":
            return False
        word = token.text.lower()
        return (
            (word in _DECLARING and following[0] == "name")
            or (word == "default" and following[0] == ":")
            or following[:3] == ["number", ":", "if"]
        )

    def at_next_statement(self) -> bool:
        """Return whether a statement begins here on a new line."""
        new_line = self.position > 0 and "\n" in self.text[self.before.end : self.token.start]
        return new_line and self.begins_statement()

    # ------------------------------------------------------------------ mistakes

    def place_of(self, token: Token) -> Place:
        return self.place_at(token.start)

    def place_at(self, start: int) -> Place:
        return Place(self.text, self.label, start, self.entry)

    def report_at(self, start: int, message: str) -> None:
        self.mistakes.add(self.place_at(start), message)

    def report(self, token: Token, message: str) -> None:
        self.report_at(token.start, message)

    def fail(self, token: Token, message: str) -> NoReturn:
        """Report a mistake after which the rest of the statement cannot be understood."""
        self.report(token, token.problem if token.kind == UNREADABLE else message)
        raise Abandoned

    def expect(self, what: str, advice: str = "") -> NoReturn:
        """Fail because something else comes than was expected."""
        token = self.token
        if self.at_next_statement():
            self.report_at(self.before.end, f"Expected {what}, found the next statement.{advice}")
            raise Abandoned
        if token.kind in keywords() - {"if", "then", "and", "or"} and ("name" in what or "term" in what):
            advice += f" ({token.text!r} is a keyword: put it in double quotes to use it as a name.)"
        found = token.text if token.kind == "end" else f"{token.text!r:.60}"
        self.fail(token, f"Expected {what}, found {found}.{advice or self.advice_on_names()}")

    def unknown(
        self, what: str, token: Token, known: Mapping[str, object], where: str = "", hint: str | None = None
    ) -> None:
        """Report an unknown name; by default, with a hint about quotes where it may be part of a name."""
        choices = f"choose from {listed(map(quoted, known))}" if known else "none is declared"
        hint = did_you_mean(token.text, known) + (self.advice_on_names() if hint is None else hint)
        self.report(token, f"Unknown {what} {token.text!r:.60}{where}; {choices}.{hint}")

    def advice_on_names(self) -> str:
        """Return a hint about quotes if two names follow each other here."""
        first, second = self.before, self.token
        together = first.kind == second.kind == "name" and first.text.lower() not in ("from", "to")
        together = together and "\n" not in self.text[first.start : second.start]
        return " (Put names of several words in double quotes.)" if together else ""

    def another(self, what: str) -> bool:
        """Parse the comma before another ``name = ...``; report one that is missing."""
        self.skip_decimal_comma()
        if self.comes("name", "=") and not self.begins_statement():
            self.report(self.token, f"Separate {what} by commas: one is missing before {self.token.text!r:.60}.")
            return True
        if self.kinds(4)[:3] == [";", "name", "="]:
            self.report(self.token, f"Separate {what} by commas, not by semicolons.")
            return self.skip(";")
        return self.skip(",")

    # ------------------------------------------------------------------ numbers

    def numbers(self, what: str, *, infinite: bool = False) -> tuple[float, ...]:
        """Parse numbers and the closing parenthesis."""
        values = [self.number(what, infinite=infinite)]
        while not self.skip(")"):
            if self.token.kind in ("number", "-"):
                self.report(self.token, "Separate numbers by commas: a comma is missing before this one.")
            else:
                self.take(",", "',' or ')'")
            values.append(self.number(what, infinite=infinite))
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
            self.report(token, f"The number {token.text:.40} is too large: the largest is 1.8e308.")
            return 0.0
        return value

    def skip_decimal_comma(self) -> bool:
        """Skip what follows the comma in ``0,5``; return whether there was one."""
        if not self.comes(",", "number"):
            return False
        cure = cures.decimal_comma(self.text, self.token.start)
        if cure:
            self.report(self.before, cure.strip())
            self.position += 2
        return bool(cure)
