"""The command that starts several processes: ``launch``."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from fuzzymil._utils.errors import ParameterError, did_you_mean
from fuzzymil.cli._app import ORDER, app, examples
from fuzzymil.cli._console import note

__all__ = ["launch"]


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "fuzzymil launch -n 4 fit data.parquet --stream --checkpoint kept -o model.json",
        "fuzzymil launch -n 2 training.py --any --arguments",
    ),
)
def launch(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND...", help="fit and its arguments (--json too), or a Python script and its own."
        ),
    ],
    processes: Annotated[
        int | None, typer.Option("--processes", "-n", min=1, help="How many (default: one a core).", show_default=False)
    ] = None,
) -> None:
    """Train with several processes on this machine, each on its share of the bags.

    The processes are watched: when one dies the others are ended at once, and a fit with --checkpoint goes on from
    there when the same command is run again. A script meets the other processes by fuzzymil.training.distributed.join().
    """
    from fuzzymil.training.distributed.launcher import launch as start

    name = command[0]
    if name.endswith(".py"):
        program = command
    elif name == "fit":
        program = ["-m", "fuzzymil", *command]
    else:
        raise ParameterError(
            f"launch starts fit, or a Python script (its name ends in .py), not {name!r}.{did_you_mean(name, ORDER)}"
        )
    status, message = start(program, processes or os.cpu_count() or 1)
    if message:
        killed = status > 128 and "--checkpoint" in command
        advice = " Run the same command again to go on from the last checkpoint." if killed else ""
        note(f"Error: {message}{advice}")
    raise typer.Exit(status)
