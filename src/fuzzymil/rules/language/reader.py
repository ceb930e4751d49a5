"""Reads tokens one after another: the part of the parser that statements and premises share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NoReturn

from fuzzymil._utils.errors import did_you_mean, listed
from fuzzymil.rules.language.lexer import Place, Token, tokens
from fuzzymil.rules.language.printer import keywords, quoted

__all__ = ["Reader"]


class Reader:
    """Recursive-descent parser for one text; each method of a subclass parses what it is named after."""

    def __init__(self, text: str, label: str) -> None:
        self.text, self.label = text, label
        self.tokens = tokens(text, label)
        self.position = 0

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
        if token.kind in keywords() and ("name" in what or "term" in what):
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

    # ------------------------------------------------------------------ numbers

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
