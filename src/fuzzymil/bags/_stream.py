"""`BagStream`: bags that are loaded part by part and need not fit in memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, InputTypeError, MissingExtraError, ParameterError, described
from fuzzymil._utils.runtime import prefetch
from fuzzymil.bags._bags import Bags, as_bags


class BagStream:
    """Bags in parts, only a few of which are in memory at a time.

    The estimators that learn rules accept a stream wherever they accept `Bags`: in fit, predict and score. Elsewhere,
    pass its parts one at a time: ``for bags in stream``. `fuzzymil.datasets.stream_bags` streams Parquet files.

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

    @classmethod
    def from_dask(
        cls, frame: Any, bag: Hashable, label: Hashable | None = None, *, drop: Sequence[Hashable] = ()
    ) -> BagStream:
        """Stream the bags of a Dask data frame with one row per instance; a part is a partition.

        ``RuleClassifier.fit`` reads the partitions on the workers of the cluster, and ``predict`` is lazy: it returns a
        Dask array. All rows of a bag must be in the same partition, in any order, as ``frame.shuffle(on=bag)`` puts
        them. Requires Dask: ``pip install "fuzzymil[dask]"``.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
        bag, label, drop
            As in `Bags.from_frame`.

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> import pandas as pd
        >>> table = pd.DataFrame({"bag": [1, 1, 2, 3], "label": [0, 0, 1, 0], "width": [2.0, 1.0, 7.0, 3.0]})
        >>> stream = BagStream.from_dask(dd.from_pandas(table, npartitions=1).shuffle("bag"), bag="bag", label="label")
        >>> stream.part(0)
        Bags(3 bags, 4 instances, 1 feature, 1-2 instances per bag)
        """
        return PartitionedBags(frame, bag, label, drop)

    def each(self, function: Callable[[Bags], Any]) -> Any:
        """Return the arrays that a function makes of the parts as one; of a Dask data frame, a lazy one."""
        return np.concatenate([function(part) for part in self])

    def map(
        self, function: Callable[..., Any], client: Any = None, arguments: Sequence[tuple[Any, ...]] = ()
    ) -> Iterator[Any]:
        """Yield what a function returns for each part, in order.

        ``client``: of a Dask cluster, whose workers load the parts and call the function. ``arguments``: further ones,
        for each part.
        """
        if client is not None:
            return map_parts(self, function, client, arguments)
        return (function(part, *own) for part, own in zip(self, arguments or [()] * len(self), strict=True))

    def tasks(self) -> list[Any]:
        """Return the loading of each part as a Dask task."""
        return tasks_of(self)

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


# ---------------------------------------------------------------------- on a Dask cluster


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
