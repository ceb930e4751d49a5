"""Foreign values into arrays: numbers, columns and names, with errors that say what is wrong.

Tensors of other libraries are recognised by what they can do, so that none has to be imported.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil.errors import InputError, InputTypeError

__all__ = ["Array", "as_array", "checked_names", "column", "frozen", "numeric", "numeric_column"]

Array = npt.NDArray[Any]


def as_array(item: Any) -> Array:
    """Turn an array-like or a tensor of another library into an array, without importing that library."""
    if hasattr(item, "detach"):
        item = item.detach()
    if hasattr(item, "cpu"):
        item = item.cpu()
    if hasattr(item, "toarray"):
        raise InputTypeError(
            "Sparse data was passed, but dense data is required. Use '.toarray()' to convert sparse matrices."
        )
    try:
        return np.asarray(item)
    except ValueError:
        raise InputError("The rows have different numbers of features: all instances need the same.") from None


def numeric(item: Any) -> Array:
    """Return an array of floating-point numbers, 32 bit if they came so, else 64."""
    array = as_array(item)
    if np.iscomplexobj(array):
        raise InputTypeError("Complex data not supported: give real numbers.")
    if array.dtype.kind in "fiub":
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        for value in array.ravel().tolist():
            try:
                float(value)
            except (TypeError, ValueError):
                raise InputTypeError(
                    f"{value!r} is not a number: features must be numeric; encode text first."
                ) from None
        raise


def numeric_column(values: Any, name: Hashable) -> Array:
    """Return a table's column as numbers; the error names the column."""
    try:
        return numeric(values)
    except InputError as problem:
        raise InputTypeError(f"Column {name!r}: {problem}") from None


def column(values: Any, length: int, what: str, of: str) -> Array:
    """Return a 1-D array of the expected length."""
    found = as_array(values)
    if found.ndim != 1 or len(found) != length:
        raise InputError(f"Expected {length} {what}, one for each of the {of}, got shape {found.shape}.")
    return found


def checked_names(names: Iterable[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Return feature names, all different and as many as there are features."""
    if names is None:
        return None
    names = tuple(str(name) for name in names)
    if len(names) != n_features:
        raise InputError(f"There are {n_features} features but {len(names)} feature names.")
    if len(set(names)) < n_features:
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The feature name {twice!r} stands twice: names must differ.")
    return names


def frozen(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
