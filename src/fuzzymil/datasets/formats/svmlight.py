"""Sparse text: ``instance:bag:label number:value ...``, one instance per line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats.files import DataFile, write_text

__all__ = ["is_svmlight", "read_svmlight", "write_svmlight"]

_HEAD = re.compile(r"([^\s:,]*):([^\s:,]+):([^\s:,]+)(?=\s|$)")  # instance:bag:label
_COUNTS = re.compile(r"\s*(\d+)\s+(\d+)\s*$")  # an optional first line: numbers of instances and features
_PAIRS = re.compile(r"(?:\s+\d+:[^\s:]+)*\s*")


def is_svmlight(file: DataFile, bag: object) -> bool:
    """Return whether the first line begins with ``instance:bag:label``, or the second after a line of counts."""
    lines = file.head[1:] if file.head and _COUNTS.match(file.head[0]) else file.head
    return bool(lines) and _HEAD.match(lines[0]) is not None


def read_svmlight(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read sparse text; features are numbered from 1, and omitted values are zero."""
    lines: list[int] = []
    owners: list[str] = []
    labels: list[str] = []
    rows: list[list[str]] = []
    promised: tuple[int, int] | None = None
    for number, line in file.numbered_lines():
        line = line.partition("#")[0]
        counts = _COUNTS.match(line)
        if counts and promised is None and not lines:
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
        lines.append(number)
        owners.append(head[2])
        labels.append(head[3])
        rows.append(line[head.end() :].replace(":", " ").split())
    if not lines:
        raise file.error("contains no instances: expected lines of instance:bag:label number:value; download it again")
    if promised is not None and promised[0] != len(lines):
        raise file.error(
            f"contains {len(lines)} instances, but its first line states {promised[0]}: it seems to be truncated; "
            "download it again"
        )
    dense = _dense(file, lines, rows, None if promised is None else promised[1])
    return _fields.assemble(file, dense, owners, labels, lines)


def _dense(
    file: DataFile, lines: Sequence[int], rows: list[list[str]], n_features: int | None
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    counts = np.array([len(row) // 2 for row in rows])
    at = np.repeat(np.arange(len(rows)), counts)
    fields = list(chain.from_iterable(rows))  # number, value, number, value, ...
    places = np.fromiter(map(int, fields[::2]), np.int64, len(at))
    values = _fields.flat_numbers(file, fields[1::2], lambda n: (lines[at[n]], fields[2 * n]))
    wide = n_features if n_features is not None else int(places.max(initial=0))
    wrong = (places < 1) | (places > wide)
    if wrong.any():
        n = int(np.argmax(wrong))
        raise file.error(
            f"there is no feature {places[n]}: features are numbered from 1 to {wide}"
            + (" (the first line says so)" if n_features is not None and places[n] else "; add 1 to every number"),
            lines[at[n]],
        )
    if not wide:
        raise file.error("contains no features: expected pairs of number:value; download it again")
    if wide > 10**9 // max(len(rows), 1):
        raise file.error(
            f"has {len(rows)} instances with {wide} features, too many for a dense array: select fewer features"
        )
    taken = np.bincount(at * wide + places - 1, minlength=1)
    if taken.max() > 1:
        n = int(np.argmax(taken))
        raise file.error(f"duplicate feature {n % wide + 1}: keep one value", lines[n // wide])
    dense = np.zeros((len(rows), wide))
    dense[at, places - 1] = values
    return dense


def _complain(file: DataFile, number: int, rest: str) -> None:
    good = re.match(r"(?:\s+\d+:[^\s:]+(?=\s|$))*", rest)
    odd = (rest[good.end() :] if good else rest).split()[0]
    cut = file.is_cut(number) and file.text.endswith(odd)
    advice = "the file seems to be truncated here: download it again" if cut else "write pairs such as 3:0.5"
    raise file.error(f"expected number:value, found {odd[:40]!r}; {advice}", number)


def write_svmlight(bags: Bags, path: Path) -> None:
    """Write sparse text with the counts on the first line, without feature names."""
    ids, found = _fields.as_texts(bags, "sparse text", needs_labels=True)
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
