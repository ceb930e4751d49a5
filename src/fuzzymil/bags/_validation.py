"""Validation of what accompanies the instances: offsets, ids, labels, feature names and padding masks."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array, all_different, as_array, check_texts, codes, frozen, missing
from fuzzymil._utils.errors import InputError, InputTypeError, described
from fuzzymil._utils.text import check_characters
from fuzzymil.bags._source import Source
from fuzzymil.bags.columns import Columns

EMPTY_BAG = "Bag {} is empty: every bag needs at least one instance; drop it first."


def check_names(names: Iterable[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Return feature names, which must be unique and one per feature."""
    if names is None:
        return None
    names = tuple(str(name) for name in as_list(names, "feature names"))
    check_characters("A feature name", *names)
    if len(names) != n_features:
        raise InputError(f"There are {n_features} features but {len(names)} feature names: pass one name per feature.")
    all_different(names, "feature name")
    return names


def check_columns(columns: Any, names: tuple[str, ...] | None) -> Columns:
    """Return what features mean, which must agree with their names."""
    if not isinstance(columns, Columns) or columns.names != names:
        found = columns.names if isinstance(columns, Columns) else described(columns)
        raise InputError(f"columns must describe the features {names}, got {found}.")
    return columns


def check_source(source: Any, n_instances: int) -> Source:
    """Return where instances come from, which must have an entry for each."""
    if not isinstance(source, Source) or len(source.rows) != n_instances:
        found = f"{len(source.rows)} rows" if isinstance(source, Source) else described(source)
        raise InputError(f"source must describe the {n_instances} instances, got {found}.")
    return source


def as_list(values: Any, what: str) -> list[Any]:
    """Convert an ordered iterable to a list."""
    if not isinstance(values, str | bytes | Mapping | Set):
        try:
            return list(values)
        except TypeError:  # not iterable, or a 0-D array
            pass
    raise InputTypeError(f"Expected a list of {what}, got {described(values)}: put them in a list.")


def column(values: Any, length: int, what: str, of: str) -> Array:
    """Convert to a 1-D array of the expected length, in which different values stay different.

    Examples
    --------
    >>> column([1, "1"], 2, "labels", "bags")  # NumPy alone would make two equal strings of them
    array([1, '1'], dtype=object)
    """
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        values = list(values)
    expected = f"Expected {length} {what}, one for each of the {of}"
    try:
        found = as_array(values)
    except InputError as problem:
        raise type(problem)(f"{expected}. {problem}") from None
    if found.ndim != 1 or len(found) != length:
        got = f"shape {found.shape}" if found.ndim else described(values)
        raise InputError(f"{expected}, got {got}.")
    check_texts(found, what)
    if found.dtype.kind == "f" and isinstance(values, list):
        whole = [value for value in values if isinstance(value, int)]
        if any(value != float(value) for value in whole):
            return np.array(values, dtype=object)  # NumPy rounded large integers
    return found


def frozen_column(values: Any, length: int, what: str, of: str) -> Array | None:
    """Return a read-only `column`, or None for None."""
    return None if values is None else frozen(column(values, length, what, of))


def identifiers(values: Any, length: int, of: str) -> Array:
    """Return bag ids, one per row or bag, none missing."""
    found = column(values, length, "bag ids", of)
    absent = missing(found)
    if absent.any():
        n, one = int(np.argmax(absent)), of.removesuffix("s")
        raise InputError(f"{one.capitalize()} {n} has no bag id, got {found[n]!s}: every {one} needs one.")
    if found.dtype == object:
        codes(found)  # rejects values that cannot be compared
    return found


def constant_within(labels: Array, offsets: npt.NDArray[np.int64], ids: Array, column: str | None = None) -> Array:
    """Return the label of each bag, or its value in another column, from those of its rows, which must agree."""
    first = labels[offsets[:-1]]
    kinds = codes(labels)
    differs = kinds != np.repeat(kinds[offsets[:-1]], np.diff(offsets))
    if differs.any():
        row = int(np.argmax(differs))
        bag = int(np.searchsorted(offsets, row, side="right")) - 1
        if column is not None:
            raise InputError(
                f"Bag {ids[bag]!s} has two values in column {column!r}, {first[bag]!s} and {labels[row]!s}: all rows "
                "of a bag need the same."
            )
        raise InputError(
            f"Bag {ids[bag]!s} has two labels, {first[bag]!s} and {labels[row]!s}: a bag has one label. "
            "Use instance_labels for labels of single instances, or compute one label per bag first, for instance with "
            'pandas: table[label] = table.groupby(bag)[label].transform("max").'
        )
    return first


def check_offsets(values: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Return offsets, which must increase from 0 to the number of rows."""
    offsets = _whole_numbers(values, "offsets")
    if len(offsets) < 2:
        raise InputError("There are no bags: at least one bag with one instance is needed.")
    if offsets[0] != 0 or offsets[-1] != n_rows:
        raise InputError(f"Offsets must run from 0 to the number of rows, {n_rows}, got {offsets[0]} to {offsets[-1]}.")
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        b = int(np.argmax(falls))
        raise InputError(f"Offsets must increase, but bag {b} would go from row {offsets[b]} to row {offsets[b + 1]}.")
    return offsets


def real_instances(shape: tuple[int, ...], lengths: Any, mask: Any) -> npt.NDArray[np.bool_]:
    """Return which rows of a padded array are instances rather than padding, shape (n_bags, longest)."""
    if (lengths is None) == (mask is None):
        raise InputError("Pass either lengths= or mask= to separate instances from padding.")
    if mask is None:
        counts = _whole_numbers(column(lengths, shape[0], "lengths", "bags"), "lengths")
        wrong = (counts < 1) | (counts > shape[1])
        if wrong.any():
            b = int(np.argmax(wrong))
            raise InputError(f"Bag {b} has length {counts[b]}: lengths must be between 1 and {shape[1]}.")
        return np.arange(shape[1]) < counts[:, None]
    found = as_array(mask)
    if found.shape != shape:
        raise InputError(f"The mask must have shape {shape}, got {found.shape}.")
    if found.dtype.kind not in "biuf" or not np.isin(found, (0, 1)).all():
        raise InputError("The mask must contain only True and False (or 1 and 0): True where there is an instance.")
    return found.astype(bool)


def _whole_numbers(values: Any, what: str) -> npt.NDArray[np.int64]:
    """Return a 1-D array of integers; 3.0 is accepted, 2.5 and "3" are not."""
    found = as_array(values)
    if found.ndim != 1:
        raise InputError(
            f"Expected a list of {what}, got {f'shape {found.shape}' if found.ndim else described(values)}."
        )
    if found.dtype.kind == "i":
        return found.astype(np.int64, copy=False)
    for n, value in enumerate(found.tolist()):
        number = isinstance(value, int | float) and not isinstance(value, bool) and found.dtype.kind in "fuO"
        if not (number and abs(value) < 2**63 and value == int(value)):
            raise InputError(f"Expected integers as {what}, got {reprlib.repr(value)} at position {n}.")
    return found.astype(np.int64)
