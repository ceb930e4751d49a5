"""Labels in a table of their own, with one row per bag; and bags that have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import arrays
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, InputTypeError, PlaceError, described, did_you_mean, listed, warn_user

UNLABELED = ("error", "drop", "keep")
"""What to do about bags without a label: raise an error, leave them out, or keep them."""

LABEL_NAMES = ("label", "labels", "bag_label", "class_label", "bag_class", "class", "target", "y")
"""Column names that are recognized as the label, in any case."""

_BLANK = frozenset({"", "?", "nan"})  # no label; a class may well be called "none"
_ENDING = re.compile(r"\.(npy|npz|h5|hdf5|csv|parquet|svs|ndpi|tiff?|png|jpe?g)$", re.IGNORECASE)


def labels_of_bags(
    ids: Array, labels: Any, label: Hashable | None = None, bag: Hashable | None = None
) -> tuple[Array, npt.NDArray[np.bool_], str]:
    """Return the label of each bag from a table, where there is none, and the column of the labels.

    Parameters
    ----------
    ids : array of shape (n_bags,)
    labels : data frame, Series with ids as its index, mapping of ids to labels, or mapping of names to columns
    label : column, optional
        Default: the only one besides the ids, or one that is called so.
    bag : column, optional
        Column of the ids. Default: the one that has most of them.
    """
    columns = _columns(labels)
    for name in (label, bag):
        if name is not None and name not in columns:
            raise InputError(
                f"The table of labels has no column {name!r}; its columns are {listed(columns)}."
                f"{did_you_mean(name, map(str, columns))}"
            )
    texts = {name: _texts(values) for name, values in columns.items() if name != label or name == bag}
    wanted = _texts(ids)
    key, rows = _rows_by_id(texts if bag is None else {bag: texts[bag]}, wanted)
    if label is None:
        label = _label_column([name for name in columns if name != key])
    values = columns[label]
    absent = _is_blank(values)
    for text, places in rows.items():
        known = [place for place in places if not absent[place]]
        other = next((place for place in known if values[place] != values[known[0]]), None)
        if other is not None:
            raise InputError(
                f"The table of labels has two labels of {text}, {values[known[0]]!s} and {values[other]!s}: a bag has "
                "one label. Correct the table."
            )
        rows[text] = known[:1] or places[:1]
    unknown = list(rows.keys() - {*wanted})
    if unknown:
        n = len(unknown)
        warn_user(f"{n} label{'' if n == 1 else 's'} of the table belong{'s' * (n == 1)} to no bag: {listed(unknown)}.")
    place = np.array([rows[text][0] if text in rows else -1 for text in wanted])
    without = (place < 0) | absent[place]
    return values[place], without, str(label)


def _columns(labels: Any) -> dict[Any, Array]:
    """Return the columns of a table of labels."""
    names, index = arrays.column_names(labels), getattr(getattr(labels, "index", None), "tolist", None)
    if names is not None:
        return {name: arrays.as_array(labels[name]) for name in names}
    if isinstance(labels, Mapping) and labels:
        if all(isinstance(each, list | tuple | np.ndarray) for each in labels.values()):
            return {name: arrays.as_array(each) for name, each in labels.items()}
        return {"id": arrays.as_array(list(labels)), "label": arrays.as_array(list(labels.values()))}
    if index is not None:
        return {"id": arrays.as_array(index()), "label": arrays.as_array(labels.tolist())}
    raise InputTypeError(
        f"Expected a table of labels (a data frame with a column of ids and one of labels, or a mapping of ids to "
        f"labels), got {described(labels)}."
    )


def _texts(values: Array) -> list[str]:
    """Return ids as text: whole numbers without a point."""
    items = (int(each) if isinstance(each, float) and each.is_integer() else each for each in values.tolist())
    return [str(each).strip() for each in items]


def _rows_by_id(texts: Mapping[Any, list[str]], wanted: list[str]) -> tuple[Any, dict[str, list[int]]]:
    """Return the column that has most of the ids, and the rows of each id in it.

    Where no id is found, the endings of file names do not count: the bag ``slide7`` may be called ``slide7.svs``.
    """
    if not texts:
        raise InputError("The table of labels has no column of ids beside the labels: it needs the id of each bag.")
    full = {text: text for text in wanted}
    for known, shorten in ((full, str), ({_stem(text): text for text in wanted}, _stem)):
        counts = {name: len({known.get(shorten(text)) for text in column} - {None}) for name, column in texts.items()}
        key = max(counts, key=lambda name: counts[name])
        if counts[key]:
            rows: dict[str, list[int]] = {}
            for place, text in enumerate(texts[key]):
                rows.setdefault(known.get(shorten(text), text), []).append(place)
            return key, rows
    first = next(iter(texts))
    raise InputError(
        f"No id of a bag is in the table of labels: bags are called {listed(wanted[:3])}; column {first!r} has "
        f"{listed(texts[first][:3])}. Write the same ids in both."
    )


def _stem(text: str) -> str:
    return _ENDING.sub("", text)


def _label_column(others: list[Any]) -> Any:
    likely = [name for like in LABEL_NAMES for name in others if str(name).lower() == like] or others
    if len(others) > 1 and len(likely) != 1:
        raise InputError(
            f"Several columns could be the label: {listed(likely)}. Choose one, as in label={likely[0]!r}."
        )
    if not likely:
        raise InputError("The table of labels has a single column: it needs one of ids and one of labels.")
    return likely[0]


def _is_blank(values: Array) -> npt.NDArray[np.bool_]:
    found = arrays.missing(values)
    if values.dtype.kind in "OUS":
        found |= [isinstance(each, str) and each.strip().lower() in _BLANK for each in values.tolist()]
    return found


def complete_rows(
    labels: Array, absent: npt.NDArray[np.bool_], bag_of_row: Array, where: Callable[[int], str]
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return labels (n_rows,) without gaps, and which bags (n_bags,) have none, in truth.

    ``absent`` (n_rows,): where labels are missing. ``bag_of_row`` (n_rows,): the number of the bag.
    """
    n_known = np.bincount(bag_of_row, weights=~absent)
    partly = absent & (n_known[bag_of_row] > 0)
    if partly.any():
        row = int(np.argmax(partly))
        why = "this row has no label, but another row of its bag has: write the label on every row of the bag."
        raise PlaceError(why, where(row), row)
    if absent.all():
        raise InputError("No bag has a label: the column is empty.")
    filled = labels.copy()
    filled[absent] = labels[np.argmin(absent)]
    return filled, n_known == 0


def labeled_bags(
    ids: Array, labels: Array, without: npt.NDArray[np.bool_], unlabeled: str
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return the labels of the bags to go on with, and their positions; see `UNLABELED`.

    Shapes: ``ids``, ``labels``, ``without`` (n_bags,).
    """
    n, everything = int(without.sum()), np.arange(len(ids))
    if unlabeled == "keep" and n:
        blank: Any = np.nan if labels.dtype.kind in "iuf" else None
        labels = labels.astype(np.float64 if blank is not None else object)
        labels[without] = blank
    elif n:
        which = f"{n} of the {len(ids)} bags {'has' if n == 1 else 'have'} no label"
        if unlabeled == "error" or n == len(ids):
            advice = "Label some." if n == len(ids) else f"Label {'it' if n == 1 else 'them'}, or leave "
            advice += "" if n == len(ids) else f"{'it' if n == 1 else 'them'} out with unlabeled='drop'."
            raise InputError(f"{which}: {listed(ids[without])}. {advice}")
        warn_user(f"{which} and {'is' if n == 1 else 'are'} left out: {listed(ids[without])}.")
        labels, everything = labels[~without], np.flatnonzero(~without)
        if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
            labels = labels.astype(np.int64)  # the missing ones had made them floating-point numbers
    return np.array(labels.tolist()) if labels.dtype == object and unlabeled != "keep" else labels, everything
