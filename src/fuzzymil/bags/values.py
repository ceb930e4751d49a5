"""The columns of a table in three kinds: numbers, dates and text."""

from __future__ import annotations

import datetime
import reprlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import _dates
from fuzzymil.bags.notation import USUAL, Notation

__all__ = ["Dates", "Numbers", "Text", "Values", "values_of"]

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "nat", "<na>"})
_SECONDS, _MILLISECONDS = 1e11, 1e14  # greater numbers are milliseconds, microseconds since 1970


@dataclass(frozen=True)
class Numbers:
    """A column of numbers; NaN where they are missing."""

    numbers: Array
    unit: str = ""

    def as_text(self) -> Text:
        """Return the numbers as text, whole ones without a point."""
        distinct, codes = np.unique(self.numbers, return_inverse=True)
        known = ~np.isnan(distinct)
        texts = [repr(value).removesuffix(".0") for value in distinct[known].tolist()]
        return Text(texts, np.where(np.isnan(self.numbers), -1, codes.reshape(-1)))

    def as_dates(self) -> Array | str:
        """Return dates from seconds (or milliseconds or microseconds) since 1970."""
        greatest = float(np.nanmax(np.abs(self.numbers), initial=0.0))
        if greatest < 1e8 or greatest > 1e17:
            return f"it has numbers up to {greatest:g}, which are not seconds since 1970"
        factor = 1e6 if greatest < _SECONDS else 1e3 if greatest < _MILLISECONDS else 1.0
        missing = np.isnan(self.numbers)
        found = _dates.EPOCH + (np.where(missing, 0, self.numbers) * factor).round().astype("timedelta64[us]")
        return np.asarray(np.where(missing, np.datetime64("NaT", "us"), found))

    def example(self) -> str:
        """Describe the values."""
        return "numbers"

    def kept(self) -> Array:
        """Return the values as an array."""
        return self.numbers


@dataclass(frozen=True)
class Dates:
    """A column of dates, datetime64; NaT where they are missing."""

    moments: Array

    def as_text(self) -> Text:
        """Return the dates as text."""
        distinct, codes = np.unique(self.moments, return_inverse=True)
        known = ~np.isnat(distinct)
        texts = [_dates.date_text(float(days)) for days in _dates.days_of(distinct[known])]
        return Text(texts, np.where(np.isnat(self.moments), -1, codes.reshape(-1)))

    def as_dates(self) -> Array | str:
        """Return the dates."""
        return self.moments

    def example(self) -> str:
        """Describe the values."""
        return "dates"

    def kept(self) -> Array:
        """Return the values as an array."""
        return self.moments


def _absent(distinct: Collection[str]) -> frozenset[str]:
    """Return the words for a missing value: among words, "none" may well be one of them (treatment: none)."""
    others = [value for value in distinct if value.lower() not in _MISSING and value.lower() != "none"]
    numbers = all(_is_number(value) or USUAL.is_foreign(value) for value in others)
    plain = numbers or _dates.mostly_dates(others) or _dates.hours(others) is not None
    return _MISSING | {"none"} if plain else _MISSING


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Text:
    """A column of text: its distinct values, and which of them each row has; -1 where it is missing."""

    distinct: list[str]
    codes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: Sequence[str], codes: npt.NDArray[np.int64] | None = None) -> Text:
        """Return a column from its values, or from different values and which of them each row has.

        Examples
        --------
        >>> Text.of(["b", " a", "", "b"])
        Text(distinct=['b', 'a'], codes=array([ 0,  1, -1,  0]))
        """
        seen: dict[str, int] = {}
        absent = _absent({value.strip() for value in values})
        places = [
            -1 if (plain := value.strip()).lower() in absent else seen.setdefault(plain, len(seen)) for value in values
        ]
        found = np.array(places, np.int64)
        return cls(list(seen), found if codes is None else found[codes])

    def as_text(self) -> Text:
        """Return the text."""
        return self

    def as_dates(self) -> Array | str:
        """Return the dates that the text means, or why it does not."""
        found = _dates.dates(self.distinct)
        return found if isinstance(found, str) else np.append(found, np.datetime64("NaT", "us"))[self.codes]

    def as_hours(self) -> Numbers | None:
        """Return the times of day that the text means; None if it means something else."""
        found = _dates.hours(self.distinct) if self.distinct else None
        return None if found is None else Numbers(np.append(found, np.nan)[self.codes], "hour of day")

    def as_numbers(self) -> Array:
        """Return the distinct values as numbers; NaN for what is no number."""
        found = np.full(len(self.distinct), np.nan)
        for place, value in enumerate(self.distinct):
            try:
                found[place] = float(value) if "_" not in value else np.nan
            except ValueError:
                continue
        return found

    def in_notation(self, notation: Notation) -> Values:
        """Return the numbers that all texts are, or the text itself.

        Examples
        --------
        >>> Text.of(["7,5", "", "8,25"]).in_notation(Notation(","))
        Numbers(numbers=array([7.5 ,  nan, 8.25]), unit='')
        """
        found = notation.numbers(self.distinct)
        return self if found is None else Numbers(np.append(found, np.nan)[self.codes])

    def example(self) -> str:
        """Describe the values."""
        first = next((self.distinct[code] for code in self.codes if code >= 0), "")
        return f"text such as {reprlib.repr(first)}"

    def kept(self) -> Array:
        """Return the values as an array."""
        return np.array([*self.distinct, None], dtype=object)[self.codes]


Values = Numbers | Dates | Text


def values_of(column: Any, name: object) -> Values:
    """Return a column of a data frame, whatever its dtype, as one of the three kinds.

    Examples
    --------
    >>> values_of(["a", None, "a"], "channel")
    Text(distinct=['a'], codes=array([ 0, -1,  0]))
    >>> values_of(np.array(["2026-03-01"], "datetime64[s]"), "day").moments
    array(['2026-03-01T00:00:00.000000'], dtype='datetime64[us]')
    """
    try:
        found = arrays.as_array(column)
    except InputError as problem:
        raise type(problem)(f"Column {name!r}: {problem}") from None
    if found.ndim != 1:
        raise InputError(f"Column {name!r} must occur only once and have one value per row, got shape {found.shape}.")
    kind = found.dtype.kind
    if kind == "M":
        return Dates(found.astype("datetime64[us]"))
    if kind == "m":
        return Numbers(np.asarray(found / np.timedelta64(1, "D"), float), "days")
    if kind in "US":
        return Text.of(found.astype(str).tolist())
    if kind != "O":
        try:
            return Numbers(arrays.numeric(found))
        except InputError as problem:
            raise type(problem)(f"Column {name!r}: {problem}") from None
    return _of_objects(found, name)


def _of_objects(found: Array, name: object) -> Values:
    missing = arrays.missing(found)
    known = found[~missing].tolist()
    if all(isinstance(value, str) for value in known):
        return Text.of(["" if gone else value for value, gone in zip(found.tolist(), missing, strict=True)])
    if all(isinstance(value, datetime.date) for value in known):  # a datetime is a date
        moments = np.full(len(found), np.datetime64("NaT", "us"))
        moments[~missing] = [np.datetime64(_naive(value), "us") for value in known]
        return Dates(moments)
    if all(isinstance(value, datetime.time) for value in known):
        hours = np.full(len(found), np.nan)
        hours[~missing] = [value.hour + value.minute / 60 + value.second / 3600 for value in known]
        return Numbers(hours, "hour of day")
    texts = sum(isinstance(value, str | bytes) for value in known)
    if 2 * texts < len(known):  # a few texts among numbers are mistakes
        try:
            return Numbers(arrays.numeric(found))
        except InputError as problem:
            raise type(problem)(f"Column {name!r}: {problem}") from None
    return Text.of(["" if gone else str(value) for value, gone in zip(found.tolist(), missing, strict=True)])


def _naive(value: datetime.date) -> datetime.date:
    """Return the time on the wall."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
