"""A folder with one ``.npy`` file per bag and a ``labels.csv`` that lists them."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError
from fuzzymil._utils.storage import folder_written_atomically
from fuzzymil.bags import Bags, Source
from fuzzymil.bags.series import TextSeries
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.csv import text_columns, write_columns
from fuzzymil.datasets.formats.files import DataFile, write_text

LABELS = "labels.csv"
"""The list of bags, with the columns file, label (optional) and bag (optional, the bag's id)."""

FEATURES = "features.txt"
"""Feature names, one per line (optional)."""


_MOST_HEADER = 1 << 14
_SAVE_AGAIN = "save it again with numpy.save(path, array)"


def read_npy(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read a folder of ``.npy`` files in the order of ``labels.csv``; without it, by name and without labels."""
    if not file.is_folder:
        raise file.error("is a file, but format='npy' needs a folder of .npy files: pass the folder")
    present = sorted(path.name for path in file.path.glob("*.npy"))
    if not present:
        raise file.error("contains no .npy files: it needs one 2-D array (instances, features) per bag")
    names, ids, labels = present, np.array([Path(name).stem for name in present]), None
    if (file.path / LABELS).exists():
        names, ids, labels = _listing(DataFile(file.path / LABELS), set(present))
        listed = set(names)
        extra = next((name for name in present if name not in listed), None)
        if extra is not None:
            raise file.error(f"contains {extra!r}, which {LABELS} does not list: add a line for it or remove the file")
    files = [DataFile(file.path / name) for name in names]
    total = sum(map(_size, files))  # before the first is read
    file.require(4 * total, f"has {len(files):,} arrays of {memory.size_text(total)}")
    parts = [_load(each) for each in files]
    features = None
    if (file.path / FEATURES).exists():
        features = [line.strip() for _, line in DataFile(file.path / FEATURES).numbered_lines()]
    with file.naming_errors():
        return Bags.from_list(parts, features, ids=ids, labels=labels)


def _listing(listing: DataFile, present: set[str]) -> tuple[list[str], Array, Array | None]:
    """Return the names of files, and the ids and labels of their bags."""
    columns, lines = text_columns(listing)
    unknown = set(columns) - {"file", "label", "bag"}
    if "file" not in columns or unknown:
        raise listing.error(f"expected the columns file, label and optionally bag, found {sorted(columns)}", lines[0])
    files = columns["file"]
    absent = next((n for n, name in enumerate(files) if name not in present), None)
    if absent is not None:
        what = f"there is no file {files[absent]!r} in this folder: add the file or remove this line"
        raise listing.error(what, lines[absent + 1])
    twice = first_repeated(files)
    if twice is not None:
        raise listing.error(f"duplicate file {files[twice]!r}: keep one line", lines[twice + 1])
    ids = columns.get("bag") or [Path(name).stem for name in files]
    twice = first_repeated(ids)
    if twice is not None:
        raise listing.error(f"duplicate bag {ids[twice]}: bag ids must be unique", lines[twice + 1])
    rows, source = np.arange(len(files)), Source(np.array(lines[1:]), place="line")
    with listing.naming_errors():
        labels = _format.row_labels(listing, TextSeries(columns["label"], rows), source) if "label" in columns else None
        return files, _format.row_ids(listing, TextSeries(ids, rows), source), labels


def _size(file: DataFile) -> int:
    """Return the number of bytes of the values that a ``.npy`` file promises; the size of the file has to agree."""
    try:
        with file.path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, kind = read(stream, max_header_size=_MOST_HEADER)
            left = os.fstat(stream.fileno()).st_size - stream.tell()
    except OSError as problem:
        raise file.error(f"cannot be read ({problem.strerror}): check its permissions") from None
    except Exception:  # damage has many names
        raise file.error(f"cannot be read as a numeric array: {_SAVE_AGAIN}") from None
    if len(shape) != 2 or kind.kind not in "biuf" or min(shape) < 0:
        raise file.error(
            f"contains shape {shape} of type {kind.str!r}: a bag must be a 2-D numeric array (instances, features)"
        )
    expected = kind.itemsize * math.prod(shape)
    if left != expected:
        raise file.error(
            f"has {left:,} bytes of values, but its header states {expected:,} (shape {shape}): it is damaged or "
            f"truncated; {_SAVE_AGAIN}"
        )
    return expected


def _load(file: DataFile) -> Array:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(np.load(file.path, allow_pickle=False, max_header_size=_MOST_HEADER))
    except (OSError, ValueError):
        raise file.error(f"changed while it was read: {_SAVE_AGAIN}") from None


def write_npy(bags: Bags, path: Path) -> None:
    """Write a new folder with one ``.npy`` file per bag, ``labels.csv`` and the feature names."""
    ids, labels = _format.ids_and_labels(bags, "a folder of arrays")
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
    members=(".npy",),
    rank=2,
    takes_columns=False,
    storage="folder",
)
