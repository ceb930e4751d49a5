"""What the sections of a report are put together from: facts, tables, and the tools to sort and find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fuzzymil._utils.arrays import Array
from fuzzymil.report.html import Markup, element, joined
from fuzzymil.report.html.markup import Content
from fuzzymil.rules.language import printer

__all__ = [
    "MINUS",
    "NOTHING",
    "collection",
    "counted",
    "facts",
    "figure",
    "number",
    "percent",
    "scrolling",
    "section",
    "spread",
    "table",
    "told",
    "typeset",
]


MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"  # of a number, and where there is none


def typeset(text: str) -> str:
    """Return numbers as print has them, with a true minus sign.

    Examples
    --------
    >>> typeset("-0.5").isascii()
    False
    """
    return text.replace("-", MINUS)


def number(value: float, digits: int = 3) -> str:
    """Return a number with few digits, and the minus sign of print.

    Examples
    --------
    >>> number(-0.12345)
    '−0.123'
    """
    return typeset(printer.format_number(float(value), digits))


def percent(part: float) -> str:
    """Return a part of one in percent.

    Examples
    --------
    >>> percent(0.123), percent(0.00051), percent(0.0)
    ('12 %', '0.051 %', '0 %')
    """
    return f"{printer.format_number(100 * float(part), 2)} %" if part < 0.995 else f"{100 * part:.0f} %"


def counted(n: int, noun: str, nouns: str = "") -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "bag"), counted(6598, "instance")
    ('1 bag', '6,598 instances')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def told(value: object) -> str:
    """Return a label or an id as text; numbers in full."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def spread(values: Array, digits: int = 3) -> str:
    """Return mean and standard deviation, of a single value nothing but the value.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([0.8, 0.9])), spread(np.array([0.75]))
    ('0.850 ± 0.071', '0.750')
    """
    mean = f"{values.mean():.{digits}f}" if abs(values).max() < 1e4 else number(values.mean(), 4)
    if len(values) == 1:
        return typeset(mean)
    deviation = values.std(ddof=1)
    around = f"{deviation:.{digits}f}" if abs(values).max() < 1e4 else number(deviation, 3)
    return typeset(f"{mean} ± {around}")


def section(name: str, title: str, *content: Content) -> Markup:
    """Return a section with its heading, which links lead to."""
    return element(
        "section", element("h2", title, id=f"{name}-title"), *content, id=name, aria_labelledby=f"{name}-title"
    )


def facts(known: Mapping[str, Content], *, inline: bool = False) -> Markup:
    """Return names and values as a list, under one another or one after the other."""
    pairs = [joined(element("dt", name), element("dd", value)) for name, value in known.items()]
    return element("dl", [element("div", pair) for pair in pairs], class_="inline") if inline else element("dl", pairs)


def figure(drawing: Markup, caption: str) -> Markup:
    """Return a drawing with what it shows."""
    return element("figure", drawing, element("figcaption", caption))


def table(title: str, heads: Sequence[Content], rows: Iterable[Sequence[Content]], *, kind: str = "") -> Markup:
    """Return a table that scrolls by itself where it is too wide; the first cell of a row names it."""
    body = [
        element("tr", element("th", row[0], scope="row"), [element("td", cell) for cell in row[1:]]) for row in rows
    ]
    return scrolling(
        title,
        element(
            "table",
            element("caption", title),
            element("thead", element("tr", [element("th", head, scope="col") for head in heads])),
            element("tbody", body),
            class_=kind or None,
        ),
    )


def scrolling(title: str, content: Content, kind: str = "scroll") -> Markup:
    """Return a box that scrolls, and that the keyboard reaches for it."""
    return element("div", content, class_=kind, tabindex="0", role="region", aria_label=title)


def collection(
    name: str,
    noun: str,
    content: Content,
    n_items: int,
    *,
    sort_by: Mapping[str, str],
    only: Mapping[str, str] | None = None,
) -> Markup:
    """Return things that can be sorted and found; the tools show where there is JavaScript.

    Parameters
    ----------
    name : str
        Of the collection, for ids.
    noun : str
        What the things are, several of them.
    content
        Holds elements with ``data-item``, ``data-KEY`` for every key of ``sort_by``, and ``data-kinds``.
    n_items : int
    sort_by : mapping
        Key to words.
    only : mapping, optional
        Kind to words: what the list can be narrowed to.
    """
    find = element("input", type="search", id=f"find-{name}", autocomplete="off", spellcheck="false")
    tools = [element("label", f"Find in {noun} ", find, class_="find", for_=f"find-{name}")]
    if only:
        options = [element("option", words, value=kind) for kind, words in {"": f"all {noun}", **only}.items()]
        tools.append(element("label", "Show ", element("select", options, id=f"only-{name}"), for_=f"only-{name}"))
    buttons = [
        element("button", words, type="button", data_by=key, aria_pressed="false") for key, words in sort_by.items()
    ]
    tools.append(element("div", "Sort by ", buttons, role="group", aria_label=f"Sort {noun}", class_="sort"))
    tools.append(element("output", f"{n_items} of {n_items} {noun}", aria_live="polite", for_=f"find-{name}"))
    return element(
        "div",
        element("div", tools, class_="tools", hidden=True),
        content,
        element("p", f"None of the {noun} fits. Clear the search to see them all.", class_="none", hidden=True),
        data_collection=noun,
        id=name,
    )
