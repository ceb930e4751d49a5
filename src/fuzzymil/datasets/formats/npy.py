"""Folders with one file of arrays per bag: ``.npy``, ``.npz``, or HDF5 as pathology tools write it for slides."""

from __future__ import annotations

import functools
import math
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError, MissingExtraError
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

FEATURE_NAMES, POSITION_NAMES = ("features", "feats", "embeddings", "x"), ("coords", "positions")
"""What the arrays of features and of positions are called in a file of several arrays, in any case."""

_NUMPY, _HDF5 = (".npy", ".npz"), (".h5", ".hdf5")
_MOST_HEADER = 1 << 14
_SAVE_AGAIN = "save it again"


class _Stored(NamedTuple):
    """An array in a file: its shape and type, and a function that loads it."""

    shape: tuple[int, ...]
    kind: np.dtype[Any]
    load: Callable[[], Array]

    @property
    def n_bytes(self) -> int:
        return self.kind.itemsize * math.prod(self.shape)


class _StoredBag(NamedTuple):
    """A bag in a file: its id, its features and, if they are known, the positions of its instances."""

    name: str
    features: _Stored
    positions: _Stored | None


def read_folder(file: DataFile, suffixes: tuple[str, ...]) -> Bags:
    """Read the bags of all files in the order of ``labels.csv``; without it, by name and without labels."""
    if not file.is_folder and suffixes == _NUMPY:
        raise file.error("is a file, but format='npy' needs a folder of .npy files: pass the folder")
    present = [path for path in file.members if path.suffix.lower() in suffixes] if file.is_folder else [file.path]
    if not present:
        raise file.error(f"contains no {suffixes[0]} files: it needs one per bag")
    ids = labels = None
    if not file.is_pattern and (file.path / LABELS).exists():
        names, ids, labels = _listing(DataFile(file.path / LABELS), {path.name for path in present})
        extra = next((path.name for path in present if path.name not in names), None)
        if extra is not None:
            raise file.error(f"contains {extra!r}, which {LABELS} does not list: add a line for it or remove the file")
        present = [file.path / name for name in names]
    files = [DataFile(path) for path in present]
    if suffixes == _HDF5:
        found = [bag for each in files for bag in _bags_of_hdf5(each)]
    else:
        found = [_bag_of(each, Path(each.path).stem, _arrays_of(each)) for each in files]
    total = sum(bag.features.n_bytes for bag in found)  # before the first is read
    file.require(4 * total, f"has {len(found):,} arrays of {memory.size_text(total)}")
    parts = [bag.features.load() for bag in found]
    features = None
    if not file.is_pattern and (file.path / FEATURES).exists():
        features = [line.strip() for _, line in DataFile(file.path / FEATURES).numbered_lines()]
    if ids is None:
        ids = np.array([bag.name for bag in found])
    with file.naming_errors():
        bags = Bags.from_list(parts, feature_names=features, ids=ids, labels=labels)
    if any(bag.positions is None for bag in found):
        return bags
    where = np.concatenate([bag.positions.load() for bag in found if bag.positions is not None])
    rows = np.arange(bags.n_instances) - np.repeat(bags.offsets[:-1], bags.sizes)
    source = Source(rows, dict(zip(("x", "y", "z"), where.T, strict=False)))
    return Bags(bags.instances, bags.offsets, ids=ids, feature_names=features, labels=labels, source=source)


def _bag_of(file: DataFile, name: str, stored: Mapping[str, _Stored]) -> _StoredBag:
    """Return the bag that the arrays of a file, or of a group in it, are."""
    by_name = {key.lower(): each for key, each in stored.items()}
    tables = [each for each in stored.values() if _is_table(each)]
    features = next((by_name[key] for key in FEATURE_NAMES if key in by_name), tables[0] if len(tables) == 1 else None)
    if features is None and len(stored) == 1:
        features = next(iter(stored.values()))
    if features is None:
        raise file.error(f"has no array called {FEATURE_NAMES[0]!r}, but {', '.join(stored) or 'nothing'}: rename it")
    if features.shape[:1] == (1,) and len(features.shape) == 3:  # a batch of one
        whole = features
        features = _Stored(whole.shape[1:], whole.kind, lambda: whole.load()[0])
    if not _is_table(features):
        raise file.error(
            f"contains shape {features.shape} of type {features.kind.str!r}: a bag must be a 2-D numeric array "
            "(instances, features)"
        )
    positions = next((by_name[key] for key in POSITION_NAMES if key in by_name), None)
    if positions is not None and not (_is_table(positions) and positions.shape[0] == features.shape[0]):
        positions = None
    return _StoredBag(name, features, positions)


def _is_table(stored: _Stored) -> bool:
    return len(stored.shape) == 2 and stored.kind.kind in "biuf"


# ---------------------------------------------------------------------- .npy and .npz


def _arrays_of(file: DataFile) -> dict[str, _Stored]:
    """Return the arrays of a ``.npy`` or ``.npz`` file, of which only the headers are read."""
    try:
        if file.suffix == ".npy":
            with file.path.open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                return {FEATURE_NAMES[0]: _stored(file, stream, size, lambda: np.load(file.path, **_SAFE))}
        with zipfile.ZipFile(file.path) as archive:
            found = {}
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as stream:
                    load = functools.partial(_member, file, name)
                    found[name] = _stored(file, stream, member.file_size, load)
            return found
    except OSError as problem:
        raise file.error(f"cannot be read ({problem.strerror or problem}): check its permissions") from None
    except InputError:
        raise
    except Exception:  # damage has many names
        raise file.error(f"cannot be read as a numeric array: {_SAVE_AGAIN} with numpy.save or numpy.savez") from None


_SAFE: dict[str, Any] = {"allow_pickle": False, "max_header_size": _MOST_HEADER}


def _member(file: DataFile, name: str) -> Array:
    with np.load(file.path, **_SAFE) as archive:
        return np.asarray(archive[name])


def _stored(file: DataFile, stream: IO[bytes], size: int, load: Callable[[], Any]) -> _Stored:
    """Return what an array's header promises; the size of the file has to agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = read(stream, max_header_size=_MOST_HEADER)
    expected, left = kind.itemsize * math.prod(shape), size - stream.tell()
    if min(shape, default=0) < 0 or (left != expected and kind.kind in "biuf"):
        raise file.error(
            f"has {left:,} bytes of values, but its header states {expected:,} (shape {shape}): it is damaged or "
            f"truncated; {_SAVE_AGAIN}"
        )

    return _Stored(tuple(shape), kind, functools.partial(_loaded, file, load))


# ---------------------------------------------------------------------- HDF5


def _bags_of_hdf5(file: DataFile) -> list[_StoredBag]:
    """Return the bag in an HDF5 file, called like the file; or those in its groups or datasets, called like these."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError('HDF5 files need h5py, which is not installed: pip install "fuzzymil[hdf5]".') from None

    def load(place: str) -> Array:
        with h5py.File(file.path, "r") as content:
            return np.asarray(content[place][()])

    def arrays_in(group: Any) -> dict[str, _Stored]:
        found = {}
        for name in group:
            own = isinstance(group.get(name, getlink=True), h5py.HardLink)
            if not own or (isinstance(group[name], h5py.Dataset) and (group[name].external or group[name].is_virtual)):
                raise file.error(f"has {name!r} in another place or file: copy the values into this file")
            if isinstance(group[name], h5py.Dataset):
                data = group[name]
                found[name] = _Stored(data.shape or (), data.dtype, functools.partial(_loaded, file, load, data.name))
        return found

    try:
        with h5py.File(file.path, "r") as content:
            own = arrays_in(content)
            groups = [name for name in content if isinstance(content[name], h5py.Group)]
            if any(name.lower() in FEATURE_NAMES for name in own) or len(own) == 1 > len(groups):
                return [_bag_of(file, file.path.stem, own)]
            several = {name: arrays_in(content[name]) for name in groups} | {name: {name: own[name]} for name in own}
    except InputError:
        raise
    except Exception as problem:  # damage has many names
        raise file.error(f"is not an HDF5 file, or it is damaged ({problem!s:.100}): {_SAVE_AGAIN}") from None
    if not several:
        raise file.error(f"is empty: it needs a 2-D dataset called {FEATURE_NAMES[0]!r}")
    return [_bag_of(file, name, arrays) for name, arrays in several.items()]


def _loaded(file: DataFile, load: Callable[..., Any], *place: Any) -> Array:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(load(*place))
    except Exception:  # values may be damaged where their header is not
        raise file.error(f"is damaged, or changed while it was read: {_SAVE_AGAIN}") from None


# ---------------------------------------------------------------------- the list of bags


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
        labels = None
        if "label" in columns:
            labels, _ = _format.row_labels(listing, TextSeries(columns["label"], rows), source)
        return files, _format.row_ids(listing, TextSeries(ids, rows), source), labels


# ---------------------------------------------------------------------- writing


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
    title="folder of .npy or .npz files",
    suffixes=("",),
    read=lambda file, bag=None, label=None: read_folder(file, _NUMPY),
    write=write_npy,
    members=_NUMPY,
    rank=2,
    takes_columns=False,
    storage="folder",
)
FORMATS["hdf5"] = Format(
    name="hdf5",
    title="HDF5",
    suffixes=_HDF5,
    read=lambda file, bag=None, label=None: read_folder(file, _HDF5),
    members=_HDF5,
    rank=2,
    takes_columns=False,
    storage="binary",
)
