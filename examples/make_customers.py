"""Make ``customers.csv``, a table as people have it: the contacts of 150 customers with a company, and what came of it.

``customers_later.csv`` has the contacts of 20 other customers as a later export has them: the columns are in another
order, one is new and one is gone, nobody knows the outcomes yet, and there are faxes, a channel that was not there
before.

A customer is a bag and a contact is an instance. The table has everything that makes tables hard to read: text, dates
with times, a date that is the same for all contacts of a customer, numbers with gaps, categories in mixed case,
identifiers, a column that is always the same, an empty one, and comments with commas and quotation marks. There are
three outcomes. In this made-up company a customer *leaves* after a contact with support that took more than 30 minutes,
*upgrades* after a visit of more than 12 pages on a Saturday or Sunday, and *stays* otherwise.

Run this script to create the same files again::

    python examples/make_customers.py
"""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import numpy as np

N_CUSTOMERS, N_LATER = 150, 20
SEED = 11
COLUMNS = (
    "contact_id",
    "customer",
    "outcome",
    "contact",
    "customer_since",
    "channel",
    "agent",
    "pages",
    "minutes",
    "country",
    "remarks",
    "comment",
)
LATER_COLUMNS = (
    "customer",
    "comment",
    "minutes",
    "pages",
    "channel",
    "customer_since",
    "agent",
    "contact",
    "contact_id",
    "campaign",
    "country",
)
CHANNELS = ("web", "email", "phone", "support", "live chat")
COMMENTS = (
    "Asked about the bill",
    'Said "never again", then hung up',
    "Wanted a newer model, in blue",
    "",
    "No answer; call back",
    "Address changed, see the note of last week",
)


def contact(kind: str, rng: np.random.Generator) -> tuple[datetime.datetime, str, int, int]:
    """Return the time, the channel, the pages and the minutes of one contact."""
    start = datetime.datetime(2026, 1, 5) + datetime.timedelta(minutes=int(rng.integers(0, 150 * 24 * 60)))
    channel = str(rng.choice(CHANNELS, p=[0.35, 0.2, 0.15, 0.15, 0.15]))
    pages, minutes = int(rng.poisson(7)), int(rng.gamma(2, 6)) + 1
    weekend = start.weekday() >= 5
    if kind == "long call to support":
        return start, "support", pages, 32 + int(rng.gamma(2, 6))
    if kind == "weekend of reading":
        start += datetime.timedelta(days=int(5 + rng.integers(0, 2) - start.weekday()))
        return start, "web", 14 + int(rng.poisson(3)), minutes
    if channel == "support":  # short calls are no reason to leave, and long ones elsewhere are not either
        return start, channel, pages, min(minutes, 25)
    if rng.random() < 0.25:
        minutes += 30
    return start, channel, min(pages, 10) if weekend else pages + int(rng.integers(0, 8)), minutes


def spelled(text: str, rng: np.random.Generator) -> str:
    """Return a text in one of the cases that people type it in; sometimes, nothing."""
    ways = (text, text, text.upper(), text.title(), f" {text}")
    return "" if rng.random() < 0.02 else ways[int(rng.integers(0, len(ways)))]


def rows(seed: int = SEED) -> list[list[object]]:
    """Return the table with one row per contact, in the order in which they were written down."""
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for number in range(1, N_CUSTOMERS + 1):
        outcome = str(rng.choice(["stays", "leaves", "upgrades"], p=[0.4, 0.3, 0.3]))
        since = datetime.date(2024, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 700)))
        kinds = ["any"] * int(rng.integers(2, 6))
        kinds += {"leaves": ["long call to support"], "upgrades": ["weekend of reading"], "stays": []}[outcome]
        for start, channel, pages, minutes in (contact(kind, rng) for kind in kinds):
            table.append(
                [
                    10_000 + int(rng.integers(0, 90_000)),
                    f"K-{number:04}",
                    outcome,
                    start.strftime("%Y-%m-%d %H:%M"),
                    since.strftime("%d.%m.%Y"),
                    spelled(channel, rng),
                    f"agent {int(rng.integers(1, 60))}",
                    "n/a" if rng.random() < 0.03 else pages,
                    "" if rng.random() < 0.03 else minutes,
                    "Norway",
                    "",
                    COMMENTS[int(rng.integers(0, len(COMMENTS)))] + f" ({int(rng.integers(1, 1000))})",
                ]
            )
    return [table[place] for place in rng.permutation(len(table))]


def later_rows(seed: int = SEED + 1) -> list[list[object]]:
    """Return a later table of other customers, in its own order of columns; their outcomes are unknown."""
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for row in rows(seed):
        known = dict(zip(COLUMNS, row, strict=True))
        number = int(str(known["customer"]).removeprefix("K-"))
        if number > N_LATER:
            continue
        known |= {"customer": f"K-{1000 + number}", "campaign": str(rng.choice(["spring", "none"]))}
        if rng.random() < 0.1:
            known["channel"] = "Fax"
        table.append([known[name] for name in LATER_COLUMNS])
    return table


def main() -> None:
    """Write the tables next to this file."""
    tables = {"customers.csv": (COLUMNS, rows()), "customers_later.csv": (LATER_COLUMNS, later_rows())}
    for name, (columns, table) in tables.items():
        with Path(__file__).with_name(name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([columns, *table])
        print(f"Wrote {name}: {len(table)} contacts.")


if __name__ == "__main__":
    main()
