"""MATLAB files of versions 5 to 7, in the layouts in which collections of bags are published.

Names are matched in any case. These layouts are recognized:

- arrays with one row per instance: instances in `INSTANCES`, the bag of each row in `BAGS`, and labels (one per row or
  one per bag) in `LABELS`; also as the fields of a struct, nested or not;
- a struct array with one element per bag and the fields `INSTANCES`, `LABELS` and optionally `NAMES`;
- a cell array with one matrix per bag, and labels in `LABELS`;
- a cell array with two columns, one row ``{matrix, label}`` per bag.

The files themselves (level 5) are read here in Python alone: compiled readers crash on some damaged files, and
allocate what a file claims to have. Every size in a file is checked against the bytes that are there, and against the
memory budget, before anything is allocated, so damage is an error and nothing else.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array, codes
from fuzzymil._utils.storage import written_atomically
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import DataFile

INSTANCES = ("instances", "instance", "x", "data", "features", "fea")
"""Names of the variable or field with the instances."""

BAGS = ("bag_ids", "bag_id", "bagids", "bagid", "milbag", "xtb", "bags", "bag")
"""Names of the variable with the bag of each row."""

LABELS = ("bag_labels", "baglab", "yb", "labels", "label", "y", "class", "targets", "target", "nlab")
"""Names of the variable or field with the labels."""

NAMES = ("name", "id", "bag_id", "bagid")
"""Names of the field with the bag id."""


def read_mat(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read a MATLAB file; ``bag`` and ``label`` name variables that are not recognized."""
    variables = _variables(file)
    _format.check_known("variable", bag, label, sorted(variables), file.problem)
    with file.naming_errors():
        found = _structs(file, variables, label)
        if found is None and not _has_rows(variables, bag):
            found = _cells(file, variables, label)
        return _long(file, variables, bag, label) if found is None else found


def _variables(file: DataFile) -> dict[str, Any]:
    if file.start.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise file.error("is a MATLAB 7.3 file (HDF5), which is not supported: in MATLAB, use save(name, ..., '-v7')")
    try:
        return _flat(read_variables(file.content))
    except TooLargeError as problem:
        raise file.too_large("has large variables", problem.n_bytes) from None
    except DamagedError as problem:
        raise file.error(f"is not a MATLAB file, or it is damaged ({problem}): download or save it again") from None


def _flat(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Replace single structs by their fields."""
    flat: dict[str, Any] = {}
    for name, value in variables.items():
        if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
            one = value.reshape(-1)[0]
            flat.update(_flat({field: one[field] for field in value.dtype.names}))
        else:
            flat[name] = value
    return flat


def _first_of(variables: Mapping[str, Any], names: Sequence[str]) -> Any:
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
        if any(name in names for name in INSTANCES):
            fields = {name: value[name].reshape(-1) for name in names.values()}
            labels = _first_of(fields, LABELS) if label is None else variables[str(label)]
            return _bags(file, _first_of(fields, INSTANCES), labels, _first_of(fields, NAMES))
    return None


def _cells(file: DataFile, variables: Mapping[str, Any], label: object) -> Bags | None:
    for value in variables.values():
        if not isinstance(value, np.ndarray) or value.dtype != object or not value.size:
            continue
        paired = value.ndim == 2 and value.shape[1] == 2 and all(np.size(item) == 1 for item in value[:, 1])
        cells = value[:, 0] if paired else value.reshape(-1)
        # Cells of one number each are a column of ids or labels.
        if all(np.asarray(cell).dtype.kind in "fiub" for cell in cells) and (paired or max(map(np.size, cells)) > 1):
            labels = value[:, 1] if paired else _first_of(variables, LABELS) if label is None else variables[str(label)]
            return _bags(file, cells, labels, None)
    return None


def _bags(file: DataFile, cells: Array, labels: Any, ids: Any) -> Bags:
    """Return bags from one matrix each."""
    parts = [_matrix(file, cell, f"bag {b + 1}") for b, cell in enumerate(cells)]
    if len({part.shape[1] for part in parts}) > 1 and len({part.shape[0] for part in parts}) == 1:
        parts = [part.T for part in parts]  # one instance per column
    target = None if labels is None else _column(file, labels, "labels")
    return Bags.from_list(parts, labels=target, ids=None if ids is None else _column(file, ids, "bag ids"))


def _has_rows(variables: Mapping[str, Any], bag: object) -> bool:
    """Return whether one matrix has all instances, so that a cell array can only contain the bag ids."""
    rows = _first_of(variables, INSTANCES)
    matrix = isinstance(rows, np.ndarray) and rows.dtype.kind != "O"
    return matrix and (bag is not None or _first_of(variables, BAGS) is not None)


def _long(file: DataFile, variables: Mapping[str, Any], bag: object, label: object) -> Bags:
    rows = _first_of(variables, INSTANCES)
    owners = _first_of(variables, BAGS) if bag is None else variables[str(bag)]
    labels = _first_of(variables, LABELS) if label is None else variables[str(label)]
    if rows is None or owners is None:
        raise file.error(
            f"has the variables {sorted(variables)}: expected instances in one of {', '.join(INSTANCES)}, the bag of "
            f"each row in one of {', '.join(BAGS)} and labels in one of {', '.join(LABELS)}; rename the variables, or "
            "choose them with bag=... and label=..."
        )
    instances, ids = _matrix(file, rows, "the instances"), _column(file, owners, "bag ids")
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
    names = _first_of(variables, ("feature_names", "featurenames"))
    truth = _first_of(variables, ("instance_labels",))
    return Bags.from_long(
        instances,
        ids,
        labels=target,
        feature_names=None if names is None else _column(file, names, "feature names").astype(str).tolist(),
        instance_labels=None if truth is None else _column(file, truth, "instance labels"),
    )


def write_mat(bags: Bags, path: Path) -> None:
    """Write arrays with one row per instance: instances, bag_ids, labels, feature_names, instance_labels."""
    from scipy.io import savemat

    _format.ids_and_labels(bags, "a MATLAB file")
    content: dict[str, Array] = {"instances": bags.instances, "bag_ids": _for_matlab(bags.ids[bags.bag_index])}
    if bags.labels is not None:
        content["labels"] = _for_matlab(bags.labels[bags.bag_index])
    if bags.instance_labels is not None:
        content["instance_labels"] = _for_matlab(bags.instance_labels)
    if bags.feature_names is not None:
        content["feature_names"] = _for_matlab(np.array(bags.feature_names))
    with written_atomically(path) as file:
        savemat(file, content, do_compression=True)


def _for_matlab(values: Array) -> Array:
    """Return values as MATLAB stores them: numbers as a column, text as a cell array."""
    if values.dtype.kind in "fiub":
        return values.reshape(-1, 1)
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = _format.values_as_text(values)
    return cells


# ---------------------------------------------------------------- the variables of a file

# Types of data elements: numbers are given by their NumPy type, without the byte order.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15

# Classes of arrays.
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_COMPLEX, _LOGICAL = 0x0800, 0x0200

_AS_NUMBERS = 16  # bytes that a value takes once more: as a number, and in the order of the bags
_DEEPEST = 30  # cells and structs in one another
_HEADER = 128


class DamagedError(ValueError):
    """The bytes are not those of a MATLAB file; the message says why."""


class TooLargeError(DamagedError):
    """The variables need more memory than the budget allows."""

    def __init__(self, n_bytes: float) -> None:
        super().__init__(memory.shortage(n_bytes) or "memory is full")
        self.n_bytes = n_bytes


class _Element(NamedTuple):
    kind: int
    content: memoryview
    end: int  # where the next element begins


def read_variables(content: bytes) -> dict[str, Any]:
    """Return the variables of a file by name.

    Numbers are arrays with their shape in MATLAB, sparse ones included; a char array becomes an array of its rows as
    text, a cell array an array of objects, and a struct array a structured array. Functions, objects of
    classes and sparse complex arrays are left out.

    ``content``: the whole file. Raises `DamagedError`.
    """
    if len(content) >= 4 and 0 in content[:4]:
        raise DamagedError("it is of level 4, or no MATLAB file at all: save it with -v7")
    if len(content) < _HEADER + 8:
        raise DamagedError("it is too short")
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None or content[125 if order == "<" else 124] != 1:
        raise DamagedError("its header does not name a known version")
    return _Reader(order).variables(memoryview(content)[_HEADER:])


class _Reader:
    """Reads the variables of a file, and counts what it allocates."""

    def __init__(self, order: str) -> None:
        self._order = order
        self._allowed = memory.budget()
        self._taken = 0

    def _take(self, n_bytes: int) -> None:
        self._taken += n_bytes
        if self._taken > self._allowed:
            raise TooLargeError(self._taken)

    def variables(self, content: memoryview) -> dict[str, Any]:
        """Return all variables by name."""
        found: dict[str, Any] = {}
        at = 0
        while at < len(content):
            if not any(content[at : at + 4096]) and not any(content[at:]):
                break  # padding
            element = self._element(content, at)
            at = element.end
            if element.kind == _COMPRESSED:
                element = self._element(self._unpack(element.content), 0)
            if element.kind != _MATRIX:
                raise DamagedError(f"an element of type {element.kind} is not a variable")
            name, value = self._array(element.content, 1)
            if value is None or not name:  # a function, or the workspace of functions
                continue
            if name in found:
                raise DamagedError(f"the variable {name!r} occurs twice")
            found[name] = value
        return found

    def _unpack(self, content: memoryview) -> memoryview:
        limit = self._allowed // 2
        stream = zlib.decompressobj()
        try:
            inner = stream.decompress(content, limit)
        except zlib.error as problem:
            raise DamagedError(str(problem)) from None
        if stream.unconsumed_tail:
            raise TooLargeError(2.0 * limit + 2)
        if not stream.eof:
            raise DamagedError("a variable is truncated")
        self._take(len(inner))
        return memoryview(inner)

    def _element(self, content: memoryview, at: int) -> _Element:
        if at + 8 > len(content):
            raise DamagedError("it is truncated")
        first, size = struct.unpack_from(f"{self._order}II", content, at)
        if first >> 16:  # up to four bytes of data, in the tag itself
            kind, size = first & 0xFFFF, first >> 16
            if size > 4:
                raise DamagedError(f"a small element claims {size} bytes")
            return _Element(kind, content[at + 4 : at + 4 + size], at + 8)
        start = at + 8
        if start + size > len(content):
            raise DamagedError(f"an element claims {size:,} bytes, but {len(content) - start:,} are left")
        padding = 0 if first == _COMPRESSED else -size % 8
        return _Element(first, content[start : start + size], min(start + size + padding, len(content)))

    def _numbers(self, element: _Element) -> Array:
        kind = _NUMBERS.get(element.kind)
        if kind is None:
            raise DamagedError(f"expected numbers, found an element of type {element.kind}")
        found = np.dtype(self._order + kind)
        if len(element.content) % found.itemsize:
            raise DamagedError("a number is cut")
        return np.frombuffer(element.content, found)

    def _array(self, content: memoryview, level: int) -> tuple[str, Any]:
        """Return the name of an array and its value; None for what has no value here."""
        if not len(content):
            return "", np.zeros((0, 0))
        if level > _DEEPEST:
            raise DamagedError(f"cells are nested more than {_DEEPEST} levels deep")
        flags = self._element(content, 0)
        words = self._numbers(flags)
        if len(words) != 2 or flags.kind != 6:
            raise DamagedError("an array has no flags")
        kind, is_complex, is_logical = (int(words[0]) & bits for bits in (0xFF, _COMPLEX, _LOGICAL))
        if kind == _OPAQUE:
            return "", None
        sizes = self._element(content, flags.end)
        shape = tuple(int(size) for size in self._numbers(sizes))
        if sizes.kind not in (5, 6) or not 2 <= len(shape) <= 32 or min(shape) < 0:
            raise DamagedError(f"an array has the shape {shape[:40]}")
        named = self._element(content, sizes.end)
        name, rest = bytes(named.content).decode("utf-8", "replace").rstrip("\0"), content[named.end :]
        if kind == _FUNCTION or (kind == _SPARSE and is_complex):
            return name, None
        if kind == _CELL:
            return name, self._cells(rest, 0, shape, level)
        if kind in (_STRUCT, _OBJECT):
            return name, self._struct(rest, kind, shape, level)
        if kind == _CHAR:
            return name, self._chars(rest, shape)
        if kind == _SPARSE:
            return name, self._sparse(rest, shape, bool(is_logical))
        if kind not in _CLASSES:
            raise DamagedError(f"an array has the unknown class {kind}")
        real = self._element(rest, 0)
        parts = [self._numbers(each) for each in (real, *([self._element(rest, real.end)] if is_complex else []))]
        if len(parts[-1]) != math.prod(shape) or len(parts[0]) != len(parts[-1]):
            raise DamagedError(f"an array of shape {shape} has {len(parts[0]):,} values")
        dtype = np.dtype(bool if is_logical else complex if is_complex else _CLASSES[kind])
        self._take(len(parts[0]) * (dtype.itemsize + _AS_NUMBERS))
        values = parts[0] + 1j * parts[1] if is_complex else parts[0]
        return name, values.astype(dtype).reshape(shape, order="F")

    def _cells(self, rest: memoryview, at: int, shape: tuple[int, ...], level: int) -> Array:
        count = math.prod(shape)
        if count > (len(rest) - at) // 8:
            raise DamagedError(f"a cell array of shape {shape} does not fit in {len(rest) - at:,} bytes")
        self._take(200 * count)
        cells = np.empty(count, dtype=object)
        for n in range(count):
            element = self._element(rest, at)
            if element.kind != _MATRIX:
                raise DamagedError(f"a cell contains an element of type {element.kind}")
            value = self._array(element.content, level + 1)[1]
            cells[n] = np.zeros((0, 0)) if value is None else value
            at = element.end
        return cells.reshape(shape, order="F")

    def _struct(self, rest: memoryview, kind: int, shape: tuple[int, ...], level: int) -> Array:
        at = self._element(rest, 0).end if kind == _OBJECT else 0  # past the name of the class
        length = self._element(rest, at)
        longest = self._numbers(length)
        if len(longest) != 1 or longest[0] < 1:
            raise DamagedError("a struct has no names of fields")
        listed = self._element(rest, length.end)
        size, text = int(longest[0]), bytes(listed.content)
        names = [text[n : n + size].partition(b"\0")[0].decode("utf-8", "replace") for n in range(0, len(text), size)]
        if len({*names}) < len(names) or "" in names:
            raise DamagedError(f"a struct has the fields {names[:12]}")
        if not names:
            return np.empty((0, 0), dtype=object)
        cells = self._cells(rest, listed.end, (len(names), *shape), level)
        found = np.empty(shape, dtype=[(name, object) for name in names])
        for n, name in enumerate(names):
            found[name] = cells[n]
        return found

    def _chars(self, rest: memoryview, shape: tuple[int, ...]) -> Array:
        """Return the rows of a char array as text; they are written column after column."""
        element, count = self._element(rest, 0), math.prod(shape)
        self._take(100 * len(element.content))  # a character is an object for a while
        codec = _TEXTS.get(element.kind)
        units = None if codec else self._numbers(element)
        if codec is not None:
            ends = "" if element.kind == 16 else "-le" if self._order == "<" else "-be"
            text = bytes(element.content).decode(codec + ends, "replace")
            if len(text) != count:  # SciPy counts characters, MATLAB their UTF-16 units
                units = np.frombuffer(text.encode("utf-16-le"), "<u2")
        if units is not None:
            if units.dtype.kind not in "iu" or (len(units) and not 0 <= int(units.min()) <= int(units.max()) < 2**16):
                raise DamagedError("text has an impossible character")
            text = "".join(map(chr, units.tolist()))
        if len(text) != count:
            raise DamagedError(f"text of shape {shape} has {len(text):,} characters")
        if not text:
            return np.array([], dtype=str)
        rows = np.array([*text], dtype=object).reshape(shape, order="F").reshape(-1, shape[-1]).tolist()
        whole = ["".join(row).encode("utf-16", "surrogatepass").decode("utf-16", "replace") for row in rows]
        return np.array([row.replace("\0", " ") for row in whole]).reshape(shape[:-1])

    def _sparse(self, rest: memoryview, shape: tuple[int, ...], is_logical: bool) -> Array:
        rows = self._element(rest, 0)
        ends = self._element(rest, rows.end)
        real = self._element(rest, ends.end)
        if is_logical and len(real.content) % 8:  # MATLAB writes bytes but calls them doubles
            real = real._replace(kind=2)
        row, end, values = (self._numbers(element) for element in (rows, ends, real))
        if len(shape) != 2 or len(end) != shape[1] + 1:
            raise DamagedError(f"a sparse array of shape {shape} has {len(end) - 1:,} columns")
        counts: Array = np.diff(end.astype(np.int64))
        n_values = int(counts.sum())
        if int(end[0]) != 0 or (counts < 0).any() or n_values > min(len(row), len(values)):
            raise DamagedError("the columns of a sparse array do not fit its values")
        row = row[:n_values].astype(np.int64)
        if ((row < 0) | (row >= shape[0])).any():
            raise DamagedError(f"a sparse array of shape {shape} has a value outside")
        self._take((8 + _AS_NUMBERS) * math.prod(shape))
        dense = np.zeros(shape)
        dense[row, np.repeat(np.arange(shape[1]), counts)] = values[:n_values]
        return dense


FORMATS["mat"] = Format(
    name="mat",
    title="MATLAB file",
    suffixes=(".mat",),
    read=read_mat,
    write=write_mat,
    starts=b"MATLAB",
    rank=2,
    storage="binary",
)
