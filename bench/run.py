"""Run all measurements of `make bench`; writes tables, ``results.json``, figures and, for a full run, the summary.

Contestants are measured side by side in the same run, so ratios hold even if absolute times do not.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from pathlib import Path

import figures
import tables
from questions.common import Effort
from racing import HERE, N_CORES
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from tables import Row

from fuzzymil import __version__
from fuzzymil._utils.storage import write_atomically

QUESTIONS = (
    "users",
    "epochs",
    "online",
    "attention",
    "folds",
    "growth",
    "roofline",
    "engines",
    "memory",
    "latency",
    "commands",
    "concepts",
    "expert",
    "stored",
)
WITHOUT_TARGETS = ("attention", "latency", "concepts")  # a quick run leaves them out
PACKAGES = (
    "jax",
    "numpy",
    "torch",
    "scikit-pytsk",
    "highfis",
    "anfis-toolbox",
    "torchmil",
    "mikit-learn",
    "pyfuzzylite",
    "scikit-fuzzy",
)
BUSY = (
    "Other programs are using this machine (load {:.1f}). Times are too long, and ratios to packages whose threads "
    "wait for each other, such as PyTorch, are too favorable: measure again when it is idle."
)


def main() -> None:
    arguments = _arguments()
    console = Console()
    began = time.perf_counter()
    results = {"about": _about(arguments.quick), "sections": {}}
    load = results["about"]["load before"]
    if load > 0.5 * N_CORES:
        console.print(BUSY.format(load))
    sections: dict[str, list[Row]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(arguments.only))
        for name in arguments.only:
            effort = Effort(
                arguments.quick, lambda words, name=name: progress.update(bar, description=f"{name}: {words}")
            )
            module = importlib.import_module(f"questions.{name}")
            started = time.perf_counter()
            rows = sections[module.TITLE] = module.measure(effort)
            taken = time.perf_counter() - started
            console.print(tables.table(module.TITLE, rows))
            results["sections"][name] = {
                "title": module.TITLE,
                "seconds": taken,
                "rows": [dataclasses.asdict(row) | {"verdict": row.verdict} for row in rows],
            }
            # After each question, so that an interrupted run leaves its results.
            write_atomically(HERE / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
            progress.advance(bar)
    results["about"]["seconds"] = time.perf_counter() - began
    write_atomically(HERE / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    drawn = figures.draw(results["sections"], HERE / "figures")
    written = [HERE / "results.json", *drawn]
    if arguments.summary or not (arguments.quick or arguments.partial):
        write_atomically(HERE / "summary.md", summary(results["about"], sections))
        written.append(HERE / "summary.md")
    reached, missed = tables.bars(sections)
    console.print(f"{len(reached)} targets reached, {len(missed)} missed; {results['about']['seconds']:.0f} s.")
    console.print("Wrote " + ", ".join(str(path.relative_to(HERE.parent)) for path in written) + ".")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="what has targets, in fewer rounds and smaller sizes")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, metavar="QUESTION", help=", ".join(QUESTIONS))
    parser.add_argument("--summary", action="store_true", help="also write bench/summary.md, as full runs do")
    arguments = parser.parse_args()
    arguments.partial = arguments.only is not None
    left_out = WITHOUT_TARGETS if arguments.quick else ()
    arguments.only = arguments.only or [name for name in QUESTIONS if name not in left_out]
    return arguments


def _about(quick: bool) -> dict[str, object]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.date.today().isoformat(),
        "effort": "quick" if quick else "full",
        "fuzzymil": __version__,
        "python": platform.python_version(),
        "machine": f"{_processor()}, {N_CORES} cores",
        "load before": os.getloadavg()[0],
        "versions": versions,
    }


def _processor() -> str:
    """Return the name of the processor, if Linux reports it."""
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def summary(about: dict[str, object], sections: dict[str, list[Row]]) -> str:
    """Return the run as Markdown."""
    reached, missed = tables.bars(sections)
    versions = about["versions"]
    assert isinstance(versions, dict)
    lines = [
        "# Speed, measured",
        "",
        f"Written by `make bench` ({about['effort']} run) on {about['date']}; {about['seconds']:.0f} s.",
        f"{about['machine']}; load before {about['load before']:.1f}; Python {about['python']}; "
        f"fuzzymil {about['fuzzymil']}; " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".",
        "",
        "The figure of a peer is its time divided by ours. Times are medians unless stated otherwise.",
        "",
        *([BUSY.format(about["load before"]), ""] if about["load before"] > 0.5 * N_CORES else []),
        f"**{len(reached)} targets reached, {len(missed)} missed.**",
    ]
    lines += [f"- Missed: {row.what}: {row.figure:.3g}, required {row.bar}." for row in missed]
    for title, rows in sections.items():
        lines += ["", f"## {title}", "", tables.markdown(rows).rstrip()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
