"""Progress of training: what callbacks receive, and progress bars."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil.inference.layers import Params

__all__ = [
    "Update",
    "in_notebook",
    "shown_bar",
    "Progress",
    "counting_bar",
    "progress_bar",
]

# ---------------------------------------------------------------- bars on a terminal and in notebooks

Update = Callable[..., None]
"""Takes the steps that are done, their total and, optionally, what is going on."""

_PAUSE = 0.1  # seconds between two updates of a notebook


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook, which shows HTML.

    Examples
    --------
    >>> in_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextlib.contextmanager
def shown_bar(title: str, *, stage: str = "", transient: bool = False) -> Iterator[Update]:
    """Show a progress bar in a notebook or else on standard error; provide the function that updates it.

    Parameters
    ----------
    title : str
    stage : str
        What is going on at first.
    transient : bool
        Whether the bar disappears from a terminal when it is done. In a notebook, one line stays: the stages, and how
        long each took.
    """
    with _notebook_bar(title, stage) if in_notebook() else _terminal_bar(title, stage, transient) as update:
        yield update


@contextlib.contextmanager
def _terminal_bar(title: str, stage: str, transient: bool) -> Iterator[Update]:
    # Imported here, so that only those who ask for a bar wait for rich to load.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    said = TextColumn("{task.fields[stage]}", markup=False)
    columns = (TextColumn(title, markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), said, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=None, stage=stage)

        def update(done: float, total: float, stage: str = "") -> None:
            bar.update(task, completed=done, total=total, stage=stage)

        yield update


@contextlib.contextmanager
def _notebook_bar(title: str, stage: str) -> Iterator[Update]:
    import IPython.display

    tools: Any = IPython.display
    shown = _Shown(title, stage)
    place = tools.display(tools.HTML(shown.html()), display_id=True)
    finished = False

    def update(done: float, total: float, stage: str = "") -> None:
        if shown.moved(done, total, stage):
            place.update(tools.HTML(shown.html()))

    try:
        yield update
        finished = True
    finally:
        place.update(tools.HTML(shown.summary(finished=finished)))


class _Shown:
    """What a notebook shows of some progress: a bar, the time, and the stages so far."""

    def __init__(self, title: str, stage: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.title, self.clock = title, clock
        self.done, self.total = 0.0, 0.0
        self.began = self.drawn = clock()
        self.stage, self.started = stage, self.began
        self.past: dict[str, float] = {}

    def moved(self, done: float, total: float, stage: str) -> bool:
        """Note a step, and return whether it is time to show it."""
        now = self.clock()
        self.done, self.total = done, total
        changed = _kind(stage) != _kind(self.stage)
        if changed:
            self._close(now)
        self.stage = stage
        if not changed and now - self.drawn < _PAUSE and done < total:
            return False
        self.drawn = now
        return True

    def _close(self, now: float) -> None:
        if self.stage:
            self.past[_kind(self.stage)] = self.past.get(_kind(self.stage), 0.0) + now - self.started
        self.started = now

    def html(self) -> str:
        spent = self.clock() - self.began
        words = [f"{self.done:.4g} of {self.total:.4g}"] if self.total else []
        words.append(_seconds(spent))
        if 0 < self.done < self.total and spent > 1:
            words.append(f"about {_seconds(spent * (self.total - self.done) / self.done)} left")
        words += [self.stage] if self.stage else []
        given = {"value": f"{self.done:.6g}", "max": f"{self.total:.6g}"} if self.total else {}
        bar = html.element("progress", **given)
        return str(html.element("div", html.element("b", self.title), " ", bar, " ", ", ".join(words)))

    def summary(self, *, finished: bool) -> str:
        """Return what stays when the bar is gone."""
        self._close(self.clock())
        spent = _seconds(self.clock() - self.began)
        stages = "; ".join(f"{stage} {_seconds(seconds)}" for stage, seconds in self.past.items() if seconds >= _PAUSE)
        text = f" {'done in' if finished else 'stopped after'} {spent}" + (f" ({stages})" if stages else "")
        return str(html.element("div", html.element("b", self.title), text))


def _kind(stage: str) -> str:
    """Return a stage without what changes in it, a loss or the member that it is about: the stage is the same."""
    stage = stage.partition(" (")[0]
    words = stage.split()
    return " ".join(words[:-1]) if words and _is_number(words[-1]) else stage


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _seconds(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> _seconds(3.21), _seconds(75.0)
    ('3.2 s', '1:15 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


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
