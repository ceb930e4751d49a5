"""Bags on their way to the devices: windows of a stream, of equal shapes, made while the one before is trained on."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.prefetch import prefetch
from fuzzymil.bags import Bags, BagStream
from fuzzymil.network.segments import padded_size
from fuzzymil.training.distributed.processes import Crew
from fuzzymil.training.step import Data, ladder

__all__ = ["Feed"]

WINDOW_VALUES = 1 << 22
"""Values that a window holds at most; but the parts of a stream are not divided."""


@dataclasses.dataclass(frozen=True)
class Feed:
    """The share of the bags that this process has, in windows.

    A window holds several parts, chosen at random, and steps of few bags take them from all over it. All processes
    have equally many windows of equal shapes; who has fewer bags has empty ones.
    """

    stream: BagStream
    crew: Crew
    transform: Callable[[Array], Array]  # of instances, to the axes of the rules
    fill: Array  # (d,), in place of missing values
    targets: Array  # (n_bags, k) of this process
    weights: Array  # (m, n_bags), mean 1 over all training bags of all processes
    held_out: Array  # (m, n_bags)
    n_training: Array  # (m,) training bags of all processes
    first: int  # number of this process's first bag among all
    part_bags: Array  # (n_parts,)
    part_rows: Array  # (n_parts,)
    greatest_bag: int  # instances of the greatest bag of all
    any_missing: bool
    dtype: Any
    digest: str  # of all bags of all processes
    n_windows: int = dataclasses.field(init=False)
    _parts_a_window: int = dataclasses.field(init=False)
    _n_rows: int = dataclasses.field(init=False)
    _n_bags: int = dataclasses.field(init=False)
    _resident: list[Data] = dataclasses.field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        n_parts = len(self.part_rows)
        greatest = np.cumsum(np.sort(self.part_rows)[::-1]) * len(self.fill)
        several = max(int(np.searchsorted(greatest, WINDOW_VALUES, side="right")), 1)
        n_windows = -(-n_parts // several)
        rows, bags, most = self.crew.greatest(
            int(np.sort(self.part_rows)[-several:].sum()), int(np.sort(self.part_bags)[-several:].sum()), n_windows
        )
        made = {"n_windows": most, "_parts_a_window": several}
        made |= {"_n_rows": padded_size(rows), "_n_bags": padded_size(bags + 1)}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def rungs(self, batch_size: int | None) -> tuple[int, ...]:
        """Return the sizes to which steps of few bags are padded."""
        if batch_size is None:
            return ()
        return ladder(np.array([min(self.greatest_bag * batch_size, self._n_rows)]), 1)

    def windows(self, seed: Sequence[int] | None, begin: int = 0) -> Iterator[Data]:
        """Give the windows of an epoch from one of them on, on the devices.

        Parameters
        ----------
        seed : sequence of int, or None
            Parts come in a random order that follows from it; None: as they are in the stream.
        begin : int
        """
        if self.n_windows == 1:
            if not self._resident:
                self._resident.append(self._on_devices(self._window(np.arange(len(self.part_rows)))))
            if begin == 0:
                yield self._resident[0]
            return
        order = np.arange(len(self.part_rows))
        if seed is not None:
            order = np.random.default_rng(seed).permutation(order)
        edges = self._parts_a_window * np.arange(self.n_windows + 1)
        chosen = [order[start:end] for start, end in itertools.pairwise(edges)]
        for window in prefetch(self._window, chosen[begin:]):
            yield self._on_devices(window)

    def _window(self, parts: Array) -> dict[str, Array | None]:
        """Join parts; arrays are padded, and rows of padding belong to a bag of padding."""
        ends = np.cumsum(self.part_bags)
        x = np.zeros((self._n_rows, len(self.fill)), self.dtype)
        known = np.ones_like(x) if self.any_missing else None
        index = np.zeros(self._n_rows, np.int32)
        offsets = np.zeros(self._n_bags + 1, np.int32)
        own = np.zeros(self._n_bags, np.int32)
        n_rows = n_bags = 0
        for part in parts:
            bags = self._checked(self.stream.part(int(part)), int(part))
            rows, places = slice(n_rows, n_rows + bags.n_instances), slice(n_bags, n_bags + bags.n_bags)
            values = self.transform(bags.instances)
            if known is not None:
                missing = np.isnan(values)
                known[rows] = ~missing
                values = np.where(missing, self.fill, values)
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
            "targets": np.where(real[:, None], self.targets[own], 0.0).astype(self.dtype),
            "weights": np.where(real, self.weights[:, own], 0.0).astype(self.dtype),
            "held_out": np.where(real, self.held_out[:, own], 0.0).astype(self.dtype),
            "numbers": self.first + own,
        }

    def _checked(self, bags: Bags, part: int) -> Bags:
        if (bags.n_bags, bags.n_instances) != (self.part_bags[part], self.part_rows[part]):
            raise RuntimeError(
                f"Part {part} of the stream had {self.part_bags[part]} bags of {self.part_rows[part]} rows before, "
                f"{bags.n_bags} of {bags.n_instances} now: load has to give the same bags whenever it is asked."
            )
        return bags

    def _on_devices(self, window: dict[str, Array | None]) -> Data:
        spread = {name: None if values is None else self.crew.on_devices(values) for name, values in window.items()}
        return Data(**spread, n_training=jnp.asarray(self.n_training, self.dtype))  # type: ignore[arg-type]
