"""Options that several commands share, written once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fuzzymil.datasets import FORMATS

__all__ = [
    "Alpha",
    "AsJson",
    "BagColumn",
    "Data",
    "DataFormat",
    "Drop",
    "Init",
    "LabelColumn",
    "LearningRate",
    "MaxEpochs",
    "MaxTerms",
    "Model",
    "NMembers",
    "NRestarts",
    "NRules",
    "Order",
    "Output",
    "Seed",
    "Settings",
    "format_names",
    "setting_names",
]


def format_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a file format."""
    return (name for name in FORMATS if name.startswith(incomplete))


def setting_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a setting."""
    from fuzzymil.cli._settings import known_settings

    return (f"{name}=" for name in known_settings() if name.startswith(incomplete))


Data = Annotated[Path, typer.Argument(metavar="DATA", help="File of bags; - reads standard input.", show_default=False)]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="File that fit wrote; - reads standard input.", show_default=False),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write (default: standard output).")
]
BagColumn = Annotated[
    str | None,
    typer.Option(
        "--bag",
        metavar="COLUMN",
        help="Column that names the bag (default: one called bag, bag_id, molecule ...; position from 0 in a file "
        "without a header).",
        rich_help_panel="Data",
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column that holds the bag's label (default: one called label, class, target, y ...).",
        rich_help_panel="Data",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Column that is no feature (dates, addresses ...); may be given several times.",
        rich_help_panel="Data",
    ),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        autocompletion=format_names,
        help=f"File format: {', '.join(FORMATS)} (default: recognized from the file).",
        rich_help_panel="Data",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Seed = Annotated[int, typer.Option(min=0, help="All random numbers follow from it.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=setting_names,
        help="Any other setting of the estimator, loss=cross_entropy say; may be given several times.",
        rich_help_panel="Model",
    ),
]


def _setting(name: str, help: str, min: int | None = None) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(
        f"--{name}", help=help, min=min, rich_help_panel="Model", show_default=False
    )
    return found


NRules = Annotated[int | None, _setting("n-rules", "Number of rules (default: 10).")]
MaxTerms = Annotated[
    int | None, _setting("max-terms", "Most conditions a rule may have; 2 or 3 make rules that are easy to read.")
]
Alpha = Annotated[
    float | None,
    _setting("alpha", "How sharply a bag is judged by its best instance: 0 the mean, inf the greatest (default: 1)."),
]
Order = Annotated[int | None, _setting("order", "0: rules conclude numbers (default); 1: linear functions.")]
NMembers = Annotated[
    int | None, _setting("n-estimators", "Rule bases that are averaged (default: 1, which reads best).")
]
NRestarts = Annotated[int | None, _setting("n-init", "Starts of which the best is kept (default: 1).")]
MaxEpochs = Annotated[int | None, _setting("max-epochs", "Passes over the bags (default: 150).", min=1)]
LearningRate = Annotated[float | None, _setting("learning-rate", "Step of the optimizer (default: 0.03).")]
Init = Annotated[
    str | None,
    _setting(
        "init", "Where rules start: a file of rules (.rules, .txt, .json, .fll, .fis), kmeans, fcm, random, grid."
    ),
]
