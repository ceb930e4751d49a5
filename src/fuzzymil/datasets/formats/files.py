"""Files of bags: opened with care, written whole or not at all, and complained about by line."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import uuid
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from fuzzymil._utils.errors import InputError

__all__ = [
    "COMPRESSIONS",
    "DataFile",
    "DataFileError",
    "MissingFileError",
    "bare_name",
    "check_target",
    "replacing",
    "write_text",
]

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
"""Suffix of a compressed file and the bytes it starts with."""

_EMPTY = "is empty: a row an instance was expected; get the file again"

# What a file that is no text often turns out to be, with the way out.
_BINARY = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or export the sheet as CSV",
    b"\x89HDF": "an HDF5 file: export it as CSV",
    b"\x93NUMPY": "a NumPy array: put one .npy file a bag into a folder with a labels.csv and name the folder",
    b"\x80": "a Python pickle, which is not opened because it could run a program: export it as CSV",
    b"PAR1": "a Parquet file: read it with format='parquet'",
    b"MATLAB": "a MATLAB file: read it with format='mat'",
    b"\x1f\x9d": "packed with the Unix program compress: unpack it with gunzip",
}


class DataFileError(InputError):
    """A file that cannot be read as bags: the message names the file, the line and the way out."""


class MissingFileError(DataFileError, FileNotFoundError):
    """A file that is not there."""


class DataFile:
    """One file (or folder) of bags; its content is read, unpacked and decoded when it is asked for."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            folder = self.path.parent
            where = f"the folder {folder} is there but holds no such file" if folder.is_dir() else "nor is its folder"
            raise MissingFileError(f"{self.path} is not there ({where}): check the name.")

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    def starts_with(self, magic: bytes) -> bool:
        """Whether a file begins with these bytes; the rest of it, which may be large, is not read."""
        try:
            with open(self.path, "rb") as file:
                return file.read(len(magic)) == magic
        except OSError:
            return False  # what is wrong is said when the content is read

    @cached_property
    def content(self) -> bytes:
        """The unpacked bytes."""
        if self.is_folder:
            raise self.error("is a folder, not a file: name a file in it. A folder is read if it holds .npy files")
        try:
            packed = self.path.read_bytes()
            for kind, start in COMPRESSIONS.items():
                if packed.startswith(start):
                    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[kind]
                    packed = unpack(packed)
                    break
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, ValueError) as problem:
            raise self.error(f"is damaged or cut off ({problem}): get it again") from None
        except OSError as problem:
            raise self.error(
                f"cannot be read ({problem.strerror or problem}): get it again or change its rights"
            ) from None
        if not packed.strip():
            raise self.error(_EMPTY)
        return packed

    @cached_property
    def text(self) -> str:
        """The content as text, with a plain newline after every line."""
        for start, what in _BINARY.items():
            if self.content.startswith(start):
                raise self.error(f"is no text but looks like {what}")
        if b"\x00" in self.content:
            at = self.content.index(b"\x00")
            raise self.error(f"is no text (byte {at} is zero): export the data as CSV in UTF-8")
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = self.content.count(b"\n", 0, problem.start) + 1
            raise self.error(
                f"byte {problem.start} ({self.content[problem.start]:#04x}) is no UTF-8 text: save the file as UTF-8",
                line,
            ) from None
        if not text.strip():
            raise self.error(_EMPTY)
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def is_cut(self, line: int) -> bool:
        """Whether this line is the last and lacks its newline, which is how a cut-off file mostly looks."""
        return not self.text.endswith("\n") and line == self.text.count("\n") + 1

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Lines that hold something, with their numbers from 1."""
        return ((n, line) for n, line in enumerate(self.text.split("\n"), 1) if line and not line.isspace())

    def error(self, message: str, line: int | None = None, column: str | None = None) -> DataFileError:
        """Return (not raise) an error that names the place."""
        place = str(self.path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        joint = ": " if line is not None or column is not None else " "
        return DataFileError(f"{place}{joint}{message}{'' if message.endswith('?') else '.'}")


def bare_name(path: Path) -> str:
    """Return a file's name without the suffix of a compression.

    Examples
    --------
    >>> bare_name(Path("bags.csv.gz")), bare_name(Path("bags.arff"))
    ('bags.csv', 'bags.arff')
    """
    return path.stem if path.suffix.lower() in COMPRESSIONS else path.name


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its place at the end, or vanishes after a failure."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield temporary
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def check_target(path: Path, *, may_be_folder: bool = False) -> None:
    """Raise, before any work, if a file could not be written there."""
    if path.is_dir() and not may_be_folder:
        raise InputError(f"{path} is a folder: name a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} is not there: make it first.")


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, packed if the name says so, whole or not at all."""
    content = text.encode("utf-8")
    suffix = path.suffix.lower()
    if suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # the same bags give the same file
    elif suffix == ".bz2":
        content = bz2.compress(content)
    elif suffix == ".xz":
        content = lzma.compress(content)
    with replacing(path) as temporary, open(temporary, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
