"""Bags on a Dask cluster: parts of streams as tasks, and streams of the partitions of a Dask data frame."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, MissingExtraError
from fuzzymil.bags._bags import Bags
from fuzzymil.bags._stream import BagStream


def current_client(client: Any = None) -> Any:
    """Return the given client of a Dask cluster, or the one in use; None if there is none, or inside of a task."""
    if client is not None or "distributed" not in sys.modules:
        return client
    distributed: Any = sys.modules["distributed"]
    with contextlib.suppress(ValueError):
        distributed.get_worker()
        return None  # a task that waits for tasks would block its worker
    with contextlib.suppress(ValueError):
        return distributed.Client.current()
    return None


def _delayed(function: Any, **settings: Any) -> Any:
    """Return a function, or a value, as it is in tasks."""
    try:
        import dask
    except ImportError:
        raise MissingExtraError('Dask is not installed: pip install "fuzzymil[dask]".') from None
    made: Any = getattr(dask, "delayed")  # noqa: B009  (not in its list of exported names)
    return made(function, pure=False, **settings)


def map_parts(
    stream: BagStream, function: Callable[..., Any], client: Any, arguments: Sequence[tuple[Any, ...]] = ()
) -> Iterator[Any]:
    """Yield what a function returns for each part, in order, computed by the workers of a cluster.

    ``arguments``: further ones, for each part. Tasks of a worker that dies are repeated by another.
    """
    call = _delayed(function)
    given = arguments or [()] * len(stream)
    futures = client.compute([call(part, *own) for part, own in zip(stream.tasks(), given, strict=True)])
    try:
        while futures:
            yield futures.pop(0).result()
    finally:
        client.cancel(futures)


def tasks_of(stream: BagStream) -> list[Any]:
    """Return the loading of each part as a Dask task."""
    whole, load = _delayed(stream, traverse=False), _delayed(_part_of)
    return [load(whole, place) for place in range(len(stream))]


def _part_of(stream: BagStream, place: int) -> Bags:
    return stream.part(place)


class PartitionedBags(BagStream):
    """The bags of a Dask data frame, a partition at a time."""

    def __init__(self, frame: Any, bag: Hashable, label: Hashable | None, drop: Sequence[Hashable]) -> None:
        if not hasattr(frame, "to_delayed") or not hasattr(frame, "npartitions"):
            raise InputError(
                f"Expected a Dask data frame, got an object of type {type(frame).__name__}: use dask.dataframe, or "
                "Bags.from_frame for a table in memory."
            )
        self._frame = frame
        self._roles = bag, label, tuple(drop)
        super().__init__(self._load_partition, frame.npartitions)

    def _load_partition(self, number: int) -> Bags:
        return _bags_of_partition(self._frame.partitions[number].compute(), *self._roles)

    def tasks(self) -> list[Any]:
        """Return the loading of each part as a Dask task."""
        found = self._frame.to_delayed()
        read = _delayed(_bags_of_partition)
        return [read(found[number], *self._roles) for number in self._numbers]

    def each(self, function: Callable[[Bags], Any]) -> Any:
        """Return the arrays that a function makes of the parts as one Dask array, which is computed when it is needed.

        The function is called once here, for one bag, to know the kind of its result.
        """
        from dask import array

        made: Any = array
        like, call = function(self.part(0)[:1]), _delayed(function)
        shape = np.nan, *like.shape[1:]
        return made.concatenate([made.from_delayed(call(part), shape, like.dtype) for part in self.tasks()])

    def __getitem__(self, key: slice) -> BagStream:
        some = PartitionedBags(self._frame, *self._roles)
        some._numbers = super().__getitem__(key)._numbers
        return some


def _bags_of_partition(frame: Any, bag: Hashable, label: Hashable | None, drop: Sequence[Hashable]) -> Bags:
    if not len(frame):
        raise InputError("A partition of the Dask data frame is empty: call frame.repartition(...) first.")
    return Bags.from_frame(frame, bag, label, drop=drop)


def require_whole_bags(ids: Sequence[Any]) -> None:
    """Raise if a bag is in several parts, given the ids of each."""
    everything = np.concatenate(ids)
    values, first, counts = np.unique(everything, return_index=True, return_counts=True)
    if len(values) == len(everything):
        return
    place = int(first[np.argmax(counts > 1)])
    name = everything[place]
    ends = np.cumsum([len(part) for part in ids])
    one, two = (int(np.searchsorted(ends, at, side="right")) for at in np.flatnonzero(everything == name)[:2])
    raise InputError(
        f"Bag {name!s:.60} is in partitions {one} and {two} of the Dask data frame: bring the rows of a bag together "
        "first, for example with frame.shuffle(on=...), where ... is the column of bag ids."
    )
