"""``fuzzymil plot``: figures of a model."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

from fuzzymil._utils.errors import ParameterError
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import check_figure, emit, emit_json, note, write_figure
from fuzzymil.cli._inputs import Columns, bag_with_id, class_and_output, output_names, read_model_or_rules
from fuzzymil.cli._options import AsJson, Model, NewData, OfClass, argument, option, split_names


class Kind(enum.StrEnum):
    """What to plot."""

    membership = enum.auto()
    space = enum.auto()
    curves = enum.auto()
    roc = enum.auto()
    reliability = enum.auto()
    explanation = enum.auto()
    surface = enum.auto()
    shapes = enum.auto()
    joined = enum.auto()
    importance = enum.auto()
    effect = enum.auto()


_NEED_LABELS = (Kind.roc, Kind.reliability, Kind.importance)
_NEED_BAGS = (*_NEED_LABELS, Kind.space, Kind.explanation, Kind.joined, Kind.effect)
_OF_ANY_CLASS = (Kind.roc, Kind.reliability, Kind.effect)  # whose answers are probabilities, or scores of each class
_OF_NO_CLASS = (Kind.space, Kind.curves, Kind.importance)


@app.command(rich_help_panel=USE)
def plot(
    kind: Annotated[Kind, argument("KIND", "What to plot: one of the above.")],
    model: Model,
    data: Annotated[
        Path | None, argument("DATA", "File with bags; not required for membership, curves, surface and shapes.")
    ] = None,
    *,
    output: Annotated[
        Path | None, option("FILE", "File to write: .png, .svg or .pdf (default: KIND.png).", "--output", "-o")
    ] = None,
    id: Annotated[str | None, option("ID", "ID of the bag to explain, or to highlight in space.", "--id")] = None,
    x: Annotated[str | None, option("FEATURE", "Horizontal axis of surface and space.")] = None,
    y: Annotated[str | None, option("FEATURE", "Vertical axis of surface and space.")] = None,
    feature: Annotated[
        list[str] | None,
        option("FEATURE", "Feature of effect (repeatable; default: those that move the prediction most)."),
    ] = None,
    of_class: OfClass = None,
    scoring: Annotated[
        str | None,
        option("SCORE", "What importance measures, such as roc_auc or neg_log_loss (default: accuracy or R²)."),
    ] = None,
    title: Annotated[str | None, option("TEXT", "Title of the figure.")] = None,
    reading: NewData,
    as_json: AsJson = False,
) -> None:
    """Plot a model, or the rules in a file (.rules, .fll, .fis, ...).

    - membership: the fuzzy sets of each rule, before and after training
    - space: instances and rules in two dimensions
    - curves: the loss over the training epochs
    - roc: the ROC curve on labeled bags
    - reliability: how often predictions of a probability come true
    - explanation: the prediction for one bag
    - surface: the output over two features
    - joined: the sets that Mamdani rules conclude about one bag, joined and defuzzified
    - shapes: what additive rules add, feature by feature
    - importance: how much worse the model is without each feature and each rule
    - effect: how the prediction changes as a feature moves over its range

    Examples
    --------
    fuzzymil plot membership model.json -o sets.png
    fuzzymil plot explanation model.json visits.csv --id u007 -o u007.svg
    fuzzymil plot surface model.json --x seconds_per_page --y pages
    fuzzymil plot importance model.json held-out.csv
    fuzzymil plot effect model.json visits.csv --feature pages
    """
    target = Path(f"{kind}.png") if output is None else output
    check_figure(target, model, data)
    if data is None and kind in _NEED_BAGS:
        raise ParameterError(f"plot {kind} needs bags: fuzzymil plot {kind} MODEL DATA.")
    columns = Columns.of(reading)
    fitted, source, bags = read_model_or_rules(model, data, columns, labels=kind in _NEED_LABELS)
    if not hasattr(fitted, "members_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which cannot be plotted.")
    if kind is Kind.joined and not fitted.members_[0].concludes_sets:
        raise ParameterError(
            f"plot joined is about the sets that Mamdani rules conclude, but the rules of {model} conclude numbers: "
            "plot explanation shows what each rule contributes."
        )
    if kind is Kind.curves and not hasattr(fitted, "history_"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which was not trained: it has no curves.")
    for name, given, owner in (("--feature", feature, Kind.effect), ("--scoring", scoring, Kind.importance)):
        if given is not None and kind is not owner:
            raise ParameterError(f"{name} is for plot {owner}, not for plot {kind}: omit it.")
    label, about = (None, None) if of_class is None else _label_and_output(kind, fitted, of_class)
    chosen = None
    if id is not None or kind in (Kind.explanation, Kind.joined):
        if bags is None:
            raise ParameterError("--id names a bag in the data: fuzzymil plot KIND MODEL DATA --id ID.")
        chosen = bag_with_id(bags, id, source)
    from fuzzymil import plots

    named = None if about is None else output_names(fitted)[about]
    found: list[Any] = []  # numbers of the figure
    display: Any
    if kind is Kind.membership:
        display = plots.MembershipDisplay.from_rules(fitted, _before_training(fitted), output=about)
    elif kind is Kind.space:
        place = None if chosen is None else chosen.ids.tolist()[0]
        display = plots.SpaceDisplay.from_model(fitted, bags, bag=place, features=_pair(x, y))
    elif kind is Kind.curves:
        display = plots.CurvesDisplay.from_history(fitted.history_)
    elif kind in (Kind.roc, Kind.reliability):
        display = _curve(kind, fitted, bags, label)
    elif kind is Kind.explanation:
        display = plots.ExplanationDisplay.from_explanation(fitted.explain(chosen, output=named))
    elif kind is Kind.joined:
        display = plots.JoinedSetDisplay.from_rules(fitted, chosen, output=named)
    elif kind is Kind.shapes:
        display = plots.ShapesDisplay.from_rules(fitted, bags=bags, output=about or 0)
    elif kind is Kind.importance:
        found = [fitted.importance(bags, scoring=scoring)]
        display = plots.ImportanceDisplay.from_importance(found[0])
    elif kind is Kind.effect:
        features = None if feature is None else list(split_names(feature))
        display = plots.EffectDisplay.from_model(fitted, bags, features, pos_label=label)
        found = display.effects
    else:
        display = _surface(fitted, bags, x, y, output=about or 0)
    write_figure(display.plot() if title is None else display.plot(title), target)
    if as_json:
        emit_json({"figure": target, "kind": kind} | ({kind: [each.to_dict() for each in found]} if found else {}))
    elif kind is Kind.importance:
        emit(str(found[0]))


def _label_and_output(kind: Kind, model: Any, wanted: str) -> tuple[Any, int]:
    """Return the class that the user wants to see, and the position of its output; raise if the figure has none."""
    if kind in _OF_NO_CLASS:
        raise ParameterError(f"plot {kind} is not about one class: omit --class.")
    label, output = class_and_output(model, wanted)
    if output is None and kind not in _OF_ANY_CLASS:
        other = next(name for name in model.classes_.tolist() if name != label)
        raise ParameterError(
            f"The positive class of this model is {other!s}, so plot {kind} cannot show {wanted}: omit --class. "
            f"Figures that can: {', '.join(_OF_ANY_CLASS)}."
        )
    return label, output or 0


def _before_training(model: Any) -> Any:
    """Return the rules before training, if they are the same rules; a choice of rules ends with others."""
    before = getattr(model, "initial_rules_", None)
    asked = [[set(rule.antecedent) for rule in rules.rules] for rules in (before, model.rules_) if rules is not None]
    return before if asked[0] == asked[-1] else None


def _pair(x: str | None, y: str | None) -> tuple[str, str] | None:
    if (x is None) != (y is None):
        raise ParameterError("Give both --x and --y, or neither for the features that matter most.")
    return None if x is None or y is None else (x, y)


def _curve(kind: Kind, model: Any, bags: Any, positive: Any) -> Any:
    import numpy as np

    from fuzzymil._utils.statistics import ranking_scores
    from fuzzymil.plots import ReliabilityDisplay, RocDisplay

    if not hasattr(model, "classes_"):
        raise ParameterError(f"plot {kind} needs a model of classes; this one predicts numbers.")
    classes, place = np.asarray(model._reading().classes).tolist(), model.classes_.tolist()
    known = None if model.coverage_ is None else model.coverage_.n_recognized(model._bags_to_read(bags))
    if known is None:
        note("The curve is optimistic if the model was trained on these bags.")
    elif known:
        note(f"The curve is optimistic: the model was trained on {known:,} of these {bags.n_bags:,} bags.")
    order = [place.index(name) for name in classes]
    if kind is Kind.reliability:
        likely = model.predict_proba(bags)[:, order]
        return ReliabilityDisplay.from_classes([(bags.labels, likely)], classes, pos_label=positive)
    found = model.predictions(bags)
    scores = ranking_scores(found.decisions, found.probabilities)
    assert scores is not None
    scores = scores[:, order] if scores.ndim > 1 else scores if order == [0, 1] else -scores
    return RocDisplay.from_classes([(bags.labels, scores)], classes, pos_label=positive)


def _surface(model: Any, bags: Any, x: str | None, y: str | None, *, output: int) -> Any:
    from fuzzymil.plots import SurfaceDisplay

    found = SurfaceDisplay.from_rules(model.rules_, x, y, bags=bags, output=output)
    if x is None or y is None:
        across, up = (feature.title for feature in found.features)
        note(f"Plotting {across} (x) and {up} (y); choose other features with --x and --y.")
    return found
