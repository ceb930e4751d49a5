"""`BagStream`: bags that are loaded part by part and need not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError, described
from fuzzymil._utils.runtime import prefetch
from fuzzymil.bags._bags import Bags, as_bags


class BagStream:
    """Bags in parts, only a few of which are in memory at a time.

    MI-ANFIS and ANFIS accept a stream wherever they accept `Bags`: in fit, predict and score. Elsewhere, pass its
    parts one at a time: ``for bags in stream``. `fuzzymil.datasets.stream_bags` streams a Parquet file.

    Parameters
    ----------
    load : callable
        ``load(number)`` returns the labeled bags of a part, always the same ones for the same number. It is called
        from a background thread, so that loading overlaps with training.
    n_parts : int
        Number of parts. A few tens of megabytes per part work well.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier, Training
    >>> from fuzzymil.datasets import make_two_concepts
    >>> stream = BagStream(lambda part: make_two_concepts(random_state=part), 4)
    >>> model = MIANFISClassifier(6, training=Training(batch_size=10, max_epochs=3), random_state=0).fit(stream)
    >>> model.predict(stream).shape
    (600,)
    """

    def __init__(self, load: Callable[[int], Any], n_parts: int) -> None:
        if not callable(load):
            raise ParameterError(f"load must be a function that returns the bags of a part, got {described(load)}.")
        _check_parts(n_parts)
        self._load = load
        self._numbers = range(int(n_parts))

    @classmethod
    def from_bags(cls, bags: Any, n_parts: int = 1) -> BagStream:
        """Split bags that are in memory into parts with about the same number of bags.

        Examples
        --------
        >>> BagStream.from_bags([[[1.0]], [[2.0]], [[3.0]]], n_parts=2)
        BagStream(2 parts)
        """
        whole = as_bags(bags)
        _check_parts(n_parts)
        edges = np.linspace(0, whole.n_bags, min(n_parts, whole.n_bags) + 1).astype(int)
        return cls(lambda part: whole[edges[part] : edges[part + 1]], len(edges) - 1)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, key: slice) -> BagStream:
        """Return a stream of some of the parts."""
        if not isinstance(key, slice) or not len(self._numbers[key]):
            raise InputError(f"A stream of {len(self)} parts is indexed with a slice such as [0:2], got {key!r}.")
        some = BagStream(self._load, 1)
        some._numbers = self._numbers[key]
        return some

    def part(self, place: int) -> Bags:
        """Load one part."""
        number = self._numbers[place]
        bags = self._load(number)
        if not isinstance(bags, Bags):
            raise InputTypeError(f"Part {number} of the stream is {described(bags)}: load must return Bags.")
        return bags

    def __iter__(self) -> Iterator[Bags]:
        return prefetch(self.part, range(len(self)))

    def __repr__(self) -> str:
        return f"BagStream({len(self):,} part{'' if len(self) == 1 else 's'})"


def _check_parts(n_parts: object) -> None:
    if not isinstance(n_parts, int | np.integer) or isinstance(n_parts, bool) or n_parts < 1:
        raise ParameterError(f"n_parts must be an integer of at least 1, got {n_parts!r}.")
