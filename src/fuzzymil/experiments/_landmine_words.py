"""Numbers of the landmine experiment as words and cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuzzymil.experiments._study import Results

__all__ = [
    "apart",
    "joined",
    "listed",
    "listed_with",
    "mark",
    "points",
    "signed",
    "verdict",
    "with_interval",
]


def verdict(minus: Results | None) -> int:
    """Return 1 where a difference is clearly more than nothing, -1 where it is clearly less, else 0.

    Examples
    --------
    >>> verdict({"value": 0.2, "low": 0.1, "high": 0.3}), verdict({"value": 0.2, "low": -0.1, "high": 0.3})
    (1, 0)
    """
    return 0 if minus is None else int(minus["low"] > 0) - int(minus["high"] < 0)


def mark(minus: Results | None) -> str:
    """Return an arrow for a clear difference.

    Examples
    --------
    >>> mark({"value": -0.2, "low": -0.3, "high": -0.1})
    ' ▼'
    """
    return {1: " ▲", 0: "", -1: " ▼"}[verdict(minus)]


def with_interval(found: Results) -> str:
    """Return a number and its interval.

    Examples
    --------
    >>> with_interval({"value": 0.8, "low": 0.75, "high": 0.85})
    '0.800 (0.750 to 0.850)'
    """
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def signed(minus: Results | None) -> str:
    """Return a difference and its interval; nothing for the method that others are compared with.

    Examples
    --------
    >>> signed({"value": -0.1, "low": -0.2, "high": 0.01})
    '-0.100 (-0.200 to +0.010)'
    """
    return "" if minus is None else f"{minus['value']:+.3f} ({minus['low']:+.3f} to {minus['high']:+.3f})"


def points(minus: Results | None) -> str:
    """Return a difference of shares in percentage points.

    Examples
    --------
    >>> points({"value": -0.1, "low": -0.2, "high": 0.01})
    '-10.0 (-20.0 to +1.0)'
    """
    if minus is None:
        return ""
    value, low, high = (100 * minus[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def listed(names: Sequence[str]) -> str:
    """Return names in quotes with commas between them.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed([])
    ('“a”, “b” and “c”', 'none')
    """
    return joined([f"“{name}”" for name in names])


def listed_with(differences: Mapping[str, float]) -> str:
    """Return names in quotes, each with its difference.

    Examples
    --------
    >>> listed_with({"a": 0.01, "b": -0.2})
    '“a” (+0.010) and “b” (-0.200)'
    """
    return joined([f"“{name}” ({value:+.3f})" for name, value in differences.items()])


def joined(words: Sequence[str]) -> str:
    """Return words with commas and an "and" between them.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined([])
    ('a, b and c', 'none')
    """
    if len(words) < 2:
        return "".join(words) or "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def apart(method: Results) -> float:
    """Return how far the areas of a method's runs lie apart.

    Examples
    --------
    >>> apart({"runs": [0.5, 0.75, 0.625]})
    0.25
    """
    return float(max(method["runs"]) - min(method["runs"]))
