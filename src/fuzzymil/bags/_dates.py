"""Dates and times: from text to numbers, and from numbers back to what a person reads."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import Array

EPOCH = np.datetime64("1970-01-01T00:00:00", "us")
DAY = np.timedelta64(1, "D")
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_MOMENT = re.compile(rf"(\d{{1,4}})([-/.])(\d{{1,2}})\2(\d{{1,4}})(?:(?:[Tt]|\s+){_TIME}{_ZONE})?", re.ASCII)
_CLOCK = re.compile(_TIME, re.ASCII)


def dates(texts: Sequence[str]) -> Array | str:
    """Return the dates that all texts mean, or why they are not all dates.

    A year of four digits comes first or last. Where the day cannot be told from the month (03/04/2026), the other
    values of the column decide; dots mean that the day comes first. Offsets from UTC are left out: the hour is that
    on the wall.

    Examples
    --------
    >>> dates(["2026-03-01", "2026-03-02 14:30"])
    array(['2026-03-01T00:00:00.000000', '2026-03-02T14:30:00.000000'], dtype='datetime64[us]')
    >>> dates(["25/12/2026", "01/02/2026"]).astype("datetime64[D]").tolist()
    [datetime.date(2026, 12, 25), datetime.date(2026, 2, 1)]
    >>> dates(["01/02/2026"])
    'the day and the month cannot be told apart: write dates as 2026-12-31'
    """
    found = [_MOMENT.fullmatch(text) for text in texts]
    bad = next((text for text, match in zip(texts, found, strict=True) if match is None), None)
    if bad is not None:
        return f"{bad[:40]!r} is not a date"
    day_first: set[bool] = set()
    for match in found:
        assert match is not None
        if len(match[1]) != 4:
            first, second = int(match[1]), int(match[3])
            if match[2] == "." or first > 12 or second > 12:
                day_first.add(match[2] == "." or first > 12)
    if len(day_first) > 1:
        return "some dates begin with the day and some with the month: write dates as 2026-12-31"
    if not day_first and any(match is not None and len(match[1]) != 4 and match[1] != match[3] for match in found):
        return "the day and the month cannot be told apart: write dates as 2026-12-31"
    moments = []
    for text, match in zip(texts, found, strict=True):
        assert match is not None
        try:
            moments.append(_moment(match, day_first=True in day_first))
        except ValueError:
            return f"{text[:40]!r} is not a date"
    return np.array(moments, dtype="datetime64[us]")


def mostly_dates(texts: Sequence[str]) -> bool:
    """Return whether more than half of the texts are written like dates."""
    return 2 * sum(_MOMENT.fullmatch(text) is not None for text in texts) > len(texts)


def _moment(match: re.Match[str], *, day_first: bool) -> datetime.datetime:
    one, two, three = int(match[1]), int(match[3]), int(match[4])
    if len(match[1]) == 4:
        year, month, day = one, two, three
    elif len(match[4]) == 4:
        year, month, day = (three, two, one) if day_first else (three, one, two)
    else:
        raise ValueError("a year has four digits")
    found = datetime.datetime(year, month, day)
    return found if match[5] is None else found + datetime.timedelta(hours=_hours(match.groups()[4:]))


def hours(texts: Sequence[str]) -> Array | None:
    """Return the hours that all texts mean, or None if they are not all times of day.

    Examples
    --------
    >>> hours(["14:30", "9:00 pm"]), hours(["14:30", "noon"])
    (array([14.5, 21. ]), None)
    """
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


def days_of(moments: Array) -> Array:
    """Return days since 1970 of datetime64 values; NaN where they are missing.

    Examples
    --------
    >>> days_of(np.array(["1970-01-02T12:00", "NaT"], "datetime64[us]")).tolist()
    [1.5, nan]
    """
    return np.asarray((moments.astype("datetime64[us]") - EPOCH) / DAY, float)


def date_text(days: float) -> str:
    """Return the date that a number of days since 1970 is, with its time unless that is midnight.

    Examples
    --------
    >>> date_text(20513.0), date_text(20513.5)
    ('2026-03-01', '2026-03-01 12:00')
    """
    if not math.isfinite(days) or abs(days) > 10_000_000:
        return f"{days:g} days since 1970-01-01"
    minutes = round(days * 24 * 60)
    moment = np.datetime64(minutes, "m")
    return str(moment.astype("datetime64[D]")) if minutes % (24 * 60) == 0 else str(moment).replace("T", " ")


def hour_text(hour: float) -> str:
    """Return the time of day that a number of hours is.

    Examples
    --------
    >>> hour_text(14.5), hour_text(-3.0)
    ('14:30', '-3')
    """
    minutes = round(hour * 60) if math.isfinite(hour) else -1
    return f"{minutes // 60:02d}:{minutes % 60:02d}" if 0 <= minutes <= 24 * 60 else f"{hour:g}"
