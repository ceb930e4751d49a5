"""Packed bags inside compiled code: segment reductions."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp

from fuzzymil.inference.segments import Each, Grouping, OneBag

__all__ = ["Packed", "grouping_of"]

for _kind, _static in ((OneBag, []), (Each, ["n_bags"])):  # they pass into and out of compiled functions
    _names = [field.name for field in dataclasses.fields(_kind) if field.name not in _static]
    jax.tree_util.register_dataclass(_kind, data_fields=_names, meta_fields=_static)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Packed:
    """Bags packed one after another; ``bag_index`` (instances,) is sorted.

    Padding rows belong to an extra bag, which is dropped from all results later. Bags may be empty.
    """

    bag_index: jax.Array
    n_bags: int = dataclasses.field(metadata={"static": True})
    offsets: jax.Array | None = None  # (bags + 1,); goes with ``longest``
    longest: int = dataclasses.field(default=0, metadata={"static": True})  # size of the largest bag; 0 if unknown

    def sum(self, values: jax.Array) -> jax.Array:
        if self.offsets is not None:
            return _sum_of_bags(self.longest, self.offsets, self.bag_index, values)
        return jax.ops.segment_sum(values, self.bag_index, self.n_bags, indices_are_sorted=True)

    def max(self, values: jax.Array) -> jax.Array:
        values = jax.lax.stop_gradient(values)
        if self.offsets is not None:
            return _by_bag(self.longest, self.offsets, values, -jnp.inf).max(axis=1)
        return jax.ops.segment_max(values, self.bag_index, self.n_bags, indices_are_sorted=True)

    def spread(self, values: jax.Array) -> jax.Array:
        return values[self.bag_index]

    def sizes(self) -> jax.Array:
        return self.sum(jnp.ones(self.bag_index.shape))

    def owners(self) -> jax.Array:
        return self.bag_index


def _by_bag(longest: int, offsets: jax.Array, values: jax.Array, instead: float) -> jax.Array:
    """Return the values (bags, longest, ...) of each bag's instances, padded with ``instead``."""
    place = offsets[:-1, None] + jnp.arange(longest, dtype=offsets.dtype)
    real = place < offsets[1:, None]
    found = values[jnp.minimum(place, len(values) - 1)]
    return jnp.where(real.reshape(real.shape + (1,) * (values.ndim - 1)), found, instead)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sum_of_bags(longest: int, offsets: jax.Array, bag_index: jax.Array, values: jax.Array) -> jax.Array:
    del bag_index
    return _by_bag(longest, offsets, values, 0.0).sum(axis=1)


def _sum_forward(
    longest: int, offsets: jax.Array, bag_index: jax.Array, values: jax.Array
) -> tuple[jax.Array, jax.Array]:
    return _sum_of_bags(longest, offsets, bag_index, values), bag_index


def _sum_backward(longest: int, bag_index: jax.Array, g: jax.Array) -> tuple[None, None, jax.Array]:
    del longest
    return None, None, g[bag_index]  # the gradient of a gather would be a scatter


_sum_of_bags.defvjp(_sum_forward, _sum_backward)


def grouping_of(
    bag_index: jax.Array | None, n_rows: int, n_bags: int, offsets: jax.Array | None = None, longest: int = 0
) -> Grouping:
    """Return the grouping of `PackedBags` inside compiled code; ``longest`` comes from `even_size`."""
    if bag_index is None:
        return Each(n_rows)
    return Packed(bag_index, n_bags, offsets, longest) if longest else Packed(bag_index, n_bags)
