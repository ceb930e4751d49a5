"""A folder with one ``.npy`` file per bag and a ``labels.csv`` that lists them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError
from fuzzymil._utils.storage import folder_written_atomically
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import _fields
from fuzzymil.datasets.formats.csv import text_columns, write_columns
from fuzzymil.datasets.formats.files import DataFile, write_text

__all__ = ["FEATURES", "LABELS", "is_npy", "read_npy", "write_npy"]

LABELS = "labels.csv"
"""The list of bags, with the columns file, label (optional) and bag (optional, the bag's id)."""

FEATURES = "features.txt"
"""Feature names, one per line (optional)."""


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
    names, ids, labels = present, [Path(name).stem for name in present], None
    if (file.path / LABELS).exists():
        names, ids, labels = _listing(DataFile(file.path / LABELS))
        absent = next((name for name in names if name not in present), None)
        if absent is not None:
            raise file.error(f"has no file {absent!r}, which {LABELS} lists: add the file or remove its line")
        extra = next((name for name in present if name not in names), None)
        if extra is not None:
            raise file.error(f"contains {extra!r}, which {LABELS} does not list: add a line for it or remove the file")
    parts = [_array(file.path / name) for name in names]
    features = None
    if (file.path / FEATURES).exists():
        features = [line.strip() for _, line in DataFile(file.path / FEATURES).numbered_lines()]
    with file.naming_errors():
        return Bags.from_list(
            parts, features, ids=_fields.identities(ids), labels=None if labels is None else _fields.labels_of(labels)
        )


def _listing(listing: DataFile) -> tuple[list[str], list[str], list[str] | None]:
    columns, lines = text_columns(listing)
    unknown = set(columns) - {"file", "label", "bag"}
    if "file" not in columns or unknown:
        raise listing.error(f"expected the columns file, label and optionally bag, found {sorted(columns)}", lines[0])
    files = columns["file"]
    for n, name in enumerate(files):
        if PurePosixPath(name).name != name or PureWindowsPath(name).name != name:
            raise listing.error(f"{name!r} is outside the folder: list only files next to {LABELS}", lines[n + 1])
        if name in files[:n]:
            raise listing.error(f"duplicate file {name!r}: keep one line", lines[n + 1])
    ids = columns.get("bag") or [Path(name).stem for name in files]
    _fields.check_present(listing, lines[1:], ids, columns.get("label"))
    twice = first_repeated(ids)
    if twice is not None:
        raise listing.error(f"duplicate bag {ids[twice]}: bag ids must be unique", lines[twice + 1])
    return files, ids, columns.get("label")


def _array(path: Path) -> Array:
    file = DataFile(path)
    try:
        # Unpickling could run arbitrary code.
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise file.error(
            f"cannot be read as a numeric array ({problem}): save it again with numpy.save(path, array)"
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub":
        found = f"shape {array.shape} of type {array.dtype}" if isinstance(array, np.ndarray) else "an archive"
        raise file.error(f"contains {found}: a bag must be a 2-D numeric array (instances, features)")
    return array


def write_npy(bags: Bags, path: Path) -> None:
    """Write a new folder with one ``.npy`` file per bag, ``labels.csv`` and the feature names."""
    ids, labels = _fields.as_texts(bags, "a folder of arrays")
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
