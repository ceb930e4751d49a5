"""How everybody's epochs are timed: by the same rule, whatever a library does before the first one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[..., object], *arguments: Any) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - began


def epoch_timer(fit: Callable[[int], object], long_enough: float = 0.25) -> Callable[[], float]:
    """Return what measures the seconds of one epoch: a long training less a short one, by the epochs between.

    So starting, compiling and copying count for nobody. The short one is the least of all so far, for a busy moment
    there would make an epoch look fast. Compiling is done here and now; the first call, which nobody counts, finds out
    how many epochs the clock needs.
    """
    fit(1)
    further, shortest = 0, math.inf

    def warm_up() -> float:
        nonlocal further, shortest
        shortest, further = min(seconds(fit, 1) for _ in range(2)), 1
        while True:
            longer = seconds(fit, 1 + further) - shortest
            if long_enough <= longer < 4 * long_enough:  # again, lest a busy moment pass for a long training
                longer = min(longer, seconds(fit, 1 + further) - shortest)
            if longer >= long_enough or further >= 20_000:
                return longer / further
            further = int(further * min(max(1.3 * long_enough / max(longer, 1e-6), 2), 10))

    def turn() -> float:
        nonlocal shortest
        if not further:
            return warm_up()
        shortest = min(shortest, seconds(fit, 1))
        return (seconds(fit, 1 + further) - shortest) / further

    return turn
