"""Progress of training: what callbacks receive, and progress bars."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.network.layers import Params

__all__ = ["Progress", "counting_bar", "progress_bar"]


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a callback receives after each epoch; a callback that returns True stops training.

    Attributes
    ----------
    epoch : int
        Number of epochs trained.
    max_epochs : int
    loss, rmse : array of shape (n_fits,)
        Mean training loss and root mean squared error during the epoch.
    change : array of shape (n_fits,)
        The largest change of a free parameter.
    validation_loss : array of shape (n_fits,) or None
    params : callable
        Returns the current parameters, one `fuzzymil.network.layers.Params` per fit.
    fraction : float
        Fraction of the next epoch that is done, where epochs take long.

    Examples
    --------
    >>> def stop_when_good(progress):
    ...     return bool(progress.loss.min() < 0.1)
    >>> loss = np.array([0.3, 0.05])
    >>> stop_when_good(
    ...     Progress(
    ...         epoch=3, max_epochs=10, loss=loss, rmse=loss, change=loss, validation_loss=None, params=lambda: []
    ...     )
    ... )
    True
    """

    epoch: int
    max_epochs: int
    loss: Array
    rmse: Array
    change: Array
    validation_loss: Array | None
    params: Callable[[], list[Params]]
    fraction: float = 0.0


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[[Progress], None]]:
    """Show a training progress bar on standard error; provide the function that updates it."""
    with _bar(title, "{task.fields[loss]}", loss="compiling") as update:

        def report(now: Progress) -> None:
            update(completed=now.epoch + now.fraction, total=now.max_epochs, loss=f"loss {np.nanmin(now.loss):.4g}")

        yield report


@contextlib.contextmanager
def counting_bar(title: str, *, enabled: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar that counts parts on standard error; provide the function that updates it."""
    if not enabled:
        yield lambda done, total: None
        return
    with _bar(title, "parts", transient=True) as update:
        yield lambda done, total: update(completed=done, total=total)


@contextlib.contextmanager
def _bar(title: str, note: str, *, transient: bool = False, **fields: Any) -> Iterator[Callable[..., None]]:
    # Imported here, so that only those who ask for a bar wait for rich to load.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(note), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=None, **fields)
        yield lambda **now: bar.update(task, **now)
