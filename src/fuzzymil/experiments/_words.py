"""Numbers as words and table cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def verdict(test: Mapping[str, Any] | None) -> int:
    """Return 1 if an interval lies above 0, -1 if it lies below 0, and 0 otherwise.

    Examples
    --------
    >>> verdict({"value": 0.2, "low": 0.1, "high": 0.3}), verdict({"value": 0.2, "low": -0.1, "high": 0.3})
    (1, 0)
    """
    return 0 if test is None else int(test["low"] > 0) - int(test["high"] < 0)


def mark(test: Mapping[str, Any] | None) -> str:
    """Return an arrow for a clear difference."""
    return {1: " ▲", 0: "", -1: " ▼"}[verdict(test)]


def with_interval(found: Mapping[str, Any]) -> str:
    """Return a number and its interval: ``0.800 (0.750 to 0.850)``."""
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def difference(test: Mapping[str, Any] | None, digits: int = 3, scale: float = 1.0) -> str:
    """Return a signed difference and its interval, or an empty string for the method compared with.

    Examples
    --------
    >>> difference({"value": -0.1, "low": -0.2, "high": 0.01})
    '-0.100 (-0.200 to +0.010)'
    >>> difference({"mean": -0.1, "low": -0.2, "high": 0.01, "p": 0.07}, digits=1, scale=100)
    '-10.0 (-20.0 to +1.0)'
    """
    if test is None:
        return ""
    center = test["value"] if "value" in test else test["mean"]
    value, low, high = (f"{scale * number:+.{digits}f}" for number in (center, test["low"], test["high"]))
    return f"{value} ({low} to {high})"


def points(test: Mapping[str, Any] | None) -> str:
    """Return a difference of shares in percentage points: ``-10.0 (-20.0 to +1.0)``."""
    return difference(test, digits=1, scale=100)


def p_value(p: float, *, name: str = "") -> str:
    """Return a p-value, with its name if there is one.

    Examples
    --------
    >>> p_value(0.0421), p_value(0.0421, name="p"), p_value(1e-5, name="p")
    ('0.042', 'p = 0.042', 'p < 0.001')
    """
    if p < 0.001:
        return f"{name} < 0.001".lstrip()
    return f"{name} = {p:.3f}" if name else f"{p:.3f}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas and an "and" between them: ``a, b and c``; "none" if there are none."""
    if len(words) < 2:
        return "".join(words) or "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def quoted(names: Iterable[str]) -> str:
    """Return a list of names in quotes: ``“a”, “b” and “c”``."""
    return joined([f"“{name}”" for name in names])


def quoted_with(differences: Mapping[str, float]) -> str:
    """Return a list of names in quotes, each with its difference: ``“a” (+0.010) and “b” (-0.200)``."""
    return joined([f"“{name}” ({value:+.3f})" for name, value in differences.items()])


def plural(n: int, noun: str) -> str:
    """Return a count and its noun: ``1 repeat`` or ``5 repeats``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
