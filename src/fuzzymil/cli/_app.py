"""The application: one group of commands, in which what the user got wrong becomes a sentence and exit code 2."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, ProcessLostError
from fuzzymil._version import __version__
from fuzzymil.cli._console import fail, in_options, note

__all__ = ["app", "examples"]

ORDER = (
    *("fit", "evaluate", "predict", "explain", "rules", "plot", "report", "data"),
    *("launch", "demo", "reproduce", "bench"),
)
"""Commands in the order in which a newcomer meets them."""


class Commands(TyperGroup):
    """Runs commands; warnings become notes, and errors that the user can mend one message without a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return sorted(super().list_commands(ctx), key=ORDER.index)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _shown
            try:
                return super().invoke(ctx)
            except ProcessLostError as problem:
                typer.echo(f"Error: {problem}", err=True)
                raise typer.Exit(problem.exit_status) from None
            except (InputError, ModelFileError, ParameterError) as problem:
                fail(in_options(str(problem).rstrip()))
            except BrokenPipeError:
                raise  # the reader of our output has had enough
            except OSError as problem:
                if problem.filename is None:
                    raise
                fail(f"{problem.filename} cannot be used: {problem.strerror}.")
            except KeyboardInterrupt:
                note("Stopped (Ctrl-C).")
                raise typer.Exit(130) from None


def _shown(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"Note: {in_options(str(message))}")


app = typer.Typer(
    name="fuzzymil",
    cls=Commands,
    help="Multiple-instance fuzzy inference: readable if-then rules, learned from bags of instances.",
    epilog="First step, with a table of one row an instance: fuzzymil fit data.csv --bag molecule --label active",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def examples(*commands: str) -> str:
    r"""Return what stands below the help of a command.

    Examples
    --------
    >>> examples("fuzzymil demo")
    'Example:\n\n  fuzzymil demo'
    """
    return "\n\n".join(["Examples:" if len(commands) > 1 else "Example:", *(f"  {command}" for command in commands)])


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
