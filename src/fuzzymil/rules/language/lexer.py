"""Splits rule text into words, numbers and signs, and raises errors that point at one of them."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.rules.language.printer import keywords

__all__ = ["Place", "Token", "tokens"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
    |(?P<number>(?>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?!\w))
    |(?P<name>[^\W\d]\w*(?:\.\w+)*)
    |(?P<quoted>"(?:[^"\\\n]++|\\.)*+")
    |(?P<unit>\[(?:[^\]\\\n]++|\\.)*+\])
    |(?P<sign>[-+]=|[-+*=(),:;])
    |(?P<unreadable>.)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_BEFORE, _AFTER = 60, 40  # characters of a long line shown around the error


class Token(NamedTuple):
    """A token; ``kind`` is a sign, a keyword in lower case, or one of name, number, unit, end."""

    kind: str
    text: str
    start: int


class Place(NamedTuple):
    """A position in a text, for error messages."""

    text: str
    label: str  # which of several texts, for example "rule 3, "
    start: int

    def error(self, message: str) -> RuleSyntaxError:
        """Return an error that shows the line with a caret under the character.

        Examples
        --------
        >>> print(Place("IF x is lwo THEN y = 1", "", 8).error("Unknown term."))
        Line 1, character 9: Unknown term.
          IF x is lwo THEN y = 1
                  ^
        """
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = len(self.text) if last < 0 else last
        left, right = max(self.start - _BEFORE, first), min(self.start + _AFTER, last)
        before, after = _printable(self.text[left : self.start]), _printable(self.text[self.start : right])
        before, after = "..." * (left > first) + before, after + "..." * (right < last)
        where = f"{self.label}line {self.text.count(chr(10), 0, first) + 1}, character {self.start - first + 1}"
        where = where[0].upper() + where[1:]
        return RuleSyntaxError(f"{where}: {message}\n  {before}{after}\n  {' ' * _columns(before)}^")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _columns(text: str) -> int:
    """Return the width of a text on the screen, in columns."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def tokens(text: str, label: str = "") -> list[Token]:
    """Split a text into tokens; the last one marks the end.

    Examples
    --------
    >>> [token.text for token in tokens('IF "hue (mean)" is low')]
    ['IF', 'hue (mean)', 'is', 'low', 'the end of the text']
    """
    found, end, known = list[Token](), 0, keywords()
    for match in _TOKEN.finditer(text):
        kind, content, start = str(match.lastgroup), match.group(), match.start()
        if kind == "name" and content.lower() in known:
            kind = content.lower()
        elif kind == "sign":
            kind = content
        elif kind == "quoted":
            kind, content = "name", _unescaped(content)
        elif kind == "unit":
            content = _unescaped(content)
        elif kind == "unreadable":
            raise Place(text, label, start).error(_why_unreadable(text, start))
        if kind != "space":
            found.append(Token(kind, content, start))
            end = match.end()
    found.append(Token("end", "the end of the text", end))
    return found


def _unescaped(text: str) -> str:
    """Return the text between quotes or brackets; the inverse of `printer.escaped`."""

    def character(escape: re.Match[str]) -> str:
        code, letter = escape.groups()
        return chr(int(code, 16)) if code else {"n": "\n", "r": "\r"}.get(letter, letter)

    return _ESCAPE.sub(character, text[1:-1])


def _why_unreadable(text: str, start: int) -> str:
    character = text[start]
    if text.startswith("...", start):
        return (
            "This text was shortened when it was printed. Use the output of to_source() or "
            "to_text(max_terms=None) instead."
        )
    if re.compile(r"\.?[0-9]").match(text, start):
        return "A number cannot run into a letter: write a product as '2*depth' and ten thousand as '10000' or '1e4'."
    if character == '"':
        return "This quotation mark is never closed."
    if character == "[":
        return "This square bracket is never closed."
    if character in "/^%":
        return (
            f"{character!r} is not supported: a conclusion is a sum of numbers times variables, "
            "for example '0.3 + 2*depth'."
        )
    if unicodedata.category(character) in ("Pi", "Pf") or character in "'`":
        return 'Use plain double quotes ("...") around names.'
    if character in "<>≤≥":
        return f"{character!r} is not supported: compare with terms ('depth is low')."
    return f"Unexpected character {character!r}. (Put names that contain it in double quotes.)"
