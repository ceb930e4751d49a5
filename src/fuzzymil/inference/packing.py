"""Packing bags for compiled code: padded to one of a few sizes, with missing values marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PackedBags", "even_size", "pack", "padded_size"]

Array = npt.NDArray[Any]


def padded_size(n: int) -> int:
    """Round up to one of a few sizes, so that similar data share one compiled program.

    There are two sizes per power of two up to 65,536, and eight above, where padding costs more than compiling.

    Examples
    --------
    >>> [padded_size(n) for n in (1, 5, 9, 100, 400, 70_000)]
    [8, 8, 12, 128, 512, 73728]
    """
    if n <= 8:
        return 8
    octave = 1 << (n - 1).bit_length()
    step = octave // (4 if octave <= 1 << 16 else 16)
    return -(-n // step) * step


def _padded_bags(n: int) -> int:
    """Round up coarsely, so that the folds of a cross-validation rarely differ in their number of bags."""
    if n > 2048:
        return padded_size(n)
    size = 8
    while size < n:
        size *= 4
    return size


_ROWS = 1 << 16  # rows scaled at once
_LINE = 64  # bytes of a cache line


class PackedBags(NamedTuple):
    """Bags for compiled code: padded to one of a few sizes, with missing values marked.

    Rows from ``n_instances`` on belong to padding bags; bags from ``n_bags`` on are padding.
    """

    x: Array  # (i, d); finite even where a value is unknown
    known: Array | None  # (i, d), 1 or 0; None when everything is known
    bag_index: Array | None  # (i,); None when every instance is its own bag
    offsets: Array  # (b + 1,)
    n_instances: int
    n_bags: int


def pack(
    instances: Array,
    offsets: Array,
    dtype: npt.DTypeLike,
    fill: Array | float = 0.0,
    scaled: Callable[[Array], Array] = lambda rows: rows,
) -> PackedBags:
    """Pad packed bags for compiled code.

    Unknown values are replaced by ``fill``, one number or one per feature. ``scaled`` is applied to the instances, a
    chunk of rows at a time.
    """
    n_instances, n_features = instances.shape
    n_bags = len(offsets) - 1
    single = n_bags == n_instances
    rows = padded_size(n_instances)
    bags = rows if single else _padded_bags(n_bags + 1)  # padding rows need an extra bag
    x = _aligned_zeros((rows, n_features), dtype)
    any_missing = False
    for first in range(0, n_instances, _ROWS):
        last = min(first + _ROWS, n_instances)
        x[first:last] = scaled(instances[first:last])
        any_missing = any_missing or bool(np.isnan(x[first:last]).any())
    known = None
    if any_missing:
        missing = np.isnan(x)
        known = 1 - missing.astype(dtype)
        x[:n_instances] = np.where(missing[:n_instances], fill, x[:n_instances])
    index = None
    if not single:
        index = np.full(rows, n_bags, np.int32)
        index[:n_instances] = np.repeat(np.arange(n_bags, dtype=np.int32), np.diff(offsets))
    ends = np.full(bags + 1, n_instances, np.int32)
    ends[: n_bags + 1] = offsets
    return PackedBags(x=x, known=known, bag_index=index, offsets=ends, n_instances=n_instances, n_bags=n_bags)


def _aligned_zeros(shape: tuple[int, int], dtype: npt.DTypeLike) -> Array:
    """Return zeros aligned to a cache line: on a CPU, XLA reads such arrays in place and copies others."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + n_bytes].view(dtype).reshape(shape)


def even_size(all_bags: Sequence[PackedBags]) -> int:
    """Return the size of the largest bag if padding all bags to it wastes little, otherwise 0.

    A GPU reduces bags of equal size faster than it adds up scattered instances, and in a fixed order.
    """
    sizes = [np.diff(bags.offsets) for bags in all_bags]
    longest = max(int(each.max()) for each in sizes)
    places, rows = (longest * len(each) for each in sizes), (len(bags.x) for bags in all_bags)
    return longest if sum(places) <= 2 * sum(rows) else 0
