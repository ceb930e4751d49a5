"""Make ward.csv and ward_later.csv: patients, the measurements of their last hours, and whether they got worse.

The data is synthetic. A stable patient has ordinary measurements only. One who gets worse has, among ordinary ones, one
measurement of shock (low pressure, high lactate), of hidden shock (normal pressure, raised lactate) or of failing
breathing (fast rate, low saturation). Run this script in its folder to write the files anew.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

COLUMNS = ("patient", "outcome", "map", "lactate", "rate", "spo2")


def measurements(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Return the measurements of one patient, one row each."""
    n = int(rng.integers(3, 7))
    rows = np.column_stack(
        [rng.normal(84, 8, n), rng.gamma(6, 0.2, n), rng.normal(16, 2.5, n), rng.normal(96, 1.2, n).clip(max=100)]
    )
    place = int(rng.integers(n))
    if kind == "shock":
        rows[place, :2] = rng.normal(66, 3), rng.normal(4.4, 0.5)
    elif kind == "hidden":
        rows[place, :2] = rng.normal(82, 5), rng.normal(3.2, 0.4)
    elif kind == "breathing":
        rows[place, 2:] = rng.normal(25, 2), rng.normal(90.5, 1)
    return rows


def write(path: Path, n_patients: int, first: int, rng: np.random.Generator) -> None:
    """Write a table of patients, half of them stable."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for number in range(first, first + n_patients):
            kind = "stable" if rng.random() < 0.5 else str(rng.choice(["shock", "hidden", "breathing"]))
            outcome = "stable" if kind == "stable" else "worse"
            for pressure, lactate, rate, saturation in measurements(rng, kind):
                row = (f"{pressure:.0f}", f"{lactate:.1f}", f"{rate:.0f}", f"{saturation:.0f}")
                table.writerow((f"p{number:03d}", outcome, *row))


if __name__ == "__main__":
    folder = Path(__file__).parent
    generator = np.random.default_rng(7)
    write(folder / "ward.csv", 30, 1, generator)
    write(folder / "ward_later.csv", 200, 31, generator)
