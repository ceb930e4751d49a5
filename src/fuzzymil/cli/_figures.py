"""Figures written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.cli._console import STANDARD, check_target, note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def check_figure(path: Path, *inputs: Path | None) -> None:
    """Raise, before any work is done, if a figure cannot be written to this file, or if it is one of the inputs."""
    if path == STANDARD:
        raise ParameterError("Figures cannot be written to standard output: name a file with -o.")
    known_name("file extension", path.suffix.lower(), SUFFIXES, "for a figure")
    check_target(path, *inputs)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's extension, and close it."""
    import matplotlib.pyplot as plt

    from fuzzymil.plots.style import figure_bytes

    storage.write_atomically(path, figure_bytes(figure, path.suffix.lower()))
    plt.close(figure)
    note(f"Wrote {path}.")
