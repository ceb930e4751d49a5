"""Windows of a stream, each prepared while the one before is trained on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import prefetch
from fuzzymil.bags import Bags, BagStream
from fuzzymil.inference.segments import padded_size
from fuzzymil.learn.train._loop import mean_one
from fuzzymil.learn.train._step import Data, bucket_sizes
from fuzzymil.learn.train.stream import StreamSummary

__all__ = ["Feed"]

WINDOW_VALUES = 1 << 22
"""Largest number of values in a window; parts of a stream are not divided, though."""


class Feed:
    """The bags of a stream, in windows.

    A window holds several parts, chosen at random, and mini-batches take their bags from all over it. All windows have
    the same shape.

    Parameters
    ----------
    stream : BagStream
    summary : StreamSummary
    transform : callable
        Transforms instances to the axes of the rules.
    fill : array of shape (n_features,)
        In place of missing values, on those axes.
    targets : array of shape (n_bags, n_outputs)
    weights : array of shape (n_fits, n_bags)
        0 leaves a bag out of that fit's training.
    held_out : array of shape (n_fits, n_bags), optional
        Weights of the validation bags.
    dtype : dtype
        Single or double precision.
    """

    def __init__(
        self,
        *,
        stream: BagStream,
        summary: StreamSummary,
        transform: Callable[[Array], Array],
        fill: Array,
        targets: Array,
        weights: Array,
        held_out: Array | None,
        dtype: Any,
    ) -> None:
        self.dtype = dtype
        self._stream, self._summary, self._transform, self._fill = stream, summary, transform, fill
        self._n_training = (weights > 0).sum(axis=1)  # (m,)
        self._targets = targets
        self._weights = mean_one(weights)
        self._held_out = np.zeros_like(self._weights) if held_out is None else held_out
        largest = np.cumsum(np.sort(summary.part_rows)[::-1]) * len(fill)
        several = max(int(np.searchsorted(largest, WINDOW_VALUES, side="right")), 1)
        rows = int(np.sort(summary.part_rows)[-several:].sum())
        bags = int(np.sort(summary.part_bags)[-several:].sum())
        self.n_windows = -(-len(summary.part_rows) // several)
        self._parts_per_window, self._n_rows, self._n_bags = several, padded_size(rows), padded_size(bags + 1)
        self._resident: list[Data] = []  # the only window, if there is one

    @property
    def identity(self) -> tuple[str, tuple[Array, ...]]:
        """Text and arrays that identify these bags, their labels and weights."""
        return self._summary.digest, (self._targets, self._weights, self._held_out)

    def bucket_sizes(self, batch_size: int) -> tuple[int, ...]:
        """Return the sizes that mini-batches are padded to."""
        return bucket_sizes(np.array([min(self._summary.greatest_bag * batch_size, self._n_rows)]), 1)

    def windows(self, seed: Sequence[int] | None, begin: int = 0) -> Iterator[Data]:
        """Yield the windows of an epoch, starting with number ``begin``.

        Parameters
        ----------
        seed : sequence of int, or None
            Seed of the random order of the parts; None keeps their order in the stream.
        begin : int
        """
        n_parts = len(self._summary.part_rows)
        if self.n_windows == 1:
            if not self._resident:
                self._resident.append(self._data(self._window(np.arange(n_parts))))
            if begin == 0:
                yield self._resident[0]
            return
        order = np.arange(n_parts)
        if seed is not None:
            order = np.random.default_rng(seed).permutation(order)
        edges = self._parts_per_window * np.arange(self.n_windows + 1)
        chosen = [order[start:end] for start, end in itertools.pairwise(edges)]
        for window in prefetch(self._window, chosen[begin:]):
            yield self._data(window)

    def _window(self, parts: Array) -> dict[str, Array | None]:
        """Join parts in padded arrays; padding rows belong to a padding bag."""
        ends = np.cumsum(self._summary.part_bags)
        x = np.zeros((self._n_rows, len(self._fill)), self.dtype)
        known = np.ones_like(x) if self._summary.any_missing else None
        index = np.zeros(self._n_rows, np.int32)
        offsets = np.zeros(self._n_bags + 1, np.int32)
        own = np.zeros(self._n_bags, np.int32)
        n_rows = n_bags = 0
        for part in parts:
            bags = self._checked(self._stream.part(int(part)), int(part))
            rows, places = slice(n_rows, n_rows + bags.n_instances), slice(n_bags, n_bags + bags.n_bags)
            values = self._transform(bags.instances)
            if known is not None:
                missing = np.isnan(values)
                known[rows] = ~missing
                values = np.where(missing, self._fill, values)
            x[rows] = values
            index[rows] = n_bags + bags.bag_index
            offsets[places] = n_rows + bags.offsets[:-1]
            own[places] = ends[part] - bags.n_bags + np.arange(bags.n_bags)
            n_rows, n_bags = rows.stop, places.stop
        index[n_rows:] = n_bags
        offsets[n_bags:] = n_rows
        real = np.arange(self._n_bags) < n_bags
        return {
            "x": x,
            "known": known,
            "bag_index": index,
            "offsets": offsets,
            "targets": np.where(real[:, None], self._targets[own], 0.0).astype(self.dtype),
            "weights": np.where(real, self._weights[:, own], 0.0).astype(self.dtype),
            "held_out": np.where(real, self._held_out[:, own], 0.0).astype(self.dtype),
            "numbers": own,
        }

    def _checked(self, bags: Bags, part: int) -> Bags:
        before = int(self._summary.part_bags[part]), int(self._summary.part_rows[part])
        if (bags.n_bags, bags.n_instances) != before:
            raise RuntimeError(
                f"Part {part} of the stream changed: it had {before[0]} bags with {before[1]} rows, and now has "
                f"{bags.n_bags} bags with {bags.n_instances} rows. load must return the same bags each time."
            )
        return bags

    def _data(self, window: dict[str, Array | None]) -> Data:
        arrays: dict[str, Any] = {
            name: None if values is None else jnp.asarray(values) for name, values in window.items()
        }
        return Data(**arrays, n_training=jnp.asarray(self._n_training, self.dtype))
