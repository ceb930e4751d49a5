"""Make ``pumps.csv``: one day of 40 pumps, measured every ten minutes, and whether the pump failed within the month.

A pump is a bag, and an hour of its day is an instance. In this made-up plant a pump fails if it shakes for about an
hour while it is hot. All pumps shake twice a day, when they start and once more, and all run hot in the afternoon:
neither is a reason to worry.

Run this script to create the same file again::

    python examples/make_pumps.py
"""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import numpy as np

N_PUMPS = 40
SEED = 8
PER_DAY = 24 * 6
DAY = datetime.datetime(2026, 3, 2)


def day(fails: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the vibration (mm/s) and the temperature (degrees Celsius) of one day."""
    hours = np.arange(PER_DAY) / 6
    warmest = rng.uniform(13, 18)
    temperature = 45 + rng.normal(0, 2) + 25 * np.exp(-(((hours - warmest) / 3) ** 2)) + rng.normal(0, 1, PER_DAY)
    shaking = np.zeros(PER_DAY)
    start = rng.uniform(1, 7)
    shaking[(hours >= start) & (hours < start + 1)] = rng.uniform(3, 5)  # cold
    begins = warmest + rng.uniform(-1.5, 0.5) if fails else rng.uniform(21, 23)
    shaking[(hours >= begins) & (hours < begins + 1)] = rng.uniform(3, 5)
    vibration = 2 + np.abs(rng.normal(0, 0.3, PER_DAY)) + shaking * np.abs(rng.normal(1, 0.3, PER_DAY))
    return vibration, temperature


def table(seed: int = SEED) -> list[list[str]]:
    """Return the rows of the table, names of columns first."""
    rng = np.random.default_rng(seed)
    made = [["pump", "time", "vibration", "temperature", "failed"]]
    for number in range(1, N_PUMPS + 1):
        fails = bool(rng.random() < 0.45)
        for place, (vibration, temperature) in enumerate(zip(*day(fails, rng), strict=True)):
            time = DAY + datetime.timedelta(minutes=10 * place)
            measured = [time.strftime("%Y-%m-%d %H:%M"), f"{vibration:.1f}", f"{temperature:.0f}"]
            made.append([f"P{number:02}", *measured, "yes" if fails else "no"])
    return made


def main() -> None:
    """Write the table next to this file."""
    path = Path(__file__).with_name("pumps.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table())
    print(f"Wrote {path.name}: {N_PUMPS} pumps.")


if __name__ == "__main__":
    main()
