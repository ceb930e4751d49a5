"""``fuzzymil reproduce``: the experiments of the paper."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from fuzzymil._utils.runtime import require_jax
from fuzzymil.cli import _options
from fuzzymil.cli._app import MORE, app, examples
from fuzzymil.cli._console import check_folder, emit_json, fail, note

__all__ = ["Experiment", "reproduce"]

LEAST_BAGS = 20  # with fewer, some methods could not hold out bags of both classes


class Experiment(enum.StrEnum):
    """What to reproduce."""

    synthetic = "synthetic"
    benchmarks = "benchmarks"
    dropout = "dropout"
    convergence = "convergence"
    rules = "rules"
    planted = "planted"
    table = "table"
    landmine = "landmine"
    all = "all"


@app.command(rich_help_panel=MORE, epilog=examples("fuzzymil reproduce all --quick --output results --data my-data"))
def reproduce(
    experiment: Annotated[
        Experiment,
        typer.Argument(metavar="EXPERIMENT", help=f"Experiment to run: {', '.join(Experiment)}.", show_default=False),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for numbers, figures and the page.")
    ] = Path("fuzzymil-results"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Finish within minutes: fewer datasets, repeats and restarts.")
    ] = False,
    seed: _options.Seed = 4953,
    data: _options.DataFolder = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Repeats of each cross-validation (default: 5; table and landmine: 3; with --quick: 1), "
            "or datasets of each kind (planted: 10; with --quick: 2).",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Processes for benchmarks, planted, table and landmine (default: one per core).",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...", help="Numbers of training bags for planted (default: 60,120,200,400; with --quick: 120)."
        ),
    ] = None,
    as_json: _options.AsJson = False,
) -> None:
    """Reproduce the paper's experiments, next to the published results.

    Finished results are kept: after Ctrl-C, the same command resumes where it stopped.
    """
    check_folder(output)
    n_bags = None if sizes is None else _training_bags(sizes)
    require_jax("Reproducing experiments")
    from rich.console import Console

    from fuzzymil.experiments import EXPERIMENTS, Options, Stopped
    from fuzzymil.experiments import reproduce as run

    names = list(EXPERIMENTS) if experiment is Experiment.all else [experiment.value]
    try:
        results = run(names, output, Options(seed, quick, repeats, data, jobs, n_bags), Console(quiet=as_json))
    except Stopped as stopped:
        note(f"Stopped: {stopped}. Run the same command again to resume.")
        raise typer.Exit(130) from None
    if as_json:
        emit_json(results)


def _training_bags(text: str) -> tuple[int, ...]:
    """Return the numbers of training bags in a list such as ``60,200``, in increasing order."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= LEAST_BAGS for word in words):
        fail(
            f"--sizes must be numbers of training bags, at least {LEAST_BAGS} each, with commas between them "
            f"(--sizes 60,200); got {text!r}."
        )
    return tuple(sorted({int(word) for word in words}))
