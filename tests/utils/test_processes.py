"""Forks that share the work of a command: everything is done once, whatever happens to them."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzymil._utils.processes import helped, helpers, shared

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are forks on Linux only")


def squared(number, seconds=0.0):
    time.sleep(seconds)
    return number**2


@given(st.integers(0, 12), st.integers(1, 4))
def test_every_case_is_done_once(n_cases, n_helpers):
    with ThreadPoolExecutor(n_helpers) as executor:
        found = list(shared((executor, n_helpers), [(n,) for n in range(n_cases)], squared, squared))
    assert sorted(found) == [(n, n**2) for n in range(n_cases)]


def test_both_sides_work():
    where = []
    with ThreadPoolExecutor(1) as executor:
        cases = [(n, 0.01) for n in range(20)]
        list(shared((executor, 1), cases, lambda *case: where.append("here"), lambda *case: where.append("there")))
    assert {"here", "there"} == set(where)
    assert len(where) == 20


class Dying(ThreadPoolExecutor):
    """An executor whose processes die during a task."""

    def __init__(self, n_tasks):
        super().__init__(1)
        self.left = n_tasks

    def submit(self, function, *arguments):
        self.left -= 1
        if self.left > 0:
            return super().submit(function, *arguments)
        if self.left < 0:
            raise BrokenProcessPool
        future = Future()
        threading.Timer(0.01, future.set_exception, [BrokenProcessPool()]).start()
        return future


@pytest.mark.parametrize("n_tasks", range(5))
def test_this_process_finishes_the_work_of_dead_ones(n_tasks):
    executor = Dying(n_tasks)
    found = list(shared((executor, 2), [(n, 0.001) for n in range(8)], squared, squared))
    assert sorted(found) == [(n, n**2) for n in range(8)]
    executor.shutdown()


@pytest.mark.parametrize("side", ["here", "there"])
def test_an_error_is_raised_and_ends_the_work(side):
    done = []

    def work(number, seconds=0.0):
        time.sleep(0.01)
        done.append(number)

    def fail(number, seconds=0.0):
        raise IndexError("as expected")

    sides = {"here": work, "there": work} | {side: fail}
    with ThreadPoolExecutor(1) as executor, pytest.raises(IndexError, match="as expected"):
        list(shared((executor, 1), [(n,) for n in range(50)], sides["here"], sides["there"]))
    assert len(done) < 50


def test_a_process_with_threads_is_not_forked():
    running = threading.Event()
    thread = threading.Thread(target=running.wait)
    thread.start()
    with helped(2):
        assert helpers() is None
    running.set()
    thread.join()


SCRIPT = """
import os, sys, time
from fuzzymil._utils.processes import helped, helpers, shared
def where(seconds):
    time.sleep(seconds)
    return os.getpid()
with helped(2):
    print(*[process for _, process in shared(helpers(), [(float(sys.argv[1]),)] * 6, where, where)], flush=True)
print(helpers())
"""


def started(seconds):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def group_of(process):
    """Return the other processes in the session of one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == process.pid and int(stat.parent.name) != process.pid:
            found.append(int(stat.parent.name))
    return found


def eventually(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.05)
    return condition()


@LINUX
def test_forks_share_the_work_and_are_gone_afterwards():
    process = started(0.1)
    output, errors = process.communicate(timeout=60)
    shares, after = output.splitlines()
    assert len(set(shares.split())) == 3
    assert str(process.pid) in shares.split()
    assert (after, errors, group_of(process)) == ("None", "", [])


@LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_forks_end_with_their_parent(number):
    process = started(30)
    assert eventually(lambda: len(group_of(process)) == 2)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as Ctrl-C does
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert eventually(lambda: not group_of(process))
    assert errors.count("Traceback") == (number == signal.SIGINT)  # that of the parent, which does not catch it here
