"""The file formats of bags, one small module each, and the table of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzymil.bags import Bags
from fuzzymil.datasets.formats import arff, delimited, matlab, npy, parquet, svmlight
from fuzzymil.datasets.formats.files import DataFile, DataFileError, MissingFileError

__all__ = ["FORMATS", "DataFile", "DataFileError", "Format", "MissingFileError"]

Columns = tuple[str | int | None, str | int | None]


@dataclass(frozen=True)
class Format:
    """One way to store bags.

    Attributes
    ----------
    name : str
        What ``format=`` is called.
    title : str
        What it is, in words.
    suffixes : tuple of str
        Ends of file names that stand for it when bags are written.
    read : callable
        ``read(file, bag, label)`` returns bags.
    write : callable or None
        ``write(bags, path)``; None where the format is only read.
    columns : callable or None
        ``columns(file, bag, label)`` returns which columns hold the bag and the label; None where the
        format leaves no choice.
    takes_columns : bool
        Whether ``bag=`` and ``label=`` mean something.
    takes_drop : bool
        Whether ``read(file, bag, label, drop)`` leaves columns out.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[..., Bags]
    write: Callable[[Bags, Path], None] | None = None
    columns: Callable[[DataFile, Any, Any], Columns] | None = None
    takes_columns: bool = True
    takes_drop: bool = False


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format(
            "csv",
            "CSV with a header",
            (".csv", ".tsv"),
            delimited.read_csv,
            delimited.write_csv,
            delimited.csv_columns,
            takes_drop=True,
        ),
        Format(
            "headerless",
            "rows of label,bag,f1,... without a header",
            (".txt",),
            delimited.read_headerless,
            delimited.write_headerless,
            delimited.headerless_columns,
        ),
        Format(
            "uci", "UCI MUSK rows of molecule,conformation,f1,...,class", (), delimited.read_uci, takes_columns=False
        ),
        Format(
            "svmlight",
            "sparse text, instance:bag:label number:value ...",
            (".data", ".svm", ".svmlight", ".libsvm"),
            svmlight.read_svmlight,
            svmlight.write_svmlight,
            takes_columns=False,
        ),
        Format("arff", "relational ARFF", (".arff",), arff.read_arff, arff.write_arff, arff.arff_columns),
        Format("mat", "MATLAB file", (".mat",), matlab.read_mat, matlab.write_mat),
        Format(
            "parquet",
            "Parquet",
            (".parquet", ".pq"),
            parquet.read_parquet,
            parquet.write_parquet,
            parquet.parquet_columns,
            takes_drop=True,
        ),
        Format("npy", "folder of .npy files", (), npy.read_npy, npy.write_npy, takes_columns=False),
    )
}
"""Every format by its name."""
