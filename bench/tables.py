"""Measurements as table rows, each with the target it has to reach, for the terminal and for the summary."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from rich.table import Table

HEADINGS = ("", "measured", "figure", "target", "", "what was run")


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table; the bar (target), such as ">= 20", applies to ``figure``, a ratio or an exponent."""

    what: str
    value: float | None = None
    unit: str = "s"
    figure: float | None = None
    bar: str = ""
    note: str = ""
    series: str = ""  # rows of one series are points of a curve ...
    at: float | None = None  # ... at these places
    samples: tuple[float, ...] = ()

    @property
    def verdict(self) -> str:
        if not self.bar or self.figure is None:
            return ""
        sign, limit = self.bar.split()
        good = self.figure >= float(limit) if sign == ">=" else self.figure <= float(limit)
        return "reached" if good else "missed"

    def cells(self) -> tuple[str, ...]:
        bar = self.bar.replace(">=", "≥").replace("<=", "≤")
        figure = "" if self.figure is None else f"{self.figure:{',.0f' if self.figure >= 100 else '.3g'}}"
        return self.what, quantity(self.value, self.unit), figure, bar, self.verdict, self.note


def from_dict(entry: dict[str, Any]) -> Row:
    """Return the row that `dataclasses.asdict` turned into a dict."""
    return Row(**entry | {"samples": tuple(entry.get("samples", ()))})


def quantity(value: float | None, unit: str) -> str:
    """Return a number with the unit that reads best.

    Examples
    --------
    >>> quantity(0.00123, "s"), quantity(3.2e8, "B"), quantity(0.98, ""), quantity(None, "s")
    ('1.23 ms', '320 MB', '0.98', '')
    """
    if value is None:
        return ""
    steps = {"s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")), "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))}
    for size, name in steps.get(unit, ()):
        if abs(value) >= size or (size, name) == steps[unit][-1]:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} {unit}".rstrip()


def exponent(sizes: list[float], seconds: list[float], decades: float = 2.0) -> float:
    """Return the exponent of growth: the slope of a line through the upper decades, in logarithms.

    Examples
    --------
    >>> round(exponent([1, 10, 100, 1000], [50.0, 1.0, 10.0, 100.0]), 2)
    1.0
    """
    upper = np.asarray(sizes) >= max(sizes) / 10**decades * (1 - 1e-9)
    logs = np.log(np.asarray(sizes, float)[upper]), np.log(np.asarray(seconds)[upper])
    return float(np.polyfit(*logs, 1)[0])


def table(title: str, rows: list[Row]) -> Table:
    """Return the table for the terminal, without empty columns."""
    shown = Table(title=title, title_justify="left", title_style="bold")
    cells = [row.cells() for row in rows]
    used = [place for place in range(len(HEADINGS)) if place == 0 or any(line[place] for line in cells)]
    for place in used:
        shown.add_column(HEADINGS[place], justify="right" if place in (1, 2) else "left", overflow="fold")
    colors = {"reached": "[green]reached[/]", "missed": "[red]missed[/]"}
    for line in cells:
        shown.add_row(*(colors.get(line[place], line[place]) for place in used))
    return shown


def markdown(rows: list[Row]) -> str:
    """Return the table for the summary."""
    cells = [row.cells() for row in rows]
    used = [place for place in range(len(HEADINGS)) if place == 0 or any(line[place] for line in cells)]
    lines = [[HEADINGS[place] for place in used], ["---:" if place in (1, 2) else "---" for place in used]]
    lines += [[line[place].replace("|", "\\|") for place in used] for line in cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def bars(sections: dict[str, list[Row]]) -> tuple[list[Row], list[Row]]:
    """Return the rows that reach their target and those that miss it."""
    judged = [row for rows in sections.values() for row in rows if row.verdict]
    return [row for row in judged if row.verdict == "reached"], [row for row in judged if row.verdict == "missed"]
