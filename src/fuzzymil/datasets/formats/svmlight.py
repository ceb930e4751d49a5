"""Sparse text: ``instance:bag:label number:value ...``, one instance a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import table
from fuzzymil.datasets.formats.files import DataFile, write_text

__all__ = ["COUNTS", "HEAD", "read_svmlight", "write_svmlight"]

HEAD = re.compile(r"([^\s:,]*):([^\s:,]+):([^\s:,]+)(?=\s|$)")
"""``instance:bag:label``."""

COUNTS = re.compile(r"\s*(\d+)\s+(\d+)\s*$")
"""A first line that tells the numbers of instances and features."""

_PAIRS = re.compile(r"(?:\s+\d+:[^\s:]+)*\s*")


def read_svmlight(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read sparse text; features are numbered from 1, those left out are zero."""
    lines: list[int] = []
    owners: list[str] = []
    labels: list[str] = []
    rows: list[list[str]] = []
    promised: tuple[int, int] | None = None
    for number, line in file.numbered_lines():
        line = line.partition("#")[0]
        counts = COUNTS.match(line)
        if counts and promised is None and not lines:
            promised = int(counts[1]), int(counts[2])
            continue
        head = HEAD.match(line)
        if head is None:
            if not line.strip():
                continue
            raise file.error(
                f"expected instance:bag:label, found {line.split()[0][:40]!r}: the line must begin with three parts "
                "joined by colons",
                number,
            )
        if not _PAIRS.fullmatch(line, head.end()):
            _complain(file, number, line[head.end() :])
        lines.append(number)
        owners.append(head[2])
        labels.append(head[3])
        rows.append(line[head.end() :].replace(":", " ").split())
    if not lines:
        raise file.error("holds no instance: lines of instance:bag:label number:value were expected; get it again")
    if promised is not None and promised[0] != len(lines):
        raise file.error(
            f"holds {len(lines)} instances, but its first line promises {promised[0]}: it seems to be cut off; "
            "get it again"
        )
    dense = _dense(file, lines, rows, None if promised is None else promised[1])
    return table.assemble(file, dense, owners, labels, lines)


def _dense(
    file: DataFile, lines: Sequence[int], rows: list[list[str]], n_features: int | None
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    counts = np.array([len(row) // 2 for row in rows])
    at = np.repeat(np.arange(len(rows)), counts)
    fields = list(chain.from_iterable(rows))  # number, value, number, value, ...
    places = np.fromiter(map(int, fields[::2]), np.int64, len(at))
    values = table.flat_numbers(file, fields[1::2], lambda n: (lines[at[n]], fields[2 * n]))
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
        raise file.error("names no feature at all: pairs of number:value were expected; get it again")
    if wide > 10**9 // max(len(rows), 1):
        raise file.error(
            f"has {len(rows)} instances of {wide} features, too many to hold in full: choose fewer features"
        )
    taken = np.bincount(at * wide + places - 1, minlength=1)
    if taken.max() > 1:
        n = int(np.argmax(taken))
        raise file.error(f"feature {n % wide + 1} stands twice: keep one value", lines[n // wide])
    dense = np.zeros((len(rows), wide))
    dense[at, places - 1] = values
    return dense


def _complain(file: DataFile, number: int, rest: str) -> None:
    good = re.match(r"(?:\s+\d+:[^\s:]+(?=\s|$))*", rest)
    odd = (rest[good.end() :] if good else rest).split()[0]
    cut = file.is_cut(number) and file.text.endswith(odd)
    advice = "the file seems to be cut off here: get it again" if cut else "write pairs such as 3:0.5"
    raise file.error(f"expected number:value, found {odd[:40]!r}; {advice}", number)


def write_svmlight(bags: Bags, path: Path) -> None:
    """Write sparse text with the counts in its first line; names of features are lost."""
    table.check_writable(bags, "sparse text", needs_labels=True)
    ids, labels = table.texts(bags.ids), table.texts(bags.labels)  # type: ignore[arg-type]
    odd = next((text for text in ids + labels if re.search(r"[\s:#,]", text)), None)
    if odd is not None:
        raise InputError(
            f"{odd!r} holds a blank, a comma, a colon or #, which sparse text cannot: rename it or write CSV."
        )
    lines = [f"{bags.n_instances} {bags.n_features}"]
    for i, (b, row) in enumerate(zip(bags.bag_index.tolist(), bags.instances, strict=True)):
        kept = np.flatnonzero(row != 0)  # NaN is kept, too
        pairs = [
            f"{d + 1}:{table.number_text(v) or 'nan'}" for d, v in zip(kept.tolist(), row[kept].tolist(), strict=True)
        ]
        lines.append(" ".join([f"{i}:{ids[b]}:{labels[b]}", *pairs]))
    write_text(path, "\n".join(lines) + "\n")
