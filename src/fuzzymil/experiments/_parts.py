"""Finished units of work on disk, so that an interrupted run can resume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._utils.own_files import make_own_folder
from fuzzymil._version import __version__
from fuzzymil.experiments._experiment import Results, Unit

KIND, VERSION = "fuzzymil-part", 1


class Parts:
    """Results of units, one file each in ``folder``, named after the unit's settings and the library version."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, unit: Unit) -> Path:
        """Return the path of the file that holds the result of a unit once it is saved."""
        return self.folder / f"{_digest(unit.settings)}.json"

    def find(self, unit: Unit) -> Results | None:
        """Return the saved result, or None if there is no valid one."""
        try:
            document = storage.read_document(self.path(unit), {KIND: VERSION})
        except (FileNotFoundError, ModelFileError):
            return None  # never saved, or damaged: compute it (again)
        result = document.get("result")
        return result if isinstance(result, dict) else None

    def keep(self, unit: Unit, result: Results) -> Results:
        """Save a result, and return it as it will be read: a resumed run must not differ in the last digit."""
        self.folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.folder.parent, self.folder):
            make_own_folder(folder)
        content = {"library": __version__, "unit": unit.label, "settings": dict(unit.settings), "result": result}
        with storage.own_names():
            storage.write_document(self.path(unit), KIND, VERSION, content, precious=False)
        kept: Results = json.loads(json.dumps(result))
        return kept


def _digest(settings: Mapping[str, Any]) -> str:
    text = json.dumps({"library": __version__, "settings": dict(settings)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
