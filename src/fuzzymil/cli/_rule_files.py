"""Predictions of rules in a file, such as a fuzzy system of another program, which was not fitted to any data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import InputError, did_you_mean, listed
from fuzzymil.cli._console import local_copy, note
from fuzzymil.cli._inputs import read_parts
from fuzzymil.cli._models import Columns

if TYPE_CHECKING:
    from fuzzymil.bags import Bags
    from fuzzymil.rules import MamdaniRules, RuleBase

_TABLES = (".csv", ".tsv", ".txt", ".data")


class RuleFile:
    """Rules as a model: the features that they need."""

    def __init__(self, rules: RuleBase | MamdaniRules) -> None:
        self.rules = rules
        self.feature_names_in_ = rules.feature_names

    def tables(self, data: Path, columns: Columns, format: str | None) -> Iterator[dict[str, list[Any]]]:
        """Yield tables: a column of bags, or of rows if the data has no bags, and one per output."""
        if format is None and data.suffix.lower() in _TABLES:
            with local_copy(data) as file:
                yield self._table(*_read_table(file, columns, self.feature_names_in_))
            return
        for bags in read_parts(data, columns, format, remembered=Columns(), model=self):
            yield self._table("bag", bags)

    def _table(self, title: str, bags: Bags) -> dict[str, list[Any]]:
        import numpy as np

        found = self.rules.infer(bags)
        names = [str(getattr(output, "name", output)) for output in self.rules.outputs]
        uncovered = np.asarray(found.uncovered).reshape(len(found.output), -1).any(axis=1)
        if uncovered.any():
            note(f"{int(uncovered.sum())} of {bags.n_bags} have an output that no rule concludes: its default.")
        return {title: bags.ids.tolist(), **{name: found.output[:, k].tolist() for k, name in enumerate(names)}}


def _read_table(file: Path, columns: Columns, known: tuple[str, ...]) -> tuple[str, Bags]:
    """Return bags of the columns that rules need; without a column of bags, every row is a bag of its own."""
    from fuzzymil.bags import Bags

    with open(file, newline="", encoding="utf-8-sig") as text:
        head = text.readline()
        text.seek(0)
        sign = max((",", ";", "\t"), key=head.count)
        reader = csv.DictReader(text, delimiter=sign, restval="")
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        rows = list(reader)
    for name in known:
        if name not in names:
            raise InputError(
                f"{file} has no column {name!r}, which the rules need. They need {listed(known)}; the file has "
                f"{listed(names)}.{did_you_mean(name, names)}"
            )
    if not rows:
        raise InputError(f"{file} has no rows.")
    bag = names[columns.bag] if isinstance(columns.bag, int) else columns.bag
    if bag is None and "bag" in names and "bag" not in known:
        bag = "bag"
    if bag is not None and bag not in names:
        raise InputError(f"{file} has no column {bag!r}; it has {listed(names)}.{did_you_mean(bag, names)}")
    x = [[_number(row[name], name, number) for name in known] for number, row in enumerate(rows, start=1)]
    ids = [row[bag] for row in rows] if bag is not None else list(range(1, len(rows) + 1))
    return ("row" if bag is None else "bag"), Bags.from_long(x, ids, feature_names=list(known))


def _number(text: str, column: str, row: int) -> float:
    try:
        return float(text) if text.strip() else float("nan")
    except ValueError:
        raise InputError(f"Row {row}, column {column!r}: expected a number, found {text!r:.60}.") from None
