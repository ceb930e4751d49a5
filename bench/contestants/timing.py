"""How everybody's epochs are timed: by the same rule, whatever a library does before the first one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


def seconds(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def epoch_timer(fit: Callable[[int], object], long_enough: float = 0.25) -> Callable[[], float]:
    """Return what measures the seconds of one epoch: a long training less a short one, by the epochs between.

    So starting, compiling and copying count for nobody. The short one is the least of all so far, for a busy moment
    there would make an epoch look fast. The first call, which nobody counts, compiles and finds out how many epochs
    the clock needs.
    """
    further, shortest = 0, math.inf

    def least(epochs: int) -> float:  # of two, lest a busy moment pass for a long training
        return min(seconds(lambda: fit(epochs)) for _ in range(2))

    def warm_up() -> float:
        nonlocal further, shortest
        fit(1)
        shortest, further = least(1), 1
        while (longer := least(1 + further) - shortest) < long_enough and further < 20_000:
            further = int(further * min(max(1.3 * long_enough / max(longer, 1e-6), 2), 10))
        return longer / further

    def turn() -> float:
        nonlocal shortest
        if not further:
            return warm_up()
        shortest = min(shortest, seconds(lambda: fit(1)))
        return (seconds(lambda: fit(1 + further)) - shortest) / further

    return turn
