"""A folder with one ``.npy`` file per bag and a ``labels.csv`` that lists them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError
from fuzzymil._utils.storage import folder_written_atomically
from fuzzymil.bags import Bags, Source
from fuzzymil.bags.series import TextSeries
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.csv import text_columns, write_columns
from fuzzymil.datasets.formats.files import DataFile, write_text

__all__ = ["FEATURES", "LABELS", "is_npy", "read_npy", "write_npy"]

LABELS = "labels.csv"
"""The list of bags, with the columns file, label (optional) and bag (optional, the bag's id)."""

FEATURES = "features.txt"
"""Feature names, one per line (optional)."""


# The header is the text of a Python dictionary; matching it, instead of evaluating it, cannot go wrong.
_NPY = re.compile(
    rb"\x93NUMPY(?:\x01\x00(?P<short>.{2})|[\x02\x03]\x00(?P<long>.{4}))(?P<text>\{)"
    rb"'descr':\s*(?P<kind>'[^']*'|\[.*?\]),"
    rb"\s*'fortran_order':\s*(?P<order>True|False),\s*'shape':\s*\((?P<shape>[0-9, ]*)\),?\s*\}[ ]*\n",
    re.DOTALL,
)
_NUMBERS = re.compile(r"'[<>|=](?:b1|[iu][1248]|f[248])'")
_SHAPE = re.compile(r"(0|[1-9][0-9]{0,17}), *(0|[1-9][0-9]{0,17}),? *")
_MOST_HEADER = 1 << 14
_SAVE_AGAIN = "save it again with numpy.save(path, array)"


def is_npy(file: DataFile, bag: object) -> bool:
    """Return whether a folder contains ``.npy`` files or a ``labels.csv``."""
    return file.is_folder and ((file.path / LABELS).exists() or any(file.path.glob("*.npy")))


def read_npy(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read a folder of ``.npy`` files in the order of ``labels.csv``; without it, by name and without labels."""
    if not file.is_folder:
        raise file.error("is a file, but format='npy' needs a folder of .npy files: pass the folder")
    present = sorted(path.name for path in file.path.glob("*.npy"))
    if not present:
        raise file.error("contains no .npy files: it needs one 2-D array (instances, features) per bag")
    names, ids, labels = present, np.array([Path(name).stem for name in present]), None
    if (file.path / LABELS).exists():
        names, ids, labels = _listing(DataFile(file.path / LABELS))
        known, listed = set(present), set(names)
        absent = next((name for name in names if name not in known), None)
        if absent is not None:
            raise file.error(f"has no file {absent!r}, which {LABELS} lists: add the file or remove its line")
        extra = next((name for name in present if name not in listed), None)
        if extra is not None:
            raise file.error(f"contains {extra!r}, which {LABELS} does not list: add a line for it or remove the file")
    parts = _arrays([file.path / name for name in names])
    features = None
    if (file.path / FEATURES).exists():
        features = [line.strip() for _, line in DataFile(file.path / FEATURES).numbered_lines()]
    with file.naming_errors():
        return Bags.from_list(parts, features, ids=ids, labels=labels)


def _listing(listing: DataFile) -> tuple[list[str], Array, Array | None]:
    """Return the names of files, and the ids and labels of their bags."""
    columns, lines = text_columns(listing)
    unknown = set(columns) - {"file", "label", "bag"}
    if "file" not in columns or unknown:
        raise listing.error(f"expected the columns file, label and optionally bag, found {sorted(columns)}", lines[0])
    files = columns["file"]
    for n, name in enumerate(files):
        if PurePosixPath(name).name != name or PureWindowsPath(name).name != name:
            raise listing.error(f"{name!r} is outside the folder: list only files next to {LABELS}", lines[n + 1])
    twice = first_repeated(files)
    if twice is not None:
        raise listing.error(f"duplicate file {files[twice]!r}: keep one line", lines[twice + 1])
    ids = columns.get("bag") or [Path(name).stem for name in files]
    twice = first_repeated(ids)
    if twice is not None:
        raise listing.error(f"duplicate bag {ids[twice]}: bag ids must be unique", lines[twice + 1])
    rows, source = np.arange(len(files)), Source(np.array(lines[1:]), place="line")
    with listing.naming_errors():
        labels = _fields.row_labels(TextSeries(columns["label"], rows), source) if "label" in columns else None
        return files, _fields.row_ids(TextSeries(ids, rows), source), labels


def _arrays(paths: Sequence[Path]) -> list[Array]:
    """Read one array per file; what they need together is asked for before the first is read."""
    headers = [_header(DataFile(path)) for path in paths]
    total = sum(header.kind.itemsize * math.prod(header.shape) for header in headers)
    DataFile(paths[0].parent).require(4 * total, f"has {len(paths):,} arrays of {memory.size_text(total)}")
    return [_array(path, header) for path, header in zip(paths, headers, strict=True)]


class _Header(NamedTuple):
    kind: np.dtype[Any]
    by_column: bool  # the order of the values
    shape: tuple[int, ...]
    size: int  # of the header itself, in bytes


def _header(file: DataFile) -> _Header:
    """Return what a ``.npy`` file promises to contain; its size has to agree."""
    try:
        with file.path.open("rb") as stream:
            start = stream.read(_MOST_HEADER)
            size = stream.seek(0, os.SEEK_END)
    except OSError as problem:
        raise file.error(f"cannot be read ({problem.strerror}): check its permissions") from None
    found = _NPY.match(start)
    if found is None or found.end() != found.start("text") + _length(found):
        raise file.error(f"cannot be read as a numeric array: {_SAVE_AGAIN}")
    kind, order, shape = (found[name].decode("latin-1") for name in ("kind", "order", "shape"))
    sizes = _SHAPE.fullmatch(shape)
    if sizes is None or _NUMBERS.fullmatch(kind) is None:
        raise file.error(
            f"contains shape ({shape}) of type {kind}: a bag must be a 2-D numeric array (instances, features)"
        )
    header = _Header(np.dtype(kind[1:-1]), order == "True", (int(sizes[1]), int(sizes[2])), found.end())
    expected = header.kind.itemsize * math.prod(header.shape)
    if size - header.size != expected:
        raise file.error(
            f"has {size - header.size:,} bytes of values, but its header states {expected:,} (shape {header.shape}): "
            f"it is damaged or truncated; {_SAVE_AGAIN}"
        )
    return header


def _length(found: re.Match[bytes]) -> int:
    return int.from_bytes(found["short"] or found["long"], "little")


def _array(path: Path, header: _Header) -> Array:
    with path.open("rb") as stream:
        stream.seek(header.size)
        values = np.fromfile(stream, header.kind, math.prod(header.shape))
    if len(values) != math.prod(header.shape):
        raise DataFile(path).error(f"changed while it was read: {_SAVE_AGAIN}")
    return values.reshape(header.shape, order="F" if header.by_column else "C")


def write_npy(bags: Bags, path: Path) -> None:
    """Write a new folder with one ``.npy`` file per bag, ``labels.csv`` and the feature names."""
    ids, labels = _fields.ids_and_labels(bags, "a folder of arrays")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} already exists and is not an empty folder: choose another name or remove it.")
    odd = next((name for name in bags.feature_names or () if name != name.strip() or not name.isprintable()), None)
    if odd is not None:
        raise InputError(f"The feature name {odd!r} cannot be written on one line: rename it.")
    with folder_written_atomically(path) as folder:
        width = len(str(bags.n_bags))
        names = [f"bag-{b + 1:0{width}d}.npy" for b in range(bags.n_bags)]
        for name, instances in zip(names, bags, strict=True):
            np.save(folder / name, instances, allow_pickle=False)
        columns = {"file": names, "bag": ids} | ({} if labels is None else {"label": labels})
        write_columns(folder / LABELS, columns)
        if bags.feature_names is not None:
            write_text(folder / FEATURES, "\n".join(bags.feature_names) + "\n")


FORMATS["npy"] = Format(
    name="npy",
    title="folder of .npy files",
    suffixes=("",),
    read=read_npy,
    write=write_npy,
    is_match=is_npy,
    rank=2,
    takes_columns=False,
    storage="folder",
)
