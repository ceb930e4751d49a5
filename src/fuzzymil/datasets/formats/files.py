"""Reading data files safely, writing them atomically, and errors that name the file and the line."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import itertools
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Protocol

from fuzzymil._utils import memory
from fuzzymil._utils.errors import InputError, ParameterError, PlaceError
from fuzzymil._utils.storage import write_atomically

__all__ = [
    "COMPRESSIONS",
    "DataFile",
    "DataFileError",
    "MissingFileError",
    "bare_name",
    "check_target",
    "write_text",
]

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
"""Suffix of a compressed file and the bytes it starts with."""


class SupportsRead(Protocol):
    """Something to read bytes from."""

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes, and none at the end."""


_UNPACK: dict[str, Callable[[IO[bytes]], SupportsRead]] = {
    ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
_PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}  # the same bytes each time
_BLOCK = 1 << 24  # bytes unpacked at a time
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"])')  # unlike a header, which could begin with a bracket, too
_EMPTY = "is empty: expected one row per instance; download or export the file again"

# What a file that is not text often turns out to be, and what to do about it.
_BINARY = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or export the sheet as CSV",
    b"\x89HDF": "an HDF5 file: export it as CSV",
    b"\x93NUMPY": "a NumPy array: put one .npy file per bag in a folder with a labels.csv, and pass the folder",
    b"\x80": "a Python pickle, which is not loaded because it could run arbitrary code: export it as CSV",
    b"PAR1": "a Parquet file: read it with format='parquet'",
    b"MATLAB": "a MATLAB file: read it with format='mat'",
    b"\x1f\x9d": "a file packed with the Unix program compress: unpack it with gunzip",
}


class DataFileError(InputError):
    """A file that cannot be read as bags. The message names the file and the line and explains how to fix it."""

    __module__ = "fuzzymil.datasets"


class MissingFileError(DataFileError, FileNotFoundError):
    """A file that does not exist."""


class DataFile:
    """A file (or folder) of bags, whose content is read, unpacked and decoded on demand."""

    def __init__(self, path: str | os.PathLike[str], encoding: str | None = None) -> None:
        self.path = Path(path)
        self.encoding = encoding  # of text; None is UTF-8
        if encoding is not None:
            try:
                codecs.decode(b"", encoding)
            except LookupError:
                raise ParameterError(
                    f"Unknown encoding {encoding!r}; choose one such as 'utf-8' or 'cp1252'."
                ) from None
        if not self.path.exists():
            folder = self.path.parent
            where = f"the folder {folder} exists but has no such file" if folder.is_dir() else f"no folder {folder}"
            raise MissingFileError(f"File not found: {self.path} ({where}). Check the name.")

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    def starts_with(self, magic: bytes) -> bool:
        """Return whether the file starts with these bytes, without reading the rest of it."""
        try:
            with open(self.path, "rb") as file:
                return file.read(len(magic)) == magic
        except OSError:
            return False  # reported when the content is read

    @cached_property
    def content(self) -> bytes:
        """The unpacked bytes."""
        if self.is_folder:
            raise self.error("is a folder, not a file: pass a file in it, or a folder of .npy files")
        try:
            with self.path.open("rb") as packed:
                start = packed.read(8)
                packed.seek(0)
                kind = next((kind for kind, magic in COMPRESSIONS.items() if start.startswith(magic)), None)
                content = self._read(packed if kind is None else _UNPACK[kind](packed))
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, ValueError) as problem:
            if isinstance(problem, DataFileError):
                raise
            raise self.error(f"is damaged or truncated ({problem}): download it again") from None
        except OSError as problem:
            raise self.error(
                f"cannot be read ({problem.strerror or problem}): check its permissions or download it again"
            ) from None
        if not content.strip():
            raise self.error(_EMPTY)
        return content

    def _read(self, file: SupportsRead) -> bytes:
        """Read, and unpack, in blocks: a small file may unpack to any size."""
        limit = memory.budget() // 2  # the rest is for what is made of it
        blocks = [file.read(_BLOCK)]
        total = len(blocks[0])
        while blocks[-1]:
            if total > limit:
                raise self.too_large(f"unpacks to more than {memory.size_text(limit)}", 2 * total)
            blocks.append(file.read(_BLOCK))
            total += len(blocks[-1])
        return b"".join(blocks)

    def require(self, n_bytes: float, what: str) -> None:
        """Raise if reading ``what`` needs more memory than the budget allows; the message begins with a verb."""
        if memory.shortage(n_bytes) is not None:
            raise self.too_large(what, n_bytes)

    def too_large(self, what: str, n_bytes: float | None = None) -> DataFileError:
        """Return (not raise) an error about too little memory."""
        reason = "memory is full" if n_bytes is None else memory.shortage(n_bytes)
        return self.error(f"{what}: {reason}; split the file, drop columns, or write Parquet and use stream_bags")

    @cached_property
    def text(self) -> str:
        """The content as text with Unix line ends."""
        for start, what in _BINARY.items():
            if self.content.startswith(start):
                raise self.error(f"is not text but looks like {what}")
        if self.encoding is None and b"\x00" in self.content:
            at = self.content.index(b"\x00")
            raise self.error(
                f"is not text (byte {at} is zero): export the data as CSV in UTF-8, or pass encoding='utf-16' if that "
                "is what it is in"
            )
        try:
            text = self.content.decode(self.encoding or "utf-8-sig").removeprefix("\ufeff")
        except UnicodeDecodeError as problem:
            line = self.content.count(b"\n", 0, problem.start) + 1
            known = (self.encoding or "utf-8").upper()
            remedy = "try another encoding=..." if self.encoding else "pass encoding='cp1252' if it comes from Windows"
            raise self.error(
                f"byte {problem.start} ({self.content[problem.start]:#04x}) is not valid {known}: save the file "
                f"as UTF-8, or {remedy}",
                line,
            ) from None
        if not text.strip():
            raise self.error(_EMPTY)
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def head(self) -> list[str]:
        """The first two lines of a text file that are neither blank nor comments; none for a folder."""
        if self.is_folder:
            return []
        lines = (line for _, line in self.numbered_lines() if not line.lstrip().startswith(("%", "#")))
        return list(itertools.islice(lines, 2))

    def refuse_json(self) -> None:
        """Raise if this is JSON, which would pass for a strange table."""
        if _JSON.match(self.text):
            raise self.error(
                "is JSON, which is none of the formats that are read: export the data as CSV or Parquet, for instance "
                'with pandas.read_json("data.json").to_csv("data.csv", index=False)'
            )

    @property
    def suffix(self) -> str:
        """The suffix of the file's name in lower case, ignoring that of a compression."""
        return Path(bare_name(self.path)).suffix.lower()

    def is_cut(self, line: int) -> bool:
        """Return whether this line is the last and has no newline, as in a truncated file."""
        return not self.text.endswith("\n") and line == self.text.count("\n") + 1

    def lines(self) -> Iterator[str]:
        """Yield all lines, without their ends."""
        start, end = 0, self.text.find("\n")
        while end >= 0:
            yield self.text[start:end]
            start, end = end + 1, self.text.find("\n", end + 1)
        yield self.text[start:]

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the non-blank lines with their numbers, counted from 1."""
        return ((n, line) for n, line in enumerate(self.lines(), 1) if line and not line.isspace())

    def error(self, message: str, line: int | None = None, column: str | None = None) -> DataFileError:
        """Return (not raise) an error that names the file, the line and the column.

        Without a line, the message begins with a verb: the file is its subject.
        """
        if line is None:
            return DataFileError(f"{self.path} {message}{'' if message.endswith('?') else '.'}")
        return self.problem(message, f", line {line}" + (f", column {column}" if column else ""))

    def problem(self, message: str, where: str = "") -> DataFileError:
        """Return (not raise) an error with a message that is a sentence of its own."""
        return DataFileError(f"{self.path}{where}: {message}{'' if message.endswith('?') else '.'}")

    @contextlib.contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Add the file to the message of an `InputError` raised inside."""
        try:
            yield
        except DataFileError:
            raise
        except PlaceError as problem:
            raise DataFileError(f"{self.path}, {problem.place}: {problem.problem}") from problem
        except InputError as problem:
            raise self.problem(str(problem).removesuffix(".")) from None


def bare_name(path: Path) -> str:
    """Return a file's name without the suffix of a compression.

    Examples
    --------
    >>> bare_name(Path("bags.csv.gz")), bare_name(Path("bags.arff"))
    ('bags.csv', 'bags.arff')
    """
    return path.stem if path.suffix.lower() in COMPRESSIONS else path.name


def check_target(path: Path, *, may_be_folder: bool = False) -> None:
    """Raise, before any work is done, if a file cannot be written to this path."""
    if path.is_dir() and not may_be_folder:
        raise InputError(f"{path} is a folder: pass the name of a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist: create it first.")


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, atomically, compressed according to the suffix."""
    pack = _PACK.get(path.suffix.lower(), bytes)
    write_atomically(path, pack(text.encode("utf-8")))
