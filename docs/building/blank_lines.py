"""Blank lines in the output of examples: doctest needs a word for them, readers do not."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page as it is to be read; MkDocs calls this for each."""
    return re.sub(r"^ *<BLANKLINE>$", "", markdown, flags=re.MULTILINE)
