"""The columns of a table as series of numbers, dates or text, and how people write numbers, dates and times.

A file of text has nothing but text, a data frame has columns of any type: here both become the same three kinds.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import math
import re
import reprlib
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError

# ---------------------------------------------------------------------- numbers as text

_DECIMALS = (".", ",")
_THOUSANDS = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_SIGNS = "%$€£¥₹"
_SIGN = re.compile(rf"^([+-]?)\s*[{_SIGNS[1:]}]\s*|\s*[{_SIGNS}]$")


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written: with a decimal comma, separators of thousands.

    ``decimal``: decimal separator. ``thousands``: thousands separator; a number may also be written without it.
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
                f"decimal and thousands are both {self.decimal!r}: if it is the decimal separator, omit thousands; "
                f"otherwise pass decimal={'.' if self.decimal == ',' else ','!r} as well."
            )

    def parse(self, text: str) -> float | None:
        """Return the number that a text is, without its sign; None if it is not one."""
        bare = _SIGN.sub(r"\1", text.strip())
        found = _number_pattern(self).fullmatch(bare)
        if found is None:
            return None
        whole = re.sub(r"\D", "", found["whole"] or "0")
        return float(f"{found['minus']}{whole}.{found['part'] or 0}{found['power'] or ''}")

    def parse_all(self, texts: Collection[str]) -> Array | None:
        """Return the numbers that texts are; None if one is none, or if they have different signs.

        In plain numbers, it is also None without a sign: digits that are text may be codes.
        """
        signs = {_unit_sign(text) for text in texts}
        if len(signs) != 1 or (self == DECIMAL_POINT and signs == {""}):
            return None
        found = [self.parse(text) for text in texts]
        return None if None in found else np.array(found, float)

    def is_foreign(self, text: str) -> bool:
        """Return whether a text is a number with a sign or in another format than this."""
        if self.parse(text) is not None:
            return bool(_unit_sign(text))
        return any(other.parse(text) is not None for other in _ALL_FORMATS)

    def advice(self, text: str, texts: Collection[str]) -> str:
        """Return how to read a text as a number, one of several in a column; empty if it does not look like one."""
        ways: dict[float, str] = {}
        for other in _ALL_FORMATS:
            value = other.parse(text)
            if value is not None and other != self and all(other.parse(each) is not None for each in texts):
                ways.setdefault(value, f"{value:.15g} with {self._change_to(other)}")
        if self.parse(text) is not None:
            sign = _unit_sign(text)
            return f"only some values have the sign {sign!r}: write it in all of them, or in none" if sign else ""
        if ways:
            return f"{text!r} is {', and '.join(ways.values())}"
        return (
            "numbers are written in different ways: use a decimal point in all of them" if self.is_foreign(text) else ""
        )

    def _change_to(self, other: NumberFormat) -> str:
        """Return the parameters that would read numbers in another format."""
        changed = [("decimal", self.decimal, other.decimal), ("thousands", self.thousands, other.thousands)]
        return ", ".join(f"{name}={wanted!r}" for name, mine, wanted in changed if mine != wanted)


DECIMAL_POINT = NumberFormat()
"""A decimal point, and no separator of thousands."""

_ALL_FORMATS = tuple(
    NumberFormat(decimal, thousands)
    for thousands in (None, *_THOUSANDS)
    for decimal in _DECIMALS
    if decimal != thousands
)  # a number without a separator is recognized first


@functools.cache
def _number_pattern(number_format: NumberFormat) -> re.Pattern[str]:
    mark = re.escape(number_format.decimal)
    groups = (
        "" if number_format.thousands is None else rf"[1-9]\d{{0,2}}(?:{_THOUSANDS[number_format.thousands]}\d{{3}})+|"
    )
    return re.compile(
        rf"(?P<minus>[+-]?)(?=\d|{mark}\d)(?P<whole>{groups}\d*)(?:{mark}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?",
        re.ASCII,
    )


def _unit_sign(text: str) -> str:
    found = _SIGN.search(text.strip())
    return "" if found is None else found[0].strip(" \u00a0\u202f+-")


# ---------------------------------------------------------------------- dates and times as text

EPOCH = np.datetime64("1970-01-01T00:00:00", "us")
DAY = np.timedelta64(1, "D")
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_MOMENT = re.compile(rf"(\d{{1,4}})([-/.])(\d{{1,2}})\2(\d{{1,4}})(?:(?:[Tt]|\s+){_TIME}{_ZONE})?", re.ASCII)
_CLOCK = re.compile(_TIME, re.ASCII)


def parse_dates(texts: Sequence[str]) -> Array | str:
    """Return the dates that all texts mean, or why they are not all dates.

    A year of four digits comes first or last. Where the day cannot be told from the month (03/04/2026), the other
    values of the column decide; dots mean that the day comes first. Offsets from UTC are left out: the hour is that
    on the wall.
    """
    found = [match for text in texts if (match := _MOMENT.fullmatch(text))]
    if len(found) < len(texts):
        return f"{next(text for text in texts if not _MOMENT.fullmatch(text))[:40]!r} is not a date"
    unsure = [match for match in found if len(match[1]) != 4]
    day_first = {
        match[2] == "." or int(match[1]) > 12
        for match in unsure
        if match[2] == "." or int(match[1]) > 12 or int(match[3]) > 12
    }
    if len(day_first) > 1:
        return "some dates begin with the day and some with the month: write dates as 2026-12-31"
    if not day_first and any(match[1] != match[3] for match in unsure):
        return "the day and the month cannot be told apart: write dates as 2026-12-31"
    moments = []
    for match in found:
        try:
            moments.append(_moment(match, day_first=True in day_first))
        except ValueError:
            return f"{match[0][:40]!r} is not a date"
    return np.array(moments, dtype="datetime64[us]")


def mostly_dates(texts: Sequence[str]) -> bool:
    """Return whether more than half of the texts are written like dates."""
    return 2 * sum(_MOMENT.fullmatch(text) is not None for text in texts) > len(texts)


def _moment(match: re.Match[str], *, day_first: bool) -> datetime.datetime:
    one, two, three = int(match[1]), int(match[3]), int(match[4])
    if len(match[1]) == 4:
        found = datetime.datetime(one, two, three)
    elif len(match[4]) == 4:
        found = datetime.datetime(three, two, one) if day_first else datetime.datetime(three, one, two)
    else:
        raise ValueError("a year has four digits")
    return found if match[5] is None else found + datetime.timedelta(hours=_hours(match.groups()[4:]))


def parse_hours(texts: Sequence[str]) -> Array | None:
    """Return the hours that all texts mean, or None if they are not all times of day."""
    found = [_CLOCK.fullmatch(text) for text in texts]
    try:
        return np.array([_hours(match.groups()) for match in found if match]) if all(found) else None
    except ValueError:
        return None


def _hours(parts: Sequence[str | None]) -> float:
    hour, minute, second, fraction, half = parts
    h, m, s = int(hour or 0), int(minute or 0), int(second or 0)
    if half is not None:
        if not 1 <= h <= 12:
            raise ValueError("no such hour")
        h = h % 12 + (12 if half in "Pp" else 0)
    if h > 23 or m > 59 or s > 60:
        raise ValueError("no such time")
    return h + m / 60 + (s + float(f"0.{fraction or 0}")) / 3600


def days_since_1970(moments: Array) -> Array:
    """Return days since 1970 of datetime64 values; NaN where they are missing."""
    return np.asarray((moments.astype("datetime64[us]") - EPOCH) / DAY, float)


def date_text(days: float) -> str:
    """Return the date that a number of days since 1970 is, with its time unless that is midnight."""
    if not math.isfinite(days) or abs(days) > 10_000_000:
        return f"{days:g} days since 1970-01-01"
    minutes = round(days * 24 * 60)
    moment = np.datetime64(minutes, "m")
    return str(moment.astype("datetime64[D]")) if minutes % (24 * 60) == 0 else str(moment).replace("T", " ")


def hour_text(hour: float) -> str:
    """Return the time of day that a number of hours is."""
    minutes = round(hour * 60) if math.isfinite(hour) else -1
    return f"{minutes // 60:02d}:{minutes % 60:02d}" if 0 <= minutes <= 24 * 60 else f"{hour:g}"


# ---------------------------------------------------------------------- series

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "nat", "<na>"})
"""Text that marks a missing value, in any case; among words, "none" may be one of them."""

_SECONDS, _MILLISECONDS = 1e11, 1e14  # greater numbers are milliseconds, microseconds since 1970


@dataclass(frozen=True)
class NumberSeries:
    """A column of numbers; NaN where they are missing."""

    numbers: Array
    unit: str = ""

    def as_text(self) -> TextSeries:
        """Return the numbers as text, whole ones without a point."""
        return _as_text(self.numbers, np.isnan, lambda value: repr(float(value)).removesuffix(".0"))

    def as_dates(self) -> Array | str:
        """Return dates from seconds (or milliseconds or microseconds) since 1970."""
        greatest = float(np.nanmax(np.abs(self.numbers), initial=0.0))
        if greatest < 1e8 or greatest > 1e17:
            return f"it has numbers up to {greatest:g}, which are not seconds since 1970"
        factor = 1e6 if greatest < _SECONDS else 1e3 if greatest < _MILLISECONDS else 1.0
        missing = np.isnan(self.numbers)
        found = EPOCH + (np.where(missing, 0, self.numbers) * factor).round().astype("timedelta64[us]")
        return np.asarray(np.where(missing, np.datetime64("NaT", "us"), found))

    def to_array(self) -> Array:
        """Return the values as an array."""
        return self.numbers


@dataclass(frozen=True)
class DateSeries:
    """A column of dates, datetime64; NaT where they are missing."""

    moments: Array

    def as_text(self) -> TextSeries:
        """Return the dates as text."""
        return _as_text(self.moments, np.isnat, lambda moment: date_text(float(days_since_1970(moment))))

    def as_dates(self) -> Array | str:
        """Return the dates."""
        return self.moments

    def to_array(self) -> Array:
        """Return the values as an array."""
        return self.moments


def _as_text(values: Array, missing: Callable[[Array], Any], text: Callable[[Any], str]) -> TextSeries:
    """Return values as text; ``missing`` says where there are none."""
    distinct, codes = np.unique(values, return_inverse=True)
    return TextSeries([*map(text, distinct[~missing(distinct)])], np.where(missing(values), -1, codes.reshape(-1)))


def is_number(text: str) -> bool:
    """Return whether text is a plain number or marks a missing one."""
    return text.lower() in MISSING or not np.isnan(as_float(text)) or text.lower().lstrip("+-") == "nan"


def as_float(text: str) -> float:
    """Return a plain number; NaN for other text."""
    try:
        return float(text) if "_" not in text else np.nan  # float() would read 1_000 as a thousand
    except ValueError:
        return np.nan


def _missing_words(distinct: Collection[str]) -> frozenset[str]:
    """Return the words for a missing value: among words, "none" may well be one of them (treatment: none)."""
    others = [value for value in distinct if value.lower() not in MISSING]
    numbers = all(is_number(value) or DECIMAL_POINT.is_foreign(value) for value in others)
    no_words = numbers or mostly_dates(others) or parse_hours(others) is not None
    return MISSING if no_words else MISSING - {"none"}


@dataclass(frozen=True)
class TextSeries:
    """A column of text: its distinct values, and which of them each row has; -1 where it is missing."""

    distinct: list[str]
    codes: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        values: Sequence[str],
        codes: npt.NDArray[np.int64] | None = None,
        missing: Collection[str] | None = None,
    ) -> TextSeries:
        """Return a column from its values, or from different values and which of them each row has.

        ``codes`` (n_rows,): default: each row has its own value. ``missing``: the words for a missing value, in lower
        case. Default: those that suit the values.
        """
        seen: dict[str, int] = {}
        bare = [value.strip() for value in values]
        absent = _missing_words({*bare}) if missing is None else missing
        places = [-1 if value.lower() in absent else seen.setdefault(value, len(seen)) for value in bare]
        found = np.array(places, np.int64)
        return cls(list(seen), found if codes is None else found[codes])

    def as_text(self) -> TextSeries:
        """Return the text."""
        return self

    def as_dates(self) -> Array | str:
        """Return the dates that the text means, or why it does not."""
        found = parse_dates(self.distinct)
        return found if isinstance(found, str) else np.append(found, np.datetime64("NaT", "us"))[self.codes]

    def as_hours(self) -> NumberSeries | None:
        """Return the times of day that the text means; None if it means something else."""
        found = parse_hours(self.distinct) if self.distinct else None
        return None if found is None else NumberSeries(np.append(found, np.nan)[self.codes], "hour of day")

    def as_numbers(self) -> Array:
        """Return the distinct values as numbers; NaN for what is not a number."""
        return np.array([as_float(value) for value in self.distinct])

    def parse_numbers(self, number_format: NumberFormat) -> Series:
        """Return the numbers that all texts are, or the text itself."""
        found = number_format.parse_all(self.distinct)
        return self if found is None else NumberSeries(np.append(found, np.nan)[self.codes])

    def describe(self) -> str:
        """Describe the values."""
        first = next((self.distinct[code] for code in self.codes if code >= 0), "")
        return f"text such as {reprlib.repr(first)}"

    def to_array(self) -> Array:
        """Return the values as an array."""
        return np.array([*self.distinct, None], dtype=object)[self.codes]


def text_bytes(n_rows: int, n_distinct: int, n_characters: int) -> int:
    """Return about how much memory a column of text takes, and what is made of it; characters of distinct values."""
    return 16 * n_rows + 300 * n_distinct + 2 * n_characters


class TextBuilder:
    """A column of text that is read row by row; few values that repeat take little memory."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._seen: dict[str, int] = {}
        self._codes = array("q")
        self._n_characters = 0
        self.extend(values)

    @property
    def n_bytes(self) -> int:
        """About how much memory the column takes, and what is made of it."""
        return text_bytes(len(self._codes), len(self._seen), self._n_characters)

    def extend(self, values: Iterable[str]) -> None:
        """Append rows."""
        seen = self._seen
        before = len(seen)
        self._codes.extend([seen.setdefault(value, len(seen)) for value in values])
        self._n_characters += sum(map(len, itertools.islice(seen, before, None)))

    def build(self) -> TextSeries:
        """Return the column; nothing counts as missing."""
        return TextSeries(list(self._seen), np.array(self._codes, np.int64))


Series = NumberSeries | DateSeries | TextSeries


def as_series(column: Any, name: object) -> Series:
    """Return a column of a data frame, whatever its dtype, as one of the three kinds."""
    try:
        found = arrays.as_array(column)
        if found.ndim != 1:
            raise InputError(f"it must occur only once and have one value per row, got shape {found.shape}.")
        kind = found.dtype.kind
        if kind == "M":
            return DateSeries(found.astype("datetime64[us]"))
        if kind == "m":
            return NumberSeries(np.asarray(found / np.timedelta64(1, "D"), float), "days")
        if kind in "US":
            return TextSeries.of(found.astype(str).tolist())
        return _from_objects(found) if kind == "O" else NumberSeries(arrays.numeric(found))
    except InputError as problem:
        raise type(problem)(f"Column {name!r}: {problem}") from None


def _from_objects(found: Array) -> Series:
    missing = arrays.missing(found)
    known = found[~missing].tolist()
    texts = sum(isinstance(value, str | bytes) for value in known)
    if texts < len(known) and all(isinstance(value, datetime.date) for value in known):  # a datetime is a date
        moments = np.full(len(found), np.datetime64("NaT", "us"))
        moments[~missing] = [np.datetime64(_naive(value), "us") for value in known]
        return DateSeries(moments)
    if texts < len(known) and all(isinstance(value, datetime.time) for value in known):
        hours = np.full(len(found), np.nan)
        hours[~missing] = [value.hour + value.minute / 60 + value.second / 3600 for value in known]
        return NumberSeries(hours, "hour of day")
    if 2 * texts < len(known):  # a few texts among numbers are mistakes
        return NumberSeries(arrays.numeric(found))
    return TextSeries.of(["" if gone else str(value) for value, gone in zip(found.tolist(), missing, strict=True)])


def _naive(value: datetime.date) -> datetime.date:
    """Return the time on the wall."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
