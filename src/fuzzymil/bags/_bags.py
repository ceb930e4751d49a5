"""Bags of instances: the only door through which ragged data enters the library.

A bag is a set of instances (feature vectors) with one label for the whole set. All bags are kept
packed, every instance in one array with offsets that tell where each bag begins, because real bags
are uneven (MUSK2 has bags of 1 and of 1044 instances) and a padded cube would be mostly padding.
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
from fuzzymil.bags import conversion

__all__ = ["Bags", "as_bags"]


class Bags:
    """Packed bags of instances.

    Use `as_bags` or one of the ``from_...`` constructors; this one takes the packed form itself.

    Parameters
    ----------
    instances : array of shape (n_instances, n_features)
        All instances, bag after bag. ``NaN`` marks a missing value; infinities are refused.
        Floating-point numbers are looked at through a read-only view and not copied.
    offsets : array of shape (n_bags + 1,)
        Bag ``b`` holds rows ``offsets[b]:offsets[b + 1]``. No bag is empty.
    ids : array of shape (n_bags,), optional
        Names of the bags, used in messages and explanations. Default: 0, 1, 2, ... They need not
        differ, because a resample holds some bags twice.
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
        self.instances = arrays.frozen(arrays.matrix(instances))
        n_instances, n_features = self.instances.shape
        self.offsets = arrays.frozen(conversion.checked_offsets(offsets, n_instances))
        n_bags = len(self.offsets) - 1
        self.ids = arrays.frozen(np.arange(n_bags) if ids is None else conversion.identifiers(ids, n_bags, "bags"))
        if (self.sizes < 1).any():
            raise InputError(conversion.EMPTY_BAG.format(self.ids[np.argmin(self.sizes)]))
        if n_features == 0:  # in the words that scikit-learn's own checks look for
            shape = self.instances.shape
            raise InputError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        self.feature_names = conversion.checked_names(feature_names, n_features)
        self.labels = conversion.frozen_column(labels, n_bags, "labels", "bags")
        self.instance_labels = conversion.frozen_column(instance_labels, n_instances, "instance labels", "instances")
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
        if arrays.column_names(bags) is not None:
            raise InputError("Expected one 2-D array a bag, got a table: use Bags.from_frame(table, bag=...).")
        items = conversion.listed(bags, "bags, one 2-D array each")
        if not items:
            raise InputError("There are no bags: the list is empty.")
        known = np.arange(len(items)) if ids is None else conversion.identifiers(ids, len(items), "bags")
        if any(issubclass(kind, Mapping) for kind in set(map(type, items))):
            items, found = conversion.from_dicts(items, known)
            labels = found if labels is None else labels
        parts = conversion.bag_arrays(items, known)
        offsets = np.cumsum([0, *map(len, parts)])
        if feature_names is None:
            feature_names = conversion.shared_names(items, known)
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
        """Make bags from one row an instance and the id of each row's bag, in any order.

        Bags come in the order of their first row. ``labels`` are given a row each and must agree
        within a bag.

        Examples
        --------
        >>> Bags.from_long([[1.0], [2.0], [3.0]], ["b", "a", "b"]).ids.tolist()
        ['b', 'a']
        """
        instances = arrays.matrix(X)
        n_rows = len(instances)
        owners = conversion.identifiers(bag_ids, n_rows, "rows")
        if not n_rows:
            raise InputError("There are no bags: the table has no rows.")
        bag_of_row = conversion.codes(owners)
        order = np.argsort(bag_of_row, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(bag_of_row))])
        ids = owners[order[offsets[:-1]]]
        if labels is not None:
            labels = conversion.constant_within(
                conversion.column(labels, n_rows, "labels", "rows")[order], offsets, ids
            )
        if instance_labels is not None:
            instance_labels = conversion.column(instance_labels, n_rows, "instance labels", "rows")[order]
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

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"bag": ["a", "b", "a"], "label": [1, 0, 1], "width": [2.0, 3.0, 4.0]})
        >>> Bags.from_frame(table, bag="bag", label="label").labels
        array([1, 0])
        """
        chosen = conversion.chosen_columns(frame, [bag] if label is None else [bag, label], features)
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
        """Make bags from a padded cube (bags, instances, features) and the true lengths or a mask.

        Examples
        --------
        >>> Bags.from_padded(np.zeros((2, 5, 3)), lengths=[5, 2]).sizes.tolist()
        [5, 2]
        """
        cube = arrays.numeric(X)
        if cube.ndim != 3:
            raise InputError(f"A padded array has 3 dimensions (bags, instances, features), got {cube.ndim}.")
        real = conversion.real_instances(cube.shape[:2], lengths, mask)
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
        parts = conversion.listed(parts, "Bags")
        if not parts:
            raise InputError("There are no bags to join.")
        for part in parts:
            if not isinstance(part, Bags):
                raise InputTypeError(f"Only Bags can be joined, got {described(part)}: call as_bags on it first.")
        names = {part.feature_names for part in parts}
        if len({part.n_features for part in parts}) > 1 or len(names - {None}) > 1:
            found = dict.fromkeys(part.feature_names or part.n_features for part in parts)
            raise InputError(f"Bags with different features cannot be joined: {' and '.join(map(str, found))}.")
        ids = conversion.joined([part.ids for part in parts])
        if ids is not None and conversion.codes(ids).max() + 1 < len(ids):
            ids = None  # ids that no longer tell bags apart are worse than none
        return cls(
            np.concatenate([part.instances for part in parts]),
            np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            ids=ids,
            feature_names=names.pop() if len(names) == 1 else None,
            labels=conversion.joined([part.labels for part in parts]),
            instance_labels=conversion.joined([part.instance_labels for part in parts]),
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
        return (self.instances[start:end] for start, end in pairwise(self.offsets.tolist()))

    def __add__(self, other: Bags) -> Bags:
        return Bags.concatenate([self, other]) if isinstance(other, Bags) else NotImplemented

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle forgets that its arrays were read-only.
        self.__dict__.update({key: arrays.frozen(x) if isinstance(x, np.ndarray) else x for key, x in state.items()})

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
            key = list(key) if isinstance(key, tuple) else key
        try:
            if isinstance(key, int | np.integer) and not isinstance(key, bool):
                b = range(self.n_bags)[key]
                return self.instances[self.offsets[b] : self.offsets[b + 1]]
            chosen = np.arange(self.n_bags)[key]
        except (IndexError, TypeError, ValueError) as problem:
            raise IndexError(f"There are {self.n_bags} bags, {described(key)} does not select any: {problem}") from None
        if chosen.ndim == 0:
            return self[int(chosen)]
        if chosen.ndim > 1:
            raise IndexError(f"Bags have one axis: take them by a list of positions, not by {described(key)}.")
        if not len(chosen):
            raise InputError(f"There are no bags in this selection: take at least one of the {self.n_bags}.")
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
        result = transform(self.instances)
        changed = arrays.matrix(result)
        if len(changed) != self.n_instances:
            raise InputError(f"The transform gave {len(changed)} rows for {self.n_instances} instances: keep them all.")
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
    if type(X).__name__ == "BagStream":
        raise InputTypeError(
            "Expected bags, got a BagStream: fit, predict and score of MI-ANFIS and ANFIS take streams; elsewhere give "
            "its parts, one after another."
        )
    if isinstance(X, tuple) and len(X) == 2 and (arrays.depth(X[0]), arrays.depth(X[1])) == (2, 1):
        return Bags.from_long(X[0], X[1])
    if isinstance(X, list | tuple) and X and isinstance(X[0], Bags):
        raise InputTypeError("Expected bags, got a list that holds Bags: join them with Bags.concatenate.")
    found = conversion.bags_or_rows(X)
    if isinstance(found, list):
        return Bags.from_list(found)
    rows = arrays.matrix(found)
    if not len(rows):
        raise InputError("There are no bags: the table has no rows.")
    return Bags(rows, np.arange(len(rows) + 1), feature_names=arrays.text_names(X))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
