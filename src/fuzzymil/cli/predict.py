"""``fuzzymil predict``: predictions of a model."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils.errors import listed
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import check_target, emit_json, note, write_pieces
from fuzzymil.cli._inputs import Columns, RuleFile, check_apart, holds_rules, read_all_rules, read_model, read_parts
from fuzzymil.cli._options import AsJson, Data, Model, NewData, Output, option

if TYPE_CHECKING:
    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags
    from fuzzymil.estimators import Predictions


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
    cat new.csv | fuzzymil predict model.json - > predictions.csv
    fuzzymil predict tipper.fis meals.csv
    """
    check_target(output, model, data, reading.labels)
    check_apart(model, data)
    if holds_rules(model):
        tables = RuleFile(read_all_rules(model)[0]).tables(data, Columns.of(reading))
    else:
        fitted, remembered = read_model(model, to_answer=True)
        parts = read_parts(data, Columns.of(reading), remembered=remembered, model=fitted)
        tables = _tables(fitted, parts, ("facts" if as_json else "words") if witness else None)
    if as_json:
        rows = [dict(zip(table, row, strict=True)) for table in tables for row in zip(*table.values(), strict=True)]
        emit_json({"predictions": rows}, output)
    else:
        write_pieces(output, _as_csv(tables))


def _tables(model: Any, parts: Iterable[Bags], witness: str | None = None) -> Iterator[dict[str, list[Any]]]:
    """Yield a table of predictions per part, and report their quality at the end if the bags are labeled.

    ``witness`` says whether each bag's most influential row is shown, as "facts" or in "words".
    """
    import numpy as np

    from fuzzymil._utils.arrays import concatenate, missing

    known: list[tuple[Array, Array]] = []
    n_bags = n_unlike = 0
    for bags in parts:
        found = model.predictions(bags)
        n_bags += bags.n_bags
        n_unlike += 0 if found.coverage is None else int((found.coverage == 0).sum())
        if bags.labels is not None and not (unknown := missing(bags.labels)).all():
            known.append((found.labels[~unknown], np.array(bags.labels[~unknown].tolist())))
        table = _table(model, bags, found)
        if witness is not None:
            table["witness"] = [_witness(each, witness) for each in model.explain_many(bags)]
        yield table
    if n_unlike:
        note(f"{n_unlike} of {n_bags} bags are more unusual than any training bag (coverage 0): see fuzzymil explain.")
    if known:
        predicted, labels = (concatenate(columns) for columns in zip(*known, strict=True))
        note(_quality(model, predicted, labels))


def _witness(explanation: Any, form: str) -> Any:
    """Return where the first witness of the most influential rule that has one comes from; None without any."""
    parts = (part for rule in explanation.rules if rule.contribution for part in rule.parts)
    first = next((part.witnesses[0] for part in parts if part.witnesses), None)
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


def _table(model: Any, bags: Bags, found: Predictions) -> dict[str, list[Any]]:
    """Return columns by name, with one entry per bag."""
    labels, table = found.labels, {"bag": bags.ids.tolist()}
    if labels.ndim > 1:
        table |= {f"prediction_{k + 1}": column.round(6).tolist() for k, column in enumerate(labels.T)}
    else:
        table["prediction"] = (labels.round(6) if labels.dtype.kind == "f" else labels).tolist()
    if found.probabilities is not None:
        columns = zip(model.classes_, found.probabilities.T, strict=True)
        table |= {f"probability_{name}": column.round(4).tolist() for name, column in columns}
    if found.coverage is not None:
        table["coverage"] = found.coverage.round(2).tolist()
    return table


def _quality(model: Any, found: Any, labels: Any) -> str:
    """Return how good predictions are, if they can be compared with the labels."""
    import numpy as np

    if hasattr(model, "classes_"):
        if not np.isin(labels, model.classes_).all():
            return f"No accuracy: the labels are not the classes of the model ({listed(model.classes_)})."
        right = int((found == labels).sum())
        return f"Accuracy {right / len(labels):.1%} ({right} of {len(labels)} bags)."
    if labels.dtype.kind not in "iuf" or found.shape != labels.shape:
        return "No R2: the labels are not numbers like the predictions."
    if len(labels) < 2:
        return f"Error {abs(float(found[0] - labels[0])):.4g}."
    error, spread = ((labels - found) ** 2).sum(), ((labels - labels.mean()) ** 2).sum()
    if not spread:
        return f"No R2: all labels are {labels[0]:g}. Greatest error {abs(labels - found).max():.4g}."
    return f"R2 {1 - error / spread:.3f} ({len(labels)} bags)."
