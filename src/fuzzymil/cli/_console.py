"""What commands say: results on standard output, everything else on standard error, in plain sentences."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import typer

__all__ = [
    "STANDARD",
    "check_target",
    "emit",
    "emit_json",
    "emit_table",
    "fail",
    "fall_silent",
    "in_options",
    "is_terminal",
    "note",
    "progress",
    "write_pieces",
    "write_text",
]

STANDARD = Path("-")
"""The name that stands for standard input, or standard output."""

# The library's messages speak of arguments; on the command line they are options.
_OPTIONS = {
    "bag": "--bag",
    "label": "--label",
    "format": "--format",
    "drop": "--drop",
    "folder": "--folder",
    "init": "--init",
    "n_rules": "--n-rules",
    "max_terms": "--max-terms",
    "alpha": "--alpha",
    "order": "--order",
    "max_epochs": "--max-epochs",
    "learning_rate": "--learning-rate",
    "missing": "--set missing",
    "standardize": "--set standardize",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:\.\.\.|(?P<quote>'?)(?P<value>[\w.+-]*\w)(?P=quote))?")


def in_options(message: str) -> str:
    """Return a message of the library with its arguments written as options of the command line.

    Examples
    --------
    >>> in_options("name it with bag=..., or use n_rules=2; set missing='ignore'")
    'name it with --bag, or use --n-rules 2; --set missing=ignore'
    """

    def option(found: re.Match[str]) -> str:
        name, value = _OPTIONS[found[1]], found["value"]
        return name if not value else f"{name}{'=' if ' ' in name else ' '}{value}"

    return _ARGUMENT.sub(option, message).replace("set --set", "--set")


_speaks = [True]


def fall_silent() -> None:
    """Leave results and notes to another process; errors are still told."""
    _speaks[0] = False


def note(message: str) -> None:
    """Say something that is no result, on standard error."""
    if _speaks[0]:
        typer.echo(message, err=True)


def fail(message: str) -> NoReturn:
    """Say what is wrong and end with exit code 2."""
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(2)


def emit(text: str) -> None:
    """Print a result."""
    if _speaks[0]:
        typer.echo(text)


def emit_json(value: Any, path: Path | None = None) -> None:
    """Write a result for programs, to standard output unless a file is named; numbers JSON does not know are null."""
    write_text(path, json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def emit_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table; the first ``left`` columns are words, the others numbers."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for cells in (head, ["-" * width for width in widths], *rows):
        padded = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        emit("  ".join(padded).rstrip())


def is_terminal(stream: IO[Any] | None = None) -> bool:
    """Whether somebody is looking: standard error (or another stream) is a terminal."""
    return bool((stream or sys.stderr).isatty())


@contextlib.contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function to call after each of ``total`` steps; shows a bar with the time left where somebody looks."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not is_terminal()) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


# ---------------------------------------------------------------------- files


def check_target(path: Path | None) -> None:
    """Raise before any work if a file could not be written there."""
    from fuzzymil._utils.errors import InputError

    if path is None or path == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file to write, {path / 'name'} say.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} is not there: make it first.")


def write_text(path: Path | None, text: str) -> None:
    """Write a result to a file, whole or not at all; without one, or for ``-``, to standard output."""
    if path is None or path == STANDARD:
        emit(text.removesuffix("\n"))
        return
    from fuzzymil._utils import storage

    storage.write_atomically(path, text if text.endswith("\n") else f"{text}\n")
    note(f"Wrote {path}.")


def write_pieces(path: Path | None, pieces: Iterable[str]) -> None:
    """Write a result that comes in pieces as `write_text` does, without having it all in memory."""
    if path is None or path == STANDARD:
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as waiting:  # until all is known to be well
            waiting.writelines(pieces)
            waiting.seek(0)
            while piece := waiting.read(2**20):
                typer.echo(piece, nl=False)
        return
    from fuzzymil._utils import storage

    with storage.written_atomically(path) as file:
        file.writelines(piece.encode("utf-8") for piece in pieces)
    note(f"Wrote {path}.")
