"""Sparse text: ``instance:bag:label number:value ...``, one instance per line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.bags.series import TextBuilder
from fuzzymil.bags.table import not_a_number
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import DataFile, write_text

_HEAD = re.compile(r"([^\s:,]*):([^\s:,]+):([^\s:,]+)(?=\s|$)")  # instance:bag:label
_COUNTS = re.compile(r"\s*([0-9]{1,18})\s+([0-9]{1,18})\s*$")  # an optional first line: how many instances and features
_PAIRS = re.compile(r"(?:\s+[0-9]+:[^\s:]+)*\s*")
_MOST_DIGITS = 18  # of the number of a feature
_BLOCK = 1 << 18  # fields that are text at a time
_PER_ROW, _PER_PAIR = 120, 48  # bytes, besides those of the dense array


def is_svmlight(file: DataFile, bag: object) -> bool:
    """Return whether the first line begins with ``instance:bag:label``, or the second after a line of counts."""
    lines = file.head[1:] if file.head and _COUNTS.match(file.head[0]) else file.head
    return bool(lines) and _HEAD.match(lines[0]) is not None


def read_svmlight(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read sparse text; features are numbered from 1, and omitted values are zero."""
    pairs = _Pairs(file)
    owners, labels = TextBuilder(), TextBuilder()
    promised: tuple[int, int] | None = None
    for number, line in file.numbered_lines():
        line = line.partition("#")[0]
        counts = _COUNTS.match(line)
        if counts and promised is None and not pairs.lines:
            promised = int(counts[1]), int(counts[2])
            continue
        head = _HEAD.match(line)
        if head is None:
            if not line.strip():
                continue
            raise file.error(
                f"expected instance:bag:label, found {line.split()[0][:40]!r}: the line must begin with three "
                "parts separated by colons",
                number,
            )
        if not _PAIRS.fullmatch(line, head.end()):
            _complain(file, number, line[head.end() :])
        owners.extend((head[2],))
        labels.extend((head[3],))
        pairs.add(number, line[head.end() :].replace(":", " ").split())
    n_rows = len(pairs.lines)
    if not n_rows:
        raise file.error("contains no instances: expected lines of instance:bag:label number:value; download it again")
    if promised is not None and promised[0] != n_rows:
        raise file.error(
            f"contains {n_rows} instances, but its first line states {promised[0]}: it seems to be truncated; "
            "download it again"
        )
    dense = pairs.dense(None if promised is None else promised[1])
    return _fields.bags_of_rows(file, dense, owners.build(), labels.build(), pairs.lines)


class _Pairs:
    """Pairs of feature number and value, converted from text in blocks."""

    def __init__(self, file: DataFile) -> None:
        self.file = file
        self.lines: list[int] = []  # of the instances
        self._counts: list[int] = []  # pairs on each of them
        self._fields: list[str] = []  # number, value, number, value, ... that are still text
        self._first = 0  # the instance with which they begin
        self._places: list[Array] = []
        self._values: list[Array] = []

    def add(self, line: int, fields: list[str]) -> None:
        """Add an instance."""
        self.lines.append(line)
        self._counts.append(len(fields) // 2)
        self._fields += fields
        if len(self._fields) + len(self.lines) - self._first >= _BLOCK:
            self._convert()
            n_bytes = _PER_ROW * len(self.lines) + _PER_PAIR * sum(map(len, self._values))
            self.file.require(n_bytes, f"has more than {len(self.lines):,} instances")

    def _convert(self) -> None:
        fields, counts = self._fields, self._counts[self._first :]
        at = np.repeat(np.arange(self._first, len(self.lines)), counts)
        long = next((n for n, field in enumerate(fields[::2]) if len(field) > _MOST_DIGITS), None)
        if long is not None:
            number = fields[2 * long][:40]
            raise self.file.error(f"there is no feature {number}: use smaller numbers", self.lines[at[long]])
        self._places.append(np.fromiter(map(int, fields[::2]), np.int64, len(at)))
        values, bad = _fields.parse_numbers(fields[1::2])
        if bad is not None:
            raise self.file.error(not_a_number(fields[2 * bad + 1].strip()), self.lines[at[bad]], fields[2 * bad])
        self._values.append(values)
        self._fields, self._first = [], len(self.lines)

    def dense(self, n_features: int | None) -> Array:
        """Return all instances as an array of shape (n_instances, n_features)."""
        self._convert()
        file, n_rows = self.file, len(self.lines)
        at = np.repeat(np.arange(n_rows), self._counts)
        places, values = np.concatenate(self._places), np.concatenate(self._values)
        wide = n_features if n_features is not None else int(places.max(initial=0))
        wrong = (places < 1) | (places > wide)
        if wrong.any():
            n = int(np.argmax(wrong))
            raise file.error(
                f"there is no feature {places[n]}: features are numbered from 1 to {wide}"
                + (" (the first line says so)" if n_features is not None and places[n] else "; add 1 to every number"),
                self.lines[at[n]],
            )
        if not wide:
            raise file.error("contains no features: expected pairs of number:value; download it again")
        # The array, a copy in the order of the bags, a mask; and a name for each feature.
        file.require(
            wide * (24 * n_rows + 100) + _PER_ROW * n_rows + _PER_PAIR * len(values),
            f"has {n_rows:,} instances with {wide:,} features, too many for a dense array",
        )
        order = np.lexsort((places, at))
        again = (np.diff(at[order]) == 0) & (np.diff(places[order]) == 0)
        if again.any():
            n = int(order[1:][again].min())
            raise file.error(f"duplicate feature {places[n]}: keep one value", self.lines[at[n]])
        dense = np.zeros((n_rows, wide))
        dense[at, places - 1] = values
        return dense


def _complain(file: DataFile, number: int, rest: str) -> None:
    good = re.match(r"(?:\s+[0-9]+:[^\s:]+(?=\s|$))*", rest)
    odd = (rest[good.end() :] if good else rest).split()[0]
    cut = rest.endswith(odd) and file.is_cut(number)
    advice = "the file seems to be truncated here: download it again" if cut else "write pairs such as 3:0.5"
    raise file.error(f"expected number:value, found {odd[:40]!r}; {advice}", number)


def write_svmlight(bags: Bags, path: Path) -> None:
    """Write sparse text with the counts on the first line, without feature names."""
    ids, found = _fields.ids_and_labels(bags, "sparse text", needs_labels=True)
    labels = found or []
    odd = next((text for text in ids + labels if re.search(r"[\s:#,]", text)), None)
    if odd is not None:
        raise InputError(
            f"{odd!r} contains a space, comma, colon or #, which sparse text does not allow: rename it or write CSV."
        )
    lines = [f"{bags.n_instances} {bags.n_features}"]
    for i, (b, row) in enumerate(zip(bags.bag_index.tolist(), bags.instances, strict=True)):
        kept = np.flatnonzero(row != 0)  # NaN is kept as well
        pairs = [
            f"{d + 1}:{_fields.number_text(v) or 'nan'}" for d, v in zip(kept.tolist(), row[kept].tolist(), strict=True)
        ]
        lines.append(" ".join([f"{i}:{ids[b]}:{labels[b]}", *pairs]))
    write_text(path, "\n".join(lines) + "\n")


FORMATS["svmlight"] = Format(
    name="svmlight",
    title="sparse text, instance:bag:label number:value ...",
    suffixes=(".data", ".svm", ".svmlight", ".libsvm"),
    read=read_svmlight,
    write=write_svmlight,
    is_match=is_svmlight,
    takes_columns=False,
)
