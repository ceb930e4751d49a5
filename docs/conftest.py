"""Run each page in its own folder with the example files; skip pages that need missing benchmark data or PyTorch."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

collect_ignore = ["building"]  # needs what only builders of the site have


def pytest_collection_modifyitems(items):
    """Let pages read tables with columns that are not used; the warning about it is for people."""
    for item in items:
        if str(item.path).startswith(str(Path(__file__).parent)):
            item.add_marker(pytest.mark.filterwarnings("ignore:Columns not used"))


@pytest.fixture(autouse=True)
def _folder_of_the_page(request, tmp_path, monkeypatch):
    page = Path(request.node.path)
    if "load_musk1" in page.read_text(encoding="utf-8") and "FUZZYMIL_DATA" not in os.environ:
        pytest.skip(f"{page.name} needs MUSK 1: set FUZZYMIL_DATA to the folder with the benchmark data")
    if "fuzzymil.torch" in page.read_text(encoding="utf-8") and find_spec("torch") is None:
        pytest.skip(f"{page.name} needs PyTorch")
    for example in EXAMPLES.glob("*.csv"):
        shutil.copy(example, tmp_path)
    monkeypatch.chdir(tmp_path)
