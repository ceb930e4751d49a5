"""Which columns of a table may be the bag and the label, where nobody said and no name tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fuzzymil.bags.series import is_number
from fuzzymil.datasets.formats import DataFile, parquet
from fuzzymil.datasets.formats.csv import text_columns

_MOST_CLASSES = 20
_LARGEST = 50_000_000  # bytes of a file; with larger ones users should not wait for an error


def proposal(file: DataFile, bag: object = None, label: object = None) -> str:
    """Return advice such as ``" Column 'user' may be the bag..."``; empty if nothing in the table suggests itself."""
    path = file.members[0] if file.is_folder else file.path
    if path.stat().st_size > _LARGEST:
        return ""
    first = DataFile(path, file.encoding)
    table: Mapping[str, Any] = parquet.columns_of(first) if first.start.startswith(b"PAR1") else text_columns(first)[0]
    found = likely_roles({name: list(map(str, values)) for name, values in table.items()}, bag, label)
    if found is None:
        return ""
    owner, target = found
    n_values, n_rows = len(set(table[owner])), len(table[owner])
    if bag is not None:
        return f" Column {target!r} may be it: it is the same in all rows of a bag. Try label={target!r}."
    return (
        f" Column {owner!r} may be the bag: it has {n_values:,} values in {n_rows:,} rows, and in each of them "
        f"{target!r} is always the same. Try bag={owner!r} label={target!r}."
    )


def likely_roles(
    table: Mapping[str, Sequence[str]], bag: object = None, label: object = None
) -> tuple[str, str] | None:
    """Return the columns that may be the bag and the label: a label is the same in all rows of a bag.

    Of several, the bag is the column with most values, and the label the one with fewest, at least two.

    Examples
    --------
    >>> likely_roles({"user": ["u1", "u1", "u2", "u2"], "buys": ["1", "1", "0", "0"], "pages": ["3", "4", "5", "3"]})
    ('user', 'buys')
    """
    codes = {name: np.unique(np.array(values), return_inverse=True)[1] for name, values in table.items()}
    counts = {name: int(each.max(initial=-1)) + 1 for name, each in codes.items()}

    def is_constant(name: str, owner: str) -> bool:
        return len(np.unique(codes[owner] * counts[name] + codes[name])) == counts[owner]

    n_rows = len(next(iter(codes.values()), ()))
    owners = [name for name in table if 2 <= counts[name] <= n_rows / 2 and not _has_fractions(table[name])]
    for owner in sorted(owners if bag is None else [str(bag)], key=lambda name: -counts[name]):
        others = [name for name in table if name != owner]
        fixed = [name for name in others if is_constant(name, owner) and 2 <= counts[name] <= _MOST_CLASSES]
        if label is not None:
            fixed = [name for name in fixed if name == label]
        if len(fixed) < len(others) and fixed:
            return owner, min(fixed, key=lambda name: counts[name])
    return None


def _has_fractions(values: Sequence[str]) -> bool:
    return any("." in value and is_number(value) for value in values[:100])
