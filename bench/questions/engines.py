"""One mathematics, three engines: do NumPy, JAX and PyTorch agree, and how long do they take?"""

from __future__ import annotations

from racing import Contestant, Times, race
from tables import Row

from questions.common import Effort, present

TITLE = "The three engines: the six layers in 32 bit, 25 features, 6 rules, bags of ten (figure: times JAX's own)"
NAMES = {"numpy": "NumPy", "jax": "JAX, compiled", "torch": "PyTorch, eager"}
COMPARED = 20_000


def measure(effort: Effort) -> list[Row]:
    sizes = effort.pick([500, 20_000], [500, 20_000, 1_000_000])
    racers = {
        engine: Contestant(NAMES[engine], "engines:times", {"engine": engine, "sizes": sizes}) for engine in NAMES
    }
    times = race(list(racers.values()), rounds=effort.pick(2, 5), budget=20.0, say=effort.say)
    rows = []
    for what in ("forward", "gradient"):
        for size in sizes:
            task = f"{what} {size}"
            own = present(times, racers["jax"], task).median
            for engine, racer in racers.items():
                if what == "gradient" and engine == "numpy":
                    continue  # it serves inference
                found = _found(times, racer, task)
                label = f"{what}, {size:,} instances: {racer.name}"
                if found.values:
                    rows.append(Row(label, found.median, "s", found.median / own, samples=found.values))
                else:
                    rows.append(Row(label, note=found.absent))
    return rows + _agreement(effort)


def _agreement(effort: Effort) -> list[Row]:
    """Differences relative to the greatest value, to JAX in 64 bit."""
    bars = {"64": "<= 1e-12", "32": "<= 1e-5"}
    asked = Contestant("difference", "engines:differences", {"size": COMPARED})
    rows = []
    for (_, task), times in race([asked], rounds=1, warm_up=False, say=effort.say).items():
        if times.values:
            engine, what, bits = task.split()
            label, note = f"difference, {what} {bits} bit: {NAMES[engine]}", "to JAX in 64 bit, 20,000 instances"
            rows.append(Row(label, figure=times.median, bar=bars[bits], note=note))
        else:
            rows.append(Row(f"difference {task}", note=times.absent))
    return rows


def _found(times: dict[tuple[str, str], Times], racer: Contestant, task: str) -> Times:
    return times.get((racer.name, task)) or times[racer.name, ""]
