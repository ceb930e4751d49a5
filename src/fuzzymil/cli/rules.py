"""``fuzzymil rules``: show the rules of a model, or convert them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import STANDARD, check_target, note, write_text
from fuzzymil.cli._inputs import read_all_rules
from fuzzymil.cli._options import AsJson, Output, argument, option

_NO_LIMITS = ("fis", "fcl", "fml")
"""Formats that cannot clip values to the ranges of the inputs."""


def _format_names(incomplete: str) -> Iterator[str]:
    from fuzzymil.rules.files import FORMATS

    return (name for name in ("text", *FORMATS) if name.startswith(incomplete))


@app.command(rich_help_panel=USE)
def rules(
    model: Annotated[
        Path,
        argument(
            "MODEL",
            "Model file written by fit, or a file of rules (.json, .rules, .txt, .fll, .fis, .fcl, .fml); - reads "
            "standard input.",
        ),
    ],
    format: Annotated[
        str | None,
        option(
            "FORMAT",
            "text for reading; rules for the rule language, which can be read back; json; markdown and latex for "
            "tables; fll for fuzzylite; fis for MATLAB; fcl and fml, which are standards; python and c for code. "
            "Default: by the extension of --output, else text.",
            autocompletion=_format_names,
        ),
    ] = None,
    output: Output = None,
    diff: Annotated[
        Path | None,
        option(
            "NEW",
            "Show what changed from MODEL to NEW, a model or file of rules, instead of the rules.",
            "--diff",
        ),
    ] = None,
    member: Annotated[int, option("NUMBER", "Which rule base of a model with several, best first.", min=1)] = 1,
    max_conditions: Annotated[
        int, option("NUMBER", "Conditions to show per rule in text and tables, most selective first.", min=1)
    ] = 12,
    digits: Annotated[int, option("NUMBER", "Significant digits in text and tables.", min=1, max=17)] = 4,
    as_json: AsJson = False,
) -> None:
    """Show the rules of a model, or convert a file of rules.

    Examples
    --------
    fuzzymil rules model.json
    fuzzymil rules model.json --format markdown
    fuzzymil rules model.json -o rules.fis
    fuzzymil rules expert.rules --diff model.json
    """
    check_target(output, model, diff)
    chosen = _format("json" if as_json else format, output)
    found = _member(read_all_rules(model), member)
    if diff is not None:
        write_text(output, _difference(found, _member(read_all_rules(diff), member), chosen, digits))
        return
    write_text(output, _text(_without_limits(found, chosen), chosen, max_conditions, digits))


def _format(format: str | None, output: Path | None) -> str:
    from fuzzymil.rules.files import FORMATS, format_of

    if format is not None:
        known_name("--format", format, ("text", *FORMATS))
        return format
    return "text" if output is None or output == STANDARD else format_of(output).name


def _member(members: list[Any], number: int) -> Any:
    """Return one of the rule bases of a model."""
    if number > len(members):
        raise ParameterError(f"--member {number} is out of range: the model has {len(members)}.")
    if len(members) > 1:
        note(f"Rule base {number} of {len(members)}, best first; the model averages them. Use --member for another.")
    return members[number - 1]


def _difference(old: Any, new: Any, format: str, digits: int) -> str:
    import json

    if old.concludes_sets != new.concludes_sets:
        raise ParameterError("--diff compares rules of one kind, but only one of these concludes numbers.")
    if format not in ("text", "json"):
        raise ParameterError(f"--diff is written as text or json, not as {format}.")
    found = old.diff(new)
    return json.dumps(found.to_dict(), indent=2) if format == "json" else str(found.to_text(digits))


def _without_limits(found: Any, format: str) -> Any:
    """Return rules that do not clip values to the ranges of the inputs, for a format that cannot express it."""
    import dataclasses

    from fuzzymil.rules.files import FORMATS

    if not found.limited or format not in _NO_LIMITS:
        return found
    note(f"Note: The model clips values to the range seen in training, which {FORMATS[format].title} cannot express.")
    return dataclasses.replace(found, limited=False)


def _text(found: Any, format: str, max_conditions: int, digits: int) -> str:
    from fuzzymil.rules.files import export_rules, what_is_lost

    is_table = format in ("markdown", "latex")
    longest = max(len(rule.conditions) for rule in found.rules)
    if (format == "text" or is_table) and longest > max_conditions:
        note(f"Showing up to {max_conditions} of {longest} conditions per rule; --max-conditions {longest} shows all.")
    if format == "text":
        text = found.to_text(max_conditions, digits)
        # The sets of conditions that are not shown would bury the rules.
        return text if longest > max_conditions else f"{text}\n\nwith\n{found.describe_terms(digits=digits)}"
    if is_table:
        return export_rules(found, format, max_conditions=max_conditions, digits=digits)
    for lost in what_is_lost(found, format):
        note(f"Note: {lost}")
    return export_rules(found, format)
