"""The standard streams, whatever has become of them."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

_STREAMS = ("stdin", "stdout", "stderr")


class OutputError(OSError):
    """Standard output that cannot be written to."""

    @property
    def is_unread(self) -> bool:
        """Whether the reader has gone, as ``head`` does when it has seen enough."""
        return isinstance(self.__cause__, BrokenPipeError)

    def __str__(self) -> str:
        return f"Cannot write to standard output: {self.strerror}."


class _Output(io.FileIO):
    """Standard output or standard error, which accepts and discards everything after it has failed.

    A failure of standard output raises `OutputError` once. One of standard error does not: a message that nobody can
    read must not cost a result.
    """

    failed = False

    def write(self, data: Any) -> int:
        """Write bytes."""
        try:
            return len(data) if self.failed else super().write(data)
        except OSError as problem:
            self.failed = True
            if self.name == 2:
                return len(data)
            raise OutputError(problem.errno, problem.strerror, "standard output") from problem


def open_streams() -> bool:
    """Open the standard streams that were closed, guard the others, and return whether results can be printed.

    Otherwise, the next files to be opened would take the places of the closed ones, and messages of libraries would end
    up in them.
    """
    printing = sys.stdout is not None
    for number, name in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
        old = getattr(sys, name)
        if number > 0 and old is getattr(sys, f"__{name}__") and os.name == "posix":  # nobody else has replaced it
            raw = io.BufferedWriter(_Output(number, "w", closefd=False))
            encoding, errors = (None, None) if old is None else (old.encoding, old.errors)
            now = io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2 or raw.isatty())
            setattr(sys, name, now)
    return printing
