"""Progress of training: what callbacks receive, and progress bars."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.progress import Update, shown_bar
from fuzzymil.inference.layers import Params

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
        Returns the current parameters, one `fuzzymil.inference.layers.Params` per fit.
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
    """Show a training progress bar; provide the function that updates it."""
    with shown_bar(title, stage="compiling") as update:

        def report(now: Progress) -> None:
            update(now.epoch + now.fraction, now.max_epochs, f"loss {np.nanmin(now.loss):.4g}")

        yield report


@contextlib.contextmanager
def counting_bar(title: str, *, enabled: bool) -> Iterator[Update]:
    """Show a bar that counts steps and says what is going on; provide the function that updates it."""
    if not enabled:
        yield lambda done, total, stage="": None
        return
    with shown_bar(title, transient=True) as update:
        yield update
