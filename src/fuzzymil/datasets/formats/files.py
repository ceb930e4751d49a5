"""Reading data files safely, writing them atomically, and errors that name the file and the line."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import glob
import gzip
import io
import itertools
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from fuzzymil._utils import memory
from fuzzymil._utils.errors import (
    InputError,
    MissingExtraError,
    ParameterError,
    PlaceError,
    did_you_mean,
)
from fuzzymil._utils.storage import write_atomically

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
"""Suffix of a compressed file and the bytes it starts with."""


_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),  # the same bytes each time
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
_BLOCK = 1 << 20  # bytes unpacked at a time
_WILD = re.compile(r"[*?\[]")
PER_CHARACTER = 25  # bytes that a character of a long line may take when the line is split into many fields
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"])')  # unlike a header, which could begin with a bracket, too
_EMPTY = "is empty: expected one row per instance; download or export the file again"
CUT = "the file seems to be truncated here: download it again"
"""What to say of a last line that is too short."""

# What a file that is not text often turns out to be, and what to do about it.
_BINARY = {
    b"PK\x03\x04": "a zip archive: unpack it; a spreadsheet needs a name that ends in .xlsx",
    b"\x89HDF": "an HDF5 file: give it a name that ends in .h5",
    b"\x93NUMPY": "a NumPy array: put one .npy file per bag in a folder, and pass the folder",
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
    """A file (or folder) of bags, which is read, unpacked and decoded on demand; text is never in memory as a whole."""

    def __init__(self, path: str | os.PathLike[str], encoding: str | None = None) -> None:
        self.path = Path(path)
        self.encoding = encoding  # of text; None is UTF-8
        if encoding is not None:
            try:
                codecs.getincrementaldecoder(encoding)
                "".encode(encoding)  # others, such as "zlib", are not about text
            except (LookupError, ValueError, TypeError):
                raise ParameterError(
                    f"Unknown encoding {encoding!r:.60}; choose one such as 'utf-8' or 'cp1252'."
                ) from None
        self.is_pattern = bool(_WILD.search(str(self.path))) and not self.path.exists()
        if not (self.path.exists() or (self.is_pattern and self.members)):
            folder = self.path.parent
            where = f"the folder {folder} exists but has no such file" if folder.is_dir() else f"no folder {folder}"
            names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
            hint = did_you_mean(self.path.name, names) or " Check the name."
            raise MissingFileError(f"File not found: {self.path} ({where}).{hint}")
        if not (self.is_pattern or self.path.is_file() or self.path.is_dir()):
            raise self.error("is a pipe or a device, which cannot be read twice: copy its content into a file first")

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder, or a pattern that several names match."""
        return self.is_pattern or self.path.is_dir()

    @cached_property
    def members(self) -> list[Path]:
        """The files in the folder, or those that match the pattern, by name."""
        return sorted(map(Path, glob.glob(str(self.path))) if self.is_pattern else self.path.iterdir())

    @property
    def suffix(self) -> str:
        """The suffix of the file's name in lower case, ignoring that of a compression."""
        return Path(bare_name(self.path)).suffix.lower()

    @cached_property
    def start(self) -> bytes:
        """The first bytes, unpacked; none of a folder."""
        return b"" if self.is_folder else next(self.blocks(), b"")[:200]

    # ------------------------------------------------------------------ bytes

    def blocks(self) -> Iterator[bytes]:
        """Yield the unpacked bytes block by block: a small file may unpack to any size."""
        if self.is_folder:
            raise self.error("is a folder, not a file: pass a file in it, or a folder of .npy files")
        if self.suffix == ".xlsx":
            yield self.sheet[1]
            return
        try:
            with self.path.open("rb") as packed:
                start = packed.read(8)
                packed.seek(0)
                kind = next((kind for kind, magic in COMPRESSIONS.items() if start.startswith(magic)), None)
                file = packed if kind is None else _UNPACK[kind](packed)
                while block := file.read(_BLOCK):
                    yield block
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, ValueError) as problem:
            raise self.error(f"is damaged or truncated ({problem}): download it again") from None
        except OSError as problem:
            raise self.error(
                f"cannot be read ({problem.strerror or problem}): check its permissions or download it again"
            ) from None

    @cached_property
    def content(self) -> bytes:
        """The unpacked bytes, if they leave enough of the memory budget for what is made of them."""
        limit = memory.budget() // 2
        found = bytearray()
        for block in self.blocks():
            found += block
            if len(found) > limit:
                raise self.too_large(f"unpacks to more than {memory.size_text(limit)}", 2 * len(found))
        if not found.strip():
            raise self.error(_EMPTY)
        return bytes(found)

    @cached_property
    def sheet(self) -> tuple[list[str], bytes]:
        """The names of the sheets of an Excel workbook, and the first of them as CSV."""
        return _sheet_as_csv(self)

    def require(self, n_bytes: float, what: str) -> None:
        """Raise if reading ``what`` needs more memory than the budget allows; the message begins with a verb."""
        if memory.shortage(n_bytes) is not None:
            raise self.too_large(what, n_bytes)

    def too_large(self, what: str, n_bytes: float | None = None) -> DataFileError:
        """Return (not raise) an error about too little memory."""
        reason = "memory is full" if n_bytes is None else memory.shortage(n_bytes)
        return self.error(f"{what}: {reason}; split the file, drop columns, or write Parquet and use stream_bags")

    # ------------------------------------------------------------------ text

    def lines(self) -> Iterator[str]:
        r"""Yield the lines of text with their ends, which are ``\n`` whatever they are in the file."""
        decoder = codecs.getincrementaldecoder(self.encoding or "utf-8-sig")()
        ends = io.IncrementalNewlineDecoder(None, translate=True)
        n_bytes = n_lines = n_waiting = 0
        blank = True
        parts: list[str] = []  # of a line that has not ended yet
        for block in itertools.chain(self.blocks(), (b"",)):
            self._refuse_binary(block, n_bytes)
            if len(block) == _BLOCK and block.isspace():
                raise self.error("has a million blanks in a row: it is damaged; download it again")
            waiting = decoder.getstate()[0]
            try:
                text = ends.decode(decoder.decode(block, not block), not block)
            except UnicodeDecodeError as problem:
                raise self._not_decoded(waiting + block, n_bytes - len(waiting), problem.start, n_lines) from None
            except UnicodeError as problem:  # no place: UTF-16 without its mark at the start
                raise self.error(
                    f"is not valid {self.encoding!s:.20} ({problem!s:.100}): try another encoding=..."
                ) from None
            *whole, rest = (text if n_bytes else text.removeprefix("\ufeff")).split("\n")
            n_bytes += len(block)
            if whole:
                whole[0] = "".join((*parts, whole[0]))
                parts, n_waiting = [], 0
            parts.append(rest)
            n_waiting += len(rest)
            self.require(PER_CHARACTER * n_waiting, f"has a line of more than {n_waiting:,} characters")
            n_lines += len(whole)
            for line in whole:
                blank = blank and not line.strip()
                yield line + "\n"
        rest = "".join(parts)
        if blank and not rest.strip():
            raise self.error(_EMPTY)
        if rest:
            yield rest

    def _refuse_binary(self, block: bytes, begins: int) -> None:
        """Raise if bytes cannot be text."""
        kind = None if begins else next((what for start, what in _BINARY.items() if block.startswith(start)), None)
        if kind is not None:
            raise self.error(f"is not text but looks like {kind}")
        if self.encoding is None and b"\0" in block:
            raise self.error(
                f"is not text (byte {begins + block.index(0)} is zero): export the data as CSV in UTF-8, or pass "
                "encoding='utf-16' if that is what it is in"
            )

    def _not_decoded(self, content: bytes, begins: int, at: int, n_lines: int) -> DataFileError:
        """Return an error about a byte that is not text; ``n_lines`` are complete before ``content``."""
        known = (self.encoding or "utf-8").upper()
        remedy = "try another encoding=..." if self.encoding else "pass encoding='cp1252' if it comes from Windows"
        return self.error(
            f"byte {begins + at} ({content[at]:#04x}) is not valid {known}: save the file as UTF-8, or {remedy}",
            n_lines + content.count(b"\n", 0, at) + 1,
        )

    @property
    def text(self) -> str:
        """All lines at once, for formats that need them."""
        return "".join(self.lines())

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not blank, without their ends, with their numbers, counted from 1."""
        return ((n, line.rstrip("\n")) for n, line in enumerate(self.lines(), 1) if not line.isspace())

    @cached_property
    def head(self) -> list[str]:
        """The first two lines of a text file that are neither blank nor comments; none for a folder."""
        if self.is_folder:
            return []
        lines = (line for _, line in self.numbered_lines() if not line.lstrip().startswith(("%", "#")))
        return list(itertools.islice(lines, 2))

    def refuse_json(self) -> None:
        """Raise if this is JSON, which would pass for a strange table."""
        if _JSON.match("\n".join(self.head)):
            if "fuzzymil." in "".join(self.head):
                raise self.error(
                    "is a model, or rules, but a file with bags is expected here, such as a CSV file; predict takes "
                    "both, the model first"
                )
            raise self.error(
                "is JSON, which is none of the formats that are read: export the data as CSV or Parquet, for instance "
                'with pandas.read_json("data.json").to_csv("data.csv", index=False)'
            )

    def is_cut(self, line: int) -> bool:
        """Return whether this line is the last and has no newline, as in a truncated file."""
        rest = list(itertools.islice(self.lines(), line - 1, line + 1))
        return len(rest) == 1 and not rest[0].endswith("\n")

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


_PER_UNPACKED = 20  # bytes of memory for a byte of a workbook


def _sheet_as_csv(file: DataFile) -> tuple[list[str], bytes]:
    """Return the names of the sheets of a workbook, and the first one as CSV, whose lines are the rows of the sheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            'Excel files need openpyxl, which is not installed: pip install "fuzzymil[excel]"; or export CSV.'
        ) from None
    try:
        with zipfile.ZipFile(file.path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        file.require(_PER_UNPACKED * size, f"unpacks to {memory.size_text(size)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file.path, read_only=True, data_only=True, keep_links=False)
        with contextlib.closing(book):
            titles = [sheet.title for sheet in book.worksheets]
            book.worksheets[0].reset_dimensions()
            width = 0
            for row in book.worksheets[0].iter_rows(values_only=True):
                cells = [_cell(value) for value in row]
                while len(cells) > width and not cells[-1]:
                    cells.pop()
                width = width or len(cells)  # that of the header
                writer.writerow(cells + [""] * (width - len(cells)) if any(cells) else [])
        return titles, text.getvalue().encode()
    except (InputError, MemoryError):
        raise
    except Exception as problem:  # damage has many names
        raise file.error(f"is not an Excel workbook, or it is damaged ({problem!s:.100}): save it again") from None


def _cell(value: Any) -> str:
    """Return a cell as text: whole numbers without a point, True and False as 1 and 0, dates as in ISO 8601."""
    if isinstance(value, bool | float) and value == int(value):
        value = int(value)
    if isinstance(value, datetime):
        value = value.isoformat(" ").removesuffix(" 00:00:00")
    return " ".join(str("" if value is None else value).split())


def bare_name(path: Path) -> str:
    """Return a file's name without the suffix of a compression."""
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
