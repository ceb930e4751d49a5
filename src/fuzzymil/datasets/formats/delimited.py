"""Tables of fields: CSV with a header, ``label,bag,f1,...`` without one, and the UCI MUSK files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fuzzymil._utils.errors import InputError, did_you_mean
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import table
from fuzzymil.datasets.formats.files import DataFile, bare_name, write_text

__all__ = [
    "BAG_NAMES",
    "INSTANCE_LABEL",
    "LABEL_NAMES",
    "check_feature_names",
    "csv_columns",
    "delimiter_of",
    "feature_columns",
    "fields_of",
    "headerless_columns",
    "named_columns",
    "read_csv",
    "read_headerless",
    "read_uci",
    "text_columns",
    "write_columns",
    "write_csv",
    "write_headerless",
]

BAG_NAMES = ("bag", "bag_id", "bagid", "bag_ids", "bag_name", "bagname", "molecule", "molecule_name")
"""Columns that are taken for the bag's name, in any case."""

LABEL_NAMES = ("label", "labels", "bag_label", "class_label", "bag_class", "class", "target", "y")
"""Columns that are taken for the bag's label, in any case."""

INSTANCE_LABEL = "instance_label"
"""A column of this name holds the truth about single instances and is no feature."""

Column = str | int | None
Problem = Callable[[str], Exception]

_SPECIAL = re.compile(r"[,;\t\n\r\" ]|^[#%@]")
_IN_QUOTES = re.compile(r'"[^"]*"')


def delimiter_of(line: str) -> str | None:
    """Return the delimiter of a line, or None for blanks."""
    line = _IN_QUOTES.sub("", line)
    counts = {mark: line.count(mark) for mark in (",", ";", "\t")}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else None


def fields_of(line: str) -> list[str]:
    """Return the fields of one line."""
    mark = delimiter_of(line)
    return line.split() if mark is None else [f.strip() for f in next(csv.reader([line], delimiter=mark))]


def _rows(file: DataFile) -> tuple[list[list[str]], list[int]]:
    """Return the fields of every row and the line each begins on; all rows have as many."""
    first = next(line for _, line in file.numbered_lines())
    mark = delimiter_of(first)
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
            raise file.error(f"{problem}: look for a quotation mark that is never closed", begins) from None
    width = len(rows[0])
    odd = next((n for n, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        cut = file.is_cut(lines[odd])
        advice = "the file seems to be cut off here: get it again" if cut else "all rows need the same number"
        raise file.error(f"{len(rows[odd])} values, but line {lines[0]} has {width}; {advice}", lines[odd])
    return rows, lines


def _without(row: list[str], positions: Sequence[int]) -> list[str]:
    for position in positions:  # from right to left
        del row[position]
    return row


# ---------------------------------------------------------------- with a header


def csv_columns(file: DataFile, bag: Column = None, label: Column = None) -> tuple[str, str | None]:
    """Return the names of the bag and label columns: those asked for, else those that look like it."""
    line_number, header = next(file.numbered_lines())
    return named_columns(fields_of(header), bag, label, lambda message: file.error(message, line_number))


def named_columns(names: Sequence[str], bag: Column, label: Column, error: Problem) -> tuple[str, str | None]:
    """Return which of a table's columns are the bag and the label: those asked for, else those that look like it.

    ``error`` makes an error of a message and adds where the table is.
    """
    if "" in names:
        raise error(
            f"column {names.index('') + 1} has no name: name it, or remove it if it only numbers the rows "
            "(pandas: to_csv(..., index=False))"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise error(f"the column {twice!r} stands twice: rename one")
    known = {name.lower(): name for name in names}
    if bag is None:
        bag = _only([known[name] for name in BAG_NAMES if name in known], "bag", error)
        if bag is None:
            raise error(
                f"no column looks like the name of the bag: name it with bag=..., one of {_listed(names)}, or give the "
                "table a header with a column 'bag'"
            )
    if label is None:
        likely = [known[name] for name in LABEL_NAMES[:-1] if name in known and known[name] != bag]
        if not likely and "y" in known and "x" not in known:  # x and y are a point, y alone is a label
            likely = [known["y"]]
        label = _only(likely, "label", error)
    for role, name in (("bag", bag), ("label", label)):
        if name is not None and name not in names:
            raise error(
                f"there is no column {name!r} for {role}=; there are {_listed(names)}."
                f"{did_you_mean(name, names)}".rstrip(".")
            )
    if bag == label:
        raise error(f"the column {bag!r} cannot be both the bag and the label: name two columns")
    return str(bag), None if label is None else str(label)


def _only(likely: list[str], role: str, error: Problem) -> str | None:
    if len(likely) > 1:
        raise error(
            f"several columns may be the {role}: {_listed(likely)}; say which with {role}=... and take the others out "
            "of the file, or they would be used as features"
        )
    return likely[0] if likely else None


def feature_columns(
    names: Sequence[str], bag: str, label: str | None, drop: Sequence[str], error: Problem
) -> list[str]:
    """Return the columns that are features: neither bag nor label, no truth about instances, not dropped."""
    for name in drop:
        if name not in names:
            raise error(f"there is no column {name!r} to drop; there are {_listed(names)}")
        if name in (bag, label):
            raise error(f"the column {name!r} is the bag or the label and cannot be dropped")
    features = [name for name in names if name not in {bag, label, INSTANCE_LABEL, *drop}]
    if not features:
        raise error(f"there is no feature column beside {_listed(names)}")
    return features


def check_feature_names(bags: Bags) -> None:
    """Refuse features that a table with a header would give back as the bag or its label."""
    lower = [name.lower() for name in bags.names]
    alone = bags.labels is None and "x" not in lower  # such a y would be taken for the label
    taken = {*BAG_NAMES, *LABEL_NAMES[:-1], INSTANCE_LABEL, *(("y",) if alone else ())}
    for name in bags.names:
        if name.lower() in taken:
            raise InputError(f"The feature {name!r} would be read as the bag or its label: rename it before writing.")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} columns)"


def read_csv(file: DataFile, bag: Column = None, label: Column = None, drop: Sequence[str] = ()) -> Bags:
    """Read a table with a header: one row an instance, a column for the bag and mostly one for its label.

    Columns named in ``drop`` are left out.
    """
    bag, label = csv_columns(file, bag, label)
    rows, lines = _rows(file)
    names = [name.strip() for name in rows.pop(0)]
    header_line = lines.pop(0)
    if not rows:
        raise file.error("there is a header but no row below it: get the file again", header_line)
    roles = {role: names.index(name) for role, name in (("bag", bag), ("label", label)) if name is not None}
    if INSTANCE_LABEL in names:
        roles.setdefault("truth", names.index(INSTANCE_LABEL))
    columns = {role: [row[at] for row in rows] for role, at in roles.items()}
    features = feature_columns(names, bag, label, drop, lambda message: file.error(message, header_line))
    apart = sorted((at for at, name in enumerate(names) if name not in features), reverse=True)
    return table.assemble(
        file,
        table.numbers(file, [_without(row, apart) for row in rows], lines, features),
        columns["bag"],
        columns.get("label"),
        lines,
        feature_names=features,
        instance_labels=columns.get("truth"),
    )


def write_csv(bags: Bags, path: Path) -> None:
    """Write a table with the columns bag, label and instance_label (where known) and the features."""
    table.check_writable(bags, "a table")
    ids = table.texts(bags.ids)
    head = ["bag"]
    columns = [[ids[b] for b in bags.bag_index]]
    if bags.labels is not None:
        labels = table.texts(bags.labels)
        head.append("label")
        columns.append([labels[b] for b in bags.bag_index])
    if bags.instance_labels is not None:
        head.append(INSTANCE_LABEL)
        columns.append(table.texts(bags.instance_labels))
    check_feature_names(bags)
    for name in bags.names:
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"The feature name {name!r} is no text for a header: rename it before writing.")
    _write_rows(path, [head + list(bags.names)], columns, bags)


def _write_rows(path: Path, header: list[list[str]], columns: list[list[str]], bags: Bags) -> None:
    mark = "\t" if bare_name(path).lower().endswith(".tsv") else ","
    lines = [mark.join(map(_field, names)) for names in header]
    for front, row in zip(zip(*columns, strict=True), bags.instances.tolist(), strict=True):
        lines.append(mark.join([*map(_field, front), *map(table.number_text, row)]))
    write_text(path, "\n".join(lines) + "\n")


def _field(text: str) -> str:
    """Return text in quotes where it could be taken for something else, another delimiter included."""
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
    """Return the positions (from 0) of the bag and label columns; the custom is label first, then bag."""
    width = len(fields_of(next(line for _, line in file.numbered_lines())))
    found = (1 if bag is None else bag, 0 if label is None else label)
    for role, at in zip(("bag", "label"), found, strict=True):
        if not isinstance(at, int) or not 0 <= at < width:
            raise file.error(
                f"has no header, so {role}= is a position from 0 to {width - 1}, not {at!r}: give a position, or give "
                "the file a header"
            )
    if found[0] == found[1]:
        raise file.error(f"has bag= and label= both at position {found[0]}: give two positions")
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
    hint = ", or say bag=0, label=1 if the bag stands first" if (owner, target) == (1, 0) else ""
    return table.assemble(file, table.numbers(file, rows, lines, places), owners, labels, lines, hint=hint)


def write_headerless(bags: Bags, path: Path) -> None:
    """Write rows of ``label,bag,f1,...``; names of features are lost."""
    table.check_writable(bags, "a table without a header", needs_labels=True)
    ids, labels = table.texts(bags.ids), table.texts(bags.labels)  # type: ignore[arg-type]
    _write_rows(path, [], [[labels[b] for b in bags.bag_index], [ids[b] for b in bags.bag_index]], bags)


def read_uci(file: DataFile, bag: Column = None, label: Column = None) -> Bags:
    """Read a UCI MUSK file: molecule, conformation, features, class with a full stop after it."""
    rows, lines = _rows(file)
    if len(rows[0]) < 4:
        raise file.error(f"expected molecule, conformation, features and class, found {len(rows[0])} values", lines[0])
    owners, labels = [row[0] for row in rows], [row[-1] for row in rows]
    names = [f"f{n + 1}" for n in range(len(rows[0]) - 3)]
    instances = table.numbers(file, [row[2:-1] for row in rows], lines, names)
    if any(label.strip().endswith(".") for label in labels) and not labels[-1].strip().endswith("."):
        raise file.error("the class lacks its full stop: the file seems to be cut off here; get it again", lines[-1])
    return table.assemble(file, instances, owners, labels, lines, feature_names=names)
