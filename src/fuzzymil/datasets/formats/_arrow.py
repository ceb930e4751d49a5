"""Arrow columns, which Parquet is read into and written from. pyarrow is optional and imported on demand."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import MissingExtraError
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _columns, _fields
from fuzzymil.datasets.formats.files import DataFile


def pyarrow() -> Any:
    """Import pyarrow and the submodules in use."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            'Parquet files need pyarrow, which is not installed: pip install "fuzzymil[parquet]".'
        ) from None
    return pyarrow


@contextlib.contextmanager
def opened(file: DataFile) -> Iterator[Any]:
    """Open a Parquet file; errors raised while it is open name the file."""
    arrow = pyarrow()
    try:
        with arrow.parquet.ParquetFile(file.path) as found:
            yield found
    except arrow.ArrowMemoryError:
        raise  # not the file's fault
    except (arrow.ArrowException, OSError, UnicodeDecodeError, OverflowError) as problem:
        reason = f"{str(problem).partition(chr(10))[0].rstrip('.'):.200}"
        raise file.error(f"is not a Parquet file, or it is damaged ({reason}): write or download it again") from None


def read_delimited(
    content: bytes,
    delimiter: str,
    names: Sequence[str],
    is_text: Mapping[str, bool],
    *,
    missing: Sequence[str],
    skip_lines: int,
    block_size: int,
) -> Any | None:
    """Return delimited text without quotation marks as a table; None without pyarrow, or if a row is irregular.

    Parameters
    ----------
    content : bytes
    delimiter : str
    names : sequence of str
        Names for all columns.
    is_text : mapping
        The columns to read, and which of them are text rather than numbers.
    missing : sequence of str
        Text that marks a missing number.
    skip_lines, block_size : int
        Number of lines to skip, and of bytes to parse at a time.
    """
    try:
        arrow = pyarrow()
        from pyarrow import csv
    except ImportError:
        return None
    kinds = {name: arrow.string() if text else arrow.float64() for name, text in is_text.items()}
    try:
        return csv.read_csv(
            arrow.BufferReader(content),
            csv.ReadOptions(skip_rows=skip_lines, column_names=names, block_size=block_size),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=missing),
        )
    except arrow.ArrowException:
        return None


def encoded(column: Any) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct values of a column of text by first appearance, and which of them each row has."""
    found = column.combine_chunks()
    if isinstance(found, pyarrow().ChunkedArray):  # more text than one array can hold
        found = pyarrow().concat_arrays([chunk.cast(pyarrow().large_string()) for chunk in found.chunks])
    found = found.dictionary_encode()
    return found.dictionary.to_pylist(), found.indices.to_numpy(zero_copy_only=False).astype(np.int64)


# ---------------------------------------------------------------- columns


def is_number(kind: Any) -> bool:
    """Return whether columns of an Arrow type can be features."""
    types = pyarrow().types
    kind = plain_type(kind)
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null))


def is_value(kind: Any) -> bool:
    """Return whether columns of an Arrow type can be bag ids or labels."""
    types = pyarrow().types
    kind = plain_type(kind)
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_string))


def plain_type(kind: Any) -> Any:
    """Return the common type of all types with the same values: 64-bit numbers, text, otherwise the type itself.

    Booleans are 1 and 0, as in other formats; categories have the type of their values.
    """
    arrow = pyarrow()
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_boolean(kind) or (types.is_integer(kind) and not types.is_uint64(kind)):
        return arrow.int64()
    if types.is_floating(kind):
        return arrow.float64()
    return arrow.string() if types.is_large_string(kind) else kind


def decoded(column: Any) -> Any:
    """Cast an Arrow array to its `plain_type`."""
    if pyarrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(plain_type(column.type))


def missing(column: Any) -> npt.NDArray[np.bool_]:
    """Return where a decoded column is null, NaN or an empty string."""
    arrow = pyarrow()
    found = column.is_null(nan_is_null=True)
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        found = arrow.compute.or_kleene(found, arrow.compute.equal(column, ""))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def numbers(column: Any) -> Array:
    """Return a column as float64; nulls become ``NaN``."""
    return np.asarray(decoded(column).cast(pyarrow().float64(), safe=False).to_numpy(zero_copy_only=False))


def values(column: Any) -> Array:
    """Return decoded ids or labels as a NumPy array of numbers or text."""
    if pyarrow().types.is_primitive(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.array(column.to_pylist())


def any_values(column: Any) -> Array:
    """Return a column of any type as a NumPy array."""
    if pyarrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def column_of(values: Array) -> Any:
    """Return ids or labels as an Arrow array: numbers as they are, everything else as text, as in CSV."""
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    return pyarrow().array(values if values.dtype.kind in "iuf" else _fields.texts(values))


def keys(ids: Array) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of each id."""
    if ids.dtype.kind in "iu":
        return ids.astype(np.uint64)
    if ids.dtype.kind == "f":
        return (ids.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    digests = (hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in ids)
    return np.fromiter((int.from_bytes(digest) for digest in digests), np.uint64, len(ids))


def repeated(found: npt.NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Return pairs of positions with equal keys (earlier, later), sorted by the later one.

    Examples
    --------
    >>> repeated(np.array([5, 3, 7, 3, 5], dtype=np.uint64))
    [(1, 3), (0, 4)]
    """
    order = np.argsort(found, kind="stable")
    same = np.flatnonzero(found[order[:-1]] == found[order[1:]])
    return sorted(zip(order[same].tolist(), order[same + 1].tolist(), strict=True), key=lambda pair: pair[1])


# ---------------------------------------------------------------- tables


def to_table(bags: Bags, ids: Array) -> Any:
    """Return bags with these ids as an Arrow table: bag, label and instance_label (where known), then the features."""
    arrow = pyarrow()
    owners = arrow.array(bags.bag_index)
    columns = {"bag": column_of(ids).take(owners)}
    if bags.labels is not None:
        columns["label"] = column_of(bags.labels).take(owners)
    if bags.instance_labels is not None:
        columns[_columns.INSTANCE_LABEL] = column_of(bags.instance_labels)
    for d, name in enumerate(bags.names):
        # NaN is written as null, which is how other programs mark a missing value.
        values = bags.instances[:, d]
        if bags.columns is not None and bags.columns[d].categories:
            names = [None if code != code else bags.columns[d].shown(code) for code in values.tolist()]
            columns[name] = arrow.array(names, arrow.string())
            continue
        columns[name] = arrow.array(values, from_pandas=True)
    return arrow.table(columns)
