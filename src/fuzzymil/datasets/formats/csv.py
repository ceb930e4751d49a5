"""Delimited text: CSV tables with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files.

Large regular files are parsed by pyarrow if it is installed; others, and files with mistakes, in blocks by Python.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, TwoLabelsError, listed, warn_user
from fuzzymil.bags import Bags, Column, Columns, Source, Table, bags_of_table
from fuzzymil.bags.series import DECIMAL_POINT, MISSING, NumberSeries, TextBuilder, TextSeries, is_number, text_bytes
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions, not_a_number
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, INSTANCE_LABEL, ColumnName, Format
from fuzzymil.datasets.formats.files import CUT, PER_CHARACTER, DataFile, DataFileError, bare_name, write_text

_SPECIAL = re.compile(r"[,;\t\n\r\" ]|^[#%@]")
_IN_QUOTES = re.compile(r'"[^"]*"')
_BLOCK_FIELDS = 1 << 19  # that are text at a time
_PER_ROW = 130  # bytes for the line, bag, label and order of a row
_ARROW_BLOCK = 1 << 26  # bytes parsed at a time; a row has to fit
_ARROW_COLUMN = 1 << 15  # bytes that pyarrow takes for a column, however short it is
_LEAST_FOR_ARROW = 1 << 20  # bytes; smaller files are read before pyarrow is imported
_FIRST_ROWS = 200  # by which columns of text are recognized


def delimiter(line: str) -> str | None:
    """Return the delimiter of a line, or None for spaces."""
    line = _IN_QUOTES.sub("", line)
    counts = {mark: line.count(mark) for mark in (",", ";", "\t")}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else None


def fields_of(line: str) -> list[str]:
    """Return the fields of a single line."""
    mark = delimiter(line)
    try:
        fields = line.split() if mark is None else next(csv.reader([line], delimiter=mark))
    except csv.Error:  # a field that is too long: who reads the table says where
        fields = line.split(mark)
    return [field.strip() for field in fields]


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
    file: DataFile, names: Sequence[str | None], texts: Collection[str], *, header: bool, numeric: bool = False
) -> tuple[dict[str, Any], Array]:
    """Return the columns of text (`TextSeries`) and numbers (`NumberSeries`), and the line on which each row begins.

    ``names``: of all columns; None: ignore it. ``texts``: the columns that are text, in which nothing counts as
    missing. ``header``: whether the first row has names. ``numeric``: whether all other columns have to be numbers;
    otherwise they are if they have nothing else.
    """
    odd = set(texts)
    if not numeric:
        for _, row in itertools.islice(rows_of(file), int(header), int(header) + _FIRST_ROWS):
            odd |= {name for name, field in zip(names, row, strict=True) if name and not is_number(field.strip())}
    found = _read_by_arrow(file, names, odd, header) or odd
    while isinstance(found, set):
        odd |= found
        found = _read_in_blocks(file, names, odd, header, numeric)
    return found


def _read_in_blocks(
    file: DataFile, names: Sequence[str | None], texts: Collection[str], header: bool, numeric: bool
) -> tuple[dict[str, Any], Array] | set[str]:
    """Read rows in blocks, so that few are text at a time; or return columns that turn out to be text."""
    strings = {name: TextBuilder() for name in names if name is not None and name in texts}
    numbers: dict[str, list[Array]] = {name: [] for name in names if name is not None and name not in texts}
    lines: list[Array] = []
    n_rows = 0
    rows = itertools.islice(rows_of(file), int(header), None)
    while block := list(itertools.islice(rows, max(_BLOCK_FIELDS // len(names), 1))):
        some, fields = zip(*block, strict=True)
        lines.append(np.array(some))
        odd = set()
        for name, column in zip(names, zip(*fields, strict=True), strict=True):
            if name in strings:
                strings[name].extend(column)
            elif name is not None:
                values, bad = _format.parse_numbers(column)
                if bad is not None and numeric:
                    raise file.error(not_a_number(column[bad].strip()), some[bad], repr(name))
                numbers[name].append(values)
                odd |= set() if bad is None else {name}
        if odd:
            return odd
        n_rows += len(block)
        # Of numbers: what was read, the features made of them, and a copy in the order of the bags.
        n_bytes = n_rows * (26 * len(numbers) + _PER_ROW) + sum(text.n_bytes for text in strings.values())
        file.require(n_bytes, f"has more than {n_rows:,} rows of {len(names):,} columns")
    columns: dict[str, Any] = {name: text.build() for name, text in strings.items()}
    columns |= {name: NumberSeries(np.concatenate([[], *parts])) for name, parts in numbers.items()}
    return columns, np.concatenate([np.zeros(0, np.int64), *lines])


def _read_by_arrow(
    file: DataFile, names: Sequence[str | None], texts: Collection[str], header: bool
) -> tuple[dict[str, Any], Array] | None:
    """Read all rows at once; None if pyarrow is missing, or anything is irregular and needs a closer look."""
    line, first = next(file.numbered_lines())
    mark, size = delimiter(first), file.path.stat().st_size
    if mark is None or file.encoding is not None or size < _LEAST_FOR_ARROW:
        return None
    if memory.shortage(4 * size + _ARROW_COLUMN * len(names)) is not None:
        return None  # in blocks it may fit
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv

        content = file.content
    except (ImportError, DataFileError):
        return None  # in blocks it may fit, and what is wrong has a place
    n_bytes = len(content) + 26 * content.count(mark.encode()) + _PER_ROW * content.count(b"\n")
    if memory.shortage(n_bytes) or b'"' in content or b"\0" in content or content.count(b"\r") > content.count(b"\r\n"):
        return None
    skip, places = line if header else 0, [str(at) for at in range(len(names))]
    string, number = pyarrow.string(), pyarrow.float64()
    kinds = {at: string if name in texts else number for at, name in zip(places, names, strict=True) if name}
    try:
        found = arrow_csv.read_csv(
            pyarrow.BufferReader(content.removeprefix(b"\xef\xbb\xbf")),
            arrow_csv.ReadOptions(skip_rows=skip, column_names=places, block_size=_ARROW_BLOCK),
            arrow_csv.ParseOptions(delimiter=mark, quote_char=False),
            arrow_csv.ConvertOptions(column_types=kinds, include_columns=[*kinds], null_values=_MISSING_IN_ANY_CASE),
        )
    except pyarrow.ArrowException:
        return None
    if not found.num_rows or content.rstrip(b"\r\n").count(b"\n") + 1 - skip != found.num_rows:
        return None  # blank lines: the numbers of the lines would be wrong
    del content, file.content
    columns: dict[str, Any] = {}
    n_bytes = found.num_rows * (26 * sum(kind is number for kind in kinds.values()) + _PER_ROW)
    for name, values in zip(filter(None, names), found.columns, strict=True):
        if name in texts:
            columns[name] = text = _dictionary(values)
            n_bytes += text_bytes(found.num_rows, len(text.dictionary), text.dictionary.nbytes)
            continue
        columns[name] = NumberSeries(values.to_numpy())
        if np.isnan(columns[name].numbers).sum() != values.null_count:
            return None  # something odd was read as NaN
    file.require(n_bytes, f"has {found.num_rows:,} rows of {len(names):,} columns")
    for name in texts & columns.keys():
        places = columns[name].indices.to_numpy(zero_copy_only=False).astype(np.int64)
        columns[name] = TextSeries(columns[name].dictionary.to_pylist(), places)
    return columns, np.arange(skip + 1, skip + 1 + found.num_rows)


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
    if len(file.head) == 2 and delimiter(file.head[0]) is None and len(fields_of(file.head[1])) > len(fields):
        what = f"{file.head[0].strip()[:40]!r} seems to be a title: remove it, so that the first line is the header"
        raise file.error(what, 1)
    if len(fields) < 2:
        return None
    if isinstance(bag, str) or any(field.lower() in _format.BAG_NAMES for field in fields):
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
    roles = _format.Roles.of(names, bag, label, options, columns, lambda message: file.error(message, line))
    used = {*roles.features, *roles.named}
    texts = {*roles.named, *_text_features(roles, columns)}
    found, lines = read_rows(file, [name if name in used else None for name in names], texts, header=True)
    if not len(lines):
        raise file.error("there are no rows below the header: export or download the file again", 1)
    series = {
        name: TextSeries.of(values.distinct, values.codes) if isinstance(values := found[name], TextSeries) else values
        for name in roles.features
    }
    source = Source(lines, place="line", label=roles.label or "")
    owner, label_text, truth = (found.get(name or "") for name in (roles.bag, roles.label, roles.truth))
    with file.naming_errors():
        ids = np.arange(1, len(lines) + 1) if owner is None else _format.row_ids(file, owner, source)
        labels = without = None
        if label_text is not None:
            labels, without = _format.row_labels(file, label_text, source, roles.options)
        of_rows = None if truth is None else _format.parse_labels(truth.distinct)[truth.codes]
        table = Table(series, ids, labels, of_rows, source, without, is_text=True)
        return bags_of_table(table, roles.options, columns)


def read_excel(file: DataFile, *arguments: Any) -> Bags:
    """Read the first sheet of a workbook, a table as in CSV."""
    first, *others = file.sheet[0]
    if others:
        warn_user(f"{file.path}: the first sheet, {first}, is read; not {listed(others)}.")
    return read_csv(file, *arguments)


def _text_features(roles: _format.Roles, columns: Columns | None) -> Collection[str]:
    """Return the columns of features that are text whatever they have."""
    options = roles.options
    if options.number_format != DECIMAL_POINT:
        return roles.features
    if columns is not None:
        return {*roles.features} - {column.source for column in columns if column.kind == "number"}
    return {*options.categorical, *options.date, *options.keep}


def write_csv(bags: Bags, path: Path) -> None:
    """Write a table with the columns bag, label and instance_label (where known) and the features."""
    ids, labels = _format.ids_and_labels(bags, "a table")
    columns = {"bag": [ids[b] for b in bags.bag_index]}
    if labels is not None:
        columns["label"] = [labels[b] for b in bags.bag_index]
    if bags.instance_labels is not None:
        columns[INSTANCE_LABEL] = _format.values_as_text(bags.instance_labels)
    _format.check_feature_names(bags)
    for name in bags.names:
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"The feature name {name!r} is not valid in a header: rename it before writing.")
    _write_rows(path, [*columns, *bags.names], list(columns.values()), bags)


def _write_rows(path: Path, header: list[str], columns: list[list[str]], bags: Bags) -> None:
    mark = "\t" if bare_name(path).lower().endswith(".tsv") else ","
    texts = [[*map(_field, column)] for column in columns]
    for column, values in zip(bags.columns or map(Column, bags.names), bags.instances.T.tolist(), strict=True):
        if header and column.categories:
            texts.append(["" if code != code else _field(str(column.shown(code))) for code in values])
        else:
            texts.append([*map(_format.number_text, values)])
    lines = [mark.join(map(_field, header))] if header else []
    write_text(path, "\n".join([*lines, *map(mark.join, zip(*texts, strict=True)), ""]))


def _field(text: str) -> str:
    """Return text in quotes if it contains any delimiter or could be read as something else."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def text_columns(file: DataFile) -> tuple[dict[str, list[str]], list[int]]:
    """Return a small table with a header as columns of text, and the lines of its rows, header included."""
    file.require(PER_CHARACTER * len(file.content), "is large for a list")
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
    names = [str(n + 1) for n in range(_width(file, 3, "label, bag and features"))]
    try:
        return _bags_of(file, names, names[owner], names[target])
    except DataFileError as problem:
        if isinstance(problem.__cause__, TwoLabelsError) and (owner, target) == (1, 0):
            raise DataFileError(f"{problem} If the bag comes first, pass bag=0, label=1.") from None
        raise


def _bags_of(file: DataFile, names: Sequence[str | None], bag: str, label: str, *, uci: bool = False) -> Bags:
    """Return bags of rows without a header; all columns but those of the bag and the label are numbers."""
    columns, lines = read_rows(file, names, {bag, label}, header=False, numeric=True)
    ids, labels = columns.pop(bag), columns.pop(label)
    stops = np.array([text.strip().endswith(".") for text in labels.distinct])[labels.codes]
    if uci and stops.any() and not stops[-1]:
        raise file.error(f"the class lacks its full stop: {CUT}", int(lines[-1]))
    numbers = np.column_stack([column.to_array() for column in columns.values()])
    return _format.bags_of_rows(file, numbers, ids, labels, lines, [*columns] if uci else None)


def _width(file: DataFile, least: int, expected: str) -> int:
    """Return the number of columns, which is at least that of the expected ones."""
    line, row = next(rows_of(file))
    if len(row) < least:
        raise file.error(f"expected {expected}, found {len(row)} values", line)
    return len(row)


def write_headerless(bags: Bags, path: Path) -> None:
    """Write rows of ``label,bag,f1,...``, without feature names."""
    ids, labels = _format.ids_and_labels(bags, "a table without a header", needs_labels=True)
    _write_rows(path, [], [[column[b] for b in bags.bag_index] for column in (labels or [], ids)], bags)


def read_uci(file: DataFile, bag: ColumnName = None, label: ColumnName = None) -> Bags:
    """Read a UCI MUSK file: molecule, conformation, features, and the class followed by a full stop."""
    n_features = _width(file, 4, "molecule, conformation, features and class") - 3
    names = ["molecule", None, *(f"f{n + 1}" for n in range(n_features)), "class"]
    return _bags_of(file, names, "molecule", "class", uci=True)


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
FORMATS["excel"] = Format(
    name="excel",
    title="Excel",
    read=read_excel,
    recognized=(".xlsx",),
    rank=2,
    column_names=column_names,
    takes_options=True,
    storage="binary",
)
