"""Text that stays on its line, that a terminal does not obey, and that a file can hold."""

from __future__ import annotations

import re

from fuzzymil._utils.errors import InputError

# Controls, line and paragraph separators, and marks that change the direction of writing.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, keep: str = "") -> str:
    r"""Return a text with control characters written as their codes.

    ``keep``: characters that stay as they are, such as newlines.
    """
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


_MINUS = re.compile(r"(?:(?<![\w-])|(?<=\de))-(?=[\d.]|inf)")


def typeset(text: str) -> str:
    """Replace hyphens before numbers by true minus signs; those in dates and words stay."""
    return _MINUS.sub("\N{MINUS SIGN}", text)


def quantity(n: int, noun: str) -> str:
    """Return a number of things: ``1 rule``, ``2,000 bags``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


_HALF = re.compile("[\ud800-\udfff]")


def half_character(text: str) -> int | None:
    """Return where a text contains half of a surrogate pair, which UTF-8 cannot hold; None if it is whole."""
    found = None if text.isascii() else _HALF.search(text)
    return None if found is None else found.start()


def check_characters(what: str, *texts: object, error: type[Exception] = InputError) -> None:
    r"""Raise if one of these is text with half of a character."""
    for text in texts:
        place = half_character(text) if isinstance(text, str) else None
        if isinstance(text, str) and place is not None:
            shown = ascii(text if len(text) <= 60 else f"{text[max(place - 20, 0) : place + 20]}...")
            raise error(f"{what} has half of a character, {text[place]!a}: no file can hold {shown}.")


def whole_characters(text: str) -> str:
    """Return a text with a question mark for each half of a character, as names of files may have."""
    return text.encode("utf-8", "replace").decode("utf-8")
