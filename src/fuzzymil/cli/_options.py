"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

_TRAINING = "Training (--method mi-anfis, anfis or mamdani)"


def format_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a file format."""
    from fuzzymil.datasets import FORMATS

    return (name for name in FORMATS if name.startswith(incomplete))


def setting_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a setting."""
    from fuzzymil.cli._settings import Method, known_settings

    known = dict.fromkeys(name for method in Method for name in known_settings(method))
    return (f"{name}=" for name in known if name.startswith(incomplete))


def _column(name: str, help: str) -> Any:
    return typer.Option(f"--{name}", metavar="COLUMN", help=help, rich_help_panel="Data")


def _setting(name: str, help: str, min: int | None = None, panel: str = "Model", metavar: str = "NUMBER") -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help, min=min, rich_help_panel=panel, show_default=False)


def _training(name: str, help: str, min: int | None = None) -> Any:
    return _setting(name, help, min, panel=_TRAINING)


def _training_text(name: str, help: str, metavar: str) -> Any:
    return _setting(name, help, None, panel=_TRAINING, metavar=metavar)


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="File with the bags; - reads standard input.", show_default=False)
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file written by fit; - reads standard input.", show_default=False),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write (default: standard output).")
]
BagColumn = Annotated[
    str | None,
    _column(
        "bag",
        "Column that identifies the bag (default: a column named bag, bag_id, molecule, ...). Without a header: its "
        "position, from 0.",
    ),
]
LabelColumn = Annotated[
    str | None,
    _column("label", "Column with the label of the bag (default: a column named label, class, target, y, ...)."),
]
ModelBagColumn = Annotated[
    str | None, _column("bag", "Column that identifies the bag (default: as in the training data).")
]
ModelLabelColumn = Annotated[
    str | None, _column("label", "Column with the label of the bag (default: as in the training data).")
]


Group = Annotated[
    str | None,
    _column(
        "group",
        "Column of what bags belong to, such as a person: bags of one group are never both trained and tested on. It "
        "is not used as a feature.",
    ),
]


def _columns(name: str, help: str) -> Any:
    return typer.Option(f"--{name}", metavar="COLUMNS", help=help, rich_help_panel="Data")


Drop = Annotated[list[str] | None, _columns("drop", "Columns to leave out, separated by commas.")]
Only = Annotated[list[str] | None, _columns("only", "Use only these columns as features.")]
Categorical = Annotated[
    list[str] | None,
    _columns("categorical", "Columns of categories: text with many different values, or numbers that are codes."),
]
Date = Annotated[
    list[str] | None,
    _columns("date", "Columns of dates, and what to make of them, as in day=date+weekday+hour+elapsed."),
]
ExcludeText = Annotated[
    bool,
    typer.Option(
        "--exclude-text", help="Use no text columns, except for those that are named.", rich_help_panel="Data"
    ),
]


def _notation(name: str, metavar: str, help: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help, rich_help_panel="Data", show_default=False)


Decimal = Annotated[
    str | None,
    _notation(
        "decimal",
        "MARK",
        "Decimal separator: , or . (default: a point; a model remembers it).",
    ),
]
Thousands = Annotated[
    str | None,
    _notation(
        "thousands",
        "MARK",
        "Thousands separator, as in 7,698.09: a comma, point, blank or apostrophe (default: none; a model "
        "remembers it).",
    ),
]
Encoding = Annotated[
    str | None,
    _notation(
        "encoding", "NAME", "Encoding of a text file, such as cp1252 from spreadsheets on Windows (default: UTF-8)."
    ),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        autocompletion=format_names,
        help="File format: csv, headerless, uci, svmlight, arff, mat, parquet or npy (default: detected).",
        rich_help_panel="Data",
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder with the benchmark files (default: $FUZZYMIL_DATA, or download)."),
]
OfClass = Annotated[
    str | None,
    typer.Option(
        "--class",
        metavar="CLASS",
        help="The class to show (default: of two, the positive one; of several, all or the first).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Random seed.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Number of processes (default: one per core, if there is enough work to make their start worthwhile).",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=setting_names,
        help="Any other parameter of the estimator, such as loss=cross_entropy (repeatable).",
        rich_help_panel="Model",
    ),
]
NRules = Annotated[
    int | None,
    _setting("n-rules", "Maximum number of rules to choose (default: 50), or number of rules to train (default: 10)."),
]
PosLabel = Annotated[
    str | None,
    _setting(
        "pos-label",
        "Of two classes, the positive one (default: the one that the output of --init rules is named after, otherwise "
        "the last in sorted order).",
        metavar="CLASS",
    ),
]
MaxConditions = Annotated[
    int | None, _setting("max-conditions", "Maximum number of conditions in a rule (default: no limit).")
]
Alpha = Annotated[
    float | None,
    _training("alpha", "Softmax sharpness over the instances of a bag: 0 is the mean, inf the maximum (default: 1)."),
]
Order = Annotated[
    int | None, _training("order", "Conclusions: 0 for constants (default), 1 for linear functions of the features.")
]
NEstimators = Annotated[int | None, _setting("n-estimators", "Number of rule bases to average (default: 1).")]
NInit = Annotated[int | None, _training("n-init", "Number of initializations; the best is kept (default: 1).")]
MaxEpochs = Annotated[int | None, _training("max-epochs", "Maximum number of training epochs (default: 150).", min=1)]
LearningRate = Annotated[
    float | None, _training("learning-rate", "Learning rate (default: 0.03; Mamdani rules: 0.05).")
]
Init = Annotated[
    str | None,
    _training_text(
        "init",
        "Where the rules start: kmeans (default), fcm, random, grid or search; for mamdani clusters or select; or a "
        "file of rules to train (.rules, .txt, .json, .fll, .fis, .fcl, .fml).",
        "METHOD|FILE",
    ),
]
