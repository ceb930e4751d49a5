"""Numbers, counts and labels as text; templates use these functions as filters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.explain.text import degree as _degree
from fuzzymil.rules.language import printer

__all__ = ["counted", "degree", "fixed", "label", "number", "percent", "sortable", "spread", "typeset"]


_MINUS = re.compile(r"(?:(?<![\w-])|(?<=\de))-(?=[\d.]|inf)")


def typeset(text: str) -> str:
    """Replace hyphens before numbers by true minus signs; those in dates and words stay.

    Examples
    --------
    >>> typeset("-0.5").isascii(), typeset("2e-05").isascii(), typeset("2026-03-01, agent-7").isascii()
    (False, False, True)
    """
    return _MINUS.sub("\N{MINUS SIGN}", text)


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits.

    Examples
    --------
    >>> number(-0.12345)
    '−0.123'
    """
    return typeset(printer.format_number(float(value), digits))


def percent(share: float) -> str:
    """Return a share of one as a percentage.

    Examples
    --------
    >>> percent(0.123), percent(0.00051), percent(0.0)
    ('12%', '0.051%', '0%')
    """
    return f"{printer.format_number(100 * float(share), 2)}%" if share < 0.995 else f"{100 * share:.0f}%"


def degree(log_value: float) -> str:
    """Return a degree of truth, given its logarithm.

    Examples
    --------
    >>> degree(0.0), degree(-50.0)
    ('1', '1.93e−22')
    """
    return typeset(_degree(log_value))


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals.

    Examples
    --------
    >>> fixed(-0.25)
    '−0.250'
    """
    return typeset(f"{value:.{digits}f}")


def counted(n: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "bag"), counted(6598, "instance")
    ('1 bag', '6,598 instances')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def label(value: Any) -> str:
    """Return a label, a prediction or an id; several numbers with commas.

    Examples
    --------
    >>> label(np.float64(0.12345)), label(2.0), label(np.array([0.5, 1.0])), label("sky")
    ('0.123', '2', '0.5, 1', 'sky')
    """
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, list):
        return ", ".join(map(label, plain))
    if isinstance(plain, float):
        return f"{plain:.6g}" if plain.is_integer() else number(plain)
    return str(plain)


def spread(values: Array, digits: int = 3) -> str:
    """Return mean ± standard deviation, or the value itself if there is only one.

    Examples
    --------
    >>> spread(np.array([0.8, 0.9])), spread(np.array([0.75]))
    ('0.850 ± 0.071', '0.750')
    """
    large = abs(values).max() >= 1e4
    parts = [values.mean()] if len(values) == 1 else [values.mean(), values.std(ddof=1)]
    return typeset(" ± ".join(number(part, 4) if large else f"{part:.{digits}f}" for part in parts))


def sortable(value: float) -> str:
    """Return a number for scripts to sort by.

    Examples
    --------
    >>> sortable(0.25), sortable(-np.inf)
    ('0.25', '-1e999')
    """
    return f"{float(value):.8g}" if np.isfinite(value) else "-1e999"
