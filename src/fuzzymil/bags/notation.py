"""Numbers as people write them: with decimal commas, thousands separators, percent and currency signs."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError

__all__ = ["USUAL", "Notation"]

_DECIMALS = (".", ",")
_THOUSANDS = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_SIGNS = "%$€£¥₹"
_SIGN = re.compile(rf"^([+-]?)\s*[{_SIGNS[1:]}]\s*|\s*[{_SIGNS}]$")


@dataclass(frozen=True)
class Notation:
    """How numbers are written.

    Attributes
    ----------
    decimal : "." or ","
        What stands before the decimals.
    thousands : ",", ".", " ", "'" or None
        What separates groups of three digits; a number may also be written without.
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in _DECIMALS:
            raise ParameterError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.thousands is not None and self.thousands not in _THOUSANDS:
            raise ParameterError(
                f"thousands must be ',', '.', ' ' or \"'\", or None if there is no separator, got {self.thousands!r}."
            )
        if self.decimal == self.thousands:
            raise ParameterError(
                f"decimal and thousands are both {self.decimal!r}: if decimals are written with it, pass only decimal; "
                f"otherwise pass decimal={'.' if self.decimal == ',' else ','!r}, too."
            )

    def number(self, text: str) -> float | None:
        """Return the number that a text is, without its sign; None if it is none.

        Examples
        --------
        >>> Notation(",", ".").number("7.698,09"), Notation().number("45%"), Notation().number("7,5")
        (7698.09, 45.0, None)
        """
        bare = _SIGN.sub(r"\1", text.strip())
        found = _pattern(self).fullmatch(bare)
        if found is None:
            return None
        whole = re.sub(r"\D", "", found["whole"] or "0")
        return float(f"{found['minus']}{whole}.{found['part'] or 0}{found['power'] or ''}")

    def numbers(self, texts: Collection[str]) -> Array | None:
        """Return the numbers that texts are; None if one is none, or if they have different signs.

        In the usual notation, it is also None without a sign: digits that are text may be codes.
        """
        signs = {_sign(text) for text in texts}
        if len(signs) != 1 or (self == USUAL and signs == {""}):
            return None
        found = [self.number(text) for text in texts]
        return None if None in found else np.array(found, float)

    def is_foreign(self, text: str) -> bool:
        """Return whether a text is a number with a sign or in another notation than this.

        Examples
        --------
        >>> [Notation().is_foreign(text) for text in ("7,698.09", "45%", "1.5", "1,2,3", "a")]
        [True, True, False, False, False]
        """
        if self.number(text) is not None:
            return bool(_sign(text))
        return any(other.number(text) is not None for other in _ALL)

    def advice(self, text: str, texts: Collection[str]) -> str:
        """Return how to read a text as a number, one of several in a column; empty if it does not look like one.

        Examples
        --------
        >>> Notation().advice("14,766", ["14,766"])
        "'14,766' is 14.766 with decimal=',', and 14766 with thousands=','"
        """
        ways: dict[float, str] = {}
        for other in _ALL:
            value = other.number(text)
            if value is not None and other != self and all(other.number(each) is not None for each in texts):
                ways.setdefault(value, f"{value:.15g} with {self._changed(other)}")
        if self.number(text) is not None:
            sign = _sign(text)
            return f"only some values have the sign {sign!r}: write it in all of them, or in none" if sign else ""
        if ways:
            return f"{text!r} is {', and '.join(ways.values())}"
        return (
            "numbers are written in different ways: use a decimal point in all of them" if self.is_foreign(text) else ""
        )

    def _changed(self, other: Notation) -> str:
        """Return the parameters that would read numbers in another notation."""
        changed = [("decimal", self.decimal, other.decimal), ("thousands", self.thousands, other.thousands)]
        return ", ".join(f"{name}={wanted!r}" for name, mine, wanted in changed if mine != wanted)


USUAL = Notation()
"""A decimal point, and no separator of thousands."""

_ALL = tuple(
    Notation(decimal, thousands) for thousands in (None, *_THOUSANDS) for decimal in _DECIMALS if decimal != thousands
)  # a number without a separator is recognized first


@functools.cache
def _pattern(notation: Notation) -> re.Pattern[str]:
    mark = re.escape(notation.decimal)
    groups = "" if notation.thousands is None else rf"[1-9]\d{{0,2}}(?:{_THOUSANDS[notation.thousands]}\d{{3}})+|"
    return re.compile(
        rf"(?P<minus>[+-]?)(?=\d|{mark}\d)(?P<whole>{groups}\d*)(?:{mark}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?",
        re.ASCII,
    )


def _sign(text: str) -> str:
    found = _SIGN.search(text.strip())
    return "" if found is None else found[0].strip(" \u00a0\u202f+-")
