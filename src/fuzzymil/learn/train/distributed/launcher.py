"""Starts several training processes on this machine and watches them.

When a process dies, the others would wait for it for minutes before being aborted. The parent notices at once, ends
them, and reports which process died and how.

The processes listen on the loopback interface only, so that no other machine can reach them.
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
from collections.abc import Iterator, Sequence
from typing import IO, Any

from fuzzymil._utils.errors import ProcessLostError

__all__ = ["RANK", "launch"]

RANK = "FUZZYMIL_RANK"
"""Environment variable with the number of a process; it is set in processes that were launched together."""

_POLL_SECONDS = 0.1
_BLAME_SECONDS = 2.0  # to wait for the process that caused a failure, when another one reports having lost it
_GRACE_SECONDS = 3.0  # to wait for terminated processes before they are killed
_INTERRUPTED = 130  # exit status after Ctrl-C: all processes stop after the same step, then exit on their own
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_LAST_LINES = 12  # of a failed process's output


class _Worker:
    """One process and, unless it is the first, what it writes to standard error."""

    def __init__(self, command: Sequence[str], rank: int, environment: dict[str, str]) -> None:
        self.rank = rank
        self.errors: IO[bytes] | None = None
        streams: dict[str, Any] = {}
        if rank > 0:  # only the first process talks to the user
            self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in _end)
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": self.errors}
        # In its own session, so that Ctrl-C reaches the parent alone, which forwards it to each process once.
        self.process = subprocess.Popen(list(command), env=environment, start_new_session=True, **streams)

    def last_lines(self) -> str:
        if self.errors is None:
            return ""
        self.errors.seek(0)
        return "\n".join(self.errors.read().decode(errors="replace").splitlines()[-_LAST_LINES:])


def launch(command: Sequence[str], n_processes: int) -> tuple[int, str]:
    """Run copies of a Python script that connect with `fuzzymil.learn.train.distributed.join`, and wait for all.

    Parameters
    ----------
    command : sequence of str
        A script, or ``-m`` and a module, followed by arguments.
    n_processes : int

    Returns
    -------
    status : int
        0 if all processes succeeded, 130 after Ctrl-C; otherwise the exit status of the first one that failed, or 128
        plus the signal number if it was killed.
    message : str
        What went wrong, if anything.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
    ...     _ = script.write("import sys; sys.exit(3)"), script.flush()
    ...     launch([script.name], n_processes=1)
    (3, 'Process 1 of 1 exited with status 3.')
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    threads = max((os.cpu_count() or 1) // n_processes, 1)
    workers = []
    try:
        with _exiting_on_sigterm():
            for rank in range(n_processes):
                settings = {
                    "FUZZYMIL_COORDINATOR": f"127.0.0.1:{port}",
                    "FUZZYMIL_PROCESSES": str(n_processes),
                    RANK: str(rank),
                }
                # NCCL, through which GPUs exchange arrays, would listen on another interface.
                shared = {"OMP_NUM_THREADS": str(threads), "NCCL_SOCKET_IFNAME": "lo"} | dict(os.environ)
                program = [sys.executable, "-m", "fuzzymil.learn.train.distributed.launcher", *command]
                workers.append(_Worker(program, rank, shared | settings))
            return _watch(workers)
    finally:
        _end(workers)


def _watch(workers: list[_Worker]) -> tuple[int, str]:
    patience = _BLAME_SECONDS
    while True:
        try:
            states = [worker.process.poll() for worker in workers]
            failed = [w for w, state in zip(workers, states, strict=True) if state not in (None, 0, _INTERRUPTED)]
            # A process that lost another one fails too, and may be noticed first.
            guilty = [worker for worker in failed if worker.process.returncode != ProcessLostError.exit_status]
            if guilty or (failed and patience <= 0):
                return _failure((guilty or failed)[0], len(workers))
            if all(state is not None for state in states):
                return max(state or 0 for state in states), ""
            patience -= _POLL_SECONDS if failed else 0.0
            time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:  # they all stop after the same step
            for worker in workers:
                if worker.process.poll() is None:
                    worker.process.send_signal(signal.SIGINT)


def _failure(worker: _Worker, n_processes: int) -> tuple[int, str]:
    status = int(worker.process.returncode)
    if status < 0:
        how = f"was killed ({signal.Signals(-status).name})"
        status = 128 - status
    else:
        how = f"exited with status {status}"
    others = "; the other processes were ended" if n_processes > 1 else ""
    lines = worker.last_lines()
    output = f" Its last output:\n{lines}" if lines else ""
    return status, f"Process {worker.rank + 1} of {n_processes} {how}{others}.{output}"


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
        if worker.errors is not None:
            worker.errors.close()


@contextlib.contextmanager
def _exiting_on_sigterm() -> Iterator[None]:
    """Raise SystemExit on SIGTERM, so that the other processes are ended first."""

    def leave(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread, where signals cannot be handled
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# ---------------------------------------------------------------------- in each of the processes


def _run() -> None:
    """Run a script or module in a process that exits at once when the script fails, or when the parent dies.

    A normal exit would wait for the other processes, and they for this one.
    """
    _die_with_parent()
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
        status = _INTERRUPTED
    except BaseException as problem:
        traceback.print_exc()
        status = problem.exit_status if isinstance(problem, ProcessLostError) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _die_with_parent() -> None:
    """On Linux, be killed when the parent dies, because nobody would watch this process any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


if __name__ == "__main__":
    _run()
