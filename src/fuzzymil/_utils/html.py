"""HTML for notebooks: fragments with a style of their own, without scripts, every value escaped.

Text and lines take the color of the page around them, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup, escape

from fuzzymil._utils.colors import HIGH, LOW, style_rules
from fuzzymil._utils.text import visible

# The class is doubled so that these rules win over those of the page, which style every table.
_STYLE = """
.F { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: inherit; max-width: 62rem;
  text-align: left; overflow-wrap: anywhere; --faint: color-mix(in srgb, currentColor 7%, transparent);
  --rim: color-mix(in srgb, currentColor 25%, transparent); --soft: color-mix(in srgb, currentColor 72%, transparent); }
.F p { margin: .4em 0; } .F .soft { color: var(--soft); } .F .rule { font-family: ui-monospace, Menlo, monospace;
  font-size: .92em; }
.F details.card { border: 1px solid var(--rim); border-left: 5px solid var(--own, var(--rim)); border-radius: 4px;
  margin: .4em 0; padding: 0 .7em; }
.F details.card[open] { padding-bottom: .5em; }
.F summary { cursor: pointer; padding: .3em 0; } .F summary .said { margin-left: .8em; }
.F ul.sets { list-style: none; display: flex; flex-wrap: wrap; gap: .6em; padding: 0; margin: .4em 0; }
.F ul.sets li { width: 10.5em; margin: 0; font-size: .86em; line-height: 1.35; }
.F ul.sets li.part { width: 100%; font-weight: 600; color: var(--soft); margin-bottom: -.4em; }
.F ul.sets b, .F ul.sets span { display: block; }
.F svg.set { display: block; width: 100%; height: auto; background: var(--faint); border-radius: 3px; }
.F svg.set path, .F svg.spread path { fill: var(--rim); }
.F svg.set polyline { fill: none; stroke: var(--own, LOW); stroke-width: 1.8; vector-effect: non-scaling-stroke; }
.F svg.set line { stroke: currentColor; stroke-width: 1.6; vector-effect: non-scaling-stroke; }
.F svg.bar { width: 7em; height: .8em; vertical-align: middle; background: var(--faint); }
.F svg.bar rect { fill: currentColor; opacity: .65; }
.F svg.bar rect.more { fill: HIGH; opacity: 1; } .F svg.bar rect.less { fill: LOW; opacity: 1; }
.F svg.bar line { stroke: currentColor; stroke-width: 1; vector-effect: non-scaling-stroke; }
.F svg.spread { width: 7em; height: 1.6em; vertical-align: middle; }
.F .dot { display: inline-block; width: .75em; height: .75em; border-radius: 50%; margin-right: .35em;
  background: var(--own, var(--rim)); }
.F table { border-collapse: collapse; margin: .5em 0; font-size: .93em; border: 0; color: inherit; }
.F table caption { caption-side: top; text-align: left; font-weight: 600; color: inherit; padding: 0 0 .2em; }
.F table tr, .F table tbody tr:nth-child(n), .F table tbody tr:hover { background: transparent; }
.F table th, .F table td { text-align: right; padding: .2em .7em; border: 0; border-bottom: 1px solid var(--rim);
  vertical-align: top; font-weight: 400; font-variant-numeric: tabular-nums; max-width: 38em;
  white-space: nowrap; overflow-wrap: normal; }
.F table .word { white-space: normal; overflow-wrap: break-word; min-width: 3em; } .F .wide { overflow-x: auto; }
.F ul.sums, .F ul.without { list-style: none; padding: 0; margin: .4em 0; font-size: .93em; }
.F ul.sums > li { display: grid; grid-template-columns: 5em 7em 1fr; gap: .1em .8em; align-items: center; margin: 0;
  padding: .3em 0; border-top: 1px solid var(--rim); }
.F ul.sums .amount { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
.F ul.sums .sum { border-top: 2px solid currentColor; font-weight: 600; }
.F ul.sums .part { grid-column: 3 / -1; margin: 0; } .F ul.sums .part b { font-weight: 400; }
.F ul.sums .why { display: block; margin-left: 1.2em; }
.F table thead th { font-weight: 600; } .F table .word { text-align: left; }
.F table tr > :first-child { padding-left: 0; }
""" + style_rules(".F ")
_SHEET = Markup("<style>{}</style>").format(
    Markup(_STYLE.replace(".F", ".fuzzymil.fuzzymil").replace("HIGH", HIGH).replace("LOW", LOW))
)


def fragment(*parts: Any) -> str:
    """Return parts of a page as one element that carries its own style; plain text among them is escaped."""
    return str(Markup('<div class="fuzzymil">{}{}</div>').format(_SHEET, joined(parts)))


def safe(value: Any) -> Markup:
    """Return a value as escaped text, its control characters as codes; what is marked as HTML is left alone."""
    return value if isinstance(value, Markup) else escape(visible(str(value), keep="\n"))


def joined(parts: Iterable[Any]) -> Markup:
    """Return parts one after the other, each escaped."""
    return Markup("").join(safe(part) for part in parts)


def element(name: str, *content: Any, kind: str = "", **attributes: str) -> Markup:
    """Return an element; ``kind`` is its class."""
    given = ({"class": kind} if kind else {}) | attributes
    written = Markup("").join(Markup(' {}="{}"').format(Markup(key), safe(value)) for key, value in given.items())
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, joined(content))


def line(*content: Any, soft: bool = False) -> Markup:
    """Return a paragraph."""
    return element("p", *content, kind="soft" if soft else "")


def table(caption: str, heads: Sequence[Any], rows: Iterable[Sequence[Any]], *, n_words: int = 1) -> Markup:
    """Return a table; the first ``n_words`` columns are words, the others numbers."""

    def row(name: str, cells: Sequence[Any]) -> Markup:
        return element("tr", *(element(name, cell, kind="word" if n < n_words else "") for n, cell in enumerate(cells)))

    parts = [
        *([element("caption", caption)] if caption else []),
        element("thead", row("th", heads)),
        element("tbody", *(row("td", cells) for cells in rows)),
    ]
    return element("div", element("table", *parts), kind="wide")


def number(value: float, digits: int = 3) -> str:
    """Return a number with a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")
