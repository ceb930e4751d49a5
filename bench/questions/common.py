"""Shared by the questions: the size of a run, and table rows from a race."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from racing import Contestant, Times
from tables import Row

T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """A quick or a full run, and where to report progress."""

    quick: bool
    say: Callable[[str], None]

    def pick(self, quick: T, full: T) -> T:
        return quick if self.quick else full


def present(times: dict[tuple[str, str], Times], contestant: Contestant, task: str) -> Times:
    """Return the times of a contestant, which must exist because ratios refer to it."""
    found = times.get((contestant.name, task)) or times[contestant.name, ""]
    if not found.values:
        raise RuntimeError(f"{contestant.name} could not be measured: {found.absent}")
    return found


def beside(
    times: dict[tuple[str, str], Times],
    ours: Contestant,
    others: Iterable[Contestant],
    task: str,
    bar: Callable[[str], str],
    named: str = "{}",
) -> list[Row]:
    """Return a row for ours and one for each of the others, with the ratio of median times."""
    own = present(times, ours, task)
    rows = [Row(named.format(ours.name), own.median, note=ours.note, samples=own.values)]
    for other in others:
        found = times.get((other.name, task)) or times[other.name, ""]
        if not found.values:
            rows.append(Row(named.format(other.name), note=found.absent))
        else:
            ratio = found.median / own.median
            note, values = other.note, found.values
            rows.append(Row(named.format(other.name), found.median, "s", ratio, bar(other.name), note, samples=values))
    return rows
