"""Rules as Markdown and LaTeX tables: one row per rule, one column per feature, conclusions last."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files._format import Format, register_format
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import And, Expression, Is
from fuzzymil.rules.rule import Rule, Variable


class _Table(NamedTuple):
    head: list[str]
    rows: list[list[str]]


class _Conclusions(NamedTuple):
    """The last columns of a table: their titles, one row of cells per rule, and the default of additive rules."""

    titles: list[str]
    rows: list[list[str]]
    default: list[str] | None = None


def markdown(rules: RuleBase, max_conditions: int | None = None, digits: int | None = 4) -> str:
    """Return rules as a Markdown table: one row per rule, one column per feature, conclusions last.

    Premises with OR, or with NOT before parentheses, are written in one column instead; a second table then
    defines the terms.
    """

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return "\n\n".join(
        "\n".join(
            [
                line(map(_markdown, table.head)),
                line("---" for _ in table.head),
                *(line(map(_markdown, row)) for row in table.rows),
            ]
        )
        for table in _tables(rules, max_conditions, digits)
    )


def latex(rules: RuleBase, max_conditions: int | None = None, digits: int | None = 4) -> str:
    """Return rules as a LaTeX table that needs no packages; see `markdown`."""

    def line(cells: Iterable[str]) -> str:
        return f"{' & '.join(map(_latex, cells))} \\\\"

    return "\n\n".join(
        "\n".join(
            [
                rf"\begin{{tabular}}{{{'r' if table.head[0] == _RULE else 'l'}{'l' * (len(table.head) - 1)}}}",
                r"\hline",
                line(table.head),
                r"\hline",
                *map(line, table.rows),
                r"\hline",
                r"\end{tabular}",
            ]
        )
        for table in _tables(rules, max_conditions, digits)
    )


# ---------------------------------------------------------------------- cells

_RULE = "rule"


def _conclusions(base: RuleBase, max_conditions: int | None, digits: int | None) -> _Conclusions:
    """Return the last columns of a table; what additive rules add has a sign."""
    if base.concludes_sets:
        sets = [[_condition(rule.terms.get(each.name), each, digits) for each in base.outputs] for rule in base.rules]
        return _Conclusions([output.title for output in base.outputs], sets)

    def cell(row: tuple[float, ...]) -> str:
        sign, text = printer.concluded(row, base.feature_names, digits, max_conditions, adds=not base.normalize)
        return ("" if sign == "=" or text.startswith("-") else sign[0]) + text

    rows = [[cell(row) for row in rule.coefs] for rule in base.rules]
    default = None if base.normalize else [printer.format_number(value, digits) for value in base.default]
    return _Conclusions([*base.output_names], rows, default)


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
    if len(grid) == len(asked):
        head, rows = _grid(base, grid, max_conditions, digits)
        tables = []
    else:
        head, rows = ["if"], [[source.premise_text(base, rule, max_conditions)] for rule in base.rules]
        tables = [_terms(base, digits)]
    weighted = any(rule.weight != 1 for rule in base.rules)
    whole = [
        [str(r + 1), *row, *concluded, *([printer.format_number(rule.weight, digits)] if weighted else [])]
        for r, (rule, row, concluded) in enumerate(zip(base.rules, rows, said.rows, strict=True))
    ]
    if said.default is not None:
        whole.insert(0, ["default", *[""] * len(head), *said.default, *([""] if weighted else [])])
    return [_Table([_RULE, *head, *said.titles, *(["weight"] if weighted else [])], whole), *tables]


def _row(premise: Expression) -> dict[str, Is] | None:
    """Return the condition on each variable if the premise joins at most one per variable by AND, else None."""
    parts = premise.parts if isinstance(premise, And) else (premise,)
    found = {part.variable: part for part in parts if isinstance(part, Is)}
    return found if len(found) == len(parts) else None


def _grid(
    base: RuleBase, asked: list[dict[str, Is]], max_conditions: int | None, digits: int | None
) -> tuple[list[str], list[list[str]]]:
    shown = [_most_selective(base, rule, row, max_conditions) for rule, row in zip(base.rules, asked, strict=True)]
    used = [variable for variable in base.variables if any(variable.name in row for row in shown)]
    left_out = [len(row) - len(part) for row, part in zip(asked, shown, strict=True)]
    rows = []
    for row, count in zip(shown, left_out, strict=True):
        cells = [_condition(row.get(variable.name), variable, digits) for variable in used]
        rows.append(cells + ([f"{count} less selective" if count else ""] if any(left_out) else []))
    return [*(variable.title for variable in used), *(["further conditions"] if any(left_out) else [])], rows


def _most_selective(base: RuleBase, rule: Rule, row: dict[str, Is], max_conditions: int | None) -> dict[str, Is]:
    if max_conditions is None or len(row) <= max_conditions:
        return row
    selectivity = base.selectivity(rule)
    names = sorted(row, key=lambda name: -selectivity[name])[:max_conditions]
    return {name: row[name] for name in names}


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
        Format(
            name=_name,
            title="a table",
            endings=(_ending,),
            write=lambda rules, *args, _write=_write, **options: (_write(rules, *args, **options), _LOST),
        )
    )
