"""Atomic file writing, and versioned JSON documents that are validated when read."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from fuzzymil._utils import memory
from fuzzymil._utils.errors import ModelFileError

_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_TIMES = 20  # how many times its size a JSON file may take in memory

Path_ = str | os.PathLike[str]


def write_atomically(path: Path_, content: str | bytes) -> None:
    """Write a file (text as UTF-8); on failure an existing file is left unchanged."""
    with written_atomically(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def written_atomically(path: Path_) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces ``path`` on success and is removed on failure."""
    target = Path(os.path.realpath(path))  # follow links, so that a link stays a link
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as problem:  # name the file the user asked for
        raise type(problem)(problem.errno, problem.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)  # mkstemp's own mode would exclude other readers
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_document(path: Path_, kind: str, version: int, content: Mapping[str, Any]) -> None:
    """Write ``content`` as JSON with its kind and version at the top."""
    document = {"format": kind, "version": version, **content}
    write_atomically(path, json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


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
        document = json.loads(text)
        if _HALF_A_CHARACTER.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")  # half of a pair could not be written again
    except (ValueError, RecursionError) as problem:  # not UTF-8, not JSON, or absurdly long numbers
        raise ModelFileError(
            f"{name} is not a fuzzymil file, or it is damaged ({problem}). Save the model again with model.save(path)."
        ) from None
    kind = document.get("format") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(kind, str) or kind not in kinds:
        raise ModelFileError(
            f"{name} is the wrong kind of file: its 'format' is {kind!r}, expected {' or '.join(map(repr, kinds))}."
        )
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{name} has no valid 'version' (got {version!r}): the file is damaged.")
    if version > kinds[kind]:
        raise ModelFileError(
            f"{name} was written by a newer fuzzymil ({document.get('library', 'unknown')}): it has file version "
            f"{version}, but this version reads up to {kinds[kind]}. Upgrade with pip install --upgrade fuzzymil."
        )
    return document


def damaged(what: str, problem: Exception) -> str:
    """Return a sentence that reports damaged content.

    Examples
    --------
    >>> damaged("The file", KeyError("rules"))
    "The file is damaged: 'rules' is missing."
    """
    reason = f"{problem!s} is missing" if isinstance(problem, KeyError) else str(problem).rstrip(".")
    return f"{what} {'are' if what.startswith('The rules') else 'is'} damaged: {reason}."


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
    raise ModelFileError(f"Expected a number, found {value!r}: the file is damaged.")
