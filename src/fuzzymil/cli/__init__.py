"""The command line. Libraries are imported inside the commands: ``fuzzymil --help`` must answer at once."""

from __future__ import annotations

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
    app()
