"""The reference describes every message."""

import re
from pathlib import Path

import pytest

from fuzzymil.studio.edits import EDITS
from fuzzymil.studio.session import ACTIONS
from fuzzymil.studio.views import VIEWS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "studio.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({*EDITS, *ACTIONS, *VIEWS}))
def test_every_message_is_described(name):
    assert re.search(rf"`{name}`", PAGE)


def test_every_edit_that_is_described_exists():
    table = PAGE.partition("## Edits")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` ", table, re.MULTILINE)) == set(EDITS)


def test_the_state_is_described(page):
    told = PAGE.partition("## State")[2].partition("\n## ")[0]
    for name in page.state:
        assert re.search(rf"\b{name}\b", told), name


def test_names_of_messages_are_unambiguous():
    assert len({*EDITS, *ACTIONS, *VIEWS}) == len(EDITS) + len(ACTIONS) + len(VIEWS)
