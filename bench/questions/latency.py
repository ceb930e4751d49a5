"""(8) From a new process to a fitted model: import, first fit and later fits, on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from tables import Row

from questions.common import Effort

TITLE = "First fit: 150 bags of two features, 6 rules, 150 epochs, one core, a process of its own"
SCRIPT = """
import time; began = time.perf_counter()
from fuzzymil import MIANFISClassifier, Training
from fuzzymil.datasets import make_two_concepts
imported = time.perf_counter() - began
bags = make_two_concepts(random_state=0)
def make():
    return MIANFISClassifier(6, init="random", alpha=5.0, training=Training(init_bags="all"), random_state=0)

make().fit(bags)
first = time.perf_counter() - began
later = []
for seed in range(1, 6):
    other = make_two_concepts(random_state=seed)
    start = time.perf_counter(); make().fit(other); later.append(time.perf_counter() - start)
print(imported, first, sorted(later)[len(later) // 2])
"""


def measure(effort: Effort) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cold = _numbers("off", effort)
        _numbers(folder, effort)
        warm = _numbers(folder, effort)
    return [
        Row("import", cold[0]),
        Row("first fit, nothing kept", cold[1], note="import included"),
        Row("first fit, programs kept", warm[1], note="import included"),
        Row("a later fit of the same shape", cold[2], note="median of 5"),
    ]


def _numbers(cache: str, effort: Effort) -> list[float]:
    effort.say("a first fit, nothing kept" if cache == "off" else "a first fit, programs kept")
    core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else None
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], env=os.environ | {"FUZZYMIL_CACHE": cache}, stdout=subprocess.PIPE, text=True
    )
    if core is not None:
        os.sched_setaffinity(process.pid, core)
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a first fit ended with code {process.returncode}")
    return [float(word) for word in output.split()]
