"""Tables with a header whose columns are numbers, categories, dates and other text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from fuzzymil._utils.arrays import codes
from fuzzymil.bags import Bags, Columns, Source
from fuzzymil.bags.notation import USUAL, Notation
from fuzzymil.bags.tables import ColumnOptions, understood
from fuzzymil.bags.values import Numbers, Text, Values
from fuzzymil.datasets.formats import _fields, _rows
from fuzzymil.datasets.formats.files import DataFile

_FIRST_ROWS = 200  # by which columns of text are recognized; one that begins with numbers is read twice


def read(
    file: DataFile,
    names: Sequence[str],
    roles: dict[str, str],
    drop: Sequence[str],
    options: ColumnOptions,
    columns: Columns | None,
) -> Bags:
    """Return the bags of a table.

    Parameters
    ----------
    file : DataFile
    names : sequence of str
        The header.
    roles : dict of str to str
        The columns of the "bag", the "label" and the "truth".
    drop : sequence of str
        Columns that are not read.
    options : ColumnOptions
    columns : Columns, optional
        The features to make.
    """
    places = {name: at for at, name in enumerate(names)}
    apart = {*roles.values(), *drop}
    others = [name for name in names if name not in apart]
    texts = _as_text(file, others, places, options, columns)
    while True:
        numbers = [name for name in others if name not in texts]
        wanted = {
            **{role: places[name] for role, name in roles.items()},
            **{_role(name): places[name] for name in texts},
        }
        try:
            table = _rows.read(file, wanted, sorted(places[name] for name in drop), numbers, header=True)
            break
        except _fields.NotANumberError as problem:
            odd = next((name for name in numbers if repr(name) == problem.column), None)
            if odd is None:
                raise
            texts[odd] = None
    if not table.lines:
        raise file.error("there are no rows below the header: export or download the file again", 1)
    found: dict[str, Values] = {}
    column_of = {name: d for d, name in enumerate(numbers)}
    for name in others:
        if name in texts:
            read_as = table.texts[_role(name)]
            text = Text.of(read_as.distinct, read_as.codes)
            found[name] = text.in_notation(options.notation) if options.may_be_number(name, columns) else text
            needed = columns is not None and options.may_be_number(name, columns)
            if found[name] is text and (needed or (name not in options.named and columns is None)):
                _check_mistakes(file, name, read_as, table.lines, options.notation, needed=needed)
        else:
            found[name] = Numbers(table.numbers[:, column_of[name]])
    owners = table.texts["bag"]
    _fields.check_present(file, table.lines, owners, None)
    with file.naming_errors():
        made = understood(found, codes(_fields.identities(owners.distinct))[owners.codes], options, columns)
    if "label" in table.texts:
        table.texts["label"] = _labels(table.texts["label"], options.notation)
    source = Source(np.asarray(table.lines), made.extra, "line", made.unused, roles.get("label", ""))
    return _rows.bags_of(
        file, _rows.Table(made.instances, table.texts, table.lines), columns=made.columns, source=source
    )


def _role(name: str) -> str:
    return f"column {name}"


def _labels(column: _fields.Texts, notation: Notation) -> _fields.Texts:
    """Return labels, with a decimal point if they are numbers in the notation that the user chose."""
    found = None if notation == USUAL else notation.numbers(column.distinct)
    return column if found is None else _fields.Texts(list(map(_fields.number_text, found.tolist())), column.codes)


def _as_text(
    file: DataFile, others: Sequence[str], places: dict[str, int], options: ColumnOptions, columns: Columns | None
) -> dict[str, None]:
    """Return the columns to read as text: those that are known to be, and those that have text in their first rows."""
    if options.notation != USUAL:
        return dict.fromkeys(others)
    if columns is not None:
        numeric = {column.source for column in columns if column.kind == "number"}
        return {name: None for name in others if name not in numeric}
    rows = [row for _, row in itertools.islice(_rows.rows_of(file), 1, 1 + _FIRST_ROWS)]
    named = (*options.categorical, *options.date, *options.keep)
    found: dict[str, None] = {}
    for name in others:
        spare = options.only is not None and name not in (*options.only, *named)
        if spare or name in named or not all(_fields.is_number(row[places[name]].strip()) for row in rows):
            found[name] = None
    return found


def _check_mistakes(
    file: DataFile, name: str, column: _fields.Texts, lines: Sequence[int], notation: Notation, *, needed: bool
) -> None:
    """Raise if a column of text consists mostly of numbers, or needs to, so that the rest are probably mistakes."""
    plain = [value.strip() for value in column.distinct]
    missing = np.array([value.lower() in _fields.MISSING for value in plain])
    usual = notation == USUAL
    foreign = np.array([notation.is_foreign(value) for value in plain]) & ~missing
    number = np.array([_fields.is_number(value) if usual else notation.number(value) is not None for value in plain])
    number &= ~missing & ~foreign
    counts = np.bincount(column.codes, minlength=len(plain))
    known = counts[~missing].sum()
    for odd, share in ((~number & ~missing, counts[number].sum()), (foreign, counts[foreign].sum())):
        if odd.any() and (needed or 2 * share > known):
            row = int(np.argmax(odd[column.codes]))
            field = plain[column.codes[row]]
            advice = notation.advice(field, [plain[code] for code in np.flatnonzero(foreign | number)])
            raise _fields.not_a_number(file, field, lines[row], repr(name), advice)
