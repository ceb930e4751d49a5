"""A progress bar for training, on request."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from fuzzymil.training.trainer import Progress

__all__ = ["counting_bar", "progress_bar"]


@contextlib.contextmanager
def progress_bar(title: str, *, enabled: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows on standard error how far training has come, or None when that is not wanted."""
    if not enabled:
        yield None
        return
    # Here and not above: only those who ask for a bar wait for rich to load.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, loss="compiling")

        def report(now: Progress) -> None:
            bar.update(
                task, completed=now.epoch + now.fraction, total=now.max_epochs, loss=f"loss {np.nanmin(now.loss):.4g}"
            )

        yield report


@contextlib.contextmanager
def counting_bar(title: str, *, enabled: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows on standard error how many of all parts are done; it may do nothing."""
    if not enabled:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("parts"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
