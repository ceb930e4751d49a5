"""HTML from Python: whatever is not markup already is escaped, so that no name can break out of its place."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

__all__ = ["Content", "Markup", "element", "image", "joined"]

_VOID = frozenset({"br", "img", "input", "meta"})  # elements that have no end tag


class Markup(str):
    """Text that is HTML already, and so not escaped again."""

    __slots__ = ()


Content = str | int | Markup | None | Iterable["Content"]


def joined(*content: Content) -> Markup:
    """Return content one after the other; text is escaped, nothing is left out of None.

    Examples
    --------
    >>> joined("a < b", Markup("<br>"), None, ["c", "d"])
    'a &lt; b<br>cd'
    """
    return Markup("".join(map(_written, content)))


def element(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """Return an HTML (or SVG) element.

    Parameters
    ----------
    name : str
    *content
        What it holds: text is escaped, `Markup` goes in as it is, sequences are joined, None is nothing.
    **attributes
        ``class_`` and ``for_`` stand for ``class`` and ``for``, and ``data_item`` for ``data-item``. None and False
        leave an attribute out, True writes it without a value.

    Examples
    --------
    >>> element("p", "5 < 6", element("b", "!"), class_="note", data_item=3, hidden=True, title=None)
    '<p class="note" data-item="3" hidden>5 &lt; 6<b>!</b></p>'
    """
    given = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{given}>" + ("" if name in _VOID else f"{joined(*content)}</{name}>"))


def image(drawing: bytes, words: str) -> Markup:
    """Return an SVG drawing as an image with a description.

    An image of its own, and not SVG inside the page: the names inside two drawings would clash.

    Examples
    --------
    >>> image(b"<svg></svg>", "Nothing")
    '<img alt="Nothing" src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=">'
    """
    coded = base64.b64encode(drawing).decode("ascii")
    return element("img", alt=words, src=f"data:image/svg+xml;base64,{coded}")


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _written(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if content is None:
        return ""
    if isinstance(content, str | int):
        return escape(str(content))
    return "".join(map(_written, content))
