"""Prefetching: computing the next item in a background thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def prefetch(load: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``load(item)`` for each item, loading the next one in a background thread.

    Examples
    --------
    >>> list(prefetch(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    waiting = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="fuzzymil-prefetch") as worker:
        pending = [worker.submit(load, item) for item in itertools.islice(waiting, 1)]
        while pending:
            ready = pending.pop().result()
            pending = [worker.submit(load, item) for item in itertools.islice(waiting, 1)]
            yield ready
            del ready  # at most two results are in memory at a time
