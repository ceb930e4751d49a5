"""Several processes on this machine that train together, and a parent that watches over them.

When a process dies, the others would wait for it in the middle of a sum, for minutes, and then be aborted. The parent
sees it at once, ends them, and says who died and how.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from typing import IO, Any

from fuzzymil._utils.errors import CrewError

__all__ = ["LOST", "RANK", "launch"]

LOST = 75
"""Exit status of a process that has lost another one: not the one to blame."""

RANK = "FUZZYMIL_RANK"
"""The environment variable that tells a process its number, and by which it knows that it has company."""

_LOOK_SECONDS = 0.1
_BLAME_SECONDS = 2.0  # for the one to be seen that others have lost
_GRACE_SECONDS = 3.0  # for the others to end by themselves
_STOPPED = 130  # exit status after Ctrl-C: all stop together and end in their own time
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
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
        # In a session of its own: Ctrl-C is for the parent, which hands it on, so that everyone hears it once.
        self.process = subprocess.Popen(list(command), env=environment, start_new_session=True, **streams)

    def last_words(self) -> str:
        if self.said is None:
            return ""
        self.said.seek(0)
        return "\n".join(self.said.read().decode(errors="replace").splitlines()[-_LAST_LINES:])


def launch(command: Sequence[str], n_processes: int) -> tuple[int, str]:
    """Run copies of a Python script that find each other by `fuzzymil.training.distributed.join`, until all have ended.

    Parameters
    ----------
    command : sequence of str
        A script (or ``-m`` and a module) and its arguments.
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
                program = [sys.executable, "-m", "fuzzymil.training.distributed.launcher", *command]
                workers.append(_Worker(program, rank, shared | meeting))
            return _watch(workers)
    finally:
        _end(workers)


def _watch(workers: list[_Worker]) -> tuple[int, str]:
    n_iter_no_change = _BLAME_SECONDS
    while True:
        try:
            states = [worker.process.poll() for worker in workers]
            failed = [w for w, state in zip(workers, states, strict=True) if state not in (None, 0, _STOPPED)]
            # Who lost another process fails too, and may be seen first.
            guilty = [worker for worker in failed if worker.process.returncode != LOST]
            if guilty or (failed and n_iter_no_change <= 0):
                return _account((guilty or failed)[0], len(workers))
            if all(state is not None for state in states):
                return max(state or 0 for state in states), ""
            n_iter_no_change -= _LOOK_SECONDS if failed else 0.0
            time.sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:  # they stop together, after the same step
            for worker in workers:
                if worker.process.poll() is None:
                    worker.process.send_signal(signal.SIGINT)


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


# ---------------------------------------------------------------------- in each of the processes


def _run() -> None:
    """Run a script or module so that it ends at once when it fails, and with its parent.

    The usual end of a process that has joined others would wait for them, and they wait for it.
    """
    _end_with_parent()
    sys.argv = sys.argv[1:]
    status = 1
    try:
        if sys.argv[0] == "-m":
            sys.argv = sys.argv[1:]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
            runpy.run_path(sys.argv[0], run_name="__main__")
        return
    except SystemExit as ending:
        if not ending.code:
            raise
        if isinstance(ending.code, int):
            status = ending.code
        else:
            print(ending.code, file=sys.stderr)
    except KeyboardInterrupt:
        status = _STOPPED
    except BaseException as problem:
        traceback.print_exc()
        status = LOST if isinstance(problem, CrewError) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _end_with_parent() -> None:
    """On Linux, be killed when the parent is: nobody would watch any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


if __name__ == "__main__":
    _run()
