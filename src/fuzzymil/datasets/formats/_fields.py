"""What formats share: which columns are the bag and the label; numbers, ids and labels from text and as text."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError, PlaceError, did_you_mean
from fuzzymil.bags import Bags, Source
from fuzzymil.bags.series import MISSING, PLAIN_NUMBERS, NumberFormat, TextSeries
from fuzzymil.bags.table import not_a_number
from fuzzymil.datasets.formats.files import DataFile, DataFileError

# ---------------------------------------------------------------------- columns

BAG_NAMES = ("bag", "bag_id", "bagid", "bag_ids", "bag_name", "bagname", "molecule", "molecule_name")
"""Column names that are recognized as the bag id, in any case."""

LABEL_NAMES = ("label", "labels", "bag_label", "class_label", "bag_class", "class", "target", "y")
"""Column names that are recognized as the label, in any case."""

INSTANCE_LABEL = "instance_label"
"""Column of labels of single instances; it is not a feature."""

ColumnName = str | int | None
Problem = Callable[[str], Exception]


def named_columns(names: Sequence[str], bag: ColumnName, label: ColumnName, error: Problem) -> tuple[str, str | None]:
    """Return the bag and label columns of a table: those given, otherwise those recognized by name.

    ``error`` makes an exception from a message and adds where the table is.
    """
    if "" in names:
        raise error(
            f"column {names.index('') + 1} has no name: name it, or remove it if it only numbers the rows "
            "(pandas: to_csv(..., index=False))"
        )
    at = first_repeated(names)
    if at is not None:
        raise error(f"duplicate column {names[at]!r}: rename one")
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(name.lower(), []).append(name)
    if bag is None:
        bag = _only([name for like in BAG_NAMES for name in known.get(like, ())], "bag", error)
        if bag is None:
            raise error(
                f"no column looks like a bag id: choose one with bag=..., one of {_quoted_list(names)}, or add a "
                "header with a column 'bag'"
            )
    if label is None:
        likely = [name for like in LABEL_NAMES[:-1] for name in known.get(like, ()) if name != bag]
        if not likely and "x" not in known:  # x and y are a point, y alone is a label
            likely = known.get("y", [])
        label = _only(likely, "label", error)
    check_known("column", bag, label, names, error)
    if bag == label:
        raise error(f"the column {bag!r} cannot be both bag and label: name two columns")
    return str(bag), None if label is None else str(label)


def check_known(what: str, bag: object, label: object, names: Sequence[str], error: Problem) -> None:
    """Raise if ``bag=`` or ``label=`` is not one of the names of columns, attributes or variables."""
    for role, name in (("bag", bag), ("label", label)):
        if name is not None and name not in names:
            message = f"there is no {what} {name!r} for {role}=; choose from {_quoted_list(names)}."
            if role == "label" and {part.strip() for part in str(name).split(",")} <= {*names}:
                raise error(f"{message} Only one can be the label; fit in Python takes several targets as y")
            raise error(f"{message}{did_you_mean(name, names)}".rstrip("."))


def _only(likely: list[str], role: str, error: Problem) -> str | None:
    if len(likely) > 1:
        raise error(
            f"several columns could be the {role}: {_quoted_list(likely)}; choose one with {role}=... and remove the "
            "others from the file, or they would be used as features"
        )
    return likely[0] if likely else None


def feature_columns(
    names: Sequence[str], bag: str, label: str | None, drop: Iterable[str], error: Problem
) -> list[str]:
    """Return the feature columns: all but bag, label, instance label and dropped columns."""
    known, apart = set(names), {bag, label, *drop}
    for name in drop:
        if name not in known:
            raise error(f"there is no column {name!r} to drop; choose from {_quoted_list(names)}")
        if name in (bag, label):
            raise error(f"the column {name!r} is the bag or the label and cannot be dropped")
    features = [name for name in names if name not in apart and name.lower() != INSTANCE_LABEL]
    if not features:
        raise error(f"there is no feature column besides {_quoted_list(names)}")
    roles = {name.lower(): name for name in (bag, label) if name is not None}
    alike = next((name for name in features if name.lower() in roles), None)
    if alike is not None:
        raise error(
            f"the column {alike!r} would be a feature, but differs from {roles[alike.lower()]!r} only in case: exclude "
            "it with drop=..., or rename it"
        )
    return features


def instance_label(names: Sequence[str], bag: str, label: str | None) -> str | None:
    """Return the column of instance labels, in any case, unless it is the bag or the label; None if there is none."""
    return next((name for name in names if name.lower() == INSTANCE_LABEL and name not in (bag, label)), None)


def check_feature_names(bags: Bags) -> None:
    """Raise if a feature written to a table with a header would be read back as the bag or its label."""
    lower = [name.lower() for name in bags.names]
    alone = bags.labels is None and "x" not in lower  # such a y would be read as the label
    taken = {*BAG_NAMES, *LABEL_NAMES[:-1], INSTANCE_LABEL, *(("y",) if alone else ())}
    for name in bags.names:
        if name.lower() in taken:
            raise InputError(f"The feature {name!r} would be read as the bag or its label: rename it before writing.")


def _quoted_list(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} columns)"


# ---------------------------------------------------------------------- numbers


def parse_rows(file: DataFile, rows: Sequence[Sequence[str]], lines: Sequence[int], names: Sequence[str]) -> Array:
    """Convert fields to numbers of shape (n_rows, n_columns); missing ones are ``NaN``."""
    width = len(names)
    found = parse_fields(file, list(chain.from_iterable(rows)), lambda n: (lines[n // width], repr(names[n % width])))
    return found.reshape(len(rows), width)


def parse_fields(file: DataFile, fields: Sequence[str], place: Callable[[int], tuple[int, str]]) -> Array:
    """Convert fields to numbers; ``place(n)`` returns the line and column of a field, for errors."""
    found: Array | None = None
    if "_" not in "".join(fields):  # float() would read 1_000 as a thousand, unlike other programs
        try:
            found = np.fromiter(map(float, fields), np.float64, len(fields))
        except ValueError:
            found = None  # a field is missing or not a number: look at each
    if found is None:
        found = np.array([_number(file, field, n, place) for n, field in enumerate(fields)])
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
    line, column = place(n)
    raise NotANumberError(str(file.error(not_a_number(field), line, column)), column)


class NotANumberError(DataFileError):
    """A field that is not a number, in a column of numbers."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message, column)
        self.message, self.column = message, column  # the column as the message names it

    def __str__(self) -> str:
        return self.message


# ---------------------------------------------------------------------- ids and labels

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS = 30  # of integers that are compared exactly; longer ones stay text
_NO_ID = frozenset({"", "?", "nan"})  # marks a missing bag id or label; a class may well be called "none"


def bags_of_rows(
    file: DataFile,
    instances: Array,
    ids: TextSeries,
    labels: TextSeries | None,
    lines: Sequence[int],
    feature_names: Iterable[str] | None = None,
) -> Bags:
    """Group rows of numbers into bags, with their ids and labels as they are written in the file."""
    source = Source(np.asarray(lines), place="line")
    with file.naming_errors():
        return Bags.from_long(
            instances,
            row_ids(ids, source),
            labels=None if labels is None else row_labels(labels, source),
            feature_names=feature_names,
            source=source,
        )


def row_ids(text: TextSeries, source: Source) -> Array:
    """Return the bag id of each row; raise if a row has none."""
    series = _complete(text, source, "bag id")
    return parse_ids(series.distinct)[series.codes]


def row_labels(text: TextSeries, source: Source, number_format: NumberFormat = PLAIN_NUMBERS) -> Array:
    """Return the label of each row; raise if a row has none."""
    series = _complete(text, source, "label")
    written = series.distinct
    numbers = None if number_format == PLAIN_NUMBERS else number_format.parse_all(written)
    return parse_labels(written if numbers is None else map(number_text, numbers.tolist()))[series.codes]


def _complete(text: TextSeries, source: Source, what: str) -> TextSeries:
    series = TextSeries.of(text.distinct, text.codes, _NO_ID)
    absent = series.codes < 0
    if absent.any():
        row = int(np.argmax(absent))
        raise PlaceError(f"this row has no {what}: every row needs one.", source.where(row), row)
    return series


def parse_ids(values: Iterable[str]) -> Array:
    """Return bag ids: integers if all of them are written as such, otherwise text.

    ``007`` stays text, because as a number it would be the same bag as ``7``.

    Examples
    --------
    >>> parse_ids(["1", "10"]), parse_ids(["1", "007"])
    (array([ 1, 10]), array(['1', '007'], dtype='<U3'))
    >>> parse_ids(["1.0e+00", "2.0e+00"])  # a table of numbers written by MATLAB or NumPy
    array([1, 2])
    """
    items = [value.strip() for value in values]
    if max(map(len, items), default=0) < 19:
        with contextlib.suppress(ValueError):
            whole = list(map(int, items))
            if list(map(str, whole)) == items:
                return np.array(whole, dtype=np.int64)
    if all("." in item for item in items):
        found = _whole_or_floats(items)
        if found is not None and found.dtype.kind == "i":
            return found
    return np.array(items)


def parse_labels(values: Iterable[str]) -> Array:
    """Return labels: integers if all are whole numbers, else floats if all are numbers, else text.

    Examples
    --------
    >>> parse_labels(["1.", "0."]), parse_labels(["0.5", "1"]), parse_labels(["yes", "no"])
    (array([1, 0]), array([0.5, 1. ]), array(['yes', 'no'], dtype='<U3'))
    >>> parse_labels(["9007199254740992", "9007199254740993"])  # equal as floats
    array([9007199254740992, 9007199254740993])
    """
    items = [value.strip() for value in values]
    found = _whole_or_floats(items)
    return np.array(items) if found is None else found


def _whole_or_floats(items: Sequence[str]) -> Array | None:
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


# ---------------------------------------------------------------------- writing


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


def values_as_text(values: Array) -> list[str]:
    """Return ids or labels as text: whole numbers without a point, True and False as 1 and 0."""
    items = values.astype(np.int64).tolist() if values.dtype.kind == "b" else values.tolist()
    return [number_text(item + 0.0) if isinstance(item, float) else str(item) for item in items]  # -0.0 is 0


def ids_and_labels(bags: Bags, what: str, *, needs_labels: bool = False) -> tuple[list[str], list[str] | None]:
    """Return the ids and labels of bags as text; raise if a file could not preserve them."""
    names = values_as_text(bags.ids)
    at = first_repeated(names)
    if at is not None:
        raise InputError(f"Duplicate bag id {names[at]}: {what} would merge the bags. Give every bag its own id.")
    blank = next((name for name in names if name.strip() != name or name.lower() in _NO_ID), None)
    if blank is not None:
        raise InputError(f"The bag id {blank!r} would be read back as missing or without its spaces: rename the bag.")
    if bags.labels is None:
        if needs_labels:
            raise InputError(f"These bags have no labels, but {what} requires them: add labels, or write CSV.")
        return names, None
    labels = values_as_text(bags.labels)
    for name, label in zip(names, labels, strict=True):
        if label.strip() != label or label.lower() in _NO_ID:
            raise InputError(
                f"The label {label!r} of bag {name} would be read back as missing or without its spaces: rename it."
            )
    return names, labels
