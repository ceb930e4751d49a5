"""Forks of this process that share its work."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any

from fuzzymil._utils.runtime import may_be_forked

Helpers = tuple[Executor, int]
"""Other processes, and their number."""

_helpers: Helpers | None = None


@contextlib.contextmanager
def helped(n_helpers: int) -> Iterator[None]:
    """Fork this process so that its forks can share its work, until the end of the context.

    A fork has loaded all that this process has, and is there within milliseconds; any other process would take seconds
    to load scikit-learn. Forks lack the threads of this process, though: there are none where that could matter, nor on
    systems that cannot fork. In the end they are killed, whatever they do.

    ``n_helpers``: how many processes, apart from this one; possibly none.
    """
    global _helpers
    if n_helpers < 1 or not sys.platform.startswith("linux") or threading.active_count() > 1 or not may_be_forked():
        yield
        return
    executor = ProcessPoolExecutor(n_helpers, multiprocessing.get_context("fork"), _prepare)
    before = set(multiprocessing.active_children())
    with warnings.catch_warnings():
        # Python counts the threads of linear algebra, too, which are made for forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        executor.submit(int)  # all processes start with the first task
    own = set(multiprocessing.active_children()) - before
    _helpers = executor, n_helpers
    try:
        yield
    finally:
        _helpers = None
        for process in own:
            process.kill()
        executor.shutdown(wait=True, cancel_futures=True)


def helpers() -> Helpers | None:
    """Return the processes that `helped` has started; None outside its context."""
    return _helpers


def shared(
    helpers: Helpers, cases: Sequence[tuple[Any, ...]], here: Callable[..., Any], there: Callable[..., Any]
) -> Iterator[tuple[int, Any]]:
    """Call a function for each case in this process and in others, and yield places and results as they come.

    The others begin with the first case, this process with the last. If one of the others dies, this process finishes
    the work.

    ``helpers``: other processes, and their number. ``cases``: the arguments of each call. ``here``, ``there``: what to
    call in this process, and in the others.
    """
    executor, n_helpers = helpers
    waiting = deque(range(len(cases)))
    finished: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()

    def hand_over() -> None:
        try:
            place = waiting.popleft()
        except IndexError:
            return

        def then(done: Future[Any]) -> None:  # in a thread of the executor: no helper waits for this process
            finished.put((place, done))
            if not done.cancelled() and not isinstance(done.exception(), BrokenExecutor):
                hand_over()

        _submitted(executor, there, cases[place]).add_done_callback(then)

    for _ in range(n_helpers):
        hand_over()
    left = len(cases)
    try:
        while left:
            try:
                place = waiting.pop()
            except IndexError:
                pass
            else:
                yield place, here(*cases[place])
                left -= 1
            while left and not (waiting and finished.empty()):
                place, future = finished.get()
                try:
                    found = future.result()
                except BrokenExecutor:
                    found = here(*cases[place])
                yield place, found
                left -= 1
    finally:
        waiting.clear()


def _submitted(executor: Executor, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
    """Return the future of a call; if the processes have died, one that has failed."""
    try:
        return executor.submit(function, *arguments)
    except BrokenExecutor as problem:
        failed: Future[Any] = Future()
        failed.set_exception(problem)
        return failed


def _prepare() -> None:
    """Make a fork a good neighbor."""
    global _helpers
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all processes: only one needs to say so
    from threadpoolctl import threadpool_limits

    _helpers = None
    threadpool_limits(1)  # the other cores have processes of their own
    os.environ["NPROC"] = "1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # one GPU cannot serve all
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is gone: nobody would ever send it work, or tell it to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
