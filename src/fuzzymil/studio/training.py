"""Training in a process of its own: jobs, progress, and the proposal that comes of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.rules.activations import matched
from fuzzymil.studio._json import decoded, encoded
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.limits import LIMITS
from fuzzymil.studio.views.validation import numbers_of
from fuzzymil.studio.worker import save_bags

__all__ = ["Worker", "elapsed", "job_of", "parts_of", "thinned"]

_MOST_POINTS = 500  # of the loss that is pushed


class Worker:
    """The process that trains, started when it is first needed and kept for the next job.

    Parameters
    ----------
    tell : callable
        Called, in a thread, with every message about the current job.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self._process: subprocess.Popen[str] | None = None
        self._job = 0
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._timer: threading.Timer | None = None

    def start(self, job: Mapping[str, Any], bags: Bags | None = None) -> None:
        """Begin a job; its bags are handed over in a file."""
        with self._lock:
            self._job += 1
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="fuzzymil-studio-")
            path = os.path.join(self._folder.name, f"bags-{self._job}.npz")
            if bags is not None:
                save_bags(bags, path)
            if self._process is None or self._process.poll() is not None:
                self._launch()
            self._send({**job, "job": self._job, "data": path})
            if job["do"] != "warm":
                self._timer = threading.Timer(LIMITS["training_seconds"], self.stop)
                self._timer.daemon = True
                self._timer.start()

    def _launch(self) -> None:
        command = [sys.executable, "-m", "fuzzymil.studio.worker"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(encoded(message) + "\n")
        self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            message = decoded(line)
            if process is self._process and message.get("job") == self._job:
                self._finish("result" in message or "failed" in message)
                self._tell(message)
        process.wait()
        if process is self._process:  # it was not killed by `cancel`
            self._finish(True)
            self._tell({"job": self._job, "failed": "The training process ended unexpectedly.", "died": True})

    def _finish(self, done: bool) -> None:
        if done and self._timer is not None:
            self._timer.cancel()

    def stop(self) -> None:
        """Ask the job to end with what it has reached."""
        with contextlib.suppress(OSError, AssertionError):
            self._send({"stop": self._job})

    def cancel(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            self._finish(True)
            if process is not None:
                process.kill()
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    with contextlib.suppress(OSError):
                        assert pipe is not None
                        pipe.close()

    def close(self) -> None:
        """End the process and remove its files."""
        self.cancel()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


# ---------------------------------------------------------------------- jobs


def job_of(case: Case, message: Mapping[str, Any]) -> tuple[dict[str, Any], Bags]:
    """Return the job that a message asks for, and the bags to train on."""
    if case.data.labels is None:
        raise InputError("Training needs labels: open a data file with a label column.")
    kind = str(message["type"])
    move = message.get("move") or {}
    for name in move:
        known_name("part", name, ("sets", "conclusions"), "in move")
    epochs, rate = message.get("epochs", 200), message.get("learning_rate", 0.03)
    if not isinstance(epochs, int) or isinstance(epochs, bool) or not 1 <= epochs <= LIMITS["epochs"]:
        raise ParameterError(f"epochs must be a whole number from 1 to {LIMITS['epochs']:,}, got {epochs!r:.60}.")
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 < rate <= 10:
        raise ParameterError(f"learning_rate must be above 0 and at most 10, got {rate!r:.60}.")
    classifies = case.classes is not None
    if not classifies:
        numbers_of(case)  # raises unless labels are numbers
    job = {
        "do": kind,
        "classifies": classifies,
        "epochs": epochs,
        "learning_rate": float(rate),
        "positive": _positive(case),
        "constraints": _constraints(message.get("constraints")),
        "frozen": sorted(_frozen(case, move)),
        "text": case.document.active.to_source(),
    }
    bags = case.given if kind == "learn" else _named(case)
    return job, bags


def _named(case: Case) -> Bags:
    """Return the bags with the features of the rules alone, coded as the rules code them."""
    seen = matched(case.base, case.data)
    return Bags(seen.instances, seen.offsets, labels=seen.labels, feature_names=case.base.feature_names)


def _positive(case: Case) -> str | None:
    return class_text(case.classes[case.positive]) if case.classes is not None and len(case.outputs) == 1 else None


def _constraints(given: Any) -> dict[str, Any] | None:
    from fuzzymil.learn.train.constraints import Constraints

    if not given:
        return None
    asked = {name: value for name, value in given.items() if value not in (None, False, 0, "")}
    Constraints.of(asked)  # raises if it makes no sense
    return asked


def _frozen(case: Case, move: Mapping[str, Any]) -> set[str]:
    frozen = {f"{variable}.{term}" for variable, term in case.document.frozen}
    if not move.get("sets", True):
        frozen |= set(case.base.feature_names)
    if not move.get("conclusions", True):
        frozen |= set(case.outputs)
    return frozen


def parts_of(case: Case, k: Any) -> list[list[int]]:
    """Return ``k`` parts of the bags, with the classes spread evenly."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n = case.data.n_bags
    if not isinstance(k, int) or isinstance(k, bool) or not 2 <= k <= min(20, n):
        raise ParameterError(f"k must be a whole number from 2 to {min(20, n)}, got {k!r:.60}.")
    labels = None if case.classes is None else np.asarray(case.labels, object).astype(str)
    if labels is not None and min(np.unique(labels, return_counts=True)[1]) < k:
        raise InputError(f"Each class needs at least {k} bags for {k} folds: choose fewer folds.")
    splitter: Any = (KFold if labels is None else StratifiedKFold)(k, shuffle=True, random_state=0)
    return [held.tolist() for _, held in splitter.split(np.zeros(n), labels)]


def thinned(loss: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most about 500 points of a curve, the last one among them.

    Examples
    --------
    >>> len(thinned([(epoch, 0.0) for epoch in range(2000)])) <= 501
    True
    """
    step = len(loss) // _MOST_POINTS + 1
    return [*loss[:-1:step], *loss[-1:]]


def elapsed(began: float) -> float:
    """Return the seconds since a time, to a tenth."""
    return round(time.monotonic() - began, 1)
