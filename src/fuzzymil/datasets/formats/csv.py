"""Delimited text: CSV tables with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files.

Large regular files are parsed by pyarrow if it is installed; others, and files with mistakes, in blocks by Python.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import operator
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
from fuzzymil.bags.series import MISSING, PLAIN_NUMBERS, NumberSeries, Series, TextBuilder, TextSeries, is_number
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats._fields import INSTANCE_LABEL, ColumnName, NotANumberError
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import DataFile, DataFileError, bare_name, write_text

__all__ = ["column_names", "csv_columns", "read_csv", "text_columns", "write_columns", "write_csv"]

CUT = "the file seems to be truncated here: download it again"

_SPECIAL = re.compile(r"[,;\t\n\r\" ]|^[#%@]")
_IN_QUOTES = re.compile(r'"[^"]*"')
_BLOCK_ROWS = 1 << 12
_ARROW_BLOCK = 1 << 26  # bytes parsed at a time; a row has to fit
_ARROW_COLUMN = 1 << 15  # bytes that pyarrow takes for a column, however short it is
_LEAST_FOR_ARROW = 1 << 20  # bytes; smaller files are read before pyarrow is imported
_FIRST_ROWS = 200  # by which columns of text are recognized; one that begins with numbers is read twice


@dataclass(frozen=True)
class Rows:
    """The rows of delimited text.

    Attributes
    ----------
    numbers : array of shape (n_rows, n_features)
    texts : dict
        The columns that are not numbers, by role or name; nothing counts as missing.
    lines : sequence of int
        The line on which each row begins.
    """

    numbers: Array
    texts: dict[str, TextSeries]
    lines: Sequence[int]


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
    mark = delimiter(next(line for _, line in file.numbered_lines()))
    first, width, begins = 0, 0, 1
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=mark or ",", skipinitialspace=True, strict=True)
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
    file: DataFile, texts: Mapping[str, int], skipped: Sequence[int], names: Sequence[str], *, header: bool
) -> Rows:
    """Read rows of text and numbers.

    Parameters
    ----------
    file : DataFile
    texts : mapping
        From roles to the positions of columns that are text.
    skipped : sequence of int
        Positions of columns to ignore; all others are numbers.
    names : sequence of str
        The columns of numbers, for errors.
    header : bool
        Whether the first row has names.
    """
    mark = delimiter(next(file.numbered_lines())[1])
    n_values = file.text.count(mark or " ") + file.text.count("\n")
    # The numbers, and a copy in the order of the bags; masks of what is infinite or missing; the columns of text.
    n_bytes = len(file.content) + 24 * n_values
    file.require(n_bytes, f"has about {n_values:,} values")
    roomy = memory.shortage(n_bytes + _ARROW_COLUMN * len(names)) is None
    plain = mark is not None and '"' not in file.text and file.encoding is None  # UTF-8, read from the bytes
    if mark is not None and plain and roomy and len(file.content) >= _LEAST_FOR_ARROW:
        found = _read_by_arrow(file, mark, texts, skipped, header)
        if found is not None:
            return found
    return _read_in_blocks(file, texts, skipped, names, header)


def _read_in_blocks(
    file: DataFile, texts: Mapping[str, int], skipped: Sequence[int], names: Sequence[str], header: bool
) -> Rows:
    """Read rows in blocks, so that few are text at a time."""
    columns = {role: TextBuilder() for role in texts}
    apart = {*texts.values(), *skipped}
    places = [at for at in range(len(names) + len(apart)) if at not in apart]
    # Of neighboring columns, a slice is taken; it is also a sequence if there is only one, or none.
    first, end = (places[0], places[-1] + 1) if places else (0, 0)
    pick = operator.itemgetter(slice(first, end)) if end - first == len(places) else operator.itemgetter(*places)
    numbers: list[Array] = []
    lines: list[int] = []
    rows = itertools.islice(rows_of(file), int(header), None)
    while block := list(itertools.islice(rows, _BLOCK_ROWS)):
        some, fields = zip(*block, strict=True)
        for role, at in texts.items():
            columns[role].extend(map(operator.itemgetter(at), fields))
        numbers.append(_fields.parse_rows(file, list(map(pick, fields)), some, names))
        lines += some
    return Rows(
        np.concatenate(numbers) if numbers else np.zeros((0, len(names))),
        {role: column.build() for role, column in columns.items()},
        lines,
    )


def _read_by_arrow(
    file: DataFile, mark: str, texts: Mapping[str, int], skipped: Sequence[int], header: bool
) -> Rows | None:
    """Read all rows at once; None if pyarrow is missing, or anything is irregular and needs a closer look."""
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    line, first = next(file.numbered_lines())
    skip = line if header else 0
    names = [str(at) for at in range(first.count(mark) + 1)]
    role_of = {str(at): role for role, at in texts.items()}
    left_out = set(map(str, skipped))
    kinds = {name: pyarrow.string() if name in role_of else pyarrow.float64() for name in names if name not in left_out}
    try:
        found = arrow_csv.read_csv(
            pyarrow.BufferReader(file.content.removeprefix(b"\xef\xbb\xbf")),
            arrow_csv.ReadOptions(skip_rows=skip, column_names=names, block_size=_ARROW_BLOCK),
            arrow_csv.ParseOptions(delimiter=mark, quote_char=False),
            arrow_csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=_MISSING_IN_ANY_CASE),
        )
    except pyarrow.ArrowException:
        return None
    if not found.num_rows or file.text.rstrip("\n").count("\n") + 1 - skip != found.num_rows:
        return None  # blank lines: the numbers of the lines would be wrong
    numbers = np.empty((found.num_rows, len(kinds) - len(role_of)))
    columns: dict[str, TextSeries] = {}
    n_missing = d = 0
    for name, values in zip(kinds, found.columns, strict=True):
        if name in role_of:
            columns[role_of[name]] = _arrow_text(values)
            continue
        numbers[:, d] = values.to_numpy()
        n_missing += values.null_count
        d += 1
    if int(np.isnan(numbers).sum()) != n_missing:
        return None  # something odd was read as NaN
    return Rows(numbers, columns, range(skip + 1, skip + 1 + found.num_rows))


def _arrow_text(column: Any) -> TextSeries:
    import pyarrow

    found = column.combine_chunks()
    if isinstance(found, pyarrow.ChunkedArray):  # more text than one array can hold
        found = pyarrow.concat_arrays([chunk.cast(pyarrow.large_string()) for chunk in found.chunks])
    found = found.dictionary_encode()
    return TextSeries(found.dictionary.to_pylist(), found.indices.to_numpy(zero_copy_only=False).astype(np.int64))


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


def csv_columns(file: DataFile, bag: ColumnName = None, label: ColumnName = None) -> tuple[str, str | None]:
    """Return the bag and label columns: those given, otherwise those recognized by name."""
    line_number, header = next(file.numbered_lines())
    return _fields.named_columns(fields_of(header), bag, label, lambda message: file.error(message, line_number))


def read_csv(
    file: DataFile,
    bag: ColumnName = None,
    label: ColumnName = None,
    options: ColumnOptions = NO_OPTIONS,
    columns: Columns | None = None,
) -> Bags:
    """Read a table with a header: one row per instance, a column of bag ids and usually one of labels."""
    bag, label = csv_columns(file, bag, label)
    line, header = next(rows_of(file))
    names = [name.strip() for name in header]
    drop = [name for name in options.drop if columns is None or name in names]  # of another file
    features = _fields.feature_columns(names, bag, label, drop, lambda message: file.error(message, line))
    options = dataclasses.replace(options, drop=tuple(drop))
    if columns is None:
        with file.naming_errors():
            options.check(names, [bag] if label is None else [bag, label])
    truth = _fields.instance_label(names, bag, label)
    roles = {role: name for role, name in (("bag", bag), ("label", label), ("truth", truth)) if name is not None}
    rows, texts = _read_columns(file, names, features, roles, options, columns)
    if not rows.lines:
        raise file.error("there are no rows below the header: export or download the file again", 1)
    series: dict[str, Series] = {}
    numbers = iter(rows.numbers.T)
    for name in features:
        raw = rows.texts[_role(name)] if name in texts else None
        series[name] = NumberSeries(next(numbers)) if raw is None else TextSeries.of(raw.distinct, raw.codes)
    source = Source(np.asarray(rows.lines), place="line", label=label or "")
    with file.naming_errors():
        ids = _fields.row_ids(rows.texts["bag"], source)
        labels = None if label is None else _fields.row_labels(rows.texts["label"], source, options.number_format)
        raw = rows.texts.get("truth")
        instance_labels = None if raw is None else _fields.parse_labels(raw.distinct)[raw.codes]
        return bags_of_table(Table(series, ids, labels, instance_labels, source, is_text=True), options, columns)


def _read_columns(
    file: DataFile,
    names: Sequence[str],
    features: Sequence[str],
    roles: Mapping[str, str],
    options: ColumnOptions,
    columns: Columns | None,
) -> tuple[Rows, Collection[str]]:
    """Return the rows, and which of the features were read as text."""
    places = {name: at for at, name in enumerate(names)}
    skipped = sorted(places[name] for name in {*names} - {*features} - {*roles.values()})
    texts = _text_features(file, features, places, options, columns)
    while True:
        numbers = [name for name in features if name not in texts]
        wanted = {role: places[name] for role, name in roles.items()} | {_role(name): places[name] for name in texts}
        try:
            return read_rows(file, wanted, skipped, numbers, header=True), texts
        except NotANumberError as problem:
            odd = next((name for name in numbers if repr(name) == problem.column), None)
            if odd is None:
                raise
            texts.add(odd)


def _role(name: str) -> str:
    return f"column {name}"


def _text_features(
    file: DataFile, features: Sequence[str], places: dict[str, int], options: ColumnOptions, columns: Columns | None
) -> set[str]:
    """Return the columns to read as text: those that are known to be, and those that have text in their first rows."""
    if options.number_format != PLAIN_NUMBERS:
        return set(features)
    if columns is not None:
        return set(features) - {column.source for column in columns if column.kind == "number"}
    rows = [row for _, row in itertools.islice(rows_of(file), 1, 1 + _FIRST_ROWS)]
    named = (*options.categorical, *options.date, *options.keep)
    found: set[str] = set()
    for name in features:
        spare = options.only is not None and name not in (*options.only, *named)
        if spare or name in named or not all(is_number(row[places[name]].strip()) for row in rows):
            found.add(name)
    return found


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
    places = [f"{n + 1}" for n in range(width) if n not in (owner, target)]
    table = read_rows(file, {"bag": owner, "label": target}, (), places, header=False)
    try:
        return _fields.bags_of_rows(file, table.numbers, table.texts["bag"], table.texts["label"], table.lines)
    except DataFileError as problem:
        if isinstance(problem.__cause__, TwoLabelsError) and (owner, target) == (1, 0):
            raise DataFileError(f"{problem} If the bag comes first, pass bag=0, label=1.") from None
        raise


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
    table = read_rows(file, {"bag": 0, "label": width - 1}, (1,), names, header=False)
    labels = table.texts["label"]
    stops = np.array([label.strip().endswith(".") for label in labels.distinct])[labels.codes]
    if stops.any() and not stops[-1]:
        raise file.error(f"the class lacks its full stop: {CUT}", table.lines[-1])
    return _fields.bags_of_rows(file, table.numbers, table.texts["bag"], labels, table.lines, names)


FORMATS["csv"] = Format(
    name="csv",
    title="CSV with a header",
    suffixes=(".csv", ".tsv"),
    read=read_csv,
    write=write_csv,
    is_match=lambda file, bag: _kind_of(file, bag) == "csv",
    rank=0,
    columns=csv_columns,
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
