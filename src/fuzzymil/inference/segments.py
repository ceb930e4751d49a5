"""Which instances belong to which bag: reductions over the instances of each bag.

The layers use only the operations of `Grouping`. `OneBag` is a single bag (on-line learning), `Each` is for
one-instance bags (plain ANFIS), where there is nothing to reduce. Groupings of packed bags belong to an engine:
`fuzzymil.inference.engines.numpy.Runs` and `fuzzymil.inference.engines.jax.Packed`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.engines import engine_of

if TYPE_CHECKING:
    import jax

__all__ = ["Each", "Grouping", "OneBag", "greatest_in_order", "log_sum_exp"]


class Grouping(Protocol):
    """Reductions over the instances of each bag; arrays are (instances, ...) in, (bags, ...) out."""

    def sum(self, values: jax.Array) -> jax.Array:
        """Return the sum over the instances of each bag; 0 for an empty bag."""
        ...

    def max(self, values: jax.Array) -> jax.Array:
        """Return the greatest value of each bag, without a gradient; -inf for an empty bag."""
        ...

    def spread(self, values: jax.Array) -> jax.Array:
        """Return the value of its bag for every instance."""
        ...

    def sizes(self) -> jax.Array:
        """Return the number of instances in each bag, shape (bags,)."""
        ...

    def owners(self) -> jax.Array:
        """Return the number of each instance's bag, in ascending order, shape (instances,)."""
        ...


@dataclasses.dataclass(frozen=True)
class OneBag:
    """A single bag, padded to a fixed number of rows; ``real`` (instances,) marks its instances."""

    real: jax.Array

    def _only_real(self, values: jax.Array, instead: float) -> jax.Array:
        return namespace(values).where(self.real.reshape((-1,) + (1,) * (values.ndim - 1)), values, instead)

    def sum(self, values: jax.Array) -> jax.Array:
        return self._only_real(values, 0.0).sum(axis=0, keepdims=True)

    def max(self, values: jax.Array) -> jax.Array:
        real = self._only_real(engine_of(values).held(values), -np.inf)
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
        found: jax.Array = engine_of(values).held(values)
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

    Examples
    --------
    >>> from fuzzymil.inference.engines.numpy import Runs
    >>> values = np.array([[3.0], [5.0], [4.0], [7.0]])
    >>> greatest_in_order(values, Runs(np.array([0, 3, 4])), 2).tolist()
    [[4.0], [-inf]]
    """
    xp = namespace(values)
    values = engine_of(values).held(values)
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
