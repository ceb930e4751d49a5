"""Data frames of other libraries, which are imported only where a user asks for one."""

from __future__ import annotations

from typing import Any

from fuzzymil._utils.errors import MissingExtraError, ParameterError

__all__ = ["frame_class"]


def frame_class(library: str) -> Any:
    """Return the data frames of a library, "pandas" or "polars"; an error names the one that is not installed.

    Examples
    --------
    >>> frame_class("pandas").__name__
    'DataFrame'
    """
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library must be 'pandas' or 'polars', got {library!r}.")
    try:
        if library == "pandas":
            from pandas import DataFrame
        else:
            from polars import DataFrame
    except ImportError:
        raise MissingExtraError(f"{library} is not installed: pip install {library}.") from None
    return DataFrame
