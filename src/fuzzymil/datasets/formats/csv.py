"""CSV tables with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _columns, _fields
from fuzzymil.datasets.formats._columns import INSTANCE_LABEL, Column
from fuzzymil.datasets.formats.files import DataFile, bare_name, write_text

__all__ = [
    "column_names",
    "csv_columns",
    "headerless_columns",
    "kind_of",
    "read_csv",
    "read_headerless",
    "read_uci",
    "text_columns",
    "write_columns",
    "write_csv",
    "write_headerless",
]

_SPECIAL = re.compile(r"[,;\t\n\r\" ]|^[#%@]")
_IN_QUOTES = re.compile(r'"[^"]*"')
_CUT = "the file seems to be truncated here: download it again"


def _delimiter(line: str) -> str | None:
    """Return the delimiter of a line, or None for blanks."""
    line = _IN_QUOTES.sub("", line)
    counts = {mark: line.count(mark) for mark in (",", ";", "\t")}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else None


def _fields_of(line: str) -> list[str]:
    mark = _delimiter(line)
    return line.split() if mark is None else [f.strip() for f in next(csv.reader([line], delimiter=mark))]


def kind_of(file: DataFile, bag: Column) -> str | None:
    """Return the kind of table that the first line looks like: "csv", "headerless", "uci" or None."""
    fields = _fields_of(file.head[0]) if file.head else []
    if len(fields) < 2:
        return None
    if isinstance(bag, str) or any(field.lower() in _columns.BAG_NAMES for field in fields):
        return "csv"
    numeric = [_fields.is_number(field) for field in fields]
    if len(fields) > 2 and all(numeric[2:]):
        if numeric[0] or bag is not None:
            return "headerless"
        return None if numeric[1] else "uci"
    return "csv" if not any(numeric) else None


def _rows(file: DataFile) -> tuple[list[list[str]], list[int]]:
    """Return the fields of every row, all of the same number, and the line each row begins on."""
    first = next(line for _, line in file.numbered_lines())
    mark = _delimiter(first)
    rows: list[list[str]] = []
    lines: list[int] = []
    begins = 1
    if mark is None:
        for begins, line in file.numbered_lines():
            rows.append(line.split())
            lines.append(begins)
    else:
        reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=mark, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                if len(row) > 1 or (row and row[0].strip()):
                    rows.append(row)
                    lines.append(begins)
                begins = reader.line_num + 1
        except csv.Error as problem:
            raise file.error(f"{problem}: look for an unclosed quotation mark", begins) from None
    width = len(rows[0])
    odd = next((n for n, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        advice = _CUT if file.is_cut(lines[odd]) else "all rows need the same number"
        raise file.error(f"{len(rows[odd])} values, but line {lines[0]} has {width}; {advice}", lines[odd])
    return rows, lines


def _without(row: list[str], positions: Sequence[int]) -> list[str]:
    for position in positions:  # from right to left
        del row[position]
    return row


# ---------------------------------------------------------------- with a header


def column_names(file: DataFile) -> list[str]:
    """Return the names of all columns."""
    return _fields_of(next(file.numbered_lines())[1])


def csv_columns(file: DataFile, bag: Column = None, label: Column = None) -> tuple[str, str | None]:
    """Return the bag and label columns: those given, otherwise those recognized by name."""
    line_number, header = next(file.numbered_lines())
    return _columns.named_columns(_fields_of(header), bag, label, lambda message: file.error(message, line_number))


def read_csv(file: DataFile, bag: Column = None, label: Column = None, drop: Sequence[str] = ()) -> Bags:
    """Read a table with a header: one row per instance, a column of bag ids and usually one of labels."""
    bag, label = csv_columns(file, bag, label)
    rows, lines = _rows(file)
    names = [name.strip() for name in rows.pop(0)]
    header_line = lines.pop(0)
    if not rows:
        raise file.error("there are no rows below the header: export or download the file again", header_line)
    roles = {role: names.index(name) for role, name in (("bag", bag), ("label", label)) if name is not None}
    if INSTANCE_LABEL in names:
        roles.setdefault("truth", names.index(INSTANCE_LABEL))
    columns = {role: [row[at] for row in rows] for role, at in roles.items()}
    features = _columns.feature_columns(names, bag, label, drop, lambda message: file.error(message, header_line))
    apart = sorted((at for at, name in enumerate(names) if name not in features), reverse=True)
    return _fields.assemble(
        file,
        _fields.numbers(file, [_without(row, apart) for row in rows], lines, features),
        columns["bag"],
        columns.get("label"),
        lines,
        feature_names=features,
        instance_labels=columns.get("truth"),
    )


def write_csv(bags: Bags, path: Path) -> None:
    """Write a table with the columns bag, label and instance_label (where known) and the features."""
    ids, labels = _fields.as_texts(bags, "a table")
    columns = {"bag": [ids[b] for b in bags.bag_index]}
    if labels is not None:
        columns["label"] = [labels[b] for b in bags.bag_index]
    if bags.instance_labels is not None:
        columns[INSTANCE_LABEL] = _fields.texts(bags.instance_labels)
    _columns.check_feature_names(bags)
    for name in bags.names:
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"The feature name {name!r} is not valid in a header: rename it before writing.")
    _write_rows(path, [[*columns, *bags.names]], list(columns.values()), bags)


def _write_rows(path: Path, header: list[list[str]], columns: list[list[str]], bags: Bags) -> None:
    mark = "\t" if bare_name(path).lower().endswith(".tsv") else ","
    lines = [mark.join(map(_field, names)) for names in header]
    for front, row in zip(zip(*columns, strict=True), bags.instances.tolist(), strict=True):
        lines.append(mark.join([*map(_field, front), *map(_fields.number_text, row)]))
    write_text(path, "\n".join(lines) + "\n")


def _field(text: str) -> str:
    """Return text in quotes if it contains any delimiter or could be read as something else."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def text_columns(file: DataFile) -> tuple[dict[str, list[str]], list[int]]:
    """Return a small table with a header as columns of text, and the lines of its rows, header included."""
    rows, lines = _rows(file)
    names = [name.strip() for name in rows[0]]
    return {name: [row[n].strip() for row in rows[1:]] for n, name in enumerate(names)}, lines


def write_columns(path: Path, columns: Mapping[str, list[str]]) -> None:
    """Write columns of text as CSV."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    write_text(path, "".join(",".join(map(_field, row)) + "\n" for row in rows))


# ---------------------------------------------------------------- without a header


def headerless_columns(file: DataFile, bag: Column = None, label: Column = None) -> tuple[int, int]:
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


def read_headerless(file: DataFile, bag: Column = None, label: Column = None) -> Bags:
    """Read rows of ``label,bag,f1,...`` without a header."""
    owner, target = headerless_columns(file, bag, label)
    rows, lines = _rows(file)
    if len(rows[0]) < 3:
        raise file.error(f"expected label, bag and features, found {len(rows[0])} values", lines[0])
    owners, labels = [row[owner] for row in rows], [row[target] for row in rows]
    apart = sorted((owner, target), reverse=True)
    rows = [_without(row, apart) for row in rows]
    places = [f"{n + 1}" for n in range(len(rows[0]) + 2) if n not in apart]
    hint = ", or pass bag=0, label=1 if the bag comes first" if (owner, target) == (1, 0) else ""
    return _fields.assemble(file, _fields.numbers(file, rows, lines, places), owners, labels, lines, hint=hint)


def write_headerless(bags: Bags, path: Path) -> None:
    """Write rows of ``label,bag,f1,...``, without feature names."""
    ids, labels = _fields.as_texts(bags, "a table without a header", needs_labels=True)
    _write_rows(path, [], [[column[b] for b in bags.bag_index] for column in (labels or [], ids)], bags)


def read_uci(file: DataFile, bag: Column = None, label: Column = None) -> Bags:
    """Read a UCI MUSK file: molecule, conformation, features, and the class followed by a full stop."""
    rows, lines = _rows(file)
    if len(rows[0]) < 4:
        raise file.error(f"expected molecule, conformation, features and class, found {len(rows[0])} values", lines[0])
    owners, labels = [row[0] for row in rows], [row[-1] for row in rows]
    names = [f"f{n + 1}" for n in range(len(rows[0]) - 3)]
    instances = _fields.numbers(file, [row[2:-1] for row in rows], lines, names)
    if any(label.strip().endswith(".") for label in labels) and not labels[-1].strip().endswith("."):
        raise file.error(f"the class lacks its full stop: {_CUT}", lines[-1])
    return _fields.assemble(file, instances, owners, labels, lines, feature_names=names)
