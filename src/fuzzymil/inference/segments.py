"""Which instances belong to which bag: reductions over the instances of each bag.

The layers use only the operations of `Grouping`. `OneBag` is a single bag (on-line learning), `Each` is for
one-instance bags (plain ANFIS), where there is nothing to reduce. Groupings of packed bags belong to an engine:
`fuzzymil.inference.engines.numpy.Runs` and `fuzzymil.inference.engines.jax.Packed`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.engines import engine_of

if TYPE_CHECKING:
    import jax


class Grouping(Protocol):
    """Reductions over the instances of each bag; arrays are (instances, ...) in, (bags, ...) out."""

    def sum(self, values: jax.Array) -> jax.Array:
        """Return the sum over the instances of each bag; 0 for an empty bag."""

    def max(self, values: jax.Array) -> jax.Array:
        """Return the greatest value of each bag, without a gradient; -inf for an empty bag."""

    def spread(self, values: jax.Array) -> jax.Array:
        """Return the value of its bag for every instance."""

    def sizes(self) -> jax.Array:
        """Return the number of instances in each bag, shape (bags,)."""

    def owners(self) -> jax.Array:
        """Return the number of each instance's bag, in ascending order, shape (instances,)."""


@dataclasses.dataclass(frozen=True)
class OneBag:
    """A single bag, padded to a fixed number of rows; ``real`` (instances,) marks its instances."""

    real: jax.Array

    def _only_real(self, values: jax.Array, instead: float) -> jax.Array:
        return namespace(values).where(self.real.reshape((-1,) + (1,) * (values.ndim - 1)), values, instead)

    def sum(self, values: jax.Array) -> jax.Array:
        return self._only_real(values, 0.0).sum(axis=0, keepdims=True)

    def max(self, values: jax.Array) -> jax.Array:
        real = self._only_real(engine_of(values).stop_gradient(values), -np.inf)
        return namespace(values).max(real, axis=0, keepdims=True)

    def spread(self, values: jax.Array) -> jax.Array:
        return values

    def sizes(self) -> jax.Array:
        return namespace(self.real).where(self.real, 1.0, 0.0).sum(axis=0, keepdims=True)

    def owners(self) -> jax.Array:
        return namespace(self.real).where(self.real, 0, 1)  # padding rows come last


@dataclasses.dataclass(frozen=True)
class Each:
    """Every instance is its own bag."""

    n_bags: int = dataclasses.field(metadata={"static": True})

    def sum(self, values: jax.Array) -> jax.Array:
        return values

    def max(self, values: jax.Array) -> jax.Array:
        found: jax.Array = engine_of(values).stop_gradient(values)
        return found

    def spread(self, values: jax.Array) -> jax.Array:
        return values

    def sizes(self) -> Any:
        return np.ones(self.n_bags)

    def owners(self) -> Any:
        return np.arange(self.n_bags)


def log_sum_exp(values: jax.Array, grouping: Grouping) -> jax.Array:
    """Return ``log(sum(exp(values)))`` of each bag; -inf where every term is -inf or the bag is empty."""
    xp = namespace(values)
    top = grouping.max(values)
    top = xp.where(xp.isfinite(top), top, 0.0)
    total = grouping.sum(xp.exp(values - grouping.spread(top)))
    none = total == 0  # the gradient of log 0 would be NaN; lets NaN values through
    return xp.where(none, -xp.inf, top + xp.log(xp.where(none, 1.0, total)))


def greatest_in_order(values: jax.Array, grouping: Grouping, place: int) -> jax.Array:
    """Return the value at a place of each bag (1 is the greatest), without a gradient; -inf if the bag has fewer.

    A NaN anywhere in a bag gives NaN.
    """
    xp = namespace(values)
    values = engine_of(values).stop_gradient(values)
    if isinstance(grouping, Each):
        return values if place == 1 else xp.where(xp.isnan(values), values, -xp.inf)
    sizes = xp.asarray(grouping.sizes(), dtype=np.int32)
    # Sorted by bag, then by value: the instances of a bag stay together, its greatest value comes last.
    owners = xp.broadcast_to(grouping.owners()[:, None], values.shape)
    ordered = engine_of(values).sorted_within(owners, values)
    ends = xp.cumsum(sizes, axis=0)
    found = ordered[xp.maximum(ends - place, 0)]
    broken = grouping.sum(xp.asarray(xp.isnan(values), dtype=values.dtype)) > 0
    return xp.where(broken, xp.nan, xp.where((sizes >= place)[:, None], found, -xp.inf))


# ---------------------------------------------------------------------- packing
# For compiled code, bags are padded to one of a few sizes, with missing values marked.

Array = npt.NDArray[Any]


def padded_size(n: int) -> int:
    """Round up to one of a few sizes, so that similar data share one compiled program.

    There are two sizes per power of two up to 65,536, and eight above, where padding costs more than compiling.
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
