"""HTML pages: jinja2 templates with one base page, one style sheet, and every value escaped."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fuzzymil._utils.colors import class_mark, style_rules
from fuzzymil._utils.drawings import histogram_svg
from fuzzymil._version import __version__
from fuzzymil.report import _format

__all__ = ["image", "render", "style_sheet"]


def render(template: str, package: str = "fuzzymil.report", /, **context: Any) -> str:
    """Fill in a template.

    Parameters
    ----------
    template : str
        A file in the package's ``templates`` folder. It may extend ``base.html`` and import ``macros.html``.
    package : str
        Where to look first; the base template and the macros are those of the report.
    **context
        Values of the template's variables. A missing one is an error.

    Returns
    -------
    str

    Examples
    --------
    >>> render("base.html", title="1 < 2").startswith("<!DOCTYPE html>")
    True
    """
    return _environment(package).get_template(template).render(context)


def image(drawing: bytes, description: str) -> Markup:
    """Return an SVG drawing as an ``<img>`` with alternative text.

    Inline SVG would not do: ids inside two drawings would clash.

    Examples
    --------
    >>> print(image(b"<svg></svg>", "Nothing"))
    <img alt="Nothing" src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=">
    """
    coded = base64.b64encode(drawing).decode("ascii")
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(description, coded)


def style_sheet() -> str:
    """Return the CSS that all pages share.

    Examples
    --------
    >>> "@media print" in style_sheet()
    True
    """
    return _asset("page.css")


@functools.cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("fuzzymil.report")])
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    found.filters |= {name: getattr(_format, name) for name in _format.__all__}
    found.filters |= {"fingerprint": _fingerprint, "histogram_svg": histogram_svg, "class_mark": class_mark}
    found.globals |= {
        "asset": _asset,
        "image": image,
        "class_colors": Markup(style_rules()),
        "version": __version__,
    }
    return found


def _asset(name: str) -> Markup:
    """Return a style sheet or script, which goes into the page unescaped."""
    return Markup((resources.files("fuzzymil.report") / "templates" / name).read_text(encoding="utf-8"))


def _fingerprint(text: str) -> str:
    """Return the hash by which a content security policy permits an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
