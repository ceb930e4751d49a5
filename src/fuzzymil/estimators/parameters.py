"""Checks of constructor parameters: declared with a dataclass's fields, or as a table: parameter name → check."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name

Check = Callable[[str, Any], None]
"""Takes the name and the value of a parameter and raises `ParameterError` if the value is not allowed."""


def checked(check: Check, default: Any) -> Any:
    """Return a field of a dataclass whose values `check_parameters` checks."""
    return dataclasses.field(default=default, metadata={"check": check})


def check_parameters(holder: Any, table: Mapping[str, Check] | None = None) -> None:
    """Check every attribute that the table names; without a table, every field that is `checked`."""
    if table is None:
        fields = dataclasses.fields(holder) if dataclasses.is_dataclass(holder) else ()
        table = {field.name: field.metadata["check"] for field in fields if "check" in field.metadata}
    for name, check in table.items():
        check(name, getattr(holder, name))


def choice(known: Collection[str]) -> Check:
    """Return a check for one of several names; ``known`` may be a registry that grows."""
    return lambda name, value: known_name(name, value, known)


def integer(low: int) -> Check:
    """Return a check for an integer of at least ``low``."""
    return lambda name, value: check_integer(name, value, low)


def real(**limits: Any) -> Check:
    """Return a check for a number; the limits are those of `check_real`."""
    return lambda name, value: check_real(name, value, **limits)


def flag(name: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")


def either(*values: Any, otherwise: Check) -> Check:
    """Return a check that allows some values (compared by identity or as text) and checks all others."""

    def check(name: str, value: Any) -> None:
        if not any(value is known or (isinstance(value, str) and value == known) for known in values):
            otherwise(name, value)

    return check


def instance(kinds: type | tuple[type, ...], expected: str) -> Check:
    """Return a check for objects of some types; ``expected`` describes them."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, kinds):
            raise ParameterError(f"{name} must be {expected}, got {value!r:.100}.")

    return check


above_zero: Check = real(low=0.0, open_low=True)
share: Check = real(low=0.0, high=1.0, open_low=True)
seed: Check = either(None, otherwise=instance((numbers.Integral, np.random.RandomState), "an integer or None"))
label: Check = either(None, otherwise=instance((str, numbers.Number, np.generic), "a class (text or number) or None"))


def frozen_names(name: str, value: Any) -> None:
    """Raise unless the value is None, or a list or tuple of strings."""
    if value is not None and not (isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)):
        raise ParameterError(f"{name} must be a list of names such as 'rule 1' or 'variable.term', got {value!r:.100}.")


def check_integer(name: str, value: object, low: int) -> None:
    """Raise unless a parameter is an integer of at least ``low``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < low:
        raise ParameterError(f"{name} must be a whole number of at least {low}, got {value!r}.")


def check_real(
    name: str,
    value: object,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    allow_infinite: bool = False,
) -> None:
    """Raise unless a parameter is a number in a range, which includes its ends unless they are open."""
    good = False
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        above, below = number > low if open_low else number >= low, number < high if open_high else number <= high
        good = above and below and (allow_infinite or bool(np.isfinite(number)))
    if not good:
        span = f" {'above' if open_low else 'of at least'} {low:g}" if np.isfinite(low) else ""
        span += f" and {'below' if open_high else 'at most'} {high:g}" if np.isfinite(high) else ""
        raise ParameterError(f"{name} must be a number{span}, got {value!r}.")


_Kind = TypeVar("_Kind", bound=type)


def documented_like(other: type) -> Callable[[_Kind], _Kind]:
    """Return a decorator that documents those parameters and attributes of a class that another class has, too.

    They take the place of the last paragraph before the next section.
    """

    def documented(kind: _Kind) -> _Kind:
        if kind.__doc__ is None or other.__doc__ is None:  # Python was started with -OO
            return kind
        own = {*inspect.signature(kind).parameters}
        only = {"classes_", "pos_label_"} if "pos_label" not in own else set()
        section = re.search(r"    Parameters\n.*?(?=\n\n    (?:See Also|Notes|Examples)\n)", other.__doc__, re.DOTALL)
        assert section is not None
        entries = re.split(r"^(?=    \w+ : |    Attributes\n)", section[0], flags=re.MULTILINE)
        kept = [
            each
            for each in entries
            if (name := each.split(" : ")[0].strip()) in own
            or " : " not in each
            or (name.endswith("_") and name not in only)
        ]
        before, after = re.split(r"    The parameters and attributes are those of [^\n]*\n", kind.__doc__)
        kind.__doc__ = f"{before}{''.join(kept)}\n{after}"
        return kind

    return documented
