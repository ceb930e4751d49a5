"""(0) What users run: the default fit and predict against other methods, growth, one bag, streams, a Dask cluster."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from racing import HERE
from tables import Row, exponent

from questions.common import Effort

TITLE = "Choosing rules: bags of 10 instances and 20 features unless stated otherwise"
BASE = {"n_bags": 400, "size": 10, "n_features": 20, "n_classes": 2}
MOST_VALUES, LONGEST = 10_000_000, 600  # instances, and seconds of a cell
FOREST, ONE_BAG, EXPLANATION, WORKERS = ">= 2", "<= 0.3", "<= 3", ">= 1.6"
METHODS = {
    "RuleClassifier": None,
    "random forest": None,
    "boosting": None,
    "EBM": "interpret",
    "MILES": None,
    "gated attention": "torch",
}


def measure(effort: Effort) -> list[Row]:
    return [*_methods(effort), *_prediction(effort), *_growth(effort), *_streams(effort)]


def _run(what: str, **settings: Any) -> dict[str, Any]:
    """Return what `contestants/users.py` measures in a process of its own; ``absent`` says why it could not."""
    command = [sys.executable, str(HERE / "contestants" / "users.py"), what, json.dumps(settings)]
    environment = os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return {"absent": f"not finished after {LONGEST // 60} minutes"}
    if found.returncode:
        return {"absent": (found.stderr.strip().splitlines() or ["ended without a message"])[-1][:200]}
    result: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return result


def _row(what: str, found: dict[str, Any], **settings: Any) -> Row:
    if "absent" in found:
        return Row(what, note=found["absent"])
    note = f"accuracy {found['accuracy']:.3f}, memory {found['bytes'] / 1e6:,.0f} MB more"
    return Row(what, found["fit"], note=note, **settings)


def _methods(effort: Effort) -> list[Row]:
    rows = []
    for name, package in METHODS.items():
        effort.say(name)
        if package is not None and importlib.util.find_spec(package) is None:
            rows.append(Row(f"{name}: fit", note=f"not installed: {package}"))
            continue
        found = _run("fit", method=name, **BASE)
        rows.append(_row(f"{name}: fit", found))
        if "absent" not in found:
            rows.append(Row(f"{name}: predict", found["predict"], note="all 400 training bags"))
    return rows


def _prediction(effort: Effort) -> list[Row]:
    effort.say("prediction by kinds of rules")
    found = _run("predict", n_bags=effort.pick(5_000, 50_000))
    if "absent" in found:
        return [Row("40 rules", note=found["absent"])]
    note = "instances per second of processor time, divided by those of a forest on bag statistics"
    rows = [
        Row(f"40 rules, {kind}", value, "", value / found["kinds"]["forest"], FOREST, note)
        for kind, value in found["kinds"].items()
        if kind != "forest"
    ]
    each = "40 rules of four kinds, one bag, processor time; the figure is in ms"
    rows.append(Row("predict one bag", found["one"], "s", 1000 * found["one"], ONE_BAG, each))
    rows.append(Row("explain one bag", found["explain"], "s", 1000 * found["explain"], EXPLANATION, each))
    return rows


def _growth(effort: Effort) -> list[Row]:
    """Return time, memory and accuracy as one number grows around the base."""
    series = {
        "n_bags": effort.pick([400, 4_000], [100, 1_000, 10_000, 100_000, 1_000_000]),
        "size": effort.pick([10, 100], [1, 10, 100, 1_000, 20_000]),
        "n_features": effort.pick([20, 200], [2, 20, 200, 2_000, 20_000]),
        "n_classes": effort.pick([2, 5], [2, 5, 10, 20, 50]),
    }
    rows = []
    for name, sizes in series.items():
        word, times = name.removeprefix("n_").replace("size", "instances per bag"), []
        for size in sizes:
            point = BASE | {name: size}
            effort.say(f"{size:,} {word}")
            if point["n_bags"] * point["size"] > MOST_VALUES:
                rows.append(Row(f"{size:,} {word}", note=f"left out: more than {MOST_VALUES:,} instances"))
                continue
            found = _run("fit", method="RuleClassifier", **point)
            rows.append(_row(f"{size:,} {word}", found, series=name, at=size))
            if "absent" not in found:
                times.append((size, found["fit"]))
        if len(times) > 1:
            rows.append(Row(f"exponent in {word}", figure=exponent(*map(list, zip(*times, strict=True)))))
    return rows


def _streams(effort: Effort) -> list[Row]:
    n_bags = effort.pick(5_000, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "bags.parquet")
        effort.say("writing a Parquet file")
        written = _run("write", path=path, n_bags=n_bags)
        if "absent" in written:
            return [Row("Parquet", note=written["absent"])]
        effort.say("a fit of a stream")
        rows = [_row(f"stream of {n_bags:,} bags", _run("stream", path=path))]
        for package in ("polars", "lightgbm"):
            if importlib.util.find_spec(package) is None:
                rows.append(Row("LightGBM on statistics by Polars", note=f"not installed: {package}"))
                break
        else:
            rows.append(_row("LightGBM on statistics by Polars", _run("lightgbm", path=path)))
        first = None
        for workers in effort.pick((1, 2), (1, 2, 4)):
            effort.say(f"Dask, {workers} workers")
            found = _run("dask", path=path, workers=workers)
            row = _row(f"Dask, {workers} worker{'s' if workers > 1 else ''} of one thread", found)
            first = first or row.value
            if workers == 2 and row.value and first:
                row = Row(row.what, row.value, "s", first / row.value, WORKERS, row.note)
            rows.append(row)
    return rows
