"""Text fields to numbers, ids, labels and bags, with errors that name the line; and back to text."""

from __future__ import annotations

import contextlib
import math
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, codes, first_repeated
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, Columns, Source
from fuzzymil.bags.notation import USUAL
from fuzzymil.datasets.formats.files import DataFile, DataFileError

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
"""Text that marks a missing number, in any case."""

ONE_LABEL = (
    "correct the file, or compute one label per bag first, for instance with pandas: "
    'table[label] = table.groupby(bag)[label].transform("max")'
)
"""What to do about labels that differ within a bag."""

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS = 30  # of integers that are compared exactly; longer ones stay text
_ABSENT = frozenset({"", "?", "nan"})  # marks a missing bag id or label; a class may well be called "none"


@dataclass(frozen=True)
class Texts:
    """A column of text: its distinct values, and which of them each row has.

    A column of bag ids repeats each id on every row of the bag, so this is smaller and faster than a list.

    Attributes
    ----------
    distinct : list of str
        By first appearance.
    codes : array of shape (n_rows,)
    """

    distinct: list[str]
    codes: npt.NDArray[np.int64]


class TextColumn:
    """A column of text that is read row by row.

    Examples
    --------
    >>> column = TextColumn(["b", "a"])
    >>> column.extend(["b"])
    >>> column.finished()
    Texts(distinct=['b', 'a'], codes=array([0, 1, 0]))
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._seen: dict[str, int] = {}
        self._codes = array("q")
        self.extend(values)

    def extend(self, values: Iterable[str]) -> None:
        """Append rows."""
        seen = self._seen
        self._codes.extend([seen.setdefault(value, len(seen)) for value in values])

    def finished(self) -> Texts:
        """Return the column."""
        return Texts(list(self._seen), np.array(self._codes, np.int64))


def is_number(field: str) -> bool:
    """Return whether a field is a number or marks a missing one."""
    try:
        return field.lower() in MISSING or ("_" not in field and float(field) is not None)
    except ValueError:
        return False


def numbers(file: DataFile, rows: Sequence[Sequence[str]], lines: Sequence[int], names: Sequence[str]) -> Array:
    """Convert fields to numbers of shape (n_rows, n_columns); missing ones are ``NaN``."""
    width = len(names)
    found = flat_numbers(file, list(chain.from_iterable(rows)), lambda n: (lines[n // width], repr(names[n % width])))
    return found.reshape(len(rows), width)


def flat_numbers(file: DataFile, fields: Sequence[str], place: Callable[[int], tuple[int, str]]) -> Array:
    """Convert fields to numbers; ``place(n)`` returns the line and column of a field, for errors."""
    found: Array | None = None
    if "_" not in "".join(fields):  # float() would read 1_000 as a thousand, unlike other programs
        try:
            found = np.fromiter(map(float, fields), np.float64, len(fields))
        except ValueError:
            found = None  # a field is missing or not a number: look at each
    if found is None:
        found = np.array([_number(file, field, n, place) for n, field in enumerate(fields)])
    if np.isinf(found).any():
        n = int(np.argmax(np.isinf(found)))
        raise file.error(f"{fields[n]!r} is infinite: write a number, or leave it empty if unknown", *place(n))
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
    raise not_a_number(file, field, *place(n))


class NotANumberError(DataFileError):
    """A field that is not a number, in a column of numbers."""

    column: str  # as the message names it


def not_a_number(file: DataFile, field: str, line: int, column: str, advice: str = "") -> NotANumberError:
    """Return (not raise) an error about a field that should be a number."""
    if not advice and USUAL.is_foreign(field):
        advice = "write numbers with a decimal point, and without separators and signs"
    if not advice and field.startswith(("<", ">", "≤", "≥")):
        advice = "replace limits by numbers, for instance by the limit itself or half of it, or leave such fields empty"
    advice = advice or (
        "read the column as categories with categorical=..., leave it out with drop=..., or use numbers only"
    )
    shown = repr(field) if len(field) <= 40 else repr(field[:40]) + "..."
    found = NotANumberError(str(file.error(f"expected a number, found {shown}; {advice}", line, column)))
    found.column = column
    return found


def identities(values: Iterable[str]) -> Array:
    """Return bag ids: integers if all of them are written as such, otherwise text.

    ``007`` stays text, because as a number it would be the same bag as ``7``.

    Examples
    --------
    >>> identities(["1", "10"]), identities(["1", "007"])
    (array([ 1, 10]), array(['1', '007'], dtype='<U3'))
    >>> identities(["1.0e+00", "2.0e+00"])  # a table of numbers written by MATLAB or NumPy
    array([1, 2])
    """
    items = [value.strip() for value in values]
    if max(map(len, items), default=0) < 19:
        with contextlib.suppress(ValueError):
            whole = list(map(int, items))
            if list(map(str, whole)) == items:
                return np.array(whole, dtype=np.int64)
    if all("." in item for item in items):
        found = _floats(items)
        if found is not None and found.dtype.kind == "i":
            return found
    return np.array(items)


def labels_of(values: Iterable[str]) -> Array:
    """Return labels: integers if all are whole numbers, else floats if all are numbers, else text.

    Examples
    --------
    >>> labels_of(["1.", "0."]), labels_of(["0.5", "1"]), labels_of(["yes", "no"])
    (array([1, 0]), array([0.5, 1. ]), array(['yes', 'no'], dtype='<U3'))
    >>> labels_of(["9007199254740992", "9007199254740993"])  # equal as floats
    array([9007199254740992, 9007199254740993])
    """
    items = [value.strip() for value in values]
    found = _floats(items)
    return np.array(items) if found is None else found


def _floats(items: Sequence[str]) -> Array | None:
    """Return numbers, as integers where all are whole, or None where some are not finite or would become equal."""
    try:
        found = np.array(list(map(float, items)))
    except ValueError:
        return None
    if "_" in "".join(items) or not np.isfinite(found).all():
        return None
    if (np.abs(found) < 2**53).all():
        return found.astype(np.int64) if (found == np.floor(found)).all() else found
    # Beyond 2**53, neighboring integers have the same float.
    exact = [int(item) if _INTEGER.fullmatch(item) and len(item) <= _MOST_DIGITS else None for item in items]
    whole = [number for number in exact if number is not None]
    if len(whole) == len(items) and min(whole) >= -(2**63) and max(whole) < 2**63:
        return np.array(whole, dtype=np.int64)
    written = {item if number is None else number for item, number in zip(items, exact, strict=True)}
    return found if len(set(found.tolist())) >= len(written) else None


def check_present(file: DataFile, lines: Sequence[int], ids: Texts, labels: Texts | None) -> None:
    """Raise if a row has no bag id or no label."""
    for what, column in (("bag id", ids), ("label", labels)):
        row = None if column is None else _first_absent(column)
        if row is not None:
            raise file.error(f"this row has no {what}: every row needs one", lines[row])


def _first_absent(column: Texts) -> int | None:
    """Return the first row without a value, or None."""
    blank = [code for code, value in enumerate(map(str.strip, column.distinct)) if value.lower() in _ABSENT]
    return int(np.argmax(np.isin(column.codes, blank))) if blank else None


def assemble(
    file: DataFile,
    instances: Array,
    owners: Texts,
    labels: Texts | None,
    lines: Sequence[int],
    *,
    feature_names: Iterable[str] | None = None,
    instance_labels: Texts | None = None,
    columns: Columns | None = None,
    source: Source | None = None,
    hint: str = "",
) -> Bags:
    """Group rows into bags; errors name the lines of a bag with a missing id or label, or with two labels."""
    check_present(file, lines, owners, labels)
    ids = identities(owners.distinct)
    found = None if labels is None else labels_of(labels.distinct)
    if labels is not None and found is not None:
        bag_of_row = codes(ids)[owners.codes]  # different texts may be one id
        kinds = codes(found)[labels.codes]
        first = np.unique(bag_of_row, return_index=True)[1]
        differs = kinds != kinds[first][bag_of_row]
        if differs.any():
            row = int(np.argmax(differs))
            before = int(first[bag_of_row[row]])
            one, other = (found[labels.codes[at]] for at in (before, row))
            raise file.error(
                f"bag {ids[owners.codes[row]]} has two labels, {one!s} on line {lines[before]} and {other!s} here: "
                f"a bag has one label; {ONE_LABEL}{hint}",
                lines[row],
            )
    with file.naming_errors():
        return Bags.from_long(
            instances,
            ids[owners.codes],
            labels=None if labels is None or found is None else found[labels.codes],
            feature_names=feature_names,
            columns=columns,
            source=Source(np.asarray(lines), place="line") if source is None else source,
            instance_labels=(
                None if instance_labels is None else labels_of(instance_labels.distinct)[instance_labels.codes]
            ),
        )


# ---------------------------------------------------------------- writing


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number; empty for ``NaN``.

    Examples
    --------
    >>> number_text(46.0), number_text(0.1), number_text(float("nan"))
    ('46', '0.1', '')
    """
    if value != value:
        return ""
    return repr(value).removesuffix(".0")


def texts(values: Array) -> list[str]:
    """Return ids or labels as text: whole numbers without a point, True and False as 1 and 0."""
    items = values.astype(np.int64).tolist() if values.dtype.kind == "b" else values.tolist()
    return [number_text(item + 0.0) if isinstance(item, float) else str(item) for item in items]  # -0.0 is 0


def as_texts(bags: Bags, what: str, *, needs_labels: bool = False) -> tuple[list[str], list[str] | None]:
    """Return the ids and labels of bags as text; raise if a file could not preserve them."""
    names = texts(bags.ids)
    at = first_repeated(names)
    if at is not None:
        raise InputError(f"Duplicate bag id {names[at]}: {what} would merge the bags. Give every bag its own id.")
    blank = next((name for name in names if name.strip() != name or name.lower() in _ABSENT), None)
    if blank is not None:
        raise InputError(f"The bag id {blank!r} would be read back as missing or without its spaces: rename the bag.")
    if bags.labels is None:
        if needs_labels:
            raise InputError(f"These bags have no labels, but {what} requires them: add labels, or write CSV.")
        return names, None
    labels = texts(bags.labels)
    for name, label in zip(names, labels, strict=True):
        if label.strip() != label or label.lower() in _ABSENT:
            raise InputError(
                f"The label {label!r} of bag {name} would be read back as missing or without its spaces: rename it."
            )
    return names, labels
