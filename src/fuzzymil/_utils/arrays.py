"""Conversion of array-likes, tensors and data frames to NumPy arrays, with helpful error messages.

Tensors and data frames are recognized by duck typing, so that their libraries need not be imported.
"""

from __future__ import annotations

import io
import reprlib
import zipfile
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.errors import InputError, InputTypeError, MissingExtraError, ParameterError, described
from fuzzymil._utils.text import check_characters, half_character

if TYPE_CHECKING:
    import jax

Array = npt.NDArray[Any]

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_NOT_NUMBERS = {"M": "dates", "m": "time spans", "V": "records"}


class Namespace:
    """How type checkers see `numpy`, `jax.numpy` and `torch_functions`: functions that return arrays."""

    inf: float
    nan: float
    finfo: Callable[..., Any]

    def __getattr__(self, name: str) -> Callable[..., jax.Array]:
        raise NotImplementedError


def namespace(values: Any) -> Namespace:
    """Return the module whose functions work on an array, so that the same lines serve NumPy, JAX and PyTorch.

    JAX and PyTorch take a second to import, so this is left to those who have arrays of them.
    """
    found: Any = np
    if type(values) is np.ndarray:  # the quick answer to the most frequent question
        return found  # type: ignore[no-any-return]
    if is_of_jax(values):
        import jax.numpy as found
    elif is_of_torch(values):
        from fuzzymil._utils import torch_functions as found
    return found  # type: ignore[no-any-return]


def is_of_jax(values: Any) -> bool:
    """Return whether an array belongs to JAX, as inside compiled code."""
    return type(values).__module__.startswith("jax")


def is_of_torch(values: Any) -> bool:
    """Return whether an array is a tensor of PyTorch."""
    return type(values).__module__.startswith("torch")


def as_array(item: Any) -> Array:
    """Convert an array-like or a tensor to a NumPy array.

    Masked entries become ``NaN`` among numbers and None otherwise.
    """
    if _is_tensor(item):
        item = item.detach()
    if callable(getattr(item, "cpu", None)):
        item = item.cpu()
    if callable(getattr(item, "toarray", None)):
        raise InputTypeError("Sparse data was passed, but dense data is required: use '.toarray()'.")
    if isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item):
        plain = np.array(item.data, dtype=np.float64 if item.dtype.kind in "fiub" else object)
        plain[np.ma.getmaskarray(item)] = None
        return plain
    if isinstance(item, list | tuple) and any(_is_tensor(p) or isinstance(p, np.ma.MaskedArray) for p in item):
        item = [as_array(part) for part in item]  # NumPy rejects tensors with gradients and drops masks
    try:
        array = np.asarray(item)
    except (TypeError, ValueError) as problem:
        if not isinstance(item, list | tuple):
            raise InputTypeError(f"Cannot convert {described(item)} to an array: {problem}") from None
        raise InputError(_uneven(item)) from None
    if array.dtype.kind in "US" and isinstance(item, list | tuple):
        exact = np.array(item, dtype=object)
        if not all(isinstance(value, str) for value in exact.flat):
            return exact  # NumPy also converted the numbers to text
    return array


def unpacked(content: bytes) -> dict[str, Array]:
    """Return the arrays in the content of a ``.npz`` file that is not compressed; raise `InputError` for others."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("it is compressed")  # it could unpack to any size
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as problem:  # errors of many kinds, which NumPy and zipfile do not list
        raise InputError(f"These are not the arrays that were saved: {problem!s:.100}.") from None


def check_texts(values: Array, what: str, given: Any = None) -> None:
    """Raise if a text in an array has half of a character, which no file can hold, or ends with a zero.

    ``given``: what the array was made from: NumPy leaves out zeros at the end of a text.
    """
    texts = given if isinstance(given, list | tuple) else values.tolist() if values.dtype == object else ()
    for place, text in enumerate(texts if values.ndim == 1 else ()):
        if isinstance(text, str) and text.endswith("\0"):
            raise InputError(f"Number {place} of the {what} is {text!r:.60}: remove the zero character at its end.")
    suspects: Any = ()
    if values.dtype.kind == "U" and values.size and values.dtype.itemsize:
        points = np.ascontiguousarray(values).view(values.dtype.str[0] + "u4").reshape(values.size, -1)
        suspects = np.flatnonzero(((points >= 0xD800) & (points <= 0xDFFF)).any(axis=1))[:1]
    elif values.dtype.kind == "O":
        texts = (value if isinstance(value, str) else "" for value in values.flat)
        suspects = (n for n, text in enumerate(texts) if half_character(text) is not None)
    for place in suspects:
        check_characters(f"Number {place} of the {what}", str(values.flat[place]))


def _is_tensor(item: Any) -> bool:
    return callable(getattr(item, "detach", None))  # a data frame may have a column of this name


def _uneven(rows: Sequence[Any]) -> str:
    counts = [len(row) if isinstance(row, Sequence) else depth(row) and row.shape[0] for row in rows]
    odd = next((r for r, count in enumerate(counts) if count != counts[0]), None)
    found = f"row 0 has {counts[0]} values, row {odd} has {counts[odd or 0]}"
    found = "some are nested more deeply" if odd is None else found
    return f"Rows differ in length ({found}): all rows must have the same number of values."


def numeric(item: Any) -> Array:
    """Convert to a floating-point array: float32 if the input is float32, otherwise float64.

    None and pandas' missing values become ``NaN``. Text is rejected even if it looks like a number, because it is
    usually a code or a category.
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
        with np.errstate(over="ignore"):  # a number too large for float64 becomes infinite and is rejected as such
            return array.astype(np.float32 if short else np.float64, copy=False)
    if kind == "c":
        raise InputTypeError("Complex data not supported: pass real numbers.")
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
    place = np.unravel_index(position, shape)[-2:]  # in a 3-D array, the row and column within the bag
    where = "".join(f" {axis} {n}" for axis, n in zip(("in row", "column"), place, strict=False))
    raise InputTypeError(
        f"{reprlib.repr(value)}{where} is not a number ({reason}): features must be numeric; encode text first."
    )


def is_sparse(item: Any) -> bool:
    """Return whether an object is a sparse matrix or array of SciPy, without importing it."""
    return hasattr(item, "tocsr") and hasattr(item, "nnz")


def sparse_rows(item: Any) -> Any:
    """Return sparse instances (n_instances, n_features) as a CSR array of floating-point numbers."""
    if item.ndim != 2:
        raise InputError(f"Sparse instances must be a 2-D matrix (instances, features), got {item.ndim} dimension(s).")
    if item.dtype.kind not in "biuf":
        raise InputError(f"Sparse instances must be real numbers, got {item.dtype}.")
    rows = item.tocsr()
    rows = rows.astype(np.float64) if rows.dtype != np.float64 else rows.copy()
    rows.sum_duplicates()
    return rows


def matrix(item: Any) -> Array:
    """Convert to a floating-point array of shape (n_instances, n_features)."""
    array = numeric(item)
    if array.ndim != 2:
        raise InputError(
            f"Instances must be a 2-D array (instances, features), got {array.ndim} dimension(s). Reshape your data: "
            "array.reshape(1, -1) for a single instance, array.reshape(-1, 1) for a single feature."
        )
    return array


def depth(item: Any) -> int:
    """Return the nesting depth of an array-like (at most 4) without converting it.

    An empty list has depth 2, because it stands for an empty bag.
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


def read_only(array: Array) -> Array:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def is_sealed(array: Array) -> bool:
    """Return whether nobody can write to the numbers of a `read_only` view: the array behind it is read-only, too."""
    behind = array.base
    return isinstance(behind, np.ndarray) and behind.base is None and not behind.flags.writeable


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or one of pandas' missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


# ---------------------------------------------------------------------- tables


def column_names(item: Any) -> list[Hashable] | None:
    """Return the column names of a data frame, or None for anything else."""
    names = getattr(item, "column_names", None)  # pyarrow: its `columns` are the data
    if not isinstance(names, list):
        names = getattr(item, "columns", None)
    return None if names is None or isinstance(item, type) else list(names)


def text_names(item: Any) -> list[str] | None:
    """Return the column names of a data frame if all of them are strings, otherwise None."""
    names = column_names(item)
    return [str(name) for name in names] if names and all(isinstance(name, str) for name in names) else None


def table(frame: Any, names: Sequence[Hashable]) -> Array:
    """Convert columns of a data frame to an array of shape (n_rows, n_columns); errors name the column."""
    all_different(names, "column")
    columns = []
    for name in names:
        try:
            columns.append(numeric(frame[name]))
        except InputError as problem:
            raise InputTypeError(f"Column {name!r}: {problem}") from None
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def all_different(names: Sequence[Hashable], what: str) -> None:
    """Raise `InputError` if a name is repeated."""
    at = first_repeated(names)
    if at is not None:
        raise InputError(f"Duplicate {what} {names[at]!r}: names must be unique; rename one.")


# ---------------------------------------------------------------------- columns


def first_repeated(values: Sequence[Hashable]) -> int | None:
    """Return the position of the first value that occurred before, or None."""
    seen: set[Hashable] = set()
    for n, value in enumerate(values):
        if value in seen:
            return n
        seen.add(value)
    return None


def missing(values: Array) -> npt.NDArray[np.bool_]:
    """Return where a 1-D array holds missing values."""
    if values.dtype.kind in "fcmM":
        return np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def codes(values: Array) -> npt.NDArray[np.int64]:
    """Return the number of each distinct value, by first appearance; missing values count as equal."""
    if not len(values):
        return np.zeros(0, np.int64)
    begins = np.ones(len(values), dtype=bool)
    if values.dtype.kind in "biufUS":  # rows of a group are usually contiguous: look at each run once
        begins[1:] = values[1:] != values[:-1]
    heads = values[begins]
    if heads.dtype.kind in "biuf":
        found, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
        rank = np.empty(len(found), np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(found))
        numbers = rank[inverse.reshape(-1)]
    else:
        numbers = _codes_of_objects(heads)
    return np.asarray(numbers[np.cumsum(begins) - 1])


def _codes_of_objects(values: Array) -> npt.NDArray[np.int64]:
    # A dictionary rather than np.unique, which cannot sort values of mixed types.
    seen: dict[Any, int] = {}
    items: list[Any] = values.tolist()
    absent = missing(values)
    if absent.any():
        items = [None if gone else item for item, gone in zip(items, absent, strict=True)]
    try:
        return np.array([seen.setdefault(item, len(seen)) for item in items], dtype=np.int64)
    except TypeError:
        odd = next(item for item in items if not isinstance(item, Hashable))
        raise InputTypeError(f"{reprlib.repr(odd)} cannot be a bag id or a label: use numbers or text.") from None


def concatenate(columns: Sequence[Array | None]) -> Array | None:
    """Concatenate columns without mixing their types, or return None unless all are known."""
    known = [part for part in columns if part is not None]
    if len(known) < len(columns):
        return None
    kinds = {part.dtype.kind for part in known}
    large = any(part.dtype.kind == "i" and ((part > 2**53) | (part < -(2**53))).any() for part in known)
    alike = len(kinds) == 1 or (kinds == {"i", "f"} and not large)  # as floats, large integers would be rounded
    return np.concatenate(known if alike else [part.astype(object) for part in known])


# ---------------------------------------------------------------------- data frames of other libraries


def data_frame(library: str, columns: Mapping[str, Any]) -> Any:
    """Return a data frame of a library, "pandas" or "polars"; an error names the one that is not installed."""
    try:
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if library == "polars":
            import polars as pl

            return pl.DataFrame(columns, nan_to_null=True)
    except ImportError:
        raise MissingExtraError(f"{library} is not installed: pip install {library}.") from None
    raise ParameterError(f"library must be 'pandas' or 'polars', got {library!r}.")
