"""The command line, one module per command."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.registry import import_modules
from fuzzymil.cli._streams import OutputError, open_streams

if TYPE_CHECKING:
    from fuzzymil.cli._app import app

__all__ = ["app", "main"]

_IN_ORDER = (
    *("fit", "evaluate"),
    *("predict", "explain", "rules", "studio", "plot", "report"),
    *("demo", "bench", "data", "cache"),
)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _register()
    return import_module(f"{__name__}._app").app


def _register(command: str = "") -> None:
    """Import the module of a command, which registers it; or without a known name, those of all commands.

    The help lists the commands in the order of `_IN_ORDER`, and then any others.
    """
    if command.isidentifier() and not command.startswith("_") and find_spec(f"{__name__}.{command}"):
        import_module(f"{__name__}.{command}")
        return
    for name in _IN_ORDER:
        import_module(f"{__name__}.{name}")
    import_modules(__name__)


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # other processes import nothing from the current folder either
    os.environ["MPLBACKEND"] = "Agg"  # figures go into files, whatever a matplotlibrc says
    if not open_streams():
        print("Error: Standard output is closed: redirect it to a file.", file=sys.stderr)
        sys.exit(1)
    try:
        _register(*sys.argv[1:2])  # a command should not wait for the others
        from fuzzymil.cli._app import app

        app()
    except KeyboardInterrupt:  # while importing; later the app sees to it
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    except OutputError as problem:  # while printing the help
        if not problem.is_unread:
            print(f"Error: {problem}", file=sys.stderr)
        sys.exit(1)
