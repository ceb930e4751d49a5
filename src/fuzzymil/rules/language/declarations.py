"""Parses declarations: variables with unit, range and terms."""

from __future__ import annotations

from typing import Any

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import FAMILIES, Gaussian, MembershipFunction
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.lexer import Token
from fuzzymil.rules.language.mistakes import Abandoned
from fuzzymil.rules.language.premises import PremiseReader
from fuzzymil.rules.language.printer import quoted
from fuzzymil.rules.rule import Variable

__all__ = ["DeclarationReader"]

_PARTS = ("from", "to", "missing")
_COMMON = ("gaussian", "triangular", "trapezoidal", "sigmoid", "bell")
_NO_SET = Gaussian(0.0, 1.0)  # stands for a set with a mistake, so that its term is known


def _commonness(family: type[MembershipFunction]) -> int:
    """Return a number by which the families that people use most come first in messages."""
    return _COMMON.index(family.name) if family.name in _COMMON else len(_COMMON)


class DeclarationReader(PremiseReader):
    """Parser for ``depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1)``."""

    def declaration(self, into: dict[str, Variable]) -> None:
        name = self.name_of_variable()
        try:
            self.declared(name, into)
        except Abandoned:
            self.parsed.damaged.add(name.text)
            into.setdefault(name.text, Variable(name.text))
            raise

    def name_of_variable(self) -> Token:
        """Parse a name; several words without quotes are reported and joined."""
        name, joined = self.take("name", "the name of a variable"), False
        while self.token.kind == "name" and self.kinds(2)[1:] != ["="] and self.token.text.lower() not in _PARTS:
            if self.begins_statement() or "\n" in self.text[name.end : self.token.start]:
                break
            more = self.advance()
            name, joined = name._replace(text=f"{name.text} {more.text}", end=more.end), True
        if joined:
            self.report(name, f'Put names of several words in double quotes: "{name.text:.60}".')
        return name

    def declared(self, name: Token, into: dict[str, Variable]) -> None:
        """Parse the rest of a declaration, ``[m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1)``."""
        if name.text in into:
            self.report(name, f"The variable {name.text!r:.60} is declared twice: remove or rename one of them.")
        unit = ""
        if self.token.kind == "unit":
            if cures.is_range(self.text, self.token.start):
                self.report(self.token, "Square brackets hold a unit. Write a range as 'FROM 0 TO 2'.")
            unit = self.advance().text
        low = self.number("the lowest value") if self.skip_word("from") else None
        self.skip_decimal_comma()
        high = self.number("the highest value") if self.skip_word("to") else None
        self.skip_decimal_comma()
        if low is not None and high is not None and low > high:
            self.report(
                name, f"The range of {name.text!r:.60} goes from {low:g} to {high:g}: write the lower value first."
            )
            low = high = None
        gaps = self.gaps() if self.skip_word("missing") else []
        terms: dict[str, MembershipFunction] = {}
        categories: list[str] = []
        more = self.skip(":")
        if more and self.comes("name", "name") and self.skip_word("one") and self.skip_word("of"):
            more = self.categories(name, categories)
        if self.comes("name", "=") and not more:
            self.report(
                self.token, f"A colon is missing: write 'VARIABLE {quoted(name.text)}: {self.token.text} = ...'."
            )
            more = True
        while more:
            which = "another term after the comma" if terms else "a term"
            term = self.take_term(f"the name of {which}, for example 'low = Gaussian(0, 1)'")
            if term.text in terms:
                self.report(
                    term,
                    f"The term {term.text!r:.60} of {name.text!r:.60} is defined twice: remove or rename one of them.",
                )
            if self.token.kind == ":" or self.comes("name", "("):
                self.report(self.token, f"Expected '=' and a fuzzy set, found {self.token.text!r:.60}.")
                self.skip(":")
            else:
                self.take("=", "'=' and a fuzzy set, for example 'low = Gaussian(0, 1)'")
            terms[term.text] = self.fuzzy_set()
            more = self.another("terms")
        stand_ins = [self.gap(name, each, categories) if isinstance(each, Token) else each for each in gaps]
        try:
            into[name.text] = Variable(
                name.text, terms, low, high, unit, categories=tuple(categories), gaps=tuple(stand_ins)
            )
            if into is self.parsed.variables:  # terms of outputs may be numbers instead
                into[name.text].check_sets()
        except ParameterError as problem:
            self.fail(name, str(problem))

    def categories(self, variable: Token, into: list[str]) -> bool:
        """Parse ``email, phone, "live chat"``; return whether terms with sets follow."""
        more = True
        while more and self.kinds(2)[1:] != ["="]:
            category = self.take_term("the name of a category")
            if category.text in into:
                self.report(category, f"The category {category.text!r:.60} of {variable.text!r:.60} is named twice.")
            else:
                into.append(category.text)
            more = self.another("categories")
        return more

    def gaps(self) -> list[float | Token]:
        """Parse ``AS 0.2, 0.4``, the values that a missing one stands for; categories by name."""
        if not self.skip_word("as"):
            self.expect("AS and the values that a missing one stands for, for example 'MISSING AS 0.5'")
        found: list[float | Token] = []
        more = True
        while more:
            found.append(self.advance() if self.token.kind == "name" else self.number("a value"))
            more = self.skip(",")
        return found

    def gap(self, variable: Token, value: Token, categories: list[str]) -> float:
        """Return the code of a category."""
        if value.text in categories:
            return float(categories.index(value.text))
        self.report(value, f"{value.text!r:.60} is no category of {variable.text!r:.60}.")
        return 0.0

    def fuzzy_set(self) -> MembershipFunction:
        """Parse a fuzzy set; any one after a mistake."""
        families = {family.__name__: family for family in sorted(FAMILIES.values(), key=_commonness)}
        kind = self.take("name", f"a fuzzy set ({listed(families)})")
        if kind.text not in families:
            elsewhere = cures.FAMILIES_ELSEWHERE.get(kind.text.lower())
            if elsewhere is None:
                self.unknown("membership family", kind, families)
            else:
                self.report(kind, f"Unknown membership family {kind.text!r:.60}. {elsewhere}")
            self.skip_group()
            return _NO_SET
        family = families[kind.text]
        if self.token.kind == "unit":
            self.report(self.token, f"Use parentheses around the parameters of {kind.text}: '(' and ')'.")
            self.advance()
            return _NO_SET
        self.take("(", f"'(' and the parameters of {kind.text} ({listed(family.fields())})")
        if self.comes("name", "="):
            self.report(
                self.token,
                f"Write the parameters of {kind.text} without names, in this order: {listed(family.fields())}.",
            )
            self.position -= 1
            self.skip_group()
            return _NO_SET
        if family.takes(0) and self.skip(")"):
            return family()
        start = self.token.start
        values: list[Any] = []
        if family.fields()[:1] == ("text",):
            values.append(self.take("name", "a formula in double quotes").text)
        if not values or self.skip(","):
            values += self.numbers(f"a number, a parameter of {kind.text} ({listed(family.fields()) or 'pairs'})")
        else:
            self.take(")", "',' or ')'")
        if not family.takes(len(values)):
            comma = next(filter(None, (cures.decimal_comma(self.text, place) for place in self.commas(start))), "")
            named = f"{len(family.fields())} parameters ({listed(family.fields())})"
            expected = named if family.fields() else "pairs of a value and its degree"
            self.report(kind, f"{kind.text} takes {expected}, got {len(values)}.{comma}")
            return _NO_SET
        try:
            return family(*values)
        except ParameterError as problem:
            self.report(kind, str(problem))
            return _NO_SET

    def commas(self, start: int) -> list[int]:
        """Return the positions of the commas from ``start`` to the token that was read last."""
        return [place for place in range(start, self.before.start) if self.text[place] == ","]

    def skip_group(self) -> None:
        """Skip what stands in parentheses or brackets here."""
        if self.skip("unit") or self.token.kind != "(":
            return
        level = 0
        while self.token.kind != "end" and not self.begins_statement():
            level += {"(": 1, ")": -1}.get(self.token.kind, 0)
            self.position += 1
            if level == 0:
                return
