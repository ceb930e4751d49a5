"""Measure large files and large problems, each in a process of its own: the table of docs/limits.md.

Run ``python bench/limits.py`` for all cases, or name some. The columns are wall time, processor time (which says more
on a busy machine) and the peak of the process's memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil import RuleClassifier
from fuzzymil.estimators import network_parameters

LONGEST = 300  # seconds for one case


def million_bags(folder: Path, *, n_bags: int = 1_000_000) -> Any:
    """Return bags of one to three instances with four features; a high first feature makes positives."""
    from fuzzymil import Bags

    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, n_bags)
    labels = rng.integers(0, 2, n_bags)
    instances = rng.normal(size=(sizes.sum(), 4)).round(4)
    instances[:, 0] += 4 * np.repeat(labels, sizes) * (rng.random(len(instances)) < 0.7)
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), labels=labels)


def wide_bags(folder: Path) -> Any:
    """Return 100 bags of two instances with 40,000 features."""
    from fuzzymil import Bags

    values = np.random.default_rng(0).normal(size=(200, 40_000)).round(4)
    return Bags(values, np.arange(0, 201, 2), labels=np.arange(100) % 2)


def reading(name: str, make: Callable[..., Any], *, without_pyarrow: bool = False) -> Callable[[Path], Any]:
    """Return a case: write bags to a file, unmeasured, and return the function that reads it."""

    def prepare(folder: Path) -> Any:
        from fuzzymil.datasets import read_bags, write_bags

        path = folder / name
        if not path.exists():
            write_bags(make(folder), path)
        if without_pyarrow:
            sys.modules["pyarrow"] = None  # type: ignore[assignment]
        return lambda: read_bags(path)

    return prepare


def choosing(n_bags: int) -> Callable[[Path], Any]:
    """Return a case that chooses rules."""

    def prepare(folder: Path) -> Any:
        from fuzzymil import RuleClassifier

        bags = million_bags(folder, n_bags=n_bags)
        return lambda: RuleClassifier(random_state=0).fit(bags)

    return prepare


def training(n_bags: int, **settings: Any) -> Callable[[Path], Any]:
    """Return a case that trains a network."""

    def prepare(folder: Path) -> Any:
        from fuzzymil import MIANFISClassifier

        bags = million_bags(folder, n_bags=n_bags)
        return lambda: MIANFISClassifier(**network_parameters(random_state=0, **settings)).fit(bags)

    return prepare


def predicting(folder: Path) -> Any:
    """Prepare predictions for a million bags."""

    bags = million_bags(folder)
    model = RuleClassifier(random_state=0).fit(bags[:1000])
    return lambda: model.predict(bags)


def many_classes(folder: Path) -> Any:
    """Prepare the inference of 5,000 outputs."""
    from fuzzymil import Bags, RuleBase
    from fuzzymil.rules.activations import infer_output

    rng = np.random.default_rng(0)
    rules = RuleBase.from_arrays(rng.normal(size=(10, 5)), np.ones((10, 5)), rng.normal(size=(10, 5000, 1)))
    bags = Bags(rng.normal(size=(20_000, 5)), np.arange(0, 20_001, 2))
    return lambda: infer_output(rules, bags)


CASES: dict[str, Callable[[Path], Any]] = {
    "read CSV, 1,000,000 bags": reading("million.csv", million_bags),
    "the same without pyarrow": reading("million.csv", million_bags, without_pyarrow=True),
    "read CSV, 40,000 columns x 200 rows": reading("wide.csv", wide_bags),
    "read sparse text, 1,000,000 bags": reading("million.svm", million_bags),
    "read relational ARFF, 1,000,000 bags": reading("million.arff", million_bags),
    "read MATLAB, 1,000,000 bags": reading("million.mat", million_bags),
    "read Parquet, 1,000,000 bags": reading("million.parquet", million_bags),
    "choose rules, 10,000 bags": choosing(10_000),
    "choose rules, 1,000,000 bags": choosing(1_000_000),
    "train a network, 1,000,000 bags, 10 rules, 10 epochs": training(1_000_000, init="kmeans", max_epochs=10),
    "predict 1,000,000 bags": predicting,
    "infer 10,000 bags, 10 rules, 5,000 outputs": many_classes,
}


def measure(name: str, folder: Path) -> None:
    """Measure a case in this process, and print the numbers as JSON."""
    run = CASES[name](folder)
    before = time.perf_counter(), time.process_time()
    run()
    print(
        json.dumps(
            {
                "wall": time.perf_counter() - before[0],
                "processor": time.process_time() - before[1],
                "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    )


def main() -> None:
    """Measure cases, each in a child, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="default: all")
    parser.add_argument("--folder", type=Path, default=None, help="for the files; default: a temporary one")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    if options.child:
        measure(options.cases[0], folder)
        return
    print("| | wall time | processor time | peak memory |\n|---|---|---|---|")
    for name in options.cases or CASES:
        command = [sys.executable, __file__, name, "--child", "--folder", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
        except subprocess.TimeoutExpired:
            print(f"| {name} | more than {LONGEST} s | | |", flush=True)
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        times = f"{found['wall']:.1f} s | {found['processor']:.1f} s"
        print(f"| {name} | {times} | {found['peak'] / 1e9:.1f} GB |", flush=True)


if __name__ == "__main__":
    main()
