"""The page that tells it all: one HTML file without anything to load from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from fuzzymil._version import __version__
from fuzzymil.experiments.document import Block, Figure, Section, Table, Text
from fuzzymil.experiments.published import DIFFERENCES

__all__ = ["render"]

_STYLE = """
:root { --ink: #1a1a1a; --soft: #555; --line: #ccc; --mark: #0072B2; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: #fff;
  max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .5rem; padding-top: .75rem; border-top: 2px solid var(--ink); }
p { max-width: 46rem; margin: .6rem 0; }
nav a, a { color: var(--mark); }
nav a { margin-right: 1rem; display: inline-block; }
.soft { color: var(--soft); }
.finding { border-left: 4px solid var(--mark); padding: .2rem 0 .2rem .8rem; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .875rem; min-width: 60%; }
caption { caption-side: top; text-align: left; font-weight: 600; padding-bottom: .35rem; }
th, td { padding: .28rem .7rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
table.words td, table.words th { text-align: left; }
td.short:not(:first-child) { white-space: nowrap; }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
tr.printed td { font-style: italic; color: var(--soft); }
.note { font-size: .85rem; color: var(--soft); max-width: 46rem; margin-top: -.8rem; }
figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .875rem; color: var(--soft); max-width: 46rem; margin-top: .35rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .5rem .8rem 3rem; } dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; }
  table { font-size: .8rem; } th, td { padding: .25rem .45rem; } }
@media print { body { max-width: none; font-size: 10.5pt; padding: 0; } nav { display: none; }
  figure, tr { break-inside: avoid; } h2, caption { break-after: avoid; } .scroll { overflow: visible; }
  table { font-size: 8.5pt; } }
"""


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
        f"<style>{_STYLE}</style></head><body><h1>MI-ANFIS: the paper's experiments, reproduced</h1>"
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
        f'<div class="scroll"><table{kind}><caption>{escape(table.title)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _figure(figure: Figure, folder: Path) -> str:
    # An image of its own, and not SVG inside the page: the names inside two drawings would clash.
    drawing = base64.b64encode((folder / f"{figure.stem}.svg").read_bytes()).decode("ascii")
    caption = escape(figure.caption)
    return (
        f'<figure><img alt="{escape(figure.caption, quote=True)}" src="data:image/svg+xml;base64,{drawing}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _differences(names: Sequence[str]) -> str:
    rows = [[d.paper, d.here, d.why] for d in DIFFERENCES if set(names) & set(d.experiments)]
    table = Table("", ["the paper", "here", "why"], rows)
    return (
        '<section id="differences"><h2>What differs from the paper, and why</h2>'
        f"{_table(table, ' class=words')}</section>"
    )
