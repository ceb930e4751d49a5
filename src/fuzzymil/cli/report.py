"""``fuzzymil report``: an HTML report on a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fuzzymil._utils.errors import InputError
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import STANDARD, check_target, emit_json, note, progress
from fuzzymil.cli._inputs import Columns, read_both
from fuzzymil.cli._options import AsJson, Data, Folds, Group, Model, NewData, option
from fuzzymil.cli._processes import helped_fits


@app.command(rich_help_panel=USE)
def report(
    model: Model,
    data: Data,
    *,
    output: Annotated[Path, option("FILE", "HTML file to write.", "--output", "-o")] = Path("report.html"),
    title: Annotated[str | None, option("TEXT", "Title of the page.")] = None,
    reading: NewData,
    group: Group = None,
    pos_label: Annotated[
        str | None,
        option("CLASS", "Of two classes, the one that curves are about (default: the model's positive class)."),
    ] = None,
    folds: Folds = 10,
    no_cross_validation: Annotated[
        bool, option(None, "Do not refit the model to estimate held-out performance.", "--no-cross-validate")
    ] = False,
    held_out: Annotated[
        bool, option(None, "The bags are not training data: score the model on them directly.", "--held-out")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write an HTML report: rules, performance, explained bags and diagnostics.

    The page is self-contained: it works offline and can be shared as a single file.

    Examples
    --------
    fuzzymil report model.json visits.csv -o report.html
    """
    if output == STANDARD:
        raise InputError("The report cannot be written to standard output: name a file with -o.")
    check_target(output, model, data)
    fitted, _, bags = read_both(model, data, Columns.of(reading, group))
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
