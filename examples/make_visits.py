"""Make ``visits.csv``, a small dataset of bags: the visits of 100 users to a web shop, and who bought something.

A user is a bag and a visit is an instance. Only users are labeled; which visit led to a purchase is unknown. In this
made-up shop it is a *thorough* visit: many pages, with time spent on each. A long look at a single page does not lead
to a purchase, nor does rushing through many pages, and both kinds of visit are common among buyers and others alike.
Scroll depth and hour are irrelevant. One of the 40 buyers made no thorough visit, and one of the others did.

Run this script to create the same file again::

    python examples/make_visits.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

N_BUYERS, N_OTHERS = 40, 60
SEED = 7
COLUMNS = ("user", "converted", "seconds_per_page", "pages", "scroll_percent", "hour")

# Mean and standard deviation of the seconds per page and of the number of pages, for each kind of visit.
VISITS = {
    "thorough": ((80.0, 12.0), (14.0, 2.0)),
    "reading": ((90.0, 20.0), (2.5, 1.0)),
    "hurried": ((9.0, 4.0), (15.0, 3.0)),
    "passing": ((15.0, 8.0), (2.5, 1.2)),
}


def visit(kind: str, rng: np.random.Generator) -> list[int]:
    """Return the features of one visit, in the order of ``COLUMNS``."""
    seconds, pages = (rng.normal(mean, spread) for mean, spread in VISITS[kind])
    scroll, hour = rng.uniform(10, 100), rng.normal(15, 4) % 24
    return [max(round(seconds), 1), max(round(pages), 1), round(scroll), int(hour)]


def visits_of(thorough: bool, rng: np.random.Generator) -> list[list[int]]:
    """Return the visits of one user: two to five common ones and, if wanted, one to three thorough ones."""
    kinds = list(rng.choice(["reading", "hurried", "passing"], size=rng.integers(2, 6), p=[0.3, 0.3, 0.4]))
    if thorough:
        kinds += ["thorough"] * int(rng.integers(1, 4))
    return [visit(kind, rng) for kind in rng.permutation(kinds)]


def rows(seed: int = SEED) -> list[list[object]]:
    """Return the table with one row per visit, users in random order."""
    rng = np.random.default_rng(seed)
    users = [(True, number > 0) for number in range(N_BUYERS)] + [(False, number == 0) for number in range(N_OTHERS)]
    table: list[list[object]] = []
    for number, place in enumerate(rng.permutation(len(users)), 1):
        bought, thorough = users[place]
        for found in visits_of(thorough, rng):
            table.append([f"u{number:03}", "yes" if bought else "no", *found])
    return table


def main() -> None:
    """Write the table next to this file."""
    path = Path(__file__).with_name("visits.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows())
    print(f"Wrote {path.name}: {N_BUYERS + N_OTHERS} users.")


if __name__ == "__main__":
    main()
