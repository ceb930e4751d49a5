"""`Bags`, the container for ragged data, and `as_bags`, which makes it of anything that can be read as bags.

A bag is a set of instances (feature vectors) with one label for the whole set. Bags are stored packed: one array of
all instances, and offsets that mark where each bag begins. Real bags vary widely in size (MUSK2 has bags of 1 and of
1044 instances), so a padded array would be mostly padding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays, html, memory
from fuzzymil._utils.arrays import Array, data_frame
from fuzzymil._utils.drawings import histogram, histogram_svg
from fuzzymil._utils.errors import (
    InputError,
    InputTypeError,
    UnusedColumnsWarning,
    described,
    did_you_mean,
    known_name,
    warn_user,
)
from fuzzymil._utils.text import quantity
from fuzzymil.bags import _input
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.bags.labels import UNLABELED, complete_rows, labeled_bags, labels_of_bags
from fuzzymil.bags.table import NO_OPTIONS, ColumnOptions, Source, Table, features_of, unused_in_words

NO_TABLE = (
    "This needs a table with one row per sample, but bags have several instances: wrap a transformer of rows in "
    "PerInstance, a classifier or regressor of rows in NaiveMIL, and use n_estimators=... instead of bagging. "
    "In place of permutation_importance, use model.importance(bags), and of partial dependence, model.effect."
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


class Bags:
    """Packed bags of instances.

    Usually created with `as_bags` or one of the ``from_...`` class methods; the constructor takes the packed form.

    Parameters
    ----------
    instances : array of shape (n_instances, n_features)
        All instances, bag after bag. ``NaN`` marks a missing value; infinities are rejected.
        Floating-point arrays are not copied; ``bags.instances`` is a read-only view. A sparse matrix of SciPy is kept
        as it is, in ``bags.sparse``, and made dense a part at a time, or where a method asks for ``bags.instances``.
    offsets : array of shape (n_bags + 1,)
        Bag ``b`` holds rows ``offsets[b]:offsets[b + 1]``. No bag is empty.
    ids : array of shape (n_bags,), optional
        Names of the bags, used in messages and explanations. Default: 0, 1, 2, ... Ids may repeat,
        because a bootstrap sample contains some bags more than once.
    feature_names : sequence of str, optional
    labels : array of shape (n_bags,), optional
        One label per bag, of any type.
    instance_labels : array of shape (n_instances,), optional
        Labels of single instances, where they are known (simulated data).
    columns : Columns, optional
        What the features mean: numbers, categories, dates. Their names are the feature names.
    source : Source, optional
        Where the instances come from: their rows in a file or table, and its columns that are not features.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> bags
    Bags(2 bags, 3 instances, 2 features, 1-2 instances per bag)
    >>> bags[0]
    array([[0., 1.],
           [2., 3.]])
    """

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
        self._dense = arrays.read_only(arrays.matrix(instances)) if self.sparse is None else None
        n_instances, n_features = self._stored.shape
        self.offsets = arrays.read_only(_input.check_offsets(offsets, n_instances))
        n_bags = len(self.offsets) - 1
        self.ids = arrays.read_only(np.arange(n_bags) if ids is None else _input.identifiers(ids, n_bags, "bags"))
        if (self.sizes < 1).any():
            raise InputError(_input.EMPTY_BAG.format(self.ids[np.argmin(self.sizes)]))
        if n_features == 0:  # worded as scikit-learn's checks expect
            shape = self._stored.shape
            raise InputError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if feature_names is None and columns is not None:
            feature_names = columns.names
        self.feature_names = _input.check_names(feature_names, n_features)
        if columns is not None and (not isinstance(columns, Columns) or columns.names != self.feature_names):
            found = columns.names if isinstance(columns, Columns) else described(columns)
            raise InputError(f"columns must describe the features {self.feature_names}, got {found}.")
        self.columns = columns
        if source is not None and (not isinstance(source, Source) or len(source.rows) != n_instances):
            got = f"{len(source.rows)} rows" if isinstance(source, Source) else described(source)
            raise InputError(f"source must describe the {n_instances} instances, got {got}.")
        self.source = source
        if arrays.column_names(labels) is not None:
            labels = labeled_bags(self.ids, *labels_of_bags(self.ids, labels)[:2], "error")[0]
        self.labels = _input.read_only_column(labels, n_bags, "labels", "bags")
        self.instance_labels = _input.read_only_column(instance_labels, n_instances, "instance labels", "instances")
        self._refuse(np.isinf, "is infinite: replace it with a number, or with NaN if unknown.")

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_list(
        cls,
        bags: Iterable[Any],
        *names: Any,
        feature_names: Iterable[str] | None = None,
        labels: Any = None,
        ids: npt.ArrayLike | None = None,
    ) -> Bags:
        """Create bags from a list with one 2-D array per bag.

        A bag may also be a nested list, a tensor, a data frame or a dictionary ``{"X": instances, "Y": label}``.
        ``labels`` has one label per bag, or is a data frame for `with_labels`. The names of the features may also come
        second, without ``feature_names=``; labels need ``labels=``.

        Examples
        --------
        >>> Bags.from_list([np.zeros((3, 2)), np.ones((1, 2))], ["width", "depth"]).feature_names
        ('width', 'depth')
        """
        if arrays.column_names(bags) is not None:
            raise InputError("Expected one 2-D array per bag, got a table: use Bags.from_frame(table, bag=...).")
        if names:
            words = names[0] is None or (isinstance(names[0], Iterable) and all(isinstance(w, str) for w in names[0]))
            if len(names) > 1 or feature_names is not None or not words:
                raise InputError("After the bags, only names of features may come without a name: write labels=y.")
            feature_names = names[0]
        items = _input.as_list(bags, "bags, one 2-D array each")
        if not items:
            raise InputError("There are no bags: the list is empty.")
        known = np.arange(len(items)) if ids is None else _input.identifiers(ids, len(items), "bags")
        if any(issubclass(kind, Mapping) for kind in set(map(type, items))):
            items, found = _input.from_dicts(items, known)
            labels = found if labels is None else labels
        parts = _input.bag_arrays(items, known)
        offsets = np.cumsum([0, *(part.shape[0] for part in parts)])
        if feature_names is None:
            feature_names = _input.shared_names(items, known)
        return cls(_input.stack(parts), offsets, ids=ids, feature_names=feature_names, labels=labels)

    @classmethod
    def from_long(
        cls,
        X: npt.ArrayLike,
        bag_ids: npt.ArrayLike,
        *,
        labels: Any = None,
        instance_labels: npt.ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
        columns: Columns | None = None,
        source: Source | None = None,
    ) -> Bags:
        """Create bags from an array with one row per instance and the bag id of each row, in any order.

        Bags are ordered by their first row. ``labels`` has one label per row, and labels must agree within a bag; or it
        is a data frame for `with_labels`.
        ``columns`` and ``source`` are those of `Bags`, with one entry per row.

        Examples
        --------
        >>> Bags.from_long([[1.0], [2.0], [3.0]], ["b", "a", "b"]).ids.tolist()
        ['b', 'a']
        """
        instances = arrays.sparse_rows(X) if arrays.is_sparse(X) else arrays.matrix(X)
        n_rows = instances.shape[0]
        where = (lambda row: f"row {row}") if source is None else source.where
        owners = _input.identifiers(bag_ids, n_rows, "rows", where)
        if not n_rows:
            raise InputError("There are no bags: the table has no rows.")
        bag_of_row = arrays.codes(owners)
        order = np.argsort(bag_of_row, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(bag_of_row))])
        ids = owners[order[offsets[:-1]]]
        if labels is not None and arrays.column_names(labels) is None:
            labels = _input.constant_within(_input.column(labels, n_rows, "labels", "rows"), bag_of_row, ids, where)
        if instance_labels is not None:
            instance_labels = _input.column(instance_labels, n_rows, "instance labels", "rows")[order]
        return cls(
            instances[order],
            offsets,
            ids=ids,
            feature_names=arrays.text_names(X) if feature_names is None else feature_names,
            labels=labels,
            instance_labels=instance_labels,
            columns=columns,
            source=None if source is None else source.take(order),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: Hashable,
        label: Hashable | None = None,
        features: Sequence[Hashable] | None = None,
        *,
        labels: Any = None,
        unlabeled: str | None = None,
        instance_label: Hashable | None = None,
        drop: Sequence[Hashable] = (),
        categorical: Sequence[Hashable] = (),
        date: Sequence[Hashable] | Mapping[Hashable, Sequence[str]] = (),
        exclude_text: bool = False,
        keep: Sequence[Hashable] = (),
        decimal: str = ".",
        thousands: str | None = None,
        columns: Columns | None = None,
    ) -> Bags:
        """Create bags from a data frame with one row per instance and a column of bag ids.

        Numbers are features. Text with at most 20 different values is a category, whatever its case. A date becomes
        its weekday, its hour if there are times, and the days since the bag's earliest row (or the date itself, if all
        rows of a bag have the same). Columns that cannot be used are listed in one warning, and kept in
        ``bags.source.extra``.

        Parameters
        ----------
        frame : DataFrame
            pandas, polars, pyarrow, or anything with ``columns`` and ``frame[name]``.
        bag : column
            Column of bag ids.
        label : column, optional
            Label of the bag, repeated on each of its rows.
        features : columns, optional
            Use only these. Default: all other columns.
        labels : data frame, Series or mapping, optional
            Labels that are not in the frame, for `with_labels`; ``label`` is then a column of this table.
        unlabeled : {"error", "drop", "keep"}, optional
            What to do about bags without a label: raise an error (the default with ``labels``), leave them out, or keep
            them (otherwise the default): a fit then refuses them.
        instance_label : column, optional
            Labels of single instances, where they are known; see `LabeledInstances`.
        drop : columns
            Leave these out altogether.
        categorical : columns
            Categories, however many there are, and numbers that are codes.
        date : columns, or mapping of column to parts
            Dates, and what to make of each: ``"date"``, ``"weekday"``, ``"hour"``, ``"elapsed"``.
        exclude_text : bool
            Use no text, except for columns that are named.
        keep : columns
            Not used as features, but kept in ``bags.source.extra``: the person that bags belong to, an address.
        decimal, thousands : str
            How numbers that are text are written: ``","`` and ``"."`` for ``7.698,09``. ``45%`` is 45 in any case.
        columns : Columns, optional
            Make the same features as for other bags: ``bags.columns`` or ``model.columns_``. Columns are found by
            name, and a category that was not there fits no condition that names a category. Features whose column the
            table does not have are left out, with a warning; a model accepts such bags if its rules do not read them.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"bag": ["a", "b", "a"], "label": [1, 0, 1], "width": [2.0, 3.0, 4.0]})
        >>> table = table.assign(day=["2026-03-01", "2026-03-02", "2026-03-04"], kind=["new", "old", "New"])
        >>> bags = Bags.from_frame(table, bag="bag", label="label")
        >>> bags.feature_names
        ('width', 'day_weekday', 'day_elapsed', 'kind')
        >>> bags[0].tolist(), bags.columns[3].categories
        ([[2.0, 6.0, 0.0, 0.0], [4.0, 2.0, 3.0, 0.0]], ('new', 'old'))
        """
        chosen = unlabeled or ("keep" if labels is None else "error")
        options = ColumnOptions.of(
            features, drop, categorical, date, exclude_text, keep, decimal, thousands, unlabeled=chosen
        )
        if columns is not None and not isinstance(columns, Columns):
            raise InputTypeError(f"columns must be the columns of other bags or of a model, got {described(columns)}.")
        own = None if labels is not None else label
        found = bags_of_table(Table.from_frame(frame, bag, own, instance_label, options), options, columns)
        if labels is None:
            return found
        return found.with_labels(labels, label=label, unlabeled=chosen)

    @classmethod
    def from_padded(
        cls,
        X: npt.ArrayLike,
        *,
        lengths: npt.ArrayLike | None = None,
        mask: npt.ArrayLike | None = None,
        labels: npt.ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Bags:
        """Create bags from a padded array (bags, instances, features) and the true lengths or a mask.

        Examples
        --------
        >>> Bags.from_padded(np.zeros((2, 5, 3)), lengths=[5, 2]).sizes.tolist()
        [5, 2]
        """
        cube = arrays.numeric(X)
        if cube.ndim != 3:
            raise InputError(f"A padded array has 3 dimensions (bags, instances, features), got {cube.ndim}.")
        real = _input.real_instances(cube.shape[:2], lengths, mask)
        offsets = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
        return cls(cube[real], offsets, labels=labels, feature_names=feature_names)

    @classmethod
    def concatenate(cls, parts: Iterable[Bags]) -> Bags:
        """Concatenate bags; labels, ids and feature names are kept if all parts have them.

        Examples
        --------
        >>> one = Bags.from_list([[[1.0]], [[2.0]]])
        >>> len(one + one)
        4
        """
        parts = _input.as_list(parts, "Bags")
        if not parts:
            raise InputError("There are no bags to concatenate.")
        for part in parts:
            if not isinstance(part, Bags):
                raise InputTypeError(f"Only Bags can be concatenated, got {described(part)}: call as_bags on it first.")
        names = {part.feature_names for part in parts}
        if len({part.n_features for part in parts}) > 1 or len(names - {None}) > 1:
            found = dict.fromkeys(part.feature_names or part.n_features for part in parts)
            raise InputError(f"Bags with different features cannot be concatenated: {' and '.join(map(str, found))}.")
        if all(part.columns is not None for part in parts):  # the same category has the same code in all of them
            columns = parts[0].columns.union([part.columns for part in parts[1:]])
            parts = [part.with_features(part.align(columns).instances, columns) for part in parts]
        ids = arrays.concatenate([part.ids for part in parts])
        if ids is not None and arrays.codes(ids).max() + 1 < len(ids):
            ids = None  # ambiguous ids are worse than none
        return cls(
            _input.stack([part.instances if part.sparse is None else part.sparse for part in parts]),
            np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            ids=ids,
            feature_names=names.pop() if len(names) == 1 else None,
            labels=arrays.concatenate([part.labels for part in parts]),
            instance_labels=arrays.concatenate([part.instance_labels for part in parts]),
            columns=parts[0].columns if len({part.columns for part in parts}) == 1 else None,
            source=Source.concatenate([part.source for part in parts]),
        )

    # ------------------------------------------------------------------ arrays

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
                    f"Sparse instances must become a dense array here: {lack}. Use fewer features, for example with "
                    "PerInstance(TruncatedSVD(100)), or choose rules, which accepts sparse instances."
                )
            self._dense = arrays.read_only(self.sparse.toarray())
        return self._dense

    @property
    def is_large_sparse(self) -> bool:
        """Whether instances are sparse, and too many to make them all dense without need."""
        return self._dense is None and self.n_instances * self.n_features > _AT_ONCE

    def dense_parts(self) -> Iterator[Bags]:
        """Yield the bags in runs, each with a dense array of moderate size; all at once if they are not sparse."""
        if not self.is_large_sparse:
            yield self
            return
        yield from self.runs(_AT_ONCE)

    def runs(self, n_values: int) -> Iterator[Bags]:
        """Yield the bags in runs of at most so many values, or of a single bag."""
        rows, first = max(n_values // self.n_features, 1), 0
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
        """Return the instances if every bag has one; otherwise raise: bags are not a table."""
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
        self.__dict__.update({key: arrays.read_only(x) if isinstance(x, np.ndarray) else x for key, x in state.items()})

    def __repr__(self) -> str:
        sizes = self.sizes
        low, high = int(sizes.min()), int(sizes.max())
        span = f"{quantity(low, 'instance')} per bag" if low == high else f"{low}-{high} instances per bag"
        return (
            f"Bags({quantity(self.n_bags, 'bag')}, {quantity(self.n_instances, 'instance')}, "
            f"{quantity(self.n_features, 'feature')}, {span})"
        )

    # ------------------------------------------------------------------ bags and rows

    @overload
    def __getitem__(self, key: int) -> Array: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Array | tuple[Any, ...]) -> Bags: ...
    def __getitem__(self, key: Any) -> Array | Bags:
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

    def _take(self, chosen: npt.NDArray[np.int64]) -> Bags:
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        if self.sparse is None:
            stored = self._stored.take(rows, axis=0)  # many times faster than an index
            stored.flags.writeable = False
        else:
            stored = self._stored[rows]
        return Bags(
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
        """Return the value of a column beside the features (``source.extra``), shape (n_bags,), if bags have one each.

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
        where = (lambda row: f"row {row}") if self.source is None else self.source.where
        return _input.constant_within(values, self.bag_index, self.ids, where, name)

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
        place = "" if self.source is None else f" ({self.source.where(row)})"
        inside = f"row {row - self.offsets[bag]} of the bag{place}"
        return f"Feature {self.names[feature]!r} of bag {self.ids[bag]!s}, {inside},"

    # ------------------------------------------------------------------ other labels and features

    def with_labels(
        self, labels: Any, *, label: Hashable | None = None, bag: Hashable | None = None, unlabeled: str = "error"
    ) -> Bags:
        """Return these bags with the labels in a table that has one row per bag, in any order.

        Labels that belong to no bag are listed in a warning.

        Parameters
        ----------
        labels : data frame, Series or mapping
            A Series has the ids of the bags as its index, a mapping as its keys.
        label : column, optional
            Column of the labels. Default: the only one besides the ids, or one called ``label``, ``class``, ...
        bag : column, optional
            Column of the ids. Default: the one that has most of them.
        unlabeled : {"error", "drop", "keep"}, default "error"
            What to do about bags without a label: raise an error, leave them out with a warning, or keep them.

        Examples
        --------
        >>> import pandas as pd
        >>> slides = pd.DataFrame({"slide": ["B2", "A7"], "tumour": ["no", "yes"]})
        >>> bags = Bags.from_list([[[0.0], [1.0]], [[2.0]]], ids=["A7", "B2"])
        >>> bags.with_labels(slides).labels.tolist()
        ['yes', 'no']
        >>> bags.with_labels({"A7": 1}, unlabeled="keep").labels.tolist()
        [1.0, nan]
        """
        known_name("value of unlabeled", unlabeled, UNLABELED)
        found, without, name = labels_of_bags(self.ids, labels, label, bag)
        return self._labeled(found, without, unlabeled, name)

    def _labeled(self, labels: Array, without: Array, unlabeled: str, name: str) -> Bags:
        found, kept = labeled_bags(self.ids, labels, without, unlabeled)
        bags = self if len(kept) == self.n_bags else self[kept]
        source = None if bags.source is None else replace(bags.source, label=name)
        same = {each: getattr(bags, each) for each in ("ids", "instance_labels", "feature_names", "columns")}
        return Bags(bags._stored, bags.offsets, **same, labels=found, source=source)

    def with_features(self, instances: npt.ArrayLike, columns: Columns) -> Bags:
        """Return the same bags with other features.

        Examples
        --------
        >>> from fuzzymil.bags.columns import Column, Columns
        >>> bags = Bags.from_list([[[1.0]], [[2.0]]], ids=["a", "b"])
        >>> bags.with_features([[0.0], [1.0]], Columns([Column("kind", "category", ("new", "old"))])).feature_names
        ('kind',)
        """
        return self._with(instances, columns=columns)

    def _with(self, instances: Any, **features: Any) -> Bags:
        kept = {name: getattr(self, name) for name in ("ids", "labels", "instance_labels", "source")}
        return Bags(instances, self.offsets, **kept, **features)

    def align(self, columns: Columns, optional: Collection[str] = ()) -> Bags:
        """Return bags with the features of others, in their order and with their codes of categories.

        Other features are left out; unknown categories get codes after all known ones. Bags that do not say what their
        features mean are returned as they are.

        Parameters
        ----------
        columns : Columns
            ``bags.columns`` or ``model.columns_``.
        optional : collection of str
            Features that these bags need not have; their values are then missing.

        Examples
        --------
        >>> import pandas as pd
        >>> from fuzzymil.bags.columns import Column, Columns
        >>> table = pd.DataFrame({"bag": ["a", "b"], "channel": ["fax", "email"], "pages": [3.0, 4.0]})
        >>> bags = Bags.from_frame(table, "bag", categorical=["channel"])
        >>> trained_on = Columns([Column("pages"), Column("channel", "category", ("email", "support"))])
        >>> aligned = bags.align(trained_on)
        >>> aligned.instances.tolist(), aligned.columns[1].categories
        ([[3.0, 2.0], [4.0, 0.0]], ('email', 'support', 'fax'))
        """
        if self.columns is None or self.columns == columns:
            return self
        return self.with_features(*columns.recode(self.instances, self.columns, optional))

    def with_bag_features(self, values: npt.ArrayLike, feature_names: Iterable[str] | None = None) -> Bags:
        """Return bags with features of the bags themselves beside those of the instances.

        Every instance gets the values of its bag, so that a rule can join both: *a long visit of a new customer*.

        Parameters
        ----------
        values : array or data frame of shape (n_bags, n_more)
            One row per bag, in their order.
        feature_names : sequence of str, optional
            Default: the columns of a data frame, otherwise ``bag1``, ``bag2``, ...

        Examples
        --------
        >>> bags = Bags.from_list([[[1.0], [2.0]], [[3.0]]], ["pages"])
        >>> wider = bags.with_bag_features([[30.0], [41.0]], ["age"])
        >>> wider.feature_names, wider[0].tolist()
        (('pages', 'age'), [[1.0, 30.0], [2.0, 30.0]])
        """
        found = arrays.matrix(values)
        if len(found) != self.n_bags:
            raise InputError(f"There are {self.n_bags} bags but {len(found)} rows of bag features: pass one per bag.")
        names = list(feature_names or arrays.text_names(values) or (f"bag{d + 1}" for d in range(found.shape[1])))
        repeated = np.repeat(found, self.sizes, axis=0)
        rows = _input.beside(self.instances if self.sparse is None else self.sparse, repeated)
        if self.columns is not None:
            return self.with_features(rows, Columns([*self.columns, *map(Column, names)]))
        return self.with_rows(rows, [*self.names, *names])

    def select_features(self, features: Sequence[int] | Array) -> Bags:
        """Return bags with some of the features, by their positions; sparse ones become dense.

        Examples
        --------
        >>> Bags.from_list([[[1.0, 2.0, 3.0]]], ["a", "b", "c"]).select_features([2, 0]).feature_names
        ('c', 'a')
        """
        places = list(map(int, features))
        chosen = self.instances[:, places] if self.sparse is None else self.sparse[:, places].toarray()
        if self.columns is not None:
            return self.with_features(chosen, Columns(self.columns[d] for d in places))
        return self.with_rows(chosen, [self.names[d] for d in places])

    def with_indicators(self) -> Bags:
        """Return bags in which each category is a column of 0 and 1, for methods that compute with numbers.

        Examples
        --------
        >>> from fuzzymil.bags.columns import Column, Columns
        >>> kind = Columns([Column("kind", "category", ("new", "old"))])
        >>> bags = Bags([[0.0], [1.0]], [0, 2], columns=kind).with_indicators()
        >>> bags.feature_names, bags[0].tolist()
        (('kind=new', 'kind=old'), [[1.0, 0.0], [0.0, 1.0]])
        """
        if self.columns is None or not self.columns.categorical.any():
            return self
        return self.with_features(*self.columns.indicators(self.instances))

    def map_instances(
        self, transform: Callable[[Array], npt.ArrayLike], feature_names: Iterable[str] | None = None
    ) -> Bags:
        """Apply ``transform`` to the array of all instances and return the transformed bags.

        The transformed features are plain numbers: what they meant as categories or dates is not kept.

        Examples
        --------
        >>> Bags.from_list([[[1.0]], [[2.0]]]).map_instances(lambda x: 10 * x)[1]
        array([[20.]])
        """
        return self.with_rows(transform(self.instances), feature_names)

    def with_rows(self, result: Any, feature_names: Iterable[str] | None = None) -> Bags:
        """Return the same bags with other instances, dense or sparse, as many as before.

        Examples
        --------
        >>> Bags.from_list([[[1.0]], [[2.0]]]).with_rows([[3.0, 4.0], [5.0, 6.0]])[1]
        array([[5., 6.]])
        """
        changed = result if arrays.is_sparse(result) else arrays.matrix(result)
        if changed.shape[0] != self.n_instances:
            raise InputError(
                f"The transform returned {changed.shape[0]} rows for {self.n_instances} instances: keep all of them."
            )
        feature_names = arrays.text_names(result) if feature_names is None else feature_names
        if feature_names is None and changed.shape[1] == self.n_features:
            feature_names = self.feature_names
        return self._with(changed, feature_names=feature_names)

    # ------------------------------------------------------------------ data frames

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return a data frame with one row per instance: bag, label (where known), and all columns, features or not.

        Categories and dates are written as such, so that `from_frame` makes the same bags of it.

        Parameters
        ----------
        library : "pandas" or "polars"
            Which must be installed.

        Examples
        --------
        >>> bags = Bags.from_list([[[1.0], [2.0]], [[3.0]]], ["width"], labels=["yes", "no"])
        >>> print(bags.to_frame().to_string(index=False))
         bag label  width
           0   yes    1.0
           0   yes    2.0
           1    no    3.0
        """
        found: dict[str, Array] = {"bag": self.ids[self.bag_index]}
        if self.labels is not None:
            found["label"] = self.labels[self.bag_index]
        if self.instance_labels is not None:
            found["instance_label"] = self.instance_labels
        extra = {} if self.source is None else self.source.extra
        for d, column in enumerate(self.columns or map(Column, self.names)):
            if column.source in extra:  # the date itself instead of its parts
                found.setdefault(column.source, extra[column.source])
                continue
            if column.name in found:
                raise InputError(f"The column {column.name!r} would occur twice: rename the feature.")
            found[column.name] = _decode(column, self.instances[:, d])
        found |= {name: values for name, values in extra.items() if name not in found}
        return data_frame(
            library, {name: each.tolist() if each.dtype.kind == "U" else each for name, each in found.items()}
        )

    def instance_frame(self) -> Any:
        """Return the features alone as a pandas data frame, one row per instance; categories are text.

        Examples
        --------
        >>> Bags.from_list([[[1.0], [2.0]], [[3.0]]], ["width"]).instance_frame()["width"].tolist()
        [1.0, 2.0, 3.0]
        """
        columns = self.columns or map(Column, self.names)
        return data_frame("pandas", {each.name: _decode(each, self.instances[:, d]) for d, each in enumerate(columns)})

    def _repr_html_(self) -> str:
        """Return a summary of the bags, and their first rows."""
        columns = list(self.columns or map(Column, self.names))
        parts: list[Any] = [html.element("p", html.element("b", repr(self)))]
        if self.labels is not None and self.labels.ndim == 1:
            parts.append(html.line(f"Labels: {_label_counts(self.labels)}"))
        rows = [_summary(column, self.instances[:, d]) for d, column in enumerate(columns[:_FEATURES])]
        heads = ["feature", "values", "minimum", "median", "maximum", "missing", ""]
        parts.append(html.table("Features", heads, rows, n_words=2))
        if len(columns) > _FEATURES:
            parts.append(html.line(f"{len(columns) - _FEATURES} more features", soft=True))
        return html.fragment(*parts, _first_rows(self, columns[:_FEATURES]))

    def __add__(self, other: Bags) -> Bags:
        return Bags.concatenate([self, other]) if isinstance(other, Bags) else NotImplemented


# ---------------------------------------------------------------------- conversion


def as_bags(X: Any) -> Bags:
    """Convert to `Bags`.

    Parameters
    ----------
    X : object
        - `Bags`: returned unchanged;
        - a list, tuple or 1-D object array with one 2-D array (or nested list, tensor) per bag, or one
          dictionary ``{"X": instances, "Y": label}`` per bag;
        - a pair ``(instances, bag_ids)``;
        - a 3-D array: bags of equal size (use `Bags.from_padded` for padded bags);
        - **a 2-D array, also a sparse one, a table without a bag column, or nested lists of depth 2: each row is a
          bag of one instance**, as scikit-learn's tools expect.

    Examples
    --------
    >>> as_bags([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
    Bags(2 bags, 3 instances, 2 features, 1-2 instances per bag)
    >>> as_bags(np.zeros((4, 3)))  # a plain array: four bags of one instance
    Bags(4 bags, 4 instances, 3 features, 1 instance per bag)
    >>> as_bags((np.zeros((4, 3)), [7, 7, 8, 8]))
    Bags(2 bags, 4 instances, 3 features, 2 instances per bag)
    """
    if isinstance(X, Bags):
        return X
    if any(base.__name__ == "BagStream" for base in type(X).__mro__):
        raise InputTypeError(
            "Expected bags, got a BagStream: only fit, predict and score of estimators that learn rules accept "
            "streams; elsewhere, pass its parts one at a time."
        )
    if isinstance(X, tuple) and len(X) == 2 and (arrays.depth(X[0]), arrays.depth(X[1])) == (2, 1):
        return Bags.from_long(X[0], X[1])
    if isinstance(X, list | tuple) and X and isinstance(X[0], Bags):
        raise InputTypeError("Expected bags, got a list of Bags: join them with Bags.concatenate.")
    if arrays.is_sparse(X):
        return Bags(X, np.arange(X.shape[0] + 1))
    found = _input.bags_or_rows(X)
    if isinstance(found, list):
        return Bags.from_list(found)
    try:
        rows = arrays.matrix(found)
    except InputTypeError as problem:
        if arrays.column_names(X) is None:
            raise
        what = str(problem).removesuffix(": features must be numeric; encode text first.").rstrip(".")
        raise InputTypeError(
            f"{what}. Read a table that has a column of bags, text or dates with Bags.from_frame(frame, bag=..., "
            "label=...); for a fitted model, with Bags.from_frame(frame, bag=..., columns=model.columns_)."
        ) from None
    if not len(rows):
        raise InputError("There are no bags: the table has no rows.")
    return Bags(rows, np.arange(len(rows) + 1), feature_names=arrays.text_names(X))


def bags_of_table(table: Table, options: ColumnOptions = NO_OPTIONS, columns: Columns | None = None) -> Bags:
    """Group the rows of a table into bags, whatever it was read from; warn of columns that are not used.

    Parameters
    ----------
    table : Table
    options : ColumnOptions
        What the user says about its columns.
    columns : Columns, optional
        Make the same features as for other bags.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"bag": ["a", "a", "b"], "width": [1.0, 2.0, 3.0]})
    >>> bags_of_table(Table.from_frame(frame, bag="bag"))
    Bags(2 bags, 3 instances, 1 feature, 1-2 instances per bag)
    """
    instances, known, source = features_of(table, options, columns)
    if source.unused and not options.exclude_text:
        warn_user(unused_in_words(source.unused), UnusedColumnsWarning)
    labels, without = table.label, None
    if labels is not None and table.unlabeled is not None and table.unlabeled.any():
        labels, without = complete_rows(labels, table.unlabeled, arrays.codes(table.bag), table.source.where)
    truth = {"labels": labels, "instance_labels": table.instance_label}
    bags = Bags.from_long(instances, table.bag, columns=known, source=source, **truth)
    if without is None:
        return bags
    return bags._labeled(np.asarray(bags.labels), without, options.unlabeled, source.label)


def _decode(column: Column, values: Array) -> Array:
    """Return a feature as a column of a data frame: names of categories, and dates."""
    if column.categories:
        names = np.array([*column.categories, None], dtype=object)
        return np.asarray(names[np.where(np.isnan(values), -1, values).astype(int)])
    if column.kind == "date":
        moments = np.where(np.isnan(values), 0.0, values) * 86_400_000_000
        found = np.datetime64("1970-01-01", "us") + moments.round().astype("timedelta64[us]")
        return np.asarray(np.where(np.isnan(values), np.datetime64("NaT", "us"), found))
    return values


# ---------------------------------------------------------------------- notebooks

_ROWS, _FEATURES, _LABELS = 6, 12, 10


def _label_counts(labels: Array) -> str:
    counts = Counter(labels.tolist())
    if len(counts) > _LABELS and labels.dtype.kind in "iuf":
        return f"numbers from {labels.min():.4g} to {labels.max():.4g}, mean {labels.mean():.4g}"
    shown = [f"{name} ({quantity(count, 'bag')})" for name, count in counts.most_common(_LABELS)]
    return ", ".join(shown) + (f" and {len(counts) - _LABELS} more" if len(counts) > _LABELS else "")


def _summary(column: Column, values: Array) -> list[Any]:
    known = values[~np.isnan(values)]
    missing = f"{len(values) - len(known):,}" if len(known) < len(values) else ""
    if column.categories:
        names = ", ".join(column.categories[:4]) + (", ..." if len(column.categories) > 4 else "")
        n = len(column.categories)
        drawn = histogram_svg(histogram(values, -0.5, n - 0.5, n))
        return [column.name, f"{n} categories: {names}", "", "", "", missing, drawn]
    if not len(known):
        return [column.name, column.kind, "", "", "", missing, ""]
    low, middle, high = (float(value) for value in np.quantile(known, [0, 0.5, 1]))
    shown = [column.shown(value) or f"{value:.4g}" for value in (low, middle, high)]
    unit = f" [{column.unit}]" if column.shown(low) is None and column.unit else ""
    return [column.name, column.kind + unit, *shown, missing, histogram_svg(histogram(values, low, high))]


def _first_rows(bags: Bags, columns: list[Column]) -> Any:
    n = min(_ROWS, bags.n_instances)
    given = {"bag": bags.ids} | ({} if bags.labels is None else {"label": bags.labels})
    rows = []
    for bag, instance in zip(bags.bag_index[:n], bags.instances, strict=False):
        shown = (
            column.shown(value) or f"{value:.4g}" for column, value in zip(columns, instance.tolist(), strict=False)
        )
        values = ("missing" if np.isnan(value) else text for value, text in zip(instance, shown, strict=False))
        rows.append([*(str(of_bags[bag]) for of_bags in given.values()), *values])
    title = f"The first {n} of {bags.n_instances:,} instances" if bags.n_instances > n else "Instances"
    return html.table(title, [*given, *(column.name for column in columns)], rows, n_words=len(given))
