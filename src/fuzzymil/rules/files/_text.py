"""Text in other programs' formats: pieces with their positions, so that errors point at them, and names that fit."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, described, did_you_mean, listed, warn_user
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules.language.lexer import Place
from fuzzymil.rules.language.parser import MAX_TEXT

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
T = TypeVar("T")
_WORD, _LINE = re.compile(r"\S+"), re.compile(r"[^\n]+")


class Piece(NamedTuple):
    """Part of a text."""

    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters."""
        return self.source[self.start : self.end]

    def __str__(self) -> str:
        return self.text

    def part(self, start: int, end: int) -> Piece:
        """Return the part from ``start`` to ``end``, counted within this piece, without surrounding space."""
        inner = self.text[start:end]
        first = self.start + start + len(inner) - len(inner.lstrip())
        return Piece(self.source, first, first + len(inner.strip()))

    def split(self, sign: str) -> tuple[Piece, Piece | None]:
        """Return the parts before and after the first ``sign``; without a sign, the second part is None."""
        place = self.text.find(sign)
        if place < 0:
            return self, None
        return self.part(0, place), self.part(place + len(sign), len(self.text))

    def words(self, pattern: re.Pattern[str] = _WORD) -> list[Piece]:
        """Return the words, or the matches of another pattern."""
        return [
            Piece(self.source, self.start + match.start(), self.start + match.end())
            for match in pattern.finditer(self.text)
        ]

    def error(self, message: str) -> RuleSyntaxError:
        """Return an error that points here."""
        return Place(self.source, "", self.start).error(message)

    def unknown(self, what: str, known: Iterable[str], where: str = "") -> RuleSyntaxError:
        """Return an error about an unknown name."""
        known = list(known)
        choices = f"choose from {listed(known)}" if known else "none is declared"
        return self.error(f"Unknown {what} {self.text!r:.60}{where}; {choices}.{did_you_mean(self.text, known)}")

    def number(self, what: str, *, finite: bool = True) -> float:
        """Return the number written here; inf and nan are allowed only if ``finite`` is false."""
        text = self.text.lower()
        if not finite and re.fullmatch(r"[+-]?(inf|nan)", text):
            return float(text)
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            raise self.error(f"Expected {what}, found {self.text!r:.60}.")
        return value


def whole(text: object) -> Piece:
    """Return a whole text as one piece, if it is not too long."""
    if not isinstance(text, str):
        raise RuleSyntaxError(f"Expected rules as text, got {described(text)}.")
    if len(text) > MAX_TEXT:
        raise RuleSyntaxError(f"The text has {len(text):,} characters; the limit is {MAX_TEXT:,}.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Piece(text, 0, len(text))


def lines(text: Piece) -> Iterator[Piece]:
    """Iterate over the lines that are not empty."""
    for line in text.words(_LINE):
        piece = text.part(line.start - text.start, line.end - text.start)
        if piece.start < piece.end:
            yield piece


def interval(where: Piece, ends: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the range that two numbers describe; infinite ends are None."""
    low, high = ends
    if low > high:
        raise where.error("The range must have low <= high.")
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)


def unused(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken: itself, or with a number."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    return found


def by_name(variable: str, terms: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return the terms of a variable; of several with the same name, rules mean the last, and a warning says so."""
    found: dict[str, T] = {}
    repeated: dict[str, None] = {}
    for name, value in terms:
        if name in found:
            repeated[name] = None
            found[unused(name, found)] = found[name]
        found[name] = value
    if repeated:
        warn_user(
            f"Several terms of {variable!r:.60} have the same name, {listed(f'{name!r:.60}' for name in repeated)}: "
            "rules mean the last of them, and the others are numbered. Give each its own name in the file."
        )
    return found


def coefficients(kind: Piece, values: Sequence[float], expected: Mapping[str, int]) -> tuple[float, ...]:
    """Return the coefficients of a conclusion, constant first; ``expected`` holds their number for each known kind."""
    if kind.text not in expected:
        raise kind.unknown("kind of conclusion", expected)
    if len(values) != expected[kind.text]:
        raise kind.error(f"{kind} takes {expected[kind.text]} number(s) here (one per input, then a constant).")
    return (values[-1], *values[:-1])


def fuzzy_set(where: Piece, make: Callable[..., MembershipFunction], values: Iterable[float]) -> MembershipFunction:
    """Create a fuzzy set from numbers in a text; invalid parameters raise an error that points there."""
    try:
        return make(*values)
    except ParameterError as problem:
        raise where.error(str(problem)) from None


# ---------------------------------------------------------------------- words and names that a format can write


def word_for(what: str, ours: str, words: Mapping[str, str], format: str) -> str:
    """Return the word of ``format`` for ``ours``; ``words`` maps its words to our names, of what ``what`` says."""
    for word, meaning in words.items():
        if meaning == ours:
            return word
    raise ParameterError(
        f"{format} has no word for the {what} {ours!r}. Use one of {listed(dict.fromkeys(words.values()))}, "
        "or save the rules as .json or .rules, which support all of them."
    )


_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}
)
"""Letters that Unicode does not take apart."""


def distinct(names: Iterable[str], writable: Callable[[str], str]) -> dict[str, str]:
    """Return how each name is written: unchanged if possible, otherwise changed, and numbered where needed."""
    words = {name: writable(name) for name in names}
    taken = {name for name, word in words.items() if name == word}
    counts: dict[str, int] = {}
    for name, base in words.items():
        word = base
        while word in taken and word != name:
            counts[base] = counts.get(base, 1) + 1
            word = f"{base}{counts[base]}"
        taken.add(word)
        words[name] = word
    return words


def plain_word(name: str) -> str:
    """Return a name as a word of ASCII letters, digits and underscores; accents are dropped."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    apart = unicodedata.normalize("NFKD", name.translate(_LETTERS))
    kept = "".join(character for character in apart if not unicodedata.combining(character))
    spelled = "".join(f"u{ord(c):04X}" if not c.isascii() and c.isalnum() else c for c in kept)
    word = re.sub(r"[^A-Za-z0-9_]+", "_", spelled).strip("_")
    return f"_{word}" if not word or word[0].isdigit() else word
