"""``fuzzymil explain``: why a bag got its prediction."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fuzzymil._utils.errors import ParameterError
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import check_figure, check_target, emit_json, write_figure, write_text
from fuzzymil.cli._inputs import Columns, bag_with_id, class_and_output, output_names, read_model_or_rules
from fuzzymil.cli._options import AsJson, Data, Id, Model, NewData, OfClass, Output, option


@app.command(rich_help_panel=USE)
def explain(
    model: Model,
    data: Data,
    *,
    id: Id = None,
    of_class: OfClass = None,
    figure: Annotated[Path | None, option("FILE", "Also plot it: .png, .svg or .pdf.")] = None,
    output: Output = None,
    max_rules: Annotated[
        int | None, option("NUMBER", "Number of rules to show, most influential first.", min=1)
    ] = None,
    reading: NewData,
    as_json: AsJson = False,
) -> None:
    """Explain the prediction for one bag: which rules fired, and on which instances.

    Instead of a model, a file of rules (.rules, .fll, .fis, ...) may be given: its outputs are then explained. If the
    data has no column of bags, every row is a bag, and --id is its number.

    Examples
    --------
    fuzzymil explain model.json visits.csv --id u007
    fuzzymil explain model.json visits.csv --id u007 --figure u007.png
    """
    check_target(output, model, data)
    if figure is not None:
        check_figure(figure, model, data)
        if output is not None and output.resolve() == figure.resolve():
            raise ParameterError(f"{output} cannot be both --output and --figure: choose another name for one of them.")
    fitted, name, bags = read_model_or_rules(model, data, Columns.of(reading), to_answer=True)
    if not hasattr(fitted, "explain"):
        raise ParameterError(f"{model} holds a {type(fitted).__name__}, which cannot explain its predictions.")
    assert bags is not None
    about = None
    if of_class is not None:
        label, place = class_and_output(fitted, of_class)
        if place is None:
            raise ParameterError(
                f"The rules of {model} are about its positive class, not about {label!s}: omit --class."
            )
        about = output_names(fitted)[place]
    found = fitted.explain(bag_with_id(bags, id, name), output=about)
    if as_json:
        emit_json(found.to_dict(), output)
    else:
        write_text(output, found.to_text(max_rules=max_rules))
    if figure is not None:
        from fuzzymil.plots import ExplanationDisplay

        write_figure(ExplanationDisplay.from_explanation(found, max_rules=max(max_rules or 12, 2)).plot(), figure)
