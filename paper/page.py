"""The parts of a report (text, tables, figures), shown both in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from paper.published import DIFFERENCES

if TYPE_CHECKING:  # to measure needs neither Rich nor Jinja
    from rich.console import Console
    from rich.table import Table as RichTable


@dataclass(frozen=True)
class Text:
    """A paragraph; ``finding`` marks one that was generated from the results."""

    kind: ClassVar[str] = "text"
    words: str
    finding: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text under headings.

    ``quoted`` names the rows (by first cell) whose numbers were not measured here; in a table of ``prose``, cells are
    aligned to the left.
    """

    kind: ClassVar[str] = "table"
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    quoted: frozenset[str] = frozenset()
    prose: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure of an experiment: file name without extension, and caption."""

    kind: ClassVar[str] = "figure"
    stem: str
    caption: str


Block = Text | Table | Figure


@dataclass
class Section:
    """The section of one experiment."""

    name: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def show(section: Section, console: Console) -> None:
    """Print the findings and tables of a section; figures and background are only on the page."""
    for block in section.blocks:
        if isinstance(block, Table):
            console.print(_rich(block))
        elif isinstance(block, Text) and block.finding:
            console.print(f"[bold]Result:[/bold] {block.words}", highlight=False)


def as_markdown(table: Table) -> str:
    r"""Return a table as Markdown.

    Examples
    --------
    >>> print(as_markdown(Table("Sizes", ["set", "bags"], [["a|b", "3"]], "Counted.")), end="")
    **Sizes**
    <BLANKLINE>
    | set | bags |
    |---|---:|
    | a\|b | 3 |
    <BLANKLINE>
    Counted.
    """
    rows = [[cell.replace("|", "\\|").replace("\n", "<br>") for cell in row] for row in (table.columns, *table.rows)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + ("|---" if table.prose else "|---:") * (len(table.columns) - 1) + "|")
    return "\n".join([f"**{table.title}**", "", *lines, *(["", table.note] if table.note else []), ""])


def _rich(table: Table) -> RichTable:
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    for number, heading in enumerate(table.columns):
        shown.add_column(heading, justify="right" if number and not table.prose else "left")
    for row in table.rows:
        shown.add_row(*row, style="italic dim" if row[0] in table.quoted else None)
    return shown


# The page with all results: one self-contained HTML file.


def render(sections: Sequence[tuple[Section, Path, dict[str, str]]], head: dict[str, str]) -> str:
    """Return the page: sections, each with the folder of its figures and how it was run, under facts about all."""
    from fuzzymil.report import html

    names = {section.name for section, _, _ in sections}
    rows = [[d.paper, d.here, d.why] for d in DIFFERENCES if names & set(d.experiments)]
    differences = Table("Differences", ["the paper", "here", "why"], rows)
    return html.render("experiments.html", "paper", sections=sections, head=head, differences=differences)


# Numbers as words and table cells.


def verdict(test: Mapping[str, Any] | None) -> int:
    """Return 1 if an interval lies above 0, -1 if it lies below 0, and 0 otherwise.

    Examples
    --------
    >>> verdict({"value": 0.2, "low": 0.1, "high": 0.3}), verdict({"value": 0.2, "low": -0.1, "high": 0.3})
    (1, 0)
    """
    return 0 if test is None else int(test["low"] > 0) - int(test["high"] < 0)


def mark(test: Mapping[str, Any] | None) -> str:
    """Return an arrow for a clear difference."""
    return {1: " ▲", 0: "", -1: " ▼"}[verdict(test)]


def with_interval(found: Mapping[str, Any]) -> str:
    """Return a number and its interval: ``0.800 (0.750 to 0.850)``."""
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def difference(test: Mapping[str, Any] | None, digits: int = 3, scale: float = 1.0) -> str:
    """Return a signed difference and its interval, or an empty string for the method compared with.

    Examples
    --------
    >>> difference({"value": -0.1, "low": -0.2, "high": 0.01})
    '-0.100 (-0.200 to +0.010)'
    >>> difference({"mean": -0.1, "low": -0.2, "high": 0.01, "p": 0.07}, digits=1, scale=100)
    '-10.0 (-20.0 to +1.0)'
    """
    if test is None:
        return ""
    center = test["value"] if "value" in test else test["mean"]
    value, low, high = (f"{scale * number:+.{digits}f}" for number in (center, test["low"], test["high"]))
    return f"{value} ({low} to {high})"


def points(test: Mapping[str, Any] | None) -> str:
    """Return a difference of shares in percentage points: ``-10.0 (-20.0 to +1.0)``."""
    return difference(test, digits=1, scale=100)


def p_value(p: float, *, name: str = "") -> str:
    """Return a p-value, with its name if there is one.

    Examples
    --------
    >>> p_value(0.0421), p_value(0.0421, name="p"), p_value(1e-5, name="p")
    ('0.042', 'p = 0.042', 'p < 0.001')
    """
    if p < 0.001:
        return f"{name} < 0.001".lstrip()
    return f"{name} = {p:.3f}" if name else f"{p:.3f}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas and an "and" between them: ``a, b and c``; "none" if there are none."""
    if len(words) < 2:
        return "".join(words) or "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def quoted(names: Iterable[str]) -> str:
    """Return a list of names in quotes: ``“a”, “b” and “c”``."""
    return joined([f"“{name}”" for name in names])


def quoted_with(differences: Mapping[str, float]) -> str:
    """Return a list of names in quotes, each with its difference: ``“a” (+0.010) and “b” (-0.200)``."""
    return joined([f"“{name}” ({value:+.3f})" for name, value in differences.items()])


def plural(n: int, noun: str) -> str:
    """Return a count and its noun: ``1 repeat`` or ``5 repeats``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
