"""What the features of bags mean: numbers, categories, dates; and how they are made from the columns of a table.

`Columns` is the one place that encodes. Bags carry it, models save it, and new data is encoded by it, so that a
category has the same code wherever it is met.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, all_different
from fuzzymil._utils.errors import InputError, InputTypeError, did_you_mean, listed
from fuzzymil._utils.text import check_characters
from fuzzymil.bags.series import (
    DECIMAL_POINT,
    NumberSeries,
    Series,
    TextSeries,
    date_text,
    days_since_1970,
    hour_text,
)

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""The categories of a day of the week."""

DATE = "days since 1970-01-01"
"""The unit of dates."""

HOUR = "hour of day"
"""The unit of times of day."""

KINDS = ("number", "category", "date", "weekday", "hour", "elapsed")
"""What a feature may be; the last four are made from a date."""

_UNITS = {"date": DATE, "hour": HOUR, "elapsed": "days"}
_SUFFIXES = {"weekday": "_weekday", "hour": "_hour", "elapsed": "_elapsed"}


@dataclasses.dataclass(frozen=True)
class Column:
    """A feature, and the column of a table that it is made from.

    Attributes
    ----------
    source : str
        The column of the table.
    kind : str
        - ``"number"``: the number itself;
        - ``"category"``: the position of the text among ``categories``;
        - ``"date"``: days since 1970-01-01;
        - ``"weekday"``: 0 is Monday;
        - ``"hour"``: the time of day, from 0 to 24;
        - ``"elapsed"``: days since the earliest row of the bag.
    categories : tuple of str
        Names of the values 0, 1, 2, ..., if the feature has such.

    Examples
    --------
    >>> Column("visit", "weekday").name, Column("visit", "weekday").categories[5]
    ('visit_weekday', 'Saturday')
    >>> Column("channel", "category", ("email", "support")).shown(1.0)
    'support'
    """

    source: str
    kind: str = "number"
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"Unknown kind of column {self.kind!r}; choose from {listed(KINDS)}.")
        object.__setattr__(self, "source", str(self.source))
        known = WEEKDAYS if self.kind == "weekday" else tuple(map(str, self.categories))
        if bool(known) != (self.kind in ("category", "weekday")):
            raise InputError(f"Column {self.source!r}: only categories have names, and at least one.")
        object.__setattr__(self, "categories", known)
        check_characters(f"Column {self.source!a:.60}", self.source, *known)

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.source + _SUFFIXES.get(self.kind, "")

    @property
    def unit(self) -> str:
        """The unit of the feature, where it is known."""
        return _UNITS.get(self.kind, "")

    def shown(self, value: float) -> str | None:
        """Return a value as a person writes it; None for plain numbers."""
        return value_text(value, self.unit, self.categories)


def value_text(value: float, unit: str, categories: Sequence[str] = ()) -> str | None:
    """Return a category, a date or a time of day as a person writes it; None for other numbers."""
    if categories:
        place = int(value) if value == value and abs(value) < len(categories) else -1
        return categories[place] if place >= 0 and place == value else "another category"
    return date_text(value) if unit == DATE else hour_text(value) if unit == HOUR else None


class Columns(tuple[Column, ...]):
    """The features of bags in their order.

    Examples
    --------
    >>> columns = Columns([Column("pages"), Column("channel", "category", ("email", "support"))])
    >>> columns.names
    ('pages', 'channel')
    >>> Columns.from_dict(columns.to_dict()) == columns
    True
    """

    def __new__(cls, columns: Iterable[Column] = ()) -> Columns:
        found = super().__new__(cls, columns)
        all_different(found.names, "feature name")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(column.name for column in self)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that the features are made from."""
        return tuple(dict.fromkeys(column.source for column in self))

    @property
    def categorical(self) -> npt.NDArray[np.bool_]:
        """Which features are categories, shape (n_features,)."""
        return np.array([bool(column.categories) for column in self], bool)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return plain values that JSON can hold."""
        return [
            {
                "source": column.source,
                "kind": column.kind,
                **({"categories": list(column.categories)} if column.kind == "category" else {}),
            }
            for column in self
        ]

    @classmethod
    def from_dict(cls, content: Any) -> Columns:
        """Return the columns that `to_dict` described."""
        return cls(
            Column(str(item["source"]), str(item["kind"]), tuple(map(str, item.get("categories", ()))))
            for item in content
        )

    # ------------------------------------------------------------------ encoding

    def encode(self, table: Mapping[str, Series], bag_of_row: Array) -> tuple[Array, Columns]:
        """Return the features of the rows of a table, and the columns with the categories that were met in it.

        A category that is not known gets a code, and a name, after all that are: it fits no condition that names a
        category. A missing value is NaN. ``bag_of_row``: integers, shape (n_rows,).
        """
        values, found = [], []
        for column in self:
            if column.source not in table:
                raise InputError(
                    f"There is no column {column.source!r}, which is needed for the feature {column.name!r}; the "
                    f"columns are {listed(table)}.{did_you_mean(column.source, table)}"
                )
            encoded, known = _encode(column, table[column.source], bag_of_row)
            values.append(encoded)
            found.append(known)
        return np.column_stack(values), Columns(found)

    def recode(self, instances: Array, own: Columns, optional: Collection[str] = ()) -> tuple[Array, Columns]:
        """Return instances with these features, in this order and with these codes of categories, and the columns.

        ``own``: what the features of the instances (n_instances, n_features) mean; those that are not among these are
        left out. ``optional``: features that the instances need not have; their values are then missing. The columns
        that are returned have further categories if the instances do.
        """
        places = {name: d for d, name in enumerate(own.names)}
        values, found = [], []
        for column in self:
            d = places.get(column.name)
            if d is None and column.name not in optional:
                raise InputError(
                    f"The bags have no feature {column.name!r}, which the training data had; their features are "
                    f"{listed(places)}.{did_you_mean(column.name, places)} If the data has it, read the data "
                    "with columns=model.columns_."
                )
            if d is not None and column.kind != own[d].kind:
                raise InputError(
                    f"Feature {column.name!r} was a {column.kind} in training, but is a {own[d].kind} here: pass "
                    "columns=model.columns_ when you read the data, and it is encoded as in training."
                )
            codes = np.full(len(instances), np.nan) if d is None else instances[:, d]
            if d is not None and column.kind == "category" and column.categories != own[d].categories:
                text = TextSeries(list(own[d].categories), np.where(np.isnan(codes), -1, codes).astype(np.int64))
                codes, column = _codes(text, column)
            values.append(codes)
            found.append(column)
        return np.column_stack(values), Columns(found)

    def indicators(self, instances: Array) -> tuple[Array, Columns]:
        """Return features in which each category is a column of 0 and 1, and their names.

        All indicators of a category that is not among ``categories`` are 0; those of a missing value are NaN.
        """
        values, names = [], []
        for d, column in enumerate(self):
            own = instances[:, [d]]
            if column.categories:
                found = (own == np.arange(len(column.categories))).astype(float)
                found[np.isnan(own[:, 0])] = np.nan
                values.append(found)
                names += [f"{column.name}={category}" for category in column.categories]
            else:
                values.append(own)
                names.append(column.name)
        return np.hstack(values), Columns(map(Column, names))

    def union(self, others: Iterable[Columns]) -> Columns:
        """Return these columns with the categories that any of several bags has."""
        found = self
        for other in others:
            found = found.recode(np.zeros((1, len(other))), other)[1]
        return found


def _encode(column: Column, values: Series, bag_of_row: Array) -> tuple[Array, Column]:
    where = f"Column {column.source!r}"
    if column.kind == "number":
        if not isinstance(values, NumberSeries):
            got = values.describe() if isinstance(values, TextSeries) else "dates"
            advice = DECIMAL_POINT.advice(values.distinct[0], values.distinct) if isinstance(values, TextSeries) else ""
            more = f" {advice[0].upper()}{advice[1:]}." if advice else ""
            raise InputTypeError(f"{where} must have numbers, got {got}.{more}")
        return values.numbers, column
    if column.kind == "category":
        return _codes(values.as_text(), column)
    clock = values.as_hours() if isinstance(values, TextSeries) else values
    if isinstance(clock, NumberSeries) and column.kind == "hour" and clock.unit == HOUR:
        return clock.numbers, column
    moments = values.as_dates()
    if isinstance(moments, str):
        raise InputTypeError(f"{where} must have dates, but {moments}.")
    days = days_since_1970(moments)
    if column.kind == "date":
        return days, column
    if column.kind == "weekday":
        return (np.floor(days) + 3) % 7, column  # 1970-01-01 was a Thursday
    if column.kind == "hour":
        return np.asarray((moments - moments.astype("datetime64[D]")) / np.timedelta64(1, "h"), float), column
    first = np.full(int(bag_of_row.max(initial=-1)) + 1, np.inf)
    np.fmin.at(first, bag_of_row, days)
    return days - first[bag_of_row], column


def _codes(text: TextSeries, column: Column) -> tuple[Array, Column]:
    """Return the codes of categories, whatever their case; those that are not known come after all that are."""
    names = list(column.categories)
    known = {category_key(name): code for code, name in enumerate(names)}
    codes = np.empty(len(text.distinct) + 1)
    codes[-1] = np.nan  # of what is missing
    for place, value in enumerate(text.distinct):
        key = category_key(value)
        if key not in known:
            known[key] = len(names)
            names.append(category_name(value))
        codes[place] = known[key]
    return codes[text.codes], dataclasses.replace(column, categories=tuple(names))


def category_key(name: str) -> str:
    """Return what is compared of the name of a category: case and the number of spaces do not matter."""
    return category_name(name).casefold()


def category_name(name: str) -> str:
    """Return the name of a category with single spaces."""
    return " ".join(name.split())
