"""``fuzzymil predict``: predictions of a model."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil._utils.text import quantity
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import check_target, emit_json, note, write_pieces
from fuzzymil.cli._inputs import Columns, RuleFile, check_apart, holds_rules, read_all_rules, read_model, read_parts
from fuzzymil.cli._options import AsJson, CostMiss, Data, Model, NewData, Output, option

if TYPE_CHECKING:
    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags
    from fuzzymil.estimators import Predictions, PredictionSets


@app.command(rich_help_panel=USE)
def predict(
    model: Model,
    data: Data,
    *,
    output: Output = None,
    reading: NewData,
    witness: Annotated[
        bool,
        option(None, "Also show the row of the data that the most influential rule rests on, bag by bag.", "--witness"),
    ] = False,
    cost_miss: CostMiss = None,
    threshold: Annotated[
        float | None,
        option(
            "PROBABILITY",
            "Of two classes: predict the positive one from this probability (default: 0.5).",
            min=0.0,
            max=1.0,
            panel="Decisions",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        option(
            "SHARE",
            "Also show the set of answers that has the true one for at least this share of new bags, such as 0.9. The "
            "model needs fit --calibrate.",
            panel="Decisions",
            show_default=False,
        ),
    ] = None,
    by_class: Annotated[
        bool,
        option(None, "With --confidence: for this share of the bags of every class.", "--by-class", panel="Decisions"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predict the label of every bag and write a CSV table.

    Columns: bag, prediction, the probability of each class, and coverage: the share of the training bags
    that are at least as unusual (near 0: unlike the training bags). If the data is labeled, the accuracy is reported
    too. Parquet files are read in parts and may be larger than memory.

    Instead of a model, a file of rules (.rules, .fll, .fis, ...) may be given: the table then has its outputs. If the
    data has no column of bags, every row is computed on its own.

    Examples
    --------
    fuzzymil predict model.json new.csv -o predictions.csv
    fuzzymil predict model.json new.csv --cost-miss 5 --confidence 0.9
    cat new.csv | fuzzymil predict model.json - > predictions.csv
    fuzzymil predict tipper.fis meals.csv
    """
    check_target(output, model, data, reading.labels)
    check_apart(model, data)
    if cost_miss is not None and threshold is not None:
        raise ParameterError("--cost-miss and --threshold both set the threshold: omit one of them.")
    if by_class and confidence is None:
        raise ParameterError("--by-class is about the sets of --confidence: add --confidence 0.9.")
    if holds_rules(model):
        if (cost_miss, threshold, confidence) != (None, None, None):
            raise ParameterError(
                f"{model} holds rules alone: probabilities and sets need a model that fit has written."
            )
        tables = RuleFile(read_all_rules(model)[0]).tables(data, Columns.of(reading))
    else:
        fitted, remembered = read_model(model, to_answer=True)
        parts = read_parts(data, Columns.of(reading), remembered=remembered, model=fitted)
        decides = cost_miss is not None or threshold is not None
        least = _least_probability(fitted, cost_miss, threshold) if decides else None
        sets = None if confidence is None else partial(fitted.predict_set, confidence=confidence, by_class=by_class)
        tables = _tables(fitted, parts, ("facts" if as_json else "words") if witness else None, least, sets)
    if as_json:
        rows = [dict(zip(table, row, strict=True)) for table in tables for row in zip(*table.values(), strict=True)]
        emit_json({"predictions": rows}, output)
    else:
        write_pieces(output, _as_csv(tables))


def _least_probability(model: Any, cost_miss: float | None, threshold: float | None) -> float:
    """Return the probability of the positive class from which it is predicted, and report it."""
    positive = getattr(model, "pos_label_", None)
    if positive is None:
        raise ParameterError("--cost-miss and --threshold are for two classes: omit them.")
    least = 1 / (1 + cost_miss) if threshold is None and cost_miss is not None else float(threshold or 0)
    why = "" if cost_miss is None else f", as a missed {positive} costs {cost_miss:g} times a false alarm"
    note(
        f"Predicting {positive} from a probability of {least:.3g}{why}. fuzzymil evaluate says whether probabilities "
        "are calibrated."
    )
    return least


def _tables(
    model: Any,
    parts: Iterable[Bags],
    witness: str | None = None,
    least: float | None = None,
    sets: Callable[[Bags], PredictionSets] | None = None,
) -> Iterator[dict[str, list[Any]]]:
    """Yield a table of predictions per part, and report their quality at the end if the bags are labeled.

    ``witness`` says whether each bag's most influential row is shown, as "facts" or in "words". ``least``: the
    probability from which the positive class is predicted. ``sets`` returns the sets of answers of some bags.
    """
    last = None
    import numpy as np

    from fuzzymil._utils.arrays import concatenate, missing

    known: list[tuple[Array, Array]] = []
    n_bags = n_unlike = 0
    for bags in parts:
        found = model.predictions(bags, witnesses=witness is not None)
        if least is not None:
            found = found.decided(least)
        n_bags += bags.n_bags
        n_unlike += 0 if found.coverage is None else int((found.coverage == 0).sum())
        if bags.labels is not None and not (unknown := missing(bags.labels)).all():
            known.append((found.labels[~unknown], np.array(bags.labels[~unknown].tolist())))
        table = _rounded(found)
        if sets is not None:
            last = sets(bags)
            frame = last.to_frame()
            table |= {name: frame[name].tolist() for name in frame if name in ("set", "low", "high")}
        if witness is not None:
            table["witness"] = [_witness(each, witness) for each in found.witnesses]
        yield table
    if n_unlike:
        are = "is" if n_unlike == 1 else "are"
        of_all = f"{n_unlike} of {quantity(n_bags, 'bag')} {are}"
        note(f"{of_all} more unusual than any training bag (coverage 0): see fuzzymil explain.")
    if last is not None:
        note(last.guarantee)
    if known:
        predicted, labels = (concatenate(columns) for columns in zip(*known, strict=True))
        note(_quality(model, predicted, labels))


def _witness(first: Any, form: str) -> Any:
    """Return where a witness comes from; None without any."""
    if first is None:
        return None
    where = first.where or f"instance {first.instance}"
    return {"instance": first.instance, **(first.source or {})} if form == "facts" else where


def _as_csv(tables: Iterable[dict[str, list[Any]]]) -> Iterator[str]:
    """Yield the text of all tables under one header."""
    for number, table in enumerate(tables):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if number == 0:
            writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        yield text.getvalue()


def _rounded(found: Predictions) -> dict[str, list[Any]]:
    """Return columns by name, with one entry per bag."""
    digits = {"prediction": 6, "probability": 4, "coverage": 2}
    return {
        name: (values.round(digits.get(name.split("_")[0], 6)) if values.dtype.kind == "f" else values).tolist()
        for name, values in found.to_dict().items()
        if name != "witness"
    }


def _quality(model: Any, found: Any, labels: Any) -> str:
    """Return how good predictions are, if they can be compared with the labels."""
    import numpy as np

    if hasattr(model, "classes_"):
        if not np.isin(labels, model.classes_).all():
            return f"No accuracy: the labels are not the classes of the model ({listed(model.classes_)})."
        right = int((found == labels).sum())
        return f"Accuracy {right / len(labels):.1%} ({right} of {quantity(len(labels), 'bag')})."
    if labels.dtype.kind not in "iuf" or found.shape != labels.shape:
        return "No R2: the labels are not numbers like the predictions."
    if len(labels) < 2:
        return f"Error {abs(float(found[0] - labels[0])):.4g}."
    error, spread = ((labels - found) ** 2).sum(), ((labels - labels.mean()) ** 2).sum()
    if not spread:
        return f"No R2: all labels are {labels[0]:g}. Greatest error {abs(labels - found).max():.4g}."
    return f"R2 {1 - error / spread:.3f} ({len(labels)} bags)."
