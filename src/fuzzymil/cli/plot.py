"""``fuzzymil plot``: figures of a model."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import ParameterError
from fuzzymil.cli import _options
from fuzzymil.cli._app import USE, app, examples
from fuzzymil.cli._console import emit_json, note
from fuzzymil.cli._figures import check_figure, write_figure
from fuzzymil.cli._inputs import bag_with_id
from fuzzymil.cli._models import Columns
from fuzzymil.cli._rule_files import read_answering

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fuzzymil.bags import Bags

__all__ = ["Kind", "plot"]


class Kind(enum.StrEnum):
    """What to plot."""

    membership = "membership"
    grid = "grid"
    space = "space"
    curves = "curves"
    roc = "roc"
    reliability = "reliability"
    firing = "firing"
    explanation = "explanation"
    surface = "surface"
    shapes = "shapes"
    joined = "joined"


_NEED_BAGS = (Kind.space, Kind.roc, Kind.reliability, Kind.firing, Kind.explanation, Kind.joined)


@app.command(
    rich_help_panel=USE,
    epilog=examples(
        "fuzzymil plot membership model.json -o sets.png",
        "fuzzymil plot explanation model.json visits.csv --id u007 -o u007.svg",
        "fuzzymil plot surface model.json --x seconds_per_page --y pages",
    ),
)
def plot(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help="What to plot: one of the above.", show_default=False)],
    model: _options.Model,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="File with bags; required for space, roc, reliability, firing, explanation and joined.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: .png, .svg or .pdf (default: KIND.png)."),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="ID of the bag to explain, or to highlight in space.")
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="FEATURE", help="Horizontal axis of surface and space.")] = None,
    y: Annotated[str | None, typer.Option(metavar="FEATURE", help="Vertical axis of surface and space.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the figure.")] = None,
    bag: _options.ModelBagColumn = None,
    label: _options.ModelLabelColumn = None,
    format: _options.DataFormat = None,
    as_json: _options.AsJson = False,
) -> None:
    """Plot a model, or the rules in a file (.rules, .fll, .fis, ...).

    - membership: the fuzzy sets of each rule, before and after training
    - grid: all rules by all features
    - space: instances and rules in two dimensions
    - curves: the loss over the training epochs
    - roc: the ROC curve on labeled bags
    - reliability: how often predictions of a probability come true
    - firing: which bags fire which rules
    - explanation: the prediction for one bag
    - surface: the output over two features
    - shapes: what each feature adds to the output
    - joined: the sets that Mamdani rules conclude about one bag, joined and defuzzified
    """
    target = Path(f"{kind}.png") if output is None else output
    check_figure(target, model, data)
    if data is None and kind in _NEED_BAGS:
        raise ParameterError(f"plot {kind} needs bags: fuzzymil plot {kind} MODEL DATA.")
    columns, labels = Columns.from_options(bag, label), kind in (Kind.roc, Kind.reliability)
    fitted, source, bags = read_answering(model, data, columns, format, labels=labels)
    if not hasattr(fitted, "members_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which cannot be plotted.")
    if kind is Kind.curves and not hasattr(fitted, "history_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which was not trained: it has no curves.")
    if kind is Kind.curves and hasattr(fitted, "choice_"):
        raise ParameterError(f"The rules of {model} were chosen, not trained: they have no curves.")
    write_figure(_figure(kind, fitted, source, bags, id, (x, y), title), target)
    if as_json:
        emit_json({"figure": target, "kind": kind})


def _figure(
    kind: Kind,
    model: Any,
    source: str,
    bags: Bags | None,
    id: str | None,
    features: tuple[str | None, str | None],
    title: str | None,
) -> Figure:
    """Draw the figure; bags are there if the kind needs them."""
    import matplotlib

    matplotlib.use("Agg")  # no display needed
    from fuzzymil import plots

    chosen = None
    if id is not None or kind in (Kind.explanation, Kind.joined):
        if bags is None:
            raise ParameterError("--id names a bag in the data: fuzzymil plot KIND MODEL DATA --id ID.")
        chosen = bag_with_id(bags, id, source)
    before = _before_training(model)
    display: Any
    if kind is Kind.membership:
        display = plots.MembershipDisplay.from_rules(model, before)
    elif kind is Kind.grid:
        display = plots.RuleGridDisplay.from_rules(model, before, bags=bags)
    elif kind is Kind.space:
        place = None if chosen is None else chosen.ids.tolist()[0]
        display = plots.SpaceDisplay.from_model(model, bags, bag=place, features=_pair(features))
    elif kind is Kind.curves:
        display = plots.CurvesDisplay.from_history(model.history_)
    elif kind in (Kind.roc, Kind.reliability):
        display = _judged(kind, model, bags)
    elif kind is Kind.firing:
        display = plots.FiringDisplay.from_rules(model.rules_, bags)
    elif kind is Kind.explanation:
        display = plots.ExplanationDisplay.from_explanation(model.explain(chosen))
    elif kind is Kind.joined:
        display = plots.JoinedSetDisplay.from_rules(model, chosen)
    elif kind is Kind.shapes:
        display = plots.ShapesDisplay.from_rules(model, bags=bags)
    else:
        display = _surface(model, bags, *features)
    figure: Figure = display.plot() if title is None else display.plot(title)
    return figure


def _before_training(model: Any) -> Any:
    """Return the rules before training, if they are the same rules; a choice of rules ends with others."""
    before = getattr(model, "initial_rules_", None)
    asked = [[set(rule.antecedent) for rule in rules.rules] for rules in (before, model.rules_) if rules is not None]
    return before if asked[0] == asked[-1] else None


def _pair(features: tuple[str | None, str | None]) -> tuple[str, str] | None:
    x, y = features
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise ParameterError("Give both --x and --y, or neither for a projection of all features.")
    return x, y


def _judged(kind: Kind, model: Any, bags: Any) -> Any:
    from fuzzymil.plots import ReliabilityDisplay, RocDisplay

    classes, name = getattr(model, "classes_", ()), type(model).__name__
    if len(classes) != 2:
        raise ParameterError(f"plot {kind} needs a model with two classes.")
    note("The curve is optimistic if the model was trained on these bags.")
    if kind is Kind.roc:
        return RocDisplay.from_scores({name: [(bags.labels, model.decision_function(bags))]})
    likely = model.predict_proba(bags)[:, 1]
    return ReliabilityDisplay.from_probabilities({name: [(bags.labels, likely)]}, positive=model.classes_.tolist()[1])


def _surface(model: Any, bags: Any, x: str | None, y: str | None) -> Any:
    from fuzzymil.plots import SurfaceDisplay

    names = model.rules_.feature_names
    if len(names) < 2:
        raise ParameterError("plot surface needs two features; the model has one.")
    across = x if x is not None else next(name for name in names if name != y)
    up = y if y is not None else next(name for name in names if name != across)
    if x is None or y is None:
        note(f"Plotting {across} (x) and {up} (y); choose other features with --x and --y.")
    return SurfaceDisplay.from_rules(model.rules_, across, up, bags=bags)
