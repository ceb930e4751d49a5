"""What a file format can do, the registry of all formats, and what they share.

That is: which columns are the bag and the label; numbers, ids and labels from text and as text.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError, PlaceError, did_you_mean
from fuzzymil.bags import Bags, BagStream, Columns, Source
from fuzzymil.bags.labels import LABEL_NAMES
from fuzzymil.bags.series import DECIMAL_POINT, TextSeries, as_float, is_number
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions
from fuzzymil.datasets.formats.files import DataFile, DataFileError

# ---------------------------------------------------------------------- columns

BAG_NAMES = ("bag", "bag_id", "bagid", "bag_ids", "bag_name", "bagname", "molecule", "molecule_name")
"""Column names that are recognized as the bag id, in any case."""

INSTANCE_LABEL = "instance_label"
"""Column of labels of single instances; it is not a feature."""

ColumnName = str | int | None
Problem = Callable[[str], Exception]


# ---------------------------------------------------------------------- formats


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file format for bags: what it is called, which files have it, and the functions that read and write it."""

    name: str  # value of ``format=``
    title: str  # for messages
    read: Callable[..., Bags]  # read(file, bag, label); if it takes options: read(file, bag, label, options, columns)
    write: Callable[[Bags, Path], None] | None = None  # None: it is read-only
    read_parts: Callable[..., BagStream] | None = None  # read_parts(path or paths, bag=, label=, drop=)
    write_parts: Callable[[Iterable[Bags], Path], None] | None = None
    storage: Literal["text", "binary", "folder"] = "text"  # text may be compressed
    takes_columns: bool = True  # whether ``bag=`` and ``label=`` can be chosen
    takes_options: bool = False  # whether columns can be chosen, and categories and dates are read
    column_names: Callable[[DataFile], list[str]] | None = None  # None: columns have no names
    columns: Callable[[DataFile, Any, Any], tuple[ColumnName, ColumnName]] | None = None
    """``columns(file, bag, label)`` returns the columns of the bag id and the label. Default: by their names."""
    suffixes: tuple[str, ...] = ()
    """By which the format is chosen when bags are written; ``""`` for a name without a suffix."""

    # Which files have this format; those of a higher rank are asked first, and of these the ones that came last.
    rank: int = 1
    is_match: Callable[[DataFile, ColumnName], bool] | None = None  # default: any of the following
    recognized: tuple[str, ...] | None = None  # suffixes of files; default: ``suffixes``
    head: str = ""  # a pattern with which the first two lines of text begin
    starts: bytes = b""  # the first bytes
    members: tuple[str, ...] = ()  # of a folder: suffixes of the files in it

    def matches(self, file: DataFile, bag: ColumnName = None) -> bool:
        """Return whether a file or folder looks like this format."""
        if file.is_folder or self.storage == "folder":
            return file.is_folder and any(path.suffix.lower() in self.members for path in file.members)
        if self.is_match is not None:
            return self.is_match(file, bag)
        if file.suffix in (self.suffixes if self.recognized is None else self.recognized):
            return True
        starts = bool(self.starts) and file.start.startswith(self.starts)
        return starts or (bool(self.head) and re.match(self.head, "\n".join(file.head)) is not None)

    @property
    def has_columns(self) -> bool:
        """Whether there are columns of the bag id and the label, so that a file without a label has none."""
        return self.columns is not None or self.column_names is not None

    def roles(
        self, file: DataFile, names: Sequence[str], bag: ColumnName, label: ColumnName, options: ColumnOptions
    ) -> tuple[ColumnName, ColumnName]:
        """Return the columns of the bag id and the label: those given, otherwise those recognized."""
        if self.columns is not None:
            return self.columns(file, bag, label)
        if self.column_names is not None:
            features = options.only or ()
            return named_columns(names, bag, label, file.problem, features, each_row=options.each_row)
        return None, None


FORMATS: dict[str, Format] = {}
"""All formats by name. A module in this folder adds its own: ``FORMATS[name] = Format(name=name, ...)``."""


# ---------------------------------------------------------------------- roles of columns


class NoBagColumnError(DataFileError):
    """No column of a table is called like one of bag ids."""


def named_columns(
    names: Sequence[str],
    bag: ColumnName,
    label: ColumnName,
    error: Problem,
    features: Collection[str] = (),
    *,
    each_row: bool = False,
) -> tuple[str | None, str | None]:
    """Return the bag and label columns of a table: those given, otherwise those recognized by name.

    ``error`` makes an exception from a message and adds where the table is. Columns that are to be ``features`` are
    not recognized as something else. If each row is a bag, there is no column of bags.
    """
    if "" in names:
        raise error(
            f"column {names.index('') + 1} has no name: name it, or remove it if it only numbers the rows "
            "(pandas: to_csv(..., index=False))"
        )
    at = first_repeated(names)
    if at is not None:
        raise error(f"duplicate column {names[at]!r}: rename one")
    free = [name for name in names if name not in features]
    if bag is None and not each_row:
        bag = _only(_named_like(BAG_NAMES, free), "bag", error)
        if bag is None:
            problem = error(
                f"no column looks like a bag id: choose one with bag=..., one of {_quoted_list(names)}, or add a "
                "header with a column 'bag'"
            )
            raise NoBagColumnError(str(problem))
    if label is None:
        free = [name for name in free if name != bag]
        likely = _named_like(LABEL_NAMES[:-1], free)
        if not likely and not _named_like(("x",), free):  # x and y are a point, y alone is a label
            likely = _named_like(("y",), free)
        label = _only(likely, "label", error)
    check_known("column", bag, label, names, error)
    if bag is not None and bag == label:
        raise error(f"the column {bag!r} cannot be both bag and label: name two columns")
    return None if bag is None else str(bag), None if label is None else str(label)


def check_known(what: str, bag: object, label: object, names: Sequence[str], error: Problem) -> None:
    """Raise if ``bag=`` or ``label=`` is not one of the names of columns, attributes or variables."""
    for role, name in (("bag", bag), ("label", label)):
        if name is not None and name not in names:
            message = f"there is no {what} {name!r} for {role}=; choose from {_quoted_list(names)}."
            if role == "label" and {part.strip() for part in str(name).split(",")} <= {*names}:
                raise error(f"{message} Only one can be the label; fit in Python takes several targets as y")
            raise error(f"{message}{did_you_mean(name, names)}".rstrip("."))


def _named_like(known: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that are among the known ones, whatever their case, in the order of the latter."""
    return [name for like in known for name in names if name.lower() == like]


def _only(likely: list[str], role: str, error: Problem) -> str | None:
    if len(likely) > 1:
        raise error(
            f"several columns could be the {role}: {_quoted_list(likely)}; choose one with {role}=... and remove the "
            "others from the file, or they would be used as features"
        )
    return likely[0] if likely else None


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, and what the user says about them."""

    bag: str | None  # None: each row is a bag
    label: str | None
    truth: str | None  # labels of single instances
    features: list[str]
    options: ColumnOptions

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        bag: ColumnName,
        label: ColumnName,
        options: ColumnOptions,
        columns: Columns | None,
        error: Problem,
    ) -> Roles:
        """Return the roles of columns; with those of another table, ``columns``, columns to drop may be missing."""
        bag, label = named_columns(names, bag, label, error, options.only or (), each_row=options.each_row)
        if columns is not None:
            options = dataclasses.replace(options, drop=tuple(name for name in options.drop if name in names))
        apart = [name for name in (bag, label) if name is not None]
        try:
            options.check(names, apart)
        except InputError as problem:
            raise error(str(problem).removesuffix(".")) from None
        truth = next((name for name in names if name.lower() == INSTANCE_LABEL and name not in apart), None)
        others = (bag, label, truth, *options.drop)
        features = [name for name in names if name not in others and name.lower() != INSTANCE_LABEL]
        if not features:
            raise error(f"there is no feature column besides {_quoted_list(names)}")
        same = {name.lower(): name for name in apart}
        alike = next((name for name in features if name.lower() in same), None)
        if alike is not None:
            raise error(
                f"the column {alike!r} would be a feature, but differs from {same[alike.lower()]!r} only in case: "
                "exclude it with drop=..., or rename it"
            )
        return cls(bag, label, truth, features, options)

    @property
    def named(self) -> list[str]:
        """The columns that are not features."""
        return [name for name in (self.bag, self.label, self.truth) if name is not None]


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


def parse_numbers(fields: Sequence[str]) -> tuple[Array, int | None]:
    """Return fields as numbers, NaN where they are missing, and the place of the first that is no number."""
    if "_" not in "".join(fields):  # float() would read 1_000 as a thousand, unlike other programs
        with contextlib.suppress(ValueError):  # a field is missing or not a number: look at each
            return np.fromiter(map(float, fields), np.float64, len(fields)), None
    values = np.empty(len(fields))
    for n, field in enumerate(map(str.strip, fields)):
        if not is_number(field):
            return values, n
        values[n] = as_float(field)
    return values, None


# ---------------------------------------------------------------------- ids and labels

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS = 30  # of integers that are compared exactly; longer ones stay text
_NO_ID = frozenset({"", "?", "nan"})  # marks a missing bag id or label; a class may well be called "none"


def bags_of_rows(
    file: DataFile,
    instances: Array,
    ids: TextSeries,
    labels: TextSeries | None,
    lines: Sequence[int] | Array,
    feature_names: Iterable[str] | None = None,
) -> Bags:
    """Group rows of numbers into bags, with their ids and labels as they are written in the file."""
    source = Source(np.asarray(lines), place="line")
    with file.naming_errors():
        owners = row_ids(file, ids, source)
        target = None if labels is None else row_labels(file, labels, source)[0]
        return Bags.from_long(instances, owners, labels=target, feature_names=feature_names, source=source)


def row_ids(file: DataFile, text: TextSeries, source: Source) -> Array:
    """Return the bag id of each row; raise if a row has none."""
    series = _complete(text, source, "bag id")
    return _spread(file, parse_ids(series.distinct), series)


def row_labels(
    file: DataFile, text: TextSeries, source: Source, options: ColumnOptions = NO_OPTIONS
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the label of each row, and where it is missing; raise if a row has none, and that is not expected."""
    series = TextSeries.of(text.distinct, text.codes, _NO_ID)
    absent = series.codes < 0
    if (absent.any() and options.unlabeled == "error") or not series.distinct:
        row = int(np.argmax(absent))
        advice = "every row needs one. To leave out bags without a label, use unlabeled='drop'"
        raise PlaceError(f"this row has no label: {advice}.", source.where(row), row)
    written, number_format = series.distinct, options.number_format
    numbers = None if number_format == DECIMAL_POINT else number_format.parse_all(written)
    values = parse_labels(written if numbers is None else map(number_text, numbers.tolist()))
    return _spread(file, values, series), absent


def _spread(file: DataFile, values: Array, series: TextSeries) -> Array:
    """Return the value of each row; text takes as much memory as the longest."""
    file.require(4 * values.itemsize * len(series.codes), "has long ids or labels")
    return values[series.codes]


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
    """Return labels: integers if all are whole numbers, else floats if all are numbers, else text."""
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
    """Return the shortest text that reads back as the same number; empty for ``NaN``."""
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
