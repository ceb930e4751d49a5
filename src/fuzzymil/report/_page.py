"""The page: all sections, the style and the script in one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from fuzzymil._version import __version__
from fuzzymil.report import _markup
from fuzzymil.report._bags_section import bags_section
from fuzzymil.report._data_section import data_section
from fuzzymil.report._diagnosis_section import health_section
from fuzzymil.report._performance_section import headline, performance_section
from fuzzymil.report._rules_section import rules_section
from fuzzymil.report._settings_section import settings_section
from fuzzymil.report._sketches import Sketcher
from fuzzymil.report.html import Markup, asset, element, joined, style_sheet
from fuzzymil.rules.inference import clipped

if TYPE_CHECKING:
    from fuzzymil.report._writer import Report

__all__ = ["render"]

_SECTIONS = {
    "data": "Data",
    "performance": "Performance",
    "rules": "Rules",
    "health": "Rule health",
    "bags": "Bags",
    "settings": "Settings and versions",
}


def render(report: Report) -> str:
    """Return the page as text."""
    answers = report.answers
    # Sets are drawn over what the rules take values for: within their limits, where they have any.
    sketchers = [Sketcher(base.variables, clipped(base, answers.read).instances) for base in answers.members]
    style, script = style_sheet() + asset("fuzzymil.report", "report.css"), asset("fuzzymil.report", "report.js")
    body = [
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("h1", report.title),
            element("p", _subtitle(report), class_="soft"),
            element("nav", [element("a", title, href=f"#{name}") for name, title in _SECTIONS.items()]),
        ),
        element(
            "main",
            _glance(report),
            data_section(answers),
            performance_section(report.performance, report.itself, report.reason),
            rules_section(answers, report.cards, sketchers),
            health_section(report.diagnoses),
            bags_section(answers, report.explanations, sketchers),
            settings_section(answers),
            id="content",
        ),
        element("div", id="readout", aria_hidden="true", hidden=True),
        element("script", Markup(script)),
    ]
    head = [
        element("meta", charset="utf-8"),
        # Nothing is loaded from anywhere, and no script runs but the one below, whatever the data hold.
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content=f"default-src 'none'; img-src data:; style-src {_fingerprint(style)}; "
            f"script-src {_fingerprint(script)}",
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"fuzzymil {__version__}"),
        element("title", report.title),
        element("style", Markup(style)),
    ]
    page = element("html", element("head", head), element("body", body), lang="en")
    return joined(Markup("<!DOCTYPE html>\n"), page, Markup("\n"))


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _subtitle(report: Report) -> str:
    answers = report.answers
    committee = f", a committee of {len(answers.members)} members" if len(answers.members) > 1 else ""
    made = f"Written by fuzzymil {__version__} on {report.made_on.isoformat()}."
    return f"{type(answers.model).__name__}{committee}. {made}"


def _glance(report: Report) -> Markup:
    """Return the numbers that everybody looks for first."""
    bags = report.answers.bags
    cards = [
        (f"{bags.n_bags:,}", "bags", f"{_markup.counted(bags.n_instances, 'instance')}"),
        (f"{bags.n_features:,}", "features", ""),
        (f"{len(report.cards)}", "rules", ""),
    ]
    if report.performance is not None:
        name, value, where = headline(report.performance)
        cards.append((value, name.lower() if name.isascii() else name, where))
    n_findings = sum(map(len, report.diagnoses))
    cards.append((str(n_findings), "finding" if n_findings == 1 else "findings", "about the health of the rules"))
    return element(
        "ul",
        [
            element("li", element("b", value), element("span", name), element("span", where, class_="soft"))
            for value, name, where in cards
        ],
        class_="glance",
        aria_label="At a glance",
    )
