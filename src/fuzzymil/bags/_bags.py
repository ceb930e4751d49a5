"""`Bags`, the container for ragged data.

A bag is a set of instances (feature vectors) with one label for the whole set. Bags are stored packed: one array of
all instances, and offsets that mark where each bag begins. Real bags vary widely in size (MUSK2 has bags of 1 and of
1044 instances), so a padded array would be mostly padding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, described
from fuzzymil.bags import _conversion, _frames, _validation
from fuzzymil.bags._notebook import bags_html
from fuzzymil.bags._packed import Packed
from fuzzymil.bags._source import Source
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.bags.tables import ColumnOptions


class Bags(Packed):
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
        Where the instances come from: their rows in a file or table, and its columns that are no features.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> bags
    Bags(2 bags, 3 instances, 2 features, 1-2 instances per bag)
    >>> bags[0]
    array([[0., 1.],
           [2., 3.]])
    """

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
        offsets = np.cumsum([0, *(part.shape[0] for part in parts)])
        if feature_names is None:
            feature_names = _conversion.shared_names(items, known)
        return cls(_conversion.stacked(parts), offsets, ids=ids, feature_names=feature_names, labels=labels)

    @classmethod
    def from_long(
        cls,
        X: npt.ArrayLike,
        bag_ids: npt.ArrayLike,
        *,
        labels: npt.ArrayLike | None = None,
        instance_labels: npt.ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
        columns: Columns | None = None,
        source: Source | None = None,
    ) -> Bags:
        """Create bags from an array with one row per instance and the bag id of each row, in any order.

        Bags are ordered by their first row. ``labels`` has one label per row; labels must agree within a bag.
        ``columns`` and ``source`` are those of `Bags`, with one entry per row.

        Examples
        --------
        >>> Bags.from_long([[1.0], [2.0], [3.0]], ["b", "a", "b"]).ids.tolist()
        ['b', 'a']
        """
        instances = arrays.sparse_rows(X) if arrays.is_sparse(X) else arrays.matrix(X)
        n_rows = instances.shape[0]
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
            No features, but kept in ``bags.source.extra``: the person that bags belong to, an address.
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
        options = ColumnOptions.of(features, drop, categorical, date, exclude_text, keep, decimal, thousands)
        return _frames.read(cls.from_long, frame, bag, label, instance_label, options, columns)

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
        return _frames.write(self, library)

    def instance_frame(self) -> Any:
        """Return the features alone as a pandas data frame, one row per instance; categories are text.

        Examples
        --------
        >>> Bags.from_list([[[1.0], [2.0]], [[3.0]]], ["width"]).instance_frame()["width"].tolist()
        [1.0, 2.0, 3.0]
        """
        return _frames.features(self)

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
        if all(part.columns is not None for part in parts):  # the same category has the same code in all of them
            columns = _frames.all_columns([part.columns for part in parts])
            parts = [part.with_features(part.aligned(columns).instances, columns) for part in parts]
        ids = arrays.joined([part.ids for part in parts])
        if ids is not None and arrays.codes(ids).max() + 1 < len(ids):
            ids = None  # ambiguous ids are worse than none
        return cls(
            _conversion.stacked([part.instances if part.sparse is None else part.sparse for part in parts]),
            np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in parts]))]),
            ids=ids,
            feature_names=names.pop() if len(names) == 1 else None,
            labels=arrays.joined([part.labels for part in parts]),
            instance_labels=arrays.joined([part.instance_labels for part in parts]),
            columns=parts[0].columns if len({part.columns for part in parts}) == 1 else None,
            source=Source.joined([part.source for part in parts]),
        )

    # ------------------------------------------------------------------ other features

    def with_features(self, instances: npt.ArrayLike, columns: Columns) -> Bags:
        """Return the same bags with other features.

        Examples
        --------
        >>> from fuzzymil.bags.columns import Column, Columns
        >>> bags = Bags.from_list([[[1.0]], [[2.0]]], ids=["a", "b"])
        >>> bags.with_features([[0.0], [1.0]], Columns([Column("kind", "category", ("new", "old"))])).feature_names
        ('kind',)
        """
        kept = {name: getattr(self, name) for name in ("ids", "labels", "instance_labels", "source")}
        return Bags(instances, self.offsets, columns=columns, **kept)

    def aligned(self, columns: Columns, optional: Collection[str] = ()) -> Bags:
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
        >>> aligned = bags.aligned(trained_on)
        >>> aligned.instances.tolist(), aligned.columns[1].categories
        ([[3.0, 2.0], [4.0, 0.0]], ('email', 'support', 'fax'))
        """
        if self.columns is None or self.columns == columns:
            return self
        return self.with_features(*columns.recoded(self.instances, self.columns, optional))

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
        rows = _conversion.beside(self.instances if self.sparse is None else self.sparse, repeated)
        if self.columns is not None:
            return self.with_features(rows, Columns([*self.columns, *map(Column, names)]))
        return self.with_rows(rows, [*self.names, *names])

    def only(self, features: Sequence[int] | Array) -> Bags:
        """Return bags with some of the features, by their positions; sparse ones become dense.

        Examples
        --------
        >>> Bags.from_list([[[1.0, 2.0, 3.0]]], ["a", "b", "c"]).only([2, 0]).feature_names
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
        return self.with_features(*_frames.indicators(self.instances, self.columns))

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
        return Bags(
            changed,
            self.offsets,
            ids=self.ids,
            feature_names=feature_names,
            labels=self.labels,
            instance_labels=self.instance_labels,
            source=self.source,
        )

    _repr_html_ = bags_html

    def __add__(self, other: Bags) -> Bags:
        return Bags.concatenate([self, other]) if isinstance(other, Bags) else NotImplemented
