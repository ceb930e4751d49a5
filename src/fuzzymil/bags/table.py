"""Tables with one row per instance: what their columns are, and which features are made of them.

A file of any format and a data frame of any library become a `Table`. `infer_columns` decides which of its columns
become features, and as what; `features_of` makes them. `fuzzymil.bags.bags_of_table` groups the rows into bags.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array, all_different, codes
from fuzzymil._utils.errors import (
    InputError,
    InputTypeError,
    PlaceError,
    described,
    did_you_mean,
    known_name,
    listed,
)
from fuzzymil.bags._input import check_frame, identifiers
from fuzzymil.bags.columns import HOUR, Column, Columns, category_key, category_name
from fuzzymil.bags.labels import UNLABELED
from fuzzymil.bags.series import (
    DECIMAL_POINT,
    MISSING,
    DateSeries,
    NumberFormat,
    NumberSeries,
    Series,
    TextSeries,
    as_series,
    date_text,
    days_since_1970,
    is_number,
    mostly_dates,
)

DATE_PARTS = ("date", "weekday", "hour", "elapsed")
"""What can be made of a date."""

MOST_CATEGORIES = 20
"""A column of text with more different values is not used, unless it is named."""

_NEARLY_ALL = 0.9  # of the text of a column: so many numbers, and the rest are probably numbers in another format
_FEWEST_COUNTED = 10  # rows; fewer may count something else
_IDENTIFIER = re.compile(r"(?:.*[\W_])?(?:id|uuid|guid|key)|unnamed: \d+", re.IGNORECASE)
_CAMEL_IDENTIFIER = re.compile(r".*[a-z]I[Dd]")


@dataclasses.dataclass(frozen=True)
class ColumnOptions:
    """What the user says about the columns of a table.

    ``only``: the columns to use; None: all that can be used. ``drop``: columns to leave out altogether.
    ``categorical``: columns whose values are categories, however many there are, and numbers that are codes. ``date``:
    columns of dates, and what to make of them (`DATE_PARTS`); an empty tuple: what suits them. ``exclude_text``:
    whether no column of text is used, unless it is named. ``keep``: columns that are not features, but kept beside
    them. ``number_format``: how numbers are written where they are text. ``each_row``: whether each row is a bag of its
    own, so that there is no column of bags. ``unlabeled``: what to do about bags without a label (`UNLABELED`).
    """

    only: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    date: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    exclude_text: bool = False
    keep: tuple[str, ...] = ()
    number_format: NumberFormat = DECIMAL_POINT
    each_row: bool = False
    unlabeled: str = "error"

    @classmethod
    def of(
        cls,
        only: Any = None,
        drop: Any = (),
        categorical: Any = (),
        date: Any = (),
        exclude_text: bool = False,
        keep: Any = (),
        decimal: str = ".",
        thousands: str | None = None,
        each_row: bool = False,
        unlabeled: str = "error",
    ) -> ColumnOptions:
        """Return options from a user's lists, names and dictionaries."""
        parts = date if isinstance(date, Mapping) else dict.fromkeys(_names(date, "columns of dates"), ())
        dates = {str(name): _names(some, "parts of a date") for name, some in parts.items()}
        for name, part in ((name, part) for name, some in dates.items() for part in some):
            known_name("part", part, DATE_PARTS, f"of the date {name!r}")
        only = None if only is None else _names(only, "feature columns")
        all_different(only or (), "column")
        lists = (_names(drop, "columns to drop"), _names(categorical, "columns"))
        marks, kept = NumberFormat(decimal, thousands), _names(keep, "columns to keep")
        known_name("value of unlabeled", unlabeled, UNLABELED)
        return cls(only, *lists, dates, bool(exclude_text), kept, marks, bool(each_row), unlabeled)

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
        known = [name for name in names if name not in apart]
        for name in self.named:
            if name in apart and name in self.drop:
                raise InputError(f"Column {name!r} is the bag or the label and cannot be dropped.")
            if name in apart:
                raise InputError(f"Column {name!r} must occur only once and cannot also be a feature.")
            if name not in known:
                raise InputError(
                    f"There is no column {name!r}; choose from {listed(known)}.{did_you_mean(name, known)}"
                )
        used = {*(self.only or ()), *self.categorical, *self.date}
        for name, what in (*((name, "dropped") for name in self.drop), *((name, "kept apart") for name in self.keep)):
            if name in used:
                raise InputError(f"Column {name!r} cannot be both used and {what}: name it once.")


NO_OPTIONS = ColumnOptions()
"""All columns that can be used are."""


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


# ---------------------------------------------------------------------- where rows come from

_LONGEST_TEXT = 40  # characters of a text that are shown


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the instances of bags come from.

    Attributes
    ----------
    rows : array of int, shape (n_instances,)
        The line of a text file, counted from 1, or the row of a table, counted from 0.
    extra : mapping of str to array of shape (n_instances,)
        Columns that are not features: comments, addresses, dates.
    place : str
        What ``rows`` are: ``"line"`` or ``"row"``.
    unused : tuple of (name, why, option)
        Columns that could not be used as they are.
    label : str
        The column of the labels; empty if it has no name.

    Examples
    --------
    >>> source = Source(np.array([834, 835]), {"comment": np.array(["", "late again"], object)}, "line")
    >>> source.text(1)
    "line 835, comment 'late again'"
    >>> source.facts(1)
    {'line': 835, 'comment': 'late again'}
    """

    rows: Array
    extra: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    place: str = "row"
    unused: tuple[Unused, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", arrays.read_only(np.asarray(self.rows, np.int64)))
        object.__setattr__(self, "extra", {name: arrays.read_only(values) for name, values in self.extra.items()})
        for name, values in self.extra.items():
            if len(values) != len(self.rows):
                raise InputError(f"Column {name!r} has {len(values)} values for {len(self.rows)} rows.")

    def take(self, places: Array) -> Source:
        """Return the source of some of the instances."""
        extra = {name: values[places] for name, values in self.extra.items()}
        return Source(self.rows[places], extra, self.place, self.unused, self.label)

    @classmethod
    def concatenate(cls, parts: Sequence[Source | None]) -> Source | None:
        """Return the source of several bags; None unless all are known."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or len({part.place for part in known}) > 1:
            return None
        shared = [name for name in known[0].extra if all(name in part.extra for part in known)]
        extra = {name: arrays.concatenate([part.extra[name] for part in known]) for name in shared}
        rows = np.concatenate([part.rows for part in known])
        label = known[0].label if len({part.label for part in known}) == 1 else ""
        found = {name: values for name, values in extra.items() if values is not None}
        return cls(rows, found, known[0].place, label=label)

    def where(self, instance: int) -> str:
        """Return the line or row of an instance in words."""
        return f"{self.place} {self.rows[instance]}"

    def facts(self, instance: int) -> dict[str, Any]:
        """Return what is known of an instance: its line or row, and the columns that are not features."""
        found: dict[str, Any] = {self.place: int(self.rows[instance])}
        for name, values in self.extra.items():
            value = _json_value(values[instance])
            if value is not None and value != "":
                found[name] = value
        return found

    def text(self, instance: int) -> str:
        """Return the same in words, long text cut short."""
        facts = self.facts(instance)
        shown = [f"{self.place} {facts.pop(self.place)}"]
        dates = [name for name in facts if self.extra[name].dtype.kind == "M"]
        for name, value in sorted(facts.items(), key=lambda fact: fact[0] not in dates):  # dates first
            if isinstance(value, str) and name not in dates:
                line = " ".join(value.split())
                value = repr(line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 3].rstrip() + "...")
            elif isinstance(value, float):
                value = f"{value:.12g}"
            shown.append(value if [name] == dates else f"{name} {value}")
        return ", ".join(shown)


def _json_value(value: Any) -> Any:
    """Return a value as JSON and people write it; None if it is missing."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else date_text(float(days_since_1970(np.array([value]))[0]))
    value = value.item() if isinstance(value, np.generic) else value
    if arrays.is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if isinstance(value, bool | int | float | str) else str(value)


# ---------------------------------------------------------------------- tables


@dataclasses.dataclass(frozen=True)
class Table:
    """A table with one row per instance, as it was found in a file or a data frame.

    Attributes
    ----------
    series : mapping of str to Series
        The columns that may become features.
    bag : array of shape (n_rows,)
        The id of the bag of each row.
    label, instance_label : array of shape (n_rows,), optional
        Labels of the bag and of the instance, on each row.
    source : Source
        Where the rows are.
    unlabeled : array of bool, shape (n_rows,), optional
        Where the label is missing; what is there then does not count.
    is_text : bool
        Whether the table was text, so that nobody said that a column is text: one in which most values are numbers is
        a column of numbers with mistakes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"bag": ["a", "a", "b"], "width": [1.0, 2.0, 3.0], "kind": ["new", "old", "new"]})
    >>> columns, unused = infer_columns(Table.from_frame(frame, bag="bag"))
    >>> columns.names, columns[1].categories
    (('width', 'kind'), ('new', 'old'))
    """

    series: Mapping[str, Series]
    bag: Array
    label: Array | None
    instance_label: Array | None
    source: Source
    unlabeled: Array | None = None
    is_text: bool = False

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: Hashable,
        label: Hashable | None = None,
        instance_label: Hashable | None = None,
        options: ColumnOptions = NO_OPTIONS,
    ) -> Table:
        """Return the table of a data frame of any library."""
        roles = [bag, *(name for name in (label, instance_label) if name is not None)]
        names = check_frame(frame, roles)
        others = [name for name in names if name not in roles]
        all_different([str(name) for name in others], "column")
        options.check([str(name) for name in others], [str(name) for name in roles])
        ids = identifiers(arrays.as_array(frame[bag]), len(frame), "rows")
        if not len(ids):
            raise InputError("There are no bags: the table has no rows.")
        series = {str(name): as_series(frame[name], name) for name in others if str(name) not in options.drop}
        if not series:
            raise InputError(f"There are no feature columns besides {', '.join(map(repr, roles))}.")
        labels = None if label is None else _frame_labels(frame[label], label, options.number_format)
        return cls(
            series,
            ids,
            labels,
            None if instance_label is None else arrays.as_array(frame[instance_label]),
            Source(np.arange(len(ids)), label="" if label is None else str(label)),
            None if labels is None or options.unlabeled == "keep" else arrays.missing(labels),
        )


def _frame_labels(column: Any, name: Hashable, number_format: NumberFormat) -> Array:
    """Return labels, as numbers if they are numbers in the format that the user chose."""
    found = arrays.as_array(column)
    if found.dtype.kind not in "OUS" or number_format == DECIMAL_POINT:
        return found
    series = as_series(found, name)
    series = series.parse_numbers(number_format) if isinstance(series, TextSeries) else series
    return series.numbers if isinstance(series, NumberSeries) else found


def features_of(
    table: Table, options: ColumnOptions = NO_OPTIONS, columns: Columns | None = None
) -> tuple[Array, Columns, Source]:
    """Return the features of the rows of a table, what they mean, and where they come from.

    ``columns``: the features to make, as they were made from another table; ``options`` then only drops.
    """
    series = {
        name: values.parse_numbers(options.number_format)
        if isinstance(values, TextSeries) and options.may_be_number(name, columns)
        else values
        for name, values in table.series.items()
        if name not in options.drop
    }
    table = dataclasses.replace(table, series=series)
    bag_of_row = codes(table.bag)
    if columns is None:
        columns, unused = infer_columns(table, options, bag_of_row)
    else:
        there = Columns(column for column in columns if column.source in series)
        unused = tuple(Unused(name, "it is not in this table") for name in columns.sources if name not in series)
        columns = there or columns  # without any, an error says what is needed
        for column in columns:
            values = series.get(column.source)
            if column.kind == "number" and isinstance(values, TextSeries):
                _check_numbers(table, column.source, values, options.number_format, needed=True)
    instances, encoded = columns.encode(series, bag_of_row)
    used_as_they_are = {column.source for column in columns if column.kind in ("number", "category")}
    extra = {
        name: _extra(values, name, encoded)
        for name, values in series.items()
        if name in options.keep or (name not in used_as_they_are and not _is_idle(values))
    }
    return instances, encoded, dataclasses.replace(table.source, extra=extra, unused=unused)


def infer_columns(
    table: Table, options: ColumnOptions = NO_OPTIONS, bag_of_row: Array | None = None
) -> tuple[Columns, tuple[Unused, ...]]:
    """Return what the columns of a table become, and those that are not used.

    ``bag_of_row`` (n_rows,): the number of the bag of each row.
    """
    bag_of_row = codes(table.bag) if bag_of_row is None else bag_of_row
    found: list[Column] = []
    unused: list[Unused] = []
    names = table.series if options.only is None else (*options.only, *options.categorical, *options.date)
    for name in dict.fromkeys(names):
        if name in options.keep:
            continue
        features = _infer_column(table, name, bag_of_row, options)
        if isinstance(features, Unused):
            unused.append(features)
        else:
            found += features
    if not found:
        why = f": {unused_in_words(unused)}" if unused else "."
        raise InputError(f"There are no feature columns{why}")
    return Columns(found), tuple(unused)


def _is_idle(values: Series) -> bool:
    """Return whether a column of text says nothing about a row, because it is empty or the same in all of them."""
    return isinstance(values, TextSeries) and len(values.distinct) < 2


def _extra(values: Series, name: str, columns: Columns) -> Array:
    if isinstance(values, TextSeries) and any(column.source == name for column in columns):
        found = values.as_dates()
        return values.to_array() if isinstance(found, str) else found
    return values.to_array()


def _option_in_python(option: str, name: str) -> str:
    """Return what to say in Python to use a column."""
    return "list it in features" if option == "features" else f"{option}=[{name!r}]"


def unused_in_words(unused: Sequence[Unused], in_words: Callable[[str, str], str] = _option_in_python) -> str:
    """Return one sentence about columns that are not used; ``in_words(option, name)`` is what to say to use one."""
    shown = [
        f"{name} ({why}{f'; to use it: {in_words(option, name)}' if option else ''})" for name, why, option in unused
    ]
    return f"Columns not used: {', '.join(shown)}."


# ---------------------------------------------------------------------- one column


def _infer_column(table: Table, name: str, bag_of_row: Array, options: ColumnOptions) -> list[Column] | Unused:
    values = table.series[name]
    if name in options.date:
        return _of_date(name, values, bag_of_row, options.date[name])
    if name in options.categorical:
        return [_category(name, values.as_text())]
    named = options.only is not None and name in options.only
    if isinstance(values, TextSeries):
        return _of_text(table, name, values, bag_of_row, options, named=named)
    if isinstance(values, NumberSeries) and values.unit == HOUR:
        return [Column(name, "hour")]
    if arrays.missing(values.to_array()).all() and not (named and isinstance(values, NumberSeries)):
        return Unused(name, "it is empty")
    if isinstance(values, DateSeries):
        return _of_date(name, values, bag_of_row, ())
    why = "" if named else why_identifier(name, values.numbers, bag_of_row)
    return Unused(name, why, "features") if why else [Column(name)]


def _of_text(
    table: Table, name: str, values: TextSeries, bag_of_row: Array, options: ColumnOptions, *, named: bool
) -> list[Column] | Unused:
    if not values.distinct:
        return Unused(name, "it is empty")
    if values.as_hours() is not None:
        return [Column(name, "hour")]
    moments = values.as_dates()
    if not isinstance(moments, str):
        return _of_date(name, values, bag_of_row, ())
    _check_numbers(table, name, values, options.number_format, named=named)
    if named:
        return [_category(name, values)]
    if options.exclude_text:
        return Unused(name, "text", "categorical")
    n_rows, n_distinct = int((values.codes >= 0).sum()), len({*map(category_key, values.distinct)})
    if n_distinct == 1:
        return Unused(name, f"always {category_name(values.distinct[0])[:40]!r}", "categorical")
    if n_distinct <= min(MOST_CATEGORIES, max(n_rows // 2, 2)):
        return [_category(name, values)]
    if mostly_dates(values.distinct):
        return Unused(name, f"dates, but {moments}")
    if np.isfinite(values.as_numbers()).mean() > 0.5:
        return Unused(name, "numbers written as text: convert it to numbers", "categorical")
    return Unused(name, f"{n_distinct:,} different texts", "categorical")


def _check_numbers(
    table: Table,
    name: str,
    values: TextSeries,
    number_format: NumberFormat,
    *,
    named: bool = False,
    needed: bool = False,
) -> None:
    """Raise if a column of text has mostly numbers, or needs to have numbers: what is none is probably a mistake.

    In a data frame, a column of text was made so; only numbers in another format are mistakes there.
    """
    known = np.array([value.lower() not in MISSING for value in values.distinct])
    foreign = known & np.array([number_format.is_foreign(value) for value in values.distinct])
    plain = number_format == DECIMAL_POINT
    number = np.array(
        [is_number(value) if plain else number_format.parse(value) is not None for value in values.distinct]
    )
    number &= known & ~foreign
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(known))
    total = counts[known].sum()
    suspects = [(foreign, counts[foreign | number].sum(), _NEARLY_ALL)]
    if needed or (table.is_text and not named):
        suspects += [(known & ~number, counts[number].sum(), 0.5), (foreign, counts[foreign].sum(), 0.5)]
    for odd, n_numbers, share in suspects:
        if odd.any() and (needed or n_numbers > share * total):
            row = int(np.argmax((values.codes >= 0) & odd[values.codes]))
            text = values.distinct[values.codes[row]]
            advice = number_format.advice(text, [values.distinct[place] for place in np.flatnonzero(foreign | number)])
            problem = not_a_number(text, advice, None if needed else name)
            raise PlaceError(f"{problem}.", f"{table.source.where(row)}, column {name!r}", row)


def not_a_number(text: str, advice: str = "", name: str | None = None) -> str:
    """Return what is wrong with text in a column of numbers, and what to do about it."""
    if not advice and DECIMAL_POINT.is_foreign(text):
        advice = "write numbers with a decimal point, and without separators and signs"
    if not advice and text.startswith(("<", ">", "≤", "≥")):
        advice = "replace limits by numbers, for instance by the limit itself or half of it, or leave such fields empty"
    shown = repr(text) if len(text) <= 40 else repr(text[:40]) + "..."
    other = (
        "" if name is None else f". To read it as categories: categorical=[{name!r}]; to leave it out: drop=[{name!r}]"
    )
    return f"expected a number, found {shown}; {advice or 'write a number, or nothing if it is unknown'}{other}"


def _category(name: str, values: TextSeries) -> Column:
    """Return a column of categories, called as they are spelled most often, in the order of their names."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.distinct))
    spellings: dict[str, list[tuple[int, int, str]]] = {}
    for place, (value, count) in enumerate(zip(values.distinct, counts.tolist(), strict=True)):
        spellings.setdefault(category_key(value), []).append((-count, place, category_name(value)))
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


def _of_date(name: str, values: Series, bag_of_row: Array, parts: Sequence[str]) -> list[Column]:
    moments = values.as_dates()
    if isinstance(moments, str):
        if isinstance(values, NumberSeries) and values.unit == HOUR:
            return [Column(name, "hour")]
        raise InputError(f"Column {name!r} must have dates, but {moments}.")
    if not parts:
        days = days_since_1970(moments)
        known = ~np.isnan(days)
        pairs = np.column_stack([bag_of_row[known], codes(days[known])])
        within = len(np.unique(pairs, axis=0)) > len(np.unique(pairs[:, 0]))
        timed = bool((days[known] % 1 != 0).any())
        # A date that is the same in all rows of a bag has nothing to be counted from.
        parts = [*(["weekday", *(["hour"] if timed else []), "elapsed"] if within else ["date", "weekday"])]
    return [Column(name, part) for part in parts]


def why_identifier(name: str, numbers: Array, bag_of_row: Array) -> str:
    """Return why numbers only tell rows or bags apart; empty if they do not."""
    known = numbers[~np.isnan(numbers)]
    named = _IDENTIFIER.fullmatch(name) or _CAMEL_IDENTIFIER.fullmatch(name)
    whole = bool(named) and (known == np.floor(known)).all()
    if whole and len(np.unique(known)) >= min(len(known), len(np.unique(bag_of_row))):
        return "an identifier"
    counts = len(numbers) >= _FEWEST_COUNTED and numbers[0] in (0, 1)
    return "it numbers the rows" if counts and (numbers == numbers[0] + np.arange(len(numbers))).all() else ""
