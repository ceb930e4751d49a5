"""Parquet tables with one row per instance: read at once, or in parts of whole bags, one in memory at a time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, codes
from fuzzymil._utils.errors import InputError, warn_user
from fuzzymil._utils.storage import written_atomically
from fuzzymil.bags import Bags, Columns, Source
from fuzzymil.bags.tables import AS_IT_IS, ColumnOptions, understood, why_identifier
from fuzzymil.bags.values import values_of
from fuzzymil.datasets.formats import _arrow, _columns, _fields
from fuzzymil.datasets.formats._columns import Column
from fuzzymil.datasets.formats._parquet_table import Group, Table, files_of, names_of
from fuzzymil.datasets.formats.files import DataFile, DataFileError

__all__ = [
    "ParquetBags",
    "ScatteredBagsError",
    "column_names",
    "is_parquet",
    "parquet_columns",
    "read_parquet",
    "write_parquet",
    "write_parts",
]

PART = 4_000_000
"""Approximate number of values in a part: row groups are joined up to this."""

LARGE = 64_000_000
"""Number of values in a row group (half a gigabyte) above which a warning suggests smaller ones."""


# ---------------------------------------------------------------- parts


class ScatteredBagsError(DataFileError):
    """The rows of a bag are not contiguous, so the file cannot be read in parts."""


class ParquetBags:
    """The bags of a Parquet file, or of all Parquet files in a folder, read part by part.

    The rows of a bag must be contiguous. The bag column is scanned once to find where bags begin; features are read
    when a part is requested. A part is one row group, or several small ones, extended to whole bags: a bag that
    continues in the next row group or file belongs to the part where it begins.

    Parameters
    ----------
    path : path
        A file, or a folder of ``.parquet`` files with the same columns, read in order of their names.
    bag, label : str, optional
        Columns of the bag id and the label. Default: as in `fuzzymil.datasets.read_bags`.
    drop : sequence of str
        Columns to exclude.

    Attributes
    ----------
    n_parts, n_bags, n_instances : int
    feature_names : tuple of str
    bag : str
    label : str or None

    Raises
    ------
    DataFileError
        An `InputError` that names the file and the row (counted from 0) and explains how to fix it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fuzzymil.datasets import make_two_concepts, write_bags
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bags.parquet"
    >>> write_bags(make_two_concepts(random_state=0), path)
    >>> table = ParquetBags(path)
    >>> table.n_parts, table.n_bags, table.feature_names
    (1, 150, ('x1', 'x2'))
    >>> table.part(0).labels[:3]
    array([1, 1, 1])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        bag: Column = None,
        label: Column = None,
        drop: Sequence[str] = (),
    ) -> None:
        self._table = Table(Path(path), bag, label, drop)
        self.bag, self.label = self._table.bag, self._table.label
        self.feature_names = tuple(self._table.features)
        self._starts = _starts(self._table)
        self._edges = _edges(self._table.groups, self._starts, max(1, PART // len(self.feature_names)))
        self._warn_of_large_groups()

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self._edges) - 1

    @property
    def n_bags(self) -> int:
        """Total number of bags."""
        return len(self._starts) - 1

    @property
    def n_instances(self) -> int:
        """Total number of instances."""
        return self._table.n_rows

    def part(self, place: int) -> Bags:
        """Read one part."""
        place = range(self.n_parts)[place]
        starts = self._starts[self._edges[place] : self._edges[place + 1] + 1]
        start, end = int(starts[0]), int(starts[-1])
        instances, columns = self._table.rows(start, end)
        first = _arrow.pyarrow().array(starts[:-1] - start)
        ids = _arrow.values(columns[self.bag].take(first))
        labels = None
        if self.label is not None:
            self._check_constant(columns[self.label], starts, ids)
            labels = _arrow.values(columns[self.label].take(first))
        return _made(
            self._table,
            partial(Bags, instances, starts - start, ids=ids, labels=labels, feature_names=self.feature_names),
            columns,
        )

    def _check_constant(self, labels: Any, starts: npt.NDArray[np.int64], ids: Array) -> None:
        owners = np.repeat(np.arange(len(ids)), np.diff(starts))
        expected = labels.take(_arrow.pyarrow().array(starts[owners] - starts[0]))
        differs = _arrow.pyarrow().compute.not_equal(labels, expected).to_numpy(zero_copy_only=False)
        if differs.any():
            row = int(np.argmax(differs))
            raise self._table.error(
                f"bag {ids[owners[row]]} has two labels, {expected[row]} and {labels[row]} here: a bag has one label; "
                f"{_fields.ONE_LABEL}",
                int(starts[0]) + row,
            )

    def _warn_of_large_groups(self) -> None:
        largest = max(self._table.groups, key=lambda group: group.end - group.start)
        n_rows = largest.end - largest.start
        if n_rows * len(self.feature_names) > LARGE:
            path = self._table.files[largest.file].path
            warn_user(
                f"{path} has a row group of {n_rows:,} rows, which are read at once. To use less memory, rewrite the "
                f"file with small row groups: write_bags(stream_bags({str(path)!r}), ...)."
            )

    def __repr__(self) -> str:
        return f"ParquetBags({self.n_bags:,} bags, {self.n_instances:,} instances, {self.n_parts:,} parts)"


def _starts(rows: Table) -> npt.NDArray[np.int64]:
    """Return the rows where bags begin, and the number of rows; raise if the rows of a bag are not contiguous."""
    compute = _arrow.pyarrow().compute
    starts, keys = [], []
    before = None
    for at, batch in rows.batches([rows.bag], 0, rows.n_rows):
        column = _arrow.decoded(batch.column(rows.bag))
        rows.check_present(column, at, "bag id")
        begins = np.ones(len(column), dtype=bool)
        begins[1:] = compute.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        begins[0] = before is None or before != column[0]
        before = column[-1]
        starts.append(at + np.flatnonzero(begins))
        keys.append(_arrow.keys(_arrow.values(column.filter(_arrow.pyarrow().array(begins)))))
    found = np.concatenate(starts)
    for earlier, later in _arrow.repeated(np.concatenate(keys)):
        one, other = (_id_at(rows, int(found[place])) for place in (earlier, later))
        if one == other:
            place = rows.place(int(found[later]))
            raise ScatteredBagsError(
                f"{place}: bag {other} continues here after other bags: to read a table in parts, the rows of a bag "
                f"must be contiguous; sort the table by {rows.bag!r}."
            )
    return np.append(found, rows.n_rows)


def _id_at(rows: Table, row: int) -> Any:
    ((_, batch),) = rows.batches([rows.bag], row, row + 1)
    return _arrow.decoded(batch.column(rows.bag))[0].as_py()


def _edges(groups: Sequence[Group], starts: npt.NDArray[np.int64], n_rows: int) -> list[int]:
    """Return the positions of the bags with which parts begin, and the number of bags."""
    edges = [0]
    begin = 0
    for group in groups:
        if group.end - begin > n_rows:
            here = int(np.searchsorted(starts, group.start))
            if here > edges[-1]:
                edges.append(here)
                begin = group.start
    return [*edges, len(starts) - 1] if len(starts) - 1 > edges[-1] else edges


def _made(rows: Table, make: Any, columns: dict[str, Any]) -> Bags:
    truth = None if rows.truth is None else _arrow.values(columns[rows.truth])
    with rows.files[0].naming_errors():
        found: Bags = make(instance_labels=truth)
    return found


# ---------------------------------------------------------------- whole files


def is_parquet(file: DataFile, bag: object) -> bool:
    """Return whether a file is named or begins like Parquet, or a folder contains such files."""
    if file.is_folder:
        return any(path.suffix.lower() in (".parquet", ".pq") for path in file.path.iterdir())
    return file.suffix in (".parquet", ".pq") or file.starts_with(b"PAR1")


def column_names(file: DataFile) -> list[str]:
    """Return the names of all columns."""
    first = files_of(file)[0]
    with _arrow.opened(first) as found:
        return names_of(first, found)


def parquet_columns(file: DataFile, bag: Column = None, label: Column = None) -> tuple[str, str | None]:
    """Return the bag and label columns: those given, otherwise those recognized by name."""
    return _columns.named_columns(column_names(file), bag, label, file.problem)


def read_parquet(
    file: DataFile,
    bag: Column = None,
    label: Column = None,
    options: ColumnOptions = AS_IT_IS,
    columns: Columns | None = None,
) -> Bags:
    """Read all rows at once, in any order."""
    names = column_names(file)
    drop = [name for name in options.drop if columns is None or name in names]  # of another file
    rows = Table(file.path, bag, label, drop, mixed=True)
    mixed = (
        rows.other_than_numbers or columns is not None or options != dataclasses.replace(AS_IT_IS, drop=options.drop)
    )
    if not mixed:
        instances, others = rows.rows(0, rows.n_rows)
        owners = codes(_arrow.values(others[rows.bag]))
        mixed = any(why_identifier(name, instances[:, d], owners) for d, name in enumerate(rows.features))
    if mixed:
        with file.naming_errors():
            options.check(names, [name for name in (rows.bag, rows.label) if name is not None])
            return _mixed_rows(rows, dataclasses.replace(options, drop=()), columns)
    labels = None if rows.label is None else _arrow.values(others[rows.label])
    make = partial(
        Bags.from_long, instances, _arrow.values(others[rows.bag]), labels=labels, feature_names=rows.features
    )
    return _made(rows, make, others)


def _mixed_rows(rows: Table, options: ColumnOptions, columns: Columns | None) -> Bags:
    """Return bags whose features are numbers, categories and dates."""
    found = rows.values(0, rows.n_rows)
    owners = _arrow.values(_arrow.decoded(found[rows.bag]))
    table = {name: values_of(_arrow.any_values(found[name]), name) for name in rows.features}
    made = understood(table, codes(owners), options, columns)
    labels = None if rows.label is None else _arrow.values(_arrow.decoded(found[rows.label]))
    make = partial(
        Bags.from_long,
        made.instances,
        owners,
        labels=labels,
        columns=made.columns,
        source=Source(np.arange(rows.n_rows), made.extra, unused=made.unused, label=rows.label or ""),
    )
    return _made(rows, make, {name: _arrow.decoded(column) for name, column in found.items() if name == rows.truth})


def write_parquet(bags: Bags, path: Path) -> None:
    """Write a table with the columns bag, label and instance_label (where known) and the features."""
    write_parts([bags], path)


def write_parts(parts: Iterable[Bags], path: Path) -> None:
    """Write parts of bags to one file, atomically; a row group has whole bags.

    Default ids, which start from 0 in every part, become consecutive numbers.
    """
    with written_atomically(path) as file:
        _write(parts, file)


def _write(parts: Iterable[Bags], file: IO[bytes]) -> None:
    pyarrow = _arrow.pyarrow()
    ends: list[int] = []
    keys: list[Array] = []
    n_bags, numbered = 0, True
    with contextlib.ExitStack() as stack:
        writer = None
        for number, bags in enumerate(parts):
            _fields.as_texts(bags, "a table")
            _columns.check_feature_names(bags)
            numbered = numbered and np.array_equal(bags.ids, np.arange(bags.n_bags))
            ids = bags.ids + n_bags if numbered else bags.ids
            for some, names in _runs(bags, ids):
                found = _arrow.to_table(some, names)
                if writer is None:
                    repeating = [name for name in found.column_names if name not in bags.names]
                    writer = pyarrow.parquet.ParquetWriter(file, found.schema, use_dictionary=repeating)
                    stack.enter_context(writer)
                writer.write_table(_alike(found, writer.schema, number), row_group_size=found.num_rows)
            n_bags += bags.n_bags
            ends.append(n_bags)
            keys.append(_arrow.keys(_arrow.values(_arrow.column_of(ids))))
    for pair in _arrow.repeated(np.concatenate(keys)):
        at = [int(np.searchsorted(ends, place, side="right")) for place in pair]
        raise InputError(
            f"Parts {at[0]} and {at[1]} have a bag with the same id, which a table would merge: use unique ids."
        )


def _runs(bags: Bags, ids: Array) -> Iterator[tuple[Bags, Array]]:
    """Yield runs of bags, each about the size of a part, with their ids."""
    n_rows = max(1, PART // bags.n_features)
    first = 0
    while first < bags.n_bags:
        fitting = int(np.searchsorted(bags.offsets, bags.offsets[first] + n_rows, side="right")) - 1
        last = max(fitting, first + 1)
        yield bags[first:last], ids[first:last]
        first = last


def _alike(found: Any, schema: Any, number: int) -> Any:
    """Cast a part's table to the column types of the first part, if no value changes."""
    same = found.schema.names == schema.names
    if same and list(map(_arrow.is_number, found.schema.types)) == list(map(_arrow.is_number, schema.types)):
        with contextlib.suppress(_arrow.pyarrow().ArrowInvalid):  # fractions that would be truncated
            return found.cast(schema)
    columns = [", ".join(f"{field.name} ({field.type})" for field in one) for one in (found.schema, schema)]
    raise InputError(
        f"Part {number} has the columns {columns[0]}, but part 0 has {columns[1]}: all parts need the same columns."
    )
