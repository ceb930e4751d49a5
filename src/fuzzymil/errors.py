"""The errors that bad input raises; every one is a `ValueError` that says what to do next."""

from __future__ import annotations

import difflib
import reprlib
import sys
import warnings
from collections.abc import Iterable

__all__ = [
    "InputError",
    "InputTypeError",
    "ModelFileError",
    "ParameterError",
    "described",
    "did_you_mean",
    "known_name",
    "warn_user",
]


class InputError(ValueError):
    """Data that cannot be used: the message names the bag, row or feature and the way out."""


class InputTypeError(InputError, TypeError):
    """Data of a kind that cannot be used (text, complex numbers, sparse matrices)."""


class ParameterError(ValueError):
    """A setting outside its range or unknown by name."""


class ModelFileError(ValueError):
    """A file that is no model of this library, is damaged, or comes from a newer version."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'product'?"``, or nothing when no name is near.

    Examples
    --------
    >>> did_you_mean("prodct", ["product", "min"])
    " Did you mean 'product'?"
    """
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def described(value: object) -> str:
    """Name a value in a message: a short one as it is, anything else by its type.

    Examples
    --------
    >>> described("a word"), described({1, 2})
    ("'a word'", 'an object of type set')
    """
    short = value is None or isinstance(value, str | bytes | int | float)
    return reprlib.repr(value) if short else f"an object of type {type(value).__name__}"


def known_name(what: str, name: object, known: Iterable[str]) -> None:
    """Raise `ParameterError`, with the names there are and the nearest one, unless ``name`` is known."""
    known = list(known)
    if name not in known:
        raise ParameterError(f"Unknown {what}: {name!r}; known are {', '.join(known)}.{did_you_mean(name, known)}")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this library that led here, however deep that is."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "fuzzymil":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
