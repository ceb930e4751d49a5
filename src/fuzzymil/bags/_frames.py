"""Bags from data frames, and data frames from bags."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import (
    InputError,
    InputTypeError,
    UnusedColumnsWarning,
    described,
    warn_user,
)
from fuzzymil._utils.frames import data_frame
from fuzzymil.bags import _validation
from fuzzymil.bags._conversion import check_frame
from fuzzymil.bags._packed import Packed
from fuzzymil.bags._source import Source
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.bags.notation import USUAL
from fuzzymil.bags.tables import ColumnOptions, understood, unused_in_words
from fuzzymil.bags.values import Numbers, Text, values_of

B = TypeVar("B", bound=Packed)


def read(
    from_long: Callable[..., B],
    frame: Any,
    bag: Hashable,
    label: Hashable | None,
    instance_label: Hashable | None,
    options: ColumnOptions,
    columns: Columns | None,
) -> B:
    """Return the bags of a data frame; see `Bags.from_frame`."""
    wanted = [bag, *(name for name in (label, instance_label) if name is not None)]
    names = check_frame(frame, wanted)
    others = [name for name in names if name not in wanted]
    arrays.all_different([str(name) for name in others], "column")
    options.check([str(name) for name in others], [str(name) for name in wanted])
    if columns is not None and not isinstance(columns, Columns):
        raise InputTypeError(f"columns must be the columns of other bags or of a model, got {described(columns)}.")
    owners = _validation.identifiers(arrays.as_array(frame[bag]), len(frame), "rows")
    if not len(owners):
        raise InputError("There are no bags: the table has no rows.")
    table = {str(name): values_of(frame[name], name) for name in others if str(name) not in options.drop}
    if not table:
        raise InputError(f"There are no feature columns besides {', '.join(map(repr, wanted))}.")
    found = understood(table, arrays.codes(owners), options, columns)
    if found.unused and not options.exclude_text:
        warn_user(unused_in_words(found.unused), UnusedColumnsWarning)
    return from_long(
        found.instances,
        owners,
        labels=None if label is None else _labels(arrays.as_array(frame[label]), label, options),
        instance_labels=None if instance_label is None else arrays.as_array(frame[instance_label]),
        columns=found.columns,
        source=Source(
            np.arange(len(owners)), found.extra, unused=found.unused, label="" if label is None else str(label)
        ),
    )


def _labels(found: Array, name: Hashable, options: ColumnOptions) -> Array:
    """Return labels, as numbers if they are numbers in the notation that the user chose."""
    if found.dtype.kind not in "OUS" or options.notation == USUAL:
        return found
    values = values_of(found, name)
    read = values.in_notation(options.notation) if isinstance(values, Text) else values
    return read.numbers if isinstance(read, Numbers) else found


def features(bags: Packed) -> Any:
    """Return the features of instances; see `Bags.instance_frame`."""
    columns = bags.columns or map(Column, bags.names)
    return data_frame("pandas", {each.name: _decoded(each, bags.instances[:, d]) for d, each in enumerate(columns)})


def write(bags: Packed, library: str) -> Any:
    """Return the data frame of bags; see `Bags.to_frame`."""
    found: dict[str, Array] = {"bag": bags.ids[bags.bag_index]}
    if bags.labels is not None:
        found["label"] = bags.labels[bags.bag_index]
    if bags.instance_labels is not None:
        found["instance_label"] = bags.instance_labels
    extra = {} if bags.source is None else bags.source.extra
    for d, column in enumerate(bags.columns or map(Column, bags.names)):
        if column.source not in extra:
            _add(found, column.name, _decoded(column, bags.instances[:, d]))
        elif column.source not in found:  # the date itself, where its parts stand
            found[column.source] = extra[column.source]
    for name, values in extra.items():
        if name not in found:
            found[name] = values
    lists = {name: values.tolist() if values.dtype.kind == "U" else values for name, values in found.items()}
    return data_frame(library, lists)


def _add(found: dict[str, Array], name: str, values: Array) -> None:
    if name in found:
        raise InputError(f"The column {name!r} would occur twice: rename the feature.")
    found[name] = values


def _decoded(column: Column, values: Array) -> Array:
    if column.categories:
        names = np.array([*column.categories, None], dtype=object)
        return np.asarray(names[np.where(np.isnan(values), -1, values).astype(int)])
    if column.kind == "date":
        moments = np.where(np.isnan(values), 0.0, values) * 86_400_000_000
        found = np.datetime64("1970-01-01", "us") + moments.round().astype("timedelta64[us]")
        return np.asarray(np.where(np.isnan(values), np.datetime64("NaT", "us"), found))
    return values


def indicators(instances: Array, columns: Columns) -> tuple[Array, Columns]:
    """Return features in which each category is a column of 0 and 1, and their names."""
    values, names = [], []
    for d, column in enumerate(columns):
        if column.categories:
            values.append(column.only_known(instances[:, d]))
            names += [f"{column.name}={category}" for category in column.categories]
        else:
            values.append(instances[:, [d]])
            names.append(column.name)
    return np.hstack(values), Columns(map(Column, names))


def all_columns(parts: Sequence[Columns | None]) -> Columns:
    """Return the columns of the first of several bags, with the categories that any of them has."""
    known = [part for part in parts if part is not None]
    first = known[0]
    for part in known[1:]:
        first = first.recoded(np.zeros((1, len(part))), part)[1]
    return first
