"""A report in parts (text, tables, figures) that the terminal and the page both show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

__all__ = ["Figure", "Section", "Table", "Text", "as_markdown", "show"]


@dataclass(frozen=True)
class Text:
    """A paragraph; ``finding`` for one that was written from the results."""

    words: str
    finding: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; the first column names the rows, ``quoted`` those that are not measured here."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    quoted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A figure of an experiment: file name without ending, and what it shows."""

    stem: str
    caption: str


Block = Text | Table | Figure


@dataclass
class Section:
    """One experiment on the page."""

    name: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def show(section: Section, console: Console) -> None:
    """Print findings and tables; figures and background are for the page."""
    for block in section.blocks:
        if isinstance(block, Table):
            console.print(_rich(block))
        elif isinstance(block, Text) and block.finding:
            console.print(f"[bold]Found:[/bold] {block.words}", highlight=False)


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
    rows = [[cell.replace("|", "\\|") for cell in row] for row in (table.columns, *table.rows)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|---:" * (len(table.columns) - 1) + "|")
    return "\n".join([f"**{table.title}**", "", *lines, *(["", table.note] if table.note else []), ""])


def _rich(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    for number, heading in enumerate(table.columns):
        shown.add_column(heading, justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*row, style="italic dim" if row[0] in table.quoted else None)
    return shown
