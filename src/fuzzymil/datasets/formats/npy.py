"""A folder with one ``.npy`` file a bag and a ``labels.csv`` that lists them."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import delimited, table
from fuzzymil.datasets.formats.files import DataFile, DataFileError, write_text

__all__ = ["FEATURES", "LABELS", "read_npy", "write_npy"]

LABELS = "labels.csv"
"""The table of the bags: the columns file, label (optional) and bag (optional, the bag's name)."""

FEATURES = "features.txt"
"""Names of the features, one a line (optional)."""


def read_npy(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read a folder of ``.npy`` files, in the order of its ``labels.csv``, else by name without labels."""
    if not file.is_folder:
        raise file.error("is a file, but format='npy' needs a folder of .npy files: name the folder")
    present = sorted(path.name for path in file.path.glob("*.npy"))
    if not present:
        raise file.error("holds no .npy files: put one 2-D array a bag (instances, features) there")
    names, ids, labels = present, [Path(name).stem for name in present], None
    if (file.path / LABELS).exists():
        names, ids, labels = _listing(DataFile(file.path / LABELS))
        absent = next((name for name in names if name not in present), None)
        if absent is not None:
            raise file.error(f"has no file {absent!r}, which {LABELS} lists: add it or take its line out")
        extra = next((name for name in present if name not in names), None)
        if extra is not None:
            raise file.error(f"holds {extra!r}, which {LABELS} does not list: add a line for it or move it away")
    parts = [_array(file.path / name) for name in names]
    features = None
    if (file.path / FEATURES).exists():
        features = [line.strip() for _, line in DataFile(file.path / FEATURES).numbered_lines()]
    try:
        return Bags.from_list(
            parts, features, ids=table.identities(ids), labels=None if labels is None else table.labels_of(labels)
        )
    except InputError as problem:
        raise file.error(f"holds no usable bags. {str(problem).removesuffix('.')}") from None


def _listing(listing: DataFile) -> tuple[list[str], list[str], list[str] | None]:
    columns, lines = delimited.text_columns(listing)
    unknown = set(columns) - {"file", "label", "bag"}
    if "file" not in columns or unknown:
        raise listing.error(f"expected the columns file, label and perhaps bag, found {sorted(columns)}", lines[0])
    files = columns["file"]
    for n, name in enumerate(files):
        if PurePosixPath(name).name != name or PureWindowsPath(name).name != name:
            raise listing.error(f"{name!r} lies outside the folder: name files beside {LABELS} only", lines[n + 1])
        if name in files[:n]:
            raise listing.error(f"the file {name!r} stands twice: keep one line", lines[n + 1])
    ids = columns.get("bag") or [Path(name).stem for name in files]
    for what, column in (("bag id", ids), ("label", columns.get("label", []))):
        blank = next((n for n, value in enumerate(column) if value.lower() in table.ABSENT), None)
        if blank is not None:
            raise listing.error(f"this row has no {what}: give every row one", lines[blank + 1])
    if len(set(ids)) < len(ids):
        twice = next(n for n, name in enumerate(ids) if name in ids[:n])
        raise listing.error(f"bag {ids[twice]} stands twice: give every bag its own name", lines[twice + 1])
    return files, ids, columns.get("label")


def _array(path: Path) -> Array:
    file = DataFile(path)
    try:
        # Pickled objects could run a program while they are read.
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise DataFileError(
            f"{path} cannot be read as an array of numbers ({problem}): save it again with numpy.save(path, array)."
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub":
        found = f"shape {array.shape} of type {array.dtype}" if isinstance(array, np.ndarray) else "an archive"
        raise file.error(f"holds {found}: a bag is a 2-D array of numbers (instances, features)")
    return array


def write_npy(bags: Bags, path: Path) -> None:
    """Write a new folder with one ``.npy`` file a bag, ``labels.csv`` and the names of the features."""
    table.check_writable(bags, "a folder of arrays")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} is there already and not an empty folder: choose another name or remove it.")
    odd = next((name for name in bags.feature_names or () if name != name.strip() or not name.isprintable()), None)
    if odd is not None:
        raise InputError(f"The feature name {odd!r} does not fit on a line: rename it.")
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    temporary.mkdir()
    try:
        width = len(str(bags.n_bags))
        names = [f"bag-{b + 1:0{width}d}.npy" for b in range(bags.n_bags)]
        for name, instances in zip(names, bags, strict=True):
            np.save(temporary / name, instances, allow_pickle=False)
        columns = {"file": names, "bag": table.texts(bags.ids)}
        if bags.labels is not None:
            columns["label"] = table.texts(bags.labels)
        delimited.write_columns(temporary / LABELS, columns)
        if bags.feature_names is not None:
            write_text(temporary / FEATURES, "\n".join(bags.feature_names) + "\n")
        if path.exists():
            path.rmdir()
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
