"""Checks and conversions of what becomes bags: lists of bags, ids, labels, offsets, feature names, padding masks."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import (
    Array,
    all_different,
    as_array,
    check_texts,
    codes,
    column_names,
    depth,
    is_sparse,
    missing,
    numeric,
    read_only,
    sparse_rows,
    text_names,
)
from fuzzymil._utils.errors import InputError, InputTypeError, PlaceError, TwoLabelsError, described, did_you_mean
from fuzzymil._utils.text import check_characters

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


def as_list(values: Any, what: str) -> list[Any]:
    """Convert an ordered iterable to a list."""
    if not isinstance(values, str | bytes | Mapping | Set):
        try:
            return list(values)
        except TypeError:  # not iterable, or a 0-D array
            pass
    raise InputTypeError(f"Expected a list of {what}, got {described(values)}: put them in a list.")


def column(values: Any, length: int, what: str, of: str) -> Array:
    """Convert to a 1-D array of the expected length, in which different values stay different."""
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
    check_texts(found, what, values)
    if found.dtype.kind == "f" and isinstance(values, list):
        whole = [value for value in values if isinstance(value, int)]
        if any(value != float(value) for value in whole):
            return np.array(values, dtype=object)  # NumPy rounded large integers
    return found


def read_only_column(values: Any, length: int, what: str, of: str) -> Array | None:
    """Return a read-only `column`, or None for None."""
    return None if values is None else read_only(column(values, length, what, of))


def identifiers(values: Any, length: int, of: str, where: Callable[[int], str] | None = None) -> Array:
    """Return bag ids, one per row or bag, none missing; ``where`` names the place of a row."""
    found = column(values, length, "bag ids", of)
    absent = missing(found)
    if absent.any():
        n, one = int(np.argmax(absent)), of.removesuffix("s")
        place = f"{one} {n}" if where is None else where(n)
        raise PlaceError(f"this {one} has no bag id, got {found[n]!s}: every {one} needs one.", place, n)
    if found.dtype == object:
        codes(found)  # rejects values that cannot be compared
    return found


def constant_within(
    values: Array, bag_of_row: npt.NDArray[np.int64], ids: Array, where: Callable[[int], str], name: str | None = None
) -> Array:
    """Return the label of each bag, or its value in another column, from those of its rows, which must agree.

    Shapes: ``values`` (n_rows,), ``ids`` (n_bags,). ``bag_of_row`` (n_rows,): numbers of bags, by first appearance.
    ``where``: ``where(row)`` names the place of a row. ``name``: the column, if it is not that of labels.
    """
    _, first = np.unique(bag_of_row, return_index=True)
    kinds = codes(values)
    differs = kinds != kinds[first][bag_of_row]
    if differs.any():
        row = int(np.argmax(differs))
        before, bag = int(first[bag_of_row[row]]), ids[bag_of_row[row]]
        place = where(before)
        both = f"{values[before]!s} {'on' if place.startswith('line') else 'in'} {place} and {values[row]!s} here"
        if name is not None:
            why = f"bag {bag!s} has two values in column {name!r}, {both}: all rows of a bag need the same."
            raise PlaceError(why, where(row), row)
        why = (
            f"bag {bag!s} has two labels, {both}: a bag has one label. Labels of single instances are instance_labels "
            "(in a file, a column instance_label); or compute one label per bag first, for instance with pandas: "
            'table[label] = table.groupby(bag)[label].transform("max").'
        )
        raise TwoLabelsError(why, where(row), row)
    return values[first]


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


# ---------------------------------------------------------------------- lists and tables of bags

# A table with one of these columns was almost certainly meant for `Bags.from_frame`.
_BAG_COLUMNS = ("bag", "bag_id", "bag_ids", "bagid")


def check_frame(frame: Any, wanted: list[Hashable]) -> list[Any]:
    """Return the columns of a data frame, which must have those that are wanted, once each."""
    columns = column_names(frame)
    if columns is None:
        raise InputTypeError(
            f"Expected a data frame, got {described(frame)}: use Bags.from_long for arrays, and pandas.DataFrame for "
            "a dictionary of columns."
        )
    for name in wanted:
        if name not in columns:
            known = [str(name) for name in columns]
            more = ", ..." if len(known) > 20 else ""
            hint = did_you_mean(name, known)
            raise InputError(f"There is no column {name!r}; the columns are {', '.join(known[:20])}{more}.{hint}")
        if columns.count(name) > 1 or wanted.count(name) > 1:
            raise InputError(f"Column {name!r} must occur only once and cannot also be a feature.")
    return columns


def bags_or_rows(X: Any) -> Any:
    """Return a list of bags, or a table or array with one instance per row."""
    names = column_names(X)
    if names is not None:
        bag = next((name for name in names if str(name).lower() in _BAG_COLUMNS), None)
        if bag is not None:
            raise InputError(
                f"This table has a column {bag!r}: call Bags.from_frame(table, bag={bag!r}) to group its rows into "
                "bags (without a bag column, each row is read as one bag)."
            )
        return X
    is_list = isinstance(X, Sequence) and not isinstance(X, str | bytes) and not hasattr(X, "shape")
    items = list(X) if is_list else None
    if items == []:
        raise InputError("There are no bags: the list is empty.")
    if items is not None and (isinstance(items[0], Mapping) or depth(items[0]) > 1):
        return items
    try:
        array = as_array(X if items is None else items)
    except InputError:
        if items is not None and any(depth(item) != 1 for item in items):
            return items  # bags of mixed kinds: reading them one by one names the bad one
        raise
    if (array.ndim == 1 and array.dtype == object) or array.ndim == 3:
        return list(array)
    if array.ndim == 0 or array.ndim > 3:
        found = f"an array with {array.ndim} dimensions" if array.ndim else described(X)
        raise InputTypeError(
            f"Expected bags (a list of 2-D arrays) or a 2-D array, got {found}. "
            "Put bags in a list; for a plain table, reshape your data to (instances, features)."
        )
    return array


def bag_arrays(items: list[Any], ids: Array) -> list[Array]:
    """Convert each bag to an array of shape (n_instances, n_features); errors name the bag."""
    found: list[Array] = []
    for b, item in enumerate(items):
        try:
            array = sparse_rows(item) if is_sparse(item) else numeric(item)
        except InputError as problem:
            raise type(problem)(f"Bag {ids[b]!s}: {problem}") from None
        if array.shape[:1] == (0,):
            raise InputError(EMPTY_BAG.format(ids[b]))
        if array.ndim != 2 or not min(array.shape):
            hint = " Put a single instance in brackets: [instance]." if array.ndim == 1 else ""
            raise InputError(
                f"Bag {ids[b]!s} must be a 2-D array (instances, features), got shape {array.shape}.{hint}"
            )
        found.append(array)
        if array.shape[1] != found[0].shape[1]:
            raise InputError(
                f"Bag {ids[b]!s} has {array.shape[1]} features but bag {ids[0]!s} has {found[0].shape[1]}: "
                "all instances need the same features."
            )
    return found


def stack(parts: Sequence[Any]) -> Any:
    """Return the rows of several arrays below each other; sparse if one of them is."""
    if any(map(is_sparse, parts)):
        from scipy.sparse import csr_array, vstack

        return vstack([part if is_sparse(part) else csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


def beside(rows: Any, more: Array) -> Any:
    """Return two arrays with the same rows side by side; sparse if the first is."""
    if is_sparse(rows):
        from scipy.sparse import csr_array, hstack

        return hstack([rows, csr_array(more)], format="csr")
    return np.hstack([rows, more])


def shared_names(items: list[Any], ids: Array) -> list[str] | None:
    """Return the column names of bags given as tables; all tables must have the same columns."""
    first = text_names(items[0])
    for b, item in enumerate(items if first else []):
        names = text_names(item)
        if names is not None and names != first:
            raise InputError(
                f"Bag {ids[b]!s} has the columns {names} but bag {ids[0]!s} has {first}: "
                "all bags need the same columns in the same order."
            )
    return first


def from_dicts(items: list[Any], ids: Array) -> tuple[list[Any], list[Any] | None]:
    """Return the instances and labels of bags given as ``{"X": instances, "Y": label}``."""
    for b, item in enumerate(items):
        if not isinstance(item, Mapping) or "X" not in item:
            got = f"the keys {sorted(map(str, item))}" if isinstance(item, Mapping) else described(item)
            raise InputError(f"Bag {ids[b]!s} must be a dictionary with the key 'X' like the other bags, got {got}.")
    labels = [as_array(item.get("Y")).ravel().tolist() for item in items]
    for b, label in enumerate(labels):
        if len(label) != 1:
            raise InputError(f"The label 'Y' of bag {ids[b]!s} has {len(label)} values: a bag has one label.")
    unknown = [label == [None] for label in labels]
    if any(unknown) and not all(unknown):
        raise InputError(
            f"Bag {ids[unknown.index(True)]!s} has no label 'Y', but other bags do: label all bags or none."
        )
    return [item["X"] for item in items], None if unknown[0] else [label for (label,) in labels]
