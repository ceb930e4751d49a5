"""Benchmarks: `make bench`. Prints a table and writes bench/results.json.

Everything is measured in this one run, on one core where that is said, and compared within it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from expert import expert_inference
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fuzzymil import MIANFISClassifier, __version__
from fuzzymil.datasets import CONCEPTS, make_two_concepts
from fuzzymil.storage import write_atomically

HERE = Path(__file__).parent
FIRST_FIT = """
import time; began = time.perf_counter()
from fuzzymil.runtime import enable_compilation_cache
if {cache!r}: enable_compilation_cache({cache!r})
from fuzzymil import MIANFISClassifier
from fuzzymil.datasets import make_two_concepts
imported = time.perf_counter() - began
bags = make_two_concepts(random_state=0)
settings = dict(n_rules=6, init="random", init_bags="all", alpha=5.0, random_state=0)
MIANFISClassifier(**settings).fit(bags)
first = time.perf_counter() - began
later = []
for seed in range(1, 6):
    other = make_two_concepts(random_state=seed)
    start = time.perf_counter(); MIANFISClassifier(**settings).fit(other); later.append(time.perf_counter() - start)
print(imported, first, sorted(later)[len(later) // 2])
"""


def first_fit_latency() -> dict[str, float]:
    """Seconds from a new process to a fitted model, without and with kept programs, and later fits; one core."""
    core = f"{min(os.sched_getaffinity(0))}" if hasattr(os, "sched_getaffinity") else None
    pinned = ["taskset", "-c", core] if core is not None else []
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            name: _numbers([*pinned, sys.executable, "-c", FIRST_FIT.format(cache=cache)])
            for name, cache in (("cold", ""), ("filling", folder), ("warm", folder))
        }
    return {
        "import": runs["cold"][0],
        "first fit, nothing kept": runs["cold"][1],
        "first fit, programs kept": runs["warm"][1],
        "a later fit of the same shape": runs["cold"][2],
    }


def _numbers(command: list[str]) -> list[float]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def two_concepts(n_seeds: int, n_restarts: int, **settings: float) -> dict[str, float | int]:
    """Learn the two-concept set from many seeds: accuracy on 500 unseen bags, and how often both are found."""
    accuracy, found, irrelevant = [], 0, []
    for seed in track(range(n_seeds), description=f"two concepts, {n_restarts} start(s)", transient=True):
        train, test = make_two_concepts(random_state=seed), make_two_concepts(167, 166, random_state=1000 + seed)
        model = MIANFISClassifier(
            6, init="random", init_bags="all", n_restarts=n_restarts, random_state=seed, **settings
        ).fit(train)
        accuracy.append(model.score(test, test.labels))
        outputs = model.rules_.coefs[:, 0, 0]
        near = np.linalg.norm(model.rules_.centers[:, None] - CONCEPTS, axis=2) <= 0.2
        found += bool((near & (outputs >= 0.5)[:, None]).any(axis=0).all())
        irrelevant += outputs[~near.any(axis=1)].tolist()
    return {
        "seeds": n_seeds,
        "median accuracy": float(np.median(accuracy)),
        "least accuracy": float(np.min(accuracy)),
        "both concepts found": found,
        "median output of rules off the concepts": float(np.median(irrelevant)),
    }


def main() -> None:
    console = Console()
    quick = bool(os.environ.get("QUICK"))
    began = time.perf_counter()
    results: dict[str, object] = {
        "library": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "latency in seconds": first_fit_latency(),
    }
    n_seeds = 5 if quick else 20
    results["two concepts"] = {
        f"alpha {alpha:g}, {n} start(s)": two_concepts(n_seeds, n, alpha=alpha) for alpha in (1.0, 5.0) for n in (1, 4)
    }
    results["expert inference (100,000 instances, 10 rules)"] = expert_inference()
    for title in ("latency in seconds", "two concepts", "expert inference (100,000 instances, 10 rules)"):
        console.print(_table(title, results[title]))
    write_atomically(HERE / "results.json", json.dumps(results, indent=1) + "\n")
    console.print(f"Wrote {HERE.name}/results.json after {time.perf_counter() - began:.0f} s.")


def _table(title: str, rows: object) -> Table:
    assert isinstance(rows, dict)
    table = Table(title=title, title_justify="left")
    nested = isinstance(next(iter(rows.values())), dict)
    for heading in ["", *(next(iter(rows.values())) if nested else ["value"])]:
        table.add_column(heading, justify="left" if heading == "" else "right")
    for name, value in rows.items():
        values = list(value.values()) if nested else [value]
        table.add_row(name, *(f"{v:.3g}" for v in values))
    return table


if __name__ == "__main__":
    main()
