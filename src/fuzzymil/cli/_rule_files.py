"""Answers of rules in a file, such as a fuzzy system of another program, which were not fitted to any data."""

from __future__ import annotations

import collections
import csv
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import InputError, did_you_mean, listed
from fuzzymil.cli._console import local_copy, note
from fuzzymil.cli._inputs import check_apart, read_both, read_data, read_parts
from fuzzymil.cli._models import Columns, holds_rules, read_all_rules, read_model

if TYPE_CHECKING:
    from fuzzymil.bags import Bags
    from fuzzymil.bags.series import NumberFormat
    from fuzzymil.rules import RuleBase

_TABLES = (".csv", ".tsv", ".txt", ".data")


def read_answering(
    model: Path,
    data: Path | None,
    columns: Columns,
    format: str | None = None,
    *,
    labels: bool = False,
    to_answer: bool = False,
) -> tuple[Any, str, Bags | None]:
    """Return a model, and the name of the data and its bags, if there is any.

    A file of rules becomes a model that answers with their outputs. Other parameters are those of `read_both`.
    """
    if not holds_rules(model):
        if data is None:
            return read_model(model)[0], "", None
        fitted, source, bags = read_both(model, data, columns, format, labels=labels, to_answer=to_answer)
        return fitted, source.name, bags
    rules = read_all_rules(model)[0]
    if data is None:
        return _expert(rules), "", None
    check_apart(model, data)
    return _expert(rules), str(data), RuleFile(rules).read(data, columns, format)[1]


def _expert(rules: RuleBase) -> Any:
    """Return rules as a fitted model that predicts their outputs."""
    import numpy as np

    from fuzzymil.bags import Bags
    from fuzzymil.estimators import MIMamdani, MISugeno

    kind = MIMamdani if rules.concludes_sets else MISugeno
    names = list(rules.feature_names)
    return kind(rules=rules, threshold=None, missing="ignore").fit(
        Bags.from_long(np.zeros((1, len(names))), [0], feature_names=names)
    )


class RuleFile:
    """Rules as a model: the features that they need."""

    def __init__(self, rules: RuleBase) -> None:
        self.rules = rules
        self.feature_names_in_ = rules.feature_names

    def read(self, data: Path, columns: Columns, format: str | None) -> tuple[str, Bags]:
        """Return what a row of the answers is about, and the bags with the features of the rules.

        In a table without a column of bags, every row is a bag of its own.
        """
        from fuzzymil.bags.series import NumberFormat
        from fuzzymil.rules.activations import matched

        needed = self.feature_names_in_
        if _is_table(data, format):
            with local_copy(data) as file:
                names, rows = _read_rows(file, columns.encoding)
                bag = _bag_column(file, columns, names, needed)
                if bag is None:
                    rows_of = _rows_as_bags(file, names, rows, needed, NumberFormat(**columns.notation()))
                    return "row", self._noted("row", rows_of)
            # Features that the table does not have may be made of its dates.
            only = tuple(needed) if {*needed} <= {*names} else columns.only
            columns = dataclasses.replace(columns, bag=bag, only=only)
        found = read_data(data, columns, format).bags
        return "bag", self._noted("bag", matched(self.rules, found))

    def tables(self, data: Path, columns: Columns, format: str | None) -> Iterator[dict[str, list[Any]]]:
        """Yield tables: a column of bags, or of rows if the data has no bags, and one per output."""
        if _is_table(data, format):
            yield self._table(*self.read(data, columns, format))
            return
        from fuzzymil.rules.activations import matched

        found: collections.Counter[str] = collections.Counter()
        for bags in read_parts(data, columns, format, remembered=Columns(), model=self):
            found.update(self._gaps(matched(self.rules, bags)))
            yield self._table("bag", bags)
        _note_gaps("bag", found)

    def _noted(self, title: str, bags: Bags) -> Bags:
        _note_gaps(title, self._gaps(bags))
        return bags

    def _gaps(self, bags: Bags) -> dict[str, int]:
        """Return in how many bags a feature of conditions is missing, where the rules do not say what that means."""
        import numpy as np

        from fuzzymil.inference.membership import Missing

        found = {}
        asked = {condition.variable for rule in self.rules.rules for condition in rule.conditions}
        for place, variable in enumerate(self.rules.variables):
            stated = variable.missing_values or any(isinstance(term, Missing) for term in variable.terms.values())
            if variable.name in asked and not stated:
                values = bags.select_features([place]).instances[:, 0]
                found[variable.name] = int(np.logical_or.reduceat(np.isnan(values), bags.offsets[:-1]).sum())
        return {name: count for name, count in found.items() if count}

    def _table(self, title: str, bags: Bags) -> dict[str, list[Any]]:
        import numpy as np

        found = self.rules.infer(bags)
        names = list(self.rules.output_names)
        uncovered = np.asarray(found.uncovered).reshape(len(found.output), -1).any(axis=1)
        if uncovered.any():
            note(f"{int(uncovered.sum())} of {bags.n_bags} have an output that no rule concludes: its default.")
        return {title: bags.ids.tolist(), **{name: found.output[:, k].tolist() for k, name in enumerate(names)}}


def _note_gaps(title: str, found: Mapping[str, int]) -> None:
    """Say that missing values count as true, and what to do about it."""
    if not found:
        return
    counted = listed(f"{name} in {count:,} {title}{'' if count == 1 else 's'}" for name, count in found.items())
    from fuzzymil.rules.language.printer import quoted

    note(
        f"Values are missing: {counted}. A missing value satisfies every condition on it. To change that, say in the "
        f"rules what it stands for (VARIABLE {quoted(next(iter(found)))} MISSING AS 5: ...), or fill it in."
    )


def _is_table(data: Path, format: str | None) -> bool:
    return format is None and data.suffix.lower() in _TABLES


def _read_rows(file: Path, encoding: str | None) -> tuple[list[str], list[dict[str, str]]]:
    """Return the names of the columns, and the rows."""
    with open(file, newline="", encoding=encoding or "utf-8-sig") as text:
        head = text.readline()
        text.seek(0)
        sign = max((",", ";", "\t"), key=head.count)
        reader = csv.DictReader(text, delimiter=sign, restval="")
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        return names, list(reader)


def _bag_column(file: Path, columns: Columns, names: list[str], needed: tuple[str, ...]) -> str | None:
    """Return the column of bags, if there is one."""
    bag = names[columns.bag] if isinstance(columns.bag, int) else columns.bag
    if bag is None and "bag" in names and "bag" not in needed:
        return "bag"
    if bag is not None and bag not in names:
        raise InputError(f"{file} has no column {bag!r}; it has {listed(names)}.{did_you_mean(bag, names)}")
    return bag


def _rows_as_bags(
    file: Path, names: list[str], rows: list[dict[str, str]], needed: tuple[str, ...], number_format: NumberFormat
) -> Bags:
    from fuzzymil.bags import Bags

    for name in needed:
        if name not in names:
            raise InputError(
                f"{file} has no column {name!r}, which the rules need. They need {listed(needed)}; the file has "
                f"{listed(names)}.{did_you_mean(name, names)}"
            )
    if not rows:
        raise InputError(f"{file} has no rows.")
    x = [
        [_number(row[name], name, number, number_format) for name in needed] for number, row in enumerate(rows, start=1)
    ]
    return Bags.from_long(x, list(range(1, len(rows) + 1)), feature_names=list(needed))


def _number(text: str, column: str, row: int, number_format: NumberFormat) -> float:
    if not text.strip():
        return float("nan")
    found = number_format.parse(text)
    if found is None:
        advice = number_format.advice(text, [text])
        more = f"; {advice}" if advice else ""
        raise InputError(f"Row {row}, column {column!r}: expected a number, found {text!r:.60}{more}.")
    return found
