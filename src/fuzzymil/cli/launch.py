"""``fuzzymil launch``: train with several processes."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from fuzzymil._utils.errors import ParameterError, did_you_mean
from fuzzymil.cli._app import LEARN, app, examples
from fuzzymil.cli._console import note

__all__ = ["launch"]


@app.command(
    rich_help_panel=LEARN,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "fuzzymil launch -n 4 fit data.parquet --stream --checkpoint checkpoints -o model.json",
        "fuzzymil launch -n 2 train.py --any --arguments",
    ),
)
def launch(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND", help="fit and its arguments (including --json), or a Python script and its arguments."
        ),
    ],
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            "-n",
            metavar="NUMBER",
            min=1,
            help="Number of processes (default: one per core).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run fit in several processes on this machine, each on its share of the bags.

    They listen on the loopback interface only: no other machine can connect to them. If a process dies, the others are
    stopped at once. With --checkpoint, running the same command again resumes training. A Python script joins the other
    processes with fuzzymil.learn.train.distributed.join().
    """
    from fuzzymil.learn.train.distributed.launcher import launch as start

    name = command[0]
    if name.endswith(".py"):
        program = command
    elif name == "fit":
        program = ["-m", "fuzzymil", *command]
    else:
        raise ParameterError(f"launch runs fit or a Python script (.py), not {name!r}.{did_you_mean(name, ['fit'])}")
    status, message = start(program, processes or os.cpu_count() or 1)
    if message:
        killed = status > 128 and "--checkpoint" in command
        advice = " Run the same command again to resume from the last checkpoint." if killed else ""
        note(f"Error: {message}{advice}")
    raise typer.Exit(status)
