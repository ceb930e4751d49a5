"""HTML for notebooks: fragments with a style of their own, without scripts, every value escaped.

Text and lines take the color of the page around them, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup, escape

from fuzzymil._utils.colors import HIGH, LOW, style_rules
from fuzzymil._utils.text import visible


@functools.cache
def _sheet() -> Markup:
    """Return the style; its class is doubled, so that it wins over that of the page, which styles every table."""
    own = (resources.files("fuzzymil._utils") / "notebook.css").read_text(encoding="utf-8")
    rules = (own + style_rules(".fuzzymil ")).replace(".fuzzymil", ".fuzzymil.fuzzymil")
    return Markup("<style>{}</style>").format(Markup(rules.replace("HIGH", HIGH).replace("LOW", LOW)))


def fragment(*parts: Any) -> str:
    """Return parts of a page as one element that carries its own style; plain text among them is escaped."""
    return str(Markup('<div class="fuzzymil">{}{}</div>').format(_sheet(), joined(parts)))


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
