"""Writing files whole or not at all, and versioned JSON documents that are validated when read."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import itertools
import json
import math
import os
import re
import reprlib
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from fuzzymil._utils import memory
from fuzzymil._utils.errors import ModelFileError, RescuedError
from fuzzymil._utils.text import check_characters

# Drafts: outputs that are not complete yet, and what processes that were killed left of theirs.
#
# The name of a draft holds the id of its process, which also locks it. So another process can tell whether anybody is
# still writing it, even one that sees other process ids, as in a container.


if sys.platform != "win32":
    import fcntl


_points = itertools.count(1)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Mark a step that must leave files whole, whether or not the process survives it: a write, a rename, an fsync.

    For tests only: with ``FUZZYMIL_FAILPOINT=7`` the process kills itself at the seventh point, where each step has one
    before and one after it, and says which that was.
    """
    for when in ("before", "after"):
        deadly = os.environ.get("FUZZYMIL_FAILPOINT")
        if deadly is not None and str(next(_points)) == deadly:
            os.write(2, f"failpoint: {when} {name}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        if when == "before":
            yield


_ENDING = re.compile(r"\.fuzzymil-([0-9]{1,9})\.part$")
_LOOK_EVERY = 60.0  # seconds
_looked: dict[tuple[int, Path], float] = {}  # when this process looked for leftovers in a folder


class Draft(io.RawIOBase):
    """The content of a file that is being written.

    If a folder does not take the content, for instance because its disk is full, everything written so far moves to
    the next folder, and writing continues there.

    ``path``: where the content will be; errors name it. ``folders``: the folder to write in, and those to move to.
    ``problem``: why the content cannot be delivered, if that is known already.

    ``path``: where the draft is. ``problem``: why it is not in the first folder.
    """

    def __init__(self, path: str | os.PathLike[str], folders: Iterable[Path], problem: OSError | None = None) -> None:
        self._destination = os.fspath(path)
        self._name = os.path.basename(path)
        self._folders = iter(folders)
        self._file: io.FileIO | None = None
        self.path = Path(path)
        self.problem = problem
        self._move()

    def write(self, data: Any) -> int:
        """Write bytes, and return how many."""
        while True:
            try:
                with step("write"):
                    return self._open.write(data)
            except OSError as problem:
                self._move(problem)

    def finish(self, deliver: Callable[[Path], None]) -> Path | None:
        """Deliver the content to its destination; if that fails, keep it and return the file it is in."""
        while True:
            try:
                with step("fsync"):
                    os.fsync(self._open.fileno())
                self._open.close()  # on Windows, open files cannot be renamed
                if self.problem is not None:
                    return self._kept()
                deliver(self.path)
                return None
            except OSError as problem:
                self._move(problem)

    def discard(self) -> None:
        """Close and remove the draft, unless it was delivered."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # what could not be written is not wanted either
                self._file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)

    @property
    def _open(self) -> io.FileIO:
        assert self._file is not None
        return self._file

    def _move(self, problem: OSError | None = None) -> None:
        """Continue in the next folder that takes the content."""
        self.problem = self.problem or problem
        for folder in self._folders:
            try:
                return self._continue_in(folder)
            except OSError as another:
                self.problem = self.problem or another
        found = self.problem or FileNotFoundError(errno.ENOENT, "No folder to write in")
        raise OSError(found.errno, found.strerror, self._destination) if found.errno is not None else found

    def _continue_in(self, folder: Path) -> None:
        """Go on in a draft in this folder, with the content so far."""
        handle, path = tempfile.mkstemp(dir=folder, prefix=f".{self._name[:40]}.", suffix=draft_ending())
        file = io.FileIO(handle, "r+")
        try:
            lock(handle)
            if self._file is not None:
                place = 0 if self._file.closed else self._file.tell()
                with open(self.path, "rb") as before:
                    copy(before, file)
                file.seek(place)
        except BaseException:
            file.close()
            os.unlink(path)
            raise
        self.discard()
        self._file, self.path = file, Path(path)

    def _kept(self) -> Path:
        """Give the draft a name that no file has, and return it."""
        for number in itertools.count(1):
            path = self.path.with_name(f"rescued-{'' if number == 1 else f'{number}-'}{self._name[-100:]}")
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                with step("rename"):
                    os.replace(self.path, path)
                return path
        raise AssertionError("unreachable")

    # What file formats ask of a file besides writing.

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a place in the content."""
        return self._open.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the content."""
        return self._open.tell()


@contextlib.contextmanager
def draft_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder next to the one that it will become; it is removed unless it was renamed."""
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:40]}.", suffix=draft_ending()))
    handle = None if sys.platform == "win32" else os.open(draft, os.O_RDONLY)
    try:
        if handle is not None:
            lock(handle)
        yield draft
    finally:
        if handle is not None:
            os.close(handle)
        shutil.rmtree(draft, ignore_errors=True)


def copy(source: IO[bytes], target: io.RawIOBase) -> None:
    """Copy all of a file to a raw one, which may write less at a time than it is given."""
    while block := memoryview(source.read(2**20)):
        while block:
            block = block[target.write(block) :]


def remove_leftovers(folder: Path) -> None:
    """Remove the drafts in a folder whose processes are gone; looks once a minute, because folders may be large."""
    key, now = (os.getpid(), folder), time.monotonic()
    if now - _looked.get(key, -_LOOK_EVERY) >= _LOOK_EVERY and sys.platform != "win32":
        _looked[key] = now
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if _is_leftover(entry):
                    _remove(entry)


def _is_leftover(entry: os.DirEntry[str]) -> bool:
    found = _ENDING.search(entry.name)
    if found is None or not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        return False  # opening a named pipe would wait
    return not _is_running(int(found[1])) and not _is_locked(entry.path)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)


def draft_ending() -> str:
    """Return the end of the names of drafts of this process."""
    return f".fuzzymil-{os.getpid()}.part"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def lock(handle: int) -> bool:
    """Lock a file until its process closes it or ends; return False if another process has."""
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks: the id of the process has to do
    return True


def _is_locked(path: str) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return True
    try:
        return not lock(handle)
    finally:
        os.close(handle)


_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_TIMES = 20  # how many times its size a JSON file may take in memory

Path_ = str | os.PathLike[str]

_TRIAL = 2**16  # bytes that must fit: a full disk should be noticed before the work
_rescues: ContextVar[bool] = ContextVar("rescues", default=False)
_own: ContextVar[bool] = ContextVar("own", default=False)
_waiting: ContextVar[list[Callable[[], None]] | None] = ContextVar("waiting", default=None)


def write_atomically(path: Path_, content: str | bytes, *, precious: bool = True) -> None:
    """Write a file (text as UTF-8) as `written_atomically` does."""
    check_characters(f"What goes into {os.fspath(path)!r:.100}", content)
    with written_atomically(path, precious=precious) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def written_atomically(path: Path_, *, precious: bool = True) -> Iterator[IO[bytes]]:
    """Yield a file whose content appears at ``path`` when it is complete; on failure, what is there stays unchanged.

    Regular files are replaced, and links are followed. Devices, named pipes and sockets are never replaced: the
    complete content is written to them. Inside `own_names`, links, devices and pipes are replaced, too.

    ``precious``: whether the content is kept elsewhere if it cannot be written here; only inside `rescuing`.
    """
    refuges = _refuges() if precious and _rescues.get() else []
    target: Path | None = None
    problem: OSError | None = None
    try:
        target = _target(path)
        folder = Path(tempfile.gettempdir()) if target is None else target.parent
        remove_leftovers(folder)
        refuges = [folder, *refuges]
    except OSError as found:
        if not refuges:
            raise
        problem = found
    draft = Draft(path, refuges, problem)
    try:
        with io.BufferedWriter(draft) as file:
            yield file
        kept = draft.finish(functools.partial(_send, path) if target is None else functools.partial(_replace, target))
    finally:
        draft.discard()
    if draft.problem is not None and kept is not None:
        raise RescuedError(path, draft.problem, kept)


@contextlib.contextmanager
def folder_written_atomically(path: Path) -> Iterator[Path]:
    """Yield a folder that becomes ``path``, which must not exist or be empty, when it is complete."""
    remove_leftovers(Path(os.path.abspath(path)).parent)
    try:
        with draft_folder(path) as draft, rescuing(False):  # a single file of it would be of no use
            yield draft
            os.chmod(draft, 0o777 & ~_umask())  # other users could not read it otherwise
            if path.exists():
                path.rmdir()
            with step("rename"):
                draft.rename(path)
    except OSError as problem:
        if problem.errno is None:
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def check_writable(path: Path_) -> None:
    """Raise OSError, before any work is done, if a file cannot be written to this path."""
    target = _target(path)
    if target is None:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "is write-protected", os.fspath(path))
        return
    draft = Draft(path, [target.parent])
    try:
        with io.BufferedWriter(draft) as file:
            file.write(bytes(_TRIAL))
        draft.finish(os.unlink)
    finally:
        draft.discard()


@contextlib.contextmanager
def rescuing(wanted: bool = True) -> Iterator[None]:
    """Keep content that cannot be written to its file in another folder, and raise `RescuedError`.

    It goes to the current folder, the home folder or the folder for temporary files. The command line does this, where
    results are lost with the process; in Python, they are still in memory.
    """
    before = _rescues.set(wanted)
    try:
        yield
    finally:
        _rescues.reset(before)


@contextlib.contextmanager
def own_names() -> Iterator[None]:
    """Replace whatever stands at the place of a file that is written in this context: the program chose its name.

    A link there is not followed, and nothing is written to a device or a pipe: the user asked for neither.
    """
    before = _own.set(True)
    try:
        yield
    finally:
        _own.reset(before)


def rescued(name: str, content: str, problem: OSError) -> RescuedError:
    """Keep the content of a file that could not be written, and return (not raise) the error that says where."""
    draft = Draft(name, _refuges(), problem)
    try:
        with io.BufferedWriter(draft) as file:
            file.write(content.encode("utf-8"))
        kept = draft.finish(os.unlink)
        assert kept is not None
        return RescuedError(problem.filename or name, problem, kept)
    finally:
        draft.discard()


@contextlib.contextmanager
def kept_until_saved() -> Iterator[None]:
    """Defer what `once_saved` is given to the end of this context; after an error, it is not done at all.

    A program that is killed after a fit and before its model is saved can then resume from its last checkpoint.
    """
    waiting: list[Callable[[], None]] = []
    before = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(before)
    for remove in waiting:
        remove()


def once_saved(remove: Callable[[], None]) -> None:
    """Call a function that removes files: now, or at the end of `kept_until_saved`."""
    waiting = _waiting.get()
    if waiting is None:
        remove()
    else:
        waiting.append(remove)


def _refuges() -> list[Path]:
    found: list[Path] = []
    for folder in (Path.cwd, Path.home, tempfile.gettempdir):
        with contextlib.suppress(OSError, RuntimeError):  # the current folder may be gone, and a user without a home
            found.append(Path(folder()))
    return found


def _target(path: Path_) -> Path | None:
    """Return the file to replace; None for something to write to, such as a device or a pipe."""
    own = _own.get()
    if own:  # the folder is the user's choice
        folder, name = os.path.split(os.path.abspath(path))
        path = os.path.join(os.path.realpath(folder), name)
    try:
        kind = os.stat(path, follow_symlinks=not own).st_mode
    except FileNotFoundError:
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "Folder not found", str(target.parent)) from None
        return target
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", os.fspath(path))
    if own and not stat.S_ISREG(kind):
        return Path(path)
    if stat.S_ISBLK(kind):
        raise PermissionError(errno.EPERM, "is a disk, which is not overwritten", os.fspath(path))
    if not stat.S_ISREG(kind) or _descriptor(path) is not None:
        return None
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "is write-protected", os.fspath(path))
    return Path(os.path.realpath(path))  # so that a link stays a link


def _descriptor(path: Path_) -> int | None:
    """Return the number of the open file that a name such as /dev/stdout stands for."""
    place = os.path.abspath(path)
    for _ in range(8):
        folder, name = os.path.split(place)
        if name.isdecimal() and os.path.realpath(folder) in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _replace(target: Path, draft: Path) -> None:
    mode = 0o666 & ~_umask()
    with contextlib.suppress(FileNotFoundError):
        known = os.lstat(target).st_mode
        mode = known & 0o777 if stat.S_ISREG(known) else mode
    os.chmod(draft, mode)
    with step("rename"):
        os.replace(draft, target)


def _send(path: Path_, draft: Path) -> None:
    """Write a draft to a device, a named pipe, a socket or an open file."""
    number = _descriptor(path)
    with contextlib.ExitStack() as stack:
        content = stack.enter_context(draft.open("rb"))
        if number is None and stat.S_ISSOCK(os.stat(path).st_mode):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(os.fspath(path))
            connection.sendfile(content)
        else:
            handle = os.dup(number) if number is not None else os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
            copy(content, stack.enter_context(io.FileIO(handle, "w")))


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_document(path: Path_, kind: str, version: int, content: Mapping[str, Any], *, precious: bool = True) -> None:
    """Write ``content`` as JSON with its kind and version at the top, as `written_atomically` does."""
    write_atomically(path, document_text(kind, version, content), precious=precious)


def document_text(kind: str, version: int, content: Mapping[str, Any]) -> str:
    """Return ``content`` as JSON with its kind and version at the top."""
    document = {"format": kind, "version": version, **content}
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def read_document(path: Path_, kinds: Mapping[str, int]) -> dict[str, Any]:
    """Read a JSON document of one of ``kinds`` (a mapping from kind to newest supported version).

    Raises `ModelFileError` if the file is not JSON, is of another kind, or was written by a newer version.
    """
    name = os.fspath(path)
    lack = memory.shortage(_TIMES * Path(path).stat().st_size)
    if lack is not None:
        raise ModelFileError(f"{name} is too large for a fuzzymil file: {lack}.")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except ValueError as problem:
        raise _not_ours(name, problem) from None
    return parse_document(text, kinds, name)


def parse_document(text: str, kinds: Mapping[str, int], name: str) -> dict[str, Any]:
    """Return the JSON document in a text, as `read_document` does; ``name`` is what messages call it."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        begins = f"it begins with {text[:40]!r}" if text.strip() else "it is empty"
        raise ModelFileError(f"{name} is not a fuzzymil file: {begins}. Save a model with model.save(path).")
    try:
        document = json.loads(text)
        if _HALF_A_CHARACTER.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")  # half of a pair could not be written again
    except (ValueError, RecursionError) as problem:  # not JSON, or absurdly long numbers
        raise _not_ours(name, problem) from None
    kind = document.get("format") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(kind, str) or kind not in kinds:
        raise ModelFileError(
            f"{name} is the wrong kind of file: its 'format' is {reprlib.repr(kind)}, expected "
            f"{' or '.join(map(repr, kinds))}."
        )
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{name} has no valid 'version' (got {reprlib.repr(version)}): the file is damaged.")
    if version > kinds[kind]:
        raise ModelFileError(
            f"{name} was written by a newer fuzzymil ({document.get('library', 'unknown')!s:.40}): it has file version "
            f"{reprlib.repr(version)}, but this version reads up to {kinds[kind]}. "
            "Upgrade with pip install --upgrade fuzzymil."
        )
    return document


def _not_ours(name: str, problem: Exception) -> ModelFileError:
    return ModelFileError(
        f"{name} is not a fuzzymil file, or it is damaged ({problem}). Save the model again with model.save(path)."
    )


def damaged(what: str, problem: Exception) -> str:
    """Return a sentence that reports damaged content."""
    reason = f"{problem!s} is missing" if isinstance(problem, KeyError) else str(problem).rstrip(".")
    end = "" if reason.endswith("?") else "."
    return f"{what} {'are' if what.startswith('The rules') else 'is'} damaged: {reason}{end}"


def encode_number(value: float) -> float | str:
    """Encode a number for strict JSON: infinities and NaN become strings."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def decode_number(value: Any) -> float:
    """Decode the output of `encode_number`; anything else is an error."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    elif value in ("inf", "-inf", "nan"):
        return float(value)
    raise ModelFileError(f"Expected a number, found {reprlib.repr(value)}: the file is damaged.")
