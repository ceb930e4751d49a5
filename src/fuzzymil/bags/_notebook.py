"""Bags as HTML for notebooks: how many, their labels, features and first rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.drawings import histogram, histogram_svg
from fuzzymil.bags._packed import Packed
from fuzzymil.bags.columns import Column

_ROWS, _FEATURES, _LABELS = 6, 12, 10


def bags_html(bags: Packed) -> str:
    """Return a summary of bags, and their first rows."""
    columns = list(bags.columns or map(Column, bags.names))
    parts: list[Any] = [html.element("p", html.element("b", repr(bags)))]
    if bags.labels is not None and bags.labels.ndim == 1:
        parts.append(html.line(f"Labels: {_labels(bags.labels)}"))
    rows = [_summary(column, bags.instances[:, d]) for d, column in enumerate(columns[:_FEATURES])]
    heads = ["feature", "values", "least", "median", "greatest", "missing", ""]
    parts.append(html.table("Features", heads, rows, n_words=2))
    if len(columns) > _FEATURES:
        parts.append(html.line(f"{len(columns) - _FEATURES} more features", soft=True))
    parts.append(_first_rows(bags, columns[:_FEATURES]))
    return html.fragment(*parts)


def _labels(labels: Array) -> str:
    counts = Counter(labels.tolist())
    if len(counts) > _LABELS and labels.dtype.kind in "iuf":
        return f"numbers from {labels.min():.4g} to {labels.max():.4g}, mean {labels.mean():.4g}"
    shown = [f"{name} ({count:,} bag{'' if count == 1 else 's'})" for name, count in counts.most_common(_LABELS)]
    return ", ".join(shown) + (f" and {len(counts) - _LABELS} more" if len(counts) > _LABELS else "")


def _summary(column: Column, values: Array) -> list[Any]:
    known = values[~np.isnan(values)]
    missing = f"{len(values) - len(known):,}" if len(known) < len(values) else ""
    if column.categories:
        names = ", ".join(column.categories[:4]) + (", ..." if len(column.categories) > 4 else "")
        n = len(column.categories)
        drawn = histogram_svg(histogram(values, -0.5, n - 0.5, n))
        return [column.name, f"{n} categories: {names}", "", "", "", missing, drawn]
    if not len(known):
        return [column.name, column.kind, "", "", "", missing, ""]
    low, middle, high = (float(value) for value in np.quantile(known, [0, 0.5, 1]))
    shown = [column.shown(value) or f"{value:.4g}" for value in (low, middle, high)]
    unit = f" [{column.unit}]" if column.shown(low) is None and column.unit else ""
    return [column.name, column.kind + unit, *shown, missing, histogram_svg(histogram(values, low, high))]


def _first_rows(bags: Packed, columns: list[Column]) -> Any:
    n = min(_ROWS, bags.n_instances)
    own = bags.bag_index[:n]
    labeled = bags.labels is not None
    rows = []
    for i in range(n):
        cells = [
            "missing" if np.isnan(value) else column.shown(float(value)) or f"{value:.4g}"
            for column, value in zip(columns, bags.instances[i], strict=False)
        ]
        rows.append([str(bags.ids[own[i]]), *([str(bags.labels[own[i]])] if bags.labels is not None else []), *cells])
    heads = ["bag", *(["label"] if labeled else []), *(column.name for column in columns)]
    title = f"The first {n} of {bags.n_instances:,} instances" if bags.n_instances > n else "Instances"
    return html.table(title, heads, rows, n_words=1 + labeled)
