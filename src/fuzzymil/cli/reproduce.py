"""The commands that show what the library does: ``demo`` and ``reproduce``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzymil._utils.errors import InputError
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import emit_json, fail, note

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Experiment", "demo", "reproduce"]


@app.command(epilog=examples("fuzzymil demo --output my-demo"))
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the figure, model and numbers.")] = Path(
        "fuzzymil-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Random seed of data and training.")] = 0,
    as_json: _options.AsJson = False,
) -> None:
    """Learn the paper's two concepts from bags of points and show the rules that were found."""
    _check_folder(output)
    from fuzzymil._utils.runtime import enable_compilation_cache
    from fuzzymil.cli._demo import run_demo

    enable_compilation_cache()
    try:
        results = run_demo(output, seed, _console(silent=as_json))
    except OSError as problem:
        fail(f"Cannot write to {output}: {problem.strerror}.")
    if as_json:
        emit_json(results)


class Experiment(enum.StrEnum):
    """What can be reproduced."""

    synthetic = "synthetic"
    benchmarks = "benchmarks"
    dropout = "dropout"
    convergence = "convergence"
    rules = "rules"
    table = "table"
    landmine = "landmine"
    all = "all"


@app.command(epilog=examples("fuzzymil reproduce all --quick --output results --data my-data"))
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="Which experiment of the paper.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for numbers, figures and the page.")] = Path(
        "fuzzymil-results"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A few minutes: fewer sets, repeats and starts.")] = False,
    seed: _options.Seed = 7321,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark sets (default: FUZZYMIL_DATA, else a download).")
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, help="Repeats of the cross-validations (default: 5; table 1; landmine 3; quick: 1)."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes for table and landmine (default: one a core).")
    ] = None,
    as_json: _options.AsJson = False,
) -> None:
    """Run the paper's experiments and write the results as a page beside the paper's own.

    What is finished is kept: after Ctrl-C the same command goes on where it stopped.
    """
    _check_folder(output)
    from fuzzymil._utils.runtime import enable_compilation_cache
    from fuzzymil.experiments import EXPERIMENTS, Options, Stopped
    from fuzzymil.experiments import reproduce as run

    enable_compilation_cache()
    names = list(EXPERIMENTS) if experiment is Experiment.all else [experiment.value]
    try:
        results = run(names, output, Options(seed, quick, repeats, data, jobs), _console(silent=as_json))
    except Stopped as stopped:
        note(f"Stopped: {stopped}. Run the same command again to go on.")
        raise typer.Exit(130) from None
    except InputError:
        raise  # data that is not there is an OSError too, and tells more
    except OSError as problem:
        fail(f"Cannot write to {output}: {problem.strerror}.")
    if as_json:
        emit_json(results)


def _check_folder(output: Path) -> None:
    if output.exists() and not output.is_dir():
        fail(f"{output} is a file: --output needs a folder.")


def _console(*, silent: bool) -> Console:
    """Return where a study prints; on standard error where standard output is for programs."""
    from rich.console import Console

    return Console(stderr=silent, quiet=silent)
