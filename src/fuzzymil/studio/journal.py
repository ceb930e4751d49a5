"""The journal: every change of a session, appended to a file as it happens, so that nothing is lost with the process.

A record is one line of JSON. It is written by one call and synchronized to disk; a line that was cut off by a crash
is dropped when the journal is read, and everything before it stands. Of a text, what differs from the one before is
stored.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil.studio._json import decoded, encoded
from fuzzymil.studio.document import Document
from fuzzymil.studio.history import History

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, two studios of one name take turns at the same file
    fcntl = None  # type: ignore[assignment]

__all__ = ["FOLDER", "Journal"]

FOLDER = ".fuzzymil-studio"
"""The folder of journals, inside the one in which the studio was started."""

_VERSION = 1


class Journal:
    """An append-only file of records, which one process writes.

    Parameters
    ----------
    folder : Path
        Where the studio was started.
    name : str
        Of the rules; a second studio of the same name has a journal of its own.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Journal(Path(folder), "sky") as journal:
    ...         journal.append({"undo": True})
    ...     with Journal(Path(folder), "sky") as journal:
    ...         list(journal.records)
    [{'undo': True}]
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / FOLDER
        self.folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^\w.-]+", "_", name)[:60].strip(".") or "untitled"
        for number in range(1, 100):
            self.path = self.folder / (f"{plain}.journal" if number == 1 else f"{plain}-{number}.journal")
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            if self._locked():
                break
            os.close(self._file)
        self._text = ""
        self.draft: str | None = None
        self.records = list(self._read())

    def _locked(self) -> bool:
        """Return whether no other process writes this file; then, no other can as long as this one lives."""
        if fcntl is None:
            return True
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _read(self) -> Iterator[dict[str, Any]]:
        with open(self.path, "rb") as file:
            content = file.read()
        good = 0
        for line in content.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                record = decoded(line)
            except ValueError:
                break
            if not isinstance(record, dict):
                break
            good += len(line)
            if "journal" not in record:
                yield record
        if good < len(content):
            with contextlib.suppress(OSError):
                self.path.with_suffix(".damaged").write_bytes(content[good:])
            os.ftruncate(self._file, good)
        if not good:
            self.append({"journal": _VERSION})

    def set_aside(self) -> None:
        """Keep a journal that makes no sense under another name, and begin anew."""
        with contextlib.suppress(OSError):
            self.path.with_suffix(".damaged").write_bytes(self.path.read_bytes())
        os.ftruncate(self._file, 0)
        self._text, self.draft, self.records = "", None, []
        self.append({"journal": _VERSION})

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record; it is on disk when this returns."""
        line = (encoded(record) + "\n").encode("utf-8")
        size = os.lseek(self._file, 0, os.SEEK_END)
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)  # half a line would end the journal
            raise

    def keep_file(self, name: str, content: bytes, options: Mapping[str, Any]) -> None:
        """Keep a data file next to the journal, so that it is there after a restart; only the latest one is kept."""
        kept = self.path.with_suffix(f".data{''.join(Path(name).suffixes)[-20:]}")
        storage.write_atomically(kept, content)
        self.append({"data": name, "kept": kept.name, "options": dict(options)})

    def kept_file(self) -> tuple[str, bytes, dict[str, Any]] | None:
        """Return the data file that was opened last: its name, content and options."""
        last = next((record for record in reversed(self.records) if "data" in record), None)
        if last is None:
            return None
        try:
            return last["data"], (self.folder / Path(last["kept"]).name).read_bytes(), last["options"]
        except OSError:
            return None

    def close(self) -> None:
        """Let another process write the journal."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ documents

    def keep(self, document: Document, label: str, when: str, *, opened: bool = False) -> None:
        """Write a new version."""
        self.append(
            {
                "opened" if opened else "done": label,
                "when": when,
                "text": self._difference(document.text),
                "off": sorted(document.off),
                "frozen": sorted(map(list, document.frozen)),
                "threshold": document.threshold,
                "positive": document.positive,
            }
        )
        self._text = document.text

    def keep_draft(self, text: str | None) -> None:
        """Write a text that has not become a version; None if there is none any more."""
        self.append({"draft": None if text is None else self._difference(text)})

    def _difference(self, text: str) -> list[Any]:
        """Return how many characters a text shares with the latest version at both ends, and what is between them."""
        start = _n_common(self._text, text)
        end = _n_common(self._text[start:][::-1], text[start:][::-1])
        return [start, end, text[start : len(text) - end]]

    def _joined(self, difference: Any) -> str:
        start, end, middle = difference
        if not 0 <= start <= len(self._text) - end or end < 0:
            raise ValueError("The journal does not fit together.")
        return str(self._text[:start] + middle + self._text[len(self._text) - end :])

    def _document(self, record: Mapping[str, Any]) -> Document:
        self._text = self._joined(record["text"])
        return Document(
            self._text,
            frozenset(record["off"]),
            frozenset((variable, term) for variable, term in record["frozen"]),
            record["threshold"],
            record["positive"],
        )

    def restored(self) -> tuple[History, Document] | None:
        """Return the history that the records tell, and what was opened last; None for a new journal."""
        history: History | None = None
        opened: Document | None = None
        for record in self.records:
            if "text" in record:
                document, self.draft = self._document(record), None
                label = record.get("opened") or record.get("done") or ""
                opened = document if "opened" in record else opened
                if history is None:
                    history = History(document, label, record["when"])
                else:
                    history.add(document, label, record["when"])
            elif history is None:
                continue
            elif "draft" in record:
                self.draft = None if record["draft"] is None else self._joined(record["draft"])
            elif "undo" in record:
                history.undo()
            elif "redo" in record:
                history.redo()
            elif "name" in record:
                history.name(*record["name"])
        return None if history is None or opened is None else (history, opened)


def _n_common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (one, two) in enumerate(pairs) if one != two), min(len(first), len(second)))
