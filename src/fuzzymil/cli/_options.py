"""Arguments and options that several commands share, alone or in groups."""

from __future__ import annotations

import csv
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


def expand_groups(command: Command) -> Command:
    """Return a command in which a parameter that is a group of options has become these options."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {each.name: each.annotation for each in own if dataclasses.is_dataclass(each.annotation)}
    found: list[inspect.Parameter] = []
    for each in own:
        kind = groups.get(each.name)
        if kind is None:
            found.append(each.replace(kind=each.KEYWORD_ONLY))
            continue
        hints = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            found.append(
                inspect.Parameter(field.name, each.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            )

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in found}
    return run  # type: ignore[return-value]


def listed_names(texts: list[str] | None) -> tuple[str, ...]:
    """Return the names in texts that separate them by commas; quotation marks keep a comma in a name."""
    rows = csv.reader(texts or (), skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def format_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a file format."""
    from fuzzymil.datasets import FORMATS

    return (name for name in FORMATS if name.startswith(incomplete))


# ---------------------------------------------------------------------- arguments, and options of their own

Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="File with the bags; - reads standard input.", show_default=False)
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file written by fit; - reads standard input.", show_default=False),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write (default: standard output).")
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of groups, such as persons: the bags of a group stay in one fold. It is not used as a feature.",
        rich_help_panel="Data",
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder with the benchmark files (default: $FUZZYMIL_DATA, or download)."),
]
OfClass = Annotated[
    str | None,
    typer.Option(
        "--class",
        metavar="CLASS",
        help="The class to show (default: of two, the positive one; of several, all or the first).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Random seed.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Number of processes (default: one per core, if there is enough work to make their start worthwhile).",
    ),
]


# ---------------------------------------------------------------------- how data is read


def _data(metavar: str, help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="Data", show_default=False, **settings)


@dataclasses.dataclass(frozen=True)
class NewData:
    """How data for a fitted model is read."""

    bag: Annotated[
        str | None, _data("COLUMN", "Column that identifies the bag (default: as in the training data).")
    ] = None
    label: Annotated[
        str | None, _data("COLUMN", "Column with the label of the bag (default: as in the training data).")
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
            "File format: csv, headerless, uci, svmlight, arff, mat, parquet or npy (default: detected).",
            autocompletion=format_names,
        ),
    ] = None


@dataclasses.dataclass(frozen=True)
class TrainingData(NewData):
    """How data to learn from is read: which columns it has, and what they mean."""

    bag: Annotated[
        str | None,
        _data(
            "COLUMN",
            "Column that identifies the bag (default: a column named bag, bag_id, molecule, ...). Without a header: "
            "its position, from 0.",
        ),
    ] = None
    label: Annotated[
        str | None,
        _data("COLUMN", "Column with the label of the bag (default: a column named label, class, target, y, ...)."),
    ] = None
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
        bool,
        typer.Option("--exclude-text", help="Use no text columns except those that are named.", rich_help_panel="Data"),
    ] = False
