"""Terminal output: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, RuleSyntaxError, known_name
from fuzzymil._utils.text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STANDARD = Path("-")
"""The file name for standard input or standard output."""

STANDARD_INPUT = "standard input"

# The library's messages name its parameters; on the command line they are options.
_NAMES = (
    "bag label format drop categorical date decimal thousands encoding folder init n_rules max_conditions alpha order"
)
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in f"{_NAMES} max_epochs learning_rate".split()}
_OPTIONS |= {
    "labels": "--labels",
    "unlabeled": "--drop-unlabeled",
    "features": "--only",
    "keep": "--group",
    "missing": "--set missing",
    "standardize": "--set standardize",
}
_VALUE = r"\[?(?P<quote>'?)(?P<value>[\w.+-]*\w)(?P=quote)\]?|(?P<mark>'[^\w']'|\"'\")"
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:\.\.\.|{_VALUE})?")


def in_options(message: str) -> str:
    """Return a message of the library with its parameters written as command-line options."""

    def option(found: re.Match[str]) -> str:
        name, value = _OPTIONS[found[1]], found["value"] or found["mark"]
        value = "''" if value == "None" else "" if found[1] == "unlabeled" else value
        return name if not value else f"{name}{'=' if ' ' in name else ' '}{value}"

    return _ARGUMENT.sub(option, message).replace("set --set", "--set")


def note(message: str) -> None:
    """Print a message that is not a result, on standard error."""
    typer.echo(visible(message, keep="\n\t"), err=True)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error and exit."""
    typer.echo(visible(f"Error: {message}", keep="\n\t"), err=True)
    raise typer.Exit(code)


def emit(text: str, *, end: str = "\n") -> None:
    """Print a result: unchanged into a file or a pipe, but on a terminal without controls that it would obey."""
    sys.stdout.write((visible(text, keep="\n\t") if sys.stdout.isatty() else text) + end)
    sys.stdout.flush()  # errors should come up here


def emit_json(value: Any, path: Path | None = None) -> None:
    """Write a result as JSON, by default to standard output; NaN and infinities become null."""
    write_text(path, json.dumps(_json_value(value), indent=1, ensure_ascii=False, allow_nan=False))


def _json_value(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def emit_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table; the first ``left`` columns are text, the others numbers."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for cells in (head, ["-" * width for width in widths], *rows):
        padded = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        emit("  ".join(padded).rstrip())


def is_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr.isatty()


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with a title, the steps done and their total; on a terminal it shows a progress bar."""
    if not is_terminal():
        yield lambda title, done, total: None
        return
    from rich import progress as rich
    from rich.console import Console

    time = (rich.TimeElapsedColumn(), "elapsed,", rich.TimeRemainingColumn(), "left")
    columns = ("{task.description}", rich.BarColumn(), rich.MofNCompleteColumn(), *time)
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(title: str, done: int, total: int) -> None:
            if title not in tasks:
                tasks[title] = bar.add_task(title, total=total)
            bar.update(tasks[title], completed=done, total=total)

        yield show


@contextlib.contextmanager
def working(title: str, *, quick: bool = False) -> Iterator[None]:
    """Show on a terminal that something without countable steps goes on, unless it is quick."""
    if quick or not is_terminal():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(title)):
        yield


# ---------------------------------------------------------------------- files


def is_pipe(path: Path) -> bool:
    """Return whether a path can be read only once: standard input, a named pipe, or what a shell writes for <(...)."""
    return path == STANDARD or (path.exists() and not path.is_file() and not path.is_dir())


@contextlib.contextmanager
def local_copy(path: Path, suffix: str = "") -> Iterator[Path]:
    """Yield a file that can be read twice: the given one, or a copy of a pipe."""
    check_not_input(None, path)
    if not is_pipe(path):
        yield path
        return
    about = os.fstat(0) if path == STANDARD else path.stat()
    is_device = stat.S_ISBLK(about.st_mode) or stat.S_ISCHR(about.st_mode)
    if is_device and not os.path.samestat(about, os.fstat(0)):
        raise InputError(f"{path} is a device, which may have no end: copy what you need of it into a file first.")
    with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
        copy = Path(folder) / f"input{path.suffix or suffix}"
        with contextlib.ExitStack() as stack:
            if path == STANDARD and sys.stdin is None:
                fail("Standard input is closed: name a file, or pass the data through a pipe.", 1)
            source = sys.stdin.buffer if path == STANDARD else stack.enter_context(path.open("rb"))
            shutil.copyfileobj(source, stack.enter_context(copy.open("wb")))
        try:
            yield copy
        except (InputError, ModelFileError, RuleSyntaxError) as problem:
            shown = STANDARD_INPUT if path == STANDARD else str(path)
            named = re.compile(rf"{re.escape(str(copy.with_suffix('')))}(\.\w+)?")
            raise InputError(named.sub(lambda _: shown, str(problem))) from None


def check_target(path: Path | None, *inputs: Path | None) -> None:
    """Raise, before any work is done, if a file cannot be written at this path, or if it is one of the inputs."""
    if path is None or path == STANDARD:
        check_not_input(path, *inputs)
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: pass a file name, such as {path / 'name'}.")
    if not path.parent.is_dir():
        raise InputError(f"Folder not found: {path.parent}. Create it first.")
    check_not_input(path, *inputs)
    _try(path, path)


def check_not_input(path: Path | None, *inputs: Path | None) -> None:
    """Raise if an output is one of the inputs, whatever it is called, or a file in a folder that is.

    Without a path, or if it is ``-``, the output is standard output, which a shell may have led into a file.
    """
    target = _status(path, 1)
    for source in inputs:
        about = None if source is None else _status(source, 0)
        if target is None or about is None or stat.S_ISCHR(target.st_mode):
            continue
        is_in_source = path is not None and stat.S_ISDIR(about.st_mode) and path.resolve().parent.samefile(str(source))
        if os.path.samestat(target, about) or is_in_source:
            name = "Standard output" if path in (None, STANDARD) else str(path)
            other = STANDARD_INPUT if source == STANDARD else str(source)
            other = "" if name == other else f" (as {other})"
            raise InputError(f"{name} is also an input{other} and would be overwritten: choose another output.")


def _status(path: Path | None, stream: int) -> os.stat_result | None:
    """Return what the system knows about a file, or about a standard stream that a shell led into or out of one."""
    try:
        if path is not None and path != STANDARD:
            return path.stat()
        about = os.fstat(stream)
        return about if stat.S_ISREG(about.st_mode) else None  # one terminal is both input and output
    except OSError:
        return None


def check_folder(path: Path, option: str = "--output") -> None:
    """Raise, before any work is done, if a folder cannot be created or written to."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file: {option} needs a folder.")
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    _try(there / ".trial", path)


def _try(trial: Path, path: Path) -> None:
    try:
        with storage.own_names() if trial != path else contextlib.nullcontext():
            storage.check_writable(trial)
    except OSError as problem:
        raise InputError(f"Cannot write {path}: {problem.strerror}. Choose another output.") from None


def write_text(path: Path | None, text: str) -> None:
    """Write a result to a file, or to standard output without one."""
    if path is None or path == STANDARD:
        emit(text.removesuffix("\n"))
    else:
        write_pieces(path, [text.removesuffix("\n"), "\n"])


def write_pieces(path: Path | None, pieces: Iterable[str]) -> None:
    """Write a result that may not fit in memory; nothing is written if a piece fails."""
    if path is None or path == STANDARD:
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as spool:
            spool.writelines(pieces)
            spool.seek(0)
            while piece := spool.read(2**20):
                emit(piece, end="")
        return
    with storage.written_atomically(path) as file:
        file.writelines(piece.encode("utf-8") for piece in pieces)
    note(f"Wrote {path}.")


# Figures written to files.


SUFFIXES = (".png", ".svg", ".pdf")


def check_figure(path: Path, *inputs: Path | None) -> None:
    """Raise, before any work is done, if a figure cannot be written to this file, or if it is one of the inputs."""
    if path == STANDARD:
        raise ParameterError("Figures cannot be written to standard output: name a file with -o.")
    known_name("file extension", path.suffix.lower(), SUFFIXES, "for a figure")
    check_target(path, *inputs)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's extension, and close it."""
    import matplotlib.pyplot as plt

    from fuzzymil.plots.style import figure_bytes

    storage.write_atomically(path, figure_bytes(figure, path.suffix.lower()))
    plt.close(figure)
    note(f"Wrote {path}.")
