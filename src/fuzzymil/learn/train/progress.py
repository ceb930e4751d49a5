"""Progress of training: what callbacks receive, and progress bars."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil.inference.layers import Params

Update = Callable[..., None]
"""Takes the steps that are done, their total and, optionally, what is going on."""

_PAUSE = 0.1  # seconds between two updates of a notebook


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
    >>> from fuzzymil import Training
    >>> Training(callbacks=[lambda progress: progress.loss.min() < 0.1]).max_epochs
    150
    """

    epoch: int
    max_epochs: int
    loss: Array
    rmse: Array
    change: Array
    validation_loss: Array | None
    params: Callable[[], list[Params]]
    fraction: float = 0.0


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook, which shows HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextlib.contextmanager
def progress_bar(title: str, *, stage: str = "", transient: bool = False) -> Iterator[Update]:
    """Show a progress bar in a notebook or else on standard error; provide the function that updates it.

    ``stage``: what is going on at first. ``transient``: whether the bar disappears from a terminal when it is done.
    """
    with _notebook_bar(title, stage) if in_notebook() else _terminal_bar(title, stage, transient) as update:
        yield update


@contextlib.contextmanager
def counting_bar(title: str, *, enabled: bool) -> Iterator[Update]:
    """Show a transient bar if that is ``enabled``; provide the function that updates it in any case."""
    if not enabled:
        yield lambda done, total, stage="": None
        return
    with progress_bar(title, transient=True) as update:
        yield update


@contextlib.contextmanager
def _terminal_bar(title: str, stage: str, transient: bool) -> Iterator[Update]:
    # Imported here, so that only those who ask for a bar wait for rich to load.
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn(title, markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[stage]}", markup=False),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=None, stage=stage)

        def update(done: float, total: float, stage: str = "") -> None:
            bar.update(task, completed=done, total=total, stage=stage)

        yield update


@contextlib.contextmanager
def _notebook_bar(title: str, stage: str) -> Iterator[Update]:
    import IPython.display

    tools: Any = IPython.display
    began = drawn = time.monotonic()

    def line(*parts: Any) -> Any:
        return tools.HTML(str(html.element("div", html.element("b", title), " ", *parts)))

    place = tools.display(line(html.element("progress"), f" {stage}"), display_id=True)

    def update(done: float, total: float, stage: str = "") -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= _PAUSE or done >= total:
            drawn = now
            words = [f"{done:.4g} of {total:.4g}", f"{now - began:.1f} s", *([stage] if stage else [])]
            place.update(line(html.element("progress", value=f"{done:.6g}", max=f"{total:.6g}"), " ", ", ".join(words)))

    end = "stopped after"
    try:
        yield update
        end = "done in"
    finally:
        place.update(line(f"{end} {time.monotonic() - began:.1f} s"))
