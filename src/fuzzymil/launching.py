"""Several processes on this machine that train together, and a parent that watches over them.

When a process dies, the others would wait for it in the middle of a sum, for minutes, and then be aborted. The parent
sees it at once, ends them, and says who died and how.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Any

__all__ = ["RANK", "launch"]

RANK = "FUZZYMIL_RANK"
"""The environment variable that tells a process its number, and by which it knows that it has company."""

_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 3.0  # for the others to end by themselves
_STOPPED = 130  # exit status after Ctrl-C: all stop together and end in their own time
_LAST_LINES = 12  # of what a process said before it died


class _Worker:
    """One process, and what it writes unless it is the first."""

    def __init__(self, command: Sequence[str], rank: int, environment: dict[str, str]) -> None:
        self.rank = rank
        self.said: IO[bytes] | None = None
        streams: dict[str, Any] = {}
        if rank > 0:  # the first speaks for all
            self.said = tempfile.TemporaryFile()  # noqa: SIM115  (closed when all have ended)
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": self.said}
        self.process = subprocess.Popen(list(command), env=environment, **streams)

    def last_words(self) -> str:
        if self.said is None:
            return ""
        self.said.seek(0)
        return "\n".join(self.said.read().decode(errors="replace").splitlines()[-_LAST_LINES:])


def launch(command: Sequence[str], n_processes: int) -> tuple[int, str]:
    """Run copies of a command that find each other by `fuzzymil.distributed.join`, until all have ended.

    Parameters
    ----------
    command : sequence of str
        A program and its arguments.
    n_processes : int

    Returns
    -------
    status : int
        0 when all ended well, 130 after Ctrl-C; else the exit status of the first that did not, 128 and the signal's
        number if it was killed.
    message : str
        What went wrong; empty when nothing did.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    threads = max((os.cpu_count() or 1) // n_processes, 1)
    workers = []
    try:
        with _ended_politely():
            for rank in range(n_processes):
                meeting = {
                    "FUZZYMIL_COORDINATOR": f"127.0.0.1:{port}",
                    "FUZZYMIL_PROCESSES": str(n_processes),
                    RANK: str(rank),
                }
                shared = {"OMP_NUM_THREADS": str(threads)} | dict(os.environ)
                workers.append(_Worker(command, rank, shared | meeting))
            return _watch(workers)
    finally:
        _end(workers)


def _watch(workers: list[_Worker]) -> tuple[int, str]:
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # the processes hear Ctrl-C too, and stop together
            states = [worker.process.poll() for worker in workers]
            well = (None, 0, _STOPPED)
            failed = next((worker for worker, state in zip(workers, states, strict=True) if state not in well), None)
            if failed is not None:
                return _account(failed, len(workers))
            if all(state is not None for state in states):
                return max(state or 0 for state in states), ""
            time.sleep(_LOOK_SECONDS)


def _account(worker: _Worker, n_processes: int) -> tuple[int, str]:
    status = int(worker.process.returncode)
    if status < 0:
        how = f"was killed ({signal.Signals(-status).name})"
        status = 128 - status
    else:
        how = f"ended with exit status {status}"
    said = worker.last_words()
    words = f" It said:\n{said}" if said else ""
    return status, f"Process {worker.rank + 1} of {n_processes} {how}; the others were ended.{words}"


def _end(workers: list[_Worker]) -> None:
    running = [worker.process for worker in workers if worker.process.poll() is None]
    for process in running:
        process.terminate()
    until = time.monotonic() + _GRACE_SECONDS
    for process in running:
        try:
            process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for worker in workers:
        if worker.said is not None:
            worker.said.close()


@contextlib.contextmanager
def _ended_politely() -> Any:
    """Let a request to end this process (SIGTERM) end the others first."""

    def leave(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread: whoever called us has to care for that
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
