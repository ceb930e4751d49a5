"""Rules as Markdown and LaTeX tables: one row per rule, one column per feature, conclusions last."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files._format import Format, register_format
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.points import in_points, score_table
from fuzzymil.rules.premise import And, Expression, Is
from fuzzymil.rules.rule import Variable


class _Table(NamedTuple):
    head: list[str]
    rows: list[list[str]]


def markdown(rules: RuleBase, max_conditions: int | None = None, digits: int | None = 4) -> str:
    """Return rules as a Markdown table: one row per rule, one column per feature, conclusions last.

    Premises with OR, or with NOT before parentheses, are written in one column instead; a second table then
    defines the terms.
    """

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def text(table: _Table) -> str:
        rows = (line(map(_markdown, row)) for row in table.rows)
        return "\n".join([line(map(_markdown, table.head)), line("---" for _ in table.head), *rows])

    return "\n\n".join(map(text, _tables(rules, max_conditions, digits)))


def latex(rules: RuleBase, max_conditions: int | None = None, digits: int | None = 4) -> str:
    """Return rules as a LaTeX table that needs no packages; see `markdown`."""

    def line(cells: Iterable[str]) -> str:
        return f"{' & '.join(map(_latex, cells))} \\\\"

    def text(table: _Table) -> str:
        start = rf"\begin{{tabular}}{{{'r' if table.head[0] == _RULE else 'l'}{'l' * (len(table.head) - 1)}}}"
        body = [r"\hline", line(table.head), r"\hline", *map(line, table.rows), r"\hline"]
        return "\n".join([start, *body, r"\end{tabular}"])

    return "\n\n".join(map(text, _tables(rules, max_conditions, digits)))


# ---------------------------------------------------------------------- cells

_RULE = "rule"


def _conclusions(base: RuleBase, max_conditions: int | None, digits: int | None) -> _Table:
    """Return the last columns of a table; what additive rules add has a sign."""
    if base.concludes_sets:
        sets = [[_condition(rule.terms.get(each.name), each, digits) for each in base.outputs] for rule in base.rules]
        return _Table([output.title for output in base.outputs], sets)
    if base.points is not None:
        return _Table([*base.output_names], [[in_points(points)] for points in base.points])

    def cell(row: tuple[float, ...]) -> str:
        sign, text = printer.concluded(row, base.feature_names, digits, max_conditions, adds=not base.normalize)
        return ("" if sign == "=" or text.startswith("-") else sign[0]) + text

    return _Table([*base.output_names], [list(map(cell, rule.coefs)) for rule in base.rules])


def _condition(asked: Is | None, variable: Variable, digits: int | None) -> str:
    """Return the cell of a condition, ``very low: Gaussian(0, 1)``; empty for None."""
    if asked is None:
        return ""
    words = " ".join((*asked.hedges, asked.term))
    if asked.term in variable.categories:
        return words
    return f"{words}: {printer.format_set(variable.terms[asked.term], digits)}"


def _tables(base: RuleBase, max_conditions: int | None, digits: int | None) -> list[_Table]:
    """Return the table of the rules, and one of their terms if the premises do not fit into a grid."""
    said = _conclusions(base, max_conditions, digits)
    asked = [_row(rule.premise) for rule in base.rules]
    grid = [row for row in asked if row is not None]
    tables = []
    if len(grid) == len(asked):
        head, rows = _grid(base, grid, max_conditions, digits)
    else:
        head, rows = ["if"], [[source.premise_text(base, rule, max_conditions)] for rule in base.rules]
        tables.append(_terms(base, digits))
    weighted = ["weight"] if any(rule.weight != 1 for rule in base.rules) else []
    weights = [[printer.format_number(rule.weight, digits) for _ in weighted] for rule in base.rules]
    cells = enumerate(zip(rows, said.rows, weights, strict=True), start=1)
    whole = [[str(number), *row, *concluded, *weight] for number, (row, concluded, weight) in cells]
    if not base.normalize:
        default = [printer.format_number(value, digits) for value in base.default]
        whole.insert(0, ["default", *[""] * len(head), *default, *[""] * len(weighted)])
    if base.unit is not None:
        scores = score_table(base).rows
        percents = ["probability", *(row.percent for row in scores)]
        tables.append(_Table(["score", *(row.text for row in scores)], [percents]))
    return [_Table([_RULE, *head, *said.head, *weighted], whole), *tables]


def _row(premise: Expression) -> dict[str, Is] | None:
    """Return the condition on each variable if the premise joins at most one per variable by AND, else None."""
    parts = premise.parts if isinstance(premise, And) else (premise,)
    found = {part.variable: part for part in parts if isinstance(part, Is)}
    return found if len(found) == len(parts) else None


def _grid(
    base: RuleBase, asked: list[dict[str, Is]], max_conditions: int | None, digits: int | None
) -> tuple[list[str], list[list[str]]]:
    shown = []
    for rule, row in zip(base.rules, asked, strict=True):
        selectivity = base.selectivity(rule) if max_conditions is not None and len(row) > max_conditions else {}
        names = sorted(row, key=lambda name, of=selectivity: -of.get(name, 0.0))  # type: ignore[misc]
        shown.append({name: row[name] for name in names[:max_conditions]})
    used = [variable for variable in base.variables if any(variable.name in row for row in shown)]
    rows = [[_condition(row.get(variable.name), variable, digits) for variable in used] for row in shown]
    head = [variable.title for variable in used]
    left_out = [len(row) - len(part) for row, part in zip(asked, shown, strict=True)]
    if any(left_out):
        head.append("further conditions")
        for cells, count in zip(rows, left_out, strict=True):
            cells.append(f"{count} less selective" if count else "")
    return head, rows


def _terms(base: RuleBase, digits: int | None) -> _Table:
    rows = [
        [variable.title, term, printer.format_set(chosen, digits)]
        for variable in base.variables
        for term, chosen in variable.terms.items()
        if term not in variable.categories
    ]
    return _Table(["variable", "term", "set"], rows)


# ---------------------------------------------------------------------- escapes

_MARKDOWN = {ord(sign): f"\\{sign}" for sign in "\\`*_[]<>|~"} | {ord("&"): "&amp;"}
_LATEX = {
    ord(sign): written
    for sign, written in {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\symbol{34}",
        "[": "{[}",  # at the start of a row, brackets and asterisks would be arguments of the line end before it
        "]": "{]}",
        "*": "{*}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }.items()
}
_NUMBER = re.compile(r"(?<![\w.])(-?[0-9]+(?:\.[0-9]+)?)(?:e([+-]?[0-9]+))?(?![\w.])")


def _markdown(text: str) -> str:
    return _one_line(text).translate(_MARKDOWN)


def _latex(text: str) -> str:
    """Return text with special characters escaped and numbers in math mode, where a minus sign is typeset as one."""
    text, found, start = _one_line(text), [], 0
    for number in _NUMBER.finditer(text):
        found.append(_latex_words(text[start : number.start()]))
        exponent = "" if number[2] is None else rf"\cdot10^{{{int(number[2])}}}"
        found.append(f"${number[1]}{exponent}$")
        start = number.end()
    return "".join([*found, _latex_words(text[start:])])


def _latex_words(text: str) -> str:
    return re.sub("-(?=-)", "-{}", text.translate(_LATEX)).replace(" - ", " $-$ ")


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


_LOST = ["Tables are for reading: they cannot be loaded again."]
for _name, _ending, _write in (("markdown", ".md", markdown), ("latex", ".tex", latex)):
    register_format(
        Format(_name, "a table", (_ending,), lambda rules, _write=_write, **options: (_write(rules, **options), _LOST))
    )
