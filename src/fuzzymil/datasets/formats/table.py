"""From fields of text to bags: numbers, names and labels, with the line of whatever is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, conversion
from fuzzymil.datasets.formats.files import DataFile

__all__ = [
    "ABSENT",
    "MISSING",
    "assemble",
    "check_writable",
    "flat_numbers",
    "identities",
    "labels_of",
    "number_text",
    "numbers",
    "texts",
]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
"""What stands for a missing number, in any case."""

ABSENT = frozenset({"", "?", "nan"})
"""What stands for a missing bag id or label; a class may well be called none."""


def numbers(file: DataFile, rows: Sequence[Sequence[str]], lines: Sequence[int], names: Sequence[str]) -> Array:
    """Return fields as numbers of shape (n_rows, n_columns); missing ones are ``NaN``."""
    width = len(names)
    found = flat_numbers(file, list(chain.from_iterable(rows)), lambda n: (lines[n // width], repr(names[n % width])))
    return found.reshape(len(rows), width)


def flat_numbers(file: DataFile, fields: Sequence[str], place: Callable[[int], tuple[int, str]]) -> Array:
    """Return fields as numbers; ``place(n)`` tells line and column of a field that is none."""
    found: Array | None = None
    if "_" not in "".join(fields):  # float() would read 1_000 as a thousand, which no other program does
        try:
            found = np.fromiter(map(float, fields), np.float64, len(fields))
        except ValueError:
            found = None  # something is missing or no number: look at each
    if found is None:
        found = np.array([_number(file, field, n, place) for n, field in enumerate(fields)])
    if np.isinf(found).any():
        n = int(np.argmax(np.isinf(found)))
        raise file.error(f"{fields[n]!r} is infinite: write a number, or nothing where it is unknown", *place(n))
    return found


def _number(file: DataFile, field: str, n: int, place: Callable[[int], tuple[int, str]]) -> float:
    field = field.strip()
    if field.lower() in MISSING:
        return math.nan
    try:
        if "_" not in field:
            return float(field)
    except ValueError:
        pass
    advice = "write numbers only, or leave the column out with drop=..."
    if field.count(",") == 1:
        advice = "write a decimal point, not a comma"
    raise file.error(f"expected a number, found {_short(field)}; {advice}", *place(n))


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else repr(text[:40]) + "..."


def identities(values: Iterable[str]) -> Array:
    """Return bag names: integers where all are written as such, else text as it stands.

    ``007`` stays text, because as a number it would be the same bag as ``7``.

    Examples
    --------
    >>> identities(["1", "10"]), identities(["1", "007"])
    (array([ 1, 10]), array(['1', '007'], dtype='<U3'))
    >>> identities(["1.0e+00", "2.0e+00"])  # a table of numbers that MATLAB or NumPy wrote
    array([1, 2])
    """
    items = [value.strip() for value in values]
    if all(item.removeprefix("-").isdecimal() and item.isascii() and len(item) < 19 for item in items):
        whole = [int(item) for item in items]
        if list(map(str, whole)) == items:
            return np.array(whole, dtype=np.int64)
    elif all("." in item for item in items):
        found = _whole(items)
        if found is not None:
            return found
    return np.array(items)


def labels_of(values: Iterable[str]) -> Array:
    """Return labels: integers where all are whole numbers, else numbers, else text.

    Examples
    --------
    >>> labels_of(["1.", "0."]), labels_of(["0.5", "1"]), labels_of(["yes", "no"])
    (array([1, 0]), array([0.5, 1. ]), array(['yes', 'no'], dtype='<U3'))
    """
    items = [value.strip() for value in values]
    found = _whole(items)
    if found is None:
        try:
            found = np.array(list(map(float, items)))
        except ValueError:
            return np.array(items)
        if not np.isfinite(found).all() or "_" in "".join(items):
            return np.array(items)
    return found


def _whole(items: Sequence[str]) -> Array | None:
    try:
        found = np.array(list(map(float, items)))
    except ValueError:
        return None
    if "_" in "".join(items) or not (np.abs(found) < 2**53).all() or (found != np.floor(found)).any():
        return None
    return found.astype(np.int64)


def assemble(
    file: DataFile,
    instances: Array,
    owners: Sequence[str],
    labels: Sequence[str] | None,
    lines: Sequence[int],
    *,
    feature_names: Iterable[str] | None = None,
    instance_labels: Sequence[str] | None = None,
    hint: str = "",
) -> Bags:
    """Put rows into bags; a bag without a name, a label or with two labels is named with its lines."""
    for what, column in (("bag id", owners), ("label", labels)):
        blank = next((n for n, value in enumerate(column or ()) if value.strip().lower() in ABSENT), None)
        if blank is not None:
            raise file.error(f"this row has no {what}: give every row one", lines[blank])
    ids = identities(owners)
    found = None if labels is None else labels_of(labels)
    if found is not None:
        first: dict[Any, int] = {}
        for n, (owner, label) in enumerate(zip(ids.tolist(), found.tolist(), strict=True)):
            before = first.setdefault(owner, n)
            if found[before] != label:
                raise file.error(
                    f"bag {owner} has two labels, {found[before]!s} on line {lines[before]} and {label} here: "
                    f"a bag has one label; correct the file{hint}",
                    lines[n],
                )
    try:
        return Bags.from_long(
            instances,
            ids,
            labels=found,
            feature_names=feature_names,
            instance_labels=None if instance_labels is None else labels_of(instance_labels),
        )
    except InputError as problem:
        raise file.error(f"holds no usable bags. {str(problem).removesuffix('.')}") from None


# ---------------------------------------------------------------- the way back


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number; nothing for ``NaN``.

    Examples
    --------
    >>> number_text(46.0), number_text(0.1), number_text(float("nan"))
    ('46', '0.1', '')
    """
    if value != value:
        return ""
    return repr(value).removesuffix(".0")


def texts(values: Array) -> list[str]:
    """Return ids or labels as text: whole numbers without a point, true and false as 1 and 0."""
    items = values.astype(np.int64).tolist() if values.dtype.kind == "b" else values.tolist()
    return [number_text(item) if isinstance(item, float) else str(item) for item in items]


def check_writable(bags: Bags, what: str, *, needs_labels: bool = False) -> None:
    """Refuse bags that a file could not give back: two of one name, or no labels where they must be."""
    names = texts(bags.ids)
    codes = conversion.codes(np.array(names))
    if codes.max() + 1 < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Bag {twice} stands twice: {what} would make one bag of both. Give bags different ids.")
    blank = next((name for name in names if name.strip() != name or name.lower() in ABSENT), None)
    if blank is not None:
        raise InputError(f"The bag id {blank!r} cannot be told from a missing one or a shorter one: rename the bag.")
    if bags.labels is None:
        if needs_labels:
            raise InputError(f"These bags have no labels, but {what} cannot do without: write CSV, or give labels.")
        return
    for name, label in zip(names, texts(bags.labels), strict=True):
        if label.strip() != label or label.lower() in ABSENT:
            raise InputError(f"The label {label!r} of bag {name} cannot be told from a missing one: rename it.")
