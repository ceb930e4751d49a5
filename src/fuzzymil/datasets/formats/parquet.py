"""Parquet tables with one row per instance: read at once, or in parts of whole bags, one in memory at a time.

pyarrow is optional and imported on demand.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError, MissingExtraError, PlaceError, warn_user
from fuzzymil._utils.storage import written_atomically
from fuzzymil.bags import Bags, BagStream, Column, Columns, Source, Table, bags_of_table
from fuzzymil.bags.series import NumberSeries, Series, as_series
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, ColumnName, Format
from fuzzymil.datasets.formats.files import DataFile, DataFileError

PART = 4_000_000
"""Approximate number of values in a part: row groups are joined up to this."""

LARGE = 64_000_000
"""Number of values in a row group (half a gigabyte) above which a warning suggests smaller ones."""

BATCH = 2**16
"""Number of rows decoded at a time."""

_PER_TEXT, _TEXT_COPIES = 64, 3  # bytes of a text besides its characters; how many times they are in memory

_PANDAS_INDEX = "__index_level_"

# ---------------------------------------------------------------- Arrow


def _pyarrow() -> Any:
    """Import pyarrow and the submodules in use."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            'Parquet files need pyarrow, which is not installed: pip install "fuzzymil[parquet]".'
        ) from None
    return pyarrow


@contextlib.contextmanager
def _open(file: DataFile, texts: Sequence[str] = ()) -> Iterator[Any]:
    """Open a Parquet file; errors raised while it is open name the file.

    ``texts``: columns to read as distinct values, and which of them each row has.
    """
    arrow = _pyarrow()
    try:
        with arrow.parquet.ParquetFile(file.path, read_dictionary=list(texts)) as found:
            yield found
    except arrow.ArrowMemoryError:
        raise  # not the file's fault
    except (arrow.ArrowException, OSError, UnicodeDecodeError, OverflowError) as problem:
        reason = f"{str(problem).partition(chr(10))[0].rstrip('.'):.200}"
        raise file.error(f"is not a Parquet file, or it is damaged ({reason}): write or download it again") from None


def _is_number(kind: Any, *, as_id: bool = False) -> bool:
    """Return whether columns of an Arrow type can be features, or else bag ids and labels."""
    types = _pyarrow().types
    tests = (types.is_string,) if as_id else (types.is_decimal, types.is_null)
    return any(test(_common_type(kind)) for test in (types.is_integer, types.is_floating, *tests))


def _common_type(kind: Any) -> Any:
    """Return the common type of all types with the same values: 64-bit numbers, text, otherwise the type itself.

    Booleans are 1 and 0, as in other formats; categories have the type of their values.
    """
    arrow = _pyarrow()
    types = arrow.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_boolean(kind) or (types.is_integer(kind) and not types.is_uint64(kind)):
        return arrow.int64()
    if types.is_floating(kind):
        return arrow.float64()
    return arrow.string() if types.is_large_string(kind) else kind


def _decode(column: Any) -> Any:
    """Cast an Arrow array to its `_common_type`; -0.0 becomes 0.0, which is the same bag."""
    arrow = _pyarrow()
    column = column.dictionary_decode() if arrow.types.is_dictionary(column.type) else column
    found = column.cast(_common_type(column.type))
    return arrow.compute.add(found, 0.0) if arrow.types.is_floating(found.type) else found


def _n_characters(column: Any) -> int:
    """Return how many bytes of text a column has if each row has its own; 0 of other columns."""
    arrow = _pyarrow()
    if not arrow.types.is_dictionary(column.type) or not arrow.types.is_string(_common_type(column.type)):
        return 0
    lengths = arrow.compute.binary_length(column.dictionary)
    return arrow.compute.sum(lengths.take(column.indices).cast(arrow.int64())).as_py() or 0


def _longest(column: Any) -> int:
    """Return the length of the longest text of a decoded column; 0 of other columns."""
    arrow = _pyarrow()
    if not arrow.types.is_string(column.type):
        return 0
    return arrow.compute.max(arrow.compute.binary_length(column)).as_py() or 0


def _is_missing(column: Any) -> npt.NDArray[np.bool_]:
    """Return where a decoded column is null, NaN or an empty string."""
    arrow = _pyarrow()
    found = column.is_null(nan_is_null=True)
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        found = arrow.compute.or_kleene(found, arrow.compute.equal(column, ""))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _numbers(column: Any) -> Array:
    """Return a column as float64; nulls become ``NaN``."""
    return np.asarray(_decode(column).cast(_pyarrow().float64(), safe=False).to_numpy(zero_copy_only=False))


def _values(column: Any) -> Array:
    """Return decoded ids or labels as a NumPy array of numbers or text."""
    if _pyarrow().types.is_primitive(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.array(column.to_pylist())


def _to_arrow(values: Array) -> Any:
    """Return ids or labels as an Arrow array: numbers as they are, everything else as text, as in CSV."""
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    return _pyarrow().array(values if values.dtype.kind in "iuf" else _format.values_as_text(values))


def _repeated(ids: Any) -> tuple[int, int] | None:
    """Return the positions of an id, the first that occurs again, and of its repetition; None if all are different."""
    codes = ids.dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    again = np.ones(len(codes), bool)
    again[first] = False
    later = int(np.argmax(again))
    return (int(first[codes[later]]), later) if again.any() else None


def _arrow_table(bags: Bags, ids: Any) -> Any:
    """Return bags with these ids as an Arrow table: bag, label and instance_label (where known), then the features."""
    arrow = _pyarrow()
    owners = arrow.array(bags.bag_index)
    columns = {"bag": ids.take(owners)}
    if bags.labels is not None:
        columns["label"] = _to_arrow(bags.labels).take(owners)
    if bags.instance_labels is not None:
        columns[_format.INSTANCE_LABEL] = _to_arrow(bags.instance_labels)
    for column, values in zip(bags.columns or map(Column, bags.names), bags.instances.T, strict=True):
        # NaN is written as null, which is how other programs mark a missing value.
        names = [None if code != code else column.shown(code) for code in values] if column.categories else None
        found = arrow.array(values, from_pandas=True) if names is None else arrow.array(names, arrow.string())
        columns[column.name] = found
    return arrow.table(columns)


# ---------------------------------------------------------------- files


class _Group(NamedTuple):
    """A row group: its file, its number in that file, and its rows, counted over all files."""

    file: int
    number: int
    start: int
    end: int


class _Tables:
    """Files with the same columns, concatenated to one table."""

    def __init__(
        self,
        paths: Sequence[Path],
        bag: ColumnName,
        label: ColumnName,
        options: ColumnOptions = NO_OPTIONS,
        columns: Columns | None = None,
    ) -> None:
        self.files = [file for path in paths for file in _files_of(DataFile(path))]
        self.first_rows: list[int] = []
        self.groups: list[_Group] = []
        self._kinds: dict[str, Any] = {}  # the types of all columns
        for place, file in enumerate(self.files):
            found = self._add(place, file)
            if place == 0:
                self._kinds = found
                self.roles = _format.Roles.of(list(found), bag, label, options, columns, file.problem)
                self._check_roles(file)
            self._check_equal(file, found)
        self.n_rows = self.groups[-1].end if self.groups else 0
        if not self.n_rows:
            raise DataFileError(f"{paths[0]} has columns but no rows: write or download it again.")

    def _add(self, place: int, file: DataFile) -> dict[str, Any]:
        """Record where a file's rows are; return the types of its columns."""
        start = self.groups[-1].end if self.groups else 0
        self.first_rows.append(start)
        with _open(file) as found:
            names = _names_of(file, found)
            for number in range(found.metadata.num_row_groups):
                end = start + found.metadata.row_group(number).num_rows
                if end < start:
                    raise file.error(f"has a row group of {end - start} rows: it is damaged; download it again")
                if end > start:
                    self.groups.append(_Group(place, number, start, end))
                start = end
            return dict(zip(names, found.schema_arrow.types, strict=True))

    def _check_roles(self, file: DataFile) -> None:
        for name in self.roles.named:
            if not _is_number(self._kinds[name], as_id=True):
                kind = self._kinds[name]
                raise file.problem(f"the column {name!r} has type {kind}: ids and labels must be numbers or text")
        index = next((name for name in self.roles.features if name.startswith(_PANDAS_INDEX)), None)
        if index is not None:
            raise file.problem(
                f"the column {index!r} is the index of a pandas data frame: exclude it with drop=..., or write the "
                "data frame with to_parquet(..., index=False)"
            )

    def require_numbers(self) -> None:
        """Raise if a feature is not a column of numbers."""
        odd = [f"{name!r} ({self._kinds[name]})" for name in self.roles.features if not _is_number(self._kinds[name])]
        if odd:
            raise self.files[0].problem(
                f"these columns are not numeric: {', '.join(odd)}; exclude them with drop=..., or convert them"
            )

    def _check_equal(self, file: DataFile, found: dict[str, Any]) -> None:
        kinds = self._kinds
        if list(found) != list(kinds):
            other = next((name for name in [*found, *kinds] if (name in found) != (name in kinds)), None)
            what = "the order of its columns" if other is None else f"the column {other!r}"
            raise file.error(f"differs from {self.files[0].path.name} in {what}: write all files with the same columns")
        for name in (*self.roles.named, *self.roles.features):
            # Features become float64 anyway; ids and labels have to stay comparable.
            numbers = name in self.roles.features and _is_number(found[name]) and _is_number(kinds[name])
            if not numbers and _common_type(found[name]) != _common_type(kinds[name]):
                raise file.error(
                    f"has the column {name!r} with type {found[name]}, but in {self.files[0].path.name} it has type "
                    f"{kinds[name]}: write all files with the same types"
                )

    def place(self, row: int) -> str:
        """Return the file of a row and its number in that file, counted from 0 as in data frames."""
        file = int(np.searchsorted(self.first_rows, row, side="right")) - 1
        return f"{self.files[file].path}, row {row - self.first_rows[file]}"

    def batches(self, columns: Sequence[str], start: int, end: int) -> Iterator[tuple[int, Any]]:
        """Yield rows ``start`` to ``end`` in batches, each with the number of its first row."""
        first = bisect.bisect_right(self.groups, start, key=lambda group: group.end)
        wanted = itertools.takewhile(lambda group: group.start < end, self.groups[first:])
        for place, groups in itertools.groupby(wanted, lambda group: group.file):
            some = list(groups)
            at = some[0].start
            numbers = [group.number for group in some]
            texts = [name for name in columns if not _is_number(self._kinds[name])]
            with _open(self.files[place], texts) as file:
                for batch in file.iter_batches(BATCH, row_groups=numbers, columns=list(columns)):
                    batch.validate(full=True)  # damage may be hidden in text and categories
                    n_characters = sum(_n_characters(batch.column(name)) for name in texts)
                    self.files[place].require(_TEXT_COPIES * n_characters, "has long text")
                    low, high = max(start - at, 0), min(end - at, batch.num_rows)
                    if low < high:
                        yield at + low, batch.slice(low, high - low)
                    at += batch.num_rows
                    if at >= end:
                        break
            if at < min(end, some[-1].end):
                raise self.files[place].error("has fewer rows than it states: it is damaged; download it again")

    def rows(self, start: int, end: int) -> Table:
        """Return some rows."""
        roles, names = self.roles, [*self.roles.named, *self.roles.features]
        numeric = {name for name in roles.features if _is_number(self._kinds[name])}
        # Of numbers: the columns, the features made of them, and a copy in the order of the bags.
        self.files[0].require(
            (end - start) * (24 * len(numeric) + 64 * (len(roles.features) - len(numeric))),
            f"has {end - start:,} rows of {len(roles.features):,} features to read at once",
        )
        parts: dict[str, list[Any]] = {name: [] for name in names}
        n_bytes = 24 * len(numeric) * (end - start)
        longest = 0
        for _, batch in self.batches(names, start, end):
            for name in names:
                parts[name].append((_numbers if name in numeric else _decode)(batch.column(name)))
            for name in parts.keys() - numeric:
                n_bytes += _PER_TEXT * batch.num_rows + _TEXT_COPIES * parts[name][-1].nbytes
                longest = max(longest, _longest(parts[name][-1]) if name in roles.named else 0)
            n_bytes_of_arrays = 4 * _TEXT_COPIES * longest * (end - start)  # as wide as the longest in all rows
            self.files[0].require(n_bytes + n_bytes_of_arrays, "has long text")
        join = _pyarrow().concat_arrays
        columns: dict[str, Any] = {
            name: (np.concatenate if name in numeric else join)(parts.pop(name)) for name in names
        }
        without = None
        if roles.label is not None and roles.options.unlabeled != "error":
            without = _is_missing(columns[roles.label])
        for role, what in ((roles.bag, "bag id"), (roles.label if without is None else None, "label")):
            if role is not None:
                self.check_present(columns[role], start, what)
        bag, label, truth = (
            None if name is None else _values(columns[name]) for name in (roles.bag, roles.label, roles.truth)
        )
        series: dict[str, Series] = {
            name: NumberSeries(columns[name]) if name in numeric else as_series(columns[name].to_numpy(False), name)
            for name in roles.features
        }
        ids = np.arange(start + 1, end + 1) if bag is None else bag
        return Table(series, ids, label, truth, Source(np.arange(start, end), label=roles.label or ""), without)

    @contextlib.contextmanager
    def naming_errors(self, start: int = 0) -> Iterator[None]:
        """Add the file, and the row in it, to an `InputError` raised inside about rows from ``start``."""
        with self.files[0].naming_errors():
            try:
                yield
            except PlaceError as problem:
                raise DataFileError(f"{self.place(start + problem.row)}: {problem.problem}") from None

    def check_present(self, column: Any, start: int, what: str) -> None:
        """Raise if a row has no id or label."""
        absent = _is_missing(column)
        if absent.any():
            raise DataFileError(
                f"{self.place(start + int(np.argmax(absent)))}: this row has no {what}: every row needs one."
            )


def n_rows_of(file: DataFile) -> int:
    """Return how many rows a Parquet file says that it has."""
    with _open(file) as found:
        return int(found.metadata.num_rows)


def _files_of(file: DataFile) -> list[DataFile]:
    """Return the file, or the Parquet files of a folder sorted by name."""
    if not file.is_folder:
        return [file]
    found = [path for path in file.members if path.suffix.lower() in (".parquet", ".pq")]
    found = [path for path in found if not path.name.startswith((".", "_"))]  # metadata of other programs
    if not found:
        raise file.error("contains no .parquet files: pass a file or another folder")
    return [DataFile(path) for path in found]


def _names_of(file: DataFile, found: Any) -> list[str]:
    """Return the column names of an open file, which must be unique."""
    names: list[str] = found.schema_arrow.names
    at = first_repeated(names)
    if at is not None:
        raise file.problem(f"duplicate column {names[at]!r}: rename one")
    return names


# ---------------------------------------------------------------- parts


class ScatteredBagsError(DataFileError):
    """The rows of a bag are not contiguous, so the file cannot be read in parts."""


class ParquetBags(BagStream):
    """The bags of Parquet files, or of all Parquet files in folders, read part by part.

    The rows of a bag must be contiguous: the bag column is scanned once to find where bags begin. A part is one row
    group, or several small ones, extended to whole bags: a bag that continues in the next row group or file belongs to
    the part where it begins. Parameters are those of `fuzzymil.datasets.stream_bags`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[Path],
        *,
        bag: ColumnName = None,
        label: ColumnName = None,
        drop: Sequence[str] = (),
    ) -> None:
        paths = [Path(path)] if isinstance(path, str | os.PathLike) else path
        self._table = _Tables(paths, bag, label, ColumnOptions.of(drop=drop))
        self._table.require_numbers()
        self._columns = Columns(map(Column, self._table.roles.features))
        self._starts = _bag_starts(self._table)
        self._edges = _edges(self._table.groups, self._starts, max(1, PART // len(self._columns)))
        self._warn_of_large_groups()
        super().__init__(self._read, len(self._edges) - 1)

    def _read(self, place: int) -> Bags:
        starts = self._starts[self._edges[place] : self._edges[place + 1] + 1]
        start, end = int(starts[0]), int(starts[-1])
        with self._table.naming_errors(start):
            return bags_of_table(self._table.rows(start, end), columns=self._columns)

    def _warn_of_large_groups(self) -> None:
        largest = max(self._table.groups, key=lambda group: group.end - group.start)
        n_rows = largest.end - largest.start
        if n_rows * len(self._columns) > LARGE:
            path = self._table.files[largest.file].path
            warn_user(
                f"{path} has a row group of {n_rows:,} rows, which are read at once. To use less memory, rewrite the "
                f"file with small row groups: write_bags(stream_bags({str(path)!r}), ...)."
            )

    def __repr__(self) -> str:
        counts = {"bag": len(self._starts) - 1, "instance": self._table.n_rows, "feature": len(self._columns)}
        shown = (f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in (counts | {"part": len(self)}).items())
        return f"BagStream({', '.join(shown)})"


def _bag_starts(rows: _Tables) -> npt.NDArray[np.int64]:
    """Return the rows where bags begin, and the number of rows; raise if the rows of a bag are not contiguous."""
    arrow, bag = _pyarrow(), rows.roles.bag or ""
    starts, ids = [], []
    before = None
    for at, batch in rows.batches([bag], 0, rows.n_rows):
        column = _decode(batch.column(bag))
        rows.check_present(column, at, "bag id")
        begins = np.ones(len(column), dtype=bool)
        begins[1:] = arrow.compute.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        begins[0] = before is None or before != column[0]
        before = column[-1]
        starts.append(at + np.flatnonzero(begins))
        ids.append(column.filter(arrow.array(begins)))
    found, names = np.concatenate(starts), arrow.concat_arrays(ids)
    repeated = _repeated(names)
    if repeated is not None:
        raise ScatteredBagsError(
            f"{rows.place(int(found[repeated[1]]))}: bag {names[repeated[1]].as_py()} continues here after other bags: "
            f"to read a table in parts, the rows of a bag must be contiguous; sort the table by {bag!r}."
        )
    return np.append(found, rows.n_rows)


def _edges(groups: Sequence[_Group], starts: npt.NDArray[np.int64], n_rows: int) -> list[int]:
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


# ---------------------------------------------------------------- whole files


def column_names(file: DataFile) -> list[str]:
    """Return the names of all columns."""
    first = _files_of(file)[0]
    with _open(first) as found:
        return _names_of(first, found)


def columns_of(file: DataFile) -> dict[str, Array]:
    """Return all columns of a small table."""
    with _open(file) as found:
        names, n_bytes = _names_of(file, found), 0
    columns: dict[str, list[Any]] = {name: [] for name in names}
    with _open(file, names) as found:
        for batch in found.iter_batches(BATCH):
            batch.validate(full=True)
            n_bytes += _PER_TEXT * batch.num_rows * len(names) + sum(map(_n_characters, batch.columns))
            file.require(_TEXT_COPIES * n_bytes, "is large for a list of labels")
            for name, column in zip(names, batch.columns, strict=True):
                columns[name] += _decode(column).to_pylist()
    return {name: np.array([*values, None], object)[:-1] for name, values in columns.items()}


def read_parquet(
    file: DataFile,
    bag: ColumnName = None,
    label: ColumnName = None,
    options: ColumnOptions = NO_OPTIONS,
    columns: Columns | None = None,
) -> Bags:
    """Read all rows at once, in any order."""
    tables = _Tables([file.path], bag, label, options, columns)
    with tables.naming_errors():
        return bags_of_table(tables.rows(0, tables.n_rows), tables.roles.options, columns)


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
    arrow = _pyarrow()
    ends: list[int] = []
    written: list[Any] = []  # ids
    n_bags, numbered = 0, True
    with contextlib.ExitStack() as stack:
        writer = None
        for number, bags in enumerate(parts):
            _format.ids_and_labels(bags, "a table")
            _format.check_feature_names(bags)
            numbered = numbered and np.array_equal(bags.ids, np.arange(bags.n_bags))
            ids = _to_arrow(bags.ids + n_bags if numbered else bags.ids)
            first = 0
            for some in bags.runs(PART):
                found = _arrow_table(some, ids[first : first + some.n_bags])
                first += some.n_bags
                if writer is None:
                    repeating = [name for name in found.column_names if name not in bags.names]
                    writer = arrow.parquet.ParquetWriter(file, found.schema, use_dictionary=repeating)
                    stack.enter_context(writer)
                writer.write_table(_alike(found, writer.schema, number), row_group_size=found.num_rows)
            n_bags += bags.n_bags
            ends.append(n_bags)
            written.append(ids)
    pair = _repeated(arrow.concat_arrays([ids.cast(written[0].type) for ids in written]))
    if pair is not None:
        at = np.searchsorted(ends, pair, side="right")
        raise InputError(
            f"Parts {at[0]} and {at[1]} have a bag with the same id, which a table would merge: use unique ids."
        )


def _alike(found: Any, schema: Any, number: int) -> Any:
    """Cast a part's table to the column types of the first part, if no value changes."""
    same = found.schema.names == schema.names
    if same and list(map(_is_number, found.schema.types)) == list(map(_is_number, schema.types)):
        with contextlib.suppress(_pyarrow().ArrowInvalid):  # fractions that would be truncated
            return found.cast(schema)
    columns = [", ".join(f"{field.name} ({field.type})" for field in one) for one in (found.schema, schema)]
    raise InputError(
        f"Part {number} has the columns {columns[0]}, but part 0 has {columns[1]}: all parts need the same columns."
    )


FORMATS["parquet"] = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet", ".pq"),
    read=read_parquet,
    write=write_parquet,
    starts=b"PAR1",
    members=(".parquet", ".pq"),
    rank=2,
    column_names=column_names,
    read_parts=ParquetBags,
    write_parts=write_parts,
    takes_options=True,
    storage="binary",
)
