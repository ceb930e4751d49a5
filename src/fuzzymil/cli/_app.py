"""The application: the group of commands, its help panels, and how errors and warnings are shown."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from fuzzymil._utils import memory, storage
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, RescuedError
from fuzzymil._version import __version__
from fuzzymil.cli._console import fail, in_options, note
from fuzzymil.cli._streams import OutputError

LEARN, USE, MORE, DATA = "Learn rules", "Use a model", "Examples and benchmarks", "Data"
"""Panels of the help: ``@app.command(rich_help_panel=LEARN)`` puts a command into one."""


class _Help:
    """A command whose help shows what to write, not the types of Python: no ``<bool>`` after a flag."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "argument":  # its name and help say it
                parameter.display_type_rich = lambda ctx: None
        super().format_help(ctx, formatter)  # type: ignore[misc]


# What people type, and what it is called here.
_COMMANDS = {"train": "fit", "learn": "fit"} | dict.fromkeys(("test", "score", "cv", "compare"), "evaluate")
_COMMANDS |= {"describe": "data describe", "convert": "data convert", "show": "rules", "why": "explain", "draw": "plot"}
_OPTIONS = dict.fromkeys(("--target", "--y", "--response", "--outcome"), "--label")
_OPTIONS |= dict.fromkeys(("--bag-id", "--id-column", "--key"), "--bag") | {"--out": "--output", "--cv": "--folds"}
_OPTIONS |= {"--features": "--only", "--exclude": "--drop", "--ignore": "--drop"}


class Command(_Help, TyperCommand):
    """One command."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse what was typed; a mistake is told with what to type instead."""
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:  # of Click, which typer may bring along
            meant = _OPTIONS.get(getattr(problem, "option_name", None) or "")
            if meant is not None:
                vars(problem)["possibilities"] = [meant]
            elif "extra argument" in getattr(problem, "message", ""):
                vars(problem)["message"] += ". Put a pattern of several files in quotes: '*.csv'."
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an output that the user did not name is a name that the program chose."""
        said = getattr(ctx.get_parameter_source("output"), "name", "")
        unnamed = said == "DEFAULT" and not ctx.params.get("figure")
        with storage.own_names() if unnamed else contextlib.nullcontext():
            return super().invoke(ctx)


class Group(_Help, TyperGroup):
    """Several commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was typed; one that is called otherwise here is told."""
        meant = _COMMANDS.get(args[0]) if args else None
        if meant is not None and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{meant}'?")
        return super().resolve_command(ctx, args)


class Application(typer.Typer):
    """A group of commands, to which modules add theirs: the docstring is the help, and ends in examples."""

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Return a decorator that adds a function as a command."""
        add = super().command

        def register(command: CommandFunctionType) -> CommandFunctionType:
            about, _, lines = (inspect.getdoc(command) or "").partition("\n\nExamples\n--------\n")
            shown = [f"  {line.strip()}" for line in lines.splitlines()]
            epilog = "\n\n".join(["Examples:" if len(shown) > 1 else "Example:", *shown]) if shown else None
            add(name, cls=cls, help=about, epilog=epilog, **settings)(_expand_groups(command))
            return command

        return register


def _expand_groups(command: CommandFunctionType) -> CommandFunctionType:
    """Return a command in which a parameter that is a group of options has become these options."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {each.name: each.annotation for each in own if dataclasses.is_dataclass(each.annotation)}
    found: list[inspect.Parameter] = []
    for each in own:
        kind = groups.get(each.name)
        if kind is None:
            found.append(each.replace(kind=each.KEYWORD_ONLY))
            continue
        hints = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            found.append(
                inspect.Parameter(field.name, each.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            )

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in found}
    return run  # type: ignore[return-value]


class Commands(Group):
    """Run commands; show warnings and user errors as plain messages, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                with storage.rescuing():
                    return super().invoke(ctx)
            except (InputError, ModelFileError, ParameterError) as problem:
                fail(in_options(str(problem).rstrip()))
            except OSError as problem:
                _explain(problem)
            except (MemoryError, ImportError, SystemError) as problem:
                if not isinstance(problem, MemoryError):  # a library that did not find room for itself?
                    _check_room()
                    raise
                fail("There is not enough memory for this: use less data, fewer rules, or --stream.", 1)
            except KeyboardInterrupt:
                note("Interrupted.")
                raise typer.Exit(130) from None


def _check_room() -> None:
    """Exit with a sentence if too little address space is left to import libraries."""
    try:
        memory.require_address_space(500_000_000, "This command")
    except InputError as problem:
        fail(str(problem), 1)


def _explain(problem: OSError) -> NoReturn:
    """Print what went wrong with a file, or with standard output, and exit."""
    if isinstance(problem, OutputError) and problem.is_unread:
        raise typer.Exit(1)  # nobody wants to hear about it
    if isinstance(problem, RescuedError | OutputError):
        fail(str(problem), 1)
    if problem.filename is None:
        fail(f"{problem.strerror or problem}.", 1)
    if isinstance(problem, FileNotFoundError):
        fail(f"File not found: {problem.filename}.")  # other than data and models, which are looked for first
    fail(f"Cannot use {problem.filename}: {problem.strerror}.")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"Warning: {in_options(str(message))}")


app = Application(
    name="fuzzymil",
    cls=Commands,
    help="Learn readable if-then rules from bags of instances (multiple-instance fuzzy inference).",
    epilog="To start from a table with one row per instance: fuzzymil fit data.csv --bag molecule --label active",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
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
