"""The commands that use a model: ``predict``, ``explain`` and ``rules``."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, listed
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import STANDARD, check_target, emit_json, note, write_pieces, write_text
from fuzzymil.cli._inputs import Columns, Source, read_data, read_model, read_parts, read_rules_or_model

if TYPE_CHECKING:
    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags

__all__ = ["RuleFormat", "explain", "named_bag", "predict", "read_both", "rules"]


def read_both(
    model: Path, data: Path, columns: Columns, format: str | None = None, *, labels: bool = False
) -> tuple[Any, Source, Bags]:
    """Return a model, the data named beside it, and the bags with the model's features."""
    _check_apart(model, data)
    fitted, remembered = read_model(model)
    source = read_data(data, columns, format, remembered=remembered, labels=labels)
    return fitted, source, source.usable(fitted)


def _check_apart(model: Path, data: Path) -> None:
    if model == STANDARD and data == STANDARD:
        raise InputError("Standard input can be the model or the data, not both: name a file for one.")


# ---------------------------------------------------------------------- predict


@app.command(
    epilog=examples(
        "fuzzymil predict model.json new.csv -o predictions.csv",
        "cat new.csv | fuzzymil predict model.json - > predictions.csv",
    )
)
def predict(
    model: _options.Model,
    data: _options.Data,
    output: _options.Output = None,
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    format: _options.DataFormat = None,
    as_json: _options.AsJson = False,
) -> None:
    """Predict the label of every bag, as CSV.

    Columns: the bag, the prediction, the probability of each class, and the coverage: how strongly the bag fires any
    rule, from 0 (no rule knows such bags) to 1. Where the data are labeled, how many are right is told beside it.
    Parquet is read a part at a time, so that it may be larger than the memory.
    """
    check_target(output)
    _check_apart(model, data)
    fitted, remembered = read_model(model)
    columns = Columns.from_options(bag, label)
    tables = _tables(fitted, read_parts(data, columns, format, remembered=remembered, model=fitted))
    if as_json:
        rows = [dict(zip(table, row, strict=True)) for table in tables for row in zip(*table.values(), strict=True)]
        emit_json({"predictions": rows}, output)
    else:
        write_pieces(output, _as_csv(tables))


def _tables(model: Any, parts: Iterable[Bags]) -> Iterator[dict[str, list[Any]]]:
    """Give a table of predictions for each part; at the end say how good they were, where there are labels."""
    from fuzzymil._utils.arrays import joined

    known: list[tuple[Array, Array]] = []
    for bags in parts:
        found = model.predict(bags)
        if bags.labels is not None:
            known.append((found, bags.labels))
        yield _table(model, bags, found)
    if known:
        predicted, labels = (joined(columns) for columns in zip(*known, strict=True))
        note(_compared(model, predicted, labels))


def _as_csv(tables: Iterable[dict[str, list[Any]]]) -> Iterator[str]:
    """Give the text of tables, one below the other, under one header."""
    for number, table in enumerate(tables):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if number == 0:
            writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        yield text.getvalue()


def _table(model: Any, bags: Bags, found: Array) -> dict[str, list[Any]]:
    """Return columns by name, one entry a bag."""
    import numpy as np

    table: dict[str, list[Any]] = {"bag": bags.ids.tolist()}
    if found.ndim > 1:
        table |= {f"prediction_{k + 1}": column.round(6).tolist() for k, column in enumerate(found.T)}
    else:
        table["prediction"] = (found.round(6) if found.dtype.kind == "f" else found).tolist()
    if hasattr(model, "classes_"):
        likely = model.predict_proba(bags)
        table |= {f"probability_{name}": likely[:, k].round(4).tolist() for k, name in enumerate(model.classes_)}
    if hasattr(model, "members_"):
        read = model._bags_to_read(bags)
        coverage = np.max([base.infer(read).coverage for base in model.members_], axis=0)
        table["coverage"] = [float(f"{value:.4g}") for value in coverage]  # tiny where there are many features
    return table


def _compared(model: Any, found: Any, labels: Any) -> str:
    """Tell how good predictions are, where the labels can tell."""
    import numpy as np
    from sklearn.metrics import r2_score

    if hasattr(model, "classes_"):
        if not np.isin(labels, model.classes_).all():
            return f"The labels are not the model's classes ({listed(model.classes_)}): they are not compared."
        right = int((found == labels).sum())
        return f"Right: {right} of {len(labels)} bags ({right / len(labels):.1%})."
    if labels.dtype.kind not in "iuf" or found.shape != labels.shape:
        return "The labels are no numbers such as the model predicts: they are not compared."
    if len(labels) < 2:
        return f"Off by {abs(float(found[0] - labels[0])):.4g}."
    return f"R2 on these bags: {r2_score(labels, found):.3f}."


# ---------------------------------------------------------------------- explain


@app.command(
    epilog=examples(
        "fuzzymil explain model.json visits.csv --bag u17",
        "fuzzymil explain model.json visits.csv --bag u17 --figure u17.png",
    )
)
def explain(
    model: _options.Model,
    data: _options.Data,
    bag: Annotated[str | None, typer.Option("--bag", metavar="ID", help="The bag to explain, by its name.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw it: .png, .svg or .pdf.")] = None,
    output: _options.Output = None,
    rules: Annotated[int, typer.Option("--max-rules", min=1, help="Rules to tell, the weightiest first.")] = 5,
    bag_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that names the bag (default: as in fit).")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that holds the label (default: as in fit).")
    ] = None,
    format: _options.DataFormat = None,
    as_json: _options.AsJson = False,
) -> None:
    """Tell why a bag was decided as it was: which rules spoke, fired by which instances."""
    from fuzzymil.cli.plot import check_figure

    check_target(output)
    if figure is not None:
        check_figure(figure)
    fitted, source, bags = read_both(model, data, Columns.from_options(bag_column, label_column), format)
    if not hasattr(fitted, "explain"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which has no explanations.")
    found = fitted.explain(named_bag(bags, bag, source.name))
    if as_json:
        emit_json(found.to_dict(), output)
    else:
        write_text(output, found.to_text(max_rules=rules))
    if figure is not None:
        from fuzzymil.cli.plot import write_figure
        from fuzzymil.plots import ExplanationDisplay

        write_figure(ExplanationDisplay.from_explanation(found, max_rules=max(rules, 2)).plot(), figure)


def named_bag(bags: Bags, name: str | None, where: str) -> Bags:
    """Return the bag of this name, as it is written in the file.

    Examples
    --------
    >>> from fuzzymil import Bags
    >>> named_bag(Bags.from_list([[[1.0]], [[2.0]]], ids=[7, 8]), "8", "a.csv").ids
    array([8])
    """
    names = [str(known) for known in bags.ids]
    if name is None:
        if bags.n_bags == 1:
            return bags
        raise InputError(f"{where} has {bags.n_bags} bags: say which one with --bag, {names[0]} say.")
    if name not in names:
        raise InputError(f"{where} has no bag {name!r}; there are {listed(names)}.{did_you_mean(name, names)}")
    return bags[[names.index(name)]]


# ---------------------------------------------------------------------- rules


class RuleFormat(enum.StrEnum):
    """How rules are written."""

    text = "text"
    rules = "rules"
    markdown = "markdown"
    latex = "latex"
    json = "json"
    fll = "fll"
    fis = "fis"


@app.command(
    epilog=examples(
        "fuzzymil rules model.json",
        "fuzzymil rules model.json --format markdown",
        "fuzzymil rules model.json -o rules.fis",
    )
)
def rules(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="File that fit wrote, or a file of rules (.json, .rules, .txt, .fll, .fis); - reads standard input.",
            show_default=False,
        ),
    ],
    format: Annotated[
        RuleFormat | None,
        typer.Option(
            help="text to read; rules reads back; markdown and latex are tables; fll (fuzzylite) and fis (MATLAB) for "
            "other programs. Default: by the ending of --output, else text.",
            show_default=False,
        ),
    ] = None,
    output: _options.Output = None,
    member: Annotated[int, typer.Option(min=1, help="Of a model with several members: which one, best first.")] = 1,
    max_terms: Annotated[
        int, typer.Option(min=1, help="Conditions of a rule to show in text and tables, the most selective first.")
    ] = 12,
    digits: Annotated[int, typer.Option(min=1, help="Significant digits in text and tables.")] = 4,
    as_json: _options.AsJson = False,
) -> None:
    """Show the rules of a model, or convert a file of rules."""
    check_target(output)
    chosen = _format(RuleFormat.json if as_json else format, output)
    found = _member(read_rules_or_model(model), member)
    if chosen is RuleFormat.fis:
        found = _without_limits(found)
    for lost in _losses(found, chosen):
        note(f"Note: {lost}")
    write_text(output, _written(found, chosen, max_terms, digits))


def _format(format: RuleFormat | None, output: Path | None) -> RuleFormat:
    if format is not None:
        return format
    if output is None or output == STANDARD:
        return RuleFormat.text
    from fuzzymil._utils.errors import known_name
    from fuzzymil.rules.formats import ENDINGS

    known_name("ending of a file of rules", output.suffix.lower(), ENDINGS)
    return RuleFormat(ENDINGS[output.suffix.lower()])


def _member(found: Any, number: int) -> Any:
    """Return the rules of a model, or of one of its members."""
    members = getattr(found, "members_", [getattr(found, "rules_", found)])
    if number > len(members):
        raise ParameterError(f"There is no member {number}: the model has {len(members)}.")
    if len(members) > 1:
        note(f"Member {number} of {len(members)}, best first; their outputs are averaged (--member shows another).")
    return members[number - 1]


def _without_limits(found: Any) -> Any:
    """Return rules that take values outside a variable's range as they are, and say what that changes."""
    import dataclasses

    base = getattr(found, "premises", found)
    if not base.limited:
        return found
    note("Note: In the model, values outside the range seen in training count as its ends; a .fis file cannot say so.")
    base = dataclasses.replace(base, limited=False)
    return dataclasses.replace(found, premises=base) if hasattr(found, "premises") else base


def _losses(found: Any, format: RuleFormat) -> list[str]:
    from fuzzymil.rules.formats import what_is_lost

    return what_is_lost(found, format.value) if format in (RuleFormat.fll, RuleFormat.fis) else []


def _written(found: Any, format: RuleFormat, max_terms: int, digits: int) -> str:
    import json

    from fuzzymil.rules import RuleBase

    if format in (RuleFormat.text, RuleFormat.markdown, RuleFormat.latex):
        longest = max(len(rule.conditions) for rule in getattr(found, "premises", found).rules)
        if longest > max_terms:
            note(f"The {max_terms} most selective of up to {longest} conditions (--max-terms {longest} shows all).")
    else:
        longest = 0
    if format is RuleFormat.text and isinstance(found, RuleBase):
        text = found.to_text(max_terms, digits)
        # The sets of what is left out would bury the rules.
        return text if longest > max_terms else f"{text}\n\nwith\n{found.describe_terms(digits=digits)}"
    if format in (RuleFormat.text, RuleFormat.rules):  # the text of Mamdani rules declares their sets
        return str(found.to_source())
    if format is RuleFormat.json:
        return json.dumps(_document(found), indent=1, ensure_ascii=False, allow_nan=False)
    if format in (RuleFormat.markdown, RuleFormat.latex):
        return str(getattr(found, f"to_{format}")(max_terms, digits))
    return str(getattr(found, f"to_{format}")())


def _document(found: Any) -> Any:
    """Return rules as their own file holds them, so that what is piped can be read again."""
    import json
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
        path = Path(folder) / "rules.json"
        found.save(path)
        return json.loads(path.read_text(encoding="utf-8"))
