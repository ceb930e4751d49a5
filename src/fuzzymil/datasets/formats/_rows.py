"""The rows of delimited text as numbers and columns of text: by pyarrow if it is installed, otherwise in blocks."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags, Columns, Source
from fuzzymil.datasets.formats import _arrow, _fields
from fuzzymil.datasets.formats.files import DataFile

CUT = "the file seems to be truncated here: download it again"

_IN_QUOTES = re.compile(r'"[^"]*"')
_BLOCK = 1 << 18  # fields that are text at a time
_BLOCK_ROWS = 1 << 12
_ARROW_BLOCK = 1 << 26  # bytes parsed at a time; a row has to fit
_ARROW_COLUMN = 1 << 15  # bytes that pyarrow takes for a column, however short it is
_LEAST_FOR_ARROW = 1 << 20  # bytes; smaller files are read before pyarrow is imported


@dataclass(frozen=True)
class Table:
    """The rows of a table.

    Attributes
    ----------
    numbers : array of shape (n_rows, n_features)
    texts : dict
        The columns that are not numbers, by role.
    lines : sequence of int
        The line on which each row begins.
    """

    numbers: Array
    texts: dict[str, _fields.Texts]
    lines: Sequence[int]


def delimiter(line: str) -> str | None:
    """Return the delimiter of a line, or None for blanks."""
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
    start, width = 1, -1
    for line, row in _any_rows(file):
        if width < 0:
            start, width = line, len(row)
        elif len(row) != width:
            advice = CUT if file.is_cut(line) else "all rows need the same number"
            raise file.error(f"{len(row)} values, but line {start} has {width}; {advice}", line)
        yield line, row


def _any_rows(file: DataFile) -> Iterator[tuple[int, list[str]]]:
    mark = delimiter(next(line for _, line in file.numbered_lines()))
    if mark is None:
        yield from ((number, line.split()) for number, line in file.numbered_lines())
        return
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=mark, skipinitialspace=True, strict=True)
    begins = 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as problem:
        raise file.error(f"{problem}: look for an unclosed quotation mark", begins) from None


def read(
    file: DataFile, texts: Mapping[str, int], skipped: Sequence[int], names: Sequence[str], *, header: bool
) -> Table:
    """Read a table.

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
    regular = mark is not None and '"' not in file.text
    utf8 = file.encoding is None  # which pyarrow reads from the bytes
    roomy = memory.shortage(n_bytes + _ARROW_COLUMN * len(names)) is None
    if mark is not None and regular and utf8 and roomy and len(file.content) >= _LEAST_FOR_ARROW:
        found = _read_by_arrow(file, mark, texts, skipped, header)
        if found is not None:
            return found
    if mark is not None and regular:
        with contextlib.suppress(_IrregularError):
            return _converted(file, _regular_blocks(file, mark, header), texts, skipped, names)
    return _converted(file, _blocks(file, header), texts, skipped, names)


Block = tuple[Sequence[int], list[list[str]]]
"""Some rows, and the lines they begin on."""


class _IrregularError(Exception):
    """A row that spans lines, a blank line, or rows of different lengths: line numbers need a closer look."""


def _regular_blocks(file: DataFile, mark: str, header: bool) -> Iterator[Block]:
    """Yield rows that are one line each, as most are; raise if one is not."""
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=mark, skipinitialspace=True)
    width = len(next(reader, ()))
    n_rows = max(_BLOCK // max(width, 1), 1)
    line = 1
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=mark, skipinitialspace=True)
    if header:
        next(reader)
        line += 1
    try:
        while block := list(itertools.islice(reader, n_rows)):
            if {*map(len, block)} != {width} or width < 2:
                raise _IrregularError
            yield range(line, line + len(block)), block
            line += len(block)
    except csv.Error:
        raise _IrregularError from None


def _blocks(file: DataFile, header: bool) -> Iterator[Block]:
    """Yield rows of any kind."""
    rows = rows_of(file)
    if header:
        next(rows)
    while block := list(itertools.islice(rows, _BLOCK_ROWS)):
        yield [line for line, _ in block], [row for _, row in block]


def _converted(
    file: DataFile, blocks: Iterator[Block], texts: Mapping[str, int], skipped: Sequence[int], names: Sequence[str]
) -> Table:
    """Convert rows in blocks, so that few are text at a time."""
    columns = {role: _fields.TextColumn() for role in texts}
    apart = {*texts.values(), *skipped}
    places = [at for at in range(len(names) + len(apart)) if at not in apart]
    # Of neighboring columns, a slice is taken; it is also a sequence if there is only one, or none.
    first, end = (places[0], places[-1] + 1) if places else (0, 0)
    pick = operator.itemgetter(slice(first, end)) if end - first == len(places) else operator.itemgetter(*places)
    numbers: list[Array] = []
    lines: list[Sequence[int]] = []
    for some, block in blocks:
        for role, at in texts.items():
            columns[role].extend(map(operator.itemgetter(at), block))
        numbers.append(_fields.numbers(file, list(map(pick, block)), some, names))
        lines.append(some)
    return Table(
        np.concatenate(numbers) if numbers else np.zeros((0, len(names))),
        {role: column.finished() for role, column in columns.items()},
        lines[0] if len(lines) == 1 else list(itertools.chain.from_iterable(lines)),
    )


def _read_by_arrow(
    file: DataFile, mark: str, texts: Mapping[str, int], skipped: Sequence[int], header: bool
) -> Table | None:
    """Read all rows at once; None if pyarrow is missing, or anything is irregular and needs a closer look."""
    line, first = next(file.numbered_lines())
    width = first.count(mark) + 1
    names = [str(at) for at in range(width)]
    roles = {str(at): role for role, at in texts.items()}
    left_out = {*skipped}
    wanted = [name for at, name in enumerate(names) if at not in left_out]
    start = file.content.removeprefix(b"\xef\xbb\xbf")
    found = _arrow.read_delimited(
        start,
        mark,
        names,
        {name: name in roles for name in wanted},
        missing=_MISSING,
        skip_lines=line if header else 0,
        block_size=_ARROW_BLOCK,
    )
    if found is None or not found.num_rows:
        return None
    numbers = np.empty((found.num_rows, len(wanted) - len(roles)))
    columns: dict[str, _fields.Texts] = {}
    n_missing = d = 0
    for name, values in zip(wanted, found.columns, strict=True):
        if name in roles:
            columns[roles[name]] = _fields.Texts(*_arrow.encoded(values))
            continue
        numbers[:, d] = values.to_numpy()
        n_missing += values.null_count
        d += 1
    if int(np.isnan(numbers).sum()) != n_missing or np.isinf(numbers).any():
        return None  # something odd was read as NaN, or a number is infinite
    begin = (line if header else 0) + 1
    if file.text.rstrip("\n").count("\n") + 2 - begin != found.num_rows:
        return None  # blank lines: the numbers of the lines would be wrong
    return Table(numbers, columns, range(begin, begin + found.num_rows))


_MISSING = [
    "".join(letters)
    for word in sorted(_fields.MISSING)
    for letters in itertools.product(*({letter, letter.upper()} for letter in word))
]  # in any case


def bags_of(
    file: DataFile,
    table: Table,
    *,
    feature_names: Sequence[str] | None = None,
    columns: Columns | None = None,
    source: Source | None = None,
    hint: str = "",
) -> Bags:
    """Group the rows of a table with the columns of text "bag", "label" and "truth" into bags."""
    return _fields.assemble(
        file,
        table.numbers,
        table.texts["bag"],
        table.texts.get("label"),
        table.lines,
        feature_names=feature_names,
        columns=columns,
        source=source,
        instance_labels=table.texts.get("truth"),
        hint=hint,
    )
