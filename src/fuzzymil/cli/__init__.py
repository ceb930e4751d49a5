"""The command line, one module per command."""

from __future__ import annotations

import sys

from fuzzymil._utils.discovery import import_modules
from fuzzymil.cli._app import app
from fuzzymil.cli._streams import OutputError, open_streams

# Importing a module registers its command. The help lists the commands in this order, and then any others.
# isort: off
from fuzzymil.cli import fit, evaluate, launch  # noqa: F401
from fuzzymil.cli import predict, explain, rules, plot, report  # noqa: F401
from fuzzymil.cli import demo, reproduce, bench, data  # noqa: F401

# isort: on
from fuzzymil.cli.reproduce import Experiment

__all__ = ["Experiment", "app", "main"]

import_modules(__name__)


def main() -> None:
    """Run the command line."""
    if not open_streams():
        print("Error: Standard output is closed: redirect it to a file.", file=sys.stderr)
        sys.exit(1)
    try:
        app()
    except OutputError as problem:  # while printing the help
        if not problem.is_unread:
            print(f"Error: {problem}", file=sys.stderr)
        sys.exit(1)
    except SystemExit as ending:
        processes = sys.modules.get("fuzzymil.training.distributed.processes")
        if ending.code and processes is not None:  # do not wait for processes that may be waiting for this one
            processes.leave(int(ending.code))
        raise
