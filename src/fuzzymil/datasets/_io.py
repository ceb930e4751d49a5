"""Reading, writing and streaming bags in any format."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags, BagStream, Columns
from fuzzymil.bags.labels import UNLABELED, labels_of_bags
from fuzzymil.bags.table import ColumnOptions
from fuzzymil.datasets.formats import FORMATS, DataFile, Format, NoBagColumnError, parquet, parse_labels
from fuzzymil.datasets.formats.csv import text_columns
from fuzzymil.datasets.formats.files import COMPRESSIONS, DataFileError, bare_name, check_target
from fuzzymil.datasets.proposals import proposal

Path_ = str | os.PathLike[str]
Column = str | int | None


@dataclass(frozen=True)
class Guess:
    """How a file will be read; ``str(guess)`` describes it.

    Attributes
    ----------
    format : str
        A name in ``FORMATS``.
    bag, label : str, int or None
        The column (or its position, if there is no header) or attribute of the bag id and the label. None if the
        format fixes them, or the file has no labels.
    encoding : str or None
        Of a text file; None is UTF-8.
    names : tuple of str
        All columns of a table with names.
    """

    format: str
    bag: Column = None
    label: Column = None
    encoding: str | None = None
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        known = FORMATS[self.format]
        if not known.has_columns:
            return known.title
        shown = [
            f"{role} {'column' if isinstance(at, str) else 'at position'} {at!r}"
            for role, at in (("bag", self.bag), ("label", self.label))
            if at is not None
        ]
        shown += ["each row a bag"] if self.names and self.bag is None else []
        return ", ".join([known.title, *shown, *(["no labels"] if self.label is None else [])])


def guess_format(
    path: Path_,
    *,
    format: str | None = None,
    bag: Column = None,
    label: Column = None,
    encoding: str | None = None,
    each_row: bool = False,
    features: Sequence[str] | None = None,
) -> Guess:
    r"""Return how `read_bags` would read a file, without reading its numbers.

    Parameters
    ----------
    path, format, bag, label, encoding, each_row, features
        As for `read_bags`.

    Returns
    -------
    Guess

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("bag,label,width\n1,0,2.5\n")
    >>> print(guess_format(folder / "a.csv"))
    CSV with a header, bag column 'bag', label column 'label'
    """
    file = DataFile(path, encoding)
    options = ColumnOptions.of(features, each_row=each_row)
    with _within_memory(file):
        known = _format(file, format, bag, label)
        if file.is_pattern and not known.members:
            file = DataFile(file.members[0], encoding)
        names = () if known.column_names is None else tuple(known.column_names(file))
        return Guess(known.name, *known.roles(file, names, bag, label, options), encoding, names)


def read_bags(
    path: Path_,
    *,
    format: str | None = None,
    bag: Column = None,
    label: Column = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    date: Sequence[str] | Mapping[str, Sequence[str]] = (),
    exclude_text: bool = False,
    keep: Sequence[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str | None = None,
    each_row: bool = False,
    columns: Columns | None = None,
    labels: Any = None,
    unlabeled: str = "error",
) -> Bags:
    r"""Read bags from a file, a folder, or all files whose names match a pattern (``slides/*.parquet``).

    The columns of a CSV or Parquet file may be numbers, text and dates: what becomes of them is described in
    `Bags.from_frame`. Columns that cannot be used are listed in one warning.

    Text files may be compressed with gzip, bzip2 or xz. Reading never executes code from a file, and a file that would
    need more memory than ``FUZZYMIL_MEMORY`` allows (default: half of the machine's) is refused before it is loaded.

    Parameters
    ----------
    path : path
    format : str, optional
        - ``"csv"``: a table with a header and one row per instance, with a column of bag ids and one of labels;
        - ``"headerless"``: rows of ``label,bag,f1,...``, separated by commas, semicolons, tabs or spaces;
        - ``"uci"``: the MUSK files of the UCI archive, ``molecule,conformation,f1,...,class``;
        - ``"svmlight"``: sparse text, ``instance:bag:label number:value ...``, features numbered from 1;
        - ``"arff"``: WEKA's relational ARFF;
        - ``"mat"``: MATLAB, versions 5 to 7; `fuzzymil.datasets.formats.mat` lists the layouts;
        - ``"parquet"``: a table like CSV, one file or a folder of files (requires pyarrow:
          ``pip install "fuzzymil[parquet]"``); ids and labels keep the types of their columns;
        - ``"npy"``: a folder with one ``.npy`` or ``.npz`` file per bag, and optionally a ``labels.csv`` with the
          columns ``file,label``; in an ``.npz`` file, the array called ``features``, or the only 2-D one;
        - ``"hdf5"``: ``.h5`` files as pathology tools write them for slides (requires h5py:
          ``pip install "fuzzymil[hdf5]"``), with a dataset ``features`` each, alone or in groups.

        Positions of instances (``coords``) in ``.npz`` and ``.h5`` files are kept in ``bags.source.extra``.

        Default: recognized by name and content; see `guess_format`.
    bag, label : str or int, optional
        The column (or its position from 0, if there is no header), attribute or variable of the bag id and the label.
        Default: columns called ``bag``, ``bag_id``, ... and ``label``, ``class``, ``target``, ``y``, ...; an error is
        raised if several match.
    drop : sequence of str
        Columns of a CSV or Parquet file to leave out altogether.
    features, categorical, date, exclude_text, keep, decimal, thousands, columns
        See `Bags.from_frame`; for CSV and Parquet files.
    each_row : bool
        Whether each row of a CSV or Parquet file is a bag of its own; its id is its number, counted from 1.
    labels : path, data frame, Series or mapping, optional
        Labels that are not in the file, one per bag, for `Bags.with_labels`; ``label`` is then one of its columns. A
        path is that of a CSV, Excel or Parquet file.
    unlabeled : {"error", "drop", "keep"}, default "error"
        What to do about bags without a label, where others have one: raise an error, leave them out with a warning, or
        keep them.
    encoding : str, optional
        Encoding of a text file, such as ``"cp1252"``, in which spreadsheets on Windows save CSV. Default: UTF-8.

    Returns
    -------
    Bags
        Ordered by first row. Labels that are whole numbers become integers. Empty fields and ``?`` are missing
        values (``NaN``).

    Raises
    ------
    DataFileError
        An `InputError` that names the file and the line and explains how to fix it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("bag,label,width\nb1,0,2.5\nb1,0,3\nb2,1,1\n")
    >>> bags = read_bags(folder / "a.csv")
    >>> bags
    Bags(2 bags, 3 instances, 1 feature, 1-2 instances per bag)
    >>> bags.ids.tolist(), bags.labels.tolist(), bags.feature_names
    (['b1', 'b2'], [0, 1], ('width',))
    """
    file, own = DataFile(path, encoding), label if labels is None else None
    with _within_memory(file):
        known = _format(file, format, bag, own)
    options = ColumnOptions.of(
        features, drop, categorical, date, exclude_text, keep, decimal, thousands, each_row, unlabeled
    )
    given: dict[str, object] = {
        "drop": drop,
        "features": features,
        "categorical": categorical,
        "date": date,
        "keep": keep,
    }
    given |= {"keep": keep, "exclude_text": exclude_text, "each_row": each_row}
    given |= {"decimal": decimal != ".", "thousands": thousands}
    first = next((name for name, value in given.items() if value), None)
    if first is not None and not known.takes_options:
        formats = ", ".join(other.title for other in FORMATS.values() if other.takes_options)
        raise ParameterError(f"{first}= is supported for {formats}; but {file.path} is read as {known.title}.")
    with _within_memory(file):
        more = (options, columns) if known.takes_options else ()
        if file.is_pattern and not known.members:
            found = _joined(known, file, bag, own, more)
        else:
            found = known.read(file, bag, own, *more)
        return found if labels is None else _with_labels(found, labels, label, bag, unlabeled)


def _joined(known: Format, folder: DataFile, bag: Column, label: Column, more: tuple[Any, ...]) -> Bags:
    """Return the bags of several tables, whose features are those of the first."""
    parts: list[Bags] = []
    origin: dict[Any, Path] = {}
    for path in folder.members:
        if parts and more:
            more = (more[0], parts[0].columns)
        parts.append(known.read(DataFile(path, folder.encoding), bag, label, *more))
        for name in parts[-1].ids.tolist():
            if origin.setdefault(name, path) is not path:
                raise InputError(
                    f"Bag {name!s} is in two files, {origin[name]} and {path}: put all rows of a bag into one file."
                )
    return Bags.concatenate(parts)


def _with_labels(bags: Bags, labels: Any, label: Column, bag: Column, unlabeled: str) -> Bags:
    """Return bags with the labels in a table or in a file."""
    if not isinstance(labels, str | os.PathLike):
        return bags.with_labels(labels, label=label, unlabeled=unlabeled)
    known_name("value of unlabeled", unlabeled, UNLABELED)
    file = DataFile(labels)
    with file.naming_errors(), _within_memory(file):
        is_parquet = file.suffix in (".parquet", ".pq")
        table: Any = parquet.columns_of(file) if is_parquet else text_columns(file)[0]
        values, without, name = labels_of_bags(bags.ids, table, label, bag if bag in table else None)
        if not is_parquet and not without.all():
            known = parse_labels(values[~without].tolist())
            values = np.full(bags.n_bags, known[0], known.dtype)
            values[~without] = known
        return bags._labeled(values, without, unlabeled, name)


@contextlib.contextmanager
def _within_memory(file: DataFile) -> Iterator[None]:
    """Turn a lack of memory into an error that names the file, and propose columns where they are unknown."""
    try:
        yield
    except NoBagColumnError as problem:
        raise DataFileError(f"{problem}{proposal(file)}") from None
    except MemoryError:
        raise file.too_large("does not fit in memory") from None


def stream_bags(
    path: Path_ | Sequence[Path_], *, bag: Column = None, label: Column = None, drop: Sequence[str] = ()
) -> BagStream:
    """Stream bags from Parquet files that need not fit in memory.

    Requires pyarrow: ``pip install "fuzzymil[parquet]"``. The rows of a bag must be contiguous; the bag column is
    scanned once to find where bags begin.

    Parameters
    ----------
    path : path, or sequence of paths
        Files, folders of files, or patterns such as ``"data/*.parquet"``, whose files are read in the order of their
        names. All of them are one table.
    bag, label, drop
        As in `read_bags`.

    Returns
    -------
    BagStream

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bags.parquet"
    >>> write_bags(BagStream(lambda part: Bags.from_list([[[part]], [[part + 0.5]]], ["width"]), 4), path)
    >>> stream = stream_bags(path)
    >>> stream
    BagStream(8 bags, 8 instances, 1 feature, 1 part)
    >>> stream.part(0).ids
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    paths = matching_files(path)
    file = DataFile(paths[0])
    known = _format(file, None, bag, label)
    if known.read_parts is None:
        raise InputError(f"{path} is read as {known.title}, which cannot be streamed: {_streamable('convert it to')}.")
    with _within_memory(file):
        return known.read_parts(paths, bag=bag, label=label, drop=drop)


def matching_files(path: Path_ | Sequence[Path_]) -> list[Path]:
    """Return the files that match patterns, sorted by name; a path that is no pattern stands for itself."""
    if not isinstance(path, str | os.PathLike):
        return [file for each in path for file in matching_files(each)]
    if Path(path).exists() or not glob.has_magic(os.fspath(path)):
        return [Path(path)]
    found = sorted(map(Path, glob.glob(os.fspath(path))))
    if not found:
        raise InputError(f"No file matches {os.fspath(path)}: check the path, or write the files first.")
    return found


def write_bags(bags: Bags | BagStream, path: Path_, format: str | None = None) -> None:
    """Write bags to a file (or, as ``"npy"``, to a new folder), atomically.

    Parameters
    ----------
    bags : Bags or BagStream
        Bags with unique ids. A stream is written to Parquet, with one or two parts in memory at a time; its default
        ids, which start from 0 in every part, become consecutive numbers.
    path : path
        Its suffix (``.csv``, ``.tsv``, ``.txt``, ``.data``, ``.svm``, ``.arff``, ``.mat``, ``.parquet``, none for a
        folder) selects the format; text is compressed if ``.gz``, ``.bz2`` or ``.xz`` follows.
    format : str, optional
        One of the formats of `read_bags`, except ``"uci"``. ``"headerless"`` and ``"svmlight"`` do not store feature
        names and require labels, as does ``"arff"``; instance labels are stored by ``"csv"``, ``"mat"`` and
        ``"parquet"``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> bags = Bags.from_list([[[1.0, 2.0]], [[3.0, 4.0]]], ["width", "depth"], labels=[0, 1])
    >>> write_bags(bags, folder / "a.csv")
    >>> print((folder / "a.csv").read_text())
    bag,label,width,depth
    0,0,1,2
    1,1,3,4
    """
    target = Path(path)
    if not isinstance(bags, Bags | BagStream):
        raise InputError(f"Only Bags can be written, got an object of type {type(bags).__name__}: call as_bags first.")
    known = _by_name(format) if format is not None else _by_suffix(target)
    if known.write is None:
        others = ", ".join(name for name, other in FORMATS.items() if other.write is not None)
        raise ParameterError(f"The format {known.name!r} is read-only: write one of {others}.")
    if target.suffix.lower() in COMPRESSIONS and known.storage != "text":
        raise ParameterError(f"The format {known.name!r} is not compressed: remove {target.suffix!r} from {target}.")
    if isinstance(bags, BagStream) and known.write_parts is None:
        raise ParameterError(f"A stream cannot be written as {known.title}: {_streamable('write')}.")
    check_target(target, may_be_folder=known.storage == "folder")
    if isinstance(bags, Bags):
        known.write(bags, target)
    elif known.write_parts is not None:
        known.write_parts(bags, target)


def _streamable(verb: str) -> str:
    return f"{verb} " + " or ".join(known.title for known in FORMATS.values() if known.write_parts is not None)


def _by_name(name: str) -> Format:
    known_name("format", name, FORMATS)
    return FORMATS[name]


def _by_suffix(path: Path) -> Format:
    suffix = Path(bare_name(path)).suffix.lower()
    packed = path.suffix.lower() in COMPRESSIONS
    for known in FORMATS.values():
        if suffix in known.suffixes and (suffix or not packed):
            return known
    ends = ", ".join(end for known in FORMATS.values() for end in known.suffixes if end)
    raise ParameterError(f"Cannot infer the format from the name {path}: use an extension ({ends}), or pass format=.")


def _format(file: DataFile, name: str | None, bag: Column, label: Column) -> Format:
    known = _by_name(name) if name is not None else _recognize(file, bag)
    if not known.takes_columns and not (bag is None and label is None):
        if known.storage == "folder":
            raise ParameterError(
                f"{file.path} has one file per bag, and so no columns to choose: omit bag=, and name the table with "
                "the labels with labels=..."
            )
        raise ParameterError(
            f"The columns of the format {known.name!r} ({known.title}) are fixed: omit bag= and label=."
        )
    if file.encoding is not None and known.storage != "text":
        raise ParameterError(f"encoding= is for text, but {file.path} is read as {known.title}.")
    return known


def _recognize(file: DataFile, bag: Column) -> Format:
    for known in sorted(FORMATS.values(), key=lambda known: known.rank)[::-1]:
        if known.matches(file, bag):
            return known
    if file.is_folder and file.is_pattern:
        return _recognize(DataFile(file.members[0], file.encoding), bag)
    if file.is_folder:
        raise file.error("is a folder without .npy or .parquet files: pass a file, or put one .npy file per bag in it")
    kinds = "; ".join(f"{known.name!r} ({known.title})" for known in FORMATS.values())
    first = file.head[0].strip()[:60] if file.head else ""
    raise file.error(f"begins with {first!r}, which matches no format: choose one with format=, one of {kinds}", 1)
