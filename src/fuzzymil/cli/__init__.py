"""The command line. Libraries are imported inside the commands: ``fuzzymil --help`` must answer at once."""

from __future__ import annotations

import sys

from fuzzymil.cli import bench, data, evaluate, fit, launch, plot, predict, reproduce
from fuzzymil.cli._app import app
from fuzzymil.cli.reproduce import Experiment

__all__ = ["Experiment", "app", "main"]

_COMMANDS = (
    fit,
    launch,
    evaluate,
    predict,
    plot,
    data,
    reproduce,
    bench,
)  # importing a module adds its commands


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SystemExit as ending:
        if ending.code and "fuzzymil.training.distributed.processes" in sys.modules:
            # Other processes may wait for this one, and it would wait for them.
            sys.modules["fuzzymil.training.distributed.processes"].leave(int(ending.code))
        raise
