"""Foreign values and tables into arrays of numbers, with errors that say what is wrong.

Tensors and data frames of other libraries are recognized by what they can do, so that none has to be imported.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.errors import InputError, InputTypeError, described

__all__ = [
    "Array",
    "all_different",
    "as_array",
    "column_names",
    "depth",
    "frozen",
    "is_missing",
    "matrix",
    "numeric",
    "table",
    "text_names",
]

Array = npt.NDArray[Any]

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_NOT_NUMBERS = {"M": "dates", "m": "time spans", "V": "records"}


def as_array(item: Any) -> Array:
    """Turn an array-like or a tensor of another library into an array.

    Masked entries become missing: ``NaN`` among numbers, else None.

    Examples
    --------
    >>> as_array(np.ma.masked_array([1, 2], [False, True]))
    array([ 1., nan])
    """
    if _is_tensor(item):
        item = item.detach()
    if callable(getattr(item, "cpu", None)):
        item = item.cpu()
    if callable(getattr(item, "toarray", None)):
        raise InputTypeError(
            "Sparse data was passed, but dense data is required. Use '.toarray()' to convert sparse matrices."
        )
    if isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item):
        plain = np.array(item.data, dtype=np.float64 if item.dtype.kind in "fiub" else object)
        plain[np.ma.getmaskarray(item)] = None
        return plain
    if isinstance(item, list | tuple) and any(_is_tensor(p) or isinstance(p, np.ma.MaskedArray) for p in item):
        item = [as_array(part) for part in item]  # numpy refuses tensors with gradients and forgets masks
    try:
        array = np.asarray(item)
    except (TypeError, ValueError) as problem:
        if not isinstance(item, list | tuple):
            raise InputTypeError(f"No array can be made of {described(item)}: {problem}") from None
        raise InputError(_uneven(item)) from None
    if array.dtype.kind in "US" and isinstance(item, list | tuple):
        exact = np.array(item, dtype=object)
        if not all(isinstance(value, str) for value in exact.flat):
            return exact  # numpy made text of numbers too
    return array


def _is_tensor(item: Any) -> bool:
    return callable(getattr(item, "detach", None))  # a data frame may have a column of this name


def _uneven(rows: Sequence[Any]) -> str:
    counts = [len(row) if isinstance(row, Sequence) else depth(row) and row.shape[0] for row in rows]
    odd = next((r for r, count in enumerate(counts) if count != counts[0]), None)
    found = "some are nested deeper" if odd is None else f"row 0 has {counts[0]} values, row {odd} has {counts[odd]}"
    return f"The rows differ in length ({found}): all rows need the same number of values."


def numeric(item: Any) -> Array:
    """Return an array of floating-point numbers, 32 bit if they came so, else 64.

    None and the missing values of pandas become ``NaN``. Text is refused even where it looks like a
    number: it mostly is a code or a category.

    Examples
    --------
    >>> numeric([[1, None]])
    array([[ 1., nan]])
    """
    if type(item) is np.ndarray and item.dtype in _FLOATS:
        return item
    names = column_names(item)
    if names is not None:
        return table(item, names)
    array = as_array(item)
    kind = array.dtype.kind
    if kind in "fiub":
        short = kind == "f" and array.dtype.itemsize == 4
        with np.errstate(over="ignore"):  # beyond 64 bit a number becomes infinite, and is refused as such
            return array.astype(np.float32 if short else np.float64, copy=False)
    if kind == "c":
        raise InputTypeError("Complex data not supported: give real numbers.")
    if kind in _NOT_NUMBERS:
        raise InputTypeError(f"Features must be numbers, got {_NOT_NUMBERS[kind]} ({array.dtype}): convert them first.")
    numbers = [_number(value, array.shape, n) for n, value in enumerate(array.ravel().tolist())]
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


def _number(value: Any, shape: tuple[int, ...], position: int) -> float:
    if is_missing(value):
        return np.nan
    reason = "it is text"
    if not isinstance(value, str | bytes):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError) as problem:
            reason = str(problem)
    place = np.unravel_index(position, shape)[-2:]  # of a cube, the row and column inside its bag
    where = "".join(f" {axis} {n}" for axis, n in zip(("in row", "column"), place, strict=False))
    raise InputTypeError(
        f"{reprlib.repr(value)}{where} is not a number ({reason}): features must be numeric; encode text first."
    )


def matrix(item: Any) -> Array:
    """Return numbers of shape (n_instances, n_features)."""
    array = numeric(item)
    if array.ndim != 2:
        raise InputError(
            f"Instances must be a 2-D array (instances, features), got {array.ndim} dimension(s). Reshape your data: "
            "array.reshape(1, -1) for a single instance, array.reshape(-1, 1) for a single feature."
        )
    return array


def depth(item: Any) -> int:
    """Count the nested levels of an array-like without converting it; more than four count as four.

    An empty list counts as two, because it stands for an empty bag.

    Examples
    --------
    >>> depth([[1.0, 2.0], [3.0]]), depth(np.zeros((2, 3, 4))), depth("text"), depth([])
    (2, 3, 0, 2)
    """
    levels = 0
    while levels < 4:
        shape = getattr(item, "shape", None)
        if isinstance(shape, Sequence):
            return levels + len(shape)
        if isinstance(item, str | bytes) or not isinstance(item, Sequence):
            return levels
        if not item:
            return levels + 2
        item = item[0]
        levels += 1
    return levels


def frozen(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def is_missing(value: Any) -> bool:
    """Tell None, NaN and their kin."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


# ---------------------------------------------------------------------- tables


def column_names(item: Any) -> list[Hashable] | None:
    """Return the names of a data frame's columns, or None for anything else."""
    names = getattr(item, "column_names", None)  # pyarrow, where `columns` are the data
    if not isinstance(names, list):
        names = getattr(item, "columns", None)
    return None if names is None or isinstance(item, type) else list(names)


def text_names(item: Any) -> list[str] | None:
    """Return the feature names a data frame carries: its columns if they all are text, else None."""
    names = column_names(item)
    return [str(name) for name in names] if names and all(isinstance(name, str) for name in names) else None


def table(frame: Any, names: Sequence[Hashable]) -> Array:
    """Return columns of a data frame as numbers of shape (n_rows, n_columns); an error names the column."""
    all_different(names, "column")
    columns = []
    for name in names:
        try:
            columns.append(numeric(frame[name]))
        except InputError as problem:
            raise InputTypeError(f"Column {name!r}: {problem}") from None
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def all_different(names: Sequence[Hashable], what: str) -> None:
    """Raise `InputError` when a name stands twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The {what} {twice!r} stands twice: names must differ; rename one.")
