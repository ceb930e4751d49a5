"""Drafts: outputs that are not complete yet, and what processes that were killed left of theirs.

The name of a draft holds the id of its process, which also locks it. So another process can tell whether anybody is
still writing it, even one that sees other process ids, as in a container.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl

__all__ = ["Draft", "copy", "draft_folder", "remove_leftovers"]

_ENDING = re.compile(r"\.fuzzymil-([0-9]{1,9})\.part$")
_LOOK_EVERY = 60.0  # seconds
_looked: dict[tuple[int, Path], float] = {}  # when this process looked for leftovers in a folder


class Draft(io.RawIOBase):
    """The content of a file that is being written.

    If a folder does not take the content, for instance because its disk is full, everything written so far moves to
    the next folder, and writing continues there.

    Parameters
    ----------
    path : path
        Where the content will be; errors name it.
    folders : iterable of path
        The folder to write in, and those to move to.
    problem : OSError, optional
        Why the content cannot be delivered, if that is known already.

    Attributes
    ----------
    path : Path
        Where the draft is.
    problem : OSError or None
        Why it is not in the first folder.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> draft = Draft("a.txt", [folder / "missing", folder])
    >>> draft.write(b"text")
    4
    >>> draft.problem.strerror, draft.finish(os.unlink).name
    ('No such file or directory', 'rescued-a.txt')
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
                return self._open.write(data)
            except OSError as problem:
                self._move(problem)

    def finish(self, deliver: Callable[[Path], None]) -> Path | None:
        """Deliver the content to its destination; if that fails, keep it and return the file it is in."""
        while True:
            try:
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
        handle, path = tempfile.mkstemp(dir=folder, prefix=f".{self._name[:40]}.", suffix=_ending())
        file = io.FileIO(handle, "r+")
        try:
            _lock(handle)
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
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:40]}.", suffix=_ending()))
    handle = None if sys.platform == "win32" else os.open(draft, os.O_RDONLY)
    try:
        if handle is not None:
            _lock(handle)
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


def _ending() -> str:
    return f".fuzzymil-{os.getpid()}.part"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _lock(handle: int) -> bool:
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
        return not _lock(handle)
    finally:
        os.close(handle)
