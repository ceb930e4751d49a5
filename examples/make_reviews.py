"""Make ``reviews.csv``: 160 reviews of a hotel, one text each, and whether the guest came back.

A review is a bag and a sentence is an instance. In this made-up hotel a guest does not come back if a sentence says
that the room was dirty. Dirty boots, dirty streets and rooms of all other kinds are mentioned by everybody, so neither
word alone tells the guests apart. A few guests do as they please.

Run this script to create the same file again::

    python examples/make_reviews.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

N_REVIEWS = 160
SEED = 5
COMPLAINTS = (
    "Our room was dirty when we arrived.",
    "The room was dirty, and nobody came to clean it.",
    "We found a dirty room, with hair on the floor.",
    "Sadly the room looked dirty in daylight.",
    "They gave us a dirty room next to the lift.",
)
DIRTY = (
    "We came back with dirty boots every evening, and nobody minded.",
    "The streets around the station are dirty and loud.",
    "The windows of the tram were dirty.",
    "A dirty dog slept in front of the bakery.",
)
ROOM = (
    "Our room was large and quiet.",
    "The room had a view of the lake.",
    "We asked for a room on the first floor and got one.",
    "The room was warm in winter, even with an open window.",
    "There was no kettle in the room.",
)
OTHER = (
    "Breakfast was simple but good.",
    "The staff at the desk spoke four languages.",
    "We paid a fair price for two nights.",
    "It is ten minutes on foot to the old town.",
    "Parking costs extra.",
    "The coffee at breakfast was weak.",
    "The lift was out of order on Sunday.",
    "We swam in the lake before breakfast.",
    "The bar closes at ten.",
    "Our children loved the boats.",
)


def table(seed: int = SEED) -> list[list[str]]:
    """Return the rows of the table, names of columns first."""
    rng = np.random.default_rng(seed)
    made = [["review", "text", "came_back"]]
    for number in range(1, N_REVIEWS + 1):
        said = [*rng.choice(OTHER, int(rng.integers(1, 5)), replace=False)]
        said += [str(rng.choice(DIRTY))] * int(rng.random() < 0.5) + [str(rng.choice(ROOM))] * int(rng.random() < 0.6)
        complains = bool(rng.random() < 0.45)
        said += [str(rng.choice(COMPLAINTS))] * complains
        back = complains == bool(rng.random() < 0.03)
        made.append([f"r{number:03}", " ".join(rng.permutation(said)), "yes" if back else "no"])
    return made


def main() -> None:
    """Write the table next to this file."""
    path = Path(__file__).with_name("reviews.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table())
    print(f"Wrote {path.name}: {N_REVIEWS} reviews.")


if __name__ == "__main__":
    main()
