"""Finished units of work on disk: a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._version import __version__
from fuzzymil.experiments._study import Results, Unit

__all__ = ["Parts"]

KIND, VERSION = "fuzzymil-part", 1


class Parts:
    """Results of units, one file each, named after the settings and the version of the library.

    Parameters
    ----------
    folder : Path
        Made when the first result is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, unit: Unit) -> Path:
        """Return the file that holds, or will hold, the result of ``unit``."""
        return self.folder / f"{_digest(unit.settings)}.json"

    def find(self, unit: Unit) -> Results | None:
        """Return the kept result, or None when there is none to trust."""
        try:
            document = storage.read_document(self.path(unit), {KIND: VERSION})
        except (FileNotFoundError, ModelFileError):
            return None  # never made, or damaged from outside: make it (again)
        result = document.get("result")
        return result if isinstance(result, dict) else None

    def keep(self, unit: Unit, result: Results) -> Results:
        """Write a result, and return it as it will be read: a resumed run must not differ in the last digit."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"library": __version__, "unit": unit.label, "settings": dict(unit.settings), "result": result}
        storage.write_document(self.path(unit), KIND, VERSION, content)
        kept: Results = json.loads(json.dumps(result))
        return kept


def _digest(settings: Mapping[str, Any]) -> str:
    text = json.dumps({"library": __version__, "settings": dict(settings)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
