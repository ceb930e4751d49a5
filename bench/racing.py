"""Contestants in separate processes that take turns, so that a busy moment affects all of them equally."""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATIENCE = 600.0  # seconds that one answer may take
N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Absent(Exception):
    """A contestant that cannot be measured; the message gives the reason."""


@dataclass(frozen=True)
class Contestant:
    """A function in ``contestants/``, its settings, and a description of them."""

    name: str
    place: str  # "module:function"
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    environment: str = ""  # ".venv-bench-NAME" where a peer needs its own; the present one where that does not exist

    def python(self) -> str:
        own = HERE.parent / f".venv-bench-{self.environment}" / "bin" / "python"
        return str(own) if self.environment and own.exists() else sys.executable


@dataclass(frozen=True)
class Times:
    """Measurements of one task, one per turn, and why it stopped early, if it did."""

    values: tuple[float, ...] = ()
    absent: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        return min(self.values)


class Worker:
    """A contestant's process."""

    def __init__(self, contestant: Contestant, threads: int) -> None:
        settings = dict(contestant.settings)
        if threads < N_CORES and hasattr(os, "sched_getaffinity"):
            settings["cores"] = sorted(os.sched_getaffinity(0))[:threads]
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [contestant.python(), str(HERE / "worker.py"), contestant.place, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | dict.fromkeys(names, str(threads)) | {"JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"},
        )

    def tasks(self) -> list[str]:
        return list(self._answer()["tasks"])

    def turn(self, task: str) -> float:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended: the missing answer shows it
            self._process.stdin.write(task + "\n")
            self._process.stdin.flush()
        return float(self._answer()["value"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
            raise Absent(f"no answer within {PATIENCE:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise Absent(f"ended with code {self._process.wait()}: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "absent" in answer:
            raise Absent(answer["absent"])
        return answer

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else "no message"

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()  # it has nothing to save, and libraries take seconds to end
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()


@contextlib.contextmanager
def _started(contestants: list[Contestant], threads: int) -> Iterator[dict[str, Worker]]:
    workers = {contestant.name: Worker(contestant, threads) for contestant in contestants}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.close()


def race(
    contestants: list[Contestant],
    *,
    rounds: int,
    warm_up: bool = True,
    threads: int = N_CORES,
    budget: float = 30.0,
    say: Callable[[str], None] = lambda words: None,
) -> dict[tuple[str, str], Times]:
    """Measure all tasks of all contestants, round by round, and return the times by (contestant, task).

    All contestants prepare (and compile) first. Then comes a warm-up turn that does not count, unless ``warm_up`` is
    False. A task that has used up its ``budget`` of seconds gets no further turns, but every task has at least one. A
    contestant that cannot run has an entry under the task "".
    """
    times: dict[tuple[str, str], Times] = {}
    with _started(contestants, threads) as workers:
        entries: list[tuple[str, str]] = []
        for name, worker in workers.items():
            say(f"preparing {name}")
            try:
                entries += [(name, task) for task in worker.tasks()]
            except Absent as reason:
                times[name, ""] = Times(absent=str(reason))
        spent = dict.fromkeys(entries, 0.0)
        for number in range(0 if warm_up else 1, rounds + 1):
            for name, task in entries:
                before = times.get((name, task), Times())
                if before.absent or spent[name, task] > budget:
                    continue
                say(f"{f'round {number} of {rounds}' if number else 'warming up'}: {name}, {task}")
                began = time.perf_counter()
                try:
                    value = workers[name].turn(task)
                except Absent as reason:
                    times[name, task] = Times(before.values, str(reason))
                    continue
                if number:
                    times[name, task] = Times((*before.values, value))
                    spent[name, task] += time.perf_counter() - began
    return times
