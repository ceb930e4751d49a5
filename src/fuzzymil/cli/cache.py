"""``fuzzymil cache``: the compiled programs that are kept on disk."""

from __future__ import annotations

from typing import Annotated

from fuzzymil._utils import programs
from fuzzymil.cli._app import MORE, app
from fuzzymil.cli._console import emit, emit_json
from fuzzymil.cli._options import AsJson, option


@app.command(rich_help_panel=MORE)
def cache(
    clear: Annotated[bool, option(None, "Remove all programs.", "--clear")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where compiled programs are kept, or remove them.

    A program that trains a network is compiled once and kept, so that the next fit of similar size starts sooner.
    The environment variable FUZZYMIL_CACHE names another folder; FUZZYMIL_CACHE=off keeps nothing.

    Examples
    --------
    fuzzymil cache
    fuzzymil cache --clear
    """
    folder, obstacle = programs.folder(), programs.obstacle()
    found = programs.clear() if clear else programs.usage()
    if as_json:
        about = {"n_programs": found.n_programs, "n_bytes": found.n_bytes, "cleared": clear, "obstacle": obstacle}
        emit_json({"folder": folder, **about})
        return
    if folder is not None:
        what = f"{found.n_programs} program{'' if found.n_programs == 1 else 's'} ({found.n_bytes / 1e6:.1f} MB)"
        most = f", of at most {programs.MOST_BYTES / 1e6:.0f} MB"
        emit(f"Removed {what} from {folder}." if clear else f"{folder}: {what}{most}.")
    if obstacle is not None:
        emit(f"Programs are not kept here: {obstacle}.")
