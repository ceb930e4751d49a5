"""CSV tables with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, Columns
from fuzzymil.bags.tables import AS_IT_IS, ColumnOptions
from fuzzymil.datasets.formats import _columns, _fields, _mixed, _rows
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


def kind_of(file: DataFile, bag: Column) -> str | None:
    """Return the kind of table that the first line looks like: "csv", "headerless", "uci" or None."""
    if file.head:
        file.refuse_json()  # here, as other formats have had their turn
    fields = _rows.fields_of(file.head[0]) if file.head else []
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


# ---------------------------------------------------------------- with a header


def column_names(file: DataFile) -> list[str]:
    """Return the names of all columns."""
    return _rows.fields_of(next(file.numbered_lines())[1])


def csv_columns(file: DataFile, bag: Column = None, label: Column = None) -> tuple[str, str | None]:
    """Return the bag and label columns: those given, otherwise those recognized by name."""
    line_number, header = next(file.numbered_lines())
    return _columns.named_columns(_rows.fields_of(header), bag, label, lambda message: file.error(message, line_number))


def read_csv(
    file: DataFile,
    bag: Column = None,
    label: Column = None,
    options: ColumnOptions = AS_IT_IS,
    columns: Columns | None = None,
) -> Bags:
    """Read a table with a header: one row per instance, a column of bag ids and usually one of labels."""
    bag, label = csv_columns(file, bag, label)
    line = next(file.numbered_lines())[0]

    def error(message: str) -> Exception:
        return file.error(message, line)

    names = [name.strip() for name in next(_rows.rows_of(file))[1]]
    drop = [name for name in options.drop if columns is None or name in names]  # of another file
    others = _columns.feature_columns(names, bag, label, drop, error)
    if columns is None:
        with file.naming_errors():
            options.check(names, [bag] if label is None else [bag, label])
    truth = _columns.instance_label(names, bag, label)
    roles = {role: name for role, name in (("bag", bag), ("label", label), ("truth", truth)) if name is not None}
    left_out = [*{*names} - {*others} - {*roles.values()}]
    return _mixed.read(file, names, roles, left_out, dataclasses.replace(options, drop=()), columns)


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
    found = list(_rows.rows_of(file))
    rows = [row for _, row in found]
    names = [name.strip() for name in rows[0]]
    return {name: [row[n].strip() for row in rows[1:]] for n, name in enumerate(names)}, [line for line, _ in found]


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
    width = _width(file, 3, "label, bag and features")
    places = [f"{n + 1}" for n in range(width) if n not in (owner, target)]
    table = _rows.read(file, {"bag": owner, "label": target}, (), places, header=False)
    hint = ", or pass bag=0, label=1 if the bag comes first" if (owner, target) == (1, 0) else ""
    return _rows.bags_of(file, table, hint=hint)


def _width(file: DataFile, least: int, expected: str) -> int:
    """Return the number of columns, which is at least that of the expected ones."""
    line, row = next(_rows.rows_of(file))
    if len(row) < least:
        raise file.error(f"expected {expected}, found {len(row)} values", line)
    return len(row)


def write_headerless(bags: Bags, path: Path) -> None:
    """Write rows of ``label,bag,f1,...``, without feature names."""
    ids, labels = _fields.as_texts(bags, "a table without a header", needs_labels=True)
    _write_rows(path, [], [[column[b] for b in bags.bag_index] for column in (labels or [], ids)], bags)


def read_uci(file: DataFile, bag: Column = None, label: Column = None) -> Bags:
    """Read a UCI MUSK file: molecule, conformation, features, and the class followed by a full stop."""
    width = _width(file, 4, "molecule, conformation, features and class")
    names = [f"f{n + 1}" for n in range(width - 3)]
    table = _rows.read(file, {"bag": 0, "label": width - 1}, (1,), names, header=False)
    labels = table.texts["label"]
    stops = np.array([label.strip().endswith(".") for label in labels.distinct])[labels.codes]
    if stops.any() and not stops[-1]:
        raise file.error(f"the class lacks its full stop: {_rows.CUT}", table.lines[-1])
    return _rows.bags_of(file, table, feature_names=names)
