"""One table from one or several Parquet files: the roles of its columns, and its rows in batches."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets.formats import _arrow, _columns
from fuzzymil.datasets.formats._columns import Column
from fuzzymil.datasets.formats.files import DataFile, DataFileError

BATCH = 2**16
"""Number of rows decoded at a time."""

_PANDAS_INDEX = "__index_level_"


@dataclasses.dataclass(frozen=True)
class Group:
    """A row group: its file, its number in that file, and its rows, counted over all files."""

    file: int
    number: int
    start: int
    end: int


class Table:
    """Files with the same columns, concatenated to one table."""

    def __init__(self, path: Path, bag: Column, label: Column, drop: Sequence[str], *, mixed: bool = False) -> None:
        self._mixed = mixed  # whether features may be other than numbers
        if isinstance(drop, str):
            raise ParameterError(f"drop must be a list of columns, got {drop!r}: use [{drop!r}].")
        self.files = files_of(DataFile(path))
        self.first_rows: list[int] = []
        self.groups: list[Group] = []
        kinds: dict[str, Any] = {}
        for place, file in enumerate(self.files):
            found = self._add(place, file)
            if place == 0:
                kinds = found
                self._choose(kinds, bag, label, drop)
            self._check_equal(file, kinds, found)
        self.n_rows = self.groups[-1].end if self.groups else 0
        if not self.n_rows:
            raise DataFileError(f"{path} has columns but no rows: write or download it again.")

    def _add(self, place: int, file: DataFile) -> dict[str, Any]:
        """Record where a file's rows are; return the types of its columns."""
        start = self.groups[-1].end if self.groups else 0
        self.first_rows.append(start)
        with _arrow.opened(file) as found:
            names = names_of(file, found)
            for number in range(found.metadata.num_row_groups):
                end = start + found.metadata.row_group(number).num_rows
                if end < start:
                    raise file.error(f"has a row group of {end - start} rows: it is damaged; download it again")
                if end > start:
                    self.groups.append(Group(place, number, start, end))
                start = end
            return dict(zip(names, found.schema_arrow.types, strict=True))

    def _choose(self, kinds: dict[str, Any], bag: Column, label: Column, drop: Sequence[str]) -> None:
        error = self.files[0].problem
        names = list(kinds)
        self.bag, self.label = _columns.named_columns(names, bag, label, error)
        self.features = _columns.feature_columns(names, self.bag, self.label, drop, error)
        self.truth = _columns.instance_label(names, self.bag, self.label)
        odd = [name for name in self.features if not _arrow.is_number(kinds[name])]
        self.other_than_numbers = bool(odd)
        if odd and not self._mixed:
            shown = ", ".join(f"{name!r} ({kinds[name]})" for name in odd)
            raise error(f"these columns are not numeric: {shown}; exclude them with drop=..., or convert them")
        for name in self._named:
            if not _arrow.is_value(kinds[name]):
                raise error(f"the column {name!r} has type {kinds[name]}: ids and labels must be numbers or text")
        index = next((name for name in self.features if name.startswith(_PANDAS_INDEX)), None)
        if index is not None:
            raise error(
                f"the column {index!r} is the index of a pandas data frame: exclude it with drop=..., or write the "
                "data frame with to_parquet(..., index=False)"
            )

    @property
    def _named(self) -> list[str]:
        """The columns that are read besides the features."""
        return [name for name in (self.bag, self.label, self.truth) if name is not None]

    def _check_equal(self, file: DataFile, kinds: dict[str, Any], found: dict[str, Any]) -> None:
        if list(found) != list(kinds):
            other = next((name for name in [*found, *kinds] if (name in found) != (name in kinds)), None)
            what = "the order of its columns" if other is None else f"the column {other!r}"
            raise file.error(f"differs from {self.files[0].path.name} in {what}: write all files with the same columns")
        for name in found:
            # Features become float64 anyway; ids and labels have to stay comparable.
            same = _arrow.plain_type(found[name]) == _arrow.plain_type(kinds[name])
            numbers = _arrow.is_number(found[name]) and _arrow.is_number(kinds[name])
            alike = same or (name not in self._named and numbers)
            if name in [*self._named, *self.features] and not alike:
                raise file.error(
                    f"has the column {name!r} with type {found[name]}, but in {self.files[0].path.name} it has type "
                    f"{kinds[name]}: write all files with the same types"
                )

    def place(self, row: int) -> str:
        """Return the file of a row and its number in that file, counted from 0 as in data frames."""
        file = int(np.searchsorted(self.first_rows, row, side="right")) - 1
        return f"{self.files[file].path}, row {row - self.first_rows[file]}"

    def error(self, message: str, row: int) -> DataFileError:
        """Return (not raise) an error that names the file and the row."""
        return DataFileError(f"{self.place(row)}: {message}.")

    def batches(self, columns: Sequence[str], start: int, end: int) -> Iterator[tuple[int, Any]]:
        """Yield rows ``start`` to ``end`` in batches, each with the number of its first row."""
        first = bisect.bisect_right(self.groups, start, key=lambda group: group.end)
        wanted = itertools.takewhile(lambda group: group.start < end, self.groups[first:])
        for place, groups in itertools.groupby(wanted, lambda group: group.file):
            some = list(groups)
            at = some[0].start
            numbers = [group.number for group in some]
            with _arrow.opened(self.files[place]) as file:
                for batch in file.iter_batches(BATCH, row_groups=numbers, columns=list(columns)):
                    batch.validate(full=True)  # damage may be hidden in text and categories
                    low, high = max(start - at, 0), min(end - at, batch.num_rows)
                    if low < high:
                        yield at + low, batch.slice(low, high - low)
                    at += batch.num_rows
                    if at >= end:
                        break
            if at < min(end, some[-1].end):
                raise self.files[place].error("has fewer rows than it states: it is damaged; download it again")

    def rows(self, start: int, end: int) -> tuple[Array, dict[str, Any]]:
        """Return the features of some rows, shape (end - start, n_features), and the other columns by name."""
        n_values = (end - start) * len(self.features)
        # The array, a copy in the order of the bags, and a mask.
        self.files[0].require(
            24 * n_values, f"has {end - start:,} rows of {len(self.features):,} features to read at once"
        )
        instances = np.empty((end - start, len(self.features)))
        others: dict[str, list[Any]] = {name: [] for name in self._named}
        for at, batch in self.batches([*self._named, *self.features], start, end):
            for d, name in enumerate(self.features):
                instances[at - start : at - start + batch.num_rows, d] = _arrow.numbers(batch.column(name))
            for name, parts in others.items():
                parts.append(_arrow.decoded(batch.column(name)))
        joined = {name: _arrow.pyarrow().concat_arrays(parts) for name, parts in others.items()}
        self.check_present(joined[self.bag], start, "bag id")
        if self.label is not None:
            self.check_present(joined[self.label], start, "label")
        return instances, joined

    def values(self, start: int, end: int) -> dict[str, Any]:
        """Return all columns of some rows, by name, whatever their types."""
        n_values = (end - start) * len(self.features)
        self.files[0].require(
            64 * n_values, f"has {end - start:,} rows of {len(self.features):,} features to read at once"
        )
        names = [*self._named, *self.features]
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for _, batch in self.batches(names, start, end):
            for name in names:
                column = batch.column(name)
                kind = getattr(column.type, "value_type", None) if hasattr(column, "dictionary") else None
                parts[name].append(column if kind is None else column.dictionary_decode())
        found = {name: _arrow.pyarrow().concat_arrays(some) for name, some in parts.items()}
        for role, what in ((self.bag, "bag id"), (self.label, "label")):
            if role is not None:
                self.check_present(_arrow.decoded(found[role]), start, what)
        return found

    def check_present(self, column: Any, start: int, what: str) -> None:
        """Raise if a row has no id or label."""
        absent = _arrow.missing(column)
        if absent.any():
            raise self.error(f"this row has no {what}: every row needs one", start + int(np.argmax(absent)))


def files_of(file: DataFile) -> list[DataFile]:
    """Return the file, or the Parquet files of a folder sorted by name."""
    if not file.is_folder:
        return [file]
    found = sorted(path for path in file.path.iterdir() if path.suffix.lower() in (".parquet", ".pq"))
    found = [path for path in found if not path.name.startswith((".", "_"))]  # metadata of other programs
    if not found:
        raise file.error("contains no .parquet files: pass a file or another folder")
    return [DataFile(path) for path in found]


def names_of(file: DataFile, found: Any) -> list[str]:
    """Return the column names of an open file, which must be unique."""
    names: list[str] = found.schema_arrow.names
    at = first_repeated(names)
    if at is not None:
        raise file.problem(f"duplicate column {names[at]!r}: rename one")
    return names
