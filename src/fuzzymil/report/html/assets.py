"""Style sheets and scripts: files that lie beside the modules and go into the pages as they are."""

from __future__ import annotations

from importlib import resources

__all__ = ["asset", "style_sheet"]


def asset(package: str, name: str) -> str:
    """Return the text of a file that lies in a package.

    Examples
    --------
    >>> asset("fuzzymil.report.html", "page.css").startswith(":root")
    True
    """
    return (resources.files(package) / name).read_text(encoding="utf-8")


def style_sheet() -> str:
    """Return the style that all pages begin with.

    Examples
    --------
    >>> "@media print" in style_sheet()
    True
    """
    return asset("fuzzymil.report.html", "page.css")
