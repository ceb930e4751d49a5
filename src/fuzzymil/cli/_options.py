"""Arguments and options that several commands share, alone or in groups."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer


def split_names(texts: list[str] | None) -> tuple[str, ...]:
    """Return the names in texts that separate them by commas; quotation marks keep a comma in a name."""
    rows = csv.reader(texts or (), skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def format_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a file format."""
    from fuzzymil.datasets import FORMATS

    return (name for name in FORMATS if name.startswith(incomplete))


def option(metavar: str | None, help: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """Return an option with a value, or without ``metavar`` a flag; ``names``: default: that of the parameter."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **settings)


def _data(metavar: str, help: str, **settings: Any) -> Any:
    return option(metavar, help, panel="Data", show_default=False, **settings)


def argument(metavar: str, help: str, **settings: Any) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **settings)


# ---------------------------------------------------------------------- arguments, and options of their own

Data = Annotated[
    Path, argument("DATA", "File or folder with the bags, or a pattern in quotes ('*.csv'); - reads standard input.")
]
Model = Annotated[Path, argument("MODEL", "Model file written by fit; - reads standard input.")]
Output = Annotated[Path | None, option("FILE", "File to write (default: standard output).", "--output", "-o")]
Group = Annotated[
    str | None,
    _data(
        "COLUMN",
        "Column of groups, such as persons: the bags of a group stay in one fold. It is not used as a feature.",
    ),
]
Id = Annotated[str | None, option("ID", "ID of the bag to explain.", "--id")]
Folds = Annotated[int, option("NUMBER", "Number of cross-validation folds.", min=2)]
OfClass = Annotated[
    str | None,
    option("CLASS", "The class to show (default: of two, the positive one; of several, all or the first).", "--class"),
]
CostMiss = Annotated[
    float | None,
    option(
        "NUMBER",
        "Of two classes: how many times as much it costs to miss the positive class as to see it where it is not. It "
        "is predicted from a probability of 1 / (1 + NUMBER).",
        min=0.0,
        panel="Decisions",
        show_default=False,
    ),
]
AsJson = Annotated[bool, option(None, "Print the result as JSON.", "--json")]
Seed = Annotated[int, option("NUMBER", "Random seed.", min=0)]


# ---------------------------------------------------------------------- how data is read


@dataclasses.dataclass(frozen=True)
class NewData:
    """How data for a fitted model is read."""

    bag: Annotated[
        str | None,
        _data(
            "COLUMN",
            "Column that identifies the bag; without a header, its position from 0 (default: the model's, or a column "
            "named bag, bag_id, molecule, ...).",
        ),
    ] = None
    label: Annotated[
        str | None,
        _data(
            "COLUMN",
            "Column with the label of the bag (default: the model's, or a column named label, class, target, y, ...).",
        ),
    ] = None
    labels: Annotated[
        Path | None,
        _data(
            "FILE",
            "File with the labels, one row per bag, if DATA has none: CSV, Excel or Parquet. --label is then one of "
            "its columns.",
        ),
    ] = None
    decimal: Annotated[
        str | None, _data("MARK", "Decimal separator: , or . (default: a point; a model remembers it).")
    ] = None
    thousands: Annotated[
        str | None,
        _data(
            "MARK",
            "Thousands separator, as in 7,698.09: a comma, point, space or apostrophe (default: none; a model "
            "remembers it).",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _data("NAME", "Encoding of a text file, such as cp1252 from spreadsheets on Windows (default: UTF-8)."),
    ] = None
    format: Annotated[
        str | None,
        _data(
            "FORMAT",
            "File format: csv, headerless, uci, svmlight, arff, mat, excel, parquet, npy or hdf5 (default: detected).",
            autocompletion=format_names,
        ),
    ] = None


@dataclasses.dataclass(frozen=True)
class TrainingData(NewData):
    """How data to learn from is read: which columns it has, and what they mean."""

    drop_unlabeled: Annotated[
        bool, option(None, "Leave out bags that have no label.", "--drop-unlabeled", panel="Data")
    ] = False
    drop: Annotated[list[str] | None, _data("COLUMNS", "Columns to leave out, separated by commas.")] = None
    only: Annotated[list[str] | None, _data("COLUMNS", "Use only these columns as features.")] = None
    categorical: Annotated[
        list[str] | None,
        _data("COLUMNS", "Columns to read as categories: text with many different values, or numbers that are codes."),
    ] = None
    date: Annotated[
        list[str] | None,
        _data("COLUMNS", "Columns of dates and the parts to use, as in day=date+weekday+hour+elapsed."),
    ] = None
    exclude_text: Annotated[
        bool, option(None, "Use no text columns, except those that are named.", "--exclude-text", panel="Data")
    ] = False
