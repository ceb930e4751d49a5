"""(9) What a person waits for: commands in new processes, without and with kept programs, and importing the library."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from racing import HERE
from tables import Row

from questions.common import Effort

VISITS = HERE.parent / "examples" / "visits.csv"
TITLE = "Commands on examples/visits.csv (100 bags), each in a new process, least times (figure: seconds)"
COLUMNS = ("--bag", "user", "--label", "converted")
# An environment with nothing else: scikit-learn imports pandas, which peers need, wherever it is installed.
OWN = HERE.parent / ".venv-bench-commands" / "bin" / "python"
PYTHON = str(OWN) if OWN.exists() else sys.executable
NEEDED = "typer, rich, sklearn.cluster, sklearn.linear_model"
BOUNDS = {"fit": (4, 2), "rules": (0.5, 0.5), "predict": (0.9, 0.9), "explain": (0.9, 0.9)}
BOUNDS |= {"evaluate": (6, 4), "report": (7, 5)}  # seconds: the first time ever, and later
ARGUMENTS = {
    "fit": ("fit", VISITS, *COLUMNS, "-o", "model.json"),
    "rules": ("rules", "model.json"),
    "predict": ("predict", "model.json", VISITS),
    "explain": ("explain", "model.json", VISITS, "--id", "u001"),
    "evaluate": ("evaluate", VISITS, *COLUMNS),
    "report": ("report", "model.json", VISITS),
}


def measure(effort: Effort) -> list[Row]:
    times = effort.pick(1, 5)
    # As pip does on installation; sources that were just edited would be compiled in every process.
    subprocess.run([PYTHON, "-m", "compileall", "-q", HERE.parent / "src"], check=True)
    importing = min(_seconds([PYTHON, "-c", "import fuzzymil"], Path.cwd(), "off") for _ in range(times))
    rows = [Row("import fuzzymil", importing, "s", importing, "<= 0.25")]
    needed = min(_seconds([PYTHON, "-c", f"import {NEEDED}"], Path.cwd(), "off") for _ in range(times))
    rows.append(Row(f"import {NEEDED}", needed, note="what fit, evaluate and report load before they begin"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command, bounds in BOUNDS.items():
            effort.say(f"fuzzymil {command}")
            call = [PYTHON, "-m", "fuzzymil", *map(str, ARGUMENTS[command])]
            first = min(_seconds(call, folder, str(folder / f"{command}{n}")) for n in range(effort.pick(1, 3)))
            later = min(_seconds(call, folder, str(folder / f"{command}0")) for _ in range(times))
            for what, seconds, bound in (("first time", first, bounds[0]), ("later", later, bounds[1])):
                rows.append(Row(f"fuzzymil {command}, {what}", seconds, "s", seconds, f"<= {bound}"))
    return rows


def _seconds(call: list[str], folder: Path, cache: str) -> float:
    """Return how long a process takes that keeps compiled programs in the folder ``cache``."""
    began = time.perf_counter()
    subprocess.run(call, cwd=folder, env=os.environ | {"FUZZYMIL_CACHE": cache}, check=True, capture_output=True)
    return time.perf_counter() - began
