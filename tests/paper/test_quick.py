"""The quick run of every experiment, as a user starts it: its numbers, figures and section of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzymil._utils import storage
from paper.page import Figure, Table
from paper.run import EXPERIMENTS, KIND, VERSION

ROOT = Path(__file__).parents[2]
NEED_DATA = {"benchmarks", "table", "peers", "dropout"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_quick_run(name, tmp_path):
    if name in NEED_DATA and not os.environ.get("FUZZYMIL_DATA"):
        pytest.skip("needs the benchmark sets: set FUZZYMIL_DATA")
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "paper", name, "--quick", "--output", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = storage.read_document(tmp_path / name / "results.json", {KIND: VERSION})
    assert results["quick"]
    section = EXPERIMENTS[name].section(results)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert page.count("<h2") == 2  # this experiment, and the differences from the paper
    for block in section.blocks:
        if isinstance(block, Figure):
            assert (tmp_path / name / f"{block.stem}.png").stat().st_size > 5_000
            assert "<svg" in (tmp_path / name / f"{block.stem}.svg").read_text("utf-8")[:1000]
        if isinstance(block, Table):
            assert block.rows
            assert all(len(row) == len(block.columns) for row in block.rows)
    text = re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None)\b", text)
