"""Bags of instances: the only door through which ragged data enters the library.

A bag is a set of instances (feature vectors) with one label for the whole set. All bags are kept
packed, every instance in one array with offsets that tell where each bag begins, because real bags
are uneven (MUSK2 has bags of 1 and of 1044 instances) and a padded cube would be mostly padding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from fuzzymil.arrays import Array, as_array, checked_names, column, frozen, numeric, numeric_column
from fuzzymil.errors import InputError, did_you_mean

__all__ = ["Bags", "as_bags"]

# A frame with one of these columns is almost surely a long table that was meant for `from_frame`.
_BAG_COLUMNS = ("bag", "bag_id", "bag_ids", "bagid")


class Bags:
    """Packed bags of instances.

    Use `as_bags` or one of the ``from_...`` constructors; this one takes the packed form itself.

    Parameters
    ----------
    instances : array of shape (n_instances, n_features)
        All instances, bag after bag. ``NaN`` marks a missing value; infinities are refused.
    offsets : array of shape (n_bags + 1,)
        Bag ``b`` holds rows ``offsets[b]:offsets[b + 1]``. No bag is empty.
    ids : array of shape (n_bags,), optional
        Names of the bags, used in messages and explanations. Default: 0, 1, 2, ...
    feature_names : sequence of str, optional
    labels : array of shape (n_bags,), optional
        One label a bag, of any kind.
    instance_labels : array of shape (n_instances,), optional
        The truth about single instances where it is known (simulated data).

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> bags
    Bags(2 bags, 3 instances, 2 features, 1-2 instances a bag)
    >>> bags[0]
    array([[0., 1.],
           [2., 3.]])
    >>> bags[[1]]
    Bags(1 bag, 1 instance, 2 features, 1 instance a bag)
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
        self.instances = frozen(numeric(instances))
        if self.instances.ndim != 2:
            raise InputError(f"Instances must be a 2-D array, got {self.instances.ndim} dimension(s).")
        n_instances, n_features = self.instances.shape
        starts = np.asarray(offsets, dtype=np.int64)
        if starts.ndim != 1 or len(starts) < 2:
            raise InputError("There are no bags: at least one bag with one instance is needed.")
        if n_features == 0:
            raise InputError(
                f"Found array with 0 feature(s) (shape=({n_instances}, 0)) while a minimum of 1 is required."
            )
        if starts[0] != 0 or starts[-1] != n_instances:
            raise InputError(f"Offsets must run from 0 to {n_instances}, got {starts[0]} to {starts[-1]}.")
        self.offsets = frozen(starts)
        n_bags = len(starts) - 1
        self.ids = frozen(np.arange(n_bags) if ids is None else column(ids, n_bags, "ids", "bags"))
        if (np.diff(starts) < 1).any():
            empty = self.ids[int(np.argmax(np.diff(starts) < 1))]
            raise InputError(f"Bag {empty!s} is empty: every bag needs at least one instance; drop it first.")
        self.feature_names = checked_names(feature_names, n_features)
        self.labels = None if labels is None else frozen(column(labels, n_bags, "labels", "bags"))
        self.instance_labels = (
            None
            if instance_labels is None
            else frozen(column(instance_labels, n_instances, "instance labels", "instances"))
        )
        bad = np.isinf(self.instances)
        if bad.any():
            raise InputError(f"{self._where(bad)} is infinite: replace it by a number, or by NaN if unknown.")

    # ------------------------------------------------------------------ other ways in

    @classmethod
    def from_list(
        cls,
        bags: Iterable[Any],
        feature_names: Iterable[str] | None = None,
        *,
        labels: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
    ) -> Bags:
        """Make bags from one 2-D array (or nested list, tensor, ``{"X", "Y"}`` dict) a bag.

        Examples
        --------
        >>> Bags.from_list([np.zeros((3, 2)), np.ones((1, 2))], ["width", "depth"]).feature_names
        ('width', 'depth')
        """
        items = list(bags)
        if not items:
            raise InputError("There are no bags: the list is empty.")
        if all(isinstance(item, Mapping) for item in items):
            items, found = _from_dicts(items)
            labels = found if labels is None else labels
        names = list(range(len(items))) if ids is None else list(np.asarray(ids))
        arrays = [_bag_array(item, name) for item, name in zip(items, names, strict=False)]
        n_features = arrays[0].shape[1]
        for array, name in zip(arrays, names, strict=False):
            if array.shape[1] != n_features:
                raise InputError(
                    f"Bag {name!s} has {array.shape[1]} features but bag {names[0]!s} has {n_features}: "
                    "all instances need the same features."
                )
        offsets = np.cumsum([0, *map(len, arrays)])
        return cls(np.concatenate(arrays), offsets, ids=ids, feature_names=feature_names, labels=labels)

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
        """Make bags from one row an instance and the id of each row's bag, in any order.

        Bags come in the order of their first row. ``labels`` are given a row each and must agree
        within a bag.

        Examples
        --------
        >>> Bags.from_long([[1.0], [2.0], [3.0]], ["b", "a", "b"]).ids.tolist()
        ['b', 'a']
        """
        instances = numeric(X)
        if instances.ndim != 2:
            raise InputError(f"Instances must be a 2-D array, got {instances.ndim} dimension(s).")
        owners = column(bag_ids, len(instances), "bag ids", "rows")
        if not len(owners):
            raise InputError("There are no bags: the table has no rows.")
        missing = np.array([owner is None or owner != owner for owner in owners.tolist()])
        if missing.any():
            raise InputError(f"Row {int(np.argmax(missing))} has no bag id: give every row its bag.")
        ids, first, owner = np.unique(owners, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        rank = np.empty_like(by_appearance)
        rank[by_appearance] = np.arange(len(ids))
        order = np.argsort(rank[owner], kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rank[owner]))])
        ids = ids[by_appearance]
        bag_labels = None
        if labels is not None:
            bag_labels = _constant_within(column(labels, len(instances), "labels", "rows")[order], offsets, ids)
        truth = None
        if instance_labels is not None:
            truth = column(instance_labels, len(instances), "instance labels", "rows")[order]
        return cls(
            instances[order],
            offsets,
            ids=ids,
            feature_names=feature_names,
            labels=bag_labels,
            instance_labels=truth,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        bag: Hashable,
        label: Hashable | None = None,
        features: Sequence[Hashable] | None = None,
    ) -> Bags:
        """Make bags from a long data frame: one row an instance, a column that names its bag.

        Parameters
        ----------
        frame : DataFrame
            pandas, polars, or anything with ``columns`` and ``frame[name]``.
        bag : column
        label : column, optional
            The bag's label, repeated on each of its rows.
        features : columns, optional
            Default: every other column.
        """
        columns = list(frame.columns)
        wanted = [bag] if label is None else [bag, label]
        for name in [*wanted, *(features or [])]:
            if name not in columns:
                known = [str(name) for name in columns]
                raise InputError(
                    f"There is no column {name!r}; the columns are {', '.join(known[:20])}"
                    f"{', ...' if len(known) > 20 else ''}.{did_you_mean(name, known)}"
                )
        chosen = [name for name in columns if name not in wanted] if features is None else list(features)
        if not chosen:
            raise InputError(f"No feature columns are left beside {', '.join(map(repr, wanted))}.")
        return cls.from_long(
            np.column_stack([numeric_column(frame[name], name) for name in chosen]),
            np.asarray(frame[bag]),
            labels=None if label is None else np.asarray(frame[label]),
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
        """Make bags from a padded cube (bags, instances, features) and the true lengths or a mask.

        Examples
        --------
        >>> Bags.from_padded(np.zeros((2, 5, 3)), lengths=[5, 2]).sizes.tolist()
        [5, 2]
        """
        cube = numeric(X)
        if cube.ndim != 3:
            raise InputError(f"A padded array has 3 dimensions (bags, instances, features), got {cube.ndim}.")
        if (lengths is None) == (mask is None):
            raise InputError("Give either lengths= or mask=, so that padding can be told from instances.")
        if mask is not None:
            real = np.asarray(mask).astype(bool)
            if real.shape != cube.shape[:2]:
                raise InputError(f"The mask must have shape {cube.shape[:2]}, got {real.shape}.")
        else:
            counts = column(lengths, len(cube), "lengths", "bags").astype(np.int64)
            if (counts > cube.shape[1]).any():
                bag = int(np.argmax(counts))
                raise InputError(f"Bag {bag} is said to have {counts[bag]} of {cube.shape[1]} instances.")
            real = np.arange(cube.shape[1]) < counts[:, None]
        offsets = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
        return cls(cube[real], offsets, labels=labels, feature_names=feature_names)

    @classmethod
    def concatenate(cls, parts: Iterable[Bags]) -> Bags:
        """Join bags; labels, ids and names are kept where all parts have them.

        Examples
        --------
        >>> one = Bags.from_list([[[1.0]], [[2.0]]])
        >>> len(one + one)
        4
        """
        parts = list(parts)
        if not parts:
            raise InputError("There are no bags to join.")
        first = parts[0]
        for part in parts:
            if part.n_features != first.n_features or part.feature_names != first.feature_names:
                raise InputError(
                    f"These bags have different features: {first.feature_names or first.n_features} "
                    f"and {part.feature_names or part.n_features}."
                )
        ids = _joined([part.ids for part in parts])
        if ids is not None and len(np.unique(ids)) < len(ids):
            ids = None  # ids that no longer tell bags apart are worse than none
        return cls(
            np.concatenate([part.instances for part in parts]),
            np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            ids=ids,
            feature_names=first.feature_names,
            labels=_joined([part.labels for part in parts]),
            instance_labels=_joined([part.instance_labels for part in parts]),
        )

    # ------------------------------------------------------------------ what they are

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1

    @property
    def n_instances(self) -> int:
        """Number of instances in all bags together."""
        return int(self.instances.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features of an instance."""
        return int(self.instances.shape[1])

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``: scikit-learn's splitters hand anything with a shape on as it is."""
        return (self.n_bags,)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Instances in each bag, shape (n_bags,)."""
        return np.diff(self.offsets)

    @property
    def bag_index(self) -> npt.NDArray[np.int64]:
        """For each instance the position of its bag, shape (n_instances,)."""
        return np.repeat(np.arange(self.n_bags), self.sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names, or ``x1, x2, ...`` where none were given."""
        return self.feature_names or tuple(f"x{d + 1}" for d in range(self.n_features))

    def __len__(self) -> int:
        return self.n_bags

    def __iter__(self) -> Iterator[Array]:
        return (self[b] for b in range(self.n_bags))

    def __add__(self, other: Bags) -> Bags:
        return Bags.concatenate([self, other])

    def __repr__(self) -> str:
        sizes = self.sizes
        low, high = int(sizes.min()), int(sizes.max())
        span = f"{_count(low, 'instance')} a bag" if low == high else f"{low}-{high} instances a bag"
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
        try:
            chosen = np.arange(self.n_bags)[key]
        except IndexError as problem:
            raise IndexError(f"There are {self.n_bags} bags: {problem}") from None
        if np.ndim(chosen) == 0:
            return self.instances[self.offsets[chosen] : self.offsets[chosen + 1]]
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
        """Return these bags with ``transform`` applied to the array of all instances.

        Examples
        --------
        >>> Bags.from_list([[[1.0]], [[2.0]]]).map_instances(lambda x: 10 * x)[1]
        array([[20.]])
        """
        changed = np.asarray(transform(self.instances))
        if len(changed) != self.n_instances:
            raise InputError(f"The transform gave {len(changed)} rows for {self.n_instances} instances.")
        if feature_names is None and changed.ndim == 2 and changed.shape[1] == self.n_features:
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
        """Raise an `InputError` that names the first missing value, followed by ``advice``."""
        bad = np.isnan(self.instances)
        if bad.any():
            raise InputError(f"{self._where(bad)} is missing (NaN). {advice}")

    def _where(self, bad: npt.NDArray[np.bool_]) -> str:
        row, feature = np.argwhere(bad)[0]
        bag = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"Feature {self.names[feature]!r} of bag {self.ids[bag]!s}, row {row - self.offsets[bag]} of the bag,"


def as_bags(X: Any) -> Bags:
    """Turn anything that holds bags into `Bags`.

    Parameters
    ----------
    X : object
        - `Bags`: returned as they are;
        - a list, tuple or 1-D object array with one 2-D array (nested list, tensor) a bag, or one
          dict ``{"X": instances, "Y": label}`` a bag;
        - a pair ``(instances, bag_ids)``;
        - a 3-D array: bags of equal size (padded bags go through `Bags.from_padded`);
        - **a 2-D array, a table without a bag column, or nested lists of depth 2: every row is a
          bag of one instance**, which is what scikit-learn's own tools mean by such an array.

    Examples
    --------
    >>> as_bags([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
    Bags(2 bags, 3 instances, 2 features, 1-2 instances a bag)
    >>> as_bags(np.zeros((4, 3)))  # a plain array: four bags of one instance
    Bags(4 bags, 4 instances, 3 features, 1 instance a bag)
    >>> as_bags((np.zeros((4, 3)), [7, 7, 8, 8]))
    Bags(2 bags, 4 instances, 3 features, 2 instances a bag)
    """
    if isinstance(X, Bags):
        return X
    if hasattr(X, "columns"):
        return _table(X)
    if _is_long_pair(X):
        return Bags.from_long(X[0], X[1])
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        if len(X) == 0:
            raise InputError("There are no bags: the list is empty.")
        if _depth(X[0]) != 1 or isinstance(X[0], Mapping):
            return Bags.from_list(X)
    array = as_array(X)
    if array.ndim == 3:
        return Bags.from_list(array)
    if array.ndim > 3:
        raise InputError(f"Expected bags or a 2-D array, got an array with {array.ndim} dimensions.")
    return _rows(array)


def _rows(array: Any, feature_names: Iterable[str] | None = None) -> Bags:
    """Make one-instance bags of the rows of a plain table; scikit-learn words the errors."""
    checked = check_array(array, dtype="numeric", ensure_all_finite=False)
    return Bags(checked, np.arange(len(checked) + 1), feature_names=feature_names)


def _table(frame: Any) -> Bags:
    columns = list(frame.columns)
    for name in columns:
        if str(name).lower() in _BAG_COLUMNS:
            raise InputError(
                f"This table has a column {name!r}: call Bags.from_frame(table, bag={name!r}) so that its "
                "rows are put into bags (a table without bags is read as one bag a row)."
            )
    named = all(isinstance(name, str) for name in columns)
    return _rows(frame, columns if named else None)


def _is_long_pair(X: Any) -> bool:
    if not (isinstance(X, tuple) and len(X) == 2) or isinstance(X[0], Mapping):
        return False
    return _depth(X[0]) == 2 and _depth(X[1]) == 1 and len(X[0]) == len(X[1])


def _depth(item: Any) -> int:
    """Count the nested levels of an array-like without converting it."""
    if hasattr(item, "shape"):
        return len(item.shape)
    if isinstance(item, list | tuple):
        return 1 + max(map(_depth, item), default=1)
    return 0


def _bag_array(item: Any, name: Any) -> Array:
    try:
        array = numeric(item)
    except InputError as problem:
        raise type(problem)(f"Bag {name!s}: {problem}") from None
    if array.size == 0 and array.ndim <= 2:
        raise InputError(f"Bag {name!s} is empty: every bag needs at least one instance; drop it first.")
    if array.ndim != 2:
        raise InputError(
            f"Bag {name!s} must be a 2-D array (instances, features), got {array.ndim} dimension(s)."
            + (" Put a single instance in brackets: [instance]." if array.ndim == 1 else "")
        )
    return array


def _from_dicts(items: list[Mapping[str, Any]]) -> tuple[list[Any], list[Any] | None]:
    for position, item in enumerate(items):
        if "X" not in item:
            raise InputError(f"Bag {position} is a dict without the key 'X'; its keys are {sorted(map(str, item))}.")
    if not all("Y" in item for item in items):
        return [item["X"] for item in items], None
    labels = [as_array(item["Y"]) for item in items]
    for position, label in enumerate(labels):
        if label.size != 1:
            raise InputError(f"The label 'Y' of bag {position} has {label.size} values; a bag has one.")
    return [item["X"] for item in items], [label.ravel()[0].item() for label in labels]


def _constant_within(labels: Array, offsets: npt.NDArray[np.int64], ids: Array) -> Array:
    first = labels[offsets[:-1]]
    differs = labels != np.repeat(first, np.diff(offsets))
    if differs.any():
        row = int(np.argmax(differs))
        bag = int(np.searchsorted(offsets, row, side="right")) - 1
        raise InputError(
            f"Bag {ids[bag]!s} has two labels, {first[bag]!s} and {labels[row]!s}: a bag has one label. "
            "For truth about instances use instance_labels."
        )
    return first


def _joined(columns: Sequence[Array | None]) -> Array | None:
    known = [part for part in columns if part is not None]
    return np.concatenate(known) if len(known) == len(columns) else None


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
