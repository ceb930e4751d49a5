"""Every state of a document: undo and redo without limit, named versions, and the journal that keeps them on disk.

The journal is a file of records, one line of JSON each. A record is written by one call and synchronized to disk before
the change counts; a line that was cut off by a crash is put aside when the journal is read, and everything before it
stands. Of a text, a record holds what differs from the one before; so it is with the data and models that were opened.
Files that were dropped on the page are kept next to the journal.
"""

from __future__ import annotations

import dataclasses
import datetime
import errno
import hashlib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils import memory, storage
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.own_files import ForeignFileError, OwnFolder
from fuzzymil._utils.text import check_characters, half_character
from fuzzymil.studio.document import FOLDER, Context, Data, Document
from fuzzymil.studio.files import Upload, preview
from fuzzymil.studio.messages import from_json, texts, to_json

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, two studios of one name take turns at the same file
    fcntl = None  # type: ignore[assignment]

_FORMAT = 1
_MOST = 99  # journals of one name
_PARSED = 64  # latest versions whose rules are kept parsed; older ones are parsed again when they are needed
_TIMES = 20  # how many times its size a journal may take in memory
_COLUMNS = {"format", "bag", "label", "decimal", "thousands", "encoding"}  # arguments of `read_bags` that are kept


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@dataclasses.dataclass(frozen=True)
class Version:
    """One state: what led to it, the data and model next to it, when, its number, and its name if it was given one.

    ``learned``: "train" if the data moved the sets of the rules before, "learn" if rules were chosen from the data,
    "size" if they are as many as a place on the frontier says.
    """

    document: Document
    label: str
    context: Context
    when: str = dataclasses.field(default_factory=_now)
    number: int = 0
    name: str = ""
    learned: str = ""


class History:
    """All versions of a document, and the path that undo and redo walk."""

    def __init__(self, first: Version) -> None:
        self.versions = [first]
        self._done, self._undone = [0], list[int]()

    @property
    def current(self) -> Version:
        """The version that is shown."""
        return self.versions[self._done[-1]]

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None if there is nothing."""
        return self.current.label if len(self._done) > 1 else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None if there is nothing."""
        return self.versions[self._undone[-1]].label if self._undone else None

    def add(self, version: Version) -> None:
        """Add a version after the current one; what was undone leaves the path, but stays a version."""
        number = len(self.versions)
        self.versions.append(dataclasses.replace(version, number=number))
        self._done.append(number)
        self._undone.clear()
        if number >= _PARSED:
            for name in ("rules", "active", "lines"):
                vars(self.versions[number - _PARSED].document).pop(name, None)

    def after(self, step: str) -> Version:
        """Return the version that "undo" or "redo" leads to."""
        path = self._done[:-1] if step == "undo" else self._undone
        if not path:
            raise ParameterError(f"There is nothing to {step}.")
        return self.versions[path[-1]]

    def go(self, step: str) -> None:
        """Go one version back or forward on the path."""
        self.after(step)
        ends = (self._done, self._undone) if step == "undo" else (self._undone, self._done)
        ends[1].append(ends[0].pop())

    def version(self, number: object) -> Version:
        """Return a version by its number."""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(self.versions):
            last = len(self.versions) - 1
            raise ParameterError(f"There is no version {number!r:.60}; they are numbered from 0 to {last}.")
        return self.versions[number]

    def with_name(self, number: object, name: object) -> Version:
        """Return a version with another name, which it does not have yet; an empty one takes it away."""
        found = self.version(number)
        if not isinstance(name, str) or len(name) > 200:
            raise ParameterError("The name of a version must be text of at most 200 characters.")
        return dataclasses.replace(found, name=name.strip())

    @property
    def reference(self) -> Version:
        """The version that changes are counted from: the last named one on the path, or the first one."""
        named = [self.versions[n] for n in self._done if self.versions[n].name]
        return named[-1] if named else self.versions[self._done[0]]

    def learned(self) -> tuple[str, Version]:
        """Return how the data that are open shaped the rules, and the version to start from to do so again.

        This is "train", "learn", "model" if the rules came with a model, which may know the data, or "" if a person
        wrote them; whatever a person changed afterwards does not count.
        """
        now = self.current
        kind, start = "" if now.context.model is None else "model", now
        for number, before in zip(self._done[:0:-1], self._done[-2::-1], strict=True):
            each = self.versions[number]
            if each.context.data is not now.context.data or each.context.name != now.context.name:
                break
            if each.learned:
                kind, start = "train" if each.learned == "train" else "learn", self.versions[before]
            if kind == "learn":
                break
        return kind, start

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the versions on the path, and all named ones, oldest first."""
        path = {*self._done, *self._undone}
        for each in self.versions:
            if each.number in path or each.name:
                yield {
                    "version": each.number,
                    "label": each.label,
                    "when": each.when,
                    "name": each.name or None,
                    "current": each.number == self.current.number,
                    "undone": each.number in self._undone,
                    "off_path": each.number not in path,
                }


# ---------------------------------------------------------------------- the journal


class Journal:
    """An append-only file of records, which one process writes.

    ``folder``: where the studio was started. ``name``: of the rules; a second studio of the same name has a journal of
    its own.

    ``records``: what an earlier session wrote. ``notice``: what could not be read, and where it is now.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / FOLDER
        self.notice: str | None = None
        self.records: list[dict[str, Any]] = []
        self.draft: str | None = None
        self._text, self._context = "", Context()  # of the latest version
        self._pending: list[bytes] = []  # lines that the disk has not taken yet
        self._file = -1
        self._own = OwnFolder(self.folder, create=True)
        try:
            storage.remove_leftovers(self.folder)
            self._file, self.path = self._locked_file(re.sub(r"[^\w.-]+", "_", name)[:60].strip(".") or "untitled")
            self._read()
        except BaseException:
            self.close()
            raise

    def _locked_file(self, name: str) -> tuple[int, Path]:
        """Open and lock the first journal of this name that no other process writes, as long as this one lives."""
        for number in range(1, _MOST + 1):
            path = self.folder / (f"{name}.journal" if number == 1 else f"{name}-{number}.journal")
            try:
                file = self._open(path)
            except ForeignFileError as problem:  # it may lead anywhere, or wait forever
                self._put_aside(path, str(problem.strerror))
                file = self._open(path)
            if fcntl is None:
                return file, path
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
            else:
                return file, path
        raise OSError(errno.EBUSY, f"{_MOST} studios already write journals of this name", str(self.folder))

    def _open(self, path: Path) -> int:
        return self._own.open(path.name, os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def _put_aside(self, path: Path, why: str) -> None:
        kept = self._own.set_aside(path.name, ".damaged")
        self.notice = f"The journal of an earlier session {why}. It is kept as {FOLDER}/{kept}."

    def _read(self) -> None:
        lack = memory.shortage(_TIMES * os.fstat(self._file).st_size)
        if lack is not None:
            self.set_aside(f"is too large: {lack}")
            return
        with open(os.dup(self._file), "rb") as file:
            content = file.read()
        good = 0
        for line in content.splitlines(keepends=True):
            try:
                record = _record(line)
            except (ValueError, RecursionError):
                break
            good += len(line)
            if "journal" not in record:
                self.records.append(record)
        if good < len(content):
            kept = self._own.free_name(self.path.name, ".damaged")
            self._own.write(kept, content[good:])
            with storage.step("truncate"):
                os.ftruncate(self._file, good)
            self.notice = f"The end of the journal of an earlier session is damaged. It is kept as {FOLDER}/{kept}."
        if not good:
            self.append({"journal": _FORMAT})

    def set_aside(self, why: str = "makes no sense") -> None:
        """Keep a journal that cannot be used under another name, and begin anew."""
        self._put_aside(self.path, why)
        os.close(self._file)
        self._file, self.path = self._locked_file(self.path.name.removesuffix(".journal"))
        self._text, self._context, self.draft = "", Context(), None
        self.records, self._pending = [], []
        self.append({"journal": _FORMAT})

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record; it is on disk when this returns.

        Raises `ValueError` if the record is nothing that a file can hold: it is left out. Raises `OSError` if the disk
        does not take it: it is written before the next one.
        """
        self._pending.append(_line(record))
        self._write_pending()

    def _write_pending(self) -> None:
        lines = b"".join(self._pending)
        size = os.lseek(self._file, 0, os.SEEK_END)
        try:
            with storage.step("write"):
                written = os.write(self._file, lines)
            if written < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            with storage.step("fsync"):
                os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)  # half a line would end the journal
            raise
        self._pending.clear()

    def keep_file(self, name: str, content: bytes) -> Path:
        """Keep a file that was opened next to the journal, so that it is there after a restart, and return its path."""
        ending = "".join(Path(name).suffixes)[-20:]
        kept = self.path.with_suffix(f".{hashlib.sha256(content).hexdigest()[:16]}{ending}")
        self._own.write(kept.name, content)
        return kept

    def close(self) -> None:
        """Let another process write the journal."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._own.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ versions as records

    def keep(self, version: Version, *, given: str = "") -> None:
        """Write a new version; ``given`` says whether "rules" or "data" came with the start of the program."""
        document, context = version.document, version.context
        record: dict[str, Any] = {"done": version.label, "when": version.when, "text": self._difference(document.text)}
        record |= {"given": given} if given else {}
        record |= {"learned": version.learned} if version.learned else {}
        changed = self._changes(context)
        record |= {"context": changed} if changed else {}
        self._pending.append(_line(record | _marks(document)))
        self._text, self._context = document.text, context
        self._write_pending()

    def keep_draft(self, text: str | None) -> None:
        """Write a text that has not become a version; None if there is none any more."""
        self.append({"draft": None if text is None else self._difference(text)})

    def _difference(self, text: str) -> list[Any]:
        """Return how many characters a text shares with the latest version at both ends, and what is between them."""
        start = _n_common(self._text, text)
        end = _n_common(self._text[start:][::-1], text[start:][::-1])
        return [start, end, text[start : len(text) - end]]

    def _patch(self, difference: Any) -> str:
        start, end, middle = difference
        if not 0 <= start <= len(self._text) - end or end < 0:
            raise ValueError("The journal does not fit together.")
        return str(self._text[:start] + middle + self._text[len(self._text) - end :])

    def _changes(self, context: Context) -> dict[str, Any]:
        """Return what distinguishes a context from that of the latest version."""
        old, found, data = self._context, dict[str, Any](), context.data
        for name in ("name", "member"):
            if getattr(context, name) != getattr(old, name):
                found[name] = getattr(context, name)
        if data is not old.data:
            found["data"] = data and {"name": data.name, "columns": data.columns, "file": self._stored(data.path)}
        if context.model is not old.model:
            found["model"] = None if context.model is None else self._stored(context.model_file)
        if context.members is not old.members:
            known = dict(enumerate(old.members))
            changed = {n: each for n, each in enumerate(context.members) if known.get(n) is not each}
            texts = {n: {"text": each.text, **_marks(each)} for n, each in changed.items()}
            found["members"] = [len(context.members), texts]
        return found

    def _stored(self, path: Path | None) -> str:
        """Return a path as text: of a kept file its name; nothing of no file, or of one whose name is no text."""
        if path is None or half_character(str(path.absolute())) is not None:
            return ""
        return path.name if path.parent == self.folder else str(path.absolute())

    def _restored_context(self, facts: Mapping[str, Any], given: Context) -> Context:
        """Return the context that differs from the latest one by these facts.

        What was given when the program was started is taken from there, if it is the same as it was then.
        """

        def place(stored: str | None) -> Path | None:
            if stored and stored != os.path.basename(stored) and not os.path.isabs(stored):
                raise ValueError("A file that is kept next to the journal has a plain name.")
            if stored and stored[:2].replace("\\", "/") == "//":
                raise ValueError("A name like this one leads to another machine.")
            return self.folder / stored if stored else None  # a path from the root stays one

        found: dict[str, Any] = {name: facts[name] for name in ("name", "member") if name in facts}
        if "data" in facts:
            told = facts["data"]
            if told and not _names_columns(told["columns"]):
                raise ValueError("The journal does not say which columns are meant.")
            data = told and Data(None, told["name"], told["columns"], place(told["file"]))
            found["data"] = given.data if data and data.is_same_file(given.data) else data or None
        if "model" in facts:
            found["model_file"] = file = place(facts["model"])
            found["model"] = None if facts["model"] is None else _model_in(file) if file else given.model
        if "members" in facts:
            n, changed = facts["members"]
            known = dict(enumerate(self._context.members)) | {int(k): _document(**each) for k, each in changed.items()}
            found["members"] = tuple(known[k] for k in range(n))
        return self._context.replace(**found)

    def restore(self, given: Context) -> tuple[History, Document, Context] | None:
        """Return the history that the records tell, and the rules and data that the program was last started with.

        None for a new journal. ``given`` is what the program was started with this time.
        """
        history: History | None = None
        rules: Document | None = None
        around, size = self._context, 0
        for record in self.records:
            if "text" in record:
                self._text, self.draft = self._patch(record["text"]), None
                self._context = self._restored_context(record.get("context", {}), given)
                size += sys.getsizeof(self._text)
                if lack := memory.shortage(size):
                    raise ValueError(lack)
                learned = record.get("learned", "")
                if not all(isinstance(each, str) for each in (record["done"], record["when"], learned)):
                    raise ValueError("A version has a label and a time.")
                document = _document(**{**record, "text": self._text})
                version = Version(document, record["done"], self._context, record["when"], learned=learned)
                rules = version.document if record.get("given") == "rules" else rules
                around = self._context if "given" in record else around
                if history is None:
                    history = History(version)
                else:
                    history.add(version)
            elif history is None:
                continue
            elif "draft" in record:
                self.draft = None if record["draft"] is None else self._patch(record["draft"])
            elif "undo" in record or "redo" in record:
                history.go("undo" if "undo" in record else "redo")
            elif "name" in record:
                named = history.with_name(*record["name"])
                history.versions[named.number] = named
        return None if history is None or rules is None else (history, rules, around)


def last_session(folder: Path) -> str | None:
    """Return the name of the journal that was written last in a folder; None if there is none."""
    journals = [path for path in (folder / FOLDER).glob("*.journal") if path.is_file() and not path.is_symlink()]
    return max(journals, key=lambda path: path.stat().st_mtime_ns).stem if journals else None


def _record(line: bytes) -> dict[str, Any]:
    """Return what a line of a journal says; ValueError if it is damaged, or nothing that `_line` writes."""
    record = from_json(line.decode("utf-8"))
    if not line.endswith(b"\n") or not isinstance(record, dict):
        raise ValueError("The line was cut off.")
    for name, each in texts(record):
        check_characters(name, each)
    return record


def _line(record: Mapping[str, Any]) -> bytes:
    try:
        return (to_json(record) + "\n").encode("utf-8")
    except UnicodeEncodeError as problem:
        half = ascii(problem.object[problem.start : problem.end])
        raise InputError(f"This cannot be kept on disk: it has half of a character, {half}.") from None


def _marks(document: Document) -> dict[str, Any]:
    """Return what a document has besides its text."""
    return {
        "off": sorted(document.off),
        "frozen": sorted(map(list, document.frozen)),
        "threshold": document.threshold,
        "positive": document.positive,
    }


def _document(text: str, off: Any, frozen: Any, threshold: Any, positive: Any, **_: Any) -> Document:
    """Return the document with a text and what `_marks` returned; anything else raises."""
    made = Document(text, frozenset(off), frozenset((variable, term) for variable, term in frozen), threshold, positive)
    words = (text, *(each for pair in made.frozen for each in pair), *(() if positive is None else (positive,)))
    numbers = (*made.off, *(() if threshold is None else (threshold,)))
    if not (all(isinstance(each, str) for each in words) and all(map(math.isfinite, numbers))):
        raise ValueError("The journal does not fit together.")
    return made


def _names_columns(columns: Any) -> bool:
    """Return whether these are columns that the studio keeps: exported scripts repeat them, names and all."""
    return columns.keys() <= _COLUMNS and all(type(each) in (str, int) for each in columns.values())


def _model_in(file: Path) -> Any:
    """Return how a model that was kept reads its output; None if it is gone."""
    try:
        with OwnFolder(file.parent) as folder:
            upload = Upload(file.name, folder.read(file.name))
        preview(upload)
    except (ValueError, OSError):
        return None
    return upload.model


def _n_common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (one, two) in enumerate(pairs) if one != two), min(len(first), len(second)))
