"""The variables of MATLAB files of level 4 and 5 (up to version 7), read in Python alone.

Compiled readers crash on some damaged files. Here every size in a file is checked against the bytes that are there
before anything is allocated, so damage is an error and nothing else.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array

# Types of data elements: numbers are given by their NumPy type, without the byte order.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15

# Classes of arrays.
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_COMPLEX, _LOGICAL = 0x0800, 0x0200

_OLD_NUMBERS = ("f8", "f4", "i4", "i2", "u2", "u1")  # of level 4
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


def variables(content: bytes) -> dict[str, Any]:
    """Return the variables of a file by name.

    Numbers are arrays with their shape in MATLAB, sparse ones included; a char array becomes an array of its rows as
    text, a cell array an array of objects, and a struct array a structured array. Functions, objects of
    classes and sparse complex arrays are left out.

    Parameters
    ----------
    content : bytes
        The whole file.

    Raises
    ------
    DamagedError

    Examples
    --------
    >>> import io
    >>> from scipy.io import savemat
    >>> file = io.BytesIO()
    >>> savemat(file, {"x": np.eye(2), "name": "two"})
    >>> variables(file.getvalue())
    {'x': array([[1., 0.],
           [0., 1.]]), 'name': array(['two'], dtype='<U3')}
    """
    if len(content) >= 4 and 0 in content[:4]:
        return _OldReader(content).variables()
    if len(content) < _HEADER + 8:
        raise DamagedError("it is too short")
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None or content[125 if order == "<" else 124] != 1:
        raise DamagedError("its header does not name a known version")
    return _Reader(order).variables(memoryview(content)[_HEADER:])


class _Budget:
    """Counts what has been allocated."""

    def __init__(self) -> None:
        self._allowed = memory.budget()
        self._taken = 0

    def take(self, n_bytes: int) -> None:
        self._taken += n_bytes
        if self._taken > self._allowed:
            raise TooLargeError(self._taken)


class _Reader:
    """Reads level 5."""

    def __init__(self, order: str) -> None:
        self._order = order
        self._budget = _Budget()

    def variables(self, content: memoryview) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = 0
        while at < len(content):
            if not any(content[at : at + 4096]) and not any(content[at:]):
                break  # padding
            element = self._element(content, at)
            at = element.end
            if element.kind == _COMPRESSED:
                inner = self._unpacked(element.content)
                element = self._element(inner, 0)
            if element.kind != _MATRIX:
                raise DamagedError(f"an element of type {element.kind} is not a variable")
            name, value = self._array(element.content, 1)
            if value is None or not name:  # a function, or the workspace of functions
                continue
            if name in found:
                raise DamagedError(f"the variable {name!r} occurs twice")
            found[name] = value
        return found

    def _unpacked(self, content: memoryview) -> memoryview:
        limit = memory.budget() // 2
        stream = zlib.decompressobj()
        try:
            inner = stream.decompress(content, limit)
        except zlib.error as problem:
            raise DamagedError(str(problem)) from None
        if stream.unconsumed_tail:
            raise TooLargeError(2.0 * limit + 2)
        if not stream.eof:
            raise DamagedError("a variable is truncated")
        self._budget.take(len(inner))
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
        kind, options = int(words[0]) & 0xFF, int(words[0])
        if kind == _OPAQUE:
            return "", None
        sizes = self._element(content, flags.end)
        shape = tuple(int(size) for size in self._numbers(sizes))
        if sizes.kind not in (5, 6) or not 2 <= len(shape) <= 32 or min(shape) < 0:
            raise DamagedError(f"an array has the shape {shape[:40]}")
        named = self._element(content, sizes.end)
        name = bytes(named.content).decode("utf-8", "replace").rstrip("\0")
        if kind == _FUNCTION:
            return name, None
        rest = content[named.end :]
        if kind == _CELL:
            return name, self._cells(rest, 0, shape, level)
        if kind in (_STRUCT, _OBJECT):
            return name, self._struct(rest, kind, shape, level)
        if kind == _CHAR:
            return name, self._chars(rest, shape)
        if kind == _SPARSE:
            return name, None if options & _COMPLEX else self._sparse(rest, shape, bool(options & _LOGICAL))
        if kind not in _CLASSES:
            raise DamagedError(f"an array has the unknown class {kind}")
        return name, self._dense(rest, shape, np.dtype(_CLASSES[kind]), options)

    def _dense(self, rest: memoryview, shape: tuple[int, ...], kind: np.dtype[Any], options: int) -> Array:
        real = self._element(rest, 0)
        values = self._numbers(real)
        if len(values) != math.prod(shape):
            raise DamagedError(f"an array of shape {shape} has {len(values):,} values")
        self._budget.take(len(values) * kind.itemsize)
        found: Array = values.astype(np.bool_ if options & _LOGICAL else kind)
        if options & _COMPLEX:
            imaginary = self._numbers(self._element(rest, real.end))
            if len(imaginary) != len(values):
                raise DamagedError("the imaginary part of an array has another size")
            found = found + 1j * imaginary
        return found.reshape(shape, order="F")

    def _cells(self, rest: memoryview, at: int, shape: tuple[int, ...], level: int) -> Array:
        count = math.prod(shape)
        if count > (len(rest) - at) // 8:
            raise DamagedError(f"a cell array of shape {shape} does not fit in {len(rest) - at:,} bytes")
        self._budget.take(200 * count)
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
        element = self._element(rest, 0)
        if element.kind in _TEXTS:
            codec = _TEXTS[element.kind] + ("" if element.kind == 16 else "-le" if self._order == "<" else "-be")
            text = bytes(element.content).decode(codec, "replace")
            units = np.frombuffer(text.encode("utf-16-le", "replace"), "<u2")
            if len(units) > len(text) == math.prod(shape):  # SciPy counts characters, MATLAB their UTF-16 units
                units = np.frombuffer(text.encode("utf-32-le", "replace"), "<u4")
        else:
            units = self._numbers(element)
            if units.dtype.kind not in "iu" or (len(units) and not 0 <= int(units.min()) <= int(units.max()) < 2**16):
                raise DamagedError("text has an impossible character")
            units = units.astype("<u2")
        if len(units) != math.prod(shape):
            raise DamagedError(f"text of shape {shape} has {len(units):,} characters")
        return _joined(units, shape, self._budget)

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
        column = np.repeat(np.arange(shape[1]), counts)
        return _spread(row[:n_values].astype(np.int64), column, values[:n_values], shape, self._budget)


class _OldReader:
    """Reads level 4, in which every variable is a matrix."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self._budget = _Budget()

    def variables(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = 0
        while at < len(self._content):
            name, value, at = self._variable(at)
            if name in found:
                raise DamagedError(f"the variable {name!r} occurs twice")
            if value is not None:
                found[name] = value
        return found

    def _variable(self, at: int) -> tuple[str, Any, int]:
        if at + 20 > len(self._content):
            raise DamagedError("it is truncated")
        order = "<" if struct.unpack_from("<I", self._content, at)[0] < 5000 else ">"
        kind, n_rows, n_columns, is_complex, length = struct.unpack_from(f"{order}5i", self._content, at)
        big, zero, precision, layout = kind // 1000, kind // 100 % 10, kind // 10 % 10, kind % 10
        sensible = big in (0, 1) and zero == 0 and precision < len(_OLD_NUMBERS) and layout < 3
        if not sensible or min(n_rows, n_columns, length) < 0 or is_complex not in (0, 1):
            raise DamagedError("it does not begin like a MATLAB file")
        number = np.dtype(order + _OLD_NUMBERS[precision])
        start = at + 20 + length
        size = n_rows * n_columns * number.itemsize
        end = start + size * (2 if is_complex else 1)
        if end > len(self._content):
            raise DamagedError("it is truncated")
        name = bytes(self._content[at + 20 : start]).partition(b"\0")[0].decode("latin-1")
        self._budget.take(2 * size)
        values = np.frombuffer(self._content[start : start + size], number)
        found: Array = values.reshape((n_rows, n_columns), order="F").astype(number.newbyteorder("="))
        if layout == 2:
            return name, None if is_complex or n_columns == 4 else self._sparse(found), end
        if layout == 1:
            if values.size and not (np.isfinite(values) & (values >= 0) & (values < 2**16)).all():
                raise DamagedError("text has an impossible character")
            return name, _joined(values.astype("<u2"), found.shape, self._budget), end
        if is_complex:
            imaginary = np.frombuffer(self._content[start + size : end], number)
            found = found + 1j * imaginary.reshape(found.shape, order="F")
        return name, found, end

    def _sparse(self, table: Array) -> Array:
        """Return a dense array from rows of (row, column, value), the last of which has the shape."""
        if table.shape[1] != 3 or not len(table) or not np.isfinite(table[:, :2]).all():
            raise DamagedError("a sparse array has a wrong shape")
        if (np.abs(table[:, :2]) > 2**40).any():
            raise DamagedError("a sparse array has a wrong shape")
        places = table[:, :2].astype(np.int64)
        rows, columns = (places[:-1] - 1).T
        return _spread(rows, columns, table[:-1, 2], tuple(places[-1].tolist()), self._budget)


def _joined(units: Array, shape: tuple[int, ...], budget: _Budget) -> Array:
    """Return the rows of a char array, UTF-16 units or characters column after column, as text."""
    if not math.prod(shape):
        return np.array([], dtype=str)
    budget.take(16 * len(units))
    rows = np.ascontiguousarray(units.reshape(shape, order="F")).reshape(-1, shape[-1])
    codec = f"utf-{8 * units.dtype.itemsize}-le"
    texts = [row.tobytes().decode(codec, "replace").replace("\0", " ") for row in rows]
    return np.array(texts).reshape(shape[:-1])


def _spread(rows: Array, columns: Array, values: Array, shape: tuple[int, ...], budget: _Budget) -> Array:
    """Return a dense array with these values at these places."""
    if min(shape) < 0:
        raise DamagedError(f"a sparse array has the shape {shape}")
    if len(rows) and not (
        0 <= int(rows.min()) <= int(rows.max()) < shape[0] and 0 <= int(columns.min()) <= int(columns.max()) < shape[1]
    ):
        raise DamagedError(f"a sparse array of shape {shape} has a value outside")
    budget.take(8 * math.prod(shape))
    dense = np.zeros(shape, dtype=np.float64)
    dense[rows, columns] = values
    return dense
