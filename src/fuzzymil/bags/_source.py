"""Where instances come from: their rows in a file or table, and the columns that are no features."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, frozen, is_missing, joined
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import _dates
from fuzzymil.bags.tables import Unused

__all__ = ["Source"]

_LONGEST = 40  # characters of a text that are shown


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the instances of bags come from.

    Attributes
    ----------
    rows : array of int, shape (n_instances,)
        The line of a text file, counted from 1, or the row of a table, counted from 0.
    extra : mapping of str to array of shape (n_instances,)
        Columns that are no features: comments, addresses, dates.
    place : str
        What ``rows`` are: ``"line"`` or ``"row"``.
    unused : tuple of (name, why, option)
        Columns that could not be used as they are.
    label : str
        The column of the labels; empty if it has no name.

    Examples
    --------
    >>> source = Source(np.array([834, 835]), {"comment": np.array(["", "late again"], object)}, "line")
    >>> source.text(1)
    "line 835, comment 'late again'"
    >>> source.facts(1)
    {'line': 835, 'comment': 'late again'}
    """

    rows: Array
    extra: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    place: str = "row"
    unused: tuple[Unused, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen(np.asarray(self.rows, np.int64)))
        object.__setattr__(self, "extra", {name: frozen(values) for name, values in self.extra.items()})
        for name, values in self.extra.items():
            if len(values) != len(self.rows):
                raise InputError(f"Column {name!r} has {len(values)} values for {len(self.rows)} rows.")

    def take(self, places: Array) -> Source:
        """Return the source of some of the instances."""
        extra = {name: values[places] for name, values in self.extra.items()}
        return Source(self.rows[places], extra, self.place, self.unused, self.label)

    @classmethod
    def joined(cls, parts: Sequence[Source | None]) -> Source | None:
        """Return the source of several bags; None unless all are known."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or len({part.place for part in known}) > 1:
            return None
        shared = [name for name in known[0].extra if all(name in part.extra for part in known)]
        extra = {name: joined([part.extra[name] for part in known]) for name in shared}
        rows = np.concatenate([part.rows for part in known])
        label = known[0].label if len({part.label for part in known}) == 1 else ""
        found = {name: values for name, values in extra.items() if values is not None}
        return cls(rows, found, known[0].place, label=label)

    def facts(self, instance: int) -> dict[str, Any]:
        """Return what is known of an instance: its line or row, and the columns that are no features."""
        found: dict[str, Any] = {self.place: int(self.rows[instance])}
        for name, values in self.extra.items():
            value = _plain(values[instance])
            if value is not None and value != "":
                found[name] = value
        return found

    def text(self, instance: int) -> str:
        """Return the same in words, long text cut short."""
        facts = self.facts(instance)
        shown = [f"{self.place} {facts.pop(self.place)}"]
        dates = [name for name in facts if self.extra[name].dtype.kind == "M"]
        for name, value in sorted(facts.items(), key=lambda fact: fact[0] not in dates):  # dates first
            if name in dates:
                shown.append(str(value) if len(dates) == 1 else f"{name} {value}")
            elif isinstance(value, str):
                line = " ".join(value.split())
                shown.append(f"{name} {(line if len(line) <= _LONGEST else line[: _LONGEST - 3].rstrip() + '...')!r}")
            else:
                shown.append(f"{name} {value:.12g}" if isinstance(value, float) else f"{name} {value}")
        return ", ".join(shown)


def _plain(value: Any) -> Any:
    """Return a value as JSON and people write it; None if it is missing."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else _dates.date_text(float(_dates.days_of(np.array([value]))[0]))
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if isinstance(value, bool | int | float | str) else str(value)
