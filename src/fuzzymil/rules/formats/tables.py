"""Rules as tables for Markdown and LaTeX: one row a rule, one column a feature, the conclusions last."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.language import printer
from fuzzymil.rules.mamdani import MamdaniRules
from fuzzymil.rules.premise import And, Expression, Is
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["to_latex", "to_markdown"]


class _Table(NamedTuple):
    head: list[str]
    rows: list[list[str]]


def to_markdown(rules: RuleBase | MamdaniRules, max_terms: int | None = None, digits: int | None = 4) -> str:
    r"""Return the rules as a Markdown table; see `RuleBase.to_markdown`.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ... VARIABLE depth [m]: low = Gaussian(0, 1)
    ... VARIABLE size: big = Gaussian(2, 1)
    ... IF depth is not low THEN mine = 0.5 + 2*size''')
    >>> print(to_markdown(rules))
    | rule | depth \[m\] | mine |
    | --- | --- | --- |
    | 1 | not low: Gaussian(0, 1) | 0.5 + 2\*size |
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
        for table in _tables(rules, max_terms, digits)
    )


def to_latex(rules: RuleBase | MamdaniRules, max_terms: int | None = None, digits: int | None = 4) -> str:
    r"""Return the rules as a LaTeX table; see `RuleBase.to_latex`.

    Examples
    --------
    >>> rules = RuleBase.parse("VARIABLE x_1: low = Gaussian(0, 1)  IF x_1 is low THEN y = -1e-9")
    >>> print(to_latex(rules))
    \begin{tabular}{rll}
    \hline
    rule & x\_1 & y \\
    \hline
    $1$ & low: Gaussian($0$, $1$) & $-1\cdot10^{-9}$ \\
    \hline
    \end{tabular}
    """

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
        for table in _tables(rules, max_terms, digits)
    )


# ---------------------------------------------------------------------- cells

_RULE = "rule"


def _tables(rules: RuleBase | MamdaniRules, max_terms: int | None, digits: int | None) -> list[_Table]:
    """Return the table of the rules; where premises fit in no grid, also one of the terms they speak of."""
    base = rules.premises if isinstance(rules, MamdaniRules) else rules
    said = _conclusions(rules, max_terms, digits)
    asked = [_row(rule.premise) for rule in base.rules]
    grid = [row for row in asked if row is not None]
    if len(grid) == len(asked):
        head, rows = _grid(base, grid, max_terms, digits)
        tables = []
    else:
        head, rows = ["if"], [[base._premise_text(rule, max_terms)] for rule in base.rules]
        tables = [_terms(base, digits)]
    weighted = any(rule.weight != 1 for rule in base.rules)
    outputs = [_titled(output) for output in rules.outputs] if isinstance(rules, MamdaniRules) else [*rules.outputs]
    whole = [
        [str(r + 1), *row, *concluded, *([printer.format_number(rule.weight, digits)] if weighted else [])]
        for r, (rule, row, concluded) in enumerate(zip(base.rules, rows, said, strict=True))
    ]
    return [_Table([_RULE, *head, *outputs, *(["weight"] if weighted else [])], whole), *tables]


def _row(premise: Expression) -> dict[str, Is] | None:
    """Return the condition on each variable, if the premise joins at most one on each by AND."""
    parts = premise.parts if isinstance(premise, And) else (premise,)
    found = {part.variable: part for part in parts if isinstance(part, Is)}
    return found if len(found) == len(parts) else None


def _grid(
    base: RuleBase, asked: list[dict[str, Is]], max_terms: int | None, digits: int | None
) -> tuple[list[str], list[list[str]]]:
    shown = [_most_selective(base, rule, row, max_terms) for rule, row in zip(base.rules, asked, strict=True)]
    used = [variable for variable in base.variables if any(variable.name in row for row in shown)]
    left_out = [len(row) - len(part) for row, part in zip(asked, shown, strict=True)]
    rows = []
    for row, count in zip(shown, left_out, strict=True):
        cells = [_condition(row.get(variable.name), variable, digits) for variable in used]
        rows.append(cells + ([f"{count} less selective" if count else ""] if any(left_out) else []))
    return [*map(_titled, used), *(["further conditions"] if any(left_out) else [])], rows


def _most_selective(base: RuleBase, rule: Rule, row: dict[str, Is], max_terms: int | None) -> dict[str, Is]:
    if max_terms is None or len(row) <= max_terms:
        return row
    selectivity = base._selectivity(rule)
    names = sorted(row, key=lambda name: -selectivity[name])[:max_terms]
    return {name: row[name] for name in names}


def _condition(condition: Is | None, variable: Variable, digits: int | None) -> str:
    if condition is None:
        return ""
    words = " ".join((*condition.hedges, condition.term))
    return f"{words}: {printer.format_set(variable.terms[condition.term], digits)}"


def _conclusions(rules: RuleBase | MamdaniRules, max_terms: int | None, digits: int | None) -> list[list[str]]:
    if isinstance(rules, MamdaniRules):
        return [
            [
                _condition(Is(output.name, said[output.name]) if output.name in said else None, output, digits)
                for output in rules.outputs
            ]
            for said in rules.conclusions
        ]
    return [
        [
            printer.conclusion(output, row, rules.feature_names, digits, max_terms)[len(printer.quoted(output)) + 3 :]
            for output, row in zip(rules.outputs, rule.coefs, strict=True)
        ]
        for rule in rules.rules
    ]


def _terms(base: RuleBase, digits: int | None) -> _Table:
    rows = [
        [_titled(variable), term, printer.format_set(chosen, digits)]
        for variable in base.variables
        for term, chosen in variable.terms.items()
    ]
    return _Table(["variable", "term", "set"], rows)


def _titled(variable: Variable) -> str:
    return f"{variable.name} [{variable.unit}]" if variable.unit else variable.name


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
        "[": "{[}",  # a row that begins with a bracket or an asterisk would belong to the line end before it
        "]": "{]}",
        "*": "{*}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }.items()
}
_NUMBER = re.compile(r"(?<![\w.])(-?[0-9]+(?:\.[0-9]+)?)(?:e([+-]?[0-9]+))?(?![\w.])")


def _markdown(text: str) -> str:
    return _one_line(text).translate(_MARKDOWN)


def _latex(text: str) -> str:
    """Return text with its special characters written out and its numbers in mathematics, where minus is minus."""
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
