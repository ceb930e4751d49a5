"""The page with all results: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fuzzymil.experiments._document import Section, Table
from fuzzymil.experiments._published import DIFFERENCES
from fuzzymil.report import html


def render(sections: Sequence[tuple[Section, Path, dict[str, str]]], head: dict[str, str]) -> str:
    """Return the page: sections, each with the folder of its figures and how it was run, under facts about all."""
    names = {section.name for section, _, _ in sections}
    rows = [[d.paper, d.here, d.why] for d in DIFFERENCES if names & set(d.experiments)]
    differences = Table("Differences", ["the paper", "here", "why"], rows)
    return html.render(
        "experiments.html", "fuzzymil.experiments", sections=sections, head=head, differences=differences
    )
