"""The errors that are raised on purpose; those of bad input are `ValueError`s that say what to do next."""

from __future__ import annotations

import difflib
import reprlib
import sys
import warnings
from collections.abc import Collection, Iterable

__all__ = [
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "ModelFileError",
    "ParameterError",
    "ProcessLostError",
    "RuleSyntaxError",
    "described",
    "did_you_mean",
    "known_name",
    "listed",
    "warn_user",
]


class InputError(ValueError):
    """Data that cannot be used: the message names the bag, row or feature and the way out."""


class InputTypeError(InputError, TypeError):
    """Data of a kind that cannot be used (text, complex numbers, sparse matrices)."""


class MissingExtraError(InputError, ImportError):
    """Something that needs a package which is not installed: the message names the extra that brings it."""


class ParameterError(ValueError):
    """A setting outside its range or unknown by name."""


class ProcessLostError(RuntimeError):
    """Another process of a distributed training is gone."""

    exit_status = 75  # tells the parent that another process is to blame


class RuleSyntaxError(ParameterError):
    """Rule text that cannot be read: the message shows the line, a caret under the character, what was expected."""


class ModelFileError(ValueError):
    """A file that is no model of this library, is damaged, or comes from a newer version."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'product'?"``, or nothing when no name is near.

    Examples
    --------
    >>> did_you_mean("prodct", ["product", "min"])
    " Did you mean 'product'?"
    """
    word, names = str(word), list(known)[:1000]  # comparing takes time, and this is but a hint
    if len(word) > 100:
        return ""
    folded = {name.casefold(): name for name in names if len(name) <= 100}
    near = difflib.get_close_matches(word.casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def listed(names: Iterable[object]) -> str:
    """Return names with commas between them, the first dozen of many and the beginning of long ones.

    Examples
    --------
    >>> listed("abc"), listed(range(15))
    ('a, b, c', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more')
    """
    every = list(names)
    return ", ".join(f"{name!s:.60}" for name in every[:12]) + (
        f" and {len(every) - 12} more" if len(every) > 12 else ""
    )


def described(value: object) -> str:
    """Name a value in a message: a short one as it is, anything else by its type.

    Examples
    --------
    >>> described("a word"), described({1, 2})
    ("'a word'", 'an object of type set')
    """
    short = value is None or isinstance(value, str | bytes | int | float)
    return reprlib.repr(value) if short else f"an object of type {type(value).__name__}"


def known_name(what: str, name: object, known: Collection[str]) -> None:
    """Raise `ParameterError`, with the names there are and the nearest one, unless ``name`` is known."""
    if not (isinstance(name, str) and name in known):
        raise ParameterError(f"Unknown {what}: {name!r}; known are {listed(known)}.{did_you_mean(name, known)}")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this library that led here, however deep that is."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "fuzzymil":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
