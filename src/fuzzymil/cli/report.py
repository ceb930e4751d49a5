"""``fuzzymil report``: an HTML report on a model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from fuzzymil._utils.errors import InputError
from fuzzymil.cli import _options
from fuzzymil.cli._app import USE, app, examples
from fuzzymil.cli._console import STANDARD, check_target, emit_json, note, progress
from fuzzymil.cli._inputs import Columns, read_both
from fuzzymil.cli._processes import helped_fits


@app.command(rich_help_panel=USE, epilog=examples("fuzzymil report model.json visits.csv -o report.html"))
def report(
    model: _options.Model,
    data: _options.Data,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    reading: _options.NewData,
    group: _options.Group = None,
    pos_label: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Of two classes, the one that curves are about (default: the model's positive class).",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="NUMBER", min=2, help="Number of cross-validation folds.")] = 10,
    no_cross_validation: Annotated[
        bool,
        typer.Option("--no-cross-validate", help="Do not refit the model to estimate held-out performance."),
    ] = False,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="The bags are not training data: score the model on them directly.")
    ] = False,
    as_json: _options.AsJson = False,
) -> None:
    """Write an HTML report: rules, performance, explained bags and diagnostics.

    The page is self-contained: it works offline and can be shared as a single file.
    """
    if output == STANDARD:
        raise InputError("The report cannot be written to standard output: name a file with -o.")
    check_target(output, model, data)
    columns = Columns.of(reading)
    if group is not None:
        columns = dataclasses.replace(columns, keep=(group,))
    fitted, _, bags = read_both(model, data, columns)
    from fuzzymil.report import write_report

    with helped_fits(1 if no_cross_validation or held_out else folds, bags), progress() as show:
        write_report(
            fitted,
            bags,
            output,
            title=title,
            cross_validate=not no_cross_validation,
            n_folds=folds,
            held_out=held_out,
            progress=show,
            pos_label=pos_label,
            groups=group,
        )
    note(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB). Open it in a browser.")
    if as_json:
        emit_json({"report": output, "bytes": output.stat().st_size, "n_bags": bags.n_bags, "group": group})
