"""Measurements on an NVIDIA GPU; writes ``bench/gpu.json``, which `make bench` shows.

Runs on its own: ``pip install 'jax[cuda12]' . && python bench/gpu.py``. ``--size small`` runs anywhere in about a
minute and writes no file unless one is given.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import samples
from contestants.ours import folds
from rich.console import Console
from tables import Row, table

from fuzzymil import __version__
from fuzzymil.inference.layers import Operators, Params
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import Group, Plan, train_groups

SIZES: dict[str, dict[str, int]] = {
    "full": {
        "n_instances": 10_000_000,
        "n_features": 128,
        "n_rules": 32,
        "cpu_instances": 500_000,
        "n_repeats": 10,
        "epochs": 150,
        "side": 8192,
    },
    "small": {
        "n_instances": 20_000,
        "n_features": 128,
        "n_rules": 32,
        "cpu_instances": 10_000,
        "n_repeats": 1,
        "epochs": 10,
        "side": 512,
    },
}


def least_seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the minimum time of several calls, after one that compiles."""
    jax.block_until_ready(call())
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(call())
        taken.append(time.perf_counter() - began)
    return min(taken)


# ---------------------------------------------------------------------- what the machine can do


def bandwidth(n_bytes: int) -> float:
    """Bytes a second, read and written, of adding one to an array."""
    values = jnp.zeros(n_bytes // 4)
    add = jax.jit(lambda v: v + 1)
    return 2 * values.nbytes / least_seconds(lambda: add(values))


def product_rate(side: int) -> float:
    """Operations a second of a matrix product that is accurate to 32 bit."""
    square = jax.random.normal(jax.random.key(0), (side, side))
    product = jax.jit(lambda a: jnp.matmul(a, a, precision="highest"))
    return 2 * side**3 / least_seconds(lambda: product(square))


# ---------------------------------------------------------------------- an epoch


def epoch_seconds(n_instances: int, n_features: int, n_rules: int) -> float:
    """Least time of an epoch in batch mode on bags of ten, seen from outside the training loop."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_instances, n_features), dtype=np.float32)
    offsets = np.arange(0, n_instances + 1, 10)
    n_bags = len(offsets) - 1
    targets = (np.arange(n_bags) % 2).astype(float)[:, None]
    centers = x[:n_rules].astype(float)
    start = Params({"gaussian": (centers, np.full_like(centers, 10.0))}, np.zeros((n_rules, 1, 1)), 1.0, 1.0)
    group = Group(
        starts=[start],
        masks=[{"gaussian": np.ones((n_rules, n_features))}],
        bags=pack(x, offsets, np.float32),
        targets=targets,
        weights=np.ones((1, n_bags)),
        seeds=[0],
    )
    ends: list[float] = []
    train_groups(
        [group],
        Plan(Operators()),
        learning_rate=0.01,
        max_epochs=8,
        callbacks=(lambda progress: ends.append(time.perf_counter()),),
    )
    return float(np.diff(ends).min())


def epoch_rows(size: dict[str, int], on_two_cores: float, rate: float, speed: float) -> list[Row]:
    """An epoch beside its bounds, with the arithmetic."""
    i, d, r = size["n_instances"], size["n_features"], size["n_rules"]
    epoch = epoch_seconds(i, d, r)
    # The instances are read for the value and for its gradient. The log-truths and their gradient, (i, r) each, are
    # written once and read once. Value and gradient are two products each, of 2 i r d operations.
    moved = 4 * (2 * i * d + 4 * i * r)
    operations = 8 * i * r * d
    by_bytes, by_products = moved / rate, operations / speed
    bound = max(by_bytes, by_products)
    what = f"{i:,} instances x {d} features x {r} rules"
    factor = size["n_instances"] / size["cpu_instances"]
    return [
        Row("bandwidth", rate / 1e12, "TB/s", note="v + 1 over one large array, read and written"),
        Row(
            "products accurate to 32 bit", speed / 1e12, "TFLOP/s", note=f"{size['side']} squared, precision='highest'"
        ),
        Row("bound by bandwidth", by_bytes, note=f"4 (2 i d + 4 i r) = {moved / 1e9:.3g} GB / {rate / 1e12:.3g} TB/s"),
        Row(
            "bound by products",
            by_products,
            note=f"8 i r d = {operations / 1e9:.3g} GFLOP / {speed / 1e12:.3g} TFLOP/s",
        ),
        Row(
            f"epoch, {what}", epoch, "s", epoch / bound, "<= 2", "batch mode, bags of ten; figure: to the greater bound"
        ),
        Row(
            "the same on two cores of this machine",
            on_two_cores * factor,
            "s",
            on_two_cores * factor / epoch,
            note=f"measured at {size['cpu_instances']:,} instances, times {factor:g}",
        ),
    ]


# ---------------------------------------------------------------------- many fits


def fold_rows(size: dict[str, int], loop_on_cores: float) -> list[Row]:
    """One call beside a loop of fits here, and beside a loop on two cores."""
    tasks = folds(size["n_repeats"], 6, size["epochs"])
    together, loop = min(tasks["one call"]() for _ in range(2)), tasks["a loop"]()
    what = f"{size['n_repeats']} x 10 folds, 166 features, 6 rules, {size['epochs']} epochs"
    return [
        Row(f"{what}: one call", together, note=samples.musk1()[3]),
        Row(
            "the same in a loop of compiled fits", loop, "s", loop / together, ">= 10", "figure: how many times longer"
        ),
        Row("the same in a loop on two cores of this machine", loop_on_cores, "s", loop_on_cores / together),
    ]


# ---------------------------------------------------------------------- sums over bags


def segment_rows(n_instances: int, n_rules: int) -> list[Row]:
    """Sums over sorted bags of ten: segment sums as used, and what they could be."""
    n_bags = n_instances // 10
    values = jax.random.normal(jax.random.key(0), (n_bags * 10, n_rules))
    index = jnp.repeat(jnp.arange(n_bags, dtype=jnp.int32), 10)
    ways = {
        "segment_sum, sorted": lambda v, i: jax.ops.segment_sum(v, i, n_bags, indices_are_sorted=True),
        "segment_sum, not marked as sorted": lambda v, i: jax.ops.segment_sum(v, i, n_bags),
        "segment_max, sorted": lambda v, i: jax.ops.segment_max(v, i, n_bags, indices_are_sorted=True),
        "even bags, reshaped": lambda v, i: v.reshape(n_bags, 10, -1).sum(axis=1),
    }
    compiled = {name: jax.jit(way) for name, way in ways.items()}
    taken = {name: least_seconds(lambda way=way: way(values, index)) for name, way in compiled.items()}
    floor = taken["even bags, reshaped"]
    note = f"{n_instances:,} x {n_rules} into {n_bags:,} bags; figure: to reshaping"
    return [Row(name, seconds, "s", seconds / floor, note=note) for name, seconds in taken.items()]


# ---------------------------------------------------------------------- the run


def on_two_cores(size: str) -> dict[str, float]:
    """The same on two cores of this machine, in a process of its own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC")
    command = [sys.executable, __file__, "--size", size, "--as-cpu"]
    if hasattr(os, "sched_getaffinity"):
        command += ["--cores", ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))]
    found = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | dict.fromkeys(names, "2") | {"JAX_PLATFORMS": "cpu"},
    )
    return dict(json.loads(found.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument(
        "--output", type=Path, help="default: bench/gpu.json for the full size, else nothing is written"
    )
    parser.add_argument("--as-cpu", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cores", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    if arguments.as_cpu:
        if arguments.cores:
            os.sched_setaffinity(0, [int(core) for core in arguments.cores.split(",")])
        epoch = epoch_seconds(size["cpu_instances"], size["n_features"], size["n_rules"])
        print(json.dumps({"epoch": epoch, "loop": folds(size["n_repeats"], 6, size["epochs"])["a loop"]()}))
        return
    output = arguments.output or (Path(__file__).with_name("gpu.json") if arguments.size == "full" else None)
    console = Console()
    device = jax.devices()[0]
    if device.platform != "gpu":
        console.print(f"No GPU: {device.device_kind} is measured.")
    rows: list[Row] = []

    def kept(more: list[Row]) -> None:  # as it goes: time on such machines is short
        rows.extend(more)
        console.print(table(device.device_kind, more))
        if output is not None:
            about = {
                "date": datetime.date.today().isoformat(),
                "device": device.device_kind,
                "size": arguments.size,
                "versions": {"fuzzymil": __version__, "jax": jax.__version__, "python": sys.version.split()[0]},
                "rows": [dataclasses.asdict(row) for row in rows],
            }
            output.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", "utf-8")

    # Arrays of the bounds and sums are let go before the epoch needs the memory.
    n_bytes = 4 * size["n_instances"] * size["n_rules"]
    kept(segment_rows(size["n_instances"], size["n_rules"]))
    rate, speed = bandwidth(n_bytes), product_rate(size["side"])
    cores = on_two_cores(arguments.size)
    kept(fold_rows(size, cores["loop"]))
    kept(epoch_rows(size, cores["epoch"], rate, speed))


if __name__ == "__main__":
    main()
