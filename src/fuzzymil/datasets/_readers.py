"""Files of bags in, files of bags out, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean
from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import FORMATS, DataFile, Format, delimited, npy, parquet, svmlight, table
from fuzzymil.datasets.formats.files import COMPRESSIONS, bare_name, check_target

__all__ = ["Guess", "guess_format", "read_bags", "write_bags"]

Path_ = str | os.PathLike[str]


@dataclass(frozen=True)
class Guess:
    """How a file is going to be read; ``str`` of it is a sentence for the user.

    Attributes
    ----------
    format : str
        A name in ``FORMATS``.
    bag, label : str, int or None
        The column (position where there is no header) or attribute that names the bag and gives its
        label. None where the format leaves no choice, or the file has no labels.
    """

    format: str
    bag: str | int | None = None
    label: str | int | None = None

    def __str__(self) -> str:
        known = FORMATS[self.format]
        if known.columns is None:
            return known.title
        shown = [
            f"{role} {'column' if isinstance(at, str) else 'at position'} {at!r}"
            for role, at in (("bag", self.bag), ("label", self.label))
            if at is not None
        ]
        return ", ".join([known.title, *shown, *(["no labels"] if self.label is None else [])])


def guess_format(
    path: Path_, *, format: str | None = None, bag: str | int | None = None, label: str | int | None = None
) -> Guess:
    r"""Tell how `read_bags` would read a file, without reading its numbers.

    Parameters
    ----------
    path, format, bag, label
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
    file = DataFile(path)
    known = _format(file, format, bag, label)
    return Guess(known.name, *(known.columns(file, bag, label) if known.columns else ()))


def read_bags(
    path: Path_,
    *,
    format: str | None = None,
    bag: str | int | None = None,
    label: str | int | None = None,
    drop: Sequence[str] = (),
) -> Bags:
    r"""Read bags from a file or folder.

    Text may be packed with gzip, bzip2 or xz. Nothing in a file is ever executed.

    Parameters
    ----------
    path : path
    format : str, optional
        - ``"csv"``: a table with a header, one row an instance, a column for the bag and one for its label;
        - ``"headerless"``: rows of ``label,bag,f1,...`` (commas, semicolons, tabs or blanks between them);
        - ``"uci"``: the MUSK files of the UCI archive, ``molecule,conformation,f1,...,class``;
        - ``"svmlight"``: sparse text, ``instance:bag:label number:value ...``, features numbered from 1;
        - ``"arff"``: WEKA's relational ARFF;
        - ``"mat"``: MATLAB up to version 7; `fuzzymil.datasets.formats.matlab` lists the layouts;
        - ``"parquet"``: a table as for CSV, a file or a folder of them (needs pyarrow:
          ``pip install "fuzzymil[parquet]"``); ids and labels are of the types of their columns;
        - ``"npy"``: a folder with a 2-D ``.npy`` array a bag and a ``labels.csv`` with the columns
          ``file,label``.

        Default: what name and content look like; `guess_format` tells.
    bag, label : str or int, optional
        The column (position from 0 without a header), attribute or variable that names the bag and gives
        its label. Default: columns called ``bag``, ``bag_id``, ... and ``label``, ``class``, ``target``,
        ``y``, ...; if several look alike an error asks.
    drop : sequence of str
        Columns of a CSV or Parquet file to leave out: dates, addresses and other text that is no feature.

    Returns
    -------
    Bags
        Bags in the order of their first row. Labels that are whole numbers become integers. Empty fields
        and ``?`` are missing values (``NaN``).

    Raises
    ------
    DataFileError
        An `InputError` that names the file, the line and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("bag,label,width\nb1,0,2.5\nb1,0,3\nb2,1,1\n")
    >>> bags = read_bags(folder / "a.csv")
    >>> bags
    Bags(2 bags, 3 instances, 1 feature, 1-2 instances a bag)
    >>> bags.ids.tolist(), bags.labels.tolist(), bags.feature_names
    (['b1', 'b2'], [0, 1], ('width',))
    """
    file = DataFile(path)
    known = _format(file, format, bag, label)
    if not drop:
        return known.read(file, bag, label)
    if not known.takes_drop:
        raise ParameterError(f"drop= is for CSV with a header and Parquet; {file.path} is read as {known.title}.")
    if isinstance(drop, str):
        raise ParameterError(f"drop must be a list of columns, got {drop!r}: write [{drop!r}].")
    return known.read(file, bag, label, drop)


def write_bags(bags: Bags, path: Path_, format: str | None = None) -> None:
    """Write bags to a file (or, as ``"npy"``, to a new folder), whole or not at all.

    Parameters
    ----------
    bags : Bags
        Bags with different ids.
    path : path
        The end of its name (``.csv``, ``.tsv``, ``.txt``, ``.data``, ``.svm``, ``.arff``, ``.mat``,
        ``.parquet``, none for a folder) tells the format; text is packed if ``.gz``, ``.bz2`` or ``.xz`` follows.
    format : str, optional
        One of those that `read_bags` reads, except ``"uci"``. ``"headerless"`` and ``"svmlight"`` keep no
        names of features and need labels, as ``"arff"`` does; truth about instances is kept by
        ``"csv"``, ``"mat"`` and ``"parquet"``.

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
    if not isinstance(bags, Bags):
        raise InputError(f"Only Bags can be written, got an object of type {type(bags).__name__}: call as_bags first.")
    known = _chosen(format) if format is not None else _by_suffix(target)
    if known.write is None:
        others = ", ".join(name for name, other in FORMATS.items() if other.write is not None)
        raise ParameterError(f"The format {known.name!r} is only read: write one of {others}.")
    packed = target.suffix.lower() in COMPRESSIONS
    if packed and known.name in ("mat", "npy", "parquet"):
        raise ParameterError(f"The format {known.name!r} is not packed: leave out {target.suffix!r} in {target}.")
    check_target(target, may_be_folder=known.name == "npy")
    try:
        known.write(bags, target)
    except OSError as problem:  # a full disk does not name the file by itself
        raise OSError(problem.errno, problem.strerror, os.fspath(target)) from None


def _chosen(name: str) -> Format:
    if name not in FORMATS:
        raise ParameterError(
            f"There is no format {name!r}: choose one of {', '.join(FORMATS)}.{did_you_mean(name, FORMATS)}"
        )
    return FORMATS[name]


def _by_suffix(path: Path) -> Format:
    suffix = Path(bare_name(path)).suffix.lower()
    if not suffix and path.suffix.lower() not in COMPRESSIONS:
        return FORMATS["npy"]
    for known in FORMATS.values():
        if suffix in known.suffixes:
            return known
    ends = ", ".join(end for known in FORMATS.values() for end in known.suffixes)
    raise ParameterError(f"The name {path} does not tell the format: let it end in one of {ends}, or give format=.")


def _format(file: DataFile, name: str | None, bag: str | int | None, label: str | int | None) -> Format:
    known = _chosen(name) if name is not None else FORMATS[_guessed(file, bag)]
    if not known.takes_columns and not (bag is None and label is None):
        raise ParameterError(
            f"The format {known.name!r} ({known.title}) has no choice of columns: leave out bag= and label=."
        )
    return known


def _guessed(file: DataFile, bag: str | int | None) -> str:
    if file.is_folder:
        if (file.path / npy.LABELS).exists() or any(file.path.glob("*.npy")):
            return "npy"
        if any(path.suffix.lower() in FORMATS["parquet"].suffixes for path in file.path.iterdir()):
            return "parquet"
        raise file.error(
            "is a folder without .npy or .parquet files: name a file of bags, or put one .npy file a bag there"
        )
    suffix = Path(bare_name(file.path)).suffix.lower()
    if suffix in FORMATS["parquet"].suffixes or file.starts_with(parquet.MAGIC):
        return "parquet"
    if suffix == ".mat" or file.content.startswith(b"MATLAB"):
        return "mat"
    if suffix == ".arff":
        return "arff"
    lines = (line for _, line in file.numbered_lines() if not line.lstrip().startswith(("%", "#")))
    first = next(lines, "")
    if first.lower().lstrip().startswith("@relation"):
        return "arff"
    if svmlight.HEAD.match(first) or (svmlight.COUNTS.match(first) and svmlight.HEAD.match(next(lines, ""))):
        return "svmlight"
    kind = _delimited(first, bag)
    if kind is None:
        kinds = "; ".join(f"{known.name!r} ({known.title})" for known in FORMATS.values())
        raise file.error(
            f"begins with {first.strip()[:60]!r}, which tells no format: name it with format=, one of {kinds}", 1
        )
    return kind


def _delimited(first: str, bag: str | int | None) -> str | None:
    """Tell from its first line what kind of table this is."""
    fields = delimited.fields_of(first)
    if len(fields) < 2:
        return None
    if isinstance(bag, str) or any(field.lower() in delimited.BAG_NAMES for field in fields):
        return "csv"
    numeric = [_is_number(field) for field in fields]
    if len(fields) > 2 and all(numeric[2:]):
        if numeric[0] or bag is not None:
            return "headerless"
        return None if numeric[1] else "uci"
    return "csv" if not any(numeric) else None


def _is_number(field: str) -> bool:
    try:
        return field.lower() in table.MISSING or float(field) is not None
    except ValueError:
        return False
