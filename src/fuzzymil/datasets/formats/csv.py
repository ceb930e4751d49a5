"""Delimited text: CSV tables with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files.

Large regular files are parsed by pyarrow if it is installed; others, and files with mistakes, in blocks by Python.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, TwoLabelsError
from fuzzymil.bags import Bags, Columns, Source, Table, bags_of_table
from fuzzymil.bags.series import (
    MISSING,
    PLAIN_NUMBERS,
    NumberSeries,
    Series,
    TextBuilder,
    TextSeries,
    is_number,
    text_bytes,
)
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions, not_a_number
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats._fields import INSTANCE_LABEL, ColumnName
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import DataFile, DataFileError, bare_name, write_text

CUT = "the file seems to be truncated here: download it again"

_SPECIAL = re.compile(r"[,;\t\n\r\" ]|^[#%@]")
_IN_QUOTES = re.compile(r'"[^"]*"')
_BLOCK_FIELDS = 1 << 19  # that are text at a time
_PER_ROW = 130  # bytes for the line, bag, label and order of a row
_ARROW_BLOCK = 1 << 26  # bytes parsed at a time; a row has to fit
_ARROW_COLUMN = 1 << 15  # bytes that pyarrow takes for a column, however short it is
_LEAST_FOR_ARROW = 1 << 20  # bytes; smaller files are read before pyarrow is imported
_FIRST_ROWS = 200  # by which columns of text are recognized


@dataclass(frozen=True)
class Rows:
    """The rows of delimited text, by the positions of their columns.

    Shapes: ``numbers`` (n_rows,). ``texts``: the columns that are not numbers; nothing counts as missing. ``lines``
    (n_rows,): the line on which each row begins.
    """

    numbers: dict[int, Array]
    texts: dict[int, TextSeries]
    lines: Array


def delimiter(line: str) -> str | None:
    """Return the delimiter of a line, or None for spaces."""
    line = _IN_QUOTES.sub("", line)
    counts = {mark: line.count(mark) for mark in (",", ";", "\t")}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else None


def fields_of(line: str) -> list[str]:
    """Return the fields of a single line."""
    mark = delimiter(line)
    return line.split() if mark is None else [f.strip() for f in next(csv.reader([line], delimiter=mark))]


def rows_of(file: DataFile) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it begins on; all rows have the same number of fields."""
    mark = delimiter(next(file.numbered_lines())[1])
    first, width, begins = 0, 0, 1
    reader = csv.reader(file.lines(), delimiter=mark or ",", skipinitialspace=True, strict=True)
    rows = reader if mark is not None else map(str.split, file.lines())
    try:
        for row in rows:
            line, begins = begins, reader.line_num + 1 if mark is not None else begins + 1
            if len(row) != width or width < 2:
                if not row or (mark is not None and len(row) == 1 and not row[0].strip()):
                    continue  # a blank line
                if first and len(row) != width:
                    advice = CUT if file.is_cut(line) else "all rows need the same number"
                    raise file.error(f"{len(row)} values, but line {first} has {width}; {advice}", line)
                first, width = first or line, len(row)
            yield line, row
    except csv.Error as problem:
        raise file.error(f"{problem}: look for an unclosed quotation mark", begins) from None


def read_rows(
    file: DataFile,
    texts: Collection[int],
    skipped: Collection[int] = (),
    *,
    header: bool,
    names: Mapping[int, str] | None = None,
) -> Rows:
    """Read rows of text and numbers.

    ``texts``: positions of columns that are text. ``skipped``: positions of columns to ignore. ``header``: whether the
    first row has names. ``names``: names of the other columns, if they have to be numbers. Otherwise they are numbers
    if they have nothing else.
    """
    rows = itertools.islice(rows_of(file), int(header), int(header) + _FIRST_ROWS)
    odd = set(texts)
    if names is None:
        for row in (row for _, row in rows):
            odd |= {at for at, field in enumerate(row) if at not in odd and not is_number(field.strip())}
    found: Rows | set[int] = _read_by_arrow(file, odd, skipped, header) or set()
    while not isinstance(found, Rows):
        odd |= found
        found = _read_in_blocks(file, odd, skipped, header, names)
    return found


def _read_in_blocks(
    file: DataFile, texts: Collection[int], skipped: Collection[int], header: bool, names: Mapping[int, str] | None
) -> Rows | set[int]:
    """Read rows in blocks, so that few are text at a time; or return columns that turn out to be text."""
    width = len(next(rows_of(file))[1])
    columns = {at: TextBuilder() for at in texts if at not in skipped}
    places = [at for at in range(width) if at not in columns and at not in skipped]
    numbers: dict[int, list[Array]] = {at: [] for at in places}
    lines: list[Array] = []
    n_rows = 0
    rows = itertools.islice(rows_of(file), int(header), None)
    while block := list(itertools.islice(rows, max(_BLOCK_FIELDS // width, 1))):
        some, fields = zip(*block, strict=True)
        by_column = list(zip(*fields, strict=True))
        lines.append(np.array(some))
        for at, builder in columns.items():
            builder.extend(by_column[at])
        odd = set()
        for at in places:
            values, bad = _fields.parse_numbers(by_column[at])
            if bad is not None and names is not None:
                raise file.error(not_a_number(by_column[at][bad].strip()), some[bad], names[at])
            numbers[at].append(values)
            odd |= set() if bad is None else {at}
        if odd:
            return odd
        n_rows += len(block)
        # Of numbers: what was read, the features made of them, and a copy in the order of the bags.
        n_bytes = n_rows * (26 * len(places) + _PER_ROW) + sum(builder.n_bytes for builder in columns.values())
        file.require(n_bytes, f"has more than {n_rows:,} rows of {width:,} columns")
    return Rows(
        {at: np.concatenate(parts) if parts else np.zeros(0) for at, parts in numbers.items()},
        {at: builder.build() for at, builder in columns.items()},
        np.concatenate(lines) if lines else np.zeros(0, np.int64),
    )


def _read_by_arrow(file: DataFile, texts: Collection[int], skipped: Collection[int], header: bool) -> Rows | None:
    """Read all rows at once; None if pyarrow is missing, or anything is irregular and needs a closer look."""
    line, first = next(file.numbered_lines())
    mark, size = delimiter(first), file.path.stat().st_size
    width = first.count(mark or " ") + 1
    if mark is None or file.encoding is not None or size < _LEAST_FOR_ARROW:
        return None
    if memory.shortage(4 * size + _ARROW_COLUMN * width) is not None:
        return None  # in blocks it may fit
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    skip = line if header else 0
    kinds = {
        str(at): pyarrow.string() if at in texts else pyarrow.float64() for at in range(width) if at not in skipped
    }
    try:
        content = file.content
    except DataFileError:
        return None  # in blocks it may fit, and what is wrong has a place
    n_bytes = len(content) + 26 * content.count(mark.encode()) + _PER_ROW * content.count(b"\n")
    if memory.shortage(n_bytes) or b'"' in content or b"\0" in content or content.count(b"\r") > content.count(b"\r\n"):
        return None
    try:
        found = arrow_csv.read_csv(
            pyarrow.BufferReader(content.removeprefix(b"\xef\xbb\xbf")),
            arrow_csv.ReadOptions(skip_rows=skip, column_names=list(map(str, range(width))), block_size=_ARROW_BLOCK),
            arrow_csv.ParseOptions(delimiter=mark, quote_char=False),
            arrow_csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=_MISSING_IN_ANY_CASE),
        )
    except pyarrow.ArrowException:
        return None
    if not found.num_rows or content.rstrip(b"\r\n").count(b"\n") + 1 - skip != found.num_rows:
        return None  # blank lines: the numbers of the lines would be wrong
    del content, file.content
    series = {int(name): values for name, values in zip(kinds, found.columns, strict=True)}
    numbers = {at: values.to_numpy() for at, values in series.items() if at not in texts}
    if any(np.isnan(values).sum() != series[at].null_count for at, values in numbers.items()):
        return None  # something odd was read as NaN
    found_texts = {at: _dictionary(values) for at, values in series.items() if at in texts}
    n_bytes = found.num_rows * (26 * len(numbers) + _PER_ROW)
    n_bytes += sum(
        text_bytes(found.num_rows, len(each.dictionary), each.dictionary.nbytes) for each in found_texts.values()
    )
    file.require(n_bytes, f"has {found.num_rows:,} rows of {width:,} columns")
    strings = {
        at: TextSeries(each.dictionary.to_pylist(), each.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        for at, each in found_texts.items()
    }
    return Rows(numbers, strings, np.arange(skip + 1, skip + 1 + found.num_rows))


def _dictionary(column: Any) -> Any:
    """Return a column of text as its distinct values, and which of them each row has."""
    import pyarrow

    found = column.combine_chunks()
    if isinstance(found, pyarrow.ChunkedArray):  # more text than one array can hold
        found = pyarrow.concat_arrays([chunk.cast(pyarrow.large_string()) for chunk in found.chunks])
    return found.dictionary_encode()


_MISSING_IN_ANY_CASE = [
    "".join(letters)
    for word in sorted(MISSING)
    for letters in itertools.product(*({letter, letter.upper()} for letter in word))
]


# ---------------------------------------------------------------- with a header


def _kind_of(file: DataFile, bag: ColumnName) -> str | None:
    """Return the kind of table that the first line looks like: "csv", "headerless", "uci" or None."""
    if file.head:
        file.refuse_json()  # here, as other formats have had their turn
    fields = fields_of(file.head[0]) if file.head else []
    if len(fields) < 2:
        return None
    if isinstance(bag, str) or any(field.lower() in _fields.BAG_NAMES for field in fields):
        return "csv"
    numeric = [is_number(field) for field in fields]
    if len(fields) > 2 and all(numeric[2:]):
        if numeric[0] or bag is not None:
            return "headerless"
        return None if numeric[1] else "uci"
    return "csv" if not any(numeric) else None


def column_names(file: DataFile) -> list[str]:
    """Return the names of all columns."""
    return fields_of(next(file.numbered_lines())[1])


def read_csv(
    file: DataFile,
    bag: ColumnName = None,
    label: ColumnName = None,
    options: ColumnOptions = NO_OPTIONS,
    columns: Columns | None = None,
) -> Bags:
    """Read a table with a header: one row per instance, a column of bag ids and usually one of labels."""
    line, header = next(rows_of(file))
    names = [name.strip() for name in header]
    roles = _fields.Roles.of(names, bag, label, options, columns, lambda message: file.error(message, line))
    places = {name: at for at, name in enumerate(names)}
    known = {places[name] for name in roles.named}
    features = {places[name] for name in roles.features}
    texts = known | {places[name] for name in _text_features(roles, columns)}
    rows = read_rows(file, texts, {*places.values()} - features - known, header=True)
    if not len(rows.lines):
        raise file.error("there are no rows below the header: export or download the file again", 1)
    series: dict[str, Series] = {}
    for name in roles.features:
        at = places[name]
        raw = rows.texts.get(at)
        series[name] = NumberSeries(rows.numbers[at]) if raw is None else TextSeries.of(raw.distinct, raw.codes)
    source = Source(rows.lines, place="line", label=roles.label or "")
    with file.naming_errors():
        ids, labels, truth = np.arange(1, len(rows.lines) + 1), None, None
        if roles.bag is not None:
            ids = _fields.row_ids(file, rows.texts[places[roles.bag]], source)
        if roles.label is not None:
            number_format = roles.options.number_format
            labels = _fields.row_labels(file, rows.texts[places[roles.label]], source, number_format)
        if roles.truth is not None:
            raw = rows.texts[places[roles.truth]]
            truth = _fields.parse_labels(raw.distinct)[raw.codes]
        return bags_of_table(Table(series, ids, labels, truth, source, is_text=True), roles.options, columns)


def _text_features(roles: _fields.Roles, columns: Columns | None) -> Collection[str]:
    """Return the columns of features that are text whatever they have."""
    options = roles.options
    if options.number_format != PLAIN_NUMBERS:
        return roles.features
    if columns is not None:
        return {*roles.features} - {column.source for column in columns if column.kind == "number"}
    return {*options.categorical, *options.date, *options.keep}


def write_csv(bags: Bags, path: Path) -> None:
    """Write a table with the columns bag, label and instance_label (where known) and the features."""
    ids, labels = _fields.ids_and_labels(bags, "a table")
    columns = {"bag": [ids[b] for b in bags.bag_index]}
    if labels is not None:
        columns["label"] = [labels[b] for b in bags.bag_index]
    if bags.instance_labels is not None:
        columns[INSTANCE_LABEL] = _fields.values_as_text(bags.instance_labels)
    _fields.check_feature_names(bags)
    for name in bags.names:
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"The feature name {name!r} is not valid in a header: rename it before writing.")
    _write_rows(path, [[*columns, *bags.names]], list(columns.values()), bags)


def _write_rows(path: Path, header: list[list[str]], columns: list[list[str]], bags: Bags) -> None:
    mark = "\t" if bare_name(path).lower().endswith(".tsv") else ","
    lines = [mark.join(map(_field, names)) for names in header]
    named = [bool(header) and bool(column.categories) for column in bags.columns or ()] or [False] * bags.n_features
    for front, row in zip(zip(*columns, strict=True), bags.instances.tolist(), strict=True):
        fields: Iterable[str] = map(_fields.number_text, row)
        if any(named):
            fields = (
                _category(bags, d, value) if named[d] else _fields.number_text(value) for d, value in enumerate(row)
            )
        lines.append(mark.join([*map(_field, front), *fields]))
    write_text(path, "\n".join(lines) + "\n")


def _category(bags: Bags, d: int, code: float) -> str:
    """Return the name of a category; nothing if it is missing."""
    return "" if code != code or bags.columns is None else _field(str(bags.columns[d].shown(code)))


def _field(text: str) -> str:
    """Return text in quotes if it contains any delimiter or could be read as something else."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def text_columns(file: DataFile) -> tuple[dict[str, list[str]], list[int]]:
    """Return a small table with a header as columns of text, and the lines of its rows, header included."""
    found = list(rows_of(file))
    rows = [row for _, row in found]
    names = [name.strip() for name in rows[0]]
    return {name: [row[n].strip() for row in rows[1:]] for n, name in enumerate(names)}, [line for line, _ in found]


def write_columns(path: Path, columns: Mapping[str, list[str]]) -> None:
    """Write columns of text as CSV."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    write_text(path, "".join(",".join(map(_field, row)) + "\n" for row in rows))


# ---------------------------------------------------------------- without a header


def headerless_columns(file: DataFile, bag: ColumnName = None, label: ColumnName = None) -> tuple[int, int]:
    """Return the positions (from 0) of the bag and label columns; by convention the label comes first, then the bag."""
    width = len(column_names(file))
    found = (1 if bag is None else bag, 0 if label is None else label)
    for role, at in zip(("bag", "label"), found, strict=True):
        if not isinstance(at, int) or not 0 <= at < width:
            raise file.error(
                f"has no header, so {role}= must be a position from 0 to {width - 1}, not {at!r}: pass a position, or "
                "add a header to the file"
            )
    if found[0] == found[1]:
        raise file.error(f"has bag= and label= both at position {found[0]}: pass two different positions")
    return int(found[0]), int(found[1])


def read_headerless(file: DataFile, bag: ColumnName = None, label: ColumnName = None) -> Bags:
    """Read rows of ``label,bag,f1,...`` without a header."""
    owner, target = headerless_columns(file, bag, label)
    width = _width(file, 3, "label, bag and features")
    names = {n: f"'{n + 1}'" for n in range(width) if n not in (owner, target)}
    rows = read_rows(file, {owner, target}, header=False, names=names)
    try:
        return _bags_of(file, rows, owner, rows.texts[target])
    except DataFileError as problem:
        if isinstance(problem.__cause__, TwoLabelsError) and (owner, target) == (1, 0):
            raise DataFileError(f"{problem} If the bag comes first, pass bag=0, label=1.") from None
        raise


def _bags_of(
    file: DataFile, rows: Rows, bag: int, labels: TextSeries, feature_names: Sequence[str] | None = None
) -> Bags:
    numbers = np.column_stack(list(rows.numbers.values()))
    return _fields.bags_of_rows(file, numbers, rows.texts[bag], labels, rows.lines, feature_names)


def _width(file: DataFile, least: int, expected: str) -> int:
    """Return the number of columns, which is at least that of the expected ones."""
    line, row = next(rows_of(file))
    if len(row) < least:
        raise file.error(f"expected {expected}, found {len(row)} values", line)
    return len(row)


def write_headerless(bags: Bags, path: Path) -> None:
    """Write rows of ``label,bag,f1,...``, without feature names."""
    ids, labels = _fields.ids_and_labels(bags, "a table without a header", needs_labels=True)
    _write_rows(path, [], [[column[b] for b in bags.bag_index] for column in (labels or [], ids)], bags)


def read_uci(file: DataFile, bag: ColumnName = None, label: ColumnName = None) -> Bags:
    """Read a UCI MUSK file: molecule, conformation, features, and the class followed by a full stop."""
    width = _width(file, 4, "molecule, conformation, features and class")
    names = [f"f{n + 1}" for n in range(width - 3)]
    shown = {n + 2: repr(name) for n, name in enumerate(names)}
    rows = read_rows(file, {0, width - 1}, (1,), header=False, names=shown)
    labels = rows.texts[width - 1]
    stops = np.array([label.strip().endswith(".") for label in labels.distinct])[labels.codes]
    if stops.any() and not stops[-1]:
        raise file.error(f"the class lacks its full stop: {CUT}", int(rows.lines[-1]))
    return _bags_of(file, rows, 0, labels, names)


FORMATS["csv"] = Format(
    name="csv",
    title="CSV with a header",
    suffixes=(".csv", ".tsv"),
    read=read_csv,
    write=write_csv,
    is_match=lambda file, bag: _kind_of(file, bag) == "csv",
    rank=0,
    column_names=column_names,
    takes_options=True,
)
FORMATS["headerless"] = Format(
    name="headerless",
    title="rows of label,bag,f1,... without a header",
    suffixes=(".txt",),
    read=read_headerless,
    write=write_headerless,
    is_match=lambda file, bag: _kind_of(file, bag) == "headerless",
    rank=0,
    columns=headerless_columns,
)
FORMATS["uci"] = Format(
    name="uci",
    title="UCI MUSK rows of molecule,conformation,f1,...,class",
    read=read_uci,
    is_match=lambda file, bag: _kind_of(file, bag) == "uci",
    rank=0,
    takes_columns=False,
)
