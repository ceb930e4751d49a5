"""The parts of a report (text, tables, figures), shown both in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

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
    shown = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    for number, heading in enumerate(table.columns):
        shown.add_column(heading, justify="right" if number and not table.prose else "left")
    for row in table.rows:
        shown.add_row(*row, style="italic dim" if row[0] in table.quoted else None)
    return shown
