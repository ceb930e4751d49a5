"""Files whose names the program chooses: plain files of this user, reached through no link.

A folder that came from somebody else, such as a cloned repository, can hold links and pipes under the names of journals
and checkpoints. What a user names is followed (`fuzzymil._utils.storage`); what the program names never is.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
import sys
from pathlib import Path

from fuzzymil._utils import memory
from fuzzymil._utils.storage import draft_ending, lock, step

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_TIMES = 2  # how many times its size a file may take in memory
_RELATIVE = sys.platform != "win32"  # whether files are opened relative to an open folder


class ForeignFileError(OSError):
    """A link, a pipe, a device or a file of another user under a name that the program chose."""


class OwnFolder:
    """A folder, and the plain files in it that belong to this user.

    ``create``: whether to make it if it is not there. Only its user can enter it then.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._handle = -1
        if create:
            make_own_folder(path, 0o700)
        if _RELATIVE:
            try:
                self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
            except OSError as problem:
                _check_folder(path)
                raise problem from None
        try:
            _check_folder(path, self._handle)
        except OSError:
            self.close()
            raise

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """Open a plain file of this user, and return its descriptor; anything else raises `ForeignFileError`."""
        path = self.path / name
        place, folder = self._place(name)
        try:
            handle = os.open(place, flags | _NO_LINK | _BINARY, 0o600, dir_fd=folder)
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR):
                raise ForeignFileError(problem.errno, _kind(self._status(name)), str(path)) from None
            raise
        try:
            about = os.fstat(handle)
            what = _kind(self._status(name) if not _RELATIVE else about)
            if what:
                raise ForeignFileError(errno.EPERM, what, str(path))
            if hasattr(os, "set_blocking"):
                os.set_blocking(handle, True)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def read(self, name: str) -> bytes:
        """Return the content of a plain file of this user, if the memory budget allows it."""
        with open(self.open(name), "rb") as file:
            if lack := memory.shortage(_TIMES * os.fstat(file.fileno()).st_size):
                raise OSError(errno.EFBIG, lack, str(self.path / name))
            return file.read()

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole: what is there, of whatever kind but a folder, is replaced and never followed."""
        draft = f".{name[:40]}.{secrets.token_hex(4)}{draft_ending()}"
        with open(self.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            try:
                lock(file.fileno())
                with step("write"):
                    file.write(content)
                    file.flush()
                with step("fsync"):
                    os.fsync(file.fileno())
                file.close()
                self._rename(draft, name)
            except BaseException:
                with contextlib.suppress(OSError):
                    self.remove(draft)
                raise

    def set_aside(self, name: str, ending: str) -> str:
        """Rename what has a name, of whatever kind, and return its new name."""
        free = self.free_name(name, ending)
        self._rename(name, free)
        return free

    def free_name(self, name: str, ending: str) -> str:
        """Return a name with another ending that nothing has yet."""
        stem = Path(name).stem
        names = (f"{stem}{'' if number == 1 else f'-{number}'}{ending}" for number in itertools.count(1))
        return next(free for free in names if self._status(free) is None)

    def remove(self, name: str) -> None:
        """Remove a file, or the link in its place."""
        place, folder = self._place(name)
        os.unlink(place, dir_fd=folder)

    def close(self) -> None:
        """Let go of the folder."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> OwnFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _place(self, name: str) -> tuple[str, int | None]:
        return (name, self._handle) if _RELATIVE else (str(self.path / name), None)

    def _rename(self, old: str, new: str) -> None:
        (source, folder), (target, _) = self._place(old), self._place(new)
        with step("rename"):
            os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)

    def _status(self, name: str) -> os.stat_result | None:
        place, folder = self._place(name)
        try:
            return os.stat(place, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


def make_own_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder whose name the program chose, if it is not there; a link in its place is refused."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode)
    _check_folder(path)


def _check_folder(path: Path, handle: int = -1) -> None:
    about = os.lstat(path) if handle < 0 else os.fstat(handle)
    if stat.S_ISLNK(about.st_mode):
        raise ForeignFileError(errno.ELOOP, "is a link, which could lead anywhere", str(path))
    if not stat.S_ISDIR(about.st_mode):
        raise ForeignFileError(errno.ENOTDIR, "is not a folder", str(path))
    if _is_foreign(about):
        raise ForeignFileError(errno.EPERM, "belongs to another user", str(path))


def _kind(about: os.stat_result | None) -> str:
    """Return what a file is besides a plain one of this user; nothing for such a file."""
    if about is None:
        return "has gone"
    if stat.S_ISLNK(about.st_mode):
        return "is a link, which could lead anywhere"
    if not stat.S_ISREG(about.st_mode):
        return "is not a plain file"
    if about.st_nlink > 1:
        return "has a second name, under which it could be anywhere"
    return "belongs to another user" if _is_foreign(about) else ""


def _is_foreign(about: os.stat_result) -> bool:
    return _RELATIVE and about.st_uid != os.geteuid()
