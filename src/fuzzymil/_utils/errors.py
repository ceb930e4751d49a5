"""Exceptions raised by the library, and helpers to word their messages."""

from __future__ import annotations

import difflib
import os
import re
import reprlib
import sys
import warnings
from collections.abc import Collection, Iterable


def shortened(message: str) -> str:
    """Return a message without the middle of what is very long: a file may have anything in the place of a name."""
    message = re.sub(r"\S{201,}", lambda found: f"{found[0][:150]}...", message)
    return message if len(message) <= 2000 else f"{message[:1500]} ... {message[-300:]}"


class _ShortError(ValueError):
    """An error whose message stays readable whatever it repeats."""

    def __str__(self) -> str:
        return shortened(super().__str__())


class InputError(_ShortError):
    """Invalid data. The message names the bag, row or feature and explains how to fix it."""


class PlaceError(InputError):
    """What is wrong in one row of a table; readers of files add the name of the file.

    ``place``: such as "line 7, column 'width'". ``row``: counted from 0.
    """

    def __init__(self, problem: str, place: str, row: int) -> None:
        super().__init__(problem, place, row)
        self.problem, self.place, self.row = problem, place, row

    def __str__(self) -> str:
        return f"{self.place[0].upper()}{self.place[1:]}: {self.problem}"


class TwoLabelsError(PlaceError):
    """The rows of a bag have different labels."""


class InputTypeError(InputError, TypeError):
    """Data of an unsupported type, such as text, complex numbers or sparse matrices."""


class MissingExtraError(InputError, ImportError):
    """An optional dependency is not installed. The message names the extra to install."""


class ParameterError(_ShortError):
    """A parameter that is out of range or has an unknown value."""


class RuleSyntaxError(ParameterError):
    r"""Rule text with mistakes. The message shows the place of each, what was expected there and how to write it.

    Attributes
    ----------
    mistakes : tuple of (int, int, str)
        The line and the character, counted from 1, and the reason, for programs that show them in an editor. Empty if
        the mistake has no place, as in an empty text.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> try:
    ...     RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)\nIF x is lwo THEN y = 1 WEIGHT 0.5")
    ... except RuleSyntaxError as error:
    ...     [(line, character) for line, character, reason in error.mistakes]
    [(2, 9), (2, 24)]
    """

    def __init__(self, message: str, mistakes: Iterable[tuple[int, int, str]] = ()) -> None:
        super().__init__(message)
        self.mistakes = tuple(mistakes)

    def __str__(self) -> str:
        return ValueError.__str__(self)  # each of its mistakes is short, and none may be missing


class ModelFileError(_ShortError):
    """A file that is not a fuzzymil model, is damaged, or was written by a newer version."""


class RescuedError(OSError):
    """A result that could not be written to its file. It was kept in another one: ``rescued``."""

    def __init__(self, path: str | os.PathLike[str], problem: OSError, rescued: str | os.PathLike[str]) -> None:
        super().__init__(problem.errno, problem.strerror, os.fspath(path))
        self.rescued = rescued

    def __str__(self) -> str:
        return f"Could not write to {self.filename}: {self.strerror}. The result is in {os.fspath(self.rescued)}."


for _public in (InputError, InputTypeError, MissingExtraError, ParameterError, RuleSyntaxError, ModelFileError):
    _public.__module__ = "fuzzymil"  # where users import them from, and what tracebacks show
RescuedError.__module__ = "fuzzymil"


class InterruptedTrainingWarning(UserWarning):
    """Ctrl-C ended training early; the model keeps what it has learned."""


class EvidenceWarning(UserWarning):
    """Held-out bags hardly support what was learned."""


class LeakWarning(UserWarning):
    """A feature alone gives the label away: it may have been made from it."""


class UnusedColumnsWarning(UserWarning):
    """Columns of a table were not used; the message says which, why, and what to say to use them."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'product'?"``, or an empty string if no name is similar."""
    word, names = str(word), list(known)[:1000]  # comparing is slow, and this is only a hint
    if len(word) > 100:
        return ""
    folded = {name.casefold(): name for name in names if len(name) <= 100}
    near = difflib.get_close_matches(word.casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def listed(names: Iterable[object]) -> str:
    """Join names with commas; long lists and long names are shortened."""
    every = list(names)
    more = f" and {len(every) - 12} more" if len(every) > 12 else ""
    return ", ".join(f"{name!s:.60}" for name in every[:12]) + more


def described(value: object) -> str:
    """Describe a value in a message: its repr if it is simple, otherwise its type."""
    short = value is None or isinstance(value, str | bytes | int | float)
    return reprlib.repr(value) if short else f"an object of type {type(value).__name__}"


def known_name(what: str, name: object, known: Collection[str], where: str = "") -> None:
    """Raise `ParameterError` unless ``name`` is known; the message lists the known names and the most similar one."""
    if not (isinstance(name, str) and name in known):
        place = f" {where}" if where else ""
        hint = did_you_mean(name, known)
        raise ParameterError(f"Unknown {what} {name!r:.200}{place}; choose from {listed(known)}.{hint}")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the user's line that called into this library."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "fuzzymil":
        level, frame = level + 1, frame.f_back
    warnings.warn(shortened(message), category, stacklevel=level)
