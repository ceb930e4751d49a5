"""The command line. Imports are made inside the commands: ``fuzzymil --help`` must answer at once."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from fuzzymil._version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="fuzzymil",
    help="Multiple-instance fuzzy inference: readable if-then rules, learned from bags of instances.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fuzzymil {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the figure, model and numbers.")] = Path(
        "fuzzymil-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Random seed of data and training.")] = 0,
) -> None:
    """Learn the paper's two concepts from bags of points and show the rules that were found.

    Example: fuzzymil demo --output my-demo
    """
    if output.exists() and not output.is_dir():
        _fail(f"{output} is a file: --output needs a folder.")
    from rich.console import Console

    from fuzzymil.demo import run_demo
    from fuzzymil.runtime import enable_compilation_cache

    enable_compilation_cache()
    try:
        run_demo(output, seed, Console())
    except OSError as problem:
        _fail(f"Cannot write to {output}: {problem.strerror}.")


class Experiment(enum.StrEnum):
    """What can be reproduced."""

    synthetic = "synthetic"
    benchmarks = "benchmarks"
    dropout = "dropout"
    convergence = "convergence"
    rules = "rules"
    all = "all"


@app.command()
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="Which experiment of the paper.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for numbers, figures and the page.")] = Path(
        "fuzzymil-results"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A few minutes: fewer sets, repeats and starts.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="All random numbers follow from it.")] = 7321,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark sets (default: FUZZYMIL_DATA, else a download).")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Repeats of the cross-validations (default: 5; quick: 1).")
    ] = None,
) -> None:
    """Run the paper's experiments and write the results as a page beside the paper's own.

    What is finished is kept: after Ctrl-C the same command goes on where it stopped.

    Example: fuzzymil reproduce all --quick --output results --data my-data
    """
    if output.exists() and not output.is_dir():
        _fail(f"{output} is a file: --output needs a folder.")
    from rich.console import Console

    from fuzzymil.errors import InputError
    from fuzzymil.experiments import EXPERIMENTS, Options, Stopped
    from fuzzymil.experiments import reproduce as run
    from fuzzymil.runtime import enable_compilation_cache

    enable_compilation_cache()
    names = list(EXPERIMENTS) if experiment is Experiment.all else [experiment.value]
    try:
        run(names, output, Options(seed, quick, repeats, data), Console())
    except InputError as problem:
        _fail(str(problem))
    except OSError as problem:
        _fail(f"Cannot write to {output}: {problem.strerror}.")
    except Stopped as stopped:
        typer.echo(f"Stopped: {stopped}. Run the same command again to go on.", err=True)
        raise typer.Exit(130) from None


def _fail(message: str) -> None:
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(2)


def main() -> None:
    """Run the command line."""
    app()
