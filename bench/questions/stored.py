"""(9) Rows measured on a GPU by ``bench/gpu.py`` and stored in ``bench/gpu.json``."""

from __future__ import annotations

import json

from racing import HERE
from tables import Row, from_dict

from questions.common import Effort

TITLE = "On a GPU (stored)"


def measure(effort: Effort) -> list[Row]:
    path = HERE / "gpu.json"
    if not path.exists():
        return [Row("nothing stored", note="python bench/gpu.py measures on a machine with an NVIDIA GPU")]
    stored = json.loads(path.read_text("utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in stored["versions"].items())
    head = Row(f"measured on {stored['date']}", note=f"{stored['device']}; {versions}")
    return [head, *map(from_dict, stored["rows"])]
