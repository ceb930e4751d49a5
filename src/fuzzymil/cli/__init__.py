"""The command line. Libraries are imported inside the commands: ``fuzzymil --help`` must answer at once."""

from __future__ import annotations

import sys

from fuzzymil.cli import data, drawing, evaluating, fitting, launching, studies, timing, using
from fuzzymil.cli.application import app
from fuzzymil.cli.studies import Experiment

__all__ = ["Experiment", "app", "main"]

_COMMANDS = (
    fitting,
    launching,
    evaluating,
    using,
    drawing,
    data,
    studies,
    timing,
)  # importing a module adds its commands


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SystemExit as ending:
        if ending.code and "fuzzymil.distributed" in sys.modules:
            # Other processes may wait for this one, and it would wait for them.
            sys.modules["fuzzymil.distributed"].leave(int(ending.code))
        raise
