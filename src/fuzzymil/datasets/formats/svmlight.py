"""Sparse text: ``instance:bag:label number:value ...``, one instance per line."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.bags.series import TextBuilder
from fuzzymil.bags.table import not_a_number
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import CUT, DataFile, write_text

_HEAD = r"([^\s:,]*):([^\s:,]+):([^\s:,]+)(?=\s|$)"  # instance:bag:label
_COUNTS = r"\s*([0-9]{1,18})\s+([0-9]{1,18})\s*$"  # an optional first line: how many instances and features
_PAIRS = re.compile(r"(?:\s+[0-9]{1,18}:[^\s:]+)*\s*")
_PER_ROW, _PER_PAIR, _CHECKED = 120, 48, 4096  # bytes, besides the dense array; rows after which the memory is checked


def read_svmlight(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read sparse text; features are numbered from 1, and omitted values are zero."""
    owners, labels = TextBuilder(), TextBuilder()
    lines, counts, places, values = array("q"), array("q"), array("q"), array("d")
    promised: tuple[int, int] | None = None
    for number, line in file.numbered_lines():
        line = line.partition("#")[0]
        stated = re.match(_COUNTS, line)
        if stated and promised is None and not lines:
            promised = int(stated[1]), int(stated[2])
            continue
        head = re.match(_HEAD, line)
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
        fields = line[head.end() :].replace(":", " ").split()
        found, bad = _format.parse_numbers(fields[1::2])
        if bad is not None:
            raise file.error(not_a_number(fields[2 * bad + 1]), number, fields[2 * bad])
        owners.extend((head[2],))
        labels.extend((head[3],))
        lines.append(number)
        counts.append(len(found))
        places.extend(map(int, fields[::2]))
        values.frombytes(found.tobytes())
        if len(lines) % _CHECKED == 0:
            file.require(_PER_ROW * len(lines) + _PER_PAIR * len(values), f"has more than {len(lines):,} instances")
    if not lines:
        raise file.error("contains no instances: expected lines of instance:bag:label number:value; download it again")
    if promised is not None and promised[0] != len(lines):
        raise file.error(
            f"contains {len(lines)} instances, but its first line states {promised[0]}: it seems to be truncated; "
            "download it again"
        )
    at = np.repeat(np.arange(len(lines)), counts)
    wide = promised[1] if promised is not None else max(places, default=0)
    dense = _dense(file, np.array(lines), at, np.array(places), np.array(values), wide, stated=promised is not None)
    return _format.bags_of_rows(file, dense, owners.build(), labels.build(), lines)


def _dense(file: DataFile, lines: Array, at: Array, places: Array, values: Array, wide: int, *, stated: bool) -> Array:
    """Return all instances, shape (n_lines, wide), of the values at places from 1 in the instances ``at``."""
    wrong = (places < 1) | (places > wide)
    if wrong.any():
        n = int(np.argmax(wrong))
        why = " (the first line says so)" if stated and places[n] else "; add 1 to every number"
        raise file.error(
            f"there is no feature {places[n]}: features are numbered from 1 to {wide}{why}", int(lines[at[n]])
        )
    if not wide:
        raise file.error("contains no features: expected pairs of number:value; download it again")
    # The array, a copy in the order of the bags, a mask; and a name for each feature.
    size = f"has {len(lines):,} instances with {wide:,} features, too many for a dense array"
    file.require(wide * (24 * len(lines) + 100) + _PER_ROW * len(lines) + _PER_PAIR * len(values), size)
    order = np.lexsort((places, at))
    again = (np.diff(at[order]) == 0) & (np.diff(places[order]) == 0)
    if again.any():
        n = int(order[1:][again].min())
        raise file.error(f"duplicate feature {places[n]}: keep one value", int(lines[at[n]]))
    dense = np.zeros((len(lines), wide))
    dense[at, places - 1] = values
    return dense


def _complain(file: DataFile, number: int, rest: str) -> None:
    good = re.match(r"(?:\s+[0-9]{1,18}:[^\s:]+(?=\s|$))*", rest)
    odd = (rest[good.end() :] if good else rest).split()[0]
    if re.match("[0-9]{19}", odd):
        raise file.error(f"there is no feature {odd.partition(':')[0][:40]}: use smaller numbers", number)
    advice = CUT if rest.endswith(odd) and file.is_cut(number) else "write pairs such as 3:0.5"
    raise file.error(f"expected number:value, found {odd[:40]!r}; {advice}", number)


def write_svmlight(bags: Bags, path: Path) -> None:
    """Write sparse text with the counts on the first line, without feature names."""
    ids, found = _format.ids_and_labels(bags, "sparse text", needs_labels=True)
    labels = found or []
    odd = next((text for text in ids + labels if re.search(r"[\s:#,]", text)), None)
    if odd is not None:
        raise InputError(
            f"{odd!r} contains a space, comma, colon or #, which sparse text does not allow: rename it or write CSV."
        )
    lines = [f"{bags.n_instances} {bags.n_features}"]
    for i, (b, row) in enumerate(zip(bags.bag_index.tolist(), bags.instances.tolist(), strict=True)):
        pairs = (f"{d}:{_format.number_text(v) or 'nan'}" for d, v in enumerate(row, 1) if v != 0)  # NaN is not 0
        lines.append(" ".join([f"{i}:{ids[b]}:{labels[b]}", *pairs]))
    write_text(path, "\n".join(lines) + "\n")


FORMATS["svmlight"] = Format(
    name="svmlight",
    title="sparse text, instance:bag:label number:value ...",
    suffixes=(".data", ".svm", ".svmlight", ".libsvm"),
    read=read_svmlight,
    write=write_svmlight,
    recognized=(".svm", ".svmlight", ".libsvm"),
    head=f"(?m)({_COUNTS}\n)?{_HEAD}",
    takes_columns=False,
)
