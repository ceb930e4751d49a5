"""`Format`, what a file format can do, and `FORMATS`, the registry of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fuzzymil.bags import Bags, BagStream
from fuzzymil.bags.table import ColumnOptions
from fuzzymil.datasets.formats._fields import ColumnName, named_columns
from fuzzymil.datasets.formats.files import DataFile


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
    rank : int
        Formats with a higher rank are tried first when a file is recognized; of the same rank, those registered last.
    column_names : callable, optional
        ``column_names(file)`` returns the names of all columns. None if columns have no names.
    columns : callable, optional
        ``columns(file, bag, label)`` returns the columns of the bag id and the label. Default: by their names.
    read_parts : callable, optional
        ``read_parts(path, bag=, label=, drop=)`` returns a `BagStream` of a file that does not fit in memory.
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
    is_match: Callable[[DataFile, ColumnName], bool] | None = None
    rank: int = 1
    column_names: Callable[[DataFile], list[str]] | None = None
    columns: Callable[[DataFile, Any, Any], tuple[ColumnName, ColumnName]] | None = None
    read_parts: Callable[..., BagStream] | None = None
    write_parts: Callable[[Iterable[Bags], Path], None] | None = None
    takes_columns: bool = True
    takes_options: bool = False
    storage: Literal["text", "binary", "folder"] = "text"

    def matches(self, file: DataFile, bag: ColumnName = None) -> bool:
        """Return whether a file looks like this format."""
        if self.is_match is not None:
            return self.is_match(file, bag)
        return not file.is_folder and file.suffix in self.suffixes

    @property
    def has_columns(self) -> bool:
        """Whether there are columns of the bag id and the label, so that a file without a label has none."""
        return self.columns is not None or self.column_names is not None

    def roles(
        self, file: DataFile, names: Sequence[str], bag: ColumnName, label: ColumnName, options: ColumnOptions
    ) -> tuple[ColumnName, ColumnName]:
        """Return the columns of the bag id and the label: those given, otherwise those recognized."""
        if self.columns is not None:
            return self.columns(file, bag, label)
        if self.column_names is not None:
            features = options.only or ()
            return named_columns(names, bag, label, file.problem, features, each_row=options.each_row)
        return None, None


FORMATS: dict[str, Format] = {}
"""All formats by name. A module in this folder adds its own: ``FORMATS[name] = Format(name=name, ...)``."""
