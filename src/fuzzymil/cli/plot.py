"""The commands that draw: ``plot`` and ``report``."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import STANDARD, check_target, emit_json, is_terminal, note
from fuzzymil.cli._inputs import Columns, Source, read_model
from fuzzymil.cli.predict import named_bag, read_both

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fuzzymil.bags import Bags

__all__ = ["Kind", "check_figure", "plot", "report", "write_figure"]

SUFFIXES = (".png", ".svg", ".pdf")
"""Ends of the names of figures."""


class Kind(enum.StrEnum):
    """What can be drawn."""

    membership = "membership"
    grid = "grid"
    space = "space"
    curves = "curves"
    roc = "roc"
    firing = "firing"
    explanation = "explanation"
    surface = "surface"


_NEED_BAGS = (Kind.space, Kind.roc, Kind.firing, Kind.explanation)
_NEED_TRAINING = (Kind.curves,)


@app.command(
    epilog=examples(
        "fuzzymil plot membership model.json -o sets.png",
        "fuzzymil plot explanation model.json visits.csv --bag u17 -o u17.svg",
        "fuzzymil plot surface model.json --x seconds_per_page --y pages",
    )
)
def plot(
    kind: Annotated[Kind, typer.Argument(help="What to draw.", show_default=False)],
    model: _options.Model,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]", help="Bags; space, roc, firing and explanation need them.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The figure: .png, .svg or .pdf (default: KIND.png)."),
    ] = None,
    one: Annotated[
        str | None, typer.Option("--bag", metavar="ID", help="A bag to explain, or to highlight in space.")
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="FEATURE", help="Across, in surface and space.")] = None,
    y: Annotated[str | None, typer.Option(metavar="FEATURE", help="Upwards, in surface and space.")] = None,
    title: Annotated[str | None, typer.Option(help="Above the figure.")] = None,
    bag_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that names the bag (default: as in fit).")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that holds the label (default: as in fit).")
    ] = None,
    format: _options.DataFormat = None,
    as_json: _options.AsJson = False,
) -> None:
    """Draw a model.

    membership: the fuzzy sets of each rule before and after training; grid: rules by features; space: instances and
    rules in the plane; curves: the loss over the epochs; roc: on labeled bags; firing: which bag fires which rule;
    explanation: one bag, taken apart; surface: the output over two features.
    """
    target = Path(f"{kind}.png") if output is None else output
    check_figure(target)
    if data is None:
        if kind in _NEED_BAGS:
            raise ParameterError(f"plot {kind} needs bags: fuzzymil plot {kind} MODEL DATA.")
        fitted, source, bags = read_model(model)[0], None, None
    else:
        columns = Columns.from_options(bag_column, label_column)
        fitted, source, bags = read_both(model, data, columns, format, labels=kind is Kind.roc)
    if not hasattr(fitted, "members_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, whose rules conclude sets: it cannot be drawn.")
    if kind in _NEED_TRAINING and not hasattr(fitted, "history_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which was not trained: it has no {kind}.")
    write_figure(_figure(kind, fitted, source, bags, one, (x, y), title), target)
    if as_json:
        emit_json({"figure": target, "kind": kind})


def _figure(
    kind: Kind,
    model: Any,
    source: Source | None,
    bags: Bags | None,
    one: str | None,
    features: tuple[str | None, str | None],
    title: str | None,
) -> Figure:
    """Compute and draw; bags are there where the kind needs them."""
    import matplotlib

    matplotlib.use("Agg")  # files only: no window, no display needed
    from fuzzymil import plots

    chosen = place = None
    if one is not None or kind is Kind.explanation:
        if source is None or bags is None:
            raise ParameterError("--bag names a bag of the data: name the data too.")
        chosen = named_bag(bags, one, source.name)
        place = chosen.ids.tolist()[0]
    display: Any
    if kind is Kind.membership:
        display = plots.MembershipDisplay.from_rules(model.rules_, getattr(model, "initial_rules_", None))
    elif kind is Kind.grid:
        display = plots.RuleGridDisplay.from_rules(model.rules_, getattr(model, "initial_rules_", None), bags=bags)
    elif kind is Kind.space:
        display = plots.SpaceDisplay.from_model(model, bags, bag=place, features=_pair(features))
    elif kind is Kind.curves:
        display = plots.CurvesDisplay.from_history(model.history_)
    elif kind is Kind.roc:
        display = _roc(model, bags)
    elif kind is Kind.firing:
        display = plots.FiringDisplay.from_rules(model.rules_, bags)
    elif kind is Kind.explanation:
        display = plots.ExplanationDisplay.from_explanation(model.explain(chosen))
    else:
        display = _surface(model, bags, *features)
    figure: Figure = display.plot() if title is None else display.plot(title)
    return figure


def _pair(features: tuple[str | None, str | None]) -> tuple[str, str] | None:
    x, y = features
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise ParameterError("--x and --y come together: name both features, or none for a projection of all.")
    return x, y


def _roc(model: Any, bags: Any) -> Any:
    from fuzzymil.plots import RocDisplay

    classes = getattr(model, "classes_", ())
    if len(classes) != 2:
        raise ParameterError("plot roc is for models of two classes.")
    note("The curve is drawn for the bags given; on training bags it flatters the model.")
    return RocDisplay.from_scores({type(model).__name__: [(bags.labels, model.decision_function(bags))]})


def _surface(model: Any, bags: Any, x: str | None, y: str | None) -> Any:
    from fuzzymil.plots import SurfaceDisplay

    names = model.rules_.feature_names
    if len(names) < 2:
        raise ParameterError("plot surface needs two features; the model has one.")
    across = x if x is not None else next(name for name in names if name != y)
    up = y if y is not None else next(name for name in names if name != across)
    if x is None or y is None:
        note(f"Features: {across} across, {up} upwards (guessed: --x and --y can say otherwise).")
    return SurfaceDisplay.from_rules(model.rules_, across, up, bags=bags)


def check_figure(path: Path) -> None:
    """Raise before any work if a figure could not be written there."""
    if path == STANDARD:
        raise ParameterError("A figure is not written to standard output: name a file with -o.")
    known_name("ending of a figure's name", path.suffix.lower(), SUFFIXES)
    check_target(path)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the end of its name tells, and close it."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    check_figure(path)
    # The same figure gives the same file: no date, no random names inside.
    dateless = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    with mpl.rc_context({"svg.hashsalt": "fuzzymil"}):
        figure.savefig(path, dpi=160, metadata=dateless)
    plt.close(figure)
    note(f"Wrote {path}.")


# ---------------------------------------------------------------------- report


@app.command(epilog=examples("fuzzymil report model.json visits.csv -o report.html"))
def report(
    model: _options.Model,
    data: _options.Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    format: _options.DataFormat = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation on labeled bags.")] = 10,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate/--no-cross-validate", help="Measure the performance by learning anew.")
    ] = True,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="The model was not trained on these bags: measure it as it is.")
    ] = False,
    as_json: _options.AsJson = False,
) -> None:
    """Write one page about a model and its data: rules, performance, explained bags, health of the rules.

    The page needs no network and can be sent to others.
    """
    if output == STANDARD:
        raise InputError("The report is a page of some size: name a file with -o.")
    check_target(output)
    fitted, _, bags = read_both(model, data, Columns.from_options(bag, label), format)
    from fuzzymil._utils.runtime import enable_compilation_cache
    from fuzzymil.report import write_report

    enable_compilation_cache()
    with _reported() as told:
        write_report(
            fitted,
            bags,
            output,
            title=title,
            cross_validate=cross_validate,
            n_folds=folds,
            held_out=held_out,
            progress=told,
        )
    note(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB): open it in a browser.")
    if as_json:
        emit_json({"report": output, "bytes": output.stat().st_size, "n_bags": bags.n_bags})


@contextmanager
def _reported() -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows what the report is at, where somebody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not is_terminal()) as bar:

        def told(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield told
