"""Splits rule text into words, numbers and signs, each with its place; unreadable ones carry the reason and a cure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil._utils.text import half_character
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.printer import keywords

__all__ = ["HALF", "UNREADABLE", "Place", "Token", "comments", "tokens"]

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
        """Return an error that shows the line with a caret under the character.

        Examples
        --------
        >>> print(Place("IF x is lwo THEN y = 1", "", 8).error("Unknown term."))
        Line 1, character 9: Unknown term.
          IF x is lwo THEN y = 1
                  ^
        """
        return RuleSyntaxError(self.shown(message), ((self.line, self.character, message),))

    def shown(self, message: str) -> str:
        """Return the message with the place, and the line with a caret under the character."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = len(self.text) if last < 0 else last
        left, right = max(self.start - _BEFORE, first), min(self.start + _AFTER, last)
        before, after = _printable(self.text[left : self.start]), _printable(self.text[self.start : right])
        before, after = "..." * (left > first) + before, after + "..." * (right < last)
        where = f"{self.label}line {self.line}, character {self.character}"
        where = where[0].upper() + where[1:]
        return f"{where}: {message}\n  {before}{after}\n  {' ' * _columns(before)}^"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _columns(text: str) -> int:
    """Return the width of a text on the screen, in columns."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def tokens(text: str, report: Callable[[int, str], None]) -> list[Token]:
    """Split a text into tokens; the last one marks the end.

    Parameters
    ----------
    text : str
    report : callable
        Called with the position and the cure of each comment in the style of another language.

    Examples
    --------
    >>> [token.text for token in tokens('IF "hue (mean)" is low  // blue', lambda start, cure: print(start, cure))]
    24 Comments begin with '#', not with '//'.
    ['IF', 'hue (mean)', 'is', 'low', 'the end of the text']
    """
    found, known, position = list[Token](), keywords(), 0
    while match := _TOKEN.match(text, position):
        kind, content, (start, position) = str(match.lastgroup), match.group(), match.span()
        if kind == "space":
            continue
        if kind == "percent":
            number = found[-1] if found and found[-1].kind == "number" else None
            if number is not None and cures.is_percent(text, number.end, start):
                found[-1] = number._replace(problem=cures.percent(number.text))
                position = start + 1
                continue
            kind = "comment"
        if kind == "comment":
            report(start, cures.comment(content))
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
        text = _unescaped(content)
        half = half_character(text)
        if half is not None:
            return Token(UNREADABLE, content, start, end, HALF.format(ascii(text[half])))
        kind, content = "name" if kind == "quoted" else kind, text
    elif kind == "foreign":
        meant, problem = cures.foreign(content)
        return Token(meant or UNREADABLE, content, start, end, problem)
    elif kind == "wrong_quotes":
        return Token("name", content[1:-1], start, end, cures.WRONG_QUOTES)
    elif kind not in ("number", "name"):
        return Token(UNREADABLE, content, start, end, cures.unreadable(kind, content))
    return Token(kind, content, start, end)


def comments(text: str) -> list[Token]:
    """Return the comments of a text, without the sign that starts them.

    Examples
    --------
    >>> [(comment.text, comment.start) for comment in comments('IF "#1" is low  # why')]
    [('why', 16)]
    """
    if "#" not in text:
        return []
    found = (match for match in _TOKEN.finditer(text) if match.group().startswith("#"))
    return [Token("comment", match.group().lstrip("#").strip(), *match.span()) for match in found]


def _unescaped(text: str) -> str:
    """Return the text between quotes or brackets; the inverse of `printer.escaped`."""

    def character(escape: re.Match[str]) -> str:
        code, letter = escape.groups()
        return chr(int(code, 16)) if code else {"n": "\n", "r": "\r"}.get(letter, letter)

    return _ESCAPE.sub(character, text[1:-1])
