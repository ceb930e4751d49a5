"""File formats for bags, one module each; every module of this folder registers what it reads in `FORMATS`."""

from fuzzymil._utils.registry import import_modules
from fuzzymil.datasets.formats._format import (
    BAG_NAMES,
    FORMATS,
    INSTANCE_LABEL,
    Format,
    NoBagColumnError,
    parse_labels,
)
from fuzzymil.datasets.formats.files import DataFile, DataFileError, MissingFileError

__all__ = [
    "BAG_NAMES",
    "FORMATS",
    "INSTANCE_LABEL",
    "DataFile",
    "DataFileError",
    "Format",
    "MissingFileError",
    "NoBagColumnError",
    "parse_labels",
]

import_modules(__name__)
