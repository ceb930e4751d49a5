"""File formats for bags, one module each, and `FORMATS`, the registry of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import arff, csv, matlab, npy, parquet, svmlight
from fuzzymil.datasets.formats._columns import INSTANCE_LABEL
from fuzzymil.datasets.formats.files import DataFile, DataFileError, MissingFileError

__all__ = ["FORMATS", "INSTANCE_LABEL", "DataFile", "DataFileError", "Format", "MissingFileError"]

Column = str | int | None


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file format for bags.

    Attributes
    ----------
    name : str
        Value of ``format=``.
    title : str
        Description for messages.
    read : callable
        ``read(file, bag, label)`` returns `Bags`.
    suffixes : tuple of str
        File name suffixes that select the format when bags are written; ``""`` for a name without a suffix.
    write : callable, optional
        ``write(bags, path)``. None if the format is read-only.
    is_match : callable, optional
        ``is_match(file, bag)`` returns whether a file looks like this format. Default: whether its suffix is one of
        ``suffixes``.
    columns : callable, optional
        ``columns(file, bag, label)`` returns the columns of the bag id and the label. None if they are fixed.
    column_names : callable, optional
        ``column_names(file)`` returns the names of all columns. None if columns have no names.
    read_parts : callable, optional
        ``read_parts(path, bag=, label=, drop=)`` returns an object with ``n_parts`` and ``part(number)``, to stream
        files that do not fit in memory.
    write_parts : callable, optional
        ``write_parts(parts, path)`` writes an iterable of `Bags` to one file.
    takes_columns : bool
        Whether ``bag=`` and ``label=`` can be chosen.
    takes_options : bool
        Whether ``read(file, bag, label, options, columns)`` chooses columns, and reads categories and dates.
    storage : "text", "binary" or "folder"
        Text files may be compressed.
    """

    name: str
    title: str
    read: Callable[..., Bags]
    suffixes: tuple[str, ...] = ()
    write: Callable[[Bags, Path], None] | None = None
    is_match: Callable[[DataFile, Column], bool] | None = None
    columns: Callable[[DataFile, Any, Any], tuple[Column, Column]] | None = None
    column_names: Callable[[DataFile], list[str]] | None = None
    read_parts: Callable[..., Any] | None = None
    write_parts: Callable[[Iterable[Bags], Path], None] | None = None
    takes_columns: bool = True
    takes_options: bool = False
    storage: Literal["text", "binary", "folder"] = "text"

    def matches(self, file: DataFile, bag: Column = None) -> bool:
        """Return whether a file looks like this format."""
        if self.is_match is not None:
            return self.is_match(file, bag)
        return not file.is_folder and file.suffix in self.suffixes


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format(
            name="csv",
            title="CSV with a header",
            suffixes=(".csv", ".tsv"),
            read=csv.read_csv,
            write=csv.write_csv,
            is_match=lambda file, bag: csv.kind_of(file, bag) == "csv",
            columns=csv.csv_columns,
            column_names=csv.column_names,
            takes_options=True,
        ),
        Format(
            name="headerless",
            title="rows of label,bag,f1,... without a header",
            suffixes=(".txt",),
            read=csv.read_headerless,
            write=csv.write_headerless,
            is_match=lambda file, bag: csv.kind_of(file, bag) == "headerless",
            columns=csv.headerless_columns,
        ),
        Format(
            name="uci",
            title="UCI MUSK rows of molecule,conformation,f1,...,class",
            read=csv.read_uci,
            is_match=lambda file, bag: csv.kind_of(file, bag) == "uci",
            takes_columns=False,
        ),
        Format(
            name="svmlight",
            title="sparse text, instance:bag:label number:value ...",
            suffixes=(".data", ".svm", ".svmlight", ".libsvm"),
            read=svmlight.read_svmlight,
            write=svmlight.write_svmlight,
            is_match=svmlight.is_svmlight,
            takes_columns=False,
        ),
        Format(
            name="arff",
            title="relational ARFF",
            suffixes=(".arff",),
            read=arff.read_arff,
            write=arff.write_arff,
            is_match=arff.is_arff,
            columns=arff.arff_columns,
        ),
        Format(
            name="mat",
            title="MATLAB file",
            suffixes=(".mat",),
            read=matlab.read_mat,
            write=matlab.write_mat,
            is_match=matlab.is_mat,
            storage="binary",
        ),
        Format(
            name="parquet",
            title="Parquet",
            suffixes=(".parquet", ".pq"),
            read=parquet.read_parquet,
            write=parquet.write_parquet,
            is_match=parquet.is_parquet,
            columns=parquet.parquet_columns,
            column_names=parquet.column_names,
            read_parts=parquet.ParquetBags,
            write_parts=parquet.write_parts,
            takes_options=True,
            storage="binary",
        ),
        Format(
            name="npy",
            title="folder of .npy files",
            suffixes=("",),
            read=npy.read_npy,
            write=npy.write_npy,
            is_match=npy.is_npy,
            takes_columns=False,
            storage="folder",
        ),
    )
}
"""All formats by name. To add a format, add an entry; later entries are tried first when a format is recognized."""
