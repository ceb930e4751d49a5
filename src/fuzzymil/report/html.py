"""HTML pages: jinja2 templates with one base page, one style sheet, and every value escaped; numbers as text."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_mark, style_rules
from fuzzymil._utils.drawings import histogram_svg
from fuzzymil._utils.text import typeset
from fuzzymil._version import __version__
from fuzzymil.explain import words
from fuzzymil.rules.language import printer


def render(template: str, package: str = "fuzzymil.report", /, **context: Any) -> str:
    """Fill in a template of a package; it may extend the report's ``base.html`` and import its ``macros.html``.

    A variable of the template that is missing in ``context`` is an error.
    """
    return _environment(package).get_template(template).render(context)


def image(drawing: bytes, description: str) -> Markup:
    """Return an SVG drawing as an ``<img>`` with alternative text: inline, ids inside two drawings would clash."""
    coded = base64.b64encode(drawing).decode("ascii")
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(description, coded)


@functools.cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("fuzzymil.report")])
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    filters = (counted, degree, fixed, label, number, percent, sortable, spread, typeset)
    found.filters |= {each.__name__: each for each in filters}
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


# ---------------------------------------------------------------------- numbers, counts and labels, for templates


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits: ``−0.123``."""
    return typeset(printer.format_number(float(value), digits))


def percent(share: float) -> str:
    """Return a share of one as a percentage: ``12%``, ``0.051%``."""
    return f"{printer.format_number(100 * float(share), 2)}%" if share < 0.995 else f"{100 * share:.0f}%"


def degree(log_value: float) -> str:
    """Return a degree of truth, given its logarithm: ``1.93e−22``."""
    return typeset(words.degree(log_value))


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals: ``−0.250``."""
    return typeset(f"{value:.{digits}f}")


def counted(n: int, noun: str) -> str:
    """Return a number of things: ``1 bag``, ``6,598 instances``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def label(value: Any) -> str:
    """Return a label, a prediction or an id; several numbers with commas."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, list):
        return ", ".join(map(label, plain))
    if isinstance(plain, float):
        return f"{plain:.6g}" if plain.is_integer() else number(plain)
    return str(plain)


def spread(values: Array, digits: int = 3) -> str:
    """Return mean ± standard deviation, or the value itself if there is only one."""
    large = abs(values).max() >= 1e4
    parts = [values.mean()] if len(values) == 1 else [values.mean(), values.std(ddof=1)]
    return typeset(" ± ".join(number(part, 4) if large else f"{part:.{digits}f}" for part in parts))


def sortable(value: float) -> str:
    """Return a number for scripts to sort by; minus infinity as ``-1e999``."""
    return f"{float(value):.8g}" if np.isfinite(value) else "-1e999"
