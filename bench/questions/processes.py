"""(10) One process and several, each with its share of the bags: time per epoch, and whether the rules agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
from racing import HERE
from tables import Row

from questions.common import Effort

TITLE = "Several processes on this machine: 25 features, 10 rules, bags of ten, all bags at once"
ALONE = {"FUZZYMIL_PROCESSES": "1", "FUZZYMIL_RANK": "0"}


def measure(effort: Effort) -> list[Row]:
    n_instances, epochs = effort.pick(50_000, 200_000), effort.pick(6, 12)
    found = {}
    for n_processes in effort.pick((1, 2), (1, 2, 4)):
        effort.say(f"{n_processes} process(es)")
        found[n_processes] = _run(n_processes, n_instances, epochs)
    alone = found.pop(1)
    rows = [Row(f"an epoch of {n_instances:,} instances, one process", alone["epoch"])]
    for n_processes, several in found.items():
        apart = float(np.abs(np.subtract(several["rules"], alone["rules"])).max())
        rows += [
            Row(
                f"{n_processes} processes", several["epoch"], "s", alone["epoch"] / several["epoch"], note="throughput"
            ),
            Row(f"{n_processes} processes: rules differ by", figure=apart, bar="<= 1e-5", note=f"{epochs} epochs"),
        ]
    return rows


def _run(n_processes: int, n_instances: int, epochs: int) -> dict[str, object]:
    script = [str(HERE / "shared_training.py"), str(n_instances), str(epochs)]
    if n_processes == 1:
        command, environment = [sys.executable, *script], os.environ | ALONE
    else:
        command = [sys.executable, "-m", "fuzzymil", "launch", "-n", str(n_processes), *script]
        environment = dict(os.environ)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)
