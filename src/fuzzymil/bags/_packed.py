"""The packed form of bags: their arrays, sizes and positions, and how bags are selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays, memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, described, did_you_mean
from fuzzymil.bags import _validation
from fuzzymil.bags._source import Source
from fuzzymil.bags.columns import Columns

NO_TABLE = (
    "This needs a table with one row per sample, which bags of several instances are not: wrap it in PerInstance if it "
    "is a transformer of rows, in NaiveMIL if it is a classifier or regressor of rows, and use n_estimators=... "
    "instead of bagging."
)

_AT_ONCE = 1 << 23  # numbers of sparse instances that are made dense at once


class _OneAxis(tuple[int]):
    """A shape with one axis, which explains itself to those who look for a second."""

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int) and place >= len(self):
            raise IndexError(NO_TABLE)
        return super().__getitem__(place)

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


class Packed:
    """All instances in one array, and offsets that mark where each bag begins; see `Bags`, which adds conversions."""

    def __init__(
        self,
        instances: npt.ArrayLike,
        offsets: npt.ArrayLike,
        *,
        ids: npt.ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
        labels: npt.ArrayLike | None = None,
        instance_labels: npt.ArrayLike | None = None,
        columns: Columns | None = None,
        source: Source | None = None,
    ) -> None:
        self.sparse: Any = arrays.sparse_rows(instances) if arrays.is_sparse(instances) else None
        self._dense = arrays.frozen(arrays.matrix(instances)) if self.sparse is None else None
        n_instances, n_features = self._stored.shape
        self.offsets = arrays.frozen(_validation.check_offsets(offsets, n_instances))
        n_bags = len(self.offsets) - 1
        self.ids = arrays.frozen(np.arange(n_bags) if ids is None else _validation.identifiers(ids, n_bags, "bags"))
        if (self.sizes < 1).any():
            raise InputError(_validation.EMPTY_BAG.format(self.ids[np.argmin(self.sizes)]))
        if n_features == 0:  # worded as scikit-learn's checks expect
            shape = self._stored.shape
            raise InputError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if feature_names is None and columns is not None:
            feature_names = columns.names
        self.feature_names = _validation.check_names(feature_names, n_features)
        self.columns = None if columns is None else _validation.check_columns(columns, self.feature_names)
        self.source = None if source is None else _validation.check_source(source, n_instances)
        self.labels = _validation.frozen_column(labels, n_bags, "labels", "bags")
        self.instance_labels = _validation.frozen_column(instance_labels, n_instances, "instance labels", "instances")
        self._refuse(np.isinf, "is infinite: replace it with a number, or with NaN if unknown.")

    # ------------------------------------------------------------------ properties

    @property
    def _stored(self) -> Any:
        return self._dense if self.sparse is None else self.sparse

    @property
    def instances(self) -> Array:
        """All instances, bag after bag, shape (n_instances, n_features).

        Sparse ones (``bags.sparse`` is not None) become a dense array here, if it fits in memory, and stay so.
        """
        if self._dense is None:
            lack = memory.shortage(8.0 * self.n_instances * self.n_features)
            if lack is not None:
                raise InputError(
                    f"Here, sparse instances must become a dense array: {lack}. Use fewer features, for example those "
                    "of PerInstance(TruncatedSVD(100)), or MI-ANFIS with rules that are chosen, which need not."
                )
            self._dense = arrays.frozen(self.sparse.toarray())
        return self._dense

    @property
    def is_large_sparse(self) -> bool:
        """Whether instances are sparse, and too many to make them all dense without need."""
        return self._dense is None and self.n_instances * self.n_features > _AT_ONCE

    def dense_parts(self) -> Iterator[Self]:
        """Yield the bags in runs, each with a dense array of moderate size; all at once if they are not sparse."""
        if not self.is_large_sparse:
            yield self
            return
        rows = max(_AT_ONCE // self.n_features, 1)
        first = 0
        while first < self.n_bags:
            last = int(np.searchsorted(self.offsets, self.offsets[first] + rows, side="right")) - 1
            last = max(last, first + 1)
            yield self[first:last]
            first = last

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1

    @property
    def n_instances(self) -> int:
        """Total number of instances."""
        return int(self._stored.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self._stored.shape[1])

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``, so that scikit-learn's splitters accept bags."""
        return _OneAxis((self.n_bags,))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of instances in each bag, shape (n_bags,)."""
        return np.diff(self.offsets)

    @property
    def bag_index(self) -> npt.NDArray[np.int64]:
        """Position of each instance's bag, shape (n_instances,)."""
        return np.repeat(np.arange(self.n_bags), self.sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names, or ``x1, x2, ...`` by default."""
        return self.feature_names or tuple(f"x{d + 1}" for d in range(self.n_features))

    def __len__(self) -> int:
        return self.n_bags

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the instances if every bag has one; otherwise raise: bags are no table."""
        del copy
        if self.n_bags == self.n_instances:
            return np.array(self.instances, dtype)
        raise InputTypeError(NO_TABLE)

    def __iter__(self) -> Iterator[Array]:
        return (self._rows(start, end) for start, end in pairwise(self.offsets.tolist()))

    def _rows(self, start: int, end: int) -> Array:
        return self._dense[start:end] if self._dense is not None else np.asarray(self.sparse[start:end].toarray())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays are writeable.
        self.__dict__.update({key: arrays.frozen(x) if isinstance(x, np.ndarray) else x for key, x in state.items()})

    def __repr__(self) -> str:
        sizes = self.sizes
        low, high = int(sizes.min()), int(sizes.max())
        span = f"{_count(low, 'instance')} per bag" if low == high else f"{low}-{high} instances per bag"
        return (
            f"Bags({_count(self.n_bags, 'bag')}, {_count(self.n_instances, 'instance')}, "
            f"{_count(self.n_features, 'feature')}, {span})"
        )

    @overload
    def __getitem__(self, key: int) -> Array: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Array | tuple[Any, ...]) -> Self: ...
    def __getitem__(self, key: Any) -> Array | Self:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes whatever has a shape as X[key, ...]
            key = list(key) if isinstance(key, tuple) else key
        try:
            if isinstance(key, int | np.integer) and not isinstance(key, bool):
                b = range(self.n_bags)[key]
                return self._rows(self.offsets[b], self.offsets[b + 1])
            chosen = np.arange(self.n_bags)[key]
        except (IndexError, TypeError, ValueError) as problem:
            raise IndexError(f"There are {self.n_bags} bags; invalid index {described(key)}: {problem}") from None
        if chosen.ndim == 0:
            return self[int(chosen)]
        if chosen.ndim > 1:
            raise IndexError(f"Bags have one axis: index them with a list of positions, not {described(key)}.")
        if not len(chosen):
            raise InputError(f"The selection is empty: select at least one of the {self.n_bags} bags.")
        return self._take(chosen)

    def _take(self, chosen: npt.NDArray[np.int64]) -> Self:
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        if self.sparse is None:
            stored = self._stored.take(rows, axis=0)  # many times faster than an index
            stored.flags.writeable = False
        else:
            stored = self._stored[rows]
        return type(self)(
            stored,
            offsets,
            ids=self.ids[chosen],
            feature_names=self.feature_names,
            labels=None if self.labels is None else self.labels[chosen],
            instance_labels=None if self.instance_labels is None else self.instance_labels[rows],
            columns=self.columns,
            source=None if self.source is None else self.source.take(rows),
        )

    def per_bag(self, name: str) -> Array:
        """Return the value of a column that is no feature (``source.extra``), shape (n_bags,), if bags have one each.

        Examples
        --------
        >>> import pandas as pd
        >>> from fuzzymil import Bags
        >>> table = pd.DataFrame({"visit": [1, 1, 2], "person": ["Ann", "Ann", "Bob"], "pages": [3.0, 4.0, 5.0]})
        >>> Bags.from_frame(table, bag="visit", keep=["person"]).per_bag("person").tolist()
        ['Ann', 'Bob']
        """
        extra = {} if self.source is None else self.source.extra
        if name not in extra:
            raise InputError(
                f"The bags have no column {name!r} beside their features: read them with keep=[{name!r}]."
                f"{did_you_mean(name, extra)}"
            )
        values = extra[name]
        absent = arrays.missing(values)
        if absent.any():
            bag = int(self.bag_index[np.argmax(absent)])
            raise InputError(f"Column {name!r} has no value in bag {self.ids[bag]!s}: fill it in, or drop the bag.")
        return _validation.constant_within(values, self.offsets, self.ids, name)

    def require_complete(self, advice: str) -> None:
        """Raise `InputError`, with ``advice``, if a value is missing."""
        self._refuse(np.isnan, f"is missing (NaN). {advice}")

    def _refuse(self, is_bad: Callable[[Array], Any], why: str) -> None:
        """Raise `InputError` if a value is bad."""
        stored = self._stored
        bad = is_bad(stored if self.sparse is None else stored.data)
        if not bad.any():
            return
        if self.sparse is None:
            row, feature = np.argwhere(bad)[0]
        else:
            place = int(np.argmax(bad))
            row, feature = int(np.searchsorted(stored.indptr, place, side="right")) - 1, stored.indices[place]
        raise InputError(f"{self._where(int(row), int(feature))} {why}")

    def _where(self, row: int, feature: int) -> str:
        bag = int(np.searchsorted(self.offsets, row, side="right")) - 1
        place = "" if self.source is None else f" ({self.source.place} {self.source.rows[row]})"
        inside = f"row {row - self.offsets[bag]} of the bag{place}"
        return f"Feature {self.names[feature]!r} of bag {self.ids[bag]!s}, {inside},"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
