"""Bags that need not fit in memory: parts that are loaded when they are needed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError, described
from fuzzymil.bags._bags import Bags, as_bags

__all__ = ["BagStream", "ahead"]

Given = TypeVar("Given")
Made = TypeVar("Made")


class BagStream:
    """Bags in parts, of which only a few are in memory at a time.

    MI-ANFIS and ANFIS are fitted to a stream, predict from one and score on one as on `Bags`. Elsewhere give its parts,
    one after another: ``for bags in stream``.

    Parameters
    ----------
    load : callable
        Gives the bags, with their labels, of the part of a number: the same ones whenever it is asked. It is called
        from another thread, so that loading goes on while the network trains.
    n_parts : int
        Some tens of megabytes a part are a good size.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> stream = BagStream(lambda part: make_two_concepts(random_state=part), 4)
    >>> model = MIANFISClassifier(6, batch_size=10, max_epochs=3, random_state=0).fit(stream)
    >>> model.predict(stream).shape
    (600,)
    """

    def __init__(self, load: Callable[[int], Any], n_parts: int) -> None:
        if not callable(load):
            raise ParameterError(f"load must be a function that gives the bags of a part, got {described(load)}.")
        _check_parts(n_parts)
        self._load = load
        self._numbers = range(int(n_parts))

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        *,
        bag: str | None = None,
        label: str | None = None,
        drop: Sequence[str] = (),
    ) -> BagStream:
        """Read parts of a Parquet file, or of all in a folder: one row an instance, the rows of a bag together.

        Needs pyarrow: ``pip install "fuzzymil[parquet]"``. The column of bags is read through once, to find where bags
        begin.

        Parameters
        ----------
        path : path
        bag, label : str, optional
            Columns that name the bag and give its label. Default: as in `fuzzymil.datasets.read_bags`.
        drop : sequence of str
            Columns that are no features.
        """
        from fuzzymil.datasets.formats import parquet

        table = parquet.ParquetBags(path, bag=bag, label=label, drop=drop)
        return cls(table.part, table.n_parts)

    @classmethod
    def from_bags(cls, bags: Any, n_parts: int = 1) -> BagStream:
        """Cut bags that are in memory into parts of about equal numbers of bags."""
        whole = as_bags(bags)
        _check_parts(n_parts)
        edges = np.linspace(0, whole.n_bags, min(n_parts, whole.n_bags) + 1).astype(int)
        return cls(lambda part: whole[edges[part] : edges[part + 1]], len(edges) - 1)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write all parts to one Parquet file, whole or not at all, with a part or two in memory.

        Needs pyarrow: ``pip install "fuzzymil[parquet]"``. The columns are ``bag``, ``label`` (and
        ``instance_label``) where the bags have them, and the features. Bags without names, which every part numbers
        from 0, get running numbers.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "bags.parquet"
        >>> stream = BagStream(lambda part: Bags.from_list([[[part]], [[part + 0.5]]], ["width"]), 4)
        >>> stream.to_parquet(path)
        >>> BagStream.from_parquet(path).part(0).ids
        array([0, 1, 2, 3, 4, 5, 6, 7])
        """
        from fuzzymil.datasets.formats import parquet

        parquet.write_parts(self, Path(path))

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, key: slice) -> BagStream:
        """Return a stream of some of the parts."""
        if not isinstance(key, slice) or not len(self._numbers[key]):
            raise InputError(f"A stream of {len(self)} parts gives runs of them, [0:2] say; got {key!r}.")
        some = BagStream(self._load, 1)
        some._numbers = self._numbers[key]
        return some

    def part(self, place: int) -> Bags:
        """Load a part."""
        number = self._numbers[place]
        bags = self._load(number)
        if not isinstance(bags, Bags):
            raise InputTypeError(f"Part {number} of the stream is {described(bags)}: load has to give Bags.")
        return bags

    def __iter__(self) -> Iterator[Bags]:
        return ahead(self.part, range(len(self)))

    def __repr__(self) -> str:
        return f"BagStream({len(self):,} part{'' if len(self) == 1 else 's'})"


def _check_parts(n_parts: object) -> None:
    if not isinstance(n_parts, int | np.integer) or isinstance(n_parts, bool) or n_parts < 1:
        raise ParameterError(f"n_parts must be a whole number of at least 1, got {n_parts!r}.")


def ahead(make: Callable[[Given], Made], items: Iterable[Given]) -> Iterator[Made]:
    """Give ``make(item)`` for each item, and make the next in another thread meanwhile.

    Examples
    --------
    >>> list(ahead(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    waiting = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="fuzzymil-ahead") as worker:
        coming = [worker.submit(make, item) for item in itertools.islice(waiting, 1)]
        while coming:
            ready = coming.pop().result()
            coming = [worker.submit(make, item) for item in itertools.islice(waiting, 1)]
            yield ready
            del ready  # before the next: two parts in memory are enough
