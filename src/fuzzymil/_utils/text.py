"""Text that stays on its line and that a terminal does not obey."""

from __future__ import annotations

import re

# Controls, line and paragraph separators, and marks that change the direction of writing.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, keep: str = "") -> str:
    r"""Return a text with control characters written as their codes.

    Parameters
    ----------
    text : str
    keep : str
        Characters that stay as they are, such as newlines.

    Examples
    --------
    >>> print(visible("\x1b[31mred\u2028"))
    \u001b[31mred\u2028
    """
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


_MINUS = re.compile(r"(?:(?<![\w-])|(?<=\de))-(?=[\d.]|inf)")


def typeset(text: str) -> str:
    """Replace hyphens before numbers by true minus signs; those in dates and words stay.

    Examples
    --------
    >>> typeset("-0.5").isascii(), typeset("2e-05").isascii(), typeset("2026-03-01, agent-7").isascii()
    (False, False, True)
    """
    return _MINUS.sub("\N{MINUS SIGN}", text)
