"""Which columns of a table become features, and as what; and which do not, and why."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array, all_different, codes
from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError, described, did_you_mean, listed
from fuzzymil.bags import _dates
from fuzzymil.bags.columns import HOUR, Column, Columns, folded, spelled
from fuzzymil.bags.notation import USUAL, Notation
from fuzzymil.bags.values import Dates, Numbers, Text, Values

__all__ = [
    "AS_IT_IS",
    "DATE_PARTS",
    "ColumnOptions",
    "Understood",
    "Unused",
    "understood",
    "unused_in_words",
    "why_identifier",
]

DATE_PARTS = ("date", "weekday", "hour", "elapsed")
"""What can be made of a date."""

MOST_CATEGORIES = 20
"""A column of text with more different values is not used, unless it is named."""

_NEARLY_ALL = 0.9  # of the texts of a column that are numbers, so that the others are probably mistakes
_FEWEST_COUNTED = 10  # rows; fewer may count something else
_IDENTIFIER = re.compile(r"(?:.*[\W_])?(?:id|uuid|guid|key)|unnamed: \d+", re.IGNORECASE)
_CAMEL_IDENTIFIER = re.compile(r".*[a-z]I[Dd]")


@dataclasses.dataclass(frozen=True)
class ColumnOptions:
    """What the user says about the columns of a table.

    Attributes
    ----------
    only : tuple of str or None
        The columns to use; None: all that can be used.
    drop : tuple of str
        Columns to leave out altogether.
    categorical : tuple of str
        Columns whose values are categories, however many there are, and numbers that are codes.
    date : mapping of str to tuple of str
        Columns of dates, and what to make of them (`DATE_PARTS`); an empty tuple: what suits them.
    exclude_text : bool
        Whether no column of text is used, unless it is named.
    keep : tuple of str
        Columns that are no features, but kept beside them.
    notation : Notation
        How numbers are written where they are text.
    """

    only: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    date: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    exclude_text: bool = False
    keep: tuple[str, ...] = ()
    notation: Notation = USUAL

    @classmethod
    def of(
        cls,
        only: Any,
        drop: Any,
        categorical: Any,
        date: Any,
        exclude_text: bool,
        keep: Any = (),
        decimal: str = ".",
        thousands: str | None = None,
    ) -> ColumnOptions:
        """Return options from a user's lists, names and dictionaries.

        Examples
        --------
        >>> ColumnOptions.of(None, ["url"], "channel", {"day": "weekday"}, False).date
        {'day': ('weekday',)}
        """
        parts = date if isinstance(date, Mapping) else dict.fromkeys(_names(date, "columns of dates"), ())
        found = {str(name): _names(some, "parts of a date") for name, some in parts.items()}
        for name, some in found.items():
            for part in some:
                if part not in DATE_PARTS:
                    raise ParameterError(
                        f"Unknown part {part!r} of the date {name!r}; choose from {listed(DATE_PARTS)}."
                        f"{did_you_mean(part, DATE_PARTS)}"
                    )
        only = None if only is None else _names(only, "feature columns")
        all_different(only or (), "column")
        notation = Notation(decimal, thousands)
        left_out, kept = _names(drop, "columns to drop"), _names(keep, "columns to keep")
        return cls(only, left_out, _names(categorical, "columns"), found, bool(exclude_text), kept, notation)

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are named."""
        return tuple(dict.fromkeys((*(self.only or ()), *self.drop, *self.categorical, *self.date, *self.keep)))

    def may_be_number(self, name: str, columns: Columns | None) -> bool:
        """Return whether the text of a column may be read as numbers: unless it was said what it is."""
        if columns is None:
            return name not in (*self.categorical, *self.date, *self.keep)
        return any(column.source == name and column.kind == "number" for column in columns)

    def check(self, names: Iterable[str], apart: Sequence[str]) -> None:
        """Raise if a column that is named does not exist, is the bag or the label, or is both used and left out."""
        names = list(names)
        for name in self.named:
            if name in apart:
                raise InputError(f"Column {name!r} must occur only once and cannot also be a feature.")
            if name not in names:
                known = [other for other in names if other not in apart]
                raise InputError(
                    f"There is no column {name!r}; choose from {listed(known)}.{did_you_mean(name, known)}"
                )
        for names, what in ((self.drop, "dropped"), (self.keep, "kept apart")):
            for name in names:
                if name in (*(self.only or ()), *self.categorical, *self.date):
                    raise InputError(f"Column {name!r} cannot be both used and {what}: name it once.")


AS_IT_IS = ColumnOptions()
"""No wishes: all columns that can be used are."""


def _names(values: Any, what: str) -> tuple[str, ...]:
    if isinstance(values, str):
        return (values,)
    try:
        return tuple(str(value) for value in values)
    except TypeError:
        raise InputTypeError(f"Expected a list of {what}, got {described(values)}: put them in a list.") from None


class Unused(NamedTuple):
    """A column that is not used, why, and the option that would use it."""

    name: str
    why: str
    option: str = ""


class Understood(NamedTuple):
    """The features of a table."""

    instances: Array
    columns: Columns
    unused: tuple[Unused, ...]
    extra: dict[str, Array]  # columns that are no features, and dates


def understood(
    table: Mapping[str, Values], bag_of_row: Array, options: ColumnOptions, columns: Columns | None = None
) -> Understood:
    """Return the features of a table.

    Parameters
    ----------
    table : mapping of str to Values
        Without the columns of bag ids and labels.
    bag_of_row : array of int, shape (n_rows,)
    options : ColumnOptions
    columns : Columns, optional
        The features to make, as they were made from another table; ``options`` then only drops.
    """
    table = {
        name: values.in_notation(options.notation)
        if isinstance(values, Text) and options.may_be_number(name, columns)
        else values
        for name, values in table.items()
        if name not in options.drop
    }
    unused: list[Unused] = []
    if columns is None:
        found: list[Column] = []
        wanted = table if options.only is None else dict.fromkeys((*options.only, *options.categorical, *options.date))
        for name in wanted:
            if name in options.keep:
                continue
            made = _features(name, table[name], bag_of_row, options)
            if isinstance(made, Unused):
                unused.append(made)
            else:
                found += made
        if not found:
            why = f": {unused_in_words(unused)}" if unused else "."
            raise InputError(f"There are no feature columns{why}")
        columns = Columns(found)
    else:
        there = Columns(column for column in columns if column.source in table)
        unused = [Unused(name, "it is not in this table") for name in columns.sources if name not in table]
        columns = there or columns  # without any, an error says what is needed
    instances, met = columns.encode(table, bag_of_row)
    plain = {column.source for column in columns if column.kind in ("number", "category")}
    extra = {
        name: _kept(values, name, met)
        for name, values in table.items()
        if name in options.keep or (name not in plain and not _is_idle(values))
    }
    return Understood(instances, met, tuple(unused), extra)


def _is_idle(values: Values) -> bool:
    """Return whether a column of text says nothing about a row, because it is empty or the same in all of them."""
    return isinstance(values, Text) and len(values.distinct) < 2


def _kept(values: Values, name: str, columns: Columns) -> Array:
    if isinstance(values, Text) and any(column.source == name for column in columns):
        found = values.as_dates()
        return values.kept() if isinstance(found, str) else found
    return values.kept()


def _said(option: str, name: str) -> str:
    """Return what to say in Python to use a column."""
    return "list it in features" if option == "features" else f"{option}=[{name!r}]"


def unused_in_words(unused: Sequence[Unused], said: Callable[[str, str], str] = _said) -> str:
    """Return one sentence about columns that are not used; ``said(option, name)`` is what to say to use one.

    Examples
    --------
    >>> print(unused_in_words([Unused("comment", "1,180 different texts", "categorical")]))
    Columns not used: comment (1,180 different texts; to use it: categorical=['comment']).
    """
    shown = [f"{name} ({why}{f'; to use it: {said(option, name)}' if option else ''})" for name, why, option in unused]
    return f"Columns not used: {', '.join(shown)}."


# ---------------------------------------------------------------------- one column


def _features(name: str, values: Values, bag_of_row: Array, options: ColumnOptions) -> list[Column] | Unused:
    if name in options.date:
        return _of_date(name, values, bag_of_row, options.date[name])
    if name in options.categorical:
        return [_category(name, values.as_text())]
    named = options.only is not None and name in options.only
    if isinstance(values, Numbers):
        return _of_numbers(name, values, bag_of_row, named=named)
    if isinstance(values, Dates):
        if np.isnat(values.moments).all():
            return Unused(name, "it is empty")
        return _of_date(name, values, bag_of_row, ())
    return _of_text(name, values, bag_of_row, options, named=named)


def _of_numbers(name: str, values: Numbers, bag_of_row: Array, *, named: bool) -> list[Column] | Unused:
    if values.unit == HOUR:
        return [Column(name, "hour")]
    if np.isnan(values.numbers).all() and not named:
        return Unused(name, "it is empty")
    why = "" if named else why_identifier(name, values.numbers, bag_of_row)
    if why:
        return Unused(name, why, "features")
    return [Column(name)]


def _of_text(
    name: str, values: Text, bag_of_row: Array, options: ColumnOptions, *, named: bool
) -> list[Column] | Unused:
    if not values.distinct:
        return Unused(name, "it is empty")
    clock = values.as_hours()
    if clock is not None:
        return [Column(name, "hour")]
    moments = values.as_dates()
    if not isinstance(moments, str):
        return _of_date(name, values, bag_of_row, ())
    _check_notation(name, values, options.notation)
    n_rows, n_distinct = int((values.codes >= 0).sum()), len({*map(folded, values.distinct)})
    few = n_distinct <= MOST_CATEGORIES and n_distinct <= max(n_rows // 2, 2)
    if named:
        return [_category(name, values)]
    if options.exclude_text:
        return Unused(name, "text", "categorical")
    if n_distinct == 1:
        return Unused(name, f"always {spelled(values.distinct[0])[:40]!r}", "categorical")
    if few:
        return [_category(name, values)]
    if _dates.mostly_dates(values.distinct):
        return Unused(name, f"dates, but {moments}")
    if np.isfinite(values.as_numbers()).mean() > 0.5:
        return Unused(name, "numbers written as text: convert it to numbers", "categorical")
    return Unused(name, f"{n_distinct:,} different texts", "categorical")


def _check_notation(name: str, values: Text, notation: Notation) -> None:
    """Raise if nearly all texts are numbers, but not all of them in this notation."""
    foreign = [text for text in values.distinct if notation.is_foreign(text)]
    numbers = [*foreign, *(text for text in values.distinct if notation.number(text) is not None)] if foreign else []
    if foreign and len({*numbers}) >= _NEARLY_ALL * len(values.distinct):
        raise InputError(
            f"Column {name!r} has numbers as text: {notation.advice(foreign[0], numbers)}. To read it as categories: "
            f"categorical=[{name!r}]; to leave it out: drop=[{name!r}]."
        )


def _category(name: str, values: Text) -> Column:
    """Return a column of categories, called as they are spelled most often, in the order of their names."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.distinct))
    spellings: dict[str, list[tuple[int, int, str]]] = {}
    for place, (value, count) in enumerate(zip(values.distinct, counts.tolist(), strict=True)):
        spellings.setdefault(folded(value), []).append((-count, place, spelled(value)))
    if not spellings:
        raise InputError(f"Column {name!r} has no values, so it has no categories: drop it.")
    names = sorted((min(each)[-1] for each in spellings.values()), key=_natural)
    return Column(name, "category", tuple(names))


def _natural(name: str) -> tuple[Any, ...]:
    """Return a key that sorts numbers by their value and text by its letters."""
    try:
        return (0, float(name), name)
    except ValueError:
        return (1, name.casefold(), name)


def _of_date(name: str, values: Values, bag_of_row: Array, parts: Sequence[str]) -> list[Column]:
    moments = values.as_dates()
    if isinstance(moments, str):
        if isinstance(values, Numbers) and values.unit == HOUR:
            return [Column(name, "hour")]
        raise InputError(f"Column {name!r} must have dates, but {moments}.")
    if not parts:
        days = _dates.days_of(moments)
        known = ~np.isnan(days)
        pairs = np.column_stack([bag_of_row[known], codes(days[known])])
        within = len(np.unique(pairs, axis=0)) > len(np.unique(pairs[:, 0]))
        timed = bool((days[known] % 1 != 0).any())
        # A date that is the same in all rows of a bag has nothing to be counted from.
        parts = [*(["weekday", *(["hour"] if timed else []), "elapsed"] if within else ["date", "weekday"])]
    return [Column(name, part) for part in parts]


def why_identifier(name: str, numbers: Array, bag_of_row: Array) -> str:
    """Return why numbers only tell rows or bags apart; empty if they do not.

    Examples
    --------
    >>> why_identifier("row", np.arange(20.0), np.zeros(20)), why_identifier("id", np.array([7.0]), np.zeros(1))
    ('it numbers the rows', 'an identifier')
    """
    if _is_identifier(name, numbers, bag_of_row):
        return "an identifier"
    return "it numbers the rows" if _counts_rows(numbers) else ""


def _counts_rows(numbers: Array) -> bool:
    """Return whether numbers count all rows of a table in their order, from 0 or 1, and there are not just a few."""
    if len(numbers) < _FEWEST_COUNTED or numbers[0] not in (0, 1):
        return False
    return bool((numbers == numbers[0] + np.arange(len(numbers))).all())


def _is_identifier(name: str, numbers: Array, bag_of_row: Array) -> bool:
    """Return whether numbers only tell rows or bags apart: whole, all different, and called an id."""
    if not (_IDENTIFIER.fullmatch(name) or _CAMEL_IDENTIFIER.fullmatch(name)):
        return False
    known = numbers[~np.isnan(numbers)]
    if (known != np.floor(known)).any():
        return False
    distinct = len(np.unique(known))
    n_bags = len(np.unique(bag_of_row))
    return distinct == len(known) or distinct >= n_bags
