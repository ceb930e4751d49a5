"""Splits rule text into words, numbers and signs, each with its place; unreadable ones carry the reason and a cure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, NoReturn

from fuzzymil._utils.errors import RuleSyntaxError, did_you_mean, listed
from fuzzymil._utils.text import half_character
from fuzzymil.rules.language import suggestions
from fuzzymil.rules.language.printer import keywords, quoted

UNREADABLE = "unreadable"
HALF = "{} is half of a character, which no file can hold: remove it."

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
    |(?P<comment>(?://|--)[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
    |(?P<number>(?>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?!\w))
    |(?P<name>[^\W\d]\w*(?:\.\w+)*)
    |(?P<quoted>"(?:[^"\\\n]++|\\.)*+")
    |(?P<unit>\[(?:[^\]\\\n]++|\\.)*+\])
    |(?P<foreign>&&?|\|\|?|->|=>|[!<>:]=|[!<>]|[\u2192\u21d2\u2227\u2228\u00ac\u2260\u2264\u2265]|[\u2212\u2013\u2014]
        |[\u00d7\u00b7\u22c5])
    |(?P<sign>[-+]=|==|[-+*=(),:;])
    |(?P<shortened>\.\.\.\s*(?:\([^()\n]*\))?)
    |(?P<percent>%[^\n]*)
    |(?P<wrong_quotes>'[^'\n]*'|`[^`\n]*`|[\u2018-\u201b][^\u2018-\u201b\n]*[\u2018-\u201b]
        |[\u201c-\u201f][^\u201c-\u201f\n]*[\u201c-\u201f]|[\u00ab\u00bb\u2039\u203a][^\u00ab\u00bb\u2039\u203a\n]*[\u00ab\u00bb\u2039\u203a])
    |(?P<run_on>\.?[0-9][\w.]*)
    |(?P<open>["\[][^\n]*)
    |(?P<other>.)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_BEFORE, _AFTER = 60, 40  # characters of a long line shown around a mistake


class Token(NamedTuple):
    """A token; ``kind`` is a sign, a keyword in lower case, or one of name, number, unit, end, unreadable.

    A ``problem`` says what is wrong with the token and how to write it. It is reported when the parser comes to the
    token, so that a text that is not in this language has one mistake rather than one per character.
    """

    kind: str
    text: str
    start: int
    end: int
    problem: str = ""


class Place(NamedTuple):
    """A position in a text, for error messages."""

    text: str
    label: str  # which of several texts, for example "rule 3, "
    start: int
    entry: int = 0  # the number of the text

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def character(self) -> int:
        """The character in its line, counted from 1."""
        return self.start - self.text.rfind("\n", 0, self.start)

    def error(self, message: str) -> RuleSyntaxError:
        """Return an error that shows the line with a caret under the character."""
        return RuleSyntaxError(self.shown(message), ((self.line, self.character, message),))

    def shown(self, message: str) -> str:
        """Return the message with the place, and the line with a caret under the character."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = len(self.text) if last < 0 else last
        left, right = max(self.start - _BEFORE, first), min(self.start + _AFTER, last)
        text = "".join(character if character.isprintable() else " " for character in self.text[left:right])
        before, after = text[: self.start - left], text[self.start - left :]
        before, after = "..." * (left > first) + before, after + "..." * (right < last)
        where = f"{self.label}line {self.line}, character {self.character}"
        where = where[0].upper() + where[1:]
        return f"{where}: {message}\n  {before}{after}\n  {' ' * _columns(before)}^"


def _columns(text: str) -> int:
    """Return the width of a text on the screen, in columns."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def tokens(text: str, report: Callable[[int, str], None]) -> list[Token]:
    """Split a text into tokens; the last one marks the end.

    ``report``: called with the position and the cure of each comment in the style of another language.
    """
    found, known, position = list[Token](), keywords(), 0
    while match := _TOKEN.match(text, position):
        kind, content, (start, position) = str(match.lastgroup), match.group(), match.span()
        if kind == "space":
            continue
        if kind == "percent":
            number = found[-1] if found and found[-1].kind == "number" else None
            if number is not None and suggestions.is_percent(text, number.end, start):
                found[-1] = number._replace(problem=suggestions.percent(number.text))
                position = start + 1
                continue
            kind = "comment"
        if kind == "comment":
            report(start, suggestions.comment(content))
            continue
        found.append(_token(kind, content, start, position, known))
    end = found[-1].end if found else 0
    return [*found, Token("end", "the end of the text", end, end)]


def _token(kind: str, content: str, start: int, end: int, known: frozenset[str]) -> Token:
    if kind == "name" and content.lower() in known:
        kind = content.lower()
    elif kind == "sign":
        kind = content
    elif kind in ("quoted", "unit"):
        text = _ESCAPE.sub(_character, content[1:-1])
        half = half_character(text)
        if half is not None:
            return Token(UNREADABLE, content, start, end, HALF.format(ascii(text[half])))
        kind, content = "name" if kind == "quoted" else kind, text
    elif kind == "foreign":
        meant, problem = suggestions.foreign(content)
        return Token(meant or UNREADABLE, content, start, end, problem)
    elif kind == "wrong_quotes":
        return Token("name", content[1:-1], start, end, suggestions.WRONG_QUOTES)
    elif kind not in ("number", "name"):
        return Token(UNREADABLE, content, start, end, suggestions.unreadable(kind, content))
    return Token(kind, content, start, end)


def comments(text: str) -> list[Token]:
    """Return the comments of a text, without the sign that starts them."""
    if "#" not in text:
        return []
    found = (match for match in _TOKEN.finditer(text) if match.group().startswith("#"))
    return [Token("comment", match.group().lstrip("#").strip(), *match.span()) for match in found]


def _character(escape: re.Match[str]) -> str:
    """Return the character that `printer.escaped` has escaped."""
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else {"n": "\n", "r": "\r"}.get(letter, letter)


# ---------------------------------------------------------------------- mistakes

_MOST_SHOWN = 20  # different mistakes in a message: whoever has mended these parses again
_MOST_PLACES = 200  # for programs that mark them in an editor


class Abandoned(Exception):
    """What is being parsed cannot be understood any further; the next statement may be."""


class Mistakes:
    """Collects the mistakes of a text; the same one in several places is one mistake."""

    def __init__(self) -> None:
        self.found: dict[str, list[Place]] = {}

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def n_places(self) -> int:
        """The number of mistakes, the same one in several places counted several times."""
        return sum(map(len, self.found.values()))

    def add(self, place: Place, message: str) -> None:
        """Record a mistake; raise the error if there are so many that reading on is of no use."""
        places = self.found.setdefault(message, [])
        if place not in places:
            places.append(place)
        if self.n_places >= _MOST_PLACES:
            raise self.error()

    def check(self) -> None:
        """Raise the error if there is a mistake."""
        if self.found:
            raise self.error()

    def error(self) -> RuleSyntaxError:
        """Return the error that shows the mistakes in the order of the text, and lists all of them for programs."""

        def order(place: Place) -> tuple[int, int]:
            return place.entry, place.start

        found = [(message, sorted(places, key=order)) for message, places in self.found.items()]
        found.sort(key=lambda item: order(item[1][0]))
        facts = [(place.line, place.character, message) for message, places in found for place in places]
        shown = []
        for message, (place, *others) in found[:_MOST_SHOWN]:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            also = "; ".join(f"{other.label}line {other.line}, character {other.character}" for other in others[:3])
            shown.append(place.shown(f"{message} (Also at {also}{more}.)" if others else message))
        if len(found) == 1:
            return RuleSyntaxError(shown[0], facts)
        first = "The first " if len(shown) < len(found) else ""
        return RuleSyntaxError("\n".join([f"{first}{len(shown)} mistakes:", *shown]), facts)


# ---------------------------------------------------------------------- reading tokens one after another

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

    @property
    def found(self) -> str:
        """The next token as messages quote it."""
        return self.token.text if self.token.kind == "end" else f"{self.token.text!r:.60}"

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
        word, (kind, *following) = self.token.text.lower(), [*self.kinds(4), *[""] * 3]
        if kind == "if" or (kind in ("name", "number") and following[:2] == [":", "if"]):
            return True
        declares = (word in _DECLARING and following[0] == "name") or (word == "default" and following[0] == ":")
        return kind == "name" and (declares or following[:3] == ["number", ":", "if"])

    def at_next_statement(self) -> bool:
        """Return whether a statement begins here on a new line."""
        new_line = self.position > 0 and "\n" in self.text[self.before.end : self.token.start]
        return new_line and self.begins_statement()

    # ------------------------------------------------------------------ mistakes

    def place_of(self, token: Token) -> Place:
        return Place(self.text, self.label, token.start, self.entry)

    def report_at(self, start: int, message: str) -> None:
        self.mistakes.add(Place(self.text, self.label, start, self.entry), message)

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
        self.fail(token, f"Expected {what}, found {self.found}.{advice or self.advice_on_names()}")

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
        names = first.kind == second.kind == "name" and first.text.lower() not in ("from", "to")
        one_line = "\n" not in self.text[first.start : second.start]
        return " (Put names of several words in double quotes.)" if names and one_line else ""

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

    def each(self, what: str) -> Iterator[None]:
        """Iterate over ``name = ...``, as many as follow each other."""
        yield
        while self.another(what):
            yield

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
        cure = suggestions.decimal_comma(self.text, self.token.start)
        if cure:
            self.report(self.before, cure.strip())
            self.position += 2
        return bool(cure)
