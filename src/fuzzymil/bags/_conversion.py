"""Conversion of lists, dictionaries and tables to the arrays that `Bags` holds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import (
    Array,
    as_array,
    column_names,
    depth,
    is_sparse,
    numeric,
    sparse_rows,
    text_names,
)
from fuzzymil._utils.errors import InputError, InputTypeError, described, did_you_mean
from fuzzymil.bags._validation import EMPTY_BAG

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
    plain = isinstance(X, Sequence) and not isinstance(X, str | bytes) and not hasattr(X, "shape")
    items = list(X) if plain else None
    if items is not None:
        if not items:
            raise InputError("There are no bags: the list is empty.")
        if isinstance(items[0], Mapping) or depth(items[0]) > 1:
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


def stacked(parts: Sequence[Any]) -> Any:
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
