"""Data frames of other libraries, which are imported only where a user asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzymil._utils.errors import MissingExtraError, ParameterError

__all__ = ["data_frame"]


def data_frame(library: str, columns: Mapping[str, Any]) -> Any:
    """Return a data frame of a library, "pandas" or "polars"; an error names the one that is not installed.

    Examples
    --------
    >>> data_frame("pandas", {"width": [1.0, 2.0]})["width"].tolist()
    [1.0, 2.0]
    """
    try:
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if library == "polars":
            import polars as pl

            return pl.DataFrame(columns, nan_to_null=True)
    except ImportError:
        raise MissingExtraError(f"{library} is not installed: pip install {library}.") from None
    raise ParameterError(f"library must be 'pandas' or 'polars', got {library!r}.")
