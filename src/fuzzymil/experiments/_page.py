"""The page that tells it all: one HTML file without anything to load from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from fuzzymil._version import __version__
from fuzzymil.experiments._document import Block, Figure, Section, Table, Text
from fuzzymil.experiments._published import DIFFERENCES
from fuzzymil.report.html import image, style_sheet

__all__ = ["render"]

_SHORT = 36  # cells up to this length are not broken into lines


def render(sections: Sequence[tuple[Section, Path, dict[str, str]]], head: dict[str, str]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : sequence of (section, folder, facts)
        The folder holds the section's figures; the facts tell how it was run.
    head : dict
        What is true of all of them.
    """
    links = "".join(f'<a href="#{s.name}">{escape(s.title)}</a>' for s, _, _ in sections)
    body = "".join(_section(*entry) for entry in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>MI-ANFIS: the paper's experiments, reproduced</title>"
        f"<style>{style_sheet()}</style></head><body><h1>MI-ANFIS: the paper's experiments, reproduced</h1>"
        f'<p class="soft">Multiple Instance Fuzzy Inference Neural Networks (Khalifa and Frigui), run with '
        f'fuzzymil {escape(__version__)}.</p><nav>{links}<a href="#differences">What differs from the paper</a></nav>'
        f"{_facts(head)}{body}{_differences([s.name for s, _, _ in sections])}</body></html>\n"
    )


def _section(section: Section, folder: Path, facts: dict[str, str]) -> str:
    blocks = "".join(_block(block, folder) for block in section.blocks)
    return f'<section id="{section.name}"><h2>{escape(section.title)}</h2>{blocks}{_facts(facts)}</section>'


def _facts(facts: dict[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items()) + "</dl>"


def _block(block: Block, folder: Path) -> str:
    if isinstance(block, Text):
        return f"<p{' class=finding' if block.finding else ''}>{escape(block.words)}</p>"
    if isinstance(block, Table):
        return _table(block)
    return _figure(block, folder)


def _table(table: Table, kind: str = "") -> str:
    heads = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.columns)
    rows = "".join(
        f"<tr{' class=printed' if row[0] in table.quoted else ''}>"
        + "".join(f"<td{' class=short' if len(cell) < _SHORT else ''}>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll"><table{kind}><caption><span>{escape(table.title)}</span></caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _figure(figure: Figure, folder: Path) -> str:
    drawing = image((folder / f"{figure.stem}.svg").read_bytes(), figure.caption)
    return f"<figure>{drawing}<figcaption>{escape(figure.caption)}</figcaption></figure>"


def _differences(names: Sequence[str]) -> str:
    rows = [[d.paper, d.here, d.why] for d in DIFFERENCES if set(names) & set(d.experiments)]
    table = Table("", ["the paper", "here", "why"], rows)
    return (
        '<section id="differences"><h2>What differs from the paper, and why</h2>'
        f"{_table(table, ' class=words')}</section>"
    )
