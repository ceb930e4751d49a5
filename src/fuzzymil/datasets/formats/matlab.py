"""MATLAB files up to version 7, in the layouts in which collections of bags are published.

Names are matched in any case. These layouts are recognized:

- arrays with one row per instance: instances in `INSTANCES`, the bag of each row in `BAGS`, and labels (one per row or
  one per bag) in `LABELS`; also as the fields of a struct, nested or not;
- a struct array with one element per bag and the fields `INSTANCES`, `LABELS` and optionally `NAMES`;
- a cell array with one matrix per bag, and labels in `LABELS`;
- a cell array with two columns, one row ``{matrix, label}`` per bag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, codes
from fuzzymil._utils.storage import written_atomically
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _columns, _fields, _mat
from fuzzymil.datasets.formats.files import DataFile

__all__ = ["BAGS", "INSTANCES", "LABELS", "NAMES", "is_mat", "read_mat", "write_mat"]

INSTANCES = ("instances", "instance", "x", "data", "features", "fea")
"""Names of the variable or field with the instances."""

BAGS = ("bag_ids", "bag_id", "bagids", "bagid", "milbag", "xtb", "bags", "bag")
"""Names of the variable with the bag of each row."""

LABELS = ("bag_labels", "baglab", "yb", "labels", "label", "y", "class", "targets", "target", "nlab")
"""Names of the variable or field with the labels."""

NAMES = ("name", "id", "bag_id", "bagid")
"""Names of the field with the bag id."""


def is_mat(file: DataFile, bag: object) -> bool:
    """Return whether a file is named ``.mat`` or begins like a MATLAB file."""
    return not file.is_folder and (file.suffix == ".mat" or file.content.startswith(b"MATLAB"))


def read_mat(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read a MATLAB file; ``bag`` and ``label`` name variables that are not recognized."""
    variables = _variables(file)
    _columns.check_known("variable", bag, label, sorted(variables), file.problem)
    with file.naming_errors():
        found = _structs(file, variables, label)
        if found is None and not _has_rows(variables, bag):
            found = _cells(file, variables, label)
        return _long(file, variables, bag, label) if found is None else found


def _variables(file: DataFile) -> dict[str, Any]:
    if file.content.startswith(b"MATLAB 7.3") or file.content.startswith(b"\x89HDF"):
        raise file.error("is a MATLAB 7.3 file (HDF5), which is not supported: in MATLAB, use save(name, ..., '-v7')")
    try:
        return _flattened(_mat.variables(file.content))
    except _mat.TooLargeError as problem:
        raise file.too_large("has large variables", problem.n_bytes) from None
    except _mat.DamagedError as problem:
        raise file.error(f"is not a MATLAB file, or it is damaged ({problem}): download or save it again") from None


def _flattened(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Replace single structs by their fields."""
    flat: dict[str, Any] = {}
    for name, value in variables.items():
        if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
            one = value.reshape(-1)[0]
            flat.update(_flattened({field: one[field] for field in value.dtype.names}))
        else:
            flat[name] = value
    return flat


def _named(variables: Mapping[str, Any], names: Sequence[str]) -> Any:
    lower = {name.lower(): name for name in reversed(list(variables))}
    return next((variables[lower[name]] for name in names if name in lower), None)


def _column(file: DataFile, values: Any, what: str) -> Array:
    """Return numbers or text as a 1-D array; whole numbers become integers."""
    array = np.asarray(values)
    if array.dtype == object:
        items = [np.asarray(item).reshape(-1) for item in array.reshape(-1)]
        if any(len(item) != 1 for item in items):
            raise file.error(f"has {what} with several values: store one number or text for each")
        array = np.concatenate(items) if items else np.empty(0)
    if array.dtype.kind == "U":
        return np.array([text.strip() for text in array.reshape(-1).tolist()])
    if array.dtype.kind not in "fiub":
        raise file.error(f"has {what} of type {array.dtype}: store numbers or text")
    array = array.reshape(-1)
    if array.dtype.kind == "f":
        # Beyond 2**53, a double may stand for an integer next to it.
        whole = bool(np.isfinite(array).all()) and bool((np.abs(array) < 2**53).all())
        return array.astype(np.int64) if whole and (array == np.floor(array)).all() else array
    return array if array.dtype == np.uint64 and array.max(initial=0) >= 2**63 else array.astype(np.int64)


def _matrix(file: DataFile, value: Any, what: str) -> Array:
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.kind not in "fiub":
        raise file.error(f"has no 2-D numeric array (instances, features) for {what}: store one")
    return value.astype(np.float64)


def _structs(file: DataFile, variables: Mapping[str, Any], label: object) -> Bags | None:
    for value in variables.values():
        names = {} if not isinstance(value, np.ndarray) else {name.lower(): name for name in value.dtype.names or ()}
        if not any(name in names for name in INSTANCES):
            continue
        fields = {name: [element[name] for element in value.reshape(-1)] for name in names.values()}
        parts = [_matrix(file, part, f"bag {b + 1}") for b, part in enumerate(_named(fields, INSTANCES))]
        labels = _named(fields, LABELS) if label is None else variables[str(label)]
        ids = _named(fields, NAMES)
        return Bags.from_list(
            parts,
            labels=None if labels is None else _column(file, _objects(labels), "labels"),
            ids=None if ids is None else _column(file, _objects(ids), "bag ids"),
        )
    return None


def _has_rows(variables: Mapping[str, Any], bag: object) -> bool:
    """Return whether one matrix has all instances, so that a cell array can only contain the bag ids."""
    rows = _named(variables, INSTANCES)
    matrix = isinstance(rows, np.ndarray) and rows.dtype.kind != "O"
    return matrix and (bag is not None or _named(variables, BAGS) is not None)


def _objects(values: Any) -> Array:
    if isinstance(values, np.ndarray):
        return values
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _cells(file: DataFile, variables: Mapping[str, Any], label: object) -> Bags | None:
    for value in variables.values():
        if not isinstance(value, np.ndarray) or value.dtype != object or not value.size:
            continue
        paired = value.ndim == 2 and value.shape[1] == 2 and all(np.size(item) == 1 for item in value[:, 1])
        cells = value[:, 0] if paired else value.reshape(-1)
        if not all(np.asarray(cell).dtype.kind in "fiub" for cell in cells):
            continue
        if max(np.size(cell) for cell in cells) == 1 and not paired:
            continue  # a column of ids or labels
        parts = [_matrix(file, cell, f"bag {b + 1}") for b, cell in enumerate(cells)]
        if len({part.shape[1] for part in parts}) > 1 and len({part.shape[0] for part in parts}) == 1:
            parts = [part.T for part in parts]  # one instance per column
        labels = value[:, 1] if paired else _named(variables, LABELS) if label is None else variables[str(label)]
        return Bags.from_list(parts, labels=None if labels is None else _column(file, labels, "labels"))
    return None


def _long(file: DataFile, variables: Mapping[str, Any], bag: object, label: object) -> Bags:
    rows = _named(variables, INSTANCES)
    owners = _named(variables, BAGS) if bag is None else variables[str(bag)]
    labels = _named(variables, LABELS) if label is None else variables[str(label)]
    if rows is None or owners is None:
        raise file.error(
            f"has the variables {sorted(variables)}: expected instances in one of {', '.join(INSTANCES)}, the bag of "
            f"each row in one of {', '.join(BAGS)} and labels in one of {', '.join(LABELS)}; rename the variables, or "
            "choose them with bag=... and label=..."
        )
    instances = _matrix(file, rows, "the instances")
    ids = _column(file, owners, "bag ids")
    if len(ids) != len(instances):
        raise file.error(f"has {len(instances)} instances but {len(ids)} bag ids: it needs one id per row")
    target = None if labels is None else _column(file, labels, "labels")
    bag_of_row = codes(ids)
    if target is not None and len(target) == bag_of_row.max() + 1 < len(instances):
        distinct = list(dict.fromkeys(ids.tolist()))
        if distinct != sorted(distinct):
            raise file.error(
                "has one label per bag, but its bags are not sorted, so the match is unclear: store one label per row"
            )
        target = target[bag_of_row]
    names = _named(variables, ("feature_names", "featurenames"))
    truth = _named(variables, ("instance_labels",))
    return Bags.from_long(
        instances,
        ids,
        labels=target,
        feature_names=None if names is None else [str(name) for name in _column(file, names, "feature names")],
        instance_labels=None if truth is None else _column(file, truth, "instance labels"),
    )


def write_mat(bags: Bags, path: Path) -> None:
    """Write arrays with one row per instance: instances, bag_ids, labels, feature_names, instance_labels."""
    from scipy.io import savemat

    _fields.as_texts(bags, "a MATLAB file")
    content: dict[str, Array] = {"instances": bags.instances, "bag_ids": _stored(bags.ids[bags.bag_index])}
    if bags.labels is not None:
        content["labels"] = _stored(bags.labels[bags.bag_index])
    if bags.instance_labels is not None:
        content["instance_labels"] = _stored(bags.instance_labels)
    if bags.feature_names is not None:
        content["feature_names"] = _stored(np.array(bags.feature_names))
    with written_atomically(path) as file:
        savemat(file, content, do_compression=True)


def _stored(values: Array) -> Array:
    """Return values as MATLAB stores them: numbers as a column, text as a cell array."""
    if values.dtype.kind in "fiub":
        return values.reshape(-1, 1)
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = _fields.texts(values)
    return cells
