"""`Bags`, the container for ragged data.

A bag is a set of instances (feature vectors) with one label for the whole set. Bags are stored packed: one array of
all instances, and offsets that mark where each bag begins. Real bags vary widely in size (MUSK2 has bags of 1 and of
1044 instances), so a padded array would be mostly padding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, described
from fuzzymil.bags import _conversion, _validation


class Bags:
    """Packed bags of instances.

    Usually created with `as_bags` or one of the ``from_...`` class methods; the constructor takes the packed form.

    Parameters
    ----------
    instances : array of shape (n_instances, n_features)
        All instances, bag after bag. ``NaN`` marks a missing value; infinities are rejected.
        Floating-point arrays are not copied; ``bags.instances`` is a read-only view.
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

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> bags
    Bags(2 bags, 3 instances, 2 features, 1-2 instances per bag)
    >>> bags[0]
    array([[0., 1.],
           [2., 3.]])
    >>> bags[[1]]
    Bags(1 bag, 1 instance, 2 features, 1 instance per bag)
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
    ) -> None:
        self.instances = arrays.frozen(arrays.matrix(instances))
        n_instances, n_features = self.instances.shape
        self.offsets = arrays.frozen(_validation.check_offsets(offsets, n_instances))
        n_bags = len(self.offsets) - 1
        self.ids = arrays.frozen(np.arange(n_bags) if ids is None else _validation.identifiers(ids, n_bags, "bags"))
        if (self.sizes < 1).any():
            raise InputError(_validation.EMPTY_BAG.format(self.ids[np.argmin(self.sizes)]))
        if n_features == 0:  # worded as scikit-learn's checks expect
            shape = self.instances.shape
            raise InputError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        self.feature_names = _validation.check_names(feature_names, n_features)
        self.labels = _validation.frozen_column(labels, n_bags, "labels", "bags")
        self.instance_labels = _validation.frozen_column(instance_labels, n_instances, "instance labels", "instances")
        bad = np.isinf(self.instances)
        if bad.any():
            raise InputError(f"{self._where(bad)} is infinite: replace it with a number, or with NaN if unknown.")

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_list(
        cls,
        bags: Iterable[Any],
        feature_names: Iterable[str] | None = None,
        *,
        labels: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
    ) -> Bags:
        """Create bags from a list with one 2-D array per bag.

        A bag may also be a nested list, a tensor, a data frame or a dictionary ``{"X": instances, "Y": label}``.

        Examples
        --------
        >>> Bags.from_list([np.zeros((3, 2)), np.ones((1, 2))], ["width", "depth"]).feature_names
        ('width', 'depth')
        """
        if arrays.column_names(bags) is not None:
            raise InputError("Expected one 2-D array per bag, got a table: use Bags.from_frame(table, bag=...).")
        items = _validation.as_list(bags, "bags, one 2-D array each")
        if not items:
            raise InputError("There are no bags: the list is empty.")
        known = np.arange(len(items)) if ids is None else _validation.identifiers(ids, len(items), "bags")
        if any(issubclass(kind, Mapping) for kind in set(map(type, items))):
            items, found = _conversion.from_dicts(items, known)
            labels = found if labels is None else labels
        parts = _conversion.bag_arrays(items, known)
        offsets = np.cumsum([0, *map(len, parts)])
        if feature_names is None:
            feature_names = _conversion.shared_names(items, known)
        return cls(np.concatenate(parts), offsets, ids=ids, feature_names=feature_names, labels=labels)

    @classmethod
    def from_long(
        cls,
        X: npt.ArrayLike,
        bag_ids: npt.ArrayLike,
        *,
        labels: npt.ArrayLike | None = None,
        instance_labels: npt.ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Bags:
        """Create bags from an array with one row per instance and the bag id of each row, in any order.

        Bags are ordered by their first row. ``labels`` has one label per row; labels must agree within a bag.

        Examples
        --------
        >>> Bags.from_long([[1.0], [2.0], [3.0]], ["b", "a", "b"]).ids.tolist()
        ['b', 'a']
        """
        instances = arrays.matrix(X)
        n_rows = len(instances)
        owners = _validation.identifiers(bag_ids, n_rows, "rows")
        if not n_rows:
            raise InputError("There are no bags: the table has no rows.")
        bag_of_row = arrays.codes(owners)
        order = np.argsort(bag_of_row, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(bag_of_row))])
        ids = owners[order[offsets[:-1]]]
        if labels is not None:
            labels = _validation.constant_within(
                _validation.column(labels, n_rows, "labels", "rows")[order], offsets, ids
            )
        if instance_labels is not None:
            instance_labels = _validation.column(instance_labels, n_rows, "instance labels", "rows")[order]
        return cls(
            instances[order],
            offsets,
            ids=ids,
            feature_names=arrays.text_names(X) if feature_names is None else feature_names,
            labels=labels,
            instance_labels=instance_labels,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: Hashable,
        label: Hashable | None = None,
        features: Sequence[Hashable] | None = None,
    ) -> Bags:
        """Create bags from a data frame with one row per instance and a column of bag ids.

        Parameters
        ----------
        frame : DataFrame
            pandas, polars, or anything with ``columns`` and ``frame[name]``.
        bag : column
            Column of bag ids.
        label : column, optional
            Label of the bag, repeated on each of its rows.
        features : columns, optional
            Default: all other columns.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"bag": ["a", "b", "a"], "label": [1, 0, 1], "width": [2.0, 3.0, 4.0]})
        >>> Bags.from_frame(table, bag="bag", label="label").labels
        array([1, 0])
        """
        chosen = _conversion.feature_columns(frame, [bag] if label is None else [bag, label], features)
        return cls.from_long(
            arrays.table(frame, chosen),
            arrays.as_array(frame[bag]),
            labels=None if label is None else arrays.as_array(frame[label]),
            feature_names=[str(name) for name in chosen],
        )

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
        real = _validation.real_instances(cube.shape[:2], lengths, mask)
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
        parts = _validation.as_list(parts, "Bags")
        if not parts:
            raise InputError("There are no bags to concatenate.")
        for part in parts:
            if not isinstance(part, Bags):
                raise InputTypeError(f"Only Bags can be concatenated, got {described(part)}: call as_bags on it first.")
        names = {part.feature_names for part in parts}
        if len({part.n_features for part in parts}) > 1 or len(names - {None}) > 1:
            found = dict.fromkeys(part.feature_names or part.n_features for part in parts)
            raise InputError(f"Bags with different features cannot be concatenated: {' and '.join(map(str, found))}.")
        ids = arrays.joined([part.ids for part in parts])
        if ids is not None and arrays.codes(ids).max() + 1 < len(ids):
            ids = None  # ambiguous ids are worse than none
        return cls(
            np.concatenate([part.instances for part in parts]),
            np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            ids=ids,
            feature_names=names.pop() if len(names) == 1 else None,
            labels=arrays.joined([part.labels for part in parts]),
            instance_labels=arrays.joined([part.instance_labels for part in parts]),
        )

    # ------------------------------------------------------------------ properties

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1

    @property
    def n_instances(self) -> int:
        """Total number of instances."""
        return int(self.instances.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.instances.shape[1])

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``, so that scikit-learn's splitters accept bags."""
        return (self.n_bags,)

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

    def __iter__(self) -> Iterator[Array]:
        return (self.instances[start:end] for start, end in pairwise(self.offsets.tolist()))

    def __add__(self, other: Bags) -> Bags:
        return Bags.concatenate([self, other]) if isinstance(other, Bags) else NotImplemented

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
    def __getitem__(self, key: slice | Sequence[int] | Array | tuple[Any, ...]) -> Bags: ...
    def __getitem__(self, key: Any) -> Array | Bags:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes whatever has a shape as X[key, ...]
            key = list(key) if isinstance(key, tuple) else key
        try:
            if isinstance(key, int | np.integer) and not isinstance(key, bool):
                b = range(self.n_bags)[key]
                return self.instances[self.offsets[b] : self.offsets[b + 1]]
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
        return Bags(
            self.instances[rows],
            offsets,
            ids=self.ids[chosen],
            feature_names=self.feature_names,
            labels=None if self.labels is None else self.labels[chosen],
            instance_labels=None if self.instance_labels is None else self.instance_labels[rows],
        )

    def map_instances(
        self, transform: Callable[[Array], npt.ArrayLike], feature_names: Iterable[str] | None = None
    ) -> Bags:
        """Apply ``transform`` to the array of all instances and return the transformed bags.

        Examples
        --------
        >>> Bags.from_list([[[1.0]], [[2.0]]]).map_instances(lambda x: 10 * x)[1]
        array([[20.]])
        """
        result = transform(self.instances)
        changed = arrays.matrix(result)
        if len(changed) != self.n_instances:
            raise InputError(
                f"The transform returned {len(changed)} rows for {self.n_instances} instances: it must keep all rows."
            )
        if feature_names is None:
            feature_names = arrays.text_names(result)
        if feature_names is None and changed.shape[1] == self.n_features:
            feature_names = self.feature_names
        return Bags(
            changed,
            self.offsets,
            ids=self.ids,
            feature_names=feature_names,
            labels=self.labels,
            instance_labels=self.instance_labels,
        )

    def require_complete(self, advice: str) -> None:
        """Raise `InputError`, with ``advice``, if a value is missing."""
        bad = np.isnan(self.instances)
        if bad.any():
            raise InputError(f"{self._where(bad)} is missing (NaN). {advice}")

    def _where(self, bad: npt.NDArray[np.bool_]) -> str:
        row, feature = np.argwhere(bad)[0]
        bag = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"Feature {self.names[feature]!r} of bag {self.ids[bag]!s}, row {row - self.offsets[bag]} of the bag,"


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
        - **a 2-D array, a table without a bag column, or nested lists of depth 2: each row is a
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
    if type(X).__name__ == "BagStream":
        raise InputTypeError(
            "Expected bags, got a BagStream: only fit, predict and score of MI-ANFIS and ANFIS accept streams; "
            "elsewhere, pass its parts one at a time."
        )
    if isinstance(X, tuple) and len(X) == 2 and (arrays.depth(X[0]), arrays.depth(X[1])) == (2, 1):
        return Bags.from_long(X[0], X[1])
    if isinstance(X, list | tuple) and X and isinstance(X[0], Bags):
        raise InputTypeError("Expected bags, got a list of Bags: join them with Bags.concatenate.")
    found = _conversion.bags_or_rows(X)
    if isinstance(found, list):
        return Bags.from_list(found)
    rows = arrays.matrix(found)
    if not len(rows):
        raise InputError("There are no bags: the table has no rows.")
    return Bags(rows, np.arange(len(rows) + 1), feature_names=arrays.text_names(X))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
