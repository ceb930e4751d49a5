"""The example with a convolutional network: it learns, and the witnesses are the digits that it was never told."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

EXAMPLE = Path(__file__).parents[2] / "examples" / "torch_digits.py"


@pytest.mark.slow
def test_network_and_rules_learn_together(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    run = subprocess.run([sys.executable, str(EXAMPLE)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    right, witnessed = (float(share) for share in re.findall(r": ([\d.]+)%", run.stdout))
    assert right > 80
    assert witnessed > 85
    assert re.search(r"^Rule \d: IF x1 is \w+ AND x2 is \w+ THEN nine \+= ", run.stdout, re.MULTILINE)
    assert (tmp_path / "torch-digits.png").read_bytes().startswith(b"\x89PNG")
