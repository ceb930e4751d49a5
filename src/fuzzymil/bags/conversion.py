"""What people pass as bags, taken apart: columns of labels and ids, offsets, lists of bags.

`bags` builds on these; nothing here knows the class `Bags`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import (
    Array,
    all_different,
    as_array,
    column_names,
    depth,
    frozen,
    is_missing,
    numeric,
    text_names,
)
from fuzzymil._utils.errors import InputError, InputTypeError, described, did_you_mean

__all__ = [
    "EMPTY_BAG",
    "bag_arrays",
    "bags_or_rows",
    "checked_offsets",
    "checked_names",
    "chosen_columns",
    "codes",
    "column",
    "constant_within",
    "from_dicts",
    "frozen_column",
    "identifiers",
    "joined",
    "listed",
    "real_instances",
    "shared_names",
    "whole_numbers",
]

EMPTY_BAG = "Bag {} is empty: every bag needs at least one instance; drop it first."

# A frame with one of these columns is almost surely a long table that was meant for `from_frame`.
_BAG_COLUMNS = ("bag", "bag_id", "bag_ids", "bagid")

# ---------------------------------------------------------------------- names


def chosen_columns(frame: Any, wanted: list[Hashable], features: Any) -> list[Any]:
    """Return the feature columns of a long data frame: those asked for, or all that are not `wanted`."""
    columns = column_names(frame)
    if columns is None:
        raise InputTypeError(
            f"Expected a data frame, got {described(frame)}: arrays go through Bags.from_long, "
            "a dict of columns through pandas.DataFrame."
        )
    chosen = [name for name in columns if name not in wanted]
    if features is not None:
        chosen = [features] if isinstance(features, str) else listed(features, "feature columns")
    for name in [*wanted, *chosen]:
        if name not in columns:
            known = [str(name) for name in columns]
            more = ", ..." if len(known) > 20 else ""
            hint = did_you_mean(name, known)
            raise InputError(f"There is no column {name!r}; the columns are {', '.join(known[:20])}{more}.{hint}")
        if name in wanted and (name in chosen or columns.count(name) > 1):
            raise InputError(f"Column {name!r} must stand once, and cannot be a feature as well as the bag or label.")
    if not chosen:
        raise InputError(f"No feature columns are left beside {', '.join(map(repr, wanted))}.")
    return chosen


def checked_names(names: Iterable[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Return feature names, all different and as many as there are features."""
    if names is None:
        return None
    names = tuple(str(name) for name in listed(names, "feature names"))
    if len(names) != n_features:
        raise InputError(f"There are {n_features} features but {len(names)} feature names: give one for each.")
    all_different(names, "feature name")
    return names


# ---------------------------------------------------------------------- columns


def listed(values: Any, what: str) -> list[Any]:
    """Return a list of what can be walked through in a certain order."""
    if not isinstance(values, str | bytes | Mapping | Set):
        try:
            return list(values)
        except TypeError:  # not iterable, or an array without dimensions
            pass
    raise InputTypeError(f"Expected a list of {what}, got {described(values)}: put them in a list.")


def column(values: Any, length: int, what: str, of: str) -> Array:
    """Return a 1-D array of the expected length that tells apart what was different.

    Examples
    --------
    >>> column([1, "1"], 2, "labels", "bags")  # numpy alone would make two equal texts of them
    array([1, '1'], dtype=object)
    """
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        values = list(values)
    try:
        found = as_array(values)
    except InputError as problem:
        raise type(problem)(f"Expected {length} {what}, one for each of the {of}. {problem}") from None
    if found.ndim != 1 or len(found) != length:
        got = f"shape {found.shape}" if found.ndim else described(values)
        raise InputError(f"Expected {length} {what}, one for each of the {of}, got {got}.")
    if found.dtype.kind == "f" and isinstance(values, list):
        whole = [value for value in values if isinstance(value, int)]
        if any(value != float(value) for value in whole):
            return np.array(values, dtype=object)  # numpy rounded large integers
    return found


def frozen_column(values: Any, length: int, what: str, of: str) -> Array | None:
    """Return a read-only column, or None where there is none."""
    return None if values is None else frozen(column(values, length, what, of))


def identifiers(values: Any, length: int, of: str) -> Array:
    """Return bag ids, one for each of the rows or bags, none missing."""
    found = column(values, length, "bag ids", of)
    absent = _missing(found)
    if absent.any():
        n, one = int(np.argmax(absent)), of.removesuffix("s")
        raise InputError(f"{one.capitalize()} {n} has no bag id, got {found[n]!s}: give every {one} one.")
    if found.dtype == object:
        codes(found)  # refuses what cannot be compared
    return found


def codes(values: Array) -> npt.NDArray[np.int64]:
    """Give equal values equal numbers, in the order of first appearance; missing values equal each other.

    Examples
    --------
    >>> codes(np.array(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    # A dictionary and not np.unique, which cannot sort values of different kinds.
    seen: dict[Any, int] = {}
    items: list[Any] = values.tolist()
    absent = _missing(values)
    if absent.any():
        items = [None if gone else item for item, gone in zip(items, absent, strict=True)]
    try:
        return np.array([seen.setdefault(item, len(seen)) for item in items], dtype=np.int64)
    except TypeError:
        odd = next(item for item in items if not isinstance(item, Hashable))
        raise InputTypeError(f"{reprlib.repr(odd)} cannot be a bag id or a label: use numbers or text.") from None


def constant_within(labels: Array, offsets: npt.NDArray[np.int64], ids: Array) -> Array:
    """Return the label of each bag from the labels of its rows, which must agree."""
    first = labels[offsets[:-1]]
    kinds = codes(labels)
    differs = kinds != np.repeat(kinds[offsets[:-1]], np.diff(offsets))
    if differs.any():
        row = int(np.argmax(differs))
        bag = int(np.searchsorted(offsets, row, side="right")) - 1
        raise InputError(
            f"Bag {ids[bag]!s} has two labels, {first[bag]!s} and {labels[row]!s}: a bag has one label. "
            "For truth about instances use instance_labels."
        )
    return first


def joined(columns: Sequence[Array | None]) -> Array | None:
    """Join columns, or return None unless all are known; different kinds stay what they are."""
    known = [part for part in columns if part is not None]
    if len(known) < len(columns):
        return None
    kinds = {part.dtype.kind for part in known}
    alike = len(kinds) == 1 or kinds == {"i", "f"}
    return np.concatenate(known if alike else [part.astype(object) for part in known])


def whole_numbers(values: Any, what: str) -> npt.NDArray[np.int64]:
    """Return a 1-D array of integers; 3.0 will do, 2.5 and "3" will not."""
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
            raise InputError(f"Expected whole numbers as {what}, got {reprlib.repr(value)} at position {n}.")
    return found.astype(np.int64)


def checked_offsets(values: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Return offsets that run from 0 to the number of rows and never fall back."""
    offsets = whole_numbers(values, "offsets")
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
    """Return where a padded cube of shape (n_bags, longest) holds instances and not padding."""
    if (lengths is None) == (mask is None):
        raise InputError("Give either lengths= or mask=, so that padding can be told from instances.")
    if mask is None:
        counts = whole_numbers(column(lengths, shape[0], "lengths", "bags"), "lengths")
        wrong = (counts < 1) | (counts > shape[1])
        if wrong.any():
            b = int(np.argmax(wrong))
            raise InputError(f"Bag {b} has length {counts[b]}: lengths must lie between 1 and {shape[1]}.")
        return np.arange(shape[1]) < counts[:, None]
    found = as_array(mask)
    if found.shape != shape:
        raise InputError(f"The mask must have shape {shape}, got {found.shape}.")
    if found.dtype.kind not in "biuf" or not np.isin(found, (0, 1)).all():
        raise InputError("The mask must hold only True and False (or 1 and 0): True where there is an instance.")
    return found.astype(bool)


def _missing(values: Array) -> npt.NDArray[np.bool_]:
    if values.dtype.kind in "fcmM":
        return np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


# ---------------------------------------------------------------------- lists of bags


def bags_or_rows(X: Any) -> Any:
    """Return a list of bags, or the table or array that holds one instance a row."""
    names = column_names(X)
    if names is not None:
        bag = next((name for name in names if str(name).lower() in _BAG_COLUMNS), None)
        if bag is not None:
            raise InputError(
                f"This table has a column {bag!r}: call Bags.from_frame(table, bag={bag!r}) so that its "
                "rows are put into bags (a table without bags is read as one bag a row)."
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
            return items  # bags of mixed kinds: reading them one by one will name the odd one
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
    """Return the numbers of each bag, shape (n_instances, n_features); an error names the bag."""
    found: list[Array] = []
    for b, item in enumerate(items):
        try:
            array = numeric(item)
        except InputError as problem:
            raise type(problem)(f"Bag {ids[b]!s}: {problem}") from None
        if array.shape[:1] == (0,):
            raise InputError(EMPTY_BAG.format(ids[b]))
        if array.ndim != 2 or not array.size:
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


def shared_names(items: list[Any], ids: Array) -> list[str] | None:
    """Return the column names of bags that came as tables; their columns are matched by position."""
    first = text_names(items[0])
    for b, item in enumerate(items if first else []):
        names = text_names(item)
        if names is not None and names != first:
            raise InputError(
                f"Bag {ids[b]!s} has the columns {names} but bag {ids[0]!s} has {first}: "
                "give all bags the same columns in the same order."
            )
    return first


def from_dicts(items: list[Any], ids: Array) -> tuple[list[Any], list[Any] | None]:
    """Return the instances and the labels of bags given as ``{"X": instances, "Y": label}``."""
    for b, item in enumerate(items):
        if not isinstance(item, Mapping) or "X" not in item:
            got = f"the keys {sorted(map(str, item))}" if isinstance(item, Mapping) else described(item)
            raise InputError(f"Bag {ids[b]!s} must be a dict with the key 'X' as other bags are, got {got}.")
    labels = [as_array(item.get("Y")).ravel().tolist() for item in items]
    for b, label in enumerate(labels):
        if len(label) != 1:
            raise InputError(f"The label 'Y' of bag {ids[b]!s} has {len(label)} values: a bag has one label.")
    unknown = [label == [None] for label in labels]
    if any(unknown) and not all(unknown):
        raise InputError(
            f"Bag {ids[unknown.index(True)]!s} has no label 'Y' but others have: give every bag one, or none."
        )
    return [item["X"] for item in items], None if unknown[0] else [label for (label,) in labels]
